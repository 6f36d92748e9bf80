"""A long journal is folded in little memory, in little more time than it takes to parse it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLD = """
import json, sys
from pathlib import Path
from tests.journal.bench import bench_fold
print(json.dumps(bench_fold(Path(sys.argv[1]), int(sys.argv[2]))))
"""


def fold(root: Path, count: int) -> dict[str, float]:
    command = [sys.executable, "-c", FOLD, str(root), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def test_the_benchmark_runs(tmp_path: Path) -> None:
    assert fold(tmp_path, 2000)["story"] >= 0


@pytest.mark.stress
def test_a_million_records(tmp_path: Path) -> None:
    cost = fold(tmp_path, 1_000_000)
    assert cost["peak_mb"] < 120
    assert cost["fold"] < 5 * cost["parse"]
