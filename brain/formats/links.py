"""What Obsidian writes inside a line: wikilinks, embeds, tags, inline fields, block ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from brain.model import Link

WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
MARKDOWN_LINK = re.compile(r"\]\(<?([^()<>\n]+?)>?\)")
TAG = re.compile(r"#(?:(?<=[\s(]#)|(?<=\A#))([^\s\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)")
FIELD = re.compile(r"([\[(])([\w][\w \-/]*?)::[ \t]*((?:\[\[[^\[\]\n]*\]\]|[^\[\]()\n])*)([\])])")
BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$")
RELATIONS = ("relates_to", "supersedes", "contradicts", "derived_from")


def tags(masked: str) -> list[str]:
    """The tags in order, without `#`. `#123` is none, as in Obsidian."""
    if "#" not in masked:
        return []
    return [tag.rstrip("/") for tag in TAG.findall(masked) if not tag.isdigit()]


def tag_spans(masked: str) -> list[tuple[int, int]]:
    """(start, end) of each tag, its `#` included."""
    return [match.span() for match in TAG.finditer(masked) if not match.group(1).isdigit()]


def wikilink(inner: str, kind: str, line: int) -> Link:
    """`note#heading|alias` or `note#^block|alias` taken apart."""
    if "|" not in inner and "#" not in inner:
        return Link(line, kind, inner.strip(), "", "")
    address, _, alias = inner.partition("|")
    target, _, fragment = address.partition("#")
    return Link(line, kind, target.strip().rstrip("\\"), fragment.strip().rstrip("\\"), alias)


def links(masked: str, line: int = 1) -> list[Link]:
    """Each wikilink and embed, then each relative Markdown link; lines count from `line`."""
    found: list[Link] = []
    if "[[" in masked:
        at = 0
        for match in WIKILINK.finditer(masked):
            start = match.start()
            line += masked.count("\n", at, start)
            at = start
            kind = "embed" if start and masked[start - 1] == "!" else "link"
            found.append(wikilink(match.group(1), kind, line))
        line -= masked.count("\n", 0, at)
    if "](" in masked:
        found += _markdown_links(masked, line)
    return found


def _markdown_links(masked: str, line: int) -> Iterator[Link]:
    for match in MARKDOWN_LINK.finditer(masked):
        target = match.group(1)
        if "://" not in target and not target.startswith(("#", "mailto:")):
            row = line + masked.count("\n", 0, match.start())
            path, _, fragment = unquote(target).partition("#")
            yield Link(row, "link", path, fragment, "")


def fields(masked: str) -> list[tuple[int, int, str, str]]:
    """(start, end, key, value) of each `[key:: value]` or `(key:: value)`."""
    if "::" not in masked:
        return []
    pairs = {"[": "]", "(": ")"}
    return [
        (m.start(), m.end(), m.group(2).strip(), m.group(3).strip())
        for m in FIELD.finditer(masked)
        if pairs[m.group(1)] == m.group(4)
    ]
