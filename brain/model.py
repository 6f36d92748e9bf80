"""The values of the domain, immutable and without behaviour: entries, documents, changes, records.

They are tuples because reading a vault creates hundreds of thousands of entries, links and
problems, and because importing `dataclasses` slows down every start.
"""

from __future__ import annotations

from brain._tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

SCOPES = ("memory", "items", "tasks", "sources", "sessions", "archive")
DEFAULT_SCOPES = ("memory", "items", "tasks", "sources")
RELATIONS = ("relates_to", "supersedes", "contradicts", "derived_from")  # fields that link


# -- the content of a file -------------------------------------------------------------------------


class Problem(NamedTuple):
    """A problem of a file, which `brain doctor` reports. `line` is 0 for the whole file."""

    line: int
    code: str
    message: str


class Link(NamedTuple):
    """A link from an entry. `kind` is link, embed, or the name of its field (such as
    supersedes)."""

    line: int
    kind: str
    target: str
    fragment: str


class Entry(NamedTuple):
    """A memory, an item, a task, a turn of a session, or a passage of a note.

    Lines are numbered from 1, and `end_line` is the last line. `start` and `end` are byte offsets
    in a memory note; other files are never edited. The first `lead` characters of the text are
    properties of the note.
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
    """The content of a file. If the file is `broken`, its earlier content is kept in the index."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()
    title: str = ""
    aliases: tuple[str, ...] = ()
    properties: dict[str, Any] = {}  # noqa: RUF012 - never changed
    created: str | None = None
    broken: bool = False
    headings: tuple[str, ...] = ()


class Part(NamedTuple):
    """A part of a file that was replaced: the bytes `start` to `stop`.

    The bytes after the part moved by `lines` lines and `size` bytes. `refs` are the ids of its old
    entries in order. `words` are the words of entries that were added or removed, and of new
    entries without a written id. `derived` is True if there is a new entry without a written id,
    whose id is derived from its words.
    """

    start: int
    stop: int
    lines: int
    size: int
    refs: tuple[str, ...]
    words: tuple[str, ...]
    derived: bool


# -- changes of a file -----------------------------------------------------------------------------
# Each change is about one entry. A change that was applied before has no effect: an existing entry
# is not added again. So a crash, a merge and a retry do no harm.


class Add(NamedTuple):
    """Add an entry with the block id `^ref` at the end of a section of a memory note.

    Lines of `text` after the first are nested in the bullet. The heading `section` is created if it
    does not exist.
    """

    path: str
    ref: str
    text: str
    section: str
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # as written: `[[Architecture]]`
    fields: tuple[tuple[str, str], ...] = ()


class Update(NamedTuple):
    """Reword an entry. Links, tags, fields and the id of the old text are kept unless the new text
    replaces them. If the new text is `whole`, only the id is kept."""

    path: str
    ref: str
    text: str
    whole: bool = False


class Remove(NamedTuple):
    """Remove an entry and the lines nested in it."""

    path: str
    ref: str


class Retag(NamedTuple):
    """Add and remove tags. `#pinned` and `#candidate` are the status, `#decision` the kind."""

    path: str
    ref: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Relate(NamedTuple):
    """Add a field `[key:: value]`, or remove it if `gone`. Other values of the key are kept."""

    path: str
    ref: str
    key: str
    value: str
    gone: bool = False


class Move(NamedTuple):
    """Move an entry to the end of another section of its note."""

    path: str
    ref: str
    section: str


class Anchor(NamedTuple):
    """Write the derived id of an entry into the note, after the entry."""

    path: str
    ref: str


class Replace(NamedTuple):
    """Replace the text of an entry, with its marker, by `raw`, if the text is `expect` now."""

    path: str
    ref: str
    raw: str
    expect: str


class Insert(NamedTuple):
    """Restore a removed entry after the entry `previous` ('': at the start of the section), or at
    the end of the section if `previous` does not exist."""

    path: str
    ref: str
    raw: str
    section: str
    previous: str = ""


class Configure(NamedTuple):
    """Set the setting `ref` of brain.yaml to a value, or remove it (None), but only if its value is
    `expect` now. The setting is written as `lines` if these lines have the same value."""

    path: str
    ref: str
    value: Any
    expect: Any
    lines: str = ""


Change: TypeAlias = (
    Add | Update | Remove | Retag | Relate | Move | Anchor | Replace | Insert | Configure
)


class Applied(NamedTuple):
    """The result of a change.

    `outcome` is `done`, `already` (nothing had to be done), `missing` (the entry does not exist) or
    `changed` (the entry is not what the change expects). `before` and `after` are the text of the
    entry in the file. `section` is the headings above the entry, joined by ` > `. `previous` is the
    id of the entry before it in this section: for a Move, in the old section; for an Add, '' if the
    id of the entry before is not written in the note.
    """

    change: Change
    outcome: str
    before: str = ""
    after: str = ""
    section: str = ""
    previous: str = ""


class EditedFile(NamedTuple):
    """The bytes of a file after some changes, and the result of each."""

    data: bytes
    done: tuple[Applied, ...]


class Write(NamedTuple):
    """A change and its journal record.

    `op` is the type of the record: remember, pin, reinforce, … Without a change, only the record is
    written. `id` is the id of the record, which the store sets.
    """

    op: str
    ref: str
    change: Change | None = None
    data: dict[str, Any] = {}  # noqa: RUF012 - never changed
    id: str = ""


# -- events and records ----------------------------------------------------------------------------


class Event(NamedTuple):
    """Something that happened to a memory: `memory:write`, `memory:search`. `at` is UTC."""

    at: str
    name: str
    payload: dict[str, Any]


class NewRecord(NamedTuple):
    """A record to write to the journal. The caller chooses the id, so that it can recognise the
    record after a crash. An empty `at` means now."""

    id: str
    op: str
    by: str = "person"
    ref: str = ""
    path: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012 - never changed
    at: str = ""


class Record(NamedTuple):
    """A line of a journal. `seq` numbers the records of a device from 1. `lamport` is greater than
    in every record that the device had read. `ref` is the id of the entry."""

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
