"""Reading journals: which files there are, and which of their lines are sound.

A line that is torn, no JSON, or has a sum that hangs on no other line is set aside and reported;
the rest counts. Lines that a merge put out of order, or wrote twice, are still sound.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from zlib import crc32

from brain.journal import device as devices
from brain.journal.line import TAIL, after, decode, sound, stored
from brain.model import Problem
from brain.record import NamedTuple

MONTH = re.compile(r"\d{4}-\d\d\Z")
BLOCK = 1 << 15  # small enough to stay in a processor's cache while it is taken apart
LONGEST = 1 << 26  # a line of this many bytes is none of ours
TORN, BAD = "journal-torn", "journal-line"  # an end without a newline; a line that is not sound
UNREAD = "journal-unreadable"
_NEAR = 64  # lines that may lie between a line and the one it hangs on
_SEQ = re.compile(rb'"seq":(\d{1,16}),')
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class File(NamedTuple):
    """A journal of one device and month, and its stat values (size, mtime, ctime, inode)."""

    device: str
    month: str
    path: str
    stat: tuple[int, int, int, int]

    @property
    def name(self) -> str:
        """What the index calls it."""
        return f"{self.device}/{self.month}"


def files(folder: str) -> list[File]:
    """All journals below this folder, by device and month. Conflict copies have other names."""
    found = []
    for name in sorted(_names(folder)):
        if not devices.NAME.match(name):
            continue
        for month in months(folder, name):
            path = f"{folder}/{name}/{month}.jsonl"
            if stat := stat_of(path):
                found.append(File(name, month, path, stat))
    return found


def unread(error: OSError) -> Problem:
    """What is said of a journal that cannot be read."""
    return Problem(0, UNREAD, f"cannot be read ({error.strerror or error}); make it readable")


def months(folder: str, device: str) -> list[str]:
    """The months of which a device has a journal."""
    names = _names(f"{folder}/{device}")
    return sorted(n[:-6] for n in names if n.endswith(".jsonl") and MONTH.match(n[:-6]))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def stat_of(path: str) -> tuple[int, int, int, int] | None:
    """What changes when a file does; None if it is not there."""
    try:
        st = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino


class Reader:
    """The sound lines of one file from some point on, block by block.

    Afterwards `at` is how far it was read, `seed` what the next line's sum starts from, `line` how
    many lines that are, `mark` the checksum of all bytes so far, `odd` whether any line was not
    where it belongs.
    """

    def __init__(self, path: str, at: int = 0, line: int = 0, seed: int = 0, mark: int = 0) -> None:
        self.path = path
        self.at, self.line, self.seed, self.mark = at, line, seed, mark
        self._start = at, line, seed, mark
        self.odd = False
        self.problems: list[Problem] = []
        self._near: dict[int, None] = {}  # seeds that lines out of place left
        self._strays: list[tuple[int, bytes]] = []

    def again(self) -> Reader:
        """A reader that starts where this one started."""
        return Reader(self.path, *self._start)

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Runs of whole lines, each with its newline."""
        handle = os.open(self.path, _FLAGS)
        try:
            os.lseek(handle, self.at, os.SEEK_SET)
            rest = b""
            while data := os.read(handle, size):
                data = rest + data
                end = data.rfind(b"\n") + 1
                if not end and len(data) > LONGEST:
                    self._pass(data)
                    self._set_aside(data)
                    data = b""
                rest = data[end:]
                if end and (block := self._sound(data[:end] if rest else data)):
                    yield block
        finally:
            os.close(handle)
        if rest and (block := self._end(rest)):
            yield block
        if self._strays and (block := self._settle()):
            yield block

    def _pass(self, data: bytes) -> None:
        self.at += len(data)
        self.mark = crc32(data, self.mark)

    def _sound(self, block: bytes) -> bytes:
        """Those of the lines that are sound: nearly always all of them, which is told at once."""
        sum = stored(block[-1 - TAIL : -1])
        if sum is not None and crc32(memoryview(block)[: -1 - TAIL], self.seed) == sum:
            if self.mark == self.seed:
                self.at, self.mark = self.at + len(block), after(sum)
            else:
                self._pass(block)
            self.line += block.count(b"\n")
            self.seed = after(sum)
            return block
        self._pass(block)
        if block.startswith(b"\n"):
            block = block[1:]  # ends a line that was counted without it, or nothing
        lines = [line for line in block.split(b"\n")[:-1] if self._counts(line)]
        return b"\n".join([*lines, b""]) if lines else b""

    def _counts(self, line: bytes) -> bool:
        """Is this line sound, as far as the lines before it can tell?"""
        self.line += 1
        if not line:
            return False
        for seed in (self.seed, *self._near):
            if sound(line, seed):
                self.seed = after(stored(line) or 0)
                self._near.pop(seed, None)
                return True
        self._set_aside(line)
        return False

    def _set_aside(self, line: bytes) -> None:
        """Keep a line that hangs on none before it; others may hang on it."""
        self.odd = True
        self._strays.append((self.line, line))
        sum = stored(line)
        for seed in ([after(sum)] if sum is not None else []) + [
            after(crc32(memoryview(line)[:-TAIL], self.seed))
        ]:
            self._near[seed] = None
        while len(self._near) > _NEAR:
            del self._near[next(iter(self._near))]

    def _end(self, rest: bytes) -> bytes:
        """The last line without its newline: whole, or torn, or not all here yet."""
        if sound(rest, self.seed):
            self._pass(rest)
            self.line += 1
            self.seed = after(stored(rest) or 0)
            return rest + b"\n"
        self.problems.append(Problem(self.line + 1, TORN, "ends in the middle of a line"))
        return b""

    def _settle(self) -> bytes:
        """Those of the strays that hang on a line somewhere in the file; the rest is reported."""
        places = {(_seq(line) or 0) - 1 for _, line in self._strays} - {-1}
        seeds = self._seeds(places)
        kept = []
        for number, line in self._strays:
            before = (_seq(line) or 0) - 1
            if any(sound(line, seed) for seed in seeds.get(before, [])):
                kept.append(line)
            else:
                why = "is damaged and not counted" if stored(line) is not None else "is torn"
                self.problems.append(Problem(number, BAD, why))
        self._strays = []
        return b"\n".join([*kept, b""]) if kept else b""

    def _seeds(self, places: set[int]) -> dict[int, list[int]]:
        """What the lines with these numbers leave for the next."""
        found: dict[int, list[int]] = {place: [0] for place in places}
        with open(self.path, "rb") as file:
            for raw in file:
                line = raw.rstrip(b"\n")
                number = _seq(line)
                if number in places and (sum := stored(line)) is not None:
                    found[number].append(after(sum))
        return found


def _seq(line: bytes) -> int | None:
    found = _SEQ.search(line, 0, 200)
    return int(found[1]) if found else None


class Seen:
    """Which numbers of a device's records were met, as runs: usually one."""

    def __init__(self, runs: Iterable[Sequence[int]] = ()) -> None:
        self._first: list[int] = []
        self._last: list[int] = []
        for first, last in sorted((run[0], run[1]) for run in runs):
            self._first.append(first)
            self._last.append(last)

    @classmethod
    def union(cls, runs: Iterable[Sequence[int]]) -> Seen:
        """The numbers in these runs, which may overlap."""
        joined: list[list[int]] = []
        for first, last in sorted((run[0], run[1]) for run in runs):
            if joined and first <= joined[-1][1] + 1:
                joined[-1][1] = max(joined[-1][1], last)
            else:
                joined.append([first, last])
        return cls(joined)

    @property
    def runs(self) -> list[tuple[int, int]]:
        """(first, last) of each run."""
        return list(zip(self._first, self._last, strict=True))

    def overlaps(self, first: int, last: int) -> bool:
        """Was any of these numbers met?"""
        at = bisect_right(self._first, last)
        return at > 0 and first <= self._last[at - 1]

    def run(self, first: int, last: int) -> None:
        """Note these numbers, none of which was met."""
        at = bisect_right(self._first, first)
        low = at - (at > 0 and self._last[at - 1] == first - 1)
        high = at + (at < len(self._first) and self._first[at] == last + 1)
        if low < at:
            first = self._first[low]
        if high > at:
            last = self._last[at]
        self._first[low:high], self._last[low:high] = [first], [last]

    def add(self, seq: int) -> bool:
        """Note a number; False if it was met before."""
        if self.overlaps(seq, seq):
            return False
        self.run(seq, seq)
        return True


def last_lamport(path: str) -> int:
    """The counter of a file's last record; 0 if there is none."""
    size = 1 << 14
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        while True:
            file.seek(max(0, end - size))
            data = file.read(size)
            for line in reversed(data.split(b"\n")):
                if record := decode(line):
                    return record.lamport
            if size >= end:
                return 0
            size *= 8
