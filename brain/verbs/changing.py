"""Changes of a memory that is there: its words, tags, links, place, and whether it stays."""

from __future__ import annotations

from contextlib import suppress

from brain import access
from brain.changes import Anchor, Change, Deed, Move, Relate, Remove, Retag, Update
from brain.errors import BadRequest, NotFound
from brain.formats.links import RELATIONS
from brain.operations import lookup
from brain.verbs import answer, notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brain.access import Actor
    from brain.index.query import Row
    from brain.open_vault import OpenVault
    from brain.store import Outcome
    from brain.verbs.answer import Shape


def update(
    vault: OpenVault,
    id: str,
    text: str,
    tags: Sequence[str],
    given: dict[str, Any],
    by: Actor,
) -> Shape:
    """Other words for a memory. Its date, links, tags, fields and id stay unless the words hold
    others."""
    if not text.strip():
        raise BadRequest("There are no words.", "To take a memory away, forget it.")
    row = lookup.memory(vault, id, by)
    note = notes.known(vault, row.path)
    against = _against(note, row, text)
    near = [ref for ref in note.near(text) if ref not in (row.ref, *against)]
    first, then = _contradicting(vault, row, against, by)
    deeds = [*first, Deed("update", row.ref, Update(row.path, row.ref, text), given), *then]
    if tags:
        deeds.append(Deed("tag", row.ref, Retag(row.path, row.ref, tuple(tags))))
    rules = answer.redacted(vault, text)[1]
    shape = _changed(vault, row, deeds, by, "updated", rules, main=len(first))
    return shape | {"near": note.named(near), "conflicts": note.named(against)}


def _against(note: notes.Note, row: Row, text: str) -> list[str]:
    """The memories of its note that these words contradict, and those before did not."""
    before = note.stances.against(note.texts.get(row.ref, ""), row.kind, notes.about(row.text))
    now = note.stances.against(text, row.kind, notes.about(text))
    return [ref for ref in now if ref != row.ref and ref not in before]


def _contradicting(
    vault: OpenVault, row: Row, against: Sequence[str], by: Actor
) -> tuple[list[Deed], list[Deed]]:
    """What links a memory to those that it contradicts: their ids first, then its own line."""
    first: list[Deed] = []
    then: list[Deed] = []
    for other in (lookup.memory(vault, ref, by) for ref in against):
        first += anchored(other, by)
        field = Relate(row.path, row.ref, "contradicts", lookup.link_to(other, row.path))
        then += [Deed("link", row.ref, field), _conflict(row, other, gone=False)]
    return first, then


def forget(vault: OpenVault, id: str, why: str, by: Actor) -> Shape:
    """A memory goes, with the lines nested in it. `linked_from` says what still links to it."""
    row = lookup.memory(vault, id, by)
    left = answer.linked_from(vault, [row.ref], by)
    deed = Deed("remove", row.ref, Remove(row.path, row.ref), _because(why))
    result = answer.applied(vault, [deed], by)[0]
    shape = answer.of_row(row)
    if result.done:
        answer.gone(vault, row.path, shape)
    return answer.happened(shape, "forgotten", result) | {"linked_from": left}


def pin(vault: OpenVault, id: str, by: Actor) -> Shape:
    """A memory is always in the context from now on; a candidate is confirmed by that."""
    return _status(vault, id, by, "pin", "pinned", "pinned", "candidate")


def unpin(vault: OpenVault, id: str, by: Actor) -> Shape:
    return _status(vault, id, by, "unpin", "unpinned", "", "pinned")


def confirm(vault: OpenVault, id: str, by: Actor) -> Shape:
    """A candidate is one no longer."""
    return _status(vault, id, by, "confirm", "confirmed", "", "candidate")


def _status(
    vault: OpenVault, id: str, by: Actor, op: str, outcome: str, add: str, remove: str
) -> Shape:
    row = lookup.memory(vault, id, by)
    tags = row.tags.casefold().split()
    if (not add or add in tags) and remove not in tags:
        return answer.happened(answer.of_row(row), "unchanged")
    change = Retag(row.path, row.ref, (add,) if add else (), (remove,))
    return _changed(vault, row, [Deed(op, row.ref, change)], by, outcome)


def tag(vault: OpenVault, id: str, add: Sequence[str], remove: Sequence[str], by: Actor) -> Shape:
    """Tags come and go."""
    if not add and not remove:
        raise BadRequest("There are no tags.", "Name some to add, or to remove.")
    row = lookup.memory(vault, id, by)
    change = Retag(row.path, row.ref, tuple(add), tuple(remove))
    return _changed(vault, row, [Deed("tag", row.ref, change)], by, "tagged")


def move(vault: OpenVault, id: str, section: str, by: Actor) -> Shape:
    """A memory goes to another section of its note, which is made if it is not there."""
    if not section.strip():
        raise BadRequest("There is no section.", "Name a heading of the note, or a new one.")
    row = lookup.memory(vault, id, by)
    change = Move(row.path, row.ref, section)
    return _changed(vault, row, [Deed("move", row.ref, change)], by, "moved")


def link(vault: OpenVault, id: str, to: str, kind: str, by: Actor, gone: bool = False) -> Shape:
    """A memory gets, or loses, a typed link to another memory, or to a note."""
    if kind not in RELATIONS:
        raise BadRequest(f"There is no relation {kind!r}.", f"One of: {', '.join(RELATIONS)}.")
    row = lookup.memory(vault, id, by)
    value, other = _target(vault, row, to, by)
    if other and other.ref == row.ref:
        raise BadRequest("A memory cannot be linked to itself.", "Name another one.")
    change = Relate(row.path, row.ref, kind, value, gone)
    first = anchored(other, by) if other and not gone else []
    deeds = [*first, Deed("unlink" if gone else "link", row.ref, change)]
    if other and kind == "contradicts":
        deeds.append(_conflict(row, other, gone))
    return _changed(vault, row, deeds, by, "unlinked" if gone else "linked", main=len(first))


def _target(vault: OpenVault, row: Row, to: str, by: Actor) -> tuple[str, Row | None]:
    """What a link is to say, and the memory it leads to, if it does. An id goes before a note of
    that name, and that before a memory that says just this."""
    to = to.strip()
    if to.startswith("[[") and "^" not in to:
        return to, None
    if not lookup.is_id(vault, to) and (note := lookup.note_link(vault, to, by)):
        return f"[[{note}]]", None
    other = _other(vault, to, by)
    if other.scope in lookup.EDITABLE and other.kind != "note":
        return lookup.link_to(other, row.path), other
    if not other.path.endswith(".md"):
        raise BadRequest(f"{other.ref} is in {other.path}.", "Link to a memory or a note.")
    return f"[[{other.path.removesuffix('.md')}]]", None


def _other(vault: OpenVault, to: str, by: Actor) -> Row:
    """The entry that a link is to lead to. One that has these words here and there is not meant."""
    with suppress(NotFound):
        other = lookup.find(vault, to, owners=access.readable(by))
        name, text = (" ".join(words.casefold().split()) for words in (to, other.text))
        if " " not in name or name in text or other.path.rpartition("/")[2] in to:
            return other
    remedy = f"A note that is yet to be made is written [[{to}]]."
    raise NotFound(f"There is no note or memory {to!r}.", remedy)


def anchored(other: Row, by: Actor) -> list[Deed]:
    """The id of what is linked to must stand in its file, if one may write there."""
    if lookup.is_anchored(other) or not access.may(by, "write", other.agent):
        return []
    return [Deed("anchor", other.ref, Anchor(other.path, other.ref))]


def _conflict(row: Row, other: Row, gone: bool) -> Deed:
    data = {"other": other.ref, "agent": row.agent}
    if gone:
        return Deed("resolve", row.ref, None, data)
    return Deed("conflict", row.ref, None, data | {"type": "contradictory"})


def _changed(
    vault: OpenVault,
    row: Row,
    deeds: Sequence[Deed],
    by: Actor,
    outcome: str,
    rules: Sequence[str] = (),
    main: int = 0,
) -> Shape:
    """Carry out deeds of which one or more are about this memory, and tell."""
    if done := answer.idle(vault, deeds):
        shape = answer.entry(vault, row.path, done) | {"created": row.created}
        return answer.happened(shape, "unchanged", None, rules)
    results = answer.applied(vault, deeds, by, main)
    mine = [r for r in results if _is_about(r, row)]
    last = mine[-1]
    if last.done is None:
        return answer.happened(answer.awaited(vault, row), outcome, mine[0], rules)
    shape = answer.entry(vault, row.path, last.done) | {"created": row.created}
    if last.done.outcome == "done" or len(mine) > 1:
        answer.tell(vault, row.path, last.done.before, shape)
    else:
        outcome = "unchanged"
    return answer.happened(shape, outcome, mine[0], rules)


def _is_about(result: Outcome, row: Row) -> bool:
    change: Change | None = result.deed.change
    return change is not None and (change.path, change.ref) == (row.path, row.ref)


def _because(why: str) -> dict[str, Any]:
    return {"why": why} if why else {}


def weigh(vault: OpenVault, id: str, op: str, delta: float, why: str, by: Actor) -> Shape:
    """A memory's score goes up or down; its note stays as it is."""
    row = lookup.memory(vault, id, by)
    data = {"delta": delta, "agent": row.agent, **_because(why)}
    result = answer.applied(vault, [Deed(op, row.ref, None, data)], by)[0]
    return answer.happened(answer.of_row(row), f"{op}d", result) | {"delta": delta}
