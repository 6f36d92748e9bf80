"""Read journal files into the index, only the new lines if the old ones did not change.

A torn or damaged line is skipped and reported; the other lines are used. A line that a merge moved
or doubled is used once. A file that cannot be read is tried again each time, and its records in the
index are kept.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from stat import S_ISREG
from zlib import crc32

from brain._tuples import NamedTuple
from brain.errors import BrainError
from brain.index import records, write
from brain.index.db import Index, reading
from brain.index.records import UNREADABLE, Touched
from brain.journal.codec import LineChecker, decode
from brain.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from brain.journal.writer import Journal
    from brain.model import Record

    Stat = tuple[int, int, int, int]  # size, mtime, ctime, inode
    # for each file: the codes that were checked, and the problems
    Problems = dict[str, tuple[list[str], list[Problem]]]

TORN, DAMAGED = "journal-torn", "journal-line"
DEVICE = re.compile(r"[0-9a-hjkmnp-tv-z]{6,8}\Z")  # the name of a device and of its folder
_MONTH = re.compile(r"\d{4}-\d\d\.jsonl\Z")
_NOT_READ = (0, 0, 0, 0)  # a stat that no file has
_MAX_LINE = 1 << 26  # bytes; a longer line is not a record
_MAX_PROBLEMS = 100  # that are reported for one file
_BLOCK = 1 << 20
_BATCH = 5_000  # records that are inserted at once
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class JournalFile(NamedTuple):
    """The journal of one device and month, and its stat."""

    device: str
    month: str
    path: str
    stat: Stat

    @property
    def name(self) -> str:
        """The name of the file in the index."""
        return f"{self.device}/{self.month}"


class Position(NamedTuple):
    """The position at which reading a file stopped; see `journals` in schema.sql."""

    stat: Stat = _NOT_READ
    offset: int = 0
    lines: int = 0
    crc: int = 0
    last: int = -1


# -- files -----------------------------------------------------------------------------------------


def list_files(folder: str) -> list[JournalFile]:
    """Return all journal files in this folder, by device and month, without conflict copies."""
    found = []
    for device in list_devices(folder):
        for month in list_months(folder, device):
            path = f"{folder}/{device}/{month}.jsonl"
            if stat := stat_of(path):
                found.append(JournalFile(device, month, path, stat))
    return found


def list_devices(folder: str) -> list[str]:
    """Return the devices that have a folder in this journal folder."""
    return sorted(name for name in _names(folder) if DEVICE.match(name))


def list_months(folder: str, device: str) -> list[str]:
    """Return the months for which a device has a journal file."""
    return sorted(name[:7] for name in _names(f"{folder}/{device}") if _MONTH.match(name))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def stat_of(path: str) -> Stat | None:
    """Return stat values that change when a file changes; None if it is missing or not a file."""
    try:
        st = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not S_ISREG(st.st_mode):
        return None
    return st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino


# -- lines -----------------------------------------------------------------------------------------


class Reader:
    """The records of one file from a position on. After the iteration, `position` is the end of the
    file, and `problems` has a problem for each line that was skipped."""

    def __init__(self, file: JournalFile, position: Position = Position()) -> None:  # noqa: B008
        self.file = file
        self.position = position
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[Record]:
        _, offset, lines, crc, last = self.position
        checker = LineChecker(last)
        is_torn = False
        with open(os.open(self.file.path, _FLAGS), "rb") as handle:
            handle.seek(offset)
            while line := handle.readline(_MAX_LINE):
                is_complete = line.endswith(b"\n")
                body = line[:-1] if is_complete else line
                is_valid = checker.is_valid(body)
                is_torn = not (is_complete or is_valid or len(line) == _MAX_LINE)
                if is_torn:
                    self._report(lines + 1, TORN, "ends in the middle of a line")
                    break
                record = decode(body) if is_valid else None
                if record and record.device == self.file.device:
                    yield record
                elif body:
                    self._report(lines + 1, DAMAGED, _fault_of(body, is_valid, record))
                offset, crc, lines = offset + len(line), crc32(line, crc), lines + is_complete
        self.position = Position(self.file.stat, offset, lines, crc, checker.last)

    def _report(self, line: int, code: str, message: str) -> None:
        if len(self.problems) == _MAX_PROBLEMS:
            self.problems.append(Problem(0, DAMAGED, "has more lines that are not counted"))
        elif len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(line, code, message))


def _fault_of(body: bytes, is_valid: bool, record: Record | None) -> str:
    if record:
        return f"belongs to {record.device} and is not counted"
    if is_valid:
        return "is not a record and is not counted"
    return "is damaged and not counted" if body.endswith(b'"}') else "is torn"


# -- the index -------------------------------------------------------------------------------------


def update_index(journal: Journal, index: Index, wait: float = 30.0) -> bool:
    """Update the index from the journals of a vault, and from the uses that are not in the journals
    yet. Return False if the index was up to date; to find this out takes only a few stat calls.

    If the caller has an open transaction, the update is part of it. Raise Busy if another process
    is still writing to the index after `wait` seconds.
    """
    with reading():
        if _is_current(index.db, journal):
            return False
        if index.db.in_transaction:
            _update(index.db, journal)
            return True
        with index.exclusive(wait):
            if _is_current(index.db, journal):
                return False  # another process has updated it
            with index.transaction() as db:
                _update(db, journal)
    return True


def _is_current(db: sqlite3.Connection, journal: Journal) -> bool:
    stats = {file.name: file.stat for file in list_files(journal.folder)}
    return _is_read(db, stats) and _indexed_uses_stamp(db) == _uses_stamp(journal)


def _is_read(db: sqlite3.Connection, stats: dict[str, Stat]) -> bool:
    """Return True if the index contains the current state of all files. Also return True if there
    is no file: then the vault is unmounted or half synced, and the index is kept."""
    return not stats or stats == {name: position.stat for name, position in _positions(db).items()}


def _indexed_uses_stamp(db: sqlite3.Connection) -> str:
    """Return the stamp of the pending uses that the index contains."""
    row = db.execute("SELECT value FROM meta WHERE key = 'uses'").fetchone()
    return row[0] if row else ""


def _uses_stamp(journal: Journal) -> str:
    """Return a stamp that changes when the pending uses change."""
    try:
        return journal.state.flag("uses")
    except BrainError:
        return ""  # the index then lacks some counts, but a search works without them


def _update(db: sqlite3.Connection, journal: Journal) -> None:
    seen = Touched()
    if _indexed_uses_stamp(db) != (stamp := _uses_stamp(journal)):
        uses = journal.pending_uses() if stamp else []
        rows = [(u.ref, u.other, u.times, u.last) for u in uses if u.op in ("hit", "used_together")]
        records.set_pending_uses(db, rows)
        seen = records.set_pending_seen(db, {u.ref: u.text for u in uses if u.op == "seen"})
        db.execute("INSERT OR REPLACE INTO meta VALUES ('uses', ?)", (stamp,))
    files = list_files(journal.folder)
    if not _is_read(db, {file.name: file.stat for file in files}):
        _update_records(db, files, journal.name)
    if seen.refs:
        records.update_facts(db, seen)


def _positions(db: sqlite3.Connection) -> dict[str, Position]:
    rows = db.execute("SELECT * FROM journals")
    return {row[0]: Position(row[1:5], *row[5:]) for row in rows}


def _update_records(db: sqlite3.Connection, files: list[JournalFile], name: str) -> None:
    known = _positions(db)
    purges = records.purges(db)
    touched = Touched() if known else None  # None: all records are new
    problems = _read_files(db, files, known, touched or Touched())
    purges_after = records.purges(db)
    if any(ref not in purges_after or purges_after[ref] < purge for ref, purge in purges.items()):
        # a purge no longer applies, so read again the records that it removed
        problems = _read_files(db, files, known, Touched(), again=True)
        touched = None
    records.update_facts(db, touched)
    for file_name, (codes, file_problems) in problems.items():
        path = f"{name}/{file_name}.jsonl"
        write.replace_problems(db, codes, [path], [(path, problem) for problem in file_problems])


def _read_files(
    db: sqlite3.Connection,
    files: list[JournalFile],
    known: dict[str, Position],
    touched: Touched,
    again: bool = False,
) -> Problems:
    """Read the journals of all devices. Return for each file the codes that were checked, and the
    problems that were found."""
    problems: Problems = {}
    for device in sorted({file.device for file in files} | {name[:-8] for name in known}):
        device_files = [file for file in files if file.device == device]
        positions = {name: position for name, position in known.items() if name[:-8] == device}
        problems |= _read_device(db, device, device_files, positions, touched, again)
    return problems


def _read_device(
    db: sqlite3.Connection,
    device: str,
    files: list[JournalFile],
    known: dict[str, Position],
    touched: Touched,
    again: bool,
) -> Problems:
    """Read the new lines in the files of a device. If an old line of a file has changed, read all
    files again, unless a file cannot be read, because the records of this file would be lost."""
    problems: Problems = {}
    changed = [
        file for file in files if again or known.get(file.name, Position()).stat != file.stat
    ]
    only_appended = known.keys() <= {file.name for file in files}
    for file in changed:
        try:
            only_appended = _extends(file, known.get(file.name, Position())) and only_appended
        except FileNotFoundError:
            continue  # deleted since its folder was listed
        except OSError as error:
            problems[file.name] = [UNREADABLE], [_unreadable(error)]
            position = known.get(file.name, Position())._replace(stat=_NOT_READ)
            _set_position(db, file.name, position)
    if problems:
        return problems
    codes = [TORN, UNREADABLE]
    if again or not only_appended:
        records.delete_device(db, device, touched)
        db.execute("DELETE FROM journals WHERE path LIKE ?", (f"{device}/%",))
        codes = [TORN, UNREADABLE, DAMAGED]
        problems = {name: (codes, []) for name in known}
        known, changed = {}, files
    for file in changed:
        reader = Reader(file, known.get(file.name, Position()))
        new_records = iter(reader)
        try:
            while batch := list(islice(new_records, _BATCH)):
                records.insert(db, batch, touched)
        except FileNotFoundError:
            continue
        except OSError as error:  # in the middle of the file
            reader.position = reader.position._replace(stat=_NOT_READ)
            reader.problems = [_unreadable(error)]
        _set_position(db, file.name, reader.position)
        problems[file.name] = codes, reader.problems
    return problems


def _extends(file: JournalFile, position: Position) -> bool:
    """Return True if a file still begins with the bytes that were read. If the file grew in place,
    only the last line that was read is compared; otherwise, the checksum of all bytes that were
    read."""
    with open(os.open(file.path, _FLAGS), "rb") as handle:
        has_grown = file.stat[0] > position.stat[0] and file.stat[3] == position.stat[3]
        if has_grown and position.last >= 0:
            handle.seek(max(0, position.offset - 64))
            end = handle.read(min(64, position.offset)).removesuffix(b"\n")
            if end.endswith(b'"%08x"}' % position.last):
                return True
            handle.seek(0)
        crc, remaining = 0, position.offset
        while remaining and (data := handle.read(min(remaining, _BLOCK))):
            crc, remaining = crc32(data, crc), remaining - len(data)
    return not remaining and crc == position.crc


def _unreadable(error: OSError) -> Problem:
    why = error.strerror or str(error)
    return Problem(0, UNREADABLE, f"cannot be read ({why}); make it readable")


def _set_position(db: sqlite3.Connection, name: str, position: Position) -> None:
    sql = "INSERT OR REPLACE INTO journals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    db.execute(sql, (name, *position.stat, *position[1:]))
