"""Search: the words of a question, the best matches of the index, ranked, with where they stand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from brain.config import Config
from brain.index import query
from brain.index.db import Index
from brain.index.query import Filters, Row
from brain.recall import rank
from brain.recall.rank import Factors
from brain.recall.snippet import best_line, mark, pattern
from brain.recall.terms import Term, match, terms


@dataclass(frozen=True)
class Hit:
    """One result. Where exactly it stands is worked out when it is asked for."""

    row: Row
    factors: Factors
    wanted: tuple[Term, ...]
    prefix: bool = False

    @property
    def score(self) -> float:
        return self.factors.rank

    @cached_property
    def _best(self) -> tuple[int, str]:
        return best_line(self.row.text, self._words)

    @cached_property
    def _words(self) -> Any:
        return pattern(self.wanted, self.prefix)

    @property
    def line(self) -> int:
        """The line of the file that answers best, from 1."""
        return min(self.row.end_line, self.row.line + self._best[0])

    def snippet(self, opening: str = "«", closing: str = "»") -> str:
        """A short piece of that line with the words of the question marked."""
        return mark(self._best[1], self._words, opening, closing)

    @property
    def extra(self) -> dict[str, Any]:
        return json.loads(self.row.extra) if self.row.extra else {}


def search(
    index: Index, question: str, filters: Filters, limit: int, now: datetime, config: Config
) -> list[Hit]:
    """The best `limit` chunks for a question. Same index, question and clock: same answer.

    Words match whole; only if nothing does, they match as beginnings of words.
    """
    wanted = terms(question)
    if not wanted or limit < 1:
        return []
    for prefix in (False, True):
        if found := _ranked(index, match(wanted, prefix=prefix), filters, limit, now, config):
            rows = query.rows(index, [id for id, _ in found])
            return [Hit(row, f, wanted, prefix) for row, (_, f) in zip(rows, found, strict=True)]
    return []


def _ranked(
    index: Index, expression: str, filters: Filters, limit: int, now: datetime, config: Config
) -> list[tuple[int, Factors]]:
    weights = (
        config.headingWeight, config.bodyWeight, config.tagWeight, config.pathWeight,
        config.bodyWeight,
    )  # fmt: skip
    most = max(config.candidateLimit, limit)
    found = query.candidates(index, expression, filters, weights, most, enough=min(most, 5 * limit))
    ranked = [(c, rank.factors(c.bm25, c.scope, c.created, now, config)) for c in found]
    ranked.sort(key=lambda pair: (-pair[1].rank, pair[0].path, pair[0].line, pair[0].id))
    return [(candidate.id, f) for candidate, f in ranked[:limit]]
