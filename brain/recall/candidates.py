"""Which matches are worth ranking: the best by their words, and what stands beside them."""

from __future__ import annotations

import re

from brain.index import matches
from brain.index.db import Index
from brain.index.matches import Candidate
from brain.index.read import Filters
from brain.recall import rank
from brain.recall.exact import exactly
from brain.recall.lookup import Found
from brain.recall.terms import LONGEST, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH = 400
SPARE = 40  # that may not pass the filters
MANY = 5_000  # of which the text is looked at by SQLite


def best(own: dict[int, float], most: int) -> list[int]:
    """The row ids of the best `most`, and of all that are as good as the last of them."""
    if len(own) <= most:
        return list(own)
    least = sorted(own.values(), reverse=True)[most - 1]
    return [id for id, score in own.items() if score >= least]


def liked(own: dict[int, float], known: dict[int, tuple[float, str]]) -> dict[int, float]:
    """The scores with the feedback that there is."""
    if not known:
        return own
    return own | {id: own[id] * rank.feedback(score) for id, (score, _) in known.items()}


def phrases(index: Index, found: Found, own: dict[int, float], most: int) -> set[int]:
    """The row ids of what may hold something exactly as it was written: the best `most` that hold
    its words, and if there are more, the best that hold it letter by letter."""
    exact = [(concept.term, held.scores) for concept, held in found.concepts if concept.term.exact]
    likely = set(best({id: own[id] for _, scores in exact for id in scores}, most))
    for term, scores in exact:
        if len(scores) > most:
            some = best({id: own[id] for id in scores}, MANY)
            said = exactly(term)
            held = matches.holding(index, some, said.some, said.is_tag)
            likely.update(best({id: own[id] for id in held}, most))
    return likely


def named(index: Index, name: str, found: Found) -> list[int]:
    """The row ids of the beginnings of notes that have this folded name: they hold all its words,
    so they are among what holds the rarest of them."""
    words = re.findall(r"[^\W_]+", name) if len(name) <= LONGEST else []
    if not words or not found.concepts:
        return []
    rarest = min((held.scores for _, held in found.concepts), key=len)
    if len(rarest) > MANY:
        notes = matches.named(index, " ".join(words))
    else:
        held, asked = found.held, found.asked
        notes = matches.beginnings(index, [id for id in rarest if held[id] == asked])
    return [id for id, path in notes if _stem(path) == name]


def _stem(path: str) -> str:
    return fold(path.rpartition("/")[2]).removesuffix(".md")


def chosen(
    index: Index,
    own: dict[int, float],
    first: dict[int, int],
    filters: Filters,
    enough: int,
) -> list[Candidate]:
    """The best candidates that pass the filters, at least `enough` if there are so many; those that
    are to be first in this order."""
    chosen: list[Candidate] = []
    for batch in _batches(own, first, enough):
        for at in range(0, len(batch), _BATCH):
            chosen += matches.candidates(index, batch[at : at + _BATCH], filters)
        if len(chosen) >= enough:
            break
    chosen.sort(key=lambda c: (-first.get(c.id, 0), -own[c.id], c.path, c.line, c.place))
    return chosen[:enough]


def _batches(own: dict[int, float], first: dict[int, int], enough: int) -> Iterator[list[int]]:
    """Row ids in steps, the best first. What is equally good is never divided, so that the answer
    does not hang on the order in which the index was filled."""
    if first:
        yield sorted(first.keys() & own.keys(), key=own.__getitem__, reverse=True)
    rest = {id: score for id, score in own.items() if id not in first} if first else own
    top = best(rest, enough + SPARE)
    yield top
    done = set(top)
    left = sorted((id for id in rest if id not in done), key=rest.__getitem__, reverse=True)
    while left:
        stop = min(len(left), _BATCH)
        while stop < len(left) and rest[left[stop]] == rest[left[stop - 1]]:
            stop += 1
        yield left[:stop]
        left = left[stop:]


def brought(
    index: Index, handed: dict[int, float], chosen: list[Candidate], filters: Filters
) -> list[Candidate]:
    """Turns that hold nothing of what was asked, and stand beside one that does: often they are
    the answer. In notes and memories they would be noise."""
    there = {c.id for c in chosen}
    beside = [id for id in handed if id not in there]
    if not beside or "sessions" not in filters.scopes:
        return []
    return matches.candidates(index, beside, filters._replace(scopes=("sessions",)))
