"""Where and what one writes: the files of the brain folder that may be written, read and edited."""

from __future__ import annotations

import errno
import json
import os
import stat as modes
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from brain.changes import Change, Drop, Edited, Put
from brain.errors import Refused
from brain.formats import edit, records_json
from brain.formats.text import digest
from brain.merge import merge
from brain.vault import files
from brain.vault.layout import Role, Vault

WRITABLE = ("memory", "items", "tasks", "session", "settings")
SETTINGS = Role("settings", "")  # nobody's: an agent that is not the admin may not write it
_NOFOLLOW = hasattr(os, "O_NOFOLLOW")  # then a link is not opened
_real: dict[str, tuple[int, int]] = {}  # folders behind no symbolic link: device and inode


class Text(NamedTuple):
    """A file as it was read. If there is none, `stat` is None and `digest` is ''."""

    data: bytes = b""
    stat: os.stat_result | None = None
    digest: str = ""


@lru_cache(256)
def role(vault: Vault, path: str) -> Role:
    """What a file is that may be written; Refused for any other."""
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
    """Where a file lies on this machine."""
    return f"{vault.root_path}/{path}"


def read(vault: Vault, path: str, limit: int) -> Text:
    """A file that is to be edited. Refused for one that cannot be replaced safely."""
    text = look(vault, path, limit)
    refuse(path, text)
    return text


def refuse(path: str, text: Text) -> None:
    """Refused if this file, as it was read, cannot be replaced safely."""
    if text.stat and text.stat.st_nlink > 1:
        raise Refused(f"{path} has {text.stat.st_nlink} hard links.", "Make it a file of its own.")
    if text.stat and not text.stat.st_mode & modes.S_IWUSR:
        raise Refused(f"{path} is read-only.", "Make it writable, then try again.")


def look(vault: Vault, path: str, limit: int) -> Text:
    """A file that is only to be looked at. Refused for one that cannot be, or is another's."""
    where = full(vault, path)
    if not _is_real(os.path.dirname(where)) or (not _NOFOLLOW and os.path.islink(where)):
        raise _linked(path)
    try:
        data, st = files.read(where, limit)
    except (FileNotFoundError, NotADirectoryError):
        return Text()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _linked(path) from None
        why = error.strerror or str(error)
        raise Refused(f"{path} cannot be read: {why}.", "Mend it, then try again.") from None
    return Text(data, st, digest(data).hex())


def _linked(path: str) -> Refused:
    return Refused(f"{path} lies behind a symbolic link.", "Brain writes real files only.")


def _is_real(folder: str) -> bool:
    """Is this where a folder lies, and no link to it? Each step of the way is looked at only when
    another folder than the last time is found there."""
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


def edited(vault: Vault, path: str, data: bytes, changes: Iterable[Change]) -> Edited:
    """The file with these changes."""
    found = role(vault, path)
    return edit(found.format, path, data, list(changes), found.agent)


def by_lines(vault: Vault, path: str) -> bool:
    """Can two versions of this file be merged line by line?"""
    return role(vault, path).format in ("memory", "session", "settings")


def merged(vault: Vault, path: str, base: bytes, mine: bytes, theirs: bytes) -> bytes:
    """`theirs` with what `mine` changed since `base`. Refused if theirs cannot be edited."""
    if by_lines(vault, path) or mine in (base, theirs) or theirs == base:
        return merge(base, mine, theirs)
    format = role(vault, path).format
    return edit(format, path, theirs, _since(format, path, base, mine)).data


def _since(format: str, path: str, base: bytes, mine: bytes) -> list[Change]:
    """What became of the records of items.json or tasks.json."""
    before, after = _records(format, base), _records(format, mine)
    changed = [Put(path, ref, value) for ref, value in after.items() if before.get(ref) != value]
    return [*changed, *(Drop(path, ref) for ref in before if ref not in after)]


def _records(format: str, data: bytes) -> dict[str, dict[str, Any]]:
    return {
        chunk.ref: json.loads(data[chunk.start : chunk.end])
        for chunk in records_json.parse(format, data).chunks
    }
