"""The records of all devices as one stream, in the order that is the same everywhere."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

from brain.errors import BrainError
from brain.journal.line import Record, decode
from brain.journal.read import File, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.journal.tally import Key

_PURGE, _ALIAS = b'"op":"purge"', b'"op":"alias"'


class _Wanted:
    """Which records are meant; empty means all."""

    def __init__(self, refs: frozenset[str], by: str, since: str, ops: frozenset[str]) -> None:
        self.refs, self.by, self.since, self.ops = refs, by, since, ops
        self.marks = [b'"ref":"%b"' % ref.encode(errors="replace") for ref in sorted(refs)]

    def lines(self, block: bytes) -> list[bytes]:
        """The lines of a block that may hold such a record."""
        if not self.marks:
            return block.split(b"\n")
        found: dict[int, bytes] = {}
        for mark in self.marks:
            at = block.find(mark)
            while at >= 0:
                start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
                found[start] = block[start : end if end >= 0 else len(block)]
                at = block.find(mark, start + len(found[start]))
        return [found[start] for start in sorted(found)]

    def __contains__(self, record: Record) -> bool:
        return (
            (not self.refs or record.ref in self.refs)
            and (not self.by or record.by == self.by)
            and record.at >= self.since
            and (not self.ops or record.op in self.ops)
        )


class _Proved:
    """A file whose lines were proved: where the sound ones lie, and what they say of ids."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.spans: list[tuple[int, int]] = []
        self.ids: list[Record] = []
        reader, at = Reader(file.path), 0
        for block in reader.blocks():
            self.spans.append((at, reader.at - at))
            at = reader.at
            if _PURGE in block or _ALIAS in block:
                lines = [line for line in block.split(b"\n") if _PURGE in line or _ALIAS in line]
                self.ids += [record for line in lines if (record := decode(line))]
        self.odd = reader.odd

    def records(self, wanted: _Wanted, reverse: bool) -> Iterator[Record]:
        """Those that are meant, in order."""
        if self.odd:
            blocks: Iterable[bytes] = Reader(self.file.path).blocks()
            found = [r for block in blocks for r in self._decoded(block, wanted, False)]
            yield from sorted(found, key=_key, reverse=reverse)
            return
        with open(self.file.path, "rb") as file:
            for at, size in reversed(self.spans) if reverse else self.spans:
                file.seek(at)
                yield from self._decoded(file.read(size), wanted, reverse)

    def _decoded(self, block: bytes, wanted: _Wanted, reverse: bool) -> Iterator[Record]:
        lines = wanted.lines(block)
        for line in reversed(lines) if reverse else lines:
            record = decode(line)
            if record and record.device == self.file.device and record in wanted:
                yield record


def select(
    files: Sequence[File],
    refs: frozenset[str],
    by: str,
    since: str,
    ops: frozenset[str],
    reverse: bool,
) -> Iterator[Record]:
    """The records of these files that are meant, each once. BrainError if one cannot be read: it
    may say that others are purged, and they would be shown."""
    wanted = _Wanted(refs, by, since, ops)
    proved = list(_proved(files))
    gone = _gone(proved)
    # no file holds anything of later months than its own
    streams = [p.records(wanted, reverse) for p in proved if p.file.month >= since[:7]]
    met: dict[str, int] = {}  # the last number of each device
    for record in heapq.merge(*streams, key=_key, reverse=reverse):
        last = met.get(record.device)
        if last is not None and (record.seq >= last if reverse else record.seq <= last):
            continue  # written twice by a merge
        met[record.device] = record.seq
        if record.key >= gone.get(record.ref, record.key):
            yield record


def _proved(files: Sequence[File]) -> Iterator[_Proved]:
    for file in files:
        try:
            yield _Proved(file)
        except FileNotFoundError:
            continue  # gone since its folder was listed
        except OSError as error:
            raise BrainError(
                f"journal/{file.name}.jsonl cannot be read ({error.strerror or error}). It may say"
                " what was forgotten for good, so nothing that is on record is shown meanwhile.",
                "Make it readable.",
            ) from error


def _key(record: Record) -> Key:
    return record.key


def _gone(proved: Sequence[_Proved]) -> dict[str, Key]:
    """The ids that were purged, with all others of the same entries, and when that was done."""
    records = [record for file in proved for record in file.ids]
    if not any(record.op == "purge" for record in records):
        return {}
    from brain.journal.classes import gone
    from brain.journal.fold import MAKES, Fold

    fold = Fold()
    for record in records:
        fold.count(record)
    if aliased := frozenset(ref for pair in fold.aliases for ref in pair):
        made = _Wanted(aliased, "", "", MAKES)
        for file in proved:
            fold.made |= {record.ref for record in file.records(made, False)}
    return gone(fold)
