"""The sessions of a vault: where their transcripts are, and sessions.json.

A folder of sessions has an index, `sessions.json`, with the title, times and size of each. All of
it comes from the transcripts: a missing or damaged index is written again, and an entry is updated
from where the transcript ended when it was last read. Unknown fields of an entry are kept.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from brain import access
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
_MOST = 100_000_000  # bytes of an index
_TITLE = 80  # characters of the first prompt that make a title
_HEADER = ("client", "cwd", "parentSessionId", "kind")  # of the start line, kept in the index


class Folder(NamedTuple):
    """A folder of sessions, by its path in the vault, and the agent whose they are."""

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
    """Return the folder of an agent's sessions, which may not exist yet."""
    path = "/".join([access.home(vault, agent), *vault.paths.names.sessions])
    return Folder(path, vault.owner(f"{path}/x{SUFFIX}"), False)


def archive_of(folder: str) -> str:
    """Return the folder to which the sessions of a folder move when they are old."""
    brain, _, rest = folder.partition("/")
    return f"{brain}/{ARCHIVE}/{rest}"


def unarchived(folder: str) -> str:
    """Return the folder from which archived sessions came."""
    brain, _, rest = folder.partition("/")
    return f"{brain}/{rest.removeprefix(f'{ARCHIVE}/')}"


def folders(vault: OpenVault, owners: tuple[str, ...] | None) -> list[Folder]:
    """Return the folders with sessions of these owners (None: all), archives last."""
    found: dict[str, Folder] = {}
    for top in ("", f"{ARCHIVE}/"):
        for home in _homes(vault, top):
            path = "/".join(filter(None, [vault.paths.brain, home, *vault.paths.names.sessions]))
            owner = vault.owner(f"{path}/x{SUFFIX}")
            if owners is None or owner in owners:
                found.setdefault(path, Folder(path, owner, bool(top)))
    root = vault.paths.root_path
    return [each for each in found.values() if _is_folder(f"{root}/{each.path}")]


def _homes(vault: OpenVault, top: str) -> Iterator[str]:
    """Yield the folders of agents, as paths in the brain folder."""
    yield top.rstrip("/")
    for kind, inner in (("agents", ""), ("projects", "/agent"), ("projects", "")):
        with suppress(OSError):
            for name in sorted(os.listdir(f"{vault.paths.folder_path}/{top}{kind}")):
                yield f"{top}{kind}/{name}{inner}"
    for agent in read.agents(vault.index):  # those that are elsewhere
        yield f"{top}{os.path.dirname(agent['path']).partition('/')[2]}".rstrip("/")


def _is_folder(path: str) -> bool:
    """Return True for a real folder: what is behind a symbolic link is not Brain's."""
    return os.path.isdir(path) and os.path.realpath(path) == path


def locate(
    vault: OpenVault, id: str, owners: tuple[str, ...] | None, *, exact: bool = False
) -> Place:
    """Return the session with this id, or the only one whose id begins so, of these owners (None:
    all). NotFound does not reveal whether others have one."""
    ids.check(id)
    named = [Place(id, f"{f.path}/{id}{SUFFIX}", *f[1:]) for f in folders(vault, owners)]
    found = [each for each in named if os.path.isfile(f"{vault.paths.root_path}/{each.path}")]
    if not found and not exact and len(id) >= 4:
        found = [place for place in places(vault, owners) if place.id.startswith(id)]
    if not found:
        raise NotFound(f"There is no session {id!r}.", "See `brain session list --all`.")
    if len(found) > 1:
        names = ", ".join(dict.fromkeys(f"{each.id} of {each.owner}" for each in found))
        raise Ambiguous(f"{id!r} fits several sessions: {names}.", "Give the whole id and --agent.")
    return found[0]


def places(vault: OpenVault, owners: tuple[str, ...] | None) -> Iterator[Place]:
    """Yield the sessions of these owners (None: all), archived ones last."""
    for folder in folders(vault, owners):
        for name in sorted(os.listdir(f"{vault.paths.root_path}/{folder.path}")):
            id = name.removesuffix(SUFFIX)
            if id != name and ids.is_safe(id):
                yield Place(id, f"{folder.path}/{name}", folder.owner, folder.is_archived)


def taken(vault: OpenVault, folder: str, id: str) -> str:
    """Return the session of a folder whose name differs from `id` at most in case; '' if none."""
    with suppress(OSError):
        for name in os.listdir(f"{vault.paths.root_path}/{folder}"):
            if layout.same_name(name) == layout.same_name(f"{id}{SUFFIX}"):
                return name.removesuffix(SUFFIX)
    return ""


# -- entries of the index --------------------------------------------------------------------------


def entry(path: str, id: str, known: Entry | None = None) -> Entry:
    """Return the entry of a transcript. `known` is an older one; then only what was appended since
    is read."""
    size = os.stat(path).st_size
    if known and known.get("size") == size:
        return known
    start = known.get("size") if known else 0
    if not isinstance(start, int) or not 0 < start < size or not _starts_line(path, start):
        known, start = _kept(known), 0
    found: Entry = {"id": id, "title": "", "messages": 0, **(known or {}), "size": start}
    for line, end in lines(path, start):
        _fold(found, line)
        found["size"] = end
    return found


def _kept(known: Entry | None) -> Entry:
    """Return what an entry has that does not come from the transcript."""
    own = ("title", "summary", "messages", "createdAt", "updatedAt", "endedAt", "size", *_HEADER)
    return {name: value for name, value in (known or {}).items() if name not in own}


def _starts_line(path: str, offset: int) -> bool:
    with open(files.open_quietly(path)[0], "rb") as file:
        file.seek(offset - 1)
        return file.read(1) == b"\n"


def _fold(found: Entry, line: dict[str, Any]) -> None:
    """Add a line to an entry."""
    at = line.get("timestamp")
    if line.get("role") == EVENT:
        if line.get("event") == "start":
            found |= {name: line[name] for name in _HEADER if line.get(name)}
        if line.get("event") == "end":
            found["endedAt"] = at
        for name in ("title", "summary"):
            if isinstance(line.get(name), str) and line[name]:
                found[name] = line[name]
    elif is_message(line):
        found["messages"] += 1
        found.pop("endedAt", None)
        if line.get("role") == "user" and not found["title"]:
            found["title"] = " ".join(_text(line).split())[:_TITLE]
    if isinstance(at, str) and at:
        found.setdefault("createdAt", at)
        if is_message(line) or "updatedAt" not in found:
            found["updatedAt"] = max(at, str(found.get("updatedAt", "")))


def _text(line: dict[str, Any]) -> str:
    content = line.get("content")
    return content if isinstance(content, str) else ""


def load(folder: str) -> tuple[dict[str, Entry], dict[str, Any]]:
    """Return the entries of a folder's index by id, and the rest of the index. Both are empty if
    there is none that can be read."""
    try:
        text = files.read(f"{folder}/{INDEX}", _MOST)[0].decode("utf-8-sig")
        value = json_spans.loads(text)
    except (OSError, ValueError):
        return {}, {}
    rest = value if isinstance(value, dict) else {}
    listed = rest.get("sessions") if "sessions" in rest else value
    if isinstance(listed, dict):
        listed = [{"id": id} | each for id, each in listed.items() if isinstance(each, dict)]
    items = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    found = {str(each.get("id") or each.get("sessionId") or ""): each for each in items}
    return found, {k: v for k, v in rest.items() if k == "sessions" or k not in found}


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
    """Write the index of these folders of the vault again, if it is out of date. The caller holds
    the store's lock."""
    for path in paths:
        folder = f"{vault.paths.root_path}/{path}"
        if not _is_folder(folder):
            continue
        known, rest = load(folder)
        found = entries(folder)
        if found != known:
            if not known and not rest:  # there is none, or a damaged one, which stays next to it
                with suppress(FileNotFoundError):
                    os.replace(f"{folder}/{INDEX}", f"{folder}/{INDEX}.damaged")
            value = {**rest, "sessions": list(found.values())}
            text = json.dumps(value, ensure_ascii=False, indent=2)
            files.write_atomically(f"{folder}/{INDEX}", f"{text}\n".encode(errors="replace"))
