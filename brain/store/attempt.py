"""An attempt to replace a file, of which the log is told enough to go on after a crash.

The log names the temporary files before there are any, and knows what each of ours holds before it
takes the note's place. `crash` tells by that how far an attempt came. Nothing takes the note's
place before the log line and the new file are on the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from brain import merge
from brain.formats.text import digest
from brain.intents import Intent, Open, Told
from brain.journal.codec import event_id
from brain.store import place
from brain.store.place import Text
from brain.vault import files
from brain.vault.replace import Edit, Found, Left, Replaced, create, replace

if TYPE_CHECKING:
    from brain.store.door import Store

OVER: Told = {"temp": "", "aside": "", "news": [], "old": "", "group": []}


def temp() -> str:
    """A new name for temporary files; it is hidden, and nobody else has it."""
    return f".brain-{event_id('i')}.tmp"


def put(
    store: Store,
    entry: Open,
    text: Text,
    edit: Edit,
    did: Callable[[], dict[str, list[Any]]] | None = None,
    group: Sequence[str] = (),
) -> Replaced:
    """Put `edit(text)` in its place, on behalf of an open intent and a group of others.

    `did` says what the edit has done. StaleFile if the note came or went meanwhile.
    """
    path, id = entry.intent.path, entry.intent.id
    full = place.full(store.vault, path)
    if not entry.temp or any(name.startswith(entry.temp) for name in entry.left):
        store.log.mark([id], entry.state, entry.at, **anew())

    def tell(aside: str, new: bytes | None, expected: bytes) -> None:
        if new is None:
            store.log.mark([id], entry.state, entry.at, news=[])
            return
        more: Told = {"aside": aside, "news": [*entry.news, digest(new).hex()]}
        more |= {"old": digest(expected).hex(), "group": list(group)}
        if did:
            more["did"] = did()
        at = entry.at if entry.state else store.clock()
        store.log.mark([id], entry.state, at, **more)
        store.log.secure()

    def saw(found: Found) -> None:
        saved = _with(store, entry, [found])
        store.log.mark([id], entry.state, entry.at, saved=saved)

    def merged(base: bytes, mine: bytes, theirs: bytes) -> bytes:
        return place.merged(store.vault, path, base, mine, theirs)

    if text.stat is None:
        data = edit(b"")
        if not data:
            return Replaced(b"")  # nothing to be made of nothing
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return create(full, entry.temp, data, tell)
    return replace(full, entry.temp, text.data, edit, tell, merged, saw)


def clear(store: Store, intent: Intent) -> None:
    """Remove what a full disk made an attempt leave."""
    folder = os.path.dirname(place.full(store.vault, intent.path))
    with suppress(OSError):
        os.unlink(f"{folder}/{intent.temp}.part")


def anew() -> Told:
    """What the log is to know before another attempt."""
    return {**OVER, "temp": temp()}


def over(store: Store, entry: Open, replaced: Replaced) -> Told:
    """What the log is to remember when an attempt has ended."""
    names = [left.name for left in replaced.left]
    keep(store, replaced.left)
    saved = _with(store, entry, replaced.found)
    return {**OVER, "left": [*entry.left, *names], "saved": saved}


def _with(store: Store, entry: Open, found: Sequence[Found]) -> list[list[str]]:
    """What to watch over: line by line, also what somebody saved in the moment of a write."""
    if not found or not place.by_lines(store.vault, entry.intent.path):
        return entry.saved
    pairs = [pair for item in found for pair in merge.added(item.expected, item.saved)]
    units = [[unit.decode("latin-1"), above.decode("latin-1")] for unit, above in pairs]
    return entry.saved + [unit for unit in units if unit not in entry.saved]


def keep(store: Store, left: Sequence[Left]) -> None:
    """What a displaced file held, to know later what an editor has added to it."""
    for item in left:
        base = base_of(store, item.name)
        os.makedirs(os.path.dirname(base), 0o700, exist_ok=True)
        files.write_atomically(base, item.data)


def base_of(store: Store, name: str) -> str:
    return f"{store.vault.state_path}/bases/{name}"
