"""The words of the domain, as immutable values without behaviour.

`Chunk`, `Link` and `Problem` are made by the hundred thousand while a vault is read, which
is one reason for tuples; the other is that importing `dataclasses` slows every start.
"""

from __future__ import annotations

from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCOPES = ("memory", "items", "tasks", "sources", "sessions", "archive")
DEFAULT_SCOPES = ("memory", "items", "tasks", "sources")
RELATIONS = ("relates_to", "supersedes", "contradicts", "derived_from")  # fields that link


class Problem(NamedTuple):
    """Something wrong with a file, shown by `brain doctor`. `line` is 0 where no line is to
    blame."""

    line: int
    code: str
    message: str


class Link(NamedTuple):
    """A reference out of a chunk. `kind` is link, embed, or the field that held it (supersedes,
    …)."""

    line: int
    kind: str
    target: str
    fragment: str
    alias: str


class Chunk(NamedTuple):
    """One searchable piece of a file: a memory, an item, a task, a turn, or a passage of a note.

    Lines count from 1 and include both ends. `start` and `end` are byte offsets into the file; they
    are 0 for passages of source notes, which are never edited. The first `lead` characters of the
    text are properties of the note.
    """

    ref: str
    kind: str
    status: str
    heading: str
    text: str
    tags: tuple[str, ...]
    line: int
    end_line: int
    created: str | None
    links: tuple[Link, ...]
    start: int = 0
    end: int = 0
    extra: dict[str, Any] | None = None
    lead: int = 0


class Document(NamedTuple):
    """What a file says, read without changing it.

    `broken` means that the file did not parse: what was known of it before stays searchable.
    """

    chunks: tuple[Chunk, ...] = ()
    problems: tuple[Problem, ...] = ()
    title: str = ""
    aliases: tuple[str, ...] = ()
    properties: dict[str, Any] = {}  # noqa: RUF012 - never changed
    created: str | None = None
    broken: bool = False
    headings: tuple[str, ...] = ()


class Part(NamedTuple):
    """Bytes `start` to `stop` of a file that were replaced.

    What is behind them moved by so many `lines` and by `size` bytes. `refs` are the ids of the
    entries that were there, in order. `words` are those of entries that came or went and of new
    ones without a written id, which is then `derived` from its words.
    """

    start: int
    stop: int
    lines: int
    size: int
    refs: tuple[str, ...]
    words: tuple[str, ...]
    derived: bool


class Event(NamedTuple):
    """Something that happened to a memory: `memory:write`, `memory:search`, …, and when (UTC)."""

    at: str
    name: str
    payload: dict[str, Any]


class NewRecord(NamedTuple):
    """A record to be written to the journal. The caller chooses the id, so that the record can be
    recognised after a crash. An empty `at` means now."""

    id: str
    op: str
    by: str = "person"
    ref: str = ""
    path: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012 - never changed
    at: str = ""


class Record(NamedTuple):
    """One line of a journal. `seq` numbers the records of a device from 1. `lamport` is greater
    than that of every record the device had read. `ref` is the id of the entry."""

    id: str
    at: str
    device: str
    seq: int
    lamport: int
    by: str
    op: str
    ref: str
    path: str
    data: dict[str, Any]

    @property
    def key(self) -> tuple[int, str, int]:
        """The position in the order of all records. Every machine computes the same order."""
        return self.lamport, self.device, self.seq
