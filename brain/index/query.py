"""Questions to the index. Every filter is inside the SQL, so that what may not be seen is not
counted."""

from __future__ import annotations

from collections.abc import Sequence

from brain.index import links
from brain.index.db import Index
from brain.index.sql import CREATED, marks, text
from brain.model import DEFAULT_SCOPES, SCOPES, Link, Problem
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The same by the clock of this machine, as the days and times in notes are: what filters compare.
_HERE = (
    f"coalesce(CASE WHEN {CREATED} GLOB '*[T ]*[Z+-]*' THEN"
    f" strftime('%Y-%m-%dT%H:%M:%f', {CREATED}, 'localtime') END, {CREATED})"
)


MOST_ALIKE = 1000  # entries that are looked at for the beginning of an id


class Filters(NamedTuple):
    """Which chunks are meant. Empty tuples and strings filter nothing.

    `owners` are the agents whose entries may be seen at all, None for everybody's; `superseded`
    lets in memories that another one takes the place of.
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
        """Return the same filters with the superseded memories looked up.

        A caller that uses the filters in several statements saves time with it.
        """
        if self.superseded:
            return self
        rows = links.superseded_rows(index, self.owners)
        return self._replace(superseded=True, excluded=tuple(rows))

    def where(self, index: Index) -> tuple[str, list[str]]:
        """Return a condition on chunks `c` and files `f`, and its values."""
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
            parts.append(f"{_HERE} >= ?")
            values.append(self.since)
        if self.until:
            parts.append(f"substr({_HERE}, 1, length(?)) <= ?")
            values += [self.until, self.until]
        return " AND ".join(parts) or "1", [text(value) for value in values]


class Row(NamedTuple):
    """A chunk with all that is known of it."""

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


COLUMNS = f"""
    SELECT c.id, c.ref, c.scope, c.kind, c.status, c.agent, c.project, c.path, c.line, c.end_line,
           c.heading, c.text, c.tags, {CREATED}, f.title, c.extra
"""
_ROW = f"{COLUMNS} FROM chunks c JOIN files f ON f.id = c.file"


def rows(index: Index, ids: Sequence[int]) -> list[Row]:
    """The chunks with these row ids, in that order."""
    found = index.rows(f"{_ROW} WHERE c.id IN {marks(ids)}", ids)
    by_id = {row[0]: Row(*row) for row in found}
    return [by_id[id] for id in ids if id in by_id]


def listed(index: Index, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
    """Chunks that pass the filters, newest first."""
    where, values = filters.where(index)
    sql = f"{_ROW} WHERE {where} ORDER BY 14 DESC, c.path, c.line, c.id LIMIT ? OFFSET ?"
    found = index.rows(sql, (*values, limit, offset))
    return [Row(*row) for row in found]


def any_passes(index: Index, filters: Filters) -> bool:
    """Is there a chunk that passes the filters?"""
    where, values = filters.where(index)
    sql = f"SELECT 1 FROM chunks c JOIN files f ON f.id = c.file WHERE {where} LIMIT 1"
    return index.value(sql, values) is not None


def kinds(index: Index, owners: tuple[str, ...] | None = None) -> set[str]:
    """The kinds of all chunks, or of those of these owners."""
    where, values = Filters(scopes=(), owners=owners).where(index)
    found = index.rows(f"SELECT DISTINCT c.kind FROM chunks c WHERE {where}", values)
    return {kind for (kind,) in found}


def by_ref(index: Index, ref: str) -> list[Row]:
    """The chunks with this id, in whatever case; if there is none, those whose id starts with it,
    of very many the first."""
    ref = text(ref)
    said = dict.fromkeys((ref, ref.lower(), ref.upper()) if "-" in ref or "_" in ref else (ref,))
    spans = [(each, each) for each in said]
    if len(ref) >= 4 or ref[1:2] == "-":  # `m-w` begins an id, `it` a word
        spans += [(each, each + "\U0010ffff") for each in said]
    sql = f"{_ROW} WHERE c.ref >= ? AND c.ref <= ? ORDER BY c.path, c.line LIMIT {MOST_ALIKE}"
    for span in spans:
        if found := [Row(*row) for row in index.rows(sql, span)]:
            return found
    return []


def called(index: Index, refs: Sequence[str]) -> list[int]:
    """The row ids of chunks that have one of these ids; of very many, the first."""
    sql = f"SELECT id FROM chunks WHERE ref IN {marks(refs)} ORDER BY path, line, place LIMIT 1000"
    return [id for (id,) in index.rows(sql, [text(ref) for ref in refs])]


def by_place(index: Index, path: str, line: int) -> list[Row]:
    """The chunks of a file that hold this line, the narrowest first; all of them for line 0."""
    sql = f"{_ROW} WHERE c.path = ? AND (? = 0 OR ? BETWEEN c.line AND c.end_line)"
    order = "ORDER BY c.end_line - c.line, c.line, c.id" if line else "ORDER BY c.line, c.id"
    values = (text(path), line, line)
    return [Row(*row) for row in index.rows(f"{sql} {order}", values)]


def linking(index: Index, ref: str) -> list[Row]:
    """Return the chunks that link to the block with this id, whatever note the link names."""
    sql = f"""{_ROW} WHERE c.id IN (SELECT chunk FROM links WHERE fragment = ?) AND c.ref != ?
        ORDER BY c.path, c.line"""
    return [Row(*row) for row in index.rows(sql, (f"^{ref}", ref))]


def links_of(index: Index, id: int) -> list[Link]:
    """What a chunk points to."""
    sql = "SELECT line, kind, target, fragment, '' FROM links WHERE chunk = ? ORDER BY seq"
    return [Link(*row) for row in index.rows(sql, (id,))]


def counts(index: Index, owners: tuple[str, ...] | None = None) -> dict[str, dict[str, int]]:
    """How many files and chunks each scope holds, of all or of these owners."""
    names = list(owners or ())
    some = f" WHERE agent IN {marks(names)}" if owners is not None else ""
    within = f" WHERE file IN (SELECT id FROM files{some})" if some else ""
    said = f"SELECT scope, count(*) FROM chunks{within} GROUP BY scope"
    chunks = dict(index.rows(said, names))
    said = f"SELECT scope, count(*) FROM files{some} GROUP BY scope"
    files = dict(index.rows(said, names))
    return {s: {"files": files.get(s, 0), "entries": chunks.get(s, 0)} for s in SCOPES}


def agents(index: Index) -> list[dict[str, Any]]:
    """Every agent that owns something, with what its AGENT.md says of it."""
    sql = """
        SELECT f.agent, f.project, f.path, max(c.extra) FROM files f LEFT JOIN chunks c
        ON c.file = f.id AND c.kind = 'agent' WHERE f.agent != '' AND f.path LIKE '%/AGENT.md'
        GROUP BY f.id ORDER BY f.agent, f.path
    """
    import json

    found = index.rows(sql)
    return [
        {"agent": agent, "project": project, "path": path, **json.loads(extra or "{}")}
        for agent, project, path, extra in found
    ]


def owners(index: Index) -> set[str]:
    """The names of agents that own at least one file."""
    return {row[0] for row in index.rows("SELECT DISTINCT agent FROM files WHERE agent != ''")}


def files(index: Index) -> int:
    """How many files the index knows."""
    return int(index.value("SELECT count(*) FROM files"))


def any_known(index: Index, paths: Sequence[str]) -> bool:
    """Does the index know a file at one of these paths?"""
    sql = f"SELECT 1 FROM files WHERE path IN {marks(paths)} LIMIT 1"
    return index.value(sql, [text(path) for path in paths]) is not None


def problems(index: Index) -> list[tuple[str, Problem]]:
    """Every problem, by path and line."""
    sql = "SELECT path, line, code, message FROM problems ORDER BY path, line, code, message"
    return [(path, Problem(*rest)) for path, *rest in index.rows(sql)]


def stale(index: Index) -> list[tuple[str, str]]:
    """(path, why) of files whose rows are older than the file, and of folders that hold such."""
    sql = """
        SELECT path, stale FROM files INDEXED BY files_stale WHERE stale != ''
        UNION SELECT p.path, p.message FROM problems p WHERE p.code = 'unreadable' AND EXISTS
        (SELECT 1 FROM files f WHERE f.path = p.path
         OR (f.path >= p.path || '/' AND f.path < p.path || '0')) ORDER BY 1
    """
    return index.rows(sql)


def large_memories(index: Index, limit: int) -> list[str]:
    """The memory notes of more bytes than this."""
    sql = "SELECT path FROM files WHERE scope = 'memory' AND size > ? ORDER BY path"
    return [path for (path,) in index.rows(sql, (limit,))]
