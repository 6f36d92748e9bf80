"""Split texts into units, compare them and merge them.

A unit is a line without indentation, with the lines nested below it. All functions are pure. Their
time is linear in the size of the texts, except for the alignment of short runs of different lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

Units = tuple[str, ...]
Text = TypeVar("Text", Units, str)
Edits = list[tuple[int, int, list[str]]]  # (start, stop, new lines)
Block = tuple[int, int, int, int, bool]  # (start and stop in each text, whether they are equal)

ALIGNED = 10_000  # pairs of lines that are compared one by one
SAME_ENTRY = 0.4  # of the text of an entry that is left when it is reworded

_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t\r]*$", re.MULTILINE)
_MARKER = re.compile(r"^\s*([-*+]|\d+[.)])?\s*(\[.\]\s*)?")


def split(text: str) -> Units:
    """Return the units of a text. Joined with line breaks, they are the text."""
    lines = text.split("\n")
    if "\n " not in text and "\n\t" not in text:
        return tuple(lines)
    starts = [0]
    above = lines[0].strip()
    for number, line in enumerate(lines[1:], 1):
        words = line.strip()
        if not (words and above and line[0] in " \t"):
            starts.append(number)
        above = words
    return tuple(["\n".join(lines[start:stop]) for start, stop in pairwise([*starts, len(lines)])])


def join(units: Iterable[str]) -> str:
    return "\n".join(units)


def unit_id(unit: str) -> str:
    """Return the block id at the end of a line of this unit, with `^`; '' if it has none."""
    found = _ID.search(unit) if "^" in unit else None
    return f"^{found[1]}" if found else ""


# -- differences -----------------------------------------------------------------------------------


def edits(old: Units, new: Units) -> Edits:
    """Return the edits that turn `old` into `new`."""
    return [(i1, i2, list(new[j1:j2])) for i1, i2, j1, j2, equal in blocks(old, new) if not equal]


def apply_edits(old: Units, changes: Iterable[tuple[int, int, list[str]]]) -> Units:
    """Return the text `new`, given `old` and the changes from `edits(old, new)`."""
    out: list[str] = []
    at = 0
    for start, stop, lines in changes:
        out += old[at:start]
        out += lines
        at = stop
    return (*out, *old[at:])


def difference(old: Units, new: Units) -> dict[str, int]:
    """Return for each unit how many more or fewer times it is in `new` than in `old`."""
    head, tail = shared_ends(old, new)
    counts = Counter(new[head : len(new) - tail])
    counts.subtract(old[head : len(old) - tail])
    return {unit: count for unit, count in counts.items() if count}


def blocks(a: Units, b: Units) -> Iterator[Block]:
    """Yield the equal and the different parts of two texts, in order. Units that occur once on each
    side are the anchors."""
    done_a = done_b = 0
    for i, j in [*_anchors(a, b), (len(a), len(b))]:
        yield from _between(a, b, done_a, i, done_b, j)
        if i < len(a):
            yield i, i + 1, j, j + 1, True
        done_a, done_b = i + 1, j + 1


def _anchors(a: Units, b: Units) -> list[tuple[int, int]]:
    """Return the longest chain of units that are unique in both texts and in the same order."""
    head, tail = shared_ends(a, b)
    x, y = a[head : len(a) - tail], b[head : len(b) - tail]
    if not x or not y:
        return []
    count_x, count_y = Counter(x), Counter(y)
    place = {unit: j for j, unit in enumerate(y) if count_y[unit] == 1}
    pairs = [(i, place[u]) for i, u in enumerate(x) if count_x[u] == 1 and u in place]
    ends: list[int] = []  # the smallest end of a chain of each length
    last: list[int] = []  # the pair at that end
    before: list[int] = []  # the pair before each pair in its chain; -1 for the first
    for number, (_, j) in enumerate(pairs):
        k = bisect_left(ends, j)
        before.append(last[k - 1] if k else -1)
        ends[k : k + 1], last[k : k + 1] = [j], [number]
    chain: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append((pairs[at][0] + head, pairs[at][1] + head))
        at = before[at]
    return chain[::-1]


def _between(a: Units, b: Units, i1: int, i2: int, j1: int, j2: int) -> Iterator[Block]:
    """Yield the blocks between two anchors."""
    head, tail = shared_ends(a[i1:i2], b[j1:j2])
    if head:
        yield i1, i1 + head, j1, j1 + head, True
    m1, m2, n1, n2 = i1 + head, i2 - tail, j1 + head, j2 - tail
    if m1 < m2 and n1 < n2 and (m2 - m1) * (n2 - n1) <= ALIGNED:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, a[m1:m2], b[n1:n2], autojunk=False)
        for code, p1, p2, q1, q2 in matcher.get_opcodes():
            yield m1 + p1, m1 + p2, n1 + q1, n1 + q2, code == "equal"
    elif m1 < m2 or n1 < n2:
        yield m1, m2, n1, n2, False
    if tail:
        yield i2 - tail, i2, j2 - tail, j2, True


def shared_ends(a: Text, b: Text) -> tuple[int, int]:
    """Return the number of common units, or characters, at the start of two sequences, and at the
    end of the rest."""
    most = min(len(a), len(b))
    head = _shared(a, b, most)
    return head, _shared(a[::-1], b[::-1], most - head)


def _shared(a: Text, b: Text, most: int) -> int:
    """Return the number of common units at the start of two sequences, up to a limit."""
    low, high = 0, most
    if a[:high] == b[:high]:
        return high
    while low < high - 1:  # a[:low] is shared, a[:high] is not
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


# -- merging ---------------------------------------------------------------------------------------


def merge(base: Units, head: Units, theirs: Units) -> Units:
    """Return the merge of two sides that were edited from one base.

    The number of each unit is decided by counting. The units are in the order of the text
    (`theirs`), with the units that only the head has between them. A unit that only the head moved
    keeps its place in the head. An edit wins over a removal, two different edits are both kept, and
    a unit that both sides added is kept once.
    """
    if theirs in (base, head):
        return head
    if head == base:
        return theirs
    b, h, t = Counter(base), Counter(head), Counter(theirs)
    wanted = {unit: merged_count(b[unit], h[unit], t[unit]) for unit in h | t}
    surplus = {unit: t[unit] - wanted[unit] for unit in t}  # so many of theirs go
    missing = {unit: wanted[unit] - t[unit] for unit in h}  # so many come from the head
    for unit in moved(base, head) - moved(base, theirs):
        if h[unit] == t[unit] == 1:
            surplus[unit] = missing[unit] = 1
    out: list[str] = []
    for i1, i2, j1, j2, equal in blocks(head, theirs):
        if equal:
            out += theirs[j1:j2]
            continue
        for unit in theirs[j1:j2]:
            if surplus.get(unit, 0) > 0:
                surplus[unit] -= 1
            else:
                out.append(unit)
        for unit in head[i1:i2]:
            if missing.get(unit, 0) > 0:
                missing[unit] -= 1
                out.append(unit)
    return tuple(out)


def merged_count(base: int, head: int, theirs: int) -> int:
    """Return the number of times that a unit is in a merged text."""
    if head in (base, theirs):
        return theirs
    if theirs == base:
        return head
    return min(max(0, head + theirs - base), max(head, theirs))


def moved(base: Units, side: Units) -> set[str]:
    """Return the units that a side has in another order than the base."""
    both = set(base) & set(side)
    if [u for u in base if u in both] == [u for u in side if u in both]:
        return set()
    kept = {u for _, _, j1, j2, equal in blocks(base, side) if equal for u in side[j1:j2]}
    return {u for u in both if u.strip() and u not in kept}


def one_per_id(
    units: Units, theirs: Units, known: Collection[str], typed: Collection[str]
) -> Units:
    """Keep one wording of an entry that both sides reworded: the wording of the text if it is new,
    else the wording of the head. A unit that a person `typed` is kept without the id, unless the
    text has it with the id; only an agent's wording is dropped. An id that is twice in the text is
    kept twice."""
    there = set(theirs)
    without_id = {_ID.sub("", unit).rstrip() for unit in theirs if unit_id(unit)} - there
    units = tuple(unit for unit in units if unit not in without_id)
    twice = _repeated_ids(units) - _repeated_ids(theirs)
    if not twice:
        return units
    new = {unit_id(u) for u in theirs if u not in known} & twice
    out: list[str] = []
    for unit in units:
        id = unit_id(unit)
        if id not in twice or (unit in there) == (id in new):
            out.append(unit)
        elif unit in typed and id in new:
            out.append(_ID.sub("", unit).rstrip())
    return tuple(out)


def _repeated_ids(units: Units) -> set[str]:
    ids = Counter(id for u in units if (id := unit_id(u)))
    return {id for id, count in ids.items() if count > 1}


def likeness(old: str, new: str) -> float:
    """Return the share of the entry `old` that is left in `new`, from 0 to 1; 0 if the two are
    different entries. Entries with different ids are different."""
    id = unit_id(old)
    if id != unit_id(new):
        return 0.0
    x, y = (_MARKER.sub("", _ID.sub("", unit)).strip() for unit in (old, new))
    same = sum(shared_ends(x, y))
    share = same / max(len(x), len(y), 1)
    if id:
        return max(share, 0.5)
    if share >= SAME_ENTRY:
        return share
    typed_on_or_cut = same >= max(2, min(len(x), len(y)) - 1)
    return 0.5 if typed_on_or_cut else 0.0
