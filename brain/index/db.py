"""brain.db: opened, checked, locked, thrown away and made again.

The database is a cache, so every doubt ends the same way: it is emptied and the next sync fills it.
A doubt is: another schema, another vault, another full-text engine, a file SQLite calls malformed,
or a file that somebody other than Brain touched. To notice the last without reading it all, each
writer leaves a seal: size and times of brain.db and its WAL after the commit. A writer holds the
lock from before its first transaction until the last seal is written, so a broken seal with a free
lock means that the file was changed from outside, or its writer died in the middle of a commit.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path

from brain import lock
from brain.errors import Busy, IndexDamaged

SCHEMA_VERSION = 1
APPLICATION_ID = 0x42726E31  # "Brn1"
FULL_TEXT = "heading, text, tags, path, spaced"
_FTS_MARK = "-- Full text over chunks."


class Index:
    """An open brain.db, for one thread.

    `news` is one line for the person when the database had to be made anew, else ''.
    """

    def __init__(self, path: Path, seal: Path, vault: str, engine: str = "auto") -> None:
        self.path = path
        self.vault = vault
        self.fts = ""
        self.news = ""
        self._seal = seal
        self._engine = engine
        self._db: sqlite3.Connection | None = None
        self._trusted: list[list[int]] = []
        self._inode = 0
        self._locked = False

    def __enter__(self) -> Index:
        self.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, opened if need be."""
        if self._db is None:
            self.check()
        assert self._db is not None
        return self._db

    def check(self) -> None:
        """Make sure that the open database is the one on disk, and ours.

        Costs two stat calls when nothing happened. Opens it again, or makes it anew, when it was
        deleted, replaced or changed from outside.
        """
        inode = _inode(self.path)
        if not inode:
            self._renew("missing")
        elif not self._sealed():
            self._renew("changed from outside")
        elif self._db is None or inode != self._inode:
            self._abandon()
            self._open()

    def _open(self) -> None:
        try:
            self._connect()
            doubt = self._doubt()
        except sqlite3.DatabaseError as error:
            raise_if_busy(error)
            doubt = "damaged"
        if doubt:
            self._renew(doubt)

    def _connect(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, isolation_level=None, timeout=0.25, cached_statements=64)
        self._db = db
        self.fts = choose_engine(db, self._engine)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16000")
        if self.fts == "fts4":
            from sqlite_fts4 import register_functions

            register_functions(db)
        self._inode = _inode(self.path)

    def _doubt(self) -> str:
        """Why this database cannot be used as it is; '' if it can."""
        db = self.db
        if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
            return "made by another version of Brain"
        meta = dict(db.execute("SELECT key, value FROM meta"))
        if meta.get("vault") != self.vault:
            return "made for another vault"
        return "" if meta.get("engine") == self.fts else f"made without {self.fts.upper()}"

    def _sealed(self) -> bool:
        """Is the file as its last writer left it, or is a writer at work right now?"""
        if self._trusted and self._signature() == self._trusted:
            return True
        with self._lock(wait=0) as held:
            if not held:
                return True
            signature = self._signature()
            try:
                sealed = json.loads(self._seal.read_text())
            except (OSError, ValueError):
                return False
            if sealed != signature:
                return False
        self._trusted = signature
        return True

    def rebuild(self) -> None:
        """Empty the database, so that the next sync fills it from the vault."""
        self.check()
        self._renew("")

    def damaged(self) -> None:
        """Throw away a database that SQLite could not read."""
        self._renew("damaged")

    def _renew(self, why: str) -> None:
        """An empty database: in place while SQLite can still do that, else as a new file."""
        with self._lock(wait=30) as held:
            if not held:
                raise Busy("Another Brain process is writing the index.", "Try again later.")
            if why in ("missing", "damaged", "changed from outside") or not self._emptied():
                self._abandon()
                for suffix in ("", "-wal", "-shm", "-journal"):
                    with suppress(FileNotFoundError):
                        os.unlink(f"{self.path}{suffix}")
                self._connect()
                self._create()
            self._write_seal()
        if why and why != "missing":
            self.news = f"The index was {why}; it is built again."

    def _emptied(self) -> bool:
        try:
            _drop_everything(self.db)
            self._create()
        except sqlite3.DatabaseError:
            return False
        return True

    def _create(self) -> None:
        db = self.db
        db.execute("PRAGMA journal_mode = WAL")
        schema = resources.files("brain.index").joinpath("schema.sql").read_text()
        if self.fts == "fts4":
            schema = schema[: schema.index(_FTS_MARK)]
            schema += resources.files("brain.index").joinpath("fts4.sql").read_text()
        db.executescript(
            f"BEGIN IMMEDIATE;{schema}"
            f"PRAGMA user_version={SCHEMA_VERSION};PRAGMA application_id={APPLICATION_ID};COMMIT;"
        )
        rows = [("vault", self.vault), ("engine", self.fts)]
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def _abandon(self) -> None:
        """Let go of the file without touching the seal."""
        if self._db is not None:
            with suppress(sqlite3.DatabaseError):
                self._db.close()
        self._db = None

    def close(self) -> None:
        """Close. The last one out moves the WAL into the file, so this too ends with a seal."""
        if self._db is None:
            return
        with self._lock(wait=5):
            ours = _inode(self.path) == self._inode and self._signature() == self._trusted
            self._abandon()
            if ours and self._signature() != self._trusted:
                self._write_seal()

    @contextmanager
    def exclusive(self, wait: float = 30.0) -> Iterator[None]:
        """Keep other writers out. Busy if another one is still at work after `wait` seconds."""
        with self._lock(wait) as held:
            if not held:
                raise Busy("Another Brain process is writing the index.", "Try again in a moment.")
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it is in the index afterwards, or none. Only inside `exclusive`."""
        db = self.db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        self._write_seal()

    @contextmanager
    def _lock(self, wait: float) -> Iterator[bool]:
        """True while no other process can write; taken again inside itself, it is simply there."""
        if self._locked:
            yield True
            return
        handle = lock.take(self._seal.with_suffix(".lock"), wait)
        self._locked = handle is not None
        try:
            yield self._locked
        finally:
            self._locked = False
            if handle is not None:
                os.close(handle)

    def _signature(self) -> list[list[int]]:
        return [_stat(str(self.path)), _stat(f"{self.path}-wal")]

    def _write_seal(self) -> None:
        self._inode = _inode(self.path)
        self._trusted = self._signature()
        temp = f"{self._seal}.{os.getpid()}"
        with open(temp, "w") as file:
            json.dump(self._trusted, file)
        os.replace(temp, self._seal)

    def healthy(self) -> bool:
        """SQLite's own check, and FTS's with rank 1, which also sees full text that drifted."""
        check = "(chunks_fts, rank) VALUES ('integrity-check', 1)"
        if self.fts == "fts4":
            check = "(chunks_fts) VALUES ('integrity-check')"
        try:
            if self.db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return False
            self.db.execute(f"INSERT INTO chunks_fts {check}")
        except sqlite3.DatabaseError as error:
            raise_if_busy(error)
            return False
        return True


@contextmanager
def reading() -> Iterator[None]:
    """Turn SQLite's word for an unreadable file into IndexDamaged, which is answered by a
    rebuild."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise_if_busy(error)
        raise IndexDamaged(f"The index cannot be read ({error}).") from error


def raise_if_busy(error: sqlite3.DatabaseError) -> None:
    """A lock is not damage."""
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        raise Busy("Another process holds the index.", "Try again in a moment.") from error


def choose_engine(db: sqlite3.Connection, wanted: str) -> str:
    """`wanted`, or for 'auto' the best full-text engine that this SQLite has."""
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


def _drop_everything(db: sqlite3.Connection) -> None:
    db.execute("DROP TABLE IF EXISTS chunks_fts")
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (name,) in db.execute(tables).fetchall():
        db.execute(f'DROP TABLE "{name}"')


def _stat(path: str) -> list[int]:
    try:
        st = os.stat(path)
    except FileNotFoundError:
        return []
    if st.st_size == 0:  # a reader leaves an empty WAL behind
        return []
    return [st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns]


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0
