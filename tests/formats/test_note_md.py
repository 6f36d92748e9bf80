"""Any note: no text is lost between its passages, and each knows its lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import frontmatter, note_md
from brain.formats.text import decode
from brain.model import Document
from tests.formats import strategies


def read(text: str) -> Document:
    return note_md.parse(text.encode(), "Name")


def test_golden(case, check_case) -> None:
    check_case(case, read(f"{case.before}\n"))


def check_passages(data: bytes) -> Document:
    """The passages, one after the other, are the note; between them is only white space."""
    text, _ = decode(data)
    document = note_md.parse(data)
    at = 0
    for entry in document.entries:
        start = text.index(entry.text, at)
        assert not text[at:start].strip()
        assert entry.line == text.count("\n", 0, start) + 1
        at = start + len(entry.text)
        assert entry.end_line == text.count("\n", 0, at) + 1
        assert all(entry.line <= link.line <= entry.end_line for link in entry.links)
    assert not text[at:].strip()
    assert len({entry.ref for entry in document.entries}) == len(document.entries)
    return document


@given(strategies.data)
def test_no_text_is_lost(data: bytes) -> None:
    check_passages(data)


SECTIONS = st.lists(
    st.tuples(strategies.notes, st.sampled_from([1, 1, 40, 200])).map(
        lambda pair: pair[0] * pair[1]
    ),
    max_size=6,
)


@given(SECTIONS)
def test_no_text_of_a_long_note_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    first, *rest = check_passages(text.encode()).entries or [None]
    if first:
        properties = frontmatter.split(text.removeprefix("\ufeff"))[1]
        assert len(first.text) <= note_md.LARGE + properties
    assert all(len(entry.text) <= note_md.LARGE for entry in rest if entry)


def section(heading: str, size: int, word: str = "words ") -> str:
    return f"{heading}\n" + word * (size // len(word)) + "\n"


def test_small_sections_stay_together_and_large_ones_part() -> None:
    note = section("# A", 80) + section("## B", 80) + section("## C", 120) + section("# D", 60)
    note += section("# E", 1_500)
    assert [(c.heading, c.line, c.end_line) for c in read(note).entries] == [
        ("A", 1, 4),
        ("A > C", 5, 8),
        *[("E", 9, 10), ("E", 10, 10), ("E", 10, 10)],
    ]


def test_the_text_before_the_first_heading_is_a_passage_of_its_own_if_long() -> None:
    note = "words " * 100 + "\n\n# A\n" + "more " * 100
    assert [(c.heading, c.line) for c in read(note).entries] == [("", 1), ("A", 3)]


def test_heading_path() -> None:
    large = section("", 600)
    note = f"# A\n{large}## B\n{large}#### C\n{large}## D #\n{large}#\n{large}# C#\n{large}#no\n"
    assert [c.heading for c in read(note).entries] == [
        *["A", "A > B", "A > B > C", "A > D", "", "C#"],
    ]


def test_headings_in_code_and_comments_are_none() -> None:
    masked = "# A\n\n  \n# B `c`"
    assert [(h.offset, h.level, h.words) for h in note_md.headings(masked)] == [
        (0, 1, "A"),
        (8, 1, "B `c`"),
    ]
    note = section("# A", 600) + "```\n# no\n```\n%%\n# no\n%%\n" + section("# Use `x`", 600)
    assert [c.heading for c in read(note).entries] == ["A", "Use `x`"]


LINE = " ".join(["word"] * 60)


@pytest.mark.parametrize(
    ("unit", "behind"),
    [
        (f"{LINE}\n{LINE}\n\n", "\n\n"),
        (f"{LINE}\r\n{LINE}\r\n\r\n", "\r\n\r\n"),
        (f"{LINE}. {LINE}\n", "\n"),
        ("A short sentence. ", " A short"),
        ("\u6211\u4eec\u9009\u62e9\u4e86\u3002", "\u6211\u4eec"),
        ("word ", " word"),
    ],
)
def test_a_long_section_is_divided_where_a_reader_would(unit: str, behind: str) -> None:
    text = unit * (20_000 // len(unit))
    entries = read(text).entries
    assert len(entries) >= 5
    at = 0
    for entry in entries[:-1]:
        at = text.index(entry.text, at) + len(entry.text)
        assert text[at:].startswith(behind)


def test_one_endless_word_is_divided_too() -> None:
    assert [len(entry.text) for entry in read("x" * 10_000).entries] == [700] * 14 + [200]


@given(st.integers(0, 30), st.integers(0, 40), st.sampled_from(["\n", "\r\n"]))
def test_links_know_their_line_behind_properties(keys: int, lines: int, end: str) -> None:
    properties = ["---", *(f"k{i}: v" for i in range(keys)), "---"]
    note = end.join([*properties, *["words " * 50] * lines, "[[link]] [x](y.md)"])
    found = [link for entry in read(note).entries for link in entry.links]
    assert [(link.line, link.target) for link in found] == [
        (keys + lines + 3, "link"),
        (keys + lines + 3, "y.md"),
    ]


def test_equal_passages_have_different_ids_and_keep_them() -> None:
    same = section("# Same", 600)
    refs = [entry.ref for entry in read(same * 3).entries]
    assert len(set(refs)) == 3
    assert [entry.ref for entry in read(same * 2).entries] == refs[:2]
    assert [entry.ref for entry in read(same * 2 + section("# Other", 600)).entries][:2] == refs[:2]


def test_title_aliases_and_headings_are_of_the_whole_note() -> None:
    note = "---\ntitle: T\nalias: Other Name\n---\n" + section("# A", 600) + section("# B", 600)
    document = read(note)
    assert (document.title, document.aliases) == ("T", ("Other Name",))
    assert [c.heading for c in document.entries] == ["A", "B"]
    assert document.headings == ("A", "B")


def test_properties_are_the_lead_of_the_first_passage() -> None:
    properties = "---\ntags: [a]\n---\n"
    first, second = read(properties + section("# A", 600) + section("# B", 600)).entries
    assert (first.text[: first.lead], second.lead) == (properties, 0)
    (only,) = read(properties).entries
    assert only.lead == len(only.text)


def test_a_note_without_text_has_one_passage_without_text() -> None:
    """Its title can be found."""
    for text in ("", "\n", " \t\n\n", "\ufeff", "\r\n"):
        (only,) = note_md.parse(text.encode(), "Blue heron").entries
        assert (only.text, only.line, only.end_line, only.lead) == ("", 1, 1, 0)
    one, other = (note_md.parse(b"", name).entries[0] for name in ("Blue heron", "Kingfisher"))
    assert one.ref != other.ref
