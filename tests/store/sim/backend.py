"""The real store behind the simulator's interface: real files and state.db, virtual time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brain.config import Config
from brain.errors import NotFound
from brain.journal.writer import Journal
from brain.model import Add, Change, NewRecord, Record, Remove, Update, Write
from brain.state import NoteRow, State
from brain.store.merge import unit_id
from brain.store.note import Note
from brain.store.store import Store
from brain.vault import layout
from brain.vault.exchange import Disk, Look
from brain.vault.files import MISSING
from tests.store.sim.oracle import File
from tests.store.sim.world import NOTE, Crash

if TYPE_CHECKING:
    from tests.store.sim.world import World

ID = "v-simulated000"
RECENT = 0.1  # seconds in which a file may be touched again without another time


def _stamp(file: File) -> str:
    return f"{file.number} {file.ctime}"


class VirtualDisk(Disk):
    """Real files with the times of the world. Each call may be the last one of its process."""

    def __init__(self, world: World) -> None:
        self.world = world

    def look(self, path: str) -> Look | None:
        self.world.before("look")
        found = super().look(path)
        if found:
            file = self.world.file(path)
            found = found._replace(
                identity=str(file.number), born=file.born, modified=file.ctime, changed=file.ctime,
                accessed=int(file.atime * 1e9), shows_reads=True,
                stamp=_stamp(file) if self.now() - file.ctime >= RECENT else "",
            )  # fmt: skip
        self.world.after("look", path, writer=bool(found and found.has_writer))
        return found

    def is_committed(self, path: str, found: Look, unknown: bool = True) -> bool:
        return found.data.decode() == self.world.committed

    def differs_since(self, path: str, commit: str) -> bool:
        return True

    def stamp(self, path: str) -> str:
        return _stamp(self.world.file(path)) if os.path.exists(path) else MISSING

    def create(self, path: str, data: bytes, like: Look | None = None) -> tuple[str, int]:
        self.world.before("create")
        with open(path, "xb") as file:
            file.write(data[: len(data) // 2])
            self.world.before("write")
            file.write(data[len(data) // 2 :])
        self.world.after("create", path)
        made = self.world.file(path)
        made.atime = made.ctime - 1
        return str(made.number), int(made.atime * 1e9)

    def rename(self, old: str, new: str) -> None:
        self.world.before("rename")
        super().rename(old, new)
        self.world.after("rename")

    def exchange(self, temp: str, path: str) -> None:
        self.world.before("exchange")
        super().exchange(temp, path)
        self.world.after("exchange", temp, path)

    def unlink(self, path: str) -> None:
        self.world.before("unlink")
        if os.path.exists(path) and os.stat(path).st_ino in self.world.files:
            self.world.unlinked(path)
        super().unlink(path)
        self.world.after("unlink")

    def sync_folder(self, folder: str) -> None:
        self.world.before("sync")

    def now(self) -> float:
        return self.world.wall + self.world.now

    def uptime(self) -> float:
        return self.world.now - self.world.boot

    def sleep(self, seconds: float) -> None:
        """Let time pass, in which a save in place comes to its end."""
        self.world.now += seconds
        if self.world.torn:
            self.world.torn.part(1 << 30)

    def missing_for(self, path: str) -> float:
        return self.world.now - self.world.missing_since  # nobody deletes it for good here


class SimulatedState(State):
    """state.db that does not wait for the disk, and tells of each commit."""

    world: World

    @contextmanager
    def transaction(self, durable: bool = False) -> Iterator[None]:
        if self._db is not None and self._db.in_transaction:
            with super().transaction():
                yield
            return
        with super().transaction():
            yield
            self.world.before("commit")
        self.world.after("commit")


class SimulatedJournal(Journal):
    def append(self, records: Sequence[NewRecord], durable: bool = True) -> list[Record]:
        return super().append(records, durable=False)


class SimulatedStore(Store):
    """A store that holds a write if the simulator says so."""

    held = False

    def _hold(self, note: Note) -> str:
        if self.held and not note.wait:
            note.wait = "held"
        return super()._hold(note)


class Process:
    """One Brain process."""

    def __init__(self, world: World) -> None:
        self.world = world
        folder = f"{world.root}/40_Brain"
        if not os.path.exists(f"{folder}/brain.yaml"):
            with open(f"{folder}/brain.yaml", "w") as file:
                file.write(f"vaultId: {ID}\n")
            os.makedirs(f"{world.root}/.git/logs")
        paths = layout.find(world.root, world.state)
        layout.claim(paths.state_path, world.root, ID)
        state = SimulatedState(paths.state_path)
        state.world = world
        journal = SimulatedJournal(paths.folder, state)
        config = Config(holdSeconds=0)
        self.store = SimulatedStore(paths, config, journal, state, VirtualDisk(world))

    def _git(self) -> None:
        """Let git's record of moves say what the world says."""
        with open(f"{self.world.root}/.git/HEAD", "w") as head:
            head.write("0" * 40)
        path = f"{self.world.root}/.git/logs/HEAD"
        line = f"a b me 0 +0000\tcheckout: {self.world.checkouts}\n"
        with open(path, "a+") as log:
            log.seek(0)
            if line not in log.read():
                log.write(line)

    @contextmanager
    def _running(self) -> Iterator[Store]:
        self._git()
        try:
            yield self.store
        except Crash:
            self.store.state.close()
            raise

    def _apply(self, op: str, change: Change, held: bool) -> bool:
        with self._running() as store, store.locked():
            store.absorb()
            self.store.held = held
            try:
                (outcome,) = store.apply([Write(op, change.ref, change)])
            finally:
                self.store.held = False
            return outcome.state == "written"

    def remember(self, line: str, held: bool) -> bool:
        text, _, id = line.removeprefix("- ").rpartition(" ^")
        return self._apply("remember", Add(NOTE, id, text, "Memory"), held)

    def _change(self, op: str, change: Change, held: bool) -> str | None:
        with self._running() as store, store.locked():
            store.absorb()
            before = store.note(NOTE).head
            there = [unit for unit in before if unit_id(unit) == f"^{change.ref}"]
            if len(there) != 1:
                return None
            try:
                self._apply(op, change, held)
            except NotFound:
                return None
            return there[0]

    def update(self, id: str, line: str, held: bool) -> str | None:
        text, _, _ = line.removeprefix("- ").rpartition(" ^")
        return self._change("update", Update(NOTE, id, text), held)

    def forget(self, id: str, held: bool) -> str | None:
        return self._change("forget", Remove(NOTE, id), held)

    def sync(self) -> bool:
        with self._running() as store:
            if not store.state.rows(NoteRow):
                with store.locked():  # as if Brain had written to the note before
                    store.note(NOTE).save()
            store.absorb()
        return not self.store.pending()

    def head(self) -> str:
        return self.store._load(NOTE).text

    def guarded(self) -> bool:
        return bool(self.store.state._fetch("SELECT 1 FROM guards LIMIT 1"))

    def keeps(self, line: str) -> bool:
        """Return True if a line can be restored: from a version of the note, or from the journal by
        `undo`."""
        history = self.store._load(NOTE).history
        if history and any(line in version.units for version in history.versions):
            return True
        journal = Path(f"{self.world.root}/40_Brain/journal")
        return any(line in path.read_text() for path in journal.rglob("*.jsonl"))
