"""Read entries by id, place, filter and kind, their facts, the files as the index has them, and
information about the vault.

Every filter is in the SQL, so invisible entries are not counted. The queries for entries that a
context shows without a search (pinned memories, warnings, summaries, tasks) have small indexes in
schema.sql, so their time does not depend on the size of the vault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from brain._tuples import NamedTuple
from brain.index import relations
from brain.index.db import CREATED, FACTS_OF, MODIFIED, Index, each, marks, owned, reading, text
from brain.model import DEFAULT_SCOPES, SCOPES, Link, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    import sqlite3
    from typing import Any

    from brain.index.db import Owners
    from brain.model import Part

MAX_BY_PREFIX = 1000  # entries whose id begins with a text
_FROM = "FROM entries c JOIN files f ON f.id = c.file"
_ROW = f"""SELECT c.id, c.ref, c.scope, c.kind, c.status, c.agent, c.project, c.path, c.line,
    c.end_line, c.heading, c.text, c.tags, {CREATED}, f.title, c.extra {_FROM}"""
# CREATED in local time, which filters compare with days and times in notes
_LOCAL_CREATED = (
    f"coalesce(CASE WHEN {CREATED} GLOB '*[T ]*[Z+-]*' THEN"
    f" strftime('%Y-%m-%dT%H:%M:%f', {CREATED}, 'localtime') END, {CREATED})"
)
_NEWEST = f"ORDER BY {_LOCAL_CREATED} DESC, c.path, c.line"
# the priority of a task: a number, the smallest first, or a word
_PRIORITY = """CASE lower(coalesce(json_extract(c.extra, '$.priority'), ''))
    WHEN 'critical' THEN 0 WHEN 'urgent' THEN 0 WHEN 'highest' THEN 0 WHEN 'high' THEN 1
    WHEN 'medium' THEN 2 WHEN 'normal' THEN 2 WHEN 'low' THEN 3 WHEN 'lowest' THEN 4 WHEN '' THEN 99
    ELSE json_extract(c.extra, '$.priority') END"""
_DONE = "('completed', 'done', 'cancelled', 'canceled', 'closed', 'archived')"


class Filters(NamedTuple):
    """A selection of entries. Empty tuples and strings select all.

    `owners` are the agents whose entries are visible, None for all. If `superseded`, memories that
    another memory supersedes are included.
    """

    scopes: tuple[str, ...] = DEFAULT_SCOPES
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    owners: tuple[str, ...] | None = None
    superseded: bool = True
    excluded: tuple[int, ...] = ()  # row ids, filled in by `resolve`

    def resolve(self, index: Index) -> Filters:
        """Return filters that select the same entries, with the superseded ones in `excluded`.

        This saves time if the filters are used in several statements.
        """
        if self.superseded:
            return self
        rows = relations.superseded_rows(index, self.owners)
        return self._replace(superseded=True, excluded=tuple(rows))

    def where(self, index: Index) -> tuple[str, list[str]]:
        """Return a condition on entries `c` and files `f`, and its values."""
        parts: list[str] = []
        values: list[str] = []
        for column, wanted in (
            ("c.scope", self.scopes if set(self.scopes) != set(SCOPES) else ()),
            ("c.kind", self.kinds),
            ("c.agent", self.agents),
            ("c.project", self.projects),
        ):
            if wanted:
                parts.append(f"{column} IN {marks(wanted)}")
                values += wanted
        if self.owners is not None:
            parts.append(f"c.agent IN {marks(self.owners)}")
            values += self.owners
        if excluded := self.resolve(index).excluded:
            parts.append(f"c.id NOT IN ({','.join(map(str, excluded))})")
        for tag in self.tags:
            parts.append("tagged(c.tags, ?)")
            values.append(tag.lstrip("#"))
        if self.since:
            parts.append(f"{_LOCAL_CREATED} >= ?")
            values.append(self.since)
        if self.until:
            parts.append(f"substr({_LOCAL_CREATED}, 1, length(?)) <= ?")
            values += [self.until, self.until]
        return " AND ".join(parts) or "1", [text(value) for value in values]


class Row(NamedTuple):
    """An entry with all its fields."""

    id: int
    ref: str
    scope: str
    kind: str
    status: str
    agent: str
    project: str
    path: str
    line: int
    end_line: int
    heading: str
    text: str
    tags: str
    created: str
    title: str
    extra: str | None


def _rows(index: Index, rest: str, values: Sequence[Any] = ()) -> list[Row]:
    """Return the entries that a statement selects. `rest` is its end, from WHERE on."""
    return [Row(*row) for row in index.rows(f"{_ROW} {rest}", values)]


# -- entries ---------------------------------------------------------------------------------------


def rows(index: Index, ids: Sequence[int]) -> list[Row]:
    """Return the entries with these row ids, in that order."""
    by_id = {row.id: row for row in _rows(index, f"WHERE c.id IN {marks(ids)}", ids)}
    return [by_id[id] for id in ids if id in by_id]


def listed(index: Index, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
    """Return the entries that pass the filters, newest first."""
    where, values = filters.where(index)
    rest = f"WHERE {where} {_NEWEST}, c.id LIMIT ? OFFSET ?"
    return _rows(index, rest, (*values, limit, offset))


def any_entry(index: Index, filters: Filters) -> bool:
    """Return True if an entry passes the filters."""
    where, values = filters.where(index)
    return index.value(f"SELECT 1 {_FROM} WHERE {where} LIMIT 1", values) is not None


def by_ref(index: Index, ref: str) -> list[Row]:
    """Return the entries with this id, also in lower or upper case; else the entries whose id
    begins with `ref`."""
    ref = text(ref)
    names = dict.fromkeys((ref, ref.lower(), ref.upper()) if "-" in ref or "_" in ref else (ref,))
    spans = [(name, name) for name in names]
    if len(ref) >= 4 or ref[1:2] == "-":  # `m-w` is the beginning of an id, but `it` may be a word
        spans += [(name, name + "\U0010ffff") for name in names]
    for span in spans:
        rest = f"WHERE c.ref >= ? AND c.ref <= ? ORDER BY c.path, c.line LIMIT {MAX_BY_PREFIX}"
        if found := _rows(index, rest, span):
            return found
    return []


def exact(index: Index, ref: str) -> list[Row]:
    """Return the entries with exactly this id."""
    return _rows(index, "WHERE c.ref = ? ORDER BY c.path, c.line", (text(ref),))


def by_ids(index: Index, ids: Sequence[str], owners: Owners) -> dict[str, Row]:
    """Return the memories and items with these ids, by id. If several have the same id, the first
    is returned."""
    visible, values = owned(owners)
    where = f"c.ref IN {marks(ids)} AND c.scope IN ('memory', 'items'){visible}"
    found = _rows(index, f"WHERE {where} ORDER BY c.path DESC, c.line DESC", (*ids, *values))
    return {row.ref: row for row in found}


def by_fingerprint(index: Index, fingerprint: str, owners: Owners) -> list[Row]:
    """Return the memories with this fingerprint, in the order of their notes."""
    visible, values = owned(owners)
    where = f"c.fingerprint = ? AND c.scope = 'memory'{visible}"
    return _rows(index, f"WHERE {where} ORDER BY c.path, c.line", (fingerprint, *values))


def row_ids(index: Index, refs: Sequence[str]) -> list[int]:
    """Return the row ids of entries with these ids, at most 1,000."""
    sql = f"SELECT id FROM entries WHERE ref IN {marks(refs)} ORDER BY path, line, place LIMIT 1000"
    return [id for (id,) in index.rows(sql, [text(ref) for ref in refs])]


def other_transcript(
    index: Index, ref: str, role: str, native: str, path: str, owners: Owners
) -> str:
    """Return the path of another transcript with a message that has this id and role, and whose id
    in the client is `native`, if given; '' if these owners have none."""
    sql = """SELECT path, extra, agent FROM entries WHERE ref = ? AND kind = ? AND path != ?
        AND path LIKE '%.jsonl'"""
    for other, extra, agent in index.rows(sql, (text(ref), role, path)):
        is_visible = owners is None or agent in owners
        if is_visible and (not native or f'"{native}"' in (extra or "")):
            return str(other)
    return ""


def by_place(index: Index, path: str, line: int) -> list[Row]:
    """Return the entries of a file that contain this line, the shortest first; all for line 0."""
    where = "c.path = ? AND (? = 0 OR ? BETWEEN c.line AND c.end_line)"
    order = "c.end_line - c.line, c.line, c.id" if line else "c.line, c.id"
    return _rows(index, f"WHERE {where} ORDER BY {order}", (text(path), line, line))


def linking(index: Index, ref: str) -> list[Row]:
    """Return the entries that link to a block with this id, in any note."""
    where = "c.id IN (SELECT entry FROM links WHERE fragment = ?) AND c.ref != ?"
    return _rows(index, f"WHERE {where} ORDER BY c.path, c.line", (f"^{ref}", ref))


def links_of(index: Index, id: int) -> list[Link]:
    """Return the links of an entry. For a passage of a note, these are only links to blocks."""
    sql = "SELECT line, kind, target, fragment FROM links WHERE entry = ? ORDER BY seq"
    return [Link(*row) for row in index.rows(sql, (id,))]


# -- entries that a context shows without a search -------------------------------------------------


def pinned(index: Index, owners: Owners) -> list[Row]:
    """Return the pinned memories, newest first."""
    return _owned(index, "c.scope = 'memory' AND c.status = 'pinned'", owners)


def memories_of_kind(index: Index, kind: str, owners: Owners) -> list[Row]:
    """Return the memories of a kind, newest first."""
    return _owned(index, f"c.scope = 'memory' AND c.kind = '{kind}'", owners)


def summaries(index: Index, owners: Owners, limit: int) -> list[Row]:
    """Return the summaries of sessions, newest first."""
    where = "c.kind IN ('summary', 'session') AND c.scope IN ('memory', 'sessions')"
    return _owned(index, where, owners, f"{_NEWEST} LIMIT {limit:d}")


def open_tasks(index: Index, owners: Owners, limit: int) -> list[Row]:
    """Return the open tasks, most urgent first."""
    where = f"c.kind = 'task' AND c.scope = 'tasks' AND lower(c.status) NOT IN {_DONE}"
    order = f"ORDER BY {_PRIORITY}, 14 DESC, c.path, c.line LIMIT {limit:d}"
    return _owned(index, where, owners, order)


def _owned(index: Index, where: str, owners: Owners, order: str = _NEWEST) -> list[Row]:
    visible, values = owned(owners)
    return _rows(index, f"WHERE {where}{visible} {order}", values)


def spans(index: Index, refs: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return (path, start, end) of the entries with these ids, as byte offsets, sorted by path."""
    sql = "SELECT path, start, stop FROM entries WHERE scope IN ('memory', 'archive') AND ref IN"
    with reading():
        return sorted((path, start, stop) for path, start, stop in each(index.db, sql, refs))


def undated(index: Index, paths: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return (id, time of the file) of memories in these notes (None: all) whose creation time is
    known only from the time of the file."""
    sql = f"""SELECT c.ref, min({MODIFIED}) FROM files f CROSS JOIN entries c ON c.file = f.id
        WHERE f.scope IN ('memory', 'archive') AND f.created IS NULL AND c.created IS NULL
        AND c.kind NOT IN ('note', 'agent') AND NOT EXISTS (SELECT 1 FROM {FACTS_OF})"""
    if paths is None:
        return index.rows(f"{sql} GROUP BY c.ref")
    with reading():
        rows = each(index.db, f"{sql} AND f.path IN", paths, group="GROUP BY c.ref")
        return [(ref, created) for ref, created in rows]


# -- the vault -------------------------------------------------------------------------------------


def kinds(index: Index, owners: tuple[str, ...] | None = None) -> set[str]:
    """Return the kinds of all entries, or of those of these owners."""
    where, values = Filters(scopes=(), owners=owners).where(index)
    found = index.rows(f"SELECT DISTINCT c.kind FROM entries c WHERE {where}", values)
    return {kind for (kind,) in found}


def counts(index: Index, owners: tuple[str, ...] | None = None) -> dict[str, dict[str, int]]:
    """Return the number of files and of entries in each scope that these owners own (None: all)."""
    visible, values = owned(owners, "f")
    sql = f"SELECT f.scope, count(*) FROM files f WHERE 1{visible} GROUP BY 1"
    file_count = dict(index.rows(sql, values))
    where = f" WHERE file IN (SELECT f.id FROM files f WHERE 1{visible})" if visible else ""
    entries = dict(index.rows(f"SELECT scope, count(*) FROM entries{where} GROUP BY 1", values))
    return {s: {"files": file_count.get(s, 0), "entries": entries.get(s, 0)} for s in SCOPES}


def counts_of_kinds(index: Index, owners: Owners) -> dict[str, int]:
    """Return the number of memories, items and tasks of each kind, the most frequent first."""
    visible, values = owned(owners)
    sql = f"""SELECT c.kind, count(*) FROM entries c WHERE c.scope IN ('memory', 'items', 'tasks')
        {visible} GROUP BY 1 ORDER BY 2 DESC, 1"""
    return dict(index.rows(sql, values))


def agents(index: Index) -> list[dict[str, Any]]:
    """Return all agents that have an AGENT.md, with the properties in this file."""
    sql = """
        SELECT f.agent, f.project, f.path, max(c.extra) FROM files f LEFT JOIN entries c
        ON c.file = f.id AND c.kind = 'agent' WHERE f.agent != '' AND f.path LIKE '%/AGENT.md'
        GROUP BY f.id ORDER BY f.agent, f.path
    """
    import json

    return [
        {"agent": agent, "project": project, "path": path, **json.loads(extra or "{}")}
        for agent, project, path, extra in index.rows(sql)
    ]


def owners(index: Index) -> set[str]:
    """Return the agents that own at least one file."""
    return {row[0] for row in index.rows("SELECT DISTINCT agent FROM files WHERE agent != ''")}


def file_count(index: Index) -> int:
    """Return the number of files in the index."""
    return int(index.value("SELECT count(*) FROM files"))


def has_file(index: Index, paths: Sequence[str]) -> bool:
    """Return True if the index has a file at one of these paths."""
    sql = f"SELECT 1 FROM files WHERE path IN {marks(paths)} LIMIT 1"
    return index.value(sql, [text(path) for path in paths]) is not None


def problems(index: Index) -> list[tuple[str, Problem]]:
    """Return all problems, sorted by path and line."""
    sql = "SELECT path, line, code, message FROM problems ORDER BY path, line, code, message"
    return [(path, Problem(*rest)) for path, *rest in index.rows(sql)]


def stale(index: Index) -> list[tuple[str, str]]:
    """Return (path, reason) of files whose rows may be out of date, and of folders with such
    files."""
    sql = """
        SELECT path, stale FROM files INDEXED BY files_stale WHERE stale != ''
        UNION SELECT p.path, p.message FROM problems p WHERE p.code = 'unreadable' AND EXISTS
        (SELECT 1 FROM files f WHERE f.path = p.path
         OR (f.path >= p.path || '/' AND f.path < p.path || '0')) ORDER BY 1
    """
    return index.rows(sql)


def large_memories(index: Index, limit: int) -> list[str]:
    """Return the paths of memory notes that have more bytes than the limit."""
    sql = "SELECT path FROM files WHERE scope = 'memory' AND size > ? ORDER BY path"
    return [path for (path,) in index.rows(sql, (limit,))]


# -- the files, as the index has them ------------------------------------------------------------

FINE_SLACK = 20_000_000  # ns, for ext4 and similar file systems
COARSE_SLACK = 2_500_000_000  # ns, for FAT, whose times are multiples of 2 s


class Stat(NamedTuple):
    """The stat values of a file, and when it was last read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    seen_ns: int = 0

    @classmethod
    def from_result(cls, st: os.stat_result, seen_ns: int) -> Stat:
        return cls(st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino, seen_ns)

    @property
    def racy(self) -> bool:
        """True if the file was read so soon after a change that another change could have the same
        times."""
        slack = FINE_SLACK if self.ctime_ns % 1_000_000_000 else COARSE_SLACK
        return self.ctime_ns > self.seen_ns - slack


class Known(NamedTuple):
    """The fields of an indexed file that decide whether it has to be read again."""

    id: int
    stat: Stat
    digest: bytes


class KnownEntry(NamedTuple):
    """An entry as the index has it: enough to see how it changed. `written` is 1 if its id is
    written in its note."""

    text: str
    heading: str
    written: int


def known(index: Index, paths: Iterable[str] | None = None) -> dict[str, Known]:
    """Return the indexed files by path: all, or those at and below these paths."""
    sql = "SELECT path, id, size, mtime_ns, ctime_ns, inode, seen_ns, digest FROM files WHERE"
    return {
        row[0]: Known(row[1], Stat(*row[2:7]), row[7]) for row in _rows_below(index, sql, paths)
    }


def unchanged(index: Index, walk: str, stamps: dict[str, tuple[int, int, int, int]]) -> bool:
    """Return True if `stamps` has exactly the indexed files, with their stat values. This is much
    faster than a comparison with `known`, especially if the index was last written after a walk
    with the same digest, `walk`."""
    if index.value("SELECT 1 FROM meta WHERE key = 'whole' AND value = ?", (walk,)):
        return True
    rows = index.rows("SELECT path, size, mtime_ns, ctime_ns, inode FROM files")
    return {path: tuple(stamp) for path, *stamp in rows} == stamps


def racy(index: Index) -> list[tuple[str, bytes]]:
    """Return the path and digest of each file that is `racy`, and so has to be read again."""
    slack = f"iif(ctime_ns % 1000000000, {FINE_SLACK}, {COARSE_SLACK})"
    sql = f"SELECT path, digest FROM files WHERE ctime_ns > seen_ns - {slack}"
    return [(path, mark) for path, mark in index.rows(sql)]


def scope_of(index: Index, file: int) -> str:
    """Return the scope of an indexed file."""
    return str(index.value("SELECT scope FROM files WHERE id = ?", (file,)))


def entries_of(index: Index, file: int, part: Part | None = None) -> dict[str, KnownEntry]:
    """Return the entries of a file or of a part of it, by id and in order. If several entries have
    the same id, the first is used."""
    where, values = in_part(file, part)
    sql = f"SELECT ref, text, heading, {WRITTEN} FROM entries WHERE {where}"
    rows = index.rows(f"{sql} ORDER BY line DESC, id DESC", values)
    return {ref: KnownEntry(*row) for ref, *row in reversed(rows)}


def last_piece(index: Index, file: int, path: str) -> int:
    """Return the offset of the last piece of a transcript that has entries; 0 if the transcript has
    problems, so that all of it has to be read again."""
    if index.value("SELECT 1 FROM problems WHERE path = ?", (path,)):
        return 0
    return int(index.value("SELECT max(start) FROM entries WHERE file = ?", (file,)) or 0)


def problems_of(
    index: Index, codes: Iterable[str], paths: Iterable[str] | None
) -> list[tuple[str, Problem]]:
    """Return the stored problems with these codes at and below these paths, sorted."""
    sql = f"SELECT path, line, code, message FROM problems WHERE {has_code(codes)} AND"
    return sorted({(path, Problem(*problem)) for path, *problem in _rows_below(index, sql, paths)})


def _rows_below(index: Index, sql: str, paths: Iterable[str] | None) -> Iterable[tuple[Any, ...]]:
    """Return the rows at and below these paths, with one statement per path, because SQLite limits
    the depth of a condition."""
    if paths is None:
        return index.rows(f"{sql} 1")
    return chain.from_iterable(index.rows(f"{sql} {BELOW}", below(p)) for p in sorted(paths))


BELOW = "(path = ? OR (path >= ? AND path < ?))"


def below(path: str) -> tuple[str, str, str]:
    """Return the values for BELOW: the path, and the limits of the paths below it ('0' is the
    character after '/')."""
    name = storable(path)
    return name, f"{name}/", f"{name}0"


def storable(path: str) -> str:
    """Return a path for the index, in which bytes that are not UTF-8 are escaped."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()


WRITTEN = "json_extract(extra, '$.anchored') IS NOT NULL"


def in_part(file: int, part: Part | None) -> tuple[str, tuple[int, ...]]:
    """Return a condition on the entries of a file, or of a part of it, and its values."""
    if part is None:
        return "file = ?", (file,)
    return "file = ? AND start >= ? AND start < ?", (file, part.start, part.stop)


def has_code(codes: Iterable[str]) -> str:
    """Return the condition that a code is one of these, which are constants of Brain."""
    return "code IN ({})".format(", ".join(f"'{code}'" for code in sorted(codes)))


# -- facts from the journals, which `records` computes -------------------------------------------


class Facts(NamedTuple):
    """The score, hits and origin of an entry. Unknown times are '', and unknown values None.

    An entry may have had several ids, if a person edited it before it had a written id. All of them
    have the same facts.
    """

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


def facts(index: Index, refs: Iterable[str], pending: bool = True) -> dict[str, Facts]:
    """Return the facts of the entries with these ids, by id. With `pending`, include the hits that
    this machine has not written to its journal yet."""
    wanted = set(refs)
    with reading():
        db = index.db
        known = smallest_ids(db, wanted)
        names = {ref: known.get(ref, ref) for ref in wanted}
        sql = f"SELECT {', '.join(Facts._fields)} FROM facts WHERE ref IN"
        found = {row[0]: Facts(*row) for row in each(db, sql, set(names.values()))}
        for ref, count, last_time in _pending_hits(db, names) if pending else ():
            known_facts = found.get(ref, Facts(ref))
            found[ref] = known_facts._replace(
                hits=known_facts.hits + count, last_hit=max(known_facts.last_hit, last_time)
            )
    return {ref: found[name] for ref, name in names.items() if name in found}


def _pending_hits(db: sqlite3.Connection, names: dict[str, str]) -> list[tuple[str, int, str]]:
    """Return (id, hits, last time) for the hits that are not in the journal yet. `names` has the
    smallest id of each entry."""
    if not db.execute("SELECT 1 FROM pending_uses LIMIT 1").fetchone():
        return []
    members = {ref: name for name in set(names.values()) for ref in _members(db, name)}
    rows = each(db, "SELECT ref, count, at FROM pending_uses WHERE other = '' AND ref IN", members)
    return [(members[ref], count, last_time) for ref, count, last_time in rows]


def all_ids(index: Index, ref: str) -> set[str]:
    """Return all current and former ids of the entry with this id."""
    with reading():
        name = smallest_ids(index.db, [ref]).get(ref, ref)
        return _members(index.db, name) | {ref}


def smallest_ids(db: sqlite3.Connection, refs: Iterable[str]) -> dict[str, str]:
    """Return the smallest id of the same entry for each of these ids, if the entry has several."""
    return dict(each(db, "SELECT ref, class FROM aliases WHERE ref IN", refs))


def _members(db: sqlite3.Connection, name: str) -> set[str]:
    rows = db.execute("SELECT ref FROM aliases WHERE class = ?", (text(name),))
    return {name, *(row[0] for row in rows)}
