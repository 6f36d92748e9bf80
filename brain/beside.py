"""Calls that wait for the disk, made beside what else there is to do meanwhile.

Two threads make them, so that one slow disk does not hold up all vaults of a process. They are
kept, since to start one takes longer than most of these calls; they end with the process.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from queue import SimpleQueue
    from typing import Any

_MOST = 2
_threads = 0
_calls: SimpleQueue[Running] | None = None


class Running:
    """A call that is being made."""

    def __init__(self, call: Callable[..., object], args: tuple[Any, ...]) -> None:
        from _thread import allocate_lock

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
    """Make this call in another thread. Who started it waits for it."""
    global _calls, _threads
    if _calls is None:
        from queue import SimpleQueue

        _calls = SimpleQueue()
    running = Running(call, args)
    if _threads < _MOST:
        from threading import Thread

        _threads += 1
        Thread(target=_work, args=(_calls,), name="brain-beside", daemon=True).start()
    _calls.put(running)
    return running


def _work(calls: SimpleQueue[Running]) -> None:
    while True:
        calls.get().run()


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _calls, _threads
    _calls, _threads = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
