"""The write-ahead log, in this machine's state folder: what was promised and is not yet settled.

A line says what is to be done, and later lines how far it has come: `written`, then `done`; or
`failed`. A write is acknowledged once its line is on the disk; the other lines only save work, so
they are not waited for. Only who holds the store's lock reads or writes here. When nothing is open
any more, the log is emptied.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from brain import changes
from brain.changes import Change, Deed

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0)


class Intent(NamedTuple):
    """What an actor wants done to one file ('' for the journal alone).

    `temp` is where the new file is written before it changes places with the old one, `base` the
    digest of what was read ('' if there was no file), `head` the commit that was checked out.
    """

    id: str
    at: float
    by: str
    session: str
    path: str
    temp: str
    base: str
    head: str
    deeds: tuple[Deed, ...]

    @property
    def edits(self) -> list[Change]:
        return [deed.change for deed in self.deeds if deed.change is not None]


class Open:
    """An intent that is not settled, and how far it has come."""

    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self.state = ""  # '', written or blocked
        self.at = intent.at  # when it came to that
        self.inode = 0  # of the new file, once that was ready to take its place
        self.new = ""  # digest of that file
        self.digest = ""  # of what the file held when the change was in it
        self.left: list[str] = []  # displaced files that an editor may still write to
        self.saved: list[list[str]] = []  # what a person saved at that moment, line by line
        self.before: dict[str, str] = {}  # the entries as they were, by the ids of the deeds
        self.noted = False  # is it in the journal?
        self.again = 0  # how often it was written anew because an editor had wiped it
        self.why = ""  # why it is blocked

    def take(self, line: dict[str, Any]) -> None:
        """What a later line of the log says of it."""
        self.state, self.at = line["s"], line["at"]
        for key in ("inode", "new", "digest", "left", "saved", "before", "noted", "again", "why"):
            if key in line:
                setattr(self, key, line[key])


class Log:
    """The open intents of one vault on this machine."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.open: dict[str, Open] = {}
        self._inode = 0
        self._read = 0  # how far into the file

    def empty(self) -> bool:
        """Is there nothing to settle? One stat call."""
        try:
            return os.stat(self.path).st_size == 0
        except OSError:
            return True

    def refresh(self) -> None:
        """Read what other processes have added."""
        handle = os.open(self.path, _FLAGS, 0o600)
        try:
            self._catch_up(handle)
        finally:
            os.close(handle)

    def add(self, intents: Sequence[Intent]) -> None:
        """Promise: on the disk when this returns. Raises OSError, and nothing is promised."""
        self._write([_line(intent) for intent in intents], durable=True)

    def mark(self, ids: Iterable[str], state: str, at: float = 0.0, **more: Any) -> None:
        """Remember how far these have come."""
        self._write([{"i": id, "s": state, "at": at, **more} for id in ids], durable=False)
        if not self.open:
            os.truncate(self.path, 0)
            self._read = 0

    def _write(self, lines: list[dict[str, Any]], durable: bool) -> None:
        import orjson

        handle = os.open(self.path, _FLAGS, 0o600)
        try:
            self._catch_up(handle)
            size = os.fstat(handle).st_size
            start = b"\n" if size > self._read else b""  # behind a line that was torn
            data = start + b"".join(orjson.dumps(line) + b"\n" for line in lines)
            try:
                written = os.write(handle, data)
                if written < len(data):
                    raise OSError("the disk is full")
                if durable:
                    os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
            self._read = size + len(data)
        finally:
            os.close(handle)
        for line in lines:
            self._take(line)

    def _catch_up(self, handle: int) -> None:
        import orjson

        st = os.fstat(handle)
        if st.st_ino != self._inode or st.st_size < self._read:
            self.open.clear()
            self._inode, self._read = st.st_ino, 0
        if st.st_size == self._read:
            return
        data = os.pread(handle, st.st_size - self._read, self._read)
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.split(b"\n"):
            try:
                self._take(orjson.loads(line))
            except orjson.JSONDecodeError:
                continue  # blank, or torn by a crash before anything was promised

    def _take(self, line: dict[str, Any]) -> None:
        if "deeds" in line:
            self.open[line["id"]] = Open(_intent(line))
            return
        entry = self.open.get(line["i"])
        if entry is None:
            return
        if line["s"] in ("done", "failed"):
            del self.open[line["i"]]
            return
        entry.take(line)


def _line(intent: Intent) -> dict[str, Any]:
    deeds = [
        {**deed._asdict(), "change": deed.change and changes.to_json(deed.change)}
        for deed in intent.deeds
    ]
    return {**intent._asdict(), "deeds": deeds}


def _intent(line: dict[str, Any]) -> Intent:
    deeds = tuple(
        Deed(**{**deed, "change": deed["change"] and changes.from_json(deed["change"])})
        for deed in line["deeds"]
    )
    fields = {key: line[key] for key in Intent._fields}
    return Intent(**{**fields, "deeds": deeds})
