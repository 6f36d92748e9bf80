"""A month that is over, folded by its own device, so that nobody has to read its lines again.

`<yyyy-mm>.snapshot.json` lies beside the lines and says where they end and with which sum. One that
does not fit what lies beside it is ignored, so a snapshot can be deleted, or be older than its
lines, and nothing changes but the time it takes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from zlib import crc32

from brain.journal.fold import Fold
from brain.journal.line import TAIL, ends_with, stored
from brain.journal.read import File, Reader, Seen
from brain.journal.tally import tally, unpacked
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = 2  # changes with what a fold counts
_LONGEST = 1 << 28


class Snapshot(NamedTuple):
    """What a file amounts to, and how its reader ended: at, line, seed, mark."""

    fold: Fold
    end: tuple[int, int, int, int]
    runs: list[tuple[int, int]]


def path(file: File) -> str:
    """Where the snapshot of a file lies."""
    return file.path.removesuffix(".jsonl") + ".snapshot.json"


def load(file: File) -> Snapshot | None:
    """What stands for this file; None if nothing does."""
    import orjson

    try:
        with open(path(file), "rb") as handle:
            data = handle.read(_LONGEST)
        if stored(data) != crc32(memoryview(data)[:-TAIL]):
            return None
        value = orjson.loads(data)
        end = at, _, _, _ = tuple(value["end"])
        if value["format"] != FORMAT or at != file.stat[0] or not _ends(file.path, value["last"]):
            return None
        return Snapshot(_fold(value), end, [(a, b) for a, b in value["runs"]])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(file: File) -> bool:
    """Fold a file and leave the snapshot beside it. False if it has one, or has lines that are not
    sound: those are for everybody to see."""
    if load(file):
        return False
    reader, seen, fold = Reader(file.path), Seen(), Fold()
    fold.file(file, reader, seen)
    if reader.odd or reader.problems or fold.repeats or reader.at != file.stat[0]:
        return False
    _replace(path(file), _encode(fold, reader, seen))
    return True


def _encode(fold: Fold, reader: Reader, seen: Seen) -> bytes:
    import orjson

    value = {
        "format": FORMAT,
        "last": _last(reader.path),
        "end": [reader.at, reader.line, reader.seed, reader.mark],
        "runs": seen.runs,
        "tallies": fold.tallies,
        "aliases": sorted(fold.aliases),
        "purges": fold.purges,
        "learned": [[*pair, *known] for pair, known in sorted(fold.learned.items())],
        "conflicts": [[*pair, *known] for pair, known in sorted(fold.conflicts.items())],
    }
    body = orjson.dumps(value)[:-1]
    return body + b',"sum":"%08x"}' % crc32(body)


def _fold(value: dict[str, Any]) -> Fold:
    fold = Fold()
    for ref, known in value["tallies"].items():
        if len(known) != len(tally()):
            raise ValueError(ref)
        fold.tallies[ref] = unpacked(known)
    fold.aliases = {(one, other) for one, other in value["aliases"]}
    fold.purges = {ref: tuple(purge) for ref, purge in value["purges"].items()}
    for one, other, strength, last in value["learned"]:
        fold.learned[one, other] = [strength, tuple(last)]
    for one, other, raised, settled in value["conflicts"]:
        fold.conflicts[one, other] = [tuple(raised), tuple(settled)]
    return fold


def _last(path: str) -> int:
    """The sum that a file ends with."""
    with open(path, "rb") as file:
        file.seek(-min(64, file.seek(0, os.SEEK_END)), os.SEEK_END)
        return stored(file.read().removesuffix(b"\n")) or 0


def _ends(path: str, sum: int) -> bool:
    with open(path, "rb") as file:
        file.seek(-min(64, file.seek(0, os.SEEK_END)), os.SEEK_END)
        return ends_with(file.read(), sum)


def _replace(path: str, data: bytes) -> None:
    """A whole file, or the one that was there."""
    temp = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.getpid()}.tmp"
    try:
        with open(temp, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temp, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temp)
        raise
