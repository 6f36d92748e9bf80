"""What `brain init` lays down. That it touches nothing else, tests/cli/test_keeping.py shows."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from brain import config, new_vault
from brain.api import Brain
from brain.errors import BadRequest, VaultNotFound
from brain.operations import doctor
from brain.vault import layout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    new_vault.create(tmp_path / "vault")
    return tmp_path / "vault"


def test_the_settings_are_all_there_and_all_defaults(root: Path) -> None:
    text = (root / "40_Brain/brain.yaml").read_text()
    assert text == config.template(layout.vault_id(str(root / "40_Brain")))


def test_what_is_laid_down_parses_without_a_remark(
    root: Path, opened: Callable[..., Brain]
) -> None:
    brain = opened(root)
    brain.sync()
    assert doctor.problems(brain.vault) == []
    assert brain.status().agents[0]["type"] == "admin"
    assert json.loads((root / "40_Brain/tasks.json").read_text()) == {"tasks": []}


@pytest.mark.parametrize("lay", [new_vault.create, new_vault.create_demo])
def test_nobody_is_typing_in_what_was_just_laid_down(
    tmp_path: Path, opened: Callable[..., Brain], lay: Callable[[Path], list[str]]
) -> None:
    (tmp_path / "new").mkdir()
    lay(tmp_path / "new")
    assert opened(tmp_path / "new").remember("Seals bark").state == "written"


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_git_neither_sees_the_index_nor_touches_line_ends(
    root: Path, opened: Callable[..., Brain]
) -> None:
    def git(*args: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(root), *args], capture_output=True, text=True, timeout=30, check=True
        )
        return done.stdout

    git("init", "-q")
    opened(root).sync()
    assert (root / "40_Brain/brain.db").exists()
    assert "brain.db" not in git("status", "--porcelain", "-uall")
    merge = git("check-attr", "merge", "--", "40_Brain/sessions/a.jsonl",
                "40_Brain/projects/x/agent/sessions/a.jsonl",
                "40_Brain/journal/dev/2026-01.jsonl")  # fmt: skip
    assert merge.count("merge: union") == 3
    assert "text: unset" in git("check-attr", "text", "--", "40_Brain/MEMORY.md")


def test_the_demo_is_the_template_and_a_brain(tmp_path: Path) -> None:
    made = new_vault.create_demo(tmp_path / "demo")
    assert len(made) == len(set(made))
    template = Path(str(new_vault.template()))
    for path in template.rglob("*"):
        if path.is_file() and path.name != "brain.yaml":
            copied = tmp_path / "demo" / path.relative_to(template)
            assert copied.read_bytes() == path.read_bytes()
    new_vault.create_demo(tmp_path / "other")
    ids = [layout.vault_id(str(tmp_path / name / "40_Brain")) for name in ("demo", "other")]
    assert all(ids)
    assert ids[0] != ids[1]


def test_a_race_for_a_file_is_lost_politely(tmp_path: Path) -> None:
    (tmp_path / "vault/40_Brain").mkdir(parents=True)
    (tmp_path / "vault/40_Brain/MEMORY.md").write_text("- mine\n")
    made = new_vault.create(tmp_path / "vault")
    assert "40_Brain/MEMORY.md" not in made
    assert (tmp_path / "vault/40_Brain/MEMORY.md").read_text() == "- mine\n"


def test_a_new_folder_is_made(tmp_path: Path) -> None:
    root = tmp_path / "new vault"
    assert "40_Brain/MEMORY.md" in new_vault.create(root)
    with pytest.raises(VaultNotFound, match="There is no folder"):
        new_vault.create(tmp_path / "nowhere" / "new")
    with pytest.raises(BadRequest, match=f"Run `brain init '{root}'`"):
        new_vault.create(root / "within")
    assert not (root / "within").exists()


def test_views_are_added_on_request_as_the_demo_has_them(root: Path, tmp_path: Path) -> None:
    new_vault.create_demo(tmp_path / "demo")
    there = (tmp_path / "demo/40_Brain/Memory.base").read_text()
    assert not (root / "40_Brain/Memory.base").exists()
    assert new_vault.create(root, views=True) == ["40_Brain/Memory.base"]
    assert (root / "40_Brain/Memory.base").read_text() == there
    (root / "40_Brain/Memory.base").write_text("mine")
    assert new_vault.create(root, views=True) == []
    assert (root / "40_Brain/Memory.base").read_text() == "mine"


def test_views_show_the_folder_and_the_notes_of_this_vault(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / "Gehirn").mkdir(parents=True)
    (root / "Gehirn/brain.yaml").write_text("memoryPath: <agent>/mind/Gedanken.md\n")
    new_vault.create(root, views=True)
    view = yaml.safe_load((root / "Gehirn/Memory.base").read_text())
    assert view["filters"]["and"][0] == 'file.inFolder("Gehirn")'
    assert view["views"][0]["filters"]["and"] == ['file.name.startsWith("Gedanken")']
