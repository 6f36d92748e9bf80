"""What git is doing to a vault, as its folder tells."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brain.vault import git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    os.utime(tmp_path / ".git", (1_000_000_000,) * 2)  # nothing has happened for long
    return tmp_path / ".git"


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD"])
def test_what_begins_is_seen_however_often_nothing_was_going_on(folder: Path, name: str) -> None:
    for _ in range(3):
        for _ in range(3):
            assert not git.at_work(str(folder))
        (folder / name).touch()
        assert git.at_work(str(folder))
        assert git.at_work(str(folder))
        (folder / name).unlink()


def test_what_begins_within_a_tick_of_the_clock_is_seen(folder: Path) -> None:
    (folder / "other").touch()
    stat = folder.stat()
    assert not git.at_work(str(folder))
    (folder / "index.lock").touch()
    os.utime(folder, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert git.at_work(str(folder))


def test_no_git(tmp_path: Path) -> None:
    assert not git.at_work("")
    assert not git.at_work(str(tmp_path / "gone"))
    assert git.head("") == ""
