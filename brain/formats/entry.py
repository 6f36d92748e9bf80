"""One entry of a memory note: its parts, and edits of its words, links, tags, fields and id.

`raw` is the text of an entry, from its marker to the end of its last nested line, and `prefix` the
text before it on its line. An edit returns the new raw text and changes nothing else in it. An edit
that was made before returns the text unchanged.
"""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import dedent
from typing import NamedTuple

from brain.errors import BadRequest
from brain.formats import links
from brain.formats.json_spans import storable
from brain.formats.links import field_name
from brain.formats.markdown import MARKER, MATH, blank, blocks, code_and_comments
from brain.model import RELATIONS
from brain.words import casefold

# a line that starts a block of its own right below a line of words
_STARTS = re.compile(r"(?:[-*+]|1[.)])[ \t]+\S|>|#{1,6}(?:[ \t]|$)|```|~~~")
# a first line that cannot have words, tags and an id
_BLOCK = re.compile(r"```|~~~|\$\$|<[/!?A-Za-z](?![\w.+-]*[:@])|\|")
_LISTED = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|>")
_DELIMITER = re.compile(r"(?=[ \t|:]*-)[ \t|:-]*+$")
_MARKDOWN_LINK = re.compile(r"!?\[[^\[\]\n]*\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_BOX = re.compile(r"\[[^\[\]\n]\](?:\s+|$)")
_VALUE = re.compile(r"(?:\[\[[^\[\]\n]*\]\]|[^,])+")  # of a field that has several
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?(?:[:,]|(?=\s|$))"
)
# a line that could start a block of its own, up to where a backslash keeps it from doing so
_OPENS = re.compile(
    r"\d{1,9}(?=[.)](?:[ \t]|$))|(?=[-*+](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|>|\||<|```|~~~|\$\$"
    r"|[-=]+[ \t]*$|(?:[-*_][ \t]*){3,}$|\[[^\]\n]*\]:|={7}(?: |$))"
)


class Parts(NamedTuple):
    """The parts of an entry: `raw[:begin]` is its marker, `begin` to `end` its own text, `end` to
    `stop` what is nested in it. A comment may follow. In `masked`, code and comments are blank."""

    raw: str
    masked: str
    begin: int
    end: int
    stop: int
    is_item: bool
    id: tuple[int, int] | None  # its ` ^id`, the white space before it included
    name: str

    @property
    def own(self) -> str:
        """Return the own text, masked, to look for links, tags and fields."""
        return self.masked[self.begin : self.end]


class Marks(NamedTuple):
    """The links, tags and fields of a text, each as it is written."""

    links: list[str]
    tags: list[str]
    fields: list[str]


def parts(raw: str, prefix: str = "") -> Parts:
    """Return the parts of an entry, as `memory_md.parse` reads them."""
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
    ids = list(links.BLOCK_ID.finditer(masked[begin:end]))
    found = ids[-1] if ids else None
    span = (begin + found.start(), begin + found.end()) if found else None
    return Parts(raw, masked, begin, end, stop, is_item, span, found.group(1) if found else "")


def _own_stop(kept: str, shown: str, stop: int) -> int:
    """Return the end of the entry's own text, which is not nested in it."""
    if "\n" not in shown[:stop]:
        return stop
    block = next(blocks(kept), None)
    if block is None:
        return stop
    rows = shown.split("\n")
    return len("\n".join(rows[: block.own_stop]).rstrip())


def _marks(masked: str, shown: str) -> Marks:
    """Return the links, tags and fields of a text."""
    if not any(mark in masked for mark in "[(#"):
        return Marks([], [], [])
    spans, bare = links.split_fields(masked)
    found = [
        *((m.start() - (bare[m.start() - 1 : m.start()] == "!"), m.end()) for m in
          links.WIKILINK.finditer(bare)),
        *(m.span() for m in _MARKDOWN_LINK.finditer(bare) if links.links(m.group())),
    ]  # fmt: skip
    return Marks(
        [shown[start:stop] for start, stop in sorted(found)],
        [shown[start:stop] for start, stop in links.tag_spans(bare)],
        [shown[field.start : field.end] for field in spans],
    )


# -- writing --------------------------------------------------------------------------------------


class Style(NamedTuple):
    """The style of a note's entries: marker, indentation before it, further indentation of nested
    lines, and line ending. `careful` escapes what other text could give a meaning."""

    marker: str = "- "
    indent: str = ""
    nest: str = "    "
    newline: str = "\n"
    careful: bool = False


def written(
    ref: str,
    text: str,
    tags: tuple[str, ...],
    added: tuple[str, ...],
    fields: tuple[tuple[str, str], ...],
    style: Style,
) -> str:
    """Return a new entry: prose, links, tags, fields, id, and further lines nested below."""
    first, below = lines_of(text, style.careful)
    words = "\n".join((first, *below))
    existing = _marks(words, words)
    seen = {casefold(tag) for tag in existing.tags}
    marks = [mark for mark in map(as_tag, tags) if casefold(mark) not in seen]
    fresh = [_escaped(" ".join(link.split()), careful=False) for link in added]
    more = [*(link for link in fresh if link and link not in words), *dict.fromkeys(marks)]
    more += [as_field(key, value) for key, value in fields]
    if not (first or below or more):
        raise BadRequest("An entry needs words.", "Say what is to be remembered.")
    line = " ".join([word for word in (first, *more, f"^{ref}") if word])
    return style.marker + line + nested(below, style)


def lines_of(text: str, careful: bool) -> tuple[str, list[str]]:
    """Return the first line and the lines to nest below it. The first is '' if all are nested."""
    text = storable(text).replace("\r\n", "\n").replace("\r", "\n")
    text = _escaped(text, careful)
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
    """Return the lines without blank ones at the start and the end."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def nested(below: list[str], style: Style) -> str:
    """Return the lines below the first. A blank line precedes them unless they start a block: a
    line of text right below the first would continue it, and its id would not be at the end."""
    first = next((number for number, line in enumerate(below) if line.strip()), len(below))
    lines = below[first:]
    if not lines:
        return ""
    deeper = _deeper(style)
    rows = [deeper + line if line else "" for line in lines]
    gap = "" if _STARTS.match(lines[0]) and below[0].strip() else style.newline
    return style.newline + gap + style.newline.join(rows)


def _deeper(style: Style) -> str:
    """Return the indentation of nested lines: that of the note, if Markdown reads it as nested."""
    width = len(style.marker.expandtabs(4)) if style.marker.strip() else 0
    nested = len((style.indent + style.nest).expandtabs(4)) - len(style.indent.expandtabs(4))
    if width <= nested < width + 4:
        return style.indent + style.nest
    return style.indent + " " * width


def _escaped(text: str, careful: bool) -> str:
    """Return the text with each `%%` that would start a comment as `%\\%`, which reads the same. If
    `careful`, escape each `$$` that could start or end a formula as well."""
    if careful:
        text = text.replace("$$", "$\\$").replace("$$", "$\\$")
    while "%%" in text and (
        comments := code_and_comments(text)[1]
    ):  # each time at most half of them are left
        cuts = [0, *(start + 1 for start, _ in comments), len(text)]
        text = "\\".join([text[start:stop] for start, stop in pairwise(cuts)])
    return text


def as_tag(tag: str) -> str:
    tag = "#" + tag.lstrip("#")
    if links.tag_spans(tag) != [(0, len(tag))]:
        raise BadRequest(f"{tag} is not a tag.", "Use letters, digits, `-`, `_` and `/`.")
    return tag


def as_field(key: str, value: str) -> str:
    """Return `[key:: value]`, or with round brackets if only those can contain the value."""
    value = " ".join(storable(value).replace("%%", "%").split())
    for field in (f"[{key}:: {value}]", f"({key}:: {value})"):
        match = links.FIELD.fullmatch(field)
        if match and (match.group(1) or match.group(3)) == key:
            return field
    raise BadRequest(f"[{key}:: {value}] cannot be a field.", "Leave out the brackets.")


# -- edits ----------------------------------------------------------------------------------------


def anchored(entry: Parts, ref: str) -> str:
    """Return the entry with `^ref` as its id, instead of any other id."""
    raw = entry.raw
    if entry.name == ref:
        return raw
    if entry.id:
        at = raw.index("^", entry.id[0])
        return raw[: at + 1] + ref + raw[at + 1 + len(entry.name) :]
    at = _line_stop(entry)
    gap = "" if at == 0 or raw[at - 1].isspace() else " "
    return f"{raw[:at]}{gap}^{ref}{raw[at:]}"


def _line_stop(entry: Parts) -> int:
    """Return the end of the own text, after comments that end on its line."""
    if entry.begin == entry.end:
        return len(entry.raw[: entry.begin].rstrip())
    newline = entry.raw.find("\n", entry.end)
    line = entry.raw[entry.end : newline if newline >= 0 else len(entry.raw)]
    comment = line.rstrip()
    if comment and comment.endswith("%%") and comment.count("%%") % 2 == 0:
        return entry.end + len(comment)
    return entry.end


def retagged(entry: Parts, add: tuple[str, ...], remove: tuple[str, ...]) -> str:
    """Return the entry with some tags added to its own lines, and others removed."""
    raw = entry.raw
    gone = {casefold(as_tag(tag)) for tag in remove} - {casefold(as_tag(tag)) for tag in add}
    found = links.tag_spans(links.split_fields(entry.own)[1])
    spans = [(entry.begin + start, entry.begin + stop) for start, stop in found]
    there = {casefold(raw[start:stop]) for start, stop in spans}
    new = [mark for mark in dict.fromkeys(map(as_tag, add)) if casefold(mark) not in there]
    if new:
        at = _tag_place(entry, [s for s in spans if casefold(raw[s[0] : s[1]]) not in gone])
        raw = _insert(raw, at, " ".join(new))
        shift = len(raw) - len(entry.raw)
        spans = [(s + shift, e + shift) if s >= at else (s, e) for s, e in spans]
    for start, stop in reversed(spans):
        if casefold(raw[start:stop]) in gone:
            raw = _cut(raw, start, stop)
    return raw


def _insert(raw: str, at: int, words: str) -> str:
    """Return the text with these words inserted, separated by spaces."""
    before = "" if at == 0 or raw[at - 1].isspace() else " "
    after = "" if at >= len(raw) or raw[at].isspace() else " "
    return f"{raw[:at]}{before}{words}{after}{raw[at:]}"


def _cut(raw: str, start: int, stop: int) -> str:
    """Return the text without this word and one space around it, or all before it at a line end."""
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
    """Return the place of a new tag: after the last tag if only fields, links and the id follow it,
    else before those fields."""
    at = _words_stop(entry)
    tail = _tail_start(entry, at)
    if spans and spans[-1][1] >= tail:
        return spans[-1][1]
    later = [entry.begin + field.start for field in links.fields(entry.own)]
    later = [start for start in later if tail <= start]
    return len(entry.raw[: later[0]].rstrip()) if later else at


def _words_stop(entry: Parts) -> int:
    """Return the place of new words, before the id."""
    if entry.begin == entry.end:
        return len(entry.raw[: entry.begin].rstrip())
    if not entry.id:
        return entry.end
    at = len(entry.raw[: entry.id[0]].rstrip(" \t"))
    # an id on a line of its own: additions go before it on that line
    return entry.id[0] if entry.raw[at - 1 : at] == "\n" else at


def _tail_start(entry: Parts, stop: int) -> int:
    """Return the start of the run of links, tags and fields that ends at `stop`."""
    own = entry.masked[entry.begin : stop]
    spans, bare = links.split_fields(own)
    found = [(field.start, field.end) for field in spans] + links.tag_spans(bare)
    found += [match.span() for match in links.WIKILINK.finditer(bare)]
    at = len(own)
    for start, end in sorted(found, reverse=True):
        if own[end:at].strip():
            break
        at = start
    return entry.begin + at


def related(entry: Parts, key: str, value: str, gone: bool) -> str:
    """Return the entry with or without the field `[key:: value]`. Other fields of the key stay."""
    raw = entry.raw
    value = " ".join(value.split())
    for found in links.fields(entry.own):
        start, stop = entry.begin + found.start, entry.begin + found.end
        inner = raw[start:stop].partition("::")[2][:-1]
        held = list(_VALUE.finditer(inner))
        at = next((n for n, one in enumerate(held) if " ".join(one[0].split()) == value), -1)
        whole = " ".join(inner.split()) == value
        if field_name(found.key) != field_name(key) or not (whole or at >= 0):
            continue
        if not gone:
            return raw
        if whole or len(held) == 1:
            return _cut(raw, start, stop)
        first = stop - 1 - len(inner)
        if at:
            cut = held[at - 1].end(), held[at].end()
        else:
            cut = _lead(inner), held[1].start() + _lead(held[1][0])
        return raw[: first + cut[0]] + raw[first + cut[1] :]
    if gone:
        return raw
    at = _words_stop(entry)
    return _insert(raw, at, as_field(key, value))


def _lead(text: str) -> int:
    """Return the length of the white space at the start of a text."""
    return len(text) - len(text.lstrip())


def updated(entry: Parts, ref: str, text: str, style: Style, whole: bool = False) -> str:
    """Return the entry with a new text and its id. Links, tags, fields and date stay unless the
    text has them; nested lines stay unless the text has some. A `whole` text replaces all this."""
    first, below = lines_of(text, style.careful)
    if not first and not below:
        raise BadRequest("An entry needs words.", "To delete it, use `brain forget`.")
    raw, marker = entry.raw, entry.raw[: entry.begin]
    kept = [] if whole else _remaining(entry, "\n".join((first, *below)))
    box = _BOX.match(first)
    if entry.is_item and box and (boxed := _BOX.search(marker)):
        marker = f"{marker[: boxed.start()]}{box.group().rstrip()} "
        first = first[box.end() :]
    own = raw[entry.begin : entry.id[0] if entry.id else entry.end]
    date = _DATE.match(own)
    if date and not whole and not _DATE.match(first):
        first = f"{date.group()} {first}".rstrip()
    old = raw[entry.begin : entry.end]
    comments = [old[start:stop] for start, stop in code_and_comments(old)[1]]
    tail = [*kept, *comments, f"^{ref}"]
    if not entry.is_item:
        return _paragraph([first, *below], tail, style) + raw[entry.end :]
    if entry.begin == entry.end:  # a marker with nothing but nested lines
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
    """Return the links, tags and fields of the entry that the new text does not have."""
    old = _marks(entry.own, entry.raw[entry.begin : entry.end])
    new = _marks(words, words)
    there = {_address(link) for link in new.links}
    tags = {casefold(tag) for tag in new.tags}
    fields = {field_name(f.key) for f in links.fields(words) if field_name(f.key) not in RELATIONS}
    pairs = {(field_name(f.key), f.value) for f in links.fields(words)}
    held = [
        text
        for text in old.fields
        for f in links.fields(text)
        if field_name(f.key) not in fields and (field_name(f.key), f.value) not in pairs
    ]
    return [
        *dict.fromkeys(link for link in old.links if _address(link) not in there),
        *dict.fromkeys(tag for tag in old.tags if casefold(tag) not in tags),
        *dict.fromkeys(held),
    ]


def _address(link: str) -> str:
    found = links.links(link)
    return casefold(f"{found[0].target}#{found[0].fragment}") if found else link


def _paragraph(lines: list[str], tail: list[str], style: Style) -> str:
    """Return lines that read as one paragraph, with the tail at the end of the last."""
    rows = [line.strip() for line in lines if line.strip()]
    if match := _OPENS.match(rows[0]):
        rows[0] = match.group() + "\\" + rows[0][match.end() :]
    # a line with this indentation continues the paragraph and does not start a block
    rows = [rows[0], *(f"    {row}" if _OPENS.match(row) else row for row in rows[1:])]
    rows[-1] = " ".join((rows[-1], *tail))
    return style.newline.join(rows)
