"""Edits of MEMORY.md: each replaces the bytes it is about, and no other byte.

An added entry is placed by a scan of the headings, without a parse, where nothing odd is near
(`quick`). Every other edit is tried and then checked: the new text is parsed, and it is accepted
only if each entry is where it was put and all others are as they were, under their headings. One
edit of an entry whose id is written is checked by parsing what is around it, if nothing there can
reach further (`_nearby`). A change that cannot be placed so that this holds is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from brain.errors import BadRequest, Refused
from brain.formats import frontmatter, links, memory_md
from brain.formats.entry import Parts, Style, anchored, parts, related, retagged, updated, written
from brain.formats.markdown import blocks, mask
from brain.formats.memory_part import around, is_plain
from brain.formats.memory_place import (
    ITEM,
    RULE,
    Outline,
    Place,
    former,
    outline,
    quick,
    scan,
    usual,
)
from brain.formats.text import BOM, UNSAFE, Offsets, decode, refused
from brain.model import (
    Add,
    Anchor,
    Applied,
    Change,
    Chunk,
    EditedFile,
    Insert,
    Move,
    Relate,
    Remove,
    Replace,
    Retag,
    Update,
)

_ENTRY_EDITS = (Anchor, Move, Relate, Remove, Replace, Retag, Update)
# words that at the start of a bullet would be more than words
_MORE = re.compile(r"[-+*](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[>|<]|```|~~~|\d{1,9}[.)](?:[ \t]|$)")
_NESTED = re.compile(r"\n( {1,8}|\t)(?=[-*+] |\d{1,9}[.)] )")
_WRITTEN = re.compile(r"^[-*+] .* \^([A-Za-z0-9-]+)$", re.MULTILINE)
_ALL_WRITTEN = re.compile(rf"(?:(?:{_WRITTEN.pattern}|#{{1,6}} .*+|)(?:\n|\Z))*+", re.MULTILINE)
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


def edit(path: str, data: bytes, changes: Sequence[Change], owner: str = "") -> EditedFile:
    """The note after these changes, in order, and what became of each.

    Raises Refused, naming the line, if the note cannot be edited safely.
    """
    if len(changes) == 1 and (edited := _nearby(path, data, changes[0], owner)):
        return edited
    return _everywhere(path, data, changes, owner)


def _nearby(path: str, data: bytes, change: Change, owner: str) -> EditedFile | None:
    """Edit an entry by parsing only what is around it; None if that takes the whole note."""
    if not isinstance(change, Add | Update | Retag | Relate | Remove):
        return None
    if isinstance(change, Add) and "\n" not in change.text:
        return None  # placed without any parse
    note = Note(path, data, owner)
    text, mark, place = note.text, f"^{change.ref}", None
    if isinstance(change, Add):
        place = quick(note, note.outline(), change.section) if mark not in text else None
        at = place.at - 1 if place and place.at and not place.made else None
    else:
        at = _only(text, mark)
    if note.problems or at is None or (found := around(text, at)) is None:
        return None
    if isinstance(change, Remove) and not _is_all_written(text):
        return None  # an entry without a written id could get the id of the one that goes
    note.narrow(*found)
    headings = _titles(note.text)
    try:
        if isinstance(change, Add) and place:
            done = note.add_at(change, place)
        else:
            done = note.apply(change, 0)
        note.check()
    except Odd:
        return None
    if headings is None or _titles(note.text) != headings or not is_plain(note.text):
        return None
    if not place and not note.is_written(done.previous):
        return None  # an id that is not written depends on the whole note
    return note.edited([done])


def _only(text: str, mark: str) -> int | None:
    """Return the place of a mark that is in the text once."""
    at = text.find(mark)
    return at if at >= 0 and text.find(mark, at + 1) < 0 else None


def _titles(text: str) -> list[tuple[int, str]] | None:
    """Return the level and the words of the headings, if a scan can tell."""
    headings = scan(text, 0)
    return None if headings is None else [(level, words) for level, words, *_ in headings]


def _everywhere(path: str, data: bytes, changes: Sequence[Change], owner: str) -> EditedFile:
    """Edit a note by parsing all of it, if it has to be parsed."""
    note = Note(path, data, owner)
    try:
        done = [note.apply(change, 0) for change in changes]
        note.check()
    except Odd:
        if len(changes) > 1:
            return _one_by_one(path, data, changes, owner)
        note, done = _carefully(path, data, changes[0], owner, note)
    return note.edited(done)


def _one_by_one(path: str, data: bytes, changes: Sequence[Change], owner: str) -> EditedFile:
    """Each change checked by itself: together they do not read as they should."""
    done: list[Applied] = []
    for change in changes:
        data, (one,) = edit(path, data, [change], owner)
        done.append(one)
    lines = {chunk.ref: chunk.line for chunk in memory_md.parse(data, owner).chunks}
    moved = [one._replace(line=lines.get(one.change.ref, one.line)) for one in done]
    return EditedFile(data, tuple(moved))


def _carefully(
    path: str, data: bytes, change: Change, owner: str, odd: Note
) -> tuple[Note, list[Applied]]:
    """Other places and more blank lines, until the change reads as it should. `odd` is the note
    as it was parsed for the first try."""
    whole = Note(path, data, owner)
    whole.pieces = odd.first
    tried: set[str] = set()
    for care in range(1, 8):
        note = Note(path, data, owner)
        note.pieces = [piece.copy() for piece in whole.load()]
        note.open = note.pieces[-1] if odd.open else None
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


class Note:
    """A note while it is edited, or a part of it between `head` and `tail`. Where entries are is
    followed through every splice."""

    def __init__(self, path: str, data: bytes, owner: str) -> None:
        self.path, self.owner = path, owner
        self.bom = BOM if data.startswith(BOM) else b""
        self.pieces: list[Piece] | None = None
        self.first: list[Piece] = []  # as they were before any change
        self.open: Piece | None = None  # a block that is never closed
        self.seen: Outline | None = None
        self.text, self.problems = decode(data)
        self.head = self.tail = ""
        self.above: list[tuple[int, str]] | None = None
        self._read = self.text
        self._marks: list[list[int]] = []
        self.gone: set[str] = set()  # the refs of what was removed
        self._check_length()
        for problem in self.problems:
            if problem.code in UNSAFE:
                raise refused(self.path, problem.line, problem.message)

    def narrow(self, start: int, end: int, above: list[tuple[int, str]]) -> None:
        """Leave only a part of the note, which is under these headings."""
        text, self.above = self.text, above
        self.head, self.text, self.tail = text[:start], text[start:end], text[end:]
        self._read = self.text

    def whole(self) -> str:
        return self.head + self.text + self.tail

    def _check_length(self) -> None:
        limit = memory_md.MAX_CHARS, memory_md.MAX_LINES
        text = self.whole()
        if len(text) > limit[0] or text.count("\n") > limit[1]:
            message = f"{self.path} is over {limit[0]:,} characters or {limit[1]:,} lines."
            raise Refused(message, "Split it into two notes.")

    # -- where everything is ---------------------------------------------------------------------

    def data(self) -> bytes:
        return self.bom + self.whole().encode()

    def load(self) -> list[Piece]:
        """Where the entries are, from a parse if there was none yet."""
        if self.pieces is None:
            self.pieces = self.parsed()
            self.first = [piece.copy() for piece in self.pieces]
            if self.pieces and self._is_open(self.pieces[-1]):
                self.open = self.pieces[-1]
        return self.pieces

    def _is_open(self, last: Piece) -> bool:
        """Return True if the last piece is a block that is never closed: code or HTML, of which
        everything behind it is a part."""
        text = self.text[last.start - len(self.prefix(last)) :]
        return last.note and len(list(blocks(f"{text}\n\n# heading\n\n- entry\n"))) == 1

    def parsed(self) -> list[Piece]:
        data = self.bom + self.text.encode()
        pieces = []
        at, place = len(self.bom), 0
        for chunk in self._chunks(data):
            place += len(data[at : chunk.start].decode())
            start, at = place, chunk.start
            place += len(data[at : chunk.end].decode())
            at = chunk.end
            note = chunk.kind == "note"
            pieces.append(Piece(chunk.ref, start, place, chunk.heading, note))
        return pieces

    def _chunks(self, data: bytes) -> Sequence[Chunk]:
        if self.above is None:
            return memory_md.parse(data, self.owner).chunks
        drafts = memory_md.drafts(self.text, self.above, (), Offsets(self.text))
        return memory_md.named(drafts, self.owner)[0]

    def check(self) -> None:
        """Raise Odd unless every entry is where it was put. Quick additions need no check."""
        if self.pieces is None or self.text == self._read:
            return
        if self.open and any(piece.start > self.open.start for piece in self.pieces):
            raise Odd
        there, found = sorted(self.pieces, key=lambda piece: piece.start), self.parsed()
        if len(there) != len(found):
            raise Odd
        twins: list[Piece] = []
        for mine, seen in zip(there, found, strict=True):
            same = (mine.start, mine.end, mine.heading, mine.note)
            if same != (seen.start, seen.end, seen.heading, seen.note):
                raise Odd
            if mine.sure and mine.ref != seen.ref:
                raise Odd
            if seen.ref in self.gone and seen.ref != mine.ref:
                twins.append(mine)
        # Write the ids of entries that would get the id of an equal one that was removed: else the
        # same removal, made again, would remove the next of them.
        for twin in twins:
            after = anchored(parts(self.raw(twin), self.prefix(twin)), twin.ref)
            self.splice(twin.start, twin.end, after)
            twin.end, twin.sure = twin.start + len(after), True
        if twins:
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

    def is_written(self, ref: str) -> bool:
        """Return True if this id is written behind its entry, and nowhere else."""
        piece, mark = self.find(ref), f"^{ref}"
        return (
            piece is not None and mark in self.raw(piece) and _only(self.whole(), mark) is not None
        )

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
    ) -> Applied:
        self._marks.append([at])
        return Applied(change, outcome, len(self._marks), before, after, section, previous)

    def edited(self, done: Sequence[Applied]) -> EditedFile:
        """The new bytes; only now is it known on which line each entry came to stand."""
        self._check_length()
        lines = [self._line(self._marks[one.line - 1][0]) if one.line else 0 for one in done]
        placed = [one._replace(line=line) for one, line in zip(done, lines, strict=True)]
        return EditedFile(self.data(), tuple(placed))

    def _line(self, at: int) -> int:
        return self.head.count("\n") + self.text.count("\n", 0, at) + 1

    def refusal(self, change: Change) -> Refused:
        """Why a change cannot be made: the line of the entry, or of what hides the rest."""
        if piece := self.find(change.ref):
            line = self._line(piece.start)
            why = "cannot be changed without changing how other lines read"
            return refused(self.path, line, f"{why}; edit it by hand")
        # what hides an entry is nearly always something that is never closed
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
        match = _NESTED.search(self.whole())
        return match.group(1) if match else "    "

    def bullet(self) -> str:
        """The marker of the first bullet of the note."""
        for match in _BULLET.finditer(self.text):
            if not RULE.match(self.text[match.start(1) :].partition("\n")[0]):
                return match.group(1) + " "
        return "- "

    # -- the changes -----------------------------------------------------------------------------

    def apply(self, change: Change, care: int) -> Applied:
        """Make one change; `care` says how far from the usual way to stray."""
        match change:
            case Add():
                return self._add(change, care)
            case Insert():
                return self._insert(change, care)
        if not isinstance(change, _ENTRY_EDITS):
            raise BadRequest(f"{type(change).__name__} is no edit of a memory note.")
        piece = self.find(change.ref)
        if piece is None:
            return Applied(change, "missing")
        match change:
            case Move():
                return self._move(change, piece, care)
            case Remove():
                return self._remove(change, piece, care)
            case Replace():
                return self._replace(change, piece)
            case Update():
                return self._rewrite(change, piece, lambda e, s: updated(
                    e, change.ref, change.text, s), care)  # fmt: skip
            case Retag():
                return self._rewrite(change, piece, lambda e, s: retagged(
                    e, change.add, change.remove), care, anchor=bool(change.add))  # fmt: skip
            case Relate():
                return self._rewrite(change, piece, lambda e, s: related(
                    e, change.key, change.value, change.gone), care)  # fmt: skip
        return self._rewrite(
            change, piece, lambda e, s: anchored(e, change.ref), care, anchor=False
        )

    def _rewrite(
        self,
        change: Change,
        piece: Piece,
        made: Callable[[Parts, Style], str],
        care: int,
        anchor: bool = True,
    ) -> Applied:
        """Give an entry another text, where it is."""
        before, prefix = self.raw(piece), self.prefix(piece)
        entry = parts(before, prefix)
        style = self._style_of(piece, prefix, care)
        after = made(entry, style)
        if after == before:
            return self._unchanged(change, piece)
        if anchor:
            after = anchored(parts(after, prefix), change.ref)
        if made(parts(after, prefix), style) != after:
            raise Odd  # what was added does not read as a part of the entry itself
        return self._put(change, piece, after, sure=True)

    def _put(self, change: Change, piece: Piece, after: str, sure: bool) -> Applied:
        before = self.raw(piece)
        previous = self.previous(piece)
        self.splice(piece.start, piece.end, after)
        piece.end, piece.sure = piece.start + len(after), sure
        return self.done(change, "done", piece.start, before, after, piece.heading, previous)

    def _unchanged(self, change: Change, piece: Piece, outcome: str = "already") -> Applied:
        raw, previous = self.raw(piece), self.previous(piece)
        return self.done(change, outcome, piece.start, raw, raw, piece.heading, previous)

    def _style_of(self, piece: Piece, prefix: str, care: int) -> Style:
        """How an entry that is there nests its lines."""
        item = self.item(piece)
        marker = item.group(1) + item.group(4) if item else ""
        indent = prefix if not prefix.strip(" \t") else ""
        nest = _common(self.raw(piece).split("\n")[1:]).removeprefix(indent) or self.nest()
        return Style(marker, indent, nest, self.newline(piece.start), care > 0)

    def _replace(self, change: Replace, piece: Piece) -> Applied:
        if self.raw(piece) == change.raw:
            return self._unchanged(change, piece)
        if self.raw(piece) != change.expect:
            return self._unchanged(change, piece, "changed")
        return self._put(change, piece, change.raw, sure=False)

    # -- taking away -----------------------------------------------------------------------------

    def _remove(self, change: Remove, piece: Piece, care: int) -> Applied:
        before, previous = self.raw(piece), self.previous(piece)
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

    def _add(self, change: Add, care: int) -> Applied:
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

    def add_at(self, change: Add, place: Place) -> Applied:
        """Add an entry at a place of the whole note."""
        place = place._replace(at=place.at - len(self.head))
        entry, previous = self._entry(change, place.style), self._before(place)
        self.load()
        piece = self._write(place, entry, change.ref)
        return self.done(change, "done", piece.start, "", entry, piece.heading, previous)

    def _entry(self, change: Add, style: Style) -> str:
        if "\n" in change.text or "\r" in change.text:
            style = style._replace(nest=self.nest())
        return written(change.ref, change.text, change.tags, change.links, change.fields, style)

    def _anchor_of(self, ref: str) -> int | None:
        """Where an id stands in the note, in an entry or nested in one; None if nowhere."""
        if self.text.rfind(f"^{ref}") < 0:  # from the end it takes a third of the time
            return None
        masked = mask(self.text)
        found = (m for m in links.BLOCK_ID.finditer(masked) if m.group(1) == ref)
        return next((match.start(1) for match in found), None)

    def _there(self, change: Add, at: int) -> Applied:
        for piece in self.load():
            if piece.start <= at < piece.end:
                return self._unchanged(change, piece)
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
        return ref if ref and _only(self.whole(), f"^{ref}") is not None else ""

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

    def _insert(self, change: Insert, care: int) -> Applied:
        if piece := self.find(change.ref):
            return self._unchanged(change, piece)
        seen = self.outline()
        place = former(self, seen, change, care)
        previous = self._before(place)
        piece = self._write(place, change.raw, change.ref, sure=False)
        return self.done(change, "done", piece.start, "", change.raw, piece.heading, previous)

    def _move(self, change: Move, piece: Piece, care: int) -> Applied:
        seen = self.outline()
        here = seen.at(piece.start)
        if seen.find(change.section) == here:
            return self._unchanged(change, piece)
        before, heading, previous = self.raw(piece), piece.heading, self.previous(piece)
        after = anchored(parts(before, self.prefix(piece)), change.ref)
        self._take(piece, care)
        place = usual(self, self.outline(), change.section, care)
        new = self._write(place, after, change.ref)
        return self.done(change, "done", new.start, before, after, heading, previous)


def _is_all_written(text: str) -> bool:
    """Return True if a note surely has nothing but headings and bullets with ids of their own."""
    ids = _WRITTEN.findall(text)
    body_at = frontmatter.split(text)[1]
    return len(ids) == len(set(ids)) and bool(_ALL_WRITTEN.fullmatch(text, body_at))


def _is_simple(entry: str, change: Add) -> bool:
    """Can this be read as nothing but one bullet, whatever stands around it?"""
    if "\n" in entry or "%%" in entry or "$$" in entry or _MORE.match(change.text.lstrip()):
        return False
    return "`" not in entry or mask(entry).endswith(f" ^{change.ref}")


def _common(lines: list[str]) -> str:
    """The white space that the least indented of these lines starts with."""
    leads = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(leads, key=len, default="")
