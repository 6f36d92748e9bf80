"""items.json: what a project knows, each item with its place in the file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import records_json
from brain.formats.text import derived_id
from brain.model import Link
from tests.formats.strategies import lines_of

SEED = b"""[
  {
    "id": "item_abc123",
    "type": "decision",
    "title": "Use Fastify for API",
    "content": "We chose Fastify over Express.",
    "sourceFile": "docs/Architecture.md",
    "lineNumber": 45,
    "confidence": 0.9,
    "extractedAt": "2026-02-05T10:00:00Z"
  }
]
"""
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
SCALARS = WORDS | st.integers(-(2**53), 2**53) | st.booleans() | st.none()
ITEMS = st.fixed_dictionaries(
    {"id": WORDS},
    optional={
        "type": WORDS, "title": SCALARS, "content": SCALARS, "tags": WORDS | st.lists(SCALARS),
        "sourceFile": SCALARS, "extractedAt": SCALARS, "confidence": SCALARS,
        "unknown key": SCALARS | st.lists(SCALARS) | st.dictionaries(WORDS, SCALARS),
    },
)  # fmt: skip


def codes(data: bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in records_json.parse("items", data).problems]


def test_the_seeds_example() -> None:
    document = records_json.parse("items", SEED)
    (item,) = document.entries
    assert (item.ref, item.kind, item.status) == ("item_abc123", "decision", "")
    assert (item.heading, item.text) == ("Use Fastify for API", "We chose Fastify over Express.")
    assert item.created == "2026-02-05T10:00:00Z"
    assert item.links == (Link(2, "derived_from", "docs/Architecture.md", ""),)
    assert (item.line, item.end_line) == (2, 11)
    assert item.extra == {
        "sourceFile": "docs/Architecture.md", "lineNumber": 45, "confidence": 0.9,
    }  # fmt: skip
    assert (document.problems, document.broken) == ((), False)


def test_an_object_with_items_reads_like_the_list() -> None:
    wrapped = b'{"version": 2, "items": ' + SEED + b', "note": "kept"}'
    (item,) = records_json.parse("items", wrapped).entries
    (alone,) = records_json.parse("items", SEED).entries
    assert item == alone


def test_what_an_item_leaves_out() -> None:
    document = records_json.parse(
        "items", b'[{"title": "Only a title"}, {"id": "", "name": "Redis"}]'
    )
    title, other = document.entries
    assert (title.kind, title.text, title.created) == ("fact", "Only a title", None)
    assert title.links == ()
    assert title.ref == derived_id("i", "Only a title", "", "1")
    assert (other.text, other.extra) == ("Redis", {"id": "", "name": "Redis"})
    assert [p.code for p in document.problems] == ["missing-id", "missing-id"]


def test_equal_items_without_ids_are_told_apart() -> None:
    refs = [
        entry.ref for entry in records_json.parse("items", b'[{"title":"a"},{"title":"a"}]').entries
    ]
    assert refs == [derived_id("i", "a", "", "1"), derived_id("i", "a", "", "2")]


def test_the_second_item_with_an_id_stays_searchable_under_another() -> None:
    data = b'[{"id": "x", "title": "one"},\n{"id": "x", "title": "two"}]'
    one, two = records_json.parse("items", data).entries
    assert codes(data) == [(2, "duplicate-id")]
    assert (one.ref, two.ref) == ("x", derived_id("i", "two", "", "1"))
    assert two.extra == {"id": "x"}


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["db", "#api", "db", " "], ("db", "api")),
        ("db, api,,#x", ("db", "api", "x")),
        (None, ()),
        ("", ()),
    ],
)
def test_tags(tags: Any, expected: tuple[str, ...]) -> None:
    data = json.dumps([{"id": "a", "title": "t", "tags": tags}]).encode()
    assert records_json.parse("items", data).entries[0].tags == expected
    assert codes(data) == []


def test_a_wrong_type_is_a_problem_and_its_value_is_kept() -> None:
    data = b"""[
{"id": 7, "title": ["a"], "content": "c", "tags": [1, "ok"], "sourceFile": {}, "extractedAt": 5}
]"""
    (item,) = records_json.parse("items", data).entries
    assert codes(data) == [
        (2, "wrong-type"), (2, "missing-id"), (2, "wrong-type"), (2, "wrong-type"),
    ]  # fmt: skip
    assert (item.text, item.tags, item.links, item.created) == ("c", ("ok",), (), None)
    assert item.extra == {
        "id": 7, "title": ["a"], "tags": [1, "ok"], "sourceFile": {}, "extractedAt": 5,
    }  # fmt: skip


@pytest.mark.parametrize("data", [b"", b" \r\n", b"\xef\xbb\xbf\n", b"[]", b'{"items": []}'])
def test_an_empty_file_holds_nothing_and_is_not_broken(data: bytes) -> None:
    document = records_json.parse("items", data)
    assert (document.entries, document.broken) == ((), False)
    assert not [p for p in document.problems if p.code not in ("bom", "crlf")]


@pytest.mark.parametrize(
    ("data", "line", "code"),
    [
        (SEED.replace(b"Express", b"Expr\xff"), 6, "invalid-utf8"),
        (SEED.replace(b"Express", b"Expr\0"), 6, "nul"),
        (b"<<<<<<< HEAD\n[]\n=======\n[1]\n>>>>>>> other\n", 1, "conflict-markers"),
        (SEED[:-30], 10, "json"),
        (b'{"tasks": []}', 1, "json-shape"),
    ],
)
def test_a_file_that_is_not_safe_to_edit_is_broken(data: bytes, line: int, code: str) -> None:
    document = records_json.parse("items", data)
    assert document.broken
    assert document.entries == ()
    assert (line, code) in codes(data)


def render(items: list[Any], indent: Any, ascii_only: bool, crlf: bool, bom: bool) -> bytes:
    text = json.dumps(items, indent=indent, ensure_ascii=ascii_only)
    text = text.replace("\n", "\r\n") if crlf else text
    return (b"\xef\xbb\xbf" if bom else b"") + text.encode()


@given(
    st.lists(ITEMS, max_size=5), st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.booleans(),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_every_item_is_where_it_says(
    items: list[Any], indent: Any, ascii_only: bool, crlf: bool, bom: bool, wrapped: bool
) -> None:
    whole: Any = {"é": "…", "items": items} if wrapped else items
    data = render(whole, indent, ascii_only, crlf, bom)
    document = records_json.parse("items", data)
    assert not document.broken
    found = [(entry.line, entry.end_line) for entry in document.entries]
    assert found == lines_of(data, "items")
    assert len({entry.ref for entry in document.entries}) == len(items)


@given(ITEMS)
def test_nothing_that_is_written_gets_lost(item: dict[str, Any]) -> None:
    (entry,) = records_json.parse("items", json.dumps([item]).encode()).entries
    shown = {
        "id": entry.ref, "type": entry.kind, "title": entry.heading, "content": entry.text,
        "tags": list(entry.tags), "extractedAt": entry.created,
    }  # fmt: skip
    assert entry.extra is not None
    for key, value in item.items():
        if key in ("sourceFile", "confidence", "unknown key"):
            assert entry.extra[key] == value
        elif value not in (None, ""):
            assert value in (shown[key], entry.extra.get(key))


@given(st.binary())
def test_any_bytes_can_be_read(data: bytes) -> None:
    assert len(records_json.parse("items", data).entries) <= data.count(b"{")


@given(st.data())
def test_a_damaged_file_can_be_read(draw: st.DataObject) -> None:
    start = draw.draw(st.integers(0, len(SEED)))
    end = draw.draw(st.integers(start, min(len(SEED), start + 9)))
    noise = draw.draw(st.binary(max_size=6) | st.sampled_from([b'"', b"[", b"}", b",", b"\\ud800"]))
    data = SEED[:start] + noise + SEED[end:]
    document = records_json.parse("items", data)
    for entry in document.entries:
        assert 1 <= entry.line <= entry.end_line <= data.count(b"\n") + 1
        "".join((entry.ref, entry.kind, entry.heading, entry.text, *entry.tags)).encode()
