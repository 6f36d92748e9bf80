"""What a question lets one expect of its answer: who said it, and when.

Each factor is 1 where it has nothing to say. They concern what is said in a turn or a memory; a
note is too long for any of them to mean something.
"""

from __future__ import annotations

import re

from brain.formats.stems import STOP_WORDS
from brain.index.matches import Candidate
from brain.index.moment import shown
from brain.recall.terms import fold
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

AUTHOR = 1.5  # for a turn whose speaker the question names
WHEN = 1.2  # for what names a time, if the question asks for one
DATED = 2.0  # for what was said on the day, or in the month, that the question names

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_ASKS_WHEN = re.compile(
    r"\W*(?:since |until |by )?(?:when|how long|(?:in |on |at )?(?:what|which) "
    r"(?:date|day|month|year|week|time|season))\b"
)
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weeks?|weekends?|months?|years?|days?"
    rf"|morning|recently|since|{'|'.join(_MONTHS)}|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    rf"|(?:19|20)[0-9]{{2}}|[0-9]+(?:st|nd|rd|th))\b"
)
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"\b(?P<iso>[12][0-9]{{3}}-[01][0-9](?:-[0-3][0-9])?)\b"
    rf"|\b(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b"
    rf"(?:,? (?P<year>(?:19|20)[0-9]{{2}}))?"
    rf"|\b(?P<month2>{_MONTH})\b(?: (?P<day2>[0-9]{{1,2}})(?:st|nd|rd|th)?\b)?"
    rf"(?:,? (?P<year2>(?:19|20)[0-9]{{2}}))?"
    rf"|\b(?:in|of|during|since) (?P<year3>(?:19|20)[0-9]{{2}})\b"
)


class Expected(NamedTuple):
    """What a question says about its answer."""

    names: frozenset[str] = frozenset()  # folded names of speakers that it mentions
    time: bool = False  # it asks when
    dates: tuple[tuple[str, str, str], ...] = ()  # (year, month, day) that it names, '' for any


def expected(question: str, speakers: Iterable[str]) -> Expected:
    """What to expect of the answer to a question, in a vault where these speak."""
    folded = fold(question)
    words = set(re.findall(r"[^\W_]+", folded)) - STOP_WORDS
    names = {fold(name) for name in speakers}
    named = frozenset(name for name in names if words.intersection(name.split()))
    return Expected(named, bool(_ASKS_WHEN.match(folded)), tuple(_dates(folded)))


def _dates(folded: str) -> list[tuple[str, str, str]]:
    found = []
    for said in _DATE.finditer(folded):
        if said["iso"]:
            year, month, *day = said["iso"].split("-")
            found.append((year, month, "".join(day)))
            continue
        name = said["month"] or said["month2"] or ""
        date = said["day"] or said["day2"] or ""
        year = said["year"] or said["year2"] or said["year3"] or ""
        if name != "may" or date or year:  # which is mostly no month
            number = f"{_MONTHS.index(name) + 1:02}" if name else ""
            found.append((year, number, date and f"{int(date):02}"))
    return found


def author(candidate: Candidate, expected: Expected) -> float:
    """More for a turn whose speaker the question names."""
    return AUTHOR if candidate.speaker and fold(candidate.speaker) in expected.names else 1.0


def when(candidate: Candidate, expected: Expected) -> float:
    """More for what names a time, if the question asks for one."""
    return WHEN if expected.time and candidate.text and _TIME.search(fold(candidate.text)) else 1.0


def dated(candidate: Candidate, expected: Expected) -> float:
    """More for what was said at the time that the question names."""
    if not (expected.dates and candidate.text):
        return 1.0
    created = shown(candidate.created)
    year, month, day = created[:4], created[5:7], created[8:10]
    for said in expected.dates:
        if all(a in ("", b) for a, b in zip(said, (year, month, day), strict=True)):
            return DATED
    return 1.0
