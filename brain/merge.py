"""Three texts into one: what two sides made of the same base, and no line of either lost.

Texts are compared by units: a line at the margin with the lines nested below it. Where only one
side changed something, that side counts; where both did, both stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

_NESTED = (b" ", b"\t")

Unit = bytes
Edit = tuple[int, int, list[Unit]]  # base[start:stop] became these


def merge(base: bytes, mine: bytes, theirs: bytes) -> bytes:
    """`theirs` with what `mine` changed since `base`. Of two changes in one place theirs comes
    first."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    units = _units(base)
    left, right = _units(theirs), _units(mine)
    woven = list(_woven(units, _edits(units, left), _edits(units, right)))
    return b"\n".join(_without_repeats(woven, left, right))


def added(base: bytes, text: bytes) -> list[tuple[bytes, bytes]]:
    """The units that `text` has and `base` has not, each with the one before it."""
    before, units = set(_units(base)), _units(text)
    pairs = zip([b"", *units], units, strict=False)
    return [(unit, above) for above, unit in pairs if unit.strip() and unit not in before]


def restore(text: bytes, units: list[tuple[bytes, bytes]]) -> bytes:
    """`text` with those of the units (as `added` tells them) that it lacks: behind the one that was
    before them, or at the end."""
    out = _units(text)
    for unit, above in units:
        if not _holds(out, unit):
            end = len(out) - (not out[-1])
            out.insert(out.index(above) + 1 if above in out else end, unit)
    return b"\n".join(out)


def _holds(units: list[Unit], unit: Unit) -> bool:
    """Is a unit there, or by now with more nested in it, or nested in another?"""
    if unit.startswith(_NESTED):
        return unit in b"\n".join(units)
    return any(other == unit or other.startswith(unit + b"\n") for other in units)


def _without_repeats(woven: list[Unit], left: list[Unit], right: list[Unit]) -> Iterator[Unit]:
    """Without what both sides have, but in different places, so that it was taken for two."""
    most = Counter(left) | Counter(right)
    for unit in woven:
        if not unit.strip():
            yield unit
        elif most[unit]:
            most[unit] -= 1
            yield unit


def _units(data: bytes) -> list[Unit]:
    """Lines without their ends, each with what is nested in it."""
    out: list[list[bytes]] = []
    for line in data.split(b"\n"):
        if out and line.startswith(_NESTED) and line.strip() and out[-1][0].strip():
            out[-1].append(line)
        else:
            out.append([line])
    return [b"\n".join(lines) for lines in out]


def _edits(base: list[Unit], side: list[Unit]) -> list[Edit]:
    """How `side` differs from `base`, in order."""
    start = _common(base, side)
    stop = _common(base[start:][::-1], side[start:][::-1])
    a, b = base[start : len(base) - stop], side[start : len(side) - stop]
    found = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(start + i1, start + i2, b[j1:j2]) for code, i1, i2, j1, j2 in found if code != "equal"]


def _common(a: list[Unit], b: list[Unit]) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))


def _woven(base: list[Unit], left: list[Edit], right: list[Edit]) -> Iterator[Unit]:
    at = 0
    while left or right:
        start = min(edits[0][0] for edits in (left, right) if edits)
        yield from base[at:start]
        ours, theirs, at = _overlapping(base, start, left, right)
        yield from _both(base[start:at], theirs, ours)
    yield from base[at:]


def _overlapping(
    base: list[Unit], start: int, left: list[Edit], right: list[Edit]
) -> tuple[list[Unit], list[Unit], int]:
    """Take all edits that touch each other from `start` on: what each side has there, and where
    they end."""
    stop, grown = start, True
    taken: tuple[list[Edit], list[Edit]] = ([], [])
    while grown:
        grown = False
        for edits, mine in ((left, taken[0]), (right, taken[1])):
            while edits and (edits[0][0] == start or edits[0][0] < stop):
                mine.append(edits.pop(0))
                stop, grown = max(stop, mine[-1][1]), True
    theirs, ours = (_applied(base, start, stop, edits) for edits in taken)
    return ours, theirs, stop


def _applied(base: list[Unit], start: int, stop: int, edits: list[Edit]) -> list[Unit]:
    out: list[Unit] = []
    for first, last, units in edits:
        out += base[start:first] + units
        start = last
    return out + base[start:stop]


def _both(was: list[Unit], theirs: list[Unit], ours: list[Unit]) -> list[Unit]:
    """Both changed this place: all that is new on either side stays; what was there before stays
    if both sides left it."""
    if ours in (was, theirs):
        return theirs
    if theirs == was:
        return ours
    before, left = set(was), set(ours)
    out = [unit for unit in theirs if unit not in before or unit in left]
    there = Counter(theirs)
    for unit in ours:
        if there[unit]:
            there[unit] -= 1
        elif unit not in before:
            out.append(unit)
    return out
