"""Incremental equals rebuilt: after any history of edits the index is one built from nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from brain.api import Brain
from brain.formats import brain_yaml
from brain.index import read
from brain.index.db import Index
from brain.open_vault import OpenVault
from brain.vault import files
from tests import kit

PLACES = {
    "": ["n.md", "n 2.md", "é.md"],
    "a/": ["n.md", "n 2.md", "n.sync-conflict-20240521-123000-ABCDEFG.md", "skip.md"],
    "a/b/": ["n.md", "MEMORY.md"],
    "40_Brain/": ["MEMORY.md", "MEMORY 2.md", "AGENT.md", "tasks.json", "n.md"],
    "40_Brain/projects/p/": ["items.json", "n.md"],
    "40_Brain/projects/p/agent/": ["MEMORY.md", "AGENT.md"],
    "40_Brain/agents/x/": ["MEMORY.md", "items.json"],
    "40_Brain/agents/X/": ["MEMORY.md"],
    "40_Brain/sessions/": ["s.jsonl", "sessions.json", "n.md"],
    "40_Brain/archive/": ["n.md"],
    "40_Brain/.agent/tasks/": ["tasks.json"],
    "40_Brain/journal/d/": ["n.md"],
    ".obsidian/": ["n.md"],
}
CONTENTS = [
    b"", b"alpha one\n", b"alpha two\n", b"alpha one\nbeta\n",
    b"\xef\xbb\xbf# T\r\n\r\nwith #tag\r\n",
    b"---\ntitle: T\ntags: [x/y]\ncreated: 2026-01-02\n---\n# H\n\nsee [[n#H|n]] and ![[m]]\n",
    b"## Key Decisions\n- 2026-01-01: one #pinned ^m-aaaaaaaa\n- two\n  - nested\n- two\n",
    b"## Key Decisions\n- 2026-01-01: ONE #pinned ^m-aaaaaaaa\n- two\n- three ^m-aaaaaaaa\n",
    b"<<<<<<< HEAD\n- mine\n=======\n- theirs\n>>>>>>> b\n", b"nul \x00 and \xff\n",
    "# 東京\n\n水族館 é ü\n".encode(), b"x\n" * 3000,
    b"---\ntype: project\nid: agent_x\nname: X\n---\nBody\n",
    b'[{"id": "i1", "title": "T", "content": "c", "tags": ["q"]}, {"id": "i1", "content": "d"}]',
    b'{"items": [{"id": "i2", "content": "c"}], "tasks": [{"id": "t", "description": "d"}]}',
    b'[{"id": "i1", "title"', b"[" * 5000,
    b'{"id": "1", "role": "user", "content": "hello"}\n{"id": "2", "role": "user", "content": 1}\n',
    b'{"s1": {"title": "First", "created": "2026-01-01"}}',
]  # fmt: skip
IGNORES = [b"", b"skip.md\n", b"a/\n", b"*.md\n!n.md\n!keep.md\n", b"/b/\n40_Brain/\n"]
EXCLUDES = ["", "exclude: [skip.md]\n", "exclude: ['a/**']\n", "maxFileSize: 1000\n"]

paths = st.sampled_from([folder + name for folder, names in PLACES.items() for name in names])
contents = st.sampled_from(CONTENTS)
numbers = st.integers(0, 1_000_000)


class History(RuleBasedStateMachine):
    """Somebody works in a vault; now and then Brain looks."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="machine", dir=_fast()))
        kept = dict.fromkeys(["keep.md", "40_Brain/keep.md"], "kept\n")  # nothing looks empty
        self.root = kit.lay(self.home / "vault", kept)
        self.brain = kit.open_brain(self.root, self.home / "state")
        self.heard: list[Any] = []
        self.brain.events.subscribe(self.heard.append)
        self.touched: set[str] = set()
        self.links: set[str] = set()
        self.brain.sync()
        self.runs = 0
        self.how = "whole"

    def teardown(self) -> None:
        self.brain.close()
        shutil.rmtree(self.home)

    # -- what a person does ----------------------------------------------------------------------

    @rule(path=paths, content=contents)
    def write(self, path: str, content: bytes) -> None:
        if self._room(path) and not (self.root / path).is_dir():
            target = (self.root / path).resolve()  # of a link, even one that leads nowhere yet
            self.touched.add(str(target.relative_to(self.root.resolve())))
            if target.parent.is_dir():
                target.write_bytes(content)

    @rule(path=paths, content=contents)
    def replace(self, path: str, content: bytes) -> None:
        if self._room(path) and not (self.root / path).is_dir():
            temp = self.root / f"{path.rpartition('/')[0] or '.'}/.temp"
            temp.write_bytes(content)
            os.replace(temp, self.root / path)

    @rule(pick=numbers)
    def edit_unseen(self, pick: int) -> None:
        """Another text of the same length, with the old mtime."""
        if path := self._pick(pick):
            st = path.stat()
            data = path.read_bytes()
            path.write_bytes(data.swapcase())
            os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))

    @rule(pick=numbers, torn=st.booleans())
    def append(self, pick: int, torn: bool) -> None:
        if path := self._pick(pick, ".jsonl"):
            line = f'{{"id": "{pick}", "role": "assistant", "content": "more"}}\n'
            with open(path, "a") as file:
                file.write(line[:20] if torn else line)

    @rule(pick=numbers, to=paths)
    def rename(self, pick: int, to: str) -> None:
        if (path := self._pick(pick)) and self._room(to) and not (self.root / to).is_dir():
            os.replace(path, self.root / to)

    @rule(
        old=st.sampled_from(["a", "a/b", "40_Brain/projects/p", "40_Brain/agents/x"]),
        new=st.sampled_from(
            ["a", "c", "a/n.md", "40_Brain/projects/q", "40_Brain/projects/p/agent"]
        ),
    )
    def move_folder(self, old: str, new: str) -> None:
        inside = new.startswith(f"{old}/")
        if (self.root / old).is_dir() and not inside and not (self.root / new).exists():
            self._room(new)
            os.rename(self.root / old, self.root / new)
            self.touched |= {old, new}

    @rule(pick=numbers)
    def delete(self, pick: int) -> None:
        if path := self._pick(pick):
            path.unlink()

    @rule(folder=st.sampled_from(["a", "a/b", "40_Brain/agents", "40_Brain/projects/p"]))
    def delete_folder(self, folder: str) -> None:
        if (self.root / folder).is_dir():
            shutil.rmtree(self.root / folder)
            self.touched.add(folder)

    @rule(path=paths)
    def folder_named_like_a_file(self, path: str) -> None:
        if self._room(path) and not os.path.lexists(self.root / path):
            (self.root / path).mkdir()
            (self.root / path / "inner.md").write_bytes(b"inner\n")

    @rule(pick=numbers)
    def touch(self, pick: int) -> None:
        if path := self._pick(pick):
            os.utime(path)

    @rule(pick=numbers, mode=st.sampled_from([0o600, 0o644, 0o444]))
    def chmod(self, pick: int, mode: int) -> None:
        if path := self._pick(pick):
            path.chmod(mode)

    @rule(one=numbers, two=numbers)
    def swap(self, one: int, two: int) -> None:
        a, b = self._pick(one), self._pick(two)
        if a and b and a != b:
            os.rename(a, self.root / ".swap")
            os.rename(b, a)
            os.rename(self.root / ".swap", b)

    @rule(pick=numbers, to=paths, hard=st.booleans())
    def link(self, pick: int, to: str, hard: bool) -> None:
        path = self._pick(pick)
        if path and self._room(to) and not os.path.lexists(self.root / to):
            os.link(path, self.root / to) if hard else os.symlink(path, self.root / to)

    @rule(folder=st.sampled_from(["", "a/", "40_Brain/"]), text=st.sampled_from(IGNORES))
    def ignore(self, folder: str, text: bytes) -> None:
        if self._room(f"{folder}.gitignore"):
            (self.root / folder / ".gitignore").write_bytes(text)

    @rule(text=st.sampled_from(EXCLUDES))
    def set_up(self, text: str) -> None:
        (self.root / "40_Brain/brain.yaml").write_text(text)
        self.brain.vault.config, _ = brain_yaml.parse(files.settings_text(self.brain.vault.paths))
        self._sync(None)

    # -- what Brain does -------------------------------------------------------------------------

    @rule(how=st.sampled_from(["later", "whole", "touched"]))
    def look(self, how: str) -> None:
        """How Brain is to look from now on."""
        self.how = how

    @invariant()
    def index_equals_vault(self) -> None:
        if self.how != "later":
            # what becomes of a link depends on others; a hint does not say so
            before, self.links = self.links, self._links()
            only = self.touched | self.links | before
            self._sync(None if self.how == "whole" else only)

    @rule()
    def reopen(self) -> None:
        self.brain.close()
        self.brain = kit.open_brain(self.root, self.home / "state")
        self.brain.events.subscribe(self.heard.append)
        assert not self.brain.vault.index.news
        self._sync(None)
        assert not self.brain.vault.index.news

    def _sync(self, only: Iterable[str] | None) -> None:
        self.brain.sync(only)
        self.touched = set()
        assert self.brain.vault.index.healthy()
        stale = {path for path, _ in read.stale(self.brain.vault.index)}
        dump, rebuilt = kit.dump(self.brain.vault.index), self._rebuilt()
        if not any(self.root.glob("40_Brain/journal/*/*.jsonl")):
            # that all journals are gone is not believed: what was wrong with them is still said
            dump = [row for row in dump if not str(row[2]).startswith("journal-")]
        assert _comparable(rebuilt, stale) == _comparable(dump, stale)
        self._nothing_more(only)

    def _nothing_more(self, only: Iterable[str] | None) -> None:
        """A second look writes nothing and says nothing."""
        before, changes = self._on_disk(), self.brain.vault.index.db.total_changes
        self.heard.clear()
        assert self.brain.sync(only).quiet
        assert self.brain.sync().quiet
        assert self.brain.vault.index.db.total_changes == changes
        assert self._on_disk() == before
        assert not self.heard

    def _on_disk(self) -> list[bytes]:
        names = [
            *sorted((self.root / "40_Brain").glob("brain.db*")),
            Path(self.brain.vault.index._seal),
        ]
        return [path.read_bytes() for path in names if not path.name.endswith("-shm")]

    def _rebuilt(self) -> list[tuple[Any, ...]]:
        self.runs += 1
        state = self.home / f"fresh{self.runs}"
        vault = self.brain.vault.paths
        with Brain(OpenVault(vault._replace(state_path=str(state)))) as fresh:
            fresh.vault.index = Index(state / "brain.db", str(vault.root))
            fresh.sync()
            dump = kit.dump(fresh.vault.index)
        shutil.rmtree(state)
        return dump

    # -- where there is something to do it to ----------------------------------------------------

    def _pick(self, number: int, ending: str = "") -> Path | None:
        """One of the regular files that are there, not the last one that must stay."""
        here = sorted(
            path
            for path in self.root.rglob(f"*{ending}")
            if path.is_file() and not path.is_symlink() and path.name not in KEPT
            and not path.name.startswith("brain.db")
        )  # fmt: skip
        if not here:
            return None
        chosen = here[number % len(here)]
        self.touched.add(str(chosen.relative_to(self.root)))
        return chosen

    def _links(self) -> set[str]:
        """The paths that are symlinks, or one of several names."""
        here = [path for path in self.root.rglob("*") if path.is_symlink() or path.is_file()]
        return {
            str(p.relative_to(self.root)) for p in here if p.is_symlink() or p.stat().st_nlink > 1
        }

    def _room(self, path: str) -> bool:
        """Make the folders above a path; False if a file is in the way."""
        parent = (self.root / path).parent
        new = [p for p in (parent, *parent.parents) if not p.exists()]
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return False
        self.touched |= {str(p.relative_to(self.root)) for p in new} | {path}
        return True


KEPT = {"keep.md", "brain.yaml"}


def _comparable(dump: list[tuple[Any, ...]], stale: set[str]) -> list[tuple[Any, ...]]:
    """A file that does not parse keeps its old rows, which a new index cannot have; what is wrong
    with it (rows of four) must be said by both."""
    return [row for row in dump if row[0] not in stale or len(row) == 4]


def _fast() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class TestHistory(History.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=20, stateful_step_count=25)


@pytest.mark.stress
class TestLongHistory(History.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=1000, stateful_step_count=60)
