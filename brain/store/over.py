"""Over what a change is written: over what its actor saw, and over nothing else.

Other words for an entry, or its removal, may wait while a person types. If the entry is another
one by then, the change is not carried out by itself. What Brain itself makes of the entry meanwhile
is no other one: what is done to an entry is a chain, each change over what the last one leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from brain.changes import Change, Deed, Done, Remove, Update
from brain.errors import BrainError, StaleFile
from brain.formats.text import digest
from brain.intents import Open
from brain.store import place

if TYPE_CHECKING:
    from brain.store.door import Plan, Store

WHY = "somebody has changed {ref} since; see `brain show {ref}`"
Todo = Sequence[tuple[Open, Deed]]


def expecting(store: Store, deeds: Sequence[Deed], plan: Plan) -> list[Deed]:
    """The deeds, each to be done only over what the plan found. What waits may be dropped, so an
    entry may also be what that was to replace."""
    if not any(deed.change and _expects(deed.change) for deed in deeds):
        return list(deeds)
    done = {path: list(edited.done) for path, (_, edited) in plan.items()}
    out = []
    for deed in reversed(deeds):  # what waits was planned before them
        was = done[deed.change.path].pop() if deed.change else None
        if was and isinstance(deed.change, Update | Remove):
            seen = dict.fromkeys([_stamp(was.before), *_waiting(store, deed.change)])
            deed = deed._replace(change=deed.change._replace(over=tuple(seen)))
        out.append(deed)
    return out[::-1]


def _waiting(store: Store, change: Update | Remove) -> list[str]:
    """Over what the changes of the same entry are to be written that wait."""
    waiting = [d.change for entry in store.waiting(change.path) for d in entry.intent.deeds]
    same = [c for c in waiting if isinstance(c, Update | Remove) and c.ref == change.ref]
    return [seen for other in same for seen in other.over]


def changes(store: Store, path: str, todo: Todo) -> list[Change]:
    """What is to be done to a file. After a crash, or where an editor wiped some of it, an entry
    may also be what our own changes made of what was seen."""
    ours: dict[str, list[Done]] | None = None
    out: list[Change] = []
    for entry, deed in todo:
        change = deed.change
        if isinstance(change, Update | Remove) and change.over:
            ours = _ours(store, path) if ours is None else ours
            seen = entry.over.get(deed.id, change.over)
            change = change._replace(over=_made_of(seen, ours.get(change.ref, [])))
        if change:
            out.append(change)
    return out


def _ours(store: Store, path: str) -> dict[str, list[Done]]:
    """What we did to the entries of a file, in order; one of those that were done together knows
    of all."""
    entries = [entry for entry in store.open() if entry.intent.path == path]
    did = {id: told for entry in entries for id, told in entry.did.items()}
    found: dict[str, list[Done]] = {}
    for deed in [deed for entry in entries for deed in entry.intent.deeds]:
        if deed.change and deed.id in did:
            found.setdefault(deed.ref, []).append(Done(deed.change, *did[deed.id]))
    return found


def _made_of(seen: Sequence[str], ours: Sequence[Done]) -> tuple[str, ...]:
    out = list(seen)
    for was in ours:
        if was.after and _stamp(was.before) in out:
            out.append(_stamp(was.after))
    return tuple(out)


def as_it_is(store: Store, entry: Open) -> dict[str, list[str]]:
    """Over what deeds are to be written that somebody wants done to their entries as they are."""
    path, deeds = entry.intent.path, [deed for deed in entry.intent.deeds if deed.change]
    edits = [
        edit._replace(over=()) if isinstance(edit, Update | Remove) else edit
        for edit in entry.intent.edits
    ]
    with suppress(BrainError):  # then it stays blocked
        data = place.look(store.vault, path, store.config.maxFileSize).data
        done = place.edited(store.vault, path, data, edits).done
        return {deed.id: [_stamp(was.before)] for deed, was in zip(deeds, done, strict=True)}
    return {}


def changed(done: Sequence[Done]) -> str:
    """An entry that is another one than a change was to be written over; '' if there is none."""
    found = (one.change.ref for one in done if one.outcome == "changed" and _expects(one.change))
    return next(found, "")


def refuse(done: Sequence[Done]) -> None:
    """StaleFile if there is such an entry."""
    if ref := changed(done):
        raise StaleFile(f"{ref} was changed since.", f"Look at it with `brain show {ref}`.")


def _expects(change: Change) -> bool:
    return isinstance(change, Update | Remove)


def _stamp(raw: str) -> str:
    return digest(raw.encode()).hex()
