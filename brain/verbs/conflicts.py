"""Memories that are at odds: which ones are, and how that ends."""

from __future__ import annotations

import re

from brain import access, wire
from brain.changes import Deed, Relate
from brain.errors import BadRequest, NotFound
from brain.index import links, query, records
from brain.operations import lookup
from brain.record import NamedTuple
from brain.verbs import answer
from brain.verbs.changing import anchored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.index.query import Row
    from brain.index.records import Conflict
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape


EVENT = re.compile(r"e-[0-9a-z]{8,}")


class Pair(NamedTuple):
    """A conflict whose two memories are both there."""

    conflict: Conflict
    one: Row
    other: Row


def conflicts(vault: OpenVault, by: Actor) -> list[Shape]:
    """The conflicts that are open, oldest first."""
    vault.refresh()
    return [_shape(pair) for pair in _open(vault, by)]


def _shape(pair: Pair) -> Shape:
    conflict = pair.conflict
    return {
        "event": conflict.event,
        "type": conflict.type,
        "at": conflict.at,
        "by": conflict.by,
        "entries": [wire.entry(pair.one), wire.entry(pair.other)],
    }


def _open(vault: OpenVault, by: Actor) -> list[Pair]:
    """Those that nobody resolved and whose both sides still stand: none is gone or superseded."""
    found = []
    for conflict in records.conflicts(vault.index):
        one, other = _row(vault, conflict.ref, by), _row(vault, conflict.other, by)
        if one and other:
            found.append(Pair(conflict, one, other))
    refs = {row.ref for pair in found for row in (pair.one, pair.other)}
    gone = links.successors(vault.index, refs, access.readable(by)) if refs else {}
    return [pair for pair in found if not gone.keys() & {pair.one.ref, pair.other.ref}]


def _row(vault: OpenVault, ref: str, by: Actor) -> Row | None:
    """The memory with this id, or with one that it had before; None if it is gone."""
    owners = access.readable(by)
    for same in sorted(lookup.same_ids(vault, ref), key=lambda each: each != ref):
        for row in query.by_ref(vault.index, same):
            if row.ref == same and (owners is None or row.agent in owners):
                return row
    return None


def resolve(vault: OpenVault, id: str, keep: str, by: Actor) -> Shape:
    """End the conflicts of a memory, or the one with this event. What is to be kept supersedes the
    other: that stays readable and is no longer recalled."""
    vault.refresh()
    pairs = [pair for pair in _open(vault, by) if pair.conflict.event == id]
    if not pairs and EVENT.fullmatch(id):
        raise NotFound(f"There is no open conflict {id!r}.", "See `brain conflicts`.")
    if not pairs:
        row = lookup.memory(vault, id, by)
        pairs = [pair for pair in _open(vault, by) if row.ref in (pair.one.ref, pair.other.ref)]
        if not pairs:
            raise NotFound(f"{row.ref} is in no open conflict.", "See `brain conflicts`.")
    kept = lookup.memory(vault, keep, by) if keep else None
    deeds = [deed for pair in pairs for deed in _ended(vault, pair, kept, by)]
    main = next(at for at, deed in enumerate(deeds) if deed.op == "resolve")
    results = answer.applied(vault, deeds, by, main)
    shape = answer.of_row(kept or pairs[0].one)
    for result in results:
        if result.done and result.done.outcome == "done":
            change = result.done.change
            now = answer.entry(vault, change.path, result.done)
            answer.tell(vault, change.path, result.done.before, now)
            if (change.path, change.ref) == (shape["path"], shape["id"]):
                shape = now | {"created": shape["created"]}
    return answer.happened(shape, "resolved", results[0]) | {"resolved": [_shape(p) for p in pairs]}


def _ended(vault: OpenVault, pair: Pair, kept: Row | None, by: Actor) -> list[Deed]:
    """The links of a conflict go, and its end is put on record."""
    deeds: list[Deed] = []
    for row, other in ((pair.one, pair.other), (pair.other, pair.one)):
        for link in query.links_of(vault.index, row.id):
            if link.kind == "contradicts" and link.fragment == f"^{other.ref}":
                value = f"[[{link.target}#{link.fragment}]]"
                change = Relate(row.path, row.ref, "contradicts", value, gone=True)
                deeds.append(Deed("unlink", row.ref, change))
    if kept:
        if kept.ref not in (pair.one.ref, pair.other.ref):
            raise BadRequest(
                f"{kept.ref} is not part of the conflict.",
                f"Keep {pair.one.ref} or {pair.other.ref}.",
            )
        old = pair.other if kept.ref == pair.one.ref else pair.one
        target = lookup.link_to(old, kept.path)
        deeds += anchored(old, by)
        deeds.append(Deed("link", kept.ref, Relate(kept.path, kept.ref, "supersedes", target)))
    data = {"other": pair.other.ref, "agent": pair.one.agent, "keep": kept.ref if kept else ""}
    return [*deeds, Deed("resolve", pair.one.ref, None, data)]
