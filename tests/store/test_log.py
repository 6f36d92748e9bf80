"""The log of promises, as several processes read and write it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from brain.intents import Log, Told

from tests.store import kit
from tests.store.kit import HELD, LINE, WATCHED, Open, text


def test_a_log_that_was_emptied_and_filled_again(opened: Open, root: Path) -> None:
    """By others, to more than its former length, while this process looked elsewhere."""
    one, two = opened(), opened()
    one.settle_after = WATCHED
    one.apply([kit.deed("remember", 1)])
    two.drain()
    assert two.log.empty()
    two.settle_after = WATCHED
    two.apply([kit.adding("x" * 3000, "m-00000002")])
    one.apply([kit.deed("remember", 3)])
    assert {entry.intent.deeds[0].ref for entry in one.open()} == {"m-00000002", "m-new00003"}


def test_a_long_log_is_written_anew(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.intents._LONG", 10_000)
    store = opened(HELD)
    store.apply([kit.deed("remember", 1)], wait=0)
    for number in range(50):
        store.apply([kit.adding("y " * 200, f"m-{number:08d}", kit.NOTE)], wait=0)
        [*_, last] = store.open()
        store.log.mark([last.intent.id], "failed")
    size = os.stat(store.log.path).st_size
    assert size < 25_000
    other = opened()
    assert [entry.intent.deeds[0].ref for entry in other.pending()] == ["m-new00001"]
    other.drain()
    assert LINE in text(root)


def test_a_log_of_another_version_is_not_thrown_away(opened: Open, root: Path) -> None:
    store = opened()
    store.apply([kit.deed("remember", 1)])
    with open(store.log.path, "a") as file:
        file.write('{"id": "i-1", "deeds": [{"change": {"change": "conjure"}}]}\n{"torn\n\n')
    other = opened()
    other.drain()
    assert "conjure" in Path(store.log.path).read_text()
    assert other.apply([kit.deed("remember", 2)])[0].state == "written"


def test_a_log_in_memory_is_what_is_on_disk(opened: Open) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1), kit.deed("put", 1)])
    other = Log(store.log.path)
    other.refresh()
    assert {id: vars(e) for id, e in other.open.items()} == {
        id: vars(e) for id, e in store.log.open.items()
    }


def test_a_line_can_tell_all_there_is_to_know(opened: Open) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    [entry] = store.open()
    assert {"intent", "state", "at", *Told.__annotations__} == vars(entry).keys()


def test_a_promise_that_does_not_name_its_vault_is_meant_for_this_one(
    opened: Open, root: Path
) -> None:
    """As an earlier version wrote it."""
    store = opened(HELD, settle_after=5.0)
    store.apply([kit.deed("remember", 1)], wait=0)
    log = Path(store.log.path)
    log.write_text(log.read_text().replace(f',"home":"{store.journal.device}"', ""))
    assert '"home"' not in log.read_text()
    opened().drain()
    assert LINE in text(root)


SLEEPER = """
import sys, time
from pathlib import Path
from typing import Any
from tests.store import kit
store = kit.open_store(Path(sys.argv[1]), Path(sys.argv[2]))
with store.locked():
    print("locked", flush=True)
    sys.stdin.readline()
"""


def test_asking_does_not_wait_for_a_writer(opened: Open, root: Path, tmp_path: Path) -> None:
    from brain.errors import Busy

    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    here = Path(__file__).parent.parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER, str(root), str(tmp_path / "state")], cwd=here, text=True,
        env=os.environ | {"PYTHONPATH": str(here)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as other:  # fmt: skip
        assert other.stdout
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(Busy, match="Another Brain process is writing"):
            store.drain(wait=0.05)
        other.communicate("\n", timeout=60)
    store.drain(wait=30)
