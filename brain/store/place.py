"""Where and what one writes: the files of the brain folder that may be written, read and edited."""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Iterable
from typing import NamedTuple

from brain.changes import Change, Edited
from brain.errors import Refused
from brain.formats.edit import edit
from brain.formats.text import digest
from brain.vault import files, layout
from brain.vault.layout import Role, Vault

WRITABLE = ("memory", "items", "tasks", "session")


class Text(NamedTuple):
    """A file as it was read; `stat` is None if there is none."""

    data: bytes
    stat: os.stat_result | None

    @property
    def digest(self) -> str:
        return digest(self.data).hex() if self.stat else ""


def role(vault: Vault, path: str) -> Role:
    """What a file is that may be written; Refused for any other."""
    brain, _, rest = path.partition("/")
    parts = rest.split("/")
    inside = brain == vault.brain and not {"", ".", ".."} & set(parts)
    found = layout.role(parts) if inside else None
    if found is None or found.format not in WRITABLE:
        raise Refused(f"Brain does not write {path}.", "It writes its own files only.")
    return found


def read(vault: Vault, path: str, limit: int) -> Text:
    """A file that is to be edited. Refused for one that cannot be replaced safely."""
    full = f"{vault.root}/{path}"
    folder = os.path.dirname(full)
    if os.path.realpath(folder) != folder:
        raise Refused(f"{path} lies behind a symbolic link.", "Brain writes real files only.")
    try:
        data, st = files.read(full, limit)
    except FileNotFoundError:
        return Text(b"", None)
    except OSError as error:
        why = error.strerror or str(error)
        raise Refused(f"{path} cannot be read: {why}.", "Mend it, then try again.") from None
    if st.st_nlink > 1:
        raise Refused(f"{path} has {st.st_nlink} hard links.", "Make it a file of its own.")
    if not st.st_mode & modes.S_IWUSR:
        raise Refused(f"{path} is read-only.", "Make it writable, then try again.")
    return Text(data, st)


def edited(vault: Vault, path: str, data: bytes, changes: Iterable[Change]) -> Edited:
    """The file with these changes."""
    found = role(vault, path)
    return edit(found.format, path, data, list(changes), found.agent)
