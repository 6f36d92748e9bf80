"""Hints that something in the vault changed. Never proof: the sync that follows looks for itself.

inotify drops events without a word when its queue is full, loses files of a folder that is born in
a storm, and goes blind when the watched root is replaced. So a full scan is asked for at the start,
after any new folder, after a large batch and again soon after it, at an interval, and when the root
is another one than before.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

from brain.config import Config
from brain.vault import layout
from brain.vault.layout import Vault

LARGE = 1000  # changes in one batch
TICK = 0.25  # seconds between looks at the root and the clock
SOON = 1.0  # seconds until a storm is looked at again

Hint = frozenset[str] | None  # these paths may have changed; None: anything may have


def follow(vault: Vault, config: Config, stop: threading.Event) -> Iterator[Hint]:
    """Hints until `stop` is set. Outlives a vault that goes away and comes back."""
    while not stop.is_set():
        root = _identity(vault)
        if root is None:
            stop.wait(TICK)
            continue
        yield None
        yield from _follow_root(vault, config, stop, root)


def _follow_root(
    vault: Vault, config: Config, stop: threading.Event, root: tuple[int, int]
) -> Iterator[Hint]:
    """Hints while the root stays the same folder."""
    from watchfiles import watch

    changes = watch(
        vault.root,
        watch_filter=None,
        step=config.watchStep,
        debounce=config.watchDebounce,
        rust_timeout=int(TICK * 1000),
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
        force_polling=layout.is_remote(vault.root),
        ignore_permission_denied=True,
    )
    due = time.monotonic() + TICK  # by then the watch stands: what came before it is seen now
    for batch in changes:
        if _identity(vault) != root:
            return
        paths = _relevant(vault, {path for _, path in batch})
        storm = len(paths) > LARGE or any(_needs_scan(vault, path) for path in paths)
        if storm or time.monotonic() >= due:
            due = time.monotonic() + (SOON if storm else config.rescanSeconds)
            yield None
        elif paths:
            yield frozenset(paths)


def _identity(vault: Vault) -> tuple[int, int] | None:
    """What tells this root from one that was put in its place; None while there is no vault."""
    try:
        st = os.stat(vault.root)
        os.stat(vault.folder)
    except OSError:
        return None
    return st.st_dev, st.st_ino


def _relevant(vault: Vault, paths: set[str]) -> set[str]:
    """Paths relative to the vault, without the index and the dot-folders."""
    prefix = f"{vault.root}{os.sep}"
    database = f"{vault.brain}/brain.db"
    found = set()
    for path in paths:
        inner = path.removeprefix(prefix).replace(os.sep, "/")
        if inner != path and not inner.startswith(database) and not _hidden(vault, inner):
            found.add(inner)
    return found


def _hidden(vault: Vault, path: str) -> bool:
    if not path.startswith(".") and "/." not in path:
        return False
    if path.endswith((".gitignore", ".secretsignore")):
        return False
    inside = path.removeprefix(f"{vault.brain}/.agent/")
    return inside == path or inside.startswith(".") or "/." in inside


def _needs_scan(vault: Vault, path: str) -> bool:
    """A folder, or a file that decides which others are read."""
    name = path.rpartition("/")[2]
    if name in (".gitignore", ".secretsignore") or path == f"{vault.brain}/brain.yaml":
        return True
    return os.path.isdir(vault.root / path)
