"""Edits of a session: lines at its end, each written once."""

from __future__ import annotations

from collections.abc import Sequence

from brain.changes import Append, Change, Done, Edited
from brain.errors import BadRequest
from brain.formats import session_jsonl
from brain.formats.json_doc import storable
from brain.formats.json_edit import Style, dumped
from brain.formats.text import BOM, refused


def edit(path: str, data: bytes, changes: Sequence[Change]) -> Edited:
    """A session with these lines at its end. A last line that was torn is left as it is, and the
    next starts below it."""
    for problem in session_jsonl.parse(data, "").problems if b"<<<<<<<" in data else ():
        if problem.code == "conflict-markers":
            raise refused(path, problem.line, problem.message)
    done = []
    for change in changes:
        if not isinstance(change, Append):
            raise BadRequest(f"{type(change).__name__} is no edit of a session.")
        data, one = _append(data, change)
        done.append(one)
    return Edited(data, tuple(done))


def _append(data: bytes, change: Append) -> tuple[bytes, Done]:
    record = {"id": change.ref, **change.record, "id": change.ref}  # noqa: F601 - comes first
    record = storable(record)
    if found := session_jsonl.find(data, change.ref, record.get("role")):
        line, start, end = found
        raw = data[start:end].decode(errors="replace")
        return data, Done(change, "already", line, raw, raw)
    last = data[data.rfind(b"\n", 0, len(data.rstrip())) + 1 :]
    ended = data[: data.rfind(b"\n") + 1]  # the last line may have no end
    newline = b"\r\n" if ended.rstrip(b"\n").endswith(b"\r") else b"\n"
    airy = b'": ' in last[:200]
    style = Style("", "", "", ", " if airy else ",", ": " if airy else ":", ascii=False)
    raw = dumped(record, style)
    if data and data != BOM and not data.endswith(b"\n"):
        data += newline
    line = data.count(b"\n") + 1
    return data + raw.encode() + newline, Done(change, "done", line, "", raw)
