"""A lock dies with its holder."""

from __future__ import annotations

import os
import threading
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


def test_who_releases_a_lock_waits_for_the_others(tmp_path: Path) -> None:
    """A process that writes all the time does not keep the others from writing."""
    path = tmp_path / "lock"
    first, second = lock.take_in_turn(path), list[int | None]()
    assert first is not None
    waiting = threading.Thread(target=lambda: second.append(lock.take_in_turn(path, wait=60)))
    waiting.start()
    folder = os.open(tmp_path, os.O_RDONLY)
    while lock.take_open(folder, 0):  # until the other one waits
        os.close(folder)
        folder = os.open(tmp_path, os.O_RDONLY)
    os.close(folder)
    os.close(first)
    assert lock.take_in_turn(path) is None
    waiting.join()
    assert second[0] is not None
    os.close(second[0])
    first = lock.take_in_turn(path)
    assert first is not None
    os.close(first)
