"""What the journals say of entries, kept in the index: questions to it, and its only writers.

An entry that had several ids (a bullet that was edited before it had one of its own) is one entry
here, known by any of them. What waits on this machine to be flushed to its journal counts already.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from brain.index.db import Index, reading
from brain.index.sql import each, marks
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Facts(NamedTuple):
    """What is on record of an entry. Times are '' and values None where nothing was said."""

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


class Learned(NamedTuple):
    """Another entry that was put to use along with one."""

    ref: str
    strength: float
    at: str


class Conflict(NamedTuple):
    """Two entries that are at odds: contradictory, superseded or ambiguous."""

    ref: str
    other: str
    type: str
    at: str
    by: str
    event: str
    resolved: str = ""


class Read(NamedTuple):
    """How far a journal was read: see schema.sql."""

    path: str
    stat: tuple[int, int, int, int]
    at: int = 0
    line: int = 0
    seed: int = 0
    mark: int = 0
    runs: str = "[]"


# -- questions -----------------------------------------------------------------------------------


def load(index: Index, refs: Iterable[str], pending: bool = True) -> dict[str, Facts]:
    """The facts of those of these entries that there are any of, by the id that was asked for;
    with or without the hits that wait on this machine."""
    wanted = set(refs)
    with reading():
        db = index.db
        known = classes(db, wanted)
        asked = {ref: known.get(ref, ref) for ref in wanted}
        sql = f"SELECT {', '.join(Facts._fields)} FROM facts WHERE ref IN"
        found = {row[0]: Facts(*row) for row in each(db, sql, set(asked.values()))}
        for ref, count, at in _waiting(db, asked) if pending else ():
            was = found.get(ref, Facts(ref))
            found[ref] = was._replace(hits=was.hits + count, last_hit=max(was.last_hit, at))
    return {ref: found[name] for ref, name in asked.items() if name in found}


def _waiting(db: sqlite3.Connection, asked: dict[str, str]) -> list[tuple[str, int, str]]:
    """(entry, hits, last) of what is not flushed yet."""
    if not db.execute("SELECT 1 FROM spooled LIMIT 1").fetchone():
        return []
    members = {ref: name for name in set(asked.values()) for ref in _members(db, name)}
    rows = each(db, "SELECT ref, count, at FROM spooled WHERE other = '' AND ref IN", members)
    return [(members[ref], count, at) for ref, count, at in rows]


def links(index: Index, ref: str) -> list[Learned]:
    """The entries that were put to use along with this one, the strongest first."""
    with reading():
        db, members = index.db, same(index, ref)
        tied: list[tuple[str, float, str]] = []
        for table, strength in (("learned", "strength"), ("spooled", "count")):
            one = "one" if table == "learned" else "ref"
            for this, that in ((one, "other"), ("other", one)):
                sql = f"SELECT {that}, {strength}, at FROM {table} WHERE other != '' AND {this} IN"
                tied += each(db, sql, members)
        known = classes(db, {other for other, _, _ in tied})
    found: dict[str, Learned] = {}
    for other, strong, at in tied:
        name = known.get(other, other)
        was = found.get(name, Learned(name, 0.0, ""))
        found[name] = Learned(name, was.strength + strong, max(was.at, at))
    strongest = sorted(found.values(), key=lambda link: (-link.strength, link.ref))
    return [link for link in strongest if link.ref not in members]


def conflicts(index: Index, open_only: bool = True) -> list[Conflict]:
    """The conflicts that were raised, oldest first; of two about the same entries the last."""
    import json

    with reading():
        rows = index.db.execute("SELECT one, other, state FROM conflicts").fetchall()
        known = classes(index.db, {ref for row in rows for ref in row[:2]})
    raised: dict[tuple[str, str], list[Any]] = {}
    settled: dict[tuple[str, str], list[Any]] = {}
    for one, other, state in rows:
        low, high = sorted((known.get(one, one), known.get(other, other)))
        first, last = json.loads(state)
        raised[low, high] = max(raised.get((low, high), []), first)
        settled[low, high] = max(settled.get((low, high), []), last)
    found = []
    for (low, high), said in raised.items():
        pairs = ((low, high), ("", low), ("", high))
        last = max((settled.get(pair, []) for pair in pairs), key=lambda place: place[:3])
        if said and low:
            over = last[3] if last[:3] > said[:3] else ""
            found.append((said[:3], Conflict._make([*said[3:], over])))
    return [conflict for _, conflict in sorted(found) if not (open_only and conflict.resolved)]


def same(index: Index, ref: str) -> set[str]:
    """All ids that the entry with this one has or had."""
    with reading():
        name = classes(index.db, [ref]).get(ref, ref)
        return _members(index.db, name) | {ref}


def dump(index: Index) -> list[tuple[Any, ...]]:
    """All that the index says of journals, without stat values: equal for equal journals."""
    with reading():
        found: list[tuple[Any, ...]] = []
        for table in ("facts", "aliases", "learned", "conflicts", "spooled"):
            rows = index.db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
            found += [(table, *row) for row in rows]
        found += index.db.execute(
            "SELECT path, line, code, message FROM problems WHERE code LIKE 'journal-%'"
            " ORDER BY 1, 2, 3, 4"
        )
    return found


def _members(db: sqlite3.Connection, name: str) -> set[str]:
    rows = db.execute("SELECT ref FROM aliases WHERE class = ?", (name,))
    return {name, *(row[0] for row in rows)}


# -- for `journal.into`: inside a transaction ---------------------------------------------------


def journals(db: sqlite3.Connection) -> dict[str, Read]:
    """How far each journal was read."""
    rows = db.execute("SELECT * FROM journals")
    return {row[0]: Read(row[0], row[1:5], *row[5:]) for row in rows}


def set_journals(db: sqlite3.Connection, rows: Iterable[Read]) -> None:
    """Remember how far these were read."""
    values = [(row.path, *row.stat, *row[2:]) for row in rows]
    db.executemany(f"INSERT OR REPLACE INTO journals VALUES {marks(10)}", values)


def clear(db: sqlite3.Connection) -> None:
    """Forget what journals said, not what waits on this machine."""
    for table in ("facts", "aliases", "learned", "conflicts"):
        db.execute(f"DELETE FROM {table}")
    db.execute("DELETE FROM journals WHERE path LIKE '%/%'")


def classes(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, str]:
    """For those of these ids that are an entry's along with others, the smallest of them."""
    return dict(each(db, "SELECT ref, class FROM aliases WHERE ref IN", refs))


def states(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, str]:
    """The states of these entries, as they were put."""
    return dict(each(db, "SELECT ref, state FROM facts WHERE ref IN", refs))


def purged(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(id, state) of all entries that were purged, once for each of their ids."""
    sql = """
        SELECT ref, state FROM facts WHERE purged != '' UNION
        SELECT a.ref, f.state FROM aliases a JOIN facts f ON f.ref = a.class WHERE f.purged != ''
    """
    return db.execute(sql).fetchall()


def put(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Store entries: the fields of Facts, and a state."""
    names = ", ".join(Facts._fields)
    db.executemany(f"INSERT OR REPLACE INTO facts ({names}, state) VALUES {marks(17)}", rows)


def drop(db: sqlite3.Connection, refs: Iterable[str]) -> None:
    """Remove entries that became part of another."""
    db.executemany("DELETE FROM facts WHERE ref = ?", [(ref,) for ref in refs])


def put_classes(db: sqlite3.Connection, found: Mapping[str, str]) -> None:
    """Store which ids are one entry; those that were with one of them before follow it."""
    for ref, name in found.items():
        db.execute("UPDATE aliases SET class = ? WHERE class = ?", (name, ref))
    db.executemany("INSERT OR REPLACE INTO aliases VALUES (?, ?)", found.items())


def learned(db: sqlite3.Connection, pairs: Iterable[tuple[str, str]]) -> dict[Any, str]:
    """The states of these pairs."""
    sql = "SELECT state FROM learned WHERE one = ? AND other = ?"
    rows = ((pair, db.execute(sql, pair).fetchone()) for pair in pairs)
    return {pair: row[0] for pair, row in rows if row}


def put_learned(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Store pairs: one, other, strength, at, state."""
    db.executemany("INSERT OR REPLACE INTO learned VALUES (?, ?, ?, ?, ?)", rows)


def raised(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """The states of all conflicts."""
    return {(row[0], row[1]): row[2] for row in db.execute("SELECT * FROM conflicts")}


def put_conflicts(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Store conflicts: one, other, state."""
    db.executemany("INSERT OR REPLACE INTO conflicts VALUES (?, ?, ?)", rows)


def set_spooled(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Replace what waits on this machine: ref, other ('' for hits), count, at."""
    db.execute("DELETE FROM spooled")
    db.executemany("INSERT INTO spooled VALUES (?, ?, ?, ?)", rows)
