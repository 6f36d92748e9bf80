"""CPU seconds and peak memory of child processes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

BRAIN = [str(Path(sys.executable).with_name("brain"))]


class Cost(NamedTuple):
    cpu: float
    peak_mb: float


def run(command: list[str], state: Path, given: bytes = b"") -> Cost:
    """Run a command to its end, with this input; what it cost, its children included."""
    env = {**os.environ, "BRAIN_STATE": str(state)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )  # fmt: skip
    assert process.stdin
    process.stdin.write(given)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def together(rounds: int, **jobs: Callable[[], Cost]) -> dict[str, Cost]:
    """The median cost of each job, measured in turns, so that a slow moment hits them all."""
    costs: dict[str, list[Cost]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            costs[name].append(job())
    return {
        name: Cost(median(c.cpu for c in found), max(c.peak_mb for c in found))
        for name, found in costs.items()
    }


def machine() -> str:
    """The machine in a line."""
    cpu = ""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n")
        cpu = next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        cpu = platform.processor()
    import sqlite3

    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()},"
        f" SQLite {sqlite3.sqlite_version}"
    )
