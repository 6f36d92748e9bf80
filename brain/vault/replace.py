"""Replacing a note that somebody may be saving at the same moment, without losing either side.

The new file and the old one change places; then what was displaced is looked at. If it is not what
was read, or somebody has it open, the two change back at once and the edit starts again from what
is there now. An editor that keeps a note open for longer may still write into the displaced file:
then that is left beside the note, to be looked at again later.

Between the two swaps, for some microseconds, a reader sees our file without what was saved just
before; an editor that then saves would lose it again. So what was found is told (`Replaced.found`)
and whoever called watches over it for a while.

Killed at any moment, every text is in the note or beside it, in a file whose name starts with
`temp`. A file that ends in `.part` is ours and holds nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from brain.errors import Busy, Refused, StaleFile
from brain.merge import merge
from brain.vault import files, swap

Edit = Callable[[bytes], bytes]
Merge = Callable[[bytes, bytes, bytes], bytes]
Tell = Callable[[str, bytes | None, bytes], None]
Saw = Callable[["Found"], None]
NO_LIMIT = swap.NO_LIMIT
PATIENCE = 0.1  # s for an editor to let go of the note
MOST = 10.0  # s after which we give up, when somebody saves all the time
_MARK = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of which the name of a device is made
RECENT = 0.05  # s: without leases, a file changed so lately may be in the middle of a save


class Left(NamedTuple):
    """A displaced file that may still be written to, and what it held."""

    name: str
    data: bytes


class Found(NamedTuple):
    """What somebody saved meanwhile, and what was expected in its place."""

    expected: bytes
    saved: bytes


class Replaced(NamedTuple):
    """What the note holds now, displaced files to look at later, and what was saved meanwhile."""

    data: bytes
    left: tuple[Left, ...] = ()
    found: tuple[Found, ...] = ()


def _untold(aside: str, new: bytes | None, expected: bytes) -> None:
    return None


def _unseen(found: Found) -> None:
    return None


def create(full: str, temp: str, data: bytes, tell: Tell = _untold) -> Replaced:
    """A note where there is none. StaleFile if there is one by now."""
    part = f"{os.path.dirname(full)}/{temp}.part"
    _clear(part)
    try:
        swap.write(part, data)
        tell("", data, b"")
        swap.place(part, full)
    except OSError as error:
        _take_back(part, tell)
        if isinstance(error, FileExistsError):
            raise StaleFile(f"{full} was created meanwhile.", "Read it, try again.") from None
        raise
    return Replaced(data)


def _take_back(part: str, tell: Tell) -> None:
    """Nothing takes the note's place. If that cannot be told, the file stays, and tells it."""
    with suppress(OSError):
        tell("", None, b"")
        _clear(part)


def replace(
    full: str,
    temp: str,
    base: bytes,
    edit: Edit,
    tell: Tell = _untold,
    merge: Merge = merge,
    saw: Saw = _unseen,
) -> Replaced:
    """Put `edit(base)` where `base` was read. StaleFile, with nothing done, if the note is gone.

    If another text is there by then, that is what is edited; one that cannot be is waited for, and
    Refused in the end. `tell` hears before anything takes its place: the name under which it
    waits, what it is, and what it expects to displace; or None if nothing will. `saw` hears of what
    somebody saved meanwhile before it goes back into its place.
    """
    return _Swap(full, temp, base, edit, tell, merge, saw).carry_out()


class _Swap:
    """One replacement at work."""

    def __init__(
        self,
        full: str,
        temp: str,
        base: bytes,
        edit: Edit,
        tell: Tell,
        merge: Merge,
        saw: Saw,
    ) -> None:
        self.full, self.folder, self.temp = full, os.path.dirname(full), temp
        self.edit, self.tell, self.merge, self.saw = edit, tell, merge, saw
        self.base = self.source = self.expected = base
        self.new = b""
        self.out = False  # has ours the note's place, and theirs that of the temporary file?
        self.started = time.monotonic()
        self.found: list[Found] = []
        self.kept: list[Left] = []  # hold what is not ours, or may be; they go when it is in
        self.over: list[bytes] = []  # our text that each of those was saved over

    @property
    def part(self) -> str:
        return f"{self.folder}/{self.temp}.part"

    @property
    def aside(self) -> str:
        return f"{self.folder}/{self.temp}" + (f".{len(self.kept)}" if self.kept else "")

    def carry_out(self) -> Replaced:
        try:
            while True:
                if self._edited():
                    self._prepare()
                    if (left := self._round()) is not None:
                        return Replaced(self.new, left, tuple(self.found))
        except (StaleFile, Busy, Refused, OSError):
            self._withdraw()
            raise

    def _edited(self) -> bool:
        """Make the new text. What cannot be edited may be half a save: wait for the rest."""
        late = time.monotonic() > self.started + MOST
        try:
            self.new = self.edit(self.source)
        except Refused:
            if self.source == self.base or self.kept or late:
                raise
            time.sleep(0.005)
            self.source = self.expected = self._read(self.full)
            return False
        if late and not self.kept:
            raise Busy(f"{self.full} is being saved all the time.", "Try again in a moment.")
        return True

    def _prepare(self) -> None:
        like = _stat(self.full)
        try:
            swap.write(self.part, self.new, like)
        except FileExistsError:
            _clear(self.part)
            swap.write(self.part, self.new, like)
        self.tell(os.path.basename(self.aside), self.new, self.expected)
        os.rename(self.part, self.aside)

    def _round(self) -> tuple[Left, ...] | None:
        """Swap and look; swap back if that is not what was expected, and then None."""
        patient = time.monotonic() < self.started + PATIENCE
        if patient:
            _wait_while_open(self.full, self.started + PATIENCE)
        if not self._exchange():
            return self._unended(self.kept)
        there, busy = swap.read(self.aside)
        if there == self.expected and not (busy and patient):
            last = Left(os.path.basename(self.aside), there)
            if busy is not False:
                return self._unended([*self.kept, last])
            left = self._unended(self.kept)
            return left if self._removed(last) else (*left, last)
        if busy is False:
            self._find(self.expected, there)
        self._swap_back()
        self._learn(there if busy is False else self._awaited())
        return None

    def _awaited(self) -> bytes:
        """What somebody was just saving, once it is whole."""
        _wait_while_open(self.full, self.started + PATIENCE)
        saved = self._read(self.full)
        for _ in range(10):
            time.sleep(0.001)
            before, saved = saved, self._read(self.full)
            if saved == before:
                self._find(self.expected, saved)
                break
        return saved

    def _exchange(self) -> bool:
        """False if there was nothing to displace; then what we hold of others has its place."""
        while True:
            try:
                swap.exchange(self.aside, self.full)
                self.out = True
                return True
            except FileNotFoundError:
                if not self.kept:
                    raise StaleFile(f"{self.full} was deleted meanwhile.", "Try again.") from None
            with suppress(FileExistsError):
                swap.place(self.aside, self.full)
                return False

    def _swap_back(self) -> None:
        while True:
            try:
                swap.exchange(self.aside, self.full)
                break
            except FileNotFoundError:  # deleted: theirs goes back all the same
                with suppress(FileExistsError):
                    swap.place(self.aside, self.full)
                    break
        self.out = False

    def _learn(self, saved: bytes) -> None:
        """Go on from what is in the note now, and with what was in our place for a moment: ours,
        unless somebody saved in between, or has it open to do so."""
        there = os.path.lexists(self.aside)
        back, sure = look(self.aside) if there else (self.new, True)
        if sure:
            self._find(self.new, back)
        if back != self.new or not sure:
            self.kept.append(Left(os.path.basename(self.aside), back))
            self.over.append(self.new)
        self.source = self.expected = saved
        for left, new in zip(self.kept, self.over, strict=True):
            self.source = self.merge(new, self.source, left.data)

    def _find(self, expected: bytes, saved: bytes) -> None:
        """Somebody saved, and has ended doing so: half a save is not worth remembering."""
        if saved != expected:
            self.found.append(Found(expected, saved))
            self.saw(self.found[-1])

    def _unended(self, kept: list[Left]) -> tuple[Left, ...]:
        return tuple(left for left in kept if not self._ended(left))

    def _ended(self, left: Left) -> bool:
        """Remove a file whose text is in the note, if nothing more can come into it."""
        now, sure = look(f"{self.folder}/{left.name}")
        return sure and now == left.data and self._removed(left)

    def _removed(self, left: Left) -> bool:
        try:
            os.unlink(f"{self.folder}/{left.name}")
        except OSError:
            return not os.path.lexists(f"{self.folder}/{left.name}")  # it is looked at again later
        return True

    def _withdraw(self) -> None:
        """Leave nothing of ours; what is not ours and has no place gets a file of its own."""
        with suppress(OSError):
            if self.out:
                self._swap_back()
        if self.out:
            return  # beside the note as it is, `tell` has heard of it
        with suppress(OSError):
            os.replace(self.aside, self.part)
        for left in self.kept:
            with suppress(OSError):
                if left.data != self.new:
                    keep_copy(f"{self.folder}/{left.name}", self.full)
                else:
                    os.unlink(f"{self.folder}/{left.name}")
        _take_back(self.part, self.tell)

    def _read(self, path: str) -> bytes:
        try:
            return files.read(path, NO_LIMIT)[0]
        except FileNotFoundError:
            raise StaleFile(f"{self.full} was deleted meanwhile.", "Try again.") from None


def keep_copy(aside: str, full: str) -> str:
    """What cannot be merged stays beside the note, as sync tools leave it. Where that is: under a
    name that `conflicts` knows, and that nothing else has."""
    stem, ending = os.path.splitext(full)
    while True:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        mark = "".join(_MARK[byte % 36] for byte in os.urandom(2))
        copy = f"{stem}.sync-conflict-{stamp}-BRAIN{mark}{ending}"
        with suppress(FileExistsError):
            swap.place(aside, copy)
            return copy


def look(aside: str) -> tuple[bytes, bool]:
    """What a displaced file holds, and whether that is certain to be the end of it."""
    data, used = swap.read(aside)
    return data, not (_is_recent(aside) if used is None else used)


def _wait_while_open(full: str, deadline: float) -> None:
    """Whoever has the note open may be about to save it."""
    with suppress(OSError):
        while swap.in_use(full) and time.monotonic() < deadline:
            time.sleep(0.0005)


def _is_recent(path: str) -> bool:
    return time.time() - os.stat(path).st_mtime < RECENT


def _stat(full: str) -> os.stat_result | None:
    try:
        return os.stat(full, follow_symlinks=False)
    except OSError:
        return None


def _clear(aside: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(aside)
