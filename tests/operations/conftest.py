"""A vault that nobody is typing in, and a Brain to change it with."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from brain.api import Brain
from tests import kit
from tests.conftest import MakeVault, OpenBrain

NOTE = "40_Brain/MEMORY.md"
LONG_AGO = 1_000_000_000

Made = Callable[..., Brain]


def settle(root: Path) -> None:
    """Nobody has saved anything lately."""
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (LONG_AGO, LONG_AGO))


@pytest.fixture
def made(vault: MakeVault, opened: OpenBrain) -> Made:
    """`made({path: text})` is a Brain over a vault with these files, else over the usual one."""

    def make(files: Mapping[str, str | bytes] = kit.VAULT, engine: str = "auto") -> Brain:
        root = vault(files)
        settle(root)
        return opened(root, engine=engine)

    return make


@pytest.fixture
def brain(made: Made) -> Brain:
    return made()


def note(brain: Brain, path: str = NOTE) -> str:
    """What a note holds."""
    return (brain.vault.paths.root / path).read_text(encoding="utf-8")
