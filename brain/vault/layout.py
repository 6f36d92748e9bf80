"""The layout of a vault: its brain folder, this machine's state folder, and the owner and format of
each file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping

from brain._tuples import NamedTuple
from brain.errors import VaultNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

BRAIN = "40_Brain"
ADMIN = "admin"
RESERVED = (ADMIN, "person")  # names that no agent may have

Place = str | os.PathLike[str]


class Names(NamedTuple):
    """The paths of the memory note and of the sessions in the folder of an agent, part by part."""

    memory: tuple[str, ...] = ("MEMORY.md",)
    sessions: tuple[str, ...] = ("sessions",)

    def __str__(self) -> str:
        """Return the names as one text; '' for the usual ones."""
        text = f"{'/'.join(self.memory)} {'/'.join(self.sessions)}"
        return "" if text == "MEMORY.md sessions" else text


USUAL = Names()


class Vault(NamedTuple):
    """A vault on this machine: its path, the name of its brain folder, the path of its state folder
    (for data that must not sync), and the names of its files.

    Paths are plain text, since most commands do not need `pathlib`. `root`, `folder` (the brain
    folder) and `state` are the same as Path.
    """

    root_path: str
    brain: str
    state_path: str
    names: Names = USUAL
    id: str = ""
    news: str = ""  # a sentence for the person about the state folder

    def with_names(self, memory: str, sessions: str) -> Vault:
        """Return this vault with these names of its files: paths below `<agent>/`."""
        parts = [tuple(path.removesuffix("/").split("/")[1:]) for path in (memory, sessions)]
        return self._replace(names=Names(*parts))

    def role(self, path: str) -> Role | None:
        """Return the role of a file of the brain folder, by its path in the vault."""
        return role(path.split("/")[1:], self.names)

    @property
    def folder_path(self) -> str:
        return os.path.join(self.root_path, self.brain)

    @property
    def root(self) -> Path:
        return _path(self.root_path)

    @property
    def folder(self) -> Path:
        return _path(self.folder_path)

    @property
    def state(self) -> Path:
        return _path(self.state_path)


class Role(NamedTuple):
    """The format, scope and owner of a file ('' if it has no owner)."""

    format: str
    scope: str
    agent: str = ""
    project: str = ""


SOURCE = Role("note", "sources")


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def find(start: Place, state_home: Place) -> Vault:
    """Return the vault of `start`: the nearest folder upwards that has a brain folder."""
    try:
        start = os.path.realpath(start, strict=True)
    except OSError:
        raise VaultNotFound(f"There is no folder {start}.", "Check the path.") from None
    for folder in _upwards(start):
        above, name = os.path.split(folder)
        if name and os.path.isfile(os.path.join(folder, "brain.yaml")):
            return at(above, name, state_home)
        if brain := brain_folder(folder):
            return at(folder, brain, state_home)
    raise VaultNotFound(
        f"{start} is not in a vault with a {BRAIN} folder.",
        "Run `brain init` in your vault, or name it with --vault or BRAIN_VAULT.",
    )


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and all folders above it."""
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def brain_folder(root: Place) -> str:
    """Return the name of the brain folder, known by its name or its brain.yaml; '' if none."""
    if os.path.isdir(os.path.join(root, BRAIN)):
        return BRAIN
    try:
        with os.scandir(root) as entries:
            names = sorted(e.name for e in entries if not e.name.startswith(".") and e.is_dir())
    except OSError:
        return ""
    marked = (name for name in names if os.path.isfile(os.path.join(root, name, "brain.yaml")))
    return next(marked, "")


def at(root: Place, brain: str, state_home: Place) -> Vault:
    """Return the vault at this root, with its own folder below `state_home`."""
    from brain.vault import identity

    found = identity.find(os.fspath(root), brain, os.fspath(state_home))
    return Vault(os.fspath(root), brain, found.state, id=found.id, news=found.news)


def state_home(environ: Mapping[str, str]) -> str:
    """Return the folder where this platform keeps a program's local state."""
    if given := environ.get("BRAIN_STATE"):
        return given
    home = environ.get("HOME") or environ.get("USERPROFILE") or "."
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "brain")
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or home, "brain")
    return os.path.join(environ.get("XDG_STATE_HOME") or f"{home}/.local/state", "brain")


def database(vault: Vault, setting: str) -> str:
    """Return the path of brain.db: in the brain folder on a local disk, else in the state folder,
    which no sync tool copies."""
    if setting != "auto":
        return os.path.join(vault.folder_path, os.path.expanduser(setting))
    carried = in_cloud_folder(vault.root_path) or is_remote(vault.root_path)
    return os.path.join(vault.state_path if carried else vault.folder_path, "brain.db")


_CLOUD = (
    *("dropbox", "onedrive", "google drive", "googledrive", "icloud drive", "pcloud", "nextcloud"),
)
_CLOUD_PARTS = ("mobile documents", "cloudstorage", "com~apple~clouddocs")
_REMOTE = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "smb2", "9p", "virtiofs", "afs", "ceph"),
        *("glusterfs", "lustre", "fuse", "fuseblk", "sshfs", "davfs"),
    )
)


def is_remote(root: Place) -> bool:
    """Return True if another machine may write to the file system of this folder."""
    return file_system(root) in _REMOTE


def in_cloud_folder(root: Place) -> bool:
    """Return True if a sync client copies this folder."""
    folders = list(_upwards(os.fspath(root)))
    names = [os.path.basename(folder).casefold() for folder in folders]
    if any(name in _CLOUD_PARTS or name.startswith(_CLOUD) for name in names):
        return True
    return any(os.path.exists(os.path.join(folder, ".stfolder")) for folder in folders)


def file_system(path: Place) -> str:
    """Return the type of the file system of a path, as Linux names it; '' if it is unknown."""
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
            below = f"{path}/".startswith(f"{mount.rstrip('/')}/")
            if below and len(mount) >= len(best[0]):
                best = (mount, tail.split(" ")[0])
    return best[1].partition(".")[0] if best[1].startswith("fuse.") else best[1]


_FORMATS = {  # of a file, with its scope
    "AGENT.md": ("agent", "sources"),
    "items.json": ("items", "items"),
    "tasks.json": ("tasks", "tasks"),
}
HOMES = ("agents/", "projects/", "archive/agents/", "archive/projects/")  # of named owners


def same_name(one: str) -> str:
    """Return a name without case and Unicode form. Names that are equal then could not both be on
    most file systems, and a person could not say which one is meant."""
    from unicodedata import normalize

    return one.casefold() if one.isascii() else normalize("NFC", normalize("NFC", one).casefold())


def rivals(names: Iterable[str]) -> dict[str, str]:
    """Map each of the owners' names that collide to the one that counts, the first by its bytes."""
    alike: dict[str, list[str]] = {}
    for name in sorted(names, key=os.fsencode):
        alike.setdefault(same_name(name), []).append(name)
    return {name: group[0] for group in alike.values() if len(group) > 1 for name in group}


def role(parts: list[str], names: Names = USUAL) -> Role | None:
    """Return the role of a file by its path in the brain folder; None if it is not indexed."""
    *folders, name = parts
    home = _without(folders, names.sessions)
    owner, project = _owner(home)
    if folders and folders[0] == "journal":
        return None
    if folders and folders[0] == "archive" and name.endswith(".md"):
        return Role("memory", "archive", owner, project)
    if home is not folders:
        scope = "archive" if folders[0] == "archive" else "sessions"
        if name == "sessions.json":
            return Role("session_index", scope, owner, project)
        return Role("session", scope, owner, project) if name.endswith(".jsonl") else None
    if (home := _without(parts, names.memory)) is not parts:
        return Role("memory", "memory", *_owner(home))
    if name in _FORMATS:
        return Role(*_FORMATS[name], owner, project)
    if not name.endswith(".md") or any(folder.startswith(".") for folder in folders):
        return None
    named = folders[:1] in (["agents"], ["projects"])
    return Role("note", "sources", owner if named else "", project)


def _without(parts: list[str], end: tuple[str, ...]) -> list[str]:
    """Return a path without this end if it has it, else the path itself."""
    if not parts or parts[-1] != end[-1] or tuple(parts[-len(end) :]) != end:
        return parts
    return parts[: -len(end)]


def _owner(folders: list[str]) -> tuple[str, str]:
    """Return the (agent, project) that a folder inside the brain belongs to."""
    if folders[:1] == ["archive"]:
        folders = folders[1:]
    if len(folders) > 1 and folders[0] == "agents":
        return _free(folders[1], "agents"), ""
    if len(folders) > 1 and folders[0] == "projects":
        return _free(folders[1], "projects"), folders[1]
    if not folders or folders[0] == ".agent":
        return ADMIN, ""
    return _free("/".join(folders), "."), ""


def _free(name: str, folder: str) -> str:
    """Return the name of an owner. The name of a folder makes no agent the admin or the person."""
    return f"{folder}/{name}" if name.casefold() in RESERVED else name
