"""Filter expressions as a person types them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.errors import BadRequest
from brain.filter_expr import FIELDS, parse, sort

ENTRIES: list[dict[str, Any]] = [
    {
        "id": "m-aaaa", "kind": "decision", "text": "Chose SQLite over PostgreSQL", "line": 3,
        "tags": ["db/sqlite", "pinned"], "status": "pinned", "importance": 0.9, "hits": 4,
        "created": "2026-02-01", "path": "40_Brain/MEMORY.md", "heading": "Key Decisions",
        "agent": "admin", "project": None, "confidence": 0.7, "score": 3.0,
    },
    {
        "id": "m-bbbb", "kind": "fact", "text": "The greenhouse is heated", "tags": [], "line": 9,
        "status": "confirmed", "importance": 0.3, "hits": 0, "created": "2026-01-31T10:00:00Z",
        "path": "40_Brain/projects/garden/agent/MEMORY.md", "project": "garden", "agent": "garden",
    },
    {
        "id": "m-cccc", "kind": "warning", "text": "Frost until mid May", "tags": ["Garden"],
        "status": "candidate", "importance": 0.7, "created": "2026-02-14", "path": "Frost.md",
        "line": 1, "hits": 1,
    },
]  # fmt: skip


def found(text: str) -> str:
    """The last letters of the ids that a filter finds."""
    return "".join(each["id"][-1] for each in ENTRIES if parse(text).matches(each))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("importance>=0.7 and kind=decision", "a"),
        ("importance >= 0.7", "ac"),
        ("importance>0.7", "a"),
        ("importance<0.7", "b"),
        ("importance<=.7", "bc"),
        ("hits=4", "a"),
        ("hits==4.0", "a"),
        ("hits != 4", "bc"),
        ("kind=Decision", "a"),
        ("kind in (decision, fact)", "ab"),
        ("kind not in (decision, fact)", "c"),
        ("tags=db", "a"),
        ("tags=#garden", "c"),
        ("tags has db/sqlite", "a"),
        ("tags!=db", "bc"),
        ("tags in (garden, db)", "ac"),
        ("tags=null", "b"),
        ("tag=d", ""),
        ("tags~sql", "a"),
        ("text~'over postgres'", "a"),
        ('text ~ "FROST"', "c"),
        ("text!~frost", "ab"),
        ("created=2026-02", "ac"),
        ("created>=2026-02", "ac"),
        ("created>2026-02", ""),
        ("created<2026-02", "b"),
        ("created<=2026-01-31", "b"),
        ("created>2026-01-31 and created<2026-02-14", "a"),
        ("project=null", "ac"),
        ("project!=null", "b"),
        ("project=garden or kind=decision", "ab"),
        ("not kind=decision", "bc"),
        ("not (kind=decision or kind=fact)", "c"),
        ("kind=fact or kind=decision and hits>5", "b"),
        ("(kind=fact or kind=decision) and hits<5", "ab"),
        ("section='Key Decisions'", "a"),
        ("path~projects/garden", "b"),
        ("line<4", "ac"),
        ("confidence<1", "a"),
        ("score=3", "a"),
        ("KIND=fact OR status=candidate", "bc"),
    ],
)
def test_a_filter_finds(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("importnce>=0.7", "no field 'importnce' (at character 1"),
        ("kind=fact and colour=red", "no field 'colour' (at character 15"),
        ("kind=fact kind=decision", "expected `and`, `or` or the end at character 11"),
        ("kind", "at the end"),
        ("kind=", "expected a value at the end"),
        ("(kind=fact", "expected `)` at the end"),
        ("kind in decision", "expected `(` at character 9"),
        ("kind in (a b)", "expected `,` or `)` at character 12"),
        ("importance>=high", "compared with a number, not 'high' (at character 13"),
        ("tags>db", "cannot be compared with"),
        ("kind='fact", "unexpected text at character 6"),
        ("kind=fact and", "expected a field at the end"),
        ("", "expected a field at the end"),
        ("kind not fact", "expected `in` at character 10"),
        ("(" * 1000 + "kind=fact", "too many parentheses"),
        ("not " * 1000 + "kind=fact", "too many parentheses"),
    ],
)
def test_a_filter_that_means_nothing_says_where(text: str, said: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse(text)
    assert said in str(caught.value)


def test_the_field_that_was_meant_is_named() -> None:
    with pytest.raises(BadRequest, match="Did you mean 'importance'"):
        parse("importnce=1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("importance", "acb"),
        ("-importance", "bca"),
        ("created", "cab"),
        ("-created", "bac"),
        ("confidence", "abc"),
        ("-confidence", "abc"),
        ("-kind", "abc"),
        ("project, -importance", "bca"),
    ],
)
def test_a_minus_means_ascending_and_what_has_no_value_comes_last(text: str, expected: str) -> None:
    assert "".join(each["id"][-1] for each in sort(ENTRIES, text)) == expected


@pytest.mark.parametrize("text", ["", "-", "importnce", "kind,,colour"])
def test_an_order_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        sort(ENTRIES, text)


def test_a_filter_says_which_words_it_asks_for() -> None:
    tree = parse("kind=Decison or not (kind in (fact, null) and kind~b) or category!=x and tag=a")
    assert tree.values("kind") == ["decison", "fact", "x"]


ENTRY = st.fixed_dictionaries(
    {}, optional={name: st.none() | st.text() | st.floats() | st.integers() for name in FIELDS}
)
WORD = st.sampled_from(
    [*FIELDS, "and", "or", "not", "(", ")", "in", ",", "=", "<", "~", "1", "'a'"]
)


@given(st.lists(WORD, max_size=9).map(" ".join) | st.text(), ENTRY)
def test_any_text_is_a_filter_or_refused(text: str, entry: dict[str, Any]) -> None:
    try:
        tree = parse(text)
    except BadRequest:
        return
    assert tree.matches(entry) is not parse(f"not ({text})").matches(entry)


@given(st.text(min_size=1), st.sampled_from(["text", "kind", "path"]))
def test_what_is_quoted_is_found_as_it_is(value: str, field: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    assert parse(f'{field}="{quoted}"').matches({field: value})
    assert parse(f'{field}~"{quoted}"').matches({field: f"a {value} b"})
