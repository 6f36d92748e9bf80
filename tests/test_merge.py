"""Two sides of one base: nothing that either wrote is lost, nothing appears twice."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.merge import added, merge, restore

words = st.sampled_from(["- a", "- b", "- c", "- d", "    - nested", "## Head", "", "text"])
notes = st.lists(words, max_size=12).map(lambda lines: "\n".join(lines).encode())


def bullets(text: bytes) -> Counter[bytes]:
    return Counter(line.strip() for line in text.split(b"\n") if line.strip())


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "both"),
    [
        ("- a\n", "- a\n- mine\n", "- a\n- theirs\n", "- a\n- theirs\n- mine\n"),
        ("- a\n- b\n", "- a\n", "- a\n- b\n- c\n", "- a\n- c\n"),
        ("- a\n- b\n", "- A\n- b\n", "- a\n- B\n", "- A\n- B\n"),
        ("- a\n- b\n", "- a\n- b #pinned\n", "- a\n", "- a\n- b #pinned\n"),
        ("- a\n\n## H\n\n- b\n", "- a\n- x\n\n## H\n\n- b\n", "- a\n\n## H\n\n- b\n- y\n",
         "- a\n- x\n\n## H\n\n- b\n- y\n"),
        ("- a\n    - n\n", "- a\n    - n\n- x\n", "- a\n    - n\n    - more\n",
         "- a\n    - n\n    - more\n- x\n"),
        ("- a", "- a\n- x", "- a\n- y", "- a\n- y\n- x"),
        ("", "- x\n", "- y\n", "- y\n- x\n"),
    ],
)  # fmt: skip
def test_both_sides_are_there(base: str, mine: str, theirs: str, both: str) -> None:
    assert merge(base.encode(), mine.encode(), theirs.encode()).decode() == both


@given(notes, notes)
def test_a_side_that_did_nothing_has_no_say(base: bytes, other: bytes) -> None:
    assert merge(base, base, other) == other
    assert merge(base, other, base) == other
    assert merge(base, other, other) == other


@given(notes, notes, notes)
def test_no_line_is_lost(base: bytes, mine: bytes, theirs: bytes) -> None:
    """What a side wrote is there; what both kept is there."""
    merged, before = bullets(merge(base, mine, theirs)), bullets(base)
    for side in (mine, theirs):
        for line in bullets(side):
            assert merged[line] or before[line]
    for line in bullets(mine) & bullets(theirs) & before:
        assert merged[line] or before[line] > 1  # which of two equal lines was removed?


flat = notes.map(lambda text: text.replace(b"    ", b""))
places = st.lists(st.integers(0, 12), max_size=5)


@given(flat, places, places)
def test_lines_put_anywhere_by_two_sides_are_there_once(
    base: bytes, mine: list[int], theirs: list[int]
) -> None:
    def with_lines(name: str, places: list[int]) -> bytes:
        lines = base.split(b"\n")
        for number, at in enumerate(places):
            lines.insert(min(at, len(lines)), f"- {name} {number}".encode())
        return b"\n".join(lines)

    left, right = with_lines("mine", mine), with_lines("theirs", theirs)
    merged = bullets(merge(base, left, right))
    assert merged == bullets(base) + (bullets(left) - bullets(base)) + (
        bullets(right) - bullets(base)
    )


@given(notes, notes, flat)
def test_what_was_wiped_can_be_brought_back(base: bytes, saved: bytes, wiped: bytes) -> None:
    units = added(base, b"# Note\n" + saved)
    back = bullets(restore(wiped, units))
    assert all(back[line] for unit, _ in units for line in bullets(unit))
    assert bullets(wiped) <= back
    assert restore(restore(wiped, units), units) == restore(wiped, units)


def test_it_comes_back_where_it_was() -> None:
    units = added(b"- a\n- b\n", b"- a\n- new\n- b\n")
    assert restore(b"- a\n- b\n- c\n", units) == b"- a\n- new\n- b\n- c\n"
    assert restore(b"- c\n", units) == b"- c\n- new\n"
