"""A transcript: `<sessionId>.jsonl`, one line per message, only ever appended to.

Besides messages it has lines without text, which no search returns: `"role": "session"` with an
`event` (start, end, title, compaction, …), and every ten messages `"role": "checkpoint"` with the
number of messages so far. A writer finds the last checkpoint from the end of the file, so the cost
of an append does not grow with the transcript, and a session that crashed goes on where it was.

Each line is one write() at the end of the file, under a lock on the file itself. After `kill -9`,
every line that was acknowledged is there once. A line that was cut short stays, and the next one
starts below it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

import orjson

from brain import lock
from brain._tuples import NamedTuple
from brain.errors import BadRequest, BrainError, Busy, Refused
from brain.formats import json_spans
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
_FAR = 1 << 20  # bytes without a checkpoint after which all messages are counted
_WAIT = 10.0  # seconds for another process that appends
_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
_APPEND |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Tail(NamedTuple):
    """The end of a transcript: the number of its messages and the keys of the last ones; whether
    its last line is complete, a checkpoint is near the end, and the session has ended."""

    messages: int
    keys: frozenset[tuple[str, str]]
    is_complete: bool
    is_counted: bool
    is_ended: bool


def is_message(line: Line) -> bool:
    """Return True for a line that is neither a checkpoint nor an event of the session."""
    return line.get("role") not in (EVENT, CHECKPOINT)


def key(line: Line) -> tuple[str, str]:
    """Return what tells messages apart: id and role, since a call and its result share an id."""
    return str(line.get("id", "")), str(line.get("role", ""))


# -- reading ---------------------------------------------------------------------------------------


def lines(path: str, start: int = 0) -> Iterator[tuple[Line, int]]:
    """Yield each line from this offset that can be read, with the offset behind it. An incomplete
    last line is left out. One line at a time is in memory."""
    with open(files.open_quietly(path)[0], "rb") as file:
        file.seek(start)
        at = start
        for raw in file:
            at += len(raw)
            if raw.endswith(b"\n") and (value := decode(raw)) is not None:
                yield value, at


def decode(raw: bytes) -> Line | None:
    """Return the object of a line; None if it is not one."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            value = json_spans.loads(raw.decode("utf-8", "replace"))
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def read_tail(handle: int) -> Tail:
    """Return the end of an open transcript. Reads back to the checkpoint before the last, so that
    the keys of at least ten messages are known."""
    size = os.fstat(handle).st_size
    keys: set[tuple[str, str]] = set()
    after, counted = 0, -1  # messages behind the last checkpoint, and up to it
    state = ""
    is_complete = not size or os.pread(handle, 1, size - 1) == b"\n"
    is_counted = True
    for read, raw in _backwards(handle, size):
        line = decode(raw) or {}
        role = line.get("role")
        if role == CHECKPOINT and isinstance(line.get("messages"), int):
            if counted >= 0:
                break
            counted = line["messages"]
        elif line:
            state = state or (str(line.get("event")) if role == EVENT else "message")
            if is_message(line):
                keys.add(key(line))
                after += counted < 0
        if read > _FAR and counted < 0:
            counted, after, is_counted = _count(handle), 0, False
            break
    total = max(counted, 0) + after
    return Tail(total, frozenset(keys), is_complete, is_counted, state == "end")


def _backwards(handle: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file from the last to the first, each with the bytes read so far."""
    rest, at = b"", size
    while at:
        step = min(_BLOCK, at)
        at -= step
        first, *whole = (os.pread(handle, step, at) + rest).split(b"\n")
        yield from ((size - at, raw) for raw in reversed(whole) if raw.strip())
        rest = first
    if rest.strip():
        yield size, rest


def _count(handle: int) -> int:
    with open(os.dup(handle), "rb") as file:
        file.seek(0)
        return sum(1 for raw in file if (line := decode(raw)) and is_message(line))


# -- writing ---------------------------------------------------------------------------------------


class Writer:
    """A transcript that is open for appending, and locked. `durable` waits for the disk after each
    line; otherwise `flush` does so."""

    def __init__(self, path: str, handle: int, durable: bool) -> None:
        self.path, self.handle, self.durable = path, handle, durable
        self.tail = read_tail(handle)
        self.messages = self.tail.messages
        self._lead = b"" if self.tail.is_complete else b"\n"
        self._owes = not self.tail.is_counted  # a checkpoint
        if durable and not os.fstat(handle).st_size:
            files.sync_folder(os.path.dirname(path))

    def append(self, line: Line, now: str) -> None:
        """Append a line. When this returns, it survives the end of the process and, if `durable`,
        of the machine."""
        self._write(line)
        if is_message(line):
            self.messages += 1
            if self.messages % EVERY == 0 or self._owes:
                self._owes = False
                self._write({"role": CHECKPOINT, "messages": self.messages, "timestamp": now})

    def _write(self, line: Line) -> None:
        data = self._lead + encode(line)
        self._lead = b"\n"
        if os.write(self.handle, data) < len(data):
            raise BrainError(f"{self.path} cannot be written: the disk is full.", "Make room.")
        self._lead = b""
        if self.durable:
            os.fsync(self.handle)

    def flush(self) -> None:
        """Wait until all lines are on the disk."""
        os.fsync(self.handle)


def encode(line: Line) -> bytes:
    """Return a line as JSON, with its end."""
    try:
        return orjson.dumps(json_spans.storable(line)) + b"\n"
    except (orjson.JSONEncodeError, TypeError) as error:
        raise BadRequest(f"JSON cannot hold this message: {error}.", "Use plain values.") from None


class Replaced(Refused):
    """Another program put another file in the place of a transcript while it was written."""


@contextmanager
def writing(path: str, *, durable: bool, create: bool = False) -> Iterator[Writer]:
    """Open a transcript for appending. If it is replaced or deleted meanwhile, for example by git,
    Replaced is raised and nothing is acknowledged."""
    handle = _locked(path, create)
    try:
        writer = Writer(path, handle, durable)
        yield writer
        if not os.fstat(handle).st_nlink:
            raise Replaced(f"{path} was replaced by another program.", "Try again.")
    finally:
        os.close(handle)


def _locked(path: str, create: bool) -> int:
    """Return a handle that holds the lock of the file that is at this path."""
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
            raise Refused(f"{path} cannot be written ({why}).", "Brain appends to files.") from None
        if not lock.take_open(handle, _WAIT):
            os.close(handle)
            raise Busy("Another process appends to this session.", "Try again in a moment.")
        with suppress(FileNotFoundError):
            st, there = os.fstat(handle), os.stat(path)
            if (st.st_dev, st.st_ino) == (there.st_dev, there.st_ino):
                return handle
        os.close(handle)  # it was moved or replaced while another process held the lock


def create(path: str, content: Iterable[bytes]) -> bool:
    """Create a transcript as a whole: after a crash it is there with all lines, or not at all.
    False if there is one already. The caller holds the store's lock; the temporary file that a
    crash may leave is removed by the next call."""
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
    """Move a transcript, in one step, when no process appends to it. False if there is one at the
    target already."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    handle = _locked(path, create=False)
    try:
        if os.path.lexists(target):
            return False
        os.rename(path, target)
    finally:
        os.close(handle)
    for place in (target, path):
        files.sync_folder(os.path.dirname(place))
    return True
