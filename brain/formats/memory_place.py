"""Where an entry of MEMORY.md goes: the sections of the note, and how the note is written.

`outline` finds the headings. Nearly all notes are headings at the start of a line with bullets
under them, and a block of code now and then: a scan finds those a hundred times as fast as
markdown-it. As soon as the scan meets what else could hide or make a heading (HTML, formulas,
underlines, indented fences and headings), markdown-it is asked after all.

`quick` finds a place by the outline, without a parse, where nothing odd is near; `usual` and
`former` use the entries that a parse has found. The caller checks whether the entry reads as it
should there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from sys import maxsize
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from brain.formats import markdown
from brain.formats.entry import Style
from brain.formats.markdown import blank, hidden
from brain.formats.text import refused
from brain.model import Insert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brain.formats.memory_edit import Note, Piece

TITLE = "Agent Memory"
ITEM = re.compile(r"([-*+]|(\d{1,9})([.)]))([ \t]+)(?=\S)")
RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t\r]*$")
_NUMBERS = re.compile(r"^(\d{1,9})[.)][ \t]", re.MULTILINE)
_TITLE = re.compile(r"\w[\w ,.:;'()/&+-]*")  # words that are surely the words of a heading
_CODE = re.compile("```|~~~")
_SPACE = " \t\r\n"
# nearly every line: bullets, what is indented as far as only nested lines and code are, blank ones
_BULLETS = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]) \S[^\n]*+\n|(?: {4}|\t)[^\n]*+\n|\r?\n)*+")
_HEADING = re.compile(r"(#{1,6})(?=[ \t\r]|$)(.*)")
# what could hide or make a heading: indented ones, HTML, underlines, indented fences
_ODD = re.compile(r" {1,3}(?:#{1,6}(?:[ \t\r]|$)|```|~~~)| {0,3}(?:<|=+[ \t\r]*$|-+[ \t\r]*$)")
_LONE = re.compile(r"\r(?!\n)")  # which stands for a space
_FENCE = re.compile(r"(?:(`)`{2,}[^`\0]*|(~)~{2,}[^\0]*)$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t\r\0]*$")
_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_NUMBERED = re.compile(r"^[\W_]*\d|\d[\W_]*$")


# -- the outline -----------------------------------------------------------------------------------


class Heading(NamedTuple):
    """A heading: its line starts at `start`, what is under it at `end`."""

    level: int
    words: str
    start: int
    end: int


class Outline(NamedTuple):
    """The headings of a text. `kept` is the text with frontmatter blank and comments as NULs;
    `plain` says that nothing but headings, lists, paragraphs, quotes, tables and code can be in it,
    and that fences which are not in a list open and close at the start of a line."""

    text: str
    kept: str
    body_at: int
    comments: list[tuple[int, int]]
    headings: list[Heading]
    plain: bool

    def region(self, number: int) -> tuple[int, int]:
        """From where to where the own content of a heading goes; of none, for number -1."""
        start = self.headings[number].end if number >= 0 else self.body_at
        after = number + 1
        stop = self.headings[after].start if after < len(self.headings) else len(self.text)
        return start, stop

    def stop(self, number: int, level: int) -> int:
        """Where what is under a heading ends, up to the next of this level or above it."""
        later = (h.start for h in self.headings[number + 1 :] if h.level <= level)
        return next(later, len(self.text))

    def path(self, number: int) -> tuple[str, ...]:
        """The words of a heading and of those above it, outermost first."""
        out: list[str] = []
        level = 7
        for heading in reversed(self.headings[: number + 1]):
            if heading.level < level:
                level = heading.level
                out.append(heading.words)
        return tuple(words for words in reversed(out) if words)

    def above(self, number: int, level: int) -> tuple[str, ...]:
        """The words of the headings that a heading of this level would stand under here."""
        upper = [n for n, h in enumerate(self.headings[:number]) if h.level < level]
        return self.path(upper[-1]) if upper else ()

    def at(self, place: int) -> int:
        """The number of the heading above this character; -1 if none is."""
        return sum(1 for heading in self.headings if heading.start <= place) - 1

    def find(self, section: str) -> int | None:
        """The number of the heading that is meant: by its path or words as they are written, else
        by its words without emoji, numbers and emphasis. '' means the text before any heading."""
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
        wanted = _bare(section)
        if not wanted or _NUMBERED.search(section):
            return None
        return next((n for n, h in enumerate(self.headings) if _bare(h.words) == wanted), None)


@lru_cache(256)  # the same few headings are asked for again and again
def _plain(words: str) -> str:
    return normalize("NFC", " ".join(words.split())).casefold()


def _bare(words: str) -> str:
    """The words as `kinds.of_headings` compares them."""
    words = _EDGES.sub("", words.partition(" #")[0])
    return _plain(words).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def outline(text: str, body_at: int) -> Outline:
    """The headings of a note whose body starts at `body_at`, as `memory_md.parse` sees them."""
    kept = blank(text, [(0, body_at)]) if body_at else text
    comments: list[tuple[int, int]] = []
    if has(text, "%%"):
        comments = [(body_at + start, body_at + stop) for start, stop in hidden(text[body_at:])[1]]
        kept = blank(kept, comments, "\0")
    headings = None if has(kept, "$$") else scan(kept, body_at)
    if headings is not None:
        return Outline(text, kept, body_at, comments, headings, True)
    return Outline(text, kept, body_at, comments, list(_parsed(kept, body_at)), False)


def scan(kept: str, body_at: int) -> list[Heading] | None:
    """The headings, if all are plain ones; None if it takes a parser to tell."""
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
    """Where the code ends that this line opens at its start; 0 if that is not sure."""
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
    """Are these in the text? Looking for one character first is fifty times as fast."""
    return marks[0] in text and marks in text


def _parsed(kept: str, body_at: int) -> Iterator[Heading]:
    """The headings by way of markdown-it."""
    starts = [0]
    for line in kept.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(kept)
    formulas = []
    if has(kept, "$$"):
        code = [(body_at + start, body_at + stop) for start, stop in hidden(kept[body_at:])[0]]
        prose = blank(kept, code).replace("\0", " ")
        formulas = [match.span() for match in markdown.MATH.finditer(prose)]
    for level, words, first, last in markdown.headings(markdown.without_math(kept, formulas)):
        yield Heading(level, words, starts[first], starts[last])


# -- the place of an entry -------------------------------------------------------------------------


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
    between = note.text[items[-2].end : items[-1].start] if len(items) > 1 else ""
    loose = between.count("\n") > 1 and not between.strip()
    before = not listed or loose or bool(care % 2)
    return Place(at, style, heading, before, after=bool(care % 2))


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
    """Place a section that does not exist: under its parent if named, else after the last one."""
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
    near = (pairs[at - 1 : at] if at else []) or pairs[:1]
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
