"""The format of a record: one line of JSON that ends with its own checksum.

    {"id":"e-…","at":"…Z","device":"…","seq":7,"lamport":9,"by":"…","op":"…","ref":"…","path":"…",
     …,"crc":"89abcdef"}

`crc` is the CRC-32 of the bytes before `,"crc"`, so each line can be checked separately. `OLD_OPS`
and `_check_chained` read lines from versions before 0.1.0. Version 1.0 will remove them.
"""

from __future__ import annotations

import os
from zlib import crc32

from brain.formats.text import ALPHABET
from brain.model import Change, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

HEAD = ("id", "at", "device", "seq", "lamport", "by", "op", "ref", "path")
_TYPES = [str, str, str, int, int, str, str, str, str]
RESERVED = frozenset([*HEAD, "crc", "sum"])  # names that the data of a record must not use
MAX_NUMBER = 1 << 53  # the largest integer that every JSON reader represents exactly
OLD_OPS = {
    "add": "remember",
    "remove": "forget",
    "configure": "config",
    "gone": "overwritten",
    "together": "used_together",
}
_TAIL = len(',"crc":"89abcdef"}')
_MAX_DEPTH = 200  # of nested values; orjson can write more
_MAX_GAP = 64  # lines that a merge may put between a chained line and the line before it
_LETTERS = (ALPHABET * 8).encode()  # a letter for each value of a byte


def event_id(prefix: str = "e") -> str:
    """Return a new id: a prefix and ten random base32 characters."""
    return f"{prefix}-{random_letters(10)}"


def random_letters(count: int) -> str:
    """Return random base32 characters."""
    return os.urandom(count).translate(_LETTERS).decode()


def encode(records: Iterable[Record]) -> bytes:
    """Return the lines of these records."""
    lines = []
    for record in records:
        body = _to_json(record)[:-1]
        lines.append(b'%b,"crc":"%08x"}\n' % (body, crc32(body)))
    return b"".join(lines)


def _to_json(record: Record) -> bytes:
    import orjson

    if not RESERVED.isdisjoint(record.data):
        raise ValueError(f"data of a record cannot be named {', '.join(sorted(RESERVED))}")
    value = dict(zip(HEAD, record, strict=False)) | record.data
    try:
        return orjson.dumps(value)
    except TypeError:  # a file name that is not Unicode, or a huge number
        return orjson.dumps(_to_plain(value))


def _to_plain(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_to_plain(str(key)): _to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_plain(item) for item in value]
    return value if isinstance(value, int | float) and abs(value) < MAX_NUMBER else str(value)


def checksum(line: bytes) -> int | None:
    """Return the checksum of a line without its newline; None if the line is damaged."""
    body = memoryview(line)[:-_TAIL]
    found = crc32(body)
    return found if line[-_TAIL:] == b',"crc":"%08x"}' % found else None


class LineChecker:
    """Checks the lines of a file in order. `last` is the checksum of the last valid line; -1 if
    there was none. The chained lines of old journals need it."""

    def __init__(self, last: int = -1) -> None:
        self.last = last
        self._recent: dict[int, None] = {0: None}

    def is_valid(self, line: bytes) -> bool:
        """Return True if a line without its newline is undamaged."""
        found = checksum(line)
        if found is None and line[-_TAIL:-10] == b',"sum":"':
            found = self._check_chained(line)
        if found is not None:
            self.last = found
        return found is not None

    def _check_chained(self, line: bytes) -> int | None:
        """Return the checksum of a line of an old journal, which continues the checksum of the line
        before it; None if the line is damaged."""
        if self.last >= 0:
            self._recent[crc32(b',"sum":"%08x"}\n' % self.last, self.last)] = None
        for seed in reversed((0, *list(self._recent)[-_MAX_GAP:])):
            found = crc32(memoryview(line)[:-_TAIL], seed)
            if line[-10:] == b'%08x"}' % found:
                return found
        return None


def decode(line: bytes) -> Record | None:
    """Return the record in a line; None if it is not a record. The checksum is not verified."""
    import orjson

    try:
        value = orjson.loads(line)
        head = [value.pop(key) for key in HEAD]
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None
    value.pop("crc", None)
    value.pop("sum", None)
    if [*map(type, head)] != _TYPES:
        return None
    if not (0 < head[3] < MAX_NUMBER and 0 <= head[4] < MAX_NUMBER):
        return None
    if line.count(b"[") + line.count(b"{") > _MAX_DEPTH and _is_too_deep(value):
        return None
    head[6] = OLD_OPS.get(head[6], head[6])
    if isinstance(undid := value.get("undid"), str):
        value["undid"] = OLD_OPS.get(undid, undid)
    return Record._make([*head, value])


def _is_too_deep(value: Any) -> bool:
    import orjson

    try:
        orjson.dumps(value)
    except TypeError:
        return True
    return False


# -- changes, which state.db contains while they are pending, and records of overwritten changes ---


def change_to_json(change: Change) -> dict[str, Any]:
    """Return a change as a JSON value."""
    return {"change": type(change).__name__.lower(), **change._asdict()}


def change_from_json(value: dict[str, Any]) -> Change:
    """Return the change in a JSON value from `change_to_json`."""
    types = {type.__name__.lower(): type for type in Change.__args__}
    fields = {key: _as_tuple(value[key]) for key in value.keys() - {"change"}}
    change: Change = types[value["change"]](**fields)
    return change


def _as_tuple(value: Any) -> Any:
    return tuple(_as_tuple(inner) for inner in value) if isinstance(value, list) else value
