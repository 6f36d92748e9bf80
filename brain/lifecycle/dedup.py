"""Whether two texts are one memory.

They are if their prose is equal, or almost equal: the share of common words is at least SAME, and
they have the same numbers, names and denials, in the same order. A text of fewer than FEW words is
only equal to its own prose. Links after the words are not words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain.formats.prose import fingerprint, prose, without_links
from brain.formats.stems import STOP_WORDS, stem
from brain.record import NamedTuple

SAME, NEAR, FEW = 0.9, 0.6, 5
MOST_TERMS = 24  # of a long text the first tell what it is about
_DATE = re.compile(r"\(?\b\d{4}-\d{2}-\d{2}\b\)?")
_NOT = re.compile(r"\b(can)(?:not|'t)\b|\b(wo|\w+)n't\b")
_WORD = re.compile(r"[-+]?\d+(?:[.,:]\d+)*%?|[.@#]?\w+(?:['.+#/_:-]+\w+)*[+#]*")
_PLAIN = re.compile(r"[^\W_]+")
# Stop words that change what a sentence says: denials, amounts, conditions, order, persons.
_TELLING = frozenset(
    """
    no nor not only all any both each few many more most much some other own same must should might
    could can over under above below before after until during while if when between than through
    because off out up down further once too he she him her his hers they them their you your
    """.split()  # noqa: SIM905 - a list of them would fill the page
)
_EMPTY = (STOP_WORDS - _TELLING) | {"get", "gets", "got", "please", "ever"}
# Words that make another sentence of one, as stems.
_DECISIVE = frozenset(
    map(
        stem,
        """
        not no nor never without only none nothing neither cannot avoid stop disable enable off on
        allow forbid remove add except unless must should may might could can always sometimes
        all any both each every few many most some more he she him her his hers they them their
        you your
        """.split(),  # noqa: SIM905
    )
)
_COUNTS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty sixty
    ninety hundred thousand million once twice half first second third last daily weekly monthly
    """.split()  # noqa: SIM905
)


class Words(NamedTuple):
    """The words of a text as stems, in order and each once, and those that may not differ."""

    order: tuple[str, ...]
    fixed: frozenset[str]  # numbers, names and denials


def similarity(a: str, b: str) -> float:
    """Return the share of the words of both texts that are common, from 0 to 1."""
    return _jaccard(words(a), words(b))


def is_same(a: str, b: str) -> bool:
    """Return True if the texts are one memory."""
    a, b = without_links(a), without_links(b)
    if fingerprint(a) == fingerprint(b):
        return True
    one, other = words(a), words(b)
    if min(len(one.order), len(other.order)) < FEW or _jaccard(one, other) < SAME:
        return False
    differing = set(one.order) ^ set(other.order)
    return not differing & (one.fixed | other.fixed) and _is_rotation(one, other)


def _jaccard(one: Words, other: Words) -> float:
    common = len(set(one.order) & set(other.order))
    every = len(one.order) + len(other.order) - common
    return common / every if every else 1.0


def _is_rotation(one: Words, other: Words) -> bool:
    """Return True if the common words come in the same order, or one text begins with the end of
    the other ("In Go, use tabs" and "Use tabs in Go")."""
    first = [word for word in one.order if word in other.order]
    second = [word for word in other.order if word in one.order]
    at = second.index(first[0])
    return second[at:] + second[:at] == first


def terms(text: str) -> list[str]:
    """Return the words of a text to look up, in order, as the full-text index splits them."""
    found = dict.fromkeys(_PLAIN.findall(prose(without_links(text)).lower()))
    every = [word for word in found if word not in _EMPTY and len(word) > 1]
    return every[:MOST_TERMS]


@lru_cache(64)  # one text is compared with many
def words(text: str) -> Words:
    """Return the words of a text that count. Dates do not."""
    said = _DATE.sub(" ", normalize("NFKC", prose(without_links(text))))
    said = said.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    said = _NOT.sub(lambda match: f"{match[1] or match[2]} not", said)
    order: dict[str, None] = {}
    fixed: set[str] = set()
    for word in _WORD.findall(said):
        word = word.removesuffix("'s")
        lower = word.casefold()
        if lower in _EMPTY:
            continue
        root = stem(lower)
        order[root] = None
        if lower != word or not word.isalpha() or root in _DECISIVE or lower in _COUNTS:
            fixed.add(root)
    return Words(tuple(order), frozenset(fixed))
