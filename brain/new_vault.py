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

AGE = 60.0  # seconds by which the time of a new file is set back
VIEWS = "Memory.base"
GITIGNORE = """\
# The index. If it is missing, it is rebuilt from the notes.
brain.db
brain.db-*
# Temporary files while a note is being written.
.brain-*
"""
GITATTRIBUTES = """\
# Lines are appended, never rewritten: keep both sides of a merge, and every byte.
journal/**/*.jsonl -text merge=union
sessions/*.jsonl merge=union
**/sessions/*.jsonl merge=union
# Do not change white space and line ends.
*.md -text
"""
AGENT = """\
---
type: admin
id: agent_admin
name: Admin
---

# Admin

This agent may read and write all memory of this vault. Describe its purpose here.
"""
MEMORY = """\
# Agent Memory

## Key Decisions

## User Preferences

## Project Context
"""


def create(root: Path, views: bool = False) -> list[str]:
    """Create the missing files of a brain, and the folder of the vault if it is missing. Return the
    paths of the new files. `views` adds tables of memory notes and agents for Obsidian."""
    if not (root if root.exists() else root.absolute().parent).is_dir():
        raise VaultNotFound(f"There is no folder {root}.", "Create it, or check the path.")
    _refuse_nesting(root)
    root.mkdir(exist_ok=True)
    brain = layout.brain_folder(root) or layout.BRAIN
    folder = root / brain
    if folder.exists() and not folder.is_dir():
        raise BadRequest(
            f"{folder} is a file.", "Move it away: Brain needs a folder with this name."
        )
    vault = layout.vault_at(root, brain, "")
    settings, _ = brain_yaml.parse(files.settings_text(vault))  # the settings may exist already
    names = vault.with_names(settings.memoryPath, settings.sessionsPath).names
    sessions = "/".join(names.sessions)
    texts = {
        "brain.yaml": config.template(f"v-{random_letters(12)}"),
        ".gitignore": GITIGNORE,
        ".gitattributes": GITATTRIBUTES.replace("sessions/", f"{sessions}/"),
        "AGENT.md": AGENT,
        "/".join(names.memory): MEMORY,
        "tasks.json": '{\n  "tasks": []\n}\n',
    }
    if (folder / ".agent" / "tasks" / "tasks.json").exists():
        del texts["tasks.json"]
    if views:
        texts[VIEWS] = _views(brain, names.memory[-1])
    return [f"{brain}/{name}" for name, text in texts.items() if _create_file(folder / name, text)]


def _views(brain: str, note: str) -> str:
    """Return the tables of the demo vault, adapted to this brain folder and name of memory
    notes."""
    text = (template() / layout.BRAIN / VIEWS).read_text(encoding="utf-8")
    stem = note.removesuffix(".md").replace("'", "''")  # it is inside single quotes
    return text.replace(layout.BRAIN, brain).replace('"MEMORY"', f'"{stem}"')


def _create_file(path: Path, text: str) -> bool:
    """Create a file. Return False if it exists. The time of the file is set back, so that the first
    write does not wait as if a person were editing the file."""
    if not files.create(path, text):
        return False
    past = time.time() - AGE
    os.utime(path, (past, past))
    return True


def _refuse_nesting(root: Path) -> None:
    """Raise BadRequest for a folder that is in another vault, unless the folder is itself a vault
    of Obsidian."""
    folder = root.resolve()
    if (folder / ".obsidian").is_dir() or layout.brain_folder(folder):
        return
    for parent in folder.parents:
        if (parent / ".obsidian").is_dir() or (parent / layout.BRAIN).is_dir():
            remedy = f"Run `brain init {shlex.quote(str(parent))}`."
            raise BadRequest(f"{folder} is in the vault {parent}.", remedy)


def create_demo(root: Path) -> list[str]:
    """Copy the demo vault into an empty or new folder, and create its brain. Its brain.yaml is not
    copied, because each vault gets a brain.yaml with its own id."""
    if root.exists() and not (root.is_dir() and not any(root.iterdir())):
        raise BadRequest(f"{root} is not empty.", "Name a new folder for the demo vault.")
    root.mkdir(parents=True, exist_ok=True)
    created: list[str] = []
    _copy(template(), root, "", created)
    return created + create(root)


def template() -> Traversable:
    """Return the folder of the demo vault: in the installed package, or next to it in a
    checkout."""
    packaged = resources.files("brain").joinpath("vault_template")
    return packaged if packaged.is_dir() else Path(__file__).parent.parent / "vault_template"


def _copy(source: Traversable, root: Path, prefix: str, created: list[str]) -> None:
    for item in sorted(source.iterdir(), key=lambda item: item.name):
        if item.name == "brain.yaml":
            continue
        if item.is_dir():
            _copy(item, root, f"{prefix}{item.name}/", created)
        elif _create_file(root / prefix / item.name, item.read_text(encoding="utf-8")):
            created.append(prefix + item.name)


def advice(root: Path) -> str:
    """Return advice for files of the vault that Brain does not edit."""
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
