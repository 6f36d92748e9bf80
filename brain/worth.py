"""What a memory is worth now: importance, confidence, trust. Computed when asked for, never stored.

Importance says how much it matters and fades while nobody asks for it; confidence says how far it
can be believed and halves with its kind's half-life. Both are between 0 and 1.
"""

from __future__ import annotations

from math import log1p

from brain.kinds import DEFAULT_KIND, KINDS

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


def importance(
    kind: str,
    base: float | None = None,
    merges: int = 0,
    status: str = "confirmed",
    hits: int = 0,
    days_since_access: float = 0,
    unvisited: bool = False,
) -> float:
    """How much a memory matters now.

    `base` is the value given when it was remembered, None for that of its kind; each duplicate
    that was merged into it adds to that. `unvisited` is a candidate whose quarantine passed without
    anybody asking for it. A pinned memory does not fade.
    """
    start = base_importance(kind) if base is None else base
    value = _unit(start + MERGED * max(0, merges)) * (UNVISITED if unvisited else 1.0)
    if status == "pinned":
        return value
    return value * _faded(status, hits, days_since_access)


def _faded(status: str, hits: int, days: float) -> float:
    """What is left after so many days: 5 % less a week, and half of that if it was never used.

    Use keeps a memory up by a twentieth a time. What was never used loses its half over the first
    week, not at once: what was just remembered has not faded.
    """
    weeks = max(0.0, days) / 7
    lost = max(0.0, 1 - RESISTANCE - PER_HIT * max(0, hits)) * min(1.0, weeks)
    return float(WEEKLY**weeks * (1 - lost) * (CANDIDATE if status == "candidate" else 1.0))


def confidence(
    initial: float,
    kind: str,
    source: str,
    age_days: float = 0,
    hits: int = 0,
    reinforced: int = 0,
    demoted: int = 0,
    rejected: int = 0,
) -> float:
    """How far a memory can be believed now.

    It halves with its kind's half-life (a guess after a week), use slows that, and every
    reinforcement, demotion or rejection by a verifier moves it by its own amount.
    """
    value = initial * _remaining(kind, source, age_days) * (1 + 0.1 * log1p(max(0, hits)))
    moved = REINFORCED * reinforced - DEMOTED * demoted - REJECTED * rejected
    return _unit(value * trust(source) + moved)


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
