"""One entry of a memory note: its parts, and edits of its words, links, tags, fields and id.

`raw` is the text of an entry from its marker to the end of its last nested line, and `prefix` is
the text before the marker on the same line. An edit returns the new raw text. It changes no other
part of the entry, and an edit that was made before changes nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import dedent
from typing import NamedTuple

from brain.errors import BadRequest
from brain.formats import inline
from brain.formats.inline import field_name
from brain.formats.markdown import MARKER, MATH, blank, blocks, code_and_comments
from brain.formats.text import CLOCK, DAY, storable
from brain.model import RELATIONS
from brain.words import casefold

# a line that starts a block, even if no blank line separates it from the text above
_NESTED_BLOCK = re.compile(r"(?:[-*+]|1[.)])[ \t]+\S|>|#{1,6}(?:[ \t]|$)|```|~~~")
# a first line that starts a block such as code or a table, so that no tags and id can follow it
_BLOCK = re.compile(r"```|~~~|\$\$|<[/!?A-Za-z](?![\w.+-]*[:@])|\|")
_LISTED = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|>")
_DELIMITER = re.compile(r"(?=[ \t|:]*-)[ \t|:-]*+$")
_MARKDOWN_LINK = re.compile(r"!?\[[^\[\]\n]*\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_BOX = re.compile(r"\[[^\[\]\n]\](?:\s+|$)")
_VALUE = re.compile(r"(?:\[\[[^\[\]\n]*\]\]|[^,])+")  # one of several values of a field
_DATE = re.compile(rf"{DAY}{CLOCK}(?:[:,]|(?=\s|$))")
# the beginning of a line that could start a block; a backslash after the match makes it plain text
_BLOCK_START = re.compile(
    r"\d{1,9}(?=[.)](?:[ \t]|$))|(?=[-*+](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|>|\||<|```|~~~|\$\$"
    r"|[-=]+[ \t]*$|(?:[-*_][ \t]*){3,}$|\[[^\]\n]*\]:|={7}(?: |$))"
)


class Parts(NamedTuple):
    """The parts of an entry: `raw[:begin]` is its marker, `begin` to `end` is its own text, `end`
    to `stop` is nested text, and `raw[stop:]` may be a comment. `masked` is `raw` with blanks in
    place of code and comments."""

    raw: str
    masked: str
    begin: int
    end: int
    stop: int
    is_item: bool
    id_span: tuple[int, int] | None  # the span of ` ^id`, including the white space before it
    id: str  # '' if the entry has none

    @property
    def own(self) -> str:
        """The masked own text, in which links, tags and fields are searched for."""
        return self.masked[self.begin : self.end]


class Marks(NamedTuple):
    """The links, tags and fields of a text, each as it is written, such as `#tag`."""

    links: list[str]
    tags: list[str]
    fields: list[str]


def parts(raw: str, prefix: str = "") -> Parts:
    """Split an entry into its parts, as `memory_md.parse` reads them."""
    lead = prefix if not prefix.strip(" \t") else "\0" * len(prefix)
    text = lead + raw
    code, comments = code_and_comments(text)
    kept = blank(text, comments, "\0")
    shown = kept.replace("\0", " ")
    masked = blank(shown, code)
    if "$$" in masked:
        masked = blank(masked, [match.span() for match in MATH.finditer(masked)])
    shown, masked = shown[len(lead) :], masked[len(lead) :]
    stop = len(shown.rstrip())
    is_item = not lead.strip(" \t") and bool(MARKER.match(shown))
    begin = MARKER.match(shown, 0, stop).end() if is_item else 0  # type: ignore[union-attr]
    end = max(begin, min(stop, _own_stop(kept, shown, stop)))
    ids = list(inline.BLOCK_ID.finditer(masked[begin:end]))
    last_id = ids[-1] if ids else None
    span = (begin + last_id.start(), begin + last_id.end()) if last_id else None
    return Parts(raw, masked, begin, end, stop, is_item, span, last_id.group(1) if last_id else "")


def _own_stop(kept: str, shown: str, stop: int) -> int:
    """Return the end of the entry's own text, where nested text begins."""
    if "\n" not in shown[:stop]:
        return stop
    block = next(blocks(kept), None)
    if block is None:
        return stop
    rows = shown.split("\n")
    return len("\n".join(rows[: block.own_stop]).rstrip())


def _find_marks(masked: str, shown: str) -> Marks:
    """Return the links, tags and fields that are found in `masked`, as `shown` has them."""
    if not any(mark in masked for mark in "[(#"):
        return Marks([], [], [])
    spans, bare = inline.split_fields(masked)
    found = [
        *((m.start() - (bare[m.start() - 1 : m.start()] == "!"), m.end()) for m in
          inline.WIKILINK.finditer(bare)),
        *(m.span() for m in _MARKDOWN_LINK.finditer(bare) if inline.links(m.group())),
    ]  # fmt: skip
    return Marks(
        [shown[start:stop] for start, stop in sorted(found)],
        [shown[start:stop] for start, stop in inline.tag_spans(bare)],
        [shown[field.start : field.end] for field in spans],
    )


# -- writing --------------------------------------------------------------------------------------


class Style(NamedTuple):
    """The style of a note's entries: the marker, the indentation before it, the additional
    indentation of nested lines, and the line ending. If `careful`, `$$` is escaped in new texts, so
    that it does not start a formula."""

    marker: str = "- "
    indent: str = ""
    nest: str = "    "
    newline: str = "\n"
    careful: bool = False


def new_entry(
    ref: str,
    text: str,
    tags: tuple[str, ...],
    given_links: tuple[str, ...],
    fields: tuple[tuple[str, str], ...],
    style: Style,
) -> str:
    """Return a new entry: a line with the first line of `text`, the links, tags, fields and id, and
    below it the other lines of `text`, nested."""
    first, below = lines_of(text, style.careful)
    all_text = "\n".join((first, *below))
    existing = _find_marks(all_text, all_text)
    existing_tags = {casefold(tag) for tag in existing.tags}
    marks = [mark for mark in map(as_tag, tags) if casefold(mark) not in existing_tags]
    new_links = [_escape(" ".join(link.split()), careful=False) for link in given_links]
    additions = [
        *(link for link in new_links if link and link not in all_text),
        *dict.fromkeys(marks),
    ]
    additions += [as_field(key, value) for key, value in fields]
    if not (first or below or additions):
        raise BadRequest("The entry has no words.", "Give the text to remember.")
    line = " ".join([word for word in (first, *additions, f"^{ref}") if word])
    return style.marker + line + nested(below, style)


def lines_of(text: str, careful: bool) -> tuple[str, list[str]]:
    """Return the first line of an entry, and the lines to nest below it. The first line is '' if
    the text starts with a block such as a table, because the whole text is then nested."""
    text = storable(text).replace("\r\n", "\n").replace("\r", "\n")
    text = _escape(text, careful)
    lines = [line.rstrip(" \t") if line.strip() else "" for line in text.split("\n")]
    lines = _without_blank_ends(lines)
    if not lines:
        return "", []
    first, below = lines[0].strip(), lines[1:]
    table = bool(below) and "|" in first and _DELIMITER.match(below[0])
    block = _BLOCK.match(first) and (below or first[0] != "|")
    if table or block or (below and _LISTED.match(first)):
        return "", dedent("\n".join(lines)).split("\n")
    return first, dedent("\n".join(below)).split("\n") if below else []


def _without_blank_ends(lines: list[str]) -> list[str]:
    """Return the lines without blank lines at the start and the end."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def nested(below: list[str], style: Style) -> str:
    """Return the lines of `below`, indented. A blank line precedes them unless they start a block.
    Without the blank line, they would continue the paragraph of the first line."""
    first = next((number for number, line in enumerate(below) if line.strip()), len(below))
    lines = below[first:]
    if not lines:
        return ""
    deeper = _nested_indent(style)
    rows = [deeper + line if line else "" for line in lines]
    gap = "" if _NESTED_BLOCK.match(lines[0]) and below[0].strip() else style.newline
    return style.newline + gap + style.newline.join(rows)


def _nested_indent(style: Style) -> str:
    """Return the indentation of nested lines: the note's usual indentation if Markdown reads lines
    with it as nested, else the width of the marker."""
    width = len(style.marker.expandtabs(4)) if style.marker.strip() else 0
    nested = len((style.indent + style.nest).expandtabs(4)) - len(style.indent.expandtabs(4))
    if width <= nested < width + 4:
        return style.indent + style.nest
    return style.indent + " " * width


def _escape(text: str, careful: bool) -> str:
    """Escape each `%%` that would start a comment as `%\\%`, which is displayed the same. If
    `careful`, also escape each `$$` that could start or end a formula."""
    if careful:
        text = text.replace("$$", "$\\$").replace("$$", "$\\$")
    # each pass leaves at most half of the comments
    while "%%" in text and (comments := code_and_comments(text)[1]):
        cuts = [0, *(start + 1 for start, _ in comments), len(text)]
        text = "\\".join([text[start:stop] for start, stop in pairwise(cuts)])
    return text


def as_tag(tag: str) -> str:
    tag = "#" + tag.lstrip("#")
    if inline.tag_spans(tag) != [(0, len(tag))]:
        remedy = "A tag has letters, digits, `-`, `_` and `/`, and is not only a number."
        raise BadRequest(f"{tag} cannot be a tag.", remedy)
    return tag


def as_field(key: str, value: str) -> str:
    """Return `[key:: value]`, or `(key:: value)` if the value does not fit in square brackets."""
    value = " ".join(storable(value).replace("%%", "%").split())
    for field in (f"[{key}:: {value}]", f"({key}:: {value})"):
        match = inline.FIELD.fullmatch(field)
        if match and (match.group(1) or match.group(3)) == key:
            return field
    raise BadRequest(f"[{key}:: {value}] cannot be a field.", "Leave out the brackets.")


# -- edits ----------------------------------------------------------------------------------------


def with_id(entry: Parts, ref: str) -> str:
    """Return the entry with the id `^ref`, which replaces any other id."""
    raw = entry.raw
    if entry.id == ref:
        return raw
    if entry.id_span:
        offset = raw.index("^", entry.id_span[0])
        return raw[: offset + 1] + ref + raw[offset + 1 + len(entry.id) :]
    offset = _line_stop(entry)
    gap = "" if offset == 0 or raw[offset - 1].isspace() else " "
    return f"{raw[:offset]}{gap}^{ref}{raw[offset:]}"


def _line_stop(entry: Parts) -> int:
    """Return the end of the own text, including comments that end on its last line."""
    if entry.begin == entry.end:
        return len(entry.raw[: entry.begin].rstrip())
    newline = entry.raw.find("\n", entry.end)
    line = entry.raw[entry.end : newline if newline >= 0 else len(entry.raw)]
    comment = line.rstrip()
    if comment and comment.endswith("%%") and comment.count("%%") % 2 == 0:
        return entry.end + len(comment)
    return entry.end


def with_tags(entry: Parts, add: tuple[str, ...], remove: tuple[str, ...]) -> str:
    """Return the entry with the tags `add` in its own text and without the tags `remove`."""
    raw = entry.raw
    gone = {casefold(as_tag(tag)) for tag in remove} - {casefold(as_tag(tag)) for tag in add}
    found = inline.tag_spans(inline.split_fields(entry.own)[1])
    spans = [(entry.begin + start, entry.begin + stop) for start, stop in found]
    present = {casefold(raw[start:stop]) for start, stop in spans}
    new = [mark for mark in dict.fromkeys(map(as_tag, add)) if casefold(mark) not in present]
    if new:
        offset = _tag_place(entry, [s for s in spans if casefold(raw[s[0] : s[1]]) not in gone])
        raw = _insert(raw, offset, " ".join(new))
        shift = len(raw) - len(entry.raw)
        spans = [(s + shift, e + shift) if s >= offset else (s, e) for s, e in spans]
    for start, stop in reversed(spans):
        if casefold(raw[start:stop]) in gone:
            raw = _without_word(raw, start, stop)
    return raw


def _insert(raw: str, offset: int, words: str) -> str:
    """Insert words into a text, separated by spaces."""
    before = "" if offset == 0 or raw[offset - 1].isspace() else " "
    after = "" if offset >= len(raw) or raw[offset].isspace() else " "
    return f"{raw[:offset]}{before}{words}{after}{raw[offset:]}"


def _without_word(raw: str, start: int, stop: int) -> str:
    """Remove a word and one space next to it. If the word ends a line, remove all spaces before
    it."""
    if raw[stop : stop + 1] in ("", "\n", "\r") and raw[:start].rstrip(" \t")[-1:] not in (
        "",
        "\n",
    ):
        start = len(raw[:start].rstrip(" \t"))
    elif start and raw[start - 1] in " \t" and raw[start - 2 : start - 1] not in ("", "\n"):
        start -= 1
    elif raw[stop : stop + 1] in (" ", "\t"):
        stop += 1
    return raw[:start] + raw[stop:]


def _tag_place(entry: Parts, spans: list[tuple[int, int]]) -> int:
    """Return the offset for a new tag: after the last tag if only links, fields and the id follow
    that tag. Otherwise, it is before the fields at the end of the text, or at the end."""
    words_end = _words_stop(entry)
    tail = _tail_start(entry, words_end)
    if spans and spans[-1][1] >= tail:
        return spans[-1][1]
    later_fields = [entry.begin + field.start for field in inline.fields(entry.own)]
    later_fields = [start for start in later_fields if tail <= start]
    return len(entry.raw[: later_fields[0]].rstrip()) if later_fields else words_end


def _words_stop(entry: Parts) -> int:
    """Return the offset for new words, which is before the id."""
    if entry.begin == entry.end:
        return len(entry.raw[: entry.begin].rstrip())
    if not entry.id_span:
        return entry.end
    offset = len(entry.raw[: entry.id_span[0]].rstrip(" \t"))
    # if the id is alone on a line, additions go before it on that line
    return entry.id_span[0] if entry.raw[offset - 1 : offset] == "\n" else offset


def _tail_start(entry: Parts, stop: int) -> int:
    """Return the start of the links, tags and fields directly before `stop`."""
    own = entry.masked[entry.begin : stop]
    spans, bare = inline.split_fields(own)
    marks = [(field.start, field.end) for field in spans] + inline.tag_spans(bare)
    marks += [match.span() for match in inline.WIKILINK.finditer(bare)]
    tail = len(own)
    for start, end in sorted(marks, reverse=True):
        if own[end:tail].strip():
            break
        tail = start
    return entry.begin + tail


def with_field(entry: Parts, key: str, value: str, gone: bool) -> str:
    """Return the entry with the field `[key:: value]`, or without it if `gone`. Other values of the
    same key are kept."""
    raw = entry.raw
    value = " ".join(value.split())
    for found in inline.fields(entry.own):
        start, stop = entry.begin + found.start, entry.begin + found.end
        inner = raw[start:stop].partition("::")[2][:-1]
        values = list(_VALUE.finditer(inner))
        index = next((n for n, each in enumerate(values) if _is_same(each[0], value)), -1)
        whole = _is_same(inner, value)
        if field_name(found.key) != field_name(key) or not (whole or index >= 0):
            continue
        if not gone:
            return raw
        if whole or len(values) == 1:
            return _without_word(raw, start, stop)
        inner_start = stop - 1 - len(inner)
        if index:
            cut = values[index - 1].end(), values[index].end()
        else:
            cut = _leading_space(inner), values[1].start() + _leading_space(values[1][0])
        return raw[: inner_start + cut[0]] + raw[inner_start + cut[1] :]
    if gone:
        return raw
    index = _words_stop(entry)
    return _insert(raw, index, as_field(key, value))


def _is_same(value: str, other: str) -> bool:
    """Return True if two values of a field are equal, or links to the same place."""
    value, other = " ".join(value.split()), " ".join(other.split())
    if not (value.startswith("[[") and other.startswith("[[")):
        return value == other
    return _address(value) == _address(other) and value.count("[[") == other.count("[[")


def _leading_space(text: str) -> int:
    """Return the length of the white space at the start of a text."""
    return len(text) - len(text.lstrip())


def with_text(entry: Parts, ref: str, text: str, style: Style, whole: bool = False) -> str:
    """Return the entry with a new text and the same id. Links, tags, fields, the date and nested
    lines are kept unless the new text has others. If `whole`, only the new text remains."""
    first, below = lines_of(text, style.careful)
    if not first and not below:
        raise BadRequest("The entry has no words.", "To delete it, use `brain forget`.")
    raw, marker = entry.raw, entry.raw[: entry.begin]
    remaining = [] if whole else _remaining(entry, "\n".join((first, *below)))
    box = _BOX.match(first)
    if entry.is_item and box and (boxed := _BOX.search(marker)):
        marker = f"{marker[: boxed.start()]}{box.group().rstrip()} "
        first = first[box.end() :]
    own = raw[entry.begin : entry.id_span[0] if entry.id_span else entry.end]
    date = _DATE.match(own)
    if date and not whole and not _DATE.match(first):
        first = f"{date.group()} {first}".rstrip()
    old = raw[entry.begin : entry.end]
    comments = [old[start:stop] for start, stop in code_and_comments(old)[1]]
    tail = [*remaining, *comments, f"^{ref}"]
    if not entry.is_item:
        return _paragraph([first, *below], tail, style) + raw[entry.end :]
    if entry.begin == entry.end:  # a marker with only nested lines
        marker = marker.rstrip() + " "
    new = marker + " ".join([word for word in (first, *tail) if word])
    after = raw[entry.end :] if entry.begin < entry.end else raw[len(raw[: entry.begin].rstrip()) :]
    if below:
        newline = after.find("\n")
        same_line = after if newline < 0 else after[:newline].removesuffix("\r")
        new += same_line.rstrip() + nested(below, style)
        after = raw[entry.stop :] if newline >= 0 else ""
    elif whole and entry.end < entry.stop:
        after = raw[entry.stop :]
    return new + after


def _remaining(entry: Parts, words: str) -> list[str]:
    """Return the links, tags and fields of the entry that the new text does not contain."""
    old = _find_marks(entry.own, entry.raw[entry.begin : entry.end])
    new = _find_marks(words, words)
    present = {_address(link) for link in new.links}
    tags = {casefold(tag) for tag in new.tags}
    fields = {field_name(f.key) for f in inline.fields(words) if field_name(f.key) not in RELATIONS}
    pairs = {(field_name(f.key), f.value) for f in inline.fields(words)}
    kept_fields = [
        text
        for text in old.fields
        for f in inline.fields(text)
        if field_name(f.key) not in fields and (field_name(f.key), f.value) not in pairs
    ]
    return [
        *dict.fromkeys(link for link in old.links if _address(link) not in present),
        *dict.fromkeys(tag for tag in old.tags if casefold(tag) not in tags),
        *dict.fromkeys(kept_fields),
    ]


def _address(link: str) -> str:
    found = inline.links(link)
    return casefold(f"{found[0].target}#{found[0].fragment}") if found else link


def _paragraph(lines: list[str], tail: list[str], style: Style) -> str:
    """Return the lines as one paragraph, with the tail at the end of the last line."""
    rows = [line.strip() for line in lines if line.strip()]
    if match := _BLOCK_START.match(rows[0]):
        rows[0] = match.group() + "\\" + rows[0][match.end() :]
    # an indented line continues the paragraph and does not start a block
    rows = [rows[0], *(f"    {row}" if _BLOCK_START.match(row) else row for row in rows[1:])]
    rows[-1] = " ".join((rows[-1], *tail))
    return style.newline.join(rows)
