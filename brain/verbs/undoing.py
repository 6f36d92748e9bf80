"""Taking back what was done, entry by entry.

The journal keeps the text that a change replaced and a digest of what it left. If the entry is no
longer what the change left, somebody has gone on with it: then nothing is done, neither to it nor
to what was done along with it, and the difference is shown; `force` takes it back all the same.
"""

from __future__ import annotations

from contextlib import suppress
from difflib import unified_diff

from brain import access
from brain.access import PERSON
from brain.changes import Configure, Deed, Insert, Remove, Replace, from_json
from brain.errors import BadRequest, BrainError, Busy, Denied, NotFound, StaleFile
from brain.formats import brain_yaml
from brain.formats.text import digest
from brain.index import records
from brain.index.records import RECORD_TYPES, Undo
from brain.journal.reader import update_index
from brain.operations import apply, lookup
from brain.operations.results import ChangeRecord, Entry, Reverted, Undone, entry
from brain.record import NamedTuple
from brain.store import Outcome, place
from brain.vault import files
from brain.verbs import history, waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.intents import Intent
    from brain.model import Record
    from brain.open_vault import OpenVault


class Now(NamedTuple):
    """An entry as it stands in its file, and under which id."""

    ref: str
    raw: str


def undo(
    vault: OpenVault,
    event: str = "",
    *,
    force: bool = False,
    session: str = "",
    by: Actor | str = "",
) -> Undone:
    """Undo one change: the one with this event, or the last one (of an agent: its own last one).
    Raises StaleFile, with the difference, if the entry was changed since; `force` undoes it."""
    actor = access.resolve(vault, by, session)
    vault.journal_ahead = True
    vault.refresh()
    _refuse_what_waits(vault, event, actor)
    record = _record(vault, event, actor) if event else _last(vault, actor)
    return _undone(vault, record, force, actor)


def revert(
    vault: OpenVault,
    agent: str,
    since: str = "",
    *,
    force: bool = False,
    session: str = "",
    by: Actor | str = "",
) -> Reverted:
    """Undo everything an agent did since then, newest first, and report what could not be."""
    actor = access.resolve(vault, by, session)
    vault.refresh()
    undone: list[Undone] = []
    kept: list[ChangeRecord] = []
    name = _named(vault, agent, actor)
    done = records.select(vault.index, by=name, since=history.when(vault, since), newest_first=True)
    for record in list(_open((one for one in done if history.may_see(vault, one, actor)), vault)):
        try:
            undone.append(_undone(vault, record, force, actor))
        except BrainError as error:
            kept.append(history.value(record, why_not=str(error)))
    return Reverted(agent=agent, since=since, undone=undone, kept=kept)


# -- which change --------------------------------------------------------------------------------


def _named(vault: OpenVault, agent: str, by: Actor) -> str:
    """The name under which an agent's deeds are on record. An agent hears only of those whose
    memory it may read."""
    if not agent:
        raise BadRequest("Whose changes?", "Name an agent, or `person`.")
    owners = access.readable(by)
    if owners is None:
        there = agent == PERSON.name or any(records.select(vault.index, by=agent))
        return agent if there else access.agent_name(vault, agent)
    with suppress(NotFound):
        if (name := access.agent_name(vault, agent)) in owners:
            return name
    raise NotFound(f"There is no agent {agent!r}.", "Name an agent whose memory you may read.")


def _record(vault: OpenVault, event: str, by: Actor) -> Record:
    found = list(records.select(vault.index, ids=(event, f"e-{event}")))
    if not found or not history.may_see(vault, found[0], by):
        raise NotFound(f"There is no event {event!r}.", "See `brain audit` or `brain history ID`.")
    return found[0]


def _last(vault: OpenVault, by: Actor) -> Record:
    name = "" if by.type == "person" else by.name
    newest = records.select(vault.index, by=name, newest_first=True)
    record = next(iter(_open(newest, vault)), None)
    if record is None:
        raise NotFound("There is nothing to undo.", "See `brain audit`.")
    return record


def _refuse_what_waits(vault: OpenVault, event: str, by: Actor) -> None:
    """What is not written yet cannot be taken back, nor is what was done before it the last. An
    agent hears of its own."""
    for intent in [each.intent for each in vault.store.pending()]:
        main = next((deed for deed in intent.deeds if "part_of" not in deed.data), None)
        if main is None or (by.type != "person" and intent.by != by.name):
            continue
        if main.id == event or (not event and _is_last(vault, intent, by)):
            raise Busy(
                f"{main.op} of {main.ref} is not written yet.",
                f"Try again in a moment, or give it up: `brain pending --drop {intent.id}`.",
            )


def _is_last(vault: OpenVault, intent: Intent, by: Actor) -> bool:
    with suppress(NotFound):
        return waiting.moment(intent.at) >= _last(vault, by).at
    return True


def _open(changes: Iterable[Record], vault: OpenVault) -> Iterable[Record]:
    """Those of the changes, newest first, that can be taken back and are not yet."""
    undone = _undone_ids(vault)
    for record in changes:
        own = not {"part_of", "of"} & record.data.keys()
        if _undo(record) not in (Undo.NO, Undo.PART) and own and record.id not in undone:
            yield record


def _undo(record: Record) -> Undo:
    return RECORD_TYPES[record.op].undo if record.op in RECORD_TYPES else Undo.NO


def _undone_ids(vault: OpenVault) -> set[str]:
    """The events that are taken back; one whose undoing was itself undone is not."""
    undone: set[str] = set()
    ops = ("undo", "conflict", "resolve")
    for record in records.select(vault.index, ops=ops, newest_first=True):
        if record.id not in undone and "of" in record.data:
            undone.add(str(record.data["of"]))
    return undone


# -- how -----------------------------------------------------------------------------------------


def _undone(vault: OpenVault, record: Record, force: bool, by: Actor) -> Undone:
    """Take back a change with all that was done along with it; if some of that cannot be, nothing
    is done."""
    update_index(vault.journal, vault.index)
    if record.id in _undone_ids(vault):
        raise BadRequest(
            f"{record.op} of {record.ref} is taken back already.",
            f"See `brain history {record.ref}`; an undoing can be undone.",
        )
    every = _whole(vault, record)
    if not all(history.may_see(vault, part, by) for part in every):
        raise Denied(f"{by.name} may not undo all of {record.id}.", "Ask the admin agent.")
    deeds: list[Deed] = []
    main = 0
    for one in every:
        deeds += _plan(vault, one, force, deeds)
        main = len(deeds) - 1 if one.id == record.id else main
    result, *others = apply.apply(vault, deeds, by, main)
    made = {other.deed.data["of"]: other for other in others}
    for part in every:
        if part.id != record.id:
            _entry(vault, part, made[part.id])
    now = _entry(vault, record, result)
    return apply.changed(now, "undone", result, cls=Undone, of=record.id, undid=record.op)


def _whole(vault: OpenVault, record: Record) -> list[Record]:
    """A change and what was done along with it, newest first; an id that was written stays."""
    if _undo(record) is Undo.COUNT:
        return [record]
    undone = _undone_ids(vault)
    parts = [
        part
        for part in records.select(vault.index, part_of=record.id)
        if _undo(part) is not Undo.NO and part.id not in undone
    ]
    return sorted([*parts, record], key=lambda part: part.key, reverse=True)


def _plan(vault: OpenVault, record: Record, force: bool, first: Sequence[Deed]) -> list[Deed]:
    """What takes back one record, after these other deeds."""
    data = record.data
    why: dict[str, Any] = {"of": record.id}
    if record.op == "gone":
        return [Deed("undo", record.ref, from_json(data["change"]), why)]
    if not record.path:
        return [_opposite(record)]
    before, after = str(data.get("before", "")), str(data.get("after", ""))
    if not (before or after) or data.get("moved"):
        raise BadRequest(
            f"{record.op} of {record.ref} cannot be undone by itself.", "Do the opposite instead."
        )
    now = _now(vault, record, first)
    if after:
        _compare(record, now, before, after, force)
    if data.get("redacted") and not force:
        raise StaleFile(
            f"The words before {record.op} of {record.ref} held a secret, which the journal left"
            " out.",
            "Use --force to bring them back without it.",
        )
    if record.op == "configure":
        return [_set_back(record, now, before, after, why)]
    return _back(record, now, before, after, why)


def _set_back(record: Record, now: Now, before: str, after: str, why: dict[str, Any]) -> Deed:
    """The setting as its lines said before; without any, the default holds again."""
    name = record.ref
    value = getattr(brain_yaml.parse(before)[0], name) if before else None
    expect = getattr(brain_yaml.parse(now.raw if after else "")[0], name)
    return Deed("undo", name, Configure(record.path, name, value, expect, before), why)


def _back(record: Record, now: Now, before: str, after: str, why: dict[str, Any]) -> list[Deed]:
    path, ref, data = record.path, now.ref, record.data
    place = (str(data.get("section", "")), str(data.get("previous", "")))
    if record.op == "move":
        there = why | {"moved": True}
        return [
            Deed("undo", ref, Remove(path, ref), there),
            Deed("undo", ref, Insert(path, ref, before, *place), there),
        ]
    if not after:
        return [Deed("undo", ref, Insert(path, ref, before, *place), why)]
    if not before:
        return [Deed("undo", ref, Remove(path, ref), why)]
    return [Deed("undo", ref, Replace(path, ref, before, now.raw), why)]


def _opposite(record: Record) -> Deed:
    """What takes back a record that is in the journal alone."""
    data = {"of": record.id, "agent": record.data.get("agent", "")}
    if record.op in ("conflict", "resolve"):
        data |= {"other": record.data.get("other", ""), "type": "contradictory"}
        return Deed("resolve" if record.op == "conflict" else "conflict", record.ref, None, data)
    if _undo(record) is Undo.COUNT or "delta" in record.data:
        data |= {"undid": record.op, "delta": -float(record.data.get("delta", 0))}
        return Deed("undo", record.ref, None, data)
    raise BadRequest(f"{record.op} cannot be undone.", "Do the opposite instead.")


def _now(vault: OpenVault, record: Record, first: Sequence[Deed]) -> Now:
    """The entry or setting that a record is about, as these deeds will leave it; without text if it
    is gone."""
    from brain.formats import brain_yaml, memory_md

    try:
        data, _ = files.read(f"{vault.paths.root_path}/{record.path}", vault.config.maxFileSize)
    except OSError:
        data = b""
    changes = [d.change for d in first if d.change and d.change.path == record.path]
    if changes:
        data = place.edited(vault.paths, record.path, data, changes).data
    if record.op == "configure":
        return Now(record.ref, brain_yaml.lines_of(data.decode("utf-8", "replace"), record.ref))
    same = lookup.same_ids(vault, record.ref)
    for chunk in memory_md.parse(data, apply.owner(vault, record.path)).chunks:
        if chunk.ref in same and chunk.kind != "note":
            return Now(chunk.ref, data[chunk.start : chunk.end].decode())
    return Now(record.ref, "")


def _compare(record: Record, now: Now, before: str, after: str, force: bool) -> None:
    """Is the entry what the change left? Else StaleFile, with the difference."""
    if digest(now.raw.encode()).hex() == after or (force and now.raw):
        return
    if not now.raw:
        raise NotFound(
            f"{record.ref} is no longer in {record.path}: there is nothing to take back.",
            f"See `brain history {record.ref}`.",
        )
    lines = unified_diff(now.raw.split("\n"), before.split("\n"), "now", "undone", n=0, lineterm="")
    raise StaleFile(
        f"{record.ref} was changed since ({record.op}, {record.id}). This would be lost:\n"
        + "\n".join(lines)
        + "\n",
        "Use --force to take it back all the same.",
    )


def _entry(vault: OpenVault, record: Record, result: Outcome) -> Entry:
    """The entry as it is after all, or as it was when it went."""
    done = result.done
    if record.op == "configure":
        vault.reload()
        line, text = (done.line, done.after) if done else (0, "")
        return Entry(
            id=record.ref, kind="setting", path=record.path, line=line, text=text, tags=[], extra={}
        )
    if done is None:
        return _as_it_is(vault, record)
    if done.after:
        now = apply.entry(vault, record.path, done)
        apply.report(vault, done.before, now)
        return now
    gone = apply.entry(vault, record.path, done._replace(after=done.before))
    apply.report_removed(vault, gone)
    return gone


def _as_it_is(vault: OpenVault, record: Record) -> Entry:
    """The entry of a change that left no trace in its note, or waits to be written."""
    try:
        return entry(lookup.find(vault, record.ref))
    except NotFound:
        return Entry(id=record.ref, path=record.path, tags=[], extra={})
