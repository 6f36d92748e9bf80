"""Import transcripts of AI clients into sessions of the vault.

Each message is imported once, because the keys of lines are compared with the transcript in the
vault. This also holds if an import is repeated or runs in two processes, and if the client has
rewritten its file. Marks in state.db only save time. A message that a fork or a resume copied is
imported only into the session that had it first.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack

from brain import access
from brain._tuples import NamedTuple
from brain.errors import BadRequest
from brain.index import read
from brain.redact import redact_value
from brain.sessions import archive, catalog, clients, ids, transcript
from brain.sessions.catalog import Place
from brain.sessions.clients.lines import event
from brain.sessions.transcript import EVENT, SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.sessions.clients import Line, Source
    from brain.sessions.transcript import Writer

_OWN_TOOL = re.compile(
    r"(?:\A|brain_+)(?:memory_[a-z]+|task_list|session_append|project_knowledge)\Z"
)

_TEXTS = ("content", "input", "name", "title", "cwd")  # the fields that may hold secrets


class Import(NamedTuple):
    """The result of importing a source: its session, and the number of added messages and bytes."""

    place: Place
    source: Source
    messages: int
    size: int


# -- sources and owners ----------------------------------------------------------------------------


def find(
    paths: Iterable[str], environ: Mapping[str, str], after: float, problems: list[str]
) -> list[Source]:
    """Return the sessions in these files and folders (none: in the folders of all clients) that
    changed after a time (seconds), the oldest first. Raise BadRequest for a path without sessions.
    Files that cannot be read are added to `problems`."""
    found: list[Source] = []
    given_paths = list(paths)
    for path in given_paths:
        if not os.path.exists(path):
            raise BadRequest(f"There is no file {path}.", "Check the path.")
        before = len(problems)
        sources = list(clients.find(os.path.realpath(path), after, problems))
        is_known = sources or len(problems) > before
        if not is_known and not any(clients.find(os.path.realpath(path))):
            names = ", ".join(each.title for each in clients.CLIENTS)
            raise BadRequest(
                f"{path} is not a transcript in a format that Brain knows; nothing was imported.",
                f"Brain reads transcripts of {names}.",
            )
        found += sources
    for each in () if given_paths else clients.CLIENTS:
        for folder in each.folders(environ):
            found += clients.find(folder, after, problems)
    # a fork begins like its parent, and is written later
    return sorted(dict.fromkeys(found), key=lambda s: (s.started, s.changed, s.path))


def owner_of(projects: Iterable[str], source: Source, home: str, agent: str = "") -> str:
    """Return the owner for a session: the agent with the longest path in `projects` (`agent=path`)
    that contains its folder, else `agent`, else the agent of the client."""
    best = ("", agent or clients.agent_of(source.client))
    for rule in projects:
        name, _, path = rule.partition("=")
        path = path.strip()
        if path == "~" or path.startswith("~/"):
            path = home + path[1:]
        folder = os.path.normpath(path)
        cwd = os.path.normpath(source.cwd or "/")
        if f"{cwd}/".startswith(f"{folder.rstrip('/')}/") and len(folder) > len(best[0]):
            best = (folder, name.strip())
    return best[1]


# -- one source ------------------------------------------------------------------------------------


class Importer:
    """Imports sources into a vault for an actor. If `dry_run`, it only counts the lines to add.
    Sessions that were imported and then deleted from the vault are left out and counted in
    `deleted`; if `again`, they are imported again."""

    def __init__(
        self, vault: OpenVault, actor: Actor, *, dry_run: bool = False, again: bool = False
    ) -> None:
        self.vault, self.actor, self.dry_run, self.again = vault, actor, dry_run, again
        self.deleted = 0
        self.owners = access.readable(actor)  # sessions of other owners are not used
        self._seen: dict[int, str] = {}  # sessions of this run, by the hashed key of a line

    def import_source(self, source: Source, choose_folder: Callable[[], str]) -> Import | None:
        """Append the new lines of a source to its session. If the source has no session
        yet, create one in the folder that `choose_folder()` returns. Return None if there are no
        new lines, or if the session was deleted."""
        mark_key = f"import:{source.path}:{source.part}"
        mark_before = mark = self.vault.state.flag(mark_key)
        id = ids.of_client(source.client, source.id)
        imported_key = f"imported:{id}"
        place = self._existing(id)
        if place is None:
            if self._was_deleted(mark_before or self.vault.state.flag(imported_key)):
                self.deleted += 1
                return None
            mark = ""
        lines = clients.client(source.client).read(source, mark)
        with ExitStack() as stack:
            target = _Target(self, source, id, place, choose_folder, stack)
            for line, new_mark in lines:
                mark = new_mark or mark
                if line is not None:
                    target.add(line)
            target.finish()
        if not self.dry_run and target.place and mark != mark_before:
            self.vault.state.set_flag(mark_key, mark)
            self.vault.state.set_flag(imported_key, "1")
        return target.report()

    def _was_deleted(self, mark: str) -> bool:
        """Return True if a session that the vault does not have was imported before. For an agent
        that may not read all sessions, return False, because the session may exist."""
        return bool(mark) and not self.again and self.owners is None

    def _existing(self, id: str) -> Place | None:
        folders = catalog.folders(self.vault, self.owners)
        root = self.vault.paths.root_path
        for folder in folders:
            path = f"{folder.path}/{id}{SUFFIX}"
            if os.path.isfile(f"{root}/{path}"):
                return Place(id, path, folder.owner, folder.is_archived)
        return None

    def other_session(self, line: Line, session: str, path: str) -> str:
        """Return the other session that has this line; '' if there is none. Remember the first
        session of each line."""
        other = self._seen.setdefault(hash(_line_key(line)), session)
        if other != session:
            return other
        (ref, role), native = transcript.key(line), str(line.get("native", ""))
        found = read.other_transcript(self.vault.index, ref, role, native, path, self.owners)
        return os.path.basename(found).removesuffix(SUFFIX)


class _Target:
    """The session that a source is imported into. Its file is opened for the first new line."""

    writer: Writer | None = None

    def __init__(
        self,
        importer: Importer,
        source: Source,
        id: str,
        place: Place | None,
        folder: Callable[[], str],
        stack: ExitStack,
    ) -> None:
        self.importer, self.vault = importer, importer.vault
        self.source, self.id, self.folder, self.stack = source, id, folder, stack
        self.place, self.parent = place, source.parent
        self.known: set[int] = set()  # hashed keys of the lines in the session
        # name of the tool, by the id of a call without a result
        self.open_calls: dict[str, str] = {}
        self.waiting_events: list[Line] = []  # events before the first message
        self.has_header = False
        self.messages = self.size = 0
        self.foreign_calls: set[str] = set()  # calls in another session
        self.end = 0  # offset up to which the transcript was read
        if place:
            self._load()

    def _load(self) -> None:
        """Read from the session file the keys of its lines and the calls without a result yet."""
        path = f"{self.vault.paths.root_path}/{self._path()}"
        self.known.clear()
        self.open_calls.clear()
        self.has_header = False
        self.end = os.stat(path).st_size
        for line, _ in transcript.lines(path):
            self.known.add(hash(_line_key(line)))
            self._track_call(line)
            self.has_header |= line.get("role") == EVENT and line.get("event") == "start"

    def _open(self) -> None:
        """Lock the session, and read it again if another process has appended to it."""
        if self.place and self.place.is_archived:
            self.vault.store.allow(self.importer.actor, self.place.path)
            self.place = archive.restore(self.vault, self.place)
        path = self.vault.paths.real_path(self._path())
        self.vault.store.allow(self.importer.actor, self._path())
        self.writer = self.stack.enter_context(transcript.writing(path, durable=False, create=True))
        if os.fstat(self.writer.handle).st_size != self.end:
            self._load()

    def _path(self) -> str:
        if self.place is None:
            path = f"{self.folder()}/{self.id}{SUFFIX}"
            self.place = Place(self.id, path, self.vault.owner(path), False)
        return self.place.path

    def _track_call(self, line: Line) -> str:
        """Remember the tool of a call, or return the tool of a result."""
        if line.get("role") == "tool_call":
            self.open_calls[str(line.get("id"))] = str(line.get("name", ""))
        elif line.get("role") == "tool_result":
            return self.open_calls.pop(str(line.get("id")), "")
        return ""

    def add(self, line: Line) -> None:
        """Append a line, unless this session or another one has it."""
        if hash(_line_key(line)) in self.known:
            return
        path = self.place.path if self.place else ""
        is_message = transcript.is_message(line)
        id, role = transcript.key(line)
        other_session = self.importer.other_session(line, self.id, path) if is_message else ""
        if other_session or (role == "tool_result" and id in self.foreign_calls):
            self.parent = self.parent or other_session
            if role == "tool_call":
                self.foreign_calls.add(id)
            return
        if not is_message and not self.messages and not self.has_header:
            self.waiting_events.append(line)  # the session may have no message of its own
            return
        if self.writer is None and not self.importer.dry_run:
            self._open()
            if hash(_line_key(line)) in self.known:  # another process has just added it
                return
        if not self.has_header:
            self.has_header = True
            self._write(self._header(line))
            for waiting in self.waiting_events:
                self.add(waiting)
        self.known.add(hash(_line_key(line)))
        tool = self._track_call(line)
        if role == "tool_result":
            line = {**line, "name": tool} if tool else line
            if _OWN_TOOL.search(tool):  # the answers of Brain are in the vault already
                line = {name: value for name, value in line.items() if name != "content"}
        self._write(line)
        self.messages += is_message

    def _header(self, line: Line) -> Line:
        source = self.source
        time = source.started or str(line.get("timestamp", ""))
        return event(
            self.id, "start", time, client=source.client, cwd=source.cwd, title=source.title,
            parentSessionId=self.parent, kind=source.kind,
        )  # fmt: skip

    def _write(self, line: Line) -> None:
        if self.writer is None:
            self.size += len(transcript.encode(line))
            return
        texts = {name: line[name] for name in _TEXTS if name in line}
        line = {**line, **redact_value(texts, emails=self.vault.config.redactEmails)}
        before = os.fstat(self.writer.handle).st_size
        self.writer.append(line, str(line.get("timestamp", "")))
        self.size += os.fstat(self.writer.handle).st_size - before

    def finish(self) -> None:
        """Wait until the appended lines are on the disk."""
        if self.writer and self.size:
            self.writer.flush()

    def report(self) -> Import | None:
        if not self.size:
            return None
        place = self.place or Place(self.id, "", "", False)
        return Import(place, self.source, self.messages, self.size)


def _line_key(line: Line) -> tuple[str, str]:
    """Return the key that identifies a line in its session: the native id, else the id, and the
    role."""
    id, role = transcript.key(line)
    return str(line.get("native") or id), role
