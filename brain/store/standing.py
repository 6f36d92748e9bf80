"""Does what was written still stand? And if not, who took it out?

An editor may save a text that it read before a change was written, and so wipe it. It does so soon:
later than `STALE`, or again and again at the pace of a person, it is somebody who had seen the
change. What was removed may come back at any time: text that reappears wins. Words that somebody
wrote over ours stay, whenever that was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from brain import merge
from brain.changes import Add, Change, Deed, Done, Drop, Move, Relate, Remove, Retag, Update
from brain.errors import Refused
from brain.intents import Open
from brain.store import place
from brain.store.place import Text
from brain.vault import files

if TYPE_CHECKING:
    from brain.store.door import Store

STALE = 5.0  # s: who saves later than this has seen what was written
SLOW = 1.0  # s: nobody reads and removes a line faster
AGAIN = 3  # times that a change is written anew after a slow save,
FAST = 0.02  # of which one after a fast save counts so much
UNDONE = ("missing", "changed")
STANDS, LOST, COVERED = "stands", "lost", "covered"  # a person's words are where ours were


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
    if entry.head != files.git_head(store.git):
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
    """Of each written intent, by id, the deeds that have left no trace in a text, and can be done
    again.

    What was done to an entry is judged as a whole: where we set back ourselves what we had done
    before, or removed it, nothing was wiped.
    """
    return _judged(store, path, text, LOST)


def covered(store: Store, path: str, text: Text) -> dict[str, list[Deed]]:
    """Of each written intent, by id, the deeds of which nothing is left because a person wrote the
    entry anew, or took it out."""
    return _judged(store, path, text, COVERED)


def _judged(store: Store, path: str, text: Text, wanted: str) -> dict[str, list[Deed]]:
    chains: dict[str, list[tuple[str, Deed, Done]]] = {}
    for entry in written(store, path):
        for deed in entry.intent.deeds:
            was = done(entry, deed)
            if was and (was.outcome not in UNDONE or _is_removal(was)):
                chains.setdefault(deed.ref, []).append((entry.intent.id, deed, was))
    found: dict[str, list[Deed]] = {}
    for chain in chains.values():
        at = max((n for n, (*_, was) in enumerate(chain, 1) if _is_removal(was)), default=0)
        fates = _standing(store, path, [was for *_, was in chain[at:]], text)
        for (id, deed, _), fate in zip(chain[at:], fates, strict=True):
            if fate == wanted:
                found.setdefault(id, []).append(deed)
    return found


def _is_removal(was: Done) -> bool:
    return isinstance(was.change, Remove | Drop)


def _standing(store: Store, path: str, chain: list[Done], text: Text) -> list[str]:
    """What became of the changes of an entry, in order, in a text."""
    everything = [STANDS] * len(chain)
    moves = [was for was in chain if isinstance(was.change, Move)]
    if not chain or (not moves and chain[-1].after and chain[-1].after.encode() in text.data):
        return _covered(chain, everything, chain[-1].after) if chain else []
    if isinstance(chain[0].change, Add) and not _has_id(text.data, chain[0].change.ref):
        return everything if _has_words(text.data, chain) else [LOST] * len(chain)
    try:
        now = place.edited(store.vault, path, text.data, [chain[-1].change]).done[0]
        if now.outcome == "missing" or (now.outcome == "already" and not now.before):
            return everything if _has_words(text.data, chain) else _without(chain)
        fates = _since(chain, now.before) or _beside(store, path, chain, text)
        if moves and now.section in {was.section for was in moves}:
            there = place.edited(store.vault, path, text.data, [moves[-1].change]).done[0]
            if there.outcome != "already":
                fates[chain.index(moves[-1])] = LOST
    except Refused:
        return everything  # it cannot be told, nor mended
    return _covered(chain, fates, now.before)


def _without(chain: Sequence[Done]) -> list[str]:
    """Of an entry that is not there: its last words are covered, and its tags and fields."""
    last = _last_words(chain)
    tags = [isinstance(was.change, Retag | Relate) for was in chain]
    return [COVERED if n == last or tag else STANDS for n, tag in enumerate(tags)]


def _beside(store: Store, path: str, chain: list[Done], text: Text) -> list[str]:
    """Of an entry that a person wrote anew: tags and fields can be set again."""
    fates = [STANDS] * len(chain)
    apart = [n for n, was in enumerate(chain) if isinstance(was.change, Retag | Relate)]
    edited = place.edited(store.vault, path, text.data, [chain[n].change for n in apart])
    if edited.data != text.data:
        for n, one in zip(apart, edited.done, strict=True):
            fates[n] = LOST if one.outcome == "done" else STANDS
    return fates


def _covered(chain: Sequence[Done], fates: list[str], raw: str) -> list[str]:
    """Our last words are covered if a person wrote the entry anew behind them, and they are not
    among those there are now."""
    last = _last_words(chain)
    if last < 0 or fates[last] != STANDS:
        return fates
    stood = [was for was, fate in zip(chain[last:], fates[last:], strict=True) if fate == STANDS]
    anew = any(was.after != then for was, then in zip(stood, _then(stood, raw), strict=True))
    if anew and not _says(raw, chain[last].change):
        fates[last] = COVERED
    return fates


def _says(raw: str, change: Change) -> bool:
    """Does an entry hold the words that a change gave it?"""
    words = change.text if isinstance(change, Update) else ""
    return " ".join(words.split()) in " ".join(raw.split())


def _then(chain: Sequence[Done], raw: str) -> list[str]:
    """What an entry read before each next change, and reads now."""
    return [*(was.before for was in chain[1:]), raw]


def _last_words(chain: Sequence[Done]) -> int:
    """Which of the changes gave an entry its words; -1 if none."""
    return max((n for n, was in enumerate(chain) if isinstance(was.change, Update)), default=-1)


def _has_id(data: bytes, ref: str) -> bool:
    id = rb"\^%b[ \t\r]*$" % re.escape(ref.encode())
    return bool(re.search(id, data, re.MULTILINE))


def _has_words(data: bytes, chain: Sequence[Done]) -> bool:
    """Is an entry there without its id, as any of its changes left it?"""
    id = rb"[ \t]*\^%b$" % re.escape(chain[0].change.ref.encode())
    words = [re.sub(id, b"", was.after.encode()) for was in chain]
    return any(each.strip() and each in data for each in words)


def _since(chain: Sequence[Done], raw: str) -> list[str]:
    """Which changes are lost if an entry reads so: those behind the last one after which it did.
    Nothing if it read so after none of them, nor before, or if somebody else's words came then."""
    for count in range(len(chain), -1, -1):
        if (count and chain[count - 1].after == raw) or _starts(chain[count:], raw):
            lost = chain[count:]
            return [STANDS] * count + [LOST] * len(lost) if _is_whole(lost, raw) else []
    return []


def _starts(chain: Sequence[Done], raw: str) -> bool:
    return bool(chain) and chain[0].outcome == "done" and chain[0].before == raw


def _is_whole(chain: Sequence[Done], raw: str) -> bool:
    """Was each of these changes made to what the one before it left?"""
    for was in chain:
        if isinstance(was.change, Update | Retag | Relate) and was.before != raw:
            return False
        raw = was.after
    return True


def done(entry: Open, deed: Deed) -> Done | None:
    """What became of a deed, as the log remembers it."""
    if deed.change is None or deed.id not in entry.did:
        return None
    return Done(deed.change, *entry.did[deed.id])


def restored(data: bytes, saved: Sequence[Sequence[str]]) -> bytes:
    """With what a person had saved in the moment of an earlier write, if that was wiped."""
    raw = [(unit.encode("latin-1"), above.encode("latin-1")) for unit, above in saved]
    return merge.restore(data, raw) if raw else data
