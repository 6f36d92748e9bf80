"""Edits of one entry of a memory note: each gives the new text, and changes what it is about.

An edit that was made before gives the text as it is.
"""

from __future__ import annotations

import re

from brain.errors import BadRequest
from brain.formats import links
from brain.formats.entry_md import (
    Parts,
    Style,
    as_field,
    as_tag,
    lines_of,
    name,
    nested,
    said,
    same,
)
from brain.formats.mask import blank, hidden
from brain.model import RELATIONS

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
    gone = {same(as_tag(tag)) for tag in remove} - {same(as_tag(tag)) for tag in add}
    spans = _tag_spans(entry)
    there = {same(raw[start:stop]) for start, stop in spans}
    new = [mark for mark in dict.fromkeys(map(as_tag, add)) if same(mark) not in there]
    if new:
        at = _tag_place(entry, [s for s in spans if same(raw[s[0] : s[1]]) not in gone])
        raw = raw[:at] + _gap(raw, at) + " ".join(new) + _space(raw, at) + raw[at:]
        shift = len(raw) - len(entry.raw)
        spans = [(s + shift, e + shift) if s >= at else (s, e) for s, e in spans]
    for start, stop in reversed(spans):
        if same(raw[start:stop]) in gone:
            raw = _cut(raw, start, stop)
    return raw


def _space(raw: str, at: int) -> str:
    return "" if at >= len(raw) or raw[at].isspace() else " "


def _cut(raw: str, start: int, stop: int) -> str:
    """`raw` without this word and one of the spaces around it; at the end of a line without all
    that stand before it."""
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
        held = list(_VALUE.finditer(inner))
        at = next((n for n, one in enumerate(held) if " ".join(one[0].split()) == value), -1)
        whole = " ".join(inner.split()) == value
        if name(found.key) != name(key) or not (whole or at >= 0):
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
    return raw[:at] + _gap(raw, at) + as_field(key, value) + _space(raw, at) + raw[at:]


def _lead(text: str) -> int:
    """How much white space a text starts with."""
    return len(text) - len(text.lstrip())


def updated(entry: Parts, ref: str, text: str, style: Style) -> str:
    """The entry with other words: links, tags, fields and date stay unless the words hold them,
    nested lines unless there are others, and the id is written behind it."""
    first, below = lines_of(text, style.careful)
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
        new += same_line.rstrip() + nested(below, style)
        after = raw[entry.stop :] if newline >= 0 else ""
    return new + after


def _kept(entry: Parts, words: str) -> list[str]:
    """The links, tags and fields of the entry that the new words do not hold."""
    old = said(entry.own, entry.raw[entry.begin : entry.end])
    new = said(words, words)
    there = {_address(link) for link in new.links}
    tags = {same(tag) for tag in new.tags}
    fields = {name(f.key) for f in links.fields(words) if name(f.key) not in RELATIONS}
    pairs = {(name(f.key), f.value) for f in links.fields(words)}
    held = [
        text
        for text in old.fields
        for f in links.fields(text)
        if name(f.key) not in fields and (name(f.key), f.value) not in pairs
    ]
    return [
        *dict.fromkeys(link for link in old.links if _address(link) not in there),
        *dict.fromkeys(tag for tag in old.tags if same(tag) not in tags),
        *dict.fromkeys(held),
    ]


def _address(link: str) -> str:
    found = links.links(link)
    return same(f"{found[0].target}#{found[0].fragment}") if found else link


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
