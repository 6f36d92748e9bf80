"""Where things are: the vault, its brain folder, this machine's state folder, and whose each file
is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from brain.errors import VaultNotFound
from brain.formats.text import digest

BRAIN = "40_Brain"
ADMIN = "admin"


class Vault(NamedTuple):
    """A vault on this machine. `state` is its folder for what must not sync."""

    root: Path
    brain: str
    state: Path

    @property
    def folder(self) -> Path:
        """The brain folder."""
        return self.root / self.brain


class Role(NamedTuple):
    """What a file is to Brain: its format, its scope, and whose it is ('' for nobody's)."""

    format: str
    scope: str
    agent: str = ""
    project: str = ""


SOURCE = Role("note", "sources")


def find(start: Path, state_home: Path) -> Vault:
    """The vault that holds `start`: the nearest folder upwards with a brain folder in it."""
    try:
        start = start.resolve(strict=True)
    except OSError:
        raise VaultNotFound(f"There is no folder {start}.", "Check the path.") from None
    for folder in (start, *start.parents):
        if (folder / "brain.yaml").is_file() and folder.parent != folder:
            return at(folder.parent, folder.name, state_home)
        if brain := brain_folder(folder):
            return at(folder, brain, state_home)
    raise VaultNotFound(
        f"{start} is not in a vault with a {BRAIN} folder.",
        "Run `brain init` in your vault, or name it with --vault or BRAIN_VAULT.",
    )


def brain_folder(root: Path) -> str:
    """The name of the brain folder in a vault, known by its name or by its brain.yaml; '' if
    none."""
    if (root / BRAIN).is_dir():
        return BRAIN
    try:
        with os.scandir(root) as entries:
            names = sorted(e.name for e in entries if not e.name.startswith(".") and e.is_dir())
    except OSError:
        return ""
    return next((name for name in names if (root / name / "brain.yaml").is_file()), "")


def at(root: Path, brain: str, state_home: Path) -> Vault:
    """The vault at this root, with its own folder below `state_home`."""
    name = digest(os.fsencode(root)).hex()
    return Vault(root, brain, state_home / name)


def state_home(environ: Mapping[str, str]) -> Path:
    """Where this platform keeps a program's local state."""
    if given := environ.get("BRAIN_STATE"):
        return Path(given)
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or ".")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "brain"
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home) / "brain"
    return Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "brain"


def database(vault: Vault, setting: str) -> Path:
    """Where brain.db lies: beside the notes on a local disk, else where no sync tool carries it."""
    if setting != "auto":
        path = Path(setting).expanduser()
        return path if path.is_absolute() else vault.folder / path
    if in_cloud_folder(vault.root) or is_remote(vault.root):
        return vault.state / "brain.db"
    return vault.folder / "brain.db"


_CLOUD = (
    "dropbox",
    "onedrive",
    "google drive",
    "googledrive",
    "icloud drive",
    "pcloud",
    "nextcloud",
)
_CLOUD_PARTS = ("mobile documents", "cloudstorage", "com~apple~clouddocs")
_REMOTE = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "smb2",
        "9p",
        "virtiofs",
        "afs",
        "ceph",
        "glusterfs",
        "lustre",
        "fuse",
        "fuseblk",
        "sshfs",
        "davfs",
    ]
)


def is_remote(root: Path) -> bool:
    """Does this folder lie on a file system that another machine may write to?"""
    return file_system(root) in _REMOTE


def in_cloud_folder(root: Path) -> bool:
    """Does a sync client carry this folder?"""
    parts = [part.casefold() for part in root.parts]
    if any(part in _CLOUD_PARTS or part.startswith(_CLOUD) for part in parts):
        return True
    return any((folder / ".stfolder").exists() for folder in (root, *root.parents))


def file_system(path: Path) -> str:
    """The type of the file system that `path` lies on, as Linux names it; '' where it is not
    told."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError:
        return ""
    best = ("", "")
    for line in lines:
        head, _, tail = line.partition(" - ")
        fields = head.split(" ")
        if len(fields) > 4 and tail:
            mount = fields[4].replace("\\040", " ")
            if _below(str(path), mount) and len(mount) >= len(best[0]):
                best = (mount, tail.split(" ")[0])
    return best[1].partition(".")[0] if best[1].startswith("fuse.") else best[1]


def _below(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(folder + "/")


def role(parts: list[str]) -> Role | None:
    """What a file inside the brain folder is, from its path there; None for what is not indexed."""
    *folders, name = parts
    owner, project = _owner(folders)
    if folders and folders[0] == "journal":
        return None
    if folders and folders[0] == "archive" and name.endswith(".md"):
        return Role("memory", "archive", owner, project)
    if folders and folders[-1] == "sessions":
        if name == "sessions.json":
            return Role("session_index", "sessions", owner, project)
        return Role("session", "sessions", owner, project) if name.endswith(".jsonl") else None
    match name:
        case "MEMORY.md":
            return Role("memory", "memory", owner, project)
        case "AGENT.md":
            return Role("agent", "sources", owner, project)
        case "items.json":
            return Role("items", "items", owner, project)
        case "tasks.json":
            return Role("tasks", "tasks", owner, project)
    if not name.endswith(".md") or any(folder.startswith(".") for folder in folders):
        return None
    return Role(
        "note", "sources", owner if folders[:1] in (["agents"], ["projects"]) else "", project
    )


def _owner(folders: list[str]) -> tuple[str, str]:
    """(agent, project) that a folder inside the brain belongs to."""
    if folders[:1] == ["archive"]:
        folders = folders[1:]
    if folders[-1:] == ["sessions"]:
        folders = folders[:-1]
    if len(folders) > 1 and folders[0] == "agents":
        return folders[1], ""
    if len(folders) > 1 and folders[0] == "projects":
        return folders[1], folders[1]
    if not folders or folders[0] == ".agent":
        return ADMIN, ""
    return "/".join(folders), ""
