"""What makes a match worth a place in a prompt: small factors, each with its name.

    score = rank of the search
            x kind x status x affinity x access x use x confidence x trust x scope

Each is 1 where nothing is known. How far a memory is believed takes at most half of its score: a
fact that a person wrote years ago may still be the only answer there is.
"""

from __future__ import annotations

import math

from brain import worth
from brain.config import Config
from brain.kinds import DEFAULT_KIND, KINDS
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.index.facts import Facts

UNBELIEVED = 0.5  # what is left of a memory that nothing speaks for any more
RECENT = 0.5  # more for what was just used, fading over a day
PER_HIT, MOST_HITS = 0.05, 1.5


class Fitness(NamedTuple):
    """The factors that recall adds to the rank of a search."""

    kind: float = 1.0
    status: float = 1.0
    affinity: float = 1.0
    access: float = 1.0
    use: float = 1.0
    confidence: float = 1.0
    trust: float = 1.0
    scope: float = 1.0

    @property
    def product(self) -> float:
        return math.prod(self)


def kind(name: str) -> float:
    """How much its kind weighs; what is no memory weighs as a fact does."""
    return KINDS.get(name, KINDS[DEFAULT_KIND]).weight


def status(name: str, config: Config) -> float:
    """More for what is pinned, less for what nobody has confirmed."""
    return {"pinned": config.pinnedFactor, "candidate": config.candidateFactor}.get(name, 1.0)


def scope(name: str, config: Config) -> float:
    """Less for a passage of a note than for what somebody put into one sentence to be kept."""
    return config.noteFactor if name == "sources" else 1.0


def affinity(about: Iterable[str], open_files: Iterable[str], config: Config) -> float:
    """More for what is about a file that is open, or one beside it."""
    best = 1.0
    for one in about:
        for other in open_files:
            if _same(one, other):
                return max(best, config.sameFileFactor)
            if _folder(one) and _folder(one) == _folder(other):
                best = max(best, config.sameFolderFactor)
    return best


def _same(one: str, other: str) -> bool:
    """One path may begin deeper than the other; a link need not name folder and ending."""
    one, other = _plain(one), _plain(other)
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _plain(path: str) -> str:
    return path.replace("\\", "/").strip("/").removesuffix(".md").casefold()


def _folder(path: str) -> str:
    return _plain(path).rpartition("/")[0]


def access(hours: float | None) -> float:
    """More for what was in a prompt a while ago; 1 for what never was."""
    return 1.0 if hours is None else 1 + RECENT * math.exp(-max(0.0, hours) / 24)


def use(hits: int) -> float:
    """More for what was in many prompts."""
    return min(MOST_HITS, 1 + PER_HIT * max(0, hits))


def belief(kind: str, known: Facts, source: str, age_days: float) -> tuple[float, float]:
    """(confidence, trust): how far a memory is believed now, and its source in general."""
    initial = 1.0 if known.confidence is None else known.confidence
    now = worth.confidence(
        initial, kind, source, age_days, known.hits, known.reinforced, known.demoted, known.rejected
    )
    trust = worth.trust(source)
    return UNBELIEVED + (1 - UNBELIEVED) * min(1.0, now.value / trust), trust
