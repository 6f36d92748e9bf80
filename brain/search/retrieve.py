"""Find the rows of each table that contain a part of a question, and the share that they contain.

    held    = sum of weight x saturation of the concepts / sum of all weights
    covered = sum of the weights of the concepts that the row holds / sum of all weights
    share   = held x (0.7 + 0.3 x covered)

A weight is the idf of a concept, which counts only rows that the actor may read. In memories, items
and tasks, small talk weighs less. A saturation is bm25 without its idf, from 0 to 1.
A concept that no row contains is part of the sums, too.
"""

from __future__ import annotations

import math

from brain._tuples import NamedTuple
from brain.importance import SOURCES
from brain.index import fulltext
from brain.index.db import K1, B, Index
from brain.search.question import Concept, Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from brain.index.db import Owners

ALL_WEIGHT = 0.3  # part of a share that depends on how much of the question is covered
# The saturation of a common word is not computed for each passage. Instead, the passages that
# contain a rarer word get an average saturation.
COMMON = 0.1  # a word in more than this fraction of all passages is common
FEW = 2_000  # passages; the saturation of a word in fewer is always computed
COMMON_SATURATION = 0.45  # saturation of a word in a row of average length
# An identifier or a run of characters that no row contains weighs half, because its parts count as
# well. A pair of characters may be the end of one word and the start of the next.
UNKNOWN = 0.5
# The idf is computed as if there were so many more rows without the word. Otherwise, a word in all
# memories of a small vault would weigh almost nothing, although the question may be about it.
EXTRA_ROWS = 50
ENOUGH = 200  # passages with rarer words; if there are fewer, the best for any word are added
BEST = 2_000


class Basis:
    """The concepts of shares, with the number of rows in which each occurs, and its weight. With
    `topical`, small talk weighs less."""

    def __init__(
        self, concepts: Sequence[Concept], counts: Sequence[int], size: int, topical: bool = False
    ) -> None:
        self.concepts, self.counts, self.size = concepts, counts, size
        self.weights = [
            _weight(concept, count, size) * (concept.weight if topical else 1.0)
            for concept, count in zip(concepts, counts, strict=True)
        ]

    def covered(self, mask: int) -> float:
        """Return the fraction of the question that the concepts of a mask cover."""
        covered = sum(weight for bit, weight in enumerate(self.weights) if mask >> bit & 1)
        return covered / (sum(self.weights) or 1.0)


class Shares(NamedTuple):
    """Shares of a question, by row id. `masks` has a bit for each concept in the row."""

    scores: dict[int, float]
    masks: dict[int, int]
    basis: Basis


class Lookup:
    """Looks up one question in the index, for the owners that the actor may read."""

    def __init__(self, index: Index, owners: Owners, prefix: bool = False) -> None:
        self.index, self.owners, self.prefix = index, owners, prefix
        self._characters: dict[Term, list[tuple[str, int, int, float]]] = {}

    def shares(self, table: str, concepts: Sequence[Concept]) -> Shares:
        """Return the share of the question in each row of a table."""
        size = fulltext.size(self.index, table, self.owners)
        common = self._common(concepts, size) if table == "passages" else {}
        found = {c: self.saturations(table, c) for c in concepts if c not in common}
        if common:
            found |= self._common_rows(concepts, common, found)
        counts = [common[c] if c in common else len(found[c]) for c in concepts]
        basis = Basis(concepts, counts, size, topical=table == "entries")
        return combine([found[c] for c in concepts], basis)

    def saturations(self, table: str, concept: Concept) -> dict[int, float]:
        """Return the saturation of a concept in each row: the saturation of its best term."""
        best: dict[int, float] = {}
        for term, weight in concept.every:
            rows = self._rows(table, term)
            if not best and weight == 1.0:
                best = dict(rows)
                continue
            for row, value in rows:
                if value * weight > best.get(row, 0.0):
                    best[row] = value * weight
        return best

    def _rows(self, table: str, term: Term) -> list[tuple[int, float]]:
        rows: list[tuple[int, float]] = []
        if term.column != "spaced":
            expression = match(term, table, self.prefix, self.index.fts)
            rows = fulltext.saturations(self.index, table, expression, self.owners)
            source = "_".join(term.words).lower()
            # the source is in the journal, not in the text
            if table == "entries" and source in SOURCES:
                known = dict(rows)
                more = fulltext.memories_from_source(self.index, source, self.owners)
                rows += [(id, COMMON_SATURATION) for id in more if id not in known]
            if len(term.words) > 1 or term.column:
                return rows
        return rows + self._glued(table, term)

    def _glued(self, table: str, term: Term) -> list[tuple[int, float]]:
        """Return the rows that contain characters of a script without spaces, or a word between
        them, because full text reads `我们用Redis做缓存` as one word. A note counts by its best
        passage."""
        if term not in self._characters:
            expression = match(term, "characters", self.prefix, self.index.fts)
            rows = fulltext.saturations(self.index, "characters", expression, self.owners)
            sorts = fulltext.tables_and_files(self.index, [id for id, _ in rows])
            self._characters[term] = [(*sorts[id], id, value) for id, value in rows]
        if table != "notes":
            return [(id, value) for sort, _, id, value in self._characters[term] if sort == table]
        best: dict[int, float] = {}
        for sort, note, _, value in self._characters[term]:
            if sort == "passages":
                best[note] = max(best.get(note, 0.0), value)
        return list(best.items())

    # -- common words ----------------------------------------------------------------------------

    def _common(self, concepts: Sequence[Concept], size: int) -> dict[Concept, int]:
        """Return the number of passages of each common concept."""
        limit = max(FEW, int(size * COMMON))
        if size <= limit:
            return {}
        plain = [c for c in concepts if all(term.column != "spaced" for term, _ in c.every)]
        limited_counts = {c: self._count(c, limit + 1) for c in plain}
        return {c: self._count(c) for c, count in limited_counts.items() if count > limit}

    def _count(self, concept: Concept, most: int = -1) -> int:
        expression = self._any([concept])
        return fulltext.count(self.index, "passages", expression, self.owners, most)

    def _common_rows(
        self,
        concepts: Sequence[Concept],
        common: Mapping[Concept, int],
        rare: Mapping[Concept, Mapping[int, float]],
    ) -> dict[Concept, dict[int, float]]:
        """Return the rows of common concepts among the passages that contain rarer ones."""
        index, owners = self.index, self.owners
        rows: set[int] = set().union(*rare.values()) if rare else set()
        limits = len(rows) >= ENOUGH and index.fts == "fts5"
        limit = f"({self._any(rare)}) AND " if limits else ""
        if len(rows) < ENOUGH:
            rows.update(fulltext.best(index, "passages", self._any(concepts), owners, BEST))
        found = {}
        for concept in common:
            expression = self._any([concept])
            if limit:
                expression = f"{limit}({expression})"
            matching = rows.intersection(fulltext.matching(index, "passages", expression))
            found[concept] = dict.fromkeys(matching, COMMON_SATURATION)
        return found

    def _any(self, concepts: Iterable[Concept]) -> str:
        terms = [term for c in concepts for term, _ in c.every if term.column != "spaced"]
        expressions = (match(term, "passages", self.prefix, self.index.fts) for term in terms)
        return " OR ".join(dict.fromkeys(expressions))


def combine(found: Sequence[Mapping[int, float]], basis: Basis) -> Shares:
    """Return the shares for the saturations of the concepts, by row id."""
    contained: dict[int, float] = {}
    masks: dict[int, int] = {}
    whole = sum(basis.weights) or 1.0
    for index, rows in enumerate(found):
        bit, weight = 1 << index, basis.weights[index] / whole
        for row, value in rows.items():
            contained[row] = contained.get(row, 0.0) + weight * value
            masks[row] = masks.get(row, 0) | bit
    complete = {
        mask: 1 - ALL_WEIGHT + ALL_WEIGHT * basis.covered(mask) for mask in set(masks.values())
    }
    scores = {row: value * complete[masks[row]] for row, value in contained.items()}
    return Shares(scores, masks, basis)


def saturation(count: float, length: float) -> float:
    """Return the saturation of a word that occurs `count` times, from 0 to 1, as in bm25. `length`
    is relative to the mean."""
    return count / (count + K1 * (1 - B + B * length))


def _weight(concept: Concept, count: int, size: int) -> float:
    """Return the weight of a concept that occurs in `count` of `size` rows: its inverse document
    frequency, half for an identifier or characters that occur nowhere."""
    term, rest = concept.term, max(size - count, 0) + EXTRA_ROWS
    has_parts = len(term.words) > 1 and not term.exact.startswith('"')
    idf = math.log(1 + (rest + 0.5) / (count + 0.5))
    return idf * (UNKNOWN if not count and has_parts else 1.0)


def match(term: Term, table: str, prefix: bool = False, engine: str = "fts5") -> str:
    """Return a term as an FTS expression with quoted words. With `prefix`, it matches the beginning
    of a word. FTS4 has no phrases in one column, and needs the star inside the quotes."""
    words, star = " ".join(term.words), "*" if prefix else ""
    if engine == "fts4":
        return f'"{words}{star}"'
    column = "tags:" if term.column == "tags" and table in ("notes", "entries") else ""
    return f'{column}"{words}"{star}'
