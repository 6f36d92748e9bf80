"""The sessions of a vault: where their transcripts are, and sessions.json.

A folder of sessions has an index, `sessions.json`, with the title, times and size of each session.
The index is derived from the transcripts: if it is missing or damaged, it is written again. To
update an entry, only the end that was appended to the transcript is read. Unknown fields of an
entry are kept.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from brain import actors
from brain._tuples import NamedTuple
from brain.errors import Ambiguous, NotFound
from brain.formats import json_spans
from brain.index import read
from brain.sessions import ids
from brain.sessions.transcript import EVENT, SUFFIX, is_message, lines
from brain.vault import files, layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brain.open_vault import OpenVault

    Entry = dict[str, Any]

INDEX = "sessions.json"
ARCHIVE = "archive"
_MAX_SIZE = 100_000_000  # bytes of an index
_MAX_TITLE = 80  # characters of a title that is made from the first prompt
_HEADER = ("client", "cwd", "parentSessionId", "kind")  # fields of the start line


class Folder(NamedTuple):
    """A folder of sessions, by its path in the vault, and the agent that owns them."""

    path: str
    owner: str
    is_archived: bool


class Place(NamedTuple):
    """A session: its id, the path of its transcript in the vault, and its owner."""

    id: str
    path: str
    owner: str
    is_archived: bool


# -- places ----------------------------------------------------------------------------------------


def folder_of(vault: OpenVault, agent: str) -> Folder:
    """Return the folder of an agent's sessions. It may not exist yet."""
    path = "/".join([actors.home(vault, agent), *vault.paths.names.sessions])
    return Folder(path, vault.owner(f"{path}/x{SUFFIX}"), False)


def archive_of(folder: str) -> str:
    """Return the archive folder for the sessions of a folder."""
    brain, _, rest = folder.partition("/")
    return f"{brain}/{ARCHIVE}/{rest}"


def unarchived(folder: str) -> str:
    """Return the original folder of archived sessions."""
    brain, _, rest = folder.partition("/")
    return f"{brain}/{rest.removeprefix(f'{ARCHIVE}/')}"


def folders(vault: OpenVault, owners: tuple[str, ...] | None) -> list[Folder]:
    """Return the folders with sessions of these owners (None: all), archives last."""
    found: dict[str, Folder] = {}
    for parent in ("", f"{ARCHIVE}/"):
        for home in _homes(vault, parent):
            path = "/".join(filter(None, [vault.paths.brain, home, *vault.paths.names.sessions]))
            owner = vault.owner(f"{path}/x{SUFFIX}")
            if owners is None or owner in owners:
                found.setdefault(path, Folder(path, owner, bool(parent)))
    root = vault.paths.root_path
    return [each for each in found.values() if _is_folder(f"{root}/{each.path}")]


def _homes(vault: OpenVault, parent: str) -> Iterator[str]:
    """Yield the folders of agents, as paths in the brain folder."""
    yield parent.rstrip("/")
    for kind, subfolder in (("agents", ""), ("projects", "/agent"), ("projects", "")):
        with suppress(OSError):
            for name in sorted(os.listdir(f"{vault.paths.folder_path}/{parent}{kind}")):
                yield f"{parent}{kind}/{name}{subfolder}"
    for agent in read.agents(vault.index):  # agents in other folders
        yield f"{parent}{os.path.dirname(agent['path']).partition('/')[2]}".rstrip("/")


def _is_folder(path: str) -> bool:
    """Return True for a real folder. A symbolic link leads to files that are not Brain's."""
    return os.path.isdir(path) and os.path.realpath(path) == path


def locate(
    vault: OpenVault, id: str, owners: tuple[str, ...] | None, *, exact: bool = False
) -> Place:
    """Return the session of these owners (None: all) with this id, or the only session whose id
    begins with `id`. NotFound does not reveal whether other owners have such a session."""
    ids.check(id)
    candidates = [Place(id, f"{f.path}/{id}{SUFFIX}", *f[1:]) for f in folders(vault, owners)]
    matching = [
        each for each in candidates if os.path.isfile(f"{vault.paths.root_path}/{each.path}")
    ]
    if not matching and not exact and len(id) >= 4:
        matching = [place for place in places(vault, owners) if place.id.startswith(id)]
    if not matching:
        raise NotFound(f"There is no session {id!r}.", "See `brain session list --all`.")
    if len(matching) > 1:
        names = ", ".join(dict.fromkeys(f"{each.id} of {each.owner}" for each in matching))
        raise Ambiguous(
            f"Several sessions begin with {id!r}: {names}.", "Give the whole id and --agent."
        )
    return matching[0]


def places(vault: OpenVault, owners: tuple[str, ...] | None) -> Iterator[Place]:
    """Yield the sessions of these owners (None: all), archived ones last."""
    for folder in folders(vault, owners):
        for name in sorted(os.listdir(f"{vault.paths.root_path}/{folder.path}")):
            id = name.removesuffix(SUFFIX)
            if id != name and ids.is_safe(id):
                yield Place(id, f"{folder.path}/{name}", folder.owner, folder.is_archived)


def find_ignoring_case(vault: OpenVault, folder: str, id: str) -> str:
    """Return the id of a session in a folder that is equal to `id` except for case; '' if there is
    none."""
    with suppress(OSError):
        for name in os.listdir(f"{vault.paths.root_path}/{folder}"):
            if layout.name_key(name) == layout.name_key(f"{id}{SUFFIX}"):
                return name.removesuffix(SUFFIX)
    return ""


# -- entries of the index --------------------------------------------------------------------------


def entry(path: str, id: str, known: Entry | None = None) -> Entry:
    """Return the entry of a transcript. If `known`, an older entry, is given, only the lines that
    were appended since then are read."""
    size = os.stat(path).st_size
    if known and known.get("size") == size:
        return known
    start = known.get("size") if known else 0
    if not isinstance(start, int) or not 0 < start < size or not _starts_line(path, start):
        known, start = _own_fields(known), 0
    updated: Entry = {"id": id, "title": "", "messages": 0, **(known or {}), "size": start}
    for line, end in lines(path, start):
        _add_line(updated, line)
        updated["size"] = end
    return updated


def _own_fields(known: Entry | None) -> Entry:
    """Return the fields of an entry that do not come from the transcript."""
    derived = (
        "title",
        "summary",
        "messages",
        "createdAt",
        "updatedAt",
        "endedAt",
        "size",
        *_HEADER,
    )
    return {name: value for name, value in (known or {}).items() if name not in derived}


def _starts_line(path: str, offset: int) -> bool:
    with open(files.open_quietly(path)[0], "rb") as file:
        file.seek(offset - 1)
        return file.read(1) == b"\n"


def _add_line(entry: Entry, line: dict[str, Any]) -> None:
    """Update an entry with a line of the transcript."""
    time = line.get("timestamp")
    if line.get("role") == EVENT:
        if line.get("event") == "start":
            entry |= {name: line[name] for name in _HEADER if line.get(name)}
        if line.get("event") == "end":
            entry["endedAt"] = time
        for name in ("title", "summary"):
            if isinstance(line.get(name), str) and line[name]:
                entry[name] = line[name]
    elif is_message(line):
        entry["messages"] += 1
        entry.pop("endedAt", None)
        if line.get("role") == "user" and not entry["title"]:
            entry["title"] = " ".join(_text(line).split())[:_MAX_TITLE]
    if isinstance(time, str) and time:
        entry.setdefault("createdAt", time)
        if is_message(line) or "updatedAt" not in entry:
            entry["updatedAt"] = max(time, str(entry.get("updatedAt", "")))


def _text(line: dict[str, Any]) -> str:
    content = line.get("content")
    return content if isinstance(content, str) else ""


def load(folder: str) -> tuple[dict[str, Entry], dict[str, Any]]:
    """Return the entries of a folder's index by id, and the other fields of the index. Both are
    empty if the index is missing or damaged."""
    try:
        text = files.read(f"{folder}/{INDEX}", _MAX_SIZE)[0].decode("utf-8-sig")
        value = json_spans.loads(text)
    except (OSError, ValueError):
        return {}, {}
    rest = value if isinstance(value, dict) else {}
    listed = rest.get("sessions") if "sessions" in rest else value
    if isinstance(listed, dict):
        listed = [{"id": id} | each for id, each in listed.items() if isinstance(each, dict)]
    items = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    by_id = {str(each.get("id") or each.get("sessionId") or ""): each for each in items}
    return by_id, {k: v for k, v in rest.items() if k == "sessions" or k not in by_id}


def entries(folder: str) -> dict[str, Entry]:
    """Return an up-to-date entry for each transcript of a folder."""
    known, _ = load(folder)
    found: dict[str, Entry] = {}
    for name in sorted(os.listdir(folder)):
        id = name.removesuffix(SUFFIX)
        if id != name and ids.is_safe(id):
            with suppress(OSError):
                found[id] = entry(f"{folder}/{name}", id, known.get(id))
    return found


def update(vault: OpenVault, *paths: str) -> None:
    """Write the indexes of these folders of the vault that are out of date. The caller holds the
    store's lock."""
    for path in paths:
        folder = f"{vault.paths.root_path}/{path}"
        if not _is_folder(folder):
            continue
        known, rest = load(folder)
        found = entries(folder)
        if found != known:
            if not known and not rest:  # a damaged index is kept next to the new one
                with suppress(FileNotFoundError):
                    os.replace(f"{folder}/{INDEX}", f"{folder}/{INDEX}.damaged")
            value = {**rest, "sessions": list(found.values())}
            text = json.dumps(value, ensure_ascii=False, indent=2)
            files.write_atomically(f"{folder}/{INDEX}", f"{text}\n".encode(errors="replace"))
