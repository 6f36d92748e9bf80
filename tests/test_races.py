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

from tests import kit as base
from tests.store import kit

HERE = Path(__file__).parent.parent
STRESS = pytest.mark.stress
LINE = re.compile(r"- (\S+ \d+)\.( \^m-\S+)?")

# An editor that reads, adds its line and saves; or one that keeps its text, as Obsidian does, and
# reads again only when it sees that the file has changed. It never looks between its look and its
# save: that is the race. What it loads without its own earlier lines it does not mend.
EDITOR = """
import os, sys, time
path, way, kind, count, name = sys.argv[1:]
text, seen = "", None
def stamp():
    st = os.stat(path)
    return st.st_mtime_ns, st.st_size, st.st_ino
START
for number in range(int(count)):
    while True:
        if kind == "reader" or stamp() != seen:
            seen = stamp()
            with open(path, encoding="utf-8") as file:
                text = file.read()
        if text.startswith("# Agent Memory"):
            break
    head, mark, tail = text.partition("## User")
    text = f"{head}- {name} {number}.\\n{mark}{tail}"
    if way == "rename":
        with open(f"{path}.{name}.swp", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(f"{path}.{name}.swp", path)
    else:
        with open(path, "r+", encoding="utf-8") as file:
            file.write(text)
            file.truncate()
    seen = stamp() if kind == "buffer" else None
    time.sleep(PAUSE)
print("done")
"""
WRITER = """
import sys, time
from pathlib import Path
from tests.store import kit
root, state, name, count = sys.argv[1:]
store = kit.open_store(Path(root), Path(state), settle_after=1.0)
pending = 0
START
for number in range(int(count)):
    ref = f"m-{name}{number:0{8 - len(name)}d}"
    [outcome] = store.apply([kit.adding(f"{name} {number}.", ref)], wait=0)
    pending += outcome.state != "written"
    if number % 10 == 9:
        store.drain()
    time.sleep(PAUSE)
print(pending)
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
    """Let them start together, and end."""
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
    """Everything that was promised is done, and nothing is watched any more."""
    for state in states:
        store = kit.open_store(root, state)
        deadline = time.monotonic() + 120
        while not store.log.empty():
            store.drain()
            assert time.monotonic() < deadline, [vars(entry) for entry in store.open()]


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
    assert kit.conflicts(root) == []


WAYS = [("rename", "reader"), ("rename", "buffer"), ("in place", "reader"), ("in place", "buffer")]
SIZES = [60, pytest.param(2000, marks=STRESS)]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize(("way", "kind"), WAYS)
def test_a_person_and_an_agent(tmp_path: Path, way: str, kind: str, count: int) -> None:
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    person = run(EDITOR, root / kit.NOTE, way, kind, count, "person", pause=0.003)
    agent = run(WRITER, root, tmp_path / "state", "a", count)
    ended(person, agent)
    settled(root, tmp_path / "state")
    check(root, {"person": count, "a": count})


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("way", ["rename", "in place"])
def test_two_agents_that_share_nothing(tmp_path: Path, way: str, count: int) -> None:
    """A container and its host: no lock and no log in common; and a person saves, too."""
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    person = run(EDITOR, root / kit.NOTE, way, "reader", count // 2, "person", pause=0.005)
    agents = [run(WRITER, root, tmp_path / name, name, count) for name in ("a", "b")]
    ended(person, *agents)
    settled(root, tmp_path / "a", tmp_path / "b")
    check(root, {"person": count // 2, "a": count, "b": count})


@pytest.mark.parametrize(("writers", "count"), [(8, 40), pytest.param(8, 250, marks=STRESS)])
def test_many_agents_that_share_a_lock(tmp_path: Path, writers: int, count: int) -> None:
    root = base.lay(tmp_path.resolve() / "vault", kit.VAULT)
    names = [f"w{n}" for n in range(writers)]
    ended(*[run(WRITER, root, tmp_path / "state", name, count) for name in names])
    settled(root, tmp_path / "state")
    check(root, dict.fromkeys(names, count))
    records = kit.records(kit.open_store(root, tmp_path / "state"))
    assert [record.seq for record in records] == list(range(1, writers * count + 1))
