"""The parts of a context, before and after it is fitted into a budget."""

from __future__ import annotations

from brain._tuples import NamedTuple

LEFT_OUT = "…"  # in place of a step that there was no room for
# In the order of a prompt: the answers come directly after the warnings.
SECTIONS = ("warnings", "memories", "notes", "further", "pinned", "bridge", "summaries")


class Passage(NamedTuple):
    """A passage of a note, or a turn of a session."""

    id: str
    line: int
    text: str
    by: str = ""  # the speaker of a turn
    place: int = 0  # in the ranking


class Part(NamedTuple):
    """An entry as a prompt shows it, or a note with its best passages."""

    id: str
    kind: str
    status: str
    text: str
    path: str
    line: int
    title: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    by: str = ""  # who said it
    source: str = ""  # how it is known: user_stated, inferred, …
    session: str = ""
    confidence: float | None = None
    conflicts: tuple[str, ...] = ()  # ids of entries that say the opposite
    prerequisites: str = ""  # of a procedure
    cautions: str = ""  # of a procedure: its warnings
    steps: tuple[str, ...] = ()
    trigger: str = ""  # the words of the question that added the part
    tier: str = "project"  # task, project or global
    passages: tuple[Passage, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all entries in the part, and the path of a note."""
        if not self.passages:
            return (self.id or self.path,)
        path = (self.path,) if self.kind == "note" else ()
        return (*(passage.id for passage in self.passages), *path)


class Conflict(NamedTuple):
    """Two entries that contradict each other, and their texts."""

    one: str
    other: str
    one_text: str
    other_text: str


class Package(NamedTuple):
    """The parts of a context, by section."""

    query: str
    warnings: tuple[Part, ...] = ()  # negative memories whose trigger occurs in the question
    pinned: tuple[Part, ...] = ()
    bridge: tuple[Part, ...] = ()  # the task's working memory
    memories: tuple[Part, ...] = ()
    notes: tuple[Part, ...] = ()  # with their best passages, and sessions with their best turns
    further: tuple[Part, ...] = ()  # notes that are only named
    summaries: tuple[Part, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    degraded: str = ""  # the reason why fewer matches were used than usual; '' if they were not
    round: str = ""  # the line about the round and the entries that were left out
    shown: frozenset[str] = frozenset()  # paths of notes that are not named again

    @property
    def sections(self) -> tuple[tuple[str, tuple[Part, ...]], ...]:
        """(name, parts) of each section, in the order in which a prompt shows them."""
        return tuple((name, getattr(self, name)) for name in SECTIONS)


def with_conflicts(package: Package, conflicts: tuple[Conflict, ...]) -> Package:
    """Return a package with only the conflicts of its parts."""
    shown = {part.id for _, parts in package.sections for part in parts}
    return package._replace(
        conflicts=tuple(pair for pair in conflicts if pair.one in shown or pair.other in shown)
    )
