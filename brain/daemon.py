"""The daemon: follows the vault, keeps the index in step, lets others follow along."""

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
    """The daemon was told to end while it was reading."""


@contextmanager
def only_one(paths: Vault) -> Iterator[None]:
    """Be the one daemon of this vault on this machine; Busy, naming the other, if there is one."""
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
    """Sync, then sync whatever the watcher hints at, until `stop` is set.

    What goes wrong is told once to `trouble` and tried again. Told to stop while it reads a large
    vault, it lets go at once; the next sync reads the rest.
    """
    missed = threading.Event()
    told: set[str] = set()
    before, vault.progress = vault.progress, _until(stop, vault.progress)
    if hints is None:
        hints = follow(vault.paths, stop, missed, vault.has_work)
    try:
        for hint in hints:
            wrong = set(_look(vault, hint, missed))
            for sentence in sorted(wrong - told):
                trouble(sentence)
            told = wrong if hint is None else told | wrong
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
    """Apply pending writes and follow one hint; yields what went wrong."""
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
                missed.set()  # what happened during a storm may have been missed
        vault.write_events()
    except BrokenPipeError:
        raise  # nobody listens any more
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
