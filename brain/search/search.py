"""Search results: the best matches for a question, with their places."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from brain._tuples import NamedTuple
from brain.config import Config
from brain.index import read, relations
from brain.index.db import Index
from brain.index.read import Filters, Row
from brain.search.ranking import Match, Search
from brain.search.snippet import Words, best_line, mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.embed.similarity import Meanings as Meaning


class SearchResult:
    """An entry that a search found. `line` and `snippet` are computed when they are read."""

    def __init__(self, row: Row, match: Match, prefix: bool = False) -> None:
        self.row = row
        self.match = match
        self.prefix = prefix
        self.conflicts: list[str] = []  # the ids of contradicting memories

    def __repr__(self) -> str:
        words = self.text.split("\n", 1)[0][:40]
        return f"SearchResult({self.id}, {self.path}:{self.line}, {self.score:.2f}, {words!r})"

    @property
    def id(self) -> str:
        return self.row.ref

    @property
    def path(self) -> str:
        return self.row.path

    @property
    def text(self) -> str:
        return self.row.text

    @property
    def score(self) -> float:
        return self.match.score

    @property
    def factors(self) -> dict[str, float]:
        """The factors of the score, by name; see `brain.search.factors`."""
        return self.match.factors

    @property
    def covered(self) -> float:
        """The fraction of the question that it contains."""
        return self.match.covered

    @property
    def exact(self) -> int:
        """The number of exact terms that it contains as written."""
        return self.match.exact

    @property
    def also(self) -> list[str]:
        """The paths of equal notes."""
        return self.match.also

    @cached_property
    def _best(self) -> tuple[int, str]:
        return best_line(self.row.text, self._words)

    @cached_property
    def _words(self) -> Words:
        every = (term for concept in self.match.basis.concepts for term, _ in concept.every)
        return Words(tuple(every), self.prefix)

    @property
    def line(self) -> int:
        """The number of the best matching line, from 1. In a JSON file, it is the first line of the
        record, because the lines of its text are not lines of the file."""
        if not self.row.path.endswith(".md"):
            return self.row.line
        return min(self.row.end_line, self.row.line + self._best[0])

    def snippet(self, opening: str = "«", closing: str = "»") -> str:
        """Return an excerpt of the best line, in which the words of the question are marked."""
        return mark(self._best[1], self._words, opening, closing)


def indexed_text(row: Row) -> str:
    """Return the text of an entry that full-text search matches."""
    return f"{row.heading} {row.text} {row.tags} {row.path} {row.title}"


class Results(NamedTuple):
    """The results of a search, and notes for the user."""

    results: list[SearchResult]
    notes: list[str]


def search(
    index: Index,
    question: str,
    filters: Filters,
    limit: int,
    now: datetime,
    config: Config,
    meaning: Meaning | None = None,
    passages: bool = False,
) -> Results:
    """Return the best results, at most `limit`; see `ranking`. Raise NoModel if a model fails."""
    if limit <= 0:
        return Results([], [])
    matches = Search(index, filters, limit, now, config, meaning, passages).find(question)
    best = matches.ranked[:limit]
    rows = read.rows(index, [match.found.id for match in best])
    memories = [row.ref for row in rows if row.scope == "memory"]
    contradictions = relations.contradictions(index, memories, filters.owners)
    results = []
    for row, match in zip(rows, best, strict=True):
        result = SearchResult(row, match, matches.prefix)
        result.conflicts = contradictions.get(row.ref, []) if row.scope == "memory" else []
        results.append(result)
    note = matches.note
    if matches.corrections:
        from brain.search import fuzzy

        note = fuzzy.note(matches.corrections, (indexed_text(result.row) for result in results))
    return Results(results, [note] if note else [])
