"""Hints that something in the vault changed. The sync that follows checks the files itself.

inotify drops events without notice when its queue is full, misses files in a folder that is created
during many changes, and reports nothing after the watched root was replaced. So this module asks
for a full scan at the start, after any new folder, after a large batch and again soon after it, at
regular intervals, and when the root was replaced.
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

LARGE = 1000  # changes in one batch that require a full scan
TICK = 0.25  # seconds between checks of the root and the clock
RESCAN = 60.0  # seconds between full scans, which find what the watcher missed
STEP, DEBOUNCE = 20, 100  # milliseconds without a change that end a batch, and its longest time
SOON = 1.0  # seconds until the next scan after many changes
POLL = 2000  # milliseconds between polls of a file system that reports nothing

Hint = frozenset[str] | None  # paths that may have changed; None: any file may have changed


def follow(
    vault: Vault,
    stop: threading.Event,
    missed: threading.Event,
    has_pending: Callable[[], bool] = lambda: False,
) -> Iterator[Hint]:
    """Yield hints until `stop` is set, even if the vault is unmounted and mounted again.

    The caller sets `missed` if it could not sync the paths of a hint, or if a scan found changes.
    Then a hint for another scan comes soon. While `has_pending` returns True, there is a hint at
    every tick, which is empty if nothing changed.
    """
    while not stop.is_set():
        with _open_root(vault) as root:
            if root:
                yield None
                yield from _follow_root(vault, stop, missed, has_pending, root)
        stop.wait(TICK)


def _follow_root(
    vault: Vault,
    stop: threading.Event,
    missed: threading.Event,
    has_pending: Callable[[], bool],
    root: tuple[int, int],
) -> Iterator[Hint]:
    """Yield hints until the root is replaced."""
    pause = SOON
    due = 0.0  # at the first tick, a scan finds changes from before the watch began
    for batch in _batches(vault, stop):
        if _identity(vault) != root:
            return
        paths = _relevant(vault, batch)
        is_large = len(batch) > LARGE or any(_needs_scan(vault, path) for path in paths)
        if is_large or time.monotonic() >= due:
            yield None
            pause = min(2 * pause, RESCAN) if missed.is_set() else SOON
            again = is_large or missed.is_set()
            due = time.monotonic() + (pause if again else RESCAN)
        elif paths or has_pending():
            yield frozenset(paths)
            if missed.is_set():
                due = min(due, time.monotonic() + SOON)
        missed.clear()


def _batches(vault: Vault, stop: threading.Event) -> Iterator[set[str]]:
    """Yield the paths of each batch of changes, and an empty set at each tick, while the root
    exists.

    If the vault has more folders than the system can watch, the folders are polled.
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
def _open_root(vault: Vault) -> Iterator[tuple[int, int] | None]:
    """Yield the identity of the root; None if the vault is missing or is being replaced.

    The root is kept open, so that a folder that replaces it gets another inode number."""
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
    """Return the device and inode of the root, which change when it is replaced; None if the vault
    is missing."""
    try:
        st = os.stat(vault.root)
        os.stat(vault.folder)
    except OSError:
        return None
    return st.st_dev, st.st_ino


def _relevant(vault: Vault, paths: set[str]) -> set[str]:
    """Return the changed paths in the vault, without dot-folders and files of SQLite."""
    prefix = f"{vault.root}{os.sep}"
    relevant = set()
    for path in paths:
        inner = path.removeprefix(prefix).replace(os.sep, "/")
        if inner != path and not _is_hidden(vault, inner) and not _is_index(vault, inner):
            relevant.add(inner)
    return relevant


def _is_index(vault: Vault, path: str) -> bool:
    """Return True for a file of the index, except a deleted brain.db."""
    if not path.startswith(f"{vault.brain}/brain.db"):
        return False
    return path.endswith(("-wal", "-shm", "-journal")) or os.path.exists(vault.root / path)


def _is_hidden(vault: Vault, path: str) -> bool:
    if not path.startswith(".") and "/." not in path:
        return False
    if path.endswith((".gitignore", ".secretsignore")):
        return False
    inner = f"{path}/".removeprefix(f"{vault.brain}/.agent/")
    return inner == f"{path}/" or inner.startswith(".") or "/." in inner


def _needs_scan(vault: Vault, path: str) -> bool:
    """Return True for a folder, a file that decides which other files are read, and the index."""
    name = path.rpartition("/")[2]
    if name in (".gitignore", ".secretsignore", "brain.yaml", "brain.db"):
        return True
    return os.path.isdir(vault.root / path)
