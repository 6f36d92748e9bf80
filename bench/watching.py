"""How soon a saved note can be found, and what watching costs when nothing happens."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench import vault
from bench.measure import BRAIN

if TYPE_CHECKING:
    from bench.__main__ import Line

SAVES, IDLE = 60, 10.0


def measure(work: Path) -> Iterator[Line]:
    from bench.__main__ import Line

    root, state = work / "watched", work / "state-watched"
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(state, ignore_errors=True)
    vault.write(root, 1_000)
    daemon = subprocess.Popen(
        [*BRAIN, "watch", "--vault", str(root)],
        env={**os.environ, "BRAIN_STATE": str(state)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(root, "uniq999x", 60)
        time.sleep(2)  # the scans that follow a start are over
        delays = sorted(_save(root, number) for number in range(SAVES))
        time.sleep(2)
        before = _cpu(daemon.pid)
        time.sleep(IDLE)
        idle = (_cpu(daemon.pid) - before) / IDLE
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(10)
    p50, p95 = (delays[int(len(delays) * part)] for part in (0.5, 0.95))
    found = f"median {p50:.0f} ms, 95th percentile {p95:.0f} ms"
    yield Line("time until a search finds a saved note", found, "95th percentile ≤ 200 ms")
    yield Line("CPU of an idle `brain watch`, of one core", f"{idle:.2%}", "near zero")


def _save(root: Path, number: int) -> float:
    """Milliseconds from saving a note until a search in the index finds it."""
    word = f"saved{number}x"
    path = root / "70_Daily" / f"Saved {number % 10}.md"
    path.write_text(f"# Saved\n\n{word}\n", encoding="utf-8")
    started = time.monotonic()
    _await(root, word, 10)
    delay = (time.monotonic() - started) * 1000
    time.sleep(0.3)
    return delay


def _await(root: Path, word: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            db = sqlite3.connect(f"file:{root}/40_Brain/brain.db?mode=ro", uri=True)
            found = db.execute(
                "SELECT 1 FROM passages_fts WHERE passages_fts MATCH ?", (word,)
            ).fetchone()
            db.close()
            if found:
                return
        except sqlite3.OperationalError:
            pass  # not there yet
        time.sleep(0.005)
    raise SystemExit(f"{word} was not found within {seconds} s")


def _cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
