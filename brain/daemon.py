"""The daemon: follows the vault, keeps the index in step, lets others follow along."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from brain import config as settings
from brain import lock
from brain.api import Brain
from brain.errors import BrainError, Busy
from brain.vault import files
from brain.vault.layout import Vault
from brain.vault.watch import SOON, Hint, follow


@contextmanager
def only_one(vault: Vault) -> Iterator[None]:
    """Be the one daemon of this vault on this machine; Busy, naming the other, if there is one."""
    path = vault.state / "daemon.lock"
    handle = lock.take(path)
    if handle is None:
        pid = path.read_text().strip()
        raise Busy(
            f"Brain watches {vault.root} already (process {pid or 'unknown'}).",
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
    brain: Brain,
    stop: threading.Event,
    trouble: Callable[[str], None],
    hints: Iterable[Hint] | None = None,
) -> None:
    """Sync, then sync whatever the watcher hints at, until `stop` is set.

    A scan that found something is followed by another soon, because what happened during a storm
    may have been missed. What goes wrong is told once to `trouble` and tried again.
    """
    told = ""
    for hint in hints if hints is not None else follow(brain.vault, brain.config, stop):
        while not stop.is_set():
            try:
                if hint is None:
                    _reload(brain)
                stats = brain.sync(hint)
                told = ""
            except BrainError as error:
                if str(error) != told:
                    trouble(told := str(error))
                break
            brain.flush_events()
            if hint is not None or stats.quiet or stats.cold:
                break
            stop.wait(SOON)
        if stop.is_set():
            return


def _reload(brain: Brain) -> None:
    """Take over a changed brain.yaml."""
    brain.config, brain.warnings = settings.parse(files.settings(brain.vault))
