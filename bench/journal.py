"""Cost of the operations that read the journal, and of a rebuild with a long journal."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import brain
from bench.measure import BRAIN, run

if TYPE_CHECKING:
    from brain import Brain

RECORDS = 30_000
REBUILD_RECORDS = 300_000
MEMORIES = 30  # in MEMORY.md
ENTRIES = 20_000  # that the journal has records of; most of them no longer exist
ROUNDS = 9
MOST = 50  # milliseconds for each operation besides the write itself
MOST_REBUILD = 8  # CPU seconds


def measure(work: Path) -> Iterator[tuple[str, str, str]]:
    """Time `undo`, `history`, `audit` and `revert` in process, and a rebuild in a new process."""
    root, state = work / "journal" / "vault", work / "journal" / "state"
    shutil.rmtree(root.parent, ignore_errors=True)
    note = root / "40_Brain" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    lines = [
        f"- Fact number {n} about how things are done here ^m-{n:08d}\n" for n in range(MEMORIES)
    ]
    note.write_text("# Agent Memory\n\n## Key Decisions\n" + "".join(lines), encoding="utf-8")
    os.utime(note, (0, 0))  # no one is typing in it
    with brain.open(root, state=state) as vault:
        write = _undo(vault)  # the journal is still short
        _append_records(vault, RECORDS)
        yield from _operations(vault, write)
        _append_records(vault, REBUILD_RECORDS - RECORDS)
    cpu = run([*BRAIN, "sync", "--rebuild", "--vault", str(root)], state).cpu
    shutil.rmtree(root.parent)
    yield (
        f"rebuild of the index with {REBUILD_RECORDS:,} journal records",
        f"{cpu:.1f} s CPU",
        f"≤ {MOST_REBUILD} s",
    )


def _undo(vault: Brain) -> float:
    """Return the seconds that one undo takes."""
    vault.sync()
    seconds = []
    for number in range(ROUNDS):
        _change(vault, number)
        seconds.append(_seconds(vault.undo))
    return median(seconds)


def _operations(vault: Brain, write: float) -> Iterator[tuple[str, str, str]]:
    undo = _undo(vault)
    history = [_seconds(vault.history, _id(number)) for number in range(ROUNDS)]
    audit = [_seconds(vault.audit) for _ in range(ROUNDS)]
    for number in range(ROUNDS):
        _change(vault, number)
    revert = _seconds(_revert, vault)

    yield _line("undo without the write itself", undo - write)
    yield _line("history", median(history))
    yield _line("audit", median(audit))
    ratio = revert / (ROUNDS * undo)
    yield (
        f"revert of {ROUNDS} changes, compared with {ROUNDS} times one undo",
        f"{ratio:.2f} x ({revert * 1e3:.0f} ms)",
        "≤ 1 x",
    )


def _line(name: str, seconds: float) -> tuple[str, str, str]:
    measured = f"{seconds * 1e3:.1f} ms"
    return f"{name}, with {RECORDS:,} journal records", measured, f"≤ {MOST} ms"


def _change(vault: Brain, number: int) -> None:
    vault.update(_id(number), f"Other words at {time.monotonic_ns()} for fact {number}")


def _revert(vault: Brain) -> None:
    reverted = vault.revert("person", "1h")
    assert (len(reverted.undone), reverted.kept) == (ROUNDS, [])


def _id(number: int) -> str:
    return f"m-{number:08d}"


def _seconds(job: Callable[..., object], *args: object) -> float:
    started = time.perf_counter()
    job(*args)
    return time.perf_counter() - started


def _append_records(vault: Brain, count: int) -> None:
    """Append so many records of another actor to the journal: feedback, hits and some changes."""
    from brain.journal.codec import event_id
    from brain.model import NewRecord

    chance = random.Random(count)
    now = vault.vault.journal.now()
    types = [
        ("reinforce", {"delta": 3}),
        ("demote", {"delta": -1}),
        ("hit", {"count": 2, "last": now}),
        ("remember", {"source": "extracted", "confidence": 0.8, "digest": "0" * 16}),
        ("update", {"before": "x" * 60, "after": "y" * 60}),
    ]
    chosen = chance.choices(types, [40, 20, 30, 5, 5], k=count)
    entries = [
        NewRecord(event_id(), op, "bot", _id(chance.randrange(ENTRIES)), data=data)
        for op, data in chosen
    ]
    for start in range(0, count, 10_000):
        vault.vault.journal.append(entries[start : start + 10_000], durable=False)
