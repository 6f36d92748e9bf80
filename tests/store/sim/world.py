"""The machine: a note, its files, three clocks, git, and Brain processes that may be killed."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from tests.store.sim.editors import Window
from tests.store.sim.oracle import (
    ADRIFT,
    EXPIRED,
    OPEN,
    REMOVED,
    REPLACED,
    REQUIRED,
    STILL,
    UNCERTAIN,
    UNGUARDED,
    File,
    Oracle,
    Read,
    entry,
    tokens,
)

Step = tuple[Any, ...]
DAY = 86_400.0
NOTE = "40_Brain/MEMORY.md"


class Crash(BaseException):
    """A Brain process is killed here."""


class Backend(Protocol):
    """One Brain process. The store's disk layer calls `world.before` and `world.after` around each
    of its calls, and takes clocks, times and file numbers from the world."""

    def remember(self, line: str, held: bool) -> bool: ...
    def update(self, id: str, line: str, held: bool) -> str | None: ...
    def forget(self, id: str, held: bool) -> str | None: ...
    def sync(self) -> bool: ...  # True if nothing is pending
    def head(self) -> str: ...  # what should be in the note; a window may have saved since
    def guarded(self) -> bool: ...
    def keeps(self, line: str) -> bool: ...  # in the journal, or in a version of the note


class Actor:
    """Something that replaces the file without a buffer: git, an append."""

    def __init__(self, name: str) -> None:
        self.name, self.since = name, float("inf")
        self.removed: set[str] = set()
        self.wanted: set[str] = set()
        self.gone: set[str] = set()

    def __repr__(self) -> str:
        return self.name


class World:
    """One note and everyone who uses it. `do` takes one step; `end` lets everything settle and
    returns the violations."""

    def __init__(
        self,
        folder: str,
        backend: Callable[[World], Backend],
        windows: dict[str, str],
        text: str,
        interrupt: Callable[[World], list[Step]] | None = None,
    ) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.moves = folder, 0
        os.makedirs(os.path.dirname(self.path))
        self.state = f"{folder}/state"
        self.now, self.wall, self.boot = 1000.0, 1e9, 0.0  # the offsets of the two clocks
        self.steps: list[Step] = []
        self.trace: list[str] = []
        self.files: dict[int, File] = {}
        self.numbers = 0
        self.torn: Window | None = None
        self.checkouts = 0
        self.committed: str | None = None  # the text that git checked out last
        self.oracle = Oracle(lambda: self.now)
        self.stats: Counter[str] = Counter()
        self.interrupt = interrupt
        self.calls, self.plan, self.depth = 0, {}, 0
        self.missing_since = 0.0  # when the name of the note was free last
        self.reads: list[Read] = []  # not committed
        self.looks: list[File] = []  # seen first with a writer at work, and not committed
        self.asked: set[str] = set()  # lines of a crashed operation that may stay or go
        self.git, self.appender = Actor("git"), Actor("append")
        self.tip: set[str] = set()  # what Brain saw last
        with open(self.path, "w") as file:
            file.write(text)
        first = self.born(self.path)
        for line in text.split("\n"):
            if tokens(line):
                self.oracle.add(line, "person")
        self.oracle.finish(self.appender, first, text)
        self.past = [text]  # for git
        self.windows = {name: Window(self, name, style) for name, style in windows.items()}
        self.processes: dict[int, Backend] = {}
        self.running: Backend | None = None
        self.make = backend
        self.violations: list[tuple[str, str]] = []
        self._brain(0, {}, lambda process: process.sync())

    @property
    def path(self) -> str:
        return f"{self.root}/{NOTE}"

    @property
    def root(self) -> str:
        return f"{self.folder}/v{self.moves}"

    def log(self, *words: Any) -> None:
        self.trace.append(f"{self.now:11.2f}  " + " ".join(map(str, words)))

    # -- files, with virtual times

    def born(self, path: str) -> File:
        """Register a file that was created."""
        self.numbers += 1
        now = self.wall + self.now
        file = File(self.numbers, now, now, now)
        self.files[os.stat(path).st_ino] = file
        return file

    def file(self, where: str | int) -> File:
        return self.files[os.stat(where).st_ino]

    def changed(self, file: File) -> None:
        file.ctime = self.wall + self.now

    def text(self, path: str = "") -> str | None:
        """Return the text of a file. Leaves no trace."""
        try:
            with open(os.open(path or self.path, os.O_RDONLY | os.O_NOATIME)) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def read(self) -> str | None:
        """Read the note as other programs do: the access time follows, as with `relatime`."""
        if self.torn or (text := self.text()) is None:
            return None
        file, now = self.file(self.path), self.wall + self.now
        if file.atime <= file.ctime or now - file.atime > DAY:
            file.atime = now
        return text

    def saved(self, actor: Any, file: File, text: str, old: File | None = None) -> None:
        self.oracle.finish(actor, file, text, old)
        self.past.append(text)
        shown = sorted(actor.removed), "" if file.reachable else "(to a replaced file)"
        self.log(f"{actor} saved", " ".join(tokens(text)), "removed", *shown)

    def replace(
        self, actor: Any, text: str, backup: bool = False, gap: list[Step] | None = None
    ) -> None:
        """Save by rename, as editors, sync services and git do."""
        old = self.file(self.path) if os.path.exists(self.path) else None
        if old:
            self.oracle.begin(actor, old, text)
            if backup:
                os.rename(self.path, self.path + "~")
                self.changed(old)
                self.missing_since = self.now
            for step in gap or ():
                self.do(step, record=False)
        with open(self.path + ".swp", "w") as temp:
            temp.write(text)
        file = self.born(self.path + ".swp")
        os.rename(self.path + ".swp", self.path)
        if old:
            old.reachable = False
        self.saved(actor, file, text, old)

    # -- the disk layer of Brain calls these

    def before(self, name: str) -> None:
        self._call(name, "before")

    def after(self, name: str, path: str = "", other: str = "", writer: bool = False) -> None:
        """Record a call of the disk layer: look, create, exchange, unlink, commit, other."""
        if name == "look":
            self._looked(path, writer)
        elif name == "create":
            self.born(path).tokens = set(tokens(self.text(path) or ""))
        elif name == "exchange":
            self._exchanged(path, other)
        elif name == "commit":
            self.reads, self.looks = [], []
            if self.running:
                self.oracle.guarded = self.running.guarded()
        self._call(name, "after")

    def unlinked(self, path: str) -> None:
        """Record that Brain is about to unlink a file."""
        file = self.file(path)
        for w in self.windows.values():
            if w.fd is not None and self.file(w.fd) is file:
                self.violations.append(("orphaned", f"{w} had {path} open"))
        file.reachable = False

    def _looked(self, path: str, writer: bool) -> None:
        if not os.path.exists(path):
            return
        file = self.file(path)
        if path == self.path and not writer:
            self.tip = set(tokens(self.text() or ""))
        if writer and file.looked_at is None:
            file.looked_at = self.now
            self.looks.append(file)
        if not writer or (not self.torn and self.now - file.looked_at >= STILL):
            self.reads.append(self.oracle.read(file))

    def _exchanged(self, temp: str, path: str) -> None:
        new, old = self.file(path), self.file(temp)
        for file in (new, old):
            self.changed(file)
        old.displaced, text = True, self.text(path) or ""
        if not any(w.fd is not None and self.file(w.fd) is old for w in self.windows.values()):
            self.oracle.read(old)  # nobody can write to it any more, so Brain reads it
        self.oracle.wrote(new, text)
        self.tip = set(tokens(text))
        self.past.append(text)
        self.log("brain wrote", " ".join(tokens(text)))

    def _call(self, name: str, when: str) -> None:
        self.calls += 1
        if self.depth != 1 or self.calls not in self.plan:
            return
        steps = self.plan[self.calls]
        if steps is None:
            steps = self.plan[self.calls] = self.interrupt(self) if self.interrupt else []
        for step in steps:
            if step == ("kill",):
                self.log(f"brain is killed {when} {name}")
                raise Crash(name)
            self.log(f"{when} {name}:")
            self.depth += 1
            try:
                self.do(step, record=False)
            finally:
                self.depth -= 1

    # -- Brain processes

    def _brain(
        self, number: int, plan: dict[int, Any], operation: Callable[[Backend], Any]
    ) -> tuple[bool, Any]:
        """Run an operation in a process. Return whether it was acknowledged, and its result."""
        if self.depth:
            return False, None  # another process has the lock
        self.depth, self.calls, self.plan, self.reads, self.looks = 1, 0, plan, [], []
        try:
            if number not in self.processes:
                self.processes[number] = self.make(self)
            self.running = self.processes[number]
            result = operation(self.running)
        except Crash:
            for read in self.reads:
                there = os.path.exists(self.path)
                self.oracle.forget(read, self.file(self.path) if there else None)
            for file in self.looks:
                file.looked_at = None
            del self.processes[number]
            self.stats["crashes"] += 1
            return False, None
        finally:
            self.depth, self.running = 0, None
            self.plan = {k: steps for k, steps in plan.items() if steps}
            plan.clear()
            plan.update(self.plan)
        if self.asked and result is True:  # nothing is pending
            there = set(tokens(self.processes[number].head()))
            for t in sorted(self.asked):
                self.oracle.set(t, REQUIRED if t in there else REMOVED, "settled after a crash")
            self.asked = set()
        return True, result

    def do_sync(self, number: int, plan: dict[int, Any]) -> None:
        self.log("brain sync")
        self._brain(number, plan, lambda process: process.sync())

    def do_remember(self, number: int, line: str, held: bool, plan: dict[int, Any]) -> None:
        if self.depth:
            return
        t = self.oracle.add(line, "agent")
        self.log("brain remember", t, "held" if held else "")
        self.oracle.set(t, UNCERTAIN, "asked for by an agent")
        self.oracle.flight = {t}
        done, _ = self._brain(number, plan, lambda process: process.remember(line, held))
        self.oracle.flight = set()
        if done:
            self.oracle.promised(None, t)

    def do_update(self, number: int, id: str, line: str, held: bool, plan: dict[int, Any]) -> None:
        self._change(number, id, line, held, plan)

    def do_forget(self, number: int, id: str, held: bool, plan: dict[int, Any]) -> None:
        self._change(number, id, "", held, plan)

    def _change(self, number: int, id: str, line: str, held: bool, plan: dict[int, Any]) -> None:
        if self.depth:
            return
        new = tokens(line)[0] if line else None
        ours = [t for t in self.oracle.required() if f"^{id}" in self.oracle.lines[t].text]
        if new:
            parent = ours[-1] if len(ours) == 1 else None
            self.oracle.add(line, "agent", parent)
            self.oracle.set(new, UNCERTAIN, "asked for by an agent")
        for t in ours:
            self.oracle.set(t, UNCERTAIN, "asked for by an agent")
        self.oracle.flight = {*ours, *([new] if new else [])}
        before = dict.fromkeys(ours, REQUIRED)
        self.log("brain update" if new else "brain forget", id, new or "", "held" if held else "")
        done, old = self._brain(
            number,
            plan,
            lambda p: p.update(id, line, held) if line else p.forget(id, held),
        )
        self.oracle.flight = set()
        if not done:
            self.asked |= set(ours)
            return
        for t, status in before.items():
            if self.oracle.status[t] == UNCERTAIN:
                self.oracle.set(t, status, "not changed by the agent")
        if old:
            gone = tokens(old)[0]
            if new:
                self.oracle.lines[new].parent = gone
            self.oracle.promised(gone, new)

    # -- steps of others

    def do(self, step: Step, record: bool = True) -> None:
        if record:
            self.steps.append(step)
        name, *rest = step
        if name in ("type", "reword"):
            self.oracle.add(rest[-1 if name == "reword" else 1], "person", self._parent(step))
        if hasattr(self, "do_" + name):
            getattr(self, "do_" + name)(*rest)
        else:
            getattr(self.windows[rest[0]], name)(*rest[1:])
            if name not in ("save", "part"):
                self.log(rest[0], name, *(tokens(str(a)) or a for a in rest[1:]))

    def _parent(self, step: Step) -> str | None:
        return step[2] if step[0] == "reword" else None

    def do_wait(self, seconds: float) -> None:
        self.now += seconds

    def do_jump(self, seconds: float) -> None:
        """The wall clock is set."""
        self.wall += seconds
        self.log("the clock is set by", seconds)

    def do_reboot(self) -> None:
        self.boot = self.now
        self.processes.clear()
        for file in self.files.values():
            file.looked_at = None  # Brain counts from the start of the machine
        self.log("reboot")

    def do_relocate(self) -> None:
        """The vault is moved."""
        if self.depth or self.torn:
            return
        old, self.moves = self.root, self.moves + 1
        os.rename(old, self.root)
        self.processes.clear()
        self.log("the vault is moved")

    def do_read(self) -> None:
        """A program that only reads: an indexer, a backup."""
        self.read()

    def do_append(self, line: str) -> None:
        if self.torn or (text := self.text()) is None:
            return
        self.oracle.add(line, "person")
        new = text + ("" if text.endswith("\n") or not text else "\n") + line + "\n"
        with open(self.path, "a") as file:
            file.write(new[len(text) :])
        file = self.file(self.path)
        self.changed(file)
        keep = {t for t in tokens(text) if self.oracle.status.get(t) != REMOVED}
        self.oracle.finish(self.appender, file, new)
        self.past.append(new)
        self.log("append", *tokens(line), "to", len(keep))

    def do_checkout(self, back: int) -> None:
        """git brings back an older text. Whatever was in the note gives way."""
        if self.torn or (there := self.text()) is None:
            return
        text = self.past[-min(back, len(self.past))]
        new = set(tokens(text))
        known = {t for t in self.tip if self.oracle.status.get(t) == REQUIRED}
        self.git.removed = (set(tokens(there)) | known) - new
        self.git.wanted = new - set(tokens(there))
        self.checkouts, self.committed = self.checkouts + 1, text
        self.log("git checkout")
        self.replace(self.git, text)

    def do_commit(self) -> None:
        """git commits what is there. No file changes."""
        self.log("git commit")

    # -- the end

    def end(self) -> list[tuple[str, str]]:
        """Let every window finish and Brain sync. Return what is wrong."""
        self.interrupt = None
        if self.torn:
            self.torn.part(1 << 30)
        for w in self.windows.values():
            w.close()
        for _ in range(4):
            self.now += 20
            self.do_sync(0, {})
        text = self.text() or ""
        there, out = Counter(tokens(text)), self.violations
        missing = self.oracle.missing(there)
        for kind, t in missing:
            if kind != "gave way" and t in self.oracle.mixed:
                self.stats[kind + ", two writers between two looks"] += 1
        out += missing
        out += [
            ("not restorable", t)
            for _, t in missing
            if not self.processes[0].keeps(self.oracle.lines[t].text)
        ]
        returned = [t for t, s in self.oracle.status.items() if s == REMOVED and there[t]]
        out += [("came back for good", t) for t in returned]
        out += [("doubled", t) for t, n in there.items() if n > 1]
        whole = {line.text for line in self.oracle.lines.values()} | {"", "# Memory"}
        whole |= {"# Agent Memory", "## Memory"}  # Brain's, in a note that was deleted
        whole |= {line.split(" ^")[0] for line in whole}  # a rival wording loses its id
        out += [("torn", line) for line in text.split("\n") if line not in whole]
        names = os.listdir(os.path.dirname(self.path))
        out += [("temporary file left", n) for n in names if n.startswith(".brain-")]
        required = self.oracle.required()
        self.stats["runs"] += 1
        self.stats["agent lines"] += self.oracle.agent_lines
        self.stats["lines"] += len(required)
        self.stats["came back once"] += len(self.oracle.returned)
        excuses = Counter(self.oracle.status.values())
        for why in (REPLACED, OPEN, UNGUARDED, ADRIFT, EXPIRED):
            self.stats[why] += excuses[why]
        out += self._delete_again(returned)
        return out

    def _delete_again(self, returned: list[str]) -> list[tuple[str, str]]:
        """Let people delete twice what came back. It has to be gone then."""
        for _ in range(2):
            for w in self.windows.values():
                w.load()
                mine = [t for t in returned if t in w.deleted and w._find(t) is not None]
                for t in mine:
                    w.delete(t)
                if mine:
                    self.now += 3
                    w.save()
                    if self.torn:
                        self.torn.part(1 << 30)
                w.close()
                for wait in (8, 30):
                    self.now += wait
                    self.do_sync(0, {})
        there = tokens(self.text() or "")
        deleted = {t for w in self.windows.values() for t in w.deleted}
        return [("deleted twice and back", t) for t in returned if t in deleted and t in there]

    def entries(self) -> list[str]:
        """Return the ids of the agents' entries, as they appear after `^`."""
        agents = [t for t, line in self.oracle.lines.items() if t[0] == "a"]
        return sorted({entry(t) for t in agents}, key=lambda e: int(e[1:]))
