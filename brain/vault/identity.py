"""The id of a vault, and the state folder on this machine that belongs to it.

A vault is known by `vaultId` in its brain.yaml. `brain init` or the first write gives it one, never
reading. Its state folder is named after its path, and holds vault.json, which says whose it is. A
vault that was moved takes its folder along. A copy starts with an empty folder, and so does another
vault at the same path.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from brain._tuples import NamedTuple
from brain.formats.text import digest
from brain.vault import files

RECORD = "vault.json"
_ID = re.compile(
    rb"^vaultId:[ \t]*[\"']?([A-Za-z0-9-]{4,64})[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE
)


class Owner(NamedTuple):
    """The vault that a state folder belongs to; '' if it has no id yet."""

    id: str = ""
    path: str = ""


class Found(NamedTuple):
    """The id of a vault, its state folder, and a sentence for the person if that is new."""

    id: str
    state: str
    news: str = ""


def vault_id(folder: str) -> str:
    """Return the id of the vault with this brain folder; '' if it has none."""
    try:
        data, _ = files.read(f"{folder}/brain.yaml", files.SMALL)
    except OSError:
        return ""
    found = _ID.search(data)
    return found[1].decode() if found else ""


def find(root: str, brain: str, state_home: str) -> Found:
    """Return the state folder of the vault at this root. The folder of a vault that was moved here
    is renamed; nothing is created."""
    id = vault_id(f"{root}/{brain}")
    usual = os.path.join(state_home, digest(os.fsencode(root)).hex())
    owner = _owner(usual)
    if os.path.isdir(usual) and owner.id in ("", id):
        return Found(id, usual)
    target = f"{usual}-{id or 'unnamed'}" if os.path.isdir(usual) else usual
    news = ""
    for folder, other in _owners(state_home) if id else ():
        if other.id == id and other.path == root:
            return Found(id, folder)
        if other.id == id and _holds(other.path, id):
            news = f"This is a copy of the vault at {other.path}. It starts with its own state."
        elif other.id == id:
            with suppress(OSError):  # another process was faster
                os.rename(folder, target)
            claim(target, root, id)
            return Found(id, target)
    return Found(id, target, news)


def claim(state: str, root: str, id: str) -> None:
    """Record that a state folder belongs to this vault."""
    import json

    if _owner(state) != Owner(id, root):
        os.makedirs(state, 0o700, exist_ok=True)
        files.write_atomically(f"{state}/{RECORD}", json.dumps({"id": id, "path": root}).encode())


def _owner(folder: str) -> Owner:
    import json

    try:
        value = json.loads(files.read(f"{folder}/{RECORD}", files.SMALL)[0])
        return Owner(str(value["id"]), str(value["path"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Owner()


def _owners(state_home: str) -> list[tuple[str, Owner]]:
    """Return the state folders of this machine."""
    try:
        names = sorted(os.listdir(state_home))
    except OSError:
        return []
    folders = [os.path.join(state_home, name) for name in names]
    return [(folder, _owner(folder)) for folder in folders]


def _holds(root: str, id: str) -> bool:
    """Return True if the vault with this id is at this path."""
    with suppress(OSError), os.scandir(root) as entries:
        return any(vault_id(entry.path) == id for entry in entries if entry.is_dir())
    return False
