"""Entries that a context reads without a search: pinned memories, warnings, summaries, tasks.

Each query has its own small index in schema.sql, so its cost does not grow with the vault.
"""

from __future__ import annotations

from brain.index.db import Index
from brain.index.query import _ROW, Row
from brain.index.sql import marks, owned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brain.index.sql import Owners

_NEWEST = "ORDER BY 14 DESC, c.path, c.line"
# a number, the smallest first, or a word
_PRIORITY = """CASE lower(coalesce(json_extract(c.extra, '$.priority'), ''))
    WHEN 'critical' THEN 0 WHEN 'urgent' THEN 0 WHEN 'highest' THEN 0 WHEN 'high' THEN 1
    WHEN 'medium' THEN 2 WHEN 'normal' THEN 2 WHEN 'low' THEN 3 WHEN 'lowest' THEN 4 WHEN '' THEN 99
    ELSE json_extract(c.extra, '$.priority') END"""
_DONE = "('completed', 'done', 'cancelled', 'canceled', 'closed', 'archived')"


def pinned(index: Index, owners: Owners) -> list[Row]:
    """Return the pinned memories, newest first."""
    return _rows(index, "c.scope = 'memory' AND c.status = 'pinned'", owners)


def negative(index: Index, owners: Owners) -> list[Row]:
    """Return the memories of what must not be done, newest first."""
    return _rows(index, "c.scope = 'memory' AND c.kind = 'negative'", owners)


def summaries(index: Index, owners: Owners, limit: int) -> list[Row]:
    """Return the summaries of sessions, newest first."""
    where = "c.kind IN ('summary', 'session') AND c.scope IN ('memory', 'sessions')"
    return _rows(index, where, owners, limit)


def open_tasks(index: Index, owners: Owners, limit: int) -> list[Row]:
    """Return the open tasks, most urgent first."""
    order = f"ORDER BY {_PRIORITY}, 14 DESC, c.path, c.line"
    where = f"c.kind = 'task' AND c.scope = 'tasks' AND lower(c.status) NOT IN {_DONE}"
    return _rows(index, where, owners, limit, order)


def by_ids(index: Index, ids: Sequence[str], owners: Owners) -> dict[str, Row]:
    """Return the memories and items with these ids; of several with one id, the first."""
    where = f"c.ref IN {marks(ids)} AND c.scope IN ('memory', 'items')"
    rows = _rows(index, where, owners, order="ORDER BY c.path DESC, c.line DESC", values=ids)
    return {row.ref: row for row in rows}


def _rows(
    index: Index,
    where: str,
    owners: Owners,
    limit: int = -1,
    order: str = _NEWEST,
    values: Iterable[str] = (),
) -> list[Row]:
    visible, names = owned(owners)
    sql = f"{_ROW} WHERE {where}{visible} {order} LIMIT {limit:d}"
    return [Row(*row) for row in index.rows(sql, (*values, *names))]
