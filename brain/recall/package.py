"""What an agent is given before it thinks, as values: pieces, conflicts, the package of them."""

from __future__ import annotations

from brain._tuples import NamedTuple

LEFT_OUT = "…"  # in place of each step that there was no room for
SECTIONS = ("warnings", "pinned", "bridge", "memories", "summaries")


class Piece(NamedTuple):
    """One entry as a prompt shows it."""

    id: str
    kind: str
    status: str
    text: str
    path: str
    line: int
    tags: tuple[str, ...] = ()
    created: str = ""
    agent: str = ""
    by: str = ""  # who said it
    source: str = ""  # how it is known: user_stated, inferred, …
    session: str = ""
    confidence: float | None = None
    score: float = 0.0
    conflicts: tuple[str, ...] = ()  # ids of entries that say the opposite
    steps: tuple[str, ...] = ()  # of a procedure
    trigger: str = ""  # of a warning: what in the question set it off
    tier: str = "project"  # whose it is: task, project, global


class Conflict(NamedTuple):
    """Two entries that say the opposite, and what each says."""

    one: str
    other: str
    one_text: str
    other_text: str


class Package(NamedTuple):
    """What an agent is given: warnings first, then by how much each part must not be missing."""

    query: str
    warnings: tuple[Piece, ...] = ()  # negative memories whose trigger occurs in the question
    pinned: tuple[Piece, ...] = ()
    bridge: tuple[Piece, ...] = ()  # the task's working memory
    memories: tuple[Piece, ...] = ()
    summaries: tuple[Piece, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    degraded: str = ""  # why less was looked at than usual, '' if it was not


def sections(package: Package) -> tuple[tuple[str, tuple[Piece, ...]], ...]:
    """(name, pieces) of each section, in the order in which a prompt shows them."""
    return tuple((name, getattr(package, name)) for name in SECTIONS)


def with_conflicts(package: Package, among: tuple[Conflict, ...]) -> Package:
    """`package` with those conflicts that one of its pieces is a side of."""
    shown = {piece.id for _, pieces in sections(package) for piece in pieces}
    return package._replace(
        conflicts=tuple(pair for pair in among if pair.one in shown or pair.other in shown)
    )
