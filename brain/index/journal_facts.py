"""Read the facts of an entry, which `records` computes from the journals.

An entry may have had several ids, if a person edited it before it had a written id. It is one entry
here, and can be found by any of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from brain._tuples import NamedTuple
from brain.index.db import Index, each, reading, text


class Facts(NamedTuple):
    """The score, hits and origin of an entry. Unknown times are '', and unknown values None."""

    ref: str  # the smallest of its ids
    score: float = 0.0  # the sum of feedback; ranking limits it
    hits: int = 0
    merges: int = 0
    reinforced: int = 0
    demoted: int = 0
    rejected: int = 0
    touched: str = ""  # time of the last reinforcement or update
    last_hit: str = ""
    created: str = ""
    by: str = ""
    session: str = ""
    confidence: float | None = None
    importance: float | None = None
    source: str = ""
    purged: str = ""


def load(index: Index, refs: Iterable[str], pending: bool = True) -> dict[str, Facts]:
    """Return the facts of these entries, by the given ids. With `pending`, include the hits that
    this machine has not written to its journal yet."""
    wanted = set(refs)
    with reading():
        db = index.db
        known = smallest_ids(db, wanted)
        names = {ref: known.get(ref, ref) for ref in wanted}
        sql = f"SELECT {', '.join(Facts._fields)} FROM facts WHERE ref IN"
        found = {row[0]: Facts(*row) for row in each(db, sql, set(names.values()))}
        for ref, count, last_time in _pending_hits(db, names) if pending else ():
            facts = found.get(ref, Facts(ref))
            found[ref] = facts._replace(
                hits=facts.hits + count, last_hit=max(facts.last_hit, last_time)
            )
    return {ref: found[name] for ref, name in names.items() if name in found}


def _pending_hits(db: sqlite3.Connection, names: dict[str, str]) -> list[tuple[str, int, str]]:
    """Return (id, hits, last time) for the uses that are not in the journal yet."""
    if not db.execute("SELECT 1 FROM pending_uses LIMIT 1").fetchone():
        return []
    members = {ref: name for name in set(names.values()) for ref in _members(db, name)}
    rows = each(db, "SELECT ref, count, at FROM pending_uses WHERE other = '' AND ref IN", members)
    return [(members[ref], count, at) for ref, count, at in rows]


def all_ids(index: Index, ref: str) -> set[str]:
    """Return all current and former ids of the entry with this id."""
    with reading():
        name = smallest_ids(index.db, [ref]).get(ref, ref)
        return _members(index.db, name) | {ref}


def smallest_ids(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, str]:
    """Return the smallest id of each of these entries that has several ids."""
    return dict(each(db, "SELECT ref, class FROM aliases WHERE ref IN", refs))


def _members(db: sqlite3.Connection, name: str) -> set[str]:
    rows = db.execute("SELECT ref FROM aliases WHERE class = ?", (text(name),))
    return {name, *(row[0] for row in rows)}
