"""The files that may be written: where they are, how they are edited, split and merged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from brain.errors import Refused
from brain.formats import edit, records_json
from brain.formats.text import refused
from brain.model import Change, Drop, EditedFile, Put
from brain.store import units
from brain.store.units import Units
from brain.vault.exchange import Look
from brain.vault.layout import Role, Vault

WRITABLE = ("memory", "items", "tasks", "session", "settings")
SETTINGS = Role("settings", "")  # without an owner: only the admin may write it
_real: dict[str, tuple[int, int]] = {}  # folders behind no symbolic link: device and inode


class Format(NamedTuple):
    """How texts of a file are split into units, joined and merged."""

    split: Callable[[str], Units]
    join: Callable[[Units], str]
    merge: Callable[[Units, Units, Units], Units]


LINES = Format(units.split, units.join, units.merge)


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
    """Return where a file is on this machine. Refused if a folder on the way is a link."""
    where = f"{vault.root_path}/{path}"
    if not _is_real(os.path.dirname(where)) or os.path.islink(where):
        raise Refused(f"{path} is behind a symbolic link.", "Brain writes real files only.")
    return where


def _is_real(folder: str) -> bool:
    """Return True if no part of this path is a link. The parts are looked at again only if another
    folder is found there than the last time."""
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
    """Return the file with these changes."""
    found = role(vault, path)
    return edit(found.format, path, data, list(changes), found.agent)


# -- units and merging -----------------------------------------------------------------------------


def decode(data: bytes) -> str:
    """Return a text for any bytes; `encode` gives them back."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def format_of(vault: Vault, path: str) -> Format:
    """Return how the texts of this file are merged: by lines, or by the records of a JSON file."""
    name = role(vault, path).format
    if name in ("items", "tasks"):
        return Format(
            partial(_split_records, name, path), "".join, partial(_merge_records, name, path)
        )
    return LINES


def _split_records(format: str, path: str, text: str) -> Units:
    """Return the records of a JSON file and what is between them. Refused if it does not parse."""
    data = encode(text)
    document = records_json.parse(format, data)
    if document.broken:
        raise refused(path, document.problems[0].line, document.problems[0].message)
    out: list[bytes] = []
    at = 0
    for entry in document.entries:
        out += [data[at : entry.start], data[entry.start : entry.end]]
        at = entry.end
    return tuple(decode(part) for part in (*out, data[at:]))


def _merge_records(format: str, path: str, base: Units, head: Units, theirs: Units) -> Units:
    """Return their file with the records that the head changed since the base."""
    if theirs in (base, head):
        return head
    if head == base:
        return theirs
    before, after = _records(format, base), _records(format, head)
    there = _records(format, theirs)
    changed = [Put(path, ref, value) for ref, value in after.items() if before.get(ref) != value]
    # deleted here, edited there: it stays
    dropped = [ref for ref in before if ref not in after and there.get(ref) == before[ref]]
    changes: list[Change] = [*changed, *(Drop(path, ref) for ref in dropped)]
    data = edit(format, path, encode("".join(theirs)), changes).data
    return _split_records(format, path, decode(data))


def _records(format: str, parts: Units) -> dict[str, dict[str, Any]]:
    data = encode("".join(parts))
    return {
        entry.ref: json.loads(data[entry.start : entry.end])
        for entry in records_json.parse(format, data).entries
    }
