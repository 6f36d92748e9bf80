"""state.db: data of this machine that must not be synced.

The file contains the write-ahead log and the version history of the notes that Brain writes. It
also contains the id of this device, the uses that are not in the journal yet, the last recalls, and
a few flags. It is an SQLite file in the state folder. A damaged file, or one of another version, is
renamed and a new file is created. Then only pending writes and the uses since the last day are
lost, but no line of a note.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import contextmanager, suppress

from brain._tuples import NamedTuple
from brain.errors import BrainError, Busy
from brain.index.db import connect
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    Row = TypeVar("Row", bound=NamedTuple)
    Number = int | None  # None until SQLite has chosen one
    Unit = str  # of a note: any bytes, with surrogates for those that are not UTF-8

FILE = "state.db"
_WAIT = 2.0  # seconds for another process that writes
_VERSION = 4
_CLAIM, _KEPT_CLAIMS = "claim:", 30 * 86_400.0  # the keys of claims, and seconds they are kept
_DAMAGED, _OTHER = "the file is damaged", "the file is of another version"


# -- the tables: a class per row, whose fields are the columns -------------------------------------


class Device(NamedTuple):
    """This machine as a writer of journals."""

    id: str
    seq: int = 0  # of its last record
    lamport: int = 0
    month: str = ""  # of its last journal file; '' if there is none
    size: int = 0  # where the last record ends in that file
    last: int = -1  # the checksum of that record
    end: int = 0  # where the file ends; behind `size` if a line is torn
    home: int = 0  # inode of the state folder; a copy of the folder has another one
    past: tuple[str, ...] = ()  # ids that this machine had before


class Use(NamedTuple):
    """A use that happened `times` times, the last time at `last`."""

    op: str  # hit, used_together, reject, gap or seen
    ref: str
    other: str = ""  # the other entry of a pair; for a gap, the asker
    times: int = 1
    last: str = ""
    text: str = ""  # for a gap, the question; for `seen`, the creation time of the memory
    refs: tuple[str, ...] = ()  # for a gap, the entries that did not answer the question
    session: str = ""  # for a gap, the session that asked last
    snippet: str = ""  # for a gap, the beginning of the text that this session was working on
    first: str = ""  # in the table only: the time of the first use
    batch: str = ""  # in the table only: '' until the use is being written to the journal


class Recall(NamedTuple):
    """A context that an agent got."""

    id: Number
    ms: float
    value: dict[str, Any]  # the question, the asker and the entries that were shown


class Flag(NamedTuple):
    """A named value."""

    key: str
    value: str


class NoteRow(NamedTuple):
    """A note that Brain writes. It is kept for a week after the last write."""

    path: str
    tip: int  # the version in the note, as far as Brain knows
    digest: str  # of that version; '' if there is no file
    head: str  # JSON: the edits that turn the tip into the text that should be in the note
    due: int  # 1 if the head is not the tip, or a displaced file is open
    looked: str  # stat values of the file at the last look
    file: str  # identity of the file at the last look; '' if it is not known
    wrote: str  # JSON: identity, times and uptime of the last write, and if it was read since
    git: str  # the commit at the last look
    half: str  # JSON: digest of a text that may be half a save, and since when
    why: str  # why the head is not written yet


class VersionRow(NamedTuple):
    """A text that was in a note."""

    path: str
    n: int
    at: float
    written: bool  # by Brain; else observed
    base: int
    own: str  # JSON: units that its window added or removed
    new: str  # JSON: units that it added to its base
    unread: bool
    undid: bool
    in_place: bool | None  # saved in place, or by rename
    git: bool  # git checked it out
    changes: str  # JSON: the edits that turn the version before it into this one


class GuardRow(NamedTuple):
    """A unit of a note that is guarded against stale windows."""

    path: str
    unit: Unit
    n: int
    present: bool
    seen: bool
    restored: bool


class TempRow(NamedTuple):
    """A temporary file next to a note."""

    name: str
    path: str  # of the note
    displaced: int  # the version that was in the note before
    held: int  # the version that was written to it
    half: str = ""  # JSON: digest of its content while it is open, and since when


class PendingRow(NamedTuple):
    """An acknowledged change."""

    id: str  # of the record
    at: float
    path: str  # of the note; '' if only a record is to be written
    by: str
    session: str
    write: str  # JSON
    done: str  # JSON: what the change does to the entry
    seq: Number = None


_TABLES: dict[type, tuple[str, str]] = {  # by the class of a row: the name and the primary key
    Device: ("device", "id"),
    Use: ("uses", "batch, op, ref, other"),
    Recall: ("recalls", ""),
    Flag: ("flags", "key"),
    NoteRow: ("notes", "path"),
    VersionRow: ("versions", "path, n"),
    GuardRow: ("guards", "path, unit"),
    TempRow: ("temps", "name"),
    PendingRow: ("pending", ""),
}
_COLUMNS = {  # by the type of a field
    "str": "TEXT NOT NULL",
    "int": "INTEGER NOT NULL",
    "bool": "INTEGER NOT NULL",
    "float": "REAL NOT NULL",
    "bool | None": "INTEGER",
    "Number": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "Unit": "BLOB NOT NULL",  # any bytes
    "tuple[str, ...]": "TEXT NOT NULL",  # JSON
    "dict[str, Any]": "TEXT NOT NULL",  # JSON
}
_PLAIN = ("str", "int", "float", "Number")  # types of fields that SQLite stores as they are


def _create_table(row: type) -> str:
    name, key = _TABLES[row]
    columns = [f"{field} {_COLUMNS[type]}" for field, type in row.__annotations__.items()]
    columns += [f"PRIMARY KEY ({key})"] if key else []
    return f"CREATE TABLE {name} ({', '.join(columns)})"


def _into(row: type) -> str:
    return f"INTO {_TABLES[row][0]} VALUES ({', '.join('?' * len(row.__annotations__))})"


def _where(row: type, wanted: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return a condition on the columns of a table, and its values."""
    condition = " AND ".join(f"{column} = ?" for column in wanted)
    values = [_to_sql(value, row.__annotations__[column]) for column, value in wanted.items()]
    return f"WHERE {condition}" if wanted else "", values


def _values(row: tuple[Any, ...]) -> list[Any]:
    return list(map(_to_sql, row, type(row).__annotations__.values()))


def _to_sql(value: Any, type: str) -> Any:
    """Return the value of a field as SQLite stores it."""
    if type == "Unit":
        return value.encode("utf-8", "surrogateescape")
    if not isinstance(value, tuple | dict):
        return value
    import json

    return json.dumps(value)


def _from_sql(value: Any, type: str) -> Any:
    """Return the value of a field from what SQLite has stored."""
    if type == "Unit":
        return value.decode("utf-8", "surrogateescape")
    if type.startswith("bool"):
        return value if value is None else bool(value)
    if value == "[]":
        return ()
    import json

    found = json.loads(value)
    return tuple(found) if isinstance(found, list) else found


class State:
    """The state of one vault on this machine. Nothing is opened or created until it is used.

    Raise BrainError if the file cannot be used, Busy if another process holds it for too long.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        self.path = f"{self.folder}/{FILE}"
        self._db: sqlite3.Connection | None = None
        self._inode = 0
        self._is_frozen = False  # True if the open file can only be read, as the disk is full

    def close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def exists(self) -> bool:
        """Return True if state.db exists. This takes at most one stat call."""
        return self._db is not None or os.path.exists(self.path)

    # -- rows --------------------------------------------------------------------------------------

    def rows(self, row: type[Row], **wanted: Any) -> list[Row]:
        """Return the rows of a table with these values, in order."""
        (table, key), types = _TABLES[row], row.__annotations__
        where, values = _where(row, wanted)
        sql = f"SELECT {', '.join(types)} FROM {table} {where} ORDER BY {key or 'rowid'}"
        converted = [
            (index, type) for index, type in enumerate(types.values()) if type not in _PLAIN
        ]
        found = list(map(list, self._fetch(sql, values)))
        for values in found:
            for index, type in converted:
                values[index] = _from_sql(values[index], type)
        return list(map(row._make, found))

    def save(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows, of any tables. A row with the same key is replaced."""
        with self._writing() as db:
            for row in rows:
                db.execute(f"INSERT OR REPLACE {_into(type(row))}", _values(row))

    def delete(self, row: type, **wanted: Any) -> None:
        """Delete the rows of a table with these values."""
        where, values = _where(row, wanted)
        with self._writing() as db:
            db.execute(f"DELETE FROM {_TABLES[row][0]} {where}", values)

    # -- the device --------------------------------------------------------------------------------

    def device(self) -> Device | None:
        """Return the device of this state folder; None if nothing was written yet, or if the folder
        is a copy of another one."""
        return next((d for d in self.rows(Device) if d.home == self._home()), None)

    def save_device(self, device: Device) -> None:
        """Save the end of the journal. This does not wait for the disk, because after a power
        failure the end is read from the journal again."""
        with self.transaction():
            self.delete(Device)
            self.save([device])

    def new_device(self, id: str) -> Device:
        """Return a new device, which continues the counters of the former one."""
        os.makedirs(self.folder, 0o700, exist_ok=True)
        new = Device(id, home=self._home())
        for former in self.rows(Device):
            new = new._replace(lamport=former.lamport, past=(*former.past, former.id)[-50:])
        return new

    def _home(self) -> int:
        """Return the inode of the folder. Its device number may change with every boot."""
        return _inode(self.folder)

    # -- uses --------------------------------------------------------------------------------------

    def add_uses(self, uses: Iterable[Use]) -> None:
        """Add uses, which are kept until they are written to the journal."""
        sql = f"""INSERT {_into(Use)} ON CONFLICT DO UPDATE SET times = times + excluded.times,
            refs = iif(excluded.last >= last, excluded.refs, refs),
            session = iif(excluded.last >= last, excluded.session, session),
            snippet = iif(excluded.last >= last, excluded.snippet, snippet),
            last = max(last, excluded.last)
        """
        with self._writing() as db:
            db.executemany(sql, [_values(use._replace(first=use.last)) for use in uses])
            self._mark_change()

    def uses(self, batch: str) -> list[Use]:
        """Return the uses of a batch, one for each type and entry or pair."""
        none = ("", "")  # `first` and `batch` are in the table only
        return [Use._make((*use[:-2], *none)) for use in self.rows(Use, batch=batch)]

    def first_use(self) -> str:
        """Return the time of the oldest use; '' if there is none."""
        return next((row[0] or "" for row in self._fetch("SELECT min(first) FROM uses")), "")

    def begin_batch(self, batch: str) -> None:
        """Assign this batch to the uses that have none."""
        with self._writing() as db:
            db.execute("UPDATE uses SET batch = ? WHERE batch = ''", (batch,))

    def batches(self) -> list[str]:
        """Return the batches that are being written to the journal, or that a killed process
        left."""
        rows = self._fetch("SELECT DISTINCT batch FROM uses WHERE batch != '' ORDER BY batch")
        return [row[0] for row in rows]

    def end_batch(self, batch: str) -> None:
        """Remove the uses of a batch, which are in the journal now."""
        with self.transaction():
            self.delete(Use, batch=batch)
            self._mark_change()

    def drop_uses(self, until: Mapping[str, str]) -> None:
        """Remove the uses of each entry up to a time. Questions are kept."""
        sql = "DELETE FROM uses WHERE ? IN (ref, other) AND op != 'gap' AND last <= ?"
        with self._writing() as db:
            db.executemany(sql, until.items())
            self._mark_change()

    def _mark_change(self) -> None:
        """Change the flag `uses`, by which the index knows that it has to read the uses again."""
        self.set_flag("uses", os.urandom(8).hex())

    # -- recalls and flags -------------------------------------------------------------------------

    def add_recall(self, ms: float, value: dict[str, Any], keep: int) -> None:
        """Save a recall, and keep only the last `keep` ones."""
        with self._writing() as db:
            self.save([Recall(None, ms, value)])
            db.execute("DELETE FROM recalls WHERE id <= (SELECT max(id) FROM recalls) - ?", (keep,))

    def last_recalls(self, most: int = -1, session: str = "") -> list[Recall]:
        """Return at most `most` of the last recalls (of a session, if given), oldest first."""
        own = "json_extract(value, '$.session') = ?" if session else "1"
        sql = f"SELECT id, ms, value FROM recalls WHERE {own} ORDER BY id DESC LIMIT ?"
        found = self._fetch(sql, (session, most) if session else (most,))
        return [Recall(id, ms, _from_sql(value, "dict")) for id, ms, value in reversed(found)]

    def recall_times(self) -> list[float]:
        """Return how many milliseconds each remembered recall took, oldest first."""
        return [ms for (ms,) in self._fetch("SELECT ms FROM recalls ORDER BY id", ())]

    def change_recall(self, id: Number, value: dict[str, Any]) -> None:
        """Change a recall, unless it was deleted."""
        import json

        with self._writing() as db:
            db.execute("UPDATE recalls SET value = ? WHERE id = ?", (json.dumps(value), id))

    def flag(self, key: str) -> str:
        """Return the value of a flag; '' if it is not set."""
        return next((flag.value for flag in self.rows(Flag, key=key)), "")

    def set_flag(self, key: str, value: str) -> None:
        """Set a flag; '' removes it."""
        if value:
            self.save([Flag(key, value)])
        else:
            self.delete(Flag, key=key)

    def claim(self, key: str, now: float, seconds: float) -> bool:
        """Return True if this key was not claimed within these seconds. If several processes claim
        it at once, only one of them gets True."""
        key, old = f"{_CLAIM}{key}", now - _KEPT_CLAIMS
        with self._writing() as db:
            claimed = self.flag(key)
            if claimed and now - float(claimed) < seconds:
                return False
            self.set_flag(key, str(now))
            where = "substr(key, 1, ?) = ? AND CAST(value AS REAL) < ?"
            db.execute(f"DELETE FROM flags WHERE {where}", (len(_CLAIM), _CLAIM, old))
            return True

    def claimed(self, key: str) -> float:
        """Return the time of the last claim of a key, in seconds since 1970; 0 if there is none."""
        return float(self.flag(f"{_CLAIM}{key}") or 0)

    def compact(self) -> bool:
        """Erase deleted rows from the file. Return False if another process is reading it."""
        if not os.path.exists(self.path):
            return True
        with self._connected() as db:
            return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def has_pending(self) -> bool:
        """Return True if a change is not in its note yet, or has no record."""
        sql = "SELECT 1 FROM pending UNION ALL SELECT 1 FROM notes WHERE head != '' LIMIT 1"
        return bool(self._fetch(sql))

    def has_work(self, root: str) -> bool:
        """Return True if a note that Brain writes was changed, or if a write is pending or has no
        record."""
        notes = self._fetch("SELECT path, due, looked FROM notes")
        touched = any(due or files.stamp(f"{root}/{path}") != was for path, due, was in notes)
        return touched or self.has_pending()

    # -- the file ----------------------------------------------------------------------------------

    def _fetch(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement; an empty list if the file does not exist yet."""
        if not os.path.exists(self.path):
            return []
        with self._connected() as db:
            return db.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self, durable: bool = False) -> Iterator[None]:
        """Open a transaction. If `durable`, wait until it and all earlier ones are on the disk."""
        with self._writing(durable):
            yield

    @contextmanager
    def _writing(self, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """Open a transaction, or join the open one."""
        with self._connected() as db:
            is_nested: bool = db.in_transaction
            if is_nested:
                yield db
                return
            if self._is_frozen:
                raise _unusable(self.path, OSError(errno.ENOSPC, "the disk is full"))
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open the file on disk, if it is not open. Convert errors of SQLite to BrainError."""
        if self._db is not None and self._db.in_transaction:
            yield self._db  # whoever began the transaction reports errors, after the rollback
            return
        try:
            if self._db is None or self._is_frozen or self._inode != _inode(self.path):
                self.close()
                self._open()
            assert self._db is not None
            yield self._db
        except sqlite3.Error as error:
            self.close()
            if "locked" in str(error):
                raise Busy(
                    f"Another process holds {self.path}.", "Try again in a moment."
                ) from None
            if _is_damage(error):
                self._set_aside()
                why = f"{self.path} was damaged. It is set aside as {FILE}.damaged."
                raise BrainError(why, "Try again.") from error
            raise _unusable(self.path, error) from error

    def _open(self) -> None:
        """Connect to the file. If it is damaged, rename it and create a new one."""
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise _unusable(self.path, error) from error
        try:
            self._connect()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            self.close()
            self._set_aside()
            self._connect()

    def _set_aside(self) -> None:
        os.replace(self.path, f"{self.path}.damaged")
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}{suffix}")

    def _connect(self) -> None:
        self._db, self._is_frozen = connect(self.path, _WAIT)
        db = self._db
        db.execute("PRAGMA secure_delete = ON")
        if _version(db) not in (0, _VERSION):
            raise sqlite3.DatabaseError(_OTHER)
        if not _version(db):
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            if not _version(db):  # another process may have been faster
                for row in _TABLES:
                    db.execute(_create_table(row))
                db.execute(f"PRAGMA user_version = {_VERSION}")
            db.execute("COMMIT")
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        if not tables >= {name for name, _ in _TABLES.values()} or _check(db) != "ok":
            raise sqlite3.DatabaseError(_DAMAGED)
        self._inode = _inode(self.path)


def sum_uses(uses: Iterable[Use]) -> list[Use]:
    """Return the sums of uses with the same type and entries."""
    sums: dict[tuple[str, str, str], Use] = {}
    for use in uses:
        key = use.op, use.ref, use.other
        total = sums.get(key, use._replace(times=0, last=""))
        last = max(total, use, key=lambda each: (each.last, each is use))
        times = total.times + use.times
        sums[key] = last._replace(times=times, text=total.text, first="", batch="")
    return [sums[key] for key in sorted(sums)]


def _check(db: sqlite3.Connection) -> str:
    """Return "ok" if all pages can be read. The file is small, so this takes little time."""
    return str(db.execute("PRAGMA quick_check(1)").fetchone()[0])


def _is_damage(error: sqlite3.Error) -> bool:
    name = getattr(error, "sqlite_errorname", "")
    return str(error) in (_DAMAGED, _OTHER) or name in ("SQLITE_NOTADB", "SQLITE_CORRUPT")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _unusable(path: str, error: Exception) -> BrainError:
    why = getattr(error, "strerror", None) or str(error)
    return BrainError(
        f"{path} cannot be used ({why}).", "Check the disk and the permissions, then try again."
    )
