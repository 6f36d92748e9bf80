"""A lock dies with its holder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brain import lock
from brain.errors import BrainError


def test_one_at_a_time(tmp_path: Path) -> None:
    first = lock.take(tmp_path / "new/folder/lock")
    assert first is not None
    assert lock.take(tmp_path / "new/folder/lock") is None
    assert lock.take(tmp_path / "new/folder/lock", wait=0.02) is None
    os.close(first)
    second = lock.take(tmp_path / "new/folder/lock")
    assert second is not None
    os.close(second)


def test_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrainError, match="BRAIN_STATE"):
        lock.take(tmp_path / "file/lock")
