"""A memory note on a desk: a real store and real files in virtual time, and people who save."""

from __future__ import annotations

import os
from pathlib import Path

from brain.config import Config
from brain.journal.writer import Journal
from brain.model import Add, Remove, Update, Write
from brain.state import State
from brain.store.store import Outcome, Store
from brain.vault import layout
from brain.vault.exchange import Disk, Look

PATH = "40_Brain/MEMORY.md"
TEXT = "# M\n\n- one\n- two\n"


class VirtualDisk(Disk):
    """Real files with the times of a virtual clock, and no waiting for the disk."""

    def __init__(self, start: float = 1_000_000.0) -> None:
        self.start = start
        self.time = 0.0  # uptime
        self.offset = start  # what the wall clock is ahead of it
        self.saved: dict[int, float] = {}  # when each file was changed, by inode
        self.reads: dict[int, int] = {}  # how often others read each file, by inode
        self.leases = self.shows_reads = True
        self.missing_since: float | None = None

    def look(self, path: str) -> Look | None:
        found = super().look(path)
        if found is None:
            return None
        inode = int(found.identity.split()[0])
        changed = self.saved.get(inode, self.start)
        return found._replace(
            modified=changed,
            changed=changed,
            accessed=self.reads.get(inode, 0),
            stamp="",  # always look
            has_writer=found.has_writer if self.leases else None,
            shows_reads=self.shows_reads,
        )

    def create(self, path: str, data: bytes, like: Look | None = None) -> tuple[str, int]:
        with open(path, "xb") as file:
            file.write(data)
        inode = os.stat(path).st_ino
        self.saved[inode], self.reads[inode] = self.now(), 0
        found = super().look(path)
        assert found is not None
        return found.identity, 0

    def sync_folder(self, folder: str) -> None:
        pass

    def now(self) -> float:
        return self.offset + self.time

    def uptime(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def missing_for(self, path: str) -> float:
        return self.time - self.missing_since if self.missing_since is not None else 0.0


class Desk:
    """One memory note, the store of its vault, and editors."""

    def __init__(self, folder: Path, text: str = TEXT, disk: VirtualDisk | None = None) -> None:
        self.disk = disk or VirtualDisk()
        self.root, self.state_home = folder / "vault", folder / "state"
        self.note = self.root / PATH
        self.note.parent.mkdir(parents=True)
        self.note.write_text(text)
        self.count = 0
        self.git = ""

    def store(self) -> Store:
        """A store of a new process."""
        vault = layout.find(self.root, self.state_home)
        state = State(vault.state_path)
        journal = Journal(vault.folder, state)
        store = Store(vault, Config(holdSeconds=0), journal, state, self.disk)
        return store

    def wait(self, seconds: float) -> None:
        self.disk.time += seconds

    def apply(self, op: str, change: Add | Update | Remove) -> Outcome:
        store = self.store()
        with store.locked():
            store.absorb()
            (outcome,) = store.apply([Write(op, change.ref, change)])
        store.state.close()
        return outcome

    def remember(self, text: str, section: str = "M") -> str:
        self.count += 1
        ref = f"m-{self.count:08d}"
        self.apply("remember", Add(PATH, ref, text, section))
        return ref

    def update(self, ref: str, text: str) -> None:
        self.apply("update", Update(PATH, ref, text))

    def forget(self, ref: str) -> None:
        self.apply("forget", Remove(PATH, ref))

    def sync(self, after: float = 0.0) -> None:
        self.wait(after)
        store = self.store()
        store.absorb()
        store.state.close()

    # -- people ------------------------------------------------------------------------------------

    def read(self) -> str:
        """Read the note as an editor does: the access time changes."""
        inode = os.stat(self.note).st_ino
        self.disk.reads[inode] = self.disk.reads.get(inode, 0) + 1
        return self.note.read_text()

    @property
    def text(self) -> str:
        return self.note.read_text()

    def save(self, text: str, how: str = "in place") -> None:
        if how == "in place":
            self.note.write_text(text)
        else:
            temp = self.note.with_suffix(".swp")
            temp.write_text(text)
            temp.rename(self.note)
        self.stamp(self.note)

    def stamp(self, path: Path) -> None:
        self.disk.saved[os.stat(path).st_ino] = self.disk.now()

    def save_through(self, handle: int, text: str) -> None:
        """Save through a descriptor that was opened earlier, and close it."""
        data = text.encode()
        os.pwrite(handle, data, 0)
        os.ftruncate(handle, len(data))
        self.disk.saved[os.fstat(handle).st_ino] = self.disk.now()
        os.close(handle)

    def left(self) -> list[str]:
        """The temporary files next to the note."""
        return [name for name in os.listdir(self.note.parent) if name.startswith(".brain-")]
