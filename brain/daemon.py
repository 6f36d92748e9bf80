"""The daemon: watch the vault, keep the index up to date, and write events for other processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from brain import lock
from brain.errors import BadConfig, BrainError, Busy
from brain.open_vault import OpenVault
from brain.operations import pending, search
from brain.sync import Progress
from brain.vault.layout import Vault
from brain.vault.watch import Hint, follow

EMBEDDING = 5.0  # seconds at a time to embed passages for a hybrid search


class Stopped(Exception):
    """Raised to end the daemon while it is reading a large vault."""


@contextmanager
def only_one(paths: Vault) -> Iterator[None]:
    """Hold the lock of the daemon of this vault. Raise Busy if another daemon is running."""
    path = paths.state / "daemon.lock"
    handle = lock.take(path, wait=0.1)  # `lock.holder` may hold it for a moment
    if handle is None:
        pid = path.read_text().strip()
        raise Busy(
            f"Brain watches {paths.root} already (process {pid or 'unknown'}).",
            "Only one `brain watch` can run per vault."
            " To see its events, run `brain events --follow`.",
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
    report: Callable[[str], None],
    hints: Iterable[Hint] | None = None,
) -> None:
    """Sync the vault, then the paths of each hint of the watcher, until `stop` is set.

    Each error is reported once to `report`, and the failed sync is tried again. If `stop` is set
    while a large vault is being read, reading ends at once; the next sync reads the rest.
    """
    missed = threading.Event()
    reported: set[str] = set()
    progress, vault.progress = vault.progress, _stoppable(stop, vault.progress)
    if hints is None:
        hints = follow(vault.paths, stop, missed, vault.has_work)
    try:
        for hint in hints:
            errors = set(_process(vault, hint, missed))
            for sentence in sorted(errors - reported):
                report(sentence)
            reported = errors if hint is None else reported | errors
            if stop.is_set():
                return
    except Stopped:
        return
    finally:
        vault.progress = progress


def rescan(vault: OpenVault) -> list[str]:
    """Apply pending writes, and update the settings and the index, in a server that does not watch
    the vault. Return the errors. Do nothing while a daemon is running."""
    if lock.holder(f"{vault.paths.state_path}/daemon.lock"):
        return []
    return list(_process(vault, None, threading.Event()))


def _process(vault: OpenVault, hint: Hint, missed: threading.Event) -> Iterator[str]:
    """Apply pending writes, and sync the paths of a hint. Yield the errors."""
    try:
        yield from vault.absorb()
        if hint is None:
            try:
                vault.reload()
            except BadConfig as error:
                yield str(error)  # the old settings are kept
            yield from pending.write_usage_if_due(vault)
        if hint is None or hint:
            stats = vault.sync(hint)
            yield from search.embed(vault, EMBEDDING)
            if hint is None and not stats.quiet and not stats.cold:
                missed.set()  # the watcher may have missed some of these changes
        vault.write_events()
    except BrokenPipeError:
        raise  # the output was closed
    except (BrainError, OSError) as error:
        missed.set()
        yield str(error)


def _stoppable(stop: threading.Event, progress: Progress | None) -> Progress:
    def step(done: int, total: int) -> None:
        if stop.is_set():
            raise Stopped
        if progress:
            progress(done, total)

    return step
