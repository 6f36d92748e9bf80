"""A vault to search, with either full-text engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from brain.api import Brain
from tests import kit
from tests.conftest import MakeVault, OpenBrain

Searched = Callable[..., Brain]
OTHERS = {f"{n}.md": f"{'filler ' * 20}\n" for n in range(9)}


@pytest.fixture(params=["fts5", "fts4"])
def searched(request: pytest.FixtureRequest, vault: MakeVault, opened: OpenBrain) -> Searched:
    """`searched(files)`: an open Brain on such a vault, with either full-text engine."""

    def make(files: Mapping[str, str | bytes] = kit.VAULT) -> Brain:
        brain = opened(vault(files), engine=request.param)
        brain.sync()
        assert brain.vault.index.fts == request.param
        return brain

    return make
