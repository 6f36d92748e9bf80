"""Sessions: start one, append to it, show, list, end, fork and archive them."""

from __future__ import annotations

import os

from brain import access, actors
from brain.errors import BadRequest, NotFound, Refused
from brain.operations import lookup
from brain.operations.results import Session, SessionLine, SessionMessages
from brain.redact import redact, redact_value
from brain.sessions import archive, catalog, ids, transcript
from brain.sessions.catalog import Place
from brain.sessions.transcript import EVENT, SUFFIX
from brain.timestamps import start_of, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault

ROLES = ("user", "assistant", "system", "tool_call", "tool_result")
_TRIES = 5  # while git or a sync service replaces the file


def session_start(
    vault: OpenVault,
    id: str = "",
    *,
    title: str = "",
    cwd: str = "",
    agent: str = "",
    by: Actor | str = "",
) -> Session:
    """Start a session of an agent, or continue the one that has this id. Sessions older than
    `sessionRetentionDays` are archived."""
    actor = actors.resolve(vault, by)
    place = _place(vault, id or ids.new(), agent, actor, create=True)
    now = vault.now()
    with _appending(vault, place, actor, create=True) as writer:
        if not os.fstat(writer.handle).st_size:
            header = {"title": title, "cwd": cwd}
            writer.append(_event(vault, place.id, "start", now, header), now)
            writer.flush()
    archive.move(vault, list(archive.old(vault, place.owner)))
    return _indexed(vault, place)


def session_append(
    vault: OpenVault,
    id: str,
    text: str = "",
    *,
    role: str = "user",
    name: str = "",
    input: str | Mapping[str, Any] = "",
    message: str = "",
    at: str = "",
    fields: Mapping[str, Any] | None = None,
    create: bool = False,
    agent: str = "",
    by: Actor | str = "",
) -> SessionLine:
    """Append a message to a session. With `create`, the first message creates the session. When
    this function returns, the message survives the end of the process. With `sessionSync: always`,
    it also survives a power failure.

    `message` is the id of the message. If a message with this id and role exists, nothing is
    appended. A tool call and its result have the same id. `name` is the name of the speaker or the
    tool, and `input` is the input of a tool call, as JSON. `fields` are stored unchanged. Secrets
    are removed.
    """
    actor = actors.resolve(vault, by)
    if role not in ROLES:
        raise BadRequest(f"There is no role {role!r}.", f"One of: {', '.join(ROLES)}.")
    at = time_of(at, vault.clock())
    start_of(at)  # raises BadRequest if it is not a time
    given = _input(input)
    if not text.strip() and (role != "tool_call" or not name):
        raise BadRequest("The message is empty.", "Give its text, or the name of the tool.")
    place = _place(vault, id, agent, actor, create=create)
    line: dict[str, Any] = {"id": message or _message_id(), "role": role}
    line |= {"name": name} if name else {}
    line |= {"content": text} if text.strip() else {}
    line |= {"input": given} if given not in ("", None) else {}
    line |= {"timestamp": at or vault.now()}
    line = redact_value({**(fields or {}), **line}, emails=vault.config.redactEmails)
    line = {**{key: line.pop(key) for key in ("id", "role")}, **line}
    outcome, count = _append(vault, place, actor, line)
    return SessionLine(
        session=place.id, id=line["id"], role=role, path=place.path, outcome=outcome,
        messages=count,
    )  # fmt: skip


def _append(
    vault: OpenVault, place: Place, actor: Actor, line: dict[str, Any]
) -> tuple[str, int]:  # fmt: skip
    now = vault.now()
    for attempt in range(_TRIES):
        try:
            with _appending(vault, place, actor, create=True) as writer:
                if transcript.key(line) in writer.tail.keys:
                    return "already", writer.messages
                if not os.fstat(writer.handle).st_size:
                    writer.append(_event(vault, place.id, "start", now, {}), now)
                writer.append(line, now)
                count = writer.messages
            return "appended", count
        except transcript.Replaced:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError


def session_show(
    vault: OpenVault, id: str, *, limit: int = 100, agent: str = "", by: Actor | str = ""
) -> SessionMessages:
    """Return a session and its last messages."""
    from collections import deque

    lookup.check_limit(limit)
    place = catalog.locate(vault, id, _owners(vault, by, agent))
    path = f"{vault.paths.root_path}/{place.path}"
    found = (line for line, _ in transcript.lines(path) if transcript.is_message(line))
    return SessionMessages(session=_session(vault, place), messages=list(deque(found, limit)))


def session_list(
    vault: OpenVault,
    *,
    all: bool = False,
    since: str = "",
    limit: int = 50,
    agent: str = "",
    by: Actor | str = "",
) -> list[Session]:
    """Return sessions, the latest first. With `all`, include archived sessions."""
    lookup.check_limit(limit)
    after = start_of(time_of(since, vault.clock()))
    found: list[Session] = []
    for folder in catalog.folders(vault, _owners(vault, by, agent)):
        if folder.is_archived and not all:
            continue
        entries = catalog.entries(f"{vault.paths.root_path}/{folder.path}")
        found += [
            _value(Place(id, f"{folder.path}/{id}{SUFFIX}", folder.owner, folder.is_archived), each)
            for id, each in entries.items()
        ]
    found = [each for each in found if (each.updated or "") >= after]
    return sorted(found, key=lambda each: (each.updated or "", each.id), reverse=True)[:limit]


def session_end(
    vault: OpenVault, id: str, *, summary: str = "", agent: str = "", by: Actor | str = ""
) -> Session:
    """End a session, and wait until all its messages are on the disk. A later message reopens the
    session."""
    actor = actors.resolve(vault, by)
    place = catalog.locate(vault, id, _owners(vault, actor, agent))
    now = vault.now()
    with _appending(vault, place, actor) as writer:
        if not writer.tail.is_ended or summary:
            writer.append(_event(vault, "", "end", now, {"summary": summary}), now)
        writer.flush()
    return _indexed(vault, place)


def session_fork(
    vault: OpenVault,
    id: str,
    *,
    message: str = "",
    new: str = "",
    agent: str = "",
    by: Actor | str = "",
) -> Session:
    """Copy a session, up to a message, to a new session. A tool call is always copied together
    with its result, if it has one. The new session names the old one as its parent."""
    actor = actors.resolve(vault, by)
    parent = catalog.locate(vault, id, _owners(vault, actor, agent))
    folder = os.path.dirname(parent.path)
    folder = catalog.unarchived(folder) if parent.is_archived else folder
    child = Place(ids.check_new(new or ids.new()), f"{folder}/{new}{SUFFIX}", parent.owner, False)
    child = child._replace(path=f"{folder}/{child.id}{SUFFIX}")
    vault.store.allow(actor, child.path)
    source = f"{vault.paths.root_path}/{parent.path}"
    end = _cut(source, message) if message else -1
    header = {"parentSessionId": parent.id}
    header |= {"forkedAt": message} if message else {}
    with vault.store.locked():
        other = catalog.find_ignoring_case(vault, folder, child.id)
        content = _copied(source, end, _event(vault, child.id, "start", vault.now(), header))
        if other or not transcript.create(f"{vault.paths.root_path}/{child.path}", content):
            raise Refused(f"There is a session {other or child.id} already.", "Choose another id.")
    return _indexed(vault, child)


def _copied(source: str, end: int, header: dict[str, Any]) -> Iterator[bytes]:
    """Yield the lines of a fork: its own header, then the lines of the parent `source` up to the
    offset `end` (-1: all)."""
    start = {"title": "", "cwd": "", "client": ""}
    for line, line_end in transcript.lines(source):
        if line.get("role") == EVENT and line.get("event") == "start":
            start |= {name: line[name] for name in start if line.get(name)}
            continue
        if header:
            yield transcript.encode(header | {k: v for k, v in start.items() if v})
            header = {}
        if 0 <= end < line_end:
            return
        if not (line.get("role") == EVENT and line.get("event") == "end"):
            yield transcript.encode(line)
    if header:
        yield transcript.encode(header | {k: v for k, v in start.items() if v})


def _cut(source: str, message: str) -> int:
    """Return the offset after the last line with this id. If the results of earlier calls follow
    later, return the offset after these results."""
    found, end, calls = 0, 0, set()
    for line, line_end in transcript.lines(source):
        id, role = transcript.key(line)
        if id == message:
            found, end = line_end, 0
        if role == "tool_call":
            calls.add(id)
        elif role == "tool_result":
            calls.discard(id)
        if found and not end and not calls:
            end = line_end
    if not found:
        raise NotFound(f"The session has no message {message!r}.", "See `brain session show`.")
    return end or found


def session_archive(
    vault: OpenVault, id: str = "", *, agent: str = "", by: Actor | str = ""
) -> list[Session]:
    """Move a session to the archive, or all sessions whose last message is older than
    `sessionRetentionDays`. A search with `scopes=["archive"]` finds archived sessions."""
    actor = actors.resolve(vault, by)
    owners = _owners(vault, actor, agent)
    if id:
        place = catalog.locate(vault, id, owners)
        vault.store.allow(actor, place.path)
        moved = [place] if place.is_archived else archive.move(vault, [place])
        return [_session(vault, each) for each in moved]
    writable = [
        folder.owner
        for folder in catalog.folders(vault, owners)
        if access.may(actor, "write", folder.owner)
    ]
    vault.store.refuse_if_off()
    chosen = [each for owner in dict.fromkeys(writable) for each in archive.old(vault, owner)]
    return [_session(vault, each) for each in archive.move(vault, chosen)]


# -- shared ----------------------------------------------------------------------------------------


def _owners(vault: OpenVault, by: Actor | str, agent: str) -> tuple[str, ...] | None:
    """Return the agents whose sessions the actor may read (None: all), or only this one."""
    readable = access.readable(actors.resolve(vault, by))
    access.refuse_unseen(agent, readable)
    return (catalog.folder_of(vault, agent).owner,) if agent else readable


def _place(vault: OpenVault, id: str, agent: str, actor: Actor, *, create: bool) -> Place:
    """Return the place of a session. If `create`, a session that does not exist gets a place in the
    folder of `agent`, else in the folder of the actor. An archived session is moved back from the
    archive."""
    owners = _owners(vault, actor, agent)
    try:
        place = catalog.locate(vault, id, owners, exact=True)
    except NotFound:
        agent = agent or ("" if actor.type in ("person", "admin") else actor.name)
        folder = catalog.folder_of(vault, agent)
        if other := catalog.find_ignoring_case(vault, folder.path, id):
            raise Refused(f"There is a session {other} already.", "Choose another id.") from None
        ids.check_new(id)
        if not create:
            remedy = f"Start it with `brain session start {id}`, or add --create."
            raise NotFound(f"There is no session {id!r}.", remedy) from None
        return Place(id, f"{folder.path}/{id}{SUFFIX}", folder.owner, False)
    vault.store.allow(actor, place.path)
    return archive.restore(vault, place) if place.is_archived else place


def _appending(vault: OpenVault, place: Place, actor: Actor, create: bool = False) -> Any:
    """Open the transcript of a session for an actor who may write it."""

    vault.store.allow(actor, place.path)
    path = vault.paths.real_path(place.path)
    if create and not os.path.exists(path):
        vault.refuse_loss()
        vault.claim()
    return transcript.writing(path, durable=vault.config.sessionSync == "always", create=create)


def _event(
    vault: OpenVault, id: str, event: str, now: str, fields: dict[str, str]
) -> dict[str, Any]:
    """Return a line about the session itself."""
    values = {
        name: redact(value, emails=vault.config.redactEmails)[0]
        for name, value in fields.items()
        if value
    }
    return {**({"id": id} if id else {}), "role": EVENT, "event": event, "timestamp": now, **values}


def _indexed(vault: OpenVault, place: Place) -> Session:
    """Update the index of the folder, and return the session."""
    folder = os.path.dirname(place.path)
    with vault.store.locked():
        catalog.update(vault, folder)
    return _session(vault, place)


def _session(vault: OpenVault, place: Place) -> Session:
    path = f"{vault.paths.root_path}/{place.path}"
    known, _ = catalog.load(os.path.dirname(path))
    return _value(place, catalog.entry(path, place.id, known.get(place.id)))


def _value(place: Place, entry: dict[str, Any]) -> Session:
    state = "archived" if place.is_archived else "ended" if entry.get("endedAt") else "open"
    return Session(
        id=place.id, agent=place.owner, title=str(entry.get("title", "")), state=state,
        messages=int(entry.get("messages", 0)), started=entry.get("createdAt"),
        updated=entry.get("updatedAt"), path=place.path, client=entry.get("client"),
        cwd=entry.get("cwd"), parent=entry.get("parentSessionId"), summary=entry.get("summary"),
    )  # fmt: skip


def _input(given: str | Mapping[str, Any]) -> Any:
    if not isinstance(given, str):
        return dict(given)
    if given.lstrip()[:1] not in ("{", "["):
        return given
    from brain.formats import json_spans

    try:
        return json_spans.loads(given)
    except json_spans.JsonError:
        return given


def _message_id() -> str:
    from brain.journal.codec import event_id

    return event_id("msg")
