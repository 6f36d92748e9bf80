"""Queries of full text: the rows that match, their saturation, and counts.

Every statement, and so every count, is limited to the rows that the owners may read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from brain._tuples import NamedTuple
from brain.index.db import CREATED, K1, Index, marks, owned
from brain.index.read import Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.index.db import Owners

WEIGHTS = {  # of the columns of each table
    "notes": (4.0, 4.0, 2.0, 1.0, 1.0, 1.0),
    "passages": (1.0, 0.5, 1.0),  # a heading is in the text of its passage, too
    "turns": (1.0,),
    "entries": (2.0, 1.5, 1.2, 1.0, 1.0),
    "characters": (1.0,),
}
_LEAST = 1e-6  # the idf that FTS5 gives a word that is in most rows
_MOST = 10_000  # ids in one statement, whose length has a limit


def size(index: Index, table: str, owners: Owners = None) -> int:
    """Return how many rows a table has that may be read."""
    every = int(index.value(f"SELECT count(*) FROM {table}_fts_docsize"))
    if owners is None:
        return every
    rows, sort = ("files", "scope = 'sources'") if table == "notes" else ("entries", "sort = ?")
    hidden, values = _hidden(owners, rows)
    given = (*values, table) if table != "notes" else values
    return every - int(index.value(f"SELECT count(*) FROM {hidden} AND {sort}", given))


def count(index: Index, table: str, match: str, owners: Owners = None, most: int = -1) -> int:
    """Return how many rows match and may be read; `most` at most, which is cheaper to find out."""
    visible, values = _visible(table, owners)
    some = f"SELECT 1 FROM {table}_fts WHERE {table}_fts MATCH ?{visible} LIMIT {most:d}"
    return int(index.value(f"SELECT count(*) FROM ({some})", (match, *values)))


def saturations(
    index: Index, table: str, match: str, owners: Owners = None
) -> list[tuple[int, float]]:
    """Return (row id, how much of one phrase the row holds, from 0 to 1) of the rows that match
    and may be read: bm25 without the idf that FTS5 has in it."""
    weights = ", ".join(map(str, WEIGHTS[table]))
    visible, values = _visible(table, owners)
    where = f"FROM {table}_fts WHERE {table}_fts MATCH ?{visible}"
    if index.fts == "fts4":
        sql = f"SELECT rowid, saturation(matchinfo({table}_fts, 'pcalx'), {weights}) {where}"
        return index.rows(sql, (match, *values))
    rows = index.rows(f"SELECT rowid, -bm25({table}_fts, {weights}) {where}", (match, *values))
    every = int(index.value(f"SELECT count(*) FROM {table}_fts_docsize"))
    found = count(index, table, match) if visible else len(rows)
    idf = max(_LEAST, math.log((every - found + 0.5) / (found + 0.5)))
    scale = 1 / idf / (K1 + 1)
    return [(id, rank * scale) for id, rank in rows]


def matching(index: Index, table: str, match: str, owners: Owners = None) -> list[int]:
    """Return the ids of the rows that match and may be read."""
    visible, values = _visible(table, owners)
    sql = f"SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ?{visible}"
    return [id for (id,) in index.rows(sql, (match, *values))]


def best(index: Index, table: str, match: str, owners: Owners, most: int) -> list[int]:
    """Return the ids of the best rows that match any of several words and may be read."""
    visible, values = _visible(table, owners)
    rank = "ORDER BY rank" if index.fts == "fts5" else ""
    sql = f"SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ?{visible} {rank} LIMIT {most:d}"
    return [id for (id,) in index.rows(sql, (match, *values))]


def _visible(table: str, owners: Owners) -> tuple[str, Sequence[str]]:
    """Return the further condition that a row of full text may be read, and its values."""
    if owners is None:
        return "", ()
    hidden, values = _hidden(owners, "files" if table == "notes" else "entries")
    return f" AND NOT EXISTS (SELECT 1 FROM {hidden} AND id = {table}_fts.rowid)", values


def _hidden(owners: Sequence[str], rows: str) -> tuple[str, Sequence[str]]:
    """Return the files or entries of others than these owners, as the end of a statement; from an
    index of their own if what everyone may read is among the rest."""
    others = f"agent NOT IN {marks(owners)}"
    if {"", "admin"} <= set(owners):
        index = f"{rows} INDEXED BY {rows}_owned"
        return f"{index} WHERE agent NOT IN ('', 'admin') AND {others}", owners
    return f"{rows} WHERE {others}", owners


def _listed(ids: Iterable[int]) -> str:
    """Return row ids as a list in SQL. There may be more than SQLite has placeholders."""
    return f"({','.join(map(str, ids))})"


def _in_steps(index: Index, sql: str, ids: Sequence[int], rest: str = "") -> list[Any]:
    """Return the rows of a statement that ends in `IN`, for some of these ids at a time."""
    found: list[Any] = []
    for at in range(0, len(ids), _MOST):
        found += index.rows(f"{sql} {_listed(ids[at : at + _MOST])}{rest}")
    return found


# -- from rows of full text to entries -------------------------------------------------------------


class Found(NamedTuple):
    """An entry before it is ranked: only what ranking needs."""

    id: int
    file: int
    sort: str
    scope: str
    created: str
    path: str
    line: int
    place: int  # in its session
    siblings: int
    speaker: str  # of a turn
    text: str  # of a turn


_FOUND = f"""SELECT c.id, c.file, c.sort, c.scope, iif(c.scope = 'sources', '', {CREATED}),
    c.path, c.line, c.place, c.siblings, iif(c.sort = 'turns', c.heading, ''),
    iif(c.sort = 'turns', c.text, '')"""


def entries(index: Index, ids: Sequence[int], filters: Filters) -> list[Found]:
    """Return those of these entries that pass the filters; dates of notes are slow, so left out."""
    where, values = filters.where(index)
    joined = "FROM entries c JOIN files f ON f.id = c.file"
    rows = index.rows(f"{_FOUND} {joined} WHERE c.id IN {_listed(ids)} AND {where}", values)
    make = tuple.__new__  # without Found's own way of taking arguments: there are many
    return [make(Found, row) for row in rows]


def notes_of(index: Index, passages: Sequence[int]) -> dict[int, int]:
    """Return the note of each of these passages."""
    sql = "SELECT id, file FROM entries INDEXED BY entries_note WHERE id IN"
    return dict(_in_steps(index, sql, passages))


def first_passages(index: Index, notes: Sequence[int]) -> dict[int, int]:
    """Return the first passage of each of these notes."""
    sql = "SELECT file, id FROM (SELECT file, id, min(start) FROM entries WHERE file IN"
    return dict(_in_steps(index, sql, notes, " GROUP BY file)"))


def sorts(index: Index, ids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Return (table of full text, file) of each of these entries."""
    rows = _in_steps(index, "SELECT id, sort, file FROM entries WHERE id IN", ids)
    return {id: (sort, file) for id, sort, file in rows}


def spoken(index: Index, names: Sequence[str], owners: Owners) -> dict[int, int]:
    """Return the number of turns of these speakers, named as written, by session."""
    visible, values = owned(owners)
    sql = f"""SELECT c.file, count(*) FROM entries c INDEXED BY entries_speaker
        WHERE c.scope = 'sessions' AND c.heading IN {marks(names)}{visible} GROUP BY 1"""
    return dict(index.rows(sql, (*names, *values)))


def turns_of(index: Index, sessions: Sequence[int]) -> dict[int, range]:
    """Return the row ids of the turns of each of these sessions, which are in a row."""
    sql = "SELECT file, min(id), count(*) FROM entries WHERE file IN"
    rows = _in_steps(index, sql, sessions, " GROUP BY file")
    return {file: range(first, first + many) for file, first, many in rows}


def sessions(index: Index, owners: Owners) -> int:
    """Return how many sessions may be read."""
    visible, values = owned(owners, "f")
    sql = f"SELECT count(*) FROM files f WHERE f.scope = 'sessions'{visible}"
    return int(index.value(sql, values))


def digests(index: Index, notes: Sequence[int]) -> dict[int, bytes]:
    """Return the digest of each of these notes: equal notes have equal ones."""
    return dict(_in_steps(index, "SELECT id, digest FROM files WHERE id IN", notes))


def texts(
    index: Index, table: str, match: str, letters: str, in_tags: bool, filters: Filters
) -> list[tuple[int, str, str]]:
    """Return (id, tags, all other text with the path behind it) of entries that match, pass the
    filters and hold these letters, which are in lower case; of very many, the first."""
    where, values = filters.where(index)
    rest = "c.heading || char(10) || c.text || char(10) || c.path"
    by = "c.file" if table == "notes" else "c.id"
    held = "c.tags" if in_tags else rest
    if letters.isascii():
        where, values = f"{where} AND instr(lower({held}), ?)", [*values, letters]
    sql = f"""SELECT c.id, c.tags, {rest} FROM {table}_fts t
        CROSS JOIN entries c ON {by} = t.rowid CROSS JOIN files f ON f.id = c.file
        WHERE {table}_fts MATCH ? AND {where} LIMIT 5000"""
    return index.rows(sql, (match, *values))


def ends(index: Index, path: str, filters: Filters) -> list[tuple[int, str, str]]:
    """Return the same of the first passages of notes whose path holds this, in lower case."""
    where, values = filters.where(index)
    sql = f"""SELECT c.id, c.tags, char(10) || c.path, min(c.start) FROM files f
        JOIN entries c ON c.file = f.id WHERE f.scope = 'sources' AND instr(lower(f.path), ?)
        AND {where} GROUP BY f.id LIMIT 1000"""
    return [row[:3] for row in index.rows(sql, (path, *values))]


def any_matches(index: Index, table: str, match: str, filters: Filters) -> bool:
    """Return True if an entry matches and passes the filters."""
    where, values = filters.where(index)
    sql = f"""SELECT 1 FROM {table}_fts CROSS JOIN entries c ON c.id = {table}_fts.rowid
        CROSS JOIN files f ON f.id = c.file WHERE {table}_fts MATCH ? AND {where} LIMIT 1"""
    return index.value(sql, (match, *values)) is not None


def vocabulary(index: Index, first: str) -> set[str]:
    """Return the words of full text that begin with this letter, as they are indexed."""
    found: set[str] = set()
    for table in ("passages", "turns", "entries"):
        name = f"{table}_words"
        vocabulary = f"fts5vocab(main, {table}_fts, row)"
        index.rows(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name} USING {vocabulary}")
        sql = f"SELECT term FROM temp.{name} WHERE term >= ? AND term < ?"
        found.update(term for (term,) in index.rows(sql, (first, f"{first}\U0010ffff")))
    return found


def speakers(index: Index, owners: tuple[str, ...] | None = None, most: int = 200) -> list[str]:
    """Return the speakers of the sessions, of all or of these owners; the first `most` of them."""
    heard = "1"
    if owners is not None:
        heard = f"""EXISTS (SELECT 1 FROM entries WHERE scope = 'sessions' AND heading = name
            AND agent IN {marks(owners)})"""
    sql = f"""
        WITH RECURSIVE one (name) AS (
            SELECT min(heading) FROM entries WHERE scope = 'sessions' UNION ALL
            SELECT (SELECT min(heading) FROM entries WHERE scope = 'sessions' AND heading > name)
            FROM one WHERE name IS NOT NULL
        ) SELECT name FROM one WHERE name != '' AND {heard} LIMIT {most:d}
    """
    return [name for (name,) in index.rows(sql, owners or ())]


def any_feedback(index: Index) -> bool:
    """Return True if any memory has feedback."""
    return index.value("SELECT 1 FROM facts LIMIT 1") is not None


def feedback(index: Index, ids: Sequence[int]) -> dict[int, tuple[float, str]]:
    """Return (score, time of the last reinforcement or update) of entries that have feedback."""
    some = f"c.id IN {_listed(ids)} AND c.scope = 'memory'"
    found = index.rows(
        f"SELECT c.id, k.score, k.touched FROM entries c JOIN facts k ON k.ref = c.ref"
        f" WHERE {some} UNION ALL SELECT c.id, k.score, k.touched FROM entries c"
        f" JOIN aliases a ON a.ref = c.ref AND a.class != c.ref JOIN facts k ON k.ref = a.class"
        f" WHERE {some}"
    )
    return {id: (score, touched) for id, score, touched in found}


def from_source(index: Index, source: str, owners: Owners) -> list[int]:
    """Return the row ids of memories whose journal names this source, and that may be read."""
    visible, values = owned(owners)
    sql = f"""SELECT c.id FROM facts k JOIN entries c ON c.ref = k.ref OR c.ref IN
        (SELECT a.ref FROM aliases a WHERE a.class = k.ref)
        WHERE k.source = ? AND c.scope = 'memory'{visible}"""
    return [id for (id,) in index.rows(sql, (source, *values))]


def titled(index: Index, words: str, most: int = 1_000) -> list[tuple[int, str, str]]:
    """Return (note, title, path) of notes with these words in their name; of very many, the
    first."""
    both = f'{{title aliases}} : "{words}"' if index.fts == "fts5" else f'"{words}"'
    sql = f"""SELECT f.id, f.title, f.path FROM notes_fts n CROSS JOIN files f ON f.id = n.rowid
        WHERE notes_fts MATCH ? LIMIT {most:d}"""
    return index.rows(sql, (both,))


def tagged(index: Index, tag: str, most: int = 1_000) -> list[int]:
    """Return the row ids of entries that have this tag; of very many, the first."""
    sql = f"SELECT id FROM entries WHERE instr(' ' || tags || ' ', ?) LIMIT {most:d}"
    return [id for (id,) in index.rows(sql, (f" {tag} ",))]


# -- memories with the same words ------------------------------------------------------------------

_COMMON = 300  # memories with a word; one that more have is looked up with the next word, if at all
_ENOUGH = 4  # words that are not common


def sharing(index: Index, words: Sequence[str], owners: Owners, most: int) -> list[tuple[int, str]]:
    """Return (row id, text) of the memories that share most of these words, at most `most`.

    The words are single ones, in lower case and in their order. Words that many memories have are
    not looked up alone, so that the cost does not grow with the number of memories.
    """
    found = [_in_text(index, [word], owners) for word in words]
    shared = Counter(id for ids in found if len(ids) <= _COMMON for id in ids)
    if sum(len(ids) <= _COMMON for ids in found) < _ENOUGH:
        for at, (word, following) in enumerate(pairwise(words)):
            if len(found[at]) > _COMMON:
                shared.update(_in_text(index, [word, following], owners)[:_COMMON])
    # of those that share as many, the newest
    best = sorted(shared, key=lambda id: (-shared[id], -id))[:most]
    visible, values = owned(owners)
    where = f"c.id IN {_listed(best)} AND c.scope = 'memory'{visible}"
    rows = dict(index.rows(f"SELECT c.id, c.text FROM entries c WHERE {where}", values))
    return [(id, rows[id]) for id in best if id in rows]


def _in_text(index: Index, words: Sequence[str], owners: Owners) -> list[int]:
    """Return the ids of entries that may be read and whose text has all these words; some of very
    many."""
    quote = "" if index.fts == "fts4" else '"'
    match = " ".join(f"text:{quote}{word}{quote}" for word in words)
    visible, values = _visible("entries", owners)
    sql = f"SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?{visible} LIMIT {_COMMON + 1:d}"
    return [id for (id,) in index.rows(sql, (match, *values))]
