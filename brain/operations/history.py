"""Return the history of a memory, and the audit of all changes, from the journal."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby, islice
from operator import itemgetter

from brain import access, actors, timestamps
from brain.access import PERSON
from brain.config import SETTINGS
from brain.errors import NotFound, Refused, suggest
from brain.formats import brain_yaml
from brain.formats.text import digest
from brain.index import read, records
from brain.index.records import RECORD_TYPES
from brain.operations import lookup, pending
from brain.operations.results import ChangeRecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.model import Record
    from brain.open_vault import OpenVault

_NOT_AUDITED = {name for name, type in RECORD_TYPES.items() if not type.audit}


def history(
    vault: OpenVault, id: str, *, agent: str = "", by: Actor | str = ""
) -> list[ChangeRecord]:
    """Return the changes of one memory, oldest first, including pending changes. The memory may be
    deleted."""
    actor = actors.resolve(vault, by)
    vault.refresh()
    all_refs = refs(vault, id, actor, agent)
    in_time = records.select(vault.index, refs=all_refs, by_time=True)
    found = [r for r in in_time if may_see(vault, r, actor) and not _is_half_a_move(r)]
    return [*_with_texts(vault, found), *_pending(vault, all_refs, actor)]


def _is_half_a_move(record: Record) -> bool:
    """Return True for the removal of an entry that the undo of its move inserts elsewhere."""
    return record.op == "undo" and "part_of" in record.data and "moved" in record.data


def to_result(record: Record, **extra_data: Any) -> ChangeRecord:
    """Return a record of the journal as a result."""
    return ChangeRecord(
        event=record.id, at=record.at, by=record.by, op=record.op, id=record.ref,
        path=record.path or None, device=record.device, data=record.data | extra_data,
    )  # fmt: skip


def _pending(vault: OpenVault, all_refs: set[str], by: Actor) -> Iterator[ChangeRecord]:
    for write_ in vault.store.pending():
        if write_.write.ref in all_refs and access.may(by, "read", vault.owner(write_.path)):
            yield ChangeRecord(
                event=write_.write.id, at=pending.time_of(write_), by=write_.by, op=write_.write.op,
                id=write_.write.ref, path=write_.path, device=None,
                data={"state": "pending", "text": pending.text_of(write_), **write_.write.data},
            )  # fmt: skip


def _with_texts(vault: OpenVault, found: Sequence[Record]) -> list[ChangeRecord]:
    """Return records as results, with the `text` after each change if it is known. The record of a
    change has only a digest of this text. The text itself is in the file, or in the record of a
    later change."""
    wanted = [record for record in found if record.data.get("after")]
    texts: dict[str, str] = {}
    for text in _known_texts(vault, wanted) if wanted else ():
        texts[digest(text.encode("utf-8", "replace")).hex()] = text
    return [
        to_result(record, text=texts[after])
        if (after := str(record.data.get("after", ""))) in texts
        else to_result(record)
        for record in found
    ]


def _known_texts(vault: OpenVault, found: Sequence[Record]) -> Iterator[str]:
    """Yield the current and earlier texts of the entries and settings of these records."""
    refs = list(dict.fromkeys(record.ref for record in found))
    for record in records.of_refs(vault.index, refs):
        yield str(record.data.get("before", ""))
    settings = f"{vault.paths.brain}/brain.yaml"
    for path, spans in groupby(read.spans(vault.index, refs), key=itemgetter(0)):
        data = vault.read(path)
        yield from (data[start:stop].decode("utf-8", "replace") for _, start, stop in spans)
    if any(record.path == settings for record in found):
        text = vault.read(settings).decode("utf-8", "replace")
        with suppress(Refused):  # the setting is there twice
            yield from (brain_yaml.lines_of(text, ref) for ref in refs if ref in SETTINGS)


def audit(
    vault: OpenVault,
    *,
    id: str = "",
    who: str = "",
    agent: str = "",
    ops: Iterable[str] = (),
    since: str = "",
    until: str = "",
    limit: int = 50,
    by: Actor | str = "",
) -> list[ChangeRecord]:
    """Return all changes, newest first. Filter them by the actor (`who`), by the owner of the
    memory (`agent`), and by type."""
    lookup.check_limit(limit)
    actor, ops = actors.resolve(vault, by), lookup.words(ops)
    vault.refresh()
    found = (
        record
        for record in records.select(
            vault.index,
            refs=refs(vault, id, actor) if id else (),
            by=who,
            since=to_record_time(vault, since),
            until=to_record_time(vault, until, timestamps.end_of),
            ops=tuple(ops),
            newest_first=True,
            by_time=True,
        )
        if (ops or record.op not in _NOT_AUDITED)
        and (not agent or owner(vault, record) == agent)
        and may_see(vault, record, actor)
        and not _is_half_a_move(record)
    )
    shown = _with_texts(vault, list(islice(found, max(0, limit))))
    if not shown:
        _refuse_unknown(vault, who, agent, tuple(ops), actor)
    return shown


def _refuse_unknown(vault: OpenVault, who: str, agent: str, ops: Sequence[str], by: Actor) -> None:
    """Raise NotFound if an actor, agent or record type does not exist."""
    owners = access.readable(by)
    access.refuse_unseen(agent, owners)
    visible = [r for r in records.select(vault.index) if may_see(vault, r, by)]
    types = {record.op for record in visible}
    for op in ops:
        _require_known("type of change", op, {*types, *RECORD_TYPES})
    if agent and owners is None and agent not in {owner(vault, record) for record in visible}:
        actors.agent_name(vault, agent)
    if who:
        names = read.owners(vault.index) if owners is None else set(owners)
        _require_known("record of", who, {record.by for record in visible} | names | {PERSON.name})


def _require_known(noun: str, name: str, known: set[str]) -> None:
    """Raise NotFound, with a suggestion, if a name is not among the known ones."""
    if name in known:
        return
    names = sorted(known - {""})
    remedy = suggest(name, names) or f"Known names: {', '.join(names)}."
    raise NotFound(f"There is no {noun} {name!r}.", remedy)


def refs(vault: OpenVault, name: str, by: Actor, agent: str = "") -> set[str]:
    """Return all ids of an entry. A deleted entry is found only by its whole id. Raise NotFound if
    there is no such entry, or if the actor may not read it."""
    owners = lookup.visible(vault, by, agent)
    try:
        found = read.all_ids(vault.index, lookup.find(vault, name, owners=owners, titles=False).ref)
    except NotFound:
        found = read.all_ids(vault.index, lookup.bare_id(name))
        if not any(True for _ in records.select(vault.index, refs=found)):
            raise
    if not any(may_see(vault, r, by) for r in records.select(vault.index, refs=found)):
        lookup.find(vault, name, owners=access.readable(by), titles=False)
    return found


def may_see(vault: OpenVault, record: Record, by: Actor) -> bool:
    """Return True if an actor may read the memories of a record. An agent may read only its own
    unanswered questions."""
    owners = access.readable(by)
    if owners is None:
        return True
    if record.op == "gap":
        return bool(record.data.get("agent")) and record.data["agent"] == by.name
    if record.path or record.data.get("agent"):
        return owner(vault, record) in owners
    refs = [record.ref, str(record.data.get("other", ""))]  # records of hits have no owner
    rows = [read.exact(vault.index, ref)[:1] for ref in refs if ref]
    return all(row and row[0].agent in owners for row in rows)


def owner(vault: OpenVault, record: Record) -> str:
    """Return the owner of the memory of a record; '' if the record names no owner."""
    return vault.owner(record.path) if record.path else str(record.data.get("agent", ""))


def to_record_time(
    vault: OpenVault, text: str, bound: Callable[[str], str] = timestamps.start_of
) -> str:
    """Return a time in the format of records. The text is a local date or time, or an age."""
    return bound(timestamps.time_of(text, vault.clock()))
