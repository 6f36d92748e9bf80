"""`brain init`: lays the brain folder into a vault, and never touches a file that is there."""

from __future__ import annotations

import os
import shlex
import time
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from brain import config
from brain.errors import BadRequest, VaultNotFound
from brain.formats import brain_yaml
from brain.journal.codec import random_letters
from brain.vault import files, layout

OLD = 60.0  # s
VIEWS = "Memory.base"
GITIGNORE = """\
# Made again from the notes whenever it is missing.
brain.db
brain.db-*
# What stands beside a note for a moment while it is written.
.brain-*
"""
GITATTRIBUTES = """\
# Lines are appended, never rewritten: keep both sides of a merge, and every byte.
journal/**/*.jsonl -text merge=union
sessions/*.jsonl merge=union
**/sessions/*.jsonl merge=union
# White space and line ends are the writer's.
*.md -text
"""
AGENT = """\
---
type: admin
id: agent_admin
name: Admin
---

# Admin

The agent that may read and write all memory of this vault. Say here what it is for.
"""
MEMORY = """\
# Agent Memory

## Key Decisions

## User Preferences

## Project Context
"""


def init(root: Path, views: bool = False) -> list[str]:
    """Create what a brain needs and does not have, the vault's own folder too; return the paths.
    `views` adds the tables of memory notes and agents that Obsidian shows."""
    if not (root if root.exists() else root.absolute().parent).is_dir():
        raise VaultNotFound(f"There is no folder {root}.", "Create it, or check the path.")
    _refuse_nesting(root)
    root.mkdir(exist_ok=True)
    brain = layout.brain_folder(root) or layout.BRAIN
    folder = root / brain
    if folder.exists() and not folder.is_dir():
        raise BadRequest(
            f"{folder} is a file.", "Move it away; the brain needs that name for a folder."
        )
    vault = layout.at(root, brain, "")
    chosen, _ = brain_yaml.parse(files.settings(vault))  # there may be settings already
    names = vault.named(chosen.memoryPath, chosen.sessionsPath).names
    sessions = "/".join(names.sessions)
    wanted = {
        "brain.yaml": config.template(f"v-{random_letters(12)}"),
        ".gitignore": GITIGNORE,
        ".gitattributes": GITATTRIBUTES.replace("sessions/", f"{sessions}/"),
        "AGENT.md": AGENT,
        "/".join(names.memory): MEMORY,
        "tasks.json": '{\n  "tasks": []\n}\n',
    }
    if (folder / ".agent" / "tasks" / "tasks.json").exists():
        del wanted["tasks.json"]
    if views:
        wanted[VIEWS] = _views(brain, names.memory[-1])
    return [f"{brain}/{name}" for name, text in wanted.items() if _create(folder / name, text)]


def _views(brain: str, note: str) -> str:
    """Return the tables of the demo vault for this brain folder and this name of memory notes."""
    text = (template() / layout.BRAIN / VIEWS).read_text(encoding="utf-8")
    stem = note.removesuffix(".md").replace("'", "''")  # it is inside single quotes
    return text.replace(layout.BRAIN, brain).replace('"MEMORY"', f'"{stem}"')


def _create(path: Path, text: str) -> bool:
    """Write a file that is not there yet; else False. It is a while old at once: nobody is typing
    in it, so that a first memory need not wait."""
    if not files.create(path, text):
        return False
    then = time.time() - OLD
    os.utime(path, (then, then))
    return True


def _refuse_nesting(root: Path) -> None:
    """A folder inside a vault is no vault, unless Obsidian says so."""
    here = root.resolve()
    if (here / ".obsidian").is_dir() or layout.brain_folder(here):
        return
    for above in here.parents:
        if (above / ".obsidian").is_dir() or (above / layout.BRAIN).is_dir():
            remedy = f"Run `brain init {shlex.quote(str(above))}`."
            raise BadRequest(f"{here} lies in the vault {above}.", remedy)


def demo(root: Path) -> list[str]:
    """Copy the demo vault into a folder that is empty or not there, and lay a brain into it."""
    if root.exists() and not (root.is_dir() and not any(root.iterdir())):
        raise BadRequest(f"{root} is not empty.", "Name a new folder for the demo vault.")
    root.mkdir(parents=True, exist_ok=True)
    made: list[str] = []
    _copy(template(), root, "", made)
    return made + init(root)


def template() -> Traversable:
    """The demo vault: inside the package once installed, beside it in a checkout."""
    packaged = resources.files("brain").joinpath("vault_template")
    return packaged if packaged.is_dir() else Path(__file__).parent.parent / "vault_template"


def _copy(source: Traversable, root: Path, prefix: str, made: list[str]) -> None:
    for item in sorted(source.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            _copy(item, root, f"{prefix}{item.name}/", made)
        elif _create(root / prefix / item.name, item.read_text(encoding="utf-8")):
            made.append(prefix + item.name)


def advice(root: Path) -> str:
    """What one may add to files of the vault that Brain does not touch."""
    brain = layout.brain_folder(root) or layout.BRAIN
    lines = []
    if (root / ".stignore").exists() or (root / ".stfolder").exists():
        lines.append(f"Syncthing: add `{brain}/brain.db*` to .stignore.")
    if (root / ".obsidian").is_dir():
        lines.append(f"Obsidian: to hide the index, exclude `{brain}/brain.db` in Files and links.")
    if (root / ".git").exists():
        lines.append(f"Git: {brain}/.gitignore keeps brain.db out; nothing else is needed.")
    if (root / "Templates").is_dir():
        lines.append(
            'Templates: to leave them out of search, set `exclude: ["Templates/**"]` in brain.yaml.'
        )
    return "\n".join(lines)
