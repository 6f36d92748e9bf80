"""init, sync, status, doctor, config, events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from brain import daemon
from brain.vault import layout
from tests import kit
from tests.cli.conftest import Run
from tests.conftest import OpenBrain

BRAIN_FILES = [
    "40_Brain/brain.yaml",
    "40_Brain/.gitignore",
    "40_Brain/.gitattributes",
    "40_Brain/AGENT.md",
    "40_Brain/MEMORY.md",
    "40_Brain/tasks.json",
]


# -- init ----------------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Somebody's vault, without a brain."""
    return_to = {
        ".obsidian/app.json": "{}",
        "Home.md": "# Home\r\n",
        "Deep/Down/Note.md": "\ufeffodd\u2028text",
        ".gitignore": "*.tmp\n",
    }
    root = kit.lay(tmp_path / "notes", return_to)
    (root / "40_Brain").rmdir()
    return root


def test_init_adds_the_brain_and_touches_nothing(notes: Path, run: Run) -> None:
    before = kit.snapshot(notes)
    said = run("init", notes)
    assert said.code == 0
    assert [line[4:] for line in said.out.split("\n") if line.startswith("  + ")] == BRAIN_FILES
    assert f"6 files created in {notes}." in said.out
    run("sync", "--vault", notes)
    run("search", "home", "--vault", notes)
    after = kit.snapshot(notes)
    assert {path: after[path] for path in before} == before
    assert {path.split("/")[0] for path in set(after) - set(before)} == {"40_Brain"}


def test_init_twice_changes_nothing(notes: Path, run: Run) -> None:
    run("init", notes)
    (notes / "40_Brain/MEMORY.md").write_text("- mine\n")
    before = kit.snapshot(notes)
    said = run("init", notes)
    assert "All files exist already." in said.out
    assert kit.snapshot(notes) == before
    assert run("init", notes, "--json").json == {"vault": str(notes), "created": []}


def test_init_keeps_the_tasks_of_the_seed(notes: Path, run: Run) -> None:
    kit.lay(notes, {"40_Brain/.agent/tasks/tasks.json": kit.TASKS})
    created = run("init", notes, "--json").json["created"]
    assert created == [path for path in BRAIN_FILES if path != "40_Brain/tasks.json"]
    assert run("show", "TASK-1", "--vault", notes).code == 0


def test_init_into_a_folder_without_obsidian(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert run("init").code == 0
    assert run("search", "decisions").code == 0


def test_init_fills_a_brain_of_another_name(notes: Path, run: Run) -> None:
    kit.lay(notes, {"Mind/brain.yaml": "searchLimit: 3\n"})
    (notes / "40_Brain").rmdir()
    created = run("init", notes, "--json").json["created"]
    assert created[0] == "Mind/.gitignore"
    assert (notes / "Mind/brain.yaml").read_text() == "searchLimit: 3\n"
    assert not (notes / "40_Brain").exists()


@pytest.mark.parametrize("inside", ["Deep/Down", "40_Brain", "40_Brain/projects"])
def test_init_inside_a_vault_is_refused(notes: Path, run: Run, inside: str) -> None:
    kit.lay(notes, {"40_Brain/projects/": ""})
    before = kit.snapshot(notes)
    said = run("init", notes / inside)
    assert (said.code, said.err) == (
        2,
        f"brain: {notes / inside} is in the vault {notes}. Run `brain init {notes}`.\n",
    )
    assert kit.snapshot(notes) == before


def test_a_vault_inside_a_vault_is_one_if_obsidian_says_so(notes: Path, run: Run) -> None:
    (notes / "Deep/.obsidian").mkdir()
    assert run("init", notes / "Deep").code == 0


def test_init_into_nothing_or_over_a_file(notes: Path, run: Run) -> None:
    assert run("init", notes / "nowhere" / "new").code == 3
    (notes / "40_Brain").write_text("mine")
    said = run("init", notes)
    assert (said.code, (notes / "40_Brain").read_text()) == (2, "mine")
    assert "is a file" in said.err


def test_the_demo_goes_only_into_an_empty_folder(tmp_path: Path, notes: Path, run: Run) -> None:
    for taken in (notes, notes / "Home.md"):
        said = run("init", "--demo", taken)
        assert said.code == 2
        assert "is not empty" in said.err
    assert run("init", "--demo", tmp_path / "new" / "demo").code == 0
    assert run("doctor", "--vault", tmp_path / "new" / "demo").code == 0


def test_init_says_what_one_may_add_elsewhere(notes: Path, run: Run) -> None:
    kit.lay(notes, {"Templates/": "", ".git/": "", ".stfolder/": ""})
    out = run("init", notes).out
    for words in (
        ".stignore",
        "Files and links",
        "40_Brain/.gitignore",
        'exclude: ["Templates/**"]',
    ):
        assert words in out


# -- sync ----------------------------------------------------------------------------------------


def test_sync_says_what_changed(demo: Path, run: Run) -> None:
    assert run("sync").out.startswith("27 files, 27 new (")
    assert run("sync").out.startswith("27 files, nothing new (")
    (demo / "Welcome.md").rename(demo / "Hello.md")
    (demo / "New.md").write_text("new\n")
    (demo / "30_Resources/Sauerkraut.md").unlink()
    kit.outdate(demo / "40_Brain/tasks.json")
    (demo / "40_Brain/MEMORY.md").write_text("- other\n")
    shape = run("sync", "--json").json
    assert shape.pop("seconds") >= 0
    assert shape == {
        "files": 27,
        "added": 1,
        "changed": 1,
        "moved": [{"from": "Welcome.md", "to": "Hello.md"}],
        "removed": 1,
        "cold": False,
    }
    assert run("sync").out.startswith("27 files, nothing new (")


def test_rebuild_reads_everything_again(demo: Path, run: Run) -> None:
    before = run("search", "frost", "--json").json["results"]
    assert run("sync", "--rebuild").out.startswith("27 files, 27 new (")
    after = run("search", "frost", "--json").json["results"]
    assert [r["id"] for r in after] == [r["id"] for r in before]


def test_a_damaged_index_is_made_again_and_told_in_one_line(demo: Path, run: Run) -> None:
    expected = run("search", "frost", "--json").json["results"]
    (demo / "40_Brain/brain.db").write_bytes(b"not a database" * 1000)
    said = run("search", "frost", "--json")
    assert [r["id"] for r in said.json["results"]] == [r["id"] for r in expected]
    assert said.err.count("\n") == 1
    assert "it is built again" in said.err


# -- status and doctor ---------------------------------------------------------------------------


def test_status_tells_what_is_indexed(demo: Path, run: Run) -> None:
    shape = run("status", "--json").json
    assert shape["scopes"]["tasks"] == {"files": 1, "entries": 5}
    assert [agent["agent"] for agent in shape["agents"]] == ["admin", "garden-planner"]
    assert (shape["daemon"], shape["problems"], shape["fresh"]) == (None, 0, True)
    out = run("status").out
    assert "Daemon  not running" in out
    assert "tasks           5 entries in 1 file\n" in out
    assert "Agent   garden-planner (project)" in out


def test_status_counts_kinds_and_uses_and_checks_the_index(demo: Path, run: Run) -> None:
    before = run("status", "--json").json
    kinds = before["kinds"]
    assert (kinds["decision"], kinds["task"], kinds["warning"]) == (10, 6, 3)
    assert before["healthy"] is True
    assert before["counters"] == {
        "created": None, "last_compacted": None, "promotions": 0, "evictions": 0, "accesses": 0,
    }  # fmt: skip
    run("reinforce", "m-bkr3q06x")
    shown = run("context", "slug pellets", "--format", "json").json
    after = run("status", "--json").json["counters"]
    assert after["accesses"] > 0
    assert shown
    assert after["created"]
    out = run("status").out
    assert "Kinds   10 decision, " in out
    assert f"Counts  memories were used {after['accesses']} time" in out
    assert f"changes are recorded since {after['created'][:10]}" in out
    assert "(fts5, sound)" in out
    assert run("status", "--by", "garden-planner", "--json").json["counters"] is None


def test_status_does_not_read_the_whole_index(demo: Path, opened: OpenBrain) -> None:
    brain = opened(demo)
    brain.sync()
    statements: list[str] = []
    brain.vault.index.db.set_trace_callback(statements.append)
    assert brain.status().healthy
    assert statements
    assert not [sql for sql in statements if "integrity" in sql]
    assert brain.doctor().healthy
    assert [sql for sql in statements if "integrity" in sql]


def test_status_sees_a_damaged_index(demo: Path, opened: OpenBrain) -> None:
    brain = opened(demo)
    brain.sync()
    brain.vault.index.db.execute("DROP TABLE learned")
    brain.vault.index._write_seal()  # as if Brain had done it
    assert not brain.status().healthy
    assert not brain.doctor().healthy
    assert brain.status().healthy


def test_status_names_the_daemon(demo: Path, tmp_path: Path, run: Run) -> None:
    vault = layout.find(demo, tmp_path / "state")
    with daemon.only_one(vault):
        assert run("status", "--json").json["daemon"] == os.getpid()
        assert f"Daemon  process {os.getpid()}" in run("status").out
    assert run("status", "--json").json["daemon"] is None


def test_doctor_finds_nothing_in_a_good_vault(demo: Path, run: Run) -> None:
    assert run("doctor")[:2] == (0, "The index is sound.\nNo problems found.\n")


def test_doctor_lists_what_to_put_right(demo: Path, run: Run) -> None:
    kit.lay(demo, {"40_Brain/projects/garden-planner/items.json": "[1, 2", "Bad.md": b"\xff\xfe"})
    said = run("doctor")
    assert said.code == 1
    assert "40_Brain/projects/garden-planner/items.json:1  " in said.out
    assert "Bad.md" in said.out
    assert "No problems found" not in said.out
    said = run("doctor", "--json")
    assert (said.code, said.json["healthy"]) == (1, True)
    assert {"path", "line", "code", "message"} == set(said.json["problems"][0])
    assert "remarks; see `brain doctor`" in run("status").out


def test_doctor_groups_what_is_harmless(demo: Path, run: Run) -> None:
    kit.lay(demo, {"A.md": b"\xef\xbb\xbfa\r\nb\r\n", "B.md": b"a\r\nb\r\n"})
    said = run("doctor")
    assert said.code == 0
    assert said.out == (
        "The index is sound.\n"
        "1 file with a byte order mark; that is kept as it is.\n"
        "2 files with carriage returns; that is kept as it is.\n"
        "No problems found.\n"
    )
    listed = run("doctor", "--all")
    assert listed.code == 0
    assert "A.md" in listed.out
    assert "B.md" in listed.out
    assert len(run("doctor", "--json").json["problems"]) == 3


def test_doctor_mentions_a_memory_that_grew_too_large(demo: Path, run: Run) -> None:
    (demo / "40_Brain/brain.yaml").write_text("maxMemorySize: 100\n")
    said = run("doctor")
    assert said.code == 1
    assert "40_Brain/MEMORY.md  large-memory: holds " in said.out


# -- config --------------------------------------------------------------------------------------


def test_config_shows_settings_and_which_are_set(demo: Path, run: Run) -> None:
    (demo / "40_Brain/brain.yaml").write_text("searchLimit: 3\nserachLimit: 4\n")
    said = run("config")
    assert "\nsearchLimit          3  (set)\n" in said.out
    assert "\nmaxPinned            5\n" in said.out
    assert said.err == (
        "brain.yaml line 2: unknown setting 'serachLimit'. Did you mean 'searchLimit'?\n"
    )
    assert run("config", "searchLimit").out == "3\n"
    assert run("config", "include").out == '["**/*.md"]\n'
    assert run("config", "searchLimit", "--json").json == {"searchLimit": 3}
    assert len(run("search", "garden", "--json").json["results"]) == 3
    assert run("doctor").code == 1


# -- events --------------------------------------------------------------------------------------


def test_events_tell_what_happened(demo: Path, run: Run) -> None:
    run("sync")
    run("search", "frost", "-n", "2")
    run("show", "m-7f3k2ab4")
    with open(demo / "40_Brain/MEMORY.md", "a") as note:
        note.write("- A new line ^m-newnew11\n")
    run("sync")
    lines = [json.loads(line) for line in run("events", "--json").out.rstrip().split("\n")]
    names = [line["event"] for line in lines]
    assert names == ["memory:sync", "memory:search", "memory:read", "memory:write"]
    cold, search, read, write = lines
    assert (cold["files"], cold["cold"]) == (27, True)
    assert search["query"] == "frost"
    assert [set(result) for result in search["results"]] == [{"id", "path"}] * 2
    assert (read["type"], read["path"]) == ("memory", "40_Brain/MEMORY.md")
    assert read["size"] > 100
    assert write["delta"] == {
        "added": [{"id": "m-newnew11", "text": "A new line"}], "changed": [], "removed": [],
    }  # fmt: skip
    shown = run("events").out.rstrip().split("\n")
    assert [line.split()[1] for line in shown] == names
    assert shown[-1].endswith("40_Brain/MEMORY.md  1 added")
    assert run("events", "-n", "1").out.count("\n") == 1
    assert run("events", "-n", "0").out == ""


def test_status_and_doctor_say_that_writing_is_off(demo: Path, run: Run) -> None:
    assert "Writing on\n" in run("status").out
    assert "Writing" not in run("doctor").out
    assert run("status", "--json").json["paused"] == run("doctor", "--json").json["paused"] == ""
    run("pause")
    sentence = "paused on this machine; `brain resume` allows it again"
    assert f"Writing {sentence}\n" in run("status").out
    assert f"Writing is {sentence}.\n" in run("doctor").out
    assert run("status", "--json").json["paused"] == "pause"
    run("resume")
    (demo / "40_Brain/brain.yaml").write_text("readOnly: true\n")
    assert "Writing off, because of `readOnly` in brain.yaml\n" in run("status").out
    assert run("doctor", "--json").json["paused"] == "readOnly"
    (demo / "40_Brain/brain.yaml").write_text("memory: false\n")
    assert "Writing is off, because of `memory` in brain.yaml.\n" in run("doctor").out
    assert "Writing off, because of `--read-only`\n" in run("status", "--read-only").out


SIGNALLED = """
import signal, sys, threading
from brain.cli.maintain import stop_signals

def waits(number):  # False if the wait has fewer steps
    seen = 0
    def trace(frame, event, _):
        nonlocal seen
        seen += frame.f_code.co_filename == threading.__file__
        if seen == number:
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)
        return trace
    with stop_signals() as stop:
        sys.settrace(trace)
        stop.wait(0.001)
        sys.settrace(None)
        assert seen < number or stop.wait(60)
    return seen >= number

number = 1
while waits(number):
    number += 1
print(number)
"""


def test_a_signal_ends_a_wait_at_any_moment() -> None:
    """Also while the wait holds a lock that setting the event needs."""
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED], capture_output=True, text=True, timeout=100, check=True
    )
    assert int(done.stdout) > 10
