"""The clients whose transcripts Brain reads: one small module each, all in one table.

A client's module finds transcripts, says what session each holds, and yields its lines as Brain
writes them. It keeps no state between lines: a transcript that is read in pieces gives the same
lines as one that is read at once. The importer leaves out lines that it knows, by their key.
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
    """A transcript of a client, and the session in it. `part` tells sessions of one database
    apart. `start` is the first ordinal that is the session's own."""

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
    """A client by its name, which is also that of its agent. Its module is
    `brain.sessions.clients.<module>`, with these functions:

    - `folders(environ)` returns the folders and files where the client keeps transcripts
    - `sources(path)` yields the sessions in a file, or in a folder that has a shape of its own
    - `read(source, mark)` yields each line, with a mark from which reading can go on later
    """

    name: str
    title: str
    module: str

    def _call(self, function: str, *args: Any) -> Any:
        return getattr(import_module(f"brain.sessions.clients.{self.module}"), function)(*args)

    def folders(self, environ: Mapping[str, str]) -> list[str]:
        """Return the places of its transcripts on this machine."""
        found: list[str] = self._call("folders", environ)
        return [path for path in found if os.path.exists(path)]

    def sources(self, path: str) -> Iterator[Source]:
        """Yield the sessions at a path; none if the shape is not this client's."""
        found: Iterator[Source] = self._call("sources", path)
        return found

    def read(self, source: Source, mark: str) -> Iterator[tuple[Line | None, str]]:
        """Yield the lines of a session that are behind this mark ('': all), each with the mark
        behind it. None stands for what is not part of the conversation."""
        found: Iterator[tuple[Line | None, str]] = self._call("read", source, mark)
        return found


CLIENTS = (  # first those whose first line says what it is
    Client("codex", "Codex", "codex"),
    Client("gemini", "Gemini CLI", "gemini"),
    Client("opencode", "OpenCode", "opencode"),
    Client("claude-code", "Claude Code", "claude_code"),
)


def client(name: str) -> Client:
    """Return the client of this name."""
    return next(each for each in CLIENTS if each.name == name)


def find(path: str, after: float = 0.0) -> Iterator[Source]:
    """Yield the sessions in a file or folder, whichever client wrote them, that changed after this
    time. Other files are not opened."""
    if after and os.path.isfile(path) and _changed(path) < after:
        return
    for each in CLIENTS:
        found = [source for source in each.sources(path) if source.changed >= after]
        yield from found
        if found:
            return
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            below = os.path.join(path, name)
            if not os.path.islink(below):
                yield from find(below, after)


def _changed(path: str) -> float:
    """Return when a file was changed. The latest changes of a database are in a second file."""
    wal = f"{path}-wal"
    return max(
        os.stat(each).st_mtime for each in (path, wal) if each == path or os.path.exists(wal)
    )


def home(environ: Mapping[str, str]) -> str:
    """Return the home folder of the person."""
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
