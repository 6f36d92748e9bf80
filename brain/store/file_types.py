"""The files that may be written: where they are, and how they are edited."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache

from brain.errors import Refused
from brain.formats import edit
from brain.model import Change, EditedFile
from brain.vault.exchange import Look
from brain.vault.layout import Role, Vault

WRITABLE = ("memory", "session", "settings")
SETTINGS = Role("settings", "")  # without an owner: only the admin may write it
_real: dict[
    str, tuple[int, int]
] = {}  # device and inode of folders without a symbolic link above them


@lru_cache(256)
def role(vault: Vault, path: str) -> Role:
    """Return the role of a file that may be written. Raise Refused for any other."""
    brain, _, rest = path.partition("/")
    parts = rest.split("/")
    inside = brain == vault.brain and not {"", ".", ".."} & set(parts)
    found = vault.role(path) if inside else None
    if inside and rest == "brain.yaml":
        found = SETTINGS
    if found is None or found.format not in WRITABLE:
        raise Refused(f"Brain does not write {path}.", "It writes its own files only.")
    return found


def full(vault: Vault, path: str) -> str:
    """Return the path of a file on this machine. Raise Refused if a folder above it is a link."""
    where = f"{vault.root_path}/{path}"
    if not _is_real(os.path.dirname(where)) or os.path.islink(where):
        raise Refused(f"{path} is behind a symbolic link.", "Brain writes real files only.")
    return where


def _is_real(folder: str) -> bool:
    """Return True if no part of this path is a link. The parts are checked again only if the folder
    is not the same as the last time."""
    try:
        st = os.stat(folder)
    except OSError:
        return os.path.realpath(folder) == folder
    if _real.get(folder) == (st.st_dev, st.st_ino):
        return True
    if os.path.realpath(folder) != folder:
        return False
    _real[folder] = st.st_dev, st.st_ino
    return True


def refuse_unsafe(path: str, found: Look | None, limit: int) -> None:
    """Raise Refused if a file cannot be replaced safely."""
    if found is None:
        return
    if found.links > 1:
        raise Refused(f"{path} has {found.links} hard links.", "Make it a file of its own.")
    if not found.mode & 0o200:
        raise Refused(f"{path} is read-only.", "Make it writable, then try again.")
    if len(found.data) > limit:
        raise Refused(f"{path} is too large.", "Split it, or raise maxFileSize.")


def edited(vault: Vault, path: str, data: bytes, changes: Iterable[Change]) -> EditedFile:
    """Apply changes to a file."""
    found = role(vault, path)
    return edit(found.format, path, data, list(changes), found.agent)


def decode(data: bytes) -> str:
    """Decode any bytes, so that `encode` returns the same bytes."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
