"""Which pieces hold what a question asks for, and how well: one look-up for each thing asked.

What is asked is a word with its other forms and aliases, or a phrase. Each is weighed by bm25 on
its own, so that a sum of them is the bm25 of them all, and it is known which piece holds which.
"""

from __future__ import annotations

import math

from brain.index import matches
from brain.index.db import Index
from brain.recall.concepts import Concept, table_of
from brain.recall.terms import Term, match
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 5_000  # matches that are weighed, all words together: bm25 takes two microseconds for each
FEW = 60  # fewer pieces that hold all words are not enough of an answer
SOME = 2_500  # of those that hold all of several words which are everywhere, so many will do
LISTED = 5_000  # pieces that may not be seen; more are looked up among the matches alone
_LEAST = 1e-6  # what FTS5 takes for the weight of a word that stands in most pieces


class Held(NamedTuple):
    """The pieces that hold a concept, by row id, in the order of these."""

    scores: dict[int, float]
    idf: float


class Seen:
    """What an asker may see: what belongs to these owners, or all."""

    def __init__(self, index: Index, owners: tuple[str, ...] | None) -> None:
        self.index, self.owners = index, owners
        self.every = matches.size(index)
        count = 0 if owners is None else matches.count_hidden(index, owners)
        self.total = self.every - count
        self._hidden = matches.hidden(index, owners) if owners and 0 < count <= LISTED else None

    @property
    def all(self) -> bool:
        return self.total == self.every

    def of(self, scores: dict[int, float]) -> dict[int, float]:
        """Those of these that may be seen."""
        if self.owners is None or self.all or not scores:
            return scores
        hidden = self._hidden or matches.hidden(self.index, self.owners, scores)
        return {id: score for id, score in scores.items() if id not in hidden}


class Found(NamedTuple):
    """What the look-ups found. `scores` are bm25, `held` counts what of `asked` a piece holds."""

    scores: dict[int, float]
    held: dict[int, int]
    asked: int
    concepts: list[tuple[Concept, Held]]
    partly: bool = False  # words that are everywhere were not looked up by themselves
    common: tuple[Concept, ...] = ()  # these

    def covered(self) -> dict[int, float]:
        """The scores, each times its coverage."""
        worth, held = self.coverages(), self.held
        return {id: score * worth[held[id]] for id, score in self.scores.items()}

    def holds_all(self, id: int) -> bool:
        """Return True if an entry contains everything that was asked for."""
        return self.held.get(id, 0) >= self.asked

    def coverages(self) -> list[float]:
        """The coverage of what holds none, one, two, … of the things asked."""
        return [coverage(count, self.asked) for count in range(self.asked + 1)]


def coverage(held: int, asked: int) -> float:
    """1 for a piece that holds all that was asked, less than 3/4 for any other: AND comes before
    OR."""
    return 1.0 if held == asked else 0.25 + 0.5 * held / asked


def look_up(
    index: Index,
    wanted: Sequence[Concept],
    weights: Sequence[float],
    prefix: bool = False,
    most: int = MOST,
    owners: tuple[str, ...] | None = None,
) -> Found:
    """Weigh what is asked, the rarest first, as long as that is not too much; what is more common
    than that is only noted, and only where all of it stands beside something rarer.

    Nothing counts that does not belong to one of `owners` (None: to anybody), except that words
    which are nearly everywhere are so among all pieces.
    """
    seen = Seen(index, owners)
    counts = [(_frequency(index, c, prefix, most), c) for c in wanted]
    counts = [(count, concept) for count, concept in counts if count]
    if len(counts) > 1 and min(count for count, _ in counts) > most:
        some = _everywhere(index, [c for _, c in counts], len(wanted), weights, prefix, seen)
        if some:
            return some
    rare, common = _divided(counts, most)
    scores: dict[int, float] = {}
    held: dict[int, int] = {}
    weighed = []
    for concept in wanted:  # in this order, so that sums are the same whatever is rare
        if concept in rare:
            found = _weigh(index, concept, weights, prefix, seen)
            weighed.append((concept, found))
            scores, held = _added(scores, held, found.scores)
    if common:
        for id in held.keys() & _beside(index, rare, common, prefix):
            held[id] += len(common)
    return Found(scores, held, len(wanted), weighed, bool(common), tuple(common))


def _everywhere(
    index: Index,
    every: Sequence[Concept],
    asked: int,
    weights: Sequence[float],
    prefix: bool,
    seen: Seen,
) -> Found | None:
    """For several words, each of which is nearly everywhere: what holds all of them will do, if
    that is not too little; and if it is too much, some of it."""
    table = every[0].tables[0]
    if any(c.tables != (table,) for c in every):
        return None
    match = _all(index, every, prefix, table)
    if matches.frequency(index, match, FEW, table) <= FEW:
        return None
    scores: dict[int, float] = {}
    page, last = scores, -1
    while len(scores) < SOME and (last < 0 or len(page) == SOME):
        page = matches.weighed(index, match, weights, table, SOME, last)
        scores |= seen.of(page)
        last = max(page)
    if len(scores) <= FEW:
        return None
    held = dict.fromkeys(scores, len(every))
    return Found(scores, held, asked, [(c, Held(scores, _LEAST)) for c in every], True)


def _beside(
    index: Index, rare: Sequence[Concept], common: Sequence[Concept], prefix: bool
) -> set[int]:
    """The pieces that hold all of what is common, as far as can be beside something rare: what is
    looked up in two places meets only here."""
    found = [_matching(index, c, prefix) for c in common if len(c.tables) > 1]
    plain = [c for c in common if len(c.tables) == 1]
    for table in dict.fromkeys(concept.tables[0] for concept in plain):
        match = _all(index, [c for c in plain if c.tables[0] == table], prefix, table)
        if all(c.tables == (table,) for c in rare):
            match = _both(index, " OR ".join(_any(index, c, prefix, table) for c in rare), match)
        found.append(matches.matching(index, match, table))
    return set.intersection(*found)


def _frequency(index: Index, concept: Concept, prefix: bool, most: int) -> int:
    """In how many pieces a concept stands, at most; what is in two places counts in both."""
    tables = concept.tables
    return sum(matches.frequency(index, _any(index, concept, prefix, t), most, t) for t in tables)


def _matching(index: Index, concept: Concept, prefix: bool) -> set[int]:
    return {
        id
        for table in concept.tables
        for id in matches.matching(index, _any(index, concept, prefix, table), table)
    }


def _added(
    scores: dict[int, float], held: dict[int, int], found: dict[int, float]
) -> tuple[dict[int, float], dict[int, int]]:
    """The sums with one more thing asked. Few pieces hold two of them: only those are looked at."""
    both = scores.keys() & found.keys()
    scores, held = found | scores, dict.fromkeys(found, 1) | held
    for id in both:
        scores[id] += found[id]
        held[id] += 1
    return scores, held


def noted(
    index: Index,
    wanted: Sequence[Concept],
    most: int = MOST,
    owners: tuple[str, ...] | None = None,
) -> list[Held]:
    """Where else stands what is asked, if that is not nearly everywhere; not weighed."""
    if not wanted:
        return []
    out, seen = [], Seen(index, owners)
    for concept in wanted:
        if _frequency(index, concept, False, most) <= most:
            ids = sorted(_matching(index, concept, False))
            scores = seen.of(dict.fromkeys(ids, 0.0))
            out.append(Held(scores, _idf(len(scores), seen.total)))
    return out


def _divided(
    counts: list[tuple[int, Concept]], most: int
) -> tuple[list[Concept], list[Concept]]:  # fmt: skip
    """(what is weighed, what is too common for that); the rarest is always weighed."""
    rare: list[Concept] = []
    common: list[Concept] = []
    sum = 0
    for count, concept in sorted(counts, key=lambda pair: pair[0]):
        sum += count
        (common if rare and sum > most else rare).append(concept)
    return rare, common


def _any(index: Index, concept: Concept, prefix: bool, where: str) -> str:
    """What of a concept is looked up in one table."""
    terms = tuple(term for term in concept.every if table_of(term) == where)
    return match(terms, prefix=prefix, engine=index.fts)


def _all(index: Index, every: Sequence[Concept], prefix: bool, where: str) -> str:
    match, *others = (_any(index, concept, prefix, where) for concept in every)
    for other in others:
        match = _both(index, match, other)
    return match


def _both(index: Index, one: str, other: str) -> str:
    return f"({one}) AND ({other})" if index.fts == "fts5" else f"({one}) ({other})"


def _weigh(
    index: Index, concept: Concept, weights: Sequence[float], prefix: bool, seen: Seen
) -> Held:  # fmt: skip
    """The forms of a word count as one: as common as they are together, and the best one counts.
    What is looked up where only some pieces are is as common as among all that may be seen."""
    parts = []
    for term, worth in zip(concept.every, concept.worths, strict=True):
        scores, idf = _matches(index, term, weights, prefix, seen)
        if scores:
            parts.append((scores, worth, idf))
    if len(parts) < 2:
        scores, worth, theirs = parts[0] if parts else ({}, 1.0, 1.0)
        idf = _idf(len(scores), seen.total)
        worth *= idf / theirs
        return Held({id: s * worth for id, s in scores.items()} if worth != 1 else scores, idf)
    best: dict[int, float] = {}
    for scores, worth, theirs in parts:
        share = worth / theirs
        for id, score in scores.items():
            if score * share > best.get(id, 0.0):
                best[id] = score * share
    idf = _idf(len(best), seen.total)
    return Held({id: best[id] * idf for id in sorted(best)}, idf)


def _matches(
    index: Index, term: Term, weights: Sequence[float], prefix: bool, seen: Seen
) -> tuple[dict[int, float], float]:
    """What holds a term and may be seen, and the idf that is in its scores: of all that hold it."""
    said = match((term,), prefix=prefix, engine=index.fts)
    if not seen.all and index.fts == "fts4":
        return seen.of(matches.weighed_alike(index, said, table_of(term))), 1.0
    scores = matches.weighed(index, said, weights, table_of(term))
    rows = seen.every if table_of(term) == matches.WORDS else matches.size(index, table_of(term))
    return seen.of(scores), _idf(len(scores), rows)


def _idf(count: int, total: int) -> float:
    """How much a word says that so many of all pieces hold: as FTS5 reckons."""
    return max(_LEAST, math.log((total - count + 0.5) / (count + 0.5)))
