"""Replacing a note that somebody may be saving at the same moment, without losing either side.

The new file and the old one change places; then what was displaced is looked at. If it is not what
was read, or somebody has it open, the two change back at once and the edit starts again from what
is there now. An editor that keeps a note open for longer may still write into the displaced file:
then that is left beside the note, to be looked at again later.

Between the two swaps, for some microseconds, a reader sees our file without what was saved just
before; an editor that then saves would lose it again. So what was found is told (`Replaced.found`)
and whoever called watches over it for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from brain.errors import Busy, StaleFile
from brain.merge import merge
from brain.vault import files, swap

Edit = Callable[[bytes], bytes]
NO_LIMIT = 1 << 40
PATIENCE = 0.1  # s for an editor to let go of the note
MOST = 10.0  # s after which we give up, when somebody saves all the time
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
    """What the note holds now, a displaced file to look at later, what was saved meanwhile."""

    data: bytes
    left: tuple[Left, ...] = ()
    found: tuple[Found, ...] = ()


def create(full: str, temp: str, data: bytes) -> Replaced:
    """A note where there is none. StaleFile if there is one by now."""
    aside = f"{os.path.dirname(full)}/{temp}"
    _clear(aside)
    swap.write(aside, data)
    try:
        swap.place(aside, full)
    except FileExistsError:
        os.unlink(aside)
        raise StaleFile(f"{full} was created meanwhile.", "Read it, then try again.") from None
    return Replaced(data)


def replace(
    full: str,
    temp: str,
    base: bytes,
    edit: Edit,
    ready: Callable[[int, bytes], None] = lambda inode, data: None,
) -> Replaced:
    """Put `edit(base)` where `base` was read. StaleFile, with nothing done, if the note is gone.

    If another text is there by then, that is what is edited. `ready` is told the inode of the new
    file and what it holds before it takes its place: by that one can tell, after a crash, whether
    it has.
    """
    started = time.monotonic()
    found: list[Found] = []
    asides: list[str] = []  # hold what is not ours; they go when it is in the note
    source = expected = base
    while True:
        aside = f"{os.path.dirname(full)}/{temp}" + (f".{len(asides)}" if asides else "")
        new = edit(source)
        patient = time.monotonic() < started + PATIENCE
        _clear(aside)
        swap.write(aside, new, _stat(full))
        ready(os.stat(aside).st_ino, new)
        if patient:
            _wait_while_open(full, started + PATIENCE)
        _exchange(aside, full)
        busy = swap.in_use(aside)
        there = files.read(aside, NO_LIMIT)[0]
        if there == expected and not (busy and patient):
            sure = busy is False or (busy is None and not _is_recent(aside))
            for path in [*asides, aside] if sure else asides:
                os.unlink(path)
            left = () if sure else (Left(os.path.basename(aside), there),)
            return Replaced(new, left, tuple(found))
        _exchange(aside, full)
        back = files.read(aside, NO_LIMIT)[0]  # ours, unless somebody saved in between
        saved = there if busy is False else files.read(full, NO_LIMIT)[0]
        source = saved
        if back != new:
            asides.append(aside)
            source = merge(new, saved, back)
        found += [Found(old, got) for old, got in ((expected, saved), (new, back)) if got != old]
        expected = saved
        if time.monotonic() > started + MOST and not asides:
            os.unlink(aside)
            raise Busy(f"{full} is being saved all the time.", "Try again in a moment.")


def _exchange(aside: str, full: str) -> None:
    try:
        swap.exchange(aside, full)
    except FileNotFoundError:
        _clear(aside)
        raise StaleFile(f"{full} was deleted meanwhile.", "Try again.") from None


def _wait_while_open(full: str, deadline: float) -> None:
    """Whoever has the note open may be about to save it."""
    with suppress(OSError):
        while swap.in_use(full) and time.monotonic() < deadline:
            time.sleep(0.0005)


def _is_recent(path: str) -> bool:
    return time.time() - os.stat(path).st_mtime < RECENT


def look(aside: str) -> tuple[bytes, bool]:
    """What a displaced file holds, and whether that is certain to be the end of it."""
    busy = swap.in_use(aside)
    return files.read(aside, NO_LIMIT)[0], busy is False or (busy is None and not _is_recent(aside))


def _stat(full: str) -> os.stat_result | None:
    try:
        return os.stat(full, follow_symlinks=False)
    except OSError:
        return None


def _clear(aside: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(aside)
