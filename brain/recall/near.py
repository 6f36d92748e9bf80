"""What stands near a match counts too: its neighbours in the session or section, and the whole of
it."""

from __future__ import annotations

from bisect import bisect_left

from brain.index.matches import K1, B, Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brain.recall.lookup import Held

AFTER = (0.4, 0.2, 0.1)  # what a match hands on to the pieces that follow it
BEFORE = (0.3, 0.15, 0.1)
ASKED = 2.0  # a question hands on more to the next piece: that may be the answer


def neighbours(candidate: Candidate) -> Iterator[tuple[int, float]]:
    """(row id, share) of the neighbours of a match."""
    section = candidate.section
    for step, (after, before) in enumerate(zip(AFTER, BEFORE, strict=True), 1):
        if candidate.id + step in section:
            asks = step == 1 and is_question(candidate)
            yield candidate.id + step, after * (ASKED if asks else 1.0)
        if candidate.id - step in section:
            yield candidate.id - step, before


def spread(seeds: Iterable[tuple[Candidate, float]]) -> dict[int, float]:
    """What the neighbours of these matches are handed, by row id."""
    handed: dict[int, float] = {}
    for candidate, score in seeds:
        for id, share in neighbours(candidate) if candidate.siblings > 1 else ():
            handed[id] = handed.get(id, 0.0) + share * score
    return handed


def is_question(candidate: Candidate) -> bool:
    """Is this a turn that ends by asking?"""
    return candidate.scope == "sessions" and candidate.text.rstrip().endswith(("?", "？"))


def parents(sections: Iterable[range], asked: Iterable[Held]) -> dict[int, float]:
    """The bm25 of each session or section as a whole, by its first row id, from how many of its
    pieces hold each thing asked."""
    several = list(dict.fromkeys(section for section in sections if len(section) > 1))
    if not several:
        return {}
    mean = sum(map(len, several)) / len(several)
    found = dict.fromkeys((section.start for section in several), 0.0)
    for held in asked:
        ids = list(held.scores)
        for section in several:
            count = bisect_left(ids, section.stop) - bisect_left(ids, section.start)
            if count:
                slack = K1 * (1 - B + B * len(section) / mean)
                found[section.start] += held.idf * count * (K1 + 1) / (count + slack)
    return found
