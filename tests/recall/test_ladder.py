"""The ladder of the benchmark switches what it says: a factor that has moved would be found out."""

from __future__ import annotations

import pytest

from bench import ladder
from brain.api import Brain
from tests import kit
from tests.conftest import MakeVault, OpenBrain


def scores(brain: Brain) -> list[float]:
    found = brain.search("when did the walruses eat", scopes=["all"]).results
    return [hit.score for hit in found]


@pytest.mark.parametrize("factor", ladder.FACTORS, ids=lambda factor: factor.name)
def test_a_factor_can_be_switched_off(
    vault: MakeVault, opened: OpenBrain, factor: ladder.Factor
) -> None:
    root = vault(kit.VAULT)
    with ladder.without([factor], root):
        brain = opened(root)
        for key, value in factor.settings.items():
            assert getattr(brain.vault.config, key) == value
        assert scores(brain)


def test_without_any_factor_the_rank_is_another(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault(kit.VAULT)
    whole = scores(opened(root))
    with ladder.without(ladder.FACTORS, root):
        assert scores(opened(root)) != whole
