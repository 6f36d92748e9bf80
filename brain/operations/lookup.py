"""Find the entries, notes and filters that a user names.

An entry is named by an id (`m-…`, `^m-…`, `[id:…]`, a prefix), by `path:line`, or by words that
only one memory contains.
"""

from __future__ import annotations

import os.path
import re
from unicodedata import normalize

from brain import access, actors
from brain._tuples import NamedTuple
from brain.errors import Ambiguous, BadRequest, NotFound, suggest
from brain.formats.text import UNSPACED
from brain.index import read
from brain.index.read import Filters, Row
from brain.model import SCOPES
from brain.timestamps import as_date, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.access import Actor
    from brain.model import Record
    from brain.open_vault import OpenVault

    Owners = tuple[str, ...] | None

EDITABLE = ("memory", "archive")
ID = r"\[id:([^\]]+)\]|(?:\[\[[^\]]*#)?\^([^\]]+)(?:\]\])?"  # an id in a prompt or in a link
PLACE = r"(.+):([0-9]{1,9})"
WORDS = r"\w[\w\s'’.,:;!?()-]*"  # other texts are never searched for as words
_WORD = re.compile(f"[^\\W{UNSPACED}]+")
_UNSPACED_PART = re.compile(f"[{UNSPACED}]+")
NOT_A_NAME = {"null", "none", "true", "false", "undefined"}
UNUSED_ID = r"m-[0-9a-z]{4,8}"  # a text of this form is never searched for as words
OTHER_SCOPES = {"notes": ("sources",), "all": SCOPES}
OTHER_KINDS = ("note", "agent", "task", "session", "user", "assistant", "system", "tool")


# -- entries -------------------------------------------------------------------------------------


class Location(NamedTuple):
    """An entry, and the named line of its file; 0 if the whole file was named."""

    row: Row
    line: int


def find(vault: OpenVault, name: str, *, owners: Owners = None, titles: bool = True) -> Row:
    """Return the entry with this name, if one of `owners` (None: all) owns it. Raise NotFound or
    Ambiguous."""
    return locate(vault, name, owners, titles).row


def locate(vault: OpenVault, name: str, owners: Owners = None, titles: bool = True) -> Location:
    """Return the entry with this name and its line. For a whole file, return its first entry.
    Without `titles`, notes are not found by name or title."""

    def readable(rows: list[Row]) -> list[Row]:
        return [row for row in rows if owners is None or row.agent in owners]

    name = name.strip().removeprefix(f"{vault.paths.root_path}/")
    if match := re.fullmatch(ID, name):
        name = match[1] or match[2]
    if found := readable(read.by_ref(vault.index, name)):
        return Location(_only(name, found), found[0].line)
    if found := readable(_by_former_id(vault, name)):
        return Location(found[0], found[0].line)
    place = re.fullmatch(PLACE, name)
    path, line = (place[1], int(place[2])) if place else (name, 0)
    for candidate in _paths(vault, path):
        if found := readable(read.by_place(vault.index, candidate, line)):
            return Location(found[0], line)
    if titles and (paths := notes_named(vault, name, owners)[0]):
        first_entries = [rows[0] for path in paths if (rows := read.by_place(vault.index, path, 0))]
        if first_entries:
            return Location(_only(name, first_entries), 0)
    if not re.fullmatch(UNUSED_ID, name) and (found := readable(_by_words(vault, name))):
        return Location(_only(name, found), found[0].line)
    forgotten = last_forget(vault, name)
    if forgotten and (owners is None or vault.owner(forgotten.path) in owners):
        raise NotFound(f"{name} was forgotten.", f"`brain undo {forgotten.id}` restores it.")
    raise NotFound(
        f"There is no entry {name!r}.", "Search for it with `brain search` or `brain list`."
    )


def last_forget(vault: OpenVault, ref: str) -> Record | None:
    """Return the record by which an entry was forgotten; None if it has come back since."""
    from brain.index import records

    ops = ("forget", "undo", "remember", "restored", "merged")
    last = next(records.select(vault.index, refs=(ref,), ops=ops, newest_first=True), None)
    return last if last and last.op == "forget" else None


def _only(name: str, found: list[Row]) -> Row:
    if len(found) > 1:
        places = ", ".join(f"{row.path}:{row.line} ({row.ref})" for row in found[:5])
        count = f"{len(found)}" if len(found) < read.MAX_BY_PREFIX else "very many"
        raise Ambiguous(f"{name!r} matches {count} entries: {places}.", "Give its id or path:line.")
    return found[0]


def _paths(vault: OpenVault, path: str) -> list[str]:
    """Return the possible paths in the vault for a path that is relative to the vault or to the
    current folder."""
    root = vault.paths.root_path
    absolute = os.path.normpath(os.path.join(vault.here or root, path))
    return [path, absolute.removeprefix(f"{root}/")] if absolute.startswith(f"{root}/") else [path]


def _by_former_id(vault: OpenVault, id: str) -> list[Row]:
    """Return the entry that had this id before a person edited it."""
    if not id.isascii():
        return []
    others = read.all_ids(vault.index, id) - {id}
    return [row for other in sorted(others) for row in read.by_ref(vault.index, other)]


def _by_words(vault: OpenVault, words: str) -> list[Row]:
    """Return the memories that contain all of these words. A short word alone finds nothing, nor
    does a word such as `null`, which a program may have sent for a missing id. In scripts without
    spaces, a word also matches in the middle of a longer run of characters."""
    wanted, parts = _words(words), _UNSPACED_PART.findall(_fold(words))
    says_too_little = wanted <= NOT_A_NAME or sum(map(len, wanted)) < 4
    if not re.fullmatch(WORDS, words) or (says_too_little and not parts):
        return []
    rows = read.listed(vault.index, Filters(scopes=("memory",)), -1)
    return [
        row
        for row in rows
        if wanted <= _words(row.text) and all(part in _fold(row.text) for part in parts)
    ]


def _words(text: str) -> set[str]:
    return {*_WORD.findall(_fold(text))}


def visible(vault: OpenVault, by: Actor | str, agent: str = "") -> Owners:
    """Return the owners whose entries an operation may use: all that the actor may read, or only
    `agent`."""
    readable = access.readable(actors.resolve(vault, by))
    access.refuse_unseen(agent, readable)
    return (actors.agent_name(vault, agent),) if agent else readable


def words(values: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple of words, which are given as a list or as one word."""
    return (values,) if isinstance(values, str) else tuple(values)


def is_memory(row: Row) -> bool:
    """Return True for a memory in a memory note or in the archive."""
    return row.scope in EDITABLE and row.kind != "note" and row.path.endswith(".md")


def memory(vault: OpenVault, name: str, by: Actor, agent: str = "") -> Row:
    """Return the memory with this name that the actor may read. `agent` limits the search to
    memories of that agent."""
    row, line = locate(vault, name, visible(vault, by, agent), titles=False)
    if not line:
        raise BadRequest(
            f"{name!r} is a whole note, not a memory.",
            f"Name its line, as in {row.path}:{row.line}.",
        )
    if not is_memory(row):
        raise BadRequest(
            f"{row.ref} is not a memory; it is in {row.path}, line {row.line}.",
            "Only entries of a MEMORY.md or of the archive can be changed.",
        )
    return row


def bare_id(name: str) -> str:
    """Return an id without the characters around it in a prompt or a note."""
    return name.strip().removeprefix("[id:").removesuffix("]").lstrip("^")


# -- links ---------------------------------------------------------------------------------------


def note_link(vault: OpenVault, name: str, by: Actor) -> str:
    """Return the link target for the note with this path, name or title; '' if there is no such
    note that the actor may read. The target is a whole path if several notes have the name, or if
    `name` is a path. A heading or block after `#` is kept."""
    found, all_paths = notes_named(vault, name, access.readable(by))
    if not found:
        note, separator, place = name.partition("#")
        target = note_link(vault, note, by) if separator else ""
        return f"{target}#{place}" if target else ""
    path_without_suffix = found[0].removesuffix(".md")
    file = path_without_suffix.rpartition("/")[2]
    same_name = [path for path in all_paths if f"/{_fold(path)}".endswith(f"/{_fold(file)}.md")]
    return path_without_suffix if "/" in _note_name(vault, name) or len(same_name) > 1 else file


def notes_named(vault: OpenVault, name: str, owners: Owners) -> tuple[list[str], list[str]]:
    """Return two lists: the paths of the notes with this path, name or title (the exact path
    first), and the paths of all notes."""
    from brain.index import relations

    wanted = _note_name(vault, name)
    notes = relations.notes(vault.index, owners)
    found = [path for path, _ in notes if f"/{_fold(path)}".endswith(f"/{wanted}.md")]
    found = found or [path for path, title in notes if _fold(title) == wanted]
    found.sort(key=lambda path: _fold(path) != f"{wanted}.md")
    return found if wanted else [], [path for path, _ in notes]


def _note_name(vault: OpenVault, name: str) -> str:
    return _fold(name.removeprefix(f"{vault.paths.root_path}/")).removesuffix(".md")


def _fold(name: str) -> str:
    return normalize("NFC", name.strip()).casefold()


def link_to(row: Row, path: str) -> str:
    """Return the link to an entry from a note: `[[#^id]]` in the same note, else with the whole
    path."""
    place = "" if row.path == path else row.path.removesuffix(".md")
    return f"[[{place}#^{row.ref}]]"


def is_anchored(row: Row) -> bool:
    """Return True if the id of an entry is written in its file."""
    return '"anchored"' in (row.extra or "")


# -- filters -------------------------------------------------------------------------------------


def filters(
    vault: OpenVault,
    scopes: Iterable[str] = (),
    kinds: Iterable[str] = (),
    tags: Iterable[str] = (),
    agent: str = "",
    project: str = "",
    since: str = "",
    until: str = "",
    superseded: bool = False,
    by: Actor | str = "",
) -> Filters:
    """Check filters and return them. Raise BadRequest or NotFound."""
    owners = access.readable(actors.resolve(vault, by))
    access.refuse_unseen(agent, owners)
    if not all(tag.strip(" #") for tag in words(tags)):
        raise BadRequest("A tag is empty.", "Name a tag, such as `db`.")
    return Filters(
        scopes=scopes_of(words(scopes)) or Filters().scopes,
        kinds=tuple(check_kind(vault, kind, owners) for kind in words(kinds)),
        tags=words(tags),
        agents=(actors.agent_name(vault, agent),) if agent else (),
        projects=(project,) if project else (),
        since=as_date(time_of(since, vault.clock(), whole_days=True)),
        until=as_date(time_of(until, vault.clock(), whole_days=True)),
        owners=owners,
        superseded=superseded,
    )


def scopes_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes with these names, without repetitions. Raise BadRequest for other names."""
    found: dict[str, None] = {}
    for name in names:
        if name not in SCOPES and name not in OTHER_SCOPES:
            remedy = f"Scopes: {', '.join((*SCOPES, *OTHER_SCOPES))}."
            raise BadRequest(f"There is no scope {name!r}.", remedy)
        found |= dict.fromkeys(OTHER_SCOPES.get(name, (name,)))
    return tuple(found)


def check_kind(vault: OpenVault, name: str, owners: Owners) -> str:
    """Return the kind with this name in its usual spelling. Raise BadRequest if there is none."""
    from brain.kinds import KINDS, kind_named

    known = {*KINDS, *OTHER_KINDS}
    if name in known:
        return name
    known |= read.kinds(vault.index, owners)
    folded = kind_named(name)
    if found := {name, folded} & known:
        return name if name in found else folded
    sorted_kinds = sorted(known)
    remedy = suggest(folded, sorted_kinds) or f"Kinds: {', '.join(sorted_kinds)}."
    raise BadRequest(f"There is no kind {name!r}.", remedy)


def check_limit(limit: int) -> None:
    """Raise BadRequest if a number of results is less than 1."""
    if limit < 1:
        raise BadRequest(f"The limit must be at least 1, not {limit}.", "Give a number such as 10.")
