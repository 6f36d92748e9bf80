"""Edit MEMORY.md. An edit replaces only the bytes of its entry.

The place of a new entry is found by a scan of the headings, without a parse, if the text there is
simple (`quick`). Every other edit is checked: the new text is parsed, and it is accepted only if
each entry is at its place and all other entries and their headings are unchanged. For a single edit
of an entry with a written id, only the text around the entry is parsed, unless other text could be
affected (`_edit_part`). If no edit passes the check, the change is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from brain.errors import BadRequest, Refused
from brain.formats import frontmatter, inline, memory_md
from brain.formats.entry import (
    Parts,
    Style,
    new_entry,
    parts,
    with_field,
    with_id,
    with_tags,
    with_text,
)
from brain.formats.markdown import blocks, mask
from brain.formats.memory_md import is_plain, part_around
from brain.formats.memory_place import (
    ITEM,
    Outline,
    Place,
    former,
    outline,
    place_in_section,
    quick,
    scan,
)
from brain.formats.text import BOM, UNSAFE, Offsets, decode, newline_near, refused
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
# text that would start a block inside its bullet
_BLOCK_IN_BULLET = re.compile(
    r"[-+*](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[>|<]|```|~~~|\d{1,9}[.)](?:[ \t]|$)"
)
_NESTED = re.compile(r"\n( {1,8}|\t)(?=[-*+] |\d{1,9}[.)] )")
_WRITTEN = re.compile(r"^[-*+] .* \^([A-Za-z0-9-]+)$", re.MULTILINE)
_ALL_WRITTEN = re.compile(rf"(?:(?:{_WRITTEN.pattern}|#{{1,6}} .*+|)(?:\n|\Z))*+", re.MULTILINE)


class Misread(Exception):
    """The parse of the edited text differs from the intended result."""


class Position:
    """The current position of an entry or passage. If `is_written`, the text has the id at this
    position, and a parse must find it."""

    __slots__ = ("end", "heading", "is_passage", "is_written", "ref", "start")

    def __init__(self, ref: str, start: int, end: int, heading: str, is_passage: bool) -> None:
        self.ref, self.start, self.end = ref, start, end
        self.heading, self.is_passage, self.is_written = heading, is_passage, False

    def copy(self) -> Position:
        return Position(self.ref, self.start, self.end, self.heading, self.is_passage)


def edit(path: str, data: bytes, changes: Sequence[Change], owner: str = "") -> EditedFile:
    """Apply changes to a note in order. Return the new bytes, and the result of each change.

    Raise Refused, with the line, if the note cannot be edited safely.
    """
    if len(changes) == 1 and (edited := _edit_part(path, data, changes[0], owner)):
        return edited
    return _edit_whole(path, data, changes, owner)


def _edit_part(path: str, data: bytes, change: Change, owner: str) -> EditedFile | None:
    """Edit an entry and parse only the text around it. Return None if the whole note has to be
    parsed."""
    if not isinstance(change, Add | Update | Retag | Relate | Remove):
        return None
    if isinstance(change, Add) and "\n" not in change.text:
        return None  # `_edit_whole` finds its place without a parse
    note = Note(path, data, owner)
    text, id_mark, place = note.text, f"^{change.ref}", None
    if isinstance(change, Add):
        place = quick(note, note.outline(), change.section) if id_mark not in text else None
        offset = place.offset - 1 if place and place.offset and not place.new_heading else None
    else:
        offset = _single_offset(text, id_mark)
    if note.problems or offset is None or (part := part_around(text, offset)) is None:
        return None
    if isinstance(change, Remove) and not _is_all_written(text):
        return None  # another entry could then derive the id of the removed one
    note.narrow(*part)
    headings = _titles(note.text)
    try:
        if isinstance(change, Add) and place:
            result = note.add_at(change, place)
        else:
            result = note.apply(change, 0)
        note.check()
    except Misread:
        return None
    if headings is None or _titles(note.text) != headings or not is_plain(note.text):
        return None
    if not place and not note.is_written(result.previous):
        return None  # a derived id depends on the whole note
    return note.edited([result])


def _single_offset(text: str, mark: str) -> int | None:
    """Return the offset of a mark that occurs exactly once in a text, else None."""
    offset = text.find(mark)
    return offset if offset >= 0 and text.find(mark, offset + 1) < 0 else None


def _titles(text: str) -> list[tuple[int, str]] | None:
    """Return the levels and words of the headings; None if a scan could miss one."""
    headings = scan(text, 0)
    return None if headings is None else [(level, words) for level, words, *_ in headings]


def _edit_whole(path: str, data: bytes, changes: Sequence[Change], owner: str) -> EditedFile:
    """Edit a note. The whole note is parsed if any parse is needed."""
    note = Note(path, data, owner)
    try:
        done = [note.apply(change, 0) for change in changes]
        note.check()
    except Misread:
        if len(changes) > 1:
            return _one_by_one(path, data, changes, owner)
        note, done = _try_places(path, data, changes[0], owner, note)
    return note.edited(done)


def _one_by_one(path: str, data: bytes, changes: Sequence[Change], owner: str) -> EditedFile:
    """Apply and check the changes one by one, because a single check after all of them failed."""
    done: list[Applied] = []
    for change in changes:
        data, (result,) = edit(path, data, [change], owner)
        done.append(result)
    return EditedFile(data, tuple(done))


def _try_places(
    path: str, data: bytes, change: Change, owner: str, failed: Note
) -> tuple[Note, list[Applied]]:
    """Try other places and more blank lines until the check succeeds. `failed` is the parsed note
    of the first attempt."""
    whole = Note(path, data, owner)
    whole.positions = failed.original_positions
    tried_texts: set[str] = set()
    for care in range(1, 8):
        note = Note(path, data, owner)
        note.positions = [position.copy() for position in whole.load()]
        note.unclosed = note.positions[-1] if failed.unclosed else None
        note.text, note.last_outline = whole.text, whole.outline()
        try:
            done = note.apply(change, care)
            if note.text not in tried_texts:
                tried_texts.add(note.text)
                note.check()
                return note, [done]
        except Misread:
            pass
    raise whole.refusal(change)


class Note:
    """A note that is being edited, or the part of a note between `head` and `tail`. Each splice
    updates the positions of the entries."""

    def __init__(self, path: str, data: bytes, owner: str) -> None:
        self.path, self.owner = path, owner
        self.bom = BOM if data.startswith(BOM) else b""
        self.positions: list[Position] | None = None
        self.original_positions: list[Position] = []  # before any change
        self.unclosed: Position | None = None  # a block that is never closed
        self.last_outline: Outline | None = None
        self.text, self.problems = decode(data)
        self.head = self.tail = ""
        self.above: list[tuple[int, str]] | None = None
        self._read = self.text
        self.removed: set[str] = set()  # the ids of removed entries
        self._check_length()
        for problem in self.problems:
            if problem.code in UNSAFE:
                raise refused(self.path, problem.line, problem.message)

    def narrow(self, start: int, end: int, above: list[tuple[int, str]]) -> None:
        """Restrict the edit to the text from `start` to `end`, below the headings `above`."""
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
            self.positions = self.parse_positions()
            self.original_positions = [position.copy() for position in self.positions]
            if self.positions and self._is_open(self.positions[-1]):
                self.unclosed = self.positions[-1]
        return self.positions

    def _is_open(self, last: Position) -> bool:
        """Return True if the last passage is code or HTML that is never closed, so that any text
        added below it would be part of it."""
        text = self.text[last.start - len(self.prefix(last)) :]
        return last.is_passage and len(list(blocks(f"{text}\n\n# heading\n\n- entry\n"))) == 1

    def parse_positions(self) -> list[Position]:
        data = self.bom + self.text.encode()
        positions = []
        byte, char = len(self.bom), 0
        for entry in self._entries(data):
            char += len(data[byte : entry.start].decode())
            start, byte = char, entry.start
            char += len(data[byte : entry.end].decode())
            byte = entry.end
            is_passage = entry.kind == "note"
            positions.append(Position(entry.ref, start, char, entry.heading, is_passage))
        return positions

    def _entries(self, data: bytes) -> Sequence[Entry]:
        if self.above is None:
            return memory_md.parse(data, self.owner).entries
        drafts = memory_md.drafts(self.text, self.above, (), Offsets(self.text))
        return memory_md.with_ids(drafts, self.owner)[0]

    def check(self) -> None:
        """Parse the edited text. Raise Misread if any entry is not at its expected position. A note
        whose positions were never needed is not checked."""
        if self.positions is None or self.text == self._read:
            return
        if self.unclosed and any(
            position.start > self.unclosed.start for position in self.positions
        ):
            raise Misread
        expected, parsed = (
            sorted(self.positions, key=lambda position: position.start),
            self.parse_positions(),
        )
        if len(expected) != len(parsed):
            raise Misread
        twins: list[Position] = []
        for intended, actual in zip(expected, parsed, strict=True):
            wanted = (intended.start, intended.end, intended.heading, intended.is_passage)
            if wanted != (actual.start, actual.end, actual.heading, actual.is_passage):
                raise Misread
            if intended.is_written and intended.ref != actual.ref:
                raise Misread
            if actual.ref in self.removed and actual.ref != intended.ref:
                twins.append(intended)
        # After a removal, an entry with the same words would get the id of the removed entry, and
        # repeating the removal would remove it, too. So write the id of this other entry.
        for twin in twins:
            after = with_id(parts(self.raw(twin), self.prefix(twin)), twin.ref)
            self.splice(twin.start, twin.end, after)
            twin.end, twin.is_written = twin.start + len(after), True
        if twins:
            self.check()

    def splice(self, start: int, stop: int, new: str) -> None:
        """Replace characters, and update all positions after them."""
        self.text = self.text[:start] + new + self.text[stop:]
        shift = len(new) - (stop - start)
        for position in self.positions or ():
            if position.start >= stop:
                position.start += shift
                position.end += shift

    def outline(self) -> Outline:
        if self.last_outline is None or self.last_outline.text is not self.text:
            self.last_outline = outline(self.text, frontmatter.split(self.text)[1])
        return self.last_outline

    def find(self, ref: str) -> Position | None:
        return next((p for p in self.load() if p.ref == ref and not p.is_passage), None)

    def is_written(self, ref: str) -> bool:
        """Return True if an id is written in its entry and nowhere else."""
        position, mark = self.find(ref), f"^{ref}"
        if position is None or mark not in self.raw(position):
            return False
        return _single_offset(self.whole(), mark) is not None

    def previous(self, offset: int, heading: str) -> str:
        """Return the id of the last entry or passage of a section before an offset; '' if there is
        none."""
        before = [p for p in self.load() if p.start < offset and p.heading == heading]
        return max(before, key=lambda p: p.start).ref if before else ""

    # -- results ---------------------------------------------------------------------------------

    def edited(self, done: Sequence[Applied]) -> EditedFile:
        """Return the edited file with the results `done`."""
        self._check_length()
        return EditedFile(self.data(), tuple(done))

    def _line(self, offset: int) -> int:
        return self.head.count("\n") + self.text.count("\n", 0, offset) + 1

    def refusal(self, change: Change) -> Refused:
        """Return the error for an impossible change, with the line of the entry, or of the block
        that hides the rest of the note."""
        if position := self.find(change.ref):
            line = self._line(position.start)
            why = "cannot be changed without changing the meaning of other lines"
            return refused(self.path, line, f"{why}; edit it by hand")
        # usually the reason is a block that is never closed
        last = self.load()[-1] if self.load() else None
        line = self._line(last.start) if last else 1
        if last and last.is_passage and self.raw(last).lstrip().startswith(("```", "~~~")):
            message = "opens a code block that is never closed; close it"
        else:
            message = "leaves no place for an entry after it; add it by hand"
        return refused(self.path, line, message)

    # -- style -----------------------------------------------------------------------------------

    def raw(self, position: Position) -> str:
        return self.text[position.start : position.end]

    def item(self, position: Position) -> re.Match[str] | None:
        """Return the marker of an entry; None for a passage or a paragraph."""
        if position.is_passage or self.prefix(position).strip(" \t"):
            return None
        return ITEM.match(self.text, position.start, position.end)

    def prefix(self, position: Position) -> str:
        return self.text[self.text.rfind("\n", 0, position.start) + 1 : position.start]

    def nest(self) -> str:
        match = _NESTED.search(self.whole())
        return match.group(1) if match else "    "

    # -- the changes -----------------------------------------------------------------------------

    def apply(self, change: Change, care: int) -> Applied:
        """Apply a change. Higher values of `care` choose safer places and forms."""
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
                return self._rewrite(change, position, lambda e, s: with_text(
                    e, change.ref, change.text, s, change.whole), care)  # fmt: skip
            case Retag():
                return self._rewrite(change, position, lambda e, s: with_tags(
                    e, change.add, change.remove), care, anchor=bool(change.add))  # fmt: skip
            case Relate():
                return self._rewrite(change, position, lambda e, s: with_field(
                    e, change.key, change.value, change.gone), care)  # fmt: skip
        return self._rewrite(
            change, position, lambda e, s: with_id(e, change.ref), care, anchor=False
        )

    def _rewrite(
        self,
        change: Change,
        position: Position,
        rewrite: Callable[[Parts, Style], str],
        care: int,
        anchor: bool = True,
    ) -> Applied:
        """Replace the text of an entry by the text that `rewrite` returns. If `anchor`, also write
        the entry's id."""
        before, prefix = self.raw(position), self.prefix(position)
        entry = parts(before, prefix)
        style = self._style_of(position, prefix, care)
        after = rewrite(entry, style)
        if after == before:
            return self._unchanged(change, position)
        if anchor:
            after = with_id(parts(after, prefix), change.ref)
        if rewrite(parts(after, prefix), style) != after:
            raise Misread  # the added text is not read as part of the entry
        return self._replace_text(change, position, after, is_written=True)

    def _replace_text(
        self, change: Change, position: Position, after: str, is_written: bool
    ) -> Applied:
        before = self.raw(position)
        previous = self.previous(position.start, position.heading)
        self.splice(position.start, position.end, after)
        position.end, position.is_written = position.start + len(after), is_written
        return Applied(change, "done", before, after, position.heading, previous)

    def _unchanged(self, change: Change, position: Position, outcome: str = "already") -> Applied:
        raw, heading = self.raw(position), position.heading
        return Applied(change, outcome, raw, raw, heading, self.previous(position.start, heading))

    def _style_of(self, position: Position, prefix: str, care: int) -> Style:
        """Return the style of an existing entry."""
        item = self.item(position)
        marker = item.group(1) + item.group(4) if item else ""
        indent = prefix if not prefix.strip(" \t") else ""
        nest = (
            _common_indent(self.raw(position).split("\n")[1:]).removeprefix(indent) or self.nest()
        )
        return Style(marker, indent, nest, newline_near(self.text, position.start), care > 0)

    def _replace(self, change: Replace, position: Position) -> Applied:
        if self.raw(position) == change.raw:
            return self._unchanged(change, position)
        if self.raw(position) != change.expect:
            return self._unchanged(change, position, "changed")
        return self._replace_text(change, position, change.raw, is_written=False)

    # -- removing --------------------------------------------------------------------------------

    def _remove(self, change: Remove, position: Position, care: int) -> Applied:
        before, heading = self.raw(position), position.heading
        previous = self.previous(position.start, heading)
        self._delete(position, care)
        self.removed.add(change.ref)
        return Applied(change, "done", before, "", heading, previous)

    def _delete(self, position: Position, care: int) -> None:
        """Remove an entry, its lines if they have no other text, and a blank line that would be
        doubled."""
        text = self.text
        start = text.rfind("\n", 0, position.start) + 1
        newline = text.find("\n", position.end)
        stop = newline + 1 or len(text)
        self.load().remove(position)
        if (text[start : position.start] + text[position.end : stop]).strip():
            self.splice(position.start, position.end, "")  # other text is on its lines
        elif care:
            self.splice(start, stop, newline_near(self.text, position.start) * (care == 1))
        else:
            start, stop = self._with_blank_line(start, stop)
            if newline < 0 and start:  # keep the note without a newline at its end
                start = len(text[: start - 1].removesuffix("\r"))
            self.splice(start, stop, "")

    def _with_blank_line(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the lines to remove, extended by a blank line that would otherwise
        follow a heading or another blank line, or end the note."""
        text = self.text
        before = text.rfind("\n", 0, max(start - 1, 0)) + 1
        after = text.find("\n", stop) + 1 or len(text)
        blank_after = stop < len(text) and not text[stop:after].strip()
        if not start or text[before:start].strip():
            is_after_heading = text[before:start].startswith("#") and not text.startswith(
                "#", after
            )
            return (start, after) if is_after_heading and blank_after else (start, stop)
        if stop < len(text):
            return (start, after) if blank_after else (start, stop)
        line_above = text[text.rfind("\n", 0, max(before - 1, 0)) + 1 : before]
        if text.endswith("\n") and line_above.startswith("#"):
            return start, stop  # keep the blank line after a heading
        return before, stop

    # -- placing ---------------------------------------------------------------------------------

    def _add(self, change: Add, care: int) -> Applied:
        if (offset := self._offset_of_id(change.ref)) is not None:
            existing = [p for p in self.load() if p.start <= offset < p.end]
            if existing:
                return self._unchanged(change, existing[0])
            return Applied(change, "already")
        current_outline = self.outline()
        place = quick(self, current_outline, change.section) if care == 0 else None
        entry = self._entry(change, place.style) if place else ""
        if place is None or not _is_simple(entry, change):
            self.load()
            current_outline = self.outline()
            place = place_in_section(self, current_outline, change.section, care)
            entry = self._entry(change, place.style)
        return self._place(change, place, entry)

    def add_at(self, change: Add, place: Place) -> Applied:
        """Add an entry at a place whose offset counts from the start of the whole note."""
        place = place._replace(offset=place.offset - len(self.head))
        previous = self._previous_id(place)
        self.load()
        done = self._place(change, place, self._entry(change, place.style))
        return done._replace(previous=previous)

    def _place(self, change: Add | Insert, place: Place, entry: str) -> Applied:
        previous = self._previous_id(place)
        self._write_at(place, entry, change.ref, is_written=isinstance(change, Add))
        return Applied(change, "done", "", entry, place.heading, previous)

    def _entry(self, change: Add, style: Style) -> str:
        if "\n" in change.text or "\r" in change.text:
            style = style._replace(nest=self.nest())
        return new_entry(change.ref, change.text, change.tags, change.links, change.fields, style)

    def _offset_of_id(self, ref: str) -> int | None:
        """Return the offset of an id that is written in the text, also in a nested line; None if
        it is not written."""
        if self.text.rfind(f"^{ref}") < 0:  # a search from the end takes a third of the time
            return None
        masked = mask(self.text)
        found = (m for m in inline.BLOCK_ID.finditer(masked) if m.group(1) == ref)
        return next((match.start(1) for match in found), None)

    def _previous_id(self, place: Place) -> str:
        """Return the id of the entry before a place; '' if a parse would be needed."""
        if place.new_heading:
            return ""
        if self.positions is not None:
            return self.previous(place.offset, place.heading)
        line = self.text[self.text.rfind("\n", 0, max(place.offset - 1, 0)) + 1 : place.offset]
        match = inline.BLOCK_ID.search(line.rstrip("\n"))
        ref = match.group(1) if match and ITEM.match(line) else ""
        return ref if ref and _single_offset(self.whole(), f"^{ref}") is not None else ""

    def _write_at(self, place: Place, entry: str, ref: str, is_written: bool = True) -> None:
        """Write an entry at a place, after the new heading of the place if it has one."""
        newline, text, offset = place.style.newline, self.text, place.offset
        at_open_end = offset == len(text) and bool(text) and not text.endswith("\n")
        head = newline * (at_open_end + place.before) + place.new_heading + place.style.indent
        tail = "" if at_open_end else newline
        if place.after and offset < len(text):
            tail += newline
        self.splice(offset, offset, head + entry + tail)
        if self.positions is not None:
            start = offset + len(head)
            position = Position(ref, start, start + len(entry), place.heading, is_passage=False)
            position.is_written = is_written
            self.positions.append(position)

    # -- moving ----------------------------------------------------------------------------------

    def _insert(self, change: Insert, care: int) -> Applied:
        if position := self.find(change.ref):
            return self._unchanged(change, position)
        return self._place(change, former(self, self.outline(), change, care), change.raw)

    def _move(self, change: Move, position: Position, care: int) -> Applied:
        current_outline = self.outline()
        section_now = current_outline.number_at(position.start)
        if current_outline.find(change.section) == section_now:
            return self._unchanged(change, position)
        before, heading = self.raw(position), position.heading
        previous = self.previous(position.start, heading)
        after = with_id(parts(before, self.prefix(position)), change.ref)
        self._delete(position, care)
        place = place_in_section(self, self.outline(), change.section, care)
        self._write_at(place, after, change.ref)
        return Applied(change, "done", before, after, heading, previous)


def _is_all_written(text: str) -> bool:
    """Return True if a note has only headings and bullets, and each bullet has its own written
    id."""
    ids = _WRITTEN.findall(text)
    body_at = frontmatter.split(text)[1]
    return len(ids) == len(set(ids)) and bool(_ALL_WRITTEN.fullmatch(text, body_at))


def _is_simple(entry: str, change: Add) -> bool:
    """Return True if the entry is one bullet, whatever the text around it is."""
    if "\n" in entry or "%%" in entry or "$$" in entry:
        return False
    if _BLOCK_IN_BULLET.match(change.text.lstrip()):
        return False
    return "`" not in entry or mask(entry).endswith(f" ^{change.ref}")


def _common_indent(lines: list[str]) -> str:
    """Return the indentation of the least indented line."""
    leads = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(leads, key=len, default="")
