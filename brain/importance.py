"""The formulas of importance and confidence, and the trust in a source.

Importance is how much a memory matters. It fades while the memory is not used. Confidence is how
reliable a memory is. It halves with the half-life of the kind. Both are between 0 and 1, and are
computed when they are needed, never stored.
"""

from __future__ import annotations

from math import log1p

from brain._tuples import NamedTuple
from brain.kinds import DEFAULT_KIND, KINDS

# Trust by source: a person, an observation or extraction, an inference.
TRUST = {
    "user_stated": 1.0,
    "user_corrected": 1.0,
    "extracted": 0.8,
    "observed": 0.8,
    "migration": 0.8,
    "inferred": 0.6,
}
SOURCES = tuple(TRUST)
INFERRED_HALF_LIFE = 7  # days, for every kind
MERGED, UNVISITED, CANDIDATE = 0.1, 0.8, 0.9
WEEKLY, RESISTANCE, PER_HIT = 0.95, 0.5, 0.05
REINFORCED, DEMOTED, REJECTED = 0.05, 0.10, 0.02


def trust(source: str) -> float:
    """Return the trust in a source. An unknown source has the trust of `inferred`."""
    return TRUST.get(source, TRUST["inferred"])


class Importance(NamedTuple):
    """The parts of an importance: a sum, and factors."""

    base: float
    merges: float = 0.0  # for duplicates that were merged into the memory
    unvisited: float = 1.0  # for a candidate that was not used during its quarantine
    fading: float = 1.0  # for the weeks since the last use
    unused: float = 1.0  # smaller for fewer uses
    candidate: float = 1.0

    @property
    def value(self) -> float:
        start = _clamp(self.base + self.merges)
        return start * self.unvisited * self.fading * self.unused * self.candidate


def importance(
    kind: str,
    base: float | None = None,
    merges: int = 0,
    status: str = "confirmed",
    hits: int = 0,
    days_since_access: float = 0,
    unvisited: bool = False,
) -> Importance:
    """Return how much a memory matters now.

    `base` is the value that was given with the memory; None stands for the value of its kind. Each
    merged duplicate adds to it. The importance loses 5 % a week. A memory that was never used loses
    another half over the first week. Each use reduces that loss by a twentieth of the importance.
    A pinned memory does not fade.
    """
    start = KINDS.get(kind, KINDS[DEFAULT_KIND]).importance if base is None else base
    parts = Importance(start, MERGED * max(0, merges), UNVISITED if unvisited else 1.0)
    if status == "pinned":
        return parts
    weeks = max(0.0, days_since_access) / 7
    lost = max(0.0, 1 - RESISTANCE - PER_HIT * max(0, hits)) * min(1.0, weeks)
    candidate = CANDIDATE if status == "candidate" else 1.0
    return parts._replace(fading=WEEKLY**weeks, unused=1 - lost, candidate=candidate)


class Confidence(NamedTuple):
    """The parts of a confidence: a product, and the amount that feedback adds to it."""

    initial: float
    trust: float = 1.0
    remaining: float = 1.0  # the share that is left at its age
    use: float = 1.0
    feedback: float = 0.0

    @property
    def value(self) -> float:
        return _clamp(self.initial * self.trust * self.remaining * self.use + self.feedback)


def confidence(
    initial: float,
    kind: str,
    source: str,
    age_days: float = 0,
    hits: int = 0,
    reinforced: int = 0,
    demoted: int = 0,
    rejected: int = 0,
) -> Confidence:
    """Return how reliable a memory is now.

    The confidence halves with the half-life of the kind, or after a week if it was inferred. Uses
    increase it. Each reinforcement, demotion, or rejection by a verifier changes it by a fixed
    amount.
    """
    feedback = REINFORCED * reinforced - DEMOTED * demoted - REJECTED * rejected
    use = 1 + 0.1 * log1p(max(0, hits))
    days = half_life(kind, source)
    remaining = 1.0 if days is None else 0.5 ** (max(0.0, age_days) / days)
    return Confidence(initial, trust(source), remaining, use, feedback)


def half_life(kind: str, source: str) -> int | None:
    """Return the days after which half of the confidence is left; None if it does not decrease."""
    if source == "inferred":
        return INFERRED_HALF_LIFE
    return KINDS.get(kind, KINDS[DEFAULT_KIND]).half_life


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
