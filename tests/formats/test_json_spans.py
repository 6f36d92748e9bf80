"""JSON with places: what an edit replaces is exactly what was read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import json_spans
from brain.formats.json_spans import JsonError, Reading, Refs, elements, first_time, members
from brain.formats.text import storable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_reads_what_the_standard_library_reads(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(storable(value), indent=indent, ensure_ascii=ascii_only)
    assert json_spans.loads(f" {text}\r\n") == storable(value)


@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_elements_are_where_they_say(values: list[Any], indent: Any, ascii_only: bool) -> None:
    values = storable(values)
    text = "  " + json.dumps(values, indent=indent, ensure_ascii=ascii_only) + " tail"
    found = list(elements(text, 2))
    assert [value for value, _, _ in found] == values
    assert [json.loads(text[start:end]) for _, start, end in found] == values


@given(st.dictionaries(st.text(), VALUES, max_size=5), st.sampled_from([None, 2]), st.booleans())
def test_members_are_where_they_say(value: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    value = storable(value)
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = list(members(text, 0))
    assert [(member.key, member.value) for member in found] == list(value.items())
    for member in found:
        assert json.loads(text[member.start : member.end]) == member.value
        assert json.JSONDecoder().raw_decode(text, member.key_start)[0] == member.key


def test_a_member_can_be_spliced_and_the_rest_survives() -> None:
    text = '{\r\n\t"b" : [1,  2],\r\n\t"status":"open" ,"a": {"z": 1, "y": 2}\r\n}'
    status = next(member for member in members(text, 0) if member.key == "status")
    assert text[: status.start] + '"done"' + text[status.end :] == text.replace("open", "done")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[1,\n2", 2, "delimiter"),
        ('{"a": 1,\n\n"b" 2}', 3, "delimiter"),
        ("[]\n[]", 2, "after the end"),
        ("[1,\n]", 2, "expecting value"),
        ('["a\nb"]', 1, "control character"),
        ('["a', 1, "unterminated string"),
        ("// a comment\n[]", 1, "expecting value"),
    ],
)
def test_a_text_that_does_not_parse_names_line_and_reason(text: str, line: int, says: str) -> None:
    reading = Reading(text.encode(), "items", "i")
    assert reading.broken
    assert [(p.line, p.code) for p in reading.problems] == [(line, "json")]
    assert says in reading.problems[0].message


@pytest.mark.parametrize("text", ["[1 2]", "[1,]", "[,1]", '{"a":1,}', '{"a" 1}', "{1:2}", "[1"])
def test_walking_refuses_what_the_decoder_refuses(text: str) -> None:
    walk = elements if text[0] == "[" else members
    with pytest.raises(JsonError):
        list(walk(text, 0))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, '[{"a":' * 60 + "1" + "}]" * 60],
    ids=["100,000 lists", "100,000 objects", "500 lists", "120 of both"],
)
def test_too_deep_is_a_problem_and_not_a_crash(text: str) -> None:
    reading = Reading(text.encode(), "items", "i")
    assert reading.broken
    assert [p.code for p in reading.problems] == ["json-depth"]


def test_a_hundred_levels_are_allowed_and_brackets_in_strings_do_not_count() -> None:
    assert json_spans.loads("[" * 100 + "]" * 100)
    with pytest.raises(JsonError, match="100 levels"):
        json_spans.loads("[" * 101 + "]" * 101)
    assert json_spans.loads(json.dumps("[" * 5_000)) == "[" * 5_000
    assert len(json_spans.loads("[" + "[]," * 5_000 + "[]]")) == 5_001


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1" * 5_000, "1" * 5_000),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
        ("1.5e3", 1500.0),
        ("NaN", None),
        ("-Infinity", None),
        ('"a\\ud800b"', "a\ufffdb"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\u0000"', "\ufffd"),
        ('{"\\udfff": ["\\ud800"]}', {"\ufffd": ["\ufffd"]}),
        ('"\\\\ud800"', "\\ud800"),
    ],
)
def test_what_sqlite_cannot_store_is_replaced(text: str, value: Any) -> None:
    assert json_spans.loads(text) == value


def test_a_repeated_key_is_named_with_its_line_and_the_last_counts() -> None:
    data = b'[\n{"a": 1},\n{"b": 1,\n "c": {"d": 1},\n "b": 2, "b": 3}\n]'
    reading = Reading(data, "items", "i")
    assert [(p.line, p.code) for p in reading.problems] == [(5, "duplicate-key")]
    assert '"b"' in reading.problems[0].message
    assert [record.value.get("b") for record in reading.records] == [None, 3]


def test_a_repeated_key_is_noticed_beside_a_half_surrogate() -> None:
    reading = Reading(b'[{"b": "\\ud800", "b": 1}]', "items", "i")
    assert [p.code for p in reading.problems] == ["duplicate-key"]


def test_elements_that_are_no_objects_are_skipped_with_their_line() -> None:
    reading = Reading(b'[\n1,\n{"a": 1},\n"x", [{}],\nnull]', "items", "i")
    assert [record.value for record in reading.records] == [{"a": 1}]
    assert [(p.line, p.code) for p in reading.problems] == [
        (line, "not-an-object") for line in (2, 4, 4, 5)
    ]


@pytest.mark.parametrize(
    "data", [b'"items"', b"1", b"null", b"{}", b'{"items": 1}', b'{"items": {}}']
)
def test_another_shape_is_broken(data: bytes) -> None:
    reading = Reading(data, "items", "i")
    assert (reading.broken, [p.code for p in reading.problems]) == (True, ["json-shape"])


def test_the_last_of_two_lists_counts_as_in_every_json_reader() -> None:
    reading = Reading(b'{"items": [{"a": 1}], "items": [{"a": 2}]}', "items", "i")
    assert [record.value for record in reading.records] == [{"a": 2}]


def test_a_long_single_line_is_read_in_linear_time() -> None:
    data = json.dumps([{"a": "é" * 100}] * 20_000, ensure_ascii=False).encode()
    records = Reading(data, "items", "i").records
    assert records[-1].value == {"a": "é" * 100}


@pytest.mark.parametrize(
    "good",
    [
        "2026-02-05", "2026-02-05T10:00", "2026-02-05T10:00:00Z", "2026-02-05 10:00:00",
        "2026-02-05T10:00:00.123Z", "2026-02-05T10:00:00+01:00", "2026-02-05T10:00:00-0330",
    ],
)  # fmt: skip
def test_a_time_is_kept_as_it_is_written(good: str) -> None:
    assert first_time(good) == good
    assert first_time(None, "soon", good, "2020-01-01") == good


@pytest.mark.parametrize(
    "bad", ["", "yesterday", "2026-13-01", "2026-02-30", "2026-02-05T25:00", "20260205", 20260205,
            "2026-02-05 and more", "\uff12026-02-05", None, ["2026-02-05"]],
)  # fmt: skip
def test_what_is_no_time_is_none(bad: Any) -> None:
    assert first_time(bad) is None


def test_derived_refs_count_occurrences_and_never_collide() -> None:
    refs = Refs("i")
    first, second = refs.derive("a"), refs.derive("a")
    assert first != second
    again = Refs("i")
    assert again.take(first)
    assert again.derive("a") == second
    assert not again.take(first)
    assert again.take(first, "another group")


def test_many_equal_records_get_refs_of_their_own_in_linear_time() -> None:
    refs = Refs("i")
    assert len({refs.derive("same") for _ in range(20_000)}) == 20_000
