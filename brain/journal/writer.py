"""Append records to the journal of this device.

When `append` returns, the record is on the disk, after all earlier records. If the process is
killed before, the record may be in the file, missing, or a torn line that readers skip. Lines are
never overwritten, except by `purge`. The file is not kept open, because after `git checkout` a
descriptor would write to a deleted file.

A device id belongs to one state folder and one history. The device gets a new id if the journal
does not continue where the device stopped (a restored backup, an older checkout), and in a copy of
the state folder. The files of the old id are not changed.
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
PURGED = {"purged": True}  # the data of a record whose text was purged
_ID = re.compile(rb'\{"id":"([^"\n]*)"')
_MAX_ATTEMPTS = 20  # of one append, if other programs replace the file
_TAIL = 1 << 14  # bytes at the end of a file, which usually contain its last line
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)

Clock = Callable[[], datetime]


class Journal:
    """The journals of a vault. This device writes only its own files, which are opened when needed.

    Callers of `append` and `purge` hold the store's lock.
    """

    def __init__(
        self, folder: str | os.PathLike[str], state: State, clock: Clock | None = None
    ) -> None:
        """`folder` is the brain folder of a vault, and `state` the vault's state on this
        machine."""
        self.folder = f"{os.fspath(folder)}/{FOLDER}"
        self.name = f"{os.path.basename(os.fspath(folder))}/{FOLDER}"  # its path in the vault
        self.state = state
        self._clock = clock or (lambda: datetime.now(UTC))

    @property
    def device(self) -> str:
        """The current device id of this machine; '' if it has not written yet."""
        device = self.state.device()
        return device.id if device else ""

    def now(self) -> str:
        """Return the time in the format of records."""
        return to_utc(self._clock())

    # -- writing -----------------------------------------------------------------------------------

    def append(self, records: Sequence[NewRecord], durable: bool = True) -> list[Record]:
        """Append records to the journal with one write. If `durable`, wait for the disk."""
        if not records:
            return []
        now = self.now()
        for attempt in range(_MAX_ATTEMPTS):
            missing, device = list(records), self._current_device()
            if attempt:  # the replaced file may or may not contain the records
                present = self.has([record.id for record in records])
                missing = [record for record in records if record.id not in present]
            numbered = _numbered(missing, device, self._highest_lamport(device.id), now)
            if not numbered or self._write(device, numbered, now[:7], durable):
                return numbered if not attempt else self._find(records)
        raise BrainError("Another program keeps replacing the journal.", "Try again later.")

    def _write(self, device: Device, records: list[Record], month: str, durable: bool) -> bool:
        """Append to the file of this month, or to the last file if the clock was set back. Return
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
        # if this fails, the next call reads the end of the file instead
        with suppress(BrainError):
            self.state.save_device(device)
        return True

    def _path(self, device: Device) -> str:
        return f"{self.folder}/{device.id}/{device.month}.jsonl"

    # -- the device and the end of its journal -----------------------------------------------------

    def _current_device(self) -> Device:
        """Return this device, updated to the end of its journal."""
        device = self.state.device()
        current = self._catch_up(device) if device else None
        if current is None:
            current = self.state.new_device(random_letters(8))
        if current != device:  # a new device is saved before its first record is written
            with suppress(BrainError):
                self.state.save_device(current)
        if not current.month:
            with suppress(OSError):
                os.makedirs(f"{self.folder}/{current.id}", exist_ok=True)
        return current

    def _catch_up(self, device: Device) -> Device | None:
        """Return the device updated with the records that were appended since it was saved. Return
        None if the journal does not continue where the device stopped."""
        updated: Device | None = device
        if device.month:
            updated = _catch_up_in_file(self._path(device), device)
        for month in reader.list_months(self.folder, device.id):
            if updated and month > updated.month:
                updated = updated._replace(month=month, size=0, last=-1, end=0)
                updated = _catch_up_in_file(self._path(updated), updated)
        return updated

    def _highest_lamport(self, own_id: str) -> int:
        """Return the highest Lamport counter in the last lines of the other devices' journals."""
        highest = 0
        for device in reader.list_devices(self.folder):
            for month in reader.list_months(self.folder, device)[-1:] if device != own_id else ():
                highest = max(highest, _last_lamport(f"{self.folder}/{device}/{month}.jsonl"))
        return highest

    # -- reading -----------------------------------------------------------------------------------

    def has(self, ids: Collection[str]) -> set[str]:
        """Return the given ids whose records are in the last two files of this machine."""
        return {record.id for record in self._recent(set(ids))}

    def _find(self, records: Sequence[NewRecord]) -> list[Record]:
        ids = {record.id for record in records}
        found = {record.id: record for record in self._recent(ids)}
        return [found[record.id] for record in records if record.id in found]

    def _recent(self, ids: set[str]) -> Iterator[Record]:
        """Yield the records with these ids from the last two files of each device id that this
        machine has had."""
        device = self.state.device()
        for name in (device.id, *device.past) if device and ids else ():
            for month in reader.list_months(self.folder, name)[-2:]:
                with suppress(OSError):
                    with open(f"{self.folder}/{name}/{month}.jsonl", "rb") as file:
                        data = file.read()
                    yield from _with_ids(data, ids)

    # -- purging -----------------------------------------------------------------------------------

    def purge(self, refs: Collection[str]) -> list[str]:
        """Remove the text of these entries from this device's files. Return the paths (in the
        vault) of the other devices' files that contain text of the entries.

        Each file is replaced atomically. If the process is killed in between, the device gets a new
        id, and no record is lost.
        """
        device, others = self._current_device(), []
        for file in reader.list_files(self.folder):
            by_seq = {record.seq: record for record in reader.Reader(file)}
            if not any(_has_text(record, refs) for record in by_seq.values()):
                continue
            if file.device != device.id:
                others.append(f"{self.name}/{file.name}.jsonl")
                continue
            purged = [
                record._replace(data=PURGED) if _has_text(record, refs) else record
                for _, record in sorted(by_seq.items())
            ]
            data = encode(purged)
            write_atomically(file.path, data, mode=0o644)
            if file.month == device.month:
                size = len(data)
                device = device._replace(size=size, end=size, last=int(data[-11:-3], 16))
                self.state.save_device(device)
        return others

    # -- uses --------------------------------------------------------------------------------------

    def pending_uses(self) -> list[Use]:
        """Return the uses of this vault that are not in the journal yet."""
        batched = self._batched_uses()
        written = self.has(batched)
        missing = [use for id, use in batched.items() if id not in written]
        unbatched = self.state.uses("")
        return sum_uses([*unbatched, *missing]) if missing else unbatched

    def write_uses(self) -> int:
        """Write the pending uses to the journal. Return the number of records. The caller holds the
        store's lock. After a crash, each use is still written only once, because the ids of the
        records are derived from the name of their batch."""
        count = 0
        self.state.begin_batch(random_letters(16))
        for batch in self.state.batches():
            uses = self._batched_uses(batch)
            present = self.has(uses)
            missing = {id: use for id, use in uses.items() if id not in present}
            count += len(self.append([_use_record(id, use) for id, use in missing.items()]))
            self.state.end_batch(batch)
        return count

    def _batched_uses(self, batch: str = "") -> dict[str, Use]:
        """Return the uses in a batch, or in all batches, by the ids of their records."""
        return {
            _use_id(name, use): use
            for name in ([batch] if batch else self.state.batches())
            for use in self.state.uses(name)
        }


def _use_id(batch: str, use: Use) -> str:
    hash = digest(f"{batch}\n{use.op}\n{use.ref}\n{use.other}".encode("utf-8", "replace"))
    return "e-" + "".join(ALPHABET[byte & 31] for byte in hash[:10])


def _use_record(id: str, use: Use) -> NewRecord:
    data: dict[str, Any] = {"last": use.last}
    if use.op == "hit":
        data = {"count": use.times} | data
    elif use.op == "used_together":
        data = {"other": use.other, "strength": use.times} | data
    elif use.op == "gap":
        data = {"query": use.text, "agent": use.other, "count": use.times} | data
        optional = {"refs": list(use.refs), "session": use.session, "snippet": use.snippet}
        data |= {name: value for name, value in optional.items() if value}
    elif use.op == "seen":
        return NewRecord(id, "seen", "brain", use.ref, data={"created": use.text}, at=use.last)
    return NewRecord(id, use.op, "brain", use.ref, data=data)


def _with_ids(data: bytes, ids: Collection[str]) -> Iterator[Record]:
    """Yield the valid records with these ids. A line may begin with a torn record."""
    wanted = {id.encode() for id in ids}
    for match in _ID.finditer(data):
        if match[1] in wanted:
            end = data.find(b"\n", match.start())
            line = data[match.start() : end if end >= 0 else len(data)]
            if checksum(line) is not None and (record := decode(line)):
                yield record


def _has_text(record: Record, refs: Collection[str]) -> bool:
    return record.ref in refs and record.op not in ("purge", "alias") and record.data != PURGED


def _numbered(
    records: Sequence[NewRecord], device: Device, highest_lamport: int, now: str
) -> list[Record]:
    """Return the records, numbered as the next records of this device."""
    lamport = max(device.lamport, highest_lamport)
    return [
        Record(
            id=record.id, at=record.at or now, device=device.id, seq=device.seq + number,
            lamport=lamport + number, by=record.by, op=record.op, ref=record.ref, path=record.path,
            data=record.data,
        )
        for number, record in enumerate(records, 1)
    ]  # fmt: skip


def _append(path: str, data: bytes, end: int, durable: bool) -> int | None:
    """Append to a file of the size `end`. Return the new size; None if the file does not have the
    size `end`, or was replaced meanwhile."""
    try:
        handle = os.open(path, _FLAGS, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, _FLAGS, 0o644)
    try:
        if os.fstat(handle).st_size != end:
            return None
        is_torn = end and os.pread(handle, 1, end - 1) != b"\n"
        try:
            data = b"\n" + data if is_torn else data
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
    stat = reader.stat_of(path)
    return st.st_size if stat and stat[3] == st.st_ino else None


def _catch_up_in_file(path: str, device: Device) -> Device | None:
    """Return the device updated with the records that follow its last record in a file. Return None
    if the file does not contain its last record, or if the numbers of the records have a gap."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, device.size - 64))
            last_line = file.read(min(device.size, 64)).removesuffix(b"\n")
            data = file.read()
    except OSError:
        return None if device.size else device._replace(end=0)
    if device.size and not last_line.endswith(b'"%08x"}' % device.last):
        return None
    offset, end = device.size, device.size + len(data)
    for line in data.split(b"\n"):
        offset = min(offset + len(line) + 1, end)
        record = decode(line)
        if record is None or record.device != device.id:
            continue
        crc = checksum(line)
        if crc is None or record.seq != device.seq + 1:
            return None
        lamport = max(device.lamport, record.lamport)
        device = device._replace(seq=record.seq, lamport=lamport, size=offset, last=crc)
    return device._replace(end=end)


def _last_lamport(path: str) -> int:
    """Return the Lamport counter of a file's last record; 0 if there is none or it is absurdly
    high."""
    if not reader.stat_of(path):
        return 0  # opening a pipe would block
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
    """Sync the folders of a new file, so that its name survives a power failure."""
    for _ in range(3):  # the device's folder, journal/, and the brain folder
        path = os.path.dirname(path)
        with suppress(OSError):
            sync_folder(path)
