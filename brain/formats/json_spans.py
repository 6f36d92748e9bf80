"""Read JSON records with their spans in the file.

The standard library decodes one value at a time. This module adds the spans, limits the depth, and
replaces the characters that SQLite cannot store. A `Reading` reports an invalid file as a problem
and does not raise an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from brain.formats.frontmatter import is_time
from brain.formats.text import UNSAFE, decode, derived_id, storable
from brain.model import Document, Entry, Problem

MAX_DEPTH = 100  # more than any real file needs, and less than the 254 levels that orjson writes
_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)


class JsonError(ValueError):
    """An error in a JSON text, at the character `offset`."""

    def __init__(self, offset: int, code: str, message: str) -> None:
        super().__init__(message)
        self.offset, self.code, self.message = offset, code, message


class Repeated(dict[str, Any]):
    """An object with a repeated key. The last value counts, as in every JSON reader."""


class Member(NamedTuple):
    """A key of an object and its value, with their offsets in characters."""

    key: str
    key_start: int
    value: Any
    start: int
    end: int


class Record(NamedTuple):
    """An object in a list, or the value of `key` in a mapping, with its first and last line."""

    key: str
    value: dict[str, Any]
    line: int
    end_line: int


def loads(text: str) -> Any:
    """Return the value of a JSON text. Raise JsonError if it is not exactly one value."""
    start = skip(text, 0)
    value, end = _value(text, start)
    after = skip(text, end)
    if after < len(text):
        raise _invalid(after, "text after the end")
    return value


def elements(text: str, offset: int) -> Iterator[tuple[Any, int, int]]:
    """Yield (value, start, end) of each element of the array that starts at an offset."""
    start = skip(text, offset + 1)
    while text[start : start + 1] != "]":
        value, end = _value(text, start)
        yield value, start, end
        start = _next(text, end, "]")


def members(text: str, offset: int) -> Iterator[Member]:
    """Yield each member of the object that starts at an offset, in order."""
    key_start = skip(text, offset + 1)
    while text[key_start : key_start + 1] != "}":
        key, colon = _value(text, key_start)
        colon = skip(text, colon)
        if not isinstance(key, str) or text[colon : colon + 1] != ":":
            raise _invalid(colon, "expecting a key in quotes and a colon")
        start = skip(text, colon + 1)
        value, end = _value(text, start)
        yield Member(key, key_start, value, start, end)
        key_start = _next(text, end, "}")


def skip(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _next(text: str, end: int, closing: str) -> int:
    """Return the offset of the element after the one that ends at `end`, or of the closing
    bracket."""
    position = skip(text, end)
    if text[position : position + 1] == closing:
        return position
    start = skip(text, position + 1)
    if text[position : position + 1] != "," or text[start : start + 1] == closing:
        raise _invalid(position, f"expecting ',' and a value, or '{closing}'")
    return start


def _value(text: str, offset: int) -> tuple[Any, int]:
    """Return the value that starts at an offset, and its end. Raise JsonError if it is nested more
    than MAX_DEPTH levels deep."""
    try:
        value, end = _DECODER.raw_decode(text, offset)
    except json.JSONDecodeError as error:
        raise _invalid(error.pos, error.msg) from None
    except RecursionError:
        raise too_deep(offset) from None
    if text.count("[", offset, end) + text.count("{", offset, end) > MAX_DEPTH and is_deep(value):
        raise too_deep(offset)
    if _ESCAPE.search(text, offset, end):
        value = storable(value)
    return value, end


def _invalid(offset: int, why: str) -> JsonError:
    why = why[:1].lower() + why[1:].removesuffix(" at").removesuffix(" starting")
    return JsonError(offset, "json", f"is not valid JSON here ({why}); correct it by hand")


def too_deep(offset: int) -> JsonError:
    """Return the error for a value that `is_deep`."""
    return JsonError(
        offset, "json-depth", f"is nested over {MAX_DEPTH} levels deep; it was not read"
    )


def is_deep(value: Any) -> bool:
    """Return True if lists and objects are nested more than MAX_DEPTH levels deep."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        nested = [v for v in level if isinstance(v, dict | list)]
        if not nested:
            return False
        level = [inner for v in nested for inner in (v.values() if isinstance(v, dict) else v)]
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeated(found)


def _integer(digits: str) -> int | str:
    """Return an integer, or its digits if it has more than the 64 bits of SQLite and orjson."""
    if len(digits) < 19:
        return int(digits)
    number = int(digits) if len(digits) < 21 else 2**64
    return number if -(2**63) <= number < 2**63 else digits


def _float(digits: str) -> float | str:
    """Return a float, or its digits if it would be infinity, which JSON does not have."""
    number = float(digits)
    return number if abs(number) < float("inf") else digits


def _constant(_: str) -> None:
    """Return None for NaN and Infinity. Python writes them, although they are not valid JSON."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def first_time(*candidates: Any) -> str | None:
    """Return the first value that is an ISO date, or date and time, as it is written; else None."""
    for value in candidates:
        if isinstance(value, str) and _TIME.fullmatch(value) and is_time(value):
            return value
    return None


def remaining_members(value: Mapping[str, Any], represented: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an object that `represented` does not have, or has with another value.
    A null whose key is in `represented` is left out."""
    return {
        key: member
        for key, member in value.items()
        if key not in represented or (member is not None and member != represented[key])
    }


class Refs:
    """The ids of the entries of a file. In a group, only one entry has an id; an entry that repeats
    the id of another gets a derived id. The group of a message is its role; items have no group."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._taken: set[tuple[str, str]] = set()
        self._counts: dict[tuple[str, ...], int] = {}

    def take(self, ref: str, group: str = "") -> bool:
        """Take an id in a group. Return False if it is taken already."""
        if (ref, group) in self._taken:
            return False
        self._taken.add((ref, group))
        return True

    def derive(self, *parts: str, group: str = "") -> str:
        """Return an id derived from the parts and the number of earlier entries with the same
        parts. The id is the same on every machine."""
        while True:
            count = self._counts[parts] = self._counts.get(parts, 0) + 1
            ref = derived_id(self._prefix, *parts, str(count))
            if self.take(ref, group):
                return ref


class Reading:
    """The records of a file in order, and the problems that were found so far.

    The file is a list of objects, an object that has a list of objects under `name`, or, if
    `keyed`, a mapping of ids to objects. Any other file, or a file that cannot be edited safely, is
    `broken` and has no records.
    """

    def __init__(self, data: bytes, name: str, prefix: str, *, keyed: bool = False) -> None:
        self.text, self.problems = decode(data)
        self.records: list[Record] = []
        self.broken = any(problem.code in UNSAFE for problem in self.problems)
        self._refs = Refs(prefix)
        if not self.broken and self.text.strip():
            self._read(name, keyed)

    def _read(self, name: str, keyed: bool) -> None:
        try:
            found = list(_entries(self.text, name, keyed))
        except JsonError as error:
            self.broken = True
            line = self.text.count("\n", 0, error.offset) + 1
            self.problems.append(Problem(line, error.code, error.message))
            return
        record: Any
        for record, offset in _with_lines(self.text, found):
            if not isinstance(record.value, dict):
                self.report(record, "not-an-object", "is not an object; skipped")
                continue
            self.records.append(record)
            if isinstance(record.value, Repeated):
                self.problems.append(self._repeated(record, offset))

    def _repeated(self, record: Record, offset: int) -> Problem:
        """Return the problem for the first repeated key of a record that starts at an offset."""
        first: dict[str, Member] = {}
        member = next(m for m in members(self.text, offset) if first.setdefault(m.key, m) is not m)
        line = record.line + self.text.count("\n", offset, member.key_start)
        message = f'has "{member.key}" a second time; the last one counts'
        return Problem(line, "duplicate-key", message)

    def ref(self, record: Record, given: Any, *parts: str) -> str:
        """Return `given` if it is an id that no earlier record has, else a derived id."""
        if not isinstance(given, str) or not given.strip():
            self.report(record, "missing-id", "has no id in quotes; one is derived from its text")
        elif self._refs.take(given):
            return given
        else:
            self.report(record, "duplicate-id", f'has the id "{given}" of an earlier record')
        return self._refs.derive(*parts)

    def string(self, record: Record, name: str) -> str:
        """Return a member that should be a string, else ''. Report any other value except null."""
        value = record.value.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            self.report(record, "wrong-type", f'"{name}" is not a string; it is not searched')
        return ""

    def strings(self, record: Record, name: str) -> list[str]:
        """Return a member that should be a list of strings, or a string. Report other values."""
        value = record.value.get(name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        found = [inner for inner in values if isinstance(inner, str)]
        if len(found) < len(values):
            self.report(record, "wrong-type", f'"{name}" contains values that are not strings')
        return found

    def report(self, record: Record, code: str, message: str) -> None:
        """Report a problem at the first line of a record."""
        self.problems.append(Problem(record.line, code, message))

    def document(self, entries: Iterable[Entry]) -> Document:
        """Return the document of these entries, with all problems."""
        entries = tuple(entries)  # building the entries adds to the problems
        return Document(entries=entries, problems=tuple(self.problems), broken=self.broken)


def _entries(text: str, name: str, keyed: bool) -> Iterator[tuple[str, Any, int, int]]:
    """Yield (key, value, start, end) of each element of the list or mapping, in characters."""
    value, offset = loads(text), skip(text, 0)
    if isinstance(value, dict) and isinstance(value.get(name), list | dict):
        offset = [member.start for member in members(text, offset) if member.key == name][-1]
        value = value[name]
    if isinstance(value, list):
        return (("", *element) for element in elements(text, offset))
    if keyed and isinstance(value, dict):
        return ((m.key, m.value, m.start, m.end) for m in members(text, offset))
    raise JsonError(
        offset, "json-shape", f'is neither a list nor an object with a list of "{name}"'
    )


def _with_lines(
    text: str, elements_: list[tuple[str, Any, int, int]]
) -> Iterator[tuple[Record, int]]:
    """Yield each record with its lines, and the offset of its first character."""
    line, counted_to = 1, 0
    for key, value, first_char, end_char in elements_:
        line += text.count("\n", counted_to, first_char)
        end_line = line + text.count("\n", first_char, end_char)
        yield Record(key, value, line, end_line), first_char
        line, counted_to = end_line, end_char
