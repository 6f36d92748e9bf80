"""Memory events: a short list of recent ones in brain.db, from which every listener hears them.

A change of an entry is added in the transaction that changes its row. So it is there once,
whichever process found it. A listener hears what was added since it began to listen. If it falls
behind, or the index was built again, it hears `events:lost` instead of what is gone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from brain.index.db import Index
from brain.model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from brain.sync import Delta, Stats

Listener = Callable[[Event], None]

KEPT = 1000  # events in the index, and in memory until they are there
LOST = "events:lost"


class Events:
    """The listeners of this process, and events that are not in the index yet."""

    def __init__(self, newest: Callable[[], int]) -> None:
        """`newest` returns the number of the last event in the index."""
        self.listeners: list[Listener] = []
        self.waiting: deque[Event] = deque(maxlen=KEPT)
        self._newest = newest
        self._heard = 0  # the last event that the listeners heard

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each event from now on; returns a function that ends this."""
        if not self.listeners:
            self.skip()
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def publish(self, at: str, name: str, payload: dict[str, Any]) -> None:
        """Add an event to those that are written to the index next."""
        self.waiting.append(Event(at, name, payload))

    def skip(self) -> None:
        """Go on after the last event in the index."""
        self._heard = self._newest()

    def has_news(self) -> bool:
        """Return True if the listeners have not heard the last event yet."""
        return bool(self.listeners) and self._newest() > self._heard

    def deliver(self, index: Index) -> None:
        """Call the listeners with the events that are new in the index."""
        while self.has_news():
            found = after(index, self._heard)
            self._heard = found[-1][0]
            for _, event in found:
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


# -- the recent events in brain.db -----------------------------------------------------------------


def append(index: Index, events: Sequence[Event], wait: float) -> None:
    """Add events to the index. Raises Busy if another process is writing."""
    with index.exclusive(wait), index.transaction() as db:
        insert(index, db, events)


def insert(index: Index, db: sqlite3.Connection, events: Sequence[Event]) -> None:
    """Add events in the transaction that is open, and drop the oldest.

    Their numbers come from the clock, so that they go on rising when the index is built again.
    """
    import json

    rows = [(e.at, e.name, json.dumps(e.payload)) for e in events[-KEPT:]]
    first = max(time.time_ns() // 1000, newest(index) + 1)
    numbered = [(first + n, *row) for n, row in enumerate(rows)]
    db.executemany("INSERT INTO events (id, at, name, payload) VALUES (?, ?, ?, ?)", numbered)
    oldest = "SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?"
    dropped = [id for (id,) in db.execute(oldest, (KEPT,))]
    dropped += [first - 1] if len(events) > KEPT else []
    for last in dropped:
        db.execute("DELETE FROM events WHERE id <= ?", (last,))
        db.execute("UPDATE meta SET value = ? WHERE key = 'events_dropped'", (str(last),))


def after(index: Index, id: int, limit: int = KEPT) -> list[tuple[int, Event]]:
    """Return the events after this number, oldest first, at most the newest `limit` of them. If
    some of those after it are gone, `events:lost` comes first."""
    import json

    sql = "SELECT id, at, name, payload FROM events WHERE id > ? ORDER BY id DESC LIMIT ?"
    rows = index.rows(sql, (id, limit))
    found = [(id, Event(at, name, json.loads(payload))) for id, at, name, payload in reversed(rows)]
    dropped = _dropped(index)
    if 0 < id < dropped:
        at = found[0][1].at if found else ""
        found.insert(0, (dropped, Event(at, LOST, {})))
    return found


def newest(index: Index) -> int:
    """Return the number of the last event, also if it is gone."""
    return max(int(index.value("SELECT coalesce(max(id), 0) FROM events")), _dropped(index))


def _dropped(index: Index) -> int:
    """Return the number up to which events are gone. A new index begins with the time it was
    made."""
    return int(index.value("SELECT value FROM meta WHERE key = 'events_dropped'") or 0)


def forget(index: Index, refs: Iterable[str], wait: float = 30.0) -> None:
    """Drop the events about these entries."""
    import json

    marks = [(json.dumps(ref),) for ref in refs]
    with index.exclusive(wait), index.transaction() as db:
        db.executemany("DELETE FROM events WHERE instr(payload, ?)", marks)
