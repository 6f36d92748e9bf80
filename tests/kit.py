"""What tests build vaults with. No fixtures here: state machines and subprocesses use these too."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brain import serialize
from brain import sync as syncing
from brain.api import Brain
from brain.config import Config
from brain.index import read
from brain.index.db import Index
from brain.open_vault import OpenVault
from brain.sync import Stats
from brain.vault import layout
from brain.vault.layout import Vault

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PATIENCE = 20.0  # seconds

MEMORY = """\
# Agent Memory

## Key Decisions
- 2026-02-01: Chose SQLite over PostgreSQL for local-first search. [[Architecture]] #db ^m-7f3k2ab4
- Deploys go out on Tuesdays #pinned

## User Preferences
- Prefers short answers
    - and no emoji
"""
ITEMS = '[{"id": "item_1", "type": "fact", "title": "Rates", "content": "The API allows 60 calls"}]'
TASKS = '{"tasks": [{"id": "TASK-1", "status": "open", "description": "Write the parser"}]}'
TURN = '{"id": "msg_1", "role": "user", "content": "Where is the walrus?"}\n'
AGENT = "---\ntype: admin\nid: agent_admin\nname: Ada\n---\n\n# Ada\n\nKeeps the brain tidy.\n"
VAULT: dict[str, str | bytes] = {
    "40_Brain/MEMORY.md": MEMORY,
    "40_Brain/AGENT.md": AGENT,
    "40_Brain/tasks.json": TASKS,
    "40_Brain/sessions/2026-01-01.jsonl": TURN,
    "40_Brain/projects/zoo/items.json": ITEMS,
    "40_Brain/projects/zoo/agent/AGENT.md": "---\ntype: project\nname: Keeper\n---\nFeeds them.\n",
    "40_Brain/projects/zoo/agent/MEMORY.md": "- The walrus eats clams\n",
    "40_Brain/archive/2025.md": "- The old walrus retired\n",
    "Architecture.md": "# Architecture\n\nOne database, one file. See [[Notes/Walrus]].\n",
    "Notes/Walrus.md": "---\ntags: [animals/sea]\n---\n# Walrus\n\nTusks and whiskers.\n",
    "Notes/Café.md": "Meeting at the café about naïve Bayes.\n",
    "Notes/東京.md": "東京の水族館にはセイウチがいる。\n",
}


def lay(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write these files below `root`; a path that ends in `/` is a folder."""
    (root / layout.BRAIN).mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def open_brain(root: Path, state: Path, *, engine: str = "auto") -> Brain:
    """A Brain with its own state folder, for which it is always NOW. `engine` is the full-text
    engine."""
    return Brain(OpenVault(layout.find(root, state), lambda: NOW, engine=engine))


def sync(vault: Vault, index: Index, config: Config, **options: Any) -> Stats:
    """Update an index without journal and events."""
    stats = Stats()
    for _ in syncing.sync(vault, index, config, stats, **options):
        pass
    return stats


def found(brain: Brain, question: str, **wanted: Any) -> list[str]:
    """The paths that a search answers with, best first."""
    return [hit.row.path for hit in brain.search(question, **wanted).results]


def answers(brain: Brain, *questions: str) -> list[dict[str, Any]]:
    """All that searches in every scope say, as it leaves Brain."""
    out = []
    for question in questions:
        answer = brain.search(question, scopes=["all"], limit=50)
        out += [serialize.search_result(hit, explain=True) for hit in answer.results]
    return out


def outdate(path: Path) -> None:
    """Wait until the file system's clock has left the moment in which `path` was last changed."""
    probe = path.with_name(f".{path.name}.probe")
    try:
        while True:
            probe.write_bytes(b"")
            if os.stat(probe).st_ctime_ns > os.stat(path).st_ctime_ns:
                return
    finally:
        probe.unlink()


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """Mode, mtime and content of everything below `root`, besides the lock of the writer."""
    out: dict[str, tuple[int, int, bytes | str]] = {}
    for folder, folders, files in os.walk(root):
        for name in {*folders, *files} - {"brain.db-write"}:
            path = Path(folder, name)
            st = path.lstat()
            content: bytes | str = ""
            if path.is_symlink():
                content = os.readlink(path)
            elif path.is_file():
                content = path.read_bytes()
            mtime = 0 if path.is_dir() else st.st_mtime_ns
            out[os.path.relpath(path, root)] = (st.st_mode, mtime, content)
    return out


def until(condition: Callable[[], Any], seconds: float = PATIENCE, pause: float = 0.005) -> Any:
    """What the condition says once it holds."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(pause)
    return value


def dump(index: Index) -> list[tuple[Any, ...]]:
    """Return all that the index says, without row ids and stat values: equal for equal vaults."""
    files = index.rows(
        "SELECT path, digest, scope, agent, project, title, aliases, headings, tags, created, stale"
        " FROM files ORDER BY path"
    )
    entries = index.rows(
        "SELECT path, line, end_line, start, stop, scope, agent, project, kind, status,"
        " created, ref, extra, place, siblings, lead, sort, fingerprint, heading, text, tags"
        " FROM entries"
        " ORDER BY path, line, start, id"
    )
    spaced = index.rows(
        "SELECT c.path, c.line, c.start, c.stop, s.spaced FROM characters_fts s"
        " LEFT JOIN entries c ON c.id = s.rowid ORDER BY c.path, c.line, c.start, c.id"
    )
    links = index.rows(
        "SELECT c.path, c.line, c.start, l.seq, l.line, l.kind, l.target, l.fragment"
        " FROM links l JOIN entries c ON c.id = l.entry "
        " ORDER BY c.path, c.line, c.start, c.id, l.seq"
    )
    found = [(path, *problem) for path, problem in read.problems(index)]
    return [*files, *entries, *spaced, *links, *found]
