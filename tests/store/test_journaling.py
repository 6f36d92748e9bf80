"""The journal's records of what a write did, and of what the store did by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.formats.text import digest
from brain.model import Configure, Record, Update, Write
from brain.store.journaling import splice, unspliced
from tests.store import kit
from tests.store.desk import Desk
from tests.store.kit import LINE, NOTE, A, Open, text


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def records(desk: Desk, *ops: str) -> list[Record]:
    store = desk.store()
    found = [record for record in kit.records(store) if not ops or record.op in ops]
    store.state.close()
    return found


def ops(desk: Desk) -> list[str]:
    return [record.op for record in records(desk)]


def mark(line: str) -> str:
    return digest(line.encode()).hex()


def test_a_record_says_what_was_there_and_what_is_there_now(opened: Open, root: Path) -> None:
    store = opened()
    store.apply([Write("update", A, Update(NOTE, A, "Chose DuckDB"))])
    [record] = kit.records(store)
    assert record.data["before"] == f"- Chose SQLite over PostgreSQL. [[Architecture]] #db ^{A}"
    assert record.data["after"] == mark(f"- Chose DuckDB [[Architecture]] #db ^{A}")
    assert record.data["section"] == "Agent Memory > Key Decisions"


@pytest.mark.parametrize("kind", kit.KINDS)
def test_a_record_restores_the_text_to_the_letter(opened: Open, root: Path, kind: str) -> None:
    store, write = opened(), kit.write(kind, 1)
    before = (root / write.change.path).read_text()
    store.apply([write])
    [record] = kit.records(store)
    assert unspliced((root / write.change.path).read_text(), record.data) == before
    assert unspliced(before + "\nchanged since", record.data) is None


def test_a_secret_is_not_in_a_splice() -> None:
    before = f"- a\n- The key is {kit.SECRET}\n"
    assert splice(before, "- a\n- The key is [redacted]\n") == {}
    assert splice(before, before + "- b\n")["splice"]["removed"] == ""


# -- what the store did by itself ------------------------------------------------------------------


def test_a_person_removed_an_entry_that_brain_had_written(desk: Desk) -> None:
    first = desk.remember("The first")
    ref = desk.remember("The second")
    desk.remember("The third")
    desk.save(desk.read().replace(f"- The second ^{ref}\n", ""))
    desk.sync(after=1)
    [record] = records(desk, "removed")
    assert (record.ref, record.by, record.path) == (ref, "person", NOTE)
    assert record.data["before"] == f"- The second ^{ref}"
    assert record.data["after"] == ""
    assert (record.data["section"], record.data["previous"]) == ("M", first)


def test_a_person_reworded_an_entry_that_brain_had_written(desk: Desk) -> None:
    ref = desk.remember("The second")
    desk.remember("The third")
    desk.save(desk.read().replace("The second", "The 2nd"))
    desk.sync(after=1)
    [record] = records(desk, "reworded")
    assert (record.ref, record.by, record.data["before"]) == (ref, "person", f"- The second ^{ref}")
    assert record.data["after"] == mark(f"- The 2nd ^{ref}")
    assert "removed" not in ops(desk)


def test_a_stale_window_lacked_an_entry(desk: Desk) -> None:
    """It is restored, and that is recorded once, however often the window saves."""
    old = desk.read()
    ref = desk.remember("The walrus")
    for number in range(3):
        desk.save(old + f"- typed {number}\n")
        desk.sync(after=2)
    [record] = records(desk, "restored")
    assert (record.ref, record.by) == (ref, "brain")
    assert record.data["after"] == mark(f"- The walrus ^{ref}")
    assert ref in desk.text


def test_a_line_of_a_stale_window_was_merged(desk: Desk) -> None:
    old = desk.read()
    desk.remember("The walrus")
    desk.save(old + "- typed ^m-typed001\n")
    desk.sync(after=1)
    [record] = records(desk, "merged")
    assert (record.ref, record.data["section"]) == ("m-typed001", "M")


def test_a_person_who_edits_alone_leaves_no_record(desk: Desk) -> None:
    desk.remember("The walrus")
    desk.save(desk.read().replace("- one\n", "- one and a half\n") + "- typed\n")
    desk.sync(after=1)
    assert ops(desk) == ["remember"]


def test_a_deleted_note_is_recorded_entry_by_entry(desk: Desk) -> None:
    ref = desk.remember("The walrus")
    desk.note.unlink()
    desk.disk.missing_since = desk.disk.time
    desk.sync(after=0.5)
    assert ops(desk) == ["remember"]
    desk.sync(after=1)
    assert [record.ref for record in records(desk, "removed")] == [ref]
    assert not desk.note.exists()


def test_a_note_that_is_missing_for_a_moment_is_being_replaced(desk: Desk) -> None:
    """Some editors delete the note, then write it."""
    ref = desk.remember("The walrus")
    kept = desk.read()
    desk.note.unlink()
    desk.disk.missing_since = desk.disk.time
    desk.remember("The seal")
    assert not desk.note.exists()
    desk.save(kept + "- typed\n")
    desk.disk.missing_since = None
    desk.sync(after=0.5)
    assert ref in desk.text
    assert "- typed\n" in desk.text
    assert "The seal" in desk.text
    assert "removed" not in ops(desk)


def test_a_save_that_takes_very_long_keeps_all_lines(desk: Desk) -> None:
    """The note counts as deleted, and then the editor goes on."""
    desk.save("# Agent Memory\n\n## M\n- one\n- two\n")
    walrus, seal = desk.remember("The walrus"), desk.remember("The seal")
    kept = desk.read()
    desk.forget(seal)
    desk.note.unlink()
    desk.disk.missing_since = desk.disk.time
    desk.sync(after=2)
    bear = desk.remember("The bear")
    desk.disk.missing_since = None
    desk.save(kept + "- typed\n", "rename")
    desk.sync(after=0.5)
    lines = desk.text.split("\n")
    wanted = {"# Agent Memory", "## M", "- one", "- two", "- typed"}
    assert wanted | {f"- The walrus ^{walrus}", f"- The bear ^{bear}"} == {*lines} - {""}
    assert lines.count("## M") == 1
    assert [record.by for record in records(desk, "removed")] == ["person"]


def slow_save(desk: Desk, text: str) -> None:
    """An editor that renames the note away saves so late that the note counts as deleted."""
    desk.note.unlink()
    desk.disk.missing_since = desk.disk.time
    desk.sync(after=2)
    desk.disk.missing_since = None
    desk.save(text, "rename")
    desk.sync(after=0.5)


@pytest.mark.parametrize("is_guarded", [True, False])
def test_a_slow_save_keeps_a_line_that_its_editor_never_loaded(
    desk: Desk, is_guarded: bool
) -> None:
    """With and without lines that are guarded when the editor saves."""
    seal = desk.remember("The seal")
    kept = desk.read()
    if is_guarded:
        desk.forget(seal)
    walrus = desk.remember("The walrus")
    slow_save(desk, kept + "- typed\n")
    assert {"- one", "- two", "- typed", f"- The walrus ^{walrus}"} <= {*desk.text.split("\n")}


def test_a_slow_save_keeps_it_although_the_editor_undid_its_own_lines(desk: Desk) -> None:
    """The text has so few of the known lines that it could be a new note."""
    desk.save("# M\n\n- one\n- sea otters\n", "rename")
    walrus = desk.remember("The walrus")
    desk.save("# M\n\n- one and a half\n- a pair of gloves\n- typed\n", "rename")
    desk.sync(after=6)
    assert walrus in desk.text
    desk.read()
    desk.wait(6)
    slow_save(desk, "# M\n\n- one and a half\n- sea otters\n")
    assert f"- The walrus ^{walrus}" in desk.text


def test_a_note_that_is_started_anew_is_empty(desk: Desk) -> None:
    desk.remember("The walrus")
    slow_save(desk, "# M\n\n- a new beginning\n")
    assert desk.text == "# M\n\n- a new beginning\n"


def test_only_memory_notes_have_such_records(opened: Open, root: Path) -> None:
    store = opened()
    path = "40_Brain/brain.yaml"
    store.apply([Write("config", "searchLimit", Configure(path, "searchLimit", 5, 10))])
    (root / path).write_text("# Mine\n")
    store.absorb()
    store.apply([Write("config", "topK", Configure(path, "topK", 6, 15))])
    assert kit.ops(store) == ["config", "config"]


def test_a_change_that_finds_nothing_to_do_leaves_no_record(opened: Open, root: Path) -> None:
    store = opened()
    store.apply([kit.write("remember", 1)])
    assert store.apply([kit.write("remember", 1)])[0].state == "unchanged"
    assert kit.ops(store) == ["remember"]
    assert text(root).count(LINE) == 1
