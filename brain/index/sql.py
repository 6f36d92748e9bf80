"""Parts that many statements share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Owners = tuple[str, ...] | None

# When an entry was created: as the memory itself says, else the journal, the note, the file's time.
CREATED = """coalesce(c.created,
    iif(c.scope IN ('memory', 'archive'), (SELECT nullif(k.created, '') FROM facts k WHERE k.ref =
        coalesce((SELECT a.class FROM aliases a WHERE a.ref = c.ref), c.ref)), NULL),
    f.created, strftime('%Y-%m-%dT%H:%M:%fZ', f.mtime_ns / 1e9, 'unixepoch'))"""

_MOST = 400  # values in one statement: old SQLite takes 999


def marks(values: Sized | int) -> str:
    """A place for each value, in brackets."""
    count = values if isinstance(values, int) else len(values)
    return f"({','.join('?' * count)})"


def owned(owners: Owners, table: str = "c") -> tuple[str, tuple[str, ...]]:
    """The further condition that one of these agents owns a row, and its values; None for any."""
    if owners is None:
        return "", ()
    return f" AND {table}.agent IN {marks(owners)}", owners


def each(
    db: sqlite3.Connection, sql: str, wanted: Iterable[str], values: tuple[str, ...] = ()
) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement that ends in `IN`, for these, some of them at a time; `values` are
    those of its other places."""
    every = [text(value) for value in wanted]
    for at in range(0, len(every), _MOST):
        part = every[at : at + _MOST]
        yield from db.execute(f"{sql} {marks(part)}", (*values, *part))


def text(given: str) -> str:
    """What a person gave, without the halves of characters that SQLite cannot take."""
    return given.encode("utf-8", "replace").decode()
