"""Walk the vault: find the files to index, and report problems with files that are left out.

Notes are not read, and symlinks are not followed. Ignore files, globs and dot-folders exclude
sources. The files of the brain folder itself (memory, items, tasks, sessions, archive) are always
included.
"""

from __future__ import annotations

import os
import re
import stat as modes
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from operator import attrgetter

from brain.config import Config
from brain.model import Problem
from brain.vault import conflict_copies, files, ignore
from brain.vault.layout import HOMES, SOURCE, Role, Vault, colliding_names, name_key, role

BY_HANDLE = os.scandir in os.supports_fd
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
IGNORE_FILES = (".gitignore", ".secretsignore")
MODE, REGULAR = 0o170000, modes.S_IFREG
IGNORE_FILES_INSIDE = ("/.gitignore", "/.secretsignore")
SPECIAL = ("AGENT.md", "items.json", "tasks.json")  # and the memory note, whose name can be set
CODES = frozenset(
    (
        *("unreadable", "symlink-outside", "broken-link", "not-a-file", "is-a-directory"),
        *("conflict-copy", "too-large", "bad-name", "name-collision"),
    )
)
Entries = list[os.DirEntry[str]]

# Values that change when a file changes: size, mtime_ns, ctime_ns, inode. A tuple needs a third of
# the memory of a `stat_result`, and there is one for each note.
Stamp = tuple[int, int, int, int]
stamp: Callable[[os.stat_result], Stamp] = attrgetter(
    "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino"
)

# One chain for each of IGNORE_FILES: a `!x` in a .gitignore must not undo a .secretsignore.
Chains = tuple[ignore.Chain, ignore.Chain]
NO_RULES: Chains = ((), ())


class Scan:
    """The result of one walk.

    `stats` are the stamps of the files to index, by path. `roles` are the roles of files that are
    not plain sources. `problems` has an entry for each file that had to be left out. `unseen` are
    files and folders that could not be read. `paths` are the paths that the walk was limited to;
    None for the whole vault.
    """

    def __init__(self) -> None:
        self.stats: dict[str, Stamp] = {}
        self.roles: dict[str, Role] = {}
        self.problems: list[tuple[str, Problem]] = []
        self.unseen: list[str] = []
        self.paths: set[str] | None = None

    def role(self, path: str) -> Role:
        return self.roles.get(path, SOURCE)

    def refuse(self, path: str, code: str, message: str) -> None:
        safe = path.encode("utf-8", "backslashreplace").decode()
        self.problems.append((safe, Problem(0, code, message)))

    def missed(self, path: str, action: str, error: OSError) -> None:
        """Report a file that exists but cannot be read. Its rows in the index are kept."""
        self.unseen.append(path)
        if self.paths is not None:
            self.paths.add(path)
        self.refuse(path, "unreadable", f"cannot be {action}: {error.strerror or error}")

    def covers(self, path: str) -> bool:
        """Return True if the walk included this path."""
        return self.paths is None or any(
            path == p or path.startswith(f"{p}/") for p in self.paths if p
        )

    def may_hold(self, path: str) -> bool:
        """Return True if a path may exist although it was not found, because the path or a folder
        above it could not be read."""
        return any(path == p or not p or path.startswith(f"{p}/") for p in self.unseen)


def scan(vault: Vault, config: Config, paths: Collection[str] | None = None) -> Scan:
    """Walk the vault, or only these paths, with their content and the files that depend on them.

    A folder that cannot be listed is reported as a problem and raises no error.
    """
    walk = _Walk(vault, config)
    if paths is None or any(path in ("", *IGNORE_FILES) for path in paths):
        walk.folders.append(("", NO_RULES))
    else:
        walk.narrow(paths)
    while walk.folders:
        walk.folder(*walk.folders.pop())
    return walk.found


class _Walk:
    """One walk: the folders that are left to list, and the result so far."""

    def __init__(self, vault: Vault, config: Config) -> None:
        self.root = f"{vault.root_path}/"
        self.brain = f"{vault.brain}/"
        self.file_names = vault.names
        self.special = (vault.names.memory[-1], *SPECIAL)
        self.homes = tuple(self.brain + home for home in HOMES)
        self.use_ignore_files = config.useGitignore
        self.limit = config.maxFileSize
        self.endings = _plain_endings(config.include)
        self.include = ignore.globs(config.include)
        self.exclude = ignore.globs(config.exclude)
        self.found = Scan()
        self.folders: list[tuple[str, Chains]] = []
        self.names = ""  # all names in the current folder, one per line
        self.rivals: dict[str, str] = {}  # the colliding names of folders in the current folder

    def narrow(self, paths: Collection[str]) -> None:
        """Walk only these paths with their content. An ignore file stands for its folder."""
        names: dict[str, set[str]] = {}
        self.found.paths = set()
        for path in paths:
            path = path.rstrip("/")
            if path.endswith(IGNORE_FILES_INSIDE):
                path = path.rpartition("/")[0]
            path = self._with_rivals(path)
            self.found.paths.add(path)
            prefix, slash, name = path.rpartition("/")
            names.setdefault(prefix + slash, set()).add(name)
        for prefix, wanted_names in names.items():
            rules = self._rules_above(prefix)
            if rules is not None:
                self.folder(prefix, rules, wanted_names)

    def _with_rivals(self, path: str) -> str:
        """Return the folder of the agent or project that a path belongs to, if another folder has
        the same name except for case. Otherwise, return the path."""
        home = next((home for home in self.homes if path.startswith(home)), path)
        owner, slash, _ = path[len(home) :].partition("/")
        if not slash:
            return path
        with self._listing(home) as entries:
            others = {name_key(e.name) for e in entries or () if e.name != owner}
        return home + owner if name_key(owner) in others else path

    def _rules_above(self, prefix: str) -> Chains | None:
        """Return the ignore rules above a folder; None if a full walk would not enter it."""
        rules, parent = NO_RULES, ""
        for part in prefix.split("/")[:-1]:
            path = parent + part
            if part.startswith(".") and not self._is_agent(parent, part):
                return None
            with self._listing(parent) as entries:
                if entries is None:
                    return None
                rules = self._with_ignore_files(rules, parent, entries)
                if self._rivals(parent, entries).get(part, part) != part:
                    return None
            if os.path.islink(self.root + path) or (
                not f"{path}/".startswith(self.brain)
                and _ignored(rules, parent, [part], is_dir=True)
            ):
                return None
            parent = path + "/"
        return rules

    @contextmanager
    def _listing(self, prefix: str) -> Iterator[Entries | None]:
        """Yield the entries of a folder; None if it is missing, a file, or unreadable. Only an
        unreadable folder is reported.

        The folder is kept open, and its files are opened relative to it. This is faster than to
        open them by their full path, and it still works if a folder above is renamed.
        """
        path, handle, entries = self.root + prefix, -1, None
        try:
            handle = os.open(path, FOLDER) if BY_HANDLE else -1
            with os.scandir(handle if BY_HANDLE else path) as found:
                entries = list(found)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self.found.missed(prefix.rstrip("/"), "listed", error)
        try:
            yield entries
        finally:
            if handle >= 0:
                os.close(handle)

    def folder(self, prefix: str, rules: Chains, names: set[str] | None = None) -> None:
        """List a folder and add its files, or only the files with these names."""
        with self._listing(prefix) as entries:
            if entries is None:
                return
            self.names = "\n".join(["", *[entry.name for entry in entries], ""])
            self.rivals = self._rivals(prefix, entries)
            if "\n." in self.names:
                rules = self._with_ignore_files(rules, prefix, entries)
                entries = [e for e in entries if e.name[0] != "." or self._is_agent(prefix, e.name)]
            if names is not None:
                entries = self._chosen(prefix, entries, names)
            if prefix.startswith(self.brain):
                self._brain_folder(prefix, entries, rules)
            else:
                self._source_folder(prefix, entries, rules)

    def _rivals(self, prefix: str, entries: Entries) -> dict[str, str]:
        """Return the colliding names of agents or projects, each with the name that is used."""
        if prefix not in self.homes:
            return {}
        return colliding_names([e.name for e in entries if e.is_dir(follow_symlinks=False)])

    def _is_agent(self, prefix: str, name: str) -> bool:
        """Return True for `.agent`, the only folder with a dot that is read."""
        return name == ".agent" and prefix == self.brain

    def _chosen(self, prefix: str, entries: Entries, names: set[str]) -> Entries:
        """Return the entries with these names, the possible copies of these entries, and the
        entries whose names collide with them."""
        chosen = [e for e in entries if e.name in names or _original(e.name) in names]
        if prefix in self.homes:
            wanted = {name_key(name) for name in names}
            chosen = [e for e in entries if e in chosen or name_key(e.name) in wanted]
        if self.found.paths is not None:
            self.found.paths.update(prefix + entry.name for entry in chosen)
        return chosen

    def _with_ignore_files(self, rules: Chains, prefix: str, entries: Entries) -> Chains:
        """Return the ignore rules that apply in this folder."""
        if self.use_ignore_files:
            for entry in entries:
                if entry.name not in IGNORE_FILES:
                    continue
                if new_rules := ignore.parse(files.text(self.root + prefix + entry.name)):
                    (git, secret), added = rules, ((prefix, new_rules),)
                    is_git = entry.name == ".gitignore"
                    rules = (git + added, secret) if is_git else (git, secret + added)
        return rules

    def _source_folder(self, prefix: str, entries: Entries, rules: Chains) -> None:
        stats, limit = self.found.stats, self.limit
        if rules != NO_RULES:
            entries = self._not_ignored(prefix, entries, rules)
        is_plain = not self.exclude and _storable(prefix + self.names)
        endings = self.endings if is_plain else ()
        suspects = conflict_copies.possible(self.names) if _may_be_copy(self.names) else ()
        entries.reverse()
        while entries:  # pop each, to free its stat
            entry = entries.pop()
            name = entry.name
            try:
                if name.endswith(endings) and name not in suspects:
                    st = entry.stat(follow_symlinks=False)
                    if st.st_mode & MODE == REGULAR and st.st_size <= limit:
                        stats[prefix + name] = stamp(st)  # the fast path for nearly every note
                        continue
                self._source(prefix, entry, rules)
            except FileNotFoundError:
                continue  # deleted since the folder was listed
            except OSError as error:
                self.found.missed(prefix + name, "looked at", error)

    def _not_ignored(self, prefix: str, entries: Entries, rules: Chains) -> Entries:
        folders = {e.name for e in entries if e.is_dir(follow_symlinks=False)}
        names = {e.name for e in entries} - folders
        ignored = _ignored(rules, prefix, names, is_dir=False)
        ignored |= _ignored(rules, prefix, folders, is_dir=True)
        return [e for e in entries if e.name not in ignored or f"{prefix}{e.name}/" == self.brain]

    def _source(self, prefix: str, entry: os.DirEntry[str], rules: Chains) -> None:
        path, name = prefix + entry.name, entry.name
        if entry.is_dir(follow_symlinks=False):
            self.folders.append((path + "/", rules))
        elif self._is_included(path):
            if not self._is_copy(prefix, name):
                self._file(path, entry, SOURCE)
        elif entry.is_symlink() and os.path.isdir(self.root + path):
            self._symlink(path)

    def _is_included(self, path: str) -> bool:
        stem, dot, ending = path.rpartition(".")
        paths = (path, f"{stem}{dot}{ending.lower()}")  # Obsidian reads `NOTE.MD` as well
        included = self.include is not None and any(map(self.include.match, paths))
        return included and not (self.exclude and self.exclude.match(path))

    def _is_copy(self, prefix: str, name: str) -> bool:
        """Return True if a file is a conflict copy, and report it. If a person may have chosen the
        name, the file counts as a copy only if it is similar to the original note."""
        if not _may_be_copy(name):
            return False
        tool = conflict_copies.copied_by(name)
        if not tool:
            original, likely_tool = conflict_copies.possible_original(name)
            paths = [f"{self.root}{prefix}{each}" for each in (name, original)]
            if f"\n{original}\n" in self.names and conflict_copies.are_similar(*paths):
                tool = likely_tool
        if tool:
            message = f"is a conflict copy made by {tool}"
            self.found.refuse(prefix + name, "conflict-copy", message)
        return bool(tool)

    def _brain_folder(self, prefix: str, entries: Entries, rules: Chains) -> None:
        folders = prefix[len(self.brain) :].split("/")[:-1]
        note_role = role([*folders, "/.md"], self.file_names)  # a name that no file can have
        notes: Entries = []
        for entry in entries:
            path, name = prefix + entry.name, entry.name
            is_plain = name.endswith(".md") and name not in self.special
            file_role = note_role if is_plain else role([*folders, name], self.file_names)
            if entry.is_dir(follow_symlinks=False):
                if entry.name in self.special:
                    message = "is a folder where a file is expected"
                    self.found.refuse(path, "is-a-directory", message)
                if self._admit(path, name):
                    self.folders.append((path + "/", rules))
            elif file_role and file_role.format == "note":
                notes.append(entry)
                if file_role != SOURCE:
                    self.found.roles[path] = file_role
            else:
                self._brain_file(prefix, entry, file_role)
        self._source_folder(prefix, notes, rules)

    def _admit(self, path: str, name: str) -> bool:
        """Return True if a folder is to be read. If the names of agents or projects collide,
        all of them are reported and only the first is read."""
        used_name = self.rivals.get(name)
        if used_name == name:
            others = [repr(other) for other, used in self.rivals.items() if used == name != other]
            message = f"has the same name as {', '.join(others)}, except for case or accents"
            self.found.refuse(path, "name-collision", message)
        elif used_name:
            message = (
                f"has the same name as {used_name!r}, except for case or accents; it is not read"
            )
            self.found.refuse(path, "name-collision", message)
        return used_name in (None, name)

    def _brain_file(self, prefix: str, entry: os.DirEntry[str], file_role: Role | None) -> None:
        path = prefix + entry.name
        try:
            if self._is_copy(prefix, entry.name):
                return
            if file_role:
                self._file(path, entry, file_role)
            elif entry.is_symlink() and os.path.isdir(self.root + path):
                self._symlink(path)
        except FileNotFoundError:
            return  # deleted since the folder was listed
        except OSError as error:
            self.found.missed(path, "looked at", error)

    def _file(self, path: str, entry: os.DirEntry[str], file_role: Role) -> None:
        """Add a file. A file that is not regular, is too large, or has a name that SQLite cannot
        store, is reported instead."""
        st = entry.stat(follow_symlinks=False)
        if modes.S_ISLNK(st.st_mode):
            self._symlink(path)
        elif not modes.S_ISREG(st.st_mode):
            self.found.refuse(path, "not-a-file", "is not a regular file; it is not read")
        elif st.st_size > self.limit and file_role.format != "session":
            message = f"is larger than maxFileSize ({self.limit:,} bytes); it is not read"
            self.found.refuse(path, "too-large", message)
        elif not _storable(path):
            self.found.refuse(path, "bad-name", "has a name that is not valid UTF-8; rename it")
        else:
            self.found.stats[path] = stamp(st)
            if file_role is not SOURCE:
                self.found.roles[path] = file_role

    def _symlink(self, path: str) -> None:
        """Report a link that is broken or leads out of the vault. Any other link is ignored,
        because its target is indexed at its own path."""
        target, root = os.path.realpath(self.root + path), os.path.realpath(self.root)
        if not os.path.exists(self.root + path):
            self.found.refuse(path, "broken-link", "is a symbolic link without a target")
        elif target != root and not target.startswith(root + os.sep):
            message = "is a symbolic link to a place outside the vault; it is not followed"
            self.found.refuse(path, "symlink-outside", message)


def _ignored(rules: Chains, prefix: str, names: Collection[str], is_dir: bool) -> set[str]:
    """Return the names in a folder that either kind of ignore file excludes."""
    git, secret = (ignore.ignored_names(chain, prefix, names, is_dir) for chain in rules)
    return git | secret


def _may_be_copy(names: str) -> bool:
    """Return True if there may be a conflict copy among these names. Most folders have none."""
    return any(re.search(hint, names) for hint in conflict_copies.HINTS)


def _original(name: str) -> str:
    """Return the name of the note that this file may be a conflict copy of; '' for other files."""
    return conflict_copies.possible_original(name)[0] if _may_be_copy(name) else ""


def _plain_endings(include: tuple[str, ...]) -> tuple[str, ...]:
    """Return the suffixes of globs that need no regex: `.md` for `**/*.md`."""
    endings = []
    for glob in include:
        ending = glob.removeprefix("**/").removeprefix("*")
        if ending.startswith(".") and not set(ending) & set("*?[\\/") and "*" in glob:
            endings.append(ending)
    return tuple(endings)


def _storable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
