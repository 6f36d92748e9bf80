"""Calls that wait for the disk, made beside what else there is to do meanwhile.

Two threads make them, so that one slow disk does not hold up all vaults of a process. They are
kept, since to start one takes longer than most of these calls; they end with the process.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable
    from typing import Any

_MOST = 2
_PAUSE = 0.003  # s without a call, after which what can wait is done
_threads = 0
_calls: list[Running] = []  # that no thread has taken yet
_later: list[Running] = []  # that can wait
_idle: list[LockType] = []  # what threads without one wait for


class Running:
    """A call that is being made."""

    def __init__(self, call: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._call, self._args = call, args
        self._error: BaseException | None = None
        self._over = allocate_lock()
        self._over.acquire()

    def run(self) -> None:
        try:
            self._call(*self._args)
        except BaseException as error:
            self._error = error
        self._over.release()

    def wait(self) -> None:
        """Return when it is done; raises what it raised."""
        with self._over:
            if self._error is not None:
                raise self._error


def start(call: Callable[..., object], *args: Any) -> Running:
    """Make this call in another thread. Who needs to know when it is done waits for it."""
    global _threads
    running = Running(call, args)
    _calls.append(running)
    try:
        _idle.pop().release()
    except IndexError:
        if _threads < _MOST:
            from threading import Thread

            _threads += 1
            Thread(target=_work, name="brain-beside", daemon=True).start()
    return running


def later(call: Callable[..., object], *args: Any) -> None:
    """Make this call once there is nothing else to do: some milliseconds after the last call that
    was made beside, or after the next. Nobody is told of an error."""
    _later.append(Running(call, args))


def _work() -> None:
    """Each thread sleeps behind a lock of its own, so that a call wakes one and no other."""
    asleep = allocate_lock()
    asleep.acquire()
    while True:
        try:
            _calls.pop(0).run()
        except IndexError:
            _idle.append(asleep)
            if not _calls or not _awake(asleep):
                _sleep(asleep)


def _sleep(asleep: LockType) -> None:
    """Until there is a call; after a pause without one, what can wait is done."""
    if asleep.acquire(timeout=_PAUSE):
        return
    with suppress(IndexError):  # the other thread may take the last one
        while True:
            _later.pop(0).run()
    asleep.acquire()


def _awake(asleep: LockType) -> bool:
    """A call came just before this thread was known to sleep. False if it is being woken."""
    try:
        _idle.remove(asleep)
    except ValueError:
        return False
    return True


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _threads
    _threads = 0
    _idle.clear()
    _calls.clear()
    _later.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
