"""Questions to the index. Every filter is inside the SQL, so that what may not be seen is not
counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from brain.index.db import FULL_TEXTS, Index, reading
from brain.model import DEFAULT_SCOPES, SCOPES, Link, Problem
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 10_000  # ids in one statement, whose length has a limit
K1, B = 1.2, 0.75  # of bm25, as in FTS5
CREATED = (
    "coalesce(c.created, f.created, strftime('%Y-%m-%dT%H:%M:%fZ', f.mtime_ns / 1e9, 'unixepoch'))"
)


# Is no memory in the place of this one? An agent supersedes what is its own, the admin any, and
# for an agent who asks its own counts too; two that supersede each other are both still there.
_CURRENT = """(c.scope != 'memory' OR NOT EXISTS (SELECT 1 FROM links s
    JOIN chunks n ON n.id = s.chunk AND n.scope = 'memory' AND n.id != c.id AND {whose}
    WHERE s.kind = 'supersedes' AND s.fragment = '^' || c.ref AND NOT EXISTS (
        SELECT 1 FROM links b WHERE b.chunk = c.id AND b.kind = 'supersedes'
        AND b.fragment = '^' || n.ref)))"""


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

    def where(self) -> tuple[str, list[str]]:
        """A condition on chunks `c` and files `f`, and its values."""
        parts: list[str] = []
        values: list[str] = []
        for column, wanted in (
            ("c.scope", self.scopes if set(self.scopes) != set(SCOPES) else ()),
            ("c.kind", self.kinds),
            ("c.agent", self.agents),
            ("c.project", self.projects),
        ):
            if wanted:
                parts.append(f"{column} IN ({','.join('?' * len(wanted))})")
                values += wanted
        if self.owners is not None:
            parts.append(f"c.agent IN ({','.join('?' * len(self.owners))})")
            values += self.owners
        if not self.superseded:
            mine = "n.agent IN (c.agent, 'admin')"
            if self.owners is not None:
                mine = f"n.agent IN ({','.join('?' * len(self.owners))})"
                values += self.owners
            parts.append(_CURRENT.format(whose=mine))
        for tag in self.tags:
            parts.append("tagged(c.tags, ?)")
            values.append(tag.lstrip("#"))
        if self.since:
            parts.append(f"{CREATED} >= ?")
            values.append(self.since)
        if self.until:
            parts.append(f"substr({CREATED}, 1, length(?)) <= ?")
            values += [self.until, self.until]
        return " AND ".join(parts) or "1", [_text(value) for value in values]


class Candidate(NamedTuple):
    """A match before it is ranked: only what ranking needs."""

    id: int
    scope: str
    created: str
    path: str
    line: int
    place: int  # in its session or section
    siblings: int
    speaker: str  # of a turn
    text: str  # of a turn or a memory; '' of what is long

    @property
    def section(self) -> range:
        """The row ids of its session or section."""
        first = self.id - self.place
        return range(first, first + self.siblings)


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


_ROW = f"""
    SELECT c.id, c.ref, c.scope, c.kind, c.status, c.agent, c.project, c.path, c.line, c.end_line,
           c.heading, c.text, c.tags, {CREATED}, f.title, c.extra
    FROM chunks c JOIN files f ON f.id = c.file
"""


WORDS, SPACED = FULL_TEXTS  # where words are looked up, and characters of scripts without spaces


def size(index: Index, table: str = WORDS) -> int:
    """How many chunks there are, or how many a table of full text holds."""
    rows = "chunks" if table == WORDS else f"{table}_docsize"  # whose rows are the shortest
    with reading():
        return int(index.db.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])


def frequency(index: Index, match: str, most: int, table: str = WORDS) -> int:
    """How many chunks match; `most` + 1 for more than that, which is cheaper to find out."""
    some = f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT {most + 1:d}"
    with reading():
        return int(index.db.execute(f"SELECT count(*) FROM ({some})", (match,)).fetchone()[0])


def weighed(
    index: Index,
    match: str,
    weights: Sequence[float],
    table: str = WORDS,
    most: int = -1,
    after: int = -1,
) -> dict[int, float]:
    """The bm25 of all matches, or of the first `most` that come `after` one, by row id, in the
    order of these; as common as they are in that table. The last of the weights is that of
    SPACED."""
    rank = _rank(index, weights[:-1] if table == WORDS else weights[-1:], table)
    later = f" AND rowid > {after:d}" if after >= 0 else ""
    sql = f"SELECT rowid, -{rank} FROM {table} WHERE {table} MATCH ?{later} LIMIT {most:d}"
    with reading():
        return dict(index.db.execute(sql, (match,)))


def weighed_alike(index: Index, match: str, table: str) -> dict[int, float]:
    """As `weighed`, for FTS4, as if what matches were equally common in every column: how common
    it is cannot be taken out of its own bm25."""
    index.db.create_function("rank_alike", 1, _alike, deterministic=True)
    sql = f"SELECT rowid, rank_alike(matchinfo({table}, 'pcalx')) FROM {table}"
    with reading():
        return dict(index.db.execute(f"{sql} WHERE {table} MATCH ?", (match,)))


def _alike(matchinfo: bytes) -> float:
    """The bm25 of a row on FTS4, were every phrase worth 1 in every column."""
    phrases, columns, *numbers = memoryview(matchinfo).cast("I").tolist()
    mean, length = numbers[:columns], numbers[columns : 2 * columns]
    hits = numbers[2 * columns :: 3]  # each with two numbers of all rows
    score = 0.0
    for at in range(phrases * columns):
        share = length[at % columns] / (mean[at % columns] or 1)
        score += hits[at] * (K1 + 1) / (hits[at] + K1 * (1 - B + B * share))
    return score


def hidden(index: Index, owners: Sequence[str], ids: Iterable[int] | None = None) -> set[int]:
    """The chunks that belong to others than these owners: all, or those of these."""
    whose = f"SELECT id FROM {_of_others(owners)}"
    with reading():
        if ids is None:
            return {id for (id,) in index.db.execute(whose, owners)}
        every, found = list(ids), set()
        for at in range(0, len(every), _MOST):
            some = ",".join(map(str, every[at : at + _MOST]))
            found |= {id for (id,) in index.db.execute(f"{whose} AND id IN ({some})", owners)}
    return found


def count_hidden(index: Index, owners: Sequence[str]) -> int:
    """How many chunks belong to others than these owners."""
    with reading():
        sql = f"SELECT count(*) FROM {_of_others(owners)}"
        return int(index.db.execute(sql, owners).fetchone()[0])


def _of_others(owners: Sequence[str]) -> str:
    """Chunks of others than these; by their own index if what everybody may read is theirs."""
    others = f"agent NOT IN ({','.join('?' * len(owners))})"
    if {"", "admin"} <= set(owners):
        return f"chunks INDEXED BY chunks_owned WHERE agent NOT IN ('', 'admin') AND {others}"
    return f"chunks WHERE {others}"


def matching(index: Index, match: str, table: str = WORDS) -> set[int]:
    """The row ids of all matches, not ranked."""
    with reading():
        rows = index.db.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (match,))
        return {id for (id,) in rows}


def any_matches(index: Index, match: str, filters: Filters) -> bool:
    """Does anything match that passes the filters?"""
    where, values = filters.where()
    sql = f"""SELECT 1 FROM {WORDS} CROSS JOIN chunks c ON c.id = {WORDS}.rowid
        CROSS JOIN files f ON f.id = c.file WHERE {WORDS} MATCH ? AND {where} LIMIT 1"""
    with reading():
        return _with_tagged(index.db).execute(sql, (match, *values)).fetchone() is not None


def terms(index: Index) -> Callable[[str], str | None]:
    """What finds the first word of the full text that is not before a given one, as FTS5 keeps
    it."""
    with reading():
        index.db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms"
            f" USING fts5vocab('main', '{WORDS}', 'instance')"
        )

    def after(at: str) -> str | None:
        with reading():
            sql = "SELECT term FROM temp.terms WHERE term >= ? LIMIT 1"
            row = index.db.execute(sql, (at,)).fetchone()
        return row[0] if row else None

    return after


def candidates(
    index: Index, ids: Sequence[int], filters: Filters, aged: Sequence[str] = ("memory",)
) -> list[Candidate]:
    """Those of these chunks that pass the filters. When a note was created is not looked up unless
    its scope is among `aged`: that takes longer than all the rest."""
    where, values = filters.where()
    marks = ",".join(map(str, ids))
    with reading():
        rows = _with_tagged(index.db).execute(
            f"{_light(aged)} FROM chunks c JOIN files f ON f.id = c.file"
            f" WHERE c.id IN ({marks}) AND {where}",
            values,
        )
        return [Candidate(*row) for row in rows]


def speakers(index: Index, owners: tuple[str, ...] | None = None, most: int = 200) -> list[str]:
    """Who speaks in the sessions of all or of these owners, each once; the first `most` of
    them."""
    heard = "1"
    if owners is not None:
        heard = f"""EXISTS (SELECT 1 FROM chunks WHERE scope = 'sessions' AND heading = name
            AND agent IN ({",".join("?" * len(owners))}))"""
    sql = f"""
        WITH RECURSIVE one (name) AS (
            SELECT min(heading) FROM chunks WHERE scope = 'sessions' UNION ALL
            SELECT (SELECT min(heading) FROM chunks WHERE scope = 'sessions' AND heading > name)
            FROM one WHERE name IS NOT NULL
        ) SELECT name FROM one WHERE name != '' AND {heard} LIMIT {most:d}
    """
    with reading():
        return [name for (name,) in index.db.execute(sql, owners or ())]


def any_feedback(index: Index) -> bool:
    """Has anybody ever judged a memory?"""
    with reading():
        return index.db.execute("SELECT 1 FROM facts LIMIT 1").fetchone() is not None


def feedback(index: Index, ids: Sequence[int]) -> dict[int, tuple[float, str]]:
    """(score, when it was last reinforced or updated) of those of these chunks that have any."""
    with reading():
        some = f"c.id IN ({','.join(map(str, ids))}) AND c.scope = 'memory'"
        found = index.db.execute(
            f"SELECT c.id, k.score, k.touched FROM chunks c JOIN facts k ON k.ref = c.ref"
            f" WHERE {some} UNION ALL SELECT c.id, k.score, k.touched FROM chunks c"
            f" JOIN aliases a ON a.ref = c.ref AND a.class != c.ref JOIN facts k ON k.ref = a.class"
            f" WHERE {some}"
        )
        return {id: (score, touched) for id, score, touched in found}


def contradictions(
    index: Index, rows: Sequence[Row], owners: tuple[str, ...] | None = None
) -> dict[str, list[str]]:
    """For those of these memories that are at odds with others, the ids of the others that may be
    seen."""
    memories = [row for row in rows if row.scope == "memory"]
    marks = ",".join("?" * len(memories))
    pair = """
        SELECT c.ref, c.agent, o.ref, o.agent FROM links l
        JOIN chunks c ON c.id = l.chunk AND c.scope = 'memory'
        JOIN chunks o ON o.ref = substr(l.fragment, 2) AND o.scope = 'memory'
        WHERE l.kind = 'contradicts' AND
    """
    sql = f"{pair} l.chunk IN ({marks}) UNION {pair} l.fragment IN ({marks})"
    found: dict[str, list[str]] = {}
    with reading():
        values = [*(row.id for row in memories), *(f"^{row.ref}" for row in memories)]
        pairs = index.db.execute(sql, values).fetchall() if memories else []
    for one, mine, other, its in [*pairs, *((c, d, a, b) for a, b, c, d in pairs)]:
        seen = owners is None or (mine in owners and its in owners)
        if seen and other not in found.setdefault(one, []):
            found[one].append(other)
    return found


def _light(aged: Sequence[str]) -> str:
    created = CREATED if "sources" in aged else f"iif(c.scope = 'sources', '', {CREATED})"
    return f"""SELECT c.id, c.scope, {created}, c.path, c.line, c.place, c.siblings,
        iif(c.scope = 'sessions', c.heading, ''),
        iif(c.scope IN ('sessions', 'memory'), c.text, '')"""


def _rank(index: Index, weights: Sequence[float], table: str) -> str:
    """The rank as the engine calls it: smaller is better."""
    if index.fts == "fts4":
        return f"rank_bm25(matchinfo({table}, 'pcnalx'))"
    return f"bm25({table}, {', '.join(str(float(w)) for w in weights)})"


def haystacks(
    index: Index, ids: Sequence[int], texts: bool = True
) -> list[tuple[int, str, str]]:  # fmt: skip
    """(row id, tags, all else that full text knows) of these chunks; '' instead, if only their tags
    are wanted."""
    rest = "heading || char(10) || text || char(10) || path" if texts else "''"
    sql = f"SELECT id, tags, {rest} FROM chunks WHERE id IN"
    with reading():
        return index.db.execute(f"{sql} ({','.join(map(str, ids))})").fetchall()


def rows(index: Index, ids: Sequence[int]) -> list[Row]:
    """The chunks with these row ids, in that order."""
    with reading():
        found = index.db.execute(f"{_ROW} WHERE c.id IN ({','.join('?' * len(ids))})", ids)
        by_id = {row[0]: Row(*row) for row in found}
    return [by_id[id] for id in ids if id in by_id]


def listed(index: Index, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
    """Chunks that pass the filters, newest first."""
    where, values = filters.where()
    sql = f"{_ROW} WHERE {where} ORDER BY 14 DESC, c.path, c.line, c.id LIMIT ? OFFSET ?"
    with reading():
        found = _with_tagged(index.db).execute(sql, (*values, limit, offset))
        return [Row(*row) for row in found]


def any_passes(index: Index, filters: Filters) -> bool:
    """Is there a chunk that passes the filters?"""
    where, values = filters.where()
    sql = f"SELECT 1 FROM chunks c JOIN files f ON f.id = c.file WHERE {where} LIMIT 1"
    with reading():
        return _with_tagged(index.db).execute(sql, values).fetchone() is not None


def kinds(index: Index, owners: tuple[str, ...] | None = None) -> set[str]:
    """The kinds of all chunks, or of those of these owners."""
    where, values = Filters(scopes=(), owners=owners).where()
    with reading():
        found = index.db.execute(f"SELECT DISTINCT c.kind FROM chunks c WHERE {where}", values)
        return {kind for (kind,) in found}


def by_ref(index: Index, ref: str) -> list[Row]:
    """The chunks with this id; if there is none, those whose id starts with it."""
    ref = _text(ref)
    with reading():
        exact = index.db.execute(f"{_ROW} WHERE c.ref = ? ORDER BY c.path, c.line LIMIT 20", (ref,))
        if found := [Row(*row) for row in exact]:
            return found
        if len(ref) < 4:
            return []
        sql = f"{_ROW} WHERE c.ref >= ? AND c.ref < ? ORDER BY c.path, c.line LIMIT 20"
        return [Row(*row) for row in index.db.execute(sql, (ref, ref + "\U0010ffff"))]


def called(index: Index, refs: Sequence[str]) -> list[int]:
    """The row ids of chunks that have one of these ids; of very many, the first."""
    some = f"ref IN ({','.join('?' * len(refs))})"
    sql = f"SELECT id FROM chunks WHERE {some} ORDER BY path, line, place LIMIT 1000"
    with reading():
        return [id for (id,) in index.db.execute(sql, [_text(ref) for ref in refs])]


def by_place(index: Index, path: str, line: int) -> list[Row]:
    """The chunks of a file that hold this line, the narrowest first; all of them for line 0."""
    sql = f"{_ROW} WHERE c.path = ? AND (? = 0 OR ? BETWEEN c.line AND c.end_line)"
    order = "ORDER BY c.end_line - c.line, c.line, c.id" if line else "ORDER BY c.line, c.id"
    values = (_text(path), line, line)
    with reading():
        return [Row(*row) for row in index.db.execute(f"{sql} {order}", values)]


def links_of(index: Index, id: int) -> list[Link]:
    """What a chunk points to."""
    sql = "SELECT line, kind, target, fragment, '' FROM links WHERE chunk = ? ORDER BY seq"
    with reading():
        return [Link(*row) for row in index.db.execute(sql, (id,))]


def counts(index: Index, owners: tuple[str, ...] | None = None) -> dict[str, dict[str, int]]:
    """How many files and chunks each scope holds, of all or of these owners."""
    names = list(owners or ())
    some = f" WHERE agent IN ({', '.join('?' * len(names))})" if owners is not None else ""
    within = f" WHERE file IN (SELECT id FROM files{some})" if some else ""
    with reading():
        said = f"SELECT scope, count(*) FROM chunks{within} GROUP BY scope"
        chunks = dict(index.db.execute(said, names))
        said = f"SELECT scope, count(*) FROM files{some} GROUP BY scope"
        files = dict(index.db.execute(said, names))
    return {s: {"files": files.get(s, 0), "entries": chunks.get(s, 0)} for s in SCOPES}


def agents(index: Index) -> list[dict[str, Any]]:
    """Every agent that owns something, with what its AGENT.md says of it."""
    sql = """
        SELECT f.agent, f.project, f.path, max(c.extra) FROM files f LEFT JOIN chunks c
        ON c.file = f.id AND c.kind = 'agent' WHERE f.agent != '' AND f.path LIKE '%/AGENT.md'
        GROUP BY f.id ORDER BY f.agent, f.path
    """
    import json

    with reading():
        found = index.db.execute(sql).fetchall()
    return [
        {"agent": agent, "project": project, "path": path, **json.loads(extra or "{}")}
        for agent, project, path, extra in found
    ]


def owners(index: Index) -> set[str]:
    """The names of agents that own at least one file."""
    with reading():
        return {
            row[0] for row in index.db.execute("SELECT DISTINCT agent FROM files WHERE agent != ''")
        }


def problems(index: Index) -> list[tuple[str, Problem]]:
    """Every problem, by path and line."""
    sql = "SELECT path, line, code, message FROM problems ORDER BY path, line, code, message"
    with reading():
        return [(path, Problem(*rest)) for path, *rest in index.db.execute(sql)]


def stale(index: Index) -> list[tuple[str, str]]:
    """(path, why) of files whose rows are older than the file, and of folders that hold such."""
    sql = """
        SELECT path, stale FROM files INDEXED BY files_stale WHERE stale != ''
        UNION SELECT p.path, p.message FROM problems p WHERE p.code = 'unreadable' AND EXISTS
        (SELECT 1 FROM files f WHERE f.path = p.path
         OR (f.path >= p.path || '/' AND f.path < p.path || '0')) ORDER BY 1
    """
    with reading():
        return index.db.execute(sql).fetchall()


def large_memories(index: Index, limit: int) -> list[tuple[str, int]]:
    """(path, bytes) of memory notes over a size."""
    sql = "SELECT path, size FROM files WHERE scope = 'memory' AND size > ? ORDER BY path"
    with reading():
        return index.db.execute(sql, (limit,)).fetchall()


def dump(index: Index) -> list[tuple[Any, ...]]:
    """All that the index says, without row ids and stat values: equal for equal vaults."""
    with reading():
        files = index.db.execute(
            "SELECT path, digest, scope, agent, project, title, created, stale FROM files"
            " ORDER BY path"
        ).fetchall()
        chunks = index.db.execute(
            "SELECT path, line, end_line, start, stop, scope, agent, project, kind, status,"
            " created, ref, extra, place, siblings, heading, text, tags FROM chunks"
            " ORDER BY path, line, start, id"
        ).fetchall()
        spaced = index.db.execute(
            "SELECT c.path, c.line, c.start, c.stop, s.spaced FROM chunks_spaced s"
            " LEFT JOIN chunks c ON c.id = s.rowid ORDER BY c.path, c.line, c.start, c.id"
        ).fetchall()
        links = index.db.execute(
            "SELECT c.path, c.line, c.start, l.seq, l.line, l.kind, l.target, l.fragment"
            " FROM links l JOIN chunks c ON c.id = l.chunk "
            " ORDER BY c.path, c.line, c.start, c.id, l.seq"
        ).fetchall()
        found = [(path, *problem) for path, problem in problems(index)]
    return [*files, *chunks, *spaced, *links, *found]


def _text(given: str) -> str:
    """What a person gave, without the halves of characters that SQLite cannot take."""
    return given.encode("utf-8", "replace").decode()


def _with_tagged(db: sqlite3.Connection) -> sqlite3.Connection:
    db.create_function("tagged", 2, _tagged, deterministic=True)
    return db


def _tagged(tags: str, wanted: str) -> bool:
    """Is the tag among these, or a parent of one of them? Obsidian's tags ignore case."""
    folded, name = tags.casefold(), wanted.casefold()
    return f" {name} " in folded or f" {name}/" in folded
