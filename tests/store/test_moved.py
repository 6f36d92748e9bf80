"""A vault that was moved, copied or restored, and another vault at the same path."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from brain.errors import BrainError
from brain.vault import layout
from tests import kit as base
from tests.store import kit
from tests.store.kit import HELD, LINE, NOTE, Open, text

YAML = "40_Brain/brain.yaml"
OTHER: dict[str, str | bytes] = {NOTE: "# Another\n\n- Theirs\n", YAML: "vaultId: v-other\n"}


@pytest.fixture
def root(root: Path) -> Path:
    """A vault with an id."""
    return base.lay(root, {YAML: "vaultId: v-first\n"})


def swap_vaults(root: Path) -> Path:
    """Move the vault away, and put another one in its place."""
    away = root.with_name("away")
    os.rename(root, away)
    base.lay(root, OTHER)
    return away


def claim(root: Path, state: Path) -> None:
    """Record whose state folder it is, as the first write of an operation does."""
    with base.open_brain(root, state) as brain, brain.vault.writing():
        pass


def wait_with(opened: Open, root: Path, tmp_path: Path) -> None:
    """Leave a pending write."""
    claim(root, tmp_path / "state")
    (root / NOTE).touch()
    assert opened(HELD).apply([kit.write("remember", 1)])[0].state == "pending"


def test_nothing_gets_into_another_vault(opened: Open, root: Path, tmp_path: Path) -> None:
    wait_with(opened, root, tmp_path)
    swap_vaults(root)
    store = opened()
    assert store.heads() == {}
    assert kit.is_done(store)
    store.absorb()
    assert text(root) == OTHER[NOTE]
    store.apply([kit.adding("Ours", "m-ours0001", section="")])
    assert "A new thing" not in text(root)
    assert [record.ref for record in kit.records(store)] == ["m-ours0001"]


def test_a_process_that_has_the_vault_open_notices(
    opened: Open, root: Path, tmp_path: Path
) -> None:
    wait_with(opened, root, tmp_path)
    store = opened()
    away = swap_vaults(root)
    for work in (store.absorb, lambda: store.apply([kit.write("remember", 2)])):
        with pytest.raises(BrainError, match=f"Another vault is at {root} now"):
            work()
    assert text(root) == OTHER[NOTE]
    shutil.rmtree(root)
    os.rename(away, root)
    store.absorb()
    assert LINE in text(root)
    assert kit.ops(store) == ["remember"]


def test_a_pending_write_waits_for_its_vault(opened: Open, root: Path, tmp_path: Path) -> None:
    wait_with(opened, root, tmp_path)
    away = swap_vaults(root)
    opened().apply([kit.adding("Ours", "m-ours0001", section="")])
    claim(root, tmp_path / "state")
    shutil.rmtree(root)
    os.rename(away, root)
    store = opened()
    store.absorb()
    assert LINE in text(root)
    assert "Ours" not in text(root)
    assert kit.is_done(store)


@pytest.mark.parametrize("other_there", [False, True])
def test_a_moved_vault_finds_its_pending_writes(
    opened: Open, root: Path, tmp_path: Path, other_there: bool
) -> None:
    wait_with(opened, root, tmp_path)
    away = swap_vaults(root)
    if other_there:
        claim(root, tmp_path / "state")
    store = kit.open_store(away, tmp_path / "state")
    assert [one.write.ref for one in store.pending()] == ["m-new00001"]
    store.absorb()
    assert LINE in text(away)
    assert kit.ops(store) == ["remember"]
    assert text(root) == OTHER[NOTE]


def test_a_moved_vault_keeps_its_history(opened: Open, root: Path, tmp_path: Path) -> None:
    """A window that was open before the move still takes nothing away."""
    claim(root, tmp_path / "state")
    stale = text(root)
    opened().apply([kit.write("remember", 1)])
    away = root.with_name("away")
    os.rename(root, away)
    (away / NOTE).write_text(stale + "- From a stale window\n")
    store = kit.open_store(away, tmp_path / "state")
    store.absorb()
    assert LINE in text(away)
    assert "- From a stale window\n" in text(away)


def test_a_copy_starts_with_its_own_state(opened: Open, root: Path, tmp_path: Path) -> None:
    wait_with(opened, root, tmp_path)
    copy = shutil.copytree(root, root.with_name("copy"))
    store = kit.open_store(copy, tmp_path / "state")
    assert f"This is a copy of the vault at {root}" in store.vault.news
    store.absorb()
    assert LINE not in text(copy)
    assert kit.is_done(store)
    opened().absorb()
    assert LINE in text(root)
    assert store.apply([kit.write("remember", 2)])[0].state == "written"
    claim(copy, tmp_path / "state")
    assert kit.open_store(copy, tmp_path / "state").vault.news == ""


@pytest.mark.parametrize("how", ["copied", "restored"])
def test_a_copy_in_place_of_the_vault_is_the_vault(
    opened: Open, root: Path, tmp_path: Path, how: str
) -> None:
    """Restored from a backup, or moved to another disk and back: the id says so."""
    claim(root, tmp_path / "state")
    backup = shutil.copytree(root, root.with_name("backup"))
    wait_with(opened, root, tmp_path)
    if how == "copied":
        backup = shutil.copytree(root, root.with_name("copy"))
    shutil.rmtree(root)
    os.rename(backup, root)
    store = opened()
    store.absorb()
    assert LINE in text(root)
    assert kit.is_done(store)


def test_a_vault_whose_brain_folder_was_lost_is_another_one(
    opened: Open, root: Path, tmp_path: Path
) -> None:
    """An unmounted disk, or brain.yaml deleted: a pending write is not written to the wrong
    place."""
    wait_with(opened, root, tmp_path)
    (root / YAML).unlink()
    store = opened()
    store.absorb()
    assert LINE not in text(root)
    base.lay(root, {YAML: "vaultId: v-first\n"})
    opened().absorb()
    assert LINE in text(root)


# -- the id ----------------------------------------------------------------------------------------


def test_the_first_write_gives_a_vault_its_id(tmp_path: Path) -> None:
    root = base.lay(tmp_path / "vault", {NOTE: "- a\n"})
    with base.open_brain(root, tmp_path / "state") as brain:
        brain.sync()
        brain.search("a")
        assert not (root / YAML).exists()
        brain.remember("The walrus eats clams")
        [line] = (root / YAML).read_text().splitlines()
        assert line == f'vaultId: "{brain.vault.paths.id}"'
        brain.remember("The walrus has tusks")
    assert (root / YAML).read_text().splitlines() == [line]


def test_settings_and_comments_stay_when_a_vault_gets_its_id(tmp_path: Path) -> None:
    given = "# mine\nholdSeconds: 0  # soon\n"
    root = base.lay(tmp_path / "vault", {NOTE: "- a\n", YAML: given})
    with base.open_brain(root, tmp_path / "state") as brain:
        brain.remember("The walrus eats clams")
        id = brain.vault.paths.id
    assert (root / YAML).read_text() == f'{given}vaultId: "{id}"\n'


def test_a_vault_that_cannot_be_given_an_id_can_be_written(tmp_path: Path) -> None:
    root = base.lay(tmp_path / "vault", {NOTE: "- a\n", YAML: ""})
    (root / YAML).chmod(0o444)
    kit.age(root / NOTE, 60)
    with base.open_brain(root, tmp_path / "state") as brain:
        brain.remember("The walrus eats clams")
    assert "walrus" in text(root)
    assert (root / YAML).read_text() == ""


@pytest.mark.parametrize(
    ("line", "id"),
    [
        ("vaultId: v-abcd", "v-abcd"), ("vaultId: 'v-abcd'  # mine", "v-abcd"),
        ('vaultId: "v-abcd"\r', "v-abcd"), ("# vaultId: v-abcd", ""), ("vaultId: x y", ""),
        ("  vaultId: v-abcd", ""), ("vaultId:", ""),
    ],
)  # fmt: skip
def test_how_an_id_is_written(tmp_path: Path, line: str, id: str) -> None:
    (tmp_path / "brain.yaml").write_text(f"a: 1\n{line}\nb: 2\n")
    assert layout.vault_id(str(tmp_path)) == id


def test_two_processes_name_a_vault_once(tmp_path: Path) -> None:
    root = base.lay(tmp_path / "vault", {NOTE: "- a\n"})
    with (
        base.open_brain(root, tmp_path / "state") as one,
        base.open_brain(root, tmp_path / "state") as other,
    ):
        one.remember("The walrus eats clams")
        other.remember("The walrus has tusks")
        assert one.vault.paths.id == other.vault.paths.id != ""
    assert (root / YAML).read_text().count("vaultId") == 1


def test_asking_creates_no_state(tmp_path: Path) -> None:
    root = base.lay(tmp_path / "vault", OTHER)
    found = layout.vault_at(root, "40_Brain", tmp_path / "state")
    assert found.id == "v-other"
    assert not (tmp_path / "state").exists()


def test_a_vault_without_an_id_gets_no_state_of_earlier_ones(tmp_path: Path) -> None:
    """Several vaults at one path, each in the place of the one before."""
    for number in range(4):
        root = base.lay(tmp_path / "vault", {NOTE: f"- Whale {number} sings\n"})
        with base.open_brain(root, tmp_path / "state") as brain:
            assert brain.remember("The walrus eats clams").outcome == "added"
        lines = (root / NOTE).read_text().split("\n")
        assert [line[:9] for line in lines if "Whale" in line] == [f"- Whale {number}"[:9]]
        assert "".join(lines).count("Whale") == 1
        shutil.rmtree(root)
