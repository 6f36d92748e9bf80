"""People, agents, crashes, two devices, backups: whatever happens, no line is lost, the index is
what a new one would be, and the journals say the same everywhere."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from brain.intents import Log
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from brain.api import Brain
from brain.changes import Add, Deed, Move, Relate, Remove, Retag, Update
from brain.errors import BrainError
from brain.formats import memory_md
from brain.index.db import Index
from brain.open_vault import OpenVault
from brain.store import Store
from tests import kit as base
from tests.journal import kit as journals
from tests.store import kit
from tests.store.killer import MODES, Killer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
MARK = re.compile(r"\bx\d+x\b")
SECTIONS = ["Key Decisions", "User Preferences", "Learned"]
numbers = st.integers(0, 1_000_000)
devices = st.sampled_from(["one", "two"])
modes = st.sampled_from(MODES)
kinds = st.sampled_from(
    ["remember", "remember", "remember", "update", "forget", "retag", "relate", "move"]
)


class Writing(RuleBasedStateMachine):
    """`must` are the words (x1x, x2x, …) that nobody has taken out of the note."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="writing", dir=_fast())).resolve()
        self.root = base.lay(self.home / "vault", kit.VAULT)
        self.note = self.root / kit.NOTE
        (self.root / ".git").mkdir()
        self.must: set[str] = set()
        self.count = 0
        self.backups: list[dict[str, bytes]] = []
        self.stores: dict[str, Store] = {}
        self.cloned = False
        self.brain = base.open_brain(self.root, self.home / "one")
        self.brain.sync()

    def teardown(self) -> None:
        try:
            self.settle()
            self.look()
        finally:
            self.brain.close()
            shutil.rmtree(self.home)

    # -- people ----------------------------------------------------------------------------------

    def _word(self) -> str:
        self.count += 1
        return f"x{self.count}x"

    def _save(self, text: str, rename: bool) -> None:
        if rename:
            temp = self.note.with_name("note.swp")
            temp.write_text(text)
            os.replace(temp, self.note)
        else:
            self.note.write_text(text)

    def _bullets(self) -> list[str]:
        return re.findall(r"^- .*\n", self.note.read_text(), re.MULTILINE)

    @rule(pick=numbers, rename=st.booleans())
    def write(self, pick: int, rename: bool) -> None:
        word, text = self._word(), self.note.read_text()
        after = self._pick(self._bullets(), pick)
        new = f"- A person wrote {word}\n"
        text = text.replace(after, after + new, 1) if after else text + f"\n{new}"
        self._save(text, rename)
        self.must.add(word)

    @rule(pick=numbers, rename=st.booleans())
    def rewrite(self, pick: int, rename: bool) -> None:
        if line := self._pick(self._bullets(), pick):
            word = self._word()
            self._save(self.note.read_text().replace(line, f"- {word} {line[2:]}", 1), rename)
            self.must.add(word)

    @rule(pick=numbers, rename=st.booleans())
    def delete(self, pick: int, rename: bool) -> None:
        if line := self._pick(self._bullets(), pick):
            text = self.note.read_text().replace(line, "", 1)
            self._save(text, rename)
            self.must -= set(MARK.findall(line)) - set(MARK.findall(text))

    @rule(pick=numbers, to=numbers)
    def copy(self, pick: int, to: int) -> None:
        """With its id, as people do."""
        line, after = self._pick(self._bullets(), pick), self._pick(self._bullets(), to)
        if line and after:
            self._save(self.note.read_text().replace(after, after + line, 1), False)

    # -- agents ----------------------------------------------------------------------------------

    def _store(self, device: str) -> Store:
        if device not in self.stores:
            self.stores[device] = kit.open_store(self.root, self.home / device)
        return self.stores[device]

    def _deed(self, kind: str, pick: int) -> tuple[Deed, str, str]:
        """A deed, the word it brings, and the text that it is about."""
        chunks = memory_md.parse(self.note.read_bytes(), "admin").chunks
        chunk = self._pick([c for c in chunks if c.kind != "note"], pick)
        word = self._word()
        if kind == "remember" or chunk is None:
            ref = f"m-{self.count:08d}"
            section = SECTIONS[pick % 3]
            return Deed("remember", ref, Add(kit.NOTE, ref, f"An agent: {word}", section)), word, ""
        ref, said = chunk.ref, chunk.text
        change = {
            "update": Update(kit.NOTE, ref, f"Updated to {word}"),
            "forget": Remove(kit.NOTE, ref),
            "retag": Retag(kit.NOTE, ref, add=(f"#t{pick % 9}",)),
            "relate": Relate(kit.NOTE, ref, "relates_to", f"[[#^m-{pick % 9:08d}]]"),
            "move": Move(kit.NOTE, ref, SECTIONS[pick % 3]),
        }[kind]
        taken = said if kind in ("update", "forget") else ""
        return Deed(kind, ref, change), word if kind == "update" else "", taken

    @rule(device=devices, kind=kinds, pick=numbers)
    def agent(self, device: str, kind: str, pick: int) -> None:
        deed, word, taken = self._deed(kind, pick)
        try:
            [outcome] = self._store(device).apply([deed])
        except BrainError:
            return
        assert outcome.state == "written"
        self._became(word, taken)

    def _became(self, word: str, taken: str) -> None:
        self.must -= set(MARK.findall(taken)) - set(MARK.findall(self.note.read_text()))
        if word:
            self.must.add(word)

    @rule(
        device=devices,
        kinds=st.lists(st.sampled_from(["update", "update", "forget", "retag"]), min_size=1),
        pick=numbers,
        goes_on=st.booleans(),
        rename=st.booleans(),
    )
    def wait(self, device: str, kinds: list[str], pick: int, goes_on: bool, rename: bool) -> None:
        """While git is at work, changes of an entry wait; a person may go on with it meanwhile."""
        lock, store = self.root / ".git/index.lock", self._store(device)
        lock.touch()
        promised = {}
        for kind in kinds[:4]:
            deed, word, taken = self._deed(kind, pick)
            deed = deed._replace(id=f"e-{self.count:010d}")
            with suppress(BrainError):
                assert store.apply([deed], wait=0)[0].state == "pending"
                promised[deed.id] = (kind, word, taken)
        if goes_on:
            self._go_on(pick, rename)
        lock.unlink()
        store.drain()
        self._waited(store, promised)

    def _go_on(self, pick: int, rename: bool, data: bytes = b"") -> None:
        """In the note as it is, or as an editor has it in its window."""
        data = data or self.note.read_bytes()
        chunks = memory_md.parse(data, "admin").chunks
        if chunk := self._pick([c for c in chunks if c.kind != "note"], pick):
            at, word = chunk.start + len("- "), self._word()
            self._save((data[:at] + f"{word} ".encode() + data[at:]).decode(), rename)
            self.must.add(word)

    def _waited(self, store: Store, promised: dict[str, tuple[str, str, str]]) -> None:
        """What was carried out counts; what is blocked is dropped."""
        for entry in store.pending():
            store.release(entry.intent.id, drop=True)
        ops = {record.id: record.op for record in kit.records(store)}
        last = ""
        for id, (kind, word, taken) in promised.items():
            if ops.get(id, "overwritten") != "overwritten" and kind != "retag":
                self._became("", taken)
                last = word
        self._became(last, "")

    @rule(
        device=devices,
        kinds=st.lists(st.sampled_from(["update", "retag"]), min_size=1, max_size=3),
        pick=numbers,
        rename=st.booleans(),
    )
    def go_on_unseen(self, device: str, kinds: list[str], pick: int, rename: bool) -> None:
        """An entry is changed, and an editor that has not seen it saves its own words for it."""
        self.settle()
        data, words, tags = self.note.read_bytes(), [], set()
        for kind in kinds:
            deed, word, _ = self._deed(kind, pick)
            with suppress(BrainError):
                self._store(device).apply([deed])
                words += [word] * (kind == "update")
                tags |= set(getattr(deed.change, "remember", ()))
        self._go_on(pick, rename, data)
        self.settle()
        gone = [r.data["change"] for r in kit.records(self._store(device)) if r.op == "overwritten"]
        there = f"{self.note.read_text()} {gone}"
        assert all(word in there for word in [*words[-1:], *tags]), (words, tags, there)

    @rule(device=devices, what=st.integers(0, 9))
    def feedback(self, device: str, what: int) -> None:
        ref = self._pick([kit.A, kit.B, kit.C], what)
        self._store(device).apply([Deed("reinforce", str(ref), None, {"delta": 3})])

    @rule(
        device=devices, kind=kinds, pick=numbers, at=st.integers(1, 40), mode=st.sampled_from(MODES)
    )
    def crash(self, device: str, kind: str, pick: int, at: int, mode: str) -> None:
        """Killed in the middle; if it was promised, the next process does it."""
        deed, word, taken = self._deed(kind, pick)
        deed = deed._replace(id=f"e-{self.count:010d}")
        self.stores.pop(device, None)
        store = self._store(device)
        before = set(_logged(store))
        done = killed(lambda: store.apply([deed]), Killer(at, mode))
        self.stores.pop(device)
        if done is None:
            return  # it could not be done at all
        promised = done or set(_logged(store)) - before
        self._store(device).drain()
        assert kit.temps(self.root) == []
        noted = [r.id for r in kit.records(self._store(device))].count(deed.id)
        assert noted == bool(promised)
        if promised:
            self._became(word, taken)

    @rule(device=devices, kind=kinds, pick=numbers, at=st.integers(5, 14))
    def crash_in_the_middle(self, device: str, kind: str, pick: int, at: int) -> None:
        self.crash(device, kind, pick, at, "before")

    @rule(device=devices)
    def drain(self, device: str) -> None:
        self._store(device).drain()

    @rule()
    def settle(self) -> None:
        for _ in range(4):
            for device in ("one", "two"):
                self._store(device).drain()
        assert all(self._store(device).log.empty() for device in ("one", "two"))
        assert kit.temps(self.root) == []

    # -- what else happens to a vault ------------------------------------------------------------

    def _carried(self) -> Iterable[Path]:
        return [self.note, *sorted((self.root / "40_Brain/journal").rglob("*.jsonl"))]

    @rule()
    def back_up(self) -> None:
        self.backups.append({str(path): path.read_bytes() for path in self._carried()})

    @rule(pick=numbers, notes=st.booleans(), journals=st.booleans())
    def restore(self, pick: int, notes: bool, journals: bool) -> None:
        """An older checkout, or a backup: the note, the journals, or both."""
        self.settle()
        backup = self._pick(self.backups, pick)
        for path, data in (backup or {}).items():
            if notes if path.endswith(".md") else journals:
                Path(path).write_bytes(data)
        if backup and notes:
            self.must &= set(MARK.findall(self.note.read_text()))

    @rule(device=devices)
    def clone(self, device: str) -> None:
        """The state folder is copied, as with a machine, and the copy is used from now on."""
        self.settle()
        self.stores.pop(device, None)
        if (self.home / device).exists():
            if device == "one":
                self.brain.close()
            shutil.copytree(self.home / device, self.home / "copy")
            shutil.rmtree(self.home / device)
            os.rename(self.home / "copy", self.home / device)
            if device == "one":
                self.brain = base.open_brain(self.root, self.home / "one")

    @rule()
    def lose_the_index(self) -> None:
        for path in (self.root / "40_Brain").glob("brain.db*"):
            path.unlink()

    # -- what always holds -----------------------------------------------------------------------

    @rule()
    def look(self) -> None:
        there = set(MARK.findall(self.note.read_text()))
        assert self.must <= there, (self.must - there, self.note.read_text())
        self._journals_hold()
        self.brain.sync()
        found = _dump(self.brain)
        before = base.snapshot(self.root)
        assert self.brain.sync().quiet
        assert {p: v for p, v in base.snapshot(self.root).items() if "brain.db" not in p} == {
            p: v for p, v in before.items() if "brain.db" not in p
        }
        assert _dump(self.brain) == found
        assert self._rebuilt() == found

    def _journals_hold(self) -> None:
        """No number stands for two records, whoever was copied or restored."""
        seen: dict[tuple[str, int], str] = {}
        for path in (self.root / "40_Brain/journal").rglob("*.jsonl"):
            for line in path.read_bytes().split(b"\n")[:-1]:
                try:
                    record = orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue  # torn by a crash
                key = record["device"], record["seq"]
                assert seen.setdefault(key, record["id"]) == record["id"], key

    def _rebuilt(self) -> list[Any]:
        """From nothing, and with the journals delivered in pieces, the last ones first."""
        state, copy = self.home / "fresh", self.home / "copy of vault"
        shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns("brain.db*"))
        journals = sorted((copy / "40_Brain/journal").rglob("*.jsonl"), reverse=True)
        whole = {path: path.read_bytes() for path in journals}
        for path, data in whole.items():
            path.write_bytes(data[: len(data) // 2])
        with Brain(
            OpenVault(self.brain.vault.paths._replace(root_path=str(copy), state_path=str(state)))
        ) as fresh:
            fresh.vault.index = Index(state / "brain.db", str(copy))
            fresh.sync()
            for path, data in whole.items():
                path.write_bytes(data)
                fresh.sync()
            dump = _dump(fresh)
        shutil.rmtree(state)
        shutil.rmtree(copy)
        return dump

    def _pick(self, things: list[Any], number: int) -> Any:
        return things[number % len(things)] if things else None


def _dump(brain: Brain) -> list[Any]:
    return [base.dump(brain.vault.index), journals.dump(brain.vault.index)]


def _logged(store: Store) -> list[str]:
    log = Log(store.log.path)
    log.refresh()
    return list(log.open)


def killed(work: Callable[[], object], killer: Killer) -> bool | None:
    """Was the work done before the child was killed? None if it could not be done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the child does nothing that another thread could hinder
        pid = os.fork()
    if not pid:
        try:
            killer.install()
            work()
            os._exit(0)
        except BrainError:
            os._exit(3)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) in (0, 3)
    return True if os.WEXITSTATUS(status) == 0 else None


def _fast() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class TestWriting(Writing.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=20, stateful_step_count=25)


@pytest.mark.stress
class TestLongWriting(Writing.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=150, stateful_step_count=50)
