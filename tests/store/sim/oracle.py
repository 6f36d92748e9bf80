"""The oracle: it records every save, and knows which lines may be missing.

A line is required from the save, or the acknowledged operation, that brought it. It may be missing
only if

- an actor who had it in its buffer removed it (`removed`),
- it was replaced before Brain could read it: Brain did not look between the save that brought it
  and the save of another actor that overwrote it (`replaced`),
- one editor overwrote another's line while nothing was guarded (`unguarded`),
- a window overwrote it that had not loaded or saved the note for seven days (`expired`).

Anything else that is missing is lost. Whoever saves an old text with a line that is gone does not
bring it back. A line that was removed, and whose return was replaced before Brain read it, is still
removed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r"\(([pa]\d+\.\d+)\)")
REQUIRED, REMOVED, UNCERTAIN = "required", "removed", "uncertain"
REPLACED = "replaced before Brain read it"
OPEN = "replaced while its writer kept the file open"
UNGUARDED = "overwritten by another editor while nothing was guarded"
ADRIFT = "saved to a file that another program had replaced"
EXPIRED = "overwritten by a window that is older than the history"
AGE = 7 * 86_400.0  # how long versions and guards are kept
STILL = 10.0  # seconds after which a text counts although a writer has the file open


def tokens(text: str) -> list[str]:
    """Return the tokens of the lines, in order. A token names one wording of one entry."""
    return TOKEN.findall(text)


def entry(token: str) -> str:
    return token.split(".")[0]


@dataclass
class File:
    """A file as the oracle and the virtual clocks know it."""

    number: int
    born: float
    ctime: float
    atime: float
    tokens: set[str] = field(default_factory=set)
    unread: dict[str, tuple[Any, int]] = field(default_factory=dict)  # brought and not yet read
    unheard: dict[str, tuple[Any, int]] = field(default_factory=dict)  # removed, and not yet read
    writers: set[str] = field(default_factory=set)  # since Brain read it
    batch: set[str] = field(default_factory=set)  # the lines that they brought or took
    reachable: bool = True
    displaced: bool = False  # by a write of Brain
    looked_at: float | None = None  # when Brain first saw this text, with a writer at work


@dataclass
class Read:
    """What Brain read of a file for the first time."""

    file: File
    unread: dict[str, tuple[Any, int]]
    unheard: dict[str, tuple[Any, int]]


@dataclass
class Line:
    text: str
    author: str  # "agent" or "person"
    parent: str | None  # the wording that it replaced


class Oracle:
    def __init__(self, now: Any) -> None:
        self.now = now
        self.lines: dict[str, Line] = {}
        self.status: dict[str, str] = {}
        self.guarded = False
        self.event = 0
        self.source: dict[str, Any] = {}  # who brought each line last
        self.agent_lines = 0
        self.mixed: set[str] = set()  # lines that Brain saw after two writers at once
        self.flight: set[str] = set()  # lines of the operation that runs
        self.returned: Counter[str] = Counter()
        self.taken: dict[str, Any] = {}  # removals that were overwritten unread, and whose
        self.before: dict[str, str] = {}  # the status of each line before it was saved last
        self.dropped: set[str] = set()  # by an agent
        self.fate: dict[str, list[str]] = {}  # the chain of events of each line

    def add(self, line: str, author: str, parent: str | None = None) -> str:
        token = tokens(line)[0]
        self.lines.setdefault(token, Line(line, author, parent))
        return token

    def set(self, token: str, status: str, why: str) -> None:
        self.status[token] = status
        self.fate.setdefault(token, []).append(f"{self.now():.2f} {status}: {why}")

    # -- saves

    def begin(self, actor: Any, file: File, text: str) -> None:
        """Record that an actor is about to overwrite a file."""
        new = set(tokens(text))
        for t in sorted(file.tokens - new - actor.removed):
            brought = file.unread.get(t)
            if brought and brought[0] is not actor:
                self._replaced(t, OPEN if file.looked_at is not None else REPLACED, f"by {actor}")
            elif not self.guarded and self.source.get(t) != "agent":
                self.set(t, UNGUARDED, f"by {actor}")
            elif self.now() - actor.since > AGE:
                self.set(t, EXPIRED, f"by {actor}")
            elif self.status.get(t) == REQUIRED:
                self.fate[t].append(f"{self.now():.2f} overwritten by {actor}")
        for t in sorted(file.tokens & new & file.unread.keys() - self.flight):
            if self.status[t] == REQUIRED:
                self._replaced(t, REPLACED, f"by {actor}, who has not finished")
        file.looked_at = None

    def finish(self, actor: Any, file: File, text: str, old: File | None = None) -> None:
        """Record that a file holds the text that an actor saved. `old` is the file it replaced."""
        self.event += 1
        new, mark, old = set(tokens(text)), (actor, self.event), old or file
        if not file.reachable:
            for t in sorted(new):
                if self.status.get(t, ADRIFT) in (ADRIFT, REPLACED, OPEN):
                    self.set(t, ADRIFT, f"by {actor}")
            return
        unread = {t: by for t, by in old.unread.items() if t in new}
        unheard = {t: by for t, by in old.unheard.items() if t not in new}
        for t in sorted(actor.removed - new):
            self.set(t, REMOVED, f"by {actor}")
            unheard[t] = mark
        for t in sorted(actor.gone - new):
            if self.taken.get(t) is actor:
                self.set(t, REMOVED, f"by {actor}, again")
                unheard[t] = mark
        for t in sorted(new):
            status = self.status.get(t)
            if status in (REMOVED, UNGUARDED):  # Brain has seen that it went
                last = not self.guarded and not old.displaced  # the last editor decides
                brought = t in actor.wanted or t in old.unheard or last
                if t in old.unheard and t in self.dropped:
                    continue  # cut and pasted before Brain read it, and an agent removed it
                if t in old.unheard and t not in actor.wanted:
                    self.taken[t] = old.unheard[t][0]
                if not brought:
                    continue
            elif status == REQUIRED or t in self.flight:
                continue
            self.before[t] = status or ""
            self.set(t, REQUIRED, f"saved by {actor}")
            self.source[t] = actor
            unread.setdefault(t, mark)
        file.writers = old.writers | {repr(actor)}
        file.batch = old.batch | (new ^ old.tokens)
        file.tokens, file.unread, file.unheard = new, unread, unheard
        file.looked_at = None

    def _replaced(self, t: str, status: str, why: str) -> None:
        """Record that a line was replaced before Brain read it."""
        self.set(t, REMOVED if self.before.get(t) == REMOVED else status, why)

    # -- Brain

    def read(self, file: File) -> Read:
        """Record that Brain reads a file. Return what `forget` needs if it dies before a commit."""
        read = Read(file, file.unread, file.unheard)
        file.unread, file.unheard = {}, {}
        if len(file.writers) > 1:
            self.mixed |= file.batch
        file.writers, file.batch = set(), set()
        return read

    def forget(self, read: Read, note: File | None) -> None:
        """Record that Brain was killed before it committed what it had read. `note` is the file
        that is in its place now."""
        file = read.file if read.file.reachable or note is None else note
        for t, by in read.unread.items():
            if t in file.tokens:
                file.unread[t] = by
            elif self.status[t] == REQUIRED:
                self._replaced(t, REPLACED, "and the process that read it was killed")
        file.unheard.update({t: by for t, by in read.unheard.items() if t not in file.tokens})

    def wrote(self, file: File, text: str) -> None:
        """Record a write by Brain."""
        file.tokens = set(tokens(text))
        for t in sorted(file.tokens):
            if self.status.get(t) == REMOVED:
                self.returned[t] += 1
                self.fate[t].append(f"{self.now():.2f} came back")
            elif self.status.get(t) == UNCERTAIN and t not in self.flight:
                self.set(t, REQUIRED, "written after a crash")

    def promised(self, old: str | None, new: str | None) -> None:
        """Record an acknowledged change by an agent."""
        if new:
            self.set(new, REQUIRED, "by an agent")
            self.source[new] = "agent"
            self.agent_lines += old is None
        if old:
            self.set(old, REMOVED, "by an agent")
            self.dropped.add(old)

    # -- the verdict

    def required(self) -> list[str]:
        return [t for t, status in self.status.items() if status == REQUIRED]

    def rivals(self, token: str) -> list[str]:
        """Return a person's other wordings of the entry that were not made from this one, or that
        were made from it by someone who did not know that it had come back."""
        others = (t for t in self.status if entry(t) == entry(token) and t != token)
        mine = self._ancestors(token)
        return [t for t in others if self.lines[t].author == "person" and t not in mine]

    def _ancestors(self, token: str | None) -> set[str]:
        out: set[str] = set()
        while token and token not in out:
            out.add(token)
            token = self.lines[token].parent
        return out

    def missing(self, there: Counter[str]) -> list[tuple[str, str]]:
        """Return the required lines that are not there, each with its kind."""
        out = []
        for t in self.required():
            if there[t]:
                continue
            kept = [o for o in self.rivals(t) if there[o] or self.status[o] == REMOVED]
            if self.lines[t].author == "agent" and kept:
                out.append(("gave way", t))  # to a person's words for the same entry
            else:
                out.append(("agent line lost" if t[0] == "a" else "person line lost", t))
        return out
