"""How much of a question a match holds: its share of all that the question asks for, each thing by
how much it says.

A search gives the best there is, however little that is. Into a prompt goes only what holds a good
share. A word says the more, the fewer pieces hold it; what none holds says as much as what one
does. Words of talk (thanks, looks, good, make) say little, wherever they stand.
"""

from __future__ import annotations

import math

from brain.index import matches
from brain.recall import near
from brain.recall.stems import stem
from brain.recall.terms import STOP_WORDS, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.index.db import Index
    from brain.recall.concepts import Concept
    from brain.recall.ranking import Looked, Ranked

TALK = 0.25  # what a word of talk says, beside another one that is as rare
SEAM = 0.5  # what a pair of characters says that stands nowhere: mostly two words meet in it
OTHERS = 50  # pieces without the word, that a vault is taken to have besides its own
_WORDS = """
    actually answer anybody anyone anything ask away bad best better big bit bring bye came check
    come continue cool correct done else ever every everybody everyone everything exactly example
    explain find fine first found gave get give go goes going gone good got great guess hello help
    hey hi idea keep kept kind knew know known last later least less let like little long look lot
    made make maybe mean mind need never new next nice nobody nothing now okay old one perfect
    perhaps please possible probably problem put question quick quite ready real really reason right
    said saw say see seem seen sense show simple somebody someone something sorry sound start still
    stuff sure take taken talk tell thank thanks thing think thought today told tomorrow took tried
    true try understand use useful want way welcome well went whether without wonder work worked
    worry wrong yes yesterday yet
"""
_TALK = frozenset(map(stem, _WORDS.split()))


def shares(index: Index, looked: Looked, similar: float) -> dict[int, float]:
    """The share of each match, by row id: 1 for what holds something exactly as it was written, or
    means so much of the same. A turn has that of its neighbour, if that is more."""
    said = _said(index, looked)
    whole = sum(weight for weight, _ in said)
    alike = all(_is_talk(concept) for concept in looked.votes)
    found: dict[int, float] = {}
    for one in looked.found:
        id = one.candidate.id
        if one.exact or one.cosine >= similar:
            found[id] = 1.0
        else:
            held = sum(weight for weight, holding in said if id in holding)
            found[id] = held / whole if whole else 1.0
            if alike and looked.held.held.get(id, 0) < looked.held.asked:
                found[id] = 0.0  # where all is talk, some of it is nothing
    return found | _beside(looked.found, found)


def asks(looked: Looked) -> bool:
    """Is there something in the question that one could know?"""
    return not all(_is_talk(concept) for concept in looked.votes)


def _said(index: Index, looked: Looked) -> list[tuple[float, dict[int, float]]]:
    """(how much it says, what holds it) for each thing asked that is not everywhere."""
    held = dict(looked.held.concepts)
    total = matches.size(index)
    said: list[tuple[float, dict[int, float]]] = []
    for concept in looked.votes:
        if concept in looked.held.common or _is_spare(concept, concept in held):
            continue
        scores = held[concept].scores if concept in held else {}
        weight = _says(max(1, len(scores)), total)
        if concept.term.column == "spaced" and not scores:
            weight *= SEAM
        said.append((weight * (TALK if _is_talk(concept) else 1.0), scores))
    return said


def _says(count: int, total: int) -> float:
    """How much a word says that so many of all pieces hold. A vault with a few pieces tells little
    about that: what all of them hold may yet be what the question is about."""
    return math.log1p((total + OTHERS - count + 0.5) / (count + 0.5))


def _is_spare(concept: Concept, is_held: bool) -> bool:
    """Is this a path or identifier that stands nowhere? Its words are asked for besides."""
    term = concept.term
    return not is_held and len(term.words) > 1 and not term.exact.startswith('"')


def _is_talk(concept: Concept) -> bool:
    term = concept.term
    if len(term.words) > 1 or term.exact or term.column:
        return False
    word = fold(term.words[0])
    return word in STOP_WORDS or stem(word) in _TALK


def _beside(every: Iterable[Ranked], own: dict[int, float]) -> dict[int, float]:
    """The shares of turns that stand beside one that holds more."""
    found: dict[int, float] = {}
    for one in every:
        if one.candidate.scope == "sessions":
            for id, _ in near.reach(one.candidate):
                if id in own:
                    found[id] = max(own[one.candidate.id], own[id], found.get(id, 0.0))
    return found
