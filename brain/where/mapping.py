"""A filter as a mapping: `{"importance": {"$gte": 0.7}, "tags": ["db"]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.errors import BadRequest
from brain.where.compare import DEEPEST, Compare, Group, compare, known, together

NAMES = {"$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
NAMES |= {"$in": "in", "$nin": "not in", "$contains": "~"}
_EXAMPLE = 'Such as {"importance": {"$gte": 0.7}, "tags": ["db"]}.'


def read(filters: Any, depth: int = 0) -> Compare | Group:
    """The tree of a mapping, all of which must hold."""
    if not isinstance(filters, Mapping):
        raise BadRequest("A filter must be a mapping of fields to values.", _EXAMPLE)
    if depth > DEEPEST:
        raise BadRequest("The filter is nested too deep.", _EXAMPLE)
    return together(_item(str(key), value, depth) for key, value in filters.items())


def _item(key: str, value: Any, depth: int) -> Compare | Group:
    """One field, or `$and`, `$or`, `$not` of more mappings."""
    if key in ("$and", "$or", "$not"):
        return _group(key[1:], value, depth)
    field = known(key)
    if not isinstance(value, Mapping):
        return compare(field, "in" if isinstance(value, list | tuple) else "=", value)
    wrong = [op for op in value if op not in NAMES]
    if wrong:
        raise BadRequest(f"There is no operator {wrong[0]!r}.", f"There are: {', '.join(NAMES)}.")
    return together(compare(field, NAMES[op], target) for op, target in value.items())


def _group(op: str, value: Any, depth: int) -> Group:
    parts = [value] if op == "not" else value
    if not isinstance(parts, list | tuple):
        raise BadRequest(f"${op} needs a list of mappings.", _EXAMPLE)
    return Group(op, tuple(read(part, depth + 1) for part in parts))
