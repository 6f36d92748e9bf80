"""While git is at work, and after it has checked out another commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brain.errors import NotFound
from brain.store import settling
from tests import kit as base
from tests.store import kit
from tests.store.kit import LINE, WATCHED, Open, ops, text


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


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge/"])
def test_held_while_git_is_at_work(opened: Open, root: Path, name: str) -> None:
    base.lay(root, {f".git/{name}": ""})
    store = opened()
    assert store.apply([kit.deed("remember", 1)], wait=0)[0].state == "pending"
    store.drain()
    assert LINE not in text(root)
    at = root / ".git" / name.rstrip("/")
    at.rmdir() if at.is_dir() else at.unlink()
    store.drain()
    assert LINE in text(root)


def test_a_checkout_is_not_undone(opened: Open, repo: Path) -> None:
    """What it took out is not written again by itself, but kept, and reported."""
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    git(repo, "checkout", "-q", "-f", "HEAD~1")
    store.apply([kit.deed("remember", 2)])
    assert LINE not in text(repo)
    store.settle_after = 0.0
    store.drain()
    [entry] = store.pending()
    assert (entry.state, entry.why) == ("blocked", settling.MOVED)
    store.drain()
    assert LINE not in text(repo)
    store.release(entry.intent.id)
    assert LINE in text(repo)
    assert store.pending() == []
    assert ops(store) == ["remember", "remember"]
    store.drain()
    assert store.log.empty()


def test_what_is_blocked_can_be_dropped(opened: Open, repo: Path) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    store = opened()
    store.settle_after = WATCHED
    store.apply([kit.deed("remember", 1)])
    git(repo, "checkout", "-q", "-f", "HEAD~1")
    store.settle_after = 0.0
    store.drain()
    [entry] = store.pending()
    with pytest.raises(NotFound, match="Nothing is pending under i-nothing"):
        store.release("i-nothing")
    store.release(entry.intent.id, drop=True)
    assert store.pending() == []
    assert LINE not in text(repo)
    assert store.log.empty()


def test_a_commit_in_between_does_no_harm(opened: Open, repo: Path) -> None:
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    git(repo, "commit", "-qam", "with it")
    store.settle_after = 0.0
    store.drain()
    assert store.log.empty()
    assert LINE in text(repo)


@pytest.mark.parametrize("back", ["HEAD~1", "HEAD"])
def test_what_was_thrown_away_with_git_does_not_come_back(
    opened: Open, repo: Path, back: str
) -> None:
    """Committed and reset to the commit before, or just reset: the commit is that of the write."""
    store = opened(settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    if back == "HEAD~1":
        git(repo, "commit", "-qam", "with it")
    git(repo, "reset", "-q", "--hard", back)
    store.apply([kit.deed("remember", 2)])
    assert LINE not in text(repo)
    store.settle_after = 0.0
    store.drain()
    assert LINE not in text(repo)
    assert [entry.why for entry in store.pending()] == [settling.MOVED]


def test_in_a_worktree(opened: Open, repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    tree = (tmp_path / "tree").resolve()
    store = kit.open_store(tree, tmp_path / "state of it", settle_after=WATCHED)
    store.apply([kit.deed("remember", 1)])
    git(tree, "commit", "-qam", "with it")
    git(tree, "reset", "-q", "--hard", "HEAD~1")
    store.settle_after = 0.0
    store.drain()
    assert LINE not in text(tree)
    assert [entry.why for entry in store.pending()] == [settling.MOVED]
