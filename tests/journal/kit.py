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
from brain.index import facts
from brain.index.db import Index
from brain.journal import Entry, Journal, Record, event_id, line, refresh

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
    return Journal(root / "40_Brain", root / f"state-{name}", clock or Clock())


def entry(op: str, ref: str = "m-1", by: str = "bot", **data: Any) -> Entry:
    return Entry(event_id(), op, by, ref, data=data)


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
    return Index(folder / "brain.db", folder / "seal", str(root))


def rebuilt(journal: Journal, at: Index) -> list[tuple[Any, ...]]:
    """All that an index says which was made from nothing."""
    at.rebuild()
    refresh(journal, at)
    return facts.dump(at)


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
    return mock.patch.object(line, "letters", lambda n: "".join(chance.choices(ALPHABET, k=n)))
