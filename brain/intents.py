"""The write-ahead log, in this machine's state folder: what was promised and is not yet settled.

A line says what is to be done, and later lines how far it has come: `written`, then `done`; or
`failed`. A write is acknowledged once its line is on the disk; the other lines only save work, so
they are not waited for. Only who holds the store's lock reads or writes here. When nothing is open
any more, the log is emptied; when it has become long, it is written anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, NamedTuple, TypedDict, Unpack

from brain import changes
from brain.changes import Change, Deed
from brain.vault.files import sync_folder, write_atomically

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HEAD = 40  # bytes by which one log is told from the next: they hold the first intent's id
_LONG = 1_000_000  # bytes


class Intent(NamedTuple):
    """What an actor wants done to one file ('' for the journal alone).

    `temp` is where the new file is written before it changes places with the old one, `base` the
    digest of what was read ('' if there was no file), `head` what tells where git stood, `home`
    what tells the vault from another that comes to lie in its place ('' if not known).
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
    home: str = ""

    @property
    def edits(self) -> list[Change]:
        return [deed.change for deed in self.deeds if deed.change is not None]


class Told(TypedDict, total=False):
    """What a line of the log may say of an intent; `Open` says what it means."""

    head: str
    home: str
    temp: str
    aside: str
    news: list[str]
    old: str
    group: list[str]
    did: dict[str, list[Any]]
    digest: str
    left: list[str]
    saved: list[list[str]]
    noted: bool
    void: bool
    again: float
    why: str
    over: dict[str, list[str]]


class Open:
    """An intent that is not settled, and how far it has come."""

    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self.state = ""  # '', written or blocked
        self.at = intent.at  # when it came to that
        self.head = intent.head  # where git stood then
        self.home = intent.home  # the vault for which it is meant
        # an attempt to replace the file, until it has ended
        self.temp = intent.temp  # what its files are called, or start with; '' if there is none
        self.aside = ""  # the one that changes places with the note
        self.news: list[str] = []  # digests of what was made to take the note's place
        self.old = ""  # digest of what it is to displace
        self.group: list[str] = []  # the intents that are carried out with it
        self.did: dict[str, list[Any]] = {}  # what becomes of each deed, by id
        # once it is written
        self.digest = ""  # of what the file held then
        self.left: list[str] = []  # displaced files that an editor may still write to
        self.saved: list[list[str]] = []  # what a person saved at that moment, line by line
        self.noted = False  # is it in the journal?
        self.void = False  # was it taken back? Then only displaced files are looked after
        self.again = 0.0  # how often it was written anew because an editor had wiped it
        self.why = ""  # why it waits
        self.over: dict[str, list[str]] = {}  # what an entry may be instead, by the deed's id

    def take(self, line: dict[str, Any]) -> None:
        """What a later line of the log says of it."""
        self.state, self.at = line["s"], line["at"]
        for key in Told.__annotations__.keys() & line.keys():
            setattr(self, key, line[key])

    def waits(self, since: float) -> bool:
        """Is it not in its file yet, or is it, since then, and cannot be settled?"""
        return self.state != "written" or (bool(self.why) and self.at <= since)

    def blocked(self, why: str) -> Open:
        """The same, as one that is not carried out by itself."""
        other = copy(self)
        other.state, other.why = "blocked", why
        return other

    def told(self) -> dict[str, Any]:
        """All that lines of the log have said of it, as one line."""
        more = {key: getattr(self, key) for key in Told.__annotations__}
        return {"i": self.intent.id, "s": self.state, "at": self.at, **more}


def _anywhere(home: str) -> bool:
    return True


class Log:
    """The open intents of one vault on this machine. `lies_here` says whether that is the vault of
    which a promise tells; what was promised for another one is set aside, in `away`."""

    def __init__(self, path: str, lies_here: Callable[[str], bool] = _anywhere) -> None:
        self.path = path
        self.open: dict[str, Open] = {}
        self.busy: dict[str, Open] = {}  # of those: not written, or in the middle of an attempt
        self.away: dict[str, Open] = {}  # of another vault, which lay here before
        self.latest: dict[str, str] = {}  # the digest of what Brain left in a file last
        self._lies_here = lies_here
        self._homes: dict[str, bool] = {}  # the vaults that are told of: does that one lie here?
        self._inode = 0
        self._read = 0  # how far into the file
        self._head = b""  # what it starts with, of that
        self._strange = False  # does it hold what this version cannot read?
        self._long = _LONG
        self._promised = 0  # where the last promise begins
        self._due = False  # is it still to be brought to the disk?
        self._held = False
        self._handle = -1  # of the file, while it is held

    def empty(self) -> bool:
        """Is there nothing to settle? One stat call."""
        try:
            return os.stat(self.path).st_size == 0
        except OSError:
            return True

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the store's lock is held nobody else writes here, so the file is opened and caught
        up with only once."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._close()

    def refresh(self) -> None:
        """Read what other processes have added."""
        try:
            self._open(_FLAGS)
        except FileNotFoundError:
            self._forget()
            return
        self._let_go()

    def add(self, intents: Sequence[Intent]) -> None:
        """Promise: on the disk when `secure` has returned, or when this has if the log is not held.
        Raises OSError, and nothing is promised; TypeError for what JSON cannot hold."""
        self.refresh()
        self._promised = self._read
        self._write([_line(intent) for intent in intents], durable=True)

    def secure(self) -> None:
        """Bring what was promised to the disk. Raises OSError if that fails."""
        if self._due:
            self._due = False
            os.fsync(self._handle)

    def retract(self, intents: Sequence[Intent]) -> None:
        """Take back a promise that nobody has heard of yet, be the disk full."""
        ids = [intent.id for intent in intents if intent.id in self.open]
        try:
            self.mark(ids, "failed")
        except OSError:
            os.truncate(self.path, self._promised)  # we have the lock: what follows is ours
            self._forget()
            self._close()
            self.refresh()

    def mark(self, ids: Iterable[str], state: str, at: float = 0.0, **more: Unpack[Told]) -> None:
        """Remember how far these have come."""
        if lines := [{"i": id, "s": state, "at": at, **more} for id in ids]:
            self._write(lines, durable=False)
        self.trim()

    def find(self, id: str) -> Open | None:
        """An open intent, be it of another vault."""
        return self.open.get(id) or self.away.get(id)

    def trim(self, most: int | None = None) -> None:
        """Empty the log if nothing is open, or write it anew if it has become long: longer than
        `most` bytes."""
        if self._strange:
            return
        if not self.open and not self.away and not self.empty():
            os.truncate(self.path, 0)
            self._forget()
            self._close()
        elif self._read > (self._long if most is None else most):
            self._rewrite()

    def _rewrite(self) -> None:
        every = [*self.away.values(), *self.open.values()]
        lines = [line for one in every for line in (_line(one.intent), one.told())]
        data = _encode(lines)
        write_atomically(self.path, data)
        self._close()
        self._inode, self._read = os.stat(self.path).st_ino, len(data)
        self._head = data[:_HEAD]
        self._long = max(_LONG, 2 * self._read)

    def _forget(self) -> None:
        for known in (self.open, self.busy, self.away, self.latest, self._homes):
            known.clear()
        self._inode, self._read, self._head, self._strange = 0, 0, b"", False

    # -- the file --------------------------------------------------------------------------------

    def _write(self, lines: list[dict[str, Any]], durable: bool) -> None:
        data = _encode(lines)
        handle = self._opened()
        try:
            size = os.fstat(handle).st_size
            if size > self._read:
                data = b"\n" + data  # behind a line that was torn
            try:
                if os.write(handle, data) < len(data):
                    raise OSError("the disk is full")
                if durable and not self._held:
                    os.fsync(handle)
            except OSError as error:
                os.ftruncate(handle, size)
                error.filename = error.filename or self.path
                raise
            self._due = self._due or (durable and self._held)
            self._head = self._head or os.pread(handle, _HEAD, 0)
            self._read = size + len(data)
        finally:
            self._let_go()
        for line in lines:
            self._take(line)

    def _opened(self) -> int:
        try:
            return self._open(_FLAGS)
        except FileNotFoundError:
            handle = self._open(_FLAGS | os.O_CREAT)
            sync_folder(os.path.dirname(self.path))
            return handle

    def _open(self, flags: int) -> int:
        """The file, read up to its end."""
        if self._handle < 0:
            self._handle = os.open(self.path, flags, 0o600)
            try:
                if any(self._lies_here(home) != here for home, here in self._homes.items()):
                    self._forget()  # another vault lies here now: who is away is sorted anew
                self._catch_up(self._handle)
            except BaseException:
                self._close()
                raise
        return self._handle

    def _let_go(self) -> None:
        if not self._held:
            self._close()

    def _close(self) -> None:
        with suppress(OSError):  # `secure` tells of it
            self.secure()
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def _catch_up(self, handle: int) -> None:
        st = os.fstat(handle)
        if st.st_ino != self._inode or not self._goes_on(handle, st.st_size):
            self._forget()
            self._inode = st.st_ino
        if st.st_size == self._read:
            return
        data = os.pread(handle, st.st_size - self._read, self._read)
        whole = data[: data.rfind(b"\n") + 1]
        if not self._read:
            self._head = whole[:_HEAD]
        self._read += len(whole)
        for line in whole.split(b"\n"):
            self._decode(line)

    def _goes_on(self, handle: int, size: int) -> bool:
        """Is this what was read before, and more? It may have been emptied and filled again."""
        return size >= self._read and os.pread(handle, len(self._head), 0) == self._head

    def _decode(self, line: bytes) -> None:
        import orjson

        try:
            self._take(orjson.loads(line))
        except orjson.JSONDecodeError:
            return  # blank, or torn by a crash before anything was promised
        except (KeyError, TypeError, AttributeError):
            self._strange = True

    def _take(self, line: dict[str, Any]) -> None:
        if "deeds" in line:
            self._sort(Open(_intent(line)))
            return
        entry = self.find(line["i"])
        if entry is None:
            return
        if line["s"] in ("done", "failed"):
            for known in (self.open, self.busy, self.away):
                known.pop(line["i"], None)
            return
        entry.take(line)
        self._sort(entry)
        if "digest" in line and line["i"] in self.open:
            self.latest[entry.intent.path] = line["digest"]

    def _sort(self, entry: Open) -> None:
        id, home = entry.intent.id, entry.home
        if home and home not in self._homes:
            self._homes[home] = self._lies_here(home)
        if home and not self._homes[home]:
            self.away[id] = entry
            return
        self.away.pop(id, None)
        self.open[id] = entry
        if entry.state == "written" and not entry.temp and not entry.news:
            self.busy.pop(id, None)
        else:
            self.busy[id] = entry


def _encode(lines: Iterable[dict[str, Any]]) -> bytes:
    import orjson

    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


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
    fields = {key: line[key] for key in Intent._fields if key in line}
    return Intent(**{**fields, "deeds": deeds})
