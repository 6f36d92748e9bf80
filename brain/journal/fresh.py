"""The index in step with the journals, and with what waits on this machine to go into one."""

from __future__ import annotations

from brain.index import facts
from brain.index.db import Index, reading
from brain.index.facts import Read
from brain.journal import read
from brain.journal.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from brain.journal.log import Journal

_SPOOL = ("spool", "flushing")
_NONE = (0, 0, 0, 0)


def refresh(journal: Journal, index: Index, wait: float = 30.0) -> bool:
    """Bring the index in step; True if it was not. Costs a few stat calls if it was.

    Inside a transaction of the caller's it becomes part of that. Raises Busy if another process is
    still writing the index after `wait` seconds.
    """
    with reading():
        if _in_step(journal, index.db):
            return False
        if index.db.in_transaction:
            _bring(journal, index.db)
            return True
        with index.exclusive(wait):
            if _in_step(journal, index.db):
                return False  # another process was faster
            with index.transaction() as db:
                _bring(journal, db)
    return True


def _in_step(journal: Journal, db: sqlite3.Connection) -> bool:
    known = facts.journals(db)
    return not _spooled(known, Spool(journal.state)) and not _changed(
        known, read.files(journal.folder)
    )


def _spooled(known: dict[str, Read], spool: Spool) -> bool:
    """Is the spool not what it was?"""
    before = [known[name].stat if name in known else _NONE for name in _SPOOL]
    return before != [stat or _NONE for stat in spool.stats()]


def _changed(known: dict[str, Read], files: list[read.File]) -> bool:
    """Is any journal not what it was? When all of them are gone, that is not believed: a vault
    that is not mounted or half synced keeps its index."""
    there = {file.name: file.stat for file in files}
    return bool(there) and there != {p: row.stat for p, row in known.items() if p not in _SPOOL}


def _bring(journal: Journal, db: sqlite3.Connection) -> None:
    known, spool, files = facts.journals(db), Spool(journal.state), read.files(journal.folder)
    if _spooled(known, spool):
        stats = spool.stats()
        facts.set_spooled(db, spool.counted(journal))
        rows = zip(_SPOOL, stats, strict=True)
        facts.set_journals(db, [Read(name, stat or _NONE) for name, stat in rows])
    if _changed(known, files):
        from brain.journal import into

        into.bring(db, journal.name, files, {p: r for p, r in known.items() if p not in _SPOOL})
