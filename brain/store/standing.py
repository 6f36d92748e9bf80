"""Does what was written still stand? And if not, who took it out?

An editor may save a text that it read before a change was written, and so wipe it. It does so soon:
later than `STALE`, or again and again at the pace of a person, it is somebody who had seen the
change. What was removed may come back at any time: text that reappears wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brain import merge
from brain.changes import Add, Deed, Done, Drop, Move, Remove
from brain.errors import Refused
from brain.intents import Open
from brain.store import place
from brain.store.place import Text
from brain.vault import git

if TYPE_CHECKING:
    from brain.store.door import Store

STALE = 10.0  # s: who saves later than this has seen what was written
SLOW = 1.0  # s: nobody reads and removes a line faster
AGAIN = 3  # times that a change is written anew after a slow save,
FAST = 0.02  # of which one after a fast save counts so much


def latest(store: Store, path: str) -> str:
    """The digest of what Brain itself left in this file last."""
    return store.log.latest.get(path, "")


def wiped(store: Store, path: str, text: Text) -> list[Open]:
    """Written changes that an editor wiped, and that are to be written anew."""
    if text.digest == latest(store, path):
        return []
    unwatch(store, path)
    written = [e for e in store.open() if e.intent.path == path and e.state == "written"]
    return [entry for entry in written if fate(store, entry, text) == "again"]


def fate(store: Store, entry: Open, text: Text) -> str:
    """`stands`, `again`, `gone` (taken out by a person) or `blocked` (git moved on)."""
    if entry.digest == text.digest:
        return "stands"
    if not lost(store, entry, text) and restored(text.data, entry.saved) == text.data:
        return "stands"
    if entry.head != git.head(store.git):
        return "blocked"
    if text.stat is None or text.stat.st_mtime > entry.at + STALE or entry.again >= AGAIN:
        return "gone"
    return "again"


def unwatch(store: Store, path: str) -> None:
    """What was removed is not to be written anew on behalf of who wrote it. This is found out
    before anything is judged, and not when it is removed: who removes may be killed."""
    for entry, did in _superseded(store, path):
        store.log.mark([entry.intent.id], "written", entry.at, did=did)


def _superseded(store: Store, path: str) -> list[tuple[Open, dict[str, list[Any]]]]:
    """Written intents of whose deeds some were undone by a later removal, and what is left of
    them: what we removed ourselves was not wiped by an editor."""
    found: list[tuple[Open, dict[str, list[Any]]]] = []
    gone: set[str] = set()
    written = [e for e in store.open() if e.intent.path == path and e.state == "written"]
    for entry in reversed(written):
        did = dict(entry.did)
        for deed in reversed(entry.intent.deeds):
            if isinstance(deed.change, Remove | Drop):
                gone.add(deed.ref)
            elif deed.ref in gone:
                did.pop(deed.id, None)
        if len(did) < len(entry.did):
            found.append((entry, did))
    return found


def weight(entry: Open, text: Text) -> float:
    """How much being wiped by this text counts."""
    slow = text.stat is not None and text.stat.st_mtime > entry.at + SLOW
    return 1 if slow else FAST


def lost(store: Store, entry: Open, text: Text) -> list[Deed]:
    """Which deeds have left no trace."""
    deeds = [deed for deed in entry.intent.deeds if deed.id in entry.did]
    return [deed for deed in deeds if _is_lost(store, deed, entry, text)]


def done(entry: Open, deed: Deed) -> Done | None:
    """What became of a deed, as the log remembers it."""
    if deed.change is None or deed.id not in entry.did:
        return None
    return Done(deed.change, *entry.did[deed.id])


def _is_lost(store: Store, deed: Deed, entry: Open, text: Text) -> bool:
    """Is an entry as it was before its change?"""
    was = done(entry, deed)
    if was is None or isinstance(was.change, Remove | Drop | Move):
        return False
    after = was.after.encode()
    if after and after in text.data:
        return False
    if isinstance(was.change, Add):
        bare = re.sub(rb"[ \t]*\^%b$" % was.change.ref.encode(), b"", after)
        id = re.compile(rb"\^%b[ \t\r]*$" % re.escape(was.change.ref.encode()), re.MULTILINE)
        return not id.search(text.data) and not (bare.strip() and bare in text.data)
    if was.outcome != "done":
        return False
    try:
        now = place.edited(store.vault, entry.intent.path, text.data, [was.change]).done[0]
    except Refused:
        return False  # it cannot be told, nor mended
    return now.outcome == "done" and now.before == was.before


def restored(data: bytes, saved: Sequence[Sequence[str]]) -> bytes:
    """With what a person had saved in the moment of an earlier write, if that was wiped."""
    raw = [(unit.encode("latin-1"), above.encode("latin-1")) for unit, above in saved]
    return merge.restore(data, raw) if raw else data
