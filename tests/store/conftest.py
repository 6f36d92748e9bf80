"""A vault, and its store as one process or another opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brain.config import Config
from brain.store import Store
from tests import kit as base
from tests.store import kit
from tests.store.kit import QUICK, Open


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return base.lay(tmp_path.resolve() / "vault", kit.VAULT)


@pytest.fixture
def opened(root: Path, tmp_path: Path) -> Open:
    def make(config: Config | None = QUICK, state: str = "state", **more: Any) -> Store:
        return kit.open_store(root, tmp_path / state, config, **more)

    return make
