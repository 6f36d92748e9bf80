"""`brain init`: create the brain folder in a vault. Existing files are left alone."""

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

AGE = 60.0  # seconds that a new file is set back
VIEWS = "Memory.base"
GITIGNORE = """\
# Built again from the notes whenever it is missing.
brain.db
brain.db-*
# Temporary files next to a note while it is written.
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


def create(root: Path, views: bool = False) -> list[str]:
    """Create the files of a brain that are missing, and the vault's own folder if need be. Return
    their paths. `views` adds the tables of memory notes and agents that Obsidian shows."""
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
    vault = layout.vault_at(root, brain, "")
    chosen, _ = brain_yaml.parse(files.settings_text(vault))  # there may be settings already
    names = vault.with_names(chosen.memoryPath, chosen.sessionsPath).names
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
    return [f"{brain}/{name}" for name, text in wanted.items() if _create_file(folder / name, text)]


def _views(brain: str, note: str) -> str:
    """Return the tables of the demo vault for this brain folder and this name of memory notes."""
    text = (template() / layout.BRAIN / VIEWS).read_text(encoding="utf-8")
    stem = note.removesuffix(".md").replace("'", "''")  # it is inside single quotes
    return text.replace(layout.BRAIN, brain).replace('"MEMORY"', f'"{stem}"')


def _create_file(path: Path, text: str) -> bool:
    """Create a file; return False if it exists. Its time is set back: no editor has it open, so
    that a first memory does not have to wait."""
    if not files.create(path, text):
        return False
    then = time.time() - AGE
    os.utime(path, (then, then))
    return True


def _refuse_nesting(root: Path) -> None:
    """Raise BadRequest for a folder inside a vault, unless Obsidian uses it as a vault."""
    here = root.resolve()
    if (here / ".obsidian").is_dir() or layout.brain_folder(here):
        return
    for above in here.parents:
        if (above / ".obsidian").is_dir() or (above / layout.BRAIN).is_dir():
            remedy = f"Run `brain init {shlex.quote(str(above))}`."
            raise BadRequest(f"{here} is in the vault {above}.", remedy)


def create_demo(root: Path) -> list[str]:
    """Copy the demo vault into a folder that is empty or missing, and create its brain."""
    if root.exists() and not (root.is_dir() and not any(root.iterdir())):
        raise BadRequest(f"{root} is not empty.", "Name a new folder for the demo vault.")
    root.mkdir(parents=True, exist_ok=True)
    made: list[str] = []
    _copy(template(), root, "", made)
    return made + create(root)


def template() -> Traversable:
    """Return the demo vault: inside the package if it is installed, next to it in a checkout."""
    packaged = resources.files("brain").joinpath("vault_template")
    return packaged if packaged.is_dir() else Path(__file__).parent.parent / "vault_template"


def _copy(source: Traversable, root: Path, prefix: str, made: list[str]) -> None:
    for item in sorted(source.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            _copy(item, root, f"{prefix}{item.name}/", made)
        elif _create_file(root / prefix / item.name, item.read_text(encoding="utf-8")):
            made.append(prefix + item.name)


def advice(root: Path) -> str:
    """Return what a person may add to files of the vault that Brain leaves alone."""
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
