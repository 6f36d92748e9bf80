"""The store among people, editors, devices and other Brain processes, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brain.state import State
from brain.store import units
from brain.store.history import History
from brain.store.note import Note
from tests.store.sim import backend, scripts
from tests.store.sim.director import SETTINGS
from tests.store.sim.scenarios import SCENARIOS, check

SEEDS = 20_000_000


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str, tmp_path: Path):
    assert check(SCENARIOS[name], backend.Process, str(tmp_path / "world")) == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_with_a_kill_at_every_call(name: str, tmp_path: Path):
    for found in scripts.kills(SCENARIOS[name], backend.Process, str(tmp_path / "world")):
        assert found == []


@pytest.mark.parametrize("setting", ["one", "three"])
def test_random_runs(setting: str):
    report = scripts.runs(backend.Process, SETTINGS[setting], range(SEEDS, SEEDS + 100))
    assert {kind: report.found[kind] for kind in scripts.NEVER if kind in report.found} == {}
    assert report.rate("agent line lost", "agent lines") <= LIMITS[setting][0]
    assert report.rate("person line lost", "lines") <= LIMITS[setting][1]


@pytest.mark.stress
@pytest.mark.parametrize("setting", ["one", "three"])
def test_many_random_runs(setting: str):
    first = SEEDS + 1_000_000
    report = scripts.runs(backend.Process, SETTINGS[setting], range(first, first + 1000))
    assert {kind: report.found[kind] for kind in scripts.NEVER if kind in report.found} == {}
    assert report.rate("agent line lost", "agent lines") <= LIMITS[setting][0]
    assert report.rate("person line lost", "lines") <= LIMITS[setting][1]


LIMITS = {"one": (0.01, 0.02), "three": (0.02, 0.04)}


# -- the simulator notices a rule that is broken ---------------------------------------------------


def forget_displaced(note: Note, name: str) -> None:
    note.disk.unlink(f"{note.folder}/{name}")
    note._drop_temp(name)


def never(*_: Any, **__: Any) -> bool:
    return False


def nothing(*_: Any, **__: Any) -> tuple[str, ...]:
    return ()


BROKEN: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "the base is always the tip": (History, "base", lambda _, theirs, near, *rest: near),
    "the base is always the oldest version": (
        History, "base", lambda self, *_: self.versions[0],
    ),
    "nothing is guarded": (History, "_guard", nothing),
    "no deletion is deliberate": (History, "_is_deliberate", never),
    "displaced files are not looked at": (Note, "_look_at_displaced", forget_displaced),
    "displaced files are never open": (Note, "_is_open", never),
    "half a save counts": (Note, "_may_be_half", never),
    "temporary files are not listed": (State, "save_temp", nothing),
    "every line of both sides stays": (units, "merged_count", lambda base, *both: max(both)),
}  # fmt: skip


@pytest.mark.stress
@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_found(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    owner, name, replacement = BROKEN[rule]
    monkeypatch.setattr(owner, name, replacement)
    found: dict[str, int] = {}
    for setting in ("one", "three"):
        report = scripts.runs(backend.Process, SETTINGS[setting], range(SEEDS, SEEDS + 100))
        found |= {kind: len(report.found[kind]) for kind in scripts.NEVER if kind in report.found}
        lost = report.rate("agent line lost", "agent lines")
        if (
            lost > LIMITS[setting][0]
            or report.rate("person line lost", "lines") > LIMITS[setting][1]
        ):
            found[setting] = len(report.found["agent line lost"])
    assert found
