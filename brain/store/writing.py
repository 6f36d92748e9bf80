"""Keeping a promise: hold while a person types, edit, replace, journal.

Killed anywhere in here, the note is whole, with the change or without it, and `crash` can tell.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from brain import merge
from brain.changes import Add, Change, Deed, Done, Drop, Edited, Move, Remove
from brain.errors import Busy, Refused, StaleFile
from brain.formats.text import digest
from brain.intents import Open
from brain.journal import Entry
from brain.redact import redact
from brain.store import place
from brain.store.place import Text
from brain.vault import git, swap
from brain.vault.replace import Found, Left, Replaced, create, replace

if TYPE_CHECKING:
    from brain.store.door import Plan, Store

TRIES = 20  # times a note may come or go between reading and writing it
AGAIN = 5  # times a change that an editor wiped is written anew


def carry_out(store: Store, paths: Iterable[str], plan: Plan | None = None) -> dict[str, Done]:
    """Write what waits for these files, unless it has to wait longer; what became of each deed."""
    found: dict[str, Done] = {}
    for path in paths:
        waiting = [e for e in store.open() if e.intent.path == path and not e.state]
        if waiting:
            text, edited = (plan or {}).get(path) or (read(store, path), None)
            if not must_wait(store, path, waiting, text):
                found |= write(store, path, waiting, text, edited if len(waiting) == 1 else None)
    return found


def read(store: Store, path: str) -> Text:
    return place.read(store.vault, path, store.config.maxFileSize)


def must_wait(store: Store, path: str, waiting: Sequence[Open], text: Text) -> bool:
    """Is a person typing in this note (and not for `holdMost` seconds yet), or git at work?"""
    if git.at_work(store.git):
        return True
    now = time.time()
    if text.stat is None or now - text.stat.st_mtime >= store.config.holdSeconds:
        return False
    if now - min(entry.intent.at for entry in waiting) >= store.config.holdMost:
        return False
    return text.digest not in _ours(store, path)


def _ours(store: Store, path: str) -> set[str]:
    """The digests of what Brain itself left in this file of late."""
    return {e.digest for e in store.open() if e.intent.path == path and e.digest}


def write(
    store: Store, path: str, waiting: Sequence[Open], text: Text, edited: Edited | None = None
) -> dict[str, Done]:
    """Edit, replace, journal; along with it what an editor wiped since it was written."""
    for _ in range(TRIES):
        again = wiped(store, path, text)
        try:
            done, replaced = _replace(store, path, [*again, *waiting], text, edited)
        except StaleFile:
            text, edited = read(store, path), None
            continue
        _written(store, waiting, again, done, replaced)
        return done
    raise Busy(f"{path} comes and goes.", "Try again in a moment.")


def _replace(
    store: Store, path: str, todo: Sequence[Open], text: Text, planned: Edited | None
) -> tuple[dict[str, Done], Replaced]:
    """The file with what is to be done, and what was done in the end."""
    full, last = f"{store.vault.root}/{path}", todo[-1]
    changes = [change for entry in todo for change in entry.intent.edits]
    ids = [deed.id for entry in todo for deed in entry.intent.deeds if deed.change]
    done: dict[str, Done] = {}

    def edit(data: bytes) -> bytes:
        nonlocal done
        data = _restored(data, todo)
        if planned and data == text.data and len(planned.done) == len(ids):
            edited = planned
        else:
            edited = _edited(store, path, text.data, data, changes)
        done = dict(zip(ids, edited.done, strict=True))
        return edited.data

    def ready(inode: int, data: bytes) -> None:
        store.log.mark([last.intent.id], last.state, last.at, inode=inode)

    if text.stat is None:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return done, create(full, last.intent.temp, edit(b""))
    if edit(text.data) == text.data:
        return done, Replaced(text.data)
    replaced = replace(full, last.intent.temp, text.data, edit, ready)
    return done, replaced


def _edited(store: Store, path: str, base: bytes, data: bytes, changes: Sequence[Change]) -> Edited:
    """The changes made in what somebody saved meanwhile; where the entry is gone there, or the
    text cannot be edited, our lines go between theirs."""
    try:
        edited = place.edited(store.vault, path, data, changes)
        if all(done.outcome in ("done", "already") for done in edited.done):
            return edited
    except Refused:
        if data == base:
            raise
    ours = place.edited(store.vault, path, base, changes)
    return ours._replace(data=merge.merge(base, ours.data, data))


def _restored(data: bytes, todo: Sequence[Open]) -> bytes:
    """With what a person had saved in the moment of an earlier write, if that was wiped."""
    saved = [(unit, above) for entry in todo for unit, above in entry.saved]
    return merge.restore(data, [_raw(pair) for pair in saved]) if saved else data


def _raw(pair: Sequence[str]) -> tuple[bytes, bytes]:
    return pair[0].encode("latin-1"), pair[1].encode("latin-1")


def wiped(store: Store, path: str, text: Text) -> list[Open]:
    """Written changes of which nothing is left in the file as it is now."""
    if text.digest in _ours(store, path):
        return []
    return [
        entry
        for entry in store.open()
        if entry.intent.path == path
        and entry.state == "written"
        and entry.again < AGAIN
        and is_wiped(store, entry, text)
    ]


def is_wiped(store: Store, entry: Open, text: Text) -> bool:
    """Is an entry as it was before its change? What was removed may come back: text that
    reappears wins."""
    if entry.saved and _restored(text.data, [entry]) != text.data:
        return True
    for deed in entry.intent.deeds:
        change = deed.change
        if isinstance(change, Add):
            if f"^{change.ref}".encode() not in text.data:
                return True
        elif change and not isinstance(change, Remove | Drop | Move):
            done = place.edited(store.vault, entry.intent.path, text.data, [change]).done[0]
            if done.outcome == "done" and done.before == entry.before.get(deed.id, ""):
                return True
    return False


def _written(
    store: Store,
    waiting: Sequence[Open],
    again: Sequence[Open],
    done: dict[str, Done],
    replaced: Replaced,
) -> None:
    """The journal, then the log: in that order a crash in between is noticed."""
    noted = note(store, waiting, done)
    now, mark = time.time(), digest(replaced.data).hex()
    keep(store, replaced.left)
    more = {"left": [left.name for left in replaced.left], "saved": _saved(replaced.found)}
    for entry in again:
        store.log.mark([entry.intent.id], "written", now, digest=mark, again=entry.again + 1)
    for entry in waiting:
        before = {d.id: done[d.id].before for d in entry.intent.deeds if d.id in done}
        store.log.mark(
            [entry.intent.id], "written", now, digest=mark, before=before, noted=noted, **more
        )
        more = {}


def _saved(found: Sequence[Found]) -> list[list[str]]:
    """Line by line, what somebody saved in the moment of a write."""
    units = [pair for item in found for pair in merge.added(item.expected, item.saved)]
    return [[unit.decode("latin-1"), above.decode("latin-1")] for unit, above in units]


def note(store: Store, waiting: Sequence[Open], done: dict[str, Done]) -> bool:
    """Append to the journal; what cannot be appended now is appended when it is settled."""
    entries = [
        entry(deed, one.intent.by, one.intent.session, done.get(deed.id))
        for one in waiting
        for deed in one.intent.deeds
    ]
    try:
        store.journal.append(entries)
        for folder in {os.path.dirname(one.intent.path) for one in waiting}:
            swap.sync_folder(f"{store.vault.root}/{folder}")
    except OSError:
        return False
    return True


def entry(deed: Deed, by: str, session: str, done: Done | None = None) -> Entry:
    """A deed as the journal keeps it: with a digest of what it left, and the text it replaced."""
    data: dict[str, Any] = dict(deed.data)
    if session:
        data["session"] = session
    if done:
        data |= {"section": done.section, "previous": done.previous}
        data["after"] = digest(done.after.encode()).hex() if done.after else ""
        if done.before:  # a person's own words: the note keeps them as they are, the journal not
            data["before"] = redact(done.before)[0]
    path = deed.change.path if deed.change else ""
    return Entry(deed.id, deed.op, by, deed.ref, path, data)


def keep(store: Store, left: Sequence[Left]) -> None:
    """What a displaced file held, to know later what an editor has added to it."""
    for item in left:
        os.makedirs(f"{store.vault.state}/bases", exist_ok=True)
        with open(f"{store.vault.state}/bases/{item.name}", "wb") as file:
            file.write(item.data)
