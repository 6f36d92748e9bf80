"""What a memory is worth now: importance, confidence, trust. Computed when asked for, never stored.

Importance says how much it matters and fades while nobody asks for it; confidence says how far it
can be believed and halves with its kind's half-life. Both are between 0 and 1.
"""

from __future__ import annotations

from math import log1p

from brain.kinds import DEFAULT_KIND, KINDS
from brain.record import NamedTuple

# How far each source is trusted: what a person said, what was seen or taken from a text, a guess.
TRUST = {
    "user_stated": 1.0,
    "user_corrected": 1.0,
    "extracted": 0.8,
    "observed": 0.8,
    "migration": 0.8,
    "inferred": 0.6,
}
SOURCES = tuple(TRUST)
INFERRED_HALF_LIFE = 7  # days, whatever the kind
MERGED, UNVISITED, CANDIDATE = 0.1, 0.8, 0.9
WEEKLY, RESISTANCE, PER_HIT = 0.95, 0.5, 0.05
REINFORCED, DEMOTED, REJECTED = 0.05, 0.10, 0.02


def trust(source: str) -> float:
    """How far a source is trusted; one that is not known, as a guess is."""
    return TRUST.get(source, TRUST["inferred"])


def base_importance(kind: str) -> float:
    """What a kind matters; a kind that is not known, as a fact does."""
    return KINDS.get(kind, KINDS[DEFAULT_KIND]).importance


class Importance(NamedTuple):
    """All that an importance is made of: a sum, and factors that multiply it."""

    base: float
    merges: float = 0.0  # for duplicates that were merged into it
    unvisited: float = 1.0  # a candidate whose quarantine passed without anybody asking for it
    fading: float = 1.0  # with the weeks since it was last used
    unused: float = 1.0  # less, the less it was used
    candidate: float = 1.0

    @property
    def value(self) -> float:
        start = _unit(self.base + self.merges)
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
    """How much a memory matters now.

    `base` is the value given when it was remembered, None for that of its kind; each duplicate
    that was merged into it adds to that. It loses 5 % a week, and up to half if it was never used:
    use keeps it up by a twentieth a time, and that half goes over the first week, not at once. A
    pinned memory does not fade.
    """
    start = base_importance(kind) if base is None else base
    found = Importance(start, MERGED * max(0, merges), UNVISITED if unvisited else 1.0)
    if status == "pinned":
        return found
    weeks = max(0.0, days_since_access) / 7
    lost = max(0.0, 1 - RESISTANCE - PER_HIT * max(0, hits)) * min(1.0, weeks)
    candidate = CANDIDATE if status == "candidate" else 1.0
    return found._replace(fading=WEEKLY**weeks, unused=1 - lost, candidate=candidate)


class Confidence(NamedTuple):
    """All that a confidence is made of: a product, and what feedback added to it."""

    initial: float
    trust: float = 1.0
    remaining: float = 1.0  # after its age
    use: float = 1.0
    feedback: float = 0.0

    @property
    def value(self) -> float:
        return _unit(self.initial * self.trust * self.remaining * self.use + self.feedback)


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
    """How far a memory can be believed now.

    It halves with its kind's half-life (a guess after a week), use slows that, and every
    reinforcement, demotion or rejection by a verifier moves it by its own amount.
    """
    moved = REINFORCED * reinforced - DEMOTED * demoted - REJECTED * rejected
    use = 1 + 0.1 * log1p(max(0, hits))
    return Confidence(initial, trust(source), _remaining(kind, source, age_days), use, moved)


def half_life(kind: str, source: str) -> int | None:
    """After how many days half of the confidence is left; None for what stays."""
    if source == "inferred":
        return INFERRED_HALF_LIFE
    return KINDS.get(kind, KINDS[DEFAULT_KIND]).half_life


def _remaining(kind: str, source: str, age_days: float) -> float:
    days = half_life(kind, source)
    return 1.0 if days is None else float(0.5 ** (max(0.0, age_days) / days))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
