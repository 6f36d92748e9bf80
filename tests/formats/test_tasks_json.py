"""tasks.json: what is to be done, each task with its place in the file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats import records_json
from brain.formats.text import derived_id
from tests.formats.strategies import lines_of

SEED = b"""{
  "tasks": [
    {
      "id": "TASK-001",
      "milestone": "M1",
      "priority": 1,
      "status": "pending",
      "description": "Implement session locking",
      "acceptance_criteria": ["Lock acquired before execution", "Lock released after"],
      "created": "2026-02-05",
      "completed": null,
      "blocked_by": []
    }
  ]
}
"""
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
ANY = WORDS | st.integers(-(2**53), 2**53) | st.none() | st.lists(WORDS, max_size=3)
KEYS = ("id", "milestone", "priority", "status", "description", "acceptance_criteria", "created",
        "completed", "blocked_by", "title", "owner")  # fmt: skip
TASKS = st.dictionaries(st.sampled_from(KEYS), ANY)


def codes(data: bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in records_json.parse("tasks", data).problems]


def test_the_seeds_example() -> None:
    document = records_json.parse("tasks", SEED)
    (task,) = document.entries
    assert (task.ref, task.kind, task.status, task.heading) == ("TASK-001", "task", "pending", "M1")
    assert task.text == (
        "Implement session locking\n- Lock acquired before execution\n- Lock released after"
    )
    assert (task.line, task.end_line, task.created) == (3, 13, "2026-02-05")
    assert task.extra == {"milestone": "M1", "priority": 1, "completed": None, "blocked_by": []}
    assert (document.problems, document.broken) == ((), False)


def test_a_bare_list_reads_like_the_object() -> None:
    tasks = json.loads(SEED)["tasks"]
    (task,) = records_json.parse("tasks", json.dumps(tasks).encode()).entries
    assert (task.ref, task.line) == ("TASK-001", 1)


def test_status_is_compared_in_lower_case_and_kept_as_written() -> None:
    (task,) = records_json.parse(
        "tasks", b'[{"id": "a", "status": "In_Progress", "owner": "me"}]'
    ).entries
    assert task.status == "in_progress"
    assert task.extra == {"status": "In_Progress", "owner": "me"}


def test_a_task_without_id_or_description() -> None:
    data = b'{"tasks": [\n{"title": "Ship it", "acceptance_criteria": "it runs"}]}'
    (task,) = records_json.parse("tasks", data).entries
    assert task.text == "Ship it\n- it runs"
    assert task.ref == derived_id("t", "", "Ship it\n- it runs", "1")
    assert codes(data) == [(2, "missing-id")]


def test_wrong_types_are_problems_and_the_others_load() -> None:
    data = b"""{"tasks": [
{"id": "a", "description": 5, "acceptance_criteria": ["x", 1], "blocked_by": {"b": 1}},
"not a task",
{"id": "a", "description": "again", "created": "soon"}
]}"""
    first, second = records_json.parse("tasks", data).entries
    assert sorted(codes(data)) == [
        (2, "wrong-type"), (2, "wrong-type"), (2, "wrong-type"), (3, "not-an-object"),
        (4, "duplicate-id"),
    ]  # fmt: skip
    assert first.text == "- x"
    assert first.extra == {
        "description": 5, "acceptance_criteria": ["x", 1], "blocked_by": {"b": 1},
    }  # fmt: skip
    assert (second.text, second.created) == ("again", None)
    assert second.extra == {"id": "a", "created": "soon"}


@pytest.mark.parametrize("data", [SEED[:-5], b'{"items": []}', SEED.replace(b"M1", b"\xff")])
def test_a_file_that_does_not_parse_is_broken(data: bytes) -> None:
    document = records_json.parse("tasks", data)
    assert document.broken
    assert document.entries == ()
    assert document.problems


@given(st.lists(TASKS, max_size=5), st.sampled_from([None, 2]), st.booleans(), st.booleans())
def test_every_task_is_where_it_says(
    tasks: list[Any], indent: Any, ascii_only: bool, crlf: bool
) -> None:
    text = json.dumps({"ü": 1, "tasks": tasks}, indent=indent, ensure_ascii=ascii_only)
    data = b"\xef\xbb\xbf" + (text.replace("\n", "\r\n") if crlf else text).encode()
    entries = records_json.parse("tasks", data).entries
    assert [(c.line, c.end_line) for c in entries] == lines_of(data, "tasks")
    for entry, task in zip(entries, tasks, strict=True):
        assert entry.extra is not None
        unread = {k: task[k] for k in ("owner", "priority", "blocked_by", "completed") if k in task}
        assert [entry.extra[key] for key in unread] == list(unread.values())


@given(st.binary())
def test_any_bytes_can_be_read(data: bytes) -> None:
    assert len(records_json.parse("tasks", data).entries) <= data.count(b"{")


@given(st.integers(0, len(SEED)), st.integers(0, 9), st.binary(max_size=6))
def test_a_damaged_file_can_be_read(start: int, gone: int, noise: bytes) -> None:
    data = SEED[:start] + noise + SEED[start + gone :]
    for entry in records_json.parse("tasks", data).entries:
        assert 1 <= entry.line <= entry.end_line <= data.count(b"\n") + 1
