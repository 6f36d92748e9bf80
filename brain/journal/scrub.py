"""Words out of a journal: the one case in which its lines are written over."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from brain.journal import snapshot
from brain.journal.line import Record, after, decode, encode
from brain.journal.read import File, Reader

PURGED = {"purged": True}


def mentions(file: File, refs: Collection[str]) -> bool:
    """Does a file hold anything that was said of these entries?"""
    quoted = b"|".join(re.escape(ref.encode()) for ref in sorted(refs))
    marks = re.compile(rb'"ref":"(?:%s)"' % quoted)
    for block in Reader(file.path).blocks():
        for found in marks.finditer(block):
            start = block.rfind(b"\n", 0, found.start()) + 1
            record = decode(block[start : block.index(b"\n", found.end())])
            if record and record.ref in refs and not _bare(record):
                return True
    return False


def _bare(record: Record) -> bool:
    """Says it no more than that there was something?"""
    return record.op in ("purge", "alias") or record.data == PURGED


def rewrite(file: File, refs: Collection[str]) -> int:
    """Write a file anew without what was said of these entries; the sum that it ends with. Its
    numbers stay, so that it is still known what is missing. Lines that are not sound go."""
    temp = f"{os.path.dirname(file.path)}/.{file.month}.{os.getpid()}.tmp"
    seed = sum = 0
    try:
        with open(temp, "wb") as out:
            for records in _runs(file):
                data, sum = encode([_without(record, refs) for record in records], seed)
                seed = after(sum)
                out.write(data)
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileNotFoundError):
            os.unlink(snapshot.path(file))
        os.replace(temp, file.path)
    except OSError:
        with suppress(OSError):
            os.unlink(temp)
        raise
    return sum


def _runs(file: File) -> Iterator[list[Record]]:
    """The records of a file in order, some at a time."""
    reader = Reader(file.path)
    for _ in reader.blocks():
        pass
    every: dict[int, Record] = {}
    for block in Reader(file.path).blocks():
        records = [record for line in block.split(b"\n") if (record := decode(line))]
        if reader.odd:
            every |= {record.seq: record for record in records}
        elif records:
            yield records
    if every:
        yield [every[seq] for seq in sorted(every)]


def _without(record: Record, refs: Collection[str]) -> Record:
    return record._replace(data=PURGED) if record.ref in refs and not _bare(record) else record
