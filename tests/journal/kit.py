"""What tests of the journal build devices and indexes with."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from brain.formats.text import ALPHABET
from brain.index import records as index_records
from brain.index.db import Index
from brain.journal import codec, reader, writer
from brain.journal.codec import event_id
from brain.journal.reader import update_index
from brain.journal.writer import Journal
from brain.model import NewRecord, Problem, Record
from brain.state import State

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


def device(root: Path, name: str = "a", clock: Callable[[], datetime] | None = None) -> Journal:
    """The journal of a vault below `root` on the machine of this name."""
    (root / "40_Brain").mkdir(parents=True, exist_ok=True)
    return Journal(root / "40_Brain", State(root / f"state-{name}"), clock or Clock())


def entry(op: str, ref: str = "m-1", by: str = "bot", **data: Any) -> NewRecord:
    return NewRecord(event_id(), op, by, ref, data=data)


def put(journal: Journal, op: str, ref: str = "m-1", by: str = "bot", **data: Any) -> Record:
    return journal.append([entry(op, ref, by, **data)], durable=False)[0]


def lines(journal: Journal) -> list[bytes]:
    return file(journal).read_bytes().split(b"\n")[:-1]


def file(journal: Journal) -> Path:
    """The last file of this machine's device."""
    folder = Path(journal.folder, journal.device)
    return sorted(folder.glob("????-??.jsonl"))[-1]


def index(root: Path, name: str = "index") -> Index:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    return Index(folder / "brain.db", str(root))


def rebuilt(journal: Journal, at: Index) -> list[tuple[Any, ...]]:
    """All that an index says which was made from nothing."""
    at.rebuild()
    update_index(journal, at)
    return dump(at)


def dump(index: Index) -> list[tuple[Any, ...]]:
    """All that an index says of journals, without stat values: equal for equal journals."""
    found: list[tuple[Any, ...]] = []
    for table in ("records", "facts", "aliases", "learned", "pending_uses"):
        rows = index.db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        found += [(table, *row) for row in rows]
    found += index.db.execute(
        "SELECT path, line, code, message FROM problems WHERE code LIKE 'journal-%'"
        " ORDER BY 1, 2, 3, 4"
    )
    return found


def records(journal: Journal) -> list[Record]:
    """The records in the files of all devices, each once, in order."""
    found: dict[tuple[str, int], Record] = {}
    for file in reader.list_files(journal.folder):
        for record in reader.Reader(file):
            found.setdefault((record.device, record.seq), record)
    return sorted(found.values(), key=index_records.key)


def selected(journal: Journal, at: Index, **wanted: Any) -> list[Record]:
    """The records that an index selects."""
    update_index(journal, at)
    return list(index_records.select(at, **wanted))


def problems(journal: Journal) -> list[tuple[str, Problem]]:
    """The lines of any device that do not count, by path in the vault."""
    found = []
    for file in reader.list_files(journal.folder):
        read = reader.Reader(file)
        list(read)
        found += [(f"{journal.name}/{file.name}.jsonl", problem) for problem in read.problems]
    return found


def links(index: Index, ref: str) -> list[tuple[str, float, str]]:
    """The entries that were useful together with this one, as written to the journals."""
    sql = """
        SELECT other, strength, at FROM learned WHERE one = :ref UNION ALL
        SELECT one, strength, at FROM learned WHERE other = :ref ORDER BY 2 DESC, 1
    """
    return index.db.execute(sql, {"ref": ref}).fetchall()


def copy(source: Path, target: Path) -> None:
    """A folder as it is, with new inodes."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target)


def ids(records: Iterable[Record]) -> list[str]:
    return [record.id for record in records]


def steady() -> Any:
    """While patched so, ids are the same in each run, as Hypothesis needs it."""
    chance = random.Random(1)

    def letters(count: int) -> str:
        return "".join(chance.choices(ALPHABET, k=count))

    patch = mock.patch.multiple
    return _Both(patch(codec, random_letters=letters), patch(writer, random_letters=letters))


class _Both:
    def __init__(self, *patches: Any) -> None:
        self.patches = patches

    def start(self) -> None:
        for patch in self.patches:
            patch.start()

    def stop(self, *_: object) -> None:
        for patch in self.patches:
            patch.stop()

    def __enter__(self) -> None:
        self.start()

    __exit__ = stop
