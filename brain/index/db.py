"""brain.db: open, check, lock and rebuild it.

The database is a cache. If it cannot be trusted, it is replaced by an empty one, which the next
sync fills. That is so for another schema, another vault, another full-text engine, a file that is
malformed, and a file that another program changed. To notice the last without reading the file,
each writer leaves a seal: inode, size and times of brain.db and its WAL after the commit. A process
that writes, verifies or closes the file holds the lock until the seal is written. So a seal that
differs under the lock means that the file was changed from outside, or that its writer was killed
during a commit.
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

SCHEMA_VERSION = 19
APPLICATION_ID = 0x42726E31  # "Brn1"
FULL_TEXTS = {  # the tables of full text, with their columns
    "passages": ("title", "heading", "text"),
    "turns": ("text",),
    "entries": ("text", "tags", "path", "heading", "kind"),
    "notes": ("title", "aliases", "headings", "folder", "tags", "body"),
    "characters": ("spaced",),
}
_FTS_MARK = "-- Full text: "
_SEAL = 256  # characters, so that a shorter one covers a longer one
_WAIT = 30.0  # seconds for a lock without which nothing can be done


class Index:
    """An open brain.db, for one thread.

    `news` is one line for the person if the database had to be replaced, else ''.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        vault: str,
        id: str = "",
        engine: str = "auto",
        names: str = "",
    ) -> None:
        """`vault` is the brain folder, `id` the id of the vault if it has one: a container and its
        host see one vault at different paths. `names` are the names that the settings give to
        files; with other names the same files are read differently."""
        self.path = os.fspath(path)
        self.vault, self.id, self.names = vault, id, names
        self.fts = ""
        self.news = ""
        self._seal = f"{self.path}-seal"
        self._engine = engine
        self._db: sqlite3.Connection | None = None
        self._inode = 0  # of the file that is open
        self._shared = 0  # of the shared memory through which its processes agree
        self._trusted: list[list[int]] = []
        self._locked = False

    def __enter__(self) -> Index:
        self.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def db(self) -> sqlite3.Connection:
        """The connection. It is opened on first use."""
        if self._db is None:
            self.check()
        assert self._db is not None
        return self._db

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query. Raise IndexDamaged if the file cannot be read."""
        with reading():
            return self.db.execute(sql, values).fetchall()

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None. Raise IndexDamaged as `rows` does."""
        with reading():
            row = self.db.execute(sql, values).fetchone()
        return row[0] if row else None

    @property
    def whole(self) -> bool:
        """True if a sync of the whole vault was completed since this database was created."""
        return bool(self.value("SELECT 1 FROM meta WHERE key = 'whole'"))

    @property
    def mark(self) -> str:
        """A text that differs for every new database, whose row ids begin at 1 again."""
        return str(self.value("SELECT value FROM meta WHERE key = 'mark'"))

    def check(self) -> None:
        """Make sure that the open database is the one on disk, and belongs to this vault.

        This costs three stat calls if nothing happened. A database that was deleted, replaced or
        changed from outside is opened or built again. While another process writes, the file is
        trusted if it can be read, and verified later.
        """
        if self._as_trusted():
            return
        with self._lock(wait=0) as held:
            if held:
                self._verify()
                return
        if not self._readable():
            with self.exclusive():
                pass

    def rebuild(self) -> None:
        """Create an empty database, which the next sync fills from the vault."""
        with self.exclusive():
            self._renew("")

    def damaged(self, error: IndexDamaged) -> None:
        """Replace a database that SQLite could not read, unless another process just did. If the
        database is healthy and the statement was wrong, raise that error."""
        before = self._inode  # not given to another file while this one is open
        with self.exclusive():
            if self._inode == before:
                cause = error.__cause__
                if (
                    isinstance(cause, sqlite3.Error)
                    and _code(cause) in _MISTAKES
                    and self.healthy()
                ):
                    raise cause
                self._renew("damaged")

    @contextmanager
    def exclusive(self, wait: float = _WAIT) -> Iterator[None]:
        """Keep other writers out. The database is verified first.

        Raise Busy if another process is still writing after `wait` seconds.
        """
        with self._lock(wait) as held:
            if not held:
                raise Busy("Another Brain process is writing the index.", "Try again in a moment.")
            if not self._as_trusted():
                self._verify()
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write everything that is done inside, or nothing. Only inside `exclusive`."""
        if not self._as_trusted():
            raise IndexDamaged("The index was changed from outside while it was written.")
        db = self.db
        with reading():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                self._write_seal()  # even then: what did not fit into memory is in the WAL

    def compact(self, wait: float = _WAIT) -> bool:
        """Remove deleted data from the file: from unused pages, full text and the WAL. Return False
        if another process still reads the old data, which stays then."""
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
        """Close. The last process to close moves the WAL into the file, so a seal is written."""
        if self._db is None:
            return
        with self._lock(wait=0.25) as held:  # a writer that holds it longer closes later
            before = self._signature()
            sealed = held and self._as_sealed(before)
            self._abandon()
            if sealed and self._signature() != before:
                self._write_seal()
        self._trusted = []

    # -- trust in the file on disk ---------------------------------------------------------------

    def _as_trusted(self) -> bool:
        """Return True if the open file is on disk, as it was when this process had the lock."""
        return (
            self._db is not None
            and bool(self._trusted and self._trusted[0])
            and self._signature() == self._trusted
            and _inode(f"{self.path}-shm") == self._shared
        )

    def _as_sealed(self, signature: list[list[int]]) -> bool:
        try:
            with open(self._seal, encoding="utf-8") as file:
                return file.read().rstrip() == str(signature)
        except (OSError, ValueError):
            return False

    def _verify(self) -> None:
        """Under the lock: trust the file, or replace it."""
        if doubt := self._doubt():
            self._renew(doubt)

    def _doubt(self) -> str:
        """Return why this database cannot be used; '' if it can, and is open."""
        signature = self._signature()
        if not signature[0]:
            return "missing"
        if not self._as_sealed(signature) or os.path.lexists(f"{self.path}-journal"):
            return "changed from outside"
        try:
            self._open_again(signature)
            doubt = self._foreign()
        except sqlite3.DatabaseError as error:
            raise_if_busy(error)
            return "damaged"
        if self._signature() == signature:
            self._trusted = signature
        else:
            self._write_seal()  # by this process: closing and opening moves the WAL into the file
        return doubt

    def _readable(self) -> bool:
        """Return True if the database can be read while another process has the lock."""
        signature, self._trusted = self._signature(), []
        try:
            if not signature[0]:
                return False
            self._open_again(signature)
            return not self._foreign()
        except sqlite3.DatabaseError:
            return False

    def _open_again(self, signature: list[list[int]]) -> None:
        """Open the file on disk, unless it is open."""
        moved = self._inode != signature[0][0] or _inode(f"{self.path}-shm") != self._shared
        if self._db is None or moved:
            self._abandon()
            self._connect()

    def _foreign(self) -> str:
        """Return why the open database is not for this vault and version; '' if it is."""
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
            return "made for other names of notes"
        return "" if meta.get("engine") == self.fts else f"made without {self.fts.upper()}"

    def _signature(self) -> list[list[int]]:
        """Return values that change when one of the files does. The ctime of the WAL is left out:
        when root opens it, SQLite sets its owner."""
        return [_stat(self.path), _stat(f"{self.path}-wal")[:3]]

    def _write_seal(self) -> None:
        self._trusted = self._signature()
        # in place, in one write: replacing a file makes some file systems wait for the disk
        handle = os.open(self._seal, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            os.write(handle, str(self._trusted).ljust(_SEAL).encode())
        finally:
            os.close(handle)

    @contextmanager
    def _lock(self, wait: float) -> Iterator[bool]:
        """Yield True while no other process can write. It may be nested."""
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

    # -- opening and making ----------------------------------------------------------------------

    def _connect(self) -> None:
        # writers wait for each other at the lock; this is for one that closes the file
        db = sqlite3.connect(self.path, isolation_level=None, timeout=5, cached_statements=64)
        self._db = db
        self.fts = choose_engine(db, self._engine)
        db.create_function("tagged", 2, _is_tagged, deterministic=True)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16000")
        if self.fts == "fts4":
            db.create_function("saturation", -1, _saturation, deterministic=True)
        self._inode = _inode(self.path)

    def _renew(self, why: str) -> None:
        """Under the lock: create a new file. Other processes read the old one until they check."""
        self._refuse_loss()
        self._abandon()
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{self.path}{suffix}")
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._connect()
            self._create()
        except (OSError, sqlite3.Error) as error:
            self._abandon()
            raise BrainError(
                f"The index cannot be created at {self.path} ({error}).",
                "Make room for it there, or set dbPath in brain.yaml.",
            ) from error
        self._write_seal()
        if why and why != "missing":
            self.news = f"The index was {why}; it is built again."

    def _refuse_loss(self) -> None:
        """Raise VaultLooksEmpty if the brain folder that has the index is missing."""
        inside = self.path.startswith(self.vault + os.sep)
        if inside and not os.path.isdir(self.vault):
            raise VaultLooksEmpty(
                f"There is no folder {self.vault}.", "Is the vault mounted and fully synced?"
            )

    def _create(self) -> None:
        db = self.db
        db.execute(
            "PRAGMA page_size = 16384"
        )  # one entry would leave half of the default 4096 empty
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
        schema = _packaged("schema.sql")
        if self.fts == "fts4":
            schema = schema[: schema.index(_FTS_MARK)]
            schema += _packaged("fts4.sql")
        return schema

    def _abandon(self) -> None:
        """Close the file and leave the seal as it is."""
        if self._db is not None:
            with suppress(sqlite3.DatabaseError):
                self._db.close()
        self._db = None
        self._inode = self._shared = 0

    def healthy(self, quick: bool = False) -> bool:
        """Compare the tables with the schema. Unless `quick`, also run the checks of SQLite and of
        full text (rank 1 sees drift), which read the whole file."""
        check = ", rank) VALUES ('integrity-check', 1)"
        if self.fts == "fts4":
            check = ") VALUES ('integrity-check')"
        try:
            if not quick and self.db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return False
            for table in () if quick else FULL_TEXTS:
                self.db.execute(f"INSERT INTO {table}_fts ({table}_fts{check}")
            sql = "SELECT name, sql FROM sqlite_master ORDER BY name"
            with closing(sqlite3.connect(":memory:")) as fresh:
                fresh.executescript(self._schema())
                return fresh.execute(sql).fetchall() == self.db.execute(sql).fetchall()
        except sqlite3.DatabaseError as error:
            raise_if_busy(error)
            return False


@contextmanager
def reading() -> Iterator[None]:
    """Raise IndexDamaged, which leads to a rebuild, for any error of SQLite that is not a lock or a
    full disk. It may be a mistake in the statement as well: see `Index.damaged`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise_if_busy(error)
        raise IndexDamaged(f"The index cannot be read ({error}).") from error


def raise_if_busy(error: sqlite3.Error) -> None:
    """Raise Busy for a lock, and BrainError for a full disk: they are not damage."""
    if _code(error) in _LOCKED:
        raise Busy("Another process holds the index.", "Try again in a moment.") from error
    if _code(error) == sqlite3.SQLITE_FULL:
        raise BrainError("The disk of brain.db is full.", "Make room on it.") from error


_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_MISTAKES = (
    0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_TOOBIG,
)  # fmt: skip


def _code(error: sqlite3.Error) -> int:
    """Return the primary code of an error; 0 if Python itself raised it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def choose_engine(db: sqlite3.Connection, wanted: str) -> str:
    """Return `wanted`, or for 'auto' the best full-text engine that this SQLite has."""
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


K1, B = 1.2, 0.75  # of bm25, as in FTS5


def _saturation(matchinfo: bytes, *weights: float) -> float:
    """Return how much of a phrase a row of FTS4 holds, from 0 to 1: FTS5's bm25 without the idf.
    `matchinfo` is of the form 'pcalx'."""
    from sqlite_fts4 import decode_matchinfo

    _, columns, *numbers = decode_matchinfo(matchinfo)
    mean, length = numbers[:columns], numbers[columns : 2 * columns]
    counts = numbers[2 * columns :: 3]  # each with two numbers of all rows
    count = float(sum(n * weight for n, weight in zip(counts, weights, strict=True)))
    relative = sum(length) / (sum(mean) or 1)
    return float(count / (count + K1 * (1 - B + B * relative)))


def _is_tagged(tags: str, tag: str) -> bool:
    """Return True if the tag is among these, or a parent of one. Obsidian's tags ignore case."""
    folded, name = tags.casefold(), tag.casefold()
    return f" {name} " in folded or f" {name}/" in folded


def _packaged(name: str) -> str:
    """Return the text of a file in this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _stat(path: str) -> list[int]:
    try:
        st = os.stat(path)
    except OSError:
        return []
    if st.st_size == 0:  # a reader leaves an empty WAL behind
        return []
    return [st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns]


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


# -- parts that many statements share --------------------------------------------------------------

MODIFIED = "strftime('%Y-%m-%dT%H:%M:%fZ', f.mtime_ns / 1e9, 'unixepoch')"
# The facts of a memory `c`, for a subquery.
FACTS_OF = """facts k WHERE k.created != '' AND k.ref =
    coalesce((SELECT a.class FROM aliases a WHERE a.ref = c.ref), c.ref)"""
# When an entry was created: as the memory itself says, else the journal, the note, the file's time.
# The journal also knows the time of the day that a memory begins with.
CREATED = f"""coalesce(
    iif(c.scope IN ('memory', 'archive'), (SELECT k.created FROM {FACTS_OF}
        AND (c.created IS NULL OR date(k.created, 'localtime') = c.created)), NULL),
    c.created, f.created, {MODIFIED})"""

_MOST = 400  # values in one statement: old SQLite takes 999


def marks(values: Sized | int) -> str:
    """Return a placeholder for each value, in brackets."""
    count = values if isinstance(values, int) else len(values)
    return f"({','.join('?' * count)})"


def owned(owners: Owners, table: str = "c") -> tuple[str, tuple[str, ...]]:
    """Return the further condition that one of these agents owns a row, and its values."""
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
    """Yield the rows of a statement that ends in `IN`, some of these at a time; `values` are
    those of its other placeholders. `group` comes behind the list."""
    every = [text(value) for value in wanted]
    for at in range(0, len(every), _MOST):
        part = every[at : at + _MOST]
        yield from db.execute(f"{sql} {marks(part)} {group}", (*values, *part))


def text(given: str) -> str:
    """Return a text without the halves of characters that SQLite cannot take."""
    return given.encode("utf-8", "replace").decode()
