"""Advisory locks, which end with their process. On Windows, every lock is always free."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from brain.errors import BrainError

if sys.platform != "win32":
    import fcntl


def take(path: str | os.PathLike[str], wait: float = 0.0) -> int | None:
    """Return a handle that holds the lock until it is closed. Return None if the lock was not free
    within `wait` seconds."""
    try:
        handle = _open(path)
    except OSError as error:
        raise BrainError(
            f"The folder {os.path.dirname(path)} cannot be written to ({error.strerror}).",
            "Make it writable. For another state folder, set BRAIN_STATE; for the index, dbPath.",
        ) from error
    if take_open(handle, wait):
        return handle
    os.close(handle)
    return None


def take_in_turn(path: str | os.PathLike[str], wait: float = 0.0) -> int | None:
    """Take a lock as `take` does, but after the processes that wait for it already. The process
    that is next has locked the folder of the file, so a folder must have only one such lock."""
    deadline = time.monotonic() + wait
    folder = -1
    try:
        with suppress(OSError):  # some file systems cannot lock a folder
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            if not take_open(folder, wait):
                return None
        return take(path, max(0.0, deadline - time.monotonic()))
    finally:
        if folder >= 0:
            os.close(folder)


def take_open(handle: int, wait: float) -> bool:
    """Lock an open file until it is closed. Return False if the lock was not free within `wait`
    seconds."""
    deadline = time.monotonic() + wait
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.002)
    return True


def holder(path: str) -> int | None:
    """Return the id of the process that holds a lock, which it has written into the file. Return
    None if no process holds the lock, or if the file has no id."""
    if not os.path.exists(path):
        return None
    handle = take(path)
    if handle is not None:
        os.close(handle)
        return None
    with open(path, encoding="utf-8") as file:
        text = file.read().strip()
    return int(text) if text.isdigit() else None


def _open(path: str | os.PathLike[str]) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:  # the folder does not exist yet
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _try_lock(handle: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
