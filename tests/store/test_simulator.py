"""The store among people, editors, devices and other Brain processes, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brain.state import State, TempRow
from brain.store import merge
from brain.store.note import Note
from brain.store.versions import History
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


# The most that may happen, per line that was written, or per run; see data-safety.md for what
# does happen. What is in scripts.NEVER must not happen at all.
LIMITS = {
    "one": {"agent line lost": 0.01, "person line lost": 0.02, "came back for good": 0.5},
    "three": {"agent line lost": 0.02, "person line lost": 0.04, "came back for good": 0.9},
}
OF = {
    "agent line lost": "agent lines", "person line lost": "lines", "came back for good": "runs",
}  # fmt: skip


def faults(setting: str, first: int, count: int) -> dict[str, float]:
    """Return what must not happen and did in some runs, and what happened too often."""
    report = scripts.runs(backend.Process, SETTINGS[setting], range(first, first + count))
    found = {kind: float(len(report.found[kind])) for kind in scripts.NEVER if kind in report.found}
    rates = {kind: report.rate(kind, OF[kind]) for kind in LIMITS[setting]}
    return found | {kind: rate for kind, rate in rates.items() if rate > LIMITS[setting][kind]}


@pytest.mark.parametrize("setting", LIMITS)
def test_random_runs(setting: str):
    assert faults(setting, SEEDS, 100) == {}


@pytest.mark.parametrize("seed", [92_001_181, 92_006_866, 92_006_093])
def test_a_run_in_which_a_line_was_doubled_or_returned_after_two_deletions(seed: int):
    report = scripts.runs(backend.Process, SETTINGS["three"], [seed])
    assert set(scripts.NEVER) & report.found.keys() == set()


@pytest.mark.stress
@pytest.mark.parametrize("setting", LIMITS)
def test_many_random_runs(setting: str):
    assert faults(setting, SEEDS + 1_000_000, 1000) == {}


# -- the simulator notices a rule that is broken ---------------------------------------------------


def forget_displaced(note: Note, name: str, is_late: bool = True) -> None:
    note.disk.unlink(f"{note.folder}/{name}")
    note._drop_temp(name)


def never(*_: Any, **__: Any) -> bool:
    return False


def nothing(*_: Any, **__: Any) -> tuple[str, ...]:
    return ()


save = State.save


def save_all_but_temps(state: State, rows: list[Any]) -> None:
    save(state, [row for row in rows if not isinstance(row, TempRow)])


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
    "temporary files are not listed": (State, "save", save_all_but_temps),
    "every line of both sides stays": (merge, "merged_count", lambda base, *both: max(both)),
}  # fmt: skip


@pytest.mark.stress
@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_found(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    owner, name, replacement = BROKEN[rule]
    monkeypatch.setattr(owner, name, replacement)
    assert any(faults(setting, SEEDS, 100) for setting in LIMITS)
