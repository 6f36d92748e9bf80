"""The layout of a vault: its brain folder, its state folder on this machine, and the owner and
format of each file.

A vault is identified by `vaultId` in its brain.yaml, which `brain init` or the first write adds.
The name of its state folder is a digest of the path of the vault. The file vault.json in the state
folder contains the id and path of the vault. If a vault is moved, its state folder is renamed. A
copy of a vault gets a new state folder, and so does another vault at the same path.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count

from brain._tuples import NamedTuple
from brain.errors import Refused, VaultNotFound
from brain.formats.text import digest
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

BRAIN = "40_Brain"
ADMIN = "admin"
RESERVED = (ADMIN, "person")  # names that no agent may have

STATE_OWNER = "vault.json"  # the file in a state folder that names its vault
_VAULT_ID = re.compile(
    rb"^vaultId:[ \t]*[\"']?([A-Za-z0-9-]{4,64})[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE
)

Place = str | os.PathLike[str]


class Names(NamedTuple):
    """The paths of the memory note and of the sessions folder in the folder of an agent, as
    parts."""

    memory: tuple[str, ...] = ("MEMORY.md",)
    sessions: tuple[str, ...] = ("sessions",)

    def __str__(self) -> str:
        """Return the names as one text; '' for the default names."""
        text = f"{'/'.join(self.memory)} {'/'.join(self.sessions)}"
        return "" if text == "MEMORY.md sessions" else text


DEFAULT_NAMES = Names()


class Vault(NamedTuple):
    """A vault on this machine: the path of its root folder, the name of its brain folder, the path
    of its state folder (for data that must not be synced), and the names of its files.

    Paths are strings, because most commands do not need `pathlib`. `root`, `folder` (the brain
    folder) and `state` are the same paths as Path.
    """

    root_path: str
    brain: str
    state_path: str
    names: Names = DEFAULT_NAMES
    id: str = ""
    news: str = ""  # a sentence for the user about the state folder

    def with_names(self, memory: str, sessions: str) -> Vault:
        """Return this vault with other names of its files: paths that begin with `<agent>/`."""
        parts = [tuple(path.removesuffix("/").split("/")[1:]) for path in (memory, sessions)]
        return self._replace(names=Names(*parts))

    def role(self, path: str) -> Role | None:
        """Return the role of a file of the brain folder, by its path in the vault. Return None for
        any other file."""
        brain, *parts = path.split("/")
        return role(parts, self.names) if parts and brain == self.brain else None

    def writable_role(self, path: str) -> Role:
        """Return the role of a file that Brain may write. Raise Refused for any other file."""
        brain, _, rest = path.partition("/")
        is_inside = brain == self.brain and not {"", ".", ".."} & set(rest.split("/"))
        if is_inside and rest == "brain.yaml":
            return SETTINGS
        found = self.role(path) if is_inside else None
        if found is None or found.format not in WRITABLE:
            raise Refused(f"Brain does not write {path}.", "It writes its own files only.")
        return found

    def real_path(self, path: str) -> str:
        """Return the path of a file on this machine. Raise Refused if the file or a folder above it
        is a link."""
        real = f"{self.root_path}/{path}"
        if not _is_real(os.path.dirname(real)) or os.path.islink(real):
            message = f"{path} is reached through a symbolic link."
            raise Refused(message, "Brain does not write through links.")
        return real

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
SETTINGS = Role("settings", "")  # without an owner: only the admin may write it
WRITABLE = ("memory", "session")  # formats; the settings can be written, too
_real: dict[str, tuple[int, int]] = {}  # device and inode of folders without a link above them


def _is_real(folder: str) -> bool:
    """Return True if no part of this path is a link. The parts are checked again only if the path
    has led to another folder since the last check."""
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


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def find(start: Place, state_home: Place) -> Vault:
    """Return the vault that contains `start`: the nearest folder, going up, with a brain folder."""
    try:
        start = os.path.realpath(start, strict=True)
    except OSError:
        raise VaultNotFound(f"There is no folder {start}.", "Check the path.") from None
    for folder in _with_parents(start):
        parent, name = os.path.split(folder)
        if name and os.path.isfile(os.path.join(folder, "brain.yaml")):
            return vault_at(parent, name, state_home)
        if brain := brain_folder(folder):
            return vault_at(folder, brain, state_home)
    raise VaultNotFound(
        f"{start} is not in a vault with a {BRAIN} folder.",
        "Run `brain init` in your vault, or name it with --vault or BRAIN_VAULT.",
    )


def _with_parents(folder: str) -> Iterator[str]:
    """Yield a folder and all folders above it."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        yield folder


def brain_folder(root: Place) -> str:
    """Return the name of the brain folder: 40_Brain, else the first folder with a brain.yaml, else
    ''."""
    if os.path.isdir(os.path.join(root, BRAIN)):
        return BRAIN
    try:
        with os.scandir(root) as entries:
            names = sorted(e.name for e in entries if not e.name.startswith(".") and e.is_dir())
    except OSError:
        return ""
    candidates = (name for name in names if os.path.isfile(os.path.join(root, name, "brain.yaml")))
    return next(candidates, "")


# -- the id of a vault, and its state folder -------------------------------------------------------


def vault_id(folder: str) -> str:
    """Return the id of the vault with this brain folder; '' if it has none."""
    try:
        data, _ = files.read(f"{folder}/brain.yaml", files.SMALL_FILE)
    except OSError:
        return ""
    found = _VAULT_ID.search(data)
    return found[1].decode() if found else ""


def vault_at(root: Place, brain: str, state_home: Place) -> Vault:
    """Return the vault with the root folder `root`. Its state folder is in `state_home`. If the
    vault was moved to `root`, its state folder is renamed. No folder is created."""
    root, home = os.fspath(root), os.fspath(state_home)
    id = vault_id(f"{root}/{brain}")
    default = os.path.join(home, digest(os.fsencode(root)).hex())
    if os.path.isdir(default) and _owner_of(default)[0] in ("", id):
        return Vault(root, brain, default, id=id)
    target = _unused_folder(default, id)
    news = ""
    for folder, other_id, other_root in _state_folders(home) if id else ():
        if other_id != id:
            continue
        if other_root == root:
            return Vault(root, brain, folder, id=id)
        if not _contains_vault(other_root, id):
            with suppress(OSError):  # another process was faster
                os.rename(folder, target)
            claim(target, root, id)
            return Vault(root, brain, target, id=id)
        news = f"This is a copy of the vault at {other_root}. It starts with its own state."
    return Vault(root, brain, target, id=id, news=news)


def _unused_folder(default: str, id: str) -> str:
    """Return the path of a state folder that no other vault uses. `default` may belong to a vault
    that was at the same path before."""
    if not os.path.isdir(default):
        return default
    if id:
        return f"{default}-{id}"
    folders = (f"{default}-unnamed{number or ''}" for number in count())
    return next(folder for folder in folders if not _owner_of(folder)[0])


def claim(state: str, root: str, id: str) -> None:
    """Record that a state folder belongs to this vault."""
    import json

    if _owner_of(state) != (id, root):
        os.makedirs(state, 0o700, exist_ok=True)
        text = json.dumps({"id": id, "path": root})
        files.write_atomically(f"{state}/{STATE_OWNER}", text.encode())


def _owner_of(state: str) -> tuple[str, str]:
    """Return the id and path of the vault that a state folder belongs to; '' for both if none is
    recorded. The id is '' if the vault has none yet."""
    import json

    try:
        value = json.loads(files.read(f"{state}/{STATE_OWNER}", files.SMALL_FILE)[0])
        return str(value["id"]), str(value["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""


def _state_folders(home: str) -> list[tuple[str, str, str]]:
    """Return the state folders of this machine, each with the id and path of its vault."""
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return []
    folders = [os.path.join(home, name) for name in names]
    return [(folder, *_owner_of(folder)) for folder in folders]


def _contains_vault(root: str, id: str) -> bool:
    """Return True if the vault with this id is at this path."""
    with suppress(OSError), os.scandir(root) as entries:
        return any(vault_id(entry.path) == id for entry in entries if entry.is_dir())
    return False


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
    """Return the path of brain.db: in the brain folder on a local disk, otherwise in the state
    folder, which is not synced."""
    if setting != "auto":
        return os.path.join(vault.folder_path, os.path.expanduser(setting))
    synced = in_cloud_folder(vault.root_path) or is_remote(vault.root_path)
    return os.path.join(vault.state_path if synced else vault.folder_path, "brain.db")


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
    folders = list(_with_parents(os.fspath(root)))
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
            contains = f"{path}/".startswith(f"{mount.rstrip('/')}/")
            if contains and len(mount) >= len(best[0]):
                best = (mount, tail.split(" ")[0])
    return best[1].partition(".")[0] if best[1].startswith("fuse.") else best[1]


_FORMATS = {  # format and scope by file name
    "AGENT.md": ("agent", "sources"),
    "items.json": ("items", "items"),
    "tasks.json": ("tasks", "tasks"),
}
HOMES = (
    "agents/",
    "projects/",
    "archive/agents/",
    "archive/projects/",
)  # folders of agents and projects


def name_key(name: str) -> str:
    """Return a key that is equal for names that differ only in case or Unicode form. Most file
    systems cannot contain two such names, and a person cannot tell them apart."""
    from unicodedata import normalize

    return (
        name.casefold() if name.isascii() else normalize("NFC", normalize("NFC", name).casefold())
    )


def colliding_names(names: Iterable[str]) -> dict[str, str]:
    """Return the names that are equal to another name except for case or Unicode form. Each is
    mapped to the name that is used instead: the first in byte order."""
    by_key: dict[str, list[str]] = {}
    for name in sorted(names, key=os.fsencode):
        by_key.setdefault(name_key(name), []).append(name)
    return {name: group[0] for group in by_key.values() if len(group) > 1 for name in group}


def role(parts: list[str], names: Names = DEFAULT_NAMES) -> Role | None:
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
    has_owner = folders[:1] in (["agents"], ["projects"])
    return Role("note", "sources", owner if has_owner else "", project)


def _without(parts: list[str], end: tuple[str, ...]) -> list[str]:
    """Return the parts of a path without the parts `end`. If the path does not end so, return the
    list `parts` itself."""
    if not parts or parts[-1] != end[-1] or tuple(parts[-len(end) :]) != end:
        return parts
    return parts[: -len(end)]


def _owner(folders: list[str]) -> tuple[str, str]:
    """Return the (agent, project) that a folder in the brain folder belongs to."""
    if folders[:1] == ["archive"]:
        folders = folders[1:]
    if len(folders) > 1 and folders[0] == "agents":
        return _unreserved(folders[1], "agents"), ""
    if len(folders) > 1 and folders[0] == "projects":
        return _unreserved(folders[1], "projects"), folders[1]
    if not folders or folders[0] == ".agent":
        return ADMIN, ""
    return _unreserved("/".join(folders), "."), ""


def _unreserved(name: str, folder: str) -> str:
    """Return the name of the owner of a folder: the folder's name, or its path if the name is
    reserved (admin, person)."""
    return f"{folder}/{name}" if name.casefold() in RESERVED else name
