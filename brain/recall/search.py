"""Search: the best matches for a question, with their places."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from brain.config import Config
from brain.index import links, read
from brain.index.db import Index
from brain.index.read import Filters, Row
from brain.recall import ranking
from brain.recall.rank import Factors
from brain.recall.snippet import Words, best_line, mark
from brain.recall.terms import Term
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.embed.meanings import Meanings as Meaning


class SearchResult:
    """An entry that a search found. `line` and `snippet` are computed when they are read."""

    def __init__(
        self,
        row: Row,
        factors: Factors,
        wanted: tuple[Term, ...],
        prefix: bool = False,
        exact: int = 0,
    ) -> None:
        self.row = row
        self.factors = factors
        self.prefix = prefix
        self.exact = exact  # how many of the things asked it holds exactly as they were written
        self.conflicts: list[str] = []  # the ids of memories that say the opposite
        self._wanted = wanted

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
        return self.factors.rank

    @cached_property
    def _best(self) -> tuple[int, str]:
        return best_line(self.row.text, self._words)

    @cached_property
    def _words(self) -> Words:
        return Words(self._wanted, self.prefix)

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


def indexed_text(row: Row) -> str:
    """Return the text of an entry that full-text search matches."""
    return f"{row.heading} {row.text} {row.tags} {row.path}"


class Results(NamedTuple):
    """What a search found; `notes` say what one should know about it."""

    hits: list[SearchResult]
    notes: list[str]


def search(
    index: Index,
    question: str,
    filters: Filters,
    limit: int,
    now: datetime,
    config: Config,
    meaning: Meaning | None = None,
) -> Results:
    """The best `limit` chunks for a question. Same index, question and clock: same answer.

    Words match in all their forms; only if nothing does, they match as beginnings of words, and if
    that finds nothing, those of a quoted text match one by one; at last, words near them do. Any
    word will do, but what holds more of them ranks higher, and what holds a quoted text, a tag, a
    path or an identifier exactly so comes first. With a `meaning`, what means the same counts
    beside the words; NoModel if its model does not answer.
    """
    if limit <= 0:
        return Results([], [])
    matches = ranking.find_matches(index, question, filters, limit, now, config, meaning)
    hits = _hits(index, matches.ranked[:limit], matches.terms, matches.prefix, filters)
    note = matches.note
    if matches.corrections:
        from brain.recall import fuzzy

        note = fuzzy.note(matches.corrections, (indexed_text(hit.row) for hit in hits))
    return Results(hits, [note] if note else [])


def _hits(
    index: Index,
    found: list[ranking.RankedMatch],
    wanted: tuple[Term, ...],
    prefix: bool,
    filters: Filters,
) -> list[SearchResult]:
    rows = read.rows(index, [one.match.id for one in found])
    memories = [row.ref for row in rows if row.scope == "memory"]
    contradictions = links.contradictions(index, memories, filters.owners)
    hits = []
    for row, one in zip(rows, found, strict=True):
        hit = SearchResult(row, one.factors, wanted, prefix, one.exact)
        hit.conflicts = contradictions.get(row.ref, []) if row.scope == "memory" else []
        hits.append(hit)
    return hits
