"""Fields, comparisons, and whether an entry fits them."""

from __future__ import annotations

from math import isclose

from brain.errors import BadRequest, suggest
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

NUMBERS = ("line", "importance", "confidence", "score", "hits")
DATES = ("created", "updated")
LISTS = ("tags",)
TEXTS = ("id", "text", "kind", "status", "path", "heading", "agent", "project", "scope", "source")
FIELDS = (*TEXTS, "session", "by", *NUMBERS, *DATES, *LISTS)
ALIASES = {"section": "heading", "tag": "tags", "timestamp": "created", "content": "text"}
ALIASES |= {"category": "kind", "file": "path"}
DEEPEST = 50
ORDERS = ("<", "<=", ">", ">=")
OPS = ("=", "==", "!=", *ORDERS, "~", "!~", "has", "in", "not in")


class Compare(NamedTuple):
    """One comparison; `value` is a text, a number, None, or a tuple of them for `in`."""

    field: str
    op: str
    value: Any


class Group(NamedTuple):
    """`and` or `or` of several, or `not` of one."""

    op: str
    parts: tuple[Any, ...]


def known(name: str, at: str = "") -> str:
    """The field of that name; raises BadRequest with the one that may have been meant."""
    field = ALIASES.get(name.lower(), name.lower())
    if field in FIELDS:
        return field
    hint = suggest(field, (*FIELDS, *ALIASES)) or f"There are: {', '.join(sorted(FIELDS))}."
    raise BadRequest(f"There is no field {name!r}{at}.", hint)


def together(parts: Iterable[Compare | Group]) -> Compare | Group:
    """All of these; none of them is what always holds."""
    made = tuple(parts)
    return made[0] if len(made) == 1 else Group("and", made)


def compare(field: str, op: str, value: Any, at: str = "") -> Compare:
    """A comparison that makes sense, its value as the field has it."""
    op = {"==": "=", "has": "=" if field in LISTS else "~"}.get(op, op)
    if field in LISTS and op in ORDERS:
        raise BadRequest(f"{field} cannot be more or less{at}.", f"Such as `{field}=db`.")
    if isinstance(value, list | tuple):
        if op not in ("in", "not in"):
            raise BadRequest(f"{field} {op} takes one value{at}.", "Lists go with `in`.")
        return Compare(field, op, tuple(_fitted(field, each, at) for each in value))
    if op in ("in", "not in"):
        return Compare(field, op, (_fitted(field, value, at),))
    return Compare(field, op, _fitted(field, value, at) if op not in ("~", "!~") else _fold(value))


def _fitted(field: str, value: Any, at: str) -> Any:
    if value is None or field not in NUMBERS:
        text = None if value is None else _fold(value)
        return text.removeprefix("#") if text and field in LISTS else text
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadRequest(f"{field} is compared with a number, not {value!r}{at}.") from None


def _fold(value: Any) -> str:
    return str(value).casefold()


def holds(node: Compare | Group, entry: Mapping[str, Any]) -> bool:
    """Does an entry fit?"""
    if isinstance(node, Compare):
        return _fits(node, get(entry, node.field))
    if node.op == "not":
        return not holds(node.parts[0], entry)
    return (all if node.op == "and" else any)(holds(part, entry) for part in node.parts)


def _fits(test: Compare, have: Any) -> bool:
    field, op, want = test
    if op in ("!=", "not in", "!~"):
        return not _fits(Compare(field, {"!=": "=", "!~": "~"}.get(op, "in"), want), have)
    if op == "in":
        return any(_equal(field, have, each) for each in want)
    if op == "=":
        return _equal(field, have, want)
    if op == "~":
        texts = have if field in LISTS else [have]
        return have is not None and any(want in _fold(text) for text in texts)
    return have is not None and want is not None and _ordered(field, op, have, want)


def _equal(field: str, have: Any, want: Any) -> bool:
    if want is None or have is None:
        return have is want
    if field in LISTS:
        return any((_fold(each) + "/").startswith(want + "/") for each in have)
    if field in NUMBERS:
        return isclose(have, want, abs_tol=1e-9)
    return _fold(have).startswith(want) if field in DATES else _fold(have) == want


def _ordered(field: str, op: str, have: Any, want: Any) -> bool:
    if field not in NUMBERS:
        have = _fold(have)[: len(want)] if field in DATES else _fold(have)
    if op[0] == "<":
        return bool(have < want or (op == "<=" and have == want))
    return bool(have > want or (op == ">=" and have == want))


def asked(node: Compare | Group, field: str) -> Iterable[str]:
    """The words that a filter says a field is, or is not."""
    if isinstance(node, Group):
        return [word for part in node.parts for word in asked(part, field)]
    if node.field != field or node.op not in ("=", "!=", "in", "not in"):
        return []
    return [word for word in (node.value if "in" in node.op else (node.value,)) if word]


def get(entry: Mapping[str, Any], field: str) -> Any:
    """An entry's value; what is empty, or no number or list where one belongs, is none."""
    value = entry.get(field)
    if field in NUMBERS:
        return value if isinstance(value, int | float) else None
    if field in LISTS:
        return value if value and isinstance(value, list | tuple) else None
    return None if value == "" else value


def sortable(field: str, value: Any) -> Any:
    """A value as it is sorted by."""
    if field in NUMBERS:
        return value
    return [_fold(each) for each in value] if field in LISTS else _fold(value)
