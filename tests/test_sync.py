"""Files into the index: what is read, what is noticed, what is left alone."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from brain import new_vault
from brain.api import Brain
from brain.errors import BadConfig, BrainError, VaultLooksEmpty
from brain.index import read, write
from brain.index.read import COARSE_SLACK, FINE_SLACK, Stat
from brain.operations import doctor, entries, lookup
from brain.sync import compare
from brain.vault import files
from tests import kit
from tests.conftest import MakeVault, OpenBrain


def ids(brain: Brain) -> dict[str, int]:
    return {path: known.id for path, known in read.known(brain.vault.index).items()}


def refs(brain: Brain, path: str) -> list[str]:
    return [row.ref for row in read.by_place(brain.vault.index, path, 0)]


def codes(brain: Brain, path: str) -> list[str]:
    return [problem.code for where, problem in doctor.problems(brain.vault) if where == path]


# -- identity ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Notes/Walrus.md", "Notes/Morse.md"),
        ("Notes/Walrus.md", "Deep/Down/Walrus.md"),
        ("Notes", "Renamed"),
        ("40_Brain/projects/zoo/agent", "40_Brain/projects/zoo/keeper"),
    ],
)
def test_a_moved_note_keeps_its_row_and_its_ids(
    old: str, new: str, vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault()
    brain = opened(root)
    brain.sync()
    before = {p: (id, refs(brain, p)) for p, id in ids(brain).items() if p.startswith(old)}
    (root / new).parent.mkdir(parents=True, exist_ok=True)
    os.rename(root / old, root / new)
    stats = brain.sync()
    assert sorted(stats.moved) == sorted((p, p.replace(old, new, 1)) for p in before)
    assert not stats.added
    assert not stats.removed
    for path, (id, known) in before.items():
        moved = path.replace(old, new, 1)
        assert ids(brain)[moved] == id
        if not path.startswith("40_Brain/projects/zoo/agent/MEMORY"):
            assert refs(brain, moved) == known


def test_a_moved_note_is_no_news(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    brain = opened(root)
    brain.sync()
    heard: list[object] = []
    brain.events.subscribe(heard.append)
    os.rename(root / "Notes/Walrus.md", root / "Morse.md")
    brain.sync()
    assert heard == []
    assert kit.found(brain, "tusks") == ["Morse.md"]


def test_what_was_wrong_moves_with_the_note(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({"a.md": "one\r\n"})
    brain = opened(root)
    brain.sync()
    os.rename(root / "a.md", root / "b.md")
    brain.sync()
    assert [path for path, _ in doctor.problems(brain.vault)] == ["b.md"]


def test_the_entries_of_a_broken_file_move_with_it(vault: MakeVault, opened: OpenBrain) -> None:
    root, before = vault(), "zoo"
    brain = opened(root)
    brain.sync()
    (root / "40_Brain/projects/zoo/items.json").write_text("[{")
    brain.sync()
    for name in ("動物園", "park", "公園"):
        os.rename(*(root.joinpath("40_Brain/projects", name) for name in (before, name)))
        before = name
        brain.sync()
        (hit,) = brain.search("60 calls").results
        assert hit.row.path == f"40_Brain/projects/{name}/items.json"
        assert (hit.row.agent, hit.row.project) == (name, name)
        assert brain.search("calls", project=name).results
    assert hit.row.path in [hit.row.path for hit in brain.search("公園").results]
    assert brain.search("動物").results == []
    assert brain.vault.index.healthy()


# -- noticing ----------------------------------------------------------------------------------


def test_an_edit_in_the_moment_of_the_last_one_is_found(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """Same size, same mtime, same inode; and a clock that is too coarse to tell."""
    root = vault({"a.md": "walrus one\n"})
    brain = opened(root)
    brain.sync()
    (root / "a.md").write_text("walrus two\n")
    st = (root / "a.md").stat()
    ((id, known),) = [(k.id, k) for k in read.known(brain.vault.index).values()]
    same = Stat.from_result(st, known.stat.seen_ns)  # as if the edit had kept every stat value
    with brain.vault.index.exclusive(), brain.vault.index.transaction() as db:
        write.touch(db, [(id, same)])
    assert same.racy
    assert brain.sync().changed == ["a.md"]
    assert kit.found(brain, "two") == ["a.md"]


@pytest.mark.parametrize(
    ("ctime", "slack"), [(10**18 + 123_456_789, FINE_SLACK), (10**18, COARSE_SLACK)]
)
def test_how_soon_is_too_soon(ctime: int, slack: int) -> None:
    assert Stat(1, ctime, ctime, 1, ctime + slack - 1).racy
    assert not Stat(1, ctime, ctime, 1, ctime + slack).racy


def test_a_file_that_is_only_touched_changes_nothing(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    brain = opened(root)
    brain.sync()
    before = kit.dump(brain.vault.index)
    for path in root.rglob("*.md"):
        os.utime(path)
    stats = brain.sync()
    assert stats.quiet
    assert stats.deltas == []
    assert kit.dump(brain.vault.index) == before


def test_what_was_read_too_soon_is_noted_with_the_next_write(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.index.read.FINE_SLACK", 60 * 10**9)  # all that is new is too new
    root = vault({"a.md": "one\n"})
    brain = opened(root)
    brain.sync()
    assert read.known(brain.vault.index)["a.md"].stat.racy
    monkeypatch.setattr("brain.index.read.FINE_SLACK", 0)  # time passes
    monkeypatch.setattr(Stat, "racy", property(lambda s: s.seen_ns < time.time_ns() - 10**15))
    with brain.vault.index.exclusive(), brain.vault.index.transaction() as db:
        db.execute("UPDATE files SET seen_ns = 1")
    assert brain.sync().quiet
    assert read.known(brain.vault.index)["a.md"].stat.seen_ns == 1  # nothing else to write
    (root / "b.md").write_text("two\n")
    brain.sync()
    assert read.known(brain.vault.index)["a.md"].stat.seen_ns > 1


def test_what_was_read_too_soon_needs_no_comparison_of_all_files(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.index.read.FINE_SLACK", 60 * 10**9)  # all that is new is too new
    brain = opened(vault({"a.md": "one\n"}))
    brain.sync()
    monkeypatch.setattr(read, "known", lambda *_: pytest.fail("all files were compared"))
    assert brain.sync().quiet


def test_a_hard_link_made_later_is_reported(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({"a.md": "one\n"})
    brain = opened(root)
    brain.sync()
    os.link(root / "a.md", root / "kept.txt")
    brain.sync()
    assert codes(brain, "a.md") == ["hard-link"]
    (root / "kept.txt").unlink()
    brain.sync()
    assert codes(brain, "a.md") == []


def test_a_thousand_paths_at_once(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({f"{n}.md": f"note {n}\n" for n in range(1200)})
    brain = opened(root)
    brain.sync()
    for n in range(1200):
        (root / f"{n}.md").write_text(f"changed {n}\n")
    stats = brain.sync([f"{n}.md" for n in range(1200)])
    assert len(stats.changed) == 1200


def test_an_original_decides_what_is_its_copy(vault: MakeVault, opened: OpenBrain) -> None:
    """A hint names one path; what depends on it is looked at too."""
    root = vault({"a.md": "one\ntwo\n", "a 2.md": "one\ntwo\nthree\n"})
    brain = opened(root)
    brain.sync()
    assert codes(brain, "a 2.md") == ["conflict-copy"]
    (root / "a.md").write_text("something else\n")
    brain.sync(["a.md"])
    assert codes(brain, "a 2.md") == []
    assert kit.found(brain, "three", check=False) == ["a 2.md"]


@pytest.mark.parametrize("folder", ["", "a/"])
def test_a_hint_about_an_ignore_file_means_its_folder(
    folder: str, vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({"a/b/n.md": "walrus\n", "a/m.md": "walrus\n"})
    brain = opened(root)
    brain.sync()
    (root / f"{folder}.gitignore").write_text("n.md\n")
    brain.sync([f"{folder}.gitignore"])
    assert kit.found(brain, "walrus", check=False) == ["a/m.md"]


def test_a_hint_of_a_name_that_is_no_text(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    name = os.fsdecode(b"caf\xe9.md")
    (root / name).write_text("walrus")
    brain = opened(root)
    brain.sync()
    assert codes(brain, "caf\\udce9.md") == ["bad-name"]
    (root / name).unlink()
    brain.sync([name])
    assert codes(brain, "caf\\udce9.md") == []


def test_a_file_that_goes_while_the_folder_is_listed(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault({"a.md": "one\n", "b.md": "two\n", "40_Brain/MEMORY.md": "- x\n"})
    brain = opened(root)
    scandir = os.scandir

    def late(folder: int) -> object:
        found = scandir(folder)
        for name in ("b.md", "MEMORY.md"):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
        return found

    monkeypatch.setattr(os, "scandir", late)
    assert brain.sync().added == ["a.md"]


# -- broken files ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("40_Brain/projects/zoo/items.json", "calls"),
        ("40_Brain/tasks.json", "parser"),
        ("40_Brain/MEMORY.md", "PostgreSQL"),
    ],
)
@pytest.mark.parametrize("broken", [b"<<<<<<< a\n[\n=======\n{\n>>>>>>> b\n", b"[{\xff\x00"])
def test_a_broken_file_keeps_its_entries_and_says_so(
    path: str, question: str, broken: bytes, vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault()
    brain = opened(root)
    brain.sync()
    whole = (root / path).read_bytes()
    (root / path).write_bytes(broken)
    answer = brain.search(question)
    assert [hit.row.path for hit in answer.results] == [path]
    assert not answer.freshness.fresh
    assert answer.freshness.stale[0].startswith(f"{path} ")
    assert codes(brain, path)
    (root / path).write_bytes(whole)
    answer = brain.search(question)
    assert answer.freshness.fresh
    assert codes(brain, path) == []


# -- losing everything -------------------------------------------------------------------------


def test_a_vault_that_looks_empty_changes_nothing(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    brain = opened(root)
    brain.sync()
    before = kit.dump(brain.vault.index)
    (root / "40_Brain").rename(root.parent / "kept")
    (root / "Notes").rename(root.parent / "notes")
    with pytest.raises(VaultLooksEmpty):
        brain.sync()
    (root.parent / "kept").rename(root / "40_Brain")
    assert kit.dump(brain.vault.index) == before


def test_nine_of_ten_lost(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({f"n/{n}.md": f"note {n}\n" for n in range(120)} | {"a.md": "note\n"})
    brain = opened(root)
    brain.sync()
    shutil.rmtree(root / "n")
    with pytest.raises(VaultLooksEmpty, match="has 1 of the 121"):
        brain.sync()
    answer = brain.search("note", limit=200)
    assert len(answer.results) == 121
    assert not answer.freshness.fresh
    assert len(brain.sync(accept_loss=True).removed) == 120


def test_an_empty_vault(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({}))
    stats = brain.sync()
    assert stats.quiet
    assert brain.search("anything").results == []
    assert doctor.problems(brain.vault) == []
    assert brain.search("anything").freshness.fresh
    assert not brain.sync().cold


def test_the_last_note_is_deleted(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({"a.md": "one\n"})
    brain = opened(root)
    brain.sync()
    (root / "a.md").unlink()
    with pytest.raises(VaultLooksEmpty):
        brain.sync()
    assert brain.sync(accept_loss=True).removed == ["a.md"]


def _emptied(root: Path) -> None:
    """Half synced: the folders are there, the files are not yet."""
    for folder, _, names in os.walk(root):
        for name in names:
            if not name.startswith(("brain.db", "brain.yaml")):
                os.unlink(os.path.join(folder, name))


def _asked_alone(root: Path, opened: OpenBrain) -> list[str]:
    with opened(root) as brain:
        return kit.found(brain, "sqlite")


def test_nothing_is_written_into_a_vault_that_looks_empty(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """What is written there would be all that the next sync finds."""
    root = vault()
    os.utime(root / "40_Brain/MEMORY.md", (1, 1))  # nobody types
    with opened(root) as brain:
        brain.sync()
        brain.remember("The walrus swims")
        ref = lookup.find(brain.vault, "Deploys go out").ref
        expected = kit.found(brain, "sqlite")
    _emptied(root)
    left = kit.snapshot(root).keys()
    for change in (
        lambda brain: brain.remember("into emptiness"),
        lambda brain: brain.tag(ref, ["weekly"]),
        lambda brain: brain.reinforce(ref),
        lambda brain: brain.journal_write(),
    ):
        with opened(root) as brain, pytest.raises(VaultLooksEmpty, match="--accept-loss"):
            change(brain)
    with opened(root) as brain:
        brain.vault.watched = True
        answer = brain.search("sqlite")
        assert [hit.row.path for hit in answer.results] == expected
        assert not answer.freshness.fresh
    assert _asked_alone(root, opened) == expected
    assert kit.snapshot(root).keys() == left
    with opened(root) as brain:
        brain.sync(accept_loss=True)
        brain.remember("From here on")
        assert kit.found(brain, "here on") == ["40_Brain/MEMORY.md"]


def test_what_waits_is_not_written_into_a_vault_that_looks_empty(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault()
    with opened(root) as brain:
        brain.sync()
        expected = kit.found(brain, "sqlite")
        (root / "40_Brain/MEMORY.md").touch()  # a person is typing
        assert brain.remember("The walrus swims", by="admin").state == "pending"
    _emptied(root)
    with opened(root) as brain:
        assert kit.found(brain, "sqlite") == expected
        assert not (root / "40_Brain/MEMORY.md").exists()


def test_a_brain_folder_that_looks_empty_changes_nothing(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """Whether it is looked at alone or with the whole vault."""
    root = vault({f"{n}.md": "note\n" for n in range(20)} | kit.VAULT)
    brain = opened(root)
    brain.sync()
    _emptied(root / "40_Brain")
    for only in (None, ["40_Brain"]):
        with pytest.raises(VaultLooksEmpty, match="40_Brain has 0 of the 8 files"):
            brain.sync(only)
    (root / "40_Brain/AGENT.md").write_text(kit.AGENT)
    assert len(brain.sync(["40_Brain"]).removed) == 7


def test_paths_that_are_all_there_was(vault: MakeVault, opened: OpenBrain) -> None:
    """As the hints of a watcher may name them."""
    root = vault()
    brain = opened(root)
    brain.sync()
    _emptied(root)
    paths = [path for path in kit.VAULT if not path.endswith("/")]
    with pytest.raises(VaultLooksEmpty, match="has 0 of the 12 files"):
        brain.sync(paths)


def test_who_deletes_a_memory_note_may_go_on(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        brain.sync()
    (root / "40_Brain/MEMORY.md").unlink()
    with opened(root) as brain:
        assert brain.remember("A new start").state == "written"
        assert kit.found(brain, "sqlite") == []
        assert kit.found(brain, "start") == ["40_Brain/MEMORY.md"]


# -- where things are --------------------------------------------------------------------------


def test_a_brain_folder_of_another_name(
    vault: MakeVault, tmp_path: Path, opened: OpenBrain
) -> None:
    root = tmp_path / "v"
    (root / "Zettel/agents/x").mkdir(parents=True)
    (root / "Zettel/brain.yaml").write_text("")
    (root / "Zettel/MEMORY.md").write_text("- walrus of the admin\n")
    (root / "Zettel/agents/x/MEMORY.md").write_text("- walrus of x\n")
    brain = opened(root)
    hits = brain.search("walrus").results
    assert {(h.row.scope, h.row.agent) for h in hits} == {("memory", "admin"), ("memory", "x")}
    assert (root / "Zettel/brain.db").exists()


@pytest.mark.parametrize("kind", ["relative", "absolute"])
def test_db_path(kind: str, vault: MakeVault, tmp_path: Path, opened: OpenBrain) -> None:
    target = tmp_path / "elsewhere" / "index.db" if kind == "absolute" else Path("cache/index.db")
    root = vault(kit.VAULT | {"40_Brain/brain.yaml": f"dbPath: {target}\n"})
    brain = opened(root)
    assert kit.found(brain, "tusks") == ["Notes/Walrus.md"]
    assert (root / "40_Brain" / target).exists()
    assert not (root / "40_Brain/brain.db").exists()


def test_an_index_that_cannot_be_made(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault(kit.VAULT | {"40_Brain/brain.yaml": "dbPath: /proc/nowhere/brain.db\n"})
    with pytest.raises(BrainError, match="dbPath"):
        opened(root).search("walrus")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_settings_that_are_no_file(make: object, vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    make(root / "40_Brain/brain.yaml")  # type: ignore[operator]
    with pytest.raises(BadConfig, match=r"brain\.yaml cannot be read"):
        opened(root)


# -- untouched ---------------------------------------------------------------------------------

HERE = Path(__file__).parent


def _vaults() -> list[Path]:
    found = [HERE.parent / "vault_template", *sorted((HERE / "vaults").glob("*"))]
    return [path for path in found if path.is_dir()]


@pytest.mark.parametrize("source", _vaults(), ids=lambda path: path.name)
def test_not_a_byte_of_a_vault_is_touched(source: Path, tmp_path: Path, opened: OpenBrain) -> None:
    root = tmp_path / "vault"
    shutil.copytree(source, root, symlinks=True)
    _untouched(root, opened)


def test_not_a_byte_of_a_messy_vault_is_touched(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault(
        kit.VAULT
        | {
            ".obsidian/app.json": "{}", ".git/HEAD": "ref", ".trash/gone.md": "gone",
            "empty.md": "",
            "crlf.md": b"\xef\xbb\xbfa\r\nb\r\n", "bad.md": b"\xff\x00", "pic.png": b"\x89PNG",
            "40_Brain/broken/items.json": "[{", "40_Brain/.gitignore": "mine\n", ".env.md": "s",
            "n (conflicted copy).md": "n", "n.md": "n", "no-end.md": "no newline",
        }
    )  # fmt: skip
    os.symlink("/etc/hostname", root / "out.md")
    _untouched(root, opened)


def _untouched(root: Path, opened: OpenBrain) -> None:
    before = kit.snapshot(root)
    new_vault.create(root)
    brain = opened(root)
    brain.sync()
    brain.search("the", scopes=["all"])
    entries.list_(brain.vault, limit=100)
    brain.doctor()
    brain.sync(rebuild=True)
    brain.close()
    after = kit.snapshot(root)
    assert {path: after[path] for path in before} == before
    assert all(path.startswith("40_Brain") for path in after.keys() - before.keys())


def test_reading_changes_no_access_rights(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    (root / "Architecture.md").chmod(0o400)
    brain = opened(root)
    brain.sync()
    assert (root / "Architecture.md").stat().st_mode & 0o777 == 0o400


# -- the parts ---------------------------------------------------------------------------------


def test_read_takes_a_file_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1000)
    read = os.read
    monkeypatch.setattr(os, "read", lambda handle, size: read(handle, min(size, 300)))
    assert files.read(str(path), 2000)[0] == b"x" * 1000


def test_progress_is_told(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({f"{n}.md": "x" for n in range(3)}))
    told: list[tuple[int, int]] = []
    brain.vault.progress = lambda number, total: told.append((number, total))
    brain.sync()
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_what_changed_in_a_memory(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({"40_Brain/MEMORY.md": "- one ^m-aaaaaaaa\n- two\n- three\n"})
    brain = opened(root)
    brain.sync()
    (root / "40_Brain/MEMORY.md").write_text("- ONE ^m-aaaaaaaa\n- two, edited\n- four\n- three\n")
    (delta,) = brain.sync().deltas
    assert [text for _, text in delta.changed] == ["ONE"]
    assert {text for _, text in delta.added} | {text for _, text in delta.changed} >= {
        "ONE",
        "four",
    }
    (root / "40_Brain/MEMORY.md").write_text("- ONE ^m-aaaaaaaa\n")
    (delta,) = brain.sync().deltas
    assert [text for _, text in delta.removed] == ["two, edited", "four", "three"]


@pytest.mark.parametrize(
    ("before", "after", "changed", "added", "removed"),
    [
        ("a: use SQLite here|gone for good", "use SQLite everywhere", "use SQLite everywhere", "",
         "gone for good"),
        ("gone for good|use SQLite here", "use SQLite everywhere", "use SQLite everywhere", "",
         "gone for good"),
        ("use SQLite here", "use SQLite everywhere|brand new words", "use SQLite everywhere",
         "brand new words", ""),
        ("one two three|four five six|seven", "four five 6|one two 3", "four five 6|one two 3", "",
         "seven"),
        ("nothing alike|at all", "something else entirely", "", "something else entirely",
         "nothing alike|at all"),
    ],
)  # fmt: skip
def test_an_edit_beside_a_deletion_or_an_addition_counts_as_changed(
    before: str, after: str, changed: str, added: str, removed: str
) -> None:
    """Ids here come from the text, so that an edit gives an entry another one."""

    def entries(text: str) -> dict[str, str]:
        return {f"m-{part}": part for part in ("first", *text.split("|"), "last") if part}

    delta = compare("p", "memory", entries(before), entries(after))
    assert delta
    said = ("|".join(text for _, text in part) for part in delta[2:5])
    assert tuple(said) == (added, changed, removed)


def test_an_entry_edited_in_place_counts_as_changed() -> None:
    before, after = {"m-1": "one", "m-2": "two"}, {"m-1": "one", "m-3": "two!"}
    delta = compare("p", "memory", before, after)
    assert delta
    assert delta.changed == (("m-3", "two!"),)
    assert not delta.added
    assert not delta.removed


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("- one\n", "- one!\n", True),
        ("- one\n", "- one ^by-hand\n", True),  # as Obsidian writes it for a link
        ("- one ^m-00000001\n", "- two ^m-00000002\n", False),
        ("- one ^m-00000001\n", "- one ^m-00000002\n", False),
        ("- one\n", "- two ^m-00000002\n", False),
        ("- one ^m-00000001\n", "- two\n", False),
        ("- one [anchored:: yes]\n", "- two [anchored:: yes]\n", True),
        ("- one\n- old ^m-00000001\n", "- one!\n- new ^m-00000002\n", True),
    ],
)
def test_an_id_that_stands_in_a_note_never_becomes_another(
    before: str, after: str, same: bool, vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({"40_Brain/MEMORY.md": before})
    brain = opened(root)
    brain.sync()
    was = refs(brain, "40_Brain/MEMORY.md")[0]
    (root / "40_Brain/MEMORY.md").write_text(after)
    (delta,) = brain.sync().deltas
    assert delta.renamed == (((was, refs(brain, "40_Brain/MEMORY.md")[0]),) if same else ())
    assert bool(delta.changed) == same
    assert bool(delta.removed) == bool(delta.added) == ("m-0" in before + after)


def test_a_heading_of_a_megabyte_is_not_repeated_by_every_passage(
    vault: MakeVault, opened: OpenBrain
) -> None:
    long = "walrus " * 150_000
    brain = opened(vault({"a.md": f"# {long}\n\n{long}\n"}))
    brain.sync()
    brain.vault.index.close()
    assert (brain.vault.paths.folder / "brain.db").stat().st_size < 20_000_000
    assert brain.search("walrus").results


def test_a_note_that_becomes_a_broken_brain_file_is_no_note_any_more(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """Its old text stays, and full text knows it as an entry."""
    root = vault({"n.md": "alpha one\n", "b.md": "beta\n"})
    brain = opened(root)
    brain.sync()
    home = root / "40_Brain/agents/x"
    home.mkdir(parents=True)
    (root / "n.md").rename(home / "items.json")
    brain.sync()
    assert brain.vault.index.healthy()
    assert kit.found(brain, "alpha") == ["40_Brain/agents/x/items.json"]
