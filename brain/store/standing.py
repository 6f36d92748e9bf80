"""Does what was written still stand? And if not, who took it out?

An editor may save a text that it read before a change was written, and so wipe it. It does so soon:
later than `STALE`, or again and again at the pace of a person, it is somebody who had seen the
change. What was removed may come back at any time: text that reappears wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from brain import merge
from brain.changes import Add, Deed, Done, Drop, Move, Remove
from brain.errors import Refused
from brain.intents import Open
from brain.store import place
from brain.store.place import Text
from brain.vault import git

if TYPE_CHECKING:
    from brain.store.door import Store

STALE = 5.0  # s: who saves later than this has seen what was written
SLOW = 1.0  # s: nobody reads and removes a line faster
AGAIN = 3  # times that a change is written anew after a slow save,
FAST = 0.02  # of which one after a fast save counts so much


def latest(store: Store, path: str) -> str:
    """The digest of what Brain itself left in this file last."""
    return store.log.latest.get(path, "")


def wiped(store: Store, path: str, text: Text) -> dict[str, list[Deed]]:
    """Of each written intent, by id, what an editor wiped and is to be written anew; what is to be
    brought back may also be what a person saved."""
    if text.digest == latest(store, path):
        return {}
    gone = lost(store, path, text)
    again = (e for e in written(store, path) if fate(store, e, text, gone) == "again")
    return {entry.intent.id: gone.get(entry.intent.id, []) for entry in again}


def written(store: Store, path: str) -> list[Open]:
    """What was written to a file and is not settled."""
    return [e for e in store.open() if e.intent.path == path and e.state == "written"]


def fate(store: Store, entry: Open, text: Text, lost: Mapping[str, list[Deed]]) -> str:
    """`stands`, `again`, `gone` (taken out by a person) or `blocked` (git moved on)."""
    if entry.intent.id not in lost and restored(text.data, entry.saved) == text.data:
        return "stands"
    if entry.head != git.head(store.git):
        return "blocked"
    if text.stat is None or _saved(text.stat, entry) > entry.at + STALE or entry.again >= AGAIN:
        return "gone"
    return "again"


def weight(entry: Open, text: Text) -> float:
    """How much being wiped by this text counts."""
    slow = text.stat is not None and _saved(text.stat, entry) > entry.at + SLOW
    return 1 if slow else FAST


def _saved(st: os.stat_result, entry: Open) -> float:
    """When a text came that is without a change. One that is older than the change was brought
    back with its time; then the change time tells, which cannot be set. Else that tells less: it
    is also when we ourselves let files change places."""
    return st.st_mtime if st.st_mtime >= entry.at else st.st_ctime


def lost(store: Store, path: str, text: Text) -> dict[str, list[Deed]]:
    """Of each written intent, by id, the deeds that have left no trace in a text.

    What was done to an entry is judged as a whole: where we set back ourselves what we had done
    before, or removed it, nothing was wiped.
    """
    chains: dict[str, list[tuple[str, Deed, Done]]] = {}
    for entry in written(store, path):
        for deed in entry.intent.deeds:
            if was := done(entry, deed):
                chains.setdefault(deed.ref, []).append((entry.intent.id, deed, was))
    found: dict[str, list[Deed]] = {}
    for chain in chains.values():
        at = max((n for n, (*_, was) in enumerate(chain, 1) if _is_removal(was)), default=0)
        stands = _standing(store, path, [was for *_, was in chain[at:]], text)
        for (id, deed, _), still in zip(chain[at:], stands, strict=True):
            if not still:
                found.setdefault(id, []).append(deed)
    return found


def _is_removal(was: Done) -> bool:
    return isinstance(was.change, Remove | Drop)


def _standing(store: Store, path: str, chain: list[Done], text: Text) -> list[bool]:
    """Which of the changes of an entry, in order, still stand in a text."""
    everything = [True] * len(chain)
    moves = [was for was in chain if isinstance(was.change, Move)]
    if not chain or (not moves and chain[-1].after and chain[-1].after.encode() in text.data):
        return everything
    if isinstance(chain[0].change, Add) and not _has_id(text.data, chain[0].change.ref):
        return everything if _has_words(text.data, chain) else [False] * len(chain)
    try:
        now = place.edited(store.vault, path, text.data, [chain[-1].change]).done[0]
        if moves and now.section in {was.section for was in moves}:
            there = place.edited(store.vault, path, text.data, [moves[-1].change]).done[0]
            moves = [] if there.outcome == "already" else moves
        else:
            moves = []
    except Refused:
        return everything  # it cannot be told, nor mended
    if now.outcome == "missing" or (now.outcome == "already" and not now.before):
        return everything
    count = _count(chain, now.before)
    return [n < count and not (moves and was is moves[-1]) for n, was in enumerate(chain)]


def _has_id(data: bytes, ref: str) -> bool:
    id = rb"\^%b[ \t\r]*$" % re.escape(ref.encode())
    return bool(re.search(id, data, re.MULTILINE))


def _has_words(data: bytes, chain: Sequence[Done]) -> bool:
    """Is an entry there without its id, as any of its changes left it?"""
    id = rb"[ \t]*\^%b$" % re.escape(chain[0].change.ref.encode())
    words = [re.sub(id, b"", was.after.encode()) for was in chain]
    return any(each.strip() and each in data for each in words)


def _count(chain: Sequence[Done], raw: str) -> int:
    """After how many of its changes an entry read so; all of them if after none, nor before."""
    for count in range(len(chain), 0, -1):
        was = chain[count - 1]
        if was.after == raw:
            return count
        if was.outcome == "done" and was.before == raw:
            return count - 1
    return len(chain)


def done(entry: Open, deed: Deed) -> Done | None:
    """What became of a deed, as the log remembers it."""
    if deed.change is None or deed.id not in entry.did:
        return None
    return Done(deed.change, *entry.did[deed.id])


def restored(data: bytes, saved: Sequence[Sequence[str]]) -> bytes:
    """With what a person had saved in the moment of an earlier write, if that was wiped."""
    raw = [(unit.encode("latin-1"), above.encode("latin-1")) for unit, above in saved]
    return merge.restore(data, raw) if raw else data
