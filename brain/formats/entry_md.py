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
from brain.formats.mask import blank, hidden

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+|$)(?:\[[^\[\]\n]\](?:\s+|$))?")
_BOX = re.compile(r"\[[^\[\]\n]\](?:\s+|$)")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?(?:[:,]|(?=\s|$))"
)
_MATH = re.compile(r"^ {0,3}+\$\$(?:(?!\$\$).)*+\$\$[ \t\r]*+$", re.MULTILINE | re.DOTALL)
# a line that starts a block of its own right below a line of words
_STARTS = re.compile(r"(?:[-*+]|1[.)])[ \t]+\S|>|#{1,6}(?:[ \t]|$)|```|~~~")
# a first line that words, tags and an id cannot stand on
_BLOCK = re.compile(r"```|~~~|\$\$|<[/!?A-Za-z](?![\w.+-]*[:@])|\|")
_LISTED = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|>")
_DELIMITER = re.compile(r"[ \t|:-]*-[ \t|:-]*$")
# a line that could start a block of its own, up to where a backslash keeps it from doing so
_OPENS = re.compile(
    r"\d{1,9}(?=[.)](?:[ \t]|$))|(?=[-*+](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|>|\||<|```|~~~|\$\$"
    r"|[-=]+[ \t]*$|(?:[-*_][ \t]*){3,}$|\[[^\]\n]*\]:|={7}(?: |$))"
)
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
        masked = blank(masked, [match.span() for match in _MATH.finditer(masked)])
    shown, masked = shown[len(lead) :], masked[len(lead) :]
    stop = len(shown.rstrip())
    is_item = not lead.strip(" \t") and bool(_MARKER.match(shown))
    begin = _MARKER.match(shown, 0, stop).end() if is_item else 0  # type: ignore[union-attr]
    end = max(begin, min(stop, _own_stop(kept, shown, stop)))
    ids = list(links.BLOCK_ID.finditer(masked[begin:end]))
    found = ids[-1] if ids else None
    span = (begin + found.start(), begin + found.end()) if found else None
    return Parts(raw, masked, begin, end, stop, is_item, span, found.group(1) if found else "")


def _own_stop(kept: str, shown: str, stop: int) -> int:
    """Where the text ends that is the entry's own and not nested in it."""
    if "\n" not in shown[:stop]:
        return stop
    from brain.formats.memory_md import blocks

    block = next(blocks(kept), None)
    if block is None:
        return stop
    rows = shown.split("\n")
    return len("\n".join(rows[: block.own_stop]).rstrip())


def said(masked: str, shown: str) -> Said:
    """The links, tags and fields of a text."""
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


def _name(key: str) -> str:
    return key.casefold().replace(" ", "_").replace("-", "_")


def _same(word: str) -> str:
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
    first, below = _lines(text, style.careful)
    words = "\n".join((first, *below))
    there = said(words, words)
    seen = {_same(tag) for tag in there.tags}
    marks = [mark for mark in map(_tag, tags) if _same(mark) not in seen]
    fresh = [_escaped(" ".join(link.split()), careful=False) for link in added]
    more = [*(link for link in fresh if link and link not in words), *dict.fromkeys(marks)]
    more += [field(key, value) for key, value in fields]
    if not (first or below or more):
        raise BadRequest("An entry needs words.", "Say what is to be remembered.")
    line = " ".join([word for word in (first, *more, f"^{ref}") if word])
    return style.marker + line + _nested(below, style)


def _lines(text: str, careful: bool) -> tuple[str, list[str]]:
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


def _nested(below: list[str], style: Style) -> str:
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


def _tag(tag: str) -> str:
    tag = "#" + tag.lstrip("#")
    if links.tag_spans(tag) != [(0, len(tag))]:
        raise BadRequest(f"{tag} is not a tag.", "Use letters, digits, `-`, `_` and `/`.")
    return tag


def field(key: str, value: str) -> str:
    """`[key:: value]`, or with round brackets if only those can hold it."""
    value = " ".join(_UNSTORABLE.sub("\ufffd", value).replace("%%", "%").split())
    for said in (f"[{key}:: {value}]", f"({key}:: {value})"):
        match = links.FIELD.fullmatch(said)
        if match and (match.group(1) or match.group(3)) == key:
            return said
    raise BadRequest(f"[{key}:: {value}] cannot be a field.", "Leave out the brackets.")


# -- editing --------------------------------------------------------------------------------------


def anchored(entry: Parts, ref: str) -> str:
    """The entry with `^ref` as its id, and nothing else; another id gives way to it."""
    raw = entry.raw
    if entry.name == ref:
        return raw
    if entry.id:
        at = raw.index("^", entry.id[0])
        return raw[: at + 1] + ref + raw[at + 1 + len(entry.name) :]
    at = _line_stop(entry)
    return raw[:at] + _gap(raw, at) + f"^{ref}" + raw[at:]


def _line_stop(entry: Parts) -> int:
    """The end of the own text, behind comments that end on its line."""
    if entry.begin == entry.end:
        return len(entry.raw[: entry.begin].rstrip())
    newline = entry.raw.find("\n", entry.end)
    line = entry.raw[entry.end : newline if newline >= 0 else len(entry.raw)]
    comment = line.rstrip()
    if comment and comment.endswith("%%") and comment.count("%%") % 2 == 0:
        return entry.end + len(comment)
    return entry.end


def _gap(raw: str, at: int) -> str:
    return "" if at == 0 or raw[at - 1].isspace() else " "


def retagged(entry: Parts, add: tuple[str, ...], remove: tuple[str, ...]) -> str:
    """The entry with these tags on its own lines, and without those."""
    raw = entry.raw
    gone = {_same(_tag(tag)) for tag in remove} - {_same(_tag(tag)) for tag in add}
    spans = _tag_spans(entry)
    there = {_same(raw[start:stop]) for start, stop in spans}
    new = [mark for mark in dict.fromkeys(map(_tag, add)) if _same(mark) not in there]
    if new:
        at = _tag_place(entry, [s for s in spans if _same(raw[s[0] : s[1]]) not in gone])
        raw = raw[:at] + _gap(raw, at) + " ".join(new) + _space(raw, at) + raw[at:]
        shift = len(raw) - len(entry.raw)
        spans = [(s + shift, e + shift) if s >= at else (s, e) for s, e in spans]
    for start, stop in reversed(spans):
        if _same(raw[start:stop]) in gone:
            raw = _cut(raw, start, stop)
    return raw


def _space(raw: str, at: int) -> str:
    return "" if at >= len(raw) or raw[at].isspace() else " "


def _cut(raw: str, start: int, stop: int) -> str:
    """`raw` without this word and one of the spaces around it."""
    if start and raw[start - 1] in " \t" and raw[start - 2 : start - 1] not in ("", "\n"):
        start -= 1
    elif raw[stop : stop + 1] in (" ", "\t"):
        stop += 1
    return raw[:start] + raw[stop:]


def _tag_spans(entry: Parts) -> list[tuple[int, int]]:
    spans = links.fields(entry.own)
    bare = blank(entry.own, [(field.start, field.end) for field in spans])
    return [(entry.begin + start, entry.begin + stop) for start, stop in links.tag_spans(bare)]


def _tag_place(entry: Parts, spans: list[tuple[int, int]]) -> int:
    """Behind the last tag if only fields, links and the id follow it; else before those fields."""
    at = _words_stop(entry)
    tail = _tail_start(entry, at)
    if spans and spans[-1][1] >= tail:
        return spans[-1][1]
    later = [entry.begin + field.start for field in links.fields(entry.own)]
    later = [start for start in later if tail <= start]
    return len(entry.raw[: later[0]].rstrip()) if later else at


def _words_stop(entry: Parts) -> int:
    """Where words could be added before the id."""
    if entry.begin == entry.end:
        return len(entry.raw[: entry.begin].rstrip())
    if not entry.id:
        return entry.end
    at = len(entry.raw[: entry.id[0]].rstrip(" \t"))
    # an id on a line of its own: what is added goes before it on that line
    return entry.id[0] if entry.raw[at - 1 : at] == "\n" else at


def _tail_start(entry: Parts, stop: int) -> int:
    """Where the run of links, tags and fields starts that ends at `stop`."""
    own = entry.masked[entry.begin : stop]
    spans = links.fields(own)
    bare = blank(own, [(field.start, field.end) for field in spans])
    found = [(field.start, field.end) for field in spans] + links.tag_spans(bare)
    found += [match.span() for match in links.WIKILINK.finditer(bare)]
    at = len(own)
    for start, end in sorted(found, reverse=True):
        if own[end:at].strip():
            break
        at = start
    return entry.begin + at


def related(entry: Parts, key: str, value: str, gone: bool) -> str:
    """The entry with the field `[key:: value]`, or without it; other fields of that key stay."""
    raw = entry.raw
    value = " ".join(value.split())
    for found in links.fields(entry.own):
        start, stop = entry.begin + found.start, entry.begin + found.end
        inner = raw[start:stop].partition("::")[2][:-1]
        held = [" ".join(one.split()) for one in inner.split(",")]
        whole = " ".join(inner.split()) == value
        if _name(found.key) != _name(key) or not (whole or value in held):
            continue
        if not gone:
            return raw
        rest = [] if whole else [one for one in held if one != value]
        if not rest:
            return _cut(raw, start, stop)
        bracket = raw[stop - 1]
        head = raw[start:stop].partition("::")[0]
        return f"{raw[:start]}{head}:: {', '.join(rest)}{bracket}{raw[stop:]}"
    if gone:
        return raw
    at = _words_stop(entry)
    return raw[:at] + _gap(raw, at) + field(key, value) + _space(raw, at) + raw[at:]


def updated(entry: Parts, ref: str, text: str, style: Style) -> str:
    """The entry with other words: links, tags, fields and date stay unless the words hold them,
    nested lines unless there are others, and the id is written behind it."""
    first, below = _lines(text, style.careful)
    if not first and not below:
        raise BadRequest("An entry needs words.", "To take it away, forget it.")
    raw, marker = entry.raw, entry.raw[: entry.begin]
    kept = _kept(entry, "\n".join((first, *below)))
    box = _BOX.match(first)
    if entry.is_item and box and (old := _BOX.search(marker)):
        marker = f"{marker[: old.start()]}{box.group().rstrip()} "
        first = first[box.end() :]
    own = raw[entry.begin : entry.id[0] if entry.id else entry.end]
    date = _DATE.match(own)
    if date and not _DATE.match(first):
        first = f"{date.group()} {first}".rstrip()
    tail = [*kept, *_comments(entry), f"^{ref}"]
    if not entry.is_item:
        return _paragraph([first, *below], tail, style) + raw[entry.end :]
    if entry.begin == entry.end:  # a marker with nothing but nested lines
        marker = marker.rstrip() + " "
    new = marker + " ".join([word for word in (first, *tail) if word])
    after = raw[entry.end :] if entry.begin < entry.end else raw[len(raw[: entry.begin].rstrip()) :]
    if below:
        newline = after.find("\n")
        same_line = after if newline < 0 else after[:newline].removesuffix("\r")
        new += same_line.rstrip() + _nested(below, style)
        after = raw[entry.stop :] if newline >= 0 else ""
    return new + after


def _kept(entry: Parts, words: str) -> list[str]:
    """The links, tags and fields of the entry that the new words do not hold."""
    old = said(entry.own, entry.raw[entry.begin : entry.end])
    new = said(words, words)
    there = {_address(link) for link in new.links}
    tags = {_same(tag) for tag in new.tags}
    fields = {_name(f.key) for f in links.fields(words) if _name(f.key) not in links.RELATIONS}
    pairs = {(_name(f.key), f.value) for f in links.fields(words)}
    held = [
        text
        for text in old.fields
        for f in links.fields(text)
        if _name(f.key) not in fields and (_name(f.key), f.value) not in pairs
    ]
    return [
        *dict.fromkeys(link for link in old.links if _address(link) not in there),
        *dict.fromkeys(tag for tag in old.tags if _same(tag) not in tags),
        *dict.fromkeys(held),
    ]


def _address(link: str) -> str:
    found = links.links(link)
    return _same(f"{found[0].target}#{found[0].fragment}") if found else link


def _comments(entry: Parts) -> list[str]:
    """The comments in the own text: a person's, to be kept."""
    own = entry.raw[entry.begin : entry.end]
    if "%%" not in own:
        return []
    return [own[start:stop] for start, stop in hidden(own)[1]]


def _paragraph(lines: list[str], tail: list[str], style: Style) -> str:
    """Lines that are one paragraph whatever they hold, with the tail at the end of the last."""
    rows = [line.strip() for line in lines if line.strip()]
    if match := _OPENS.match(rows[0]):
        rows[0] = match.group() + "\\" + rows[0][match.end() :]
    # what is indented this far goes on with the paragraph and starts nothing of its own
    rows = [rows[0], *(f"    {row}" if _OPENS.match(row) else row for row in rows[1:])]
    rows[-1] = " ".join((rows[-1], *tail))
    return style.newline.join(rows)
