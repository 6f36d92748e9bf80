"""Writing to this device's journal.

A record is on the disk, behind all before it, when `append` returns; killed in between, it is there
whole, or not at all, or as a torn line that readers set aside. Lines are never written over, except
by `scrub`. The descriptor is not kept: one held across `git checkout` writes into a deleted file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from brain.errors import BrainError
from brain.index.moment import told
from brain.journal import device as devices
from brain.journal import read, records
from brain.journal.device import Device
from brain.journal.line import MOST, Entry, Record, decode, encode, ends_with, sound, stored
from brain.model import Problem

FOLDER = "journal"
_CRUMBS = 20  # records at either end of a long story
_TRIES = 20  # times that a file may be replaced while we write to it
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)

Clock = Callable[[], datetime]
Stat = tuple[int, int, int, int]


class Journal:
    """The journals of a vault, of which this device writes one. Costs nothing until it is used.

    Who appends holds the store's lock; reading needs none.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        state: str | os.PathLike[str],
        clock: Clock | None = None,
    ) -> None:
        """`folder` is the brain folder of a vault, `state` this machine's folder for it."""
        self.folder = f"{os.fspath(folder)}/{FOLDER}"
        self.name = f"{os.path.basename(os.fspath(folder))}/{FOLDER}"  # as the vault calls it
        self.state = os.fspath(state)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._device: Device | None = None
        self._as_left: tuple[Stat | None, Stat | None] = (None, None)
        self._others = _Others(self.folder)

    @property
    def device(self) -> str:
        """The id under which this machine wrote last; '' if it never did."""
        device = self._device or devices.load(self.state)
        return device.id if device else ""

    def now(self) -> str:
        """The time, as records tell it."""
        return told(self._clock())

    # -- which vault this is -----------------------------------------------------------------------

    def home(self, make: bool = False) -> str:
        """What tells this vault from another one that comes to lie in its place: the folder that
        this device has in its journal. `make` makes it where there is none; who asks for that holds
        the store's lock. '' if there is none."""
        name = self.device
        if make and not (name and self.lies_here(name)):
            with suppress(OSError):
                self._current()
            name = self.device
        return name if name and self.lies_here(name) else ""

    def lies_here(self, home: str) -> bool:
        """Is this the vault of which `home` told, be it moved away and back, restored or copied?"""
        return os.path.isdir(f"{self.folder}/{home}")

    # -- writing ---------------------------------------------------------------------------------

    def append(self, entries: Sequence[Entry], durable: bool = True) -> list[Record]:
        """Put these on record, in one write, and on the disk if `durable`."""
        now = self.now()
        for again in range(_TRIES if entries else 0):
            left, device = list(entries), self._current()
            if again:  # the file was replaced: by one without our lines, or by a copy with them
                there = self.has([entry.id for entry in entries])
                left = [entry for entry in entries if entry.id not in there]
            records = _number(left, device, self._others.lamport(device.id), now)
            if not records or self._write(device, records, now[:7], durable):
                return records if not again else self._recorded(entries)
            self._device = None
        if entries:
            raise BrainError("The journal is being replaced all the time.", "Try again later.")
        return []

    def _write(self, device: Device, records: list[Record], month: str, durable: bool) -> bool:
        """Append to the file of this month, or the last one if the clock was set back. False if
        the file was replaced meanwhile."""
        month = max(month, device.month)
        if month != device.month:
            device = device.turn(month)
        data, sum = encode(records, device.seed)
        if device.torn:
            data = b"\n" + data
        path = self._path(device)
        stat = _append(path, data, device.length, durable)
        if stat is None:
            return False
        last, size = records[-1], stat[0]
        end = Device(
            device.id, last.seq, last.lamport, device.month, size, sum, size, False, *device[8:]
        )
        self._keep(end, stat)
        return True

    def secure(self) -> None:
        """Make what was appended without waiting for the disk durable."""
        device = self._current()
        if not device.month:
            return
        path = self._path(device)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        _sync_folders(path)

    def _recorded(self, entries: Sequence[Entry]) -> list[Record]:
        ids = {entry.id for entry in entries}
        found = {record.id: record for record in self._recent() if record.id in ids}
        return [found[entry.id] for entry in entries if entry.id in found]

    def _keep(self, device: Device, stat: Stat | None) -> None:
        remembered: Stat | None = None
        with suppress(OSError):  # what is on record is; the rest is found out again
            remembered = devices.save(self.state, device)
        self._device, self._as_left = device, (remembered, stat)

    def _path(self, device: Device) -> str:
        return f"{self.folder}/{device.id}/{device.month}.jsonl"

    # -- who we are, and where the journal ends --------------------------------------------------

    def _current(self) -> Device:
        """This device, up to the end of its journal."""
        remembered = read.stat_of(f"{self.state}/{devices.FILE}")
        if self._device and self._device.month and remembered:
            there = read.stat_of(self._path(self._device))
            if (remembered, there) == self._as_left:
                return self._device
        device = devices.load(self.state)
        found = self._caught_up(device) if device else devices.new(self.state)
        if found is None:
            found = devices.new(self.state, device)
        stat = read.stat_of(self._path(found)) if found.month else None
        if found != device or not found.month:  # a new one is known before it writes anything
            self._keep(found, stat)
        if not found.month:
            with suppress(OSError):
                os.makedirs(f"{self.folder}/{found.id}", exist_ok=True)
        self._device, self._as_left = found, (read.stat_of(f"{self.state}/{devices.FILE}"), stat)
        return found

    def _caught_up(self, device: Device) -> Device | None:
        """The device after what was appended since it was remembered: another process did, or
        this one and was killed. None if the journal does not go on where it was left."""
        if device.month and not _goes_on(self._path(device), device.size, device.sum):
            return None
        if not device.month and not self._may_be_home(device):
            return None
        found: Device | None = device
        for month in read.months(self.folder, device.id):
            if found and month >= found.month:
                found = found if month == found.month else found.turn(month)
                found = _catch_up(self._path(found), found)
        return found

    def _may_be_home(self, device: Device) -> bool:
        """A device that has written nothing yet has a folder, where one can be made. If it has
        none, it was another vault's that lay here before."""
        blocked = os.path.lexists(self.folder) and not os.path.isdir(self.folder)
        return blocked or self.lies_here(device.id)

    # -- reading ---------------------------------------------------------------------------------

    def has(self, ids: Collection[str]) -> set[str]:
        """Which of these events are in this device's journal of this month or the last one."""
        wanted = set(ids)
        return {record.id for record in self._recent(wanted) if record.id in wanted}

    def _recent(self, ids: set[str] | None = None) -> Iterator[Record]:
        """The sound records of this device's last two files, or those of them that may have one
        of these ids. What it wrote under other ids is its own, too."""
        device = devices.load(self.state)
        marks = None if ids is None else [b'"id":"%s"' % id.encode() for id in ids]
        for name in (device.id, *device.past) if device else ():
            for month in read.months(self.folder, name)[-2:]:
                reader = read.Reader(f"{self.folder}/{name}/{month}.jsonl")
                for block in reader.blocks():
                    if marks is None or any(mark in block for mark in marks):
                        lines = block.split(b"\n")[:-1]
                        yield from (record for line in lines if (record := decode(line)))

    def records(
        self,
        *,
        ref: str | Collection[str] = "",
        by: str = "",
        since: str = "",
        ops: Collection[str] = (),
        reverse: bool = False,
    ) -> Iterator[Record]:
        """What is on record on all devices, in the order that is the same everywhere: of these
        entries, by this actor, from this time on, of these kinds. What was purged is left out."""
        refs = frozenset([ref] if isinstance(ref, str) else ref) - {""}
        return records.select(read.files(self.folder), refs, by, since, frozenset(ops), reverse)

    def chain(self, refs: Collection[str]) -> list[Record]:
        """Where an entry comes from and what became of it: the first and the last records of any
        of its ids, hits left out."""
        found = [record for record in self.records(ref=refs) if record.op != "hit"]
        return found if len(found) <= 2 * _CRUMBS else found[:_CRUMBS] + found[-_CRUMBS:]

    def problems(self) -> list[tuple[str, Problem]]:
        """Lines of any device that are not counted, by path in the vault."""
        from brain.journal.fold import Fold

        found: list[tuple[str, Problem]] = []
        for file in read.files(self.folder):
            reader = read.Reader(file.path)
            try:
                Fold().file(file, reader, read.Seen())
            except OSError as error:
                reader.problems.append(read.unread(error))
            name = f"{self.name}/{file.name}.jsonl"
            found += [(name, problem) for problem in sorted(reader.problems)]
        return found

    # -- months that are over, and what must not be known any more -------------------------------

    def close_months(self) -> int:
        """Fold this device's files that will not grow any more into snapshots; how many."""
        from brain.journal import snapshot

        current = self._current()
        own = [file for file in read.files(self.folder) if file.device == current.id]
        return sum(snapshot.write(file) for file in own if file.month < current.month)

    def scrub(self, refs: Collection[str]) -> list[str]:
        """Take what was said of these entries out of this device's files, leaving that it was
        said. Returns the files, by path in the vault, that say it too and are not ours to change.

        Each file is replaced as a whole. Killed in between, the device gets a new id and nothing
        but the words is lost. Who calls holds the store's lock.
        """
        from brain.journal import scrub

        device, left = self._current(), []
        for file in read.files(self.folder):
            if not scrub.mentions(file, refs):
                continue
            if file.device != device.id:
                left.append(f"{self.name}/{file.name}.jsonl")
                continue
            sum = scrub.rewrite(file, refs)
            stat = read.stat_of(file.path)
            if stat and file.month == device.month:
                end = device._replace(size=stat[0], length=stat[0], sum=sum, torn=False)
                self._keep(end, stat)
        return left


class _Others:
    """The highest counter in other devices' journals; looked up again only where files changed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._stat: Stat | None = None
        self._names: list[str] = []
        self._known: dict[str, tuple[Stat | None, str, Stat | None, int]] = {}

    def lamport(self, own: str) -> int:
        stat = read.stat_of(self.folder)
        if stat is None:
            return 0
        if stat != self._stat:
            self._names = [n for n in os.listdir(self.folder) if devices.NAME.match(n)]
            self._stat = stat
        found = [self._of(name) for name in self._names if name != own]
        return max((lamport for lamport in found if lamport < MOST // 2), default=0)

    def _of(self, name: str) -> int:
        folder = f"{self.folder}/{name}"
        stat, path, last, lamport = self._known.get(name, (None, "", None, 0))
        here = read.stat_of(folder)
        if here != stat or here is None:
            files = sorted(n for n in _listed(folder) if read.MONTH.match(n[:-6]))
            path = f"{folder}/{files[-1]}" if files else ""
        there = read.stat_of(path) if path else None
        if there != last:
            lamport = max(lamport, _lamport(path)) if there else lamport
        self._known[name] = here, path, there, lamport
        return lamport


def _listed(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".jsonl")]
    except OSError:
        return []


def _lamport(path: str) -> int:
    try:
        return read.last_lamport(path)
    except OSError:
        return 0


def _number(entries: Sequence[Entry], device: Device, others: int, now: str) -> list[Record]:
    lamport = max(device.lamport, others)
    return [
        Record(
            entry.id,
            entry.at or now,
            device.id,
            device.seq + count,
            lamport + count,
            entry.by,
            entry.op,
            entry.ref,
            entry.path,
            entry.data,
        )
        for count, entry in enumerate(entries, 1)
    ]


def _append(path: str, data: bytes, size: int, durable: bool) -> Stat | None:
    """Append to a file of this size. None if it has another one, or was replaced meanwhile."""
    try:
        handle = os.open(path, _FLAGS, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, _FLAGS, 0o644)
    try:
        if os.fstat(handle).st_size != size:
            return None
        try:
            if os.write(handle, data) < len(data):
                raise OSError("the disk is full")
            if durable:
                os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        st = os.fstat(handle)
    finally:
        os.close(handle)
    if durable and not size:
        _sync_folders(path)
    left = st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino
    there = read.stat_of(path)
    return left if there and there[3] == left[3] else None


def _sync_folders(path: str) -> None:
    """So that a new file is found again after a power failure."""
    for _ in range(3):  # the device's folder, journal/, and the brain's
        path = os.path.dirname(path)
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _goes_on(path: str, size: int, sum: int) -> bool:
    """Does the file hold what it held when it was so long, as far as its last sum tells?"""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, size - 64))
            data = file.read(min(size, 64))
    except OSError:
        return size == 0
    return size == 0 or ends_with(data, sum)


def _catch_up(path: str, device: Device) -> Device | None:
    """The device after the lines behind the end that it remembers; None if a line there is of this
    device and yet does not follow from the last."""
    try:
        with open(path, "rb") as file:
            file.seek(device.size)
            data = file.read()
            end = file.tell()
            file.seek(max(0, end - 1))
            torn = file.read(1) not in (b"\n", b"")
    except OSError:
        return None
    at = device.size
    for line in data.split(b"\n"):
        at = min(at + len(line) + 1, end)
        record = decode(line)
        if record and sound(line, device.seed) and record.seq == device.seq + 1:
            lamport = max(device.lamport, record.lamport)
            device = device._replace(seq=record.seq, lamport=lamport, size=at)
            device = device._replace(sum=stored(line) or 0)
        elif record and record.device == device.id:
            return None
    return device._replace(length=end, torn=torn)
