"""Events: to listeners at once, to other processes by the ring."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from brain import events, lock
from brain.api import Brain
from brain.model import Event
from brain.operations import lookup
from tests import kit


def event(number: int) -> Event:
    return Event(f"2026-01-01T00:00:{number % 60:02}.000Z", "memory:test", {"n": number})


def numbers(brain: Brain, after: int = 0, limit: int = events.KEPT) -> list[int]:
    return [event.payload["n"] for _, event in events.after(brain.vault.index, after, limit)]


@pytest.fixture
def brain(vault: Callable[..., Path], opened: Callable[..., Brain]) -> Brain:
    return opened(vault({"Note.md": "text\n"}))


# -- listeners -----------------------------------------------------------------------------------


def publish(brain: Brain, *numbers: int) -> None:
    for number in numbers:
        brain.vault.publish("memory:test", {"n": number})
    brain.vault.write_events()


def test_listeners_hear_each_event_once_until_they_leave(brain: Brain) -> None:
    brain.sync()
    heard: list[Event] = []
    leave = brain.events.subscribe(heard.append)
    publish(brain, 1)
    leave()
    publish(brain, 2)
    assert [(e.name, e.payload) for e in heard] == [("memory:test", {"n": 1})]


def test_a_listener_may_leave_while_it_is_called(brain: Brain) -> None:
    brain.sync()
    heard: list[Event] = []

    def once(event: Event) -> None:
        heard.append(event)
        leave()

    leave = brain.events.subscribe(once)
    brain.events.subscribe(heard.append)
    publish(brain, 1, 2)
    assert len(heard) == 3


def test_a_listener_hears_what_other_processes_did_once(brain: Brain, tmp_path: Path) -> None:
    brain.sync()
    heard: list[Event] = []
    brain.events.subscribe(heard.append)
    with kit.open_brain(brain.vault.paths.root, tmp_path / "state") as other:
        mine: list[Event] = []
        other.events.subscribe(mine.append)
        made = other.remember("Seals bark")
    brain.sync()
    brain.refresh()
    for told in (heard, mine):
        assert [e.payload["delta"]["added"][0]["id"] for e in told] == [made.id]


def test_a_listener_that_falls_behind_is_told_so(brain: Brain) -> None:
    brain.sync()
    heard: list[Event] = []
    brain.events.subscribe(heard.append)
    events.append(brain.vault.index, [event(n) for n in range(events.KEPT + 5)], 0)
    brain.vault.write_events()
    assert [e.name for e in heard[:2]] == ["events:lost", "memory:test"]
    assert len(heard) == 1 + events.KEPT


# -- the ring ------------------------------------------------------------------------------------


def test_the_ring_keeps_the_newest(brain: Brain) -> None:
    brain.vault.index.check()
    events.append(brain.vault.index, [event(n) for n in range(700)], 0)
    events.append(brain.vault.index, [event(n) for n in range(700, 1400)], 0)
    assert numbers(brain) == list(range(400, 1400))
    assert numbers(brain, limit=3) == [1397, 1398, 1399]
    events.append(brain.vault.index, [event(n) for n in range(5000)], 0)
    assert numbers(brain) == list(range(4000, 5000))


def test_a_follower_sees_each_event_once(brain: Brain) -> None:
    brain.vault.index.check()
    last, seen = 0, []
    for start in range(0, 50, 5):
        events.append(brain.vault.index, [event(n) for n in range(start, start + 5)], 0)
        happened = events.after(brain.vault.index, last)
        seen += [what.payload["n"] for _, what in happened]
        last = happened[-1][0]
    assert seen == list(range(50))


def test_ids_go_on_rising_when_the_index_is_made_anew(brain: Brain) -> None:
    brain.sync()
    events.append(brain.vault.index, [event(1)], 0)
    last = events.newest(brain.vault.index)
    brain.vault.index.rebuild()
    assert events.newest(brain.vault.index) > last
    events.append(brain.vault.index, [event(2)], 0)
    assert [e.name for _, e in events.after(brain.vault.index, last)] == [
        "events:lost", "memory:test",
    ]  # fmt: skip


def test_events_wait_while_another_process_writes(brain: Brain) -> None:
    brain.sync()
    brain.vault.publish("memory:test", {"n": 7})
    handle = lock.take(f"{brain.vault.index.path}-lock")
    assert handle is not None
    brain.vault.write_events(wait=0)
    assert len(brain.vault.new_events) == 1
    os.close(handle)
    brain.vault.write_events()
    assert not brain.vault.new_events
    assert events.after(brain.vault.index, 0)[-1][1].payload == {"n": 7}


# -- what is published ---------------------------------------------------------------------------


def listen(brain: Brain) -> list[Event]:
    heard: list[Event] = []
    brain.events.subscribe(heard.append)
    return heard


def test_a_cold_sync_is_one_summary(
    vault: Callable[..., Path], opened: Callable[..., Brain]
) -> None:
    brain = opened(vault())
    heard = listen(brain)
    brain.sync()
    assert [e.name for e in heard] == ["memory:sync"]
    assert heard[0].payload["files"] == len(kit.VAULT)
    brain.sync()
    brain.sync(rebuild=True)
    assert [e.name for e in heard] == ["memory:sync", "memory:sync"]


def test_a_write_says_which_entries(
    vault: Callable[..., Path], opened: Callable[..., Brain]
) -> None:
    root = vault({"40_Brain/MEMORY.md": "- one ^m-11111111\n- two ^m-22222222\n- three\n- four\n"})
    brain = opened(root)
    brain.sync()
    heard = listen(brain)
    kit.outdate(root / "40_Brain/MEMORY.md")
    (root / "40_Brain/MEMORY.md").write_text(
        "- five ^m-55555555\n- ONE ^m-11111111\n- three\n- fourth\n"
    )
    brain.sync()
    (write,) = heard
    assert (write.name, write.payload["type"], write.payload["path"]) == (
        "memory:write", "memory", "40_Brain/MEMORY.md",
    )  # fmt: skip
    texts = {
        name: sorted(entry["text"] for entry in entries)
        for name, entries in write.payload["delta"].items()
    }
    assert texts == {"added": ["five"], "changed": ["ONE", "fourth"], "removed": ["two"]}
    brain.sync()
    assert len(heard) == 1


def test_reading_and_asking_are_told_but_scanning_is_not(
    vault: Callable[..., Path], opened: Callable[..., Brain]
) -> None:
    brain = opened(vault())
    brain.sync()
    heard = listen(brain)
    brain.refresh()
    assert heard == []
    brain.search("walrus", limit=1)
    brain.show("m-7f3k2ab4")
    search, read = heard
    assert (search.name, search.payload["query"]) == ("memory:search", "walrus")
    assert len(search.payload["results"]) == 1
    assert read.payload == {
        "type": "memory",
        "path": "40_Brain/MEMORY.md",
        "size": len(lookup.find(brain.vault, "m-7f3k2ab4").text),
    }


def test_another_process_sees_them_after_close(
    vault: Callable[..., Path], opened: Callable[..., Brain], tmp_path: Path
) -> None:
    root = vault()
    with kit.open_brain(root, tmp_path / "state") as one:
        one.search("walrus")
    names = [e.name for _, e in events.after(opened(root).vault.index, 0)]
    assert names == ["memory:sync", "memory:search"]


def test_two_writers_lose_no_event(vault: Callable[..., Path], tmp_path: Path) -> None:
    root, state = vault(), tmp_path / "state"
    with kit.open_brain(root, state) as brain:
        brain.sync()

    def write(base: int) -> None:
        with kit.open_brain(root, state) as brain:
            brain.vault.index.check()
            for n in range(20):
                events.append(brain.vault.index, [event(base + n)], 10)

    threads = [threading.Thread(target=write, args=(base,)) for base in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with kit.open_brain(root, state) as brain:
        seen = [e.payload["n"] for _, e in events.after(brain.vault.index, 0) if "n" in e.payload]
    assert sorted(seen) == [*range(20), *range(100, 120)]


def test_what_waits_does_not_grow_without_end(brain: Brain) -> None:
    for number in range(events.KEPT + 5):
        brain.vault.publish("memory:test", {"n": number})
    assert len(brain.vault.new_events) == events.KEPT
    brain.vault.write_events()
    assert numbers(brain)[-1] == events.KEPT + 4


def test_every_search_is_told(brain: Brain) -> None:
    brain.sync()
    brain.search("text", check=False)
    assert brain.vault.new_events[-1].name == "memory:search"


# -- feedback --------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["reinforce", "demote", "undo"])
def test_feedback_is_a_write(
    vault: Callable[..., Path], opened: Callable[..., Brain], act: str
) -> None:
    brain = opened(vault())
    brain.reinforce("m-7f3k2ab4")
    brain.vault.write_events()
    heard: list[Event] = []
    brain.events.subscribe(heard.append)
    getattr(brain, act)(*(() if act == "undo" else ("m-7f3k2ab4",)))
    text = brain.show("m-7f3k2ab4").text
    changed = [{"id": "m-7f3k2ab4", "text": text}]
    assert [(event.name, event.payload) for event in heard if event.name == "memory:write"] == [
        (
            "memory:write",
            {
                "type": "memory",
                "path": "40_Brain/MEMORY.md",
                "delta": {"added": [], "changed": changed, "removed": []},
            },
        )
    ]
