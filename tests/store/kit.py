"""What tests of the store build with: a vault, changes of every kind, and what a file says."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from brain.model import (  # isort: skip
    Add, Anchor, Change, Write, Insert, Move, Relate, Remove, Replace, Retag, Update,
)  # fmt: skip
from brain.config import Config
from brain.formats import brain_yaml
from brain.journal.writer import Journal
from brain.model import Record
from brain.state import State, TempRow
from brain.store import Store
from brain.vault import files, layout
from brain.vault.exchange import Disk
from tests.journal import kit as journals

NOTE = "40_Brain/MEMORY.md"
OTHER = "40_Brain/projects/zoo/agent/MEMORY.md"
SESSION = "40_Brain/sessions/2026-01-01.jsonl"
MEMORY = """\
# Agent Memory

## Key Decisions
- Chose SQLite over PostgreSQL. [[Architecture]] #db ^m-7f3k2ab4
- Deploys go out on Tuesdays #pinned ^m-2b8xq1mz

## User Preferences
- Prefers short answers ^m-9c01dexk
    - and no emoji
- No id here
"""
TURN = '{"id": "msg_1", "role": "user", "content": "Where is the walrus?"}\n'
VAULT: dict[str, str | bytes] = {
    NOTE: MEMORY,
    SESSION: TURN,
    OTHER: "- The walrus eats clams\n",
    "Walrus.md": "# Walrus\n\nTusks.\n",
}
A, B, C = "m-7f3k2ab4", "m-2b8xq1mz", "m-9c01dexk"
QUICK = Config(holdSeconds=0.0)
HELD = Config(holdSeconds=1000.0)
LINE = "- A new thing 1 #candidate ^m-new00001\n"  # what `write("remember", 1)` writes
Open = Callable[..., Store]
SECRET = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def change(kind: str, number: int = 0) -> Change:
    """A change of this kind that the vault above can take."""
    new = f"m-new{number:05d}"
    return {
        "remember": Add(NOTE, new, f"A new thing {number}", "Key Decisions", tags=("#candidate",)),
        "update": Update(NOTE, A, f"Chose DuckDB {number}"),
        "forget": Remove(NOTE, B),
        "retag": Retag(NOTE, C, add=(f"#t{number}",)),
        "relate": Relate(NOTE, A, "supersedes", f"[[#^m-{number:08d}]]"),
        "move": Move(NOTE, A, "User Preferences"),
        "anchor": Anchor(NOTE, bare_ref()),
        "replace": Replace(
            NOTE, B, f"- Deploys on day {number} ^{B}",
            f"- Deploys go out on Tuesdays #pinned ^{B}"
        ),
        "insert": Insert(NOTE, new, f"- Was here before {number} ^{new}", "User Preferences", C),
        "other": Add(OTHER, f"m-oth{number:05d}", f"Made {number}", "Facts"),
    }[kind]  # fmt: skip


KINDS = ("remember", "update", "forget", "retag", "relate", "move", "anchor", "replace", "insert",
         "other")  # fmt: skip


@cache
def bare_ref() -> str:
    """The id of the bullet that has none in the note."""
    from brain.formats import memory_md

    entries = memory_md.parse(MEMORY.encode(), "admin").entries
    return next(entry.ref for entry in entries if entry.text.startswith("No id"))


def write(kind: str, number: int = 0, **more: Any) -> Write:
    made = change(kind, number)
    return Write(kind, made.ref, made, **more)


def adding(text: str, ref: str, path: str = NOTE, section: str = "Key Decisions") -> Write:
    return Write("remember", ref, Add(path, ref, text, section))


def open_store(
    root: Path,
    state: Path,
    config: Config | None = QUICK,
    *,
    max_hold: float | None = None,
    disk: Disk | None = None,
) -> Store:
    """The store of this vault; with its own settings if `config` is None."""
    vault = layout.find(root, state)
    chosen = config or brain_yaml.parse(files.settings_text(vault))[0]
    data = State(vault.state_path)
    journal = Journal(vault.folder, data, lambda: datetime.now(UTC))
    store = Store(vault, chosen, journal, data, disk)
    store.max_hold = chosen.holdSeconds if max_hold is None else max_hold
    return store


def is_done(store: Store) -> bool:
    """Nothing is pending, no record is missing, and no temporary file is listed."""
    return not (store.pending() or store.state.has_pending() or store.state.rows(TempRow))


def records(store: Store) -> list[Record]:
    return journals.records(store.journal)


def ops(store: Store) -> list[str]:
    return [record.op for record in records(store)]


def text(root: Path) -> str:
    """What the note holds."""
    return (root / NOTE).read_text()


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def temps(root: Path) -> list[str]:
    """Temporary files that are left anywhere in the vault."""
    return sorted(name for name in _names(root) if name.startswith(".brain-") or ".part" in name)


def _names(root: Path) -> Iterator[str]:
    for _, _, names in os.walk(root):
        yield from names


def lines(path: Path) -> list[str]:
    return path.read_text().split("\n")
