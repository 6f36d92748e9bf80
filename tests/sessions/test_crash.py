"""`kill -9` at each call, processes that append at the same time, cost and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from brain.sessions import transcript
from tests import kit as base
from tests.conftest import MakeVault, OpenBrain
from tests.sessions.kit import claude_line, sessions, write_lines

HERE = Path(__file__).parent.parent.parent
KINDS = ("append", "end", "fork", "archive", "import")


def run(*args: str, timeout: int = 600) -> str:
    done = subprocess.run(
        [sys.executable, *args], cwd=HERE, env=os.environ | {"PYTHONPATH": str(HERE)},
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_call(kind: str) -> None:
    assert json.loads(run("-m", "tests.sessions.killer", kind))["kills"] >= 6


@pytest.mark.stress
@pytest.mark.parametrize("kind", KINDS)
def test_killed_before_and_in_every_call(kind: str) -> None:
    assert json.loads(run("-m", "tests.sessions.killer", kind, "all"))["kills"] >= 12


WRITER = """
import sys
from pathlib import Path
from tests import kit
root, state, name = sys.argv[1:]
with kit.open_brain(Path(root), Path(state)) as brain:
    for number in range(40):
        brain.session_append("s1", f"{name} {number}", message=f"{name}{number}", create=True)
"""


def test_processes_that_append_at_the_same_time(vault: MakeVault, tmp_path: Path) -> None:
    """Every line is there once, whole, and the checkpoints count right."""
    root = vault({"40_Brain/MEMORY.md": "- One\n"})
    args = [sys.executable, "-c", WRITER, str(root), str(tmp_path / "state")]
    env = os.environ | {"PYTHONPATH": str(HERE)}
    started = [subprocess.Popen([*args, name], cwd=HERE, env=env) for name in "abc"]
    assert [each.wait(timeout=300) for each in started] == [0, 0, 0]
    found = Counter(line["id"] for line in sessions(root)["s1"])
    assert found == Counter(f"{name}{number}" for name in "abc" for number in range(40))
    lines = [line for line, _ in transcript.lines(str(root / "40_Brain/sessions/s1.jsonl"))]
    marks = [line["messages"] for line in lines if line["role"] == "checkpoint"]
    assert marks == list(range(10, 121, 10))


def test_the_cost_of_an_append_does_not_grow(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts the bytes that are read from the transcript and written to it."""
    moved = Counter[str]()
    reading, writing = os.pread, os.write
    monkeypatch.setattr(
        os, "pread", lambda *a: (data := reading(*a), moved.update(read=len(data)))[0]
    )
    monkeypatch.setattr(os, "write", lambda *a: (n := writing(*a), moved.update(written=n))[0])
    root = vault({"40_Brain/MEMORY.md": "- One\n"})
    path = root / "40_Brain/sessions/s1.jsonl"
    costs = []
    with opened(root) as brain:
        brain.session_append("s1", "First", create=True)
        for size in (200, 20_000):
            line = transcript.encode({"id": "x", "role": "user", "content": "y" * 100})
            mark = transcript.encode({"role": "checkpoint", "messages": size})
            with path.open("ab") as file:
                file.writelines([line] * size)
                file.write(mark)
            for number in range(11):  # the first ones find few lines behind the checkpoint
                moved.clear()
                brain.session_append("s1", "z" * 100, message=f"{size:05}-{number:02}", create=True)
            costs.append(dict(moved))
    assert costs[0]["written"] == costs[1]["written"]
    assert costs[1]["read"] <= 2 * 65_536 + 1


def test_a_transcript_without_checkpoints_is_counted_once(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({"40_Brain/MEMORY.md": "- One\n"})
    path = root / "40_Brain/sessions/s1.jsonl"
    path.parent.mkdir()
    path.write_bytes(transcript.encode({"id": "x", "role": "user", "content": "y" * 1000}) * 2000)
    with opened(root) as brain:
        assert brain.session_append("s1", "One", create=True).messages == 2001
        assert brain.session_append("s1", "Two", create=True).messages == 2002
    lines = [line for line, _ in transcript.lines(str(path))]
    assert [line["messages"] for line in lines if line["role"] == "checkpoint"] == [2001]


IMPORT = """
import resource, sys
from pathlib import Path
from tests import kit
root, state, path = sys.argv[1:]
with kit.open_brain(Path(root), Path(state)) as brain:
    brain.sync()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = brain.session_import([path])
    print(found.messages, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.stress)])
def test_memory_is_bounded(vault: MakeVault, tmp_path: Path, count: int) -> None:
    """An import holds the keys of the messages and a few pieces of the transcript: about 100 MB for
    100,000 messages of 1 KB."""
    root = vault({"40_Brain/MEMORY.md": "- One\n"})
    path = tmp_path / "S1.jsonl"
    with path.open("w") as file:
        for number in range(count):
            text = f"Message {number} " + "and so on " * 100
            file.write(json.dumps(claude_line(number, text)) + "\n")
    messages, kilobytes = map(
        int, run("-c", IMPORT, str(root), str(tmp_path / "s"), str(path)).split()
    )
    assert messages == count
    assert kilobytes < 130_000


FOLLOW = "from brain.cli.main import main; main()"


@pytest.mark.parametrize("count", [200, pytest.param(3_000, marks=pytest.mark.stress)])
def test_follow_keeps_up(vault: MakeVault, tmp_path: Path, count: int) -> None:
    """Lines that are written while it follows are in the vault shortly after, each once."""
    import time

    root = vault()
    path = write_lines(tmp_path / "t/S1.jsonl", [claude_line(1, "Text 1")])
    env = os.environ | {"PYTHONPATH": str(HERE), "BRAIN_STATE": str(tmp_path / "state")}
    args = [sys.executable, "-c", FOLLOW, "session", "import", str(path.parent), "--follow"]
    with subprocess.Popen(
        [*args, "--vault", str(root)], env=env, stderr=subprocess.DEVNULL
    ) as process:
        try:
            base.until(lambda: sessions(root).get("S1"))
            for number in range(2, count + 1):
                with path.open("a") as file:
                    file.write(json.dumps(claude_line(number, f"Text {number}")) + "\n")
                time.sleep(0.01)  # a hundred lines a second
            base.until(lambda: len(sessions(root)["S1"]) == count)
            process.terminate()
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()  # else a failure waits for it without end
    assert [line["content"] for line in sessions(root)["S1"]] == [
        f"Text {number}" for number in range(1, count + 1)
    ]
