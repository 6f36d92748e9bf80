"""Which files of a vault are Brain's to read, and whose they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brain.config import Config
from brain.vault import layout
from brain.vault.scan import Scan, scan
from tests import kit


@pytest.fixture
def walk(tmp_path: Path):
    """`walk({path: text}, **settings)`: what a walk of such a vault finds."""

    def make(files: dict[str, str | bytes], only: list[str] | None = None, **settings) -> Scan:
        root = kit.lay(tmp_path / "vault", files)
        return scan(layout.vault_at(root, "40_Brain", tmp_path), Config(**settings), only)

    return make


def kinds(found: Scan) -> dict[str, str]:
    return {path: problem.code for path, problem in found.problems}


def test_only_notes_and_no_dot_folders(walk) -> None:
    found = walk({
        "a.md": "", "b.txt": "", "c.MD": "", ".hidden.md": "", ".obsidian/app.md": "",
        ".trash/x.md": "", ".git/x.md": "", "sub/.x/y.md": "", "sub/y.md": "", ".env.md": "",
        "40_Brain/.hidden/MEMORY.md": "", "40_Brain/.agent/tasks/tasks.json": "",
        "40_Brain/.agent/.x/MEMORY.md": "", "x/.agent/tasks/tasks.json": "", "pic.png": "",
    })  # fmt: skip
    assert sorted(found.stats) == [
        "40_Brain/.agent/tasks/tasks.json", "a.md", "c.MD", "sub/y.md",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("MEMORY.md", ("memory", "memory", "admin", "")),
        ("AGENT.md", ("agent", "sources", "admin", "")),
        ("tasks.json", ("tasks", "tasks", "admin", "")),
        (".agent/tasks/tasks.json", ("tasks", "tasks", "admin", "")),
        ("sessions/x.jsonl", ("session", "sessions", "admin", "")),
        ("sessions/sessions.json", ("session_index", "sessions", "admin", "")),
        ("agents/ada/MEMORY.md", ("memory", "memory", "ada", "")),
        ("agents/ada/sessions/x.jsonl", ("session", "sessions", "ada", "")),
        ("projects/zoo/items.json", ("items", "items", "zoo", "zoo")),
        ("projects/zoo/agent/MEMORY.md", ("memory", "memory", "zoo", "zoo")),
        ("projects/zoo/agent/sessions/x.jsonl", ("session", "sessions", "zoo", "zoo")),
        ("projects/zoo/plan.md", ("note", "sources", "zoo", "zoo")),
        ("archive/2025.md", ("memory", "archive", "admin", "")),
        ("archive/projects/zoo/2025.md", ("memory", "archive", "zoo", "zoo")),
        ("Readme.md", ("note", "sources", "", "")),
    ],
)
def test_whose_a_file_is(path: str, role: tuple[str, ...], walk) -> None:
    found = walk({f"40_Brain/{path}": ""})
    assert {p: tuple(found.role(p)) for p in found.stats} == {f"40_Brain/{path}": role}


@pytest.mark.parametrize("home", ["agents", "projects", "archive/agents", "archive/projects"])
def test_of_two_owners_with_one_name_the_first_counts(home: str, walk) -> None:
    names = ("Ada", "ada", "ADA", "Zo\u00e9", "Zoe\u0301", "other")
    files: dict[str, str | bytes] = {f"40_Brain/{home}/{name}/MEMORY.md": "" for name in names}
    files |= {"40_Brain/other/ada/MEMORY.md": "", "40_Brain/other/Ada/MEMORY.md": ""}
    found = walk(files)
    read = {p.removeprefix(f"40_Brain/{home}/").split("/")[0] for p in found.stats if home in p}
    assert read == {"ADA", "Zoe\u0301", "other"}
    assert kinds(found) == {f"40_Brain/{home}/{name}": "name-collision" for name in names[:-1]}
    assert len([path for path in found.stats if "/other/" in path]) == 3
    said = {path.rpartition("/")[2]: problem.message for path, problem in found.problems}
    assert said["ADA"] == "has the same name as 'Ada', 'ada', except for case or accents"
    assert said["ada"] == "has the same name as 'ADA', except for case or accents; it is not read"


@pytest.mark.parametrize("only", ["40_Brain/agents/ADA", "40_Brain/agents/ada"])
def test_a_narrow_walk_looks_at_the_rivals_of_an_owner(only: str, walk, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"40_Brain/agents/ada/MEMORY.md": ""}
    assert list(walk(files, [only]).stats) == list(files)
    both = walk({"40_Brain/agents/ADA/MEMORY.md": ""}, [only])
    assert list(both.stats) == ["40_Brain/agents/ADA/MEMORY.md"]
    assert kinds(both) == dict.fromkeys(
        ["40_Brain/agents/ADA", "40_Brain/agents/ada"], "name-collision"
    )
    assert both.paths == {"40_Brain/agents/ADA", "40_Brain/agents/ada"}
    inside = walk({}, [f"{only}/MEMORY.md"])
    assert (inside.stats, inside.problems, inside.paths) == (both.stats, both.problems, both.paths)


@pytest.mark.parametrize(
    "path",
    ["journal/d/2026-01.jsonl", "journal/MEMORY.md", "brain.yaml", "brain.db", "sessions/x.md",
     "notes.txt", "x.jsonl"],
)  # fmt: skip
def test_what_is_not_indexed(path: str, walk) -> None:
    assert walk({f"40_Brain/{path}": ""}).stats == {}


def test_include_and_exclude(walk) -> None:
    files = {
        "a.md": "",
        "b.txt": "",
        "Private/c.md": "",
        "x/Private/d.md": "",
        "e.excalidraw.md": "",
    }
    brain = {"40_Brain/MEMORY.md": ""}
    assert sorted(walk(files, exclude=("Private", "*.excalidraw.md")).stats) == ["a.md"]
    assert sorted(walk(files, exclude=("/Private/**",)).stats) == [
        "a.md", "e.excalidraw.md", "x/Private/d.md"]  # fmt: skip
    assert sorted(walk(files, include=("*.txt", "a.*")).stats) == ["a.md", "b.txt"]
    assert sorted(walk(files, include=()).stats) == []
    assert sorted(walk(files | brain, exclude=("**",)).stats) == ["40_Brain/MEMORY.md"]


def test_the_case_of_an_ending_does_not_matter(walk) -> None:
    assert sorted(walk({"UPPER.MD": "a", "x.Md": "b", "UPPER.TXT": "c"}).stats) == [
        "UPPER.MD", "x.Md",
    ]  # fmt: skip


def test_ignore_files(walk) -> None:
    files = {
        ".gitignore": "*.tmp.md\nbuild/\n", "a.md": "", "x.tmp.md": "", "build/b.md": "",
        "sub/.gitignore": "!x.tmp.md\nlocal.md\n", "sub/x.tmp.md": "", "sub/local.md": "",
        "local.md": "", ".secretsignore": "secret*\n", "secrets/s.md": "", "sub/secret.md": "",
        "sub/deep/.gitignore": "!secret.md\n", "sub/deep/secret.md": "",
    }  # fmt: skip
    assert sorted(walk(files).stats) == ["a.md", "local.md", "sub/x.tmp.md"]
    assert len(walk(files, useGitignore=False).stats) == 9


def test_the_brain_is_read_even_if_git_ignores_it(walk) -> None:
    found = walk({
        ".gitignore": "40_Brain/\nMEMORY.md\n*.json\n", "40_Brain/MEMORY.md": "",
        "40_Brain/agents/x/MEMORY.md": "", "40_Brain/tasks.json": "", "x/40_Brain/n.md": "",
        "x/MEMORY.md": "",
    })  # fmt: skip
    assert sorted(found.stats) == [
        "40_Brain/MEMORY.md", "40_Brain/agents/x/MEMORY.md", "40_Brain/tasks.json"]  # fmt: skip


COPIES = [
    "n (Conflicted copy phone 202405211230).md", "n.sync-conflict-20240521-123000-ABCDEFG.md",
    "n (Bob's conflicted copy 2024-05-21).md", "n 2.md", "n-LAPTOP-7K2M9QXD.md", "n.Conflict.md",
    "n (conflicted copy 2024-05-21 123000).md",
]  # fmt: skip


@pytest.mark.parametrize("folder", ["", "40_Brain/"])
@pytest.mark.parametrize("name", COPIES)
def test_conflict_copies_are_listed_and_not_read(name: str, folder: str, walk) -> None:
    found = walk({f"{folder}n.md": "one\ntwo\n", f"{folder}{name}": "one\ntwo\nthree\n"})
    assert list(found.stats) == [f"{folder}n.md"]
    assert kinds(found) == {f"{folder}{name}": "conflict-copy"}


@pytest.mark.parametrize(
    "path",
    ["MEMORY 2.md", "MEMORY.sync-conflict-20240521-123000-ABCDEFG.md", "archive/n 2.md",
     "sessions/n 2.jsonl", "projects/p/items 2.json", "tasks (conflicted copy).json"],
)  # fmt: skip
def test_conflict_copies_of_brain_files(path: str, walk) -> None:
    folder, _, name = path.rpartition("/")
    originals = {"n 2.md": "n.md", "n 2.jsonl": "n.jsonl", "items 2.json": "items.json"}
    original = originals.get(name, "MEMORY.md" if name.endswith(".md") else "tasks.json")
    home = f"40_Brain/{folder}/" if folder else "40_Brain/"
    found = walk({home + original: "- one\n", home + name: "- one\n- two\n"})
    assert list(found.stats) == [home + original]
    assert kinds(found) == {home + name: "conflict-copy"}


def test_a_second_note_is_no_copy(walk) -> None:
    found = walk(
        {"Meeting.md": "about fish\n", "Meeting 2.md": "about boats\n", "Area 51.md": "x\n"}
    )
    assert sorted(found.stats) == ["Area 51.md", "Meeting 2.md", "Meeting.md"]
    assert found.problems == []


def test_two_empty_notes_are_no_copies(walk) -> None:
    assert sorted(walk({"a.md": "", "a 2.md": ""}).stats) == ["a 2.md", "a.md"]


# -- a few paths alone -------------------------------------------------------------------------

TREE: dict[str, str | bytes] = {
    ".gitignore": "*.tmp.md\n/skip/\n", "a.md": "", "b/c.md": "", "b/d/e.md": "", "b/x.tmp.md": "",
    "skip/s.md": "", "b/.gitignore": "e.md\n", "b/d/f.md": "", ".obsidian/n.md": "",
    "40_Brain/MEMORY.md": "", "40_Brain/.agent/tasks/tasks.json": "",
    "40_Brain/agents/x/MEMORY.md": "", "40_Brain/MEMORY.md.d/n.md": "",
    "skip2/é.md": "", "n.md/inner.md": "",
}  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [*TREE, "b", "b/d", "skip", ".obsidian", "40_Brain", "40_Brain/.agent", "40_Brain/agents",
     "n.md", "gone.md", "gone/x.md", "a.md/x.md", "", "b/"],
)  # fmt: skip
def test_a_narrow_walk_finds_what_the_whole_one_finds_there(path: str, walk) -> None:
    whole, narrow = walk(TREE), walk(TREE, [path])
    path = path.removesuffix(".gitignore").rstrip("/")  # which stands for its folder
    below = {p for p in whole.stats if not path or p == path or p.startswith(f"{path}/")}
    assert set(narrow.stats) == below
    assert {p: narrow.role(p) for p in below} == {p: whole.role(p) for p in below}


def test_a_link_into_the_vault_is_no_problem(walk, tmp_path: Path) -> None:
    kit.lay(tmp_path / "vault", {"a.md": "", "f/b.md": ""})
    os.symlink("a.md", tmp_path / "vault/link.md")
    os.symlink("f", tmp_path / "vault/folder")
    os.symlink("..", tmp_path / "vault/f/up")
    found = walk({})
    assert sorted(found.stats) == ["a.md", "f/b.md"]
    assert found.problems == []
    assert walk({}, ["folder/b.md", "f/up/a.md"]).stats == {}
