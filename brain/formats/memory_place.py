"""Where an entry of MEMORY.md goes, and how the note around it is written.

`quick` tells it from a scan of the headings, without a parse, where nothing odd is near; `usual`
and `former` from what a parse has found. Whether it reads as it should there, the caller checks.
"""

from __future__ import annotations

import re
from itertools import pairwise
from sys import maxsize
from typing import NamedTuple

from brain.changes import Insert
from brain.formats.entry_md import Style
from brain.formats.memory_note import ITEM, RULE, Note, Piece
from brain.formats.outline import Outline
from brain.formats.text import refused

TITLE = "Agent Memory"
_NUMBERS = re.compile(r"^(\d{1,9})[.)][ \t]", re.MULTILINE)
_TITLE = re.compile(r"\w[\w ,.:;'()/&+-]*")  # words that are surely the words of a heading
_CODE = re.compile("```|~~~")
_SPACE = " \t\r\n"


class Place(NamedTuple):
    """Where new lines go (the start of a line, or the end of the text) and how they look.

    `made` is the heading to be written above them.
    """

    at: int
    style: Style
    heading: str  # the headings above, joined
    before: bool = False  # a blank line before
    after: bool = False  # a blank line behind
    made: str = ""


def quick(note: Note, seen: Outline, section: str) -> Place | None:
    """Where a new entry goes, found without a parse; None if that takes one."""
    if not seen.plain:
        return None
    number = seen.find(section)
    if number is None:
        return _made(note, seen, section) if _TITLE.fullmatch(section) else None
    start, stop = seen.region(number)
    heading = " > ".join(seen.path(number))
    end = _end(seen.kept, start, stop, _SPACE + "\0")
    if end == start:
        return _first(note, seen, number) if "\0" not in seen.kept[start:stop] else None
    at = note.text.find("\n", end) + 1 or len(note.text)
    if "\0" in seen.kept[end:at]:
        return None
    found = _tail_item(seen.kept, start, end)
    if found is None:
        return None
    item, loose = found
    if item[2] and _CODE.search(seen.kept, start, end):
        return None  # its lines may have numbers as well
    style = Style(_marker(item, seen.kept, start, end), newline=note.newline(end))
    return Place(at, style, heading, before=loose)


def usual(note: Note, seen: Outline, section: str, care: int) -> Place:
    """Where an entry goes, by what a parse has found; the more care, the further away."""
    number = seen.find(section)
    if number is None:
        return _made(note, seen, section, care)
    start, stop = seen.region(number)
    inside = [p for p in note.load() if start <= p.start < stop]
    inside.sort(key=lambda p: p.start)
    if care >= 2:  # not behind a passage that may hide what follows
        while inside and inside[-1].note:
            del inside[-1]
    if care >= 4:
        inside = inside[:-1]
    if care >= 6:
        inside = []
    if not inside:
        place, apart = _first(note, seen, number), bool(care % 2)
        style = place.style._replace(careful=care > 0)
        return place._replace(style=style, before=place.before or apart, after=apart)
    return _behind(note, inside, " > ".join(seen.path(number)), care)


def _behind(note: Note, inside: list[Piece], heading: str, care: int) -> Place:
    """Behind the last of some entries, the way they are written."""
    last = inside[-1]
    items = [p for p in inside if note.item(p)]
    listed = bool(items) and items[-1] is last
    raws = "\n".join(note.raw(p) for p in items)
    item = note.item(items[-1]) if items else None
    style = Style(
        _marker(item, raws) if item else note.bullet(),
        note.prefix(items[-1]) if items else "",
        newline=note.newline(last.start),
        careful=care > 0,
    )
    at = note.text.find("\n", last.end) + 1 or len(note.text)
    before = not listed or _is_loose(note, items) or bool(care % 2)
    return Place(at, style, heading, before, after=bool(care % 2))


def _is_loose(note: Note, items: list[Piece]) -> bool:
    """Is there a blank line between the last two bullets?"""
    if len(items) < 2:
        return False
    between = note.text[items[-2].end : items[-1].start]
    return between.count("\n") > 1 and not between.strip()


def _first(note: Note, seen: Outline, number: int) -> Place:
    """Right under a heading, or at the top of the body."""
    start, _ = seen.region(number)
    heading = " > ".join(seen.path(number))
    style = Style(note.bullet(), newline=note.newline(start))
    if number < 0:
        return Place(start, style, heading, after=bool(_line(note.text, start).strip()))
    if start < len(note.text) and not note.text[start:].strip():
        return Place(len(note.text), style, heading)  # below the blank line at the end
    return Place(start, style, heading, before=_airy(seen, number))


def _line(text: str, at: int) -> str:
    return text[at:].partition("\n")[0]


def _made(note: Note, seen: Outline, section: str, care: int = 0) -> Place:
    """A section that is not there yet: under its parent if that is named, else behind the last of
    those beside it."""
    upper, _, title = " ".join(section.split()).lstrip("# ").rpartition(" > ")
    newline = note.newline(len(note.text))
    style = Style(note.bullet(), newline=newline, careful=care > 0)
    if not note.text:
        made = f"# {TITLE}{newline}{newline}## {title}{newline}"
        return Place(0, style, f"{TITLE} > {title}", made=made)
    level, above, stop = _beside(seen, upper)
    at = _line_behind(note, seen, stop)
    gap = newline if _airy(seen, -1) else ""
    made = f"{'#' * level} {title}{newline}{gap}"
    before, after = bool(note.text[:at].strip()), bool(_line(note.text, at).strip())
    return Place(at, style, " > ".join([*above, title]), before, after, made)


def _beside(seen: Outline, upper: str) -> tuple[int, tuple[str, ...], int]:
    """The level of a new section, the headings above it, and where those beside it end."""
    parent = seen.find(upper) if upper else None
    if parent is not None and seen.headings[parent].level < 6:
        level = seen.headings[parent].level
        return level + 1, seen.path(parent), seen.stop(parent, level)
    level = _level(seen)
    last = max((n for n, h in enumerate(seen.headings) if h.level == level), default=None)
    if last is None:
        return level, seen.above(len(seen.headings), level), len(seen.text)
    return level, seen.above(last, level), seen.stop(last, level)


def _line_behind(note: Note, seen: Outline, stop: int) -> int:
    """The start of the line behind the last visible one before `stop`."""
    end = _end(seen.kept, 0, stop, _SPACE + "\0")
    at = max(note.text.find("\n", end) + 1 or len(note.text), seen.body_at)
    for start, close in seen.comments:
        if start < at <= close and not note.text.endswith("%%", start + 2, close):
            line = note.text.count("\n", 0, start) + 1
            raise refused(note.path, line, "opens a comment `%%` that is never closed")
        if start < at < close:
            at = note.text.find("\n", close) + 1 or len(note.text)
    return at


def former(note: Note, seen: Outline, change: Insert, care: int) -> Place:
    """Behind `previous` if that is still in the section, else where an added one would go."""
    number = seen.find(change.section)
    pieces = sorted(note.load(), key=lambda p: p.start)
    for piece in pieces:
        if piece.ref == change.previous and piece.heading == change.section:
            number = seen.at(piece.start)  # of two sections of one name
    if number is None or care > 1:
        return usual(note, seen, change.section, care)
    start, stop = seen.region(number)
    inside = [p for p in pieces if start <= p.start < stop]
    refs = [p.ref for p in inside]
    if change.previous in refs:
        upto = inside[: refs.index(change.previous) + 1]
        place = _behind(note, upto, " > ".join(seen.path(number)), care)
        item = ITEM.match(change.raw) and note.item(upto[-1])
        loose = _loose_around(note, inside, len(upto))
        return place._replace(before=loose if item else True)
    if change.previous or not inside:
        return usual(note, seen, change.section, care)
    place = _first(note, seen, number)
    at = note.text.rfind("\n", 0, inside[0].start) + 1
    indent = note.prefix(inside[0]) if note.item(inside[0]) else ""
    loose = _loose_around(note, inside, 0) or inside[0].note or not ITEM.match(change.raw)
    return place._replace(
        at=at, style=place.style._replace(indent=indent), before=False, after=loose
    )


def _loose_around(note: Note, inside: list[Piece], at: int) -> bool:
    """Are the entries before and behind a place apart? Else those anywhere in the section."""
    pairs = list(pairwise(inside))
    near = pairs[at - 1 : at] if at else []
    near = near or pairs[:1]
    return any(note.text.count("\n", a.end, b.start) > 1 for a, b in near)


def _tail_item(kept: str, start: int, end: int) -> tuple[re.Match[str], bool] | None:
    """The last top-level bullet of a region, if what is below it is surely nested in it, and
    whether a blank line parts it from the one before; None if that is not sure."""
    least, at = 1_000, end
    while at > start:
        line_start = max(kept.rfind("\n", 0, at) + 1, start)
        line = kept[line_start:at].rstrip("\r")
        item = ITEM.match(line)
        if item:
            width = len(item.group(1)) + len(item.group(4).expandtabs(4))
            if RULE.match(line) or least < width or len(item.group(4)) > 4:
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
    end = _end(kept, start, at, _SPACE)
    if end == start:
        return False, True
    blank = kept.count("\n", end, at) > 1
    line = kept[max(kept.rfind("\n", 0, end) + 1, start) : end]
    listed = bool(ITEM.match(line)) or line[:1] in (" ", "\t")
    return blank and listed, listed or blank or not ordered


def _end(kept: str, start: int, stop: int, blank: str) -> int:
    """Where what can be seen between two places ends: a section is long, the blanks behind it are
    few, and to copy it takes longer than to look at its end."""
    while stop > start:
        near = max(start, stop - 500)
        if seen := kept[near:stop].rstrip(blank):
            return near + len(seen)
        stop = near
    return start


def _marker(item: re.Match[str] | None, raws: str, start: int = 0, stop: int = maxsize) -> str:
    """The marker that comes after those there are: the same, or the next number."""
    if item is None:
        return "- "
    mark, number, bracket, space = item.groups()
    space = space if len(space) < 5 else " "
    if not number:
        return mark + space
    numbers = _NUMBERS.findall(raws, start, stop)
    step = 0 if len(numbers) > 1 and numbers[-1] == numbers[-2] else 1
    return f"{min(int(number) + step, 999_999_999)}{bracket}{space}"


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
