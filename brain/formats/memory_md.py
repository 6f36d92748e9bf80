"""MEMORY.md: a heading tree with one memory per top-level list item or paragraph.

markdown-it-py finds the blocks, so fences, tables, callouts, HTML and comments are read as in
Obsidian. `inline` reads the inline syntax. The span of an entry in bytes, `start` to `end`, goes
from its marker to the end of its last nested line, including a comment on that line. Spans never
overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from textwrap import dedent
from typing import Any, NamedTuple
from unicodedata import normalize

from brain import kinds
from brain.formats import frontmatter, inline, note_md
from brain.formats.markdown import (
    MARKER,
    MATH,
    Block,
    blank,
    blocks,
    code_and_comments,
    without_math,
)
from brain.formats.memory_place import Heading, has, scan
from brain.formats.text import BOM, CLOCK, DAY, UNSAFE, Offsets, decode, derived_id
from brain.model import RELATIONS, Document, Entry, Link, Part, Problem

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
    if _is_long(text):
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
            tags=tuple(dict.fromkeys((*self.tags, *inline.tags(masked)))),
            created=None,
            links=tuple(inline.links(masked, self.offsets.line(start))),
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
        found = list(inline.BLOCK_ID.finditer(self.masked[begin:end]))
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
        spans, without_fields = inline.split_fields(masked)
        position = 0
        for start, end, key, value in spans:
            row += masked.count("\n", position, start)
            position = start
            name = inline.field_name(key)
            kind = name if name in RELATIONS else "link"
            targets = inline.WIKILINK.findall(value)
            links_found += [inline.wikilink(inner, kind, row) for inner in targets]
            if kind == "link" or not targets:
                text = shown[start:end].partition("::")[2][:-1].strip()  # including code
                field_values.setdefault(key, []).append(text)
        prose = blank(shown, [(field.start, field.end) for field in spans])
        prose = blank(prose, inline.tag_spans(without_fields))
        links_found += inline.links(without_fields, line)
        fields = {key: ", ".join(values) for key, values in field_values.items()}
        tags = list(dict.fromkeys(inline.tags(without_fields)))
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


# -- the part that has to be parsed after a change -------------------------------------------------
# A cut is the start of a line that begins a block, whatever is above it: a bullet or heading that
# is not indented, outside of code, comments, formulas and HTML. The texts above and below a cut can
# be parsed separately, if the headings above the lower text are known. So only the text between the
# last cut before a change and the first cut after it has to be parsed again.

# a line before the second line of a table is not a cut, because it is the first line of the table
_CUT = re.compile(r"^(?:[-*+]|(#{1,6})) +(?=\S).*+(?!\n {0,3}(?:[|:]|-[^ \n]))", re.MULTILINE)


def changed_part(before: bytes, after: bytes, owner: str = "") -> tuple[Document, Part] | None:
    """Return a document with the entries of the changed part, and the part itself. Return None if
    the whole note has to be parsed.

    The ids of the entries are correct if no entry outside of the part has the same id or words.
    """
    (old, old_problems), (new, new_problems) = decode(before), decode(after)
    properties, body_at, _ = frontmatter.properties_of(new)
    common = new.rfind("\n", 0, _common_length(old, new, 0, 1)) + 1  # end of the equal first lines
    if old_problems or new_problems or _is_long(old) or _is_long(new):
        return None
    if body_at != frontmatter.split(old)[1] or body_at > common:
        return None
    start = _cut_before(old, new, body_at, common)
    end = _cut_after(old, new, len(new) - _common_length(old, new, common, -1))
    head, old_part, new_part = new[:start], old[start : len(old) - len(new) + end], new[start:end]
    if not all(map(is_plain, (head, old_part, new_part))):
        return None
    above, old_headings, new_headings = scan(head, body_at), scan(old_part, 0), scan(new_part, 0)
    if above is None or old_headings is None or new_headings is None:
        return None
    level = _level_at(new, end)
    if _applicable_headings([*above, *old_headings], level) != _applicable_headings(
        [*above, *new_headings], level
    ):
        return None
    lead, tags = head.encode(), frontmatter.tags(properties)
    removed = drafts(old_part, _applicable_headings(above), tags, Offsets(old_part, lead))
    added = drafts(new_part, _applicable_headings(above), tags, Offsets(new_part, lead))
    (old_entries, old_repeated), (entries, new_repeated) = (
        with_ids(removed, owner),
        with_ids(added, owner),
    )
    if old_repeated or new_repeated:
        return None
    old_counts, new_counts = (
        Counter(draft.words for draft in drafts_) for drafts_ in (removed, added)
    )
    derived = [draft.words for draft in added if not draft.entry.ref]
    document = Document(
        entries=tuple(entries),
        title=frontmatter.title(properties),
        properties=properties,
        created=frontmatter.created(properties),
    )
    part = Part(
        start=len(lead),
        stop=len(lead) + len(old_part.encode()),
        lines=new_part.count("\n") - old_part.count("\n"),
        size=len(after) - len(before),
        refs=tuple(entry.ref for entry in old_entries),
        words=tuple({*(old_counts - new_counts), *(new_counts - old_counts), *derived}),
        derived=bool(derived),
    )
    return document, part


def part_around(text: str, offset: int) -> tuple[int, int, list[tuple[int, str]]] | None:
    """Return the start and end of a part with the entry at an offset and some entries before and
    after it, and the headings above the part. Return None if the part cannot be parsed alone."""
    body_at = frontmatter.split(text)[1]
    start = end = text.find("\n", offset) + 1 or len(text)
    for _ in range(3):
        start = _cut_before(text, text, body_at, start)
        end = _cut_after(text, text, end + 1)
    headings = scan(text[:start], body_at)
    if headings is None or not is_plain(text[:end]):
        return None
    return start, end, _applicable_headings(headings)


def is_plain(text: str) -> bool:
    """Return True if the text has neither comments nor formulas, which could hide other text."""
    return not has(text, "%%") and not has(text, "$$")


def _is_long(text: str) -> bool:
    return len(text) > MAX_CHARS or text.count("\n") > MAX_LINES


def _common_length(old: str, new: str, excluded: int, step: int) -> int:
    """Return the length of the common start (`step` 1) or end (`step` -1) of two texts. The first
    `excluded` characters do not belong to a common end."""
    low, high = 0, min(len(old), len(new)) - excluded
    while low < high:
        middle = (low + high + 1) // 2
        if step > 0:
            equal = old[low:middle] == new[low:middle]
        else:
            equal = (
                old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
            )
        low, high = (middle, high) if equal else (low, middle - 1)
    return low


def _cut_before(old: str, new: str, body_at: int, stop: int) -> int:
    """Return the last offset before `stop` that is a cut in both texts, else the body's start."""
    while stop > body_at:
        start = max(new.rfind("\n", 0, stop - 1) + 1, body_at)
        if _CUT.match(new, start) and _CUT.match(old, start):
            return start
        stop = start
    return body_at


def _cut_after(old: str, new: str, offset: int) -> int:
    """Return the first cut of the new text at or after an offset that starts a line in the old
    text, too; else the end of the new text."""
    shift = len(old) - len(new)
    cuts = (match.start() for match in _CUT.finditer(new, offset))
    return next((cut for cut in cuts if old.startswith("\n", cut + shift - 1)), len(new))


def _level_at(text: str, offset: int) -> int:
    """Return the level of the heading at an offset: 7 for a bullet, 0 at the end of the text."""
    match = _CUT.match(text, offset)
    if match is None:
        return 0  # the end of the text
    return len(match[1]) if match[1] else 7


def _applicable_headings(headings: Iterable[Heading], level: int = 7) -> list[tuple[int, str]]:
    """Return the levels and words of those headings that are above a block of the given level at
    the end of the text. The level is 1 to 6 for a heading, and 7 for any other block."""
    path: list[tuple[int, str]] = []
    for heading in headings:
        path = [pair for pair in path if pair[0] < heading.level]
        path.append((heading.level, heading.words))
    return [pair for pair in path if pair[0] < level]
