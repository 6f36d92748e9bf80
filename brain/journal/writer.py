"""Writing to this device's journal.

When `append` returns, a record is on disk behind all records before it. If the process is killed
before that, the record is there, or not there, or a torn line that readers skip. Lines are never
overwritten, except by `purge`. The file is not kept open: a descriptor held across `git checkout`
would write into a deleted file.

A device id belongs to one state folder and one history. A journal that does not continue where this
device stopped (a restored backup, an older checkout) gets a new device id, and so does a copy of
the state folder. The files of the old id stay as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from brain.errors import BrainError
from brain.formats.text import ALPHABET, digest
from brain.journal import reader
from brain.journal.codec import MAX_NUMBER, checksum, decode, encode, random_letters
from brain.model import NewRecord, Record
from brain.state import Device, State, Use, sum_uses
from brain.timestamps import to_utc
from brain.vault.files import sync_folder, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = "journal"
PURGED = {"purged": True}  # the data of a record whose words were purged
_ID = re.compile(rb'\{"id":"([^"\n]*)"')
_TRIES = 20  # times that the file may be replaced during one append
_TAIL = 1 << 14  # bytes at the end of a file that surely hold its last line, usually
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)

Clock = Callable[[], datetime]


class Journal:
    """The journals of a vault, of which this device writes one. Nothing is opened until it is used.

    Callers of `append` and `purge` hold the store's lock.
    """

    def __init__(
        self, folder: str | os.PathLike[str], state: State, clock: Clock | None = None
    ) -> None:
        """`folder` is the brain folder of a vault, `state` this machine's state for it."""
        self.folder = f"{os.fspath(folder)}/{FOLDER}"
        self.name = f"{os.path.basename(os.fspath(folder))}/{FOLDER}"  # its path in the vault
        self.state = state
        self._clock = clock or (lambda: datetime.now(UTC))

    @property
    def device(self) -> str:
        """The id under which this machine wrote last; '' if it never did."""
        device = self.state.device()
        return device.id if device else ""

    def now(self) -> str:
        """Return the time, as records have it."""
        return to_utc(self._clock())

    # -- writing -----------------------------------------------------------------------------------

    def append(self, records: Sequence[NewRecord], durable: bool = True) -> list[Record]:
        """Write records at the end of the journal, in one write. `durable` waits for the disk."""
        if not records:
            return []
        now = self.now()
        for attempt in range(_TRIES):
            missing, device = list(records), self._current()
            if attempt:  # the file was replaced, by one with our lines or without them
                there = self.has([record.id for record in records])
                missing = [record for record in records if record.id not in there]
            numbered = _number(missing, device, self._highest_lamport(device.id), now)
            if not numbered or self._write(device, numbered, now[:7], durable):
                return numbered if not attempt else self._find(records)
        raise BrainError("The journal is being replaced all the time.", "Try again later.")

    def _write(self, device: Device, records: list[Record], month: str, durable: bool) -> bool:
        """Append to the file of this month, or to the last one if the clock was set back. Return
        False if the file was replaced meanwhile."""
        month = max(month, device.month)
        if month != device.month:
            device = device._replace(month=month, size=0, last=-1, end=0)
        data = encode(records)
        size = _append(self._path(device), data, device.end, durable)
        if size is None:
            return False
        last = int(data[-11:-3], 16)
        device = device._replace(
            seq=records[-1].seq, lamport=records[-1].lamport, size=size, last=last, end=size
        )
        with suppress(BrainError):  # the records are on disk; the rest is found out again
            self.state.save_device(device)
        return True

    def _path(self, device: Device) -> str:
        return f"{self.folder}/{device.id}/{device.month}.jsonl"

    # -- who we are, and where the journal ends ----------------------------------------------------

    def _current(self) -> Device:
        """Return this device, up to the end of its journal."""
        device = self.state.device()
        found = self._catch_up(device) if device else None
        if found is None:
            found = self.state.new_device(random_letters(8))
        if found != device:  # a new device is remembered before it writes anything
            with suppress(BrainError):
                self.state.save_device(found)
        if not found.month:
            with suppress(OSError):
                os.makedirs(f"{self.folder}/{found.id}", exist_ok=True)
        return found

    def _catch_up(self, device: Device) -> Device | None:
        """Return the device after the records that were appended since it was saved. None if the
        journal does not continue where the device stopped."""
        found: Device | None = device
        if device.month:
            found = _continue(self._path(device), device)
        for month in reader.list_months(self.folder, device.id):
            if found and month > found.month:
                found = found._replace(month=month, size=0, last=-1, end=0)
                found = _continue(self._path(found), found)
        return found

    def _highest_lamport(self, own: str) -> int:
        """Return the highest Lamport counter of other devices, from the last lines of their last
        files."""
        highest = 0
        for device in reader.list_devices(self.folder):
            for month in reader.list_months(self.folder, device)[-1:] if device != own else ():
                highest = max(highest, _last_lamport(f"{self.folder}/{device}/{month}.jsonl"))
        return highest

    # -- reading -----------------------------------------------------------------------------------

    def has(self, ids: Collection[str]) -> set[str]:
        """Return which of these records are in the last two files of this machine."""
        return {record.id for record in self._recent(set(ids))}

    def _find(self, records: Sequence[NewRecord]) -> list[Record]:
        ids = {record.id for record in records}
        found = {record.id: record for record in self._recent(ids)}
        return [found[record.id] for record in records if record.id in found]

    def _recent(self, ids: set[str]) -> Iterator[Record]:
        """Yield the records with these ids, also those written under a former device id."""
        device = self.state.device()
        for name in (device.id, *device.past) if device and ids else ():
            for month in reader.list_months(self.folder, name)[-2:]:
                with suppress(OSError):
                    with open(f"{self.folder}/{name}/{month}.jsonl", "rb") as file:
                        data = file.read()
                    yield from _with_ids(data, ids)

    # -- forgetting --------------------------------------------------------------------------------

    def purge(self, refs: Collection[str]) -> list[str]:
        """Remove the words of these entries from this device's files. Return the paths in the vault
        of files that hold them and belong to other devices.

        Each file is replaced as a whole. If the process is killed in between, the device gets a
        new id and nothing else is lost.
        """
        device, others = self._current(), []
        for file in reader.list_files(self.folder):
            found = {record.seq: record for record in reader.Reader(file)}
            if not any(_has_words(record, refs) for record in found.values()):
                continue
            if file.device != device.id:
                others.append(f"{self.name}/{file.name}.jsonl")
                continue
            kept = [
                record._replace(data=PURGED) if _has_words(record, refs) else record
                for _, record in sorted(found.items())
            ]
            data = encode(kept)
            write_atomically(file.path, data, mode=0o644)
            if file.month == device.month:
                size = len(data)
                device = device._replace(size=size, end=size, last=int(data[-11:-3], 16))
                self.state.save_device(device)
        return others

    # -- uses --------------------------------------------------------------------------------------

    def pending_uses(self) -> list[Use]:
        """Return the uses of this vault that are not in the journal yet."""
        batched = self._batched()
        written = self.has(batched)
        missing = [use for id, use in batched.items() if id not in written]
        waiting = self.state.uses("")
        return sum_uses([*waiting, *missing]) if missing else waiting

    def write_uses(self) -> int:
        """Write the pending uses to the journal; return the number of records. The caller holds the
        store's lock. If the process is killed, each use is still written once: the ids of the
        records follow from the name of their batch."""
        count = 0
        self.state.begin_batch(random_letters(16))
        for batch in self.state.batches():
            found = self._batched(batch)
            there = self.has(found)
            missing = {id: use for id, use in found.items() if id not in there}
            count += len(self.append([_use_record(id, use) for id, use in missing.items()]))
            self.state.end_batch(batch)
        return count

    def _batched(self, only: str = "") -> dict[str, Use]:
        """Return the uses that are being written, by the ids of their records."""
        return {
            _use_id(batch, use): use
            for batch in ([only] if only else self.state.batches())
            for use in self.state.uses(batch)
        }


def _use_id(batch: str, use: Use) -> str:
    mark = digest(f"{batch}\n{use.op}\n{use.ref}\n{use.other}".encode("utf-8", "replace"))
    return "e-" + "".join(ALPHABET[byte & 31] for byte in mark[:10])


def _use_record(id: str, use: Use) -> NewRecord:
    data: dict[str, Any] = {"last": use.last}
    if use.op == "hit":
        data = {"count": use.times} | data
    elif use.op == "used_together":
        data = {"other": use.other, "strength": use.times} | data
    elif use.op == "gap":
        data = {"query": use.text, "agent": use.other, "count": use.times} | data
        more = {"refs": list(use.refs), "session": use.session, "snippet": use.snippet}
        data |= {name: value for name, value in more.items() if value}
    elif use.op == "seen":
        return NewRecord(id, "seen", "brain", use.ref, data={"created": use.text}, at=use.last)
    return NewRecord(id, use.op, "brain", use.ref, data=data)


def _with_ids(data: bytes, ids: Collection[str]) -> Iterator[Record]:
    """Yield the valid records with these ids. There may be a torn one before, in the same line."""
    wanted = {id.encode() for id in ids}
    for match in _ID.finditer(data):
        if match[1] in wanted:
            end = data.find(b"\n", match.start())
            line = data[match.start() : end if end >= 0 else len(data)]
            if checksum(line) is not None and (record := decode(line)):
                yield record


def _has_words(record: Record, refs: Collection[str]) -> bool:
    return record.ref in refs and record.op not in ("purge", "alias") and record.data != PURGED


def _number(records: Sequence[NewRecord], device: Device, highest: int, now: str) -> list[Record]:
    """Give records their places in the order of this device."""
    lamport = max(device.lamport, highest)
    return [
        Record(
            id=new.id, at=new.at or now, device=device.id, seq=device.seq + count,
            lamport=lamport + count, by=new.by, op=new.op, ref=new.ref, path=new.path,
            data=new.data,
        )
        for count, new in enumerate(records, 1)
    ]  # fmt: skip


def _append(path: str, data: bytes, end: int, durable: bool) -> int | None:
    """Append to a file that ends at `end`, and return its new size. None if the file has another
    size, or was replaced meanwhile."""
    try:
        handle = os.open(path, _FLAGS, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, _FLAGS, 0o644)
    try:
        if os.fstat(handle).st_size != end:
            return None
        torn = end and os.pread(handle, 1, end - 1) != b"\n"
        try:
            data = b"\n" + data if torn else data
            if os.write(handle, data) < len(data):
                raise OSError("the disk is full")
            if durable:
                os.fsync(handle)
        except OSError:
            os.ftruncate(handle, end)
            raise
        st = os.fstat(handle)
    finally:
        os.close(handle)
    if durable and not end:
        _sync_folders(path)
    there = reader.stat_of(path)
    return st.st_size if there and there[3] == st.st_ino else None


def _continue(path: str, device: Device) -> Device | None:
    """Return the device after the records behind the end that it remembers. None if the file does
    not hold the record that it remembers, or if a record there does not follow from it."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, device.size - 64))
            before = file.read(min(device.size, 64)).removesuffix(b"\n")
            data = file.read()
    except OSError:
        return None if device.size else device._replace(end=0)
    if device.size and not before.endswith(b'"%08x"}' % device.last):
        return None
    at, end = device.size, device.size + len(data)
    for line in data.split(b"\n"):
        at = min(at + len(line) + 1, end)
        record = decode(line)
        if record is None or record.device != device.id:
            continue
        last = checksum(line)
        if last is None or record.seq != device.seq + 1:
            return None
        lamport = max(device.lamport, record.lamport)
        device = device._replace(seq=record.seq, lamport=lamport, size=at, last=last)
    return device._replace(end=end)


def _last_lamport(path: str) -> int:
    """Return the Lamport counter of a file's last record; 0 if it has none or an absurd one."""
    if not reader.stat_of(path):
        return 0  # not a file: a pipe would block
    try:
        with open(path, "rb") as file:
            end, size = file.seek(0, os.SEEK_END), _TAIL
            while True:
                file.seek(max(0, end - size))
                for line in reversed(file.read(size).split(b"\n")):
                    if record := decode(line):
                        return record.lamport if record.lamport < MAX_NUMBER // 2 else 0
                if size >= end:
                    return 0
                size *= 8
    except OSError:
        return 0


def _sync_folders(path: str) -> None:
    """Sync the folders of a new file, so that it is there after a power failure."""
    for _ in range(3):  # the device's folder, journal/, and the brain's
        path = os.path.dirname(path)
        with suppress(OSError):
            sync_folder(path)
