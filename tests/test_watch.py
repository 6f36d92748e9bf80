"""`brain watch` as a process, in a vault where things happen. Nothing here sleeps and hopes: each
test waits for what it expects."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests import kit
from tests.kit import PATIENCE, until

COMMAND = [sys.executable, "-m", "brain"]
MEMORY = "40_Brain/MEMORY.md"


class Process:
    """A brain process that goes on, and what it has printed so far."""

    def __init__(self, root: Path, state: Path, *args: str) -> None:
        self.root = root
        self.lines: list[str] = []
        self.errors: list[str] = []
        self.process = subprocess.Popen(
            [*COMMAND, *args, "--vault", str(root)],
            env=os.environ | {"BRAIN_STATE": str(state)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.readers = [
            threading.Thread(target=into.extend, args=(stream,), daemon=True)
            for into, stream in (
                (self.lines, self.process.stdout),
                (self.errors, self.process.stderr),
            )
        ]
        for reader in self.readers:
            reader.start()

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        for reader in self.readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream
            stream.close()
        return code

    def waited(self) -> float:
        """Seconds so far in which it could have gone on, but others had the processors."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in list(self.lines)]

    def writes(self, path: str = "") -> list[dict[str, Any]]:
        """The writes seen so far: all, or those to one path."""
        found = [e for e in self.events if e["event"] == "memory:write"]
        return [e for e in found if not path or e["path"] == path]

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def settle(self) -> None:
        """Make sure that all before is through: a note saved now has been seen twice."""
        for text in ("one\n", "two\n"):
            before = len(self.writes("Sentinel.md"))
            self.write("Sentinel.md", text)
            until(lambda seen=before: len(self.writes("Sentinel.md")) > seen)


Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(root)` watches it; `start(root, "events", "--follow")` runs something else."""
    running: list[Process] = []

    def make(root: Path, *args: str) -> Process:
        running.append(Process(root, tmp_path / "state", *(args or ("watch", "--json"))))
        return running[-1]

    yield make
    for process in running:
        if process.process.returncode is None:
            process.end()


@pytest.fixture
def watched(vault: Callable[..., Path], start: Start) -> Process:
    """A vault that is watched."""
    process = start(vault())
    until(lambda: process.lines)
    return process


def found(root: Path, word: str) -> set[str]:
    """The paths whose rows in the index hold a word."""
    database = root / "40_Brain" / "brain.db"
    if not database.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
            sql = " UNION ".join(
                f"SELECT c.path FROM {table}_fts JOIN entries c ON c.id = {table}_fts.rowid"
                f" WHERE {table}_fts MATCH ?1"
                for table in ("passages", "entries", "turns")
            )
            return {path for (path,) in db.execute(sql, (word,))}
    except sqlite3.DatabaseError:
        return set()  # being made


# -- what it prints ------------------------------------------------------------------------------


def test_it_prints_a_line_per_event(vault: Callable[..., Path], start: Start) -> None:
    process = start(vault(), "watch")
    until(lambda: process.lines)
    process.write("New.md", "a zeppelin\n")
    until(lambda: len(process.lines) > 1)
    assert process.end() == 0
    cold, write = process.lines
    assert cold.split()[1:5] == ["memory:sync", str(len(kit.VAULT)), "files", "indexed"]
    assert write.split()[1:] == ["memory:write", "New.md", "1", "added"]
    assert process.errors == [
        f"Watching {process.root}. Ctrl-C ends it.\n", "Stopped.\n",
    ]  # fmt: skip


def test_a_cold_start_is_one_summary_and_a_warm_one_is_silent(
    vault: Callable[..., Path], start: Start
) -> None:
    root = vault()
    first = start(root)
    until(lambda: first.lines)
    first.end()
    assert [e["event"] for e in first.events] == ["memory:sync"]
    (root / "While away.md").write_text("zeppelin\n")
    second = start(root)
    until(lambda: second.lines)
    second.settle()
    names = [e.get("path") for e in second.events]
    assert names == ["While away.md", "Sentinel.md", "Sentinel.md"]


# -- what it sees --------------------------------------------------------------------------------


def test_a_saved_note_is_found_and_told_once(watched: Process) -> None:
    watched.write("Notes/New.md", "a zeppelin\n")
    assert until(lambda: found(watched.root, "zeppelin")) == {"Notes/New.md"}
    watched.settle()
    os.utime(watched.root / "Notes/New.md")  # another time, the same content
    watched.settle()
    (write,) = watched.writes("Notes/New.md")
    assert write["type"] == "sources"
    assert [entry["text"] for entry in write["delta"]["added"]] == ["a zeppelin"]


def test_an_edit_of_memory_says_what_changed(watched: Process) -> None:
    before = ["anchored ^m-aaaaaaaa", "typed by hand", "stays", "goes ^m-bbbbbbbb", "last"]
    after = ["anchored anew ^m-aaaaaaaa", "typed by a hand", "stays", "last", "comes ^m-cccccccc"]
    for lines in (before, after):
        seen = len(watched.writes(MEMORY))
        watched.write(MEMORY, "".join(f"- {line}\n" for line in lines))
        until(lambda count=seen: len(watched.writes(MEMORY)) > count)
    write = watched.writes(MEMORY)[-1]
    assert write["type"] == "memory"
    added, changed, removed = (write["delta"][name] for name in ("added", "changed", "removed"))
    assert added == [{"id": "m-cccccccc", "text": "comes"}]
    assert removed == [{"id": "m-bbbbbbbb", "text": "goes"}]
    assert {entry["text"] for entry in changed} == {"anchored anew", "typed by a hand"}
    assert "m-aaaaaaaa" in [entry["id"] for entry in changed]


def test_it_does_not_matter_who_edits(watched: Process) -> None:
    """Another process, which syncs by itself, and tells of it by the ring."""
    with open(watched.root / MEMORY, "a") as note:
        note.write("\n## Never\n- Never sail a zeppelin\n")
    until(lambda: found(watched.root, "zeppelin"))
    watched.settle()
    assert len(watched.writes(MEMORY)) == 1


def test_renames_and_deletes(watched: Process) -> None:
    root = watched.root
    (root / "Notes/Walrus.md").rename(root / "Notes/Tusker.md")
    until(lambda: found(root, "whiskers") == {"Notes/Tusker.md"})
    (root / "Notes").rename(root / "Animals")
    until(lambda: found(root, "whiskers") == {"Animals/Tusker.md"})
    (root / "Animals/Tusker.md").unlink()
    until(lambda: not found(root, "whiskers"))
    watched.settle()
    assert [
        sorted(k for k, v in e["delta"].items() if v) for e in watched.writes("Animals/Tusker.md")
    ] == [["removed"]]
    shutil.rmtree(root / "Animals")
    until(lambda: not found(root, "café"))


def test_a_new_folder_and_one_moved_in(watched: Process, tmp_path: Path) -> None:
    root = watched.root
    for n in range(20):
        watched.write(f"New/Deep/{n}/Note.md", "zeppelin\n")
    until(lambda: len(found(root, "zeppelin")) == 20)
    outside = kit.lay(tmp_path / "outside", {f"a/{n}.md": "dirigible\n" for n in range(20)})
    (outside / "a").rename(root / "Moved")
    until(lambda: len(found(root, "dirigible")) == 20)
    (root / "Moved").rename(tmp_path / "away")
    until(lambda: not found(root, "dirigible"))


def test_the_tasks_of_the_seed_moved_in(watched: Process, tmp_path: Path) -> None:
    (watched.root / "40_Brain/tasks.json").unlink()
    outside = kit.lay(tmp_path / "outside", {"agent/tasks/tasks.json": kit.TASKS})
    (outside / "agent").rename(watched.root / "40_Brain/.agent")
    until(lambda: found(watched.root, "parser") == {"40_Brain/.agent/tasks/tasks.json"})


def save_by_rename(path: Path, text: str) -> None:
    """As Obsidian on some systems and most editors do."""
    temp = path.with_name(f".{path.name}.tmp")
    temp.write_text(text)
    os.replace(temp, path)


def save_as_vim(path: Path, text: str) -> None:
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


@pytest.mark.parametrize("save", [save_by_rename, save_as_vim])
def test_an_editor_saves_in_its_own_way(
    watched: Process, save: Callable[[Path, str], None]
) -> None:
    for n in range(3):
        save(watched.root / MEMORY, f"- zeppelin number{n} ^m-aaaaaaaa\n")
        until(lambda number=n: found(watched.root, f"number{number}") == {MEMORY})
    watched.settle()
    kinds = [sorted(k for k, v in e["delta"].items() if v) for e in watched.writes(MEMORY)]
    assert kinds[-2:] == [["changed"], ["changed"]]
    assert len(kinds) <= 4  # vim's note is gone for a moment, which may be seen


def test_rules_that_change_are_taken_over(watched: Process) -> None:
    root = watched.root
    watched.write(".gitignore", "Notes/\n")
    until(lambda: not found(root, "whiskers"))
    (root / ".gitignore").unlink()
    until(lambda: found(root, "whiskers"))
    watched.write("40_Brain/brain.yaml", "exclude: [Notes]\n")
    until(lambda: not found(root, "whiskers"))
    watched.write("40_Brain/brain.yaml", "exclude: [Notes\n")
    until(lambda: watched.errors)
    assert watched.errors[-1].startswith("brain.yaml line 1 is not YAML")
    watched.write("40_Brain/brain.yaml", "# nothing\n")
    until(lambda: found(root, "whiskers"))


def swap(root: Path, copy: Path) -> None:
    """Delete a vault and make it again from a copy, while the daemon may make its index anew."""
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("brain.db*"))
    until(lambda: shutil.rmtree(root, ignore_errors=True) or not root.exists())
    shutil.copytree(copy, root, dirs_exist_ok=True)


def test_the_root_is_deleted_and_made_again(watched: Process, tmp_path: Path) -> None:
    root = watched.root
    for n in range(3):
        swap(root, tmp_path / f"copy{n}")
        watched.write("Again.md", f"zeppelin{n}\n")
        until(lambda number=n: found(root, f"zeppelin{number}") and found(root, "whiskers"))
        watched.write("Later.md", f"dirigible{n}\n")
        until(lambda number=n: found(root, f"dirigible{number}"))


def test_the_index_is_deleted(watched: Process) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{watched.root}/40_Brain/brain.db{suffix}").unlink(missing_ok=True)
    until(lambda: found(watched.root, "whiskers"))
    watched.write("New.md", "zeppelin\n")
    until(lambda: watched.writes("New.md"))
    assert found(watched.root, "zeppelin")
    assert {e["path"] for e in watched.writes()} == {"New.md"}


# -- one daemon, and its end ---------------------------------------------------------------------


def test_a_second_daemon_is_refused(watched: Process, start: Start) -> None:
    second = start(watched.root, "watch")
    assert second.process.wait(PATIENCE) == 7
    second.end()
    assert second.errors == [
        f"brain: Brain watches {watched.root} already (process {watched.process.pid})."
        " Only one `brain watch` can run per vault."
        " To see its events, run `brain events --follow`.\n"
    ]
    third = start(watched.root, "watch", "--json")
    assert third.process.wait(PATIENCE) == 7
    third.end()
    assert third.events[0]["error"] == "Busy"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(watched: Process, start: Start, number: int) -> None:
    assert watched.end(number) == 0
    assert watched.errors == []
    after = start(watched.root)
    until(lambda: after.process.poll() is None)
    after.settle()
    assert after.end(number) == 0


def test_a_killed_daemon_leaves_no_lock(watched: Process, start: Start) -> None:
    watched.end(signal.SIGKILL)
    after = start(watched.root)
    after.settle()


def test_nobody_reads_any_more(vault: Callable[..., Path], tmp_path: Path) -> None:
    root = vault()
    with subprocess.Popen(
        [*COMMAND, "watch", "--vault", str(root)],
        env=os.environ | {"BRAIN_STATE": str(tmp_path / "state")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            (root / "New.md").write_text("zeppelin\n")
            assert process.wait(PATIENCE) == 141
            assert b"Traceback" not in process.stderr.read()
        finally:
            process.kill()


def test_another_process_follows(watched: Process, start: Start) -> None:
    follower = start(watched.root, "events", "--follow", "--json", "-n", "0")
    until(lambda: watched.settle() or follower.lines)
    seen = len(follower.lines)
    watched.write("New.md", "zeppelin\n")
    until(lambda: len(follower.lines) > seen and follower.writes("New.md"))
    assert follower.writes("New.md") == watched.writes("New.md")
    assert not [e for e in follower.events if e["event"] == "memory:sync"]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{watched.root}/40_Brain/brain.db{suffix}").unlink(missing_ok=True)
    until(lambda: found(watched.root, "zeppelin"))
    watched.write("Newer.md", "dirigible\n")
    until(lambda: follower.writes("Newer.md"))
    assert follower.end(signal.SIGINT) == 0
    assert follower.errors == []


# -- storms --------------------------------------------------------------------------------------


def storm(process: Process, count: int, seconds: float, word: str = "stormy") -> None:
    """Change so many notes at once, some of them in new folders; none is stale in the end."""
    for n in range(count):
        process.write(f"Storm/{n // 100}/{n}.md", f"# Note {n}\n\n{word}\n")
    until(lambda: len(found(process.root, word)) == count, seconds, pause=0.2)


def test_a_storm_leaves_nothing_stale(watched: Process) -> None:
    storm(watched, 2_000, 5 + PATIENCE, "firstly")
    storm(watched, 2_000, 5 + PATIENCE, "secondly")
    shutil.rmtree(watched.root / "Storm/1")
    until(lambda: len(found(watched.root, "secondly")) == 1_900)
    watched.settle()


@pytest.mark.stress
def test_a_great_storm_leaves_nothing_stale_after_five_seconds(watched: Process) -> None:
    """By the clock, without the time that other programs on this machine took."""
    storm(watched, 20_000, 120, "firstly")
    for n in range(20_000):
        watched.write(f"Storm/{n // 100}/{n}.md", f"# Note {n}\n\nsecondly\n")
    last, before = time.monotonic(), watched.waited()
    until(lambda: len(found(watched.root, "secondly")) == 20_000, 60, pause=0.2)
    took, waited = time.monotonic() - last, watched.waited() - before
    assert took - waited <= 5, f"{took:.1f} s, {waited:.1f} s of them for a free processor"


@pytest.mark.stress
def test_an_overflow_leaves_nothing_stale(vault: Callable[..., Path], start: Start) -> None:
    root = vault(kit.VAULT)
    process = start(root)
    until(lambda: process.lines)
    storm(process, 20_000, 120, "firstly")
    process.process.send_signal(signal.SIGSTOP)
    for n in range(20_000):
        process.write(f"Storm/{n // 100}/{n}.md", f"# Note {n}\n\nsecondly\n")
        process.write(f"Born/{n // 100}/{n}.md", "secondly\n")
    process.process.send_signal(signal.SIGCONT)
    until(lambda: len(found(root, "secondly")) == 40_000, 90, pause=0.5)
    assert not found(root, "firstly")
    process.write("After.md", "after\n")
    until(lambda: found(root, "after"), 30, pause=0.05)


@pytest.mark.stress
def test_an_overflow_by_what_is_not_indexed(vault: Callable[..., Path], start: Start) -> None:
    """Git at work fills the queue, and the one note that was saved meanwhile is lost in it."""
    root = vault(kit.VAULT | {".git/": ""})
    process = start(root)
    until(lambda: process.lines)
    process.settle()
    process.process.send_signal(signal.SIGSTOP)
    for n in range(20_000):
        process.write(f".git/{n}", "object")
    process.write("Notes/Late.md", "zeppelin\n")
    process.process.send_signal(signal.SIGCONT)
    until(lambda: found(root, "zeppelin"), 30)


@pytest.mark.stress
def test_a_root_made_again_in_a_storm(
    vault: Callable[..., Path], start: Start, tmp_path: Path
) -> None:
    root = vault(kit.VAULT)
    process = start(root)
    until(lambda: process.lines)
    storm(process, 3_000, 60, "firstly")
    swap(root, tmp_path / "copy")
    storm(process, 3_000, 30, "secondly")
