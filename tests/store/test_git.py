"""While git is at work, and after it has checked out another commit."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests import kit as base
from tests.store import kit
from tests.store.kit import LINE, NOTE, Open, ops, text


def git(root: Path, *args: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *args], cwd=root, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repo(root: Path) -> Path:
    try:
        git(root, "init", "-q", "-b", "main")
    except FileNotFoundError:
        pytest.skip("there is no git")
    (root / ".gitignore").write_text("40_Brain/brain.db*\n40_Brain/journal/\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    return root


def finish(root: Path, name: str) -> None:
    """Git has finished what it was doing."""
    at = root / ".git" / name.rstrip("/")
    at.rmdir() if at.is_dir() else at.unlink()


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge/"])
def test_a_write_waits_while_git_is_at_work(opened: Open, root: Path, name: str) -> None:
    base.lay(root, {f".git/{name}": ""})
    store = opened()
    assert store.apply([kit.write("remember", 1)])[0].state == "pending"
    store.absorb()
    assert LINE not in text(root)
    assert [one.why for one in store.pending()] == ["git is at work"]
    finish(root, name)
    store.absorb()
    assert LINE in text(root)
    assert ops(store) == ["remember"]
    assert kit.is_done(store)


def test_a_checkout_is_not_undone(opened: Open, repo: Path) -> None:
    """What it took out is reported, and not written again."""
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    store = opened()
    store.apply([kit.write("remember", 1)])
    git(repo, "checkout", "-q", "-f", "HEAD~1")
    store.apply([kit.write("remember", 2)])
    store.absorb()
    assert LINE not in text(repo)
    assert "A new thing 2" in text(repo)
    [gone] = [record for record in kit.records(store) if record.op == "removed"]
    assert (gone.ref, gone.by, gone.data["before"]) == ("m-new00001", "git", LINE.rstrip())
    assert kit.is_done(store)


def test_a_write_that_had_not_reached_the_note_is_merged_into_gits_text(
    opened: Open, repo: Path
) -> None:
    (repo / NOTE).write_text(kit.MEMORY + "- In the second commit\n")
    git(repo, "commit", "-qam", "two")
    (repo / ".git/index.lock").touch()
    store = opened()
    assert store.apply([kit.write("remember", 1)])[0].state == "pending"
    finish(repo, "index.lock")
    git(repo, "checkout", "-q", "HEAD~1")
    store.absorb()
    assert LINE in text(repo)
    assert "In the second commit" not in text(repo)
    assert ops(store) == ["remember"]
    assert kit.is_done(store)


def test_a_pull_brings_another_devices_lines(opened: Open, repo: Path) -> None:
    """A merge: git's text counts, and it has our line, because it was committed."""
    store = opened()
    git(repo, "checkout", "-q", "-b", "other")
    (repo / NOTE).write_text(kit.MEMORY.replace("# Agent Memory\n", "# Agent Memory\n- Theirs\n"))
    git(repo, "commit", "-qam", "theirs")
    git(repo, "checkout", "-q", "main")
    store.apply([kit.write("remember", 1)])
    git(repo, "commit", "-qam", "ours")
    git(repo, "merge", "-q", "--no-edit", "other")
    store.absorb()
    store.apply([kit.write("remember", 2)])
    for line in (LINE, "- Theirs\n", "A new thing 2"):
        assert text(repo).count(line) == 1, line


def test_a_commit_changes_nothing(opened: Open, repo: Path) -> None:
    """A stale window that saves afterwards does not take the line away."""
    store = opened()
    store.apply([kit.write("remember", 1)])
    git(repo, "commit", "-qam", "with it")
    store.absorb()
    assert LINE in text(repo)
    (repo / NOTE).write_text(kit.MEMORY + "- From a stale window\n")
    store.absorb()
    assert LINE in text(repo)
    assert "- From a stale window\n" in text(repo)


def test_a_branch_with_the_same_note_says_nothing_about_later_saves(
    opened: Open, repo: Path
) -> None:
    """Git moves and leaves the note alone; then a stale window saves. What a person had added since
    that window loaded the note stays."""
    store = opened()
    store.apply([kit.write("remember", 1)])
    (repo / NOTE).write_text(text(repo) + "- From a fresh window\n")
    store.absorb()
    git(repo, "checkout", "-q", "-b", "other")
    (repo / NOTE).write_text(kit.MEMORY + "- From a stale window\n")
    store.absorb()
    for line in (LINE, "- From a fresh window\n", "- From a stale window\n"):
        assert text(repo).count(line) == 1, line


def test_a_note_that_git_does_not_know_is_merged_after_a_checkout(opened: Open, repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", NOTE)
    git(repo, "commit", "-qm", "two")
    store = opened()
    store.apply([kit.write("remember", 1)])
    git(repo, "checkout", "-q", "-b", "other")
    (repo / NOTE).write_text(kit.MEMORY + "- From a stale window\n")
    store.absorb()
    for line in (LINE, "- From a stale window\n"):
        assert text(repo).count(line) == 1, line


@pytest.mark.parametrize("back", ["HEAD~1", "HEAD"])
def test_a_line_thrown_away_with_git_does_not_return(opened: Open, repo: Path, back: str) -> None:
    """Committed and reset to the commit before, or just reset."""
    store = opened()
    store.apply([kit.write("remember", 1)])
    if back == "HEAD~1":
        git(repo, "commit", "-qam", "with it")
    git(repo, "reset", "-q", "--hard", back)
    store.apply([kit.write("remember", 2)])
    store.absorb()
    assert LINE not in text(repo)
    assert "A new thing 2" in text(repo)
    assert kit.is_done(store)


@pytest.mark.parametrize("command", [["restore"], ["checkout", "--"], ["checkout", "HEAD", "--"]])
def test_a_line_thrown_away_with_git_restore_does_not_return(
    opened: Open, repo: Path, command: list[str]
) -> None:
    """Git stays at its commit. It creates the file while it has locked its index."""
    store = opened()
    store.apply([kit.write("remember", 1)])
    git(repo, *command, NOTE)
    store.absorb()
    assert LINE not in text(repo)
    [gone] = [record for record in kit.records(store) if record.op == "removed"]
    assert (gone.ref, gone.by) == ("m-new00001", "git")
    store.apply([kit.write("remember", 2)])
    assert LINE not in text(repo)
    assert "A new thing 2" in text(repo)


def test_git_restores_a_note_while_brain_looks(opened: Open, repo: Path) -> None:
    """The file is there, and the index is still locked."""
    store = opened()
    store.apply([kit.write("remember", 1)])
    (repo / ".git/index.lock").write_bytes((repo / ".git/index").read_bytes())
    (repo / NOTE).unlink()
    (repo / NOTE).write_text(kit.MEMORY)
    store.absorb()
    assert text(repo) == kit.MEMORY
    os.utime(repo / ".git/index.lock")
    (repo / ".git/index.lock").rename(repo / ".git/index")
    store.absorb()
    assert text(repo) == kit.MEMORY


@pytest.mark.parametrize("how", ["in place", "rename"])
def test_a_stale_window_saves_the_text_of_the_commit_before_git_status(
    opened: Open, repo: Path, how: str
) -> None:
    """Git writes its index, too, but it locks it after the save."""
    store = opened()
    store.apply([kit.write("remember", 1)])
    (repo / ".git/index").touch()
    saved = repo / NOTE if how == "in place" else repo / f"{NOTE}.swp"
    saved.write_text(kit.MEMORY)
    saved.rename(repo / NOTE)
    time.sleep(0.05)  # the times of files are exact to some milliseconds
    git(repo, "update-index", "-q", "--refresh")
    store.absorb()
    assert LINE in text(repo)


def test_in_a_worktree(opened: Open, repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    tree = (tmp_path / "tree").resolve()
    store = kit.open_store(tree, tmp_path / "state of it")
    store.apply([kit.write("remember", 1)])
    git(tree, "commit", "-qam", "with it")
    git(tree, "reset", "-q", "--hard", "HEAD~1")
    store.absorb()
    assert LINE not in text(tree)
    assert kit.is_done(store)


def test_a_checkout_is_not_taken_for_a_person_who_types(repo: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(clone))
    store = kit.open_store(clone, tmp_path / "other", kit.HELD)
    assert store.apply([kit.write("remember", 1)])[0].state == "written"
    with (clone / NOTE).open("a") as file:
        file.write("- typed by a person\n")
    assert store.apply([kit.write("remember", 2)])[0].state == "pending"


def test_a_note_that_git_does_not_know_may_be_typed_in(opened: Open, repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", NOTE)
    git(repo, "commit", "-qm", "two")
    assert opened(kit.HELD).apply([kit.write("remember", 1)])[0].state == "pending"
