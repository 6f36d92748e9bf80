"""Reading a file of the vault, safely: no symlink is followed, no pipe is waited for."""

from __future__ import annotations

import os
import stat as modes
from pathlib import Path

from brain.vault.layout import Vault

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read(root: str, path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a file and its stat, taken from one open file. Raises OSError.

    The stat is from before the bytes were read: a change in between shows as a newer stat later.
    """
    handle = os.open(f"{root}/{path}", _FLAGS)
    try:
        st = os.fstat(handle)
        if not modes.S_ISREG(st.st_mode):
            raise OSError(f"{path} is not a regular file")
        if st.st_size > limit:
            raise OSError(f"{path} is too large")
        data = os.read(handle, st.st_size + 1)
        while len(data) < st.st_size and (more := os.read(handle, st.st_size)):
            data += more
    finally:
        os.close(handle)
    return data, st


def settings(vault: Vault) -> str:
    """The text of brain.yaml; '' if there is none."""
    try:
        return (vault.folder / "brain.yaml").read_text("utf-8-sig", "replace")
    except FileNotFoundError:
        return ""


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
