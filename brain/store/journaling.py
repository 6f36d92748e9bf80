"""The records of changes to entries, and the inverse of a change that is not written yet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from brain.formats.text import digest, to_bytes
from brain.journal.codec import change_to_json, event_id
from brain.model import (
    Add,
    Applied,
    Change,
    Insert,
    Move,
    NewRecord,
    Remove,
    Replace,
    Write,
)
from brain.redact import redact, redact_value
from brain.store.merge import Units, shared_ends, split, unit_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brain.store.note import Note, Seen
    from brain.vault.layout import Vault

UNDONE = ("missing", "changed")  # outcomes of a change that could not be made
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t\r]*$")


def of_write(write: Write, path: str, by: str, session: str, done: Applied | None) -> NewRecord:
    """Return the record of a write, with the replaced text and a digest of the new text."""
    data = dict(write.data)
    if session:
        data["session"] = session
    if done:
        data |= {"section": redact(done.section, emails=False)[0], "previous": done.previous}
        if isinstance(write.change, Move):
            data["to"] = redact(write.change.section, emails=False)[0]
        data["after"] = digest(done.after.encode()).hex() if done.after else ""
        if done.before:  # a person's own words: addresses are kept, because `undo` restores them
            data |= _text_before(done.before)
    return NewRecord(write.id, write.op, by, write.ref, path, data)


def of_overwritten(write: Write, path: str, emails: bool) -> NewRecord:
    """Return the record of a change that a person overwrote. It contains the change, so that `undo`
    can apply it again."""
    words = redact_value(change_to_json(write.change), emails=emails) if write.change else {}
    data = {"change": words, "of": write.id}
    return NewRecord(write.id, "overwritten", "person", write.ref, path, data)


def _text_before(text: str) -> dict[str, Any]:
    clean, found = redact(text, emails=False)
    return {"before": clean, **({"redacted": True} if found else {})}


def splice(before: str, after: str) -> dict[str, Any]:
    """Return (offset of a change, old text, length of the new text). Return {} if the old text
    contains a secret, which must not be recorded."""
    start, end = shared_ends(before, after)
    removed = before[start : len(before) - end]
    if redact(removed, emails=False)[1] or (
        not removed.isascii() and "\udc80" <= max(removed) <= "\udcff"
    ):
        return {}
    mark = digest(to_bytes(after)).hex()
    size = len(after) - start - end
    return {"splice": {"at": start, "removed": removed, "added": size, "digest": mark}}


def unspliced(text: str, data: Mapping[str, Any]) -> str | None:
    """Return the text before a change, using its splice; None if the text was changed since."""
    found = data.get("splice")
    if not found or digest(to_bytes(text)).hex() != found["digest"]:
        return None
    start, stop = found["at"], found["at"] + found["added"]
    return text[:start] + str(found["removed"]) + text[stop:]


def stands(done: Applied | None, text: str) -> bool:
    """Return True if a text still has the result of a change."""
    if done is None:
        return True
    if done.after:
        return done.after in text
    ids = {unit_id(unit)[1:] for unit in split(text)}  # it may be there in other words
    return done.before not in text and done.change.ref not in ids


def inverse(write: Write, done: Applied) -> Change | None:
    """Return the edit that undoes a change of a memory note; None if it changed nothing."""
    change = write.change
    if done.outcome != "done" or change is None:
        return None
    path, ref = change.path, change.ref
    if isinstance(change, Add | Insert):
        return Remove(path, ref)
    if isinstance(change, Remove):
        return Insert(path, ref, done.before, done.section, done.previous)
    if isinstance(change, Move):
        return Move(path, ref, done.section)
    return Replace(path, ref, done.before, done.after)


def of_observation(vault: Vault, note: Note, seen: Seen) -> Iterator[NewRecord]:
    """Yield the records for an observed text of a memory note: entries of Brain that a person
    removed or reworded, entries that were restored after a stale window, and merged entries of late
    saves."""
    role = vault.writable_role(note.path)
    if role.format != "memory":
        return
    there = {unit_id(unit): unit for unit in note.head}
    for unit in seen.removed:
        if ref := entry_id(unit, role.agent):
            data: dict[str, Any] = _text_before(unit) | _place(seen.before, unit)
            now = there.get(unit_id(unit), "") if unit_id(unit) else ""
            data["after"] = digest(now.encode("utf-8", "replace")).hex() if now else ""
            yield _record("reworded" if now else "removed", seen.by, ref, note.path, data)
    for op, units in (("restored", seen.restored), ("merged", seen.merged)):
        for unit in units:
            if ref := entry_id(unit, role.agent):
                data = {"after": digest(unit.encode("utf-8", "replace")).hex()}
                yield _record(op, "brain", ref, note.path, data | _place(note.head, unit))


def _record(op: str, by: str, ref: str, path: str, data: dict[str, Any]) -> NewRecord:
    return NewRecord(event_id(), op, by, ref, path, data)


def entry_id(unit: str, owner: str) -> str:
    """Return the id of the entry in a unit; '' if the unit has no entry."""
    from brain.formats import memory_md

    if id := unit_id(unit):
        return id[1:]
    entries = memory_md.parse(unit.encode("utf-8", "replace"), owner).entries
    return next((entry.ref for entry in entries if entry.kind != "note"), "")


def _place(units: Units, unit: str) -> dict[str, str]:
    """Return the section of a unit, and the id of the entry before it there."""
    headings: list[str] = []
    previous, level = "", 7
    at = units.index(unit) if unit in units else len(units)
    for line in reversed(units[:at]):
        heading = _HEADING.match(line)
        if heading and len(heading[1]) < level:
            level = len(heading[1])
            headings.insert(0, heading[2])
        elif not headings and not previous:
            previous = unit_id(line)[1:]
    return {"section": redact(" > ".join(headings), emails=False)[0], "previous": previous}
