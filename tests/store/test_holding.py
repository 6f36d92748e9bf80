"""While a person types: held, but not for ever, and what waits can be built upon."""

from __future__ import annotations

from pathlib import Path

from brain.changes import Deed, Update
from brain.config import Config
from tests.store import kit
from tests.store.kit import HELD, LINE, NOTE, Open, age, ops, text


def test_held_while_a_person_types(opened: Open, root: Path) -> None:
    age(root / NOTE, 10)
    store = opened(HELD, settle_after=5.0)
    [outcome] = store.apply([kit.deed("remember", 1)], wait=0)
    assert outcome.state == "pending"
    assert LINE not in text(root)
    assert [entry.intent.deeds[0].op for entry in store.pending()] == ["remember"]
    assert ops(store) == []
    store.drain()
    assert LINE not in text(root)
    age(root / NOTE, 2000)
    other = opened(HELD, settle_after=5.0)  # any process of this machine will do
    other.drain()
    assert LINE in text(root)
    assert ops(other) == ["remember"]
    assert other.pending() == []
    assert store.pending() == []


def test_not_for_ever(opened: Open, root: Path) -> None:
    store = opened(HELD, max_hold=0.0, settle_after=5.0)
    assert store.apply([kit.deed("remember", 1)], wait=0)[0].state == "written"


def test_own_writes_are_no_typing(opened: Open, root: Path) -> None:
    age(root / NOTE, 2000)
    store = opened(HELD, settle_after=5.0)
    for number in range(3):
        assert store.apply([kit.deed("remember", number)], wait=0)[0].state == "written"
    with open(root / NOTE, "a") as file:
        file.write("- A person's\n")
    assert store.apply([kit.deed("remember", 3)], wait=0)[0].state == "pending"


def test_the_answer_waits_a_moment(opened: Open, root: Path) -> None:
    age(root / NOTE, 0)
    store = opened(Config(holdSeconds=0.2), max_hold=10.0, settle_after=5.0)
    [outcome] = store.apply([kit.deed("remember", 1)], wait=30)
    assert outcome.state == "written"
    assert outcome.done
    assert outcome.done.after == LINE.rstrip()


def test_what_waits_can_be_built_upon(opened: Open, root: Path) -> None:
    """An agent may update what it has just added, though nobody sees it in the note yet."""
    store = opened(HELD, settle_after=5.0)
    store.apply([kit.deed("remember", 1)], wait=0)
    store.apply([Deed("update", "m-new00001", Update(NOTE, "m-new00001", "A newer"))], wait=0)
    age(root / NOTE, 2000)
    store.drain()
    assert "- A newer #candidate ^m-new00001\n" in text(root)
    assert "A new thing" not in text(root)


def test_an_entry_that_is_gone_when_its_turn_comes(opened: Open, root: Path) -> None:
    """The person deleted it while the update waited: the journal keeps the words."""
    store = opened(HELD)
    store.apply([kit.deed("update", 1)], wait=0)
    (root / NOTE).write_text("# Agent Memory\n\n- Nothing else\n")
    age(root / NOTE, 2000)
    store.drain()
    [record] = kit.records(store)
    assert record.op == "overwritten"
    assert record.data["change"]["text"] == "Chose DuckDB 1"
    assert text(root) == "# Agent Memory\n\n- Nothing else\n"
    assert store.log.empty()


def test_one_that_cannot_be_written_does_not_stop_others(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([kit.deed("remember", 1)], wait=0)
    store.apply([kit.deed("put", 1)], wait=0)
    (root / NOTE).write_text("<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n")
    age(root / NOTE, 2000)
    age(root / kit.ITEMS, 2000)
    store.drain()
    [entry] = store.pending()
    assert entry.intent.path == NOTE
    assert "line 1" in entry.why
    assert "item_n1" in (root / kit.ITEMS).read_text()
    (root / NOTE).write_text(kit.MEMORY)
    age(root / NOTE, 2000)
    store.drain()
    assert LINE in text(root)
    assert store.pending() == []
