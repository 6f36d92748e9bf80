"""How a promise ends: what was written is still there a few seconds later, or a person took it out.

An editor may hold a text that it read before a change was written, and save it over the change:
that is written anew. Once a change has stood for `settleSeconds`, its disappearance is a person's
deletion.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from brain.changes import to_json
from brain.intents import Open
from brain.journal import Entry, event_id
from brain.merge import merge
from brain.store import writing
from brain.store.place import Text
from brain.vault import files, git
from brain.vault.replace import NO_LIMIT, create, look, replace

if TYPE_CHECKING:
    from brain.store.door import Store

STALE = 10.0  # s: an editor that saves later than this has seen what was written
OPEN_FOR = 60.0  # s for which a displaced file that somebody has open is watched


def settle(store: Store) -> None:
    """End what has been written long enough ago."""
    due = time.time() - store.config.settleSeconds
    for entry in store.open():
        if entry.state == "written" and entry.at <= due and entry.intent.id in store.log.open:
            _settle(store, entry)


def _settle(store: Store, entry: Open) -> None:
    intent = entry.intent
    if not _late_saves(store, entry):
        return
    if not entry.noted:
        catch_up(store, entry)
    text = writing.read(store, intent.path)
    if entry in writing.wiped(store, intent.path, text):
        if intent.head != git.head(store.git):
            why = "git has checked out another commit since it was written"
            store.log.mark([intent.id], "blocked", time.time(), why=why)
            return
        if _by_stale_editor(entry, text) and not git.at_work(store.git):
            writing.write(store, intent.path, [], text)
            return
        _honour(store, entry)
    store.log.mark([intent.id], "done")


def _by_stale_editor(entry: Open, text: Text) -> bool:
    """Was the note saved so soon after it was written that the editor had not seen it?"""
    return text.stat is not None and text.stat.st_mtime <= entry.at + STALE


def _honour(store: Store, entry: Open) -> None:
    """A person took it out again; the journal keeps the words, so that `undo` can bring it back."""
    intent = entry.intent
    store.journal.append(
        [
            Entry(
                event_id(), "gone", "person", deed.ref, intent.path,
                {"change": to_json(deed.change), "of": deed.id},
            )
            for deed in intent.deeds
            if deed.change
        ]
    )  # fmt: skip


def catch_up(store: Store, entry: Open) -> None:
    """Append to the journal what a crash or a full disk kept out of it."""
    ids = [deed.id for deed in entry.intent.deeds]
    missing = set(ids) - store.journal.has(ids)
    deeds = tuple(deed for deed in entry.intent.deeds if deed.id in missing)
    if deeds:
        writing.note(store, [Open(entry.intent._replace(deeds=deeds))], {})


def _late_saves(store: Store, entry: Open) -> bool:
    """Bring what an editor wrote into a displaced file into the note. False while it may still
    write to it."""
    folder = os.path.dirname(f"{store.vault.root}/{entry.intent.path}")
    for name in entry.left:
        aside, kept = f"{folder}/{name}", f"{store.vault.state}/bases/{name}"
        if os.path.lexists(aside):
            theirs, sure = look(aside)
            base = files.read(kept, NO_LIMIT)[0] if os.path.lexists(kept) else theirs
            if theirs != base:
                bring_in(store, entry.intent.path, f"{name}.late", base, theirs)
                with open(kept, "wb") as file:
                    file.write(theirs)
            if not sure and time.time() < entry.at + OPEN_FOR:
                return False
            os.unlink(aside)
        with suppress(FileNotFoundError):
            os.unlink(kept)
    return True


def bring_in(store: Store, path: str, temp: str, base: bytes, theirs: bytes) -> None:
    """Merge a text that somebody saved over `base` into the note as it is now."""
    text = writing.read(store, path)
    full = f"{store.vault.root}/{path}"
    if text.stat is None:
        create(full, temp, theirs)
    elif merge(base, text.data, theirs) != text.data:
        replaced = replace(full, temp, text.data, lambda data: merge(base, data, theirs))
        writing.keep(store, replaced.left)
