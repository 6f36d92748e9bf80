"""The place of an entry in MEMORY.md: the sections of the note, and the style of its entries.

`outline` finds the headings. Nearly all notes consist of headings at the start of a line, bullets,
and sometimes a block of code. A scan of such a note is a hundred times as fast as markdown-it. If
the scan finds other text that could hide or be a heading (HTML, formulas, underlines, indented
fences and headings), markdown-it parses the note.

`quick` finds a place by the outline, without a parse, if the text there is simple. `former` and
`place_in_section` use the entries that a parse has found. The caller checks that the entry is read
correctly at its place.
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
from brain.formats.text import newline_near, refused
from brain.model import Insert
from brain.words import casefold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brain.formats.memory_edit import Note, Position

TITLE = "Agent Memory"
ITEM = re.compile(r"([-*+]|(\d{1,9})([.)]))([ \t]+)(?=\S)")
RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t\r]*$")
_BULLET = re.compile(r"(?:\n|\A)([-*+])[ \t]+(?=\S)")
_NUMBERS = re.compile(r"^(\d{1,9})[.)][ \t]", re.MULTILINE)
_TITLE = re.compile(r"\w[\w ,.:;'()/&+-]*")  # words that are certainly a valid heading
_CODE = re.compile("```|~~~")
_SPACE = " \t\r\n"
# nearly all lines: bullets, lines that are indented by four or more, and blank lines
_BULLETS = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]) \S[^\n]*+\n|(?: {4}|\t)[^\n]*+\n|\r?\n)*+")
_HEADING = re.compile(r"(#{1,6})(?=[ \t\r]|$)(.*)")
# lines that could hide or be a heading: indented headings, HTML, underlines, indented fences
_NOT_PLAIN = re.compile(
    r" {1,3}(?:#{1,6}(?:[ \t\r]|$)|```|~~~)| {0,3}(?:<|=+[ \t\r]*$|-+[ \t\r]*$)"
)
_LONE_RETURN = re.compile(r"\r(?!\n)")  # a carriage return that is read as a space
_FENCE = re.compile(r"(?:(`)`{2,}[^`\0]*|(~)~{2,}[^\0]*)$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t\r\0]*$")
_NUMBERED = re.compile(r"^[\W_]*\d|\d[\W_]*$")


# -- the outline -----------------------------------------------------------------------------------


class Heading(NamedTuple):
    """A heading. Its line starts at `start`, and its content starts at `end`."""

    level: int
    words: str
    start: int
    end: int


class Outline(NamedTuple):
    """The headings of a text.

    `kept` is the text with blank frontmatter, and with NULs in place of comments. If `plain`, the
    text has only headings, lists, paragraphs, quotes, tables and code, and all fences outside of
    lists are at the start of a line.
    """

    text: str
    kept: str
    body_at: int
    comments: list[tuple[int, int]]
    headings: list[Heading]
    plain: bool

    def region(self, number: int) -> tuple[int, int]:
        """Return the start and end of a heading's own content. -1 stands for the text before the
        first heading."""
        start = self.headings[number].end if number >= 0 else self.body_at
        after = number + 1
        stop = self.headings[after].start if after < len(self.headings) else len(self.text)
        return start, stop

    def stop(self, number: int, level: int) -> int:
        """Return the start of the next heading of this level or a higher one, or the end of the
        text."""
        later = (h.start for h in self.headings[number + 1 :] if h.level <= level)
        return next(later, len(self.text))

    def path(self, number: int) -> tuple[str, ...]:
        """Return the words of a heading and of the headings above it, outermost first."""
        words_reversed: list[str] = []
        level = 7
        for heading in reversed(self.headings[: number + 1]):
            if heading.level < level:
                level = heading.level
                words_reversed.append(heading.words)
        return tuple(words for words in reversed(words_reversed) if words)

    def above(self, number: int, level: int) -> tuple[str, ...]:
        """Return the words of the headings above a heading of this level that would be inserted as
        heading `number`."""
        upper = [n for n, h in enumerate(self.headings[:number]) if h.level < level]
        return self.path(upper[-1]) if upper else ()

    def number_at(self, offset: int) -> int:
        """Return the number of the last heading above an offset; -1 if there is none."""
        return sum(1 for heading in self.headings if heading.start <= offset) - 1

    def find(self, section: str) -> int | None:
        """Return the number of the heading with the words or path `section`, else of the first one
        with the same words apart from emoji, numbers and emphasis, else None. Return -1 for '',
        which stands for the text before the first heading."""
        if not section.strip():
            return -1
        wanted = _folded(section)
        names = [_folded(heading.words) for heading in self.headings]
        if wanted in names:
            return names.index(wanted)
        if " > " in section:
            paths = [_folded(" > ".join(self.path(n))) for n in range(len(self.headings))]
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


@lru_cache(256)  # the same headings are compared many times
def _folded(words: str) -> str:
    return casefold(" ".join(words.split()))


def outline(text: str, body_at: int) -> Outline:
    """Return the outline of a note whose body starts at `body_at`."""
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
    return Outline(text, kept, body_at, comments, list(_parse_headings(kept, body_at)), False)


def scan(kept: str, body_at: int) -> list[Heading] | None:
    """Return the headings of a plain text; None if a parse is needed."""
    if "\r" in kept and _LONE_RETURN.search(kept):
        return None
    headings: list[Heading] = []
    offset = body_at
    while (offset := _BULLETS.match(kept, offset).end()) < len(kept):  # type: ignore[union-attr]
        after = kept.find("\n", offset) + 1 or len(kept)
        line = kept[offset:after].removesuffix("\n")
        if match := _HEADING.match(line):
            if "|" in line:
                return None  # it may be the first line of a table
            words = _CLOSING.sub("", match.group(2)).replace("\0", " ")
            headings.append(Heading(match.end(1), " ".join(words.split()), offset, after))
        elif line.startswith(("```", "~~~")):
            if not (after := _end_of_fence(kept, line, after)):
                return None
        elif _NOT_PLAIN.match(line):
            return None
        offset = after
    return headings


def _end_of_fence(kept: str, line: str, offset: int) -> int:
    """Return the end of the code block that a line opens; 0 if it is not certain."""
    match = _FENCE.match(line)
    if match is None:
        return 0
    mark = match[1] or match[2]
    length = len(line) - len(line.lstrip(mark))
    close = re.compile(rf"^ {{0,3}}{mark}{{{length},}}[ \t\r]*$", re.MULTILINE).search(kept, offset)
    if close is None or close[0][0] == " " or "\0" in kept[offset : close.end()]:
        return 0
    return min(close.end() + 1, len(kept))


def has(text: str, marks: str) -> bool:
    """Return True if the two characters `marks` are in the text. To search for the first character
    first is fifty times as fast."""
    return marks[0] in text and marks in text


def _parse_headings(kept: str, body_at: int) -> Iterator[Heading]:
    """Yield the headings that markdown-it finds."""
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
    """The place of a new entry: an offset at the start of a line or the end of the text, the
    heading to write above the entry, and the style of the entry."""

    offset: int
    style: Style
    heading: str  # the path of the section
    before: bool = False  # True to write a blank line before
    after: bool = False  # True to write a blank line after
    new_heading: str = ""  # the lines of a new heading; '' if the section exists


def quick(note: Note, parsed: Outline, section: str) -> Place | None:
    """Return the place of a new entry without a parse; None if a parse is needed."""
    if not parsed.plain:
        return None
    number = parsed.find(section)
    if number is None:
        return _place_of_new_section(note, parsed, section) if _TITLE.fullmatch(section) else None
    start, stop = parsed.region(number)
    heading = " > ".join(parsed.path(number))
    end = _visible_end(parsed.kept, start, stop, _SPACE + "\0")
    if end == start:
        return _after_heading(note, parsed, number) if "\0" not in parsed.kept[start:stop] else None
    offset = note.text.find("\n", end) + 1 or len(note.text)
    if "\0" in parsed.kept[end:offset]:
        return None
    last_item = _tail_item(parsed.kept, start, end)
    if last_item is None:
        return None
    item, loose = last_item
    if item[2] and _CODE.search(parsed.kept, start, end):
        return None  # lines of code may begin with numbers, too
    style = Style(_next_marker(item, parsed.kept, start, end), newline=newline_near(note.text, end))
    return Place(offset, style, heading, before=loose)


def place_in_section(note: Note, parsed: Outline, section: str, care: int) -> Place:
    """Return the place of a new entry next to the other entries of its section.

    With more `care`, the place is farther from text that may hide the entry.
    """
    number = parsed.find(section)
    if number is None:
        return _place_of_new_section(note, parsed, section, care)
    start, stop = parsed.region(number)
    entries = [p for p in note.load() if start <= p.start < stop]
    entries.sort(key=lambda p: p.start)
    if care >= 2:  # not after a passage that may hide the text after it
        while entries and entries[-1].is_passage:
            del entries[-1]
    if care >= 4:
        entries = entries[:-1]
    if care >= 6:
        entries = []
    if not entries:
        place, apart = _after_heading(note, parsed, number), bool(care % 2)
        style = place.style._replace(careful=care > 0)
        return place._replace(style=style, before=place.before or apart, after=apart)
    return _after_last(note, entries, " > ".join(parsed.path(number)), care)


def _after_last(note: Note, entries: list[Position], heading: str, care: int) -> Place:
    """Return the place after the last of the entries, in the style of the entries."""
    last = entries[-1]
    items = [p for p in entries if note.item(p)]
    ends_with_item = bool(items) and items[-1] is last
    raws = "\n".join(note.raw(p) for p in items)
    item = note.item(items[-1]) if items else None
    style = Style(
        _next_marker(item, raws) if item else bullet(note.text),
        note.prefix(items[-1]) if items else "",
        newline=newline_near(note.text, last.start),
        careful=care > 0,
    )
    offset = note.text.find("\n", last.end) + 1 or len(note.text)
    between = note.text[items[-2].end : items[-1].start] if len(items) > 1 else ""
    loose = between.count("\n") > 1 and not between.strip()
    before = not ends_with_item or loose or bool(care % 2)
    return Place(offset, style, heading, before, after=bool(care % 2))


def _after_heading(note: Note, parsed: Outline, number: int) -> Place:
    """Return the place directly after a heading, or at the start of the body."""
    start, _ = parsed.region(number)
    heading = " > ".join(parsed.path(number))
    style = Style(bullet(note.text), newline=newline_near(note.text, start))
    if number < 0:
        return Place(start, style, heading, after=bool(_line_at(note.text, start).strip()))
    if start < len(note.text) and not note.text[start:].strip():
        return Place(len(note.text), style, heading)  # after the blank lines at the end
    return Place(start, style, heading, before=_has_blank_after_headings(parsed, number))


def _line_at(text: str, offset: int) -> str:
    return text[offset:].partition("\n")[0]


def _place_of_new_section(note: Note, parsed: Outline, section: str, care: int = 0) -> Place:
    """Return the place of a new section: at the end of its parent if `section` is a path, else
    after the last section."""
    parent_path, _, title = " ".join(section.split()).lstrip("# ").rpartition(" > ")
    newline = newline_near(note.text, len(note.text))
    style = Style(bullet(note.text), newline=newline, careful=care > 0)
    if not note.text:
        heading_lines = f"# {TITLE}{newline}{newline}## {title}{newline}"
        return Place(0, style, f"{TITLE} > {title}", new_heading=heading_lines)
    level, above, stop = _new_section(parsed, parent_path)
    offset = _next_line(note, parsed, stop)
    gap = newline if _has_blank_after_headings(parsed, -1) else ""
    heading_lines = f"{'#' * level} {title}{newline}{gap}"
    before, after = bool(note.text[:offset].strip()), bool(_line_at(note.text, offset).strip())
    return Place(offset, style, " > ".join([*above, title]), before, after, heading_lines)


def _new_section(parsed: Outline, parent_path: str) -> tuple[int, tuple[str, ...], int]:
    """Return the level of a new section, the headings above it, and the offset after its
    siblings."""
    parent = parsed.find(parent_path) if parent_path else None
    if parent is not None and parsed.headings[parent].level < 6:
        level = parsed.headings[parent].level
        return level + 1, parsed.path(parent), parsed.stop(parent, level)
    level = _section_level(parsed)
    last = max((n for n, h in enumerate(parsed.headings) if h.level == level), default=None)
    if last is None:
        return level, parsed.above(len(parsed.headings), level), len(parsed.text)
    return level, parsed.above(last, level), parsed.stop(last, level)


def _next_line(note: Note, parsed: Outline, stop: int) -> int:
    """Return the start of the line after the last visible line before `stop`."""
    end = _visible_end(parsed.kept, 0, stop, _SPACE + "\0")
    offset = max(note.text.find("\n", end) + 1 or len(note.text), parsed.body_at)
    for start, close in parsed.comments:
        if start < offset <= close and not note.text.endswith("%%", start + 2, close):
            line = note.text.count("\n", 0, start) + 1
            raise refused(note.path, line, "opens a comment `%%` that is never closed")
        if start < offset < close:
            offset = note.text.find("\n", close) + 1 or len(note.text)
    return offset


def former(note: Note, parsed: Outline, change: Insert, care: int) -> Place:
    """Return the place at which an entry is put back: after the entry `change.previous`, or first
    in its section if `previous` is ''. If that entry is not in the section anymore, return the
    place of a new entry."""
    number = parsed.find(change.section)
    positions = sorted(note.load(), key=lambda p: p.start)
    for position in positions:
        if position.ref == change.previous and position.heading == change.section:
            number = parsed.number_at(position.start)  # if two sections have the same name
    if number is None or care > 1:
        return place_in_section(note, parsed, change.section, care)
    start, stop = parsed.region(number)
    entries = [p for p in positions if start <= p.start < stop]
    refs = [p.ref for p in entries]
    if change.previous in refs:
        entries_before = entries[: refs.index(change.previous) + 1]
        place = _after_last(note, entries_before, " > ".join(parsed.path(number)), care)
        item = ITEM.match(change.raw) and note.item(entries_before[-1])
        loose = _loose_around(note, entries, len(entries_before))
        return place._replace(before=loose if item else True)
    if change.previous or not entries:
        return place_in_section(note, parsed, change.section, care)
    place = _after_heading(note, parsed, number)
    offset = note.text.rfind("\n", 0, entries[0].start) + 1
    indent = note.prefix(entries[0]) if note.item(entries[0]) else ""
    loose = _loose_around(note, entries, 0) or entries[0].is_passage or not ITEM.match(change.raw)
    return place._replace(
        offset=offset, style=place.style._replace(indent=indent), before=False, after=loose
    )


def _loose_around(note: Note, entries: list[Position], index: int) -> bool:
    """Return True if blank lines separate the entries before and at an index, or, if one of the two
    does not exist, the first two entries."""
    pairs = list(pairwise(entries))
    pairs_near = (pairs[index - 1 : index] if index else []) or pairs[:1]
    return any(note.text.count("\n", a.end, b.start) > 1 for a, b in pairs_near)


def _tail_item(kept: str, start: int, end: int) -> tuple[re.Match[str], bool] | None:
    """Return the last top-level bullet of a region, and True if a blank line separates it from the
    bullet before. Return None if it is not certain that the text after the bullet is nested."""
    least_indent, end_of_line = 1_000, end
    while end_of_line > start:
        line_start = max(kept.rfind("\n", 0, end_of_line) + 1, start)
        line = kept[line_start:end_of_line].rstrip("\r")
        item = ITEM.match(line)
        if item:
            width = len(item.group(1)) + len(item.group(4).expandtabs(4))
            if RULE.match(line) or least_indent < width or len(item.group(4)) > 4:
                return None
            loose, is_certain = _above_item(kept, start, line_start, ordered=bool(item.group(2)))
            return (item, loose) if is_certain else None
        unindented = line.lstrip(" \t")
        if unindented and unindented == line:
            return None
        if unindented:
            least_indent = min(least_indent, len(line[: len(line) - len(unindented)].expandtabs(4)))
        end_of_line = line_start - 1
    return None


def _above_item(kept: str, start: int, line_start: int, ordered: bool) -> tuple[bool, bool]:
    """Return two values for a line like a bullet: True if a blank line separates it from a bullet
    above, and True if the line is certainly a bullet."""
    end = _visible_end(kept, start, line_start, _SPACE)
    if end == start:
        return False, True
    has_blank = kept.count("\n", end, line_start) > 1
    line = kept[max(kept.rfind("\n", 0, end) + 1, start) : end]
    is_listed = bool(ITEM.match(line)) or line[:1] in (" ", "\t")
    return has_blank and is_listed, is_listed or has_blank or not ordered


def _visible_end(kept: str, start: int, stop: int, invisible: str) -> int:
    """Return the end of the text between two offsets without the characters `invisible` at its end.
    It is searched for in short pieces from the end, because a section may be long."""
    while stop > start:
        piece_start = max(start, stop - 500)
        if visible := kept[piece_start:stop].rstrip(invisible):
            return piece_start + len(visible)
        stop = piece_start
    return start


def _next_marker(item: re.Match[str] | None, raws: str, start: int = 0, stop: int = maxsize) -> str:
    """Return the marker for the next item: the same bullet, or the next number."""
    if item is None:
        return "- "
    mark, number, bracket, space = item.groups()
    space = space if len(space) < 5 else " "
    if not number:
        return mark + space
    numbers = _NUMBERS.findall(raws, start, stop)
    step = 0 if len(numbers) > 1 and numbers[-1] == numbers[-2] else 1
    return f"{min(int(number) + step, 999_999_999)}{bracket}{space}"


def _has_blank_after_headings(parsed: Outline, number: int) -> bool:
    """Return True if most other headings of the note are followed by a blank line."""
    score = 0
    for other in range(len(parsed.headings)):
        start, stop = parsed.region(other)
        if other != number and parsed.kept[start:stop].strip(_SPACE + "\0"):
            blank = not parsed.text[start : parsed.text.find("\n", start)].strip()
            score += 1 if blank else -1
    return score > 0


def _section_level(parsed: Outline) -> int:
    """Return the level of headings that the note uses for sections."""
    levels = [heading.level for heading in parsed.headings]
    if 2 in levels or not levels:
        return 2
    if levels.count(1) > 1:
        return 1
    return min((level for level in levels if level > 1), default=2)


def bullet(text: str) -> str:
    """Return the marker of the first bullet of the note; `- ` if there is none."""
    for match in _BULLET.finditer(text):
        if not RULE.match(text[match.start(1) :].partition("\n")[0]):
            return match.group(1) + " "
    return "- "
