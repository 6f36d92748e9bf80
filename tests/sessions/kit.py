"""What tests of sessions share: transcripts of real clients, and what is in the vault."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from brain.api import Brain
from brain.sessions import transcript

FIXTURES = Path(__file__).parent / "fixtures"
CODEX = "sessions/2026/11/18/rollout-2026-11-18T07-45-14-01a1ed9d-f382-7361-be81-84d8dd0114e5.jsonl"


def sessions(root: Path, pattern: str = "40_Brain/**/sessions/*.jsonl") -> dict[str, list[Any]]:
    """Return the messages of every session in a vault, by its id."""
    return {
        path.stem: [line for line, _ in transcript.lines(str(path)) if transcript.is_message(line)]
        for path in sorted(root.glob(pattern))
    }


def texts(lines: list[dict[str, Any]]) -> list[str]:
    """Return messages in short: role, and what was said or called."""
    return [
        f"{line.get('role')}: {line.get('content') or line.get('name', '')}".split("\n")[0]
        for line in lines
    ]


def copy(tmp_path: Path, name: str) -> Path:
    """Return a copy of the transcripts of a client."""
    target = tmp_path / name
    shutil.copytree(FIXTURES / name, target)
    return target


def opencode_db(path: Path, name: str = "opencode") -> Path:
    """Return a database of OpenCode with the rows of a fixture."""
    rows = [json.loads(line) for line in (FIXTURES / name / "rows.jsonl").read_text().splitlines()]
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    for table in ("session", "message", "part"):
        mine = [
            {k: v for k, v in row.items() if k != "table"} for row in rows if row["table"] == table
        ]
        names = ", ".join(mine[0])
        db.execute(f"CREATE TABLE {table} ({names})")
        marks = ", ".join("?" * len(mine[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({marks})", [list(r.values()) for r in mine])
    db.commit()
    db.close()
    return path


def opencode_storage(folder: Path) -> Path:
    """Return the same as the files of an older OpenCode."""
    for line in (FIXTURES / "opencode/rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        table = row["table"]
        if table == "session":
            time = {"created": row["time_created"], "updated": row["time_updated"]}
            value = {"id": row["id"], "directory": row["directory"], "title": row["title"]}
            place, value = f"session/global/{row['id']}", value | {"time": time}
        else:
            value = json.loads(row["data"]) | {"id": row["id"]}
            above = row["session_id"] if table == "message" else row["message_id"]
            place = f"{table}/{above}/{row['id']}"
        path = folder / f"{place}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    return folder


def claude_line(number: int, text: str, kind: str = "user", **more: Any) -> dict[str, Any]:
    """Return a line as Claude Code writes it."""
    hour, minute, second = number // 3600 % 24, number // 60 % 60, number % 60
    return {
        "parentUuid": f"u{number - 1}", "isSidechain": False, "type": kind, "uuid": f"u{number}",
        "message": {"role": kind, "content": text}, "cwd": "/w/app", "sessionId": "S1",
        "timestamp": f"2026-02-01T{hour:02}:{minute:02}:{second:02}.000Z",
    } | more  # fmt: skip


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def imported(brain: Brain, *paths: Path) -> int:
    """Import these paths, and return the number of messages that were new."""
    found = brain.session_import([str(path) for path in paths])
    assert found.problems == []
    return found.messages
