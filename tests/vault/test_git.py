"""What git is doing to a vault, as its folder tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.vault import files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path / ".git"


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD"])
def test_git_is_at_work_while_its_file_is_there(folder: Path, name: str) -> None:
    assert not files.is_git_busy(str(folder))
    (folder / name).touch()
    assert files.is_git_busy(str(folder))
    (folder / name).unlink()
    assert not files.is_git_busy(str(folder))


def test_no_git(tmp_path: Path) -> None:
    assert not files.is_git_busy("")
    assert not files.is_git_busy(str(tmp_path / "gone"))
    assert files.git_head("") == ""


def test_without_a_record_of_moves_the_commit_tells(folder: Path) -> None:
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    assert files.git_head(str(folder)) == "0 refs/heads/main"  # nothing is committed yet
    (folder / "refs/heads").mkdir(parents=True)
    (folder / "refs/heads/main").write_text("1234\n")
    assert files.git_head(str(folder)) == "0 1234"


def test_who_goes_on_and_back_has_moved(folder: Path) -> None:
    (folder / "HEAD").write_text("1234\n")
    (folder / "logs").mkdir()
    (folder / "logs/HEAD").write_text("0000 1234 one\n")
    before = files.git_head(str(folder))
    (folder / "logs/HEAD").write_text("0000 1234 one\n1234 5678 two\n5678 1234 reset\n")
    assert files.git_head(str(folder)) != before
    assert files.git_has_moved(str(folder), before)


def test_a_commit_moves_no_file(folder: Path) -> None:
    (folder / "HEAD").write_text("1234\n")
    (folder / "logs").mkdir()
    (folder / "logs/HEAD").write_text("0000 1234 me 0 +0000\tcommit (initial): one\n")
    before = files.git_head(str(folder))
    with open(folder / "logs/HEAD", "a") as log:
        log.write("1234 5678 me 0 +0000\tcommit: two\n")
    assert not files.git_has_moved(str(folder), before)
    with open(folder / "logs/HEAD", "a") as log:
        log.write("5678 1234 me 0 +0000\tpull: Fast-forward\n")
    assert files.git_has_moved(str(folder), before)
