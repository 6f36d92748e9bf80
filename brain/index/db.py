"""Open, check, lock and rebuild brain.db.

The database is a cache. If it cannot be trusted, it is replaced by an empty one, which the next
sync fills. The reasons are another schema, another vault, another full-text engine, a malformed
file, and a file that another program changed. To notice a change without reading the file, each
writer leaves a seal: inode, size and times of brain.db and its WAL after the commit. A process that
writes, verifies or closes the file holds the lock until it has written the seal. So if a process
has the lock and the file differs from the seal, another program changed the file, or a writer was
killed during a commit.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import closing, contextmanager, suppress

from brain import __version__, lock
from brain.errors import BrainError, Busy, IndexDamaged, VaultLooksEmpty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Owners = tuple[str, ...] | None

SCHEMA_VERSION = 23
APPLICATION_ID = 0x42726E31  # "Brn1"
FULL_TEXTS = {  # the tables of full text, with their columns
    "passages": ("title", "heading", "text"),
    "turns": ("text",),
    "entries": ("text", "tags", "path", "heading", "kind"),
    "notes": ("title", "aliases", "headings", "folder", "tags", "body"),
    "characters": ("spaced",),
}
_FTS_MARK = "-- Full text: "
_SEAL = 256  # characters of a seal, padded so that it overwrites the old one
_TIMEOUT = 30.0  # seconds to wait for the lock


class Index:
    """An open brain.db, for one thread.

    `news` is a sentence for the user if the database had to be replaced, else ''.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        vault: str,
        id: str = "",
        engine: str = "auto",
        names: str = "",
    ) -> None:
        """`vault` is the brain folder. `id` is the id of the vault, because a container and its
        host see the same vault at different paths; '' if the vault has none. `names` are the names
        of files from the settings, which decide how files are read."""
        self.path = os.fspath(path)
        self.vault, self.id, self.names = vault, id, names
        self.fts = ""
        self.news = ""
        self._seal = f"{self.path}-seal"
        self._engine = engine
        self._db: sqlite3.Connection | None = None
        self._inode = 0  # of the open file
        self._shared = 0  # inode of the shared-memory file of the WAL
        self._trusted: list[list[int]] = []
        self._locked = False
        self._is_frozen = False  # True if the open file can only be read, as the disk is full

    def __enter__(self) -> Index:
        self.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, which is opened on first use."""
        if self._db is None:
            self.check()
        assert self._db is not None
        return self._db

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query. Raise IndexDamaged if the file cannot be read."""
        with reading():
            return self.db.execute(sql, values).fetchall()

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None. Raise IndexDamaged if the file cannot
        be read."""
        with reading():
            row = self.db.execute(sql, values).fetchone()
        return row[0] if row else None

    @property
    def whole(self) -> bool:
        """True if a sync of the whole vault was completed since this database was created."""
        return bool(self.value("SELECT 1 FROM meta WHERE key = 'whole'"))

    @property
    def mark(self) -> str:
        """A random text for this database. In a new database, row ids begin at 1 again."""
        return str(self.value("SELECT value FROM meta WHERE key = 'mark'"))

    def check(self) -> None:
        """Make sure that the open database is the one on disk, and belongs to this vault.

        If nothing changed, this takes three stat calls. A database that was deleted, replaced or
        changed by another program is opened again or rebuilt. While another process is writing, a
        readable file is trusted, and verified later.
        """
        if self._is_trusted():
            return
        with self._lock(wait=0) as has_lock:
            if has_lock:
                self._verify()
                return
        if not self._is_readable():
            with self.exclusive():
                pass

    def rebuild(self) -> None:
        """Create an empty database, which the next sync fills from the vault."""
        with self.exclusive():
            self._replace("")

    def damaged(self, error: IndexDamaged) -> None:
        """Replace a database that SQLite could not read, unless another process has just replaced
        it. If the database is healthy, so that the statement was wrong, raise the error of
        SQLite."""
        before = self._inode  # while this file is open, no other file can have its inode
        with self.exclusive():
            if self._inode == before:
                cause = error.__cause__
                if (
                    isinstance(cause, sqlite3.Error)
                    and _code(cause) in _WRONG_STATEMENT
                    and self.healthy()
                ):
                    raise cause
                self._replace("damaged")

    @contextmanager
    def exclusive(self, wait: float = _TIMEOUT) -> Iterator[None]:
        """Lock the database for writing, and verify it first.

        Raise Busy if another process is still writing after `wait` seconds.
        """
        with self._lock(wait) as has_lock:
            if not has_lock:
                raise Busy("Another Brain process is writing the index.", "Try again in a moment.")
            if not self._is_trusted():
                self._verify()
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, which is only allowed inside `exclusive`."""
        if self._is_frozen:
            raise BrainError(*_FULL_DISK)
        if not self._is_trusted():
            raise IndexDamaged("Another program changed the index while it was being written.")
        db = self.db
        with reading():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                self._write_seal()  # also after a rollback, because the WAL may have grown

    def compact(self, wait: float = _TIMEOUT) -> bool:
        """Erase deleted data from unused pages, full text and the WAL. Return False if another
        process is reading, so that old data is left in the WAL."""
        with self.exclusive(wait), reading():
            with self.transaction() as db:
                for table in FULL_TEXTS:
                    db.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')")
            try:
                db.execute("VACUUM")
                return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                self._write_seal()

    def close(self) -> None:
        """Close the database. The last process that closes it moves the WAL into the file, so write
        a new seal."""
        if self._db is None:
            return
        # a writer that keeps the lock longer writes the next seal
        with self._lock(wait=0.25) as has_lock:
            before = self._signature()
            sealed = has_lock and self._is_sealed(before)
            self._close_connection()
            if sealed and self._signature() != before:
                self._write_seal()
        self._trusted = []

    # -- trust in the file on disk ---------------------------------------------------------------

    def _is_trusted(self) -> bool:
        """Return True if the file has not changed since this process had the lock."""
        return (
            self._db is not None
            and not self._is_frozen  # there may be space again
            and bool(self._trusted and self._trusted[0])
            and self._signature() == self._trusted
            and _inode(f"{self.path}-shm") == self._shared
        )

    def _is_sealed(self, signature: list[list[int]]) -> bool:
        try:
            with open(self._seal, encoding="utf-8") as file:
                return file.read().rstrip() == str(signature)
        except (OSError, ValueError):
            return False

    def _verify(self) -> None:
        """Trust the file or replace it. The caller holds the lock."""
        if reason := self._reason_to_replace():
            self._replace(reason)

    def _reason_to_replace(self) -> str:
        """Open the database. Return the reason why it cannot be used; '' if it can."""
        signature = self._signature()
        if not signature[0]:
            return "missing"
        if not self._is_sealed(signature) or os.path.lexists(f"{self.path}-journal"):
            return "changed by another program"
        try:
            self._open_again(signature)
            reason = self._mismatch()
        except sqlite3.DatabaseError as error:
            raise_if_busy(error)
            return "damaged"
        if self._signature() == signature:
            self._trusted = signature
        else:
            self._write_seal()  # by opening the file, this process may have moved the WAL into it
        return reason

    def _is_readable(self) -> bool:
        """Return True if the database can be read while another process has the lock."""
        signature, self._trusted = self._signature(), []
        try:
            if not signature[0]:
                return False
            self._open_again(signature)
            return not self._mismatch()
        except sqlite3.DatabaseError:
            return False

    def _open_again(self, signature: list[list[int]]) -> None:
        """Open the file on disk, unless it is open already."""
        moved = self._inode != signature[0][0] or _inode(f"{self.path}-shm") != self._shared
        if self._db is None or moved or self._is_frozen:
            self._close_connection()
            self._connect()

    def _mismatch(self) -> str:
        """Return the reason why the open database is not for this vault and version; '' if it
        is."""
        db = self.db
        if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
            return "made by another version of Brain"
        meta = dict(db.execute("SELECT key, value FROM meta"))
        self._shared = _inode(f"{self.path}-shm")
        if meta.get("version") != __version__:
            return "made by another version of Brain"
        if meta.get("vault") not in (self.vault, self.id):
            return "made for another vault"
        if meta.get("names", "") != self.names:
            return "made with another memoryPath or sessionsPath"
        return "" if meta.get("engine") == self.fts else f"made without {self.fts.upper()}"

    def _signature(self) -> list[list[int]]:
        """Return stat values that change when one of the files changes. They exclude the ctime of
        the WAL, because SQLite sets the owner of the WAL when root opens it."""
        return [_stat(self.path), _stat(f"{self.path}-wal")[:3]]

    def _write_seal(self) -> None:
        self._trusted = self._signature()
        # in place, because some file systems wait for the disk when a file is replaced
        handle = os.open(self._seal, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            os.write(handle, str(self._trusted).ljust(_SEAL).encode())
        finally:
            os.close(handle)

    @contextmanager
    def _lock(self, wait: float) -> Iterator[bool]:
        """Yield True if this process has the lock, else False. A block that has the lock may take
        it again."""
        if self._locked:
            yield True
            return
        self._refuse_loss()
        handle = lock.take(f"{self.path}-lock", wait)
        self._locked = handle is not None
        try:
            yield self._locked
        finally:
            self._locked = False
            if handle is not None:
                os.close(handle)

    # -- opening and creating --------------------------------------------------------------------

    def _connect(self) -> None:
        # the timeout is for a process that is closing the file; writers wait for the lock
        db, self._is_frozen = connect(self.path, timeout=5)
        self._db = db
        self.fts = choose_engine(db, self._engine)
        db.create_function("tagged", 2, _is_tagged, deterministic=True)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16000")
        if self.fts == "fts4":
            db.create_function("saturation", -1, _saturation, deterministic=True)
        self._inode = _inode(self.path)

    def _replace(self, why: str) -> None:
        """Create a new file. The caller holds the lock. Other processes read the old file until
        their next check."""
        self._refuse_loss()
        self._close_connection()
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{self.path}{suffix}")
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # it has texts of all notes
            self._connect()
            self._create()
        except (OSError, sqlite3.Error) as error:
            self._close_connection()
            raise BrainError(
                f"The index cannot be created at {self.path} ({error}).",
                "Free some space there, or set dbPath in brain.yaml.",
            ) from error
        self._write_seal()
        if why and why != "missing":
            self.news = f"The index was {why}; it is built again."

    def _refuse_loss(self) -> None:
        """Raise VaultLooksEmpty if the brain folder that has the index is missing."""
        is_inside = self.path.startswith(self.vault + os.sep)
        if is_inside and not os.path.isdir(self.vault):
            raise VaultLooksEmpty(
                f"There is no folder {self.vault}.", "Is the vault mounted and fully synced?"
            )

    def _create(self) -> None:
        db = self.db
        # in the default pages of 4096 bytes, one entry would leave half of the space empty
        db.execute("PRAGMA page_size = 16384")
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(
            f"BEGIN IMMEDIATE;{self._schema()}"
            f"PRAGMA user_version={SCHEMA_VERSION};PRAGMA application_id={APPLICATION_ID};COMMIT;"
        )
        meta = {"vault": self.id or self.vault, "engine": self.fts, "version": __version__}
        meta["events_dropped"] = str(time.time_ns() // 1000)
        meta["names"] = self.names
        meta["mark"] = os.urandom(8).hex()
        db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        self._shared = _inode(f"{self.path}-shm")

    def _schema(self) -> str:
        schema = _read_packaged("schema.sql")
        if self.fts == "fts4":
            schema = schema[: schema.index(_FTS_MARK)]
            schema += _read_packaged("fts4.sql")
        return schema

    def _close_connection(self) -> None:
        """Close the file without changing the seal."""
        if self._db is not None:
            with suppress(sqlite3.DatabaseError):
                self._db.close()
        self._db, self._is_frozen = None, False
        self._inode = self._shared = 0

    def healthy(self, quick: bool = False) -> bool:
        """Return True if the tables are as in the schema. Unless `quick`, also run the integrity
        checks of SQLite and full text, which read the whole file."""
        check = ", rank) VALUES ('integrity-check', 1)"
        if self.fts == "fts4":
            check = ") VALUES ('integrity-check')"
        try:
            if not quick and self.db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return False
            for table in () if quick or self._is_frozen else FULL_TEXTS:  # this check writes
                self.db.execute(f"INSERT INTO {table}_fts ({table}_fts{check}")
            sql = "SELECT name, sql FROM sqlite_master ORDER BY name"
            with closing(sqlite3.connect(":memory:")) as fresh:
                fresh.executescript(self._schema())
                return fresh.execute(sql).fetchall() == self.db.execute(sql).fetchall()
        except sqlite3.DatabaseError as error:
            raise_if_busy(error)
            return False


def connect(path: str, timeout: float) -> tuple[sqlite3.Connection, bool]:
    """Open a database, and return True if it can only be read, because the disk has no space for
    the files that SQLite adds to it."""
    db = sqlite3.connect(path, isolation_level=None, timeout=timeout, cached_statements=64)
    try:
        db.execute("PRAGMA user_version")
    except sqlite3.DatabaseError as error:
        full = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE
        if not full or _stat(f"{path}-wal"):  # without the WAL, the file is incomplete
            db.close()
            raise
        from urllib.parse import quote

        db.close()
        frozen = f"file:{quote(os.path.abspath(path))}?immutable=1"
        return sqlite3.connect(frozen, uri=True, isolation_level=None), True
    except BaseException:
        db.close()
        raise
    return db, False


@contextmanager
def reading() -> Iterator[None]:
    """Raise IndexDamaged, which leads to a rebuild, for each error of SQLite except a lock or a
    full disk. `Index.damaged` finds out whether only the statement was wrong."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise_if_busy(error)
        raise IndexDamaged(f"The index cannot be read ({error}).") from error


def raise_if_busy(error: sqlite3.Error) -> None:
    """Raise Busy for a lock, and BrainError for a full disk. Return for any other error."""
    if _code(error) in _LOCKED:
        raise Busy("Another process has locked the index.", "Try again in a moment.") from error
    if _code(error) == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", 0) in _NO_SPACE:
        raise BrainError(*_FULL_DISK) from error


_FULL_DISK = ("The index cannot be updated, because its disk is full.", "Free some space.")
_NO_SPACE = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_WRONG_STATEMENT = (
    0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_TOOBIG,
)  # fmt: skip


def _code(error: sqlite3.Error) -> int:
    """Return the primary code of an error; 0 if Python itself raised it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def choose_engine(db: sqlite3.Connection, wanted: str) -> str:
    """Return `wanted`, or for 'auto' the best full-text engine of this SQLite."""
    if wanted != "auto":
        return wanted
    if ("ENABLE_FTS5",) in db.execute("PRAGMA compile_options").fetchall():
        return "fts5"
    try:
        db.execute("CREATE VIRTUAL TABLE temp.probe USING fts5 (x)")
        db.execute("DROP TABLE temp.probe")
    except sqlite3.OperationalError:
        return "fts4"
    return "fts5"


K1, B = 1.2, 0.75  # the parameters of bm25, as in FTS5


def _saturation(matchinfo: bytes, *weights: float) -> float:
    """Return the saturation of a phrase in a row of FTS4, from 0 to 1: the bm25 of FTS5 without the
    idf. `matchinfo` has the format 'pcalx'."""
    from sqlite_fts4 import decode_matchinfo

    _, columns, *numbers = decode_matchinfo(matchinfo)
    mean, length = numbers[:columns], numbers[columns : 2 * columns]
    counts_in_row = numbers[2 * columns :: 3]  # skip the two counts over all rows
    count = float(sum(n * weight for n, weight in zip(counts_in_row, weights, strict=True)))
    relative = sum(length) / (sum(mean) or 1)
    return float(count / (count + K1 * (1 - B + B * relative)))


def _is_tagged(tags: str, tag: str) -> bool:
    """Return True if `tags` contains a tag or a tag nested in it. As in Obsidian, case does not
    matter."""
    folded, name = tags.casefold(), tag.casefold()
    return f" {name} " in folded or f" {name}/" in folded


def _read_packaged(name: str) -> str:
    """Return the text of a file in this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _stat(path: str) -> list[int]:
    try:
        st = os.stat(path)
    except OSError:
        return []
    if st.st_size == 0:  # a reader may leave an empty WAL
        return []
    return [st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns]


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


# -- parts of many statements ----------------------------------------------------------------------

MODIFIED = "strftime('%Y-%m-%dT%H:%M:%fZ', f.mtime_ns / 1e9, 'unixepoch')"
# The facts of a memory `c`, for a subquery.
FACTS_OF = """facts k WHERE k.created != '' AND k.ref =
    coalesce((SELECT a.class FROM aliases a WHERE a.ref = c.ref), c.ref)"""
# The creation time of an entry: the time in the journal, if the memory has no date or has the same
# day; else the date of the entry, else the date of the note, else the time of the file.
CREATED = f"""coalesce(
    iif(c.scope IN ('memory', 'archive'), (SELECT k.created FROM {FACTS_OF}
        AND (c.created IS NULL OR date(k.created, 'localtime') = c.created)), NULL),
    c.created, f.created, {MODIFIED})"""

_MAX_VALUES = 400  # values in one statement; old versions of SQLite allow 999


def marks(values: Sized | int) -> str:
    """Return placeholders for these values, in brackets."""
    count = values if isinstance(values, int) else len(values)
    return f"({','.join('?' * count)})"


def owned(owners: Owners, table: str = "c") -> tuple[str, tuple[str, ...]]:
    """Return the condition ` AND …` that one of the owners owns a row, and its values. For all
    owners (None), the condition is ''."""
    if owners is None:
        return "", ()
    return f" AND {table}.agent IN {marks(owners)}", owners


def each(
    db: sqlite3.Connection,
    sql: str,
    wanted: Iterable[str],
    values: Sequence[Any] = (),
    group: str = "",
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement that ends in `IN`. It is executed for a few hundred of the
    wanted values at a time. `values` are for its other placeholders. `group` is added after `IN`
    and the list of values."""
    wanted_texts = [text(value) for value in wanted]
    for start in range(0, len(wanted_texts), _MAX_VALUES):
        batch = wanted_texts[start : start + _MAX_VALUES]
        yield from db.execute(f"{sql} {marks(batch)} {group}", (*values, *batch))


def text(value: str) -> str:
    """Replace lone surrogates, which SQLite cannot store."""
    return value.encode("utf-8", "replace").decode()
