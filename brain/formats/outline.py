"""The headings of a memory note, found without a full parse, and what a section is called.

Nearly all notes are headings at the start of a line with bullets under them, and a block of code
now and then: a scan finds those a hundred times as fast as markdown-it. As soon as it meets what
else could hide or make a heading (HTML, formulas, underlines, indented fences and headings)
markdown-it is asked after all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from brain.formats import markdown
from brain.formats.mask import blank, hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        upper = [
            n for n in range(min(number, len(self.headings))) if self.headings[n].level < level
        ]
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
    if _has(text, "%%"):
        comments = _comments(text, body_at)
        kept = blank(kept, comments, "\0")
    headings = None if _has(kept, "$$") else _scan(kept, body_at)
    if headings is not None:
        return Outline(text, kept, body_at, comments, headings, True)
    return Outline(text, kept, body_at, comments, list(_parsed(kept, body_at)), False)


def _comments(text: str, body_at: int) -> list[tuple[int, int]]:
    """Where comments are; without code in the note, that is from each `%%` to the next."""
    if "`" in text or _has(text, "~~~"):
        _, found = hidden(text[body_at:])
        return [(body_at + start, body_at + stop) for start, stop in found]
    comments = []
    start = text.find("%%", body_at)
    while start >= 0:
        close = text.find("%%", start + 2)
        stop = close + 2 if close >= 0 else len(text)
        comments.append((start, stop))
        start = text.find("%%", stop)
    return comments


def _scan(kept: str, body_at: int) -> list[Heading] | None:
    """The headings, if all are plain ones; None if it takes a parser to tell."""
    if "\r" in kept and _LONE.search(kept):
        return None
    headings: list[Heading] = []
    at = body_at
    while (at := _BULLETS.match(kept, at).end()) < len(kept):  # type: ignore[union-attr]
        after = kept.find("\n", at) + 1 or len(kept)
        line = kept[at:after].removesuffix("\n")
        if match := _HEADING.match(line):
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


def _has(text: str, marks: str) -> bool:
    """Are these in the text? Looking for one character first is fifty times as fast."""
    return marks[0] in text and marks in text


def _parsed(kept: str, body_at: int) -> Iterator[Heading]:
    """The headings by way of markdown-it."""
    starts = [0]
    for line in kept.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(kept)
    formulas = _formulas(kept, body_at) if _has(kept, "$$") else []
    for level, words, first, last in markdown.headings(markdown.without_math(kept, formulas)):
        yield Heading(level, words, starts[first], starts[last])


def _formulas(kept: str, body_at: int) -> list[tuple[int, int]]:
    code, _ = hidden(kept[body_at:])
    prose = blank(kept, [(body_at + start, body_at + stop) for start, stop in code])
    return [match.span() for match in markdown.MATH.finditer(prose.replace("\0", " "))]
