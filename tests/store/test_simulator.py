"""The store among people, editors, devices and other Brain processes, in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.sim import scripts
from tests.store.sim.director import SETTINGS
from tests.store.sim.scenarios import SCENARIOS, check

backend = pytest.importorskip("tests.store.sim.backend", reason="the store has no adapter yet")
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
