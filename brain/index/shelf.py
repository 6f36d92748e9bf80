"""What a context takes from the index without a question: pinned memories, warnings, summaries,
tasks. Each has a small index of its own in schema.sql, so the size of the vault does not matter."""

from __future__ import annotations

from brain.index.db import Index, reading
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


def pinned(index: Index, owners: Owners, most: int) -> list[Row]:
    """The memories that are always part of a context, the newest first."""
    return _some(index, "c.scope = 'memory' AND c.status = 'pinned'", owners, most)


def negative(index: Index, owners: Owners) -> list[Row]:
    """What must not be done."""
    return _some(index, "c.scope = 'memory' AND c.kind = 'negative'", owners, -1)


def summaries(index: Index, owners: Owners, most: int) -> list[Row]:
    """What was the upshot of sessions, the newest first."""
    said = "c.kind IN ('summary', 'session') AND c.scope IN ('memory', 'sessions')"
    return _some(index, said, owners, most)


def open_tasks(index: Index, owners: Owners, most: int) -> list[Row]:
    """What is to be done, by priority."""
    order = f"ORDER BY {_PRIORITY}, 14 DESC, c.path, c.line"
    where = f"c.kind = 'task' AND c.scope = 'tasks' AND lower(c.status) NOT IN {_DONE}"
    return _some(index, where, owners, most, order)


def by_refs(index: Index, refs: Sequence[str], owners: Owners) -> dict[str, Row]:
    """The memories and items with these ids; of several with one id the first."""
    where = f"c.ref IN {marks(refs)} AND c.scope IN ('memory', 'items')"
    found = _some(index, where, owners, -1, "ORDER BY c.path DESC, c.line DESC", refs)
    return {row.ref: row for row in found}


def _some(
    index: Index,
    where: str,
    owners: Owners,
    most: int,
    order: str = _NEWEST,
    values: Iterable[str] = (),
) -> list[Row]:
    mine, names = owned(owners)
    sql = f"{_ROW} WHERE {where}{mine} {order} LIMIT {most:d}"
    with reading():
        return [Row(*row) for row in index.db.execute(sql, (*values, *names))]
