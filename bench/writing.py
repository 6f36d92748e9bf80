"""What remembering costs, beside the bare write that cannot be avoided."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROUNDS = 200
SIZE = 50_000  # characters of MEMORY.md


def measure(work: Path) -> Iterator[tuple[str, str, str]]:
    """An acknowledged `remember` to a write, fsync and rename of the same note, in turns."""
    import brain

    root = work / "writing"
    shutil.rmtree(root, ignore_errors=True)
    note = root / "vault" / "40_Brain" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text(_memory(), encoding="utf-8")
    os.utime(note, (0, 0))  # nobody is typing in it
    bare, own = [], []
    with brain.open(root / "vault", state=root / "state") as vault:
        vault.remember("The first one reads the note")
        for number in range(ROUNDS):
            bare.append(_bare(root / "bare.md", note.read_bytes()))
            started = time.perf_counter()
            said = vault.remember(f"Thing number {number} that is worth being remembered for long")
            own.append(time.perf_counter() - started)
            assert (said.outcome, said.state) == ("added", "written")
    shutil.rmtree(root)
    cost = f"{median(own) / median(bare):.2f} x ({median(own) * 1e3:.1f} ms)"
    yield f"remember, at {SIZE:,} characters, to a bare write, fsync and rename", cost, "≤ 3 x"


def _memory() -> str:
    line = "- 2026-02-{day:02d}: Fact number {n} about how things are done here ^m-{n:08d}\n"
    half = SIZE // 2 // len(line.format(day=1, n=1))
    lines = [line.format(day=n % 28 + 1, n=n) for n in range(2 * half)]
    decided, known = "".join(lines[:half]), "".join(lines[half:])
    return f"# Agent Memory\n\n## Key Decisions\n{decided}\n## Project Context\n{known}"


def _bare(path: Path, data: bytes) -> float:
    started = time.perf_counter()
    handle = os.open(f"{path}.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    os.replace(f"{path}.tmp", path)
    return time.perf_counter() - started
