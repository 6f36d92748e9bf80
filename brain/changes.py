"""The edits there are: a closed union of plain values, each about one entry of one file.

Every edit can be carried out again without doing more: an entry that is there is not added twice,
one that is gone is not removed twice. That is what makes a crash, a merge and a retry harmless.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias


class Add(NamedTuple):
    """A new entry at the end of a section of a memory note, with `^ref` as its block id.

    `text` may have more lines; they become lines nested in the bullet. `section` is a heading; one
    that is not there is made.
    """

    path: str
    ref: str
    text: str
    section: str
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # as they stand in the line: `[[Architecture]]`
    fields: tuple[tuple[str, str], ...] = ()


class Update(NamedTuple):
    """Other words for an entry; its links, tags, fields and id stay unless the words hold them."""

    path: str
    ref: str
    text: str


class Remove(NamedTuple):
    """An entry goes, with the lines nested in it."""

    path: str
    ref: str


class Retag(NamedTuple):
    """Tags come and go: `#pinned` and `#candidate` are the status, `#decision` the kind."""

    path: str
    ref: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Relate(NamedTuple):
    """A field `[key:: value]` comes, or goes when `gone`; other fields of that key stay."""

    path: str
    ref: str
    key: str
    value: str
    gone: bool = False


class Move(NamedTuple):
    """An entry goes to the end of another section of its note."""

    path: str
    ref: str
    section: str


class Anchor(NamedTuple):
    """An entry gets its derived id written behind it, and nothing else."""

    path: str
    ref: str


class Replace(NamedTuple):
    """The text of an entry as it stands in the file, marker and all, becomes `raw`; only if it is
    `expect` now."""

    path: str
    ref: str
    raw: str
    expect: str


class Insert(NamedTuple):
    """An entry that was removed comes back as it was, behind `previous` ('' for the start of its
    section) or, if that is gone too, at the end of the section."""

    path: str
    ref: str
    raw: str
    section: str
    previous: str = ""


class Put(NamedTuple):
    """Values of a record of items.json or tasks.json; the record is added if there is none."""

    path: str
    ref: str
    values: dict[str, Any]


class Drop(NamedTuple):
    """A record of items.json or tasks.json goes."""

    path: str
    ref: str


class Append(NamedTuple):
    """A line at the end of a session; `ref` is its id, told from a result's by its role."""

    path: str
    ref: str
    record: dict[str, Any]


class Configure(NamedTuple):
    """A setting of brain.yaml, `ref`, gets a value, or goes (None), so that the default holds; only
    if it is `expect` now. It is written as `lines` if these say that."""

    path: str
    ref: str
    value: Any
    expect: Any
    lines: str = ""


Change: TypeAlias = (
    Add
    | Update
    | Remove
    | Retag
    | Relate
    | Move
    | Anchor
    | Replace
    | Insert
    | Put
    | Drop
    | Append
    | Configure
)
KINDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (
        Add, Update, Remove, Retag, Relate, Move, Anchor, Replace, Insert, Put, Drop, Append,
        Configure,
    )
}  # fmt: skip


class Done(NamedTuple):
    """What became of a change: `done`, `already` (there was nothing left to do), `missing` (the
    entry is gone) or `changed` (it is there, but is not what the change expects).

    `line` is its line in the new bytes, `before` and `after` are the entry as it stood and stands
    in the file, `section` the headings above it (` > ` between them), `previous` the id of the
    entry before it in that section: of a Move where it stood before, of an Add '' where that id
    is not written in the note.
    """

    change: Change
    outcome: str
    line: int = 0
    before: str = ""
    after: str = ""
    section: str = ""
    previous: str = ""


class Edited(NamedTuple):
    """The bytes of a file after some changes, and what became of each."""

    data: bytes
    done: tuple[Done, ...]


def to_json(change: Change) -> dict[str, Any]:
    """A change as a value that JSON can hold."""
    return {"change": type(change).__name__.lower(), **change._asdict()}


def from_json(value: dict[str, Any]) -> Change:
    """Return the change that `to_json` wrote. Records from before 0.1.0 may have `over` as well."""
    names = value.keys() - {"change", "over"}
    fields = {key: _frozen(value[key]) for key in names}
    change: Change = KINDS[value["change"]](**fields)
    return change


def _frozen(value: Any) -> Any:
    return tuple(_frozen(inner) for inner in value) if isinstance(value, list) else value


class Deed(NamedTuple):
    """A change, what it means, and what the journal keeps of it.

    `op` is the word of the journal: add, pin, reinforce, … Without a change, only the journal is
    written. `id` names the event; it is given when the deed is logged.
    """

    op: str
    ref: str
    change: Change | None = None
    data: dict[str, Any] = {}  # noqa: RUF012 - never changed
    id: str = ""
