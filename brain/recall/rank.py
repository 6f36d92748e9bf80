"""The rank of a match: one formula, every part a small function with a name.

    rank = (bm25 x coverage + near + parent + vector)
           x author x when x dated x e^(0.2 x score) x 1/(1 + 0.01 x days)

The days count from the last reinforcement or update, else from the creation, and only in the memory
scope: what was said in a transcript, or stands in a note, is not less true for being old.
"""

from __future__ import annotations

import math
from datetime import datetime

from brain.record import NamedTuple

SCORE_FACTOR = 0.2  # a score of 10, the most that feedback gives, makes a rank 7 times higher
RECENCY_DECAY = 0.01  # per day: a memory of 100 days ranks half as high as one of today
ADDENDS = 5  # the first of the factors make a sum, the others multiply it


class Factors(NamedTuple):
    """Everything that a rank is made of."""

    bm25: float
    coverage: float  # 1 if all that was asked is there
    near: float = 0.0  # from its neighbours in the session or section
    parent: float = 0.0  # from the session or section as a whole
    vector: float = 0.0  # from its meaning, in a hybrid search
    author: float = 1.0
    when: float = 1.0
    dated: float = 1.0
    feedback: float = 1.0
    recency: float = 1.0

    @property
    def relevance(self) -> float:
        return self.bm25 * self.coverage + self.near + self.parent + self.vector

    @property
    def rank(self) -> float:
        author, when, dated, feedback, recency = self[ADDENDS:]
        return self.relevance * author * when * dated * feedback * recency


def feedback(score: float) -> float:
    """More for what was found useful, less for what was not; 1 without feedback."""
    return math.exp(SCORE_FACTOR * max(-10.0, min(10.0, score)))


def recency(days: float) -> float:
    """Falls slowly with age."""
    return 1 / (1 + RECENCY_DECAY * days)


def days_between(earlier: str, now: datetime) -> float:
    """Whole and broken days from an ISO time to `now`; never negative, 0 for what is no time. A day
    begins when it does on this machine."""
    try:
        then = datetime.fromisoformat(earlier)
    except ValueError:
        return 0.0
    if then.tzinfo is None:
        try:
            then = then.astimezone()
        except (ValueError, OverflowError):  # at the ends of time
            then = then.replace(tzinfo=now.tzinfo)
    return max(0.0, (now - then).total_seconds() / 86400)
