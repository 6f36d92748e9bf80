"""Every change can be taken back, and nothing that somebody has gone on with is lost by it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from brain.api import Brain
from brain.errors import BadRequest, BrainError, Busy, NotFound, StaleFile
from brain.model import NewRecord
from tests.operations.conftest import LONG_AGO, NOTE, Made, note, settle
from tests.store.kit import SECRET

ID = "m-7f3k2ab4"
Verb = Callable[[Brain], dict[str, Any]]

CHANGES: dict[str, Verb] = {
    "remember": lambda b: b.remember("Walruses nap at noon", kind="discovery"),
    "remember, more lines": lambda b: b.remember("To deploy:\n1. build\n2. push", kind="procedure"),
    "update": lambda b: b.update(ID, "Chose DuckDB over SQLite"),
    "update, unanchored": lambda b: b.update("short answers", "Prefers long answers"),
    "forget": lambda b: b.forget(ID),
    "remove the last": lambda b: b.forget("short answers"),
    "pin": lambda b: b.pin(ID),
    "pin, unanchored": lambda b: b.pin("short answers"),
    "unpin": lambda b: b.unpin("Deploys go"),
    "tag": lambda b: b.tag(ID, ["sql"], ["db"]),
    "link": lambda b: b.link(ID, "Walrus"),
    "move": lambda b: b.move(ID, "User Preferences"),
    "move, unanchored": lambda b: b.move("short answers", "Key Decisions"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_undone_a_note_is_as_it_was(brain: Brain, name: str) -> None:
    before = note(brain)
    shape = CHANGES[name](brain)
    assert note(brain) != before
    undone = brain.undo()
    text = note(brain)
    if name.startswith("remember"):  # a section that was made for it stays
        text = text.removesuffix("\n## Discoveries\n").removesuffix("\n## Procedures\n")
    assert text == before
    assert (undone.outcome, undone.of) == ("undone", shape.event)


@pytest.mark.parametrize("name", [name for name in CHANGES if not name.startswith("move")])
def test_an_undo_can_be_undone(brain: Brain, name: str) -> None:
    CHANGES[name](brain)
    after = note(brain)
    undone = brain.undo()
    assert note(brain) != after
    brain.undo(undone.event)
    assert note(brain) == after


def test_the_undo_of_a_move_is_a_move(brain: Brain) -> None:
    CHANGES["move"](brain)
    undone = brain.undo()
    path = brain.vault.paths.root / NOTE
    path.write_text(note(brain) + "- another line\n")  # else it would be exact
    with pytest.raises(BadRequest, match="Make the opposite change"):
        brain.undo(undone.event)


def test_one_after_the_other(brain: Brain) -> None:
    before = note(brain)
    brain.pin(ID)
    brain.tag(ID, ["sql"])
    brain.update(ID, "Chose DuckDB")
    assert [brain.undo().undid for _ in range(3)] == ["update", "tag", "pin"]
    assert note(brain) == before
    with pytest.raises(NotFound, match="nothing to undo"):
        brain.undo()


def test_what_somebody_went_on_with_is_shown_and_kept(brain: Brain) -> None:
    event = brain.update(ID, "Chose DuckDB").event
    brain.tag(ID, ["sql"])
    kept = note(brain)
    with pytest.raises(StaleFile) as error:
        brain.undo(event)
    assert "-- 2026-02-01: Chose DuckDB [[Architecture]] #db #sql ^m-7f3k2ab4" in str(error.value)
    assert "+- 2026-02-01: Chose SQLite over PostgreSQL" in str(error.value)
    assert note(brain) == kept
    brain.undo(event, force=True)
    assert "Chose SQLite over PostgreSQL" in note(brain)


def test_a_persons_edit_is_not_undone_over(brain: Brain) -> None:
    event = brain.pin(ID).event
    path = brain.vault.paths.root / NOTE
    path.write_text(path.read_text().replace("local-first", "offline"))
    with pytest.raises(StaleFile, match="offline"):
        brain.undo(event)


def test_a_removed_line_is_restored_beside_a_similar_one(brain: Brain) -> None:
    """A person removes a line and types a similar one in its place. The new line counts as the old
    one in other words: it has the id of the removed line as another id."""
    path = brain.vault.paths.root / NOTE
    brain.tag(ID, ["sql"])
    path.write_text(note(brain) + "- The walrus sleeps at 9.\n")
    settle(brain.vault.paths.root)
    brain.tag(ID, ["storage"])  # from now on, the line is protected
    path.write_text(note(brain).replace("sleeps at 9", "sleeps at 10"))
    settle(brain.vault.paths.root)
    (removed,) = brain.pending()
    new = brain.show("sleeps at 10").id
    alias = NewRecord("e-0000000001", "alias", "person", new, NOTE, {"old": removed.id})
    with brain.vault.store.locked():
        brain.vault.journal.append([alias])
    undone = brain.undo(removed.event)
    assert (undone.id, undone.text) == (removed.id, "The walrus sleeps at 9.")
    lines = note(brain).splitlines()
    assert {"- The walrus sleeps at 9.", "- The walrus sleeps at 10."} <= set(lines)
    assert brain.pending() == []


def test_an_addition_that_is_gone_cannot_be_taken_back(brain: Brain) -> None:
    shape = brain.remember("Walruses nap")
    brain.forget(shape.id)
    with pytest.raises(NotFound, match="nothing to undo"):
        brain.undo(shape.event)


VERBS: dict[str, Verb] = {
    "update": lambda b: b.update("Anna is", "Anna has left", by="admin"),
    "forget": lambda b: b.forget("Anna is", by="admin"),
    "pin": lambda b: b.pin("Anna is", by="admin"),
    "move": lambda b: b.move("Anna is", "Key Decisions", by="admin"),
}


def written_by_a_person(brain: Brain, line: str) -> str:
    path = brain.vault.paths.root / NOTE
    path.write_text(path.read_text() + line)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return note(brain)


@pytest.mark.parametrize("name", VERBS)
def test_a_persons_addresses_come_back(brain: Brain, name: str) -> None:
    before = written_by_a_person(brain, "- Anna is at anna@zoo.example\n")
    VERBS[name](brain)
    assert note(brain) != before
    brain.undo()
    assert note(brain) == before
    if name != "move":
        brain.undo(brain.audit(limit=1)[0].event)
        assert note(brain) != before
        brain.undo(brain.audit(limit=1)[0].event)
        assert note(brain) == before


def test_it_comes_back_below_a_heading_with_an_address(brain: Brain) -> None:
    before = written_by_a_person(brain, "\n## anna@zoo.example\n- Anna is there\n- Or not\n")
    brain.forget("Anna is", by="admin")
    brain.undo()
    assert note(brain) == before


@pytest.mark.parametrize("name", VERBS)
def test_a_persons_secrets_are_not_on_record(brain: Brain, name: str) -> None:
    written_by_a_person(brain, f"- Anna is at anna@zoo.example with {SECRET}\n")
    event = VERBS[name](brain).event
    journal = b"".join(
        path.read_bytes() for path in brain.vault.paths.folder.rglob("journal/*/*.jsonl")
    )
    assert SECRET.encode() not in journal
    if name in ("update", "forget"):
        with pytest.raises(StaleFile, match="contained a secret"):
            brain.undo(event)
        brain.undo(event, force=True)
        assert "anna@zoo.example with [redacted:github]" in note(brain)


@pytest.mark.parametrize("name", ["update", "forget"])
def test_what_was_redacted_when_it_was_written_comes_back_as_it_was(
    brain: Brain, name: str
) -> None:
    brain.remember(f"Anna is at anna@zoo.example with {SECRET}")
    before = note(brain)
    VERBS[name](brain)
    brain.undo()
    assert note(brain) == before


def test_an_agent_brings_no_address_in(brain: Brain) -> None:
    brain.update("short answers", "Ask anna@zoo.example", by="admin")
    assert "anna@" not in note(brain)
    brain.undo()
    brain.undo(brain.audit(limit=1)[0].event)
    assert "anna@" not in note(brain)


def test_feedback_is_taken_back_by_its_opposite(brain: Brain) -> None:
    brain.reinforce(ID)
    assert brain.undo().undid == "reinforce"
    deltas = [record.data["delta"] for record in brain.history(ID)]
    assert deltas == [3.0, -3.0]


def test_an_unknown_event(brain: Brain) -> None:
    with pytest.raises(NotFound, match="no event 'e-nothing'"):
        brain.undo("e-nothing")


def test_undone_where_it_stood(brain: Brain) -> None:
    """Among others, a removed entry comes back to its place."""
    before = note(brain)
    ids = [brain.remember(f"Fact {n}", kind="decision").id for n in range(3)]
    between = note(brain)
    brain.forget(ids[1])
    brain.undo()
    assert note(brain) == between
    for _ in ids:
        brain.undo()
    assert note(brain) == before


def test_what_was_done_together_is_undone_together(brain: Brain) -> None:
    before = note(brain)
    brain.update(ID, "Chose DuckDB", tags=["duck"])
    brain.undo()
    assert note(brain) == before


def test_a_resolution_can_be_undone(brain: Brain) -> None:
    brain.link(ID, "Deploys go", as_="contradicts")
    before = note(brain)
    brain.resolve(ID, keep=ID)
    assert brain.conflicts() == []
    assert brain.undo().undid == "resolve"
    assert len(brain.conflicts()) == 1
    assert note(brain) == before
    assert brain.undo().undid == "link"
    assert brain.conflicts() == []
    with pytest.raises(NotFound, match="nothing to undo"):
        brain.undo()


def a_resolution(brain: Brain) -> str:
    """Two memories at odds, one of which was chosen; returns the other, which gave way."""
    brain.remember("Always use tabs", date=False)
    other = brain.remember("Never use tabs", date=False).id
    brain.resolve(other, keep="Always use tabs")
    return str(other)


def went_on(brain: Brain, ref: str) -> str:
    """A person goes on with an entry."""
    path = brain.vault.paths.root / NOTE
    path.write_text(path.read_text().replace(f" ^{ref}", f" at all ^{ref}"))
    os.utime(path, (LONG_AGO, LONG_AGO))
    return note(brain)


def test_an_undo_that_refuses_a_part_has_done_nothing(brain: Brain) -> None:
    now = went_on(brain, a_resolution(brain))
    records = brain.audit()
    with pytest.raises(StaleFile, match="This would be lost"):
        brain.undo()
    assert note(brain) == now
    assert brain.audit() == records


def test_a_revert_that_keeps_a_part_keeps_all_of_it(brain: Brain) -> None:
    brain.remember("Always use tabs", date=False)
    other = brain.remember("Never use tabs", date=False).id
    brain.resolve(other, keep="Always use tabs", by="admin")
    now = went_on(brain, other)
    report = brain.revert("admin", "1h")
    assert ([one.op for one in report.kept], report.undone) == (["resolve"], [])
    assert note(brain) == now


def test_all_of_an_undo_can_be_undone(brain: Brain) -> None:
    """Its parts, too: the links of both memories, and that they are at odds."""
    a_resolution(brain)
    after = note(brain)
    undone = brain.undo()
    assert len(brain.conflicts()) == 1
    brain.undo(undone.event)
    assert note(brain) == after
    assert brain.conflicts() == []


def test_parts_about_one_entry_are_undone_one_after_the_other(brain: Brain) -> None:
    before = note(brain)
    event = brain.update(ID, "Chose DuckDB", tags=["duck"]).event
    after = note(brain)
    undone = brain.undo(event)
    assert note(brain) == before
    brain.undo(undone.event)
    assert note(brain) == after


def test_an_event_that_is_no_open_conflict(brain: Brain) -> None:
    event = brain.pin(ID).event
    for id in (event, "e-0000000000"):
        with pytest.raises(NotFound, match=f"no open conflict '{id}'"):
            brain.resolve(id)


# -- what is pending -----------------------------------------------------------------------------


@pytest.fixture
def typing(brain: Brain) -> Brain:
    """A person is typing in the note."""
    path = brain.vault.paths.root / NOTE
    brain.remember("Seals bark")
    path.write_text(path.read_text() + "- typ")
    soon = time.time() + 60
    os.utime(path, (soon, soon))
    return brain


WAITING: dict[str, tuple[Verb, str]] = {
    "update": (lambda b: b.update(ID, "Chose DuckDB"), "2026-02-01: Chose DuckDB [[Arch"),
    "link": (lambda b: b.link(ID, "Deploys go"), "[relates_to:: [[#^m-"),
    "tag": (lambda b: b.tag(ID, ["sql"]), "#sql"),
    "pin": (lambda b: b.pin(ID), "#pinned"),
}


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_is_told_as_it_will_be(typing: Brain, name: str) -> None:
    verb, words = WAITING[name]
    shape = verb(typing)
    assert shape.state == "pending"
    assert words in shape.text
    assert words not in note(typing).split("Deploys")[0]


def test_what_waits_is_not_undone_over(typing: Brain) -> None:
    """Nor is the change before it taken for the last."""
    shape = typing.forget(ID)
    for event in ("", shape.event):
        with pytest.raises(Busy, match=f"forget of {ID} is not written yet"):
            typing.undo(event)
    (waits,) = typing.pending()
    typing.pending(drop=waits.event)
    os.utime(typing.vault.paths.root / NOTE, (LONG_AGO, LONG_AGO))
    assert typing.undo().undid == "remember"


def test_an_agent_is_told_of_no_other_that_waits(typing: Brain) -> None:
    typing.remember("Whales sing", agent="zoo", by="zoo")
    event = typing.forget(ID).event
    with pytest.raises(NotFound, match="no event"):
        typing.undo(event, by="zoo")
    assert typing.undo(by="zoo").undid == "remember"


def test_history_tells_what_waits(typing: Brain) -> None:
    typing.update(ID, "Chose DuckDB", why="faster", session="s-1")
    (record,) = typing.history(ID)
    assert (record.op, record.data["state"], record.data["why"]) == ("update", "pending", "faster")
    os.utime(typing.vault.paths.root / NOTE, (LONG_AGO, LONG_AGO))
    (record,) = typing.history(ID)
    assert (record.op, record.data.get("state")) == ("update", None)


@pytest.mark.parametrize("op", ["merge", "reinforce", "update", "forget"])
def test_nothing_is_taken_back_twice(brain: Brain, op: str) -> None:
    ref = brain.remember("The gate is shut at night").id
    if op == "merge":
        brain.remember("The gate is shut at night")
    elif op == "reinforce":
        brain.reinforce(ref)
    elif op == "update":
        brain.update(ref, "The gate is open at night")
    else:
        brain.forget(ref)
    event = next(one.event for one in brain.history(ref) if one.op == op)
    brain.undo(event)
    before = brain.show(ref), note(brain)
    with pytest.raises(BadRequest, match="undone already"):
        brain.undo(event)
    assert (brain.show(ref), note(brain)) == before


def test_an_undone_setting_can_be_set_again(brain: Brain) -> None:
    brain.budget(3000)
    undone = brain.undo()
    assert undone.undid == "config"
    assert brain.vault.config.budgetCeiling != 3000
    assert brain.undo(str(undone.event)).undid == "undo"
    assert brain.vault.config.budgetCeiling == 3000


@pytest.mark.parametrize(
    ("op", "ref", "path", "data"),
    [
        ("config", "laterSetting", "40_Brain/brain.yaml", {"before": "x: 1", "after": "0"}),
        ("reinforce", ID, "", {"delta": "much"}),
        ("overwritten", ID, NOTE, {}),
        ("update", ID, "a\0b", {"before": "x", "after": "0"}),
    ],
)  # fmt: skip
def test_a_record_that_makes_no_sense_stops_nothing(
    brain: Brain, op: str, ref: str, path: str, data: dict[str, Any]
) -> None:
    """Written by a later version, or by another program."""
    brain.remember("Walruses nap at noon", by="admin")
    brain.vault.journal.append([NewRecord("e-0dd0000000", op, "admin", ref, path, data)])
    with pytest.raises(BrainError):
        brain.undo("e-0dd0000000")
    assert brain.audit()
    assert [undone.undid for undone in brain.revert("admin", "1h").undone] == ["remember"]


def test_names_that_are_not_unicode(brain: Brain) -> None:
    for ask in (brain.history, brain.undo, brain.show):
        with pytest.raises(NotFound):
            ask("\ud800")


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(brain: Brain, limit: int) -> None:
    asks = (
        lambda: brain.audit(limit=limit),
        lambda: brain.list(limit=limit),
        lambda: brain.similar("m-7f3k2ab4", limit=limit),
        lambda: brain.session_list(limit=limit),
        lambda: brain.session_show("2026-01-01", limit=limit),
    )
    for ask in asks:
        with pytest.raises(BadRequest, match=f"The limit must be at least 1, not {limit}"):
            ask()


def test_the_last_change_of_one_agents_memory(brain: Brain) -> None:
    mine = brain.remember("Seals bark", agent="zoo")
    brain.remember("Walruses nap at noon")
    assert brain.undo(agent="zoo").of == mine.event
    with pytest.raises(NotFound, match="nothing to undo"):
        brain.undo(agent="zoo")
    with pytest.raises(NotFound, match="There is no agent"):
        brain.undo(agent="nobody")
    assert brain.undo().text.endswith("Walruses nap at noon")


# -- to the byte -----------------------------------------------------------------------------------

NOTES = {
    "blank lines": "# A\n\n\n- one ^m-00000001\n\n\n- two\n\n",
    "no final newline": "## Facts\n- one ^m-00000001\n- two",
    "carriage returns": "## Facts\r\n- one ^m-00000001\r\n- two\r\n",
    "nested": "## Facts\n- one ^m-00000001\n    - more\n\n    text\n- two\n",
    "last of its section": "# A\n\n## Facts\n- one ^m-00000001\n\n## Decisions\n- two\n",
    "alone": "- one ^m-00000001\n",
    "a paragraph": "## Facts\none ^m-00000001\n\ntwo\n",
    "numbered": "1. one ^m-00000001\n2. two\n",
    "a byte order mark": "\ufeff## Facts\n- one ^m-00000001\n",
    "a table below": "## Facts\n- one ^m-00000001\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "nothing": "",
}
EXACT: dict[str, Verb] = {
    "forget": lambda b: b.forget("m-00000001"),
    "remember": lambda b: b.remember("Seals bark", kind="procedure"),
    "remember here": lambda b: b.remember("Seals bark", section="Facts"),
    "pin": lambda b: b.pin("m-00000001"),
    "move": lambda b: b.move("m-00000001", "Somewhere else"),
    "update": lambda b: b.update("m-00000001", "Seals bark\nat night"),
    "link": lambda b: b.link("m-00000001", "two"),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("kind", NOTES)
def test_undo_restores_every_byte(made: Made, kind: str, name: str) -> None:
    """The note was not changed since; an undo of the undo is exact as well."""
    text = NOTES[kind]
    if "m-00000001" not in text and not name.startswith("remember"):
        return
    brain = made({NOTE: text, "40_Brain/brain.yaml": "holdSeconds: 0\n"})
    path = brain.vault.paths.root / NOTE
    before = path.read_bytes()
    try:
        event = EXACT[name](brain).event
    except (BadRequest, NotFound):
        return  # there is nothing to link to, say
    after = path.read_bytes()
    again = brain.undo(event).event
    assert path.read_bytes() == before
    brain.undo(again)
    assert path.read_bytes() == after


@pytest.mark.parametrize("further", ["", "\n- of a person\n"])
def test_a_move_and_its_undo_are_one_record_each(brain: Brain, further: str) -> None:
    moved = brain.move(ID, "User Preferences")
    record = brain.history(ID)[-1]
    assert (record.data["section"], record.data["to"]) == (
        "Agent Memory > Key Decisions", "User Preferences",
    )  # fmt: skip
    path = brain.vault.paths.root / NOTE
    path.write_text(path.read_text() + further)
    settle(brain.vault.paths.root)
    brain.undo()
    for records in (brain.history(ID), list(reversed(brain.audit()))):
        assert [record.op for record in records] == ["move", "undo"]
        assert records[1].data["of"] == moved.event


def test_the_undo_of_the_first_memory_removes_its_note(brain: Brain) -> None:
    """There was no file before."""
    root = brain.vault.paths.root
    folder = root / "40_Brain/agents/diver"
    brain.agent_add("diver")
    path = folder / "MEMORY.md"
    assert not path.exists()
    brain.remember("Eels bite", agent="diver")
    after = path.read_bytes()
    undone = brain.undo()
    assert os.listdir(folder) == ["AGENT.md"]
    assert brain.search("eels", scopes=["memory"]).results == []
    assert brain.doctor().problems == []
    brain.undo(undone.event)
    assert path.read_bytes() == after
    assert [hit.path for hit in brain.search("eels", agent="diver").results]


def test_a_note_that_somebody_else_wrote_into_stays(brain: Brain) -> None:
    brain.agent_add("diver")
    path = brain.vault.paths.root / "40_Brain/agents/diver/MEMORY.md"
    brain.remember("Eels bite", agent="diver")
    path.write_text(path.read_text() + "- Mine\n")
    settle(brain.vault.paths.root)
    brain.undo()
    assert path.read_text().endswith("- Mine\n")
    assert "Eels" not in path.read_text()


def test_an_empty_note_stays_empty(brain: Brain) -> None:
    brain.agent_add("diver")
    path = brain.vault.paths.root / "40_Brain/agents/diver/MEMORY.md"
    path.write_bytes(b"")
    settle(brain.vault.paths.root)
    brain.remember("Eels bite", agent="diver")
    brain.undo()
    assert path.read_bytes() == b""
