"""The rank of a match: one product, every factor a small function with a name.

    rank = bm25 x (2 if it holds every word) x e^(0.2 x score) x 1/(1 + 0.01 x days)

The days count from the last reinforcement or update, else from the creation, and only in the memory
scope: what was said in a transcript, or stands in a note, is not less true for being old.
"""

from __future__ import annotations

import math
from datetime import datetime

from brain.config import Config
from brain.record import NamedTuple

COMPLETE = 2.0  # for an entry that holds every word of the question, not just some


class Factors(NamedTuple):
    """Everything that a rank is made of; their product, in this order, is the rank."""

    bm25: float
    complete: float
    feedback: float
    recency: float

    @property
    def rank(self) -> float:
        return self.bm25 * self.complete * self.feedback * self.recency


def feedback(score: float, factor: float) -> float:
    """More for what was found useful, less for what was not; 1 without feedback."""
    return math.exp(factor * max(-10.0, min(10.0, score)))


def recency(scope: str, days: float, decay: float) -> float:
    """Falls slowly with age, for memories only."""
    return 1 / (1 + decay * days) if scope == "memory" else 1.0


def days_between(earlier: str, now: datetime) -> float:
    """Whole and broken days from an ISO time to `now`; never negative, 0 for what is no time."""
    try:
        then = datetime.fromisoformat(earlier)
    except ValueError:
        return 0.0
    if then.tzinfo is None:
        then = then.replace(tzinfo=now.tzinfo)
    return max(0.0, (now - then).total_seconds() / 86400)


def at_most(bm25: float, complete: bool, score: float, config: Config) -> float:
    """What the rank of a match can be, however new it is."""
    return bm25 * (COMPLETE if complete else 1.0) * feedback(score, config.scoreFactor)


def factors(
    bm25: float,
    complete: bool,
    scope: str,
    since: str,
    now: datetime,
    config: Config,
    score: float = 0.0,
) -> Factors:
    """The factors of one match, which was last touched at `since`."""
    days = days_between(since, now) if scope == "memory" else 0.0
    return Factors(
        bm25,
        COMPLETE if complete else 1.0,
        feedback(score, config.scoreFactor),
        recency(scope, days, config.recencyDecay),
    )
