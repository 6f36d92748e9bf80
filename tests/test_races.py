"""People save while agents write, as fast as they can: no line of either is lost or doubled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import brain
from tests import kit as base
from tests.store import kit

HERE = Path(__file__).parent.parent
STRESS = pytest.mark.stress
LINE = re.compile(r"- (\S+ \d+)\.( \^m-\S+)?")

# An editor that adds lines, one with each save. A `reader` reads the note before each save; a
# `window` is never reloaded, so that each of its saves lacks everything that others wrote since.
EDITOR = """
import os, sys, time
path, style, kind, count, name = sys.argv[1:]

def read():
    while True:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            continue
        if text.startswith("# Agent Memory") and "## User" in text:
            return text

def added(text, line):
    head, mark, tail = text.partition("## User")
    return f"{head}{line}{mark}{tail}"

def write(target, mode, text):
    with open(target, mode, encoding="utf-8") as file:
        file.write(text)
        file.truncate()

def save(line):
    global text
    if style == "append":
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)
        return
    if style == "descriptor":  # opened before it is read, written after a while
        with open(path, "r+", encoding="utf-8") as file:
            old = file.read()
            time.sleep(PAUSE)
            file.seek(0)
            file.write(added(old, line))
            file.truncate()
        return
    text = added(read() if kind == "reader" else text, line)
    if style == "in place":
        write(path, "r+", text)
    elif style == "rename":
        write(f"{path}.{name}.swp", "w", text)
        os.rename(f"{path}.{name}.swp", path)
    elif style == "backup":
        os.rename(path, f"{path}.{name}.bak")
        write(path, "x", text)

text = read()
START
for number in range(int(count)):
    save(f"- {name} {number}.\\n")
    time.sleep(PAUSE)
"""
WRITER = """
import sys, time
from pathlib import Path
from tests.store import kit
root, state, name, count = sys.argv[1:]
store = kit.open_store(Path(root), Path(state))
START
for number in range(int(count)):
    ref = f"m-{name}{number:0{8 - len(name)}d}"
    store.apply([kit.adding(f"{name} {number}.", ref)])
    if number % 10 == 9:
        store.absorb()
    time.sleep(PAUSE)
"""


START = 'print("ready", flush=True); sys.stdin.readline()'


def run(code: str, *args: object, pause: float = 0.0) -> subprocess.Popen[str]:
    code = code.replace("PAUSE", repr(pause)).replace("START", START)
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=HERE, env=os.environ | {"PYTHONPATH": str(HERE)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(*processes: subprocess.Popen[str]) -> None:
    """Let the processes start together, and wait until they have ended."""
    for process in processes:
        assert process.stdout
        process.stdout.readline()
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, err = process.communicate(timeout=1800)
        assert process.returncode == 0, err


def settled(root: Path, *states: Path) -> None:
    """Wait until everything that was acknowledged is written, on each machine."""
    stores = [kit.open_store(root, state) for state in states]
    deadline = time.monotonic() + 120
    before: object = None
    while True:
        for store in stores:
            store.absorb()
        now = [(root / kit.NOTE).read_bytes(), *map(kit.is_done, stores)]
        if all(now[1:]) and now == before:
            return
        before = now
        assert time.monotonic() < deadline, [one for store in stores for one in store.pending()]
        time.sleep(0.01)


def lines(root: Path) -> Counter[str]:
    """The bullets of the note, without ids."""
    text = (root / kit.NOTE).read_text()
    return Counter(re.findall(r"^- (\S+ \d+)\.", text, re.MULTILINE))


def check(root: Path, counts: dict[str, int]) -> None:
    found = lines(root)
    wanted = {f"{name} {number}" for name, count in counts.items() for number in range(count)}
    lost = sorted(wanted - set(found))
    doubled = {line: times for line, times in found.items() if times > 1}
    assert (lost, doubled) == ([], {}), (len(lost), len(doubled), lost[:20], doubled)
    known = {line for line in kit.MEMORY.split("\n") if line.startswith("- ")}
    there = [line for line in kit.lines(root / kit.NOTE) if line.startswith("- ")]
    assert known <= set(there)
    torn = [line for line in there if line not in known and not LINE.fullmatch(line)]
    assert torn == []
    assert kit.temps(root) == []


STYLES = [
    ("in place", "reader"), ("rename", "reader"), ("backup", "reader"), ("append", "reader"),
    ("descriptor", "reader"), ("in place", "window"), ("rename", "window"), ("backup", "window"),
]  # fmt: skip
COUNTS = [40, pytest.param(2000, marks=STRESS)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("style", "kind"), STYLES)
def test_a_person_and_an_agent(tmp_path: Path, style: str, kind: str, count: int) -> None:
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    person = run(EDITOR, root / kit.NOTE, style, kind, count, "person", pause=0.005)
    agent = run(WRITER, root, tmp_path / "state", "a", count, pause=0.002)
    ended(person, agent)
    settled(root, tmp_path / "state")
    check(root, {"person": count, "a": count})


@pytest.mark.parametrize(("writers", "count"), [(8, 25), pytest.param(8, 250, marks=STRESS)])
def test_many_agents_that_share_a_lock(tmp_path: Path, writers: int, count: int) -> None:
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    names = [f"w{n}" for n in range(writers)]
    ended(*[run(WRITER, root, tmp_path / "state", name, count) for name in names])
    settled(root, tmp_path / "state")
    check(root, dict.fromkeys(names, count))
    records = kit.records(kit.open_store(root, tmp_path / "state"))
    assert [record.seq for record in records] == list(range(1, writers * count + 1))


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=STRESS)])
def test_two_agents_with_a_state_folder_each(tmp_path: Path, count: int) -> None:
    """A container and its host share the vault and the lock in it."""
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    ended(*[run(WRITER, root, tmp_path / name, name, count) for name in ("a", "b")])
    settled(root, tmp_path / "a", tmp_path / "b")
    check(root, {"a": count, "b": count})


# -- with the settings that users have -------------------------------------------------------------

# A window that a person types into. It is reloaded now and then, and saved by itself meanwhile. Its
# lines are unlike each other: a line that differs only by a number passes for a new wording.
WINDOW = (
    EDITOR.split("text = read()\nSTART")[0]
    + """
import random
text = read()
chance = random.Random(name)
START
for number in range(int(count)):
    if chance.random() < 0.3:
        text = read()
    word = f"{chance.getrandbits(60):x}"
    save(f"- {name} {number}. {word}\\n")
    time.sleep(chance.random() * PAUSE)
    if chance.random() < 0.3:
        save("")
    time.sleep(chance.random() * PAUSE)
"""
)
AGENT = """
import sys
from pathlib import Path
import brain
root, state, name, count = sys.argv[1:]
opened = brain.open(root, state=Path(state))
START
for number in range(0, int(count), 6):
    done = opened.remember_all([f"{name} {n}." for n in range(number, number + 6)])
    assert all(one.id for one in done)
opened.close()
"""
PLACES = ["in place", "rename", "backup", "append", "descriptor"]


def watch(root: Path, state: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "brain", "watch", "--vault", str(root)],
        cwd=HERE, env=os.environ | {"BRAIN_STATE": str(state)}, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def told(root: Path) -> Counter[str]:
    """The lines of people and agents in the note, without dates, tags and ids."""
    text = (root / kit.NOTE).read_text()
    return Counter(re.findall(r"^- .*?((?:agent|person)-\d \d+)\.", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("style", "watched", "saves"),
    [("rename", True, 10)]
    + [pytest.param(s, w, 300, marks=STRESS) for s in PLACES for w in (True, False)],
)
def test_a_window_three_agents_and_a_watcher(
    tmp_path: Path, style: str, watched: bool, saves: int
) -> None:
    """Default settings: a write waits while the person types. Nobody deletes anything, so no line
    of an agent may be missing in the end. A window that is reloaded while a write is under way may
    cost a line of the person's own; `undo` restores it."""
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    state = tmp_path / "state"
    agents = [f"agent-{n}" for n in range(3)]
    count = saves // 6 * 6 + 60
    window = run(WINDOW, root / kit.NOTE, style, "window", saves, "person-0", pause=0.2)
    processes = [run(AGENT, root, state, name, count) for name in agents]
    daemon = watch(root, state) if watched else None
    ended(window, *processes)
    if daemon:
        daemon.terminate()
        assert daemon.wait(timeout=60) == 0
    counts = {"person-0": saves} | dict.fromkeys(agents, count)
    wanted = {f"{name} {number}" for name, n in counts.items() for number in range(n)}
    with brain.open(root, state=state) as opened:
        deadline = time.monotonic() + 120
        while any(one.state == "pending" for one in opened.pending()):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        missing = wanted - set(told(root))
        assert not any(line.startswith("agent") for line in missing)
        assert len(missing) <= max(1, saves * 0.01)
        for one in opened.pending():
            if any(line in one.text for line in missing):
                opened.undo(one.event)
        while any(one.state == "pending" for one in opened.pending()):
            assert time.monotonic() < deadline
    found = told(root)
    assert wanted - set(found) == set()
    assert {line: times for line, times in found.items() if times > 1} == {}
