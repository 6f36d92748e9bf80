"""`kill -9` at any moment: what was acknowledged is written once, and nothing needs repair."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests import kit as base
from tests.store import kit
from tests.test_races import lines, settled

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
HERE = Path(__file__).parent.parent
KINDS = [
    "remember", "update", "forget", "retag", "relate", "move", "anchor", "replace", "insert",
    "other", "two", "create", "feedback", "links",
]  # fmt: skip


def killer(*args: object) -> dict[str, Any]:
    """Return what the killer reports."""
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
    """Before each call that changes the disk and in the middle of it, for each kind of change; the
    index, looked at right after, is what a new one would be, for each kind of call."""
    found = killer("sweep", kind)[kind]
    assert found["kills"] > (10 if kind == "feedback" else 20)
    assert found["compared"] >= 6


@pytest.mark.parametrize("first", [1, 10_001])
def test_killed_while_a_person_saves(first: int) -> None:
    """The process that recovers is killed, too, while the person goes on saving."""
    assert killer("mixed", first, 100)["killed"] > 50


@pytest.mark.stress
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_call_and_after_it(kind: str) -> None:
    found = killer("sweep", "all", kind)[kind]
    assert found["kills"] == found["compared"] > 20


@pytest.mark.stress
@pytest.mark.parametrize("first", range(100_000, 140_000, 4_000))
def test_killed_ever_so_often(first: int) -> None:
    assert killer("mixed", first, 4_000, "all")["killed"] > 2_000


# -- under load ------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from tests.store import kit
root, state, name = sys.argv[1:]
store = kit.open_store(Path(root), Path(state))
print("ready", flush=True)
for number in range(1000):
    ref = f"m-{name}{number:03d}"
    store.apply([kit.adding(f"{name} {number}.", ref)])
    print(f"{name} {number}", flush=True)
    if number % 7 == 6:
        store.absorb()
"""
EDITOR = """
import os, sys, time
path, count = sys.argv[1], 0
while True:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, mark, tail = text.partition("## User")
    if text.startswith("# Agent Memory") and mark:
        with open(f"{path}.swp", "w", encoding="utf-8") as file:
            file.write(f"{head}- person {count}.\\n{mark}{tail}")
        os.rename(f"{path}.swp", path)
        print(f"person {count}", flush=True)
        count += 1
    time.sleep(0.02)
"""


def start(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=HERE, env=os.environ | {"PYTHONPATH": str(HERE)}, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip


def killed(process: subprocess.Popen[str]) -> set[str]:
    """Return what it had reported as done."""
    process.kill()
    said, _ = process.communicate(timeout=60)
    return {line for line in said.split("\n")[:-1] if line != "ready"}


@pytest.mark.parametrize("kills", [12, pytest.param(500, marks=pytest.mark.stress)])
def test_killed_at_random_moments(tmp_path: Path, kills: int) -> None:
    """Four processes write, one is killed, another one comes; and a person goes on saving."""
    chance = random.Random(kills)
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    state, said = tmp_path / "state", set[str]()
    editor = start(EDITOR, root / kit.NOTE)
    names = (f"{a}{b}{c}xy" for a in "abcdefgh" for b in "0123456789" for c in "0123456789")
    writers = [start(WRITER, root, state, next(names)) for _ in range(4)]
    for _ in range(kills):
        victim = writers.pop(chance.randrange(4))
        assert victim.stdout
        victim.stdout.readline()
        time.sleep(chance.random() * 0.3)  # the moment is what is varied
        said |= killed(victim)
        writers.append(start(WRITER, root, state, next(names)))
    for process in (editor, *writers):
        said |= killed(process)
    settled(root, state)
    found = lines(root)
    assert sorted(line for line in said if found[line] != 1) == []
    assert max(found.values()) == 1
    assert kit.temps(root) == []
    store = kit.open_store(root, state)
    noted = Counter(record.ref for record in kit.records(store) if record.op == "remember")
    assert set(noted.values()) == {1}
    assert len(noted) == sum(not line.startswith("person") for line in found)
    assert store.apply([kit.write("update", 1)])[0].state == "written"
