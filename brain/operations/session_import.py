"""Import conversations that clients keep on this machine."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from brain import actors
from brain.errors import BrainError, NotFound
from brain.operations import agents, lookup
from brain.operations.results import FoundTranscripts, Imported, ImportedSession
from brain.sessions import archive, catalog, importing
from brain.sessions.clients import client, home
from brain.sessions.transcript import SUFFIX
from brain.timestamps import start_of, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.sessions.clients import Source

ASKS = 20_000_000  # bytes that are not imported unless a person agrees


def session_import(
    vault: OpenVault,
    paths: Iterable[str] = (),
    *,
    since: str = "",
    project: str = "",
    agent: str = "",
    again: bool = False,
    yes: bool = False,
    by: Actor | str = "",
) -> Imported:
    """Import the sessions in these files and folders, or of all clients on this machine. An
    import adds only new messages. A new session without a project belongs to `agent`, or to the
    agent that `brain connect` creates for the client. Without a path, an import of more than 20 MB
    needs `yes`. A session that was deleted from the vault is imported only with `again`."""
    actor = actors.resolve(vault, by)
    paths = lookup.words(paths)
    problems: list[str] = []
    sources = importing.find(paths, vault.environ, _seconds(vault, since), problems)
    found = _chosen(vault, sources, project, agent)
    vault.store.refuse_if_off()
    vault.refresh()
    state, size = "imported", 0
    if not paths and not yes:
        size = _added(importing.Importer(vault, actor, dry_run=True, again=again), found)
        state = "asks" if size > ASKS else state
    importer = importing.Importer(vault, actor, again=again)
    done: dict[str, ImportedSession] = {}  # by path; a session may have several sources
    for source, owner in found if state == "imported" else ():
        try:
            if one := _import(vault, importer, source, owner, actor):
                before = done.get(one.path)
                done[one.path] = _joined(before, one) if before else one
        except (BrainError, OSError) as error:
            problems.append(f"{source.path}: {error}")
    if done:
        _settle(vault, list(done.values()))
    return Imported(
        state=state,
        found=_counted([source for source, _ in found]),
        sessions=list(done.values()),
        messages=sum(each.messages for each in done.values()),
        bytes=sum(each.bytes for each in done.values()) or size,
        deleted=importer.deleted,
        problems=problems,
    )


def _seconds(vault: OpenVault, since: str) -> float:
    """Return a day, a time or an age as seconds since 1970."""
    after = start_of(time_of(since, vault.clock()))
    return datetime.fromisoformat(after).replace(tzinfo=UTC).timestamp() if after else 0.0


def _chosen(
    vault: OpenVault, found: list[Source], project: str, agent: str
) -> list[tuple[Source, str]]:
    """Return the sources to import, each with the agent that its session belongs to."""
    home_folder = home(vault.environ)
    projects = vault.config.projects
    pairs = [(each, importing.owner_of(projects, each, home_folder, agent)) for each in found]
    return [(each, owner) for each, owner in pairs if project in ("", owner)]


def _added(counting: importing.Importer, found: list[tuple[Source, str]]) -> int:
    """Return how many bytes an import would add to the vault."""
    added = (counting.import_source(source, lambda: "") for source, _ in found)
    return sum(each.size for each in added if each)


def _counted(found: list[Source]) -> list[FoundTranscripts]:
    """Return the number of sessions and bytes of each client."""
    sizes: dict[str, dict[str, int]] = {}
    for source in found:
        sessions = sizes.setdefault(source.client, {})
        sessions[source.id] = sessions.get(source.id, 0) + source.size
    return [
        FoundTranscripts(client=name, sessions=len(each), bytes=sum(each.values()))
        for name, each in sizes.items()
    ]


def _joined(one: ImportedSession, other: ImportedSession) -> ImportedSession:
    """Return two imports into a session as one."""
    return one.replace(messages=one.messages + other.messages, bytes=one.bytes + other.bytes)


def _import(
    vault: OpenVault, importer: importing.Importer, source: Source, owner: str, actor: Actor
) -> ImportedSession | None:
    one = importer.import_source(source, _folder_finder(vault, source, owner, actor))
    if one is None:
        return None
    return ImportedSession(
        session=one.place.id, agent=one.place.owner, client=source.client, path=one.place.path,
        messages=one.messages, bytes=one.size,
    )  # fmt: skip


def _folder_finder(vault: OpenVault, source: Source, owner: str, actor: Actor) -> Callable[[], str]:
    """Return a function that finds the folder for a new session of `owner`. A person
    may import for an agent that does not exist yet; then the function creates the agent."""

    def find() -> str:
        try:
            folder = catalog.folder_of(vault, owner)
        except NotFound:
            about = f"Sessions of {client(source.client).title}."
            agents.agent_add(vault, owner, about=about, by=actor)
            folder = catalog.folder_of(vault, owner)
        vault.store.allow(actor, f"{folder.path}/x{SUFFIX}")
        return folder.path

    return find


def _settle(vault: OpenVault, done: list[ImportedSession]) -> None:
    """Update sessions.json and the search index, and archive old sessions."""
    folders = dict.fromkeys(os.path.dirname(each.path) for each in done)
    with vault.store.locked():
        catalog.update(vault, *folders)
    vault.sync(list(folders))
    for owner in dict.fromkeys(each.agent for each in done):
        archive.move(vault, list(archive.old(vault, owner)))
