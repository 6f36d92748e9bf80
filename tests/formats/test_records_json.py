"""Edits of items.json and tasks.json: a value or a record, and no other byte."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.errors import BadRequest, Refused
from brain.formats import edit, records_json
from brain.formats.text import BOM
from brain.model import Applied, Change, Drop, Put, Remove
from tests.formats import strategies
from tests.formats.test_json_spans import VALUES

PATH = "items.json"


def run(
    text: str | bytes, *edits: Change, format: str = "items"
) -> tuple[str, tuple[Applied, ...]]:
    data = text.encode() if isinstance(text, str) else text
    edited = edit(format, PATH, data, edits)
    return edited.data.decode(), edited.done


def after(text: str | bytes, *edits: Change, format: str = "items") -> str:
    return run(text, *edits, format=format)[0]


def put(ref: str, **values: Any) -> Put:
    return Put(PATH, ref, values)


NOTES = """\
[
\t{"id" : "a","n": 1.0, "s": "caf\\u00e9",\t"x": {"z": 1e3, "y": []}},
\t{"n": 2,   "id": "b"}
]
"""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (put("a", n=2), "1.0", "2"),
        (put("a", n=1, s="caf\u00e9", x={"y": [], "z": 1000}), "", ""),
        (put("a", s="\u00e9"), '"caf\\u00e9"', '"\\u00e9"'),
        (put("a", new=None), "[]}}", '[]},"new" : null}'),
        (put("b", n=True, m=[1]), '2,   "id": "b"', 'true,   "id": "b",   "m": [1]'),
        (put("c", n=1), '"b"}', '"b"},\n\t{"id": "c",   "n": 1}'),
    ],
)
def test_a_value_is_spliced(change: Put, old: str, new: str) -> None:
    assert after(NOTES, change) == NOTES.replace(old, new, 1)
    assert after(NOTES.replace("\n", "\r\n"), change) == NOTES.replace(old, new, 1).replace(
        "\n", "\r\n"
    )


def test_a_record_is_written_as_its_neighbours_are() -> None:
    text = '{\n  "v": 1,\n  "tasks": [\n    {\n      "id": "a",\n      "tags": ["x"]\n    }\n  ]\n}'
    new = after(text, put("b", tags=["y"], n={}), put("a", status="done"), format="tasks")
    assert new == (
        '{\n  "v": 1,\n  "tasks": [\n    {\n      "id": "a",\n      "tags": ["x"],\n'
        '      "status": "done"\n    },\n    {\n      "id": "b",\n      "tags": [\n        "y"\n'
        '      ],\n      "n": {}\n    }\n  ]\n}'
    )
    assert after('[{"id":"a"}]', put("b", n=[1, 2])) == '[{"id":"a"},{"id":"b","n":[1,2]}]'
    assert after('[{"id": "a"}]', put("b", n=1)) == '[{"id": "a"}, {"id": "b", "n": 1}]'


@pytest.mark.parametrize(
    ("format", "start"), [("items", '[\n  {\n    "id"'), ("tasks", '{\n  "tasks": [\n    {\n')]
)
@pytest.mark.parametrize("data", [b"", BOM, b"\n"])
def test_a_new_file(format: str, start: str, data: bytes) -> None:
    new = after(data, put("a", title="x"), format=format)
    assert new.removeprefix("\ufeff").startswith(start)
    assert new.startswith("\ufeff") == data.startswith(BOM)
    assert new.endswith("]\n" if format == "items" else "]\n}\n")


def test_an_empty_list_is_filled_and_emptied() -> None:
    for format, text in (("items", "[]\n"), ("tasks", '{\n\t"tasks": [],\n\t"v": 1\n}\n')):
        new = after(text, put("a", n=1), format=format)
        assert json.loads(new)
        assert new.count("\n") > text.count("\n")
        assert after(new, Drop(PATH, "a"), format=format) == text


def test_records_are_found_by_the_id_that_reading_gives_them() -> None:
    text = '[{"title": "x"}, {"id": "a"}, {"id": "a", "title": "y"}]'
    one, two, three = (entry.ref for entry in records_json.parse("items", text.encode()).entries)
    new = after(text, put(one, title="z"), put(two, n=1), put(three, n=2))
    assert new == (
        f'[{{"title": "z", "id": "{one}"}}, {{"id": "a", "n": 1}}, '
        f'{{"id": "{three}", "title": "y", "n": 2}}]'
    )
    assert [entry.ref for entry in records_json.parse("items", new.encode()).entries] == [
        one,
        two,
        three,
    ]


def test_the_last_of_two_equal_keys_counts() -> None:
    assert after('[{"id": "a", "n": 1, "n": 2}]', put("a", n=3)) == '[{"id": "a", "n": 1, "n": 3}]'


def test_dropping_takes_the_comma_along() -> None:
    text = '[\n  {"id": "a"},\n  {"id": "b"},\n  {"id": "c"}\n]\n'
    assert after(text, Drop(PATH, "a")) == text.replace('{"id": "a"},\n  ', "")
    assert after(text, Drop(PATH, "c")) == text.replace(',\n  {"id": "c"}', "")
    new, done = run(text, Drop(PATH, "b"), Drop(PATH, "b"))
    assert [one.outcome for one in done] == ["done", "missing"]
    assert (done[0].before, done[0].previous) == ('{"id": "b"}', "a")
    assert json.loads(new) == [{"id": "a"}, {"id": "c"}]


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file as some tool writes it."""
    ids = draw(st.lists(strategies.words, unique=True, max_size=4))
    keys = st.text(max_size=4).filter(lambda key: key not in ("id", "tasks", "items"))
    records = [{"id": ref, **draw(st.dictionaries(keys, VALUES, max_size=3))} for ref in ids]
    format = draw(st.sampled_from(["items", "tasks"]))
    value = {"v": 1, format: records} if draw(st.booleans()) else records
    text = json.dumps(
        value, indent=draw(st.sampled_from([None, 2, "\t"])), ensure_ascii=draw(st.booleans())
    )
    text += draw(st.sampled_from(["", "\n"]))
    return format, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


def records(format: str, data: bytes) -> dict[str, Any]:
    value = json.loads(data.decode())
    listed = value[format] if isinstance(value, dict) else value
    return {record["id"]: record for record in listed}


@given(files(), strategies.words, st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
def test_any_record_can_be_put_and_dropped(
    file: tuple[str, bytes], ref: str, values: dict[str, Any]
) -> None:
    format, data = file
    values.pop("id", None)
    parse = partial(records_json.parse, format)
    spans = {entry.ref: data[entry.start : entry.end] for entry in parse(data).entries}
    new, (done,) = edit(format, PATH, data, [Put(PATH, ref, values)])
    want = records(format, data)
    want[ref] = {**want.get(ref, {"id": ref}), **_storable(values)}
    want = _storable(want)  # a NUL that was there stays as it is where it says the same
    assert _storable(records(format, new)) == want
    found = {entry.ref: new[entry.start : entry.end] for entry in parse(new).entries}
    assert found.pop(ref).decode() == done.after
    old = spans.pop(ref, b"").decode()
    assert (found, done.before) == (spans, old)
    assert b"\r\n" not in data or b"\n" not in new.replace(b"\r\n", b"")
    again = edit(format, PATH, new, [Put(PATH, ref, values)])
    assert (again.data, again.done[0].outcome) == (new, "already")
    dropped = edit(format, PATH, new, [Drop(PATH, ref)])
    left = _storable(records(format, dropped.data))
    assert left == {k: v for k, v in want.items() if k != ref}
    if not old and spans:
        assert dropped.data == data


def _storable(values: dict[str, Any]) -> dict[str, Any]:
    from brain.formats.json_spans import storable

    return storable(values)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'[{"id": "a"},\n]', "line 2: is not valid JSON here"),
        (b'{"a": 1}', "line 1: is neither a list"),
        (b"[\xff]", "line 1: is not valid UTF-8"),
        (b"[" * 200 + b"]" * 200, "line 1: is nested over"),
        (b"<<<<<<< a\n=======\n>>>>>>> b\n", "line 1: holds unresolved merge markers"),
        (b'["\0"]', "line 1: holds a NUL"),
    ],
)
def test_what_does_not_parse_is_refused(data: bytes, says: str) -> None:
    for change in (put("a", n=1), Drop(PATH, "a")):
        with pytest.raises(Refused, match=f"items.json, {says}") as caught:
            run(data, change)
        assert caught.value.remedy


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(BadRequest):
        run("[]", put("a", n=value))


def test_other_changes_are_none_of_these_files() -> None:
    for format in ("items", "tasks"):
        with pytest.raises(BadRequest):
            run("", Remove(PATH, "a"), format=format)
