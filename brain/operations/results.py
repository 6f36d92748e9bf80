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
    from brain.operations.usage import Round
    from brain.search.search import SearchResult
else:

    def dataclass_transform(**_):  # noqa: ANN201, ANN003
        return lambda cls: cls


FIRST_WORDS = 40  # characters of a text that a repr shows


@dataclass_transform(kw_only_default=True)
class Value:
    """Base of the results: fields by keyword, compared by value, with a short repr.

    To a type checker this is a dataclass. Real ones compile code for each class at every start,
    which takes 10 ms for this module.
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
    """The origin of a memory: who stored it, when, in which session (and in which of its messages,
    the first and the last), what was being discussed, why, and what followed."""

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

    Paths are relative to the vault, lines count from 1. `extra` has what only some entries have.
    `more` is the number of other entries in a file that was named by its path.
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
        words = self.text.split("\n", 1)[0]
        if len(words) > FIRST_WORDS:
            words = f"{words[: FIRST_WORDS - 1].rstrip()}…"
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{type(self).__name__}({self.id}, {place}, {self._outcome()}{words!r})"

    def _outcome(self) -> str:
        return ""


def entry(row: Row) -> Entry:
    """Return the entry of a row of the index."""
    return Entry(**entry_fields(row))


def entry_fields(row: Row) -> dict[str, Any]:
    """Return the fields of the entry of a row."""
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
    """Entries that pass a filter; iterate over it."""

    entries: list[Entry]
    freshness: Freshness

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, at: int) -> Entry:
        return self.entries[at]


class Answer(Value):
    """The results of a search, best first, and remarks for the user; iterate over it."""

    query: str
    results: list[SearchResult]
    freshness: Freshness
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, at: int) -> SearchResult:
        return self.results[at]


class Place(Value):
    """Where an entry can be opened: its address in Obsidian, its file and line for an editor."""

    id: str
    url: str
    path: str
    line: int
    file: str


class Graph(Value):
    """Memories, their tags and notes as nodes, what connects them as edges, and clusters."""

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
    """A context for an agent: `text` is for the prompt, the fields explain it."""

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
        """Ids of the memories in it that were found for the question."""
        found = {entry.id for entry in self.recalled.memories if entry.row.scope == "memory"}
        return [part.id for part in self.fitted.package.memories if part.id in found]

    @property
    def refs(self) -> list[str]:
        """Ids of the memories in it."""
        package = self.fitted.package
        shown = (*package.warnings, *package.memories, *package.pinned)
        return list(dict.fromkeys(part.id for part in shown))

    @property
    def shown(self) -> list[str]:
        """Ids of everything in it: entries, passages and turns; paths of notes that are named."""
        parts = (part for _, parts in self.fitted.package.sections for part in parts)
        return list(dict.fromkeys(id for part in parts for id in part.ids))


# -- changes -------------------------------------------------------------------------------------


class Mention(Value):
    """Another memory, by its id and text."""

    id: str
    text: str


class Changed(Entry):
    """An entry after an operation, and what happened to it.

    `outcome` is what was done, or `unchanged`. `state` is `written`, `pending` while a person types
    in the note, or `unchanged`. `event` is the id for `undo`, None if nothing was done. `redacted`
    are the rules that found secrets; these were left out.
    """

    outcome: str
    state: str
    event: str | None
    redacted: list[str]

    def _outcome(self) -> str:
        return f"{self.outcome}, "


class Updated(Changed):
    """A reworded memory; other memories that say nearly the same, or the opposite."""

    near: list[Mention]
    conflicts: list[Mention]


class Remembered(Updated):
    """A stored memory: `added`, `duplicate` (it exists already) or `conflict` (stored, and linked
    to what it contradicts). `unmade` are linked notes that do not exist yet; `superseded_by` are
    memories that still replace a duplicate."""

    superseded_by: list[Mention] | None = None
    unmade: list[str]


class Forgotten(Changed):
    """A deleted memory. `linked_from` still links to it; `left` is where a purged text may be."""

    linked_from: list[str]
    left: list[str] | None = None


class Feedback(Changed):
    """A memory that was reinforced or demoted; `delta` was added to its score."""

    delta: float


class Undone(Changed):
    """An undone change: its event, and its record type."""

    of: str
    undid: str


class Conflict(Value):
    """Two memories that contradict each other. `type` is `contradictory`, `ambiguous` (they give
    two names to what may be one thing) or `superseded` (one replaces the other)."""

    event: str
    type: str
    at: str
    by: str
    entries: list[Entry]
    resolved: str | None = None


class Resolved(Changed):
    """The memory that holds, and the conflicts that ended."""

    resolved: list[Conflict]


# -- the journal ---------------------------------------------------------------------------------


class ChangeRecord(Value):
    """A record of the journal: what was done to which memory, when, by whom, on which device."""

    event: str
    at: str
    by: str
    op: str
    id: str
    path: str | None
    device: str | None
    data: dict[str, Any]


class Reverted(Value):
    """Changes of an agent that were undone, and those that were kept, each with `why_not`."""

    agent: str
    since: str
    undone: list[Undone]
    kept: list[ChangeRecord]


class PendingWrite(Value):
    """An acknowledged change that is not in its note yet (`state` is `pending`, or `dropped` if it
    was given up), or an entry that a person `removed`. `why` says why it is pending."""

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
    """A question that had no answer; `open` if it still has none. `session` is where it was asked
    last; `snippet` is the beginning of what was worked on then, else of the question."""

    id: str
    query: str
    agent: str | None
    count: int
    last: str
    session: str | None
    snippet: str
    open: bool


class TagSuggestion(Value):
    """Memories that answered one question and share no tag, and a tag for them."""

    tag: str
    ids: list[str]
    query: str


class Gaps(Value):
    """Questions that had no answer, and tags that would connect what was useful together."""

    gaps: list[Gap]
    tags: list[TagSuggestion]

    def __iter__(self) -> Iterator[Gap]:
        return iter(self.gaps)

    def __len__(self) -> int:
        return len(self.gaps)

    def __getitem__(self, at: int) -> Gap:
        return self.gaps[at]


# -- settings and state --------------------------------------------------------------------------


class Agent(Value):
    """An agent. `type` is the lower of what its AGENT.md `claims` and the highest type it may have
    on this machine: the one that is `registered`, or the usual one if that is None."""

    name: str
    type: str
    claims: str
    registered: str | None
    path: str


class Session(Value):
    """A conversation. `state` is open, ended or archived; `parent` is the session it was forked
    from, or the one that started it."""

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
    """A session with its last messages, as they are in the transcript."""

    session: Session
    messages: list[dict[str, Any]]


class SessionLine(Value):
    """A message of a session that was `appended`, or was there `already`; `messages` is how many
    the session has now."""

    session: str
    id: str
    role: str
    path: str
    outcome: str
    messages: int


class FoundTranscripts(Value):
    """The transcripts of a client on this machine, and their size in bytes."""

    client: str
    sessions: int
    bytes: int


class ImportedSession(Value):
    """A session, and how many messages and bytes an import added to it."""

    session: str
    agent: str
    client: str
    path: str
    messages: int
    bytes: int


class Imported(Value):
    """The result of an import. `state` is `imported`, or `asks` if nothing was written because
    `bytes` is so much that a person has to agree. `deleted` counts the sessions that were left out
    because they were deleted from the vault. `problems` are others that were left out."""

    state: str
    found: list[FoundTranscripts]
    sessions: list[ImportedSession]
    messages: int
    bytes: int
    deleted: int
    problems: list[str]


class SettingChange(Value):
    """A setting of brain.yaml that was `set` or is `unchanged`."""

    setting: str
    value: Any
    outcome: str
    state: str
    event: str | None


class AliasChange(SettingChange):
    """A word, and the words that mean the same now."""

    word: str
    stands_for: list[str]


class Aliases(Value):
    """The aliases in brain.yaml, and all that a search uses."""

    own: list[str]
    aliases: dict[str, list[str]]


class Budget(Value):
    """The token limit of a context, and what some contexts get, part by part."""

    ceiling: int
    allocations: list[dict[str, int]]
    change: SettingChange | None = None


class Status(Value):
    """The state of a vault: its index, how fresh that is, the last recall, the watching process.
    `healthy` is by a quick check; `doctor` reads the whole index. `paused` is what turns writing
    off (`pause` for `brain pause`, `--read-only`, or a setting), or ''. `counters` are of the whole
    vault, and None for an actor who may not read all of it."""

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
    """Something wrong with a file. `line` is 0 if it is about the whole file."""

    path: str
    line: int
    code: str
    message: str


class Diagnosis(Value):
    """The problems of a vault. `healthy` is False if the index was damaged and has been rebuilt.
    `paused` is what turns writing off, or ''."""

    healthy: bool
    paused: str
    problems: list[FileProblem]
    freshness: Freshness
