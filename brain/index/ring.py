"""The ring of recent events in brain.db, by which one process follows another."""

from __future__ import annotations

import json
from collections.abc import Sequence

from brain.index.db import Index, reading
from brain.model import Event

SIZE = 1000


def append(index: Index, events: Sequence[Event], wait: float) -> None:
    """Add events and drop the oldest. Raises Busy if another process is writing."""
    rows = [(e.at, e.name, json.dumps(e.payload, ensure_ascii=False)) for e in events[-SIZE:]]
    with index.exclusive(wait), index.transaction() as db:
        db.executemany("INSERT INTO events (at, name, payload) VALUES (?, ?, ?)", rows)
        db.execute("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?", (SIZE,))


def after(index: Index, id: int, limit: int = SIZE) -> list[tuple[int, Event]]:
    """The events behind this id, oldest first, at most the newest `limit` of them."""
    sql = "SELECT id, at, name, payload FROM events WHERE id > ? ORDER BY id DESC LIMIT ?"
    with reading():
        rows = index.db.execute(sql, (id, limit)).fetchall()
    return [(id, Event(at, name, json.loads(payload))) for id, at, name, payload in reversed(rows)]
