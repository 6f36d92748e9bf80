"""What git is doing to a vault: asked of its files, without running it."""

from __future__ import annotations

import os

_AT_WORK = (
    "index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply",
)  # fmt: skip


def folder(root: str) -> str:
    """The git folder of the repository that a vault lies in; '' if it lies in none."""
    at = os.path.abspath(root)
    while True:
        found = f"{at.rstrip('/')}/.git"
        if os.path.isdir(found):
            return found
        if os.path.isfile(found):  # a worktree or a submodule
            return os.path.join(at, _text(found).removeprefix("gitdir:").strip())
        above = os.path.dirname(at)
        if above == at:
            return ""
        at = above


def at_work(git: str) -> bool:
    """Is git in the middle of something that rewrites files?"""
    return bool(git) and any(os.path.lexists(f"{git}/{name}") for name in _AT_WORK)


def head(git: str) -> str:
    """What tells that git has moved on: the commit that is checked out, or at least the name of its
    branch, and how long the record of such moves is; '' without git. Who goes on and back again
    has the same commit as before, and a longer record."""
    commit = _commit(git) if git else ""
    return f"{commit} {moves}" if (moves := _moves(git)) else commit


def _commit(git: str) -> str:
    said = _text(f"{git}/HEAD").strip()
    name = said.removeprefix("ref:").strip()
    if name == said:
        return said
    if commit := _text(f"{git}/{name}").strip():
        return commit
    shared = _text(f"{git}/commondir").strip()  # of a worktree
    return (_text(os.path.join(git, shared, name)).strip() if shared else "") or name


def _moves(git: str) -> int:
    """The size of the record; 0 if none is kept."""
    try:
        return os.stat(f"{git}/logs/HEAD").st_size if git else 0
    except OSError:
        return 0


def _text(path: str) -> str:
    """What a small file says; '' if there is none. Asked for twice in every write."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return ""
    try:
        return os.read(handle, 10_000).decode()
    except (OSError, UnicodeDecodeError):
        return ""
    finally:
        os.close(handle)
