"""An entry weighed for a request: what is asked, by whom, and all that speaks for an entry."""

from __future__ import annotations

from datetime import datetime

from brain.config import Config
from brain.index import facts, shelf
from brain.index.facts import Facts
from brain.index.query import Row
from brain.recall import about, fitness
from brain.recall.fitness import Fitness
from brain.recall.rank import Factors, days_between
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brain.index.db import Index
    from brain.recall.graph import Step

SCOPES = ("memory", "items", "sources")


class Request(NamedTuple):
    """What somebody is about to think about, and who that is."""

    query: str
    files: tuple[str, ...] = ()  # that are open
    text: str = ""  # that is being worked on
    owners: tuple[str, ...] | None = None  # whose entries may be seen
    scopes: tuple[str, ...] = SCOPES
    tasks: bool = False


class Weighed(NamedTuple):
    """An entry with all that speaks for it. `score` follows from `factors` and `fitness`, or is
    what it was handed by one that it is tied to, as `via` says: the score of that `giver`, times
    weight and decay of each of the `steps` from there."""

    row: Row
    known: Facts
    factors: Factors | None
    fitness: Fitness
    handed: float = 0.0
    via: str = ""
    exact: int = 0
    giver: Weighed | None = None
    steps: tuple[Step, ...] = ()

    @property
    def score(self) -> float:
        own = self.factors.rank * self.fitness.product if self.factors else 0.0
        return max(own, self.handed)


class Scale:
    """Weighs entries for one request."""

    def __init__(self, index: Index, request: Request, now: datetime, config: Config) -> None:
        self.index, self.request, self.now, self.config = index, request, now, config

    def weigh(self, rows: Sequence[Row]) -> list[Weighed]:
        """These entries, with what is known of them."""
        refs = [row.ref for row in rows if row.scope == "memory"]
        known = facts.of(self.index, refs, waiting=False)
        return [self._weighed(row, known.get(row.ref) or Facts(row.ref)) for row in rows]

    def _weighed(self, row: Row, known: Facts) -> Weighed:
        files, config = self.request.files, self.config
        near = fitness.affinity(about.files(row), files, config) if files else 1.0
        if row.scope != "memory":
            own = fitness.scope(row.scope, config)
            return Weighed(row, known, None, Fitness(affinity=near, scope=own))
        hours = 24 * days_between(known.last_hit, self.now) if known.last_hit else None
        age = days_between(row.created, self.now)
        sure, trust = fitness.belief(row.kind, known, known.source or "user_stated", age)
        fit = Fitness(
            fitness.kind(row.kind), fitness.status(row.status, config), near,
            fitness.access(hours), fitness.use(known.hits), sure, trust,
        )  # fmt: skip
        return Weighed(row, known, None, fit)

    def named(self, refs: Iterable[str]) -> dict[str, Weighed]:
        """The memories and items with these ids, weighed."""
        wanted = sorted(set(refs))
        rows = shelf.by_refs(self.index, wanted, self.request.owners) if wanted else {}
        return {one.row.ref: one for one in self.weigh(list(rows.values()))}
