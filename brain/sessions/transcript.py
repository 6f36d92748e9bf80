"""A transcript: `<sessionId>.jsonl`, an append-only file with one line per message.

Besides messages it has lines without text, which no search returns: `"role": "session"` with an
`event` (start, end, title, compaction, …), and every ten messages `"role": "checkpoint"` with the
number of messages so far. A writer reads back from the end of the file to the last checkpoint, so
an append takes the same time at any size, and a session continues after a crash.

Each line is written by one write() at the end of the file, under a lock on the file itself. After
`kill -9`, the file contains every acknowledged line once. An incomplete line is kept, and the next
line starts below it.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress

import orjson

from brain import lock
from brain._tuples import NamedTuple
from brain.errors import BadRequest, BrainError, Busy, Refused
from brain.formats import json_spans
from brain.formats.text import storable
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Line = dict[str, Any]

SUFFIX = ".jsonl"
EVERY = 10  # messages between checkpoints
EVENT, CHECKPOINT = "session", "checkpoint"  # roles of lines that are not messages
_BLOCK = 65_536  # bytes that are read at once
_MAX_TAIL = 1 << 20  # bytes; without a checkpoint in them, all messages are counted
_TIMEOUT = 10.0  # seconds to wait for another process that appends
_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
_APPEND |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Tail(NamedTuple):
    """The end of a transcript: the number of all messages, the keys of the last ones, and whether
    the last line is complete, a checkpoint is near the end, and the session has ended."""

    messages: int
    keys: frozenset[tuple[str, str]]
    is_complete: bool
    has_checkpoint: bool
    is_ended: bool


def is_message(line: Line) -> bool:
    """Return True for a line that is neither a checkpoint nor an event of the session."""
    return line.get("role") not in (EVENT, CHECKPOINT)


def key(line: Line) -> tuple[str, str]:
    """Return the key of a message: its id and role, because a call and its result share an id."""
    return str(line.get("id", "")), str(line.get("role", ""))


# -- reading ---------------------------------------------------------------------------------------


def lines(path: str, start: int = 0) -> Iterator[tuple[Line, int]]:
    """Yield each readable line from this offset on, with the offset where it ends. Stop at an
    incomplete line, even if the rest of it arrives at this moment. Only one line is in memory at a
    time."""
    with open(files.open_quietly(path)[0], "rb") as file:
        file.seek(start)
        offset = start
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            offset += len(raw)
            if (value := decode(raw)) is not None:
                yield value, offset


def decode(raw: bytes) -> Line | None:
    """Return the JSON object of a line; None if the line is damaged."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            value = json_spans.loads(raw.decode("utf-8", "replace"))
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def read_tail(handle: int) -> Tail:
    """Return the end of an open transcript. Read back to the last checkpoint but one, so that the
    result has the keys of at least the last ten messages."""
    size = os.fstat(handle).st_size
    keys: set[tuple[str, str]] = set()
    after_checkpoint, before = 0, -1  # messages after the last checkpoint, and up to it
    last_event = ""
    is_complete = not size or os.pread(handle, 1, size - 1) == b"\n"
    has_checkpoint = True
    for bytes_read, raw in _backwards(handle, size):
        line = decode(raw) or {}
        role = line.get("role")
        if role == CHECKPOINT and isinstance(line.get("messages"), int):
            if before >= 0:
                break
            before = line["messages"]
        elif line:
            last_event = last_event or (str(line.get("event")) if role == EVENT else "message")
            if is_message(line):
                keys.add(key(line))
                after_checkpoint += before < 0
        if bytes_read > _MAX_TAIL and before < 0:
            before, after_checkpoint, has_checkpoint = _count(handle), 0, False
            break
    total = max(before, 0) + after_checkpoint
    return Tail(total, frozenset(keys), is_complete, has_checkpoint, last_event == "end")


def _backwards(handle: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file from the last to the first, each with the number of bytes read."""
    line_end, offset = b"", size
    while offset:
        size_read = min(_BLOCK, offset)
        offset -= size_read
        incomplete, *complete = (os.pread(handle, size_read, offset) + line_end).split(b"\n")
        yield from ((size - offset, raw) for raw in reversed(complete) if raw.strip())
        line_end = incomplete
    if line_end.strip():
        yield size, line_end


def _count(handle: int) -> int:
    with open(os.dup(handle), "rb") as file:
        file.seek(0)
        return sum(1 for raw in file if (line := decode(raw)) and is_message(line))


# -- writing ---------------------------------------------------------------------------------------


class Writer:
    """A transcript that is open for appending, and locked. If `durable`, each append waits for the
    disk; otherwise only `flush` does."""

    def __init__(self, path: str, handle: int, durable: bool) -> None:
        self.path, self.handle, self.durable = path, handle, durable
        self.tail = read_tail(handle)
        self.messages = self.tail.messages
        self._prefix = b"" if self.tail.is_complete else b"\n"
        self._needs_checkpoint = not self.tail.has_checkpoint
        if durable and not os.fstat(handle).st_size:
            files.sync_folder(os.path.dirname(path))

    def append(self, line: Line, now: str) -> None:
        """Append a line. When this returns, the line survives a crash of the process and, if
        `durable`, of the machine."""
        self._write(line)
        if is_message(line):
            self.messages += 1
            if self.messages % EVERY == 0 or self._needs_checkpoint:
                self._needs_checkpoint = False
                self._write({"role": CHECKPOINT, "messages": self.messages, "timestamp": now})

    def _write(self, line: Line) -> None:
        data = self._prefix + encode(line)
        self._prefix = b"\n"
        if os.write(self.handle, data) < len(data):
            raise BrainError(
                f"{self.path} cannot be written: the disk is full.", "Free some space."
            )
        self._prefix = b""
        if self.durable:
            os.fsync(self.handle)

    def flush(self) -> None:
        """Wait until all lines are on the disk."""
        os.fsync(self.handle)


def encode(line: Line) -> bytes:
    """Return a line as JSON, with its line end."""
    line = storable(line)
    try:
        try:
            return orjson.dumps(line) + b"\n"
        except orjson.JSONEncodeError:  # such as a number of more than 64 bits
            return json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise BadRequest(f"JSON cannot hold this message: {error}.", "Use plain values.") from None


class Replaced(Refused):
    """Another program replaced a transcript while it was being written."""


@contextmanager
def writing(path: str, *, durable: bool, create: bool = False) -> Iterator[Writer]:
    """Open a transcript for appending. Raise Replaced at the end if another program, such as git,
    replaced or deleted it meanwhile; then no line is acknowledged."""
    handle = _open_locked(path, create)
    try:
        writer = Writer(path, handle, durable)
        yield writer
        if not os.fstat(handle).st_nlink:
            raise Replaced(f"{path} was replaced by another program.", "Try again.")
    finally:
        os.close(handle)


def _open_locked(path: str, create: bool) -> int:
    """Open the file at this path and lock it. Return the handle."""
    while True:
        try:
            handle = os.open(path, _APPEND | (os.O_CREAT if create else 0), 0o600)
        except FileNotFoundError:
            if not create:
                raise
            os.makedirs(os.path.dirname(path), exist_ok=True)
            continue
        except OSError as error:
            why = error.strerror or str(error)
            raise Refused(
                f"{path} cannot be written ({why}).", "Check the file and its permissions."
            ) from None
        if not lock.take_open(handle, _TIMEOUT):
            os.close(handle)
            raise Busy("Another process appends to this session.", "Try again in a moment.")
        with suppress(FileNotFoundError):
            st, st_path = os.fstat(handle), os.stat(path)
            if (st.st_dev, st.st_ino) == (st_path.st_dev, st_path.st_ino):
                return handle
        os.close(handle)  # it was moved or replaced while another process held the lock


def create(path: str, content: Iterable[bytes]) -> bool:
    """Create a transcript. After a crash, it contains all lines or does not exist. Return False if
    it exists already. The caller holds the store's lock. The next call removes a temporary file
    that a crash left."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    temp = f"{folder}/.new{SUFFIX}.tmp"
    if os.path.lexists(path):
        return False
    with suppress(FileNotFoundError):
        os.unlink(temp)
    try:
        with open(os.open(temp, files.CREATE, 0o600), "wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temp, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temp)
    files.sync_folder(folder)
    return True


def move(path: str, target: str) -> bool:
    """Move a transcript in one step, while no process appends to it. Return False if the target
    exists."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    handle = _open_locked(path, create=False)
    try:
        if os.path.lexists(target):
            return False
        os.rename(path, target)
    finally:
        os.close(handle)
    for place in (target, path):
        files.sync_folder(os.path.dirname(place))
    return True
