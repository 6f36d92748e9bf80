"""Reading a file of the vault, safely: no symlink is followed, no pipe is waited for."""

from __future__ import annotations

import os
import stat as modes
import time

from brain.errors import BadConfig
from brain.vault.layout import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

SMALL = 1_000_000  # bytes: no ignore file, no brain.yaml is larger
_FOLLOW = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_FOLLOW |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
FLAGS = _FOLLOW | getattr(os, "O_NOFOLLOW", 0)
_LEASED = 5.0  # s at most to wait for whoever looks whether a file is in use: it takes microseconds


def read(path: str, limit: int, flags: int = FLAGS) -> tuple[bytes, os.stat_result]:
    """The bytes of a file and its stat, taken from one open file. Raises OSError.

    The stat is from before the bytes were read: a change in between shows as a newer stat later.
    """
    handle = opened(path, flags)
    try:
        return read_open(handle, limit)
    finally:
        os.close(handle)


def opened(path: str, flags: int = FLAGS) -> int:
    """A handle to read a file by. While another process has a lease on it (see vault/swap.py), a
    file cannot be opened without waiting, and the attempt asks for the lease to end."""
    deadline = 0.0
    while True:
        try:
            return os.open(path, flags)
        except BlockingIOError:
            now = time.monotonic()
            deadline = deadline or now + _LEASED
            if now > deadline:
                raise
            time.sleep(0.0005)


def read_open(handle: int, limit: int) -> tuple[bytes, os.stat_result]:
    """The same of a file that is open."""
    st = os.fstat(handle)
    if not modes.S_ISREG(st.st_mode):
        raise OSError("it is not a regular file")
    if st.st_size > limit:
        raise OSError("it is too large")
    data = os.read(handle, st.st_size + 1)
    while len(data) < st.st_size and (more := os.read(handle, st.st_size)):
        data += more
    return data, st


def text(path: str, limit: int = SMALL) -> str:
    """What a file says; '' if it is not there, or none that can be read."""
    try:
        return read(path, limit)[0].decode("utf-8", "replace")
    except OSError:
        return ""


def settings(vault: Vault) -> str:
    """The text of brain.yaml; '' if there is none. BadConfig if it cannot be read."""
    path = os.path.join(vault.folder_path, "brain.yaml")
    try:
        return read(path, SMALL, _FOLLOW)[0].decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        why = error.strerror or str(error)
        raise BadConfig(f"{path} cannot be read: {why}.", "Mend it or delete it.") from None


def create(path: Path, text: str) -> bool:
    """Write a file that is not there yet. A file that is there is left alone; then False."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return False
    return True
