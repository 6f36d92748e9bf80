"""OpenCode: `opencode.db`, a SQLite database, and before version 1.2 a folder of JSON files.

Both may exist, with the same ids. Ids of lines are derived from their time and content, because a
fork copies messages under new ids. Rows change while an answer is streamed, so an incomplete last
message is left for later. Tables with credentials are never read.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing

from brain.sessions.clients import Source, home
from brain.sessions.clients.lines import (
    as_object,
    call,
    derived_id,
    event,
    message_line,
    result,
)
from brain.sessions.ids import is_safe
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from brain.sessions.clients import Line

NAME = "opencode"
_MAX_SIZE = 100_000_000  # bytes of a JSON file
_SESSIONS = """SELECT s.id, s.directory, s.parent_id, s.title, s.time_created,
    max(s.time_updated, coalesce((SELECT max(m.time_updated) FROM message m
                                  WHERE m.session_id = s.id), 0)),
    coalesce((SELECT sum(length(p.data)) FROM part p WHERE p.session_id = s.id), 0)
    FROM session s"""


def folders(environ: Mapping[str, str]) -> list[str]:
    """Return the paths of the database, and of the folder of older versions."""
    base = environ.get("XDG_DATA_HOME") or os.path.join(home(environ), ".local", "share")
    return [os.path.join(base, "opencode", name) for name in ("opencode.db", "storage")]


def sources(path: str) -> Iterator[Source]:
    """Yield the sessions of a database, or of a folder `storage`."""
    if os.path.isfile(path) and path.endswith(".db"):
        yield from _sources_of_database(path)
    elif os.path.isdir(os.path.join(path, "session")) and os.path.isdir(f"{path}/message"):
        for file in _files(os.path.join(path, "session")):
            row = _load(file)
            if isinstance(row.get("id"), str) and is_safe(row["id"]):
                times = as_object(row.get("time"))
                yield _source(
                    path, row["id"], row.get("directory"), row.get("parentID"), row.get("title"),
                    times.get("created"), times.get("updated"), _size(path, row["id"]),
                )  # fmt: skip


def _source(path: str, id: str, cwd: Any, parent: Any, title: Any, *times_and_size: Any) -> Source:
    created, updated, size = (_number(each) for each in times_and_size)
    return Source(
        NAME, path, id, cwd=str(cwd or ""), parent=str(parent or ""), title=str(title or ""),
        kind="subagent" if parent else "", started=_time(created), size=size,
        changed=(updated or created) / 1000, part=id,
    )  # fmt: skip


def read(source: Source, mark: str) -> Iterator[tuple[Line | None, str]]:
    """Yield all lines of a session if it changed since the mark."""
    if mark == str(source.changed) and source.path.endswith(".db"):
        return
    rows = (
        _messages_of_database(source)
        if source.path.endswith(".db")
        else _messages_of_folder(source)
    )
    before: tuple[str, Line, list[Line]] | None = None
    for row in rows:
        if before:
            yield from ((line, "") for line in _lines(*before))
        before = row
    if before and _is_complete(before[1]):
        yield from ((line, "") for line in _lines(*before))
        yield None, str(source.changed)


def _is_complete(message: Line) -> bool:
    """Return False for an answer that is still being written."""
    completed_at = as_object(message.get("time")).get("completed")
    return message.get("role") != "assistant" or bool(completed_at) or bool(message.get("error"))


def _lines(id: str, message: Line, parts: list[Line]) -> Iterator[Line]:
    role, time = str(message.get("role")), _time(as_object(message.get("time")).get("created"))
    if role not in ("user", "assistant"):
        return
    parent = str(message.get("parentID") or "")
    for part in parts:
        kind = part.get("type")
        if kind == "text" and not part.get("synthetic") and not part.get("ignored"):
            text = str(part.get("text") or "")
            yield from message_line(derived_id(role, time, text), role, text, time, parent=parent)
        elif kind == "compaction":
            trigger = "auto" if part.get("auto") else "manual"
            yield event(derived_id("compaction", time), "compaction", time, trigger=trigger)
        elif kind == "tool":
            yield from _tool(part, time)


def _tool(part: Line, message_time: str) -> Iterator[Line]:
    state, id = as_object(part.get("state")), str(part.get("callID") or part.get("id"))
    times = as_object(state.get("time"))
    time = _time(times.get("start")) or message_time
    native = derived_id("tool", id, time)
    yield call(id, str(part.get("tool")), state.get("input"), time, native)
    if state.get("status") in ("completed", "error"):
        text = str(state.get("output") or state.get("error") or "")
        failed = state["status"] == "error"
        yield result(id, text, _time(times.get("end")) or message_time, native, error=failed)


def _number(value: Any) -> Any:
    """Return a value that should be a number; 0 if it is not one."""
    return value if isinstance(value, int | float) else 0


def _time(ms: Any) -> str:
    from datetime import UTC, datetime

    from brain.timestamps import to_utc

    if not isinstance(ms, int | float) or not 0 < ms < 1e14:
        return ""
    return to_utc(datetime.fromtimestamp(ms / 1000, UTC))


# -- the database ----------------------------------------------------------------------------------


def _connect(path: str) -> sqlite3.Connection:
    """Open a database for reading, including its write-ahead log."""
    from urllib.parse import quote

    return sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True, timeout=5)


def _sources_of_database(path: str) -> Iterator[Source]:
    try:
        with closing(_connect(path)) as db:
            rows = db.execute(_SESSIONS).fetchall()
    except sqlite3.Error:
        return  # not a database, or one of another shape
    for row in rows:
        if isinstance(row[0], str):
            yield _source(path, *row)


def _messages_of_database(source: Source) -> Iterator[tuple[str, Line, list[Line]]]:
    with closing(_connect(source.path)) as db:
        sql = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
        for id, data in db.execute(sql, (source.part,)):
            sql = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
            parts = [_object(text) | {"id": part} for part, text in db.execute(sql, (id,))]
            yield id, _object(data), parts


def _object(text: Any) -> Line:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


# -- the folder ------------------------------------------------------------------------------------


def _messages_of_folder(source: Source) -> Iterator[tuple[str, Line, list[Line]]]:
    for file in _files(os.path.join(source.path, "message", source.part)):
        message = _load(file)
        id = os.path.basename(file).removesuffix(".json")
        parts = [_load(part) for part in _files(os.path.join(source.path, "part", id))]
        yield id, message, parts


def _files(folder: str) -> list[str]:
    """Return the JSON files below a folder, by name."""
    found = [
        os.path.join(base, name)
        for base, _, names in os.walk(folder)
        for name in names
        if name.endswith(".json")
    ]
    return sorted(found, key=os.path.basename)


def _load(path: str) -> Line:
    try:
        return _object(files.read(path, _MAX_SIZE)[0].decode("utf-8", "replace"))
    except OSError:
        return {}


def _size(path: str, session: str) -> int:
    messages = _files(os.path.join(path, "message", session))
    parts = [
        part
        for file in messages
        for part in _files(os.path.join(path, "part", os.path.basename(file).removesuffix(".json")))
    ]
    return sum(os.path.getsize(file) for file in parts)
