"""No value in a transcript of a client stops an import, wherever it is and whatever type it has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.sessions import clients, transcript
from tests.sessions import kit
from tests.sessions.kit import FIXTURES, opencode_db, opencode_storage

FOLDERS = ("claude_code", "claude_code_1.0", "codex", "codex_0.99", "codex_migrated", "gemini")
FILES = [path for name in FOLDERS for path in sorted((FIXTURES / name).rglob("*.jsonl"))]
ROWS = (FIXTURES / "opencode/rows.jsonl").read_text().splitlines()
ODD = st.sampled_from(
    [None, 7, -1.5, float("inf"), 10**30, True, "", "x", "../../x", "\x00", "\ud800", [], {}, [7],
     [None], [[]], {"a": 1}, {"text": 7}, [{"type": "text"}], {"type": ["a"]}]
)  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list in a value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def changed(data: st.DataObject, value: Any) -> Any:
    """Return the value with an odd one somewhere in it."""
    inner, key = data.draw(st.sampled_from([*places([value])][1:]))
    inner[key] = data.draw(ODD)
    return value


def check(path: Path) -> None:
    for source in clients.find(str(path)):
        assert all(isinstance(field, str | int | float) for field in source)
        for line, _ in clients.client(source.client).read(source, ""):
            if line is not None:
                assert all(isinstance(part, str) for part in transcript.key(line))
                assert transcript.decode(transcript.encode(line)) is not None


@settings(max_examples=200)
@given(data=st.data())
def test_in_a_line(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = data.draw(st.sampled_from(FILES))
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] = changed(data, lines[at])
    path = tmp_path_factory.mktemp("odd") / "chats" / source.name
    check(kit.write_lines(path, lines))


@settings(max_examples=100)
@given(data=st.data())
def test_in_a_store_of_opencode(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [json.loads(line) for line in ROWS]
    row = rows[data.draw(st.integers(0, len(rows) - 1))]
    name = data.draw(st.sampled_from(sorted(row.keys() - {"table"})))
    odd: Any = json.dumps(changed(data, json.loads(row[name]))) if name == "data" else 7.5
    row[name] = odd
    folder = tmp_path_factory.mktemp("odd")
    kit.write_lines(folder / "opencode/rows.jsonl", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kit, "FIXTURES", folder)
        check(opencode_db(folder / "opencode.db"))
        check(opencode_storage(folder / "storage"))
