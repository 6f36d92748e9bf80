"""The factors of a score: one table of addends, one of multipliers of their sum.

    score = (share + note + passage + near + session + meaning) x author x when x dated

Every part is between 0 and about 1. No part is scaled by the other results of a question, so scores
can be compared between questions. Feedback and recency are not part of a score: they order memories
that cover the question equally. To add a factor, add it to a table and set it in `ranking`.
"""

from __future__ import annotations

import math
import re
from datetime import datetime

from brain.index.fulltext import Found
from brain.search.question import MONTHS, Expected
from brain.timestamps import shown
from brain.words import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brain.config import Config

ADDED = {
    "share": "how much of the question the entry contains",
    "note": "how much of it the whole note contains",
    "passage": "how much of it the best passage contains",
    "near": "what the turns around it contain",
    "session": "what its whole session contains",
    "meaning": "how similar in meaning it is",
}
MEANING_WEIGHTS = {"passages": 2.0, "entries": 2.0, "turns": 0.5}
PASSAGE_WEIGHT = 0.5  # of the best passage, relative to the whole note
SESSION_WEIGHT = 0.4  # of the whole session, relative to the turn
AFTER = (0.4, 0.2, 0.1)  # the parts of a turn's share that the turns after it get
BEFORE = (0.3, 0.15, 0.1)  # the parts of a turn's share that the turns before it get
ASKED = 2.0  # the turn after a question gets so many times more: it may be the answer

AUTHOR = 1.5  # for a turn whose speaker the question names
WHEN = 1.3  # for a turn that names a time, if the question asks for one
DATED = 2.0  # for a turn of the day, month or year that the question names
_TIME = (  # compiled at its first use
    rf"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|week(?:end|s)?|months?|years?|days?"
    rf"|recently|since|summer|winter|spring|fall|morning|night|{'|'.join(MONTHS)}"
    rf"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)[0-9]{{2}}|[0-9]+(?:st|nd|rd|th))\b"
)

SCORE_FACTOR = 0.2  # the maximum score of 10 multiplies by 7
RECENCY_DECAY = 0.01  # per day: after 100 days, the factor is 0.5


def author(turn: Found, expected: Expected) -> float:
    """Return a higher factor for a turn whose speaker is the only one that the question names."""
    named = len(expected.names) == 1 and fold(turn.speaker) in expected.names
    return AUTHOR if named else 1.0


def when(turn: Found, expected: Expected) -> float:
    """Return a higher factor for a turn that names a time, if the question asks for one."""
    return WHEN if expected.time and re.search(_TIME, fold(turn.text)) else 1.0


def dated(turn: Found, expected: Expected) -> float:
    """Return a higher factor for a turn of the date that the question names."""
    created = shown(turn.created)
    day = created[:4], created[5:7], created[8:10]
    named = any(all(a in ("", b) for a, b in zip(d, day, strict=True)) for d in expected.dates)
    return DATED if named else 1.0


MULTIPLIED: dict[str, Callable[[Found, Expected], float]] = {
    "author": author,
    "when": when,
    "dated": dated,
}


def meaning(cosine: float, sort: str, config: Config) -> float:
    """Return the addend of a score for the meaning of an entry."""
    return config.vectorWeight * MEANING_WEIGHTS[sort] * max(0.0, cosine)


def score(factors: Mapping[str, float]) -> float:
    """Return the score with these factors. A missing factor has no effect."""
    added = sum(factors[name] for name in ADDED if name in factors)
    return added * math.prod(factors[name] for name in MULTIPLIED if name in factors)


def order(factors: Mapping[str, float]) -> float:
    """Return the value that orders memories that cover the question equally."""
    return score(factors) * factors.get("feedback", 1.0) * factors.get("recency", 1.0)


def feedback(score: float) -> float:
    """Return a higher factor for a positive score, a lower one for a negative score."""
    return math.exp(SCORE_FACTOR * max(-10.0, min(10.0, score)))


def recency(days: float) -> float:
    """Return a factor that decreases slowly with age."""
    return 1 / (1 + RECENCY_DECAY * days)


def days_between(earlier: str, now: datetime) -> float:
    """Return the number of days from an ISO time to `now`, at least 0; 0 if the text is not a time.
    A time without a zone is local."""
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
