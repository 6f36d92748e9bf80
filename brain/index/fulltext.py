"""Query the full text: matching rows, their saturation, and counts.

Every statement reads and counts only rows of the given `owners` (None: all).
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

WEIGHTS = {  # weights of the columns, by table
    "notes": (4.0, 4.0, 2.0, 1.0, 1.0, 1.0),
    "passages": (1.0, 0.5, 1.0),  # the text of a passage includes its heading
    "turns": (1.0,),
    "entries": (2.0, 1.5, 1.2, 1.0, 1.0),
    "characters": (1.0,),
}
_MIN_IDF = 1e-6  # the idf of FTS5 for a word that is in most rows
_MAX_IDS = 10_000  # in one statement, because its length is limited


def size(index: Index, table: str, owners: Owners = None) -> int:
    """Return the number of rows of these owners in a table."""
    total = int(index.value(f"SELECT count(*) FROM {table}_fts_docsize"))
    if owners is None:
        return total
    rows, sort = ("files", "scope = 'sources'") if table == "notes" else ("entries", "sort = ?")
    hidden_rows, values = _hidden(owners, rows)
    all_values = (*values, table) if table != "notes" else values
    return total - int(index.value(f"SELECT count(*) FROM {hidden_rows} AND {sort}", all_values))


def count(index: Index, table: str, match: str, owners: Owners = None, most: int = -1) -> int:
    """Return the number of matching rows. A limit (`most`) makes this faster."""
    visible, values = _visible(table, owners)
    limited = f"SELECT 1 FROM {table}_fts WHERE {table}_fts MATCH ?{visible} LIMIT {most:d}"
    return int(index.value(f"SELECT count(*) FROM ({limited})", (match, *values)))


def saturations(
    index: Index, table: str, match: str, owners: Owners = None
) -> list[tuple[int, float]]:
    """Return (row id, saturation) of the rows that match a phrase. The saturation, from 0 to 1, is
    the bm25 of FTS5 without the idf."""
    weights = ", ".join(map(str, WEIGHTS[table]))
    visible, values = _visible(table, owners)
    where = f"FROM {table}_fts WHERE {table}_fts MATCH ?{visible}"
    if index.fts == "fts4":
        sql = f"SELECT rowid, saturation(matchinfo({table}_fts, 'pcalx'), {weights}) {where}"
        return index.rows(sql, (match, *values))
    rows = index.rows(f"SELECT rowid, -bm25({table}_fts, {weights}) {where}", (match, *values))
    total = int(index.value(f"SELECT count(*) FROM {table}_fts_docsize"))
    matching_rows = count(index, table, match) if visible else len(rows)
    idf = max(_MIN_IDF, math.log((total - matching_rows + 0.5) / (matching_rows + 0.5)))
    scale = 1 / idf / (K1 + 1)
    return [(id, rank * scale) for id, rank in rows]


def matching(index: Index, table: str, match: str, owners: Owners = None) -> list[int]:
    """Return the ids of the matching rows."""
    visible, values = _visible(table, owners)
    sql = f"SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ?{visible}"
    return [id for (id,) in index.rows(sql, (match, *values))]


def best(index: Index, table: str, match: str, owners: Owners, most: int) -> list[int]:
    """Return the ids of at most `most` rows that match any of several words, the best ones."""
    visible, values = _visible(table, owners)
    rank = "ORDER BY rank" if index.fts == "fts5" else ""
    sql = f"SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ?{visible} {rank} LIMIT {most:d}"
    return [id for (id,) in index.rows(sql, (match, *values))]


def _visible(table: str, owners: Owners) -> tuple[str, Sequence[str]]:
    """Return the condition ` AND …` that a row belongs to these owners, and its values."""
    if owners is None:
        return "", ()
    hidden, values = _hidden(owners, "files" if table == "notes" else "entries")
    return f" AND NOT EXISTS (SELECT 1 FROM {hidden} AND id = {table}_fts.rowid)", values


def _hidden(owners: Sequence[str], rows: str) -> tuple[str, Sequence[str]]:
    """Return the end of a statement that selects the files or entries of other owners, and its
    values. The statement uses a small index if `owners` include the admin and '' (no owner)."""
    others = f"agent NOT IN {marks(owners)}"
    if {"", "admin"} <= set(owners):
        index = f"{rows} INDEXED BY {rows}_owned"
        return f"{index} WHERE agent NOT IN ('', 'admin') AND {others}", owners
    return f"{rows} WHERE {others}", owners


def _id_list(ids: Iterable[int]) -> str:
    """Return row ids as an SQL list, because there may be too many for placeholders."""
    return f"({','.join(map(str, ids))})"


def _in_steps(index: Index, sql: str, ids: Sequence[int], rest: str = "") -> list[Any]:
    """Return the rows of a statement that ends in `IN`, executed for at most _MAX_IDS at a time."""
    found: list[Any] = []
    for start in range(0, len(ids), _MAX_IDS):
        found += index.rows(f"{sql} {_id_list(ids[start : start + _MAX_IDS])}{rest}")
    return found


# -- from rows of full text to entries -------------------------------------------------------------


class Found(NamedTuple):
    """A match: the fields of an entry that ranking needs."""

    id: int
    file: int
    sort: str
    scope: str
    created: str
    path: str
    line: int
    place: int  # the number of a turn in its session
    siblings: int  # the number of turns in the session
    speaker: str  # of a turn; else ''
    text: str  # of a turn; else ''


_FOUND = f"""SELECT c.id, c.file, c.sort, c.scope, iif(c.scope = 'sources', '', {CREATED}),
    c.path, c.line, c.place, c.siblings, iif(c.sort = 'turns', c.heading, ''),
    iif(c.sort = 'turns', c.text, '')"""


def entries(index: Index, ids: Sequence[int], filters: Filters) -> list[Found]:
    """Return the entries with these ids that pass the filters. `created` is '' for notes, because
    finding it out is slow."""
    where, values = filters.where(index)
    joined = "FROM entries c JOIN files f ON f.id = c.file"
    rows = index.rows(f"{_FOUND} {joined} WHERE c.id IN {_id_list(ids)} AND {where}", values)
    make = tuple.__new__  # faster than the constructor
    return [make(Found, row) for row in rows]


def notes_of(index: Index, passages: Sequence[int]) -> dict[int, int]:
    """Return the id of the note of each passage."""
    sql = "SELECT id, file FROM entries INDEXED BY entries_note WHERE id IN"
    return dict(_in_steps(index, sql, passages))


def first_passages(index: Index, notes: Sequence[int]) -> dict[int, int]:
    """Return the id of the first passage of each note."""
    sql = "SELECT file, id FROM (SELECT file, id, min(start) FROM entries WHERE file IN"
    return dict(_in_steps(index, sql, notes, " GROUP BY file)"))


def tables_and_files(index: Index, ids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Return (full-text table, file) of each entry."""
    rows = _in_steps(index, "SELECT id, sort, file FROM entries WHERE id IN", ids)
    return {id: (sort, file) for id, sort, file in rows}


def turn_counts(index: Index, names: Sequence[str], owners: Owners) -> dict[int, int]:
    """Return the number of turns of these speakers, by session. Names are compared exactly."""
    visible, values = owned(owners)
    sql = f"""SELECT c.file, count(*) FROM entries c INDEXED BY entries_speaker
        WHERE c.scope = 'sessions' AND c.heading IN {marks(names)}{visible} GROUP BY 1"""
    return dict(index.rows(sql, (*names, *values)))


def turns_of(index: Index, sessions: Sequence[int]) -> dict[int, range]:
    """Return the row ids of the turns of each session, which are consecutive."""
    sql = "SELECT file, min(id), count(*) FROM entries WHERE file IN"
    rows = _in_steps(index, sql, sessions, " GROUP BY file")
    return {file: range(first, first + turn_count) for file, first, turn_count in rows}


def sessions(index: Index, owners: Owners) -> int:
    """Return the number of sessions."""
    visible, values = owned(owners, "f")
    sql = f"SELECT count(*) FROM files f WHERE f.scope = 'sessions'{visible}"
    return int(index.value(sql, values))


def digests(index: Index, notes: Sequence[int]) -> dict[int, bytes]:
    """Return the digest of the content of each note that has text."""
    has_text = " AND EXISTS (SELECT 1 FROM entries WHERE file = files.id AND text != '')"
    return dict(_in_steps(index, "SELECT id, digest FROM files WHERE id IN", notes, has_text))


def texts(
    index: Index, table: str, match: str, letters: str, in_tags: bool, filters: Filters
) -> list[tuple[int, str, str]]:
    """Return (id, tags, heading with text and path) of at most 5,000 entries that match, pass the
    filters, and contain these letters (in lower case), if the letters are ASCII."""
    where, values = filters.where(index)
    other_text = "c.heading || char(10) || c.text || char(10) || c.path"
    join_column = "c.file" if table == "notes" else "c.id"
    searched = "c.tags" if in_tags else other_text
    if letters.isascii():
        where, values = f"{where} AND instr(lower({searched}), ?)", [*values, letters]
    sql = f"""SELECT c.id, c.tags, {other_text} FROM {table}_fts t
        CROSS JOIN entries c ON {join_column} = t.rowid CROSS JOIN files f ON f.id = c.file
        WHERE {table}_fts MATCH ? AND {where} LIMIT 5000"""
    return index.rows(sql, (match, *values))


def notes_by_path(index: Index, path: str, filters: Filters) -> list[tuple[int, str, str]]:
    """Return (id, tags, path) of the first passages of notes whose path in lower case contains the
    text `path`."""
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
    """Return the indexed words that begin with this letter."""
    found: set[str] = set()
    for table in ("passages", "turns", "entries"):
        name = f"{table}_words"
        module = f"fts5vocab(main, {table}_fts, row)"
        index.rows(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name} USING {module}")
        sql = f"SELECT term FROM temp.{name} WHERE term >= ? AND term < ?"
        found.update(term for (term,) in index.rows(sql, (first, f"{first}\U0010ffff")))
    return found


def speakers(index: Index, owners: tuple[str, ...] | None = None, most: int = 200) -> list[str]:
    """Return at most `most` speakers in the sessions of these owners."""
    is_visible = "1"
    if owners is not None:
        is_visible = f"""EXISTS (SELECT 1 FROM entries WHERE scope = 'sessions' AND heading = name
            AND agent IN {marks(owners)})"""
    sql = f"""
        WITH RECURSIVE one (name) AS (
            SELECT min(heading) FROM entries WHERE scope = 'sessions' UNION ALL
            SELECT (SELECT min(heading) FROM entries WHERE scope = 'sessions' AND heading > name)
            FROM one WHERE name IS NOT NULL
        ) SELECT name FROM one WHERE name != '' AND {is_visible} LIMIT {most:d}
    """
    return [name for (name,) in index.rows(sql, owners or ())]


def any_feedback(index: Index) -> bool:
    """Return True if any memory has feedback."""
    return index.value("SELECT 1 FROM facts LIMIT 1") is not None


def feedback(index: Index, ids: Sequence[int]) -> dict[int, tuple[float, str]]:
    """Return (score, time of the last reinforcement or update) of memories with feedback, by row
    id."""
    some = f"c.id IN {_id_list(ids)} AND c.scope = 'memory'"
    found = index.rows(
        f"SELECT c.id, k.score, k.touched FROM entries c JOIN facts k ON k.ref = c.ref"
        f" WHERE {some} UNION ALL SELECT c.id, k.score, k.touched FROM entries c"
        f" JOIN aliases a ON a.ref = c.ref AND a.class != c.ref JOIN facts k ON k.ref = a.class"
        f" WHERE {some}"
    )
    return {id: (score, touched) for id, score, touched in found}


def memories_from_source(index: Index, source: str, owners: Owners) -> list[int]:
    """Return the row ids of memories for which the journal records this source."""
    visible, values = owned(owners)
    sql = f"""SELECT c.id FROM facts k JOIN entries c ON c.ref = k.ref OR c.ref IN
        (SELECT a.ref FROM aliases a WHERE a.class = k.ref)
        WHERE k.source = ? AND c.scope = 'memory'{visible}"""
    return [id for (id,) in index.rows(sql, (source, *values))]


def titled(index: Index, words: str, most: int = 1_000) -> list[tuple[int, str, str]]:
    """Return (note, title, path) of at most `most` notes with these words in their title or
    aliases."""
    query = f'{{title aliases}} : "{words}"' if index.fts == "fts5" else f'"{words}"'
    sql = f"""SELECT f.id, f.title, f.path FROM notes_fts n CROSS JOIN files f ON f.id = n.rowid
        WHERE notes_fts MATCH ? LIMIT {most:d}"""
    return index.rows(sql, (query,))


def tagged(index: Index, tag: str, most: int = 1_000) -> list[int]:
    """Return the row ids of at most `most` entries with this tag."""
    sql = f"SELECT id FROM entries WHERE instr(' ' || tags || ' ', ?) LIMIT {most:d}"
    return [id for (id,) in index.rows(sql, (f" {tag} ",))]


# -- memories with the same words ------------------------------------------------------------------

_COMMON = 300  # a word in more memories than this is common
_ENOUGH = 4  # if a text has so many words that are not common, its common words are not looked up


def sharing(index: Index, words: Sequence[str], owners: Owners, most: int) -> list[tuple[int, str]]:
    """Return (row id, text) of at most `most` memories, those that share the most of these words.

    The words are distinct, in lower case and in their order in the text. A common word is looked up
    only together with the next word, so the time does not depend on the number of memories.
    """
    found = [_entries_with_words(index, [word], owners) for word in words]
    shared = Counter(id for ids in found if len(ids) <= _COMMON for id in ids)
    if sum(len(ids) <= _COMMON for ids in found) < _ENOUGH:
        for index_of_word, (word, following) in enumerate(pairwise(words)):
            if len(found[index_of_word]) > _COMMON:
                shared.update(_entries_with_words(index, [word, following], owners)[:_COMMON])
    # prefer newer memories among equals
    best = sorted(shared, key=lambda id: (-shared[id], -id))[:most]
    visible, values = owned(owners)
    where = f"c.id IN {_id_list(best)} AND c.scope = 'memory'{visible}"
    rows = dict(index.rows(f"SELECT c.id, c.text FROM entries c WHERE {where}", values))
    return [(id, rows[id]) for id in best if id in rows]


def _entries_with_words(index: Index, words: Sequence[str], owners: Owners) -> list[int]:
    """Return the ids of at most _COMMON + 1 entries whose text contains all these words."""
    quote = "" if index.fts == "fts4" else '"'
    match = " ".join(f"text:{quote}{word}{quote}" for word in words)
    visible, values = _visible("entries", owners)
    sql = f"SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?{visible} LIMIT {_COMMON + 1:d}"
    return [id for (id,) in index.rows(sql, (match, *values))]
