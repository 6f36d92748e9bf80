"""List the conflicts between memories, and resolve them."""

from __future__ import annotations

import re

from brain import access, actors
from brain._tuples import NamedTuple
from brain.errors import BadRequest, NotFound
from brain.index import read, records, relations
from brain.model import Relate, Write
from brain.operations import apply, lookup
from brain.operations.results import Conflict, Resolved, entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.index.read import Row
    from brain.index.records import Conflict as OpenConflict
    from brain.open_vault import OpenVault


EVENT = re.compile(r"e-[0-9a-z]{8,}")


class Pair(NamedTuple):
    """A conflict whose two memories both exist."""

    conflict: OpenConflict
    one: Row
    other: Row


def conflicts(
    vault: OpenVault, *, all: bool = False, agent: str = "", by: Actor | str = ""
) -> list[Conflict]:
    """Return the open conflicts, oldest first. With `agent`, return only conflicts of memories
    of this agent. With `all`, also return conflicts that were resolved, or that ended because one
    memory supersedes the other."""
    vault.refresh()
    actor = actors.resolve(vault, by)
    pairs = _pairs(vault, actor) if all else _open_pairs(vault, actor)
    if agent:
        (name,) = lookup.visible(vault, actor, agent) or ("",)
        pairs = [pair for pair in pairs if name in (pair.one.agent, pair.other.agent)]
    return [_conflict(pair) for pair in pairs]


def _conflict(pair: Pair) -> Conflict:
    found = pair.conflict
    both = [entry(pair.one), entry(pair.other)]
    return Conflict(
        event=found.event, type=found.type, at=found.at, by=found.by, entries=both,
        resolved=found.resolved or None,
    )  # fmt: skip


def _open_pairs(vault: OpenVault, by: Actor) -> list[Pair]:
    """Return the unresolved conflicts between memories that exist and are not superseded."""
    found = [pair for pair in _pairs(vault, by) if not pair.conflict.resolved]
    refs = {row.ref for pair in found for row in (pair.one, pair.other)}
    superseded = relations.successors(vault.index, refs, access.readable(by)) if refs else {}
    return [pair for pair in found if not superseded.keys() & {pair.one.ref, pair.other.ref}]


def _pairs(vault: OpenVault, by: Actor) -> list[Pair]:
    """Return all conflicts between memories that exist. If one memory supersedes the other, the
    type of the conflict is `superseded`."""
    found = []
    for conflict in records.conflicts(vault.index, open_only=False):
        one, other = _row(vault, conflict.ref, by), _row(vault, conflict.other, by)
        if one and other:
            found.append(Pair(conflict, one, other))
    rows = relations.supersessions(vault.index, access.readable(by)) if found else []
    supersessions = {frozenset(ids) for *ids, _ in rows}
    return [
        pair._replace(conflict=pair.conflict._replace(type="superseded"))
        if {pair.one.ref, pair.other.ref} in supersessions
        else pair
        for pair in found
    ]


def _row(vault: OpenVault, ref: str, by: Actor) -> Row | None:
    """Return the memory with this current or former id; None if it was deleted."""
    owners = access.readable(by)
    for id in sorted(read.all_ids(vault.index, ref), key=lambda each: each != ref):
        for row in read.exact(vault.index, id):
            if owners is None or row.agent in owners:
                return row
    return None


def resolve(
    vault: OpenVault,
    id: str,
    keep: str = "",
    *,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Resolved:
    """End the conflicts of a memory, or the conflict with this event. The memory `keep` then
    supersedes the other memory, which can still be read, but is no longer recalled."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        pairs = [pair for pair in _open_pairs(vault, actor) if pair.conflict.event == id]
        if not pairs and EVENT.fullmatch(id):
            raise NotFound(f"There is no open conflict {id!r}.", "See `brain conflicts`.")
        if not pairs:
            row = lookup.memory(vault, id, actor, agent)
            pairs = [p for p in _open_pairs(vault, actor) if row.ref in (p.one.ref, p.other.ref)]
            if not pairs:
                raise NotFound(f"{row.ref} is in no open conflict.", "See `brain conflicts`.")
        kept = lookup.memory(vault, keep, actor) if keep else None
        writes = [write for pair in pairs for write in _end_writes(vault, pair, kept, actor)]
        main = next(index for index, write in enumerate(writes) if write.op == "resolve")
        results = apply.apply(vault, writes, actor, main)
        valid = apply.current(vault, kept or pairs[0].one)
        ended_conflicts = [_conflict(pair) for pair in pairs]
        return apply.changed(valid, "resolved", results[0], cls=Resolved, resolved=ended_conflicts)


def _end_writes(vault: OpenVault, pair: Pair, kept: Row | None, by: Actor) -> list[Write]:
    """Return the writes that remove the links of a conflict and record its end."""
    writes: list[Write] = []
    for row, other in ((pair.one, pair.other), (pair.other, pair.one)):
        for link in read.links_of(vault.index, row.id):
            if link.kind == "contradicts" and link.fragment == f"^{other.ref}":
                value = f"[[{link.target}#{link.fragment}]]"
                change = Relate(row.path, row.ref, "contradicts", value, gone=True)
                writes.append(Write("unlink", row.ref, change))
    if kept:
        if kept.ref not in (pair.one.ref, pair.other.ref):
            raise BadRequest(
                f"{kept.ref} is not part of the conflict.",
                f"Keep {pair.one.ref} or {pair.other.ref}.",
            )
        old = pair.other if kept.ref == pair.one.ref else pair.one
        target = lookup.link_to(old, kept.path)
        writes += apply.anchor(old, by)
        writes.append(Write("link", kept.ref, Relate(kept.path, kept.ref, "supersedes", target)))
    data = {"other": pair.other.ref, "agent": pair.one.agent, "keep": kept.ref if kept else ""}
    return [*writes, Write("resolve", pair.one.ref, None, data)]
