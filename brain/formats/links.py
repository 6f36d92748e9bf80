"""The syntax of Obsidian inside a line: wikilinks, embeds, tags, inline fields, block ids.

Everything here reads masked text, in which code and comments are blank, except `strip_fields` and
`mentioned_files`, which read an entry as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from brain._tuples import NamedTuple
from brain.formats.markdown import blank, mask
from brain.model import Link

WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
MARKDOWN_LINK = re.compile(r"\]\((?:<([^<>\n]++)>[^()\n]*+|((?:[^()<>\n]++|\([^()<>\n]*+\))++))\)")
TAG = re.compile(
    r"#(?:(?<=[\s(]#)|(?<=\A#))"
    r"([^\s\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
_KEY = r"(\w[\w \-/]*?)::[ \t]*+"
# square brackets may hold links and one more pair, such as in `arr[0]`, but no other field
_INNER = r"\[\[[^\[\]\n]*+\]\]|\[(?!\w[\w \-/]*+::)[^\[\]\n]*+\]"
FIELD = re.compile(
    rf"(?<!\[)\[{_KEY}((?:{_INNER}|[^\[\]\n]++)*+)\]"
    rf"|\({_KEY}((?:[^()\n]++|\([^()\n]*+\))*+)\)"
)
BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$", re.MULTILINE)
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|$")
_LINKED_NOTE = re.compile(r"\[\[([^\]|#^]+)")
_CODE = re.compile(r"`([^`\s]{1,200})`")
_PATH = re.compile(r"[\w@.~-]*(?:[/\\][\w@.~-]+)+|[\w-]+\.[a-z][a-z0-9]{0,4}", re.I)
_FILES_FIELD = re.compile(r"\[files?::\s*((?:\[\[[^\[\]]*\]\]|[^\]])+)\]", re.I)
_LABEL = 300  # the `!` of an image is looked for this far before its address


class Field(NamedTuple):
    """`[key:: value]` or `(key:: value)`, brackets included, at `start` to `end`."""

    start: int
    end: int
    key: str
    value: str


def tags(masked: str) -> list[str]:
    """Return the tags in order, without `#`, accents composed. `#123` is not a tag in Obsidian."""
    if "#" not in masked:
        return []
    if not (words := TAG.findall(masked)):
        return words
    words = [word.rstrip("/") for word in words if not word.isdigit()]
    if not masked.isascii():
        words = [normalize("NFC", word) for word in words]
    return [word for word in words if word]


def tag_spans(masked: str) -> list[tuple[int, int]]:
    """Return (start, end) of each tag, its `#` included."""
    found = [(match.span(), match.group(1)) for match in TAG.finditer(masked)]
    return [span for span, word in found if not word.isdigit() and word.rstrip("/")]


def wikilink(inner: str, kind: str, line: int) -> Link:
    """Parse `note#heading|alias` or `note#^block|alias`, of which the alias does not count."""
    address, bar, _ = inner.partition("|")
    address = address.rstrip("\\") if bar else address  # `\|` is how tables write it
    target, _, fragment = address.partition("#")
    return Link(line, kind, target.strip(), fragment.strip())


def links(masked: str, line: int = 1) -> list[Link]:
    """Return the wikilinks and embeds, then the Markdown links into the vault. Lines count from
    `line`."""
    found: list[Link] = []
    if "[[" in masked:
        row, make = line, tuple.__new__  # without the checks of Link's constructor
        parts = WIKILINK.split(masked)  # text, link, text, link, …, text
        for before, inner in zip(parts[::2], parts[1::2], strict=False):
            row += before.count("\n")
            kind = "embed" if before[-1:] == "!" else "link"
            if "|" in inner or "#" in inner:
                link = wikilink(inner, kind, row)
            else:  # most links, so without a call
                link = make(Link, (row, kind, inner.strip(), ""))
            if link[2] or link[3]:
                found.append(link)
    if "(" in masked and "](" in masked:  # one character is found much faster than two
        found += _markdown_links(masked, line)
    return found


def _markdown_links(masked: str, line: int) -> Iterator[Link]:
    at = 0
    for match in MARKDOWN_LINK.finditer(masked):
        target = match.group(1) or _untitled(match.group(2))
        if _ELSEWHERE.match(target):
            continue
        line += masked.count("\n", at, match.start())
        at = match.start()
        label = masked.rfind("[", max(0, at - _LABEL), at)
        kind = "embed" if label > 0 and masked[label - 1] == "!" else "link"
        path, _, fragment = target.partition("#")
        from urllib.parse import unquote  # takes 2 ms, which a search does not need

        yield Link(line, kind, unquote(path), unquote(fragment))


def _untitled(target: str) -> str:
    """Return the address without the `"title"` after it."""
    target = target.strip()
    if target.endswith(('"', "'")):
        address, quote, _ = target[:-1].rpartition(target[-1])
        if quote and address.endswith((" ", "\t")):
            return address.rstrip()
    return target


def fields(masked: str) -> list[Field]:
    """Return the inline fields, in order."""
    if "::" not in masked:
        return []
    found = []
    for match in FIELD.finditer(masked):
        key, value = match.group(1, 2) if match.group(1) else match.group(3, 4)
        found.append(Field(match.start(), match.end(), key.strip(), value.strip()))
    return found


def split_fields(masked: str) -> tuple[list[Field], str]:
    """Return the inline fields, and the text without them for links and tags."""
    found = fields(masked)
    return found, blank(masked, [(field.start, field.end) for field in found])


def field_name(key: str) -> str:
    """Return the key of a field as it is compared: `Relates to` is `relates_to`."""
    return key.casefold().replace(" ", "_").replace("-", "_")


def strip_fields(text: str) -> str:
    """Return the text without its inline fields."""
    for field in reversed(fields(mask(text))):
        before, after = text[: field.start], text[field.end :]
        if after[:1] in ("", "\n", " "):  # the space before the field would be left over
            before = before.rstrip(" ") or before
        text = before + after
    return text


def mentioned_files(text: str) -> list[str]:
    """Return the files that a text links to, names as code, or lists in a `files` field."""
    if "[" not in text and "`" not in text:
        return []
    files = [target.strip() for target in _LINKED_NOTE.findall(text)]
    files += [code for code in _CODE.findall(text) if _PATH.fullmatch(code)]
    for field in _FILES_FIELD.findall(text):
        files += [file.strip(" `[]") for file in field.split(",")]
    return list(dict.fromkeys(file for file in files if file))
