"""Store the vectors of texts in vectors.db, in the state folder of this machine.

A vector is stored by its model and the digest of its text. So a text is not embedded again for a
new index, a renamed note or a copy of the text. The file is a cache: a damaged file is replaced by
an empty one. The vectors of deleted texts are removed a month after the text was last seen, or
immediately if a memory is purged.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from brain._tuples import NamedTuple
from brain.errors import Busy, NoModel
from brain.formats.text import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import TypeVar

    T = TypeVar("T")

FILE = "vectors.db"
KEEP = 30  # days
SWEEP = 7  # days between two sweeps
_TIMEOUT = 2.0  # seconds to wait for another process that writes
_MAX_VALUES = 400  # in one statement; old versions of SQLite allow 999
_MANY = 5000  # texts; for more, all vectors are read
_VERSION = 2
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS models (
    id       INTEGER PRIMARY KEY,  -- from its key
    key      TEXT    NOT NULL,
    size     INTEGER NOT NULL,     -- of a vector
    mean     REAL    NOT NULL,     -- cosine of unrelated texts
    swept    INTEGER NOT NULL      -- day of the last sweep
);
CREATE TABLE IF NOT EXISTS vectors (
    model  INTEGER NOT NULL,
    digest BLOB    NOT NULL,       -- of the text
    seen   INTEGER NOT NULL,       -- day when the text was last known to exist
    vector BLOB    NOT NULL,       -- signed bytes
    PRIMARY KEY (model, digest)
) WITHOUT ROWID;
PRAGMA user_version = {_VERSION};
COMMIT;
"""


class Model(NamedTuple):
    """A model that has vectors; see the table `models`."""

    id: int
    key: str
    size: int
    mean: float = 0.0
    swept: int = 0


class Vectors:
    """The file vectors.db, which is opened on first use.

    Methods raise NoModel if the file cannot be used, and Busy if another process locks it too long.
    """

    def __init__(self, folder: str) -> None:
        self.path = f"{folder}/{FILE}"
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def model(self, key: str) -> Model | None:
        """Return the model with this key; None if it is new."""
        sql = "SELECT * FROM models WHERE id = ? AND key = ?"
        values = (model_id(key), key)
        row = self._run(lambda db: db.execute(sql, values).fetchone())
        return Model(*row) if row else None

    def save(self, model: Model) -> None:
        """Add a model, or update it."""
        sql = "INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?)"
        self._run(lambda db: db.execute(sql, model), write=True)

    def drop(self, model: Model) -> None:
        """Remove a model and its vectors."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM models WHERE id = ?", (model.id,))
            db.execute("DELETE FROM vectors WHERE model = ?", (model.id,))

        self._run(work, write=True)

    def get(self, model: Model, digests: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the stored vectors of these texts, by digest. Vectors of another size are left
        out."""
        wanted = list(dict.fromkeys(digests))
        sql = "SELECT digest, vector FROM vectors WHERE model = ? AND length(vector) = ?"
        model_values = model.id, model.size

        def work(db: sqlite3.Connection) -> dict[bytes, bytes]:
            if len(wanted) > _MANY:  # five times as fast as a search for each
                texts = set(wanted)
                return {text: row for text, row in db.execute(sql, model_values) if text in texts}
            found: dict[bytes, bytes] = {}
            for start in range(0, len(wanted), _MAX_VALUES):
                batch = wanted[start : start + _MAX_VALUES]
                limited = f"{sql} AND digest IN ({','.join('?' * len(batch))})"
                found.update(db.execute(limited, (*model_values, *batch)))
            return found

        return self._run(work)

    def add(self, model: Model, rows: Iterable[tuple[bytes, bytes]], day: int) -> None:
        """Store vectors, given as (digest of the text, vector)."""
        values = [(model.id, text, day, vector) for text, vector in rows]
        sql = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)"
        self._run(lambda db: db.executemany(sql, values), write=True)

    def sweep(self, model: Model, digests: Iterable[bytes], day: int) -> None:
        """Record that these texts exist. Remove the vectors of all models whose text was not seen
        for a month."""

        def work(db: sqlite3.Connection) -> None:
            sql = "UPDATE vectors SET seen = ? WHERE model = ? AND digest = ?"
            db.executemany(sql, ((day, model.id, text) for text in digests))
            db.execute("UPDATE models SET swept = ? WHERE id = ?", (day, model.id))
            db.execute("DELETE FROM vectors WHERE seen < ?", (day - KEEP,))

        self._run(work, write=True)

    def purge(self, digests: Collection[bytes]) -> bool:
        """Erase the vectors of every model from the file, except those of these texts. Return False
        if another process is reading the file, so that old data is left in the WAL."""
        if not os.path.exists(self.path):
            return True

        def work(db: sqlite3.Connection) -> None:
            remaining = set(digests)
            stored = db.execute("SELECT DISTINCT digest FROM vectors").fetchall()
            gone = [row for row in stored if row[0] not in remaining]
            db.executemany("DELETE FROM vectors WHERE digest = ?", gone)

        def clean(db: sqlite3.Connection) -> bool:
            db.execute("VACUUM")
            return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

        self._run(work, write=True)
        return self._run(clean)

    # -- the file ----------------------------------------------------------------------------------

    def _run(
        self, work: Callable[[sqlite3.Connection], T], write: bool = False, retry: bool = True
    ) -> T:
        """Return the result of `work`. With `write`, run it in a transaction. If the file is
        damaged, replace it and run `work` again."""
        try:
            db = self._connect()
            if write:
                db.execute("BEGIN IMMEDIATE")
            try:
                result = work(db)
                if write:
                    db.execute("COMMIT")
                return result
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except (sqlite3.Error, OSError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise Busy("Another process is writing vectors.db.", "Try again.") from error
            self.close()
            if retry and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                self._remove()
                return self._run(work, write, retry=False)
            raise NoModel(
                f"{self.path} cannot be used ({error}).", "Free some space, or delete it."
            ) from error

    def _connect(self) -> sqlite3.Connection:
        if self._db is None:
            os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            db = sqlite3.connect(self.path, timeout=_TIMEOUT, isolation_level=None)
            try:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, _VERSION):
                    db.close()
                    self._remove()
                    return self._connect()
                if not version:
                    db.execute("PRAGMA journal_mode = WAL")
                    db.executescript(_SCHEMA)
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute("PRAGMA secure_delete = ON")
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}{suffix}")


def model_id(key: str) -> int:
    """Return the number of the model with this key."""
    return int.from_bytes(digest(key.encode("utf-8", "replace"))[:6])


def text_digest(text: str) -> bytes:
    """Return the digest of a text."""
    return digest(text.encode("utf-8", "replace"))
