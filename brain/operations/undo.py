"""Undo changes, entry by entry.

The journal keeps the text that a change replaced and a digest of the text that it left. If the
entry is no longer what the change left, it was changed again since. Then nothing is undone, neither
the change nor its parts, and the error shows the difference. `force` undoes it anyway.
"""

from __future__ import annotations

from contextlib import suppress
from difflib import unified_diff

from brain import access, actors
from brain._tuples import NamedTuple
from brain.access import PERSON
from brain.errors import BadRequest, BrainError, Busy, Denied, NotFound, StaleFile
from brain.formats import brain_yaml
from brain.formats.text import digest, to_bytes
from brain.index import read, records
from brain.index.records import RECORD_TYPES, Undo
from brain.journal.codec import change_from_json
from brain.model import Configure, Insert, Remove, Replace, Write
from brain.operations import apply, history, lookup, pending
from brain.operations.results import ChangeRecord, Entry, Reverted, Undone, entry
from brain.store.journaling import unspliced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.model import Record
    from brain.open_vault import OpenVault
    from brain.store.store import Pending

BY_STORE = ("removed", "reworded", "restored", "merged")  # `undo` needs the event of such a change


class Current(NamedTuple):
    """An entry or setting as it is in its file. `raw` is '' if the file does not have it."""

    ref: str
    raw: str


def undo(
    vault: OpenVault,
    event: str = "",
    *,
    force: bool = False,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Undone:
    """Undo one change: the change with this event, or the last change. If the actor is an agent,
    this is the agent's own last change. With `agent`, only changes of the memory of this agent are
    undone. If the entry was changed since, StaleFile is raised, with the difference. `force` undoes
    the change anyway."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        access.refuse_unseen(agent, access.readable(actor))
        owner = actors.agent_name(vault, agent) if agent else ""
        _refuse_pending(vault, event, actor, owner)
        record = _find(vault, event, actor) if event else _last(vault, actor, owner)
        return _undo(vault, record, force, actor, _undone_ids(vault))


def revert(
    vault: OpenVault,
    agent: str,
    since: str,
    *,
    force: bool = False,
    session: str = "",
    by: Actor | str = "",
) -> Reverted:
    """Undo all changes of an agent since a time, newest first. Report the changes that could not be
    undone."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        undone: list[Undone] = []
        kept: list[ChangeRecord] = []
        found = records.select(
            vault.index,
            by=_actor_name(vault, agent, actor),
            since=history.to_record_time(vault, since),
            newest_first=True,
        )
        undone_ids = _undone_ids(vault)
        changes = [r for r in _undoable(found, undone_ids) if history.may_see(vault, r, actor)]
        for record in changes:
            try:
                undone.append(_undo(vault, record, force, actor, undone_ids))
                undone_ids.add(record.id)
            except BrainError as error:
                kept.append(history.to_result(record, why_not=str(error)))
        return Reverted(agent=agent, since=since, undone=undone, kept=kept)


# -- which change --------------------------------------------------------------------------------


def _actor_name(vault: OpenVault, agent: str, by: Actor) -> str:
    """Return the name of an agent in the journal. An agent may name only agents whose memory it may
    read."""
    if not agent:
        raise BadRequest("Whose changes?", "Name an agent, or `person`.")
    owners = access.readable(by)
    if owners is None:
        there = agent == PERSON.name or any(records.select(vault.index, by=agent))
        return agent if there else actors.agent_name(vault, agent)
    with suppress(NotFound):
        if (name := actors.agent_name(vault, agent)) in owners:
            return name
    raise NotFound(f"There is no agent {agent!r}.", "Name an agent whose memory you may read.")


def _find(vault: OpenVault, event: str, by: Actor) -> Record:
    found = list(records.select(vault.index, ids=(event, f"e-{event}")))
    if not found or not history.may_see(vault, found[0], by):
        raise NotFound(f"There is no event {event!r}.", "See `brain audit` or `brain history ID`.")
    return found[0]


def _last(vault: OpenVault, by: Actor, owner: str) -> Record:
    name = "" if by.type == "person" else by.name
    newest = records.select(vault.index, by=name, newest_first=True, by_time=True)
    for record in _undoable(newest, _undone_ids(vault)):
        if record.op not in BY_STORE and (not owner or history.owner(vault, record) == owner):
            return record
    raise NotFound("There is nothing to undo.", "See `brain audit`.")


def _refuse_pending(vault: OpenVault, event: str, by: Actor, owner: str) -> None:
    """Raise Busy if the change with this event is not written yet. Without an event, raise Busy if
    any change that is newer than the last one is not written yet. For an agent, only its own
    changes count."""
    for one in vault.store.pending():
        if "part_of" in one.write.data or (by.type != "person" and one.by != by.name):
            continue
        if owner and vault.owner(one.path) != owner:
            continue
        if one.write.id == event or (not event and _is_last(vault, one, by, owner)):
            raise Busy(
                f"{one.write.op} of {one.write.ref} is not written yet.",
                f"Try again in a moment, or give it up: `brain pending --drop {one.write.id}`.",
            )


def _is_last(vault: OpenVault, one: Pending, by: Actor, owner: str) -> bool:
    with suppress(NotFound):
        return pending.time_of(one) >= _last(vault, by, owner).at
    return True


def _undoable(changes: Iterable[Record], undone: set[str]) -> Iterator[Record]:
    """Yield the changes that can be undone and are not undone yet. Parts of changes are left
    out."""
    for record in changes:
        is_part = bool({"part_of", "of"} & record.data.keys())
        can_be_undone = _undo_type(record) not in (Undo.NO, Undo.PART)
        if can_be_undone and not is_part and record.id not in undone:
            yield record


def _undo_type(record: Record) -> Undo:
    return RECORD_TYPES[record.op].undo if record.op in RECORD_TYPES else Undo.NO


def _undone_ids(vault: OpenVault) -> set[str]:
    """Return the events that are undone. An event is left out if its undo was undone."""
    undone: set[str] = set()
    ops = ("undo", "conflict", "resolve")
    for record in records.select(vault.index, ops=ops, newest_first=True):
        if record.id not in undone and "of" in record.data:
            undone.add(str(record.data["of"]))
    return undone


# -- how -----------------------------------------------------------------------------------------


def _undo(vault: OpenVault, record: Record, force: bool, by: Actor, undone: set[str]) -> Undone:
    """Undo a change with all its parts. If a part cannot be undone, nothing is undone."""
    if record.id in undone:
        raise BadRequest(
            f"{record.op} of {record.ref} is undone already.",
            f"See `brain history {record.ref}`. An undo can be undone, too.",
        )
    parts = _with_parts(vault, record, undone)
    if not all(history.may_see(vault, part, by) for part in parts):
        raise Denied(f"{by.name} may not undo all of {record.id}.", "Ask the admin agent.")
    writes: list[Write] = []
    main = 0
    exact = _exact(vault, parts)
    for part in parts:
        try:
            writes += _plan(vault, part, force, writes, part.path in exact)
        except (AttributeError, KeyError, TypeError, ValueError):
            why = f"{part.op} of {part.ref} is a record that this version cannot undo."
            raise BadRequest(why, "Make the opposite change instead.") from None
        main = len(writes) - 1 if part.id == record.id else main
    before = _entry(vault, record)
    result = apply.apply(vault, writes, by, main, exact=exact)[0]
    if _is_setting(vault, record):
        vault.reload()
    now = (
        _entry(vault, record) or before or Entry(id=record.ref, path=record.path, tags=[], extra={})
    )
    return apply.changed(now, "undone", result, cls=Undone, of=record.id, undid=record.op)


def _exact(vault: OpenVault, parts: Sequence[Record]) -> dict[str, bytes | None]:
    """Return the exact bytes before a change, by path, of the notes that are still as the change
    left them; None for a note that the change created."""
    exact: dict[str, bytes | None] = {}
    for part in parts:
        if "splice" in part.data:
            text = unspliced(vault.store.note(part.path).text, part.data)
            if text is not None:
                is_new = part.data["splice"].get("new") and not text
                exact[part.path] = None if is_new else to_bytes(text)
    return exact


def _with_parts(vault: OpenVault, record: Record, undone: set[str]) -> list[Record]:
    """Return a change and its parts that are not undone, newest first. The write of an id is left
    out: ids stay."""
    if _undo_type(record) is Undo.COUNT:
        return [record]
    parts = [
        part
        for part in records.select(vault.index, part_of=record.id)
        if _undo_type(part) is not Undo.NO and part.id not in undone
    ]
    return sorted([*parts, record], key=records.key, reverse=True)


def _plan(
    vault: OpenVault, record: Record, force: bool, first: Sequence[Write], is_exact: bool
) -> list[Write]:
    """Return the writes that undo one record. They follow the writes `first`. If `is_exact`, the
    whole note is restored, so that the write for a moved entry only names the entry."""
    data = record.data
    undo_data: dict[str, Any] = {"of": record.id, **_values_before(vault, record, force)}
    if record.op == "overwritten":
        return [Write("undo", record.ref, change_from_json(data["change"]), undo_data)]
    if not record.path:
        return [_opposite(record, undo_data)]
    before, after = str(data.get("before", "")), str(data.get("after", ""))
    if data.get("moved") and is_exact:
        now = _current(vault, record, ())
        return [Write("undo", now.ref, Replace(record.path, now.ref, now.raw, now.raw), undo_data)]
    if not (before or after) or data.get("moved"):
        raise BadRequest(
            f"{record.op} of {record.ref} cannot be undone.", "Make the opposite change instead."
        )
    now = _current(vault, record, first)
    if after:
        _refuse_changed(record, now, before, after, force)
    if data.get("redacted") and not force:
        raise StaleFile(
            f"The text before {record.op} of {record.ref} contained a secret. The journal does not"
            " have it.",
            "Use --force to restore the text without it.",
        )
    if _is_setting(vault, record):
        return [_restore_setting(record, now, before, after, undo_data)]
    return _restore_entry(record, now, before, after, undo_data)


def _is_setting(vault: OpenVault, record: Record) -> bool:
    """Return True for a change of a setting, and for its undo."""
    return record.path == f"{vault.paths.brain}/brain.yaml"


def _restore_setting(
    record: Record, now: Current, before: str, after: str, undo_data: dict[str, Any]
) -> Write:
    """Return the write that restores the lines of a setting. If `before` is '', the setting is
    removed."""
    name = record.ref
    value = getattr(brain_yaml.parse(before)[0], name) if before else None
    expect = getattr(brain_yaml.parse(now.raw if after else "")[0], name)
    return Write("undo", name, Configure(record.path, name, value, expect, before), undo_data)


def _restore_entry(
    record: Record, now: Current, before: str, after: str, undo_data: dict[str, Any]
) -> list[Write]:
    path, ref, data = record.path, now.ref, record.data
    place = (str(data.get("section", "")), str(data.get("previous", "")))
    if record.op == "move":
        moved_data = undo_data | {"moved": True}
        return [
            Write("undo", ref, Remove(path, ref), moved_data),
            Write("undo", ref, Insert(path, ref, before, *place), moved_data),
        ]
    if not after:
        return [Write("undo", ref, Insert(path, ref, before, *place), undo_data)]
    if not before:
        return [Write("undo", ref, Remove(path, ref), undo_data)]
    return [Write("undo", ref, Replace(path, ref, before, now.raw), undo_data)]


def _values_before(vault: OpenVault, record: Record, force: bool) -> dict[str, Any]:
    """Return the values of importance and confidence before a record. Raise StaleFile if
    they were changed again since."""
    was = record.data.get("was")
    if not isinstance(was, dict):
        return {}
    after = {name: record.data[name] for name in was}
    known = read.facts(vault.index, [record.ref]).get(record.ref)
    now = {name: known and getattr(known, name) for name in was}
    if now != after and not force:
        raise StaleFile(
            f"The {' and '.join(was)} of {record.ref} changed since ({record.op}, {record.id}).",
            "Use --force to undo it anyway.",
        )
    return {**was, "was": after}


def _opposite(record: Record, undo_data: dict[str, Any]) -> Write:
    """Return the write that undoes a record that changed no file."""
    data = undo_data | {"agent": record.data.get("agent", "")}
    if record.op in ("conflict", "resolve"):
        data |= {"other": record.data.get("other", ""), "type": "contradictory"}
        return Write("resolve" if record.op == "conflict" else "conflict", record.ref, None, data)
    if _undo_type(record) is Undo.COUNT or "delta" in record.data:
        data |= {"undid": record.op, "delta": -float(record.data.get("delta", 0))}
        return Write("undo", record.ref, None, data)
    if "was" in undo_data:
        return Write("undo", record.ref, None, data | {"undid": record.op})
    raise BadRequest(f"{record.op} cannot be undone.", "Make the opposite change instead.")


def _current(vault: OpenVault, record: Record, first: Sequence[Write]) -> Current:
    """Return the entry or setting that a record is about, as the writes `first` will leave it."""
    from brain.formats import memory_md

    data = vault.store.note(record.path).data
    changes = [d.change for d in first if d.change and d.change.path == record.path]
    if changes:
        data = vault.store.edited(record.path, data, changes).data
    if _is_setting(vault, record):
        return Current(record.ref, brain_yaml.lines_of(data.decode("utf-8", "replace"), record.ref))
    # the other ids of an entry that was removed may now belong to other words
    was_removed = record.data.get("before") and not record.data.get("after")
    same = {record.ref} if was_removed else read.all_ids(vault.index, record.ref)
    for found in memory_md.parse(data, vault.owner(record.path)).entries:
        if found.ref in same and found.kind != "note":
            return Current(found.ref, data[found.start : found.end].decode())
    return Current(record.ref, "")


def _refuse_changed(record: Record, now: Current, before: str, after: str, force: bool) -> None:
    """Raise StaleFile, with the difference, if the entry is not what the change left."""
    if digest(now.raw.encode()).hex() == after or (force and now.raw):
        return
    if not now.raw:
        raise NotFound(
            f"{record.ref} is no longer in {record.path}, so there is nothing to undo.",
            f"See `brain history {record.ref}`.",
        )
    lines = unified_diff(now.raw.split("\n"), before.split("\n"), "now", "undone", n=0, lineterm="")
    raise StaleFile(
        f"{record.ref} has changed since ({record.op}, {record.id}). This would be lost:\n"
        + "\n".join(lines)
        + "\n",
        "Use --force to undo it anyway.",
    )


def _entry(vault: OpenVault, record: Record) -> Entry | None:
    """Return the entry or setting of a record as it is now; None if it is gone."""
    if _is_setting(vault, record):
        text = _current(vault, record, ()).raw
        return Entry(id=record.ref, kind="setting", path=record.path, text=text, tags=[], extra={})
    with suppress(NotFound):
        return entry(lookup.find(vault, record.ref))
    return None
