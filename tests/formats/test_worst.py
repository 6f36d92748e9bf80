"""No input, however hostile, hangs a parser, ends the process or takes more than 512 MB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.formats import worst

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("group", worst.GROUPS)
def test_no_hang(group: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.formats.worst", group],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-200:]}\n{done.stderr[-2_000:]}"
