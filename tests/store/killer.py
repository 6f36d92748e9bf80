"""Kills a writer at every call by which it changes the file system, and looks at what is left.

Run as a program, in a process of its own, because it forks. `python -m tests.store.killer sweep add
update` kills once before and in the middle of each call of these kinds of change, and compares the
index with a new one for each kind of call; `sweep all …` also kills after it, and always compares.
`mixed 1 300` lets a person save in between as well, and also kills the process that recovers; it
compares for every fourth run, and `mixed 1 300 all` for each. Prints one line of JSON, or what went
wrong. SQLite makes its own system calls: it is killed before and after each commit.
"""

from __future__ import annotations

import builtins
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brain.errors import BrainError
from brain.index.db import Index
from brain.journal.reader import update_index
from brain.model import Write
from brain.state import PendingRow, TempRow
from brain.store import Store
from brain.vault import exchange
from tests import kit as base
from tests.journal import kit as journals
from tests.store import kit

ID = "e-0000000001"
MOVES = (
    *("fsync", "link", "unlink", "rename", "replace", "ftruncate", "truncate", "mkdir", "fchmod"),
    *("utime", "fchown"),
)
BY_ITSELF = ("merged", "restored", "removed", "reworded")  # records of what the store did itself
MODES = ("before", "after", "torn")
Act = Callable[[], None]
Dump = tuple[list[Any], list[Any]]


class Killer:
    """Counts the calls that change something on the disk, and dies at one of them. Without
    `atomic`, files are exchanged by links."""

    def __init__(self, at: int = 0, mode: str = "before", atomic: bool = True) -> None:
        self.at, self.mode, self.atomic = at, mode, atomic
        self.calls: list[str] = []  # the names of those made so far
        self.acts: dict[int, Act] = {}  # what someone else does right before a call
        self._busy = False

    @property
    def count(self) -> int:
        return len(self.calls)

    def install(self) -> None:
        """Only in a child that ends soon."""
        for name in (*MOVES, "write"):
            setattr(os, name, self._counted(getattr(os, name), name))
        os.open = self._if(os.open, lambda a, k: bool(a[1] & os.O_CREAT))  # type: ignore
        builtins.open = self._if(open, lambda a, k: "w" in (a[1:] or [k.get("mode", "r")])[0])
        native = exchange._rename_call() if self.atomic else None
        counted = self._counted(native, "exchange") if native else None
        exchange._rename_call = lambda: counted  # type: ignore[assignment]
        self._install_commits()

    def _install_commits(self) -> None:
        killer, connect = self, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                run = super().execute
                return (killer._counted(run, "commit") if sql == "COMMIT" else run)(sql, *values)

        def connected(*args: Any, **named: Any) -> sqlite3.Connection:
            return connect(*args, factory=Connection, **named)

        sqlite3.connect = connected  # type: ignore[assignment]

    def _if(self, call: Any, changes: Callable[[Any, Any], bool]) -> Any:
        counted = self._counted(call, "open")
        return lambda *a, **k: counted(*a, **k) if changes(a, k) else call(*a, **k)

    def _counted(self, call: Any, name: str) -> Any:
        def counted(*args: Any, **named: Any) -> Any:
            if self._busy:
                return call(*args, **named)
            self.calls.append(name)
            if act := self.acts.get(self.count):
                self._busy = True
                act()
                self._busy = False
            if self.count == self.at:
                if self.mode == "before":
                    self._die()
                if self.mode == "torn" and name == "write":
                    args = (args[0], bytes(args[1])[: len(args[1]) // 2])
            now = self.count
            try:
                return call(*args, **named)
            finally:
                if now == self.at:
                    self._die()

        return counted

    def _die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def killed(work: Callable[[], object], killer: Killer) -> bool | None:
    """Do some work in a child that is killed. Return True if it was done before, None if it could
    not be done. The caller has no connection to SQLite open."""
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


class Trial:
    """One vault, one write that is killed, and what must hold afterwards. With `compare`, an index
    is updated all the while."""

    def __init__(self, kind: str, compare: bool = False) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="killer", dir=_fast())).resolve()
        self.root = base.lay(self.home / "vault", kit.VAULT)
        self.state = self.home / "state"
        self.writes = writes(kind, 1)
        self.atomic = kind != "links"
        if kind == "create":
            (self.root / kit.NOTE).unlink()
        self.paths = sorted({d.change.path for d in self.writes if d.change})
        self.before = self._texts()
        self.acked = self.promised = False
        self.compare = compare
        self.index = self._new_index("kept")
        self.look()

    def _texts(self) -> dict[str, bytes]:
        return {path: _bytes(self.root / path) for path in self.paths}

    def child(self, work: Callable[[], None], killer: Killer) -> tuple[bool, list[str]]:
        """Return True if the work ended before it was killed, and its calls."""
        read, write = os.pipe()
        if pid := os.fork():
            os.close(write)
            _, status = os.waitpid(pid, 0)
            said = os.read(read, 1 << 16).split()
            os.close(read)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                raise AssertionError("the writer failed")
            return said[:1] == [b"done"], [call.decode() for call in said[1:]]
        try:
            killer.install()
            out = os.dup(write)
            real = os.write
            work()
            killer._busy = True
            real(out, " ".join(["done", *killer.calls]).encode())
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            sys.stderr.flush()
            os._exit(1)

    def write(self, killer: Killer) -> list[str]:
        """Return the calls that it made; none if it was killed."""

        def work() -> None:
            outcomes = kit.open_store(self.root, self.state).apply(self.writes)
            assert all(outcome.state == "written" for outcome in outcomes)

        killer.atomic = self.atomic
        self.acked, calls = self.child(work, killer)
        self.promised = self.acked or self._is_acknowledged()
        return calls

    def _is_acknowledged(self) -> bool:
        """Does state.db, or the journal, know the change?"""
        store = kit.open_store(self.root, self.state)
        ids = {row.id for row in store.state.rows(PendingRow)} | {r.id for r in kit.records(store)}
        store.state.close()
        return any(write.id in ids for write in self.writes)

    def absorb(self, killer: Killer) -> bool:
        killer.atomic = self.atomic
        return self.child(lambda: kit.open_store(self.root, self.state).absorb(), killer)[0]

    def check(self, after: dict[str, bytes] | None = None) -> None:
        """After a new process has absorbed: all of it or nothing, once, and nothing else."""
        store = kit.open_store(self.root, self.state)
        store.absorb()
        assert not kit.temps(self.root), kit.temps(self.root)
        assert kit.is_done(store), (
            store.pending(),
            store.state.rows(PendingRow),
            store.state.rows(TempRow),
        )
        there = base.snapshot(self.root)
        store.absorb()
        assert base.snapshot(self.root) == there
        noted = Counter(r.id for r in kit.records(store) if r.op not in BY_ITSELF)
        for write in self.writes:
            assert noted[write.id] == self.promised, (noted, self.promised)
        assert sum(noted.values()) <= len(self.writes), noted
        if after is not None:
            assert self._texts() == (after if self.promised else self.before)
        self.look()
        self._later(store)
        store.state.close()
        self.same_index()

    def _later(self, store: Any) -> None:
        """Nothing has to be repaired before the next write."""
        [outcome] = store.apply([kit.adding("Written later", "m-1ater000")])
        assert outcome.state == "written"
        assert (self.root / kit.NOTE).read_text().count("m-1ater000") == 1
        store.absorb()
        assert not kit.temps(self.root)
        seqs = [record.seq for record in kit.records(store)]
        assert seqs == list(range(1, len(seqs) + 1)), seqs

    # -- what the index says -----------------------------------------------------------------

    def _new_index(self, name: str) -> Index:
        return Index(self.home / f"{name}.db", f"{self.root}/40_Brain")

    def look(self) -> None:
        """Update the index, as a question does. It waits for no lock: a process that was killed has
        left none."""
        if self.compare:
            store = kit.open_store(self.root, self.state)
            _updated(store, self.index)
            store.state.close()

    def same_index(self) -> None:
        """The index is equal to a new one, and a second update finds nothing."""
        if not self.compare:
            return
        store = kit.open_store(self.root, self.state)
        found = _updated(store, self.index)
        assert base.sync(store.vault, self.index, store.config).quiet
        assert not update_index(store.journal, self.index)
        new = self._new_index("new")
        assert _updated(store, new) == found
        new.close()
        store.state.close()

    def end(self) -> None:
        self.index.close()
        shutil.rmtree(self.home)


def writes(kind: str, number: int) -> list[Write]:
    """`two` are changes of two files and a record without a change, as `feedback` is. `links` is a
    system that cannot exchange files in one step."""
    feedback = Write("reinforce", kit.A, None, {"delta": 3}, ID)
    if kind == "feedback":
        return [feedback]
    if kind == "two":
        other = kit.write("other", number, id="e-0000000002")
        return [kit.write("remember", number, id="e-0000000003"), other, feedback]
    return [kit.write("remember" if kind in ("create", "links") else kind, number, id=ID)]


def _updated(store: Store, index: Index) -> Dump:
    """All that an index says once it is up to date with files, journals and pending writes."""
    base.sync(store.vault, index, store.config, promised=store.heads())
    update_index(store.journal, index)
    return base.dump(index), journals.dump(index)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _fast() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


# -- every call ------------------------------------------------------------------------------------


def sweep(kind: str, modes: Sequence[str] = MODES, always: bool = False) -> dict[str, int]:
    """Kill before, after and in the middle of every call, and compare the index with a new one
    for each kind of call, or `always`. Return the number of kills and of compared indexes.

    `torn` kills after a call that does not write.
    """
    calm = Trial(kind)
    calls = calm.write(Killer())
    calm.check(after := calm._texts())
    calm.end()
    kills = 0
    compared = set[object]()
    for mode in modes:
        for at, call in enumerate(calls, 1):
            which = kills if always else (mode, call)
            trial = Trial(kind, compare=which not in compared)
            compared.add(which)
            with _saying(f"{kind} {mode} {at}"):
                trial.write(Killer(at, mode))
                assert not trial.acked
                trial.look()
                trial.check(after)
            trial.end()
            kills += 1
    return {"kills": kills, "compared": len(compared)}


@contextmanager
def _saying(what: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        print(what, file=sys.stderr)
        raise


# -- with a person, and more than one death --------------------------------------------------------


class Person:
    """Adds a line to the note, in place or by rename; what it saved must be there in the end.
    Where files cannot be exchanged in one step, only what is saved in place is safe."""

    def __init__(self, root: Path, chance: random.Random, renames: bool) -> None:
        self.note, self.chance, self.renames = root / kit.NOTE, chance, renames
        self.log = root / "saved.txt"

    def save(self) -> None:
        name = f"- A person's line number {len(self.lines())}."
        text = self.note.read_text().replace("## User", f"{name}\n\n## User", 1)
        if not self.renames or self.chance.random() < 0.5:
            self.note.write_text(text)
        else:
            self.note.with_name("x.swp").write_text(text)
            self.note.with_name("x.swp").rename(self.note)
        with open(self.log, "a") as file:
            file.write(f"{name}\n")

    def lines(self) -> list[str]:
        return self.log.read_text().split("\n")[:-1] if self.log.exists() else []


MIXED = ("remember", "update", "forget", "retag", "move", "replace", "insert")


def mixed(seed: int, compare: bool) -> bool:
    """A person saves once or twice while Brain writes and is killed, and so is the process that
    recovers. Return True if the writer was killed."""
    chance = random.Random(seed)
    kind = chance.choice(MIXED)
    trial = Trial(kind, compare)
    trial.atomic = chance.random() < 0.8
    person = Person(trial.root, chance, renames=trial.atomic)
    killer = Killer(chance.randrange(1, 45), chance.choice(MODES))
    for at in chance.sample(range(1, 30), chance.choice([1, 1, 2, 3])):
        killer.acts[at] = person.save
    trial.write(killer)
    for _ in range(chance.choice([0, 0, 1, 2])):
        again = Killer(chance.randrange(1, 40), chance.choice(MODES))
        if chance.random() < 0.3:
            again.acts[chance.randrange(1, 20)] = person.save
        trial.absorb(again)
        trial.look()
    with _saying(f"mixed {seed}: {kind} {vars(killer)}"):
        _all_there(trial, person, kind)
    trial.end()
    return not trial.acked


def _all_there(trial: Trial, person: Person, kind: str) -> None:
    trial.check()
    text = (trial.root / kit.NOTE).read_text()
    have = Counter(text.split("\n"))
    for line in person.lines():
        assert have[line] == 1, (line, have[line], text)
    gone = {"update": kit.A, "replace": kit.B, "forget": kit.B, "retag": kit.C, "move": ""}
    for line in kit.MEMORY.split("\n"):
        if line.strip() and (gone.get(kind) or "-") not in line:
            assert have[line] == 1, (line, text)
    wanted = {"remember": "A new thing 1", "update": "Chose DuckDB 1", "retag": "#t1",
              "replace": "Deploys on day 1", "insert": "Was here before 1"}  # fmt: skip
    if kind in wanted:
        assert text.count(wanted[kind]) == trial.promised, (wanted[kind], text)
    if kind == "forget":
        assert text.count(f"^{kit.B}") == (not trial.promised), text


def main() -> None:
    what, *rest = sys.argv[1:]
    always = "all" in rest
    rest = [word for word in rest if word != "all"]
    if what == "sweep":
        modes = MODES if always else ("before", "torn")
        print(json.dumps({kind: sweep(kind, modes, always) for kind in rest}))
    else:
        first, count = map(int, rest)
        seeds = range(first, first + count)
        killed = sum(mixed(seed, always or seed % 4 == 0) for seed in seeds)
        print(json.dumps({"killed": killed}))


if __name__ == "__main__":
    main()
