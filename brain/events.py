"""Memory events: brain.db keeps the recent ones, and delivers them to listeners in all processes.

The event for a change of an entry is added in the transaction that changes its row, so there is one
event, whichever process found the change. A listener gets the events that were added since it
subscribed. If some of them were dropped, or the index was rebuilt, it gets `events:lost` instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from brain.index.db import Index
from brain.model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

Listener = Callable[[Event], None]

KEPT = 1000  # the most events that the index keeps, and that wait to be written to it
LOST = "events:lost"


class Events:
    """The listeners of this process."""

    def __init__(self, newest: Callable[[], int]) -> None:
        """`newest` returns the number of the last event in the index."""
        self.listeners: list[Listener] = []
        self._newest = newest
        self._delivered = 0  # number of the last event that the listeners got

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each new event. Return a function that ends the subscription."""
        if not self.listeners:
            self.skip()
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def skip(self) -> None:
        """Skip all events that are in the index now."""
        self._delivered = self._newest()

    def has_news(self) -> bool:
        """Return True if the listeners have not got the last event yet."""
        return bool(self.listeners) and self._newest() > self._delivered

    def deliver(self, index: Index) -> None:
        """Call the listeners with the new events in the index."""
        while self.has_news():
            new = after(index, self._delivered)
            self._delivered = new[-1][0]
            for _, event in new:
                for listener in list(self.listeners):
                    listener(event)


# -- the recent events in brain.db -----------------------------------------------------------------


def append(index: Index, events: Sequence[Event], wait: float) -> None:
    """Add events to the index. Raises Busy if another process is writing."""
    with index.exclusive(wait), index.transaction() as db:
        insert(index, db, events)


def insert(index: Index, db: sqlite3.Connection, events: Sequence[Event]) -> None:
    """Add events in the open transaction, and drop the oldest ones.

    The numbers of events come from the clock, so they still increase after the index was rebuilt.
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
    """Return the events after the number `id`, oldest first: if there are more than `limit`, only
    the newest. If events after `id` were dropped, `events:lost` comes first."""
    import json

    sql = "SELECT id, at, name, payload FROM events WHERE id > ? ORDER BY id DESC LIMIT ?"
    rows = index.rows(sql, (id, limit))
    found = [(id, Event(at, name, json.loads(payload))) for id, at, name, payload in reversed(rows)]
    dropped = _last_dropped(index)
    if 0 < id < dropped:
        at = found[0][1].at if found else ""
        found.insert(0, (dropped, Event(at, LOST, {})))
    return found


def newest(index: Index) -> int:
    """Return the number of the last event, even if it was dropped."""
    return max(int(index.value("SELECT coalesce(max(id), 0) FROM events")), _last_dropped(index))


def _last_dropped(index: Index) -> int:
    """Return the number of the last event that was dropped. In a new index, it is the creation time
    of the index."""
    return int(index.value("SELECT value FROM meta WHERE key = 'events_dropped'") or 0)


def forget(index: Index, refs: Iterable[str], wait: float = 30.0) -> None:
    """Delete the events about these entries."""
    import json

    marks = [(json.dumps(ref),) for ref in refs]
    with index.exclusive(wait), index.transaction() as db:
        db.executemany("DELETE FROM events WHERE instr(payload, ?)", marks)
