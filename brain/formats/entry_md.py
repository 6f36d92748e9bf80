"""One entry of a memory note, taken apart and put together: its words, links, tags, fields, id.

Everything here is about the text of one entry, from its marker to the end of its last nested line
(`raw`), and what stands before it on its line (`prefix`). A function that edits gives the new raw
text; what it is not about stays as it is.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import NamedTuple
from unicodedata import normalize

from brain.errors import BadRequest
from brain.formats import links
from brain.formats.markdown import MARKER, MATH, blocks
from brain.formats.mask import blank, hidden

# a line that starts a block of its own right below a line of words
_STARTS = re.compile(r"(?:[-*+]|1[.)])[ \t]+\S|>|#{1,6}(?:[ \t]|$)|```|~~~")
# a first line that words, tags and an id cannot stand on
_BLOCK = re.compile(r"```|~~~|\$\$|<[/!?A-Za-z](?![\w.+-]*[:@])|\|")
_LISTED = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|>")
_DELIMITER = re.compile(r"[ \t|:-]*-[ \t|:-]*$")
_MARKDOWN_LINK = re.compile(r"!?\[[^\[\]\n]*\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_UNSTORABLE = re.compile("[\ud800-\udfff\0]")


class Parts(NamedTuple):
    """Where the parts of an entry are: `raw[:begin]` is its marker, `begin` to `end` its own text,
    `end` to `stop` what is nested in it, and a comment may stand behind that. `masked` has code
    and comments blank."""

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
        """The own text as links, tags and fields are looked for in it."""
        return self.masked[self.begin : self.end]


class Said(NamedTuple):
    """What an entry says beside its prose, each as it is written."""

    links: list[str]
    tags: list[str]
    fields: list[str]


def parts(raw: str, prefix: str = "") -> Parts:
    """Take an entry apart as `memory_md.parse` does."""
    lead = prefix if not prefix.strip(" \t") else "\0" * len(prefix)
    text = lead + raw
    code, comments = hidden(text)
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
    """Where the text ends that is the entry's own and not nested in it."""
    if "\n" not in shown[:stop]:
        return stop
    block = next(blocks(kept), None)
    if block is None:
        return stop
    rows = shown.split("\n")
    return len("\n".join(rows[: block.own_stop]).rstrip())


def said(masked: str, shown: str) -> Said:
    """The links, tags and fields of a text."""
    if not any(mark in masked for mark in "[(#"):
        return Said([], [], [])
    spans = links.fields(masked)
    bare = blank(masked, [(field.start, field.end) for field in spans])
    found = [
        *((m.start() - (bare[m.start() - 1 : m.start()] == "!"), m.end()) for m in
          links.WIKILINK.finditer(bare)),
        *(m.span() for m in _MARKDOWN_LINK.finditer(bare) if links.links(m.group())),
    ]  # fmt: skip
    return Said(
        [shown[start:stop] for start, stop in sorted(found)],
        [shown[start:stop] for start, stop in links.tag_spans(bare)],
        [shown[field.start : field.end] for field in spans],
    )


def name(key: str) -> str:
    return key.casefold().replace(" ", "_").replace("-", "_")


def same(word: str) -> str:
    return normalize("NFC", word).casefold()


# -- writing --------------------------------------------------------------------------------------


class Style(NamedTuple):
    """How a note writes its entries: marker, what stands before it, how much deeper what is nested
    goes, and how a line ends. `careful` escapes what could be read together with other text."""

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
    """A new entry: prose, links, tags, fields, id; further lines nested below."""
    first, below = lines_of(text, style.careful)
    words = "\n".join((first, *below))
    there = said(words, words)
    seen = {same(tag) for tag in there.tags}
    marks = [mark for mark in map(as_tag, tags) if same(mark) not in seen]
    fresh = [_escaped(" ".join(link.split()), careful=False) for link in added]
    more = [*(link for link in fresh if link and link not in words), *dict.fromkeys(marks)]
    more += [as_field(key, value) for key, value in fields]
    if not (first or below or more):
        raise BadRequest("An entry needs words.", "Say what is to be remembered.")
    line = " ".join([word for word in (first, *more, f"^{ref}") if word])
    return style.marker + line + nested(below, style)


def lines_of(text: str, careful: bool) -> tuple[str, list[str]]:
    """The first line and those to be nested below it; the first is '' if all of them are."""
    text = _UNSTORABLE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
    text = _escaped(text, careful)
    lines = [line.rstrip(" \t") for line in text.split("\n")]
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    if not lines:
        return "", []
    first, below = lines[0].strip(), lines[1:]
    table = bool(below) and "|" in first and _DELIMITER.match(below[0])
    block = _BLOCK.match(first) and (below or first[0] != "|")
    if table or block or (below and _LISTED.match(first)):
        return "", dedent("\n".join(lines)).split("\n")
    return first, dedent("\n".join(below)).split("\n") if below else []


def nested(below: list[str], style: Style) -> str:
    """The lines below the first; a blank one before them unless they start a block, because what
    goes on right below a line belongs to it, and an id counts only at the very end of it."""
    lines = list(below)
    while lines and not lines[0].strip():
        del lines[0]
    if not lines:
        return ""
    deeper = _deeper(style)
    rows = [deeper + line if line else "" for line in lines]
    gap = "" if _STARTS.match(lines[0]) and below[0].strip() else style.newline
    return style.newline + gap + style.newline.join(rows)


def _deeper(style: Style) -> str:
    """What indents nested lines: the note's way, if Markdown takes that as nested."""
    width = len(style.marker.expandtabs(4)) if style.marker.strip() else 0
    nested = len((style.indent + style.nest).expandtabs(4)) - len(style.indent.expandtabs(4))
    if width <= nested < width + 4:
        return style.indent + style.nest
    return style.indent + " " * width


def _escaped(text: str, careful: bool) -> str:
    """`text` with each `%%` that would start a comment as `%\\%`, which reads the same, and, if
    one has to be careful, each `$$` that could start or end a formula."""
    if careful:
        text = text.replace("$$", "$\\$").replace("$$", "$\\$")
    while "%%" in text and (comments := hidden(text)[1]):
        for start, _ in reversed(comments):
            text = f"{text[: start + 1]}\\{text[start + 1 :]}"
    return text


def as_tag(tag: str) -> str:
    tag = "#" + tag.lstrip("#")
    if links.tag_spans(tag) != [(0, len(tag))]:
        raise BadRequest(f"{tag} is not a tag.", "Use letters, digits, `-`, `_` and `/`.")
    return tag


def as_field(key: str, value: str) -> str:
    """`[key:: value]`, or with round brackets if only those can hold it."""
    value = " ".join(_UNSTORABLE.sub("\ufffd", value).replace("%%", "%").split())
    for said in (f"[{key}:: {value}]", f"({key}:: {value})"):
        match = links.FIELD.fullmatch(said)
        if match and (match.group(1) or match.group(3)) == key:
            return said
    raise BadRequest(f"[{key}:: {value}] cannot be a field.", "Leave out the brackets.")
