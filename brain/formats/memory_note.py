"""A memory note while it is edited: its text, and where every entry is in it at any time.

Entries are found by one parse and followed through every splice; `check` parses again and compares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from brain.changes import Change, Done, Edited
from brain.errors import Refused
from brain.formats import frontmatter, memory_md
from brain.formats.entry_edit import anchored
from brain.formats.entry_md import parts
from brain.formats.outline import Outline, outline
from brain.formats.text import BOM, UNSAFE, decode, refused

ITEM = re.compile(r"([-*+]|(\d{1,9})([.)]))([ \t]+)(?=\S)")
RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t\r]*$")
_NESTED = re.compile(r"\n( {1,8}|\t)(?=[-*+] |\d{1,9}[.)] )")
_BULLET = re.compile(r"(?:\n|\A)([-*+])[ \t]+(?=\S)")


class Odd(Exception):
    """The edited text does not read as it should."""


class Piece:
    """An entry or passage and where it is now; `sure` if its ref must be found there."""

    __slots__ = ("end", "heading", "note", "ref", "start", "sure")

    def __init__(self, ref: str, start: int, end: int, heading: str, note: bool) -> None:
        self.ref, self.start, self.end = ref, start, end
        self.heading, self.note, self.sure = heading, note, False

    def copy(self) -> Piece:
        return Piece(self.ref, self.start, self.end, self.heading, self.note)


class Note:
    """A note while it is edited. Where entries are is followed through every splice."""

    def __init__(self, path: str, data: bytes, owner: str) -> None:
        self.path, self.owner = path, owner
        self.bom = BOM if data.startswith(BOM) else b""
        self.pieces: list[Piece] | None = None
        self.seen: Outline | None = None
        self._read = self.text = self._decode(data)
        self._marks: list[list[int]] = []
        self.gone: set[str] = set()  # the refs of what was removed

    def _decode(self, data: bytes) -> str:
        """Return the text of a note. Refused if no edit of it is safe."""
        text, problems = decode(data)
        self.check_length(text)
        for problem in problems:
            if problem.code in UNSAFE:
                raise refused(self.path, problem.line, problem.message)
        return text

    def check_length(self, text: str) -> None:
        limit = memory_md.MAX_CHARS, memory_md.MAX_LINES
        if len(text) > limit[0] or text.count("\n") > limit[1]:
            said = f"{self.path} is over {limit[0]:,} characters or {limit[1]:,} lines."
            raise Refused(said, "Split it into two notes.")

    # -- where everything is ---------------------------------------------------------------------

    def data(self) -> bytes:
        return self.bom + self.text.encode()

    def load(self) -> list[Piece]:
        """Where the entries are, from a parse if there was none yet."""
        if self.pieces is None:
            self.pieces = self.parsed()
        return self.pieces

    def parsed(self) -> list[Piece]:
        data = self.data()
        pieces = []
        at, place = len(self.bom), 0
        for chunk in memory_md.parse(data, self.owner).chunks:
            place += len(data[at : chunk.start].decode())
            start, at = place, chunk.start
            place += len(data[at : chunk.end].decode())
            at = chunk.end
            note = chunk.kind == "note"
            pieces.append(Piece(chunk.ref, start, place, chunk.heading, note))
        return pieces

    def check(self) -> None:
        """Is everything where it was put? Nothing to check if nothing changed, or only quick
        additions were made."""
        if self.pieces is None or self.text == self._read:
            return
        there, found = sorted(self.pieces, key=lambda piece: piece.start), self.parsed()
        if len(there) != len(found):
            raise Odd
        twins = []
        for mine, seen in zip(there, found, strict=True):
            same = (mine.start, mine.end, mine.heading, mine.note)
            if same != (seen.start, seen.end, seen.heading, seen.note):
                raise Odd
            if mine.sure and mine.ref != seen.ref:
                raise Odd
            if seen.ref in self.gone and seen.ref != mine.ref:
                twins.append(mine)
        if twins:
            self._tell_apart(twins)

    def _tell_apart(self, twins: list[Piece]) -> None:
        """Write the ids of entries that would come by the id of an equal one that was removed:
        else the same removal, carried out again, would take the next of them."""
        for twin in twins:
            entry = parts(self.raw(twin), self.prefix(twin))
            after = anchored(entry, twin.ref)
            self.splice(twin.start, twin.end, after)
            twin.end, twin.sure = twin.start + len(after), True
        self.check()

    def splice(self, start: int, stop: int, new: str) -> None:
        """Replace characters; every place behind them moves along."""
        self.text = self.text[:start] + new + self.text[stop:]
        shift = len(new) - (stop - start)
        for mark in self._marks:
            if mark[0] >= stop:
                mark[0] += shift
        for piece in self.pieces or ():
            if piece.start >= stop:
                piece.start += shift
                piece.end += shift

    def outline(self) -> Outline:
        if self.seen is None or self.seen.text is not self.text:
            self.seen = outline(self.text, frontmatter.split(self.text)[1])
        return self.seen

    def find(self, ref: str) -> Piece | None:
        return next((p for p in self.load() if p.ref == ref and not p.note), None)

    def previous(self, piece: Piece) -> str:
        """The ref of what stands before an entry in its section."""
        before = [p for p in self.load() if p.start < piece.start and p.heading == piece.heading]
        return max(before, key=lambda p: p.start).ref if before else ""

    # -- what became of it -----------------------------------------------------------------------

    def done(
        self,
        change: Change,
        outcome: str,
        at: int,
        before: str = "",
        after: str = "",
        section: str = "",
        previous: str = "",
    ) -> Done:
        self._marks.append([at])
        return Done(change, outcome, len(self._marks), before, after, section, previous)

    def edited(self, done: Sequence[Done]) -> Edited:
        """The new bytes; only now is it known on which line each entry came to stand."""
        self.check_length(self.text)
        out = []
        for one in done:
            line = self._line(self._marks[one.line - 1][0]) if one.line else 0
            out.append(one._replace(line=line))
        return Edited(self.data(), tuple(out))

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def refusal(self, change: Change) -> Refused:
        """Why a change cannot be made: the line of the entry, or of what hides the rest."""
        if piece := self.find(change.ref):
            line = self._line(piece.start)
            why = "cannot be changed without changing how other lines read"
            return refused(self.path, line, f"{why}; edit it by hand")
        return self._hidden()

    def _hidden(self) -> Refused:
        """What keeps an entry from being seen: nearly always something that is never closed."""
        last = self.load()[-1] if self.load() else None
        line = self._line(last.start) if last else 1
        if last and last.note and self.raw(last).lstrip().startswith(("```", "~~~")):
            said = "opens a code block that is never closed; close it"
        else:
            said = "leaves no place for an entry behind it; add it by hand"
        return refused(self.path, line, said)

    # -- how it is written -----------------------------------------------------------------------

    def raw(self, piece: Piece) -> str:
        return self.text[piece.start : piece.end]

    def item(self, piece: Piece) -> re.Match[str] | None:
        """The marker of an entry; None if it is none, or has none."""
        if piece.note or self.prefix(piece).strip(" \t"):
            return None
        return ITEM.match(self.text, piece.start, piece.end)

    def prefix(self, piece: Piece) -> str:
        return self.text[self.text.rfind("\n", 0, piece.start) + 1 : piece.start]

    def newline(self, near: int) -> str:
        """How the lines here end: the one that holds `near`, else the one before it."""
        at = self.text.find("\n", near)
        if at < 0:
            at = self.text.rfind("\n", 0, near)
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def nest(self) -> str:
        match = _NESTED.search(self.text)
        return match.group(1) if match else "    "

    def bullet(self) -> str:
        """The marker of the first bullet of the note."""
        for match in _BULLET.finditer(self.text):
            if not RULE.match(self.text[match.start(1) :].partition("\n")[0]):
                return match.group(1) + " "
        return "- "
