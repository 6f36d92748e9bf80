"""Other words for an entry, or its removal, are written only over what their actor saw."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.changes import Deed, Remove, Retag, Update
from brain.errors import StaleFile
from brain.store import over, place
from brain.vault import swap
from tests.store import kit
from tests.store.kit import HELD, NOTE, A, Open, age, ops, text

WORDS = "Chose SQLite over PostgreSQL."
MINE = "Chose SQLite over PostgreSQL, Bob has the keys."
UPDATE = Deed("update", A, Update(NOTE, A, "Chose DuckDB."))
AGAIN = Deed("update", A, Update(NOTE, A, "Chose MySQL."))
REMOVE = Deed("forget", A, Remove(NOTE, A))
TAG = Deed("tag", A, Retag(NOTE, A, add=("#tagged",)))
CHANGES = {"update": UPDATE, "forget": REMOVE}


def typed(root: Path, old: str = WORDS, new: str = MINE) -> None:
    """A person has changed the entry, and paused since."""
    said = text(root)
    assert old in said
    (root / NOTE).write_text(said.replace(old, new))
    age(root / NOTE, 2000)


@pytest.mark.parametrize("deed", CHANGES.values(), ids=CHANGES)
def test_what_a_person_typed_meanwhile_stays(opened: Open, root: Path, deed: Deed) -> None:
    store = opened(HELD)
    assert store.apply([deed], wait=0)[0].state == "pending"
    typed(root)
    store.drain()
    assert MINE in text(root)
    [entry] = store.pending()
    assert entry.state == "blocked"
    assert entry.why == over.WHY.format(ref=A)
    assert ops(store) == []
    store.drain()
    assert MINE in text(root)
    assert all(
        edit(text(root).encode()).decode() == text(root) for edit in store.promised().values()
    )


@pytest.mark.parametrize("deed", CHANGES.values(), ids=CHANGES)
def test_it_is_carried_out_when_somebody_wants_it(opened: Open, root: Path, deed: Deed) -> None:
    store = opened(HELD)
    store.apply([deed], wait=0)
    typed(root)
    store.drain()
    store.release(store.pending()[0].intent.id)
    assert MINE not in text(root)
    assert ("Chose DuckDB." in text(root)) == (deed is UPDATE)
    [record] = kit.records(store)
    assert MINE in record.data["before"]
    store.drain()
    assert store.log.empty()


def test_it_is_carried_out_over_what_there_was_when_it_was_wanted(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([UPDATE], wait=0)
    typed(root)
    store.drain()
    age(root / NOTE, 0)  # the person goes on typing
    store.release(store.pending()[0].intent.id)
    typed(root, MINE, "Chose neither.")
    store.drain()
    assert "Chose neither." in text(root)
    assert [entry.state for entry in store.pending()] == ["blocked"]


def test_it_can_be_dropped(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([UPDATE], wait=0)
    typed(root)
    store.drain()
    store.release(store.pending()[0].intent.id, drop=True)
    assert MINE in text(root)
    assert store.log.empty()


def test_a_chain_of_changes_that_wait(opened: Open, root: Path) -> None:
    store = opened(HELD)
    for deed in (TAG, UPDATE, AGAIN, REMOVE):
        assert store.apply([deed], wait=0)[0].state == "pending"
    (root / NOTE).write_text(text(root) + "- A person's own line\n")
    age(root / NOTE, 2000)
    store.drain()
    assert A not in text(root)
    assert ops(store) == ["tag", "update", "update", "forget"]
    assert store.pending() == []


def test_of_a_chain_the_tag_is_set_and_no_word_is_replaced(opened: Open, root: Path) -> None:
    store = opened(HELD)
    for deed in (UPDATE, TAG, AGAIN):
        store.apply([deed], wait=0)
    typed(root)
    store.drain()
    [line] = [line for line in kit.lines(root / NOTE) if A in line]
    assert line == f"- {MINE} [[Architecture]] #db #tagged ^{A}"
    assert [entry.intent.deeds[0].change.text for entry in store.pending()] == [
        "Chose DuckDB.", "Chose MySQL."
    ]  # fmt: skip
    assert ops(store) == ["tag"]


def test_who_has_seen_what_was_typed_goes_on(opened: Open, root: Path) -> None:
    """An older change waits, and is overtaken by what a person typed and one that knows of that."""
    store = opened(HELD)
    store.apply([UPDATE], wait=0)
    typed(root)
    assert store.apply([AGAIN], wait=0)[0].state == "written"
    assert "Chose MySQL." in text(root)
    assert [entry.intent.deeds[0].change.text for entry in store.pending()] == ["Chose DuckDB."]


def test_one_whose_predecessor_is_dropped_is_carried_out(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([UPDATE], wait=0)
    store.apply([AGAIN], wait=0)
    store.release(store.pending()[0].intent.id, drop=True)
    age(root / NOTE, 2000)
    store.drain()
    assert "Chose MySQL." in text(root)
    assert store.pending() == []


@pytest.mark.parametrize("deed", CHANGES.values(), ids=CHANGES)
def test_a_save_in_the_moment_of_the_swap(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, deed: Deed
) -> None:
    """Nobody has heard of a promise yet: it is told that the entry is another one."""
    store, real = opened(), swap.exchange

    def exchange(temp: str, path: str) -> None:
        monkeypatch.setattr(swap, "exchange", real)
        typed(root)
        real(temp, path)

    monkeypatch.setattr(swap, "exchange", exchange)
    with pytest.raises(StaleFile, match=f"{A} was changed since"):
        store.apply([deed, kit.deed("remember", 1)])
    assert MINE in text(root)
    assert kit.LINE not in text(root)
    assert kit.temps(root) == []
    assert kit.conflicts(root) == []
    assert store.log.empty()
    assert ops(store) == []


def test_a_save_in_the_moment_in_which_what_waited_is_written(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, real = opened(HELD), swap.exchange
    for deed in (UPDATE, kit.deed("remember", 1)):
        store.apply([deed], wait=0)
    age(root / NOTE, 2000)

    def exchange(temp: str, path: str) -> None:
        monkeypatch.setattr(swap, "exchange", real)
        typed(root)
        real(temp, path)

    monkeypatch.setattr(swap, "exchange", exchange)
    store.drain()
    assert MINE in text(root)
    assert kit.LINE in text(root)
    assert [entry.state for entry in store.pending()] == ["blocked"]
    assert kit.temps(root) == []


def test_what_is_purged_waits_no_more(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([UPDATE], wait=0)
    typed(root)
    store.drain()
    assert store.expunge([A])
    assert store.log.empty()


def test_a_promise_of_an_earlier_version_is_kept(opened: Open, root: Path) -> None:
    """It does not say over what it is to be written."""
    import orjson

    store = opened(HELD)
    store.apply([UPDATE], wait=0)
    log = Path(store.log.path)
    line = orjson.loads(log.read_bytes())
    del line["deeds"][0]["change"]["over"]
    log.write_bytes(orjson.dumps(line) + b"\n")
    age(root / NOTE, 2000)
    other = opened(HELD)
    other.drain()
    assert "Chose DuckDB." in text(root)


def test_what_was_done_together_before_a_crash_can_be_done_again(opened: Open, root: Path) -> None:
    """Where it cannot be told whether it took its place, it is done twice."""
    store = opened(HELD)
    for deed in (UPDATE, AGAIN):
        store.apply([deed], wait=0)
    _, last = entries = store.pending()
    changes = [change for entry in entries for change in entry.intent.edits]
    data, done = place.edited(store.vault, NOTE, text(root).encode(), changes)
    ids = [entry.intent.deeds[0].id for entry in entries]
    did = {id: list(one[1:]) for id, one in zip(ids, done, strict=True)}
    store.log.mark([last.intent.id], "", last.at, did=did)
    (root / NOTE).write_bytes(data)
    age(root / NOTE, 2000)
    other = opened(HELD)
    other.drain()
    assert text(root) == data.decode()
    assert other.pending() == []
    assert ops(other) == ["update", "update"]
