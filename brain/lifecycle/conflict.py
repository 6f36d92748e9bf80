"""Do two memories say the opposite? By words, as in [002]: use and don't use, always and never,
enable and disable, add and remove, should and shouldn't.

A text is taken apart into clauses. A clause takes a side on an axis (`use`, `norm`, `enable`,
`add`) about a subject, its other words. Two clauses are opposed if they take different sides on one
axis and speak of the same: most words of the shorter one are in the other, and the other has not
many more, and no other numbers: gate 1 is not gate 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import ceil

from brain.lifecycle.dedup import prose
from brain.record import NamedTuple

SHARED, ALIKE, ALIKE_ONE = 0.75, 0.4, 0.5  # of the shorter subject, of both, and with one word

_GATE = (
    *("use", "using", "don", "do not", "avoid", "never", "always", "must", "should", "prefer"),
    *("abl", "add", "remov", "delete", "drop", "instead", "rather", "turn", "stop", "can", "shal"),
    *("may not", "no longer"),
)
_SIDED = re.compile(
    r"\b(?:us(?:e[sd]?|ing)|don'?t|do(?:es)? not|doesn'?t|avoid\w*|never|always|must|should|shall"
    r"|prefers?|(?:en|dis)abl\w+|add(?:s|ed|ing)?|remov\w+|delete|drop|instead of|rather than"
    r"|turn\w* o|may not|can ?not|can't|no longer|stop)"
)
_DENIED = re.compile(
    r"\b(?:do(?:es)? not|do(?:es)?n'?t|must not|mustn'?t|should not|shouldn'?t|shall not|may not"
    r"|can(?: ?no|')t|never|no longer|stop(?= \w+ing\b))\b"
)
_CUT = re.compile(r"[;:!?\n,()]|\.(?=\s|$)|\s[-–—]\s|\b(?:but|and|or|then)\b")
_REASON = re.compile(r"\b(?:because|since|so that|as it|which|due to|otherwise)\b.*")
_WORD = re.compile(r"[.@#]?\w[\w.+#/'-]*")
_NUMBER, _YEAR = re.compile(r"\d"), re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")
_SIDES = {
    **dict.fromkeys(("use", "uses", "using", "used", "prefer", "prefers"), ("use", 1)),
    **dict.fromkeys(("enable", "enables", "enabled", "enabling"), ("enable", 1)),
    **dict.fromkeys(("disable", "disables", "disabled", "disabling"), ("enable", -1)),
    **dict.fromkeys(("add", "adds", "added", "adding"), ("add", 1)),
    **dict.fromkeys(("remove", "removes", "removed", "removing", "delete", "drop"), ("add", -1)),
    **dict.fromkeys(("always", "must", "should"), ("norm", 1)),
    "DENIED": ("norm", -1),
}
_EMPTY = frozenset(
    (
        *("a", "an", "the", "is", "are", "be", "been", "to", "of", "in", "on", "at", "by", "for"),
        *("with", "from", "as", "that", "this", "it", "its", "we", "our", "i", "you", "your"),
        *("not", "ever", "only", "just", "all", "any", "every", "please", "when", "while", "if"),
    )
)


class Clause(NamedTuple):
    """The sides of a clause, `(axis, 1 or -1)`, the words it is about, and numbers but no years."""

    sides: frozenset[tuple[str, int]]
    subject: frozenset[str]
    numbers: frozenset[str] = frozenset()


def opposes(a: str, b: str) -> bool:
    """Return True if the texts take different sides about the same subject."""
    others = clauses(b)
    return any(
        any((axis, -side) in other.sides for axis, side in one.sides) and _same(one, other)
        for one in clauses(a)
        for other in others
    )


def may_oppose(text: str, lines: Iterable[str]) -> bool:
    """Does one of these lines take the other side than the text, whatever it speaks of?"""
    against = {(axis, -side) for clause in clauses(text) for axis, side in clause.sides}
    return bool(against) and any(
        not against.isdisjoint(each.sides) for line in lines for each in clauses(line)
    )


def _same(one: Clause, other: Clause) -> bool:
    """Is the subject the same, by the words shared and the words each has?"""
    shared = len(one.subject & other.subject)
    fewer = min(len(one.subject), len(other.subject))
    if not shared or shared < SHARED * fewer:
        return False
    alike = shared / (len(one.subject) + len(other.subject) - shared)
    others = one.numbers - other.numbers and other.numbers - one.numbers
    return alike >= (ALIKE_ONE if fewer == 1 else ALIKE) and not others


def clauses(text: str) -> list[Clause]:
    """The clauses of a text that take a side; what the others say is part of every subject."""
    lower = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if not any(word in lower for word in _GATE) or not _SIDED.search(lower):
        return []
    read = [_clause(part) for part in _parts(prose(lower))]
    around = frozenset[str]().union(*(each.subject for each in read if not each.sides))
    return [each._replace(subject=each.subject | around) for each in read if each.sides]


def _parts(lower: str) -> Iterator[str]:
    over = "|over" if "prefer" in lower else ""
    text = re.sub(rf"\b(?:instead of|rather than{over})\b", ", DENIED use", lower)
    text = re.sub(r"\bavoid(?:s|ing)?\b(?: using\b)?", " DENIED use ", text)
    text = re.sub(r"\bturn(?:s|ed)? o(?:n|(ff))\b", lambda m: "disable" if m[1] else "enable", text)
    text = _DENIED.sub(" DENIED ", text)
    yield from (_REASON.sub("", part) for part in _CUT.split(text))


def _clause(part: str) -> Clause:
    """Denial goes before what it denies, and turns its side round."""
    sides, subject, denied = set(), set(), False
    for word in _WORD.findall(part):
        if word in _SIDES:
            axis, side = _SIDES[word]
            sides.add((axis, -side if denied and axis != "norm" else side))
            denied = word == "DENIED" or (denied and axis == "norm")
        elif word == "not":
            denied = True
        elif word not in _EMPTY:
            subject.add(_stem(word))
    if ("norm", -1) in sides:  # `should never`, `must not always`: what is denied is denied
        sides.discard(("norm", 1))
    numbers = (word for word in subject if _NUMBER.search(word) and not _YEAR.fullmatch(word))
    return Clause(frozenset(sides), frozenset(subject), frozenset(numbers))


def _stem(word: str) -> str:
    word = word.rstrip(".'-/+") or word
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class Stances:
    """The clauses of many entries, found by the side they take and the words they are about."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int, str], dict[tuple[str, int], Clause]] = {}
        self._about: dict[str, tuple[str, frozenset[str], list[Clause]]] = {}

    def add(self, ref: str, text: str, kind: str = "", files: Iterable[str] = ()) -> None:
        """Learn an entry, or that it says something else now."""
        self.remove(ref)
        if found := clauses(text):
            self._about[ref] = kind, frozenset(files), found
            for at, clause in enumerate(found):
                for key in _keys(clause):
                    self._held.setdefault(key, {})[ref, at] = clause

    def remove(self, ref: str) -> None:
        for at, clause in enumerate(self._about.pop(ref, ("", frozenset(), []))[2]):
            for key in _keys(clause):
                self._held[key].pop((ref, at), None)

    def against(self, text: str, kind: str = "", files: Iterable[str] = ()) -> list[str]:
        """The entries of the same kind, or about one of the same files, that say the opposite."""
        refs: dict[str, None] = {}
        asked = frozenset(files)
        for clause in clauses(text):
            for ref in self._opposed(clause):
                its_kind, its_files, _ = self._about[ref]
                if (kind and its_kind == kind) or asked & its_files:
                    refs[ref] = None
        return list(refs)

    def _opposed(self, clause: Clause) -> Iterator[str]:
        """The clauses that share a word are looked at; but every one that is alike enough shares
        one of the rarer words, so that the most common need not be looked up."""
        size = len(clause.subject)
        for axis, side in clause.sides:
            held = (self._held.get((axis, -side, word), {}) for word in clause.subject)
            rarest = sorted(held, key=len)[: size - ceil(ALIKE * size) + 1]
            for (ref, _), other in {
                key: val for found in rarest for key, val in found.items()
            }.items():
                if _same(clause, other):
                    yield ref


def _keys(clause: Clause) -> Iterator[tuple[str, int, str]]:
    for axis, side in clause.sides:
        yield from ((axis, side, word) for word in clause.subject)
