"""Store the journal as rows, and compute facts from them.

Only this module defines the meaning of records. `RECORD_TYPES` lists the types. The records of an
entry are replayed in order to compute its facts: score, hits, origin. An entry may have had several
ids, if a person edited it before it had a written id. The records of all its ids are replayed.

Records are ordered by Lamport counter, device and sequence number, so every machine computes the
same facts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from math import isfinite

from brain._tuples import NamedTuple
from brain.errors import BrainError
from brain.index.db import Index, each, marks, reading
from brain.index.read import Facts, smallest_ids
from brain.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Key: TypeAlias = tuple[int, str, int]  # lamport, device, seq
    Purges: TypeAlias = dict[str, tuple[Key, str]]  # by id: the key and time of the last purge

UNREADABLE = "journal-unreadable"  # the code for a journal file that cannot be read
_MAX_COUNT = 1_000_000  # a larger count or score in a record is ignored
_MANY = 1_000  # ids; if more have to be replayed, all rows are read in one pass
_COLUMNS = "id, at, device, seq, lamport, by, op, ref, path, data"


class Conflict(NamedTuple):
    """A conflict between two entries. Its type is contradictory, superseded or ambiguous."""

    ref: str
    other: str
    type: str
    at: str
    by: str
    event: str
    resolved: str = ""


# -- record types ----------------------------------------------------------------------------------


class Undo(Enum):
    """How a record is undone."""

    NO = "it cannot be undone"
    TEXT = "the text before the change is restored"
    COUNT = "an undo record subtracts its counts"
    CONFLICT = "the conflict is open again"
    PART = "only together with the change to which it belongs"


class RecordType(NamedTuple):
    """A type of record: its effect on the facts of an entry, how it is undone, and whether an audit
    shows it by default.

    A record adds its own delta, or else `delta`, to the score, and 1 to each of `counts`. If
    `sets_values`, it may set the confidence, importance and source. If `touches`, it sets the time
    when the entry was last touched. `apply` has the effects that only this type has.
    """

    undo: Undo = Undo.NO
    audit: bool = True
    delta: int = 0
    counts: tuple[str, ...] = ()
    sets_values: bool = False
    touches: bool = False
    apply: Callable[[_Replay, Record], None] | None = None


class _Replay:
    """The facts of one entry while its records are replayed in order."""

    def __init__(self) -> None:
        self.thousandths = 0  # of the score; the sum of integers does not depend on their order
        self.counts: dict[str, Any] = dict.fromkeys(_COUNTS, 0)
        self.values: dict[str, Any] = {}
        # id, undone event, thousandths, undone type
        self.undos: list[tuple[str, str, int, str]] = []

    def add(self, record: Record) -> bool:
        """Replay a record. Return True if it affects the facts."""
        type = RECORD_TYPES.get(record.op, _UNKNOWN)
        delta = record.data.get("delta", type.delta)
        if delta and record.op != "undo":  # the effect of an undo depends on all records
            self.thousandths += to_thousandths(delta)
        for name in type.counts:
            self.counts[name] += 1
        if type.touches:
            self.values["touched"] = record.at
        if type.apply:
            type.apply(self, record)
        if type.sets_values:
            self.set_values(record)
        return bool(type.apply or type.counts or type.sets_values or "delta" in record.data)

    def set_values(self, record: Record) -> None:
        """Set the confidence, importance and source from a record."""
        for name in _VALUES:
            value: Any = record.data.get(name)
            if is_number(value):
                self.values[name] = float(value)
        if source := _text(record, "source"):
            self.values["source"] = source

    def facts(self, ref: str, purged: str) -> Facts:
        self._subtract_undone()
        score = self.thousandths / 1000
        return Facts(ref, score, **self.counts, **self.values, purged=purged)

    def set_created(self, created: str) -> None:
        """Set the creation time of an undated memory, unless a record created the memory."""
        if "by" not in self.values:
            self.values["created"] = min(created, self.values.get("created", created))

    def _subtract_undone(self) -> None:
        """Subtract the effects of undone records: once if two devices undid the same record, and
        not at all if the undo was undone."""
        undos: dict[str, list[tuple[str, str, int, str]]] = {}
        for undo in sorted(set(self.undos)):
            undos.setdefault(undo[1] or undo[0], []).append(undo)

        def is_undone(event: str, seen: tuple[str, ...] = ()) -> bool:
            ids = [undo[0] for undo in undos.get(event, ()) if undo[0] not in seen]
            return any(not is_undone(id, (*seen, id)) for id in ids)

        for event, same in undos.items():
            _, _, delta, undid = same[0]
            if undid != "undo" and is_undone(event):
                self.thousandths += delta
                for name in RECORD_TYPES.get(undid, _UNKNOWN).counts:
                    self.counts[name] -= 1
        self.counts = {name: max(0, count) for name, count in self.counts.items()}


def _apply_origin(replay: _Replay, record: Record) -> None:
    """Set the origin of an entry from the first record that creates it."""
    if "by" not in replay.values:
        replay.values["created"] = record.at
        replay.values["by"] = record.by
        replay.values["session"] = _text(record, "session")


def _apply_seen(replay: _Replay, record: Record) -> None:
    replay.set_created(_text(record, "created") or record.at)


def _apply_hit(replay: _Replay, record: Record) -> None:
    replay.values["last_hit"] = _text(record, "last") or record.at
    replay.counts["hits"] += count_of(record) - 1  # `add` has counted one


def _apply_undo(replay: _Replay, record: Record) -> None:
    delta = to_thousandths(record.data.get("delta", 0))
    replay.undos.append((record.id, _text(record, "of"), delta, _text(record, "undid")))
    for name in _VALUES:
        if name in record.data and record.data[name] is None:
            replay.values.pop(name, None)  # there was no value before


_VALUES = ("confidence", "importance")
_COUNTS = ("hits", "merges", "reinforced", "demoted", "rejected")
RECORD_TYPES: dict[str, RecordType] = {
    "remember": RecordType(Undo.TEXT, sets_values=True, apply=_apply_origin),
    "promote": RecordType(sets_values=True, apply=_apply_origin),
    "update": RecordType(Undo.TEXT, sets_values=True, touches=True),
    "confirm": RecordType(Undo.TEXT, sets_values=True),
    "forget": RecordType(Undo.TEXT),
    "pin": RecordType(Undo.TEXT),
    "unpin": RecordType(Undo.TEXT),
    "tag": RecordType(Undo.TEXT),
    "link": RecordType(Undo.TEXT),
    "unlink": RecordType(Undo.TEXT),
    "move": RecordType(Undo.TEXT),
    "config": RecordType(Undo.TEXT),
    "merge": RecordType(Undo.COUNT, counts=("merges", "hits"), touches=True),
    "reinforce": RecordType(Undo.COUNT, delta=3, counts=("reinforced",), touches=True),
    "demote": RecordType(Undo.COUNT, delta=-1, counts=("demoted",)),
    "reject": RecordType(audit=False, counts=("rejected",)),  # an agent found no use for it
    "hit": RecordType(audit=False, counts=("hits",), apply=_apply_hit),  # used in a prompt
    "seen": RecordType(audit=False, apply=_apply_seen),  # a sync found an undated memory
    "conflict": RecordType(Undo.PART),
    "resolve": RecordType(Undo.CONFLICT),
    "undo": RecordType(Undo.PART, sets_values=True, apply=_apply_undo),
    "overwritten": RecordType(Undo.PART),  # a person's text replaced a change
    "removed": RecordType(Undo.TEXT),  # a person removed what Brain had written
    "reworded": RecordType(Undo.TEXT),  # a person reworded what Brain had written
    "restored": RecordType(Undo.TEXT),  # a stale window had saved a note without it
    "merged": RecordType(Undo.TEXT),  # text of a late save or of a stale window was added
    "anchor": RecordType(),  # the id was written after an entry
    "alias": RecordType(audit=False),  # `old` is another id of the same entry
    "used_together": RecordType(audit=False),  # useful in the same prompt as `other`
    "gap": RecordType(audit=False),  # a question without an answer
    "purge": RecordType(),  # all earlier records are erased
}
_UNKNOWN = RecordType()  # a type of a later version, which is kept and has no effect
_CREATES = ("remember", "promote")  # records that create an entry
_OF_IDS = ("alias", "purge")  # records about ids, which contain no text of an entry


# -- reading ---------------------------------------------------------------------------------------


def select(
    index: Index,
    *,
    refs: Collection[str] = (),
    ids: Collection[str] = (),
    by: str = "",
    since: str = "",
    until: str = "",
    ops: Collection[str] = (),
    part_of: str = "",
    newest_first: bool = False,
    by_time: bool = False,
) -> Iterator[Record]:
    """Yield records in order, selected by entries, ids, types, actor, time and the change to which
    they belong. Purged records are left out.

    All devices replay records in this order, in which a record of a device that was offline may
    come before older records. `by_time` orders the records by time instead.

    Raise BrainError if a journal file cannot be read, because it may contain a purge.
    """
    conditions: list[tuple[str, Sequence[str]]] = [
        (f"{column} IN {marks(values)}", tuple(values))
        for column, values in (("ref", refs), ("id", ids), ("op", ops))
        if values
    ]
    conditions += [("by = ?", [by])] if by else []
    conditions += [("at >= ?", [since])] if since else []
    conditions += [("at < ?", [until])] if until else []
    if part_of:  # the first condition is that of the index of parts
        conditions += [("""instr(data, '"part_of":')""", [])]
        conditions += [("instr(data, ?)", [f'"part_of":"{part_of}"'])]
    where = " AND ".join(["NOT purged", *(sql for sql, _ in conditions)])
    values = [_plain(value) for _, condition_values in conditions for value in condition_values]
    direction = "DESC" if newest_first else "ASC"
    columns = (*(("at",) if by_time else ()), "lamport", "device", "seq")
    order = ", ".join(f"{column} {direction}" for column in columns)
    with reading():
        _refuse_unreadable(index.db)
        rows = index.db.execute(
            f"SELECT {_COLUMNS} FROM records WHERE {where} ORDER BY {order}", values
        )
        for row in rows:
            yield _record(row)


def of_refs(index: Index, refs: Iterable[str]) -> Iterator[Record]:
    """Yield the records of these entries, which may be many, in any order."""
    sql = f"SELECT {_COLUMNS} FROM records WHERE NOT purged AND ref IN"
    with reading():
        _refuse_unreadable(index.db)
        yield from map(_record, each(index.db, sql, refs))


def _refuse_unreadable(db: sqlite3.Connection) -> None:
    sql = "SELECT path, message FROM problems WHERE code = ?"
    if row := db.execute(sql, (UNREADABLE,)).fetchone():
        problem = row[1].partition(";")[0]
        raise BrainError(
            f"{row[0].partition('/')[2]} {problem}. Because this file may purge entries, no records"
            " are shown until it can be read.",
            "Make it readable.",
        )


def conflicts(index: Index, open_only: bool = True) -> list[Conflict]:
    """Return the last conflict of each pair of entries, oldest first."""
    with reading():
        db, all_purges = index.db, purges(index.db)
        found = [r for op in ("conflict", "resolve") for r in _of_type(db, op)]
        records = sorted((r for r in found if not _other_purged(r, all_purges)), key=key)
        names = smallest_ids(db, {id for r in records for id in (r.ref, _text(r, "other"))})
    reported: dict[tuple[str, ...], Record] = {}
    resolved: dict[tuple[str, ...], Record] = {}
    for record in records:
        other = _text(record, "other")
        pair = tuple(sorted((names.get(record.ref, record.ref), names.get(other, other))))
        if record.op == "resolve":
            resolved[pair] = record
        elif record.ref and other:
            reported.pop(pair, None)
            reported[pair] = record
    found_conflicts = []
    for pair, record in reported.items():
        # a resolve record without `other` ends all conflicts of its entry
        resolutions = [resolved.get(each) for each in (pair, ("", pair[0]), ("", pair[1]))]
        last = max(filter(None, resolutions), key=key, default=None)
        resolved_at = last.at if last and key(last) > key(record) else ""
        if not (open_only and resolved_at):
            type_ = _text(record, "type") or "ambiguous"
            other = _text(record, "other")
            found_conflicts.append(
                Conflict(record.ref, other, type_, record.at, record.by, record.id, resolved_at)
            )
    return found_conflicts


def counters(index: Index) -> dict[str, Any]:
    """Return the time of the first record and of the last compaction, and the number of promotions,
    evictions and uses, on all devices."""
    sql = """SELECT (SELECT min(at) FROM records), max(iif(op = 'compact', at, NULL)),
        sum(op = 'promote'), sum(op = 'evict') FROM records
        WHERE op IN ('promote', 'evict', 'compact') AND NOT purged"""
    created, compacted, promotions, evictions = index.rows(sql)[0]
    uses = """SELECT (SELECT total(hits) FROM facts)
        + (SELECT total(count) FROM pending_uses WHERE other = '')"""
    return {
        "created": created,
        "last_compacted": compacted,
        "promotions": promotions or 0,
        "evictions": evictions or 0,
        "accesses": int(index.value(uses)),
    }


def _of_type(db: sqlite3.Connection, op: str, purged: bool = False) -> Iterator[Record]:
    """Yield the records of a type, also the purged ones if `purged`."""
    sql = f"SELECT {_COLUMNS} FROM records WHERE op = ?{'' if purged else ' AND NOT purged'}"
    return map(_record, db.execute(sql, (op,)))


def _other_purged(record: Record, all_purges: Purges) -> bool:
    """Return True if the other entry of a record was purged after the record."""
    other = _text(record, "other")
    return other in all_purges and key(record) < all_purges[other][0]


def key(record: Record) -> Key:
    """Return the position of a record among all records. Every machine computes the same order."""
    return record.lamport, record.device, record.seq


def _record(row: Sequence[Any]) -> Record:
    import orjson

    return Record._make([*row[:9], orjson.loads(row[9])])


# -- writing, inside a transaction -----------------------------------------------------------------


class Touched:
    """The entries and pairs whose facts have to be replayed."""

    def __init__(self) -> None:
        self.refs: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.changes_ids = False  # True if a record affects the ids of entries

    def add(self, record: Record) -> None:
        self.refs.add(record.ref)
        if record.op == "used_together":
            self.pairs.add(_pair(record))
        elif record.op == "purge":
            self.refs |= _purged_refs(record)
        self.changes_ids |= record.op in _CREATES or record.op in _OF_IDS


def insert(db: sqlite3.Connection, records: Iterable[Record], touched: Touched) -> None:
    """Add records. Ignore a record whose device and number are in the index already."""
    import orjson

    def row(record: Record) -> tuple[Any, ...]:
        touched.add(record)
        return *record[:9], orjson.dumps(record.data).decode()

    sql = f"INSERT OR IGNORE INTO records ({_COLUMNS}) VALUES {marks(10)}"
    db.executemany(sql, map(row, records))


def delete_device(db: sqlite3.Connection, device: str, touched: Touched) -> None:
    """Remove the records of a device, to read its files again."""
    for row in db.execute(f"SELECT {_COLUMNS} FROM records WHERE device = ?", (device,)):
        touched.add(_record(row))
    db.execute("DELETE FROM records WHERE device = ?", (device,))


def purges(db: sqlite3.Connection) -> Purges:
    """Return the ids of entries that were purged, with the key and time of the last purge."""
    purge_records = list(_of_type(db, "purge", purged=True))
    names = _alias_classes(db) if purge_records else {}
    last: Purges = {}
    for record in purge_records:
        for ref in _purged_refs(record):
            name = names.get(ref, ref)
            purge = key(record), record.at
            last[name] = max(last.get(name, purge), purge)
    return {ref: last[name] for ref, name in names.items() if name in last} | last


def _purged_refs(record: Record) -> set[str]:
    refs = record.data.get("refs")
    other_refs = [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []
    return {record.ref, *other_refs} - {""}


def update_facts(db: sqlite3.Connection, touched: Touched | None) -> None:
    """Update facts, aliases and learned links from the records, for touched entries or for all
    (None).

    This also removes the text of purged entries from the records.
    """
    all_purges = purges(db)
    _erase_purged(db, all_purges)
    if touched is None or touched.changes_ids:
        names = _alias_classes(db)
        old_names = dict(db.execute("SELECT ref, class FROM aliases"))
        if names != old_names:
            db.execute("DELETE FROM aliases")
            db.executemany("INSERT INTO aliases VALUES (?, ?)", names.items())
            if touched is not None:
                changed = names.items() ^ old_names.items()
                touched.refs.update(id for pair in changed for id in pair)
    if touched is None or len(touched.refs) > _MANY:
        _replay_all(db, all_purges)
        return
    _replay_refs(db, touched.refs - {""}, all_purges)
    pairs = set(touched.pairs)
    for column in ("one", "other"):  # a purge may have removed some of their records
        pairs.update(each(db, f"SELECT one, other FROM learned WHERE {column} IN", all_purges))
    db.executemany("DELETE FROM learned WHERE one = ? AND other = ?", pairs)
    refs = {ref for pair in pairs for ref in pair}
    sql = f"SELECT {_COLUMNS} FROM records WHERE op = 'used_together' AND NOT purged AND ref IN"
    _insert_learned(db, map(_record, each(db, sql, refs)), all_purges, pairs)


def _erase_purged(db: sqlite3.Connection, all_purges: Purges) -> None:
    """Remove the records before a purge. Records about ids are kept without text."""
    is_before = "(lamport, device, seq) < (?, ?, ?)"
    values = [(ref, *key) for ref, (key, _) in all_purges.items()]
    ids = ", ".join(f"'{op}'" for op in (*_CREATES, *_OF_IDS))
    db.executemany(
        f"DELETE FROM records WHERE ref = ? AND {is_before} AND op NOT IN ({ids})", values
    )
    db.executemany(
        f"UPDATE records SET purged = 1 WHERE NOT purged AND ref = ? AND {is_before}", values
    )
    creates = ", ".join(f"'{op}'" for op in _CREATES)
    db.execute(
        f"UPDATE records SET data = '{{}}', path = '' WHERE purged AND op IN ({creates})"
        " AND data != '{}'"
    )


def _alias_classes(db: sqlite3.Connection) -> dict[str, str]:
    """Return for each id of an entry with several ids the smallest of them. The id with which an
    entry was created is never an alias, even if an old journal has an alias record for it."""
    aliases = _of_type(db, "alias", purged=True)
    pairs = {(alias.ref, _text(alias, "old")) for alias in aliases}
    pairs = {pair for pair in pairs if all(pair) and pair[0] != pair[1]}
    creates = ", ".join(f"'{op}'" for op in _CREATES)
    sql = f"SELECT DISTINCT ref FROM records WHERE op IN ({creates}) AND ref IN"
    created = {ref for (ref,) in each(db, sql, {id for pair in pairs for id in pair})}
    return group_ids(pair for pair in pairs if created.isdisjoint(pair))


def group_ids(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return for each id the smallest id of its group. Pairs connect the ids of a group."""
    parent: dict[str, str] = {}

    def root(id: str) -> str:
        while (parent_id := parent.setdefault(id, id)) != id:
            parent[id] = parent[parent_id]
            id = parent_id
        return id

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    return {id: root(id) for id in list(parent)}


def _replay_all(db: sqlite3.Connection, all_purges: Purges) -> None:
    """Compute all facts in one pass over the records, which are sorted by entry."""
    from itertools import groupby

    names = dict(db.execute("SELECT ref, class FROM aliases"))
    pending = {ref for (ref,) in db.execute("SELECT ref FROM pending_seen")}
    db.execute("DELETE FROM facts")
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM records WHERE NOT purged AND ref != ''"
        " ORDER BY ref, lamport, device, seq"
    )
    complete: set[str] = set()
    all_facts = []
    for ref, group in groupby(map(_record, rows), key=lambda record: record.ref):
        if ref not in names and ref not in pending:
            complete.add(ref)
            all_facts += _facts(ref, group, all_purges)
    rest = {ref for ref in (*all_purges, *names, *pending) if ref not in complete}
    _insert_facts(db, all_facts)
    _replay_refs(db, rest, all_purges)
    db.execute("DELETE FROM learned")
    _insert_learned(db, _of_type(db, "used_together"), all_purges)


def _replay_refs(db: sqlite3.Connection, refs: Collection[str], all_purges: Purges) -> None:
    """Compute the facts of these entries from the records of all their ids."""
    known = smallest_ids(db, refs)
    smallest = {known.get(ref, ref) for ref in refs}
    smallest_of = {id: id for id in smallest}  # the smallest id of the same entry, by id
    smallest_of |= dict(each(db, "SELECT ref, class FROM aliases WHERE class IN", smallest))
    records: dict[str, list[Record]] = {id: [] for id in smallest}
    sql = f"SELECT {_COLUMNS} FROM records WHERE NOT purged AND ref IN"
    for record in (_record(row) for row in each(db, sql, smallest_of)):
        records[smallest_of[record.ref]].append(record)
    db.executemany("DELETE FROM facts WHERE ref = ?", [(ref,) for ref in {*refs, *smallest_of}])
    pending: dict[str, list[str]] = {}
    for ref, created in each(db, "SELECT ref, created FROM pending_seen WHERE ref IN", smallest_of):
        pending.setdefault(smallest_of[ref], []).append(created)
    all_facts: list[Facts] = []
    for id, group in records.items():
        group.sort(key=key)
        all_facts += _facts(id, group, all_purges, pending.get(id, ()))
    _insert_facts(db, all_facts)


def _facts(
    ref: str, records: Iterable[Record], all_purges: Purges, seen: Sequence[str] = ()
) -> list[Facts]:
    """Return a list with the facts of an entry, or an empty list if there are none. `seen` are
    creation times that are not in the journal yet."""
    replay = _Replay()
    affects = [replay.add(record) for record in records]
    for created in seen:
        replay.set_created(created)
    purged = all_purges[ref][1] if ref in all_purges else ""
    return [replay.facts(ref, purged)] if any(affects) or seen or purged else []


def _insert_facts(db: sqlite3.Connection, all_facts: Iterable[Facts]) -> None:
    names = ", ".join(Facts._fields)
    db.executemany(f"INSERT INTO facts ({names}) VALUES {marks(len(Facts._fields))}", all_facts)


def _insert_learned(
    db: sqlite3.Connection,
    records: Iterable[Record],
    all_purges: Purges,
    wanted: Collection[tuple[str, str]] | None = None,
) -> None:
    """Add the learned links of the wanted pairs (None: all), as sums of their records."""
    sums: dict[tuple[str, str], list[Any]] = {}
    for record in records:
        pair = _pair(record)
        if not pair[0] or pair[0] == pair[1] or _other_purged(record, all_purges):
            continue
        if wanted is not None and pair not in wanted:
            continue
        total = sums.setdefault(pair, [0, (), ""])
        total[0] += to_thousandths(record.data.get("strength", 1))
        if key(record) > total[1]:
            total[1:] = key(record), _text(record, "last") or record.at
    rows = [(*pair, strength / 1000, at) for pair, (strength, _, at) in sums.items()]
    db.executemany("INSERT INTO learned VALUES (?, ?, ?, ?)", rows)


def set_pending_uses(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Replace the uses that are not in the journal yet: ref, other ('' for hits), count, at."""
    db.execute("DELETE FROM pending_uses")
    db.executemany("INSERT INTO pending_uses VALUES (?, ?, ?, ?)", rows)


def set_pending_seen(db: sqlite3.Connection, seen: dict[str, str]) -> Touched:
    """Replace the creation times of undated memories that are not in the journal yet. Return the
    entries whose facts change."""
    before = dict(db.execute("SELECT ref, created FROM pending_seen"))
    touched = Touched()
    touched.refs = {ref for ref, _ in before.items() ^ seen.items()}
    db.execute("DELETE FROM pending_seen")
    db.executemany("INSERT INTO pending_seen VALUES (?, ?)", seen.items())
    return touched


# -- values in records -----------------------------------------------------------------------------


def count_of(record: Record) -> int:
    """Return the number of uses that a record counts."""
    count = record.data.get("count", 1)
    return count if type(count) is int and 0 < count < _MAX_COUNT else 1


def to_thousandths(number: Any) -> int:
    """Return a number in thousandths, as an integer; 0 if it is not a number or too large."""
    return round(number * 1000) if is_number(number) and abs(number) < _MAX_COUNT else 0


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value)


def _pair(record: Record) -> tuple[str, str]:
    other = _text(record, "other")
    return min(record.ref, other), max(record.ref, other)


def _text(record: Record, name: str) -> str:
    value = record.data.get(name)
    return value if isinstance(value, str) else ""


def _plain(value: str) -> str:
    """Replace lone surrogates, which SQLite cannot store."""
    return value.encode("utf-8", "replace").decode()
