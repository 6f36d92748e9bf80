"""The changed part of a note, put between what was there, is the whole note."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brain.formats import memory_md
from brain.formats.memory_md import changed_part
from brain.model import Document, Entry, Part
from tests.formats import strategies

lines = st.lists(st.sampled_from(strategies.LINES), max_size=12)


def places(entry: Entry, lines: int = 0, size: int = 0) -> Entry:
    """A entry that moved, without what depends on the ids of others."""
    extra = {key: value for key, value in (entry.extra or {}).items() if key != "anchored"}
    return entry._replace(
        ref="",
        extra=extra,
        line=entry.line + lines,
        end_line=entry.end_line + lines,
        start=entry.start + size,
        end=entry.end + size,
        links=tuple(link._replace(line=link.line + lines) for link in entry.links),
    )


def codes(document: Document) -> set[str]:
    """The problems of a note, but for ids that are written twice: the index looks for those."""
    return {problem.code for problem in document.problems} - {"duplicate-id"}


def joined(before: bytes, entries: tuple[Entry, ...], part: Part) -> list[Entry]:
    """All entries, those of the part between those that were there."""
    old = memory_md.parse(before).entries
    head = [places(entry) for entry in old if entry.start < part.start]
    tail = [places(entry, part.lines, part.size) for entry in old if entry.start >= part.stop]
    return [*head, *map(places, entries), *tail]


@given(lines, lines, lines, lines, st.booleans(), st.sampled_from(["", "---\ntags: [x]\n---\n"]))
@example(["- a | b"], [], ["x"], ["|---|---|"], True, "")
@example(["- x"], ["y"], [], ["- a | b", "|---|---|"], True, "")
@example(["# One"], [], ["- x"], ["- a | b", "|---|---|"], True, "")
@example(["# One"], [], ["- x"], ["- - -", "- y"], True, "")
@example(["- `a"], ["x"], ["y"], ["- b` c"], True, "")
@example(["# a | b", "|---|---|", "- x"], ["y"], ["z"], [], True, "")
@example(["- x", "    ```"], ["y"], ["z"], ["- a", "    ```", "- b"], True, "")
def test_a_part_between_its_cuts_is_the_whole(
    head: list[str], old: list[str], new: list[str], tail: list[str], ended: bool, top: str
) -> None:
    before, after = (
        (top + "\n".join([*head, *middle, *tail]) + "\n" * ended).encode() for middle in (old, new)
    )
    if found := changed_part(before, after):
        document, part = found
        whole = memory_md.parse(after)
        assert joined(before, document.entries, part) == [places(entry) for entry in whole.entries]
        assert codes(whole) == codes(memory_md.parse(before)) <= {"open-comment", "frontmatter"}
        assert (document.title, document.created) == (whole.title, whole.created)


NOTE = "# Memory\n\n## Facts\n- one\n- two\n  more\n- three\n\n## Rest\n\nwords\n\n- four\n"


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        ("- two\n", "- TWO\n", ["one", "TWO\nmore"]),
        ("- three\n", "- three\n- new\n", ["three", "new"]),
        ("- three\n", "", ["two\nmore"]),
        ("## Rest\n", "## Made\n- new\n\n## Rest\n", ["three", "new"]),
        ("- four\n", "- four\n\n## Made\n- new\n", ["four", "new"]),
        ("# Memory\n", "# Memory\n\nIntro\n", ["Intro"]),
    ],
)
def test_only_the_part_that_changed_is_parsed(old: str, new: str, texts: list[str]) -> None:
    found = changed_part(NOTE.encode(), NOTE.replace(old, new, 1).encode())
    assert found is not None
    assert [entry.text for entry in found[0].entries] == texts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- two\n", "- two\n```\n"),  # a fence that hides the rest
        ("- two\n", "- two %% hidden\n"),
        ("- two\n", "$$\n- two\n"),
        ("- two\n", "<div>\n- two\n"),
        ("- two\n", "- two\r\n"),
        ("- two\n", "- two\N{LINE SEPARATOR}\n"),
        ("# Memory", "---\ntags: [x]\n---\n# Memory"),
        ("## Facts\n", "## Other facts\n"),  # entries below are under another heading
        ("# Memory\n", "# Memory\n\n```\n"),
        ("- two\n", "- two ^same\n- three ^same\n"),
        ("- two\n", "- two" + " word" * 200_000 + "\n"),
    ],
)
def test_all_is_parsed_where_a_change_may_reach_further(old: str, new: str) -> None:
    assert changed_part(NOTE.encode(), NOTE.replace(old, new, 1).encode()) is None
    assert changed_part(NOTE.replace(old, new, 1).encode(), NOTE.encode()) is None
    assert changed_part(b"\xef\xbb\xbf" + NOTE.encode(), NOTE.encode()) is None
