"""While a person types, writes wait, but not forever, and other changes can build on them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Thread

import pytest

from brain import lock
from brain.config import Config
from brain.errors import BrainError, NotFound, StaleFile
from brain.model import Remove, Retag, Update, Write
from brain.store import Store
from tests.store import kit
from tests.store.desk import VirtualDisk
from tests.store.kit import HELD, LINE, NOTE, A, Open, age, ops, text

WORDS = "Chose SQLite over PostgreSQL."
MINE = "Chose SQLite over PostgreSQL, Bob has the keys."
UPDATE = Write("update", A, Update(NOTE, A, "Chose DuckDB."))
AGAIN = Write("update", A, Update(NOTE, A, "Chose MySQL."))
REMOVE = Write("forget", A, Remove(NOTE, A))
TAG = Write("tag", A, Retag(NOTE, A, add=("#tagged",)))
CHANGES = {"update": UPDATE, "forget": REMOVE}


def type_in(root: Path, old: str = WORDS, new: str = MINE) -> None:
    """A person changes the entry in the note, and pauses."""
    assert old in text(root)
    (root / NOTE).write_text(text(root).replace(old, new))
    age(root / NOTE, 2000)


def refs(store: Store) -> list[str]:
    return [one.write.ref for one in store.pending()]


def test_a_write_waits_while_a_person_types(opened: Open, root: Path) -> None:
    age(root / NOTE, 10)
    store = opened(HELD)
    assert store.apply([kit.write("remember", 1)])[0].state == "pending"
    assert LINE not in text(root)
    [pending] = store.pending()
    assert (pending.write.op, pending.path, pending.by) == ("remember", NOTE, "person")
    assert pending.why == "a person is typing"
    assert ops(store) == []
    store.absorb()
    assert LINE not in text(root)
    age(root / NOTE, 2000)
    other = opened(HELD)  # any process of this machine
    assert other.state.has_work(str(root))
    other.absorb()
    assert LINE in text(root)
    assert ops(other) == ["remember"]
    assert kit.is_done(other)
    assert kit.is_done(store)


def test_a_change_is_acknowledged_while_another_process_writes(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that waits for its write releases the lock. Another process may hold it for longer
    than anyone waits for it. An error would say that nothing was changed."""
    monkeypatch.setattr("brain.store.store.LOCK_WAIT", 0.05)
    age(root / NOTE, 10)
    store = opened(HELD)
    taken: list[int | None] = []

    def write_for_long() -> None:
        taken.append(handle := lock.take(store._lock_path, 10))
        assert handle
        time.sleep(0.4)
        os.close(handle)

    other = Thread(target=write_for_long)
    with store.locked():
        outcomes = store.apply([kit.write("remember", 1)])
        other.start()
        [outcome] = store.wait(outcomes, 0.1)
    other.join()
    assert taken[0]
    assert outcome.state == "pending"
    assert not store.is_locked
    with store.locked(0):
        assert len(store.pending()) == 1


def test_another_vault_appears_while_a_call_waits(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call fails, and the next one takes the lock again."""
    age(root / NOTE, 10)
    store = opened(HELD)
    outcomes = store.apply([kit.write("remember", 1)])
    with monkeypatch.context() as patch, store.locked():
        store.vault = store.vault._replace(id="v-000000000000")
        patch.setattr("brain.vault.layout.vault_id", lambda _: "v-111111111111")
        with pytest.raises(BrainError, match="Another vault"):
            store.wait(outcomes, 1)
    store.vault = store.vault._replace(id="")
    assert not store.is_locked
    with store.locked():
        assert lock.take(store._lock_path) is None


def test_not_forever(opened: Open, root: Path) -> None:
    disk = VirtualDisk()
    store = opened(HELD, max_hold=10.0, disk=disk)
    assert store.apply([kit.write("remember", 1)])[0].state == "pending"
    for _ in range(3):  # the person goes on typing
        disk.time += 3
        (root / NOTE).write_text(text(root) + "- And more\n")
        disk.saved[(root / NOTE).stat().st_ino] = disk.now()
        store.absorb()
        assert LINE not in text(root)
    disk.time += 3
    store.absorb()
    assert LINE in text(root)
    assert text(root).count("- And more\n") == 3


def test_own_writes_are_not_typing(opened: Open, root: Path) -> None:
    age(root / NOTE, 2000)
    store = opened(HELD)
    for number in range(3):
        assert store.apply([kit.write("remember", number)])[0].state == "written"
    with open(root / NOTE, "a") as file:
        file.write("- A person's\n")
    assert store.apply([kit.write("remember", 3)])[0].state == "pending"


def test_the_answer_can_wait_for_a_pause(opened: Open, root: Path) -> None:
    age(root / NOTE, 0)
    store = opened(Config(holdSeconds=0.2), max_hold=10.0)
    with store.locked():
        outcomes = store.apply([kit.write("remember", 1)])
        assert outcomes[0].state == "pending"
        [outcome] = store.wait(outcomes, 30)
    assert outcome.state == "written"
    assert outcome.done
    assert outcome.done.after == LINE.rstrip()
    assert LINE in text(root)


def test_other_writers_get_their_turn_while_one_waits(opened: Open, root: Path) -> None:
    (root / NOTE).touch()
    store, other = opened(HELD), opened(HELD)
    with store.locked():
        outcomes = store.apply([kit.write("remember", 1)])
        done = []

        def work() -> None:
            done.append(other.apply([kit.write("other", 1)])[0])
            age(root / NOTE, 2000)

        import threading

        thread = threading.Thread(target=work)
        thread.start()
        [outcome] = store.wait(outcomes, 30)
        thread.join()
    assert outcome.state == "written"
    assert [one.write.op for one in done] == ["other"]


def test_a_pending_entry_can_be_changed(opened: Open, root: Path) -> None:
    """An agent updates what it has just added, though it is not in the note yet."""
    store = opened(HELD)
    store.apply([kit.write("remember", 1)])
    store.apply([Write("update", "m-new00001", Update(NOTE, "m-new00001", "A newer"))])
    age(root / NOTE, 2000)
    store.absorb()
    assert "- A newer #candidate ^m-new00001\n" in text(root)
    assert "A new thing" not in text(root)


def test_a_chain_of_changes(opened: Open, root: Path) -> None:
    store = opened(HELD)
    for write in (TAG, UPDATE, AGAIN, REMOVE):
        assert store.apply([write])[0].state == "pending"
    (root / NOTE).write_text(text(root) + "- A person's own line\n")
    age(root / NOTE, 2000)
    store.absorb()
    assert A not in text(root)
    assert "- A person's own line\n" in text(root)
    assert ops(store) == ["tag", "update", "update", "forget"]
    assert kit.is_done(store)


def test_what_is_pending_is_found_before_it_is_in_the_note(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([kit.write("remember", 1)])
    [(path, make)] = store.heads().items()
    assert path == NOTE
    assert LINE in make((root / NOTE).read_bytes()).decode()
    assert make(b"another text").decode().startswith("another text\n- A new thing")


# -- a person changes the same entry meanwhile -----------------------------------------------------


@pytest.mark.parametrize("write", CHANGES.values(), ids=CHANGES)
def test_words_that_a_person_typed_meanwhile_stay(opened: Open, root: Path, write: Write) -> None:
    """The change is not lost: the journal has it, and `undo` makes it again."""
    store = opened(HELD)
    assert store.apply([write])[0].state == "pending"
    type_in(root)
    store.absorb()
    assert MINE in text(root)
    assert "DuckDB" not in text(root)
    [record] = [record for record in kit.records(store) if record.op == "overwritten"]
    assert (record.ref, record.by, record.data["of"]) == (A, "person", record.id)
    assert record.data["change"].get("text", "") == ("Chose DuckDB." if write is UPDATE else "")
    assert kit.is_done(store)
    store.absorb()
    assert MINE in text(root)


def test_all_changes_of_an_entry_that_a_person_overwrote_are_recorded(
    opened: Open, root: Path
) -> None:
    """None of them has reached the note, so the journal has the words of each."""
    store = opened(HELD)
    for write in (UPDATE, TAG):
        store.apply([write])
    type_in(root)
    store.absorb()
    found = [record for record in kit.records(store) if record.op == "overwritten"]
    assert [record.data["change"]["change"] for record in found] == ["update", "retag"]
    assert found[0].data["change"]["text"] == "Chose DuckDB."
    assert not {"update", "tag"} & set(ops(store))


def test_an_edit_beats_a_removal(opened: Open, root: Path) -> None:
    """A person deletes an entry without having seen its new words."""
    store = opened(HELD)
    store.apply([kit.write("update", 1)])
    line = next(line for line in text(root).splitlines(True) if A in line)
    type_in(root, line, "")
    store.absorb()
    assert f"- Chose DuckDB 1 [[Architecture]] #db ^{A}\n" in text(root)
    assert "update" in ops(store)
    assert "overwritten" not in ops(store)
    assert kit.is_done(store)


def test_who_has_seen_what_was_typed_goes_on(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([UPDATE])
    type_in(root)
    assert store.apply([AGAIN])[0].state == "written"
    assert "Chose MySQL." in text(root)
    assert MINE not in text(root)
    assert kit.is_done(store)


@pytest.mark.parametrize("write", CHANGES.values(), ids=CHANGES)
def test_a_save_right_before_the_exchange(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    store = opened()
    exchange = store.disk.exchange

    def save_first(temp: str, path: str) -> None:
        monkeypatch.setattr(store.disk, "exchange", exchange)
        type_in(root)
        exchange(temp, path)

    monkeypatch.setattr(store.disk, "exchange", save_first)
    store.apply([write, kit.write("remember", 1)])
    store.absorb()
    assert MINE in text(root)
    assert "DuckDB" not in text(root)
    assert LINE in text(root)
    assert kit.temps(root) == []
    assert {"overwritten", "remember"} <= set(ops(store))
    assert write.op not in ops(store)
    assert kit.is_done(store)


# -- dropping, and what cannot be written ----------------------------------------------------------


def test_a_pending_write_can_be_dropped(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([UPDATE])
    store.apply([kit.write("remember", 1)])
    with pytest.raises(NotFound, match="Nothing is pending under e-nothing"):
        store.drop("e-nothing")
    dropped = store.drop(store.pending()[0].write.id)
    assert dropped.write.ref == A
    assert refs(store) == ["m-new00001"]
    age(root / NOTE, 2000)
    store.absorb()
    assert WORDS in text(root)
    assert LINE in text(root)
    assert ops(store) == ["remember"]


@pytest.mark.parametrize("kind", kit.KINDS)
def test_every_kind_of_change_can_be_dropped(opened: Open, root: Path, kind: str) -> None:
    store, write = opened(HELD), kit.write(kind, 1)
    before = (root / write.change.path).read_bytes()
    (root / write.change.path).touch()
    [outcome] = store.apply([write])
    assert outcome.state == "pending"
    store.drop(outcome.write.id)
    age(root / write.change.path, 2000)
    store.absorb()
    assert (root / write.change.path).read_bytes() == before
    assert ops(store) == []
    assert kit.is_done(store)


def test_a_change_that_later_ones_build_on_cannot_be_dropped(opened: Open, root: Path) -> None:
    store = opened(HELD)
    for write in (UPDATE, AGAIN):
        store.apply([write])
    first, second = store.pending()
    with pytest.raises(StaleFile, match=f"{A} has changed since"):
        store.drop(first.write.id)
    store.drop(second.write.id)
    age(root / NOTE, 2000)
    store.absorb()
    assert "Chose DuckDB." in text(root)
    assert ops(store) == ["update"]


def test_purged_words_are_not_kept(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([kit.adding("The walrus is called Wanda", "m-00000001")])
    store.apply([Write("forget", "m-00000001", Remove(NOTE, "m-00000001"))])
    assert store.scrub(["m-00000001"], [])
    store.state.compact()
    for path in store.vault.state.rglob("state.db*"):
        assert b"Wanda" not in path.read_bytes(), path


def test_one_note_that_cannot_be_written_does_not_stop_others(opened: Open, root: Path) -> None:
    store = opened(HELD)
    store.apply([kit.write("remember", 1)])
    (root / kit.OTHER).touch()
    store.apply([kit.write("other", 1)])
    (root / NOTE).write_text("<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n")
    age(root / NOTE, 2000)
    age(root / kit.OTHER, 2000)
    store.absorb()
    [pending] = store.pending()
    assert pending.path == NOTE
    assert "line 1" in pending.why
    assert "Made 1" in (root / kit.OTHER).read_text()
    (root / NOTE).write_text(kit.MEMORY)
    age(root / NOTE, 2000)
    store.absorb()
    assert LINE in text(root)
    assert kit.is_done(store)


@pytest.mark.parametrize("how", ["read-only", "link"])
def test_a_note_that_became_unsafe_says_so(opened: Open, root: Path, how: str) -> None:
    store = opened(HELD)
    store.apply([kit.write("remember", 1)])
    age(root / NOTE, 2000)
    if how == "link":
        (root / NOTE).rename(root / "elsewhere.md")
        (root / NOTE).symlink_to("../elsewhere.md")
    else:
        (root / NOTE).chmod(0o444)
    store.absorb()
    [pending] = store.pending()
    assert (
        "is read-only" if how == "read-only" else "is reached through a symbolic link"
    ) in pending.why
    if how == "link":
        (root / NOTE).unlink()
        (root / "elsewhere.md").rename(root / NOTE)
    else:
        (root / NOTE).chmod(0o644)
    store.absorb()
    assert LINE in text(root)
    assert kit.is_done(store)
