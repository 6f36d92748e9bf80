"""What a journal costs: `python -m tests.journal.bench [records]`.

`bench_append` and `bench_fold` are for the benchmark of the whole. Numbers are in seconds of
processor time, and beside them what cannot be avoided.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from brain.journal import Entry, Journal, Record, event_id, refresh
from brain.journal.line import after, encode
from brain.journal.read import Reader
from tests.journal.kit import device, index

REFS = 20_000


def write(path: Path, count: int) -> None:
    """A month's journal: nine of ten lines are feedback, over 20,000 entries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chance, seed = random.Random(1), 0
    refs = [f"m-{number:08x}" for number in range(REFS)]
    with open(path, "wb") as file:
        for start in range(1, count + 1, 10_000):
            numbers = range(start, min(start + 10_000, count + 1))
            data, sum = encode([_record(path, n, chance, refs) for n in numbers], seed)
            seed = after(sum)
            file.write(data)


def _record(path: Path, number: int, chance: random.Random, refs: list[str]) -> Record:
    at, id = f"2026-03-01T12:00:00.{number % 1000:03d}Z", f"e-{number:010x}"
    op, data = chance.choices(
        [
            ("reinforce", {"delta": 3}),
            ("demote", {"delta": -1}),
            ("hit", {"count": 2, "last": at}),
            ("add", {"source": "extracted", "confidence": 0.8, "digest": "0" * 16}),
            ("update", {"before": "x" * 60, "after": "y" * 60}),
        ],
        [40, 20, 30, 5, 5],
    )[0]
    ref = chance.choice(refs)
    return Record(id, at, path.parent.name, number, number, "bot", op, ref, "", data)


def bench_append(root: Path, count: int = 300) -> dict[str, float]:
    """Milliseconds for one record: on the disk, without waiting for it, and bare write + fsync."""
    journal = device(root)
    entries = [[Entry(event_id(), "reinforce", "bot", "m-1", data={"delta": 3})] for _ in range(9)]

    def timed(durable: bool) -> float:
        best = []
        for _ in range(count):
            start = time.perf_counter()
            journal.append(entries[0], durable)
            best.append(time.perf_counter() - start)
        return sorted(best)[count // 2] * 1000

    timed(False)
    result = {"append": timed(True), "append_without_fsync": timed(False)}
    handle = os.open(root / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    bare = []
    for _ in range(count):
        start = time.perf_counter()
        os.write(handle, b"x" * 190)
        os.fsync(handle)
        bare.append(time.perf_counter() - start)
    os.close(handle)
    cold = []
    for _ in range(count):
        start = time.perf_counter()
        Journal(root / "40_Brain", journal.state).append(entries[0], False)
        cold.append(time.perf_counter() - start)
    bare_, cold_ = sorted(bare)[count // 2] * 1000, sorted(cold)[count // 2] * 1000
    return result | {"bare_write_and_fsync": bare_, "first_of_a_process": cold_}


def bench_fold(root: Path, count: int = 1_000_000) -> dict[str, float]:
    """Processor seconds to fold so many records into an empty index, peak memory in MB, seconds
    that reading and parsing alone take, and milliseconds to find that nothing is new."""
    import orjson

    journal = device(root)
    path = Path(journal.folder, "aaaaaaaa", "2026-03.jsonl")
    write(path, count)
    start = time.process_time()
    with index(root) as known:
        refresh(journal, known)
        fold = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = time.perf_counter()
        for _ in range(100):
            refresh(journal, known)
        still = (time.perf_counter() - start) * 10
    start = time.process_time()
    for block in Reader(str(path)).blocks():
        orjson.loads(b"[%b]" % block[:-1].replace(b"\n", b","))
    parse = time.process_time() - start
    start = time.perf_counter()
    story = len(journal.chain(["m-00000001"]))
    return {
        "fold": fold,
        "parse": parse,
        "peak_mb": peak,
        "nothing_new_ms": still,
        "story_s": time.perf_counter() - start,
        "story": story,
        "megabytes": path.stat().st_size / 1e6,
    }


def main(count: int) -> None:
    for bench in (bench_append, lambda root: bench_fold(root, count)):
        with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
            for name, value in bench(Path(folder)).items():
                print(f"{name:24} {value:10.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
