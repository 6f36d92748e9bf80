"""Hints that something in the vault changed. Never proof: the sync that follows looks for itself.

inotify drops events without a word when its queue is full, loses files of a folder that is born in
a storm, and goes blind when the watched root is replaced. So a full scan is asked for at the start,
after any new folder, after a large batch and again soon after it, at an interval, and when the root
is another one than before.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from brain.vault import layout
from brain.vault.layout import Vault

LARGE = 1000  # changes in one batch
TICK = 0.25  # seconds between looks at the root and the clock
RESCAN = 60.0  # seconds between full scans, which find what the watcher missed
STEP, DEBOUNCE = 20, 100  # milliseconds between looks at a batch, and until it is handed on
SOON = 1.0  # seconds until a storm is looked at again
POLL = 2000  # milliseconds between looks where the file system does not tell

Hint = frozenset[str] | None  # these paths may have changed; None: anything may have


def follow(
    vault: Vault,
    stop: threading.Event,
    missed: threading.Event,
    waiting: Callable[[], bool] = lambda: False,
) -> Iterator[Hint]:
    """Hints until `stop` is set. Outlives a vault that goes away and comes back.

    Whoever takes a hint sets `missed` if it could not be followed, or if a scan found something;
    then another scan is asked for soon. While something is `waiting` to be written, there is a hint
    at every tick, an empty one if nothing changed.
    """
    while not stop.is_set():
        with _held(vault) as root:
            if root:
                yield None
                yield from _follow_root(vault, stop, missed, waiting, root)
        stop.wait(TICK)


def _follow_root(
    vault: Vault,
    stop: threading.Event,
    missed: threading.Event,
    waiting: Callable[[], bool],
    root: tuple[int, int],
) -> Iterator[Hint]:
    """Hints while the root stays the same folder."""
    pause = SOON
    due = 0.0  # by the first tick the watch stands: what came before it is seen then
    for batch in _batches(vault, stop):
        if _identity(vault) != root:
            return
        paths = _relevant(vault, batch)
        storm = len(batch) > LARGE or any(_needs_scan(vault, path) for path in paths)
        if storm or time.monotonic() >= due:
            yield None
            pause = min(2 * pause, RESCAN) if missed.is_set() else SOON
            again = storm or missed.is_set()
            due = time.monotonic() + (pause if again else RESCAN)
        elif paths or waiting():
            yield frozenset(paths)
            if missed.is_set():
                due = min(due, time.monotonic() + SOON)
        missed.clear()


def _batches(vault: Vault, stop: threading.Event) -> Iterator[set[str]]:
    """The paths that changed together; an empty set at each tick. Ends when there is no root.

    Where the system has no watch left to give, because the vault has too many folders, it polls.
    """
    from watchfiles import watch

    for polling in dict.fromkeys((layout.is_remote(vault.root), True)):
        with suppress(OSError, RuntimeError):
            for batch in watch(
                vault.root,
                watch_filter=None,
                step=STEP,
                debounce=DEBOUNCE,
                rust_timeout=int(TICK * 1000),
                yield_on_timeout=True,
                stop_event=stop,
                raise_interrupt=False,
                force_polling=polling,
                poll_delay_ms=POLL,
                ignore_permission_denied=True,
            ):
                yield {path for _, path in batch}
            return


@contextmanager
def _held(vault: Vault) -> Iterator[tuple[int, int] | None]:
    """The identity of the root, which is kept open, so that no folder put in its place can have its
    inode number; None while there is no vault, or while it is being replaced."""
    handle = None
    with suppress(OSError):
        handle = os.open(vault.root, os.O_RDONLY) if sys.platform != "win32" else None
    try:
        root = _identity(vault)
        st = os.fstat(handle) if handle is not None else None
        yield root if st is None or root == (st.st_dev, st.st_ino) else None
    finally:
        if handle is not None:
            os.close(handle)


def _identity(vault: Vault) -> tuple[int, int] | None:
    """What tells this root from one that was put in its place; None while there is no vault."""
    try:
        st = os.stat(vault.root)
        os.stat(vault.folder)
    except OSError:
        return None
    return st.st_dev, st.st_ino


def _relevant(vault: Vault, paths: set[str]) -> set[str]:
    """Paths relative to the vault, without dot-folders and what SQLite does to the index."""
    prefix = f"{vault.root}{os.sep}"
    found = set()
    for path in paths:
        inner = path.removeprefix(prefix).replace(os.sep, "/")
        if inner != path and not _hidden(vault, inner) and not _index(vault, inner):
            found.add(inner)
    return found


def _index(vault: Vault, path: str) -> bool:
    """Is this the index at work? That it was deleted is worth a look."""
    if not path.startswith(f"{vault.brain}/brain.db"):
        return False
    return path.endswith(("-wal", "-shm", "-journal")) or os.path.exists(vault.root / path)


def _hidden(vault: Vault, path: str) -> bool:
    if not path.startswith(".") and "/." not in path:
        return False
    if path.endswith((".gitignore", ".secretsignore")):
        return False
    inside = f"{path}/".removeprefix(f"{vault.brain}/.agent/")
    return inside == f"{path}/" or inside.startswith(".") or "/." in inside


def _needs_scan(vault: Vault, path: str) -> bool:
    """A folder, or a file that decides which others are read, or the index, gone."""
    name = path.rpartition("/")[2]
    if name in (".gitignore", ".secretsignore", "brain.yaml", "brain.db"):
        return True
    return os.path.isdir(vault.root / path)
