"""The id of a vault, and the state folder on this machine that belongs to it.

A vault is identified by `vaultId` in its brain.yaml, which `brain init` or the first write adds.
Its state folder is named after the path of the vault. The file vault.json in it contains the id and
path of the vault. If a vault is moved, its state folder is renamed. A copy of a vault gets a new
state folder, and so does another vault at the same path.
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
    """The id and path of the vault that a state folder belongs to. The id is '' if it has none
    yet."""

    id: str = ""
    path: str = ""


class Found(NamedTuple):
    """The id of a vault, its state folder, and a sentence for the user if that folder is new."""

    id: str
    state: str
    news: str = ""


def vault_id(folder: str) -> str:
    """Return the id of the vault with this brain folder; '' if it has none."""
    try:
        data, _ = files.read(f"{folder}/brain.yaml", files.SMALL_FILE)
    except OSError:
        return ""
    found = _ID.search(data)
    return found[1].decode() if found else ""


def find(root: str, brain: str, state_home: str) -> Found:
    """Return the state folder of the vault at this root. If the vault was moved here, its state
    folder is renamed. No folder is created."""
    id = vault_id(f"{root}/{brain}")
    default = os.path.join(state_home, digest(os.fsencode(root)).hex())
    owner = _owner(default)
    if os.path.isdir(default) and owner.id in ("", id):
        return Found(id, default)
    target = f"{default}-{id or 'unnamed'}" if os.path.isdir(default) else default
    news = ""
    for folder, other_owner in _owners(state_home) if id else ():
        if other_owner.id == id and other_owner.path == root:
            return Found(id, folder)
        if other_owner.id == id and _contains_vault(other_owner.path, id):
            news = (
                f"This is a copy of the vault at {other_owner.path}. It starts with its own state."
            )
        elif other_owner.id == id:
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
        value = json.loads(files.read(f"{folder}/{RECORD}", files.SMALL_FILE)[0])
        return Owner(str(value["id"]), str(value["path"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Owner()


def _owners(state_home: str) -> list[tuple[str, Owner]]:
    """Return the state folders of this machine, each with its owner."""
    try:
        names = sorted(os.listdir(state_home))
    except OSError:
        return []
    folders = [os.path.join(state_home, name) for name in names]
    return [(folder, _owner(folder)) for folder in folders]


def _contains_vault(root: str, id: str) -> bool:
    """Return True if the vault with this id is at this path."""
    with suppress(OSError), os.scandir(root) as entries:
        return any(vault_id(entry.path) == id for entry in entries if entry.is_dir())
    return False
