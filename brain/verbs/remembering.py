"""`remember`: a new memory goes into an agent's note, unless it is there already."""

from __future__ import annotations

from datetime import date as days

from brain import kinds
from brain.changes import Add, Deed
from brain.errors import BadRequest
from brain.formats.links import TAG
from brain.journal.line import letters
from brain.record import NamedTuple
from brain.verbs import answer, naming, notes, who

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.access import Actor
    from brain.api import Brain
    from brain.verbs.answer import Shape

SOURCES = ("user_stated", "user_corrected", "extracted", "observed", "migration", "inferred")


class Wanted(NamedTuple):
    """What is to be remembered, as it was said."""

    text: str
    kind: str = ""
    tags: tuple[str, ...] = ()
    section: str = ""
    links: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    source: str = ""
    confidence: float | None = None
    importance: float | None = None
    why: str = ""
    date: str | bool | None = None


def remember(brain: Brain, wanted: Wanted, agent: str, by: Actor) -> Shape:
    """Put a memory at the end of its section; what is there already is not written again."""
    _check(wanted)
    path = who.note(brain, agent)
    note = notes.known(brain, path)
    kind, tags, section = _place(wanted, note)
    rules = answer.secrets(brain, wanted.text)
    ref = _free(note)
    links = tuple(_link(brain, link, path, by) for link in wanted.links)
    fields = _fields(brain, wanted, path, by)
    change = Add(path, ref, _dated(brain, wanted), section, tags, links, fields)
    result = brain.store.apply([Deed("add", ref, change, _given(wanted, kind))], by)[0]
    shape = answer.added(brain, change, kind, result.done)
    notes.wrote(brain, path, note, result, shape)
    if result.done:
        answer.tell(brain, path, "", shape)
    return answer.happened(shape, "added", result, rules)


def _check(wanted: Wanted) -> None:
    if not wanted.text.strip():
        raise BadRequest("There is nothing to remember.", "Say it in at least one word.")
    if wanted.kind and wanted.kind.casefold().replace("-", "_") not in kinds.KINDS:
        raise BadRequest(f"There is no kind {wanted.kind!r}.", f"Kinds: {', '.join(kinds.KINDS)}.")
    if wanted.source and wanted.source not in SOURCES:
        raise BadRequest(f"There is no source {wanted.source!r}.", f"One of: {', '.join(SOURCES)}.")
    for name in ("confidence", "importance"):
        value = getattr(wanted, name)
        if value is not None and not 0 <= value <= 1:
            raise BadRequest(f"{name} must be from 0 to 1, not {value}.", "0.8 is a good one.")


def _place(wanted: Wanted, note: notes.Note) -> tuple[str, tuple[str, ...], str]:
    """The kind of a memory, its tags, and the section it goes to.

    A kind that its section would not tell is said by a tag.
    """
    said = kinds.of_tags([*wanted.tags, *TAG.findall(wanted.text)])
    kind = wanted.kind.casefold().replace("-", "_") or said
    section = wanted.section
    if not section:
        kind = kind or kinds.DEFAULT_KIND
        section = note.section(kind)
    told = kinds.of_headings(note.path(section))
    kind = kind or told or kinds.DEFAULT_KIND
    tags = tuple(tag.lstrip("#") for tag in wanted.tags)
    if kind != (said or told or kinds.DEFAULT_KIND):
        tags = (*tags, kind)
    return kind, tags, section


def _dated(brain: Brain, wanted: Wanted) -> str:
    """The words with the day before them, unless they begin with one or none is wanted."""
    text, date = wanted.text.strip(), wanted.date
    if date is False or (date is None and not brain.config.datePrefix):
        return text
    if notes.DATE.match(text):
        return text
    day = brain.clock().astimezone().date().isoformat() if date in (None, True) else str(date)
    try:
        days.fromisoformat(day)
    except ValueError:
        raise BadRequest(f"{day!r} is no date.", "Write it as 2026-02-01.") from None
    return f"{day}: {text}"


def _link(brain: Brain, link: str, path: str, by: Actor) -> str:
    """A link as it stands in the note: to another memory by its id, or to a note by its name."""
    link = link.strip()
    if link.startswith("[["):
        return link
    if not link.lstrip("^").startswith("m-"):
        return f"[[{link}]]"
    return naming.target(brain, naming.memory(brain, link, by), path)


def _fields(brain: Brain, wanted: Wanted, path: str, by: Actor) -> tuple[tuple[str, str], ...]:
    older = [naming.memory(brain, id, by) for id in wanted.supersedes]
    return (*wanted.fields, *(("supersedes", naming.target(brain, row, path)) for row in older))


def _given(wanted: Wanted, kind: str) -> dict[str, Any]:
    """What the journal keeps of a new memory beside its line."""
    values = {
        "kind": kind,
        "source": wanted.source,
        "confidence": wanted.confidence,
        "importance": wanted.importance,
        "why": wanted.why,
    }
    return {key: value for key, value in values.items() if value not in ("", None)}


def _free(note: notes.Note) -> str:
    """A new id, which nothing in the note has."""
    while True:
        ref = f"m-{letters(8)}"
        if ref.encode() not in note.data:
            return ref
