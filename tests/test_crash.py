"""`kill -9` at any moment: what was promised is done, once, and nothing has to be mended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
HERE = Path(__file__).parent.parent
KINDS = [
    "add", "update", "remove", "retag", "relate", "move", "anchor", "replace", "insert", "put",
    "drop", "append", "two", "create", "feedback",
]  # fmt: skip


def killer(*args: object) -> dict[str, Any]:
    """What the one who kills says in the end."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.killer", *map(str, args)],
        cwd=HERE, env=os.environ | {"PYTHONPATH": str(HERE)}, capture_output=True, text=True,
        timeout=1800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_call(kind: str) -> None:
    """Before each call that changes the disk and in the middle of it, for each kind of change."""
    assert killer("sweep", kind)[kind] > 20


@pytest.mark.parametrize("first", [1, 10_001])
def test_killed_while_a_person_saves(first: int) -> None:
    """And the one who recovers is killed, too, while that person goes on saving."""
    assert killer("mixed", first, 100)["killed"] > 50


@pytest.mark.stress
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_call_and_after_it(kind: str) -> None:
    assert killer("sweep", "all", kind)[kind] > 30


@pytest.mark.stress
@pytest.mark.parametrize("first", range(100_000, 140_000, 4_000))
def test_killed_ever_so_often(first: int) -> None:
    assert killer("mixed", first, 4_000)["killed"] > 2_000
