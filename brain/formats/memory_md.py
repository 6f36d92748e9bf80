"""MEMORY.md: a heading tree with one memory per top-level list item or paragraph.

markdown-it-py finds the blocks, so fences, tables, callouts, HTML and comments are read as in
Obsidian. `links` reads the inline syntax. The span of an entry in bytes, `start` to `end`, goes
from its marker to the end of its last nested line, including a comment on that line. Spans never
overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from textwrap import dedent
from typing import Any, NamedTuple
from unicodedata import normalize

from brain import kinds
from brain.formats import frontmatter, links, note_md
from brain.formats.markdown import (
    MARKER,
    MATH,
    Block,
    blank,
    blocks,
    code_and_comments,
    without_math,
)
from brain.formats.text import BOM, CLOCK, DAY, UNSAFE, Offsets, decode, derived_id
from brain.model import RELATIONS, Document, Entry, Link, Problem

MAX_CHARS, MAX_LINES = 1_000_000, 20_000  # a longer note is read as passages
DATE = re.compile(rf"({DAY}){CLOCK}(?=$|[:\s,])")
_FOOTNOTE = re.compile(r"\[\^[^\]\n]+\]:")
_COMMENT = re.compile(r"\0++(?:\n++\0++)*+")  # the NULs that replace a comment


class _Inline(NamedTuple):
    """The inline content of an entry. Fields that are relations are in `links`. `prose` is the text
    without tags and fields."""

    links: list[Link]
    fields: dict[str, str]
    tags: list[str]
    prose: str


class Draft(NamedTuple):
    """An entry whose `ref` is its block id, or '' if it has none. `with_ids` then derives an id
    from `words`."""

    entry: Entry
    words: str


def parse(data: bytes, owner: str = "") -> Document:
    """Return the content of a memory note. Derived ids depend on `owner`, the agent that the note
    belongs to.

    A note that cannot be edited safely is `broken`, and the spans of its entries are 0.
    """
    text, problems = decode(data)
    broken = any(problem.code in UNSAFE for problem in problems)
    if len(text) > MAX_CHARS or text.count("\n") > MAX_LINES:
        limit = f"{MAX_CHARS:,} characters or {MAX_LINES:,} lines"
        problem = Problem(1, "too-long", f"is over {limit}; it is read as a plain note")
        document = note_md.parse(data)
        return document._replace(problems=(*document.problems, problem), broken=broken)
    properties, body_at, more = frontmatter.properties_of(text)
    problems += more
    offsets = Offsets(text, BOM if data.startswith(BOM) else b"")
    note = _Note(text, body_at, frontmatter.tags(properties), offsets)
    entries, more = with_ids(note.drafts(), owner)
    return Document(
        entries=tuple(entry._replace(start=0, end=0) if broken else entry for entry in entries),
        problems=(*problems, *more, *note.hidden_rest()),
        title=frontmatter.title(properties),
        properties=properties,
        created=frontmatter.created(properties),
        broken=broken,
    )


def drafts(
    text: str, above: Iterable[tuple[int, str]], tags: tuple[str, ...], offsets: Offsets
) -> list[Draft]:
    """Return the entries of a part of a note. `above` are the levels and words of the headings
    above the part. `tags` are the tags of the whole note."""
    return list(_Note(text, 0, tags, offsets).drafts(above))


class _Note:
    """The text of a note in four forms of the same length: as written (`text`), with NULs in place
    of comments (`kept`), with spaces (`shown`), and also with blank code (`masked`)."""

    def __init__(self, text: str, body_at: int, tags: tuple[str, ...], offsets: Offsets) -> None:
        self.text = text
        code, comments = code_and_comments(text[body_at:])
        self.comments = [(body_at + start, body_at + stop) for start, stop in comments]
        body = blank(text, [(0, body_at)])
        self.kept = blank(body, self.comments, "\0")
        self.shown = self.kept.replace("\0", " ")
        prose = blank(self.shown, [(body_at + start, body_at + stop) for start, stop in code])
        self.math = [match.span() for match in MATH.finditer(prose)]
        self.masked = blank(prose, self.math)
        self.offsets = offsets
        self.tags = tags

    def drafts(self, above: Iterable[tuple[int, str]] = ()) -> Iterator[Draft]:
        for block in blocks(without_math(self.kept, self.math), above):
            start = self.offsets.starts[block.start]
            stop = self._end(block.stop, start)
            if stop == start:
                continue
            if block.kind != "other":
                start += _indent(self.shown[start:stop])
            if block.kind == "other" or self._is_aside(block, start, stop):
                yield self._passage(block, start, stop)
            elif draft := self._entry(block, start, stop):
                yield draft

    def hidden_rest(self) -> list[Problem]:
        """Return a problem if a comment is never closed, so that it hides the rest of the note."""
        start, end = self.comments[-1] if self.comments else (0, 0)
        last_comment = self.text[start:end]
        if _is_closed(last_comment) or not last_comment.strip("% \t\r\n"):
            return []
        message = "opens a comment (%%) that is never closed and hides the rest of the note"
        return [Problem(self.offsets.line(start), "open-comment", message)]

    def _is_aside(self, block: Block, start: int, stop: int) -> bool:
        """Return True for a formula or a footnote."""
        if block.kind == "item":
            return False
        formula = self.shown.startswith("$$", start) and not self.masked[start:stop].strip()
        return formula or bool(_FOOTNOTE.match(self.shown, start, stop))

    def _entry(self, block: Block, start: int, stop: int) -> Draft | None:
        marker = MARKER.match(self.shown, start, stop) if block.kind == "item" else None
        begin = marker.end() if marker else start
        end = max(begin, min(stop, self._end(block.own_stop, start)))
        block_id, cut, resume = self._block_id(begin, end)
        own = self._inline((begin, cut), (resume, end))
        nested = self._inline((end, stop))
        prose = own.prose or nested.prose
        if not (prose or own.tags or own.links or own.fields):
            return None
        fields = {**nested.fields, **own.fields}
        entry = self._entry_of(
            block,
            start,
            stop,
            ref=block_id,
            kind=kinds.kind_of_tags(own.tags)
            or kinds.kind_of_headings(block.path)
            or kinds.DEFAULT_KIND,
            status=kinds.status_of(own.tags),
            text=self._text(begin, cut, resume, end, stop),
            tags=tuple(dict.fromkeys((*self.tags, *own.tags, *nested.tags))),
            created=_created(prose, block.path),
            links=(*own.links, *nested.links),
            extra={"fields": fields} if fields else None,
        )
        return Draft(entry, prose)

    def _text(self, begin: int, cut: int, resume: int, end: int, stop: int) -> str:
        own = _tidy(self.kept[begin:cut] + self.kept[resume:end])
        return (own + _tidy(self.kept[end:stop])).lstrip("\n")

    def _passage(self, block: Block, start: int, stop: int) -> Draft:
        """Return the entry for a table, fence or callout, which is searchable but not a memory."""
        masked = self.masked[start:stop]
        text = _tidy(self.kept[start:stop], dedented=False)
        entry = self._entry_of(
            block,
            start,
            stop,
            ref="",
            kind="note",
            status="",
            text=text,
            tags=tuple(dict.fromkeys((*self.tags, *links.tags(masked)))),
            created=None,
            links=tuple(links.links(masked, self.offsets.line(start))),
        )
        return Draft(entry, text)

    def _entry_of(self, block: Block, start: int, stop: int, **rest: Any) -> Entry:
        offsets = self.offsets
        end = self._with_comments(stop)
        return Entry(
            heading=" > ".join(block.path),
            line=offsets.line(start),
            end_line=offsets.line(end - 1),
            start=offsets.byte(start),
            end=offsets.byte(end),
            **rest,
        )

    def _end(self, row: int, start: int) -> int:
        """Return the end of the text from `start` to row `row`, without trailing white space."""
        starts = self.offsets.starts
        stop = starts[row] if row < len(starts) else len(self.shown)
        return start + len(self.shown[start:stop].rstrip())

    def _with_comments(self, stop: int) -> int:
        """Return the end of the comments that follow `stop` on the same line. A comment that is
        never closed is not part of the entry."""
        line_end = self.shown.find("\n", stop)
        if line_end < 0:
            line_end = len(self.shown)
        index = bisect_left(self.comments, (stop, 0))
        while index < len(self.comments):
            start, end = self.comments[index]
            if start > line_end or stop > line_end or not _is_closed(self.text[start:end]):
                break
            stop = end
            index += 1
        return stop

    def _block_id(self, begin: int, end: int) -> tuple[str, int, int]:
        """Return the last block id that ends a line of the entry's own text, and the span of the
        id; '' and an empty span if there is none. The id need not be on the last line, because a
        person may have added lines below it."""
        found = list(links.BLOCK_ID.finditer(self.masked[begin:end]))
        if not found:
            return "", end, end
        return found[-1].group(1), begin + found[-1].start(), begin + found[-1].end()

    def _inline(self, *parts: tuple[int, int]) -> _Inline:
        """Return the inline content of spans of the text."""
        masked = "".join([self.masked[start:stop] for start, stop in parts])
        shown = "".join([self.shown[start:stop] for start, stop in parts])
        line = row = self.offsets.line(parts[0][0])
        links_found: list[Link] = []
        field_values: dict[str, list[str]] = {}
        spans, without_fields = links.split_fields(masked)
        position = 0
        for start, end, key, value in spans:
            row += masked.count("\n", position, start)
            position = start
            name = links.field_name(key)
            kind = name if name in RELATIONS else "link"
            targets = links.WIKILINK.findall(value)
            links_found += [links.wikilink(inner, kind, row) for inner in targets]
            if kind == "link" or not targets:
                text = shown[start:end].partition("::")[2][:-1].strip()  # including code
                field_values.setdefault(key, []).append(text)
        prose = blank(shown, [(field.start, field.end) for field in spans])
        prose = blank(prose, links.tag_spans(without_fields))
        links_found += links.links(without_fields, line)
        fields = {key: ", ".join(values) for key, values in field_values.items()}
        tags = list(dict.fromkeys(links.tags(without_fields)))
        return _Inline(links_found, fields, tags, " ".join(prose.split()))


def _is_closed(comment: str) -> bool:
    return len(comment) >= 4 and comment.endswith("%%")


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def with_ids(drafts: Iterable[Draft], owner: str) -> tuple[list[Entry], list[Problem]]:
    """Return the entries with ids, and the problems. An entry without a block id gets an id that is
    derived from the owner, its words and the number of entries with the same words so far."""
    drafts = list(drafts)
    anchored: dict[str, int] = {}
    for entry, _ in drafts:
        if entry.ref:
            anchored.setdefault(entry.ref, entry.line)
    taken = set(anchored)
    counts: dict[tuple[str, str], int] = {}
    entries, problems = [], []
    for entry, words in drafts:
        prefix = "n" if entry.kind == "note" else "m"
        count = counts[prefix, words] = counts.get((prefix, words), 0) + 1
        if anchored.get(entry.ref) == entry.line:
            entries.append(entry._replace(extra={**(entry.extra or {}), "anchored": True}))
            continue
        if entry.ref:
            message = f"^{entry.ref} is on line {anchored[entry.ref]} already; "
            message += "this entry is treated as if it had none"
            problems.append(Problem(entry.line, "duplicate-id", message))
        ref = _free_id(prefix, owner, words, count, taken)
        taken.add(ref)
        entries.append(entry._replace(ref=ref))
    return entries, problems


def _free_id(prefix: str, owner: str, words: str, count: int, taken: set[str]) -> str:
    """Return the id of the `count`th entry with these words. If another entry has this id, return
    the first id that is free."""
    owner, words = normalize("NFC", owner), normalize("NFC", words)
    ref = derived_id(prefix, owner, words, str(count))
    number = 0
    while ref in taken:
        number += 1
        ref = derived_id(prefix, owner, words, str(number))
    return ref


def _created(prose: str, path: tuple[str, ...]) -> str | None:
    """Return the date at the start of the entry, else the date of the innermost heading that starts
    with one, else None."""
    for words in (prose, *reversed(path)):
        if (match := DATE.match(words)) and frontmatter.is_time(match.group(1)):
            return match.group(1)
    return None


def _tidy(kept: str, dedented: bool = True) -> str:
    """Return the text without comments and trailing white space. With `dedented`, also remove the
    common indentation of the lines below the first."""
    if "\0" in kept:
        kept = _without_comments(kept)
    first, *rest = [line.rstrip() for line in kept.split("\n")]
    below = dedent("\n".join(rest)) if dedented else "\n".join(rest)
    return f"{first}\n{below}".rstrip().replace("\r", " ")


def _without_comments(kept: str) -> str:
    """Remove comments with the space before them. If a comment is alone on its line, remove the
    line."""
    parts = _COMMENT.split(kept)
    for i, rest in enumerate(parts[1:]):
        before = parts[i].rstrip(" \t")
        is_alone = before[-1:] in ("", "\n") and rest.lstrip(" \t\r")[:1] in ("", "\n")
        parts[i] = before[:-1] if is_alone else before
    return "".join(parts)
