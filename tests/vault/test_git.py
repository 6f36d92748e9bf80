"""What git is doing to a vault, as its folder tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.vault import git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path / ".git"


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD"])
def test_git_is_at_work_while_its_file_is_there(folder: Path, name: str) -> None:
    assert not git.at_work(str(folder))
    (folder / name).touch()
    assert git.at_work(str(folder))
    (folder / name).unlink()
    assert not git.at_work(str(folder))


def test_no_git(tmp_path: Path) -> None:
    assert not git.at_work("")
    assert not git.at_work(str(tmp_path / "gone"))
    assert git.head("") == ""


def test_without_a_record_of_moves_the_commit_tells(folder: Path) -> None:
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    assert git.head(str(folder)) == "refs/heads/main"  # nothing is committed yet
    (folder / "refs/heads").mkdir(parents=True)
    (folder / "refs/heads/main").write_text("1234\n")
    assert git.head(str(folder)) == "1234"


def test_who_goes_on_and_back_has_moved(folder: Path) -> None:
    (folder / "HEAD").write_text("1234\n")
    (folder / "logs").mkdir()
    (folder / "logs/HEAD").write_text("0000 1234 one\n")
    before = git.head(str(folder))
    (folder / "logs/HEAD").write_text("0000 1234 one\n1234 5678 two\n5678 1234 reset\n")
    assert git.head(str(folder)) != before
