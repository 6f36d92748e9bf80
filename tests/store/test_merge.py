"""Splitting, comparing and merging texts: laws for any texts, and named cases."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.store.merge import (  # isort: skip
    Units, apply_edits, blocks, difference, edits, join, likeness, merge, merged_count, one_per_id,
    shared_ends, split, unit_id,
)  # fmt: skip

words = st.sampled_from(
    ["- a", "- b", "- c", "- d", "    - nested", "\ttab", "## Head", "", "text"]
)
texts = st.lists(words, max_size=12).map("\n".join)
notes = texts.map(split)


def bullets(units: Units) -> Counter[str]:
    return Counter(line.strip() for line in join(units).split("\n") if line.strip())


# -- splitting -------------------------------------------------------------------------------------


@given(texts)
def test_units_joined_are_the_text(text: str) -> None:
    assert join(split(text)) == text


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", ("",)),
        ("- a\n- b\n", ("- a", "- b", "")),
        ("- a\n    - nested\n\tmore\n- b", ("- a\n    - nested\n\tmore", "- b")),
        ("- a\n\n    after a blank line", ("- a", "", "    after a blank line")),
        ("    indented first", ("    indented first",)),
        ("- a\r\n    b\r\n- c\r\n", ("- a\r\n    b\r", "- c\r", "")),
    ],
)
def test_a_unit_is_a_line_with_those_nested_below(text: str, units: Units) -> None:
    assert split(text) == units
    assert join(units) == text


@pytest.mark.parametrize(
    ("unit", "id"),
    [
        ("- a ^m-1", "^m-1"), ("- a ^m-1  ", "^m-1"), ("- a ^m-1\r", "^m-1"), ("- a ^m-1 b", ""),
        ("- a\n    - b ^m-2", "^m-2"), ("- a ^m-1\n    - b ^m-2", "^m-1"), ("- 2^10 is much", ""),
    ],
)  # fmt: skip
def test_the_id_of_a_unit(unit: str, id: str) -> None:
    assert unit_id(unit) == id


# -- differences -----------------------------------------------------------------------------------


@given(notes, notes)
def test_edits_turn_one_text_into_the_other(old: Units, new: Units) -> None:
    assert apply_edits(old, edits(old, new)) == new
    assert (edits(old, new) == []) == (old == new)


@given(notes, notes)
def test_blocks_cover_both_texts(a: Units, b: Units) -> None:
    at = (0, 0)
    for i1, i2, j1, j2, equal in blocks(a, b):
        assert (i1, j1) == at
        assert not equal or a[i1:i2] == b[j1:j2]
        at = (i2, j2)
    assert at == (len(a), len(b))


@given(notes, notes)
def test_the_difference_counts_units(old: Units, new: Units) -> None:
    counts = Counter(new)
    counts.subtract(old)
    assert difference(old, new) == {unit: count for unit, count in counts.items() if count}


@given(notes, notes)
def test_shared_ends(a: Units, b: Units) -> None:
    head, tail = shared_ends(a, b)
    assert a[:head] == b[:head]
    assert a[len(a) - tail :] == b[len(b) - tail :]
    assert head + tail <= min(len(a), len(b))
    assert head == min(len(a), len(b)) or a[head] != b[head]


# -- merging ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "head", "theirs", "both"),
    [
        ("- a\n", "- a\n- ours\n", "- a\n- theirs\n", "- a\n- theirs\n- ours\n"),
        ("- a\n- b\n", "- a\n", "- a\n- b\n- c\n", "- a\n- c\n"),
        ("- a\n- x\n- b\n", "- A\n- x\n- b\n", "- a\n- x\n- B\n", "- A\n- x\n- B\n"),
        ("- a\n\n## H\n\n- b\n", "- a\n- x\n\n## H\n\n- b\n", "- a\n\n## H\n\n- b\n- y\n",
         "- a\n- x\n\n## H\n\n- b\n- y\n"),
        ("- a\n    - n\n", "- a\n    - n\n- x\n", "- a\n    - n\n    - more\n",
         "- a\n    - n\n    - more\n- x\n"),
        ("- a", "- a\n- x", "- a\n- y", "- a\n- y\n- x"),
        ("", "- x\n", "- y\n", "- y\n- x\n"),
    ],
)  # fmt: skip
def test_both_sides_are_there(base: str, head: str, theirs: str, both: str) -> None:
    assert join(merge(split(base), split(head), split(theirs))) == both


def merged(base: str, head: str, theirs: str) -> str:
    """Merge lines that are given as letters."""
    return "".join(merge(tuple(base), tuple(head), tuple(theirs)))


def test_an_edit_beats_a_removal() -> None:
    assert merged("abc", "aBc", "ac") == "aBc"
    assert merged("abc", "ac", "aBc") == "aBc"


def test_two_different_edits_both_stay() -> None:
    assert sorted(merged("abc", "aBc", "aβc")) == sorted("aBβc")


def test_what_both_added_is_there_once() -> None:
    assert merged("ab", "axb", "abx").count("x") == 1


def test_what_both_removed_is_gone() -> None:
    assert merged("abc", "ac", "ac") == "ac"


def test_the_order_is_theirs() -> None:
    assert merged("abcd", "abcdx", "dcba") in ("dcbax", "dcbxa", "xdcba", "dxcba")
    assert [u for u in merged("abcd", "abcdx", "dcba") if u != "x"] == list("dcba")


def test_a_unit_that_only_the_head_moved_keeps_the_heads_place() -> None:
    """An agent moved an entry to another section; a person typed meanwhile."""
    assert merged("1ab2c", "1b2ca", "1ab2cd").replace("d", "") == "1b2ca"


def test_one_of_two_equal_lines_is_removed() -> None:
    assert merged("aab", "ab", "aabx").count("a") == 1


@given(notes, notes)
def test_a_side_that_did_nothing_has_no_say(base: Units, other: Units) -> None:
    assert merge(base, base, other) == other
    assert merge(base, other, base) == other
    assert merge(base, other, other) == other


@given(notes, notes, notes)
def test_no_line_is_lost(base: Units, head: Units, theirs: Units) -> None:
    """A line that one side wrote is there, and so is a line that both kept."""
    both = Counter(merge(base, head, theirs))
    for side in (head, theirs):
        for unit in set(side) - set(base):
            assert both[unit] or not unit.strip()
    for unit in set(head) & set(theirs) & set(base):
        assert both[unit] or Counter(base)[unit] > 1  # which of two equal lines was removed?


places = st.lists(st.integers(0, 12), max_size=5)


@given(notes, places, places)
def test_lines_added_anywhere_by_two_sides_are_there_once(
    base: Units, ours: list[int], theirs: list[int]
) -> None:
    def with_lines(name: str, places: list[int]) -> Units:
        units = list(base)
        for number, at in enumerate(places):
            units.insert(min(at, len(units)), f"- {name} {number}")
        return tuple(units)

    left, right = with_lines("ours", ours), with_lines("theirs", theirs)
    added = (Counter(left) - Counter(base)) + (Counter(right) - Counter(base))
    assert bullets(merge(base, left, right)) == bullets(tuple((Counter(base) + added).elements()))


LINES = [f"- l{n}" for n in range(12)] + ["", ""]


def random_text(chance: random.Random) -> Units:
    return tuple(chance.sample(LINES, chance.randint(0, 8)))


def edited(units: Units, chance: random.Random) -> Units:
    """A text after up to three removals, moves and additions."""
    out = list(units)
    for _ in range(chance.randint(0, 3)):
        kind = chance.random()
        if out and kind < 0.4:
            out.pop(chance.randrange(len(out)))
        elif out and kind < 0.6:
            unit = out.pop(chance.randrange(len(out)))
            out.insert(chance.randint(0, len(out)), unit)
        else:
            new = chance.choice([*LINES, f"- n{chance.randint(0, 9)}"])
            out.insert(chance.randint(0, len(out)), new)
    return tuple(out)


def check_laws(base: Units, head: Units, theirs: Units) -> None:
    both = merge(base, head, theirs)
    assert merge(base, head, base) == head
    assert merge(base, base, theirs) == theirs
    assert merge(base, head, head) == head
    assert merge(head, both, head) == both  # merged again, nothing changes
    b, h, t, m = map(Counter, (base, head, theirs, both))
    for unit in h | t:
        if unit:
            assert m[unit] == merged_count(b[unit], h[unit], t[unit]), (base, head, theirs, unit)
    assert not m.keys() - (h | t).keys()
    assert apply_edits(base, edits(base, theirs)) == theirs


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.stress)])
def test_the_laws_hold_for_random_edits(count: int) -> None:
    chance = random.Random(count)
    for _ in range(count):
        base = random_text(chance)
        check_laws(base, edited(base, chance), edited(base, chance))


@pytest.mark.parametrize(
    ("base", "head", "theirs", "count"),
    [
        (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 0), (0, 1, 1, 1), (0, 1, 0, 1), (0, 0, 1, 1),
        (2, 1, 1, 1), (2, 1, 2, 1), (1, 2, 2, 2), (1, 2, 0, 1), (2, 1, 0, 0), (0, 2, 1, 2),
    ],
)  # fmt: skip
def test_how_often_a_line_stays(base: int, head: int, theirs: int, count: int) -> None:
    assert merged_count(base, head, theirs) == count


def test_a_long_note_is_merged_in_little_time() -> None:
    """100,000 lines, all of them different, with a change at each end on each side."""
    base = tuple(f"- line {n}" for n in range(100_000))
    head, theirs = (*base[1:], "- ours"), ("- theirs", *base[:-1])
    both = merge(base, head, theirs)
    assert both[0] == "- theirs"
    assert "- ours" in both
    assert len(both) == len(base)


# -- one wording for each entry --------------------------------------------------------------------


def test_the_persons_new_words_win() -> None:
    units = ("- mine ^m-1", "- agent's ^m-1")
    assert one_per_id(units, ("- mine ^m-1",), {"- agent's ^m-1"}, set()) == ("- mine ^m-1",)


def test_words_that_are_known_to_be_old_never_win() -> None:
    units = ("- old ^m-1", "- agent's ^m-1")
    assert one_per_id(units, ("- old ^m-1",), {"- old ^m-1"}, set()) == ("- agent's ^m-1",)


def test_an_id_that_a_person_copied_stays_twice() -> None:
    units = ("- mine ^m-1", "- copy ^m-1")
    assert one_per_id(units, units, set(), set()) == units


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("- Meet Anna on Tuesday", "- Meet Anna on Friday", True),
        ("- Meet Anna", "- Meet Anna on Friday at noon, in the small room", True),
        ("- [ ] Call Bob", "- [x] Call Bob", True),
        ("- something ^m-1", "- entirely else ^m-1", True),
        ("- Meet Anna", "- Buy milk", False),
        ("- Meet Anna ^m-1", "- Meet Anna ^m-2", False),
        ("- Meet Anna ^m-1", "- Meet Anna", False),
    ],
)
def test_the_same_entry_in_other_words(old: str, new: str, same: bool) -> None:
    assert (likeness(old, new) > 0) == same
    assert likeness(old, old) == 1.0


def test_a_wording_without_the_id_gives_way_to_the_same_wording_with_it() -> None:
    units = ("- mine", "- mine ^m-1")
    assert one_per_id(units, ("- mine ^m-1",), set(), {"- mine"}) == ("- mine ^m-1",)
    assert one_per_id(units, units, set(), {"- mine"}) == units
