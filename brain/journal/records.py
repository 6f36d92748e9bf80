"""The records of all devices as one stream, in the order that is the same everywhere."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence

from brain.journal.line import Record, decode
from brain.journal.read import File, Reader, Seen

_PURGE = b'"op":"purge"'


class _Wanted:
    """Which records are meant; empty means all."""

    def __init__(self, refs: frozenset[str], by: str, since: str, ops: frozenset[str]) -> None:
        self.refs, self.by, self.since, self.ops = refs, by, since, ops
        self.marks = None
        if refs:
            quoted = b"|".join(re.escape(ref.encode()) for ref in sorted(refs))
            self.marks = re.compile(rb'"ref":"(?:%s)"' % quoted)

    def lines(self, block: bytes) -> list[bytes]:
        """The lines of a block that may hold such a record."""
        if self.marks is None:
            return block.split(b"\n")[:-1]
        found, end = [], 0
        while match := self.marks.search(block, end):
            start, end = block.rfind(b"\n", 0, match.start()) + 1, block.index(b"\n", match.end())
            found.append(block[start:end])
        return found

    def __contains__(self, record: Record) -> bool:
        return (
            (not self.refs or record.ref in self.refs)
            and (not self.by or record.by == self.by)
            and record.at >= self.since
            and (not self.ops or record.op in self.ops)
        )


def select(
    files: Sequence[File],
    refs: frozenset[str],
    by: str,
    since: str,
    ops: frozenset[str],
    reverse: bool,
) -> Iterator[Record]:
    """The records of these files that are meant, each once. A file never holds anything of later
    months, so those before `since` are not read."""
    wanted = _Wanted(refs, by, since, ops)
    gone = _purged(files)
    streams = [_stream(f, wanted, reverse) for f in files if f.month >= since[:7]]
    seen: dict[str, Seen] = {}
    for record in heapq.merge(*streams, key=lambda r: r.key, reverse=reverse):
        if record.key < gone.get(record.ref, record.key):
            continue
        if seen.setdefault(record.device, Seen()).add(record.seq):
            yield record


def _stream(file: File, wanted: _Wanted, reverse: bool) -> Iterator[Record]:
    """The records of one file, in order."""
    reader = Reader(file.path)
    for block in reader.blocks():
        pass
    found = [r for block in Reader(file.path).blocks() for r in _decoded(file, wanted, block)]
    found.sort(key=lambda r: r.key, reverse=reverse)
    return iter(found)


def _decoded(file: File, wanted: _Wanted, block: bytes) -> Iterable[Record]:
    for line in wanted.lines(block):
        record = decode(line)
        if record and record.device == file.device and record in wanted:
            yield record


def _purged(files: Sequence[File]) -> dict[str, tuple[int, str, int]]:
    """The entries that were purged, each with the last time that was done."""
    gone: dict[str, tuple[int, str, int]] = {}
    for file in files:
        for block in Reader(file.path).blocks():
            if _PURGE in block:
                for record in map(decode, block.split(b"\n")):
                    if record and record.op == "purge":
                        for ref in {record.ref, *record.data.get("refs", ())}:
                            gone[ref] = max(record.key, gone.get(ref, record.key))
    return gone
