"""MEMORY.md: what is an entry, where exactly it stands, and which id it has."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import memory_md
from brain.formats.text import BOM
from brain.model import Document, Entry
from tests.formats import strategies

VAULTS = Path(__file__).parents[1] / "vaults"
MEMORIES = sorted(VAULTS.rglob("MEMORY.md"))


def read(text: str | bytes, owner: str = "admin") -> Document:
    return memory_md.parse(text.encode() if isinstance(text, str) else text, owner)


def entries(text: str | bytes) -> list[Entry]:
    return [entry for entry in read(text).entries if entry.kind != "note"]


def refs(*lines: str) -> list[str]:
    return [entry.ref for entry in entries("\n".join(lines))]


def test_golden(case, check_case) -> None:
    check_case(case, read(f"{case.before}\n"))


# Where an entry stands


def check_spans(data: bytes) -> None:
    """Spans are in order and apart, start and end at text, and lie on the lines they claim."""
    document = read(data)
    entries = document.entries
    assert len({entry.ref for entry in entries}) == len(entries)
    if document.broken or any(problem.code == "too-long" for problem in document.problems):
        assert all((entry.start, entry.end) == (0, 0) for entry in entries)
        return
    assert all(a.end <= b.start for a, b in pairwise(entries))
    for entry in entries:
        span = data[entry.start : entry.end].decode()
        assert span == (span.rstrip() if entry.kind == "note" else span.strip()) != ""
        assert entry.line == data.count(b"\n", 0, entry.start) + 1
        assert entry.end_line == data.count(b"\n", 0, entry.end) + 1
        assert all(entry.line <= link.line <= entry.end_line for link in entry.links)
    edges = [0, *(edge for entry in entries for edge in (entry.start, entry.end)), len(data)]
    assert b"".join(data[a:b] for a, b in pairwise(edges)) == data  # a render without edits


@pytest.mark.parametrize("path", MEMORIES, ids=lambda path: path.relative_to(VAULTS).as_posix())
def test_spans_in_the_vaults(path: Path) -> None:
    data = path.read_bytes()
    check_spans(data)
    check_spans(data.replace(b"\r\n", b"\n"))


@given(strategies.data)
def test_spans_in_any_bytes(data: bytes) -> None:
    check_spans(data)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A real note with some of its bytes cut out and others put in."""
    data = draw(st.sampled_from(MEMORIES)).read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 40))
        data = data[:at] + draw(strategies.notes).encode()[:30] + data[at + length :]
    return data


@given(mutated())
def test_spans_in_damaged_notes(data: bytes) -> None:
    check_spans(data)


@st.composite
def written(draw: st.DrawFn) -> tuple[bytes, list[bytes], list[int]]:
    """A note made of known entries: its bytes, those of each entry, and their first lines."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    out = draw(st.sampled_from(["", "\ufeff", f"---{end}a: b{end}---{end}", f"# {end}"]))
    found, lines = [], []
    for _ in range(draw(st.integers(0, 6))):
        out += draw(st.sampled_from(["", end, f"## Heading{end}", f"%%hidden{end}- no%%{end}"]))
        marker = draw(st.sampled_from(["- ", "* ", "+ ", "1. ", "-\t", "- [ ] ", " - ", ""]))
        first = draw(strategies.prose) + draw(st.sampled_from(["", " #tag", " %%c%%", " ^id"]))
        nested = draw(st.lists(strategies.prose, max_size=3)) if marker.strip() == "-" else []
        entry = end.join(
            [marker.strip() + " " * bool(marker.strip()) + first] + [f"      - {n}" for n in nested]
        )
        out += end + " " * (len(marker) - len(marker.lstrip()))
        lines.append(out.count("\n") + 1)
        out += entry + draw(st.sampled_from(["", "  "])) + end
        out += draw(st.sampled_from(["", end, f"{end}```{end}- code{end}```{end}"]))
        found.append(entry.encode())
    return out.removesuffix(end * draw(st.booleans())).encode(), found, lines


@given(written())
def test_an_entry_is_its_bytes_from_the_marker_to_its_last_line(
    note: tuple[bytes, list[bytes], list[int]],
) -> None:
    data, found, lines = note
    entries = [entry for entry in read(data).entries if entry.kind != "note"]
    assert [data[entry.start : entry.end] for entry in entries] == found
    assert [entry.line for entry in entries] == lines


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("- a\n- b\n", ["- a", "- b"]),
        ("  - a  \n    - b\n\n\n- c", ["- a  \n    - b", "- c"]),
        ("- a %%b%%\n- c", ["- a %%b%%", "- c"]),
        ("- a %%b\nc%%\n- d", ["- a %%b\nc%%", "- d"]),
        ("- a %%never closed\n- b\n", ["- a"]),
        ("- a %%b%% %%c\nd%% %%e%%", ["- a %%b%% %%c\nd%%"]),
        ("a %%b\n\nc%% d", ["a %%b\n\nc%%", "d"]),
        ("- a\n\n%%b%%\n\n- c", ["- a", "- c"]),
        ("%%a%% b", ["b"]),
        ("- a\n\n  b\n\nc", ["- a\n\n  b", "c"]),
        ("# h\na\n# i\n> b\n", ["a", "> b"]),
        ("    code\n", ["    code"]),
        ("\ufeff- \u00e9\u65e5\n- a", ["- \u00e9\u65e5", "- a"]),
    ],
)
def test_spans(text: str, spans: list[str]) -> None:
    data = text.encode()
    assert [data[c.start : c.end].decode() for c in read(data).entries] == spans


# Which id it has


def test_an_entry_without_an_id_gets_the_same_one_everywhere() -> None:
    assert refs("- Deploys go out on Tuesdays") == ["m-6mwctm21"]
    assert read("- a", "one").entries[0].ref != read("- a", "two").entries[0].ref


@pytest.mark.parametrize(
    "line",
    [
        "* Chose caf\u00e9",
        "1) Chose   caf\u00e9  ",
        "Chose caf\u00e9",
        "- [ ] Chose caf\u00e9",
        "- [x] Chose caf\u00e9",
        "- Chose caf\u00e9 #db #pinned",
        "- #db Chose caf\u00e9",
        "- Chose caf\u00e9 [a:: b] (c:: [[d]])",
        "- Chose caf\u00e9 %%a comment%%",
        "- Chose\n  caf\u00e9",
        "- Chose caf\u00e9\n    - nested",
        "- Chose caf\u00e9\r\n",
        "\ufeff- Chose caf\u00e9",
        "---\na: b\n---\n# Decisions\n- Chose caf\u00e9",
        normalize("NFD", "- Chose caf\u00e9"),
    ],
)
def test_the_words_alone_make_the_id(line: str) -> None:
    assert refs(line) == refs("- Chose caf\u00e9")


def test_other_words_make_another_id() -> None:
    assert len(set(refs("- a", "- b", "- A", "- a [[b]]", "- `a`"))) == 5


@given(
    st.lists(strategies.prose, unique=True, max_size=6).flatmap(
        lambda x: st.tuples(st.just(x), st.permutations(x))
    )
)
def test_ids_do_not_depend_on_other_entries(orders: tuple[list[str], list[str]]) -> None:
    before, after = (
        {c.text: c.ref for c in entries("\n".join(f"- {w}" for w in o))} for o in orders
    )
    assert before == after


@given(st.permutations(range(4)), st.sets(st.integers(0, 3)))
def test_equal_entries_have_different_ids_and_keep_them(
    order: list[int], anchored: set[int]
) -> None:
    """Brain writes the id that an entry has behind it; then somebody moves the lines."""
    ids = refs(*["- same"] * 4)
    assert len(set(ids)) == 4
    lines = [f"- same ^{id}" if i in anchored else "- same" for i, id in enumerate(ids)]
    assert refs(*lines) == ids
    moved = refs(*[lines[i] for i in order])
    assert set(moved) == set(ids)
    assert all(moved[at] == ids[i] for at, i in enumerate(order) if i in anchored)


def test_an_anchored_entry_keeps_its_id_whatever_it_says() -> None:
    before, after = entries("- old words ^abc"), entries("# Other\n- [x] quite new #tag ^abc")
    assert before[0].ref == after[0].ref == "abc"
    assert before[0].extra == {"anchored": True}


def test_the_second_use_of_an_id_counts_as_none() -> None:
    document = read("- one ^id\n- two ^id\n- three ^id\n")
    assert [entry.ref for entry in document.entries] == ["id", *refs("- two", "- three")]
    assert [(p.line, p.code) for p in document.problems] == [
        (2, "duplicate-id"),
        (3, "duplicate-id"),
    ]
    assert "line 1" in document.problems[0].message


def test_equal_passages_have_different_ids() -> None:
    one, two = read("> same\n\ntext\n\n> same\n").entries[::2]
    assert one.ref != two.ref


# What else is read


def only(text: str) -> Any:
    (entry,) = entries(text)
    return entry


@pytest.mark.parametrize(
    "text",
    [
        "^blockid",
        "%%a%%",
        "$$x$$",
        "$$\n- x\n+ y\n# z\n$$",
        "```\n- a\n```",
        "~~~\na\n\n- b\n~~~",
        "> a",
        "> [!note]\n> - a",
        "| a |\n|---|\n| b |",
        "<div>\n- a\n</div>",
        "<!-- a -->",
        "    - a",
        "[^1]: a",
        "[a]: b",
        "# heading",
        "heading\n===",
        "---",
        "- ",
        "- [ ]",
    ],
)
def test_no_entry(text: str) -> None:
    assert entries(f"{text}\n") == []
    assert [c.text for c in entries(f"- before\n# g\n\n{text}\n\n# h\n- after\n")] == [
        "before",
        "after",
    ]


def test_what_is_no_entry_can_still_be_found() -> None:
    document = read("> quote #tag [[link]]\n\n| a |\n|---|\n")
    assert [(c.kind, c.status, c.tags) for c in document.entries] == [
        ("note", "", ("tag",)),
        ("note", "", ()),
    ]
    assert document.entries[0].links[0].target == "link"


def test_an_entry_knows_what_is_nested_in_it() -> None:
    entry = only("- a #x [[b]]\n    - c #y [[d]] [k:: v]\n")
    assert (entry.tags, entry.kind, entry.status) == (("x", "y"), "fact", "confirmed")
    assert [(link.line, link.target) for link in entry.links] == [(1, "b"), (2, "d")]
    assert entry.extra == {"fields": {"k": "v"}}


def test_tags_of_the_note_are_tags_of_its_entries_but_not_their_kind() -> None:
    entry = only("---\ntags: [decision, pinned]\n---\n- a #b\n")
    assert (entry.tags, entry.kind, entry.status) == (
        ("decision", "pinned", "b"),
        "fact",
        "confirmed",
    )


def test_a_long_note_is_read_as_a_plain_one() -> None:
    document = read("---\ntags: [x]\ncreated: 2026-02-01\n---\n" + "- a\n" * 20_001)
    assert [problem.code for problem in document.problems] == ["too-long"]
    assert {entry.kind for entry in document.entries} == {"note"}
    assert (document.properties["tags"], document.created) == (["x"], "2026-02-01")
    assert not document.broken


@pytest.mark.parametrize("bad", [b"\xff", b"\0", b"<<<<<<< a\n=======\n>>>>>>> b\n"])
@pytest.mark.parametrize("length", [1, 20_001])
def test_what_is_not_safe_to_edit_is_broken(bad: bytes, length: int) -> None:
    document = read(b"- a\n" * length + bad)
    assert document.broken
    assert document.entries
    assert all((entry.start, entry.end) == (0, 0) for entry in document.entries)


def test_bom_is_no_part_of_the_first_entry() -> None:
    data = BOM + b"- a"
    (entry,) = read(data).entries
    assert (entry.text, data[entry.start : entry.end]) == ("a", b"- a")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- a\n\nstray %% here\n- b\n", [(3, "open-comment")]),
        ("---\ntitle: T\n---\n- a\n%%\n- b\n", [(5, "open-comment")]),
        ("- a %%hidden%%\n%% two\nlines %%\n- b %% never closed\n", [(4, "open-comment")]),
        ("- a %%hidden%%\n- b\n", []),
        ("- a\n- b %%\n", []),  # hides nothing
        ("- a `%%` and\n```\n%%\n```\n- b\n", []),  # code
        ("- a\n", []),
    ],
)
def test_a_comment_that_is_never_closed_is_told(text: str, found: list[tuple[int, str]]) -> None:
    problems = memory_md.parse(text.encode()).problems
    assert [(problem.line, problem.code) for problem in problems] == found
