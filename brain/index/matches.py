"""What full text finds, and what a rank is made of: matches, how common they are, whose they are.

What may not be seen is known here only as a number of rows to leave out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from brain.index.db import CREATED, FULL_TEXTS, Index, marks, owned
from brain.index.read import Filters
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.db import Owners

_LIGHT = f"""SELECT c.id, c.scope, iif(c.scope = 'sources', '', {CREATED}),
    c.path, c.line, c.place, c.siblings, iif(c.scope = 'sessions', c.heading, ''),
    iif(c.scope IN ('sessions', 'memory'), c.text, '')"""
WORDS, SPACED = FULL_TEXTS  # where words are looked up, and characters of scripts without spaces
K1, B = 1.2, 0.75  # of bm25, as in FTS5
_MOST = 10_000  # ids in one statement, whose length has a limit


def _listed(ids: Iterable[int]) -> str:
    """Return row ids as a list in SQL. There may be more than SQLite has placeholders."""
    return f"({','.join(map(str, ids))})"


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


def size(index: Index, table: str = WORDS) -> int:
    """How many chunks there are, or how many a table of full text holds."""
    rows = "chunks" if table == WORDS else f"{table}_docsize"  # whose rows are the shortest
    return int(index.value(f"SELECT count(*) FROM {rows}"))


def frequency(index: Index, match: str, most: int, table: str = WORDS) -> int:
    """How many chunks match; `most` + 1 for more than that, which is cheaper to find out."""
    some = f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT {most + 1:d}"
    return int(index.value(f"SELECT count(*) FROM ({some})", (match,)))


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
    rank = f"rank_bm25(matchinfo({table}, 'pcnalx'))"
    if index.fts != "fts4":
        own = weights[:-1] if table == WORDS else weights[-1:]
        rank = f"bm25({table}, {', '.join(str(float(weight)) for weight in own)})"
    later = f" AND rowid > {after:d}" if after >= 0 else ""
    sql = f"SELECT rowid, -{rank} FROM {table} WHERE {table} MATCH ?{later} LIMIT {most:d}"
    return dict(index.rows(sql, (match,)))


def weighed_alike(index: Index, match: str, table: str) -> dict[int, float]:
    """As `weighed`, for FTS4, as if what matches were equally common in every column: how common
    it is cannot be taken out of its own bm25."""
    index.db.create_function("rank_alike", 1, _alike, deterministic=True)
    sql = f"SELECT rowid, rank_alike(matchinfo({table}, 'pcalx')) FROM {table}"
    return dict(index.rows(f"{sql} WHERE {table} MATCH ?", (match,)))


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
    if ids is None:
        return {id for (id,) in index.rows(whose, owners)}
    every, found = list(ids), set()
    for at in range(0, len(every), _MOST):
        some = _listed(every[at : at + _MOST])
        found |= {id for (id,) in index.rows(f"{whose} AND id IN {some}", owners)}
    return found


def count_hidden(index: Index, owners: Sequence[str]) -> int:
    """How many chunks belong to others than these owners."""
    return int(index.value(f"SELECT count(*) FROM {_of_others(owners)}", owners))


def _of_others(owners: Sequence[str]) -> str:
    """Chunks of others than these; by their own index if what everybody may read is theirs."""
    others = f"agent NOT IN {marks(owners)}"
    if {"", "admin"} <= set(owners):
        return f"chunks INDEXED BY chunks_owned WHERE agent NOT IN ('', 'admin') AND {others}"
    return f"chunks WHERE {others}"


def matching(index: Index, match: str, table: str = WORDS) -> set[int]:
    """The row ids of all matches, not ranked."""
    rows = index.rows(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (match,))
    return {id for (id,) in rows}


def any_matches(index: Index, match: str, filters: Filters) -> bool:
    """Does anything match that passes the filters?"""
    where, values = filters.where(index)
    sql = f"""SELECT 1 FROM {WORDS} CROSS JOIN chunks c ON c.id = {WORDS}.rowid
        CROSS JOIN files f ON f.id = c.file WHERE {WORDS} MATCH ? AND {where} LIMIT 1"""
    return index.value(sql, (match, *values)) is not None


def terms(index: Index) -> Callable[[str], str | None]:
    """Return a function to the first word of the full text that is not before a given one."""
    index.rows(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms"
        f" USING fts5vocab('main', '{WORDS}', 'instance')"
    )

    def after(at: str) -> str | None:
        sql = "SELECT term FROM temp.terms WHERE term >= ? LIMIT 1"
        found: str | None = index.value(sql, (at,))
        return found

    return after


def candidates(index: Index, ids: Sequence[int], filters: Filters) -> list[Candidate]:
    """Return those of these chunks that pass the filters; dates of notes are slow, so left out."""
    where, values = filters.where(index)
    joined = "FROM chunks c JOIN files f ON f.id = c.file"
    rows = index.rows(f"{_LIGHT} {joined} WHERE c.id IN {_listed(ids)} AND {where}", values)
    make = tuple.__new__  # without Candidate's own way of taking arguments: there are many
    return [make(Candidate, row) for row in rows]


def speakers(index: Index, owners: tuple[str, ...] | None = None, most: int = 200) -> list[str]:
    """Return who speaks in the sessions, of all or of these owners; the first `most` of them."""
    heard = "1"
    if owners is not None:
        heard = f"""EXISTS (SELECT 1 FROM chunks WHERE scope = 'sessions' AND heading = name
            AND agent IN {marks(owners)})"""
    sql = f"""
        WITH RECURSIVE one (name) AS (
            SELECT min(heading) FROM chunks WHERE scope = 'sessions' UNION ALL
            SELECT (SELECT min(heading) FROM chunks WHERE scope = 'sessions' AND heading > name)
            FROM one WHERE name IS NOT NULL
        ) SELECT name FROM one WHERE name != '' AND {heard} LIMIT {most:d}
    """
    return [name for (name,) in index.rows(sql, owners or ())]


def any_feedback(index: Index) -> bool:
    """Has anybody ever judged a memory?"""
    return index.value("SELECT 1 FROM facts LIMIT 1") is not None


def feedback(index: Index, ids: Sequence[int]) -> dict[int, tuple[float, str]]:
    """(score, when it was last reinforced or updated) of those of these chunks that have any."""
    some = f"c.id IN {_listed(ids)} AND c.scope = 'memory'"
    found = index.rows(
        f"SELECT c.id, k.score, k.touched FROM chunks c JOIN facts k ON k.ref = c.ref"
        f" WHERE {some} UNION ALL SELECT c.id, k.score, k.touched FROM chunks c"
        f" JOIN aliases a ON a.ref = c.ref AND a.class != c.ref JOIN facts k ON k.ref = a.class"
        f" WHERE {some}"
    )
    return {id: (score, touched) for id, score, touched in found}


def holding(index: Index, ids: Sequence[int], said: str, is_tag: bool) -> list[int]:
    """Those of these chunks that have this tag, or hold these letters, given in lower case."""
    where = "heading || char(10) || text || char(10) || path"
    if is_tag:
        where, said = "' ' || tags || ' '", f" {said} "
    sql = f"SELECT id FROM chunks WHERE id IN {_listed(ids)} AND instr(lower({where}), ?)"
    return [id for (id,) in index.rows(sql, (said,))]


def tagged(index: Index, tag: str, most: int = 1_000) -> list[int]:
    """The row ids of chunks that have this tag; of very many, the first."""
    sql = f"SELECT id FROM chunks WHERE instr(' ' || tags || ' ', ?) LIMIT {most:d}"
    return [id for (id,) in index.rows(sql, (f" {tag} ",))]


def beginnings(index: Index, ids: Sequence[int]) -> list[tuple[int, str]]:
    """(row id, path) of those of these chunks that begin a note."""
    where = f"id IN {_listed(ids)} AND line = 1 AND scope = 'sources'"
    return index.rows(f"SELECT id, path FROM chunks WHERE {where}")


def named(index: Index, words: str, most: int = 1_000) -> list[tuple[int, str]]:
    """Return (row id, path) of notes with these words in their path; of very many, the first."""
    column = "path:" if index.fts == "fts5" else ""
    sql = f"""SELECT c.id, c.path FROM {WORDS} CROSS JOIN chunks c ON c.id = {WORDS}.rowid
        WHERE {WORDS} MATCH ? AND c.line = 1 AND c.scope = 'sources' LIMIT {most:d}"""
    return index.rows(sql, (f'{column}"{words}"',))


def haystacks(index: Index, ids: Sequence[int], texts: bool = True) -> list[tuple[int, str, str]]:
    """Return (row id, tags, all other text) of these chunks; without the text if not wanted."""
    rest = "heading || char(10) || text || char(10) || path" if texts else "''"
    return index.rows(f"SELECT id, tags, {rest} FROM chunks WHERE id IN {_listed(ids)}")


# -- memories with the same words ------------------------------------------------------------------

_COMMON = 300  # memories with a word; one that more have is looked up with the next word, if at all
_ENOUGH = 4  # words that are not common
_RANGES, _GAP = 8, 1_000  # ranges of row ids at most, and rows between them at least


def sharing(index: Index, words: Sequence[str], owners: Owners, most: int) -> list[tuple[int, str]]:
    """Return (row id, text) of the memories that share most of these words, at most `most`.

    The words are single ones, in lower case and in their order. Words that many memories have are
    not looked up alone, so that the cost does not grow with the number of memories.
    """
    ranges = _memory_ranges(index, owners)
    found = [_in_text(index, [word], ranges) for word in words]
    shared = Counter(id for ids in found if len(ids) <= _COMMON for id in ids)
    if sum(len(ids) <= _COMMON for ids in found) < _ENOUGH:
        for at, (word, following) in enumerate(pairwise(words)):
            if len(found[at]) > _COMMON:
                shared.update(_in_text(index, [word, following], ranges)[:_COMMON])
    # of those that share as many, the newest
    best = sorted(shared, key=lambda id: (-shared[id], -id))[:most]
    visible, values = owned(owners)
    where = f"c.id IN {_listed(best)} AND c.scope = 'memory'{visible}"
    rows = dict(index.rows(f"SELECT c.id, c.text FROM chunks c WHERE {where}", values))
    return [(id, rows[id]) for id in best if id in rows]


def _in_text(index: Index, words: Sequence[str], ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the row ids in these ranges whose text has all these words; some of very many."""
    quote = "" if index.fts == "fts4" else '"'
    match = " ".join(f"text:{quote}{word}{quote}" for word in words)
    sql = f"SELECT rowid FROM {WORDS} WHERE {WORDS} MATCH ? AND rowid BETWEEN ? AND ?"
    found: list[int] = []
    for first, last in ranges:
        rows = index.rows(f"{sql} LIMIT {_COMMON + 1 - len(found):d}", (match, first, last))
        found += [id for (id,) in rows]
        if len(found) > _COMMON:
            break
    return found


def _memory_ranges(index: Index, owners: Owners) -> list[tuple[int, int]]:
    """Return ranges of row ids that contain all memories, at most _RANGES: the rows of one note
    follow each other, and the widest gaps between notes are left out.

    Full text finds the rows of a range without reading those of source notes.
    """
    visible, values = owned(owners, "f")
    found = index.rows(
        f"""SELECT (SELECT min(id) FROM chunks WHERE file = f.id) AS first,
            (SELECT max(id) FROM chunks WHERE file = f.id) FROM files f
            WHERE f.scope = 'memory' AND f.scope IN ('memory', 'items'){visible}
            AND first IS NOT NULL ORDER BY first""",
        values,
    )
    gaps = {at: found[at][0] - found[at - 1][1] for at in range(1, len(found))}
    widest = sorted((at for at in gaps if gaps[at] > _GAP), key=lambda at: -gaps[at])
    starts = [0, *sorted(widest[: _RANGES - 1]), len(found)]
    spans = pairwise(starts)
    return [(found[start][0], found[stop - 1][1]) for start, stop in spans if start < stop]
