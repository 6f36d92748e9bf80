"""An editor window with its own buffer, and the ways in which editors save."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.store.sim.oracle import tokens

if TYPE_CHECKING:
    from tests.store.sim.world import Step, World

STYLES = ("place", "torn", "rename", "backup", "fd")


class Window:
    """A window. It knows the file only by what it loaded; its buffer may be stale.

    `removed` and `wanted` are lines that its person deleted or restored since the last save,
    `gone` are those whose deletion it has saved since it loaded the note.
    """

    def __init__(self, world: World, name: str, style: str) -> None:
        self.world, self.name, self.style = world, name, style
        self.lines: list[str] | None = None
        self.dirty = False
        self.since = world.now  # of the last load or save
        self.fd: int | None = None
        self.rest: bytes | None = None  # the part of a torn save that is not written yet
        self.past: list[list[str]] = []  # for undo
        self.removed: set[str] = set()
        self.wanted: set[str] = set()
        self.gone: set[str] = set()
        self.deleted: set[str] = set()  # everything its person ever deleted and did not restore
        self.cut = ""  # the line that its person deleted last

    def __repr__(self) -> str:
        return self.name

    # -- the buffer

    def load(self) -> None:
        if self.rest is not None or (text := self.world.read()) is None:
            return
        self.close()
        self.lines, self.past, self.dirty = text.split("\n"), [], False
        self.removed, self.wanted, self.gone = set(), set(), set()
        self.since = self.world.now
        if self.style == "fd":  # opened for reading and writing, as long as it is edited
            self.fd = os.open(self.world.path, os.O_RDWR)

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def places(self) -> list[int]:
        return [i for i, line in enumerate(self.lines or ()) if tokens(line)]

    def type(self, line: str, at: int) -> None:
        if self.lines is not None:
            self._edit([*self.lines[:at], line, *self.lines[at:]])

    def reword(self, token: str, line: str) -> None:
        if (at := self._find(token)) is not None:
            self._edit([*self.lines[:at], line, *self.lines[at + 1 :]])

    def delete(self, token: str) -> None:
        if (at := self._find(token)) is not None:
            self.cut = self.lines[at]
            self._edit([*self.lines[:at], *self.lines[at + 1 :]])

    def paste(self, at: int) -> None:
        """Insert the line that was deleted last, perhaps after other saves and a reload."""
        if self.lines is not None and self.cut and self.cut not in self.lines:
            self._edit([*self.lines[:at], self.cut, *self.lines[at:]])

    def move(self, token: str, to: int) -> None:
        if (at := self._find(token)) is not None:
            rest = [*self.lines[:at], *self.lines[at + 1 :]]
            self._edit([*rest[:to], self.lines[at], *rest[to:]])

    def undo(self) -> None:
        """Undo the last edit, also across a save."""
        if self.past and self.rest is None:
            self._edit(self.past.pop(), undo=True)

    def _find(self, token: str) -> int | None:
        return next((i for i in self.places() if token in tokens(self.lines[i])), None)

    def _edit(self, lines: list[str], undo: bool = False) -> None:
        if self.rest is not None:
            return  # it is saving
        before, after = set(tokens("\n".join(self.lines))), set(tokens("\n".join(lines)))
        if not undo:
            self.past.append(self.lines)
        gone, came = before - after, after - before
        self.wanted = self.wanted - gone | came - self.removed
        self.removed = self.removed - came | gone
        self.deleted = self.deleted - came | gone
        self.lines, self.dirty = lines, True

    # -- saving

    def save(
        self, keep: bool = False, gap: list[Step] | None = None, unchanged: bool = False
    ) -> None:
        """Save the buffer. `keep`: leave the descriptor open. `gap`: steps that happen while the
        name of the note is missing. `unchanged`: save also what has not changed."""
        world = self.world
        if self.lines is None or world.torn or not (self.dirty or unchanged):
            return
        text = "\n".join(self.lines)
        if self.style in ("rename", "backup"):
            world.replace(self, text, backup=self.style == "backup", gap=gap)
        elif self.style == "torn":
            if not os.path.exists(world.path):
                return
            self.fd = os.open(world.path, os.O_WRONLY)
            file = world.file(self.fd)
            world.oracle.begin(self, file, text)
            os.ftruncate(self.fd, 0)
            world.changed(file)
            self.rest, world.torn = text.encode(), self
            world.log(f"{self} begins to save in place")
            return
        else:
            if self.fd is None:
                if not os.path.exists(world.path):
                    return
                self.fd = os.open(world.path, os.O_RDWR)
            file, data = world.file(self.fd), text.encode()
            world.oracle.begin(self, file, text)
            os.pwrite(self.fd, data, 0)
            os.ftruncate(self.fd, len(data))
            world.changed(file)
            world.saved(self, file, text)
            if self.style == "place" or not keep:
                self.close()
            return self._saved(file.reachable)
        return self._saved()

    def part(self, size: int) -> None:
        """Write a part of a torn save. The last part ends it."""
        if self.rest is None:
            return
        world, file = self.world, self.world.file(self.fd)
        os.write(self.fd, self.rest[:size])
        self.rest = self.rest[size:]
        world.changed(file)
        if not self.rest:
            self.rest, world.torn = None, None
            world.saved(self, file, "\n".join(self.lines))
            self.close()
            self._saved(file.reachable)

    def _saved(self, reachable: bool = True) -> None:
        """Record a save. To a file that was replaced, it is not the end of the changes: the next
        save has them, too."""
        self.dirty, self.since = False, self.world.now
        if not reachable:
            return
        self.gone = (self.gone | self.removed) - self.wanted
        self.removed, self.wanted = set(), set()
