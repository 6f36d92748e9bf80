"""Keeping a promise: hold while a person types, edit, replace, journal.

Killed anywhere in here, the note is whole, with the change or without it, and `crash` can tell.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from brain.changes import Change, Deed, Done, Drop, Edited, Remove, Update, to_json
from brain.errors import BadRequest, BrainError, Busy, Refused, StaleFile
from brain.formats.text import digest
from brain.intents import Open, Told
from brain.model import NewRecord
from brain.redact import redact, redact_value
from brain.store import attempt, over, place, standing
from brain.store.place import Text
from brain.vault import files
from brain.vault.replace import Replaced

if TYPE_CHECKING:
    from brain.store.door import Plan, Store

TRIES = 20  # times a note may come or go between reading and writing it
BACK = 0.2  # s in which a note that is gone may come back: some programs delete and write anew


class Wrote(NamedTuple):
    """What was written to one file: the text before, what waited, what was written anew with it;
    `plain` if nobody saved another text meanwhile."""

    path: str
    text: Text
    waiting: list[Open]
    again: list[Open]
    done: dict[str, Done]
    replaced: Replaced
    plain: bool


def carry_out(store: Store, paths: Iterable[str], plan: Plan | None = None) -> dict[str, Done]:
    """Write what waits for these files, unless it has to wait longer; what became of each deed.

    After an error every file is as it was, except that one which cannot be brought back stays, and
    so do the promises; then there is no error.
    """
    wrote: list[Wrote] = []
    try:
        for path in paths:
            waiting = store.waiting(path)
            if waiting and (one := _write(store, path, waiting, (plan or {}).get(path))):
                wrote.append(one)
    except (OSError, BrainError):
        if undo(store, wrote):
            raise
    return {id: done for one in wrote for id, done in finish(store, one).items()}


def read(store: Store, path: str) -> Text:
    return place.read(store.vault, path, store.config.maxFileSize)


def read_surely(store: Store, path: str) -> Text:
    """Read a file that was there a moment ago, to edit it."""
    text = look_surely(store, path)
    place.refuse(path, text)
    return text


def look_surely(store: Store, path: str) -> Text:
    """What a file holds that was there a moment ago."""
    deadline, limit = time.monotonic() + BACK, store.config.maxFileSize
    while (text := place.look(store.vault, path, limit)).stat is None:
        if time.monotonic() >= deadline:
            break
        time.sleep(0.005)
    return text


def must_wait(store: Store, path: str, waiting: Sequence[Open], text: Text) -> bool:
    """Is a person typing in this note (and not for `max_hold` seconds yet), or git at work?"""
    if files.is_git_busy(store.git):
        return True
    now = store.clock()
    if text.stat is None or now - text.stat.st_mtime >= store.config.holdSeconds:
        return False
    if now - min(entry.intent.at for entry in waiting) >= store.max_hold:
        return False
    return text.digest != standing.latest(store, path)


def _write(
    store: Store, path: str, waiting: list[Open], plan: tuple[Text, Edited] | None
) -> Wrote | None:
    """None if it must wait, be it because somebody saves all the time."""
    text, edited = plan or (read(store, path), None)
    with suppress(Busy):
        if not must_wait(store, path, waiting, text):
            return write(store, path, waiting, text, edited)
    return None


def write(
    store: Store, path: str, waiting: list[Open], text: Text, planned: Edited | None = None
) -> Wrote | None:
    """Edit and replace; along with it what an editor wiped since it was written."""
    for _ in range(TRIES):
        wiped = standing.wiped(store, path, text)
        again = [store.log.open[id] for id in wiped]
        if not planned or again or over.changed(planned.done):
            waiting = _possible(store, path, waiting, text, wiped)
        if not waiting and not again:
            return None
        try:
            made = _replace(store, path, [*again, *waiting], text, planned, wiped)
        except StaleFile:
            text, planned = read_surely(store, path), None
            if files.is_git_busy(store.git):
                return None
            continue
        return Wrote(path, text, waiting, again, *made)
    raise Busy(f"{path} comes and goes.", "Try again in a moment.")


def _possible(
    store: Store,
    path: str,
    waiting: list[Open],
    text: Text,
    wiped: Mapping[str, Sequence[Deed]],
) -> list[Open]:
    """Without what cannot be placed in this text, or would be written over what its actor has not
    seen, so that it does not stand in the others' way. Refused if that is so of all, or of the text
    itself; StaleFile if nobody has heard yet that it is promised."""
    again = [(store.log.open[id], deed) for id, deeds in wiped.items() for deed in deeds]
    todo = [*(store.log.open[id] for id in wiped), *waiting]
    data = standing.restored(text.data, [pair for entry in todo for pair in entry.saved])
    data = place.edited(store.vault, path, data, over.changes(store, path, again)).data
    good = []
    for entry in waiting:
        try:
            deeds = [(entry, deed) for deed in entry.intent.deeds]
            edited = place.edited(store.vault, path, data, over.changes(store, path, deeds))
        except (Refused, BadRequest) as error:
            if len(waiting) == 1:
                raise
            _block(store, entry, str(error))
            continue
        if entry.intent.id in store.fresh:
            over.refuse(edited.done)
        if ref := over.changed(edited.done):
            _block(store, entry, over.WHY.format(ref=ref))
        else:
            data = edited.data
            good.append(entry)
    return good


def _block(store: Store, entry: Open, why: str) -> None:
    store.log.mark([entry.intent.id], "blocked", store.clock(), why=why)


def _replace(
    store: Store,
    path: str,
    todo: Sequence[Open],
    text: Text,
    planned: Edited | None,
    wiped: Mapping[str, Sequence[Deed]],
) -> tuple[dict[str, Done], Replaced, bool]:
    """The file with what is to be done, and what was done in the end. Of what was done before,
    only that is done again which was wiped. StaleFile if somebody has just changed an entry."""
    deeds = [
        (entry, deed)
        for entry in todo
        for deed in wiped.get(entry.intent.id, entry.intent.deeds)
        if deed.change
    ]
    changes = over.changes(store, path, deeds)
    ids = [deed.id for _, deed in deeds]
    done: dict[str, Done] = {}
    plain = True
    before = {deed.id: was for entry, deed in deeds if (was := standing.done(entry, deed))}

    def edit(data: bytes) -> bytes:
        nonlocal done, plain
        plain = data == text.data
        data = standing.restored(data, [pair for entry in todo for pair in entry.saved])
        if planned and data == text.data and len(planned.done) == len(ids):
            edited = planned
        else:
            edited = _edited(store, path, text.data, data, changes)
        if not plain:
            over.refuse(edited.done)
        done = _recalled(dict(zip(ids, edited.done, strict=True)), before)
        return edited.data

    def did() -> dict[str, list[Any]]:
        return todo[-1].did | {id: list(one[1:]) for id, one in done.items()}

    if edit(text.data) == text.data:
        return done, Replaced(text.data), True
    group = [entry.intent.id for entry in todo if not entry.state]
    replaced = attempt.put(store, todo[-1], text, edit, did, group)
    return done, replaced, plain


def _recalled(done: dict[str, Done], before: dict[str, Done]) -> dict[str, Done]:
    """What is found to be done already because we ourselves did it before a crash was done then;
    so was a removal of what is not there any more."""
    return {
        id: before[id] if id in before and _is_repeated(one) else one for id, one in done.items()
    }


def _is_repeated(done: Done) -> bool:
    removal = isinstance(done.change, Remove | Drop)
    return done.outcome == ("missing" if removal else "already")


def _edited(store: Store, path: str, base: bytes, data: bytes, changes: Sequence[Change]) -> Edited:
    """The changes made in what somebody saved meanwhile; where the entry is gone there, or the
    text cannot be edited, our lines go between theirs."""
    try:
        edited = place.edited(store.vault, path, data, changes)
        if data == base or not any(done.outcome in standing.UNDONE for done in edited.done):
            return edited
        if over.changed(edited.done):
            return edited
    except Refused:
        if data == base:
            raise
    ours = place.edited(store.vault, path, base, changes)
    return ours._replace(data=place.merged(store.vault, path, base, ours.data, data))


# -- afterwards ------------------------------------------------------------------------------------


def finish(store: Store, wrote: Wrote) -> dict[str, Done]:
    """The journal, then the log: in that order a crash in between is noticed."""
    now, mark = store.clock(), digest(wrote.replaced.data).hex()
    head = files.git_head(store.git)
    noted = note(store, wrote.waiting, wrote.done)
    todo = [*wrote.again, *wrote.waiting]
    last = attempt.over(store, todo[-1], wrote.replaced)
    if not wrote.plain:
        mark = ""  # who saved in between may have wiped what was written or saved before
    for entry in todo:
        did = {d.id: list(wrote.done[d.id][1:]) for d in entry.intent.deeds if d.id in wrote.done}
        more: Told = {**(last if entry is todo[-1] else attempt.OVER), "digest": mark}
        if entry.state:
            more = {**more, "again": entry.again + standing.weight(entry, wrote.text), "why": ""}
        else:
            more = {**more, "noted": noted, "did": did, "head": head, "why": ""}
        with suppress(OSError):  # then it is found out as after a crash
            store.log.mark([entry.intent.id], "written", now, **more)
    return wrote.done


def undo(store: Store, wrote: Sequence[Wrote]) -> bool:
    """Bring files back to what they were. False if that could not be done."""
    try:
        for one in reversed(wrote):
            _undo(store, one)
    except (OSError, BrainError):
        return False
    return True


def _undo(store: Store, wrote: Wrote) -> None:
    todo, new, old = [*wrote.again, *wrote.waiting], wrote.replaced.data, wrote.text.data
    last = todo[-1]
    _attempted(store, last, wrote.replaced)
    text = read(store, wrote.path)

    def edit(data: bytes) -> bytes:
        return place.merged(store.vault, wrote.path, new, data, old)

    if text.stat and edit(text.data) != text.data:
        _attempted(store, last, attempt.put(store, last, text, edit))


def _attempted(store: Store, entry: Open, replaced: Replaced) -> None:
    """An attempt is over, and another one is to come."""
    more: Told = {**attempt.over(store, entry, replaced), "temp": attempt.temp()}
    store.log.mark([entry.intent.id], entry.state, entry.at, **more)


def note(store: Store, waiting: Sequence[Open], done: dict[str, Done]) -> bool:
    """Append to the journal; what cannot be appended now is appended when it is settled. The
    promise stays open until this, too, is on the disk."""
    there = _on_record(store, waiting)
    entries = [
        entry(store, deed, one.intent.by, one.intent.session, done.get(deed.id))
        for one in waiting
        for deed in one.intent.deeds
        if not one.noted and deed.id not in there
    ]
    try:
        store.journal.append(entries, durable=False)
    except (OSError, BrainError):
        return False
    return True


def _on_record(store: Store, waiting: Sequence[Open]) -> set[str]:
    """What another process has put on record before it was killed."""
    older = [one for one in waiting if one.intent.id not in store.fresh and not one.noted]
    ids = [deed.id for one in older for deed in one.intent.deeds]
    return store.journal.has(ids) if ids else set()


def entry(store: Store, deed: Deed, by: str, session: str, done: Done | None = None) -> NewRecord:
    """A deed as the journal keeps it: with a digest of what it left, and the text it replaced.
    Of one for which there was no place any more the journal keeps the words."""
    if done and done.outcome in standing.UNDONE:
        return gone(store, deed)
    data: dict[str, Any] = dict(deed.data)
    if session:
        data["session"] = session
    if done:
        data |= {"section": redact(done.section, emails=False)[0], "previous": done.previous}
        data["after"] = digest(done.after.encode()).hex() if done.after else ""
        if done.before:  # a person's own words; with addresses, for `undo` brings them back
            data["before"], found = redact(done.before, emails=False)
            if found:
                data["redacted"] = True
    path = deed.change.path if deed.change else ""
    return NewRecord(deed.id, deed.op, by, deed.ref, path, data)


def gone(store: Store, deed: Deed, id: str = "") -> NewRecord:
    """Somebody took an entry out; the journal keeps the words, so that `undo` can bring it back."""
    change = deed.change
    if isinstance(change, Update | Remove):
        change = change._replace(over=())  # who wants it back has seen what there is by then
    words = redact_value(to_json(change), emails=store.config.redactEmails) if change else {}
    path = change.path if change else ""
    return NewRecord(
        id or deed.id, "overwritten", "person", deed.ref, path, {"change": words, "of": deed.id}
    )
