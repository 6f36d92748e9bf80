"""The daemon: follow the vault, keep the index up to date, and write events for other processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from brain import lock
from brain.errors import BadConfig, BrainError, Busy
from brain.open_vault import OpenVault
from brain.operations import pending, semantic
from brain.sync import Progress
from brain.vault.layout import Vault
from brain.vault.watch import Hint, follow

LEARNING = 5.0  # seconds at a time for what a hybrid search needs


class Stopped(Exception):
    """Raised to end the daemon while it reads a large vault."""


@contextmanager
def only_one(paths: Vault) -> Iterator[None]:
    """Be the only daemon of this vault on this machine. Raise Busy if another one is running."""
    path = paths.state / "daemon.lock"
    handle = lock.take(path, wait=0.1)  # `running` may hold it for a moment
    if handle is None:
        pid = path.read_text().strip()
        raise Busy(
            f"Brain watches {paths.root} already (process {pid or 'unknown'}).",
            "One daemon per vault is enough; follow it with `brain events --follow`.",
        )
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.ftruncate(handle, 0)
        os.close(handle)


def run(
    vault: OpenVault,
    stop: threading.Event,
    trouble: Callable[[str], None],
    hints: Iterable[Hint] | None = None,
) -> None:
    """Sync, then sync the paths of each hint of the watcher, until `stop` is set.

    Each error is reported once to `trouble`, and what failed is tried again. If `stop` is set while
    a large vault is read, reading ends at once; the next sync reads the rest.
    """
    missed = threading.Event()
    reported: set[str] = set()
    before, vault.progress = vault.progress, _until(stop, vault.progress)
    if hints is None:
        hints = follow(vault.paths, stop, missed, vault.has_work)
    try:
        for hint in hints:
            wrong = set(_look(vault, hint, missed))
            for sentence in sorted(wrong - reported):
                trouble(sentence)
            reported = wrong if hint is None else reported | wrong
            if stop.is_set():
                return
    except Stopped:
        return
    finally:
        vault.progress = before


def rescan(vault: OpenVault) -> list[str]:
    """Apply pending writes and update settings and index, for a long-lived process that does not
    watch. Return what went wrong. Does nothing while a daemon does the same."""
    if lock.holder(f"{vault.paths.state_path}/daemon.lock"):
        return []
    return list(_look(vault, None, threading.Event()))


def _look(vault: OpenVault, hint: Hint, missed: threading.Event) -> Iterator[str]:
    """Apply pending writes and follow one hint. Yield what went wrong."""
    try:
        yield from vault.absorb()
        if hint is None:
            try:
                vault.reload()
            except BadConfig as error:
                yield str(error)  # the settings stay as they were
            yield from pending.write_usage_if_due(vault)
        if hint is None or hint:
            stats = vault.sync(hint)
            yield from semantic.embed(vault, LEARNING)
            if hint is None and not stats.quiet and not stats.cold:
                missed.set()  # the watcher may have missed some of many changes
        vault.write_events()
    except BrokenPipeError:
        raise  # the output was closed
    except (BrainError, OSError) as error:
        missed.set()
        yield str(error)


def _until(stop: threading.Event, progress: Progress | None) -> Progress:
    def step(done: int, total: int) -> None:
        if stop.is_set():
            raise Stopped
        if progress:
            progress(done, total)

    return step
