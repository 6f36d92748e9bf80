"""The facts of an entry, as `records` computed them from the journals.

An entry that had several ids (a person edited a bullet before it had an id of its own) is one entry
here, known by any of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from brain._tuples import NamedTuple
from brain.index.db import Index, each, reading, text


class Facts(NamedTuple):
    """Score, hits and origin of one entry. Unknown times are '', unknown values None."""

    ref: str  # the smallest of its ids
    score: float = 0.0  # as reinforced and demoted; clamped when ranking
    hits: int = 0
    merges: int = 0
    reinforced: int = 0
    demoted: int = 0
    rejected: int = 0
    touched: str = ""  # last reinforced or updated
    last_hit: str = ""
    created: str = ""
    by: str = ""
    session: str = ""
    confidence: float | None = None
    importance: float | None = None
    source: str = ""
    purged: str = ""


def load(index: Index, refs: Iterable[str], pending: bool = True) -> dict[str, Facts]:
    """Return the facts of these entries, by the id that was asked for. `pending` includes the hits
    that this machine has not written to its journal yet."""
    wanted = set(refs)
    with reading():
        db = index.db
        known = smallest_ids(db, wanted)
        names = {ref: known.get(ref, ref) for ref in wanted}
        sql = f"SELECT {', '.join(Facts._fields)} FROM facts WHERE ref IN"
        found = {row[0]: Facts(*row) for row in each(db, sql, set(names.values()))}
        for ref, count, at in _pending_hits(db, names) if pending else ():
            facts = found.get(ref, Facts(ref))
            found[ref] = facts._replace(hits=facts.hits + count, last_hit=max(facts.last_hit, at))
    return {ref: found[name] for ref, name in names.items() if name in found}


def _pending_hits(db: sqlite3.Connection, names: dict[str, str]) -> list[tuple[str, int, str]]:
    """Return (entry, hits, last) of the uses that are not in the journal yet."""
    if not db.execute("SELECT 1 FROM pending_uses LIMIT 1").fetchone():
        return []
    members = {ref: name for name in set(names.values()) for ref in _members(db, name)}
    rows = each(db, "SELECT ref, count, at FROM pending_uses WHERE other = '' AND ref IN", members)
    return [(members[ref], count, at) for ref, count, at in rows]


def same(index: Index, ref: str) -> set[str]:
    """Return all ids that the entry with this id has or had."""
    with reading():
        name = smallest_ids(index.db, [ref]).get(ref, ref)
        return _members(index.db, name) | {ref}


def smallest_ids(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, str]:
    """Return the smallest id of each of these entries that has several."""
    return dict(each(db, "SELECT ref, class FROM aliases WHERE ref IN", refs))


def _members(db: sqlite3.Connection, name: str) -> set[str]:
    rows = db.execute("SELECT ref FROM aliases WHERE class = ?", (text(name),))
    return {name, *(row[0] for row in rows)}
