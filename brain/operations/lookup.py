"""Resolve the names of entries, notes and filters that a user gives.

An entry is named by an id (`m-…`, `^m-…`, `[id:…]`, a prefix), by `path:line`, or by words that
only one memory has.
"""

from __future__ import annotations

import os.path
import re
from unicodedata import normalize

from brain import access
from brain._tuples import NamedTuple
from brain.errors import Ambiguous, BadRequest, NotFound, suggest
from brain.index import journal_facts, read
from brain.index.read import Filters, Row
from brain.operations.parameters import scopes_of, time_of
from brain.timestamps import as_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.access import Actor
    from brain.open_vault import OpenVault

    Owners = tuple[str, ...] | None

EDITABLE = ("memory", "archive")
ID = r"\[id:([^\]]+)\]|(?:\[\[[^\]]*#)?\^([^\]]+)(?:\]\])?"  # as in a prompt, or as in a link
PLACE = r"(.+):([0-9]{1,9})"
UNUSED_ID = r"m-[0-9a-z]{4,8}"  # an id that no entry has is not searched for as words
OTHER_KINDS = ("note", "agent", "task", "session", "user", "assistant", "system", "tool")


# -- entries -------------------------------------------------------------------------------------


class Location(NamedTuple):
    """An entry, and the line of its file that a name means; 0 if it means the whole file."""

    row: Row
    line: int


def find(vault: OpenVault, name: str, *, owners: Owners = None, titles: bool = True) -> Row:
    """Return the entry of this name, if one of `owners` (None: all) has it. Raises NotFound or
    Ambiguous."""
    return locate(vault, name, owners, titles).row


def locate(vault: OpenVault, name: str, owners: Owners = None, titles: bool = True) -> Location:
    """Return the entry of this name, and where it is; of a whole file, its first entry. Without
    `titles`, no note is meant by its name or title."""

    def seen(rows: list[Row]) -> list[Row]:
        return [row for row in rows if owners is None or row.agent in owners]

    name = name.strip().removeprefix(f"{vault.paths.root_path}/")
    if match := re.fullmatch(ID, name):
        name = match[1] or match[2]
    if found := seen(read.by_ref(vault.index, name)):
        return Location(_only(name, found), found[0].line)
    if found := seen(_by_former_id(vault, name)):
        return Location(found[0], found[0].line)
    place = re.fullmatch(PLACE, name)
    path, line = (place[1], int(place[2])) if place else (name, 0)
    for candidate in _paths(vault, path):
        if found := seen(read.by_place(vault.index, candidate, line)):
            return Location(found[0], line)
    if titles and (paths := notes_named(vault, name, owners)[0]):
        firsts = [rows[0] for path in paths if (rows := read.by_place(vault.index, path, 0))]
        if firsts:
            return Location(_only(name, firsts), 0)
    if not re.fullmatch(UNUSED_ID, name) and (found := seen(_by_words(vault, name))):
        return Location(_only(name, found), found[0].line)
    raise NotFound(
        f"There is no entry {name!r}.", "Look for it with `brain search` or `brain list`."
    )


def _only(name: str, found: list[Row]) -> Row:
    if len(found) > 1:
        places = ", ".join(f"{row.path}:{row.line} ({row.ref})" for row in found[:5])
        many = f"{len(found)}" if len(found) < read.MOST_ALIKE else "very many"
        raise Ambiguous(f"{name!r} could be any of {many}: {places}.", "Give its id or path:line.")
    return found[0]


def _paths(vault: OpenVault, path: str) -> list[str]:
    """Return the files that a path may mean: relative to the vault, or to the current folder."""
    root = vault.paths.root_path
    seen = os.path.normpath(os.path.join(vault.here or root, path))
    return [path, seen.removeprefix(f"{root}/")] if seen.startswith(f"{root}/") else [path]


def _by_former_id(vault: OpenVault, id: str) -> list[Row]:
    """Return the entry that had this id before a person edited it."""
    if not id.isascii():
        return []
    others = journal_facts.same(vault.index, id) - {id}
    return [row for other in sorted(others) for row in read.by_ref(vault.index, other)]


def _by_words(vault: OpenVault, words: str) -> list[Row]:
    """Return the memories that contain all of these words."""
    from brain.search.search import search

    wanted = words.casefold().split()
    filters = Filters(scopes=("memory",))
    hits, _ = search(vault.index, words, filters, 200, vault.clock(), vault.config)
    return [h.row for h in hits if all(word in h.row.text.casefold() for word in wanted)]


def visible(vault: OpenVault, by: Actor | str, agent: str = "") -> Owners:
    """Return the owners whose entries an operation may use: all that the actor may read, or only
    this agent."""
    seen = access.readable(access.resolve(vault, by))
    access.refuse_unseen(agent, seen)
    return (access.agent_name(vault, agent),) if agent else seen


def words(values: Iterable[str]) -> tuple[str, ...]:
    """Return words that are given as a list, or as one word."""
    return (values,) if isinstance(values, str) else tuple(values)


def is_memory(row: Row) -> bool:
    """Return True for an entry of a memory note or of the archive."""
    return row.scope in EDITABLE and row.kind != "note" and row.path.endswith(".md")


def memory(vault: OpenVault, name: str, by: Actor, agent: str = "") -> Row:
    """Return the memory of this name that the actor may read. With `agent`, only memories of that
    agent are meant."""
    row = find(vault, name, owners=visible(vault, by, agent), titles=False)
    if not is_memory(row):
        raise BadRequest(
            f"{row.ref} is not a memory; it is in {row.path}, line {row.line}.",
            "Only entries of a MEMORY.md or of the archive can be changed so.",
        )
    return row


def bare_id(name: str) -> str:
    """Return an id without the marks that it has in a prompt or a note."""
    return name.strip().removeprefix("[id:").removesuffix("]").lstrip("^")


# -- links ---------------------------------------------------------------------------------------


def note_link(vault: OpenVault, name: str, by: Actor) -> str:
    """Return the link target of the note with this path, name or title; '' if the actor can read
    none. It is a whole path if several notes have the name, or if `name` is a path."""
    found, every = notes_named(vault, name, access.readable(by))
    if not found:
        return ""
    first = found[0].removesuffix(".md")
    file = first.rpartition("/")[2]
    alike = [path for path in every if f"/{_fold(path)}".endswith(f"/{_fold(file)}.md")]
    return first if "/" in _note_name(vault, name) or len(alike) > 1 else file


def notes_named(vault: OpenVault, name: str, owners: Owners) -> tuple[list[str], list[str]]:
    """Return the paths of the notes with this path, name or title, the exact path first; and the
    paths of all notes."""
    from brain.index import relations

    wanted = _note_name(vault, name)
    notes = relations.notes(vault.index, owners)
    found = [path for path, _ in notes if f"/{_fold(path)}".endswith(f"/{wanted}.md")]
    found = found or [path for path, title in notes if _fold(title) == wanted]
    found.sort(key=lambda path: _fold(path) != f"{wanted}.md")
    return found if wanted else [], [path for path, _ in notes]


def _note_name(vault: OpenVault, name: str) -> str:
    return _fold(name.removeprefix(f"{vault.paths.root_path}/").removesuffix(".md"))


def _fold(name: str) -> str:
    return normalize("NFC", name.strip()).casefold()


def link_to(row: Row, path: str) -> str:
    """Return the link to an entry from a note: `[[#^id]]` inside it, the whole path elsewhere."""
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
    """Return checked filters. Raises BadRequest or NotFound."""
    owners = access.readable(access.resolve(vault, by))
    access.refuse_unseen(agent, owners)
    return Filters(
        scopes=scopes_of(words(scopes)) or Filters().scopes,
        kinds=tuple(check_kind(vault, kind, owners) for kind in words(kinds)),
        tags=words(tags),
        agents=(access.agent_name(vault, agent),) if agent else (),
        projects=(project,) if project else (),
        since=as_date(time_of(since, vault.clock(), whole_days=True)),
        until=as_date(time_of(until, vault.clock(), whole_days=True)),
        owners=owners,
        superseded=superseded,
    )


def check_kind(vault: OpenVault, name: str, owners: Owners) -> str:
    """Return a kind that exists, in its own spelling. Raises BadRequest."""
    from brain.kinds import KINDS, kind_named

    known = {*KINDS, *OTHER_KINDS}
    if name in known:
        return name
    known |= read.kinds(vault.index, owners)
    folded = kind_named(name)
    if found := {name, folded} & known:
        return name if name in found else folded
    every = sorted(known)
    remedy = suggest(folded, every) or f"Kinds: {', '.join(every)}."
    raise BadRequest(f"There is no kind {name!r}.", remedy)


def check_range(**values: float | None) -> None:
    """Raise BadRequest for a value that is given and not from 0 to 1."""
    for name, value in values.items():
        if value is not None and not 0 <= value <= 1:
            raise BadRequest(f"{name} must be from 0 to 1, not {value}.", "0.8 is a good one.")
