"""The vectors of chunks: which are missing, which there are, and which of them may be seen.

They are made in the order of the chunks' ids, which are never used twice: what has no vector yet
comes behind all that has one, and who has read them up to some id only needs to read on, as long
as `Made` is the same.
"""

from __future__ import annotations

import json
import os

from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from brain.index.db import Index
    from brain.index.read import Filters

_KEY = "vectors"
_STEP = 2000  # ids in one statement
_MISSING = "c.id > (SELECT coalesce(max(chunk), 0) FROM vectors)"


class Made(NamedTuple):
    """The model that made the vectors, and their size; `mark` is new each time they are dropped."""

    model: str
    size: int
    mark: str


class Piece(NamedTuple):
    """A chunk as a model is to see it; `before` is the turn before it in a session."""

    id: int
    scope: str
    title: str
    heading: str
    text: str
    before: str


def made(index: Index) -> Made | None:
    """Who made the vectors that there are; None if there are none."""
    value = index.value("SELECT value FROM meta WHERE key = ?", (_KEY,))
    return Made(*json.loads(value)) if value else None


def begin(db: sqlite3.Connection, model: str, size: int) -> Made:
    """Drop all vectors; those to come are of this model."""
    made = Made(model, size, os.urandom(8).hex())
    db.execute("DELETE FROM vectors")
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(made)))
    return made


def missing(index: Index, limit: int) -> list[Piece]:
    """The first chunks without a vector."""
    before = """iif(c.scope = 'sessions', coalesce((SELECT b.heading || ': ' || b.text FROM chunks b
        WHERE b.id = c.id - 1 AND b.file = c.file), ''), '')"""
    sql = (
        f"SELECT c.id, c.scope, f.title, c.heading, c.text, {before} FROM chunks c"
        f" JOIN files f ON f.id = c.file WHERE {_MISSING} ORDER BY c.id LIMIT ?"
    )
    return [Piece(*row) for row in index.rows(sql, (limit,))]


def count_missing(index: Index) -> int:
    """How many chunks have no vector."""
    return int(index.value(f"SELECT count(*) FROM chunks c WHERE {_MISSING}"))


def left_over(index: Index) -> dict[bytes, bytes]:
    """Vectors whose chunk is gone, by the digest of what the model was given."""
    sql = (
        "SELECT v.digest, v.vector FROM vectors v LEFT JOIN chunks c ON c.id = v.chunk"
        " WHERE c.id IS NULL"
    )
    return dict(index.rows(sql))


def store(db: sqlite3.Connection, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
    """Keep (chunk, digest, vectors in a row), unless the chunk is gone or has them."""
    db.executemany(
        "INSERT OR IGNORE INTO vectors SELECT ?1, ?2, ?3 WHERE EXISTS"
        " (SELECT 1 FROM chunks WHERE id = ?1)",
        rows,
    )


def sweep(db: sqlite3.Connection) -> None:
    """Drop the vectors whose chunk is gone."""
    db.execute("DELETE FROM vectors WHERE chunk NOT IN (SELECT id FROM chunks)")


def after(index: Index, id: int) -> list[tuple[int, bytes]]:
    """(chunk, vectors) of all behind this id, in order; some may have outlived their chunk."""
    return index.rows("SELECT chunk, vector FROM vectors WHERE chunk > ? ORDER BY chunk", (id,))


def seen(index: Index, ids: Sequence[int], filters: Filters) -> Iterator[int]:
    """Yield those of these chunks that pass the filters, in the order given; asks for the first
    ones, and for the others only if they are wanted."""
    where, values = filters.where(index)
    sql = f"SELECT c.id FROM chunks c JOIN files f ON f.id = c.file WHERE {where}"
    first, rest = ids[:_STEP], ids[_STEP:]
    for some, these in ((first, f" AND c.id IN ({','.join(map(str, first))})"), (rest, "")):
        passing = {id for (id,) in index.rows(sql + these, values)} if some else set()
        yield from (id for id in some if id in passing)
