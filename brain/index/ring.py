"""The ring of recent events in brain.db, by which one process follows another."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from brain.index.db import Index
from brain.model import Event

SIZE = 1000


def append(index: Index, events: Sequence[Event], wait: float) -> None:
    """Add events and drop the oldest. Raises Busy if another process is writing.

    Their ids come from the clock, so that they go on rising when the index is made anew.
    """
    import json

    rows = [(e.at, e.name, json.dumps(e.payload)) for e in events[-SIZE:]]
    with index.exclusive(wait), index.transaction() as db:
        first = max(time.time_ns() // 1000, newest(index) + 1)
        numbered = [(first + n, *row) for n, row in enumerate(rows)]
        db.executemany("INSERT INTO events (id, at, name, payload) VALUES (?, ?, ?, ?)", numbered)
        oldest = "SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?"
        db.execute(f"DELETE FROM events WHERE id <= ({oldest})", (SIZE,))


def after(index: Index, id: int, limit: int = SIZE) -> list[tuple[int, Event]]:
    """The events behind this id, oldest first, at most the newest `limit` of them."""
    import json

    sql = "SELECT id, at, name, payload FROM events WHERE id > ? ORDER BY id DESC LIMIT ?"
    rows = index.rows(sql, (id, limit))
    return [(id, Event(at, name, json.loads(payload))) for id, at, name, payload in reversed(rows)]


def forget(index: Index, refs: Iterable[str], wait: float = 30.0) -> None:
    """Drop the events that tell of these entries."""
    import json

    marks = [(json.dumps(ref),) for ref in refs]
    with index.exclusive(wait), index.transaction() as db:
        db.executemany("DELETE FROM events WHERE instr(payload, ?)", marks)


def newest(index: Index) -> int:
    """The id of the last event; 0 if there is none."""
    return int(index.value("SELECT coalesce(max(id), 0) FROM events"))
