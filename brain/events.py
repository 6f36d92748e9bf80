"""Memory events: told to the listeners of this process, and kept in the index for other
processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from brain.index.db import Index
from brain.model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.sync import Delta, Stats

Listener = Callable[[Event], None]


KEPT = 1000  # events in the index, and in memory until they are there


class Events:
    """Publishes to its listeners at once, and keeps events until they are in the index."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self.waiting: deque[Event] = deque(maxlen=KEPT)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each event from now on; returns a function that ends this."""
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def publish(self, at: str, name: str, payload: dict[str, Any]) -> None:
        """Tell the listeners of this process, and others by way of the index."""
        event = Event(at, name, payload)
        self.keep(event)
        self.hear(event)

    def keep(self, event: Event) -> None:
        """For the index alone: the listeners have heard of it."""
        self.waiting.append(event)

    def hear(self, event: Event) -> None:
        """For the listeners alone: the process that finds it in the files adds it to the index."""
        for listener in list(self.listeners):
            listener(event)


def write_payload(delta: Delta) -> dict[str, Any]:
    """Return the payload of `memory:write`. Texts of source passages are cut to their beginning."""
    most = 200 if delta.scope == "sources" else 10_000
    changes = {"added": delta.added, "changed": delta.changed, "removed": delta.removed}
    listed = {
        name: [{"id": ref, "text": text[:most]} for ref, text in entries]
        for name, entries in changes.items()
    }
    return {"type": delta.scope, "path": delta.path, "delta": listed}


def sync_payload(stats: Stats) -> dict[str, Any]:
    """Return the payload of `memory:sync`: what was done, in numbers."""
    return {
        "files": stats.files,
        "added": len(stats.added),
        "changed": len(stats.changed),
        "moved": [{"from": old, "to": new} for old, new in stats.moved],
        "removed": len(stats.removed),
        "cold": stats.cold,
        "seconds": round(stats.seconds, 3),
    }


# -- the recent events in brain.db, by which one process follows another ---------------------------


def append(index: Index, events: Sequence[Event], wait: float) -> None:
    """Add events to the index and drop the oldest. Raises Busy if another process is writing.

    Their ids come from the clock, so that they go on rising when the index is built again.
    """
    import json

    rows = [(e.at, e.name, json.dumps(e.payload)) for e in events[-KEPT:]]
    with index.exclusive(wait), index.transaction() as db:
        first = max(time.time_ns() // 1000, newest(index) + 1)
        numbered = [(first + n, *row) for n, row in enumerate(rows)]
        db.executemany("INSERT INTO events (id, at, name, payload) VALUES (?, ?, ?, ?)", numbered)
        oldest = "SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?"
        db.execute(f"DELETE FROM events WHERE id <= ({oldest})", (KEPT,))


def after(index: Index, id: int, limit: int = KEPT) -> list[tuple[int, Event]]:
    """Return the events after this id, oldest first, at most the newest `limit` of them."""
    import json

    sql = "SELECT id, at, name, payload FROM events WHERE id > ? ORDER BY id DESC LIMIT ?"
    rows = index.rows(sql, (id, limit))
    return [(id, Event(at, name, json.loads(payload))) for id, at, name, payload in reversed(rows)]


def forget(index: Index, refs: Iterable[str], wait: float = 30.0) -> None:
    """Drop the events about these entries."""
    import json

    marks = [(json.dumps(ref),) for ref in refs]
    with index.exclusive(wait), index.transaction() as db:
        db.executemany("DELETE FROM events WHERE instr(payload, ?)", marks)


def newest(index: Index) -> int:
    """Return the id of the last event; 0 if there is none."""
    return int(index.value("SELECT coalesce(max(id), 0) FROM events"))
