"""People, agents, crashes and git: whatever happens, no line is lost, each change that was
acknowledged is written or recorded as overwritten, and the index is equal to a new one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from brain.errors import BrainError
from brain.formats import memory_md
from brain.index.db import Index
from brain.journal.reader import update_index
from brain.model import Add, Change, Move, Relate, Remove, Retag, Update, Write
from brain.state import TempRow
from brain.store import Store
from brain.store.note import HALF
from brain.vault.exchange import Look
from tests import kit as base
from tests.journal import kit as journals
from tests.store import kit
from tests.store.desk import VirtualDisk

MARK = re.compile(r"\bx\d+x\b")
SECTIONS = ["Key Decisions", "User Preferences", "Learned"]
numbers = st.integers(0, 1_000_000)
styles = st.sampled_from(["in place", "rename"])
seconds = st.sampled_from([0.0, 0.5, 3.0, 12.0, 100.0])
kinds = st.sampled_from(
    ["remember", "remember", "remember", "update", "forget", "retag", "relate", "move"]
)


class Killed(BaseException):
    """The process ends here: it does nothing more."""


class FragileDisk(VirtualDisk):
    """A disk at whose n-th change the process is killed, before it or after it, and someone else
    may do something right before."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.after = 0, False
        self.meanwhile: Callable[[], None] | None = None

    def _step(self, call: Callable[..., Any], *args: Any) -> Any:
        if not self.left:
            return call(*args)
        self.left -= 1
        if self.left:
            return call(*args)
        if self.meanwhile:
            self.meanwhile()
        if self.after:
            call(*args)
        raise Killed

    def create(self, path: str, data: bytes, like: Look | None = None) -> tuple[str, int]:
        made: tuple[str, int] = self._step(super().create, path, data, like)
        return made

    def rename(self, old: str, new: str) -> None:
        self._step(super().rename, old, new)

    def exchange(self, temp: str, path: str) -> None:
        self._step(super().exchange, temp, path)

    def place(self, temp: str, path: str) -> None:
        self._step(super().place, temp, path)

    def unlink(self, path: str) -> None:
        self._step(super().unlink, path)

    def sync_folder(self, folder: str) -> None:
        self._step(super().sync_folder, folder)


class Writing(RuleBasedStateMachine):
    """`must` are the words (x1x, x2x, …) that nobody has removed from the note."""

    def __init__(self) -> None:
        super().__init__()
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.home = Path(tempfile.mkdtemp(prefix="writing", dir=fast)).resolve()
        self.root = base.lay(self.home / "vault", kit.VAULT)
        self.note = self.root / kit.NOTE
        (self.root / ".git").mkdir()
        self.disk = FragileDisk()
        self.must: set[str] = set()
        self.count = 0
        self.index = self._new_index("kept")

    def teardown(self) -> None:
        try:
            self.look()
        finally:
            self.index.close()
            shutil.rmtree(self.home)

    def _store(self) -> Store:
        """The store of a new process."""
        return kit.open_store(self.root, self.home / "state", disk=self.disk)

    def _pick(self, things: list[Any], number: int) -> Any:
        return things[number % len(things)] if things else None

    def _word(self) -> str:
        self.count += 1
        return f"x{self.count}x"

    # -- people ------------------------------------------------------------------------------------

    def _read(self) -> str:
        inode = os.stat(self.note).st_ino
        self.disk.reads[inode] = self.disk.reads.get(inode, 0) + 1
        return self.note.read_text()

    def _save(self, text: str, style: str) -> None:
        if style == "rename":
            temp = self.note.with_name("note.swp")
            temp.write_text(text)
            os.replace(temp, self.note)
        else:
            self.note.write_text(text)
        self.disk.saved[os.stat(self.note).st_ino] = self.disk.now()

    def _bullets(self) -> list[str]:
        return re.findall(r"^- .*\n", self.note.read_text(), re.MULTILINE)

    @rule(after=seconds)
    def pass_time(self, after: float) -> None:
        self.disk.time += after

    @rule(pick=numbers, style=styles)
    def write(self, pick: int, style: str) -> None:
        word, text = self._word(), self._read()
        after = self._pick(self._bullets(), pick)
        new = f"- A person wrote {word}\n"
        self._save(text.replace(after, after + new, 1) if after else f"{text}\n{new}", style)
        self.must.add(word)

    @rule(pick=numbers, style=styles)
    def reword(self, pick: int, style: str) -> None:
        if line := self._pick(self._bullets(), pick):
            word = self._word()
            self._save(self._read().replace(line, f"- {word} {line[2:]}", 1), style)
            self.must.add(word)

    @rule(pick=numbers, style=styles)
    def delete(self, pick: int, style: str) -> None:
        if line := self._pick(self._bullets(), pick):
            self._save(self._read().replace(line, "", 1), style)
            self.must -= set(MARK.findall(line))

    @rule(pick=numbers, to=numbers)
    def copy(self, pick: int, to: int) -> None:
        """With its id, as people do."""
        line, after = self._pick(self._bullets(), pick), self._pick(self._bullets(), to)
        if line and after:
            self._save(self._read().replace(after, after + line, 1), "in place")

    # -- agents ------------------------------------------------------------------------------------

    def _write_of(self, kind: str, pick: int) -> tuple[Write, str, str]:
        """A change, the word that it adds, and the text that it removes."""
        store = self._store()
        with store.locked():
            data = store.note(kit.NOTE).text.encode()
        store.state.close()
        entries = memory_md.parse(data, "admin").entries
        entry = self._pick([c for c in entries if c.kind != "note"], pick)
        word, id = self._word(), f"e-{self.count:010d}"
        ref = f"m-{self.count:08d}"
        if kind == "remember" or entry is None:
            change: Change = Add(kit.NOTE, ref, f"An agent: {word}", SECTIONS[pick % 3])
            return Write("remember", ref, change, id=id), word, ""
        ref = entry.ref
        change = {
            "update": Update(kit.NOTE, ref, f"Updated to {word}"),
            "forget": Remove(kit.NOTE, ref),
            "retag": Retag(kit.NOTE, ref, add=(f"#t{pick % 9}",)),
            "relate": Relate(kit.NOTE, ref, "relates_to", f"[[#^m-{pick % 9:08d}]]"),
            "move": Move(kit.NOTE, ref, SECTIONS[pick % 3]),
        }[kind]
        removed = entry.text if kind in ("update", "forget") else ""
        return Write(kind, ref, change, id=id), word if kind == "update" else "", removed

    def _made(self, word: str, removed: str) -> None:
        self.must -= set(MARK.findall(removed))
        self.must |= {word} - {""}

    @rule(kind=kinds, pick=numbers)
    def agent(self, kind: str, pick: int) -> None:
        write, word, removed = self._write_of(kind, pick)
        store = self._store()
        with suppress(BrainError):
            store.apply([write])
            self._made(word, removed)
        store.state.close()

    @rule(pick=numbers, kind=kinds)
    def save_late(self, pick: int, kind: str) -> None:
        """An editor has opened the note, an agent changes it, then the editor saves."""
        handle = os.open(self.note, os.O_RDWR)
        text, word = os.pread(handle, 1 << 20, 0).decode(), self._word()
        write, added, removed = self._write_of(kind, pick)
        store = self._store()
        with suppress(BrainError):
            store.apply([write])
        store.state.close()
        data = f"{text}- A late save {word}\n".encode()
        os.pwrite(handle, data, 0)
        os.ftruncate(handle, len(data))
        self.disk.saved[os.fstat(handle).st_ino] = self.disk.now()
        os.close(handle)
        self.must.add(word)
        self._settle_change(write, added, removed)

    def _settle_change(self, write: Write, word: str, removed: str) -> None:
        """Let another process write a change, if it was acknowledged. If a person changed the same
        entry without having seen it, their words stay."""
        self.settle()
        store = self._store()
        ops = [record.op for record in kit.records(store) if record.id == write.id]
        store.state.close()
        assert ops in ([], [write.op], ["overwritten"])
        if ops == [write.op]:
            self._made(word, removed)

    @rule(
        kinds=st.lists(st.sampled_from(["update", "forget", "retag"]), min_size=1, max_size=4),
        pick=numbers, goes_on=st.booleans(), style=styles,
    )  # fmt: skip
    def wait(self, kinds: list[str], pick: int, goes_on: bool, style: str) -> None:
        """While git is at work, changes of an entry are pending; a person may reword it."""
        self.settle()
        lock, store = self.root / ".git/index.lock", self._store()
        lock.touch()
        made: dict[str, tuple[str, str, str]] = {}
        for kind in kinds:
            write, word, removed = self._write_of(kind, pick)
            with suppress(BrainError):
                # a change is written at once if it undoes those that are pending
                if store.apply([write])[0].state != "unchanged":
                    made[write.id] = (kind, word, removed)
        if goes_on:
            self.reword(pick, style)
        lock.unlink()
        store.absorb()
        ops = {record.id: record.op for record in kit.records(store)}
        assert made.keys() <= ops.keys()
        last = ""
        for id, (kind, word, removed) in made.items():
            if kind != "retag":
                self.must -= set(MARK.findall(removed))
                last = word if ops[id] == "update" else ""
        self._made(last, "")
        store.state.close()

    @rule(
        kind=kinds, pick=numbers, at=st.integers(1, 8), after=st.booleans(),
        saves=st.booleans(), style=styles,
    )  # fmt: skip
    def crash(self, kind: str, pick: int, at: int, after: bool, saves: bool, style: str) -> None:
        """Killed in the middle: if it was acknowledged, the next process writes it, once."""
        write, word, removed = self._write_of(kind, pick)
        store = self._store()
        self.disk.left, self.disk.after = at, after
        self.disk.meanwhile = (lambda: self.write(pick, style)) if saves else None
        with suppress(BrainError, Killed):
            store.apply([write])
        self.disk.left = 0
        store.state.close()
        self._settle_change(write, word, removed)

    @rule()
    def settle(self) -> None:
        store = self._store()
        store.absorb()
        if not kit.is_done(store):  # what a person left of the note looks like half a save
            self.disk.time += HALF + 1
            store.absorb()
        assert kit.is_done(store), (store.pending(), store.state.rows(TempRow))
        store.state.close()
        assert kit.temps(self.root) == []

    # -- what else happens to a vault --------------------------------------------------------------

    @rule()
    def lose_the_index(self) -> None:
        self.index.close()
        for path in self.home.glob("kept.db*"):
            path.unlink()
        self.index = self._new_index("kept")

    @rule()
    def lose_the_state(self) -> None:
        """Another machine, or state.db was deleted: only the history is lost."""
        self.settle()
        shutil.rmtree(self.home / "state", ignore_errors=True)  # there may be none yet

    @rule()
    def copy_the_state(self) -> None:
        """The state folder is restored from a copy: another device writes the journal."""
        self.settle()
        if not (self.home / "state").exists():
            return  # nothing was written yet
        shutil.copytree(self.home / "state", self.home / "copy")
        shutil.rmtree(self.home / "state")
        os.rename(self.home / "copy", self.home / "state")

    # -- what always holds -------------------------------------------------------------------------

    @rule()
    def look(self) -> None:
        self.settle()
        there = set(MARK.findall(self.note.read_text()))
        assert self.must <= there, (self.must - there, self.note.read_text())
        store = self._store()
        found = _updated(store, self.index)
        assert base.sync(store.vault, self.index, store.config).quiet
        new = self._new_index("new")
        assert _updated(store, new) == found
        new.close()
        for path in self.home.glob("new.db*"):
            path.unlink()
        seen: dict[tuple[str, int], str] = {}
        for record in kit.records(store):
            key = record.device, record.seq
            assert seen.setdefault(key, record.id) == record.id
        store.state.close()

    def _new_index(self, name: str) -> Index:
        return Index(self.home / f"{name}.db", f"{self.root}/40_Brain")


def _updated(store: Store, index: Index) -> list[Any]:
    base.sync(store.vault, index, store.config, promised=store.heads())
    update_index(store.journal, index)
    return [base.dump(index), journals.dump(index)]


class TestWriting(Writing.TestCase):  # type: ignore[name-defined,misc]
    # the same examples each time, so that no build fails by chance; the long run takes new ones
    settings = settings(max_examples=25, stateful_step_count=25, derandomize=True)


@pytest.mark.stress
class TestLongWriting(Writing.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=300, stateful_step_count=50)
