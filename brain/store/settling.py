"""How a promise ends: what was written is still there a few seconds later, or a person took it out.

An editor may hold a text that it read before a change was written, and save it over the change:
that is written anew. Once a change has stood for `settle_after` seconds, its disappearance is a
person's deletion.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from brain.changes import Deed
from brain.errors import BrainError, Refused
from brain.intents import Open
from brain.journal.codec import event_id
from brain.store import attempt, place, standing, writing
from brain.vault import files
from brain.vault.replace import NO_LIMIT, Left, Replaced, create, keep_copy, look

if TYPE_CHECKING:
    from brain.store.door import Store

OPEN_FOR = 60.0  # s for which a displaced file that somebody has open is watched
MOVED = "git has checked out another commit since it was written"


def settle(store: Store, refs: Collection[str] = ()) -> None:
    """End what has been written long enough ago, or is about these entries alone. What cannot be
    ended now is left for later, and why is remembered."""
    due = store.clock() - store.settle_after
    written = [entry for entry in store.open() if entry.state == "written"]
    ripe = [e for e in written if e.at <= due or all(d.ref in refs for d in e.intent.deeds)]
    for path in dict.fromkeys(entry.intent.path for entry in ripe):
        group = [entry for entry in ripe if entry.intent.path == path]
        try:
            _settle(store, path, group)
        except (BrainError, OSError) as error:
            left = [e.intent.id for e in group if e.intent.id in store.log.open]
            with suppress(OSError):
                store.explain(left, str(error))


def _settle(store: Store, path: str, ripe: Sequence[Open]) -> None:
    ripe = [entry for entry in ripe if late_saves(store, entry)]
    if not ripe:
        return
    _secure(store, path, ripe)
    text = writing.look_surely(store, path)
    lost, covered = standing.lost(store, path, text), standing.covered(store, path, text)
    fates = {entry.intent.id: standing.fate(store, entry, text, lost) for entry in ripe}
    for entry in ripe:
        if fates[entry.intent.id] == "blocked":
            store.log.mark([entry.intent.id], "blocked", store.clock(), why=MOVED)
    ended = [id for id, fate in fates.items() if fate in ("gone", "stands")]
    for id in _together(store, path, ended, lost):
        honour(store, covered.get(id, []))
        if fates[id] == "gone":
            honour(store, lost.get(id, []))
        store.log.mark([id], "done")
    if "again" in fates.values() and not files.is_git_busy(store.git):
        place.refuse(path, text)
        wrote = writing.write(store, path, [], text)
        if wrote:
            writing.finish(store, wrote)


def _together(store: Store, path: str, ended: Collection[str], lost: Collection[str]) -> list[str]:
    """Of what may end, that without which the rest is still judged rightly. What was done to an
    entry is judged as a whole: a change without a later one would seem to be wiped by it, and one
    that was wiped is known by those before it."""
    written = standing.written(store, path)
    refs = {entry.intent.id: {deed.ref for deed in entry.intent.deeds} for entry in written}
    held = {ref for id in refs if id in lost and id not in ended for ref in refs[id]}
    out = []
    for id in refs:
        if id in ended and not refs[id] & held:
            out.append(id)
        else:
            held |= refs[id]
    return out


def honour(store: Store, deeds: Sequence[Deed]) -> None:
    """A person took these out again, or wrote over them: that is put on record."""
    if deeds:
        store.journal.append([writing.gone(store, deed, event_id()) for deed in deeds])


def catch_up(store: Store) -> None:
    """Put on record what took its place before a crash and is not in the journal yet."""
    for entry in store.open():
        if entry.state == "written" and not entry.noted and _is_noted(store, entry):
            store.log.mark([entry.intent.id], "written", entry.at, noted=True)


def _secure(store: Store, path: str, ripe: Sequence[Open]) -> None:
    """Bring the note and the journal to the disk, the record of each deed among it: only then may
    a promise end."""
    there = store.journal.has([deed.id for entry in ripe for deed in entry.intent.deeds])
    if not all(_note_missing(store, entry, there) for entry in ripe):
        raise BrainError("It cannot be put on record.", "Can the journal be written?")
    store.journal.secure()
    files.sync_folder(os.path.dirname(place.full(store.vault, path)))


def _is_noted(store: Store, entry: Open) -> bool:
    """Append to the journal what a crash or a full disk kept out of it."""
    return _note_missing(store, entry, store.journal.has([d.id for d in entry.intent.deeds]))


def _note_missing(store: Store, entry: Open, there: set[str]) -> bool:
    deeds = tuple(d for d in entry.intent.deeds if d.id not in there and not entry.void)
    done = {deed.id: was for deed in deeds if (was := standing.done(entry, deed))}
    return not deeds or writing.note(store, [Open(entry.intent._replace(deeds=deeds))], done)


def late_saves(store: Store, entry: Open) -> bool:
    """Bring what an editor wrote into displaced files into the note. False while it may still
    write to one."""
    return all(_late_save(store, entry, name) for name in entry.left)


def _late_save(store: Store, entry: Open, name: str) -> bool:
    full = place.full(store.vault, entry.intent.path)
    aside, kept = f"{os.path.dirname(full)}/{name}", attempt.base_of(store, name)
    if os.path.lexists(aside):
        theirs, sure = look(aside)
        base = files.read(kept, NO_LIMIT)[0] if os.path.lexists(kept) else None
        if theirs != base:
            try:
                bring_in(store, entry, base, theirs)
            except Refused:
                keep_copy(aside, full)
                sure = True
            attempt.keep(store, [Left(name, theirs)])
        if not sure and store.clock() < entry.at + OPEN_FOR:
            return False
        with suppress(FileNotFoundError):
            os.unlink(aside)
    with suppress(FileNotFoundError):
        os.unlink(kept)
    return True


def bring_in(store: Store, entry: Open, base: bytes | None, theirs: bytes) -> None:
    """Merge a text that somebody saved over `base` into the note as it is now. If it is not known
    over what, nothing is taken out."""
    path = entry.intent.path
    text = writing.read_surely(store, path)
    if text.stat is None:
        create(place.full(store.vault, path), attempt.temp(), theirs)
        return

    ours = _replaced(store, path)

    def edit(data: bytes) -> bytes:
        common = _common(data, theirs, ours) if base is None else base
        return place.merged(store.vault, path, common, data, theirs)

    if edit(text.data) != text.data:
        replaced = attempt.put(store, entry, text, edit)
        _brought(store, entry, replaced)


def _brought(store: Store, entry: Open, replaced: Replaced) -> None:
    more = attempt.over(store, entry, replaced)
    store.log.mark([entry.intent.id], entry.state, entry.at, **more)


def _replaced(store: Store, path: str) -> set[bytes]:
    """The lines that open intents have replaced or removed."""
    entries = [entry for entry in store.open() if entry.intent.path == path]
    done = [standing.done(entry, deed) for entry in entries for deed in entry.intent.deeds]
    return {line for was in done if was for line in was.before.encode().split(b"\n")}


def _common(data: bytes, theirs: bytes, ours: set[bytes]) -> bytes:
    """What a text may have been saved over: what it shares with the note, and what we took out of
    that. Against this as a base, a merge removes nothing else."""
    there = {*data.split(b"\n"), *ours}
    return b"\n".join(line for line in theirs.split(b"\n") if line in there)
