"""How a promise ends: an editor wiped the change, a person took it out, or it stands."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.changes import Add, Change, Deed, Move, Relate, Remove, Retag, Update
from brain.formats import memory_md
from brain.store import Store, door, standing
from brain.vault import swap
from tests import kit as base
from tests.store import kit
from tests.store.kit import LINE, NOTE, WATCHED, A, B, Open, age, ops, text


def test_a_note_that_is_read_only_by_now_is_settled(opened: Open, root: Path) -> None:
    """To see that a change stands, it is enough to read."""
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).chmod(0o444)
    store.settle_after = 0.0
    store.drain()
    assert store.log.empty()
    assert ops(store) == ["remember"]


def test_what_cannot_be_settled_is_told_after_a_while(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).rename(root / "elsewhere.md")
    (root / NOTE).symlink_to("../elsewhere.md")
    store.settle_after = 0.0
    store.drain()
    assert store.pending() == []
    store.clock = lambda: time.time() + 2 * door.STUCK
    [entry] = store.pending()
    assert "lies behind a symbolic link" in entry.why
    (root / NOTE).unlink()
    (root / "elsewhere.md").rename(root / NOTE)
    store.drain()
    assert store.pending() == []
    assert store.log.empty()


def test_what_was_wiped_from_a_note_that_is_read_only_is_told(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).write_text(kit.MEMORY)
    (root / NOTE).chmod(0o444)
    store.settle_after = 0.0
    store.drain()
    [entry] = store.open()
    assert "is read-only" in entry.why
    (root / NOTE).chmod(0o644)
    store.drain()
    assert LINE in text(root)
    assert store.open() == [] or store.open()[0].why == ""


def test_wiped_by_a_stale_editor(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1), kit.deed("update", 1)])
    (root / NOTE).write_text(kit.MEMORY + "- from the editor\n")
    store.settle_after = 0.0
    store.drain()
    assert LINE in text(root)
    assert "Chose DuckDB 1" in text(root)
    assert "- from the editor\n" in text(root)
    store.drain()
    assert store.log.empty()
    assert ops(store) == ["remember", "update"]


def test_the_next_write_brings_it_back(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).write_text(kit.MEMORY + "- from the editor\n")
    store.apply([kit.deed("remember", 2)])
    assert text(root).count("A new thing") == 2
    assert ops(store) == ["remember", "remember"]


def test_wiped_by_an_editor_that_had_seen_half_of_it(opened: Open, root: Path) -> None:
    """It saves what we left after the first write, unchanged: that wipes the second."""
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    first = text(root)
    store.apply([kit.deed("remember", 2)])
    (root / NOTE).write_text(first)
    store.settle_after = 0.0
    store.drain()
    assert text(root).count("A new thing") == 2


def test_a_deletion_that_nobody_saw_is_honoured(opened: Open, root: Path) -> None:
    """No process was there to settle it; when the person saved tells that it had stood."""
    store = opened(settle_after=WATCHED)
    before = text(root)
    with kit.ago(store, 6):
        store.apply([kit.deed("remember", 1)])
    (root / NOTE).write_text(before)
    store.apply([kit.deed("remember", 2)])
    assert LINE not in text(root)
    store.settle_after = 0.0
    store.drain()
    assert LINE not in text(root)
    assert ops(store) == ["remember", "remember", "overwritten"]


def test_a_backup_that_keeps_its_time_is_honoured(opened: Open, root: Path, tmp_path: Path) -> None:
    """`cp -p` gives the note the time at which it was once saved, long before our change."""
    shutil.copy2(root / NOTE, tmp_path / "backup.md")
    age(tmp_path / "backup.md", 1000)
    store = opened(settle_after=WATCHED)
    with kit.ago(store, 6):
        store.apply([kit.deed("remember", 1)])
    shutil.copy2(tmp_path / "backup.md", root / NOTE)
    store.settle_after = 0.0
    store.drain()
    assert text(root) == kit.MEMORY
    assert ops(store) == ["remember", "overwritten"]
    assert store.log.empty()


def test_a_later_deletion_is_honoured(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    with kit.ago(store, 100):
        store.apply([kit.deed("remember", 1), kit.deed("remember", 2)])
    (root / NOTE).write_text(text(root).replace(LINE, ""))
    store.apply([kit.deed("remember", 3)])  # does not bring it back
    store.settle_after = 0.0
    store.drain()
    store.drain()
    assert LINE not in text(root)
    assert "A new thing 2" in text(root)
    gone = kit.records(store)[-1]
    assert gone.op == "overwritten"
    assert gone.ref == "m-new00001"
    assert gone.data["change"]["text"] == "A new thing 1"
    assert ops(store).count("overwritten") == 1
    assert store.log.empty()


def test_a_person_who_deletes_it_again_and_again(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.clock = lambda: time.time() - 2 * standing.SLOW  # so long after each write they save
    store.apply([kit.deed("remember", 1)])
    for _ in range(standing.AGAIN + 1):
        (root / NOTE).write_text(kit.MEMORY)
        store.settle_after = 0.0
        store.drain()
        store.settle_after = WATCHED
        if store.log.empty():
            break
    assert store.log.empty()
    assert LINE not in text(root)
    assert ops(store) == ["remember", "overwritten"]


def test_an_id_that_a_person_removed_is_no_loss(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).write_text(text(root).replace(" ^m-new00001", ""))
    store.settle_after = 0.0
    store.drain()
    assert text(root).count("A new thing 1") == 1
    assert store.log.empty()


def test_an_entry_that_a_person_went_on_writing_is_no_loss(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).write_text(text(root).replace("A new thing 1", "A new thing, and more"))
    store.settle_after = 0.0
    store.drain()
    assert text(root).count("A new thing") == 1


def test_text_that_reappears_wins(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([Deed("forget", kit.B, Remove(NOTE, kit.B))])
    assert kit.B not in text(root)
    (root / NOTE).write_text(kit.MEMORY)
    store.settle_after = 0.0
    store.drain()
    store.apply([kit.deed("remember", 1)])
    assert kit.B in text(root)


def test_what_was_added_and_removed_stays_removed(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    store.apply([Deed("forget", "m-new00001", Remove(NOTE, "m-new00001"))])
    store.apply([kit.deed("remember", 2), Deed("forget", "m-new00002", Remove(NOTE, "m-new00002"))])
    (root / NOTE).write_text(text(root) + "- from the editor\n")
    store.apply([kit.deed("remember", 3)])
    store.settle_after = 0.0
    store.drain()
    store.drain()
    assert "A new thing 1" not in text(root)
    assert "A new thing 2" not in text(root)
    assert "A new thing 3" in text(root)
    assert "overwritten" not in ops(store)


@pytest.mark.parametrize("told", [False, True])
def test_what_was_removed_right_before_a_crash_stays_removed(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """The removal has taken its place in the note; perhaps the log was told, and no more done."""
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    mark = store.log.mark

    def last_mark(ids: list[str], state: str, *rest: Any, **more: Any) -> None:
        if state == "written":
            if told:
                mark(ids, state, *rest, **more)
            raise KeyboardInterrupt
        mark(ids, state, *rest, **more)

    monkeypatch.setattr(store.log, "mark", last_mark)
    with pytest.raises(KeyboardInterrupt):
        store.apply([Deed("forget", "m-new00001", Remove(NOTE, "m-new00001"))])
    assert LINE not in text(root)
    again = opened(settle_after=WATCHED)
    again.drain()
    (root / NOTE).write_text(text(root) + "- A person goes on\n")
    again.apply([kit.deed("remember", 2)])
    again.settle_after = 0.0
    again.drain()
    again.drain()
    assert LINE not in text(root)
    assert again.log.empty()
    assert sorted(ops(again)) == ["forget", "remember", "remember"]


def test_a_note_that_is_deleted(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    (root / NOTE).unlink()
    store.settle_after = 0.0
    store.drain()
    assert not (root / NOTE).exists()
    assert ops(store) == ["remember", "overwritten"]


NEW = "m-new00001"
STEPS: dict[str, Change] = {
    "pin": Retag(NOTE, A, add=("#pinned",)),
    "unpin": Retag(NOTE, A, remove=("#pinned",)),
    "tag": Retag(NOTE, A, add=("#more",)),
    "first words": Update(NOTE, A, "First words"),
    "second words": Update(NOTE, A, "Second words"),
    "as it was": Update(NOTE, A, "Chose SQLite over PostgreSQL."),
    "relate": Relate(NOTE, A, "supersedes", f"[[#^{B}]]"),
    "unrelate": Relate(NOTE, A, "supersedes", f"[[#^{B}]]", gone=True),
    "move": Move(NOTE, A, "User Preferences"),
    "move back": Move(NOTE, A, "Key Decisions"),
    "remember": Add(NOTE, NEW, "A new thing", "Key Decisions"),
    "update it": Update(NOTE, NEW, "A newer thing"),
    "tag it": Retag(NOTE, NEW, add=("#tagged",)),
    "move it": Move(NOTE, NEW, "User Preferences"),
}


def carried_out(store: Store, root: Path, names: Sequence[str]) -> list[str]:
    """What the note says before these changes and after each of them."""
    said = [text(root)]
    for name in names:
        change = STEPS[name]
        assert store.apply([Deed(name, change.ref, change)])[0].state == "written"
        said.append(text(root))
    return said


def entries(said: str) -> set[tuple[str, str]]:
    """The entries of a note, with the headings above each."""
    chunks = memory_md.parse(said.encode(), "admin").chunks
    return {(chunk.text, chunk.heading) for chunk in chunks}


@pytest.mark.parametrize(
    "names",
    [
        ("pin", "unpin"), ("tag", "pin", "unpin"), ("relate", "unrelate"), ("move", "move back"),
        ("first words", "as it was"), ("first words", "second words", "first words"),
    ],
)  # fmt: skip
def test_what_we_set_back_ourselves_was_not_wiped(
    opened: Open, root: Path, names: Sequence[str]
) -> None:
    """A person saves an unrelated line: nothing is written anew, and nothing counts as gone."""
    store = opened(settle_after=WATCHED)
    last = carried_out(store, root, names)[-1]
    (root / NOTE).write_text(last + "- A person's own line\n")
    store.drain()
    store.settle_after = 0.0
    store.drain()
    assert text(root) == last + "- A person's own line\n"
    assert "overwritten" not in ops(store)
    assert store.log.empty()


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        ("first words", "second words"), ("remember", "update it"), ("remember", "tag it"),
        ("tag", "pin"), ("first words", "tag"), ("move",), ("remember", "move it"),
        ("move", "first words"), ("first words", "move", "pin"), ("pin", "unpin", "tag"),
        ("remember", "update it", "move it"),
    ],
)  # fmt: skip
def test_all_that_a_stale_save_wiped_comes_back(
    opened: Open, root: Path, names: Sequence[str], behind: bool
) -> None:
    """The editor held the note as it was before all of these; whether or not something else is
    written before it is noticed."""
    store = opened(settle_after=WATCHED)
    said = carried_out(store, root, names)
    (root / NOTE).write_text(said[0] + "- A person's own line\n")
    if behind:
        store.apply([kit.adding("Something else", "m-other001")])
    store.settle_after = 0.0
    store.drain()
    there = entries(text(root))
    assert entries(said[-1]) <= there
    assert len(there) == len(entries(said[-1])) + 1 + behind
    assert "overwritten" not in ops(store)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6), st.integers(0, 6))
def test_whatever_was_done_stands_after_a_stale_save(names: list[str], at: int) -> None:
    """Every change that was acknowledged, in any order, whichever of our texts is saved over it."""
    if NEW in {STEPS[name].ref for name in names}:
        names = ["remember", *(name for name in names if name != "remember")]
    with tempfile.TemporaryDirectory() as folder:
        root = base.lay(Path(folder).resolve() / "vault", kit.VAULT)
        store = kit.open_store(root, Path(folder) / "state", settle_after=WATCHED)
        said = carried_out(store, root, names)
        (root / NOTE).write_text(said[min(at, len(names))] + "- A person's own line\n")
        store.drain()
        store.settle_after = 0.0
        store.drain()
        there = entries(text(root))
        assert entries(said[-1]) <= there
        assert [text for text, _ in there - entries(said[-1])] == ["A person's own line"]
        assert "overwritten" not in ops(store)


def test_wiped_in_the_moment_of_the_next_write(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What that write leaves is no sign that all of ours is there."""
    store, real = opened(settle_after=WATCHED), swap.exchange
    store.apply([kit.deed("remember", 1)])

    def exchange(temp: str, path: str) -> None:
        monkeypatch.setattr(swap, "exchange", real)
        (root / NOTE).write_text(kit.MEMORY + "- from the editor\n")
        real(temp, path)

    monkeypatch.setattr(swap, "exchange", exchange)
    store.apply([kit.deed("remember", 2)])
    store.settle_after = 0.0
    store.drain()
    store.drain()
    assert text(root).count("A new thing") == 2
    assert "- from the editor\n" in text(root)
    assert store.log.empty()


# -- an editor with an old text in its window, in which the person goes on with that very entry ----

THEIRS = kit.MEMORY.replace("Chose SQLite over PostgreSQL.", "Chose SQLite, says Bob.")


def went_on(opened: Open, root: Path, names: Sequence[str], said: str = THEIRS) -> Store:
    store = opened(settle_after=WATCHED)
    carried_out(store, root, names)
    (root / NOTE).write_text(said)
    store.settle_after = 0.0
    store.drain()
    store.drain()
    assert store.log.empty()
    return store


def gone(store: Store) -> list[dict[str, Any]]:
    return [record.data["change"] for record in kit.records(store) if record.op == "overwritten"]


@pytest.mark.parametrize("said", [THEIRS, THEIRS.replace(f" ^{A}", ""), "# Nothing\n"])
def test_words_that_a_person_wrote_over_unseen_are_on_record(
    opened: Open, root: Path, said: str
) -> None:
    store = went_on(opened, root, ["first words", "second words"], said)
    assert text(root) == said
    [change] = gone(store)
    assert (change["change"], change["text"]) == ("update", "Second words")
    assert not change["over"]


@pytest.mark.parametrize(
    "names",
    [
        ("tag",), ("tag", "tag"), ("tag", "relate"), ("first words", "tag"),
        ("pin", "unpin", "tag"), ("tag", "first words"),
    ],
)  # fmt: skip
def test_tags_and_fields_come_into_what_a_person_wrote(
    opened: Open, root: Path, names: Sequence[str]
) -> None:
    store = went_on(opened, root, names)
    [line] = [line for line in kit.lines(root / NOTE) if f"^{A}" in line]
    assert "Chose SQLite, says Bob." in line
    assert "#more" in line
    assert ("supersedes" in line) == ("relate" in names)
    assert "#pinned" not in line
    assert [change["change"] for change in gone(store)] == ["update"] * ("first words" in names)


def test_a_tag_that_a_person_took_out_later_is_on_record(opened: Open, root: Path) -> None:
    store = opened(settle_after=WATCHED)
    with kit.ago(store, 6):
        store.apply([Deed("tag", A, STEPS["tag"])])
    (root / NOTE).write_text(THEIRS)
    store.settle_after = 0.0
    store.drain()
    assert text(root) == THEIRS
    assert [change["add"] for change in gone(store)] == [["#more"]]
    assert store.log.empty()


@pytest.mark.parametrize("more", ["First words, and more", "He said: First words"])
def test_who_goes_on_with_our_words_takes_nothing_out(opened: Open, root: Path, more: str) -> None:
    store = opened(settle_after=WATCHED)
    said = carried_out(store, root, ["first words"])[-1].replace("First words", more)
    (root / NOTE).write_text(said)
    store.settle_after = 0.0
    store.drain()
    assert text(root) == said
    assert ops(store) == ["first words"]
    assert store.log.empty()
