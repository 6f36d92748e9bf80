"""The cost of remembering, compared with the bare write that cannot be avoided, and of the index
update in it, compared with a parse of the whole note."""

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
    """Yield each line of the table: name, result and limit."""
    yield from _remember(work)
    yield from _many(work)
    yield from _update(work)


def _remember(work: Path) -> Iterator[tuple[str, str, str]]:
    """An acknowledged `remember` to a write, fsync and rename of the same note, in turns."""
    import brain

    root = work / "writing"
    shutil.rmtree(root, ignore_errors=True)
    note = root / "vault" / "40_Brain" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text(_memory(), encoding="utf-8")
    os.utime(note, (0, 0))  # nobody is typing in it
    bare, own, cpu = [], [], []
    with brain.open(root / "vault", state=root / "state") as vault:
        vault.remember("The first one reads the note")
        for number in range(ROUNDS):
            bare.append(_bare(root / "bare.md", note.read_bytes()))
            started, used = time.perf_counter(), time.process_time()
            said = vault.remember(f"Thing number {number} that is worth being remembered for long")
            own.append(time.perf_counter() - started)
            cpu.append(time.process_time() - used)
            assert (said.outcome, said.state) == ("added", "written")
    shutil.rmtree(root)
    cost = f"{median(own) / median(bare):.2f} x ({median(own) * 1e3:.1f} ms)"
    what = f"`remember` in a note of {SIZE:,} characters"
    yield f"{what}, compared with a bare write, fsync and rename", cost, "-"
    yield "CPU time of this `remember`", f"{median(cpu) * 1e3:.1f} ms", "≤ 10 ms"


def _many(work: Path) -> Iterator[tuple[str, str, str]]:
    """The CPU time of 500 memories in one call, and of one with 19,000 memories in its section."""
    import brain

    for memories, new in ((0, 500), (19_000, 1)):
        root = work / "writing"
        shutil.rmtree(root, ignore_errors=True)
        note = root / "vault" / "40_Brain" / "MEMORY.md"
        note.parent.mkdir(parents=True)
        lines = "".join(f"- thing {n} of it ^m-{n:08}\n" for n in range(memories))
        note.write_text(f"## Facts\n{lines}" if memories else _memory(), encoding="utf-8")
        os.utime(note, (0, 0))
        with brain.open(root / "vault", state=root / "state") as vault:
            vault.remember("The first one reads the note")
            texts = [f"Matter {n} has the colour number {n * 7}" for n in range(new)]
            used = time.process_time()
            vault.remember_all(texts)
            used = (time.process_time() - used) / new
        shutil.rmtree(root)
        if memories:
            yield (
                f"CPU time of a `remember` in a section of {memories:,} memories",
                f"{used * 1e3:.0f} ms",
                "≤ 200 ms",
            )
        else:
            what = f"CPU time of each of {new} memories stored in one call"
            yield what, f"{used * 1e3:.1f} ms", "≤ 2 ms"


def _update(work: Path) -> Iterator[tuple[str, str, str]]:
    """The CPU time of an index update after one more memory, with and without the bytes that the
    index was built from, in turns."""
    from brain import formats
    from brain.config import Config
    from brain.index.db import Index
    from brain.model import Add
    from brain.sync import Stats, sync
    from brain.vault import layout

    root, path = work / "writing", "40_Brain/MEMORY.md"
    shutil.rmtree(root, ignore_errors=True)
    note = root / "vault" / path
    note.parent.mkdir(parents=True)
    note.write_text(_memory(), encoding="utf-8")
    vault = layout.find(root / "vault", root / "state")
    part, whole = [], []
    with Index(root / "brain.db", str(root)) as index:
        list(sync(vault, index, Config(), Stats()))
        for number in range(ROUNDS // 2):
            for known, costs in ((True, part), (False, whole)):
                before = note.read_bytes()
                add = Add(path, f"m-{number}{known:d}", f"Thing number {number}", "Key Decisions")
                note.write_bytes(formats.edit("memory", path, before, [add], "").data)
                texts = {path: before} if known else {}
                started = time.process_time()
                stats = Stats()
                list(sync(vault, index, Config(), stats, only=[path], known_texts=texts))
                costs.append(time.process_time() - started)
                assert stats.changed == [path]
    shutil.rmtree(root)
    cost = f"{median(part) / median(whole):.2f} x ({median(part) * 1e3:.1f} ms)"
    yield "index update after it, compared with parsing the whole note", cost, "≤ 0.2 x"


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
