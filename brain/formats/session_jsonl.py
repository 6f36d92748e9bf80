"""Sessions: `sessions/<sessionId>.jsonl`, one message per line, and their index.

A client may append to a session while it is read. A torn last line does not affect other lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonlines
import orjson

from brain.formats import json_spans
from brain.formats.json_spans import JsonError, Reading, Record, Refs, first_time, remaining_members
from brain.formats.text import decode, storable
from brain.model import Document, Entry, Problem


def parse(data: bytes, name: str, start: int = 0, first_line: int = 1) -> Document:
    """Return the content of the session `name`: an entry for each line with text. `data` may be
    only the end of the file, from the offset `start` and the line `first_line` on.

    The call of a tool and its result have the same id and different roles. A line that does not
    parse is reported, and the other lines are read. Only merge markers make the session broken.
    """
    name = storable(name)
    # bytes that are not UTF-8 are reported below, line by line
    problems = [problem for problem in decode(data)[1] if problem.code != "invalid-utf8"]
    refs = Refs("t")
    entries_or_none = (
        _entry_of(value, name, start, line, refs, problems)
        for line, value in _messages(data, first_line, problems)
    )
    entries = [entry for entry in entries_or_none if entry]
    broken = any(problem.code == "conflict-markers" for problem in problems)
    return Document(entries=tuple(entries), problems=tuple(problems), broken=broken)


def _messages(
    data: bytes, first_line: int, problems: list[Problem]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, message) of each message."""
    lines = data.split(b"\n")
    filled = [line for line in lines if line.strip()]
    # the annotations of jsonlines are wrong: it decodes a line before it calls `loads`
    reader = jsonlines.Reader(filled, loads=_loads)  # type: ignore[arg-type]
    for number, line in enumerate(lines, first_line):
        if not line.strip():
            continue
        try:
            yield number, reader.read(type=dict)
        except jsonlines.InvalidLineError as error:
            last = number - first_line + 1 == len(lines)
            problems.append(_problem(error, number, last=last))


def _loads(line: str) -> Any:
    """Return the value of a line. orjson is fast but strict, so a line that it rejects is parsed
    again with `json_spans`."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return json_spans.loads(line)
    if line.count("[") + line.count("{") > json_spans.MAX_DEPTH and json_spans.is_deep(value):
        raise json_spans.too_deep(0)
    return storable(value) if "\\u0000" in line else value


def _problem(error: jsonlines.InvalidLineError, line: int, *, last: bool) -> Problem:
    cause = error.__cause__
    if cause is None:
        return Problem(line, "not-an-object", "is not an object; skipped")
    if last:
        return Problem(line, "torn-line", "was not written to its end; the lines above it are read")
    if isinstance(cause, JsonError):
        return Problem(line, cause.code, cause.message)
    return Problem(line, "invalid-utf8", "is not valid UTF-8; skipped")


def _entry_of(
    value: dict[str, Any], name: str, start: int, line: int, refs: Refs, problems: list[Problem]
) -> Entry | None:
    role, speaker = _string(value, "role") or "message", _string(value, "name")
    text = _text(value, role, speaker)
    if not text.strip():
        return None
    ref = _string(value, "id")
    if ref and not refs.take(ref, role):
        message = f'has the id "{ref}" and the role "{role}" of an earlier line'
        problems.append(Problem(line, "duplicate-id", message))
        ref = ""
    ref = ref or refs.derive(name, role, text, *([str(start)] if start else []), group=role)
    created = first_time(value.get("timestamp"))
    represented = {
        "id": ref, "name": speaker, "timestamp": created,
        "content": value.get("content"),
        "input": value.get("input") if role == "tool_call" else None,
    }  # fmt: skip
    extra = remaining_members(value, represented) | {"session": name, "role": role}
    return Entry(ref, role, "", speaker, text, (), line, line, created, (), extra=extra)


def _text(value: dict[str, Any], role: str, speaker: str) -> str:
    content = _content_text(value.get("content"))
    if role != "tool_call":
        return content
    input = value.get("input")
    call_text = speaker if input is None else f"{speaker} {_compact(input)}".strip()
    return f"{content}\n{call_text}" if content else call_text


def _content_text(content: Any) -> str:
    """Return the text of a message: a string, a list of blocks, or any other value as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        blocks = (b.get("text") if isinstance(b, dict) else b for b in content)
        return "\n".join(block for block in blocks if isinstance(block, str))
    return "" if content is None else _compact(content)


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _string(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def parse_index(data: bytes) -> Document:
    """Return the content of `sessions.json`: a list of sessions, an object with the list as
    `sessions`, or a mapping of ids to sessions."""
    reading = Reading(data, "sessions", "s", keyed=True)
    return reading.document(_session(reading, record) for record in reading.records)


def _session(reading: Reading, record: Record) -> Entry:
    value = record.value
    title = reading.string(record, "title") or reading.string(record, "name")
    summary = reading.string(record, "summary") or reading.string(record, "description")
    ids = (record.key, *(value.get(key) for key in ("id", "sessionId", "session_id")))
    given = next((i for i in ids if isinstance(i, str) and i), None)
    ref = reading.ref(record, given, title, summary)
    created = first_time(
        *(value.get(k) for k in ("created", "createdAt", "startedAt", "timestamp"))
    )
    represented = {"id": ref, "title": title, "summary": summary}
    return Entry(
        ref, "session", "", title, "\n".join(filter(None, (title, summary))), (),
        record.line, record.end_line, created, (),
        extra=remaining_members(value, represented) | {"session": ref},
    )  # fmt: skip
