"""One door for all formats, and what git says of an edit: only the lines it is about."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brain.errors import Refused
from brain.formats import edit, memory_md
from brain.model import (
    Add,
    Anchor,
    Change,
    Insert,
    Move,
    Relate,
    Remove,
    Replace,
    Retag,
    Update,
)

MEMORY = """\
---
type: memory  # a comment
---
# Memory

## Key Decisions
- 2026-02-01: Chose SQLite. [[Architecture]] #db ^m-1
- Deploys go out on Tuesdays #pinned ^m-2
    - nested
- Written by hand

## User Preferences
* Short answers first.

* Metric units. ^m-3
"""
HAND = memory_md.parse(MEMORY.encode(), "admin").entries[2].ref


@pytest.mark.parametrize("format", ["items", "tasks", "session", "agent", "note", ""])
def test_other_files_are_not_edited(format: str) -> None:
    with pytest.raises(Refused, match="a/b"):
        edit(format, "a/b", b"", [])


def test_no_changes_change_nothing() -> None:
    assert edit("memory", "x", b"", []) == (b"", ())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("change", "added", "deleted"),
    [
        (Add("p", "m-n", "x", "Key Decisions"), 1, 0),
        (Add("p", "m-n", "x", "User Preferences"), 2, 0),  # a blank line before it
        (Add("p", "m-n", "x", "Facts"), 3, 0),  # a heading, a blank line
        (Add("p", "m-n", "x\n- y\n- z", "Key Decisions"), 3, 0),
        (Update("p", "m-1", "Chose DuckDB."), 1, 1),
        (Update("p", HAND, "Written by an agent"), 1, 1),
        (Remove("p", "m-2"), 0, 2),
        (Remove("p", "m-3"), 0, 2),
        (Retag("p", "m-2", ("db",), ("pinned",)), 1, 1),
        (Retag("p", HAND, ("pinned",)), 1, 1),
        (Relate("p", "m-1", "supersedes", "[[#^m-2]]"), 1, 1),
        (Move("p", HAND, "Facts"), 3, 1),
        (Move("p", "m-2", "Facts"), 4, 2),
        (Anchor("p", HAND), 1, 1),
        (Replace("p", "m-3", "* Imperial units. ^m-3", "* Metric units. ^m-3"), 1, 1),
        (Insert("p", "m-0", "- Back ^m-0", "Memory > Key Decisions", "m-2"), 1, 0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, tuple) else None,
)
def test_git_sees_only_the_lines_a_change_of_a_note_is_about(
    tmp_path: Path, change: Change, added: int, deleted: int, end: str
) -> None:
    note = MEMORY.replace("\n", end)
    if isinstance(change, Replace) and end != "\n":
        note = note.replace("\r\n", "\n")
    assert numstat(tmp_path, note, change) == (added, deleted)


def test_a_last_line_without_a_newline_gets_one_and_the_new_line_has_none(tmp_path: Path) -> None:
    assert numstat(tmp_path, "## A\n- a", Add("p", "m-n", "x", "A")) == (2, 1)


def numstat(folder: Path, text: str, change: Change) -> tuple[int, int]:
    """How many lines git says were added and deleted."""
    data, (done,) = edit("memory", "p", text.encode(), [change], "admin")
    assert done.outcome == "done"
    (folder / "old").write_bytes(text.encode())
    (folder / "new").write_bytes(data)
    command = ["git", "-c", "core.autocrlf=false", "diff", "--no-index", "--numstat", "old", "new"]
    out = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30).stdout
    added, deleted, _ = out.split("\t", 2)
    return int(added), int(deleted)
