"""Edits of MEMORY.md: each replaces the bytes it is about, and no other byte.

An added entry is placed by a scan of the headings, without a parse, where nothing odd is near
(`quick`). Every other edit is tried and then checked: the new text is parsed, and it is taken only
if each entry is where it was put and all others stand as they stood, under their headings. What
cannot be placed so that this holds is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from brain.changes import (
    Add,
    Anchor,
    Change,
    Done,
    Edited,
    Insert,
    Move,
    Relate,
    Remove,
    Replace,
    Retag,
    Update,
)
from brain.errors import BadRequest
from brain.formats import entry_edit, entry_md, links, memory_md
from brain.formats.entry_md import Style
from brain.formats.mask import mask
from brain.formats.memory_note import ITEM, Note, Odd, Piece
from brain.formats.memory_place import Place, former, quick, usual
from brain.formats.text import digest

# words that at the start of a bullet would be more than words
_MORE = re.compile(r"[-+*](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[>|<]|```|~~~|\d{1,9}[.)](?:[ \t]|$)")


def edit(path: str, data: bytes, changes: Sequence[Change], owner: str = "") -> Edited:
    """The note after these changes, in order, and what became of each.

    Raises Refused, naming the line, if the note cannot be edited safely.
    """
    note = _Note(path, data, owner)
    try:
        done = [note.apply(change, 0) for change in changes]
        note.check()
    except Odd:
        if len(changes) > 1:
            return _one_by_one(path, data, changes, owner)
        note, done = _carefully(path, data, changes[0], owner)
    return note.edited(done)


def _one_by_one(path: str, data: bytes, changes: Sequence[Change], owner: str) -> Edited:
    """Each change checked by itself: together they do not read as they should."""
    done: list[Done] = []
    for change in changes:
        data, (one,) = edit(path, data, [change], owner)
        done.append(one)
    lines = {chunk.ref: chunk.line for chunk in memory_md.parse(data, owner).chunks}
    moved = [one._replace(line=lines.get(one.change.ref, one.line)) for one in done]
    return Edited(data, tuple(moved))


def _carefully(path: str, data: bytes, change: Change, owner: str) -> tuple[_Note, list[Done]]:
    """Other places and more blank lines, until the change reads as it should."""
    whole = _Note(path, data, owner)
    tried: set[str] = set()
    for care in range(1, 8):
        note = _Note(path, data, owner)
        note.pieces = [piece.copy() for piece in whole.load()]
        note.text, note.seen = whole.text, whole.outline()
        try:
            done = note.apply(change, care)
            if note.text not in tried:
                tried.add(note.text)
                note.check()
                return note, [done]
        except Odd:
            pass
    raise whole.refusal(change)


class _Note(Note):
    """A note that changes are made in."""

    def missing(self, change: Change) -> Done:
        return Done(change, "missing")

    # -- the changes -----------------------------------------------------------------------------

    def apply(self, change: Change, care: int) -> Done:
        """Carry out one change; `care` tells how far from the usual way to stray."""
        match change:
            case Add():
                return self._add(change, care)
            case Insert():
                return self._insert(change, care)
            case Move():
                return self._move(change, care)
            case Remove():
                return self._remove(change, care)
            case Replace():
                return self._replace(change)
            case Update():
                return self._rewrite(change, lambda e, s: entry_edit.updated(
                    e, change.ref, change.text, s), care)  # fmt: skip
            case Retag():
                return self._rewrite(change, lambda e, s: entry_edit.retagged(
                    e, change.add, change.remove), care, anchor=bool(change.add))  # fmt: skip
            case Relate():
                return self._rewrite(change, lambda e, s: entry_edit.related(
                    e, change.key, change.value, change.gone), care)  # fmt: skip
            case Anchor():
                return self._rewrite(
                    change, lambda e, s: entry_edit.anchored(e, change.ref), care, anchor=False
                )
        raise BadRequest(f"{type(change).__name__} is no edit of a memory note.")

    def _rewrite(
        self,
        change: Change,
        made: Callable[[entry_md.Parts, Style], str],
        care: int,
        anchor: bool = True,
    ) -> Done:
        """Another text for an entry, where it stands."""
        piece = self.find(change.ref)
        if piece is None:
            return self.missing(change)
        before, prefix = self.raw(piece), self.prefix(piece)
        entry = entry_md.parts(before, prefix)
        style = self._style_of(piece, prefix, care)
        after = made(entry, style)
        if after == before:
            return self._already(change, piece)
        if not _is_expected(change, before):
            return self._already(change, piece)._replace(outcome="changed")
        if anchor:
            after = entry_edit.anchored(entry_md.parts(after, prefix), change.ref)
        if made(entry_md.parts(after, prefix), style) != after:
            raise Odd  # what was added does not read as a part of the entry itself
        return self._put(change, piece, after, sure=True)

    def _put(self, change: Change, piece: Piece, after: str, sure: bool) -> Done:
        before = self.raw(piece)
        previous = self.previous(piece)
        self.splice(piece.start, piece.end, after)
        piece.end, piece.sure = piece.start + len(after), sure
        return self.done(change, "done", piece.start, before, after, piece.heading, previous)

    def _already(self, change: Change, piece: Piece) -> Done:
        raw = self.raw(piece)
        previous = self.previous(piece)
        return self.done(change, "already", piece.start, raw, raw, piece.heading, previous)

    def _style_of(self, piece: Piece, prefix: str, care: int) -> Style:
        """How an entry that is there nests its lines."""
        item = self.item(piece)
        marker = item.group(1) + item.group(4) if item else ""
        indent = prefix if not prefix.strip(" \t") else ""
        nest = _common(self.raw(piece).split("\n")[1:]).removeprefix(indent) or self.nest()
        return Style(marker, indent, nest, self.newline(piece.start), care > 0)

    def _replace(self, change: Replace) -> Done:
        piece = self.find(change.ref)
        if piece is None:
            return self.missing(change)
        if self.raw(piece) == change.raw:
            return self._already(change, piece)
        if self.raw(piece) != change.expect:
            return self._already(change, piece)._replace(outcome="changed")
        return self._put(change, piece, change.raw, sure=False)

    # -- taking away -----------------------------------------------------------------------------

    def _remove(self, change: Remove, care: int) -> Done:
        piece = self.find(change.ref)
        if piece is None:
            return self.missing(change)
        before, previous = self.raw(piece), self.previous(piece)
        if not _is_expected(change, before):
            return self._already(change, piece)._replace(outcome="changed")
        at = self._take(piece, care)
        self.gone.add(change.ref)
        return self.done(change, "done", at, before, "", piece.heading, previous)

    def _take(self, piece: Piece, care: int) -> int:
        """Cut an entry out, its lines if nothing else is on them, and a blank line that would be
        left doubled; gives where it stood."""
        text = self.text
        start = text.rfind("\n", 0, piece.start) + 1
        newline = text.find("\n", piece.end)
        stop = newline + 1 or len(text)
        self.load().remove(piece)
        if (text[start : piece.start] + text[piece.end : stop]).strip():
            self.splice(piece.start, piece.end, "")  # something else is on its lines
            return piece.start
        if care:
            self.splice(start, stop, self.newline(piece.start) * (care == 1))
            return start
        start, stop = self._undoubled(start, stop)
        if newline < 0 and start:  # the note goes on having no newline at its end
            start = len(text[: start - 1].removesuffix("\r"))
        self.splice(start, stop, "")
        return start

    def _undoubled(self, start: int, stop: int) -> tuple[int, int]:
        """Lines to take away, with a blank one if that would be left beside another, or last."""
        text = self.text
        before = text.rfind("\n", 0, max(start - 1, 0)) + 1
        after = text.find("\n", stop) + 1 or len(text)
        apart = stop < len(text) and not text[stop:after].strip()
        if not start or text[before:start].strip():
            first = text[before:start].startswith("#") and not text.startswith("#", after)
            return (start, after) if first and apart else (start, stop)
        if stop < len(text):
            return (start, after) if apart else (start, stop)
        above = text[text.rfind("\n", 0, max(before - 1, 0)) + 1 : before]
        if text.endswith("\n") and above.startswith("#"):
            return start, stop  # the blank line below a heading is that heading's
        return before, stop

    # -- placing ---------------------------------------------------------------------------------

    def _add(self, change: Add, care: int) -> Done:
        if (at := self._anchor_of(change.ref)) is not None:
            return self._there(change, at)
        seen = self.outline()
        place = quick(self, seen, change.section) if care == 0 else None
        entry = self._entry(change, place.style) if place else ""
        if place is None or not _is_simple(entry, change):
            self.load()
            seen = self.outline()
            place = usual(self, seen, change.section, care)
            entry = self._entry(change, place.style)
        previous = self._before(place)
        piece = self._write(place, entry, change.ref)
        return self.done(change, "done", piece.start, "", entry, piece.heading, previous)

    def _entry(self, change: Add, style: Style) -> str:
        if "\n" in change.text or "\r" in change.text:
            style = style._replace(nest=self.nest())
        return entry_md.written(
            change.ref, change.text, change.tags, change.links, change.fields, style
        )

    def _anchor_of(self, ref: str) -> int | None:
        """Where an id stands in the note, in an entry or nested in one; None if nowhere."""
        if self.text.rfind(f"^{ref}") < 0:  # from the end it takes a third of the time
            return None
        masked = mask(self.text)
        found = (m for m in links.BLOCK_ID.finditer(masked) if m.group(1) == ref)
        return next((match.start(1) for match in found), None)

    def _there(self, change: Add, at: int) -> Done:
        for piece in self.load():
            if piece.start <= at < piece.end:
                return self._already(change, piece)
        return self.done(change, "already", at)

    def _before(self, place: Place) -> str:
        """The ref of the entry before a place, if it is known without a parse."""
        if place.made:
            return ""
        if self.pieces is not None:
            before = [p for p in self.pieces if p.end <= place.at and p.heading == place.heading]
            return max(before, key=lambda p: p.start).ref if before else ""
        line = self.text[self.text.rfind("\n", 0, max(place.at - 1, 0)) + 1 : place.at]
        match = links.BLOCK_ID.search(line.rstrip("\n"))
        ref = match.group(1) if match and ITEM.match(line) else ""
        return ref if ref and self.text.count(f"^{ref}") == 1 else ""

    def _write(self, place: Place, entry: str, ref: str, sure: bool = True) -> Piece:
        """Put an entry where it belongs, with the heading above it if that has to be made."""
        newline, text, at = place.style.newline, self.text, place.at
        open_end = at == len(text) and bool(text) and not text.endswith("\n")
        head = newline * (open_end + place.before) + place.made + place.style.indent
        tail = "" if open_end else newline
        if place.after and at < len(text):
            tail += newline
        self.splice(at, at, head + entry + tail)
        start = at + len(head)
        piece = Piece(ref, start, start + len(entry), place.heading, note=False)
        piece.sure = sure
        if self.pieces is not None:
            self.pieces.append(piece)
        return piece

    # -- moving ----------------------------------------------------------------------------------

    def _insert(self, change: Insert, care: int) -> Done:
        if piece := self.find(change.ref):
            return self._already(change, piece)
        seen = self.outline()
        place = former(self, seen, change, care)
        previous = self._before(place)
        piece = self._write(place, change.raw, change.ref, sure=False)
        return self.done(change, "done", piece.start, "", change.raw, piece.heading, previous)

    def _move(self, change: Move, care: int) -> Done:
        piece = self.find(change.ref)
        if piece is None:
            return self.missing(change)
        seen = self.outline()
        here = seen.at(piece.start)
        if seen.find(change.section) == here:
            return self._already(change, piece)
        before, heading, previous = self.raw(piece), piece.heading, self.previous(piece)
        after = entry_edit.anchored(entry_md.parts(before, self.prefix(piece)), change.ref)
        self._take(piece, care)
        place = usual(self, self.outline(), change.section, care)
        new = self._write(place, after, change.ref)
        return self.done(change, "done", new.start, before, after, heading, previous)


def _is_expected(change: Change, raw: str) -> bool:
    """May an entry that is this be changed so?"""
    over = change.over if isinstance(change, Update | Remove) else ()
    return not over or digest(raw.encode()).hex() in over


def _is_simple(entry: str, change: Add) -> bool:
    """Can this be read as nothing but one bullet, whatever stands around it?"""
    if "\n" in entry or "%%" in entry or "$$" in entry or _MORE.match(change.text.lstrip()):
        return False
    return "`" not in entry or mask(entry).endswith(f" ^{change.ref}")


def _common(lines: list[str]) -> str:
    """The white space that the least indented of these lines starts with."""
    leads = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(leads, key=len, default="")
