"""Filter expressions: `importance>=0.7 and (kind=decision or tags=db) and not status=pinned`.

| expression | meaning |
|---|---|
| `=` `!=` `>` `>=` `<` `<=` | compare numbers as numbers, and text without regard to case |
| `created>=2026-02` | compare dates to the given precision: `created=2026-02` means February |
| `tags=db`, `tags has db` | has this tag or a nested one (`db/sql`) |
| `text~frost` | contains |
| `kind in (decision, fact)` | is one of these |
| `project=null` | has no value |
| `and` `or` `not` `( )` | as usual; `and` binds tighter |

A missing value is equal only to `null`, and neither greater nor less than any value.
"""

from __future__ import annotations

import re
from functools import partial
from math import isclose

from brain._tuples import NamedTuple
from brain.errors import BadRequest, suggest
from brain.kinds import OTHER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn

NUMBERS = ("line", "importance", "confidence", "score", "hits")
DATES = ("created", "updated")
LISTS = ("tags",)
TEXTS = ("id", "text", "kind", "status", "path", "heading", "agent", "project", "scope", "source")
FIELDS = (*TEXTS, "session", "by", *NUMBERS, *DATES, *LISTS)
ALIASES = {"section": "heading", "tag": "tags", "timestamp": "created", "content": "text"}
ALIASES |= {"category": "kind", "file": "path"}
_MAX_DEPTH = 50  # of parentheses and `not`, far below Python's own limit
_ORDERINGS = ("<", "<=", ">", ">=")
_OPERATORS = ("=", "==", "!=", *_ORDERINGS, "~", "!~", "has", "in", "not in")
_OPPOSITES = {"!=": "=", "!~": "~", "not in": "in"}
_TOKEN = re.compile(
    r"""\s*+(?:(?P<string>"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')|(?P<op>[<>!=]=|!~|[<>=~])|(?P<mark>[(),])"""
    r"""|(?P<word>[^\s()<>=!~,"']+))"""
)
_EXAMPLE = "Example: `importance>=0.7 and kind in (decision, fact)`."


class Comparison(NamedTuple):
    """A field, an operator, and a value: a text, a number or None; for `in`, a tuple of values."""

    field: str
    op: str
    value: Any

    def matches(self, entry: Mapping[str, Any]) -> bool:
        """Return True if the entry matches."""
        actual = _value(entry, self.field)
        if self.op in _OPPOSITES:
            return not self._compare(_OPPOSITES[self.op], actual)
        return self._compare(self.op, actual)

    def values(self, field: str) -> list[str]:
        """Return the values with which the expression compares a field."""
        if self.field != field or self.op not in ("=", "!=", "in", "not in"):
            return []
        return [word for word in (self.value if "in" in self.op else (self.value,)) if word]

    def _compare(self, op: str, actual: Any) -> bool:
        if op == "in":
            return any(_equal(self.field, actual, value) for value in self.value)
        if op == "=":
            return _equal(self.field, actual, self.value)
        if actual is None or self.value is None:
            return False
        if op == "~":
            texts = actual if self.field in LISTS else [actual]
            return any(self.value in _fold(text) for text in texts)
        if self.field in DATES:
            actual = _fold(actual)[: len(self.value)]
        elif self.field not in NUMBERS:
            actual = _fold(actual)
        if "=" in op and actual == self.value:
            return True
        return bool(actual < self.value if op[0] == "<" else actual > self.value)


class Group(NamedTuple):
    """Expressions that are joined by `and` or `or`, or one expression that `not` negates."""

    op: str
    parts: tuple[Any, ...]

    def matches(self, entry: Mapping[str, Any]) -> bool:
        """Return True if the entry matches."""
        if self.op == "not":
            return not self.parts[0].matches(entry)
        return (all if self.op == "and" else any)(part.matches(entry) for part in self.parts)

    def values(self, field: str) -> list[str]:
        """Return the values with which the expression compares a field."""
        return [value for part in self.parts for value in part.values(field)]


def parse(text: str) -> Comparison | Group:
    """Parse a filter expression. BadRequest names the character at which it is not valid."""
    parser = _Parser(text)
    tree = parser.alternatives()
    if parser.kind:
        parser.fail("expected `and`, `or` or the end")
    return tree


def sort(entries: Iterable[Mapping[str, Any]], order: str) -> list[Mapping[str, Any]]:
    """Return the entries in order. `importance` means highest first, `-importance` lowest first;
    commas separate several fields. Entries without a value come last, in both directions."""
    words = [word.strip() for word in order.split(",") if word.strip()]
    if not words:
        raise BadRequest("An order needs a field.", "Examples: `created`, `-importance`.")
    result = list(entries)
    keys = [(_field(word.removeprefix("-").strip()), word[0] == "-") for word in words]
    for field, ascending in reversed(keys):
        with_value = [entry for entry in result if _value(entry, field) is not None]
        without_value = [entry for entry in result if _value(entry, field) is None]
        with_value.sort(key=partial(_sort_key, field), reverse=not ascending)
        result = with_value + without_value
    return result


# -- values --------------------------------------------------------------------------------------


def _field(name: str, place: str = "") -> str:
    """Return the field with this name. BadRequest suggests a similar one."""
    field = ALIASES.get(name.lower(), name.lower())
    if field in FIELDS:
        return field
    hint = suggest(field, (*FIELDS, *ALIASES)) or f"Fields: {', '.join(sorted(FIELDS))}."
    raise BadRequest(f"There is no field {name!r}{place}.", hint)


def _value(entry: Mapping[str, Any], field: str) -> Any:
    """Return an entry's value; None if it is empty or of the wrong type."""
    value = entry.get(field)
    if field in NUMBERS:
        return value if isinstance(value, int | float) else None
    if field in LISTS:
        return value if value and isinstance(value, list | tuple) else None
    return None if value == "" else value


def _sort_key(field: str, entry: Mapping[str, Any]) -> Any:
    value = _value(entry, field)
    if field in NUMBERS:
        return value
    return [_fold(part) for part in value] if field in LISTS else _fold(value)


def _fold(value: Any) -> str:
    return str(value).casefold()


def _equal(field: str, actual: Any, value: Any) -> bool:
    if value is None or actual is None:
        return actual is value
    if field in LISTS:
        return any((_fold(part) + "/").startswith(value + "/") for part in actual)
    if field in NUMBERS:
        return isclose(actual, value, abs_tol=1e-9)
    return _fold(actual).startswith(value) if field in DATES else _fold(actual) == value


# -- parsing -------------------------------------------------------------------------------------


class _Parser:
    """A recursive-descent parser. `kind` and `word` are the next token, '' at the end."""

    def __init__(self, text: str) -> None:
        self.text, self.position, self.start, self.depth = text, 0, 0, 0
        self.kind = self.word = ""
        self.advance()

    def advance(self) -> str:
        """Move past the next token and return it."""
        word, match = self.word, _TOKEN.match(self.text, self.position)
        self.kind, self.word, self.start = "", "", len(self.text)
        if match:
            self.kind, self.position = str(match.lastgroup), match.end()
            self.word, self.start = match[self.kind], match.start(self.kind)
        elif rest := self.text[self.position :].strip():
            self.start = self.text.rindex(rest)
            self.fail("unexpected text")
        return word

    def fail(self, expected: str) -> NoReturn:
        rest = self.text[self.start : self.start + 20]
        place = f"at character {self.start + 1}, before {rest!r}" if rest else "at the end"
        raise BadRequest(f"The filter is not valid: {expected} {place}.", _EXAMPLE)

    def accept(self, word: str) -> bool:
        """Move past the next token if it is this word without quotes."""
        found = self.kind != "string" and self.word.lower() == word
        if found:
            self.advance()
        return found

    def expect(self, mark: str, expected: str) -> None:
        if not self.accept(mark):
            self.fail(f"expected {expected}")

    def alternatives(self) -> Comparison | Group:
        return self.joined("or", self.conjunction)

    def conjunction(self) -> Comparison | Group:
        return self.joined("and", self.term)

    def joined(self, op: str, part: Callable[[], Comparison | Group]) -> Comparison | Group:
        parts = [part()]
        while self.accept(op):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Group(op, tuple(parts))

    def term(self) -> Comparison | Group:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail("there are too many parentheses")
        tree: Comparison | Group
        if self.accept("not"):
            tree = Group("not", (self.term(),))
        elif self.accept("("):
            tree = self.alternatives()
            self.expect(")", "`)`")
        else:
            tree = self.comparison()
        self.depth -= 1
        return tree

    def comparison(self) -> Comparison:
        if self.kind != "word":
            self.fail("expected a field")
        field = _field(self.word, f" (at character {self.start + 1} of the filter)")
        self.advance()
        op = "not in" if self.accept("not") else self.word.lower()
        if op == "not in" and self.word.lower() != "in":
            self.fail("expected `in`")
        if op not in _OPERATORS or self.kind == "string":
            self.fail(f"expected one of {' '.join(_OPERATORS)}")
        self.advance()
        place = f" (at character {self.start + 1} of the filter)"
        values = self.values() if op in ("in", "not in") else [self.value()]
        op = {"==": "=", "has": "=" if field in LISTS else "~"}.get(op, op)
        if field in LISTS and op in _ORDERINGS:
            raise BadRequest(
                f"{field} cannot be compared with `<` or `>`{place}.", f"Such as `{field}=db`."
            )
        if op in ("in", "not in"):
            return Comparison(field, op, tuple(_operand(field, value, place) for value in values))
        value = _fold(values[0]) if op in ("~", "!~") else _operand(field, values[0], place)
        return Comparison(field, op, value)

    def value(self) -> str | None:
        if self.kind not in ("word", "string"):
            self.fail("expected a value")
        quoted, word = self.kind == "string", self.advance()
        if quoted:
            return re.sub(r"\\(.)", r"\1", word[1:-1])
        return None if word.lower() in ("null", "none") else word

    def values(self) -> list[str | None]:
        self.expect("(", "`(`")
        values = [self.value()]
        while self.accept(","):
            values.append(self.value())
        self.expect(")", "`,` or `)`")
        return values


def _operand(field: str, value: str | None, place: str) -> Any:
    """Convert a value to the type of its field."""
    if value is None:
        return None
    if field not in NUMBERS:
        folded = _fold(value).removeprefix("#") if field in LISTS else _fold(value)
        return OTHER_NAMES.get(folded, folded) if field == "kind" else folded
    try:
        return float(value)
    except ValueError:
        raise BadRequest(f"{field} is compared with a number, not {value!r}{place}.") from None
