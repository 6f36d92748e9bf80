"""The oracle of the simulator: which lines it takes for lost, and which may be missing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.store.sim import backend
from tests.store.sim.oracle import tokens
from tests.store.sim.scenarios import ALL, SYNC, line, remember, typed
from tests.store.sim.scripts import Script, replay
from tests.store.sim.world import Step, World

W0_DELETES: list[Step] = [
    ("load", "device"), ("load", "w0"), ("delete", "w0", "p91.1"), ("save", "w0"), SYNC,
]  # fmt: skip
GIT_RETURNS_IT: Step = ("checkout", 2)

NOT_LOST: dict[str, list[Step]] = {
    "what git brought back is replaced before Brain reads it, and a window saves it": [
        *W0_DELETES, remember("a1"), ("load", "device"), ("checkout", 3), ("load", "w0"),
        typed("device", "p1"), ("save", "device"), SYNC, typed("w0", "p2"), ("save", "w0"),
    ],
    "a person pastes it before Brain reads the note, and a device saves an old text with it": [
        ("load", "device"), remember("a1"), ("load", "w0"), ("delete", "w0", "p91.1"),
        ("save", "w0"), SYNC, ("paste", "w0", 4), ("save", "w0"), typed("device", "p1"),
        ("save", "device"),
    ],
    "a window saves over git while nothing is guarded, and a device brings an old text": [
        *W0_DELETES, GIT_RETURNS_IT, SYNC, typed("w0", "p1"), ("save", "w0"), remember("a1"),
        typed("device", "p2"), ("save", "device"),
    ],
    "a stale window saves while an agent's line is being written": [
        *W0_DELETES[:-1],
        remember("a1", {20: [typed("device", "p1"), ("save", "device")]}),
    ],
}  # fmt: skip


def end(steps: list[Step], folder: Path, style: str = "place") -> tuple[World, list[str]]:
    """Replay these steps. Return the lines that are lost."""
    windows = {"w0": style, "device": "rename"}
    world = replay(Script(windows, ALL, [*steps]), backend.Process, str(folder / "world"))
    return world, [what for kind, what in world.end() if "lost" in kind]


@pytest.mark.parametrize("name", NOT_LOST)
def test_a_line_that_was_removed_and_did_not_come_back_is_not_lost(name: str, tmp_path: Path):
    world, lost = end(NOT_LOST[name], tmp_path)
    assert lost == []
    assert line("p91.1") not in (world.text() or "")


def test_a_line_that_an_agent_removes_between_a_cut_and_a_paste_is_not_lost(tmp_path: Path):
    """Brain reads neither save, because the editor keeps the file open."""
    cut: list[Step] = [("load", "w0"), ("delete", "w0", "a1.1"), ("save", "w0", True)]
    forget: Step = ("forget", 0, "a1", False, {})
    paste: list[Step] = [("paste", "w0", 8), ("save", "w0")]
    world, lost = end([remember("a1"), *cut, forget, *paste], tmp_path, "fd")
    assert lost == []
    assert line("a1.1") not in (world.text() or "")


BEGIN_ANEW: dict[str, list[Step]] = {
    "a reboot": [remember("a1"), ("wait", 12), ("reboot",), SYNC],
    "a kill": [("sync", 0, {3: [("kill",)]}), ("wait", 12), remember("a1")],
}


@pytest.mark.parametrize("why", BEGIN_ANEW)
def test_a_text_that_brain_would_have_read_earlier_is_not_lost(why: str, tmp_path: Path):
    """Brain waits while an editor has the file open, and begins to wait anew."""
    typing: list[Step] = [("load", "w0"), ("load", "w1"), typed("w1", "p1"), ("save", "w1", True)]
    over: list[Step] = [typed("w0", "p2"), ("save", "w0")]
    windows = {"w0": "fd", "w1": "fd"}
    script = Script(windows, ALL, [*typing, *BEGIN_ANEW[why], *over])
    world = replay(script, backend.Process, str(tmp_path / "world"))
    assert world.stats["crashes"] == (why == "a kill")
    assert [case for case in world.end() if "lost" in case[0]] == []


def test_a_line_that_is_replaced_before_the_process_that_read_it_is_killed_is_not_lost(
    tmp_path: Path,
):
    device: list[Step] = [typed("device", "p2"), ("save", "device")]
    plan: Step = ("sync", 0, {2: device, 3: [("kill",)]})
    steps: list[Step] = [remember("a1"), ("load", "device"), ("load", "w0"), typed("w0", "p1")]
    world, lost = end([*steps, ("save", "w0"), plan, SYNC], tmp_path)
    assert world.stats["crashes"] == 1
    assert lost == []
    assert line("p1.1") not in (world.text() or "")


def test_a_line_that_git_brought_back_is_required(tmp_path: Path):
    world, lost = end([*W0_DELETES, GIT_RETURNS_IT, SYNC], tmp_path)
    assert lost == []
    assert "p91.1" in world.oracle.required()


def test_a_line_that_nobody_removed_is_lost(tmp_path: Path):
    """The note is truncated, as if Brain had written something else."""
    world, _ = end([("load", "w0"), typed("w0", "p1"), ("save", "w0"), SYNC], tmp_path)
    Path(world.path).write_text(ALL)
    missing = world.oracle.missing(Counter(tokens(world.text() or "")))
    assert missing == [("person line lost", "p1.1")]


def test_a_line_that_was_removed_is_kept_in_a_version(tmp_path: Path):
    world, _ = end([*W0_DELETES, remember("a1")], tmp_path)
    assert world.processes[0].keeps(line("p91.1"))
    assert not world.processes[0].keeps(line("p1.1"))
