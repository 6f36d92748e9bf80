"""Edits of MEMORY.md. Each replaces the bytes it is about, and no other byte.

An added entry is placed by a scan of the headings, without a parse, if nothing unusual is near
(`quick`). Every other edit is tried and then checked: the new text is parsed, and is accepted only
if each entry is where it was put and all others are unchanged, under their headings. A single edit
of an entry whose id is written is checked by parsing only the text around it, if nothing there can
affect more (`_nearby`). A change that cannot be made in this way is refused.
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
    EditedFile,
    Entry,
    Insert,
    Move,
    Relate,
    Remove,
    Replace,
    Retag,
    Update,
)

_ENTRY_EDITS = (Anchor, Move, Relate, Remove, Replace, Retag, Update)
# text that would start a block of its own at the start of a bullet
_MORE = re.compile(r"[-+*](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[>|<]|```|~~~|\d{1,9}[.)](?:[ \t]|$)")
_NESTED = re.compile(r"\n( {1,8}|\t)(?=[-*+] |\d{1,9}[.)] )")
_WRITTEN = re.compile(r"^[-*+] .* \^([A-Za-z0-9-]+)$", re.MULTILINE)
_ALL_WRITTEN = re.compile(rf"(?:(?:{_WRITTEN.pattern}|#{{1,6}} .*+|)(?:\n|\Z))*+", re.MULTILINE)
_BULLET = re.compile(r"(?:\n|\A)([-*+])[ \t]+(?=\S)")


class Misread(Exception):
    """The edited text does not read as intended."""


class Position:
    """The current position of an entry or passage. If `sure`, the parse must find its id there."""

    __slots__ = ("end", "heading", "note", "ref", "start", "sure")

    def __init__(self, ref: str, start: int, end: int, heading: str, note: bool) -> None:
        self.ref, self.start, self.end = ref, start, end
        self.heading, self.note, self.sure = heading, note, False

    def copy(self) -> Position:
        return Position(self.ref, self.start, self.end, self.heading, self.note)


def edit(path: str, data: bytes, changes: Sequence[Change], owner: str = "") -> EditedFile:
    """Return the note after these changes, in order, and the result of each.

    Raise Refused, naming the line, if the note cannot be edited safely.
    """
    if len(changes) == 1 and (edited := _nearby(path, data, changes[0], owner)):
        return edited
    return _everywhere(path, data, changes, owner)


def _nearby(path: str, data: bytes, change: Change, owner: str) -> EditedFile | None:
    """Edit an entry by parsing only the text around it; None if the whole note has to be parsed."""
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
        return None  # an entry without a written id could get the id of the removed one
    note.narrow(*found)
    headings = _titles(note.text)
    try:
        if isinstance(change, Add) and place:
            done = note.add_at(change, place)
        else:
            done = note.apply(change, 0)
        note.check()
    except Misread:
        return None
    if headings is None or _titles(note.text) != headings or not is_plain(note.text):
        return None
    if not place and not note.is_written(done.previous):
        return None  # an id that is not written depends on the whole note
    return note.edited([done])


def _only(text: str, mark: str) -> int | None:
    """Return the offset of a mark that is in the text exactly once, or None."""
    at = text.find(mark)
    return at if at >= 0 and text.find(mark, at + 1) < 0 else None


def _titles(text: str) -> list[tuple[int, str]] | None:
    """Return the level and the words of the headings; None if a scan cannot tell."""
    headings = scan(text, 0)
    return None if headings is None else [(level, words) for level, words, *_ in headings]


def _everywhere(path: str, data: bytes, changes: Sequence[Change], owner: str) -> EditedFile:
    """Edit a note. If it has to be parsed, all of it is parsed."""
    note = Note(path, data, owner)
    try:
        done = [note.apply(change, 0) for change in changes]
        note.check()
    except Misread:
        if len(changes) > 1:
            return _one_by_one(path, data, changes, owner)
        note, done = _carefully(path, data, changes[0], owner, note)
    return note.edited(done)


def _one_by_one(path: str, data: bytes, changes: Sequence[Change], owner: str) -> EditedFile:
    """Make and check each change separately, because together they do not read as intended."""
    done: list[Applied] = []
    for change in changes:
        data, (one,) = edit(path, data, [change], owner)
        done.append(one)
    return EditedFile(data, tuple(done))


def _carefully(
    path: str, data: bytes, change: Change, owner: str, failed: Note
) -> tuple[Note, list[Applied]]:
    """Try other places and more blank lines until the change reads as intended. `failed` is the
    note of the first try, with its parse."""
    whole = Note(path, data, owner)
    whole.positions = failed.first
    tried: set[str] = set()
    for care in range(1, 8):
        note = Note(path, data, owner)
        note.positions = [position.copy() for position in whole.load()]
        note.open = note.positions[-1] if failed.open else None
        note.text, note.seen = whole.text, whole.outline()
        try:
            done = note.apply(change, care)
            if note.text not in tried:
                tried.add(note.text)
                note.check()
                return note, [done]
        except Misread:
            pass
    raise whole.refusal(change)


class Note:
    """A note during an edit, or the part of it between `head` and `tail`. Every splice updates the
    positions of the entries."""

    def __init__(self, path: str, data: bytes, owner: str) -> None:
        self.path, self.owner = path, owner
        self.bom = BOM if data.startswith(BOM) else b""
        self.positions: list[Position] | None = None
        self.first: list[Position] = []  # as they were before any change
        self.open: Position | None = None  # a block that is never closed
        self.seen: Outline | None = None
        self.text, self.problems = decode(data)
        self.head = self.tail = ""
        self.above: list[tuple[int, str]] | None = None
        self._read = self.text
        self.gone: set[str] = set()  # the ids of removed entries
        self._check_length()
        for problem in self.problems:
            if problem.code in UNSAFE:
                raise refused(self.path, problem.line, problem.message)

    def narrow(self, start: int, end: int, above: list[tuple[int, str]]) -> None:
        """Restrict the edit to a part of the note, which is under these headings."""
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

    # -- positions -------------------------------------------------------------------------------

    def data(self) -> bytes:
        return self.bom + self.whole().encode()

    def load(self) -> list[Position]:
        """Return the positions of the entries. The first call parses the note."""
        if self.positions is None:
            self.positions = self.parsed()
            self.first = [position.copy() for position in self.positions]
            if self.positions and self._is_open(self.positions[-1]):
                self.open = self.positions[-1]
        return self.positions

    def _is_open(self, last: Position) -> bool:
        """Return True if the last passage is code or HTML that is never closed. Everything after it
        would be a part of it."""
        text = self.text[last.start - len(self.prefix(last)) :]
        return last.note and len(list(blocks(f"{text}\n\n# heading\n\n- entry\n"))) == 1

    def parsed(self) -> list[Position]:
        data = self.bom + self.text.encode()
        positions = []
        at, place = len(self.bom), 0
        for entry in self._entries(data):
            place += len(data[at : entry.start].decode())
            start, at = place, entry.start
            place += len(data[at : entry.end].decode())
            at = entry.end
            note = entry.kind == "note"
            positions.append(Position(entry.ref, start, place, entry.heading, note))
        return positions

    def _entries(self, data: bytes) -> Sequence[Entry]:
        if self.above is None:
            return memory_md.parse(data, self.owner).entries
        drafts = memory_md.drafts(self.text, self.above, (), Offsets(self.text))
        return memory_md.with_ids(drafts, self.owner)[0]

    def check(self) -> None:
        """Raise Misread unless every entry is where it was put. Quick additions need no check."""
        if self.positions is None or self.text == self._read:
            return
        if self.open and any(position.start > self.open.start for position in self.positions):
            raise Misread
        there, found = sorted(self.positions, key=lambda position: position.start), self.parsed()
        if len(there) != len(found):
            raise Misread
        twins: list[Position] = []
        for mine, seen in zip(there, found, strict=True):
            same = (mine.start, mine.end, mine.heading, mine.note)
            if same != (seen.start, seen.end, seen.heading, seen.note):
                raise Misread
            if mine.sure and mine.ref != seen.ref:
                raise Misread
            if seen.ref in self.gone and seen.ref != mine.ref:
                twins.append(mine)
        # An equal entry gets the id of the removed one, and the same removal, applied again, would
        # remove it as well. Writing its id prevents that.
        for twin in twins:
            after = anchored(parts(self.raw(twin), self.prefix(twin)), twin.ref)
            self.splice(twin.start, twin.end, after)
            twin.end, twin.sure = twin.start + len(after), True
        if twins:
            self.check()

    def splice(self, start: int, stop: int, new: str) -> None:
        """Replace characters and move every position after them."""
        self.text = self.text[:start] + new + self.text[stop:]
        shift = len(new) - (stop - start)
        for position in self.positions or ():
            if position.start >= stop:
                position.start += shift
                position.end += shift

    def outline(self) -> Outline:
        if self.seen is None or self.seen.text is not self.text:
            self.seen = outline(self.text, frontmatter.split(self.text)[1])
        return self.seen

    def find(self, ref: str) -> Position | None:
        return next((p for p in self.load() if p.ref == ref and not p.note), None)

    def is_written(self, ref: str) -> bool:
        """Return True if this id is written after its entry, and nowhere else."""
        position, mark = self.find(ref), f"^{ref}"
        if position is None or mark not in self.raw(position):
            return False
        return _only(self.whole(), mark) is not None

    def previous(self, at: int, heading: str) -> str:
        """Return the id of the last entry or passage of a section before this offset, or ''."""
        before = [p for p in self.load() if p.start < at and p.heading == heading]
        return max(before, key=lambda p: p.start).ref if before else ""

    # -- results ---------------------------------------------------------------------------------

    def edited(self, done: Sequence[Applied]) -> EditedFile:
        """Return the new bytes with these results."""
        self._check_length()
        return EditedFile(self.data(), tuple(done))

    def _line(self, at: int) -> int:
        return self.head.count("\n") + self.text.count("\n", 0, at) + 1

    def refusal(self, change: Change) -> Refused:
        """Return the error for a change that cannot be made. It names the line of the entry, or of
        what hides the rest of the note."""
        if position := self.find(change.ref):
            line = self._line(position.start)
            why = "cannot be changed without changing how other lines read"
            return refused(self.path, line, f"{why}; edit it by hand")
        # nearly always a block that is never closed
        last = self.load()[-1] if self.load() else None
        line = self._line(last.start) if last else 1
        if last and last.note and self.raw(last).lstrip().startswith(("```", "~~~")):
            message = "opens a code block that is never closed; close it"
        else:
            message = "leaves no place for an entry after it; add it by hand"
        return refused(self.path, line, message)

    # -- style -----------------------------------------------------------------------------------

    def raw(self, position: Position) -> str:
        return self.text[position.start : position.end]

    def item(self, position: Position) -> re.Match[str] | None:
        """Return the marker of an entry; None for a passage or a paragraph."""
        if position.note or self.prefix(position).strip(" \t"):
            return None
        return ITEM.match(self.text, position.start, position.end)

    def prefix(self, position: Position) -> str:
        return self.text[self.text.rfind("\n", 0, position.start) + 1 : position.start]

    def newline(self, near: int) -> str:
        """Return the line ending of the line at `near`, else of the line before it."""
        at = self.text.find("\n", near)
        if at < 0:
            at = self.text.rfind("\n", 0, near)
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def nest(self) -> str:
        match = _NESTED.search(self.whole())
        return match.group(1) if match else "    "

    def bullet(self) -> str:
        """Return the marker of the first bullet of the note."""
        for match in _BULLET.finditer(self.text):
            if not RULE.match(self.text[match.start(1) :].partition("\n")[0]):
                return match.group(1) + " "
        return "- "

    # -- the changes -----------------------------------------------------------------------------

    def apply(self, change: Change, care: int) -> Applied:
        """Make one change. With more `care`, it is placed and written in less usual ways."""
        match change:
            case Add():
                return self._add(change, care)
            case Insert():
                return self._insert(change, care)
        if not isinstance(change, _ENTRY_EDITS):
            raise BadRequest(f"{type(change).__name__} is not an edit of a memory note.")
        position = self.find(change.ref)
        if position is None:
            return Applied(change, "missing")
        match change:
            case Move():
                return self._move(change, position, care)
            case Remove():
                return self._remove(change, position, care)
            case Replace():
                return self._replace(change, position)
            case Update():
                return self._rewrite(change, position, lambda e, s: updated(
                    e, change.ref, change.text, s, change.whole), care)  # fmt: skip
            case Retag():
                return self._rewrite(change, position, lambda e, s: retagged(
                    e, change.add, change.remove), care, anchor=bool(change.add))  # fmt: skip
            case Relate():
                return self._rewrite(change, position, lambda e, s: related(
                    e, change.key, change.value, change.gone), care)  # fmt: skip
        return self._rewrite(
            change, position, lambda e, s: anchored(e, change.ref), care, anchor=False
        )

    def _rewrite(
        self,
        change: Change,
        position: Position,
        made: Callable[[Parts, Style], str],
        care: int,
        anchor: bool = True,
    ) -> Applied:
        """Replace the text of an entry."""
        before, prefix = self.raw(position), self.prefix(position)
        entry = parts(before, prefix)
        style = self._style_of(position, prefix, care)
        after = made(entry, style)
        if after == before:
            return self._unchanged(change, position)
        if anchor:
            after = anchored(parts(after, prefix), change.ref)
        if made(parts(after, prefix), style) != after:
            raise Misread  # the addition does not read as a part of the entry itself
        return self._put(change, position, after, sure=True)

    def _put(self, change: Change, position: Position, after: str, sure: bool) -> Applied:
        before = self.raw(position)
        previous = self.previous(position.start, position.heading)
        self.splice(position.start, position.end, after)
        position.end, position.sure = position.start + len(after), sure
        return Applied(change, "done", before, after, position.heading, previous)

    def _unchanged(self, change: Change, position: Position, outcome: str = "already") -> Applied:
        raw, heading = self.raw(position), position.heading
        return Applied(change, outcome, raw, raw, heading, self.previous(position.start, heading))

    def _style_of(self, position: Position, prefix: str, care: int) -> Style:
        """Return the style of an existing entry."""
        item = self.item(position)
        marker = item.group(1) + item.group(4) if item else ""
        indent = prefix if not prefix.strip(" \t") else ""
        nest = _common(self.raw(position).split("\n")[1:]).removeprefix(indent) or self.nest()
        return Style(marker, indent, nest, self.newline(position.start), care > 0)

    def _replace(self, change: Replace, position: Position) -> Applied:
        if self.raw(position) == change.raw:
            return self._unchanged(change, position)
        if self.raw(position) != change.expect:
            return self._unchanged(change, position, "changed")
        return self._put(change, position, change.raw, sure=False)

    # -- removing --------------------------------------------------------------------------------

    def _remove(self, change: Remove, position: Position, care: int) -> Applied:
        before, heading = self.raw(position), position.heading
        previous = self.previous(position.start, heading)
        self._cut(position, care)
        self.gone.add(change.ref)
        return Applied(change, "done", before, "", heading, previous)

    def _cut(self, position: Position, care: int) -> None:
        """Cut an entry out, with its lines if nothing else is on them and with a blank line that
        would be left doubled."""
        text = self.text
        start = text.rfind("\n", 0, position.start) + 1
        newline = text.find("\n", position.end)
        stop = newline + 1 or len(text)
        self.load().remove(position)
        if (text[start : position.start] + text[position.end : stop]).strip():
            self.splice(position.start, position.end, "")  # something else is on its lines
        elif care:
            self.splice(start, stop, self.newline(position.start) * (care == 1))
        else:
            start, stop = self._undoubled(start, stop)
            if newline < 0 and start:  # the note still has no newline at its end
                start = len(text[: start - 1].removesuffix("\r"))
            self.splice(start, stop, "")

    def _undoubled(self, start: int, stop: int) -> tuple[int, int]:
        """Return the lines to cut, with a blank one if it would be left doubled, or last."""
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
            return start, stop  # the blank line below a heading stays
        return before, stop

    # -- placing ---------------------------------------------------------------------------------

    def _add(self, change: Add, care: int) -> Applied:
        if (at := self._anchor_of(change.ref)) is not None:
            existing = [p for p in self.load() if p.start <= at < p.end]
            if existing:
                return self._unchanged(change, existing[0])
            return Applied(change, "already")
        seen = self.outline()
        place = quick(self, seen, change.section) if care == 0 else None
        entry = self._entry(change, place.style) if place else ""
        if place is None or not _is_simple(entry, change):
            self.load()
            seen = self.outline()
            place = usual(self, seen, change.section, care)
            entry = self._entry(change, place.style)
        return self._place(change, place, entry)

    def add_at(self, change: Add, place: Place) -> Applied:
        """Add an entry at a place of the whole note."""
        place = place._replace(at=place.at - len(self.head))
        previous = self._before(place)
        self.load()
        done = self._place(change, place, self._entry(change, place.style))
        return done._replace(previous=previous)

    def _place(self, change: Add | Insert, place: Place, entry: str) -> Applied:
        previous = self._before(place)
        self._write(place, entry, change.ref, sure=isinstance(change, Add))
        return Applied(change, "done", "", entry, place.heading, previous)

    def _entry(self, change: Add, style: Style) -> str:
        if "\n" in change.text or "\r" in change.text:
            style = style._replace(nest=self.nest())
        return written(change.ref, change.text, change.tags, change.links, change.fields, style)

    def _anchor_of(self, ref: str) -> int | None:
        """Return the offset of a written id, in an entry or nested in one, or None."""
        if self.text.rfind(f"^{ref}") < 0:  # from the end it takes a third of the time
            return None
        masked = mask(self.text)
        found = (m for m in links.BLOCK_ID.finditer(masked) if m.group(1) == ref)
        return next((match.start(1) for match in found), None)

    def _before(self, place: Place) -> str:
        """Return the id of the entry before a place, '' if only a parse could tell."""
        if place.made:
            return ""
        if self.positions is not None:
            return self.previous(place.at, place.heading)
        line = self.text[self.text.rfind("\n", 0, max(place.at - 1, 0)) + 1 : place.at]
        match = links.BLOCK_ID.search(line.rstrip("\n"))
        ref = match.group(1) if match and ITEM.match(line) else ""
        return ref if ref and _only(self.whole(), f"^{ref}") is not None else ""

    def _write(self, place: Place, entry: str, ref: str, sure: bool = True) -> None:
        """Write an entry at its place, with a new heading above it if the place has one."""
        newline, text, at = place.style.newline, self.text, place.at
        open_end = at == len(text) and bool(text) and not text.endswith("\n")
        head = newline * (open_end + place.before) + place.made + place.style.indent
        tail = "" if open_end else newline
        if place.after and at < len(text):
            tail += newline
        self.splice(at, at, head + entry + tail)
        if self.positions is not None:
            start = at + len(head)
            position = Position(ref, start, start + len(entry), place.heading, note=False)
            position.sure = sure
            self.positions.append(position)

    # -- moving ----------------------------------------------------------------------------------

    def _insert(self, change: Insert, care: int) -> Applied:
        if position := self.find(change.ref):
            return self._unchanged(change, position)
        return self._place(change, former(self, self.outline(), change, care), change.raw)

    def _move(self, change: Move, position: Position, care: int) -> Applied:
        seen = self.outline()
        here = seen.at(position.start)
        if seen.find(change.section) == here:
            return self._unchanged(change, position)
        before, heading = self.raw(position), position.heading
        previous = self.previous(position.start, heading)
        after = anchored(parts(before, self.prefix(position)), change.ref)
        self._cut(position, care)
        place = usual(self, self.outline(), change.section, care)
        self._write(place, after, change.ref)
        return Applied(change, "done", before, after, heading, previous)


def _is_all_written(text: str) -> bool:
    """Return True if a note has nothing but headings and bullets, each with its own written id."""
    ids = _WRITTEN.findall(text)
    body_at = frontmatter.split(text)[1]
    return len(ids) == len(set(ids)) and bool(_ALL_WRITTEN.fullmatch(text, body_at))


def _is_simple(entry: str, change: Add) -> bool:
    """Return True if an entry reads as one bullet whatever is around it."""
    if "\n" in entry or "%%" in entry or "$$" in entry or _MORE.match(change.text.lstrip()):
        return False
    return "`" not in entry or mask(entry).endswith(f" ^{change.ref}")


def _common(lines: list[str]) -> str:
    """Return the indentation of the least indented line."""
    leads = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(leads, key=len, default="")
