"""Which entry is meant, for whom: by id in any spelling, by place, or by words that only it has."""

from __future__ import annotations

from unicodedata import normalize

from brain import access
from brain.errors import BadRequest, NotFound
from brain.index import facts, graph, query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.api import Brain
    from brain.api.asking import Asking
    from brain.index.query import Row

EDITABLE = ("memory", "archive")


def memory(brain: Brain, name: str, by: Actor) -> Row:
    """The memory that an actor means by a name, as the files have it now."""
    brain.refresh()
    row = brain.find(name, owners=access.readable(by))
    if row.scope not in EDITABLE or row.kind == "note":
        raise BadRequest(
            f"{row.ref} is no memory; it is in {row.path}, line {row.line}.",
            "Only entries of a MEMORY.md or of the archive can be changed so.",
        )
    return row


def is_id(brain: Brain, name: str) -> bool:
    """Is this the whole id of an entry?"""
    ref = _bare(name)
    return any(row.ref == ref for row in query.by_ref(brain.index, ref))


def note(brain: Brain, name: str, by: Actor) -> str:
    """How a link reaches the note with this path, name or title; '' if the actor may read none.
    Where several have the name, and where a path was given, that is a whole path."""
    wanted = _folded(name.removeprefix(f"{brain.vault.root_path}/").removesuffix(".md"))
    notes = [
        (path.removesuffix(".md"), title)
        for path, title in graph.notes(brain.index, access.readable(by))
    ]
    found = [path for path, _ in notes if f"/{_folded(path)}".endswith(f"/{wanted}")]
    found = found or [path for path, title in notes if _folded(title) == wanted]
    if not wanted or not found:
        return ""
    first = next((path for path in found if _folded(path) == wanted), found[0])
    short = first.rpartition("/")[2]
    alike = [path for path, _ in notes if _folded(path.rpartition("/")[2]) == _folded(short)]
    return first if "/" in wanted or len(alike) > 1 else short


def _folded(name: str) -> str:
    return normalize("NFC", name.strip()).casefold()


def target(row: Row, path: str) -> str:
    """How an entry is linked to from a note: `[[#^id]]` inside it, its whole path elsewhere."""
    place = "" if row.path == path else row.path.removesuffix(".md")
    return f"[[{place}#^{row.ref}]]"


def is_anchored(row: Row) -> bool:
    """Does its id stand in the file?"""
    return '"anchored"' in (row.extra or "")


def linking(brain: Brain, ref: str) -> list[Row]:
    """The entries that link to an entry by its id."""
    return graph.linking(brain.index, ref)


def same(brain: Asking, ref: str) -> set[str]:
    """All ids that the entry with this one has, or had before it was edited."""
    return facts.same(brain.index, ref)


def refs(brain: Brain, name: str, by: Actor) -> set[str]:
    """All ids of the entry that is meant; also of one that is gone, if its whole id is given."""
    try:
        return same(brain, brain.find(name, owners=access.readable(by)).ref)
    except NotFound:
        found = same(brain, _bare(name))
        if not any(True for _ in brain.journal.records(ref=found)):
            raise
        return found


def _bare(name: str) -> str:
    """An id without what may stand around it."""
    return name.strip().removeprefix("[id:").removesuffix("]").lstrip("^")
