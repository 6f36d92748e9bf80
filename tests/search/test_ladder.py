"""The ladder of the benchmark switches what it says: a step that has moved would be found out."""

from __future__ import annotations

import pytest

from bench import ladder, latency, notes
from brain.api import Brain
from tests import kit
from tests.conftest import MakeVault, OpenBrain


def scores(brain: Brain) -> list[float]:
    found = brain.search("when did the walruses eat", scopes=["all"]).results
    return [hit.score for hit in found]


@pytest.mark.parametrize("step", ladder.STEPS, ids=lambda step: step.name)
def test_a_step_can_be_switched_off(vault: MakeVault, opened: OpenBrain, step: ladder.Step) -> None:
    root = vault(kit.VAULT)
    with ladder.without([step], root):
        brain = opened(root)
        for key, value in step.settings.items():
            assert getattr(brain.vault.config, key) == value
        assert scores(brain)


def test_without_any_step_the_rank_is_another(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault(kit.VAULT)
    whole = scores(opened(root))
    with ladder.without(ladder.STEPS, root):
        assert scores(opened(root)) != whole


def test_the_benchmark_draws_questions_from_a_vault(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault({**kit.VAULT, "Shore.md": "Several walruses crossed another frozen harbour"})
    monkeypatch.setattr(notes, "ASKED", 3)
    assert notes.ask(root, {})
    assert latency.asked(opened(root))
