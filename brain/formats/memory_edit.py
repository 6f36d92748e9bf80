"""Edits of MEMORY.md: each replaces the bytes it is about, and no other byte.

An added entry is placed by a scan of the headings, without a parse, where nothing odd is near
(`_quick`). Every other edit is tried and then checked: the new text is parsed, and it is taken only
if each entry is where it was put and all others stand as they stood, under their headings. What
cannot be placed so that this holds is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

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
from brain.errors import BadRequest, Refused
from brain.formats import entry_md, frontmatter, links, memory_md
from brain.formats.entry_md import Style
from brain.formats.mask import mask
from brain.formats.outline import Outline, outline
from brain.formats.text import BOM, decode

TITLE = "Agent Memory"
_ITEM = re.compile(r"([-*+]|(\d{1,9})([.)]))([ \t]+)(?=\S)")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t\r]*$")
_NESTED = re.compile(r"\n( {1,8}|\t)(?=[-*+] |\d{1,9}[.)] )")
_BULLET = re.compile(r"(?:\n|\A)([-*+])[ \t]+(?=\S)")
# words that at the start of a bullet would be more than words
_MORE = re.compile(r"[-+*](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|[>|<]|```|~~~|\d{1,9}[.)](?:[ \t]|$)")
_NUMBERS = re.compile(r"^(\d{1,9})[.)][ \t]", re.MULTILINE)
_SPACE = " \t\r\n"


class _Piece:
    """An entry or passage and where it is now; `sure` if its ref must be found there."""

    __slots__ = ("end", "heading", "note", "ref", "start", "sure")

    def __init__(self, ref: str, start: int, end: int, heading: str, note: bool) -> None:
        self.ref, self.start, self.end = ref, start, end
        self.heading, self.note, self.sure = heading, note, False


class _Place(NamedTuple):
    """Where new lines go (the start of a line, or the end of the text) and how they look.

    `made` is the heading to be written above them.
    """

    at: int
    style: Style
    heading: str  # the headings above, joined
    before: bool = False  # a blank line before
    after: bool = False  # a blank line behind
    made: str = ""


class _Odd(Exception):
    """The edited text does not read as it should."""


def edit(path: str, data: bytes, changes: Sequence[Change], owner: str = "") -> Edited:
    """The note after these changes, in order, and what became of each.

    Raises Refused, naming the line, if the note cannot be edited safely.
    """
    note = _Note(path, data, owner)
    try:
        done = [note.apply(change, 0) for change in changes]
        note.check()
    except _Odd:
        if len(changes) > 1:
            return _one_by_one(path, data, changes, owner)
        note, done = _carefully(path, data, changes[0], owner)
    return note.edited(done)


def _one_by_one(path: str, data: bytes, changes: Sequence[Change], owner: str) -> Edited:
    done: list[Done] = []
    for change in changes:
        data, (one,) = edit(path, data, [change], owner)
        done.append(one)
    return Edited(data, tuple(done))


def _carefully(path: str, data: bytes, change: Change, owner: str) -> tuple[_Note, list[Done]]:
    """Other places and more blank lines, until the change reads as it should."""
    for care in range(1, 8):
        note = _Note(path, data, owner)
        try:
            done = note.apply(change, care)
            note.check()
        except _Odd:
            continue
        return note, [done]
    raise _Note(path, data, owner).refusal(change)


class _Note:
    """A note while it is edited. Where entries are is followed through every splice."""

    def __init__(self, path: str, data: bytes, owner: str) -> None:
        self.path, self.owner = path, owner
        self.bom = BOM if data.startswith(BOM) else b""
        self.text, problems = decode(data)
        self.check_length()
        for problem in problems:
            if problem.code in memory_md.UNSAFE:
                raise _refused(path, problem.line, problem.message)
        self.pieces: list[_Piece] | None = None
        self._marks: list[list[int]] = []
        self._gone: set[str] = set()  # the refs of what was removed

    def check_length(self) -> None:
        limit = memory_md.MAX_CHARS, memory_md.MAX_LINES
        if len(self.text) > limit[0] or self.text.count("\n") > limit[1]:
            said = f"{self.path} is over {limit[0]:,} characters or {limit[1]:,} lines."
            raise Refused(said, "Split it into two notes.")

    # -- where everything is ---------------------------------------------------------------------

    def data(self) -> bytes:
        return self.bom + self.text.encode()

    def load(self) -> list[_Piece]:
        """Where the entries are, from a parse if there was none yet."""
        if self.pieces is None:
            self.pieces = self.parsed()
        return self.pieces

    def parsed(self) -> list[_Piece]:
        data = self.data()
        pieces = []
        at, place = len(self.bom), 0
        for chunk in memory_md.parse(data, self.owner).chunks:
            place += len(data[at : chunk.start].decode())
            start, at = place, chunk.start
            place += len(data[at : chunk.end].decode())
            at = chunk.end
            note = chunk.kind == "note"
            pieces.append(_Piece(chunk.ref, start, place, chunk.heading, note))
        return pieces

    def check(self) -> None:
        """Is everything where it was put? Nothing to check if only quick additions were made."""
        if self.pieces is None:
            return
        there, found = sorted(self.pieces, key=lambda piece: piece.start), self.parsed()
        if len(there) != len(found):
            raise _Odd
        twins = []
        for mine, seen in zip(there, found, strict=True):
            same = (mine.start, mine.end, mine.heading, mine.note)
            if same != (seen.start, seen.end, seen.heading, seen.note):
                raise _Odd
            if mine.sure and mine.ref != seen.ref:
                raise _Odd
            if seen.ref in self._gone and seen.ref != mine.ref:
                twins.append(mine)
        if twins:
            self._tell_apart(twins)

    def _tell_apart(self, twins: list[_Piece]) -> None:
        """Write the ids of entries that would come by the id of an equal one that was removed:
        else the same removal, carried out again, would take the next of them."""
        for twin in twins:
            entry = entry_md.parts(self.raw(twin), self.prefix(twin))
            after = entry_md.anchored(entry, twin.ref)
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
        return outline(self.text, frontmatter.split(self.text)[1])

    def find(self, ref: str) -> _Piece | None:
        return next((p for p in self.load() if p.ref == ref and not p.note), None)

    def raw(self, piece: _Piece) -> str:
        return self.text[piece.start : piece.end]

    def prefix(self, piece: _Piece) -> str:
        return self.text[self.text.rfind("\n", 0, piece.start) + 1 : piece.start]

    def previous(self, piece: _Piece) -> str:
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
        self.check_length()
        out = []
        for one in done:
            line = one.line
            if line:
                line = self.text.count("\n", 0, self._marks[line - 1][0]) + 1
            out.append(one._replace(line=line))
        return Edited(self.data(), tuple(out))

    def refusal(self, change: Change) -> Refused:
        """Why a change cannot be made: the line of the entry, or of what hides the rest."""
        if piece := self.find(change.ref):
            line = self.text.count("\n", 0, piece.start) + 1
            why = "cannot be changed without changing how other lines read"
            return _refused(self.path, line, f"{why}; edit it by hand")
        return self._hidden()

    def _hidden(self) -> Refused:
        """What keeps an entry from being seen: nearly always something that is never closed."""
        last = self.load()[-1] if self.load() else None
        line = self.text.count("\n", 0, last.start) + 1 if last else 1
        if last and last.note and self.raw(last).lstrip().startswith(("```", "~~~")):
            said = "opens a code block that is never closed; close it"
        else:
            said = "leaves no place for an entry behind it; add it by hand"
        return _refused(self.path, line, said)

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
                return self._rewrite(change, lambda e, s: entry_md.updated(
                    e, change.ref, change.text, s), care)  # fmt: skip
            case Retag():
                return self._rewrite(change, lambda e, s: entry_md.retagged(
                    e, change.add, change.remove), care, anchor=bool(change.add))  # fmt: skip
            case Relate():
                return self._rewrite(change, lambda e, s: entry_md.related(
                    e, change.key, change.value, change.gone), care)  # fmt: skip
            case Anchor():
                return self._rewrite(
                    change, lambda e, s: entry_md.anchored(e, change.ref), care, anchor=False
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
        if anchor:
            after = entry_md.anchored(entry_md.parts(after, prefix), change.ref)
        if made(entry_md.parts(after, prefix), style) != after:
            raise _Odd  # what was added does not read as a part of the entry itself
        return self._put(change, piece, after, sure=True)

    def _put(self, change: Change, piece: _Piece, after: str, sure: bool) -> Done:
        before = self.raw(piece)
        previous = self.previous(piece)
        self.splice(piece.start, piece.end, after)
        piece.end, piece.sure = piece.start + len(after), sure
        return self.done(change, "done", piece.start, before, after, piece.heading, previous)

    def _already(self, change: Change, piece: _Piece) -> Done:
        raw = self.raw(piece)
        previous = self.previous(piece)
        return self.done(change, "already", piece.start, raw, raw, piece.heading, previous)

    def _style_of(self, piece: _Piece, prefix: str, care: int) -> Style:
        """How an entry that is there nests its lines."""
        item = _ITEM.match(self.raw(piece))
        marker = item.group(1) + item.group(4) if item else ""
        indent = prefix if not prefix.strip() else ""
        nest = _common(self.raw(piece).split("\n")[1:]).removeprefix(indent) or self._nest()
        return Style(marker, indent, nest, self._newline(piece.start), care > 0)

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
        at = self._take(piece, care)
        self._gone.add(change.ref)
        return self.done(change, "done", at, before, "", piece.heading, previous)

    def _take(self, piece: _Piece, care: int) -> int:
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
            self.splice(start, stop, self._newline(piece.start) * (care == 1))
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
        place = self._quick(seen, change.section) if care == 0 else None
        entry = self._entry(change, place.style) if place else ""
        if place is None or not _is_simple(entry, change):
            self.load()
            seen = self.outline()
            place = self._place(seen, change.section, care)
            entry = self._entry(change, place.style)
        previous = self._before(place)
        piece = self._write(place, entry, change.ref)
        return self.done(change, "done", piece.start, "", entry, piece.heading, previous)

    def _entry(self, change: Add, style: Style) -> str:
        if "\n" in change.text or "\r" in change.text:
            style = style._replace(nest=self._nest())
        return entry_md.written(
            change.ref, change.text, change.tags, change.links, change.fields, style
        )

    def _anchor_of(self, ref: str) -> int | None:
        """Where an id stands in the note, in an entry or nested in one; None if nowhere."""
        if f"^{ref}" not in self.text:
            return None
        masked = mask(self.text)
        found = (m for m in links.BLOCK_ID.finditer(masked) if m.group(1) == ref)
        return next((match.start(1) for match in found), None)

    def _there(self, change: Add, at: int) -> Done:
        for piece in self.load():
            if piece.start <= at < piece.end:
                return self._already(change, piece)
        return self.done(change, "already", at)

    def _before(self, place: _Place) -> str:
        """The ref of the entry before a place, if it is known without a parse."""
        if place.made:
            return ""
        if self.pieces is not None:
            before = [p for p in self.pieces if p.end <= place.at and p.heading == place.heading]
            return max(before, key=lambda p: p.start).ref if before else ""
        line = self.text[self.text.rfind("\n", 0, max(place.at - 1, 0)) + 1 : place.at]
        match = links.BLOCK_ID.search(line.rstrip("\n"))
        anchored = match and _ITEM.match(line) and self.text.count(f"^{match.group(1)}") == 1
        return match.group(1) if match and anchored else ""

    def _write(self, place: _Place, entry: str, ref: str, sure: bool = True) -> _Piece:
        """Put an entry where it belongs, with the heading above it if that has to be made."""
        newline, text, at = place.style.newline, self.text, place.at
        open_end = at == len(text) and bool(text) and not text.endswith("\n")
        head = newline * (open_end + place.before) + place.made + place.style.indent
        tail = "" if open_end else newline
        if place.after and at < len(text):
            tail += newline
        self.splice(at, at, head + entry + tail)
        start = at + len(head)
        piece = _Piece(ref, start, start + len(entry), place.heading, note=False)
        piece.sure = sure
        if self.pieces is not None:
            self.pieces.append(piece)
        return piece

    def _quick(self, seen: Outline, section: str) -> _Place | None:
        """Where a new entry goes, found without a parse; None if that takes one."""
        if not seen.plain:
            return None
        number = seen.find(section)
        if number is None:
            return self._made(seen, section)
        start, stop = seen.region(number)
        heading = " > ".join(seen.path(number))
        end = start + len(seen.kept[start:stop].rstrip(_SPACE + "\0"))
        if end == start:
            return self._first(seen, number) if "\0" not in seen.kept[start:stop] else None
        at = self.text.find("\n", end) + 1 or len(self.text)
        if "\0" in seen.kept[end:at]:
            return None
        found = _tail_item(seen.kept, start, end)
        if found is None:
            return None
        item, loose = found
        style = Style(_marker(item, seen.kept[start:end]), newline=self._newline(end))
        return _Place(at, style, heading, before=loose)

    def _place(self, seen: Outline, section: str, care: int) -> _Place:
        """Where an entry goes, by what a parse has found; the more care, the further away."""
        number = seen.find(section)
        if number is None:
            return self._made(seen, section, care)
        start, stop = seen.region(number)
        inside = sorted((p for p in self.load() if start <= p.start < stop), key=lambda p: p.start)
        if care >= 2:  # not behind a passage that may hide what follows
            while inside and inside[-1].note:
                del inside[-1]
        if care >= 4:
            inside = inside[:-1]
        if care >= 6:
            inside = []
        if not inside:
            place, apart = self._first(seen, number), bool(care % 2)
            style = place.style._replace(careful=care > 0)
            return place._replace(style=style, before=place.before or apart, after=apart)
        return self._behind(inside, " > ".join(seen.path(number)), care)

    def _behind(self, inside: list[_Piece], heading: str, care: int) -> _Place:
        """Behind the last of some entries, the way they are written."""
        last = inside[-1]
        items = [p for p in inside if not p.note and _ITEM.match(self.raw(p))]
        listed = bool(items) and items[-1] is last
        raws = "\n".join(self.raw(p) for p in items)
        item = _ITEM.match(self.raw(items[-1])) if items else None
        prefix = self.prefix(items[-1]) if items else ""
        style = Style(
            _marker(item, raws) if item else self._bullet(),
            prefix if not prefix.strip() else "",
            newline=self._newline(last.start),
            careful=care > 0,
        )
        at = self.text.find("\n", last.end) + 1 or len(self.text)
        before = not listed or self._is_loose(items) or bool(care % 2)
        return _Place(at, style, heading, before, after=bool(care % 2))

    def _is_loose(self, items: list[_Piece]) -> bool:
        """Is there a blank line between the last two bullets?"""
        if len(items) < 2:
            return False
        between = self.text[items[-2].end : items[-1].start]
        return between.count("\n") > 1 and not between.strip()

    def _first(self, seen: Outline, number: int) -> _Place:
        """Right under a heading, or at the top of the body."""
        start, _ = seen.region(number)
        heading = " > ".join(seen.path(number))
        style = Style(self._bullet(), newline=self._newline(start))
        if number < 0:
            after = bool(seen.text[start:].strip())
            return _Place(start, style, heading, after=after)
        if start < len(seen.text) and not seen.text[start:].strip():
            return _Place(len(seen.text), style, heading)  # below the blank line at the end
        return _Place(start, style, heading, before=_airy(seen, number))

    def _made(self, seen: Outline, section: str, care: int = 0) -> _Place:
        """A section that is not there yet: behind the last of those beside it."""
        title = " ".join(section.split())
        newline = self._newline(len(self.text))
        style = Style(self._bullet(), newline=newline, careful=care > 0)
        if not self.text.strip():
            head = f"# {TITLE}{newline}{newline}" if not self.text else ""
            heading = f"{TITLE} > {title}" if head else title
            made = f"{head}## {title}{newline}"
            return _Place(len(self.text), style, heading, made=made)
        upper, _, last = title.rpartition(" > ")
        parent = seen.find(upper) if upper else None
        title = last if upper else title
        level = _level(seen) if parent is None else min(seen.headings[parent].level + 1, 6)
        beside = range(len(seen.headings)) if parent is None else range(parent, parent + 1)
        number = max(
            (n for n in beside if parent == n or seen.headings[n].level == level), default=-1
        )
        least = level if parent is None else level - 1
        later = [h.start for h in seen.headings[number + 1 :] if h.level <= least]
        stop = later[0] if later and number >= 0 else len(self.text)
        above = seen.above(number if number >= 0 else len(seen.headings), level)
        if parent is not None:
            above = seen.path(parent)
        at = self._line_behind(seen, stop)
        gap = newline if _airy(seen, -1) else ""
        made = f"{'#' * level} {title}{newline}{gap}"
        following = self.text[at:].split("\n", 1)[0].strip()
        blank_before = bool(self.text[:at].strip())
        return _Place(at, style, " > ".join([*above, title]), blank_before, bool(following), made)

    def _line_behind(self, seen: Outline, stop: int) -> int:
        """The start of the line behind the last visible one before `stop`."""
        end = len(seen.kept[:stop].rstrip(_SPACE + "\0"))
        at = max(self.text.find("\n", end) + 1 or len(self.text), seen.body_at)
        for start, close in seen.comments:
            if start < at <= close and not self.text.endswith("%%", start + 2, close):
                line = self.text.count("\n", 0, start) + 1
                raise _refused(self.path, line, "opens a comment `%%` that is never closed")
            if start < at < close:
                at = self.text.find("\n", close) + 1 or len(self.text)
        return at

    # -- the note's own way ----------------------------------------------------------------------

    def _newline(self, near: int) -> str:
        """How the lines here end: the one that holds `near`, else the one before it."""
        at = self.text.find("\n", near)
        if at < 0:
            at = self.text.rfind("\n", 0, near)
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def _nest(self) -> str:
        match = _NESTED.search(self.text)
        return match.group(1) if match else "    "

    def _bullet(self) -> str:
        """The marker of the first bullet of the note."""
        for match in _BULLET.finditer(self.text):
            if not _RULE.match(self.text[match.start(1) :].partition("\n")[0]):
                return match.group(1) + " "
        return "- "

    # -- moving ----------------------------------------------------------------------------------

    def _insert(self, change: Insert, care: int) -> Done:
        if piece := self.find(change.ref):
            return self._already(change, piece)
        seen = self.outline()
        place = self._place_at(seen, change, care)
        previous = self._before(place)
        piece = self._write(place, change.raw, change.ref, sure=False)
        return self.done(change, "done", piece.start, "", change.raw, piece.heading, previous)

    def _place_at(self, seen: Outline, change: Insert, care: int) -> _Place:
        """Behind `previous` if that is still in the section, else where an added one would go."""
        number = seen.find(change.section)
        if number is None or care > 1:
            return self._place(seen, change.section, care)
        start, stop = seen.region(number)
        pieces = sorted(self.load(), key=lambda p: p.start)
        inside = [p for p in pieces if start <= p.start < stop]
        refs = [p.ref for p in inside]
        if change.previous in refs:
            upto = inside[: refs.index(change.previous) + 1]
            place = self._behind(upto, " > ".join(seen.path(number)), care)
            item = _ITEM.match(change.raw) and not upto[-1].note and _ITEM.match(self.raw(upto[-1]))
            loose = self._loose_around(inside, len(upto))
            return place._replace(before=loose if item else True)
        if change.previous or not inside:
            return self._place(seen, change.section, care)
        place = self._first(seen, number)
        at = self.text.rfind("\n", 0, inside[0].start) + 1
        indent = self.prefix(inside[0]) if not self.prefix(inside[0]).strip() else ""
        loose = self._loose_around(inside, 0) or inside[0].note or not _ITEM.match(change.raw)
        return place._replace(
            at=at, style=place.style._replace(indent=indent), before=False, after=loose
        )

    def _loose_around(self, inside: list[_Piece], at: int) -> bool:
        """Are the entries before and behind a place apart? Else those anywhere in the section."""
        pairs = list(pairwise(inside))
        near = pairs[at - 1 : at] if at else []
        near = near or pairs[:1]
        return any(self.text.count("\n", a.end, b.start) > 1 for a, b in near)

    def _move(self, change: Move, care: int) -> Done:
        piece = self.find(change.ref)
        if piece is None:
            return self.missing(change)
        seen = self.outline()
        here = seen.at(piece.start)
        if seen.find(change.section) == here:
            return self._already(change, piece)
        before, heading, previous = self.raw(piece), piece.heading, self.previous(piece)
        after = entry_md.anchored(entry_md.parts(before, self.prefix(piece)), change.ref)
        self._take(piece, care)
        place = self._place(self.outline(), change.section, care)
        new = self._write(place, after, change.ref)
        return self.done(change, "done", new.start, before, after, heading, previous)


def _refused(path: str, line: int, message: str) -> Refused:
    said, _, remedy = message.partition("; ")
    remedy = remedy[:1].upper() + remedy[1:] + "." if remedy else "Mend it by hand, then try again."
    return Refused(f"{path}, line {line}: {said}.", remedy)


def _is_simple(entry: str, change: Add) -> bool:
    """Can this be read as nothing but one bullet, whatever stands around it?"""
    if "\n" in entry or "%%" in entry or "$$" in entry or _MORE.match(change.text.lstrip()):
        return False
    return "`" not in entry or mask(entry).endswith(f" ^{change.ref}")


def _tail_item(kept: str, start: int, end: int) -> tuple[re.Match[str], bool] | None:
    """The last top-level bullet of a region, if what is below it is surely nested in it, and
    whether a blank line parts it from the one before; None if that is not sure."""
    least, at = 1_000, end
    while at > start:
        line_start = max(kept.rfind("\n", 0, at) + 1, start)
        line = kept[line_start:at].rstrip("\r")
        item = _ITEM.match(line)
        if item:
            width = len(item.group(1)) + len(item.group(4).expandtabs(4))
            if _RULE.match(line) or least < width or len(item.group(4)) > 4:
                return None
            loose, sure = _above_item(kept, start, line_start, ordered=bool(item.group(2)))
            return (item, loose) if sure else None
        bare = line.lstrip(" \t")
        if bare and bare == line:
            return None
        if bare:
            least = min(least, len(line[: len(line) - len(bare)].expandtabs(4)))
        at = line_start - 1
    return None


def _above_item(kept: str, start: int, at: int, ordered: bool) -> tuple[bool, bool]:
    """Is there a blank line and another bullet above a bullet; and is it surely a bullet?"""
    above = kept[start:at].rstrip(_SPACE)
    if not above:
        return False, True
    blank = kept.count("\n", start + len(above), at) > 1
    line = above[above.rfind("\n") + 1 :]
    listed = bool(_ITEM.match(line)) or line[:1] in (" ", "\t")
    return blank and listed, listed or blank or not ordered


def _marker(item: re.Match[str] | None, raws: str) -> str:
    """The marker that comes after those there are: the same, or the next number."""
    if item is None:
        return "- "
    mark, number, bracket, space = item.groups()
    space = space if len(space) < 5 else " "
    if not number:
        return mark + space
    numbers = _NUMBERS.findall(raws)
    step = 0 if len(numbers) > 1 and numbers[-1] == numbers[-2] else 1
    return f"{min(int(number) + step, 999_999_999)}{bracket}{space}"


def _common(lines: list[str]) -> str:
    """The white space that the least indented of these lines starts with."""
    leads = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(leads, key=len, default="")


def _airy(seen: Outline, number: int) -> bool:
    """Do the other headings of the note have a blank line below them?"""
    score = 0
    for other in range(len(seen.headings)):
        start, stop = seen.region(other)
        if other != number and seen.kept[start:stop].strip(_SPACE + "\0"):
            blank = not seen.text[start : seen.text.find("\n", start)].strip()
            score += 1 if blank else -1
    return score > 0


def _level(seen: Outline) -> int:
    """The level of the sections of a note."""
    levels = [heading.level for heading in seen.headings]
    if 2 in levels or not levels:
        return 2
    if levels.count(1) > 1:
        return 1
    return min((level for level in levels if level > 1), default=2)
