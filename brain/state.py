"""state.db: data of this machine that must not sync.

It is the write-ahead log and the version history of the notes that Brain writes, and holds who this
device is, the uses that are not in the journal yet, the last recalls, and a few flags. It is one
SQLite file in the state folder. A damaged file, and one of another version, is set aside and a new
one is started. That loses no line of a note, only pending writes and what was counted since
yesterday.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress

from brain._tuples import NamedTuple
from brain.errors import BrainError, Busy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

FILE = "state.db"
_WAIT = 2.0  # seconds for another process that writes
_VERSION = 2
_DAMAGED, _OTHER_VERSION = "the file is damaged", "the file is of another version"
_TABLES = {
    *("device", "uses", "recalls", "flags", "notes", "versions", "guards", "temps", "pending"),
}
_SCHEMA = """
CREATE TABLE device (
    id      TEXT    NOT NULL,
    seq     INTEGER NOT NULL,  -- of its last record
    lamport INTEGER NOT NULL,
    month   TEXT    NOT NULL,  -- of its last journal file; '' if there is none
    size    INTEGER NOT NULL,  -- where the last record ends in that file
    last    INTEGER NOT NULL,  -- the checksum of that record
    end     INTEGER NOT NULL,  -- where the file ends; behind `size` if a line is torn
    home    INTEGER NOT NULL,  -- inode of the state folder; a copy of the folder has another one
    past    TEXT    NOT NULL   -- JSON: ids that this machine had before
);
CREATE TABLE uses (
    batch TEXT    NOT NULL,    -- '' until the use is being written to the journal
    op    TEXT    NOT NULL,    -- hit, used_together, reject, gap or seen
    ref   TEXT    NOT NULL,
    other TEXT    NOT NULL,    -- the other entry of a pair; who asked, of a gap
    count INTEGER NOT NULL,
    first TEXT    NOT NULL,
    last  TEXT    NOT NULL,
    text  TEXT    NOT NULL,    -- the question of a gap; when a memory that was seen was made
    refs  TEXT    NOT NULL,    -- JSON: the entries that did not answer it
    PRIMARY KEY (batch, op, ref, other)
) WITHOUT ROWID;
CREATE TABLE recalls (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    ms    REAL NOT NULL,
    value TEXT NOT NULL        -- JSON: question, who asked, what was shown
);
CREATE TABLE flags (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE notes (           -- the notes that Brain writes, for a week after it did
    path   TEXT PRIMARY KEY,
    tip    INTEGER NOT NULL,   -- the version in the note, as far as Brain knows
    digest TEXT NOT NULL,      -- of that version; '' if there is no file
    head   TEXT NOT NULL,      -- JSON: what turns it into the text that should be there
    due    INTEGER NOT NULL,   -- 1 if the head is not the tip, or a displaced file is open
    looked TEXT NOT NULL,      -- stat values of the file at the last look
    file   TEXT NOT NULL,      -- identity of the file at the last look; '' if it is not known
    wrote  TEXT NOT NULL,      -- JSON: identity, times and uptime of the last write; was it read?
    git    TEXT NOT NULL,      -- the commit at the last look
    half   TEXT NOT NULL,      -- JSON: digest of a text that may be half a save, and since when
    why    TEXT NOT NULL       -- why the head is not written yet
) WITHOUT ROWID;
CREATE TABLE versions (
    path    TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    at      REAL    NOT NULL,
    written INTEGER NOT NULL,  -- by Brain; else observed
    base    INTEGER NOT NULL,
    own     TEXT    NOT NULL,  -- JSON: units that its window added or removed
    new     TEXT    NOT NULL,  -- JSON: units that it added to its base
    unread  INTEGER NOT NULL,
    undid   INTEGER NOT NULL,
    in_place INTEGER,          -- saved in place (1) or by rename (0)
    changes TEXT    NOT NULL,  -- JSON: what turns the version before it into this one
    PRIMARY KEY (path, n)
) WITHOUT ROWID;
CREATE TABLE guards (
    path     TEXT    NOT NULL,
    unit     BLOB    NOT NULL,  -- any bytes
    n        INTEGER NOT NULL,
    present  INTEGER NOT NULL,
    seen     INTEGER NOT NULL,
    restored INTEGER NOT NULL,
    PRIMARY KEY (path, unit)
) WITHOUT ROWID;
CREATE TABLE temps (
    name      TEXT PRIMARY KEY,
    path      TEXT    NOT NULL,  -- of the note next to which it is
    displaced INTEGER NOT NULL,  -- the version that was in the note before
    held      INTEGER NOT NULL,  -- the version that was written to it
    half      TEXT    NOT NULL   -- JSON: digest of its content while it is open, and since when
) WITHOUT ROWID;
CREATE TABLE pending (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    id      TEXT NOT NULL,     -- of the record
    at      REAL NOT NULL,
    path    TEXT NOT NULL,     -- of the note; '' if only a record is to be written
    by      TEXT NOT NULL,
    session TEXT NOT NULL,
    deed    TEXT NOT NULL,     -- JSON
    done    TEXT NOT NULL      -- JSON: what the change does to the entry
);
"""


class Device(NamedTuple):
    """This machine as a writer of journals; see the table `device`."""

    id: str
    seq: int = 0
    lamport: int = 0
    month: str = ""
    size: int = 0
    last: int = -1
    end: int = 0
    home: int = 0
    past: tuple[str, ...] = ()


class Use(NamedTuple):
    """Something that happened some `times`, the last time at `last`; see the table `uses`."""

    op: str
    ref: str
    other: str = ""
    times: int = 1
    last: str = ""
    text: str = ""
    refs: tuple[str, ...] = ()


class NoteRow(NamedTuple):
    """A note that Brain writes; see the table `notes`."""

    path: str
    tip: int
    digest: str
    head: str
    due: int
    looked: str
    file: str
    wrote: str
    git: str
    half: str
    why: str


class VersionRow(NamedTuple):
    """A text that was in a note; see the table `versions`."""

    path: str
    n: int
    at: float
    written: int
    base: int
    own: str
    new: str
    unread: int
    undid: int
    in_place: int | None
    changes: str


class TempRow(NamedTuple):
    """A temporary file; see the table `temps`."""

    name: str
    path: str
    displaced: int
    held: int
    half: str = ""


class PendingRow(NamedTuple):
    """An acknowledged change; see the table `pending`."""

    id: str
    at: float
    path: str
    by: str
    session: str
    deed: str
    done: str


class State:
    """The state of one vault on this machine. Nothing is opened or created until it is used.

    Raise BrainError if the file cannot be used, Busy if another process holds it for too long.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        self.path = f"{self.folder}/{FILE}"
        self._db: sqlite3.Connection | None = None
        self._inode = 0

    def close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def exists(self) -> bool:
        """Return True if anything was stored yet. One stat call."""
        return self._db is not None or os.path.exists(self.path)

    # -- the device --------------------------------------------------------------------------------

    def device(self) -> Device | None:
        """Return the device of this state folder. None if nothing was written yet, or if the folder
        is a copy of another one."""
        device = self._device()
        return device if device and device.home == self._home() else None

    def _device(self) -> Device | None:
        import json

        for row in self._rows("SELECT * FROM device"):
            return Device._make([*row[:-1], tuple(json.loads(row[-1]))])
        return None

    def save_device(self, device: Device) -> None:
        """Remember how far the journal was written. The disk is not waited for: what a power
        failure takes is read again from the journal."""
        import json

        row = *device[:-1], json.dumps(device.past)
        with self._writing() as db:
            db.execute("DELETE FROM device")
            db.execute("INSERT INTO device VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def new_device(self, id: str) -> Device:
        """Return a device that has written nothing yet, after the one that was here."""
        former = self._device()
        past = (*former.past, former.id)[-50:] if former else ()
        lamport = former.lamport if former else 0
        os.makedirs(self.folder, 0o700, exist_ok=True)
        return Device(id, lamport=lamport, home=self._home(), past=past)

    def _home(self) -> int:
        """Return the inode of the folder. Its device number may change with every boot."""
        try:
            return os.stat(self.folder).st_ino
        except FileNotFoundError:
            return 0

    # -- uses --------------------------------------------------------------------------------------

    def add_uses(self, uses: Iterable[Use]) -> None:
        """Count what happened, until it is written to the journal."""
        import json

        sql = """
            INSERT INTO uses VALUES ('', ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET count = count + excluded.count,
                refs = CASE WHEN excluded.last >= last THEN excluded.refs ELSE refs END,
                last = max(last, excluded.last)
        """
        rows = [
            (u.op, u.ref, u.other, u.times, u.last, u.last, u.text, json.dumps(u.refs))
            for u in uses
        ]
        with self._writing() as db:
            db.executemany(sql, rows)
            self._mark_change(db)

    def uses(self, batch: str) -> list[Use]:
        """Return the uses of a batch, summed up."""
        import json

        sql = "SELECT op, ref, other, count, last, text, refs FROM uses WHERE batch = ?"
        return sum_uses(
            Use._make([*row[:6], tuple(json.loads(row[6]))]) for row in self._rows(sql, (batch,))
        )

    def first_use(self) -> str:
        """Return when the oldest use happened, or ''."""
        return next((row[0] or "" for row in self._rows("SELECT min(first) FROM uses")), "")

    def begin_batch(self, batch: str) -> None:
        """Give the uses that have no batch this one."""
        with self._writing() as db:
            db.execute("UPDATE uses SET batch = ? WHERE batch = ''", (batch,))

    def batches(self) -> list[str]:
        """Return the batches that are being written to the journal, or were when a process
        died."""
        rows = self._rows("SELECT DISTINCT batch FROM uses WHERE batch != '' ORDER BY batch")
        return [row[0] for row in rows]

    def end_batch(self, batch: str) -> None:
        """Remove the uses of a batch; they are in the journal."""
        with self._writing() as db:
            db.execute("DELETE FROM uses WHERE batch = ?", (batch,))
            self._mark_change(db)

    def drop_uses(self, until: Mapping[str, str]) -> None:
        """Remove the uses of these entries up to a time each. Questions stay."""
        sql = "DELETE FROM uses WHERE ? IN (ref, other) AND op != 'gap' AND last <= ?"
        with self._writing() as db:
            db.executemany(sql, until.items())
            self._mark_change(db)

    def _mark_change(self, db: sqlite3.Connection) -> None:
        """Change the flag `uses`, by which the index knows that it has to read them again."""
        self._set_flag(db, "uses", os.urandom(8).hex())

    # -- recalls and flags -------------------------------------------------------------------------

    def recalls(self) -> list[tuple[int, float, dict[str, Any]]]:
        """Return (id, ms, value) of the last recalls, oldest first."""
        import json

        rows = self._rows("SELECT id, ms, value FROM recalls ORDER BY id")
        return [(id, ms, json.loads(value)) for id, ms, value in rows]

    def add_recall(self, ms: float, value: dict[str, Any], keep: int) -> None:
        """Remember a recall, and only so many of those before it."""
        import json

        with self._writing() as db:
            db.execute("INSERT INTO recalls (ms, value) VALUES (?, ?)", (ms, json.dumps(value)))
            db.execute("DELETE FROM recalls WHERE id <= (SELECT max(id) FROM recalls) - ?", (keep,))

    def set_recalls(self, values: Mapping[int, dict[str, Any] | None]) -> None:
        """Change recalls by id; None removes one."""
        import json

        with self._writing() as db:
            for id, value in values.items():
                if value is None:
                    db.execute("DELETE FROM recalls WHERE id = ?", (id,))
                else:
                    sql = "UPDATE recalls SET value = ? WHERE id = ?"
                    db.execute(sql, (json.dumps(value), id))

    def flag(self, key: str) -> str:
        """Return the value of a flag; '' if it is not set."""
        rows = self._rows("SELECT value FROM flags WHERE key = ?", (key,))
        return next((row[0] for row in rows), "")

    def set_flag(self, key: str, value: str) -> None:
        """Set a flag; '' removes it."""
        with self._writing() as db:
            self._set_flag(db, key, value)

    def _set_flag(self, db: sqlite3.Connection, key: str, value: str) -> None:
        if value:
            db.execute("INSERT OR REPLACE INTO flags VALUES (?, ?)", (key, value))
        else:
            db.execute("DELETE FROM flags WHERE key = ?", (key,))

    def compact(self) -> bool:
        """Leave nothing of deleted rows in the file. False if another process reads it."""
        if not os.path.exists(self.path):
            return True
        with self._connected() as db:
            return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    # -- notes and their versions ------------------------------------------------------------------

    def notes(self, path: str = "") -> list[NoteRow]:
        """Return the notes that have a history, or one of them."""
        where, values = (" WHERE path = ?", (path,)) if path else ("", ())
        return [NoteRow(*row) for row in self._rows(f"SELECT * FROM notes{where}", values)]

    def save_note(self, row: NoteRow) -> None:
        with self._writing() as db:
            db.execute(f"INSERT OR REPLACE INTO notes VALUES ({_marks(row)})", row)

    def explain(self, path: str, why: str) -> None:
        """Remember why a note cannot be written."""
        with self._writing() as db:
            db.execute("UPDATE notes SET why = ? WHERE path = ?", (why, path))

    def versions(self, path: str) -> list[VersionRow]:
        sql = "SELECT * FROM versions WHERE path = ? ORDER BY n"
        return [VersionRow(*row) for row in self._rows(sql, (path,))]

    def save_versions(self, path: str, rows: Iterable[VersionRow], gone: Iterable[int]) -> None:
        """Add or change these versions of a note, and delete others."""
        with self._writing() as db:
            db.executemany(
                "DELETE FROM versions WHERE path = ? AND n = ?", [(path, n) for n in gone]
            )
            sql = f"INSERT OR REPLACE INTO versions VALUES ({', '.join('?' * 11)})"
            db.executemany(sql, rows)

    def guards(self, path: str) -> list[tuple[str, int, bool, bool, bool]]:
        """Return (unit, n, present, seen, restored) of the guarded units of a note."""
        sql = "SELECT unit, n, present, seen, restored FROM guards WHERE path = ?"
        return [
            (unit.decode("utf-8", "surrogateescape"), n, bool(present), bool(seen), bool(restored))
            for unit, n, present, seen, restored in self._rows(sql, (path,))
        ]

    def save_guards(
        self, path: str, rows: Iterable[tuple[str, int, bool, bool, bool]], gone: Iterable[str]
    ) -> None:
        """Add or change guards of a note, and delete others."""
        ended = [(path, unit.encode("utf-8", "surrogateescape")) for unit in gone]
        values = [(path, unit.encode("utf-8", "surrogateescape"), *rest) for unit, *rest in rows]
        with self._writing() as db:
            db.executemany("DELETE FROM guards WHERE path = ? AND unit = ?", ended)
            db.executemany("INSERT OR REPLACE INTO guards VALUES (?, ?, ?, ?, ?, ?)", values)

    def temps(self, path: str = "") -> list[TempRow]:
        """Return the temporary files next to a note, or all of them."""
        where, values = (" WHERE path = ?", (path,)) if path else ("", ())
        return [TempRow(*row) for row in self._rows(f"SELECT * FROM temps{where}", values)]

    def save_temp(self, row: TempRow) -> None:
        with self._writing() as db:
            db.execute(f"INSERT OR REPLACE INTO temps VALUES ({_marks(row)})", row)

    def drop_temp(self, name: str) -> None:
        with self._writing() as db:
            db.execute("DELETE FROM temps WHERE name = ?", (name,))

    # -- pending writes ----------------------------------------------------------------------------

    def pending(self) -> list[PendingRow]:
        """Return the changes that were acknowledged and whose records are not written yet."""
        sql = "SELECT id, at, path, by, session, deed, done FROM pending ORDER BY seq"
        return [PendingRow(*row) for row in self._rows(sql)]

    def has_pending(self) -> bool:
        """Return True if a change is not in its note yet, or has no record."""
        sql = "SELECT 1 FROM pending UNION ALL SELECT 1 FROM notes WHERE head != '' LIMIT 1"
        return bool(self._rows(sql))

    def add_pending(self, rows: Iterable[PendingRow]) -> None:
        """Add changes to the write-ahead log."""
        columns = ", ".join(PendingRow._fields)
        with self._writing() as db:
            db.executemany(f"INSERT INTO pending ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def drop_pending(self, ids: Iterable[str]) -> None:
        with self._writing() as db:
            db.executemany("DELETE FROM pending WHERE id = ?", [(id,) for id in ids])

    # -- the file ----------------------------------------------------------------------------------

    def _rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows of a statement; an empty list if the file does not exist yet."""
        if not os.path.exists(self.path):
            return []
        with self._connected() as db:
            return db.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self, durable: bool = False) -> Iterator[None]:
        """Write everything that is done inside at once, or nothing. `durable` waits for the disk;
        the transactions before it are on the disk then, too."""
        with self._writing(durable):
            yield

    @contextmanager
    def _writing(self, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """Open a transaction, or take part in the one that is open."""
        with self._connected() as db:
            is_nested: bool = db.in_transaction
            if is_nested:
                yield db
                return
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
        """Open the file, unless the one on disk is open. Report what SQLite says as BrainError."""
        if self._db is not None and self._db.in_transaction:
            yield self._db  # whoever began the transaction reports errors, after the rollback
            return
        try:
            if self._db is None or self._inode != _inode(self.path):
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
        """Connect to the file; set it aside and start a new one if it is damaged."""
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
        db = self._db = sqlite3.connect(self.path, isolation_level=None, timeout=_WAIT)
        db.execute("PRAGMA secure_delete = ON")
        if _version(db) not in (0, _VERSION):
            raise sqlite3.DatabaseError(_OTHER_VERSION)
        if not _version(db):
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            if not _version(db):  # another process may have been faster
                for statement in _SCHEMA.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {_VERSION}")
            db.execute("COMMIT")
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        if not tables >= _TABLES or _check(db) != "ok":
            raise sqlite3.DatabaseError(_DAMAGED)
        self._inode = _inode(self.path)


def sum_uses(uses: Iterable[Use]) -> list[Use]:
    """Add up the uses of the same type and entries."""
    sums: dict[tuple[str, str, str], Use] = {}
    for use in uses:
        key = use.op, use.ref, use.other
        total = sums.get(key, use._replace(times=0, last=""))
        refs = use.refs if use.last >= total.last else total.refs
        sums[key] = total._replace(
            times=total.times + use.times, last=max(total.last, use.last), refs=refs
        )
    return [sums[key] for key in sorted(sums)]


def _check(db: sqlite3.Connection) -> str:
    """Return "ok" if all pages can be read. The file is small, so this takes little time."""
    return str(db.execute("PRAGMA quick_check(1)").fetchone()[0])


def _is_damage(error: sqlite3.Error) -> bool:
    name = getattr(error, "sqlite_errorname", "")
    return str(error) in (_DAMAGED, _OTHER_VERSION) or name in ("SQLITE_NOTADB", "SQLITE_CORRUPT")


def _marks(row: tuple[Any, ...]) -> str:
    return ", ".join("?" * len(row))


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
