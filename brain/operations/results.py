"""Values that operations return. `brain.serialize` turns them into JSON.

A field with the default None is optional: the JSON leaves it out while it is None.
"""

from __future__ import annotations

from brain._tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Self, dataclass_transform

    from brain.context.budget import Fitted
    from brain.context.recall import Recalled
    from brain.index.read import Row
    from brain.model import Link
    from brain.open_vault import Freshness
    from brain.operations.search import SearchResult
    from brain.operations.usage import Round
else:

    def dataclass_transform(**_):  # noqa: ANN201, ANN003
        return lambda cls: cls


FIRST_WORDS = 40  # characters of a text that a repr shows


@dataclass_transform(kw_only_default=True)
class Value:
    """The base class of results, with keyword fields, comparison by value, and a short repr.

    Type checkers treat it as a dataclass. Real dataclasses compile code for each class at every
    start, which takes 10 ms for this module.
    """

    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063  (without `inspect`)
        cls._fields = (*cls._fields, *(name for name in own if name not in cls._fields))

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)
        missing = [name for name in self._fields if not hasattr(self, name)]
        if missing or not fields.keys() <= {*self._fields}:
            raise TypeError(f"{type(self).__name__} needs {missing}, and takes {self._fields}")

    def replace(self, **fields: Any) -> Self:
        """Return a copy with other values in these fields."""
        return type(self)(**{**self.__dict__, **fields})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"


# -- entries -------------------------------------------------------------------------------------


class Provenance(Value):
    """The origin of a memory: the actor and time, the session and its first and last message, the
    text that was being discussed, the reason, and later changes."""

    by: str
    at: str
    session: str | None
    messages: list[int] | None
    snippet: str | None
    source: str
    why: str | None
    event: str | None
    since: list[dict[str, Any]]


class Entry(Value):
    """A unit that can be found and addressed by id: a memory, item, task, turn or passage.

    Paths are relative to the vault, and lines are numbered from 1. `extra` has the fields that only
    some entries have. If you gave the path of a file, `more` is the number of other entries in it.
    """

    id: str
    scope: str = ""
    kind: str = ""
    status: str = ""
    agent: str = ""
    project: str = ""
    path: str
    line: int = 0
    end_line: int = 0
    title: str = ""
    heading: str = ""
    text: str = ""
    tags: list[str]
    created: str = ""
    extra: dict[str, Any]
    links: list[Link] | None = None
    more: int | None = None
    freshness: Freshness | None = None

    def __repr__(self) -> str:
        from brain.search.snippet import body_at

        words = self.text[body_at(self.text) :].strip().split("\n", 1)[0]
        if len(words) > FIRST_WORDS:
            words = f"{words[: FIRST_WORDS - 1].rstrip()}…"
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{type(self).__name__}({self.id}, {place}, {self._outcome()}{words!r})"

    def _outcome(self) -> str:
        return ""


def entry(row: Row) -> Entry:
    """Return the entry for a row of the index."""
    return Entry(**entry_fields(row))


def entry_fields(row: Row) -> dict[str, Any]:
    """Return the fields of the entry for a row."""
    import json

    fields = row._asdict()
    del fields["ref"]
    extra = json.loads(row.extra) if row.extra else {}
    return fields | {"id": row.ref, "tags": row.tags.split(), "extra": extra}


class Memory(Entry):
    """A memory with its current values. `show` adds its origin and the factors of the values."""

    score: float
    hits: int
    last_hit: str | None
    updated: str
    importance: float
    confidence: float
    source: str
    by: str
    session: str | None
    provenance: Provenance | None = None
    confidence_factors: dict[str, Any] | None = None
    importance_factors: dict[str, Any] | None = None


class Listing(Value):
    """Entries that pass a filter. You can iterate over the listing."""

    entries: list[Entry]
    freshness: Freshness

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Entry:
        return self.entries[index]


class Answer(Value):
    """The results of a search, best first, and notes for the user. You can iterate over the
    answer."""

    query: str
    results: list[SearchResult]
    freshness: Freshness
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> SearchResult:
        return self.results[index]


class Place(Value):
    """The address of an entry in Obsidian, and its file and line for an editor."""

    id: str
    url: str
    path: str
    line: int
    file: str


class Graph(Value):
    """The graph of memories: memories, tags and notes as nodes, edges between them, and
    clusters."""

    root: str | None
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    clusters: list[dict[str, Any]]
    freshness: Freshness

    def __repr__(self) -> str:
        return f"Graph({len(self.nodes)} nodes, {len(self.edges)} edges)"


class Asked(NamedTuple):
    """The arguments of `context`."""

    query: str
    files: tuple[str, ...]
    text: str
    agent: str
    session: str
    scopes: tuple[str, ...]
    tasks: bool
    again: bool
    format: str
    remaining: int
    budget: int | None


class Context(Value):
    """A context for an agent. `text` is the text for the prompt. The fields say how
    it was built."""

    asked: Asked
    fitted: Fitted
    recalled: Recalled
    round: Round
    degraded: str
    freshness: Freshness
    notes: tuple[str, ...]  # remarks for the user

    def __repr__(self) -> str:
        shown = f"{len(self.refs)} memories, {self.fitted.tokens} tokens"
        return f"Context({self.asked.query!r}, {shown})"

    @property
    def text(self) -> str:
        """The text for the prompt."""
        return self.fitted.text

    @property
    def answers(self) -> list[str]:
        """The ids of the memories in the context that match the question."""
        found = {entry.id for entry in self.recalled.memories if entry.row.scope == "memory"}
        return [part.id for part in self.fitted.package.memories if part.id in found]

    @property
    def refs(self) -> list[str]:
        """The ids of all memories in the context."""
        package = self.fitted.package
        shown = (*package.warnings, *package.memories, *package.pinned)
        return list(dict.fromkeys(part.id for part in shown))

    @property
    def shown(self) -> list[str]:
        """The ids of all entries, passages and turns in the context, and the paths of its notes."""
        parts = (part for _, parts in self.fitted.package.sections for part in parts)
        return list(dict.fromkeys(id for part in parts for id in part.ids))


# -- changes -------------------------------------------------------------------------------------


class Mention(Value):
    """The id and text of another memory."""

    id: str
    text: str


class Changed(Entry):
    """An entry after an operation.

    `outcome` is the kind of change, such as `updated`, or `unchanged`. `state` is `written`,
    `pending` while a person types in the note, or `unchanged`. `event` is the id for `undo`; None
    without a change. `redacted` are the rules that found secrets, which were left out.
    """

    outcome: str
    state: str
    event: str | None
    redacted: list[str]

    def _outcome(self) -> str:
        return f"{self.outcome}, "


class Updated(Changed):
    """A changed memory, and the other memories that are similar to it or contradict it."""

    near: list[Mention]
    conflicts: list[Mention]


class Remembered(Updated):
    """A stored memory. Its outcome is `added`, `duplicate` (it existed already) or `conflict`
    (stored and linked to the memories that it contradicts). `unmade` are linked notes that do not
    exist yet. `superseded_by` are memories that still supersede a duplicate."""

    superseded_by: list[Mention] | None = None
    unmade: list[str]


class Forgotten(Changed):
    """A deleted memory. `linked_from` are places with links to it. `left` are places where copies
    of a purged text may be left."""

    linked_from: list[str]
    left: list[str] | None = None


class Tagged(Changed):
    """A memory with changed tags. `absent` are the tags to remove that the memory did not have."""

    absent: list[str]


class Feedback(Changed):
    """A memory that was reinforced or demoted. `delta` is the change of its score, and `score` the
    result. A passage of a note has no score."""

    delta: float
    score: float | None = None


class Undone(Changed):
    """An entry after an undo. `of` is the event that was undone, and `undid` its record type."""

    of: str
    undid: str


class Conflict(Value):
    """A conflict between two memories. `type` is `contradictory`, `ambiguous` (two names that may
    or may not stand for the same thing) or `superseded` (one memory replaces the other)."""

    event: str
    type: str
    at: str
    by: str
    entries: list[Entry]
    resolved: str | None = None


class Resolved(Changed):
    """The memory that remains valid, and the conflicts that were resolved."""

    resolved: list[Conflict]


# -- the journal ---------------------------------------------------------------------------------


class ChangeRecord(Value):
    """A record of the journal: the type of change, its time, actor, memory and device."""

    event: str
    at: str
    by: str
    op: str
    id: str
    path: str | None
    device: str | None
    data: dict[str, Any]


class Reverted(Value):
    """The changes of an agent that were undone, and those that were kept, with the reason
    (`why_not`)."""

    agent: str
    since: str
    undone: list[Undone]
    kept: list[ChangeRecord]


class PendingWrite(Value):
    """A write that is not in its note yet, or an entry that a person removed. `state` is `pending`,
    `dropped` (discarded) or `removed`. `why` is the reason why the write is pending, or how to
    restore the entry."""

    event: str
    at: str
    by: str
    op: str
    id: str
    path: str
    text: str
    state: str
    why: str


class Gap(Value):
    """A question that had no answer. `open` is True if it still has none. `session` is the session
    that asked it last. `snippet` is the beginning of the text that this session was working on, or
    of the question."""

    id: str
    query: str
    agent: str | None
    count: int
    last: str
    session: str | None
    snippet: str
    open: bool


class TagSuggestion(Value):
    """A suggested tag for memories that answered the same question and share no tag."""

    tag: str
    ids: list[str]
    query: str


class Gaps(Value):
    """Questions that had no answer, and suggested tags for memories that were useful together."""

    gaps: list[Gap]
    tags: list[TagSuggestion]

    def __iter__(self) -> Iterator[Gap]:
        return iter(self.gaps)

    def __len__(self) -> int:
        return len(self.gaps)

    def __getitem__(self, index: int) -> Gap:
        return self.gaps[index]


# -- settings and state --------------------------------------------------------------------------


class Agent(Value):
    """An agent. `claims` is the type in its AGENT.md. `registered` is the highest type that it may
    have on this machine, if the agent is registered. `type` is the type that it has: the lower of
    `claims` and the highest type that is allowed."""

    name: str
    type: str
    claims: str
    registered: str | None
    path: str


class Session(Value):
    """A conversation. `state` is open, ended or archived. `parent` is the session from which it was
    forked, or which started it."""

    id: str
    agent: str
    title: str
    state: str
    messages: int
    started: str | None
    updated: str | None
    path: str
    client: str | None = None
    cwd: str | None = None
    parent: str | None = None
    summary: str | None = None


class SessionMessages(Value):
    """A session with its last messages, in the form of the transcript."""

    session: Session
    messages: list[dict[str, Any]]


class SessionLine(Value):
    """A message of a session. `outcome` is `appended`, or `already` if the session had the message.
    `messages` is the number of messages in the session."""

    session: str
    id: str
    role: str
    path: str
    outcome: str
    messages: int


class FoundTranscripts(Value):
    """The number of transcripts of a client on this machine, and their size in bytes."""

    client: str
    sessions: int
    bytes: int


class ImportedSession(Value):
    """A session, and the number of messages and bytes that an import added to it."""

    session: str
    agent: str
    client: str
    path: str
    messages: int
    bytes: int


class Imported(Value):
    """The result of an import. `state` is `imported`, or `asks` if the import is so large (`bytes`)
    that a person has to confirm it. `deleted` is the number of sessions that were skipped because
    they were deleted from the vault. `problems` are the errors of other skipped sessions."""

    state: str
    found: list[FoundTranscripts]
    sessions: list[ImportedSession]
    messages: int
    bytes: int
    deleted: int
    problems: list[str]


class SettingChange(Value):
    """A setting of brain.yaml. Its outcome is `set` or `unchanged`."""

    setting: str
    value: Any
    outcome: str
    state: str
    event: str | None


class AliasChange(SettingChange):
    """A word, and its synonyms after the change."""

    word: str
    stands_for: list[str]


class Aliases(Value):
    """The aliases in brain.yaml, and all aliases that a search uses."""

    own: list[str]
    aliases: dict[str, list[str]]


class Budget(Value):
    """The token limit of a context, and the allocation of tokens to its parts for some sizes."""

    ceiling: int
    allocations: list[dict[str, int]]
    change: SettingChange | None = None


class Status(Value):
    """The state of a vault: its index and freshness, the last recall, and the daemon. `healthy` is
    the result of a quick check; `doctor` checks the whole index. `paused` is the reason why writing
    is off (`pause` for `brain pause`, `--read-only`, or a setting), or ''. `counters` cover the
    whole vault; None for an actor who may not read all of it."""

    vault: str
    brain: str
    index: str
    engine: str
    healthy: bool
    scopes: dict[str, dict[str, int]]
    kinds: dict[str, int]
    agents: list[dict[str, str]]
    problems: int
    paused: str
    counters: dict[str, Any] | None
    recall: dict[str, Any]
    last_injected: dict[str, Any] | None
    freshness: Freshness
    daemon: int | None


class FileProblem(Value):
    """A problem of a file. `line` is 0 for the whole file."""

    path: str
    line: int
    code: str
    message: str


class Diagnosis(Value):
    """The problems of a vault. `healthy` is False if the index was damaged and has been rebuilt.
    `paused` is the reason why writing is off, or ''."""

    healthy: bool
    paused: str
    problems: list[FileProblem]
    freshness: Freshness
