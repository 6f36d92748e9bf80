"""The stat-walk: which files of a vault are Brain's to read, and what is wrong with the others.

Reads no note. Follows no symlink. Ignore files, globs and dot-folders keep sources out; the files
of the brain folder itself (memory, items, tasks, sessions, archive) are always in.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from brain.config import Config
from brain.model import Problem
from brain.vault import conflicts, ignore
from brain.vault.layout import SOURCE, Role, Vault, role

IGNORE_FILES = (".gitignore", ".secretsignore")
SPECIAL = ("MEMORY.md", "AGENT.md", "items.json", "tasks.json")
CODES = frozenset(
    [
        "unreadable",
        "symlink-outside",
        "not-a-file",
        "is-a-directory",
        "conflict-copy",
        "too-large",
        "bad-name",
    ]
)
Entries = list[os.DirEntry[str]]

# One chain for each of IGNORE_FILES: a `!x` in one must not undo the other.
Chains = tuple[ignore.Chain, ignore.Chain]
NO_RULES: Chains = ((), ())


@dataclass(slots=True)
class Scan:
    """What one walk found: `stats` of the files to index, `roles` of those that are not plain
    sources, and a problem for each file that had to be left out."""

    stats: dict[str, os.stat_result] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    problems: list[tuple[str, Problem]] = field(default_factory=list)

    def role(self, path: str) -> Role:
        return self.roles.get(path, SOURCE)

    def refuse(self, path: str, code: str, message: str) -> None:
        safe = path.encode("utf-8", "backslashreplace").decode()
        self.problems.append((safe, Problem(0, code, message)))


def scan(vault: Vault, config: Config, only: Collection[str] | None = None) -> Scan:
    """Walk the vault, or only these paths and all below them.

    A folder that cannot be listed is a problem, not an error.
    """
    walk = _Walk(vault, config)
    if only is None:
        walk.folders.append(("", NO_RULES))
    else:
        walk.narrow(only)
    while walk.folders:
        walk.folder(*walk.folders.pop())
    return walk.found


class _Walk:
    """One walk: the folders still to list, and what was found so far."""

    def __init__(self, vault: Vault, config: Config) -> None:
        self.root = f"{vault.root}/"
        self.brain = f"{vault.brain}/"
        self.use_ignore_files = config.useGitignore
        self.limit = config.maxFileSize
        self.endings = _plain_endings(config.include)
        self.include = ignore.globs(config.include)
        self.exclude = ignore.globs(config.exclude)
        self.found = Scan()
        self.folders: list[tuple[str, Chains]] = []
        self.siblings: Entries = []

    def narrow(self, paths: Collection[str]) -> None:
        """Look at these paths alone, each by listing its folder, and walk those that are
        folders."""
        names: dict[str, set[str]] = {}
        for path in paths:
            prefix, slash, name = path.rpartition("/")
            names.setdefault(prefix + slash, set()).add(name)
        for prefix, wanted in names.items():
            rules = self._rules_above(prefix)
            if rules is not None:
                self.folder(prefix, rules, wanted)

    def _rules_above(self, prefix: str) -> Chains | None:
        """The ignore rules above a folder; None if a full walk would not get there."""
        rules, at = NO_RULES, ""
        for part in prefix.split("/")[:-1]:
            path = at + part
            if part.startswith(".") and not (part == ".agent" and at == self.brain):
                return None
            try:
                rules = self._extended(rules, at, _listing(self.root + at))
            except OSError:
                return None
            if os.path.islink(self.root + path) or (
                not f"{path}/".startswith(self.brain) and _ignored(rules, at, [part], is_dir=True)
            ):
                return None
            at = path + "/"
        return rules

    def folder(self, prefix: str, rules: Chains, names: set[str] | None = None) -> None:
        """List one folder and take in what it holds, or what it holds of `names`."""
        try:
            entries = _listing(self.root + prefix)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self.found.refuse(
                prefix.rstrip("/"), "unreadable", f"cannot be listed: {error.strerror}"
            )
            return
        self.siblings = entries
        rules = self._extended(rules, prefix, entries)
        shown = [e for e in entries if e.name[0] != "." and (names is None or e.name in names)]
        if prefix.startswith(self.brain):
            hidden = [e for e in entries if e.name == ".agent" and prefix == self.brain]
            self._brain_folder(prefix, shown + hidden, rules)
        else:
            self._source_folder(prefix, shown, rules)

    def _extended(self, rules: Chains, prefix: str, entries: Entries) -> Chains:
        """The ignore rules that hold in this folder."""
        if self.use_ignore_files:
            for entry in entries:
                if entry.name in IGNORE_FILES and (more := ignore.parse(_text(entry.path))):
                    git, secret = rules
                    link = ((prefix, more),)
                    rules = (
                        (git + link, secret) if entry.name == ".gitignore" else (git, secret + link)
                    )
        return rules

    def _source_folder(self, prefix: str, entries: Entries, rules: Chains) -> None:
        endings, stats, limit = self.endings, self.found.stats, self.limit
        if rules != NO_RULES:
            entries = self._not_ignored(prefix, entries, rules)
        for entry in entries:
            name = entry.name
            if name.endswith(endings) and name.isascii() and not self.exclude:
                odd = "onflict" in name or "TOP-" in name or name[-4:-3].isdigit()
                st = entry.stat(follow_symlinks=False)
                if not odd and modes.S_ISREG(st.st_mode) and st.st_size <= limit:
                    stats[prefix + name] = st  # nearly every note goes this way
                    continue
            self._source(prefix, entry, rules)

    def _not_ignored(self, prefix: str, entries: Entries, rules: Chains) -> Entries:
        folders = {e.name for e in entries if e.is_dir(follow_symlinks=False)}
        files = {e.name for e in entries} - folders
        out = _ignored(rules, prefix, files, is_dir=False)
        out |= _ignored(rules, prefix, folders, is_dir=True) - {self.brain.rstrip("/")}
        return [e for e in entries if e.name not in out]

    def _source(self, prefix: str, entry: os.DirEntry[str], rules: Chains) -> None:
        path, name = prefix + entry.name, entry.name
        if entry.is_dir(follow_symlinks=False):
            self.folders.append((path + "/", rules))
        elif self._wanted(path):
            if tool := self._copied_by(prefix, name):
                self.found.refuse(path, "conflict-copy", f"is a conflict copy made by {tool}")
            else:
                self._file(path, entry, SOURCE)
        elif entry.is_symlink() and os.path.isdir(entry.path):
            self._symlink(path, entry)

    def _wanted(self, path: str) -> bool:
        included = self.include is not None and self.include.match(path) is not None
        return included and not (self.exclude and self.exclude.match(path))

    def _copied_by(self, prefix: str, name: str) -> str | None:
        """The tool that made this copy. A name that a person may have given counts only if the
        content agrees with the note that it seems to be a copy of."""
        if tool := conflicts.copied_by(name):
            return tool
        original, tool = conflicts.may_be_copy_of(name)
        if not original or all(entry.name != original for entry in self.siblings):
            return None
        folder = self.root + prefix
        return tool if _alike(folder + name, folder + original) else None

    def _brain_folder(self, prefix: str, entries: Entries, rules: Chains) -> None:
        inner = prefix[len(self.brain) :]
        notes: Entries = []
        for entry in entries:
            path, name = prefix + entry.name, entry.name
            if entry.is_dir(follow_symlinks=False):
                if name in SPECIAL:
                    self.found.refuse(
                        path, "is-a-directory", "is a folder where a file is expected"
                    )
                self.folders.append((path + "/", rules))
            elif tool := conflicts.copied_by(name):
                self.found.refuse(path, "conflict-copy", f"is a conflict copy made by {tool}")
            elif known := role((inner + name).split("/")):
                if known.format == "note":
                    notes.append(entry)
                else:
                    self._file(path, entry, known)
        self._source_folder(prefix, notes, rules)
        for entry in notes:
            if entry.name and (known := role((inner + entry.name).split("/"))) != SOURCE:
                self.found.roles[prefix + entry.name] = known or SOURCE

    def _file(self, path: str, entry: os.DirEntry[str], known: Role) -> None:
        """Take a file in, unless it is none, is too large, or has a name SQLite cannot store."""
        st = entry.stat(follow_symlinks=False)
        if modes.S_ISLNK(st.st_mode):
            self._symlink(path, entry)
        elif not modes.S_ISREG(st.st_mode):
            self.found.refuse(path, "not-a-file", "is not a regular file; it is not read")
        elif st.st_size > self.limit:
            message = f"is over maxFileSize ({self.limit:,} bytes); it is not read"
            self.found.refuse(path, "too-large", message)
        elif not _storable(path):
            self.found.refuse(path, "bad-name", "has a name that is not valid UTF-8; rename it")
        else:
            self.found.stats[path] = st
            if known is not SOURCE:
                self.found.roles[path] = known

    def _symlink(self, path: str, entry: os.DirEntry[str]) -> None:
        """A link inside the vault leads to what is indexed anyway; one that leaves it is
        reported."""
        target = os.path.realpath(entry.path)
        if not target.startswith(os.path.realpath(self.root) + os.sep):
            message = "is a link that leaves the vault; it is not followed"
            self.found.refuse(path, "symlink-outside", message)


def _ignored(rules: Chains, prefix: str, names: Collection[str], is_dir: bool) -> set[str]:
    """Those of the names in a folder that either kind of ignore file leaves out."""
    git, secret = (ignore.ignored_names(chain, prefix, names, is_dir) for chain in rules)
    return git | secret


def _plain_endings(include: tuple[str, ...]) -> tuple[str, ...]:
    """`.md` for `**/*.md`: globs of this form need no regex."""
    endings = []
    for glob in include:
        ending = glob.removeprefix("**/").removeprefix("*")
        if ending.startswith(".") and not set(ending) & set("*?[\\/") and "*" in glob:
            endings.append(ending)
    return tuple(endings)


def _listing(folder: str) -> Entries:
    with os.scandir(folder) as entries:
        return list(entries)


def _storable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _alike(copy: str, original: str) -> bool:
    """Do two notes share at least half of their lines, as a conflict copy and its original do?"""
    one, two = ({line for line in _text(p).split("\n") if line.strip()} for p in (copy, original))
    return 2 * len(one & two) >= max(len(one), len(two))
