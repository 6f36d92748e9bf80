"""What a killed process leaves: a promise in the log, and perhaps a temporary file beside a note.

The log says which inode the new file had, if it was ready to take its place. If the temporary file
still is that one, the two never changed places, or changed back: it goes, and the change is carried
out anew. If it is another, it is what was displaced.
"""

from __future__ import annotations

import os
import time
from glob import escape, glob
from typing import TYPE_CHECKING

from brain.formats.text import digest
from brain.intents import Open
from brain.store import settling, writing
from brain.vault.replace import look

if TYPE_CHECKING:
    from brain.store.door import Store


def recover(store: Store) -> None:
    """Read the log, and clear up behind those who were killed. What they promised is then carried
    out like anything that waits."""
    store.log.refresh()
    for entry in store.open():
        if not entry.state:
            folder = os.path.dirname(f"{store.vault.root}/{entry.intent.path}")
            if os.path.lexists(f"{folder}/{entry.intent.temp}"):
                _clear_up(store, entry, folder)
            if store.journal.has([deed.id for deed in entry.intent.deeds]):
                store.log.mark([entry.intent.id], "written", time.time())  # all but this was done


def _clear_up(store: Store, entry: Open, folder: str) -> None:
    for aside in sorted(glob(f"{escape(folder)}/{escape(entry.intent.temp)}*")):
        if entry.inode and os.lstat(aside).st_ino != entry.inode:
            _displaced(store, entry, aside)
        os.unlink(aside)


def _displaced(store: Store, entry: Open, aside: str) -> None:
    """Our file took its place. If what it displaced is not what was read, somebody had saved just
    before."""
    theirs, _ = look(aside)
    if digest(theirs).hex() == entry.intent.base:
        return
    path = entry.intent.path
    base = _common(writing.read(store, path).data, theirs)
    settling.bring_in(store, path, f"{os.path.basename(aside)}.late", base, theirs)


def _common(a: bytes, b: bytes) -> bytes:
    """The lines two texts share: against that as a base, a merge removes nothing."""
    there = set(b.split(b"\n"))
    return b"\n".join(line for line in a.split(b"\n") if line in there)
