"""Search: the words of a question, the best matches of the index, ranked, with where they stand."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from brain.config import Config
from brain.index import query
from brain.index.db import Index
from brain.index.query import Candidate, Filters, Row
from brain.recall import rank
from brain.recall.rank import Factors
from brain.recall.snippet import best_line, mark, pattern
from brain.recall.terms import Term, match, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Hit:
    """One result. Where exactly it stands is worked out when it is asked for."""

    def __init__(
        self, row: Row, factors: Factors, wanted: tuple[Term, ...], prefix: bool = False
    ) -> None:
        self.row = row
        self.factors = factors
        self.prefix = prefix
        self.conflicts: list[str] = []  # the ids of memories that say the opposite
        self._wanted = wanted

    @property
    def score(self) -> float:
        return self.factors.rank

    @cached_property
    def _best(self) -> tuple[int, str]:
        return best_line(self.row.text, self._words)

    @cached_property
    def _words(self) -> Any:
        return pattern(self._wanted, self.prefix)

    @property
    def line(self) -> int:
        """The line of the file that answers best, from 1; of JSON, where the record starts: the
        lines of its text are not lines of the file."""
        if not self.row.path.endswith(".md"):
            return self.row.line
        return min(self.row.end_line, self.row.line + self._best[0])

    def snippet(self, opening: str = "«", closing: str = "»") -> str:
        """A short piece of that line with the words of the question marked."""
        return mark(self._best[1], self._words, opening, closing)


NOTHING = (0.0, "")  # the feedback of an entry that nobody has judged


def search(
    index: Index, question: str, filters: Filters, limit: int, now: datetime, config: Config
) -> list[Hit]:
    """The best `limit` chunks for a question. Same index, question and clock: same answer.

    Words match whole; only if nothing does, they match as beginnings of words. Any word will do,
    but what holds all of them ranks higher.
    """
    wanted = terms(question)
    if not wanted or limit < 1:
        return []
    for prefix in (False, True):
        expression = match(wanted, prefix=prefix, engine=index.fts)
        every = match(wanted, prefix=prefix, engine=index.fts, every=True)
        if found := _ranked(index, expression, every, filters, limit, now, config):
            rows = query.rows(index, [id for id, _ in found])
            at_odds = query.contradictions(index, rows)
            hits = [Hit(row, f, wanted, prefix) for row, (_, f) in zip(rows, found, strict=True)]
            for hit in hits:
                hit.conflicts = at_odds.get(hit.row.ref, [])
            return hits
    return []


def _ranked(
    index: Index,
    expression: str,
    every: str,
    filters: Filters,
    limit: int,
    now: datetime,
    config: Config,
) -> list[tuple[int, Factors]]:
    """The best `limit` of the best candidates by bm25; those that match `every`, too, are complete.

    They are looked at in the order of what their rank can be at most, and only as long as the next
    one can still change the answer.
    """
    weights = (
        config.headingWeight, config.bodyWeight, config.tagWeight, config.pathWeight,
        config.bodyWeight,
    )  # fmt: skip

    def weighed(found: list[Candidate]) -> list[tuple[Candidate, Factors]]:
        out = []
        for c in found:
            score, touched = known.get(c.id, NOTHING)
            since = max(c.created, touched)
            out.append(
                (c, rank.factors(c.bm25, c.id in complete, c.scope, since, now, config, score))
            )
        return out

    def at_most(match: tuple[int, float]) -> float:
        id, bm25 = match
        return rank.at_most(bm25, id in complete, known.get(id, NOTHING)[0], config)

    most = max(config.candidateLimit, limit)
    found = query.matches(index, expression, weights, most)
    known = query.feedback(index, [id for id, _ in found])
    complete = query.matching(index, every) if found and every != expression else set()
    found.sort(key=at_most, reverse=True)
    best: list[tuple[Candidate, Factors]] = []
    step = 2 * limit
    for start in range(0, len(found), step):
        if len(best) >= limit and at_most(found[start]) < best[limit - 1][1].rank:
            break
        best += weighed(query.candidates(index, found[start : start + step], filters))
        best.sort(key=_order)
    if len(best) < limit and len(found) == most:
        others = query.all_candidates(index, expression, weights, filters, most)
        known |= query.feedback(index, [candidate.id for candidate in others])
        best = weighed(others)
        best.sort(key=_order)
    return [(candidate.id, factors) for candidate, factors in best[:limit]]


def _order(pair: tuple[Candidate, Factors]) -> tuple[float, str, int, int]:
    candidate, factors = pair
    return (-factors.rank, candidate.path, candidate.line, candidate.id)
