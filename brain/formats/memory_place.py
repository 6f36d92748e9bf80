"""The place of an entry in MEMORY.md: the sections of the note, and the style of its entries.

`outline` finds the headings. Nearly all notes are headings at the start of a line with bullets
under them, and sometimes a block of code: a scan finds those a hundred times as fast as
markdown-it. If the scan meets anything else that could hide or make a heading (HTML, formulas,
underlines, indented fences and headings), markdown-it parses the note.

`quick` finds a place by the outline, without a parse, if nothing unusual is near. `usual` and
`former` use the entries that a parse has found. The caller checks that the entry reads correctly
at its place.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from sys import maxsize
from typing import TYPE_CHECKING, NamedTuple

from brain import kinds
from brain.formats import markdown
from brain.formats.entry import Style
from brain.formats.markdown import blank, code_and_comments
from brain.formats.text import refused
from brain.model import Insert
from brain.words import casefold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brain.formats.memory_edit import Note, Position

TITLE = "Agent Memory"
ITEM = re.compile(r"([-*+]|(\d{1,9})([.)]))([ \t]+)(?=\S)")
RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t\r]*$")
_NUMBERS = re.compile(r"^(\d{1,9})[.)][ \t]", re.MULTILINE)
_TITLE = re.compile(r"\w[\w ,.:;'()/&+-]*")  # words that are surely the words of a heading
_CODE = re.compile("```|~~~")
_SPACE = " \t\r\n"
# nearly every line: bullets, lines indented by four or more, blank lines
_BULLETS = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]) \S[^\n]*+\n|(?: {4}|\t)[^\n]*+\n|\r?\n)*+")
_HEADING = re.compile(r"(#{1,6})(?=[ \t\r]|$)(.*)")
# what could hide or make a heading: indented ones, HTML, underlines, indented fences
_ODD = re.compile(r" {1,3}(?:#{1,6}(?:[ \t\r]|$)|```|~~~)| {0,3}(?:<|=+[ \t\r]*$|-+[ \t\r]*$)")
_LONE = re.compile(r"\r(?!\n)")  # read as a space
_FENCE = re.compile(r"(?:(`)`{2,}[^`\0]*|(~)~{2,}[^\0]*)$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t\r\0]*$")
_NUMBERED = re.compile(r"^[\W_]*\d|\d[\W_]*$")


# -- the outline -----------------------------------------------------------------------------------


class Heading(NamedTuple):
    """A heading. Its line starts at `start`, the content under it at `end`."""

    level: int
    words: str
    start: int
    end: int


class Outline(NamedTuple):
    """The headings of a text.

    `kept` is the text with blank frontmatter and comments as NULs. If `plain`, the text has nothing
    but headings, lists, paragraphs, quotes, tables and code, and fences outside of lists open and
    close at the start of a line.
    """

    text: str
    kept: str
    body_at: int
    comments: list[tuple[int, int]]
    headings: list[Heading]
    plain: bool

    def region(self, number: int) -> tuple[int, int]:
        """Return start and end of a heading's own content. -1 is the text before any heading."""
        start = self.headings[number].end if number >= 0 else self.body_at
        after = number + 1
        stop = self.headings[after].start if after < len(self.headings) else len(self.text)
        return start, stop

    def stop(self, number: int, level: int) -> int:
        """Return the start of the next heading of this level or above it, or the text's end."""
        later = (h.start for h in self.headings[number + 1 :] if h.level <= level)
        return next(later, len(self.text))

    def path(self, number: int) -> tuple[str, ...]:
        """Return the words of a heading and of those above it, outermost first."""
        out: list[str] = []
        level = 7
        for heading in reversed(self.headings[: number + 1]):
            if heading.level < level:
                level = heading.level
                out.append(heading.words)
        return tuple(words for words in reversed(out) if words)

    def above(self, number: int, level: int) -> tuple[str, ...]:
        """Return the words of the headings that a heading of this level would be under here."""
        upper = [n for n, h in enumerate(self.headings[:number]) if h.level < level]
        return self.path(upper[-1]) if upper else ()

    def at(self, place: int) -> int:
        """Return the number of the heading above this character, or -1."""
        return sum(1 for heading in self.headings if heading.start <= place) - 1

    def find(self, section: str) -> int | None:
        """Return the number of a section's heading, found by its words or path as written, else by
        its words without emoji, numbers and emphasis. '' is the text before any heading."""
        if not section.strip():
            return -1
        wanted = _plain(section)
        names = [_plain(heading.words) for heading in self.headings]
        if wanted in names:
            return names.index(wanted)
        if " > " in section:
            paths = [_plain(" > ".join(self.path(n))) for n in range(len(self.headings))]
            if wanted in paths:
                return paths.index(wanted)
            if ends := [n for n, path in enumerate(paths) if path.endswith(f" > {wanted}")]:
                return ends[0]
        wanted = kinds.comparable_heading(section)
        if not wanted or _NUMBERED.search(section):
            return None
        return next(
            (n for n, h in enumerate(self.headings) if kinds.comparable_heading(h.words) == wanted),
            None,
        )


@lru_cache(256)  # the same few headings are compared again and again
def _plain(words: str) -> str:
    return casefold(" ".join(words.split()))


def outline(text: str, body_at: int) -> Outline:
    """Return the outline of a note whose body starts at `body_at`, as `memory_md.parse` sees it."""
    kept = blank(text, [(0, body_at)]) if body_at else text
    comments: list[tuple[int, int]] = []
    if has(text, "%%"):
        comments = [
            (body_at + start, body_at + stop)
            for start, stop in code_and_comments(text[body_at:])[1]
        ]
        kept = blank(kept, comments, "\0")
    headings = None if has(kept, "$$") else scan(kept, body_at)
    if headings is not None:
        return Outline(text, kept, body_at, comments, headings, True)
    return Outline(text, kept, body_at, comments, list(_parsed(kept, body_at)), False)


def scan(kept: str, body_at: int) -> list[Heading] | None:
    """Return the headings if all are plain ones; None if only a parser can tell."""
    if "\r" in kept and _LONE.search(kept):
        return None
    headings: list[Heading] = []
    at = body_at
    while (at := _BULLETS.match(kept, at).end()) < len(kept):  # type: ignore[union-attr]
        after = kept.find("\n", at) + 1 or len(kept)
        line = kept[at:after].removesuffix("\n")
        if match := _HEADING.match(line):
            if "|" in line:
                return None  # it may be the first line of a table
            words = _CLOSING.sub("", match.group(2)).replace("\0", " ")
            headings.append(Heading(match.end(1), " ".join(words.split()), at, after))
        elif line.startswith(("```", "~~~")):
            if not (after := _behind_fence(kept, line, after)):
                return None
        elif _ODD.match(line):
            return None
        at = after
    return headings


def _behind_fence(kept: str, line: str, at: int) -> int:
    """Return the end of the code block that this line opens; 0 if it is not certain."""
    match = _FENCE.match(line)
    if match is None:
        return 0
    mark = match[1] or match[2]
    length = len(line) - len(line.lstrip(mark))
    close = re.compile(rf"^ {{0,3}}{mark}{{{length},}}[ \t\r]*$", re.MULTILINE).search(kept, at)
    if close is None or close[0][0] == " " or "\0" in kept[at : close.end()]:
        return 0
    return min(close.end() + 1, len(kept))


def has(text: str, marks: str) -> bool:
    """Return True if the marks are in the text. To look for one first is fifty times as fast."""
    return marks[0] in text and marks in text


def _parsed(kept: str, body_at: int) -> Iterator[Heading]:
    """Return the headings that markdown-it finds."""
    starts = [0]
    for line in kept.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(kept)
    formulas = []
    if has(kept, "$$"):
        code = [
            (body_at + start, body_at + stop)
            for start, stop in code_and_comments(kept[body_at:])[0]
        ]
        prose = blank(kept, code).replace("\0", " ")
        formulas = [match.span() for match in markdown.MATH.finditer(prose)]
    for level, words, first, last in markdown.headings(markdown.without_math(kept, formulas)):
        yield Heading(level, words, starts[first], starts[last])


# -- the place of an entry -------------------------------------------------------------------------


class Place(NamedTuple):
    """The offset of new lines (the start of a line, or the end of the text) and their style.

    `made` is a new heading to write above them.
    """

    at: int
    style: Style
    heading: str  # the headings above, joined
    before: bool = False  # a blank line before
    after: bool = False  # a blank line after
    made: str = ""


def quick(note: Note, seen: Outline, section: str) -> Place | None:
    """Return the place of a new entry, found without a parse; None if it needs one."""
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
    """Return the place of an entry by the entries that a parse found.

    With more `care` the place is further away from what may hide the entry.
    """
    number = seen.find(section)
    if number is None:
        return _made(note, seen, section, care)
    start, stop = seen.region(number)
    inside = [p for p in note.load() if start <= p.start < stop]
    inside.sort(key=lambda p: p.start)
    if care >= 2:  # not after a passage that may hide what follows
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


def _behind(note: Note, inside: list[Position], heading: str, care: int) -> Place:
    """Return the place after the last of some entries, in their style."""
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
    between = note.text[items[-2].end : items[-1].start] if len(items) > 1 else ""
    loose = between.count("\n") > 1 and not between.strip()
    before = not listed or loose or bool(care % 2)
    return Place(at, style, heading, before, after=bool(care % 2))


def _first(note: Note, seen: Outline, number: int) -> Place:
    """Return the place right under a heading, or at the top of the body."""
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
    """Return the place of a new section: under its parent if named, else after the last one."""
    upper, _, title = " ".join(section.split()).lstrip("# ").rpartition(" > ")
    newline = note.newline(len(note.text))
    style = Style(note.bullet(), newline=newline, careful=care > 0)
    if not note.text:
        made = f"# {TITLE}{newline}{newline}## {title}{newline}"
        return Place(0, style, f"{TITLE} > {title}", made=made)
    level, above, stop = _new_section(seen, upper)
    at = _next_line(note, seen, stop)
    gap = newline if _airy(seen, -1) else ""
    made = f"{'#' * level} {title}{newline}{gap}"
    before, after = bool(note.text[:at].strip()), bool(_line(note.text, at).strip())
    return Place(at, style, " > ".join([*above, title]), before, after, made)


def _new_section(seen: Outline, upper: str) -> tuple[int, tuple[str, ...], int]:
    """Return the level of a new section, the headings above it, and the end of its siblings."""
    parent = seen.find(upper) if upper else None
    if parent is not None and seen.headings[parent].level < 6:
        level = seen.headings[parent].level
        return level + 1, seen.path(parent), seen.stop(parent, level)
    level = _level(seen)
    last = max((n for n, h in enumerate(seen.headings) if h.level == level), default=None)
    if last is None:
        return level, seen.above(len(seen.headings), level), len(seen.text)
    return level, seen.above(last, level), seen.stop(last, level)


def _next_line(note: Note, seen: Outline, stop: int) -> int:
    """Return the start of the line after the last visible one before `stop`."""
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
    """Return the place after `previous` if that is still in the section, else that of a new
    entry."""
    number = seen.find(change.section)
    positions = sorted(note.load(), key=lambda p: p.start)
    for position in positions:
        if position.ref == change.previous and position.heading == change.section:
            number = seen.at(position.start)  # of two sections of one name
    if number is None or care > 1:
        return usual(note, seen, change.section, care)
    start, stop = seen.region(number)
    inside = [p for p in positions if start <= p.start < stop]
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


def _loose_around(note: Note, inside: list[Position], at: int) -> bool:
    """Return True if blank lines separate the entries around a place, or the first two."""
    pairs = list(pairwise(inside))
    near = (pairs[at - 1 : at] if at else []) or pairs[:1]
    return any(note.text.count("\n", a.end, b.start) > 1 for a, b in near)


def _tail_item(kept: str, start: int, end: int) -> tuple[re.Match[str], bool] | None:
    """Return the last top-level bullet of a region, and True if a blank line separates it from the
    one before. None if it is not certain that what is below the bullet is nested in it."""
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
    """Return True if a blank line separates a bullet from one above it, and True if it is certainly
    a bullet."""
    end = _end(kept, start, at, _SPACE)
    if end == start:
        return False, True
    blank = kept.count("\n", end, at) > 1
    line = kept[max(kept.rfind("\n", 0, end) + 1, start) : end]
    listed = bool(ITEM.match(line)) or line[:1] in (" ", "\t")
    return blank and listed, listed or blank or not ordered


def _end(kept: str, start: int, stop: int, blank: str) -> int:
    """Return the end of the visible text between two places. Only its end is copied: a section may
    be long, and the blanks after it are few."""
    while stop > start:
        near = max(start, stop - 500)
        if seen := kept[near:stop].rstrip(blank):
            return near + len(seen)
        stop = near
    return start


def _marker(item: re.Match[str] | None, raws: str, start: int = 0, stop: int = maxsize) -> str:
    """Return the marker of the next item: the same, or the next number."""
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
    """Return True if most other headings of the note have a blank line below them."""
    score = 0
    for other in range(len(seen.headings)):
        start, stop = seen.region(other)
        if other != number and seen.kept[start:stop].strip(_SPACE + "\0"):
            blank = not seen.text[start : seen.text.find("\n", start)].strip()
            score += 1 if blank else -1
    return score > 0


def _level(seen: Outline) -> int:
    """Return the level of the sections of a note."""
    levels = [heading.level for heading in seen.headings]
    if 2 in levels or not levels:
        return 2
    if levels.count(1) > 1:
        return 1
    return min((level for level in levels if level > 1), default=2)
