"""The table of the clients whose transcripts Brain reads, with a small module for each.

A client's module finds transcripts, identifies the session in each, and yields its lines as Brain
writes them. The module keeps no state between lines: a transcript that is read in pieces gives the
same lines as a transcript that is read at once. The importer skips lines whose key it knows.
"""

from __future__ import annotations

import os
from importlib import import_module

from brain._tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Line = dict[str, Any]


class Source(NamedTuple):
    """A transcript of a client, and the session in it. `part` identifies a session in a database
    that holds several. Lines with an ordinal below `start` were inherited from the parent."""

    client: str
    path: str
    id: str
    cwd: str = ""
    parent: str = ""
    title: str = ""
    kind: str = ""
    started: str = ""
    size: int = 0
    changed: float = 0.0  # seconds since 1970
    part: str = ""
    start: int = 0


class Client(NamedTuple):
    """A client. Its module is `brain.sessions.clients.<module>`, with these functions:

    - `folders(environ)` returns the folders and files where the client keeps transcripts
    - `sources(path)` yields the sessions in a file, or in a folder if the client stores them so
    - `read(source, mark)` yields each line, with a mark from which a later call can continue
    """

    name: str
    title: str
    module: str

    def _call(self, function: str, *args: Any) -> Any:
        return getattr(import_module(f"brain.sessions.clients.{self.module}"), function)(*args)

    def folders(self, environ: Mapping[str, str]) -> list[str]:
        """Return the folders and files with its transcripts on this machine."""
        found: list[str] = self._call("folders", environ)
        return [path for path in found if os.path.exists(path)]

    def sources(self, path: str) -> Iterator[Source]:
        """Yield the sessions at a path; none if the format is not this client's."""
        found: Iterator[Source] = self._call("sources", path)
        return found

    def read(self, source: Source, mark: str) -> Iterator[tuple[Line | None, str]]:
        """Yield the lines of a session after this mark ('': all), each with the mark after it. A
        line is None if it is not part of the conversation."""
        found: Iterator[tuple[Line | None, str]] = self._call("read", source, mark)
        return found


CLIENTS = (  # Claude Code is last, because it is not recognised by its first line
    Client("codex", "Codex", "codex"),
    Client("gemini", "Gemini CLI", "gemini"),
    Client("opencode", "OpenCode", "opencode"),
    Client("claude-code", "Claude Code", "claude_code"),
)

# The agents of clients, where they have another name than the client. Two clients may share one.
_AGENTS = {"claude-code": "claude", "claude-desktop": "claude", "vscode": "copilot"}


def agent_of(client: str) -> str:
    """Return the name of the agent that a client acts as, unless the user names another one."""
    return _AGENTS.get(client, client)


def client(name: str) -> Client:
    """Return the client of this name."""
    return next(each for each in CLIENTS if each.name == name)


def find(path: str, after: float = 0.0, problems: list[str] | None = None) -> Iterator[Source]:
    """Yield the sessions in a file or folder that changed after this time, of any client. Files
    that did not change are not opened. Files that cannot be read are added to `problems`."""
    found: list[Source] = []
    names: list[str] = []
    try:
        if after and os.path.isfile(path) and _changed(path) < after:
            return
        for each in CLIENTS:
            found = found or [source for source in each.sources(path) if source.changed >= after]
        if not found and os.path.isdir(path):
            names = sorted(os.listdir(path))
    except FileNotFoundError:
        return  # the client has just deleted it
    except OSError as error:
        if problems is not None:
            problems.append(f"{path}: {error.strerror or error}.")
    yield from found
    for name in names:
        inner_path = os.path.join(path, name)
        if not os.path.islink(inner_path):
            yield from find(inner_path, after, problems)


def _changed(path: str) -> float:
    """Return the time when a file, or the write-ahead log of a database, was last changed."""
    wal = f"{path}-wal"
    return max(
        os.stat(each).st_mtime for each in (path, wal) if each == path or os.path.exists(wal)
    )


def home(environ: Mapping[str, str]) -> str:
    """Return the home folder of the user."""
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
