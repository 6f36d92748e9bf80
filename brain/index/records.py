"""The journal as rows, and the facts that follow from them.

This module alone knows what a record means. `RECORD_TYPES` lists the types. The rows of one entry,
replayed in the order of all records, give its facts: score, hits, who added it. An entry that had
several ids (a person edited a bullet before it had an id of its own) is one entry here.

The order is Lamport counter, device, sequence number, so every machine computes the same facts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from math import isfinite

from brain._tuples import NamedTuple
from brain.errors import BrainError
from brain.index.db import Index, each, marks, reading
from brain.index.journal_facts import Facts, smallest_ids
from brain.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Key: TypeAlias = tuple[int, str, int]  # lamport, device, seq
    Purges: TypeAlias = dict[str, tuple[Key, str]]  # by id: the last purge, and when it was

UNREADABLE = "journal-unreadable"  # code of the problem of a journal file that cannot be read
_MAX_COUNT = 1_000_000  # a larger count or score in one record is ignored
_MANY = 1_000  # ids; to replay more of them, all rows are read in one pass
_COLUMNS = "id, at, device, seq, lamport, by, op, ref, path, data"


class Conflict(NamedTuple):
    """Two entries that contradict each other: contradictory, superseded or ambiguous."""

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
    TEXT = "the text before it is restored"
    COUNT = "an undo record subtracts what it counted"
    CONFLICT = "a conflict is resolved, a resolved one is open again"
    PART = "only together with the change it belongs to"


class RecordType(NamedTuple):
    """A type of record: its effect on the facts of an entry, how it is undone, and whether an audit
    shows it by default.

    It adds `delta` to the score unless the record has another, and one to `counts`. With `gives`,
    the record may set values, with `touches` it changes when the entry was last touched. `apply`
    does what only this type does.
    """

    undo: Undo = Undo.NO
    audit: bool = True
    delta: int = 0
    counts: tuple[str, ...] = ()
    gives: bool = False
    touches: bool = False
    apply: Callable[[_Replay, Record], None] | None = None


class _Replay:
    """The facts of one entry while its records are replayed in order."""

    def __init__(self) -> None:
        self.thousandths = 0  # of the score; integers add up the same in any order
        self.counts: dict[str, Any] = dict.fromkeys(_COUNTS, 0)
        self.values: dict[str, Any] = {}
        self.undos: list[tuple[str, str, int, str]] = []  # id, event, thousandths, type undone

    def add(self, record: Record) -> bool:
        """Replay one record. Return True if it says anything about the facts."""
        type = RECORD_TYPES.get(record.op, _UNKNOWN)
        delta = record.data.get("delta", type.delta)
        if delta and record.op != "undo":  # what an undo subtracts depends on all records
            self.thousandths += to_thousandths(delta)
        for name in type.counts:
            self.counts[name] += 1
        if type.touches:
            self.values["touched"] = record.at
        if type.apply:
            type.apply(self, record)
        if type.gives:
            self.give(record)
        return bool(type.apply or type.counts or type.gives or "delta" in record.data)

    def give(self, record: Record) -> None:
        """Take over the confidence, importance and source that a record gives."""
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

    def see(self, created: str) -> None:
        """Take over the time when an undated memory was seen, unless a record says who added it."""
        if "by" not in self.values:
            self.values["created"] = min(created, self.values.get("created", created))

    def _subtract_undone(self) -> None:
        """Subtract what was undone: once if two devices undid it, and not at all if the undo was
        itself undone."""
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


def _remember(replay: _Replay, record: Record) -> None:
    """Take over who added an entry, and when, from the first of such records."""
    if "by" not in replay.values:
        replay.values["created"] = record.at
        replay.values["by"] = record.by
        replay.values["session"] = _text(record, "session")


def _seen(replay: _Replay, record: Record) -> None:
    replay.see(_text(record, "created") or record.at)


def _hit(replay: _Replay, record: Record) -> None:
    replay.values["last_hit"] = _text(record, "last") or record.at
    replay.counts["hits"] += count_of(record) - 1  # it counts as one already


def _undo(replay: _Replay, record: Record) -> None:
    delta = to_thousandths(record.data.get("delta", 0))
    replay.undos.append((record.id, _text(record, "of"), delta, _text(record, "undid")))
    for name in _VALUES:
        if name in record.data and record.data[name] is None:
            replay.values.pop(name, None)  # it had none before


_VALUES = ("confidence", "importance")
_COUNTS = ("hits", "merges", "reinforced", "demoted", "rejected")
RECORD_TYPES: dict[str, RecordType] = {
    "remember": RecordType(Undo.TEXT, gives=True, apply=_remember),
    "promote": RecordType(gives=True, apply=_remember),
    "update": RecordType(Undo.TEXT, gives=True, touches=True),
    "confirm": RecordType(Undo.TEXT, gives=True),
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
    "reject": RecordType(audit=False, counts=("rejected",)),  # an agent had no use for it
    "hit": RecordType(audit=False, counts=("hits",), apply=_hit),  # used in a prompt
    "seen": RecordType(audit=False, apply=_seen),  # an undated memory that a sync saw first
    "conflict": RecordType(Undo.PART),
    "resolve": RecordType(Undo.CONFLICT),
    "undo": RecordType(Undo.PART, gives=True, apply=_undo),
    "overwritten": RecordType(Undo.PART),  # a person's words took the place of a change
    "removed": RecordType(Undo.TEXT),  # a person removed what Brain had written
    "reworded": RecordType(Undo.TEXT),  # a person reworded what Brain had written
    "restored": RecordType(Undo.TEXT),  # a stale window lacked it
    "merged": RecordType(Undo.TEXT),  # from a late save, or from a stale window
    "anchor": RecordType(),  # the id was written behind an entry
    "alias": RecordType(audit=False),  # `old` is another id of the same entry
    "used_together": RecordType(audit=False),  # useful in the same prompt as `other`
    "gap": RecordType(audit=False),  # a question without an answer
    "purge": RecordType(),  # what was known before is forgotten
}
_UNKNOWN = RecordType()  # of a later version; it is kept and counts for nothing
_CREATES = ("remember", "promote")  # records that give an entry its id
_OF_IDS = ("alias", "purge")  # records that say which ids belong together; they hold no words


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
) -> Iterator[Record]:
    """Yield the records with any of these entries, ids and types, by an actor, in a time, or that
    are part of a change, in order. Records that were purged are left out.

    Raise BrainError if a journal file cannot be read: it may say that others are purged.
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
    values = [_plain(value) for _, some in conditions for value in some]
    way = "DESC" if newest_first else "ASC"
    order = ", ".join(f"{column} {way}" for column in ("lamport", "device", "seq"))
    with reading():
        _refuse_unreadable(index.db)
        rows = index.db.execute(
            f"SELECT {_COLUMNS} FROM records WHERE {where} ORDER BY {order}", values
        )
        for row in rows:
            yield _record(row)


def of_refs(index: Index, refs: Iterable[str]) -> Iterator[Record]:
    """Yield the records of these entries, of which there may be many, in any order."""
    sql = f"SELECT {_COLUMNS} FROM records WHERE NOT purged AND ref IN"
    with reading():
        _refuse_unreadable(index.db)
        yield from map(_record, each(index.db, sql, refs))


def _refuse_unreadable(db: sqlite3.Connection) -> None:
    sql = "SELECT path, message FROM problems WHERE code = ?"
    if row := db.execute(sql, (UNREADABLE,)).fetchone():
        why = row[1].partition(";")[0]
        raise BrainError(
            f"{row[0].partition('/')[2]} {why}. It may say that entries were purged, so no records"
            " are shown until it can be read.",
            "Make it readable.",
        )


def conflicts(index: Index, open_only: bool = True) -> list[Conflict]:
    """Return the conflicts that were reported, oldest first; the last one of each pair."""
    with reading():
        db, gone = index.db, purges(index.db)
        found = [r for op in ("conflict", "resolve") for r in _of_type(db, op)]
        records = sorted((r for r in found if not _other_purged(r, gone)), key=_key)
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
    shown = []
    for pair, record in reported.items():
        # a resolve without `other` ends all conflicts of its entry
        ends = [resolved.get(each) for each in (pair, ("", pair[0]), ("", pair[1]))]
        last = max(filter(None, ends), key=_key, default=None)
        over = last.at if last and last.key > record.key else ""
        if not (open_only and over):
            type_ = _text(record, "type") or "ambiguous"
            other = _text(record, "other")
            shown.append(Conflict(record.ref, other, type_, record.at, record.by, record.id, over))
    return shown


def counters(index: Index) -> dict[str, Any]:
    """Return when the journal begins and when the memories were last compacted, and how often one
    was promoted, evicted and used, on all devices."""
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
    """Yield the records of a type; with those from before a purge if `purged`."""
    sql = f"SELECT {_COLUMNS} FROM records WHERE op = ?{'' if purged else ' AND NOT purged'}"
    return map(_record, db.execute(sql, (op,)))


def _other_purged(record: Record, gone: Purges) -> bool:
    """Return True if the other entry of a record was purged after it."""
    other = _text(record, "other")
    return other in gone and record.key < gone[other][0]


def _key(record: Record) -> Key:
    return record.key


def _record(row: Sequence[Any]) -> Record:
    import orjson

    return Record._make([*row[:9], orjson.loads(row[9])])


# -- writing, inside a transaction -----------------------------------------------------------------


class Touched:
    """The entries and pairs whose facts have to be replayed."""

    def __init__(self) -> None:
        self.refs: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.changes_ids = False  # a record says which ids are one entry

    def add(self, record: Record) -> None:
        self.refs.add(record.ref)
        if record.op == "used_together":
            self.pairs.add(_pair(record))
        elif record.op == "purge":
            self.refs |= _purged_refs(record)
        self.changes_ids |= record.op in _CREATES or record.op in _OF_IDS


def insert(db: sqlite3.Connection, records: Iterable[Record], touched: Touched) -> None:
    """Add records. One that is there already, by device and number, is ignored."""
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
    found = list(_of_type(db, "purge", purged=True))
    names = _alias_classes(db) if found else {}
    last: Purges = {}
    for record in found:
        for ref in _purged_refs(record):
            name = names.get(ref, ref)
            purge = record.key, record.at
            last[name] = max(last.get(name, purge), purge)
    return {ref: last[name] for ref, name in names.items() if name in last} | last


def _purged_refs(record: Record) -> set[str]:
    refs = record.data.get("refs")
    more = [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []
    return {record.ref, *more} - {""}


def update_facts(db: sqlite3.Connection, touched: Touched | None) -> None:
    """Bring facts, alias classes and learned links up to date with the records. None means all.

    The words of purged entries are removed from the records here.
    """
    gone = purges(db)
    _erase(db, gone)
    if touched is None or touched.changes_ids:
        names = _alias_classes(db)
        before = dict(db.execute("SELECT ref, class FROM aliases"))
        if names != before:
            db.execute("DELETE FROM aliases")
            db.executemany("INSERT INTO aliases VALUES (?, ?)", names.items())
            if touched is not None:
                changed = names.items() ^ before.items()
                touched.refs.update(id for pair in changed for id in pair)
    if touched is None or len(touched.refs) > _MANY:
        _replay_all(db, gone)
        return
    _replay_refs(db, touched.refs - {""}, gone)
    pairs = set(touched.pairs)
    for column in ("one", "other"):  # a purge may have removed some of their records
        pairs.update(each(db, f"SELECT one, other FROM learned WHERE {column} IN", gone))
    db.executemany("DELETE FROM learned WHERE one = ? AND other = ?", pairs)
    refs = {ref for pair in pairs for ref in pair}
    sql = f"SELECT {_COLUMNS} FROM records WHERE op = 'used_together' AND NOT purged AND ref IN"
    _learn(db, map(_record, each(db, sql, refs)), gone, pairs)


def _erase(db: sqlite3.Connection, gone: Purges) -> None:
    """Remove the records from before a purge. Those that say which ids are one entry stay, without
    their words."""
    before = "(lamport, device, seq) < (?, ?, ?)"
    values = [(ref, *key) for ref, (key, _) in gone.items()]
    ids = ", ".join(f"'{op}'" for op in (*_CREATES, *_OF_IDS))
    db.executemany(f"DELETE FROM records WHERE ref = ? AND {before} AND op NOT IN ({ids})", values)
    db.executemany(
        f"UPDATE records SET purged = 1 WHERE NOT purged AND ref = ? AND {before}", values
    )
    creates = ", ".join(f"'{op}'" for op in _CREATES)
    db.execute(
        f"UPDATE records SET data = '{{}}', path = '' WHERE purged AND op IN ({creates})"
        " AND data != '{}'"
    )


def _alias_classes(db: sqlite3.Connection) -> dict[str, str]:
    """Return the smallest id for each id of an entry that has several. An id that an entry was
    created with belongs to no other entry, whatever an old journal says."""
    aliases = _of_type(db, "alias", purged=True)
    pairs = {(alias.ref, _text(alias, "old")) for alias in aliases}
    pairs = {pair for pair in pairs if all(pair) and pair[0] != pair[1]}
    creates = ", ".join(f"'{op}'" for op in _CREATES)
    sql = f"SELECT DISTINCT ref FROM records WHERE op IN ({creates}) AND ref IN"
    created = {ref for (ref,) in each(db, sql, {id for pair in pairs for id in pair})}
    return classes(pair for pair in pairs if created.isdisjoint(pair))


def classes(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Group ids that are equal, directly or through others. Return the smallest id of each
    group."""
    parent: dict[str, str] = {}

    def root(id: str) -> str:
        while (up := parent.setdefault(id, id)) != id:
            parent[id] = parent[up]
            id = up
        return id

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    return {id: root(id) for id in list(parent)}


def _replay_all(db: sqlite3.Connection, gone: Purges) -> None:
    """Compute all facts in one pass over the records, ordered by entry."""
    from itertools import groupby

    names = dict(db.execute("SELECT ref, class FROM aliases"))
    seen = {ref for (ref,) in db.execute("SELECT ref FROM pending_seen")}
    db.execute("DELETE FROM facts")
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM records WHERE NOT purged AND ref != ''"
        " ORDER BY ref, lamport, device, seq"
    )
    done: set[str] = set()
    found = []
    for ref, some in groupby(map(_record, rows), key=lambda record: record.ref):
        if ref not in names and ref not in seen:
            done.add(ref)
            found += _facts(ref, some, gone)
    rest = {ref for ref in (*gone, *names, *seen) if ref not in done}
    _put(db, found)
    _replay_refs(db, rest, gone)
    db.execute("DELETE FROM learned")
    _learn(db, _of_type(db, "used_together"), gone)


def _replay_refs(db: sqlite3.Connection, refs: Collection[str], gone: Purges) -> None:
    """Compute the facts of these entries, under all of their ids."""
    known = smallest_ids(db, refs)
    names = {known.get(ref, ref) for ref in refs}
    ids = {name: name for name in names}  # each id, with the smallest of its entry
    ids |= dict(each(db, "SELECT ref, class FROM aliases WHERE class IN", names))
    records: dict[str, list[Record]] = {name: [] for name in names}
    sql = f"SELECT {_COLUMNS} FROM records WHERE NOT purged AND ref IN"
    for record in (_record(row) for row in each(db, sql, ids)):
        records[ids[record.ref]].append(record)
    db.executemany("DELETE FROM facts WHERE ref = ?", [(ref,) for ref in {*refs, *ids}])
    seen: dict[str, list[str]] = {}
    for ref, created in each(db, "SELECT ref, created FROM pending_seen WHERE ref IN", ids):
        seen.setdefault(ids[ref], []).append(created)
    found: list[Facts] = []
    for name, some in records.items():
        some.sort(key=_key)
        found += _facts(name, some, gone, seen.get(name, ()))
    _put(db, found)


def _facts(
    ref: str, records: Iterable[Record], gone: Purges, seen: Sequence[str] = ()
) -> list[Facts]:
    """Return the facts of an entry, in a list; an empty one if nothing is known. `seen` are times
    that are not in the journal yet."""
    replay = _Replay()
    said = [replay.add(record) for record in records]
    for created in seen:
        replay.see(created)
    purged = gone[ref][1] if ref in gone else ""
    return [replay.facts(ref, purged)] if any(said) or seen or purged else []


def _put(db: sqlite3.Connection, found: Iterable[Facts]) -> None:
    names = ", ".join(Facts._fields)
    db.executemany(f"INSERT INTO facts ({names}) VALUES {marks(len(Facts._fields))}", found)


def _learn(
    db: sqlite3.Connection,
    records: Iterable[Record],
    gone: Purges,
    wanted: Collection[tuple[str, str]] | None = None,
) -> None:
    """Sum up the learned links of these pairs, or of all."""
    sums: dict[tuple[str, str], list[Any]] = {}
    for record in records:
        pair = _pair(record)
        if not pair[0] or pair[0] == pair[1] or _other_purged(record, gone):
            continue
        if wanted is not None and pair not in wanted:
            continue
        total = sums.setdefault(pair, [0, (), ""])
        total[0] += to_thousandths(record.data.get("strength", 1))
        if record.key > total[1]:
            total[1:] = record.key, _text(record, "last") or record.at
    rows = [(*pair, strength / 1000, at) for pair, (strength, _, at) in sums.items()]
    db.executemany("INSERT INTO learned VALUES (?, ?, ?, ?)", rows)


def set_pending_uses(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Replace the uses that are not in the journal yet: ref, other ('' for hits), count, at."""
    db.execute("DELETE FROM pending_uses")
    db.executemany("INSERT INTO pending_uses VALUES (?, ?, ?, ?)", rows)


def set_pending_seen(db: sqlite3.Connection, seen: dict[str, str]) -> Touched:
    """Replace the times of memories that were seen and are not in the journal yet. Return the
    entries whose facts change."""
    before = dict(db.execute("SELECT ref, created FROM pending_seen"))
    touched = Touched()
    touched.refs = {ref for ref, _ in before.items() ^ seen.items()}
    db.execute("DELETE FROM pending_seen")
    db.executemany("INSERT INTO pending_seen VALUES (?, ?)", seen.items())
    return touched


# -- values in records -----------------------------------------------------------------------------


def count_of(record: Record) -> int:
    """Return how many times something happened that a record reports."""
    count = record.data.get("count", 1)
    return count if type(count) is int and 0 < count < _MAX_COUNT else 1


def to_thousandths(number: Any) -> int:
    """Return a number as an integer count of thousandths; 0 if it is not a sensible number."""
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
    """Replace the halves of characters that SQLite cannot take."""
    return value.encode("utf-8", "replace").decode()
