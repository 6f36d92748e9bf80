"""A line of the journal: one JSON object, ending in a checksum that hangs on the line before.

    {"id":"e-…","at":"…Z","device":"…","seq":7,"lamport":9,"by":"…","op":"…","ref":"…","path":"…",
     …,"sum":"89abcdef"}

`sum` is the CRC-32 of all bytes of the file before it, lines that are not sound left out. So one
pass over a block of lines proves all of them, and a line alone is proved by the one before it.
"""

from __future__ import annotations

import os
import re
from zlib import crc32

from brain.formats.text import ALPHABET
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

HEAD = ("id", "at", "device", "seq", "lamport", "by", "op", "ref", "path")
TAIL = len(',"sum":"89abcdef"}')
MOST = 1 << 53  # what every reader of JSON can count to
_LETTERS = (ALPHABET * 8).encode()  # one for each byte
_SUM = re.compile(rb',"sum":"([0-9a-f]{8})"}\Z')


class Entry(NamedTuple):
    """What is to be put on record. Who asks chooses the id, so that it is known again after a
    crash. `at` is the clock's if empty."""

    id: str
    op: str
    by: str = "person"
    ref: str = ""
    path: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012 - never changed
    at: str = ""


class Record(NamedTuple):
    """What is on record: an entry, the device that wrote it, the how-manieth that is (`seq`), and
    after how many others that it knew of (`lamport`)."""

    id: str
    at: str
    device: str
    seq: int
    lamport: int
    by: str
    op: str
    ref: str
    path: str
    data: dict[str, Any]

    @property
    def key(self) -> tuple[int, str, int]:
        """The order of all records, alike on every machine."""
        return self.lamport, self.device, self.seq


def event_id(prefix: str = "e") -> str:
    """A new id: `e-` and ten base32 characters."""
    return f"{prefix}-{letters(10)}"


def letters(count: int) -> str:
    """So many base32 characters, at random."""
    return os.urandom(count).translate(_LETTERS).decode()


def encode(records: Iterable[Record], seed: int) -> tuple[bytes, int]:
    """The lines of these records behind a line that left `seed`, and the sum of the last."""
    out, sum = [], 0
    for record in records:
        body = _json(record)[:-1]
        sum = crc32(body, seed)
        tail = _tail(sum)
        seed = crc32(tail, sum)
        out += [body, tail]
    return b"".join(out), sum


def _json(record: Record) -> bytes:
    import orjson

    value = dict(zip(HEAD, record, strict=False))
    if not value.keys().isdisjoint(record.data) or "sum" in record.data:
        raise ValueError(f"data of a record cannot be called {', '.join(HEAD)} or sum")
    value |= record.data
    try:
        return orjson.dumps(value)
    except TypeError:  # a name that is not Unicode, say
        return orjson.dumps(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, int | float) and abs(value) < MOST else str(value)


def _tail(sum: int) -> bytes:
    return b',"sum":"%08x"}\n' % sum


def after(sum: int) -> int:
    """What the sum of the next line starts from."""
    return crc32(_tail(sum), sum)


def ends_with(data: bytes, sum: int) -> bool:
    """Do these bytes end with the line that has this sum, with or without its newline?"""
    tail = _tail(sum)
    return data.endswith((tail, tail[:-1]))


def stored(line: bytes) -> int | None:
    """The sum that a line claims, without its newline; None if it claims none."""
    found = _SUM.search(line, max(0, len(line) - TAIL))
    return int(found[1], 16) if found else None


def sound(line: bytes, seed: int) -> bool:
    """Is the line, without its newline, what was written behind a line that left `seed`?"""
    sum = stored(line)
    return sum is not None and crc32(memoryview(line)[:-TAIL], seed) == sum


def decode(line: bytes) -> Record | None:
    """The record that a line holds; None if it holds none."""
    import orjson

    try:
        value = orjson.loads(line)
        return record(value)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def record(value: dict[str, Any]) -> Record | None:
    """A record from the object of its line, which is used up; None if it is not one."""
    head = [value.pop(key) for key in HEAD]
    value.pop("sum", None)
    seq, lamport = head[3:5]
    if not (type(seq) is int and type(lamport) is int and 0 < seq < MOST and 0 <= lamport < MOST):
        return None
    if not all(type(head[at]) is str for at in (0, 1, 2, 5, 6, 7, 8)):
        return None
    return Record._make([*head, value])
