"""What Obsidian writes inside a line: wikilinks, embeds, tags, inline fields, block ids."""

from __future__ import annotations

import re
from urllib.parse import unquote

from brain.model import Link

WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
MARKDOWN_LINK = re.compile(r"\]\(<?([^()<>\n]+?)>?\)")
TAG = re.compile(r"#([^\s\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)")
FIELD = re.compile(r"([\[(])([\w][\w \-/]*?)::[ \t]*((?:\[\[[^\[\]\n]*\]\]|[^\[\]()\n])*)([\])])")
BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$")
RELATIONS = ("relates_to", "supersedes", "contradicts", "derived_from")


def tags(masked: str) -> list[tuple[int, str]]:
    """(offset of the `#`, tag without it) for each tag; `#123` is no tag, as in Obsidian."""
    found = []
    for match in TAG.finditer(masked):
        at = match.start()
        if (at == 0 or masked[at - 1] in " \t\n\r(") and not match.group(1).isdigit():
            found.append((at, match.group(1).rstrip("/")))
    return found


def wikilink(inner: str, kind: str, line: int) -> Link:
    """`note#heading|alias` or `note#^block|alias` taken apart."""
    if "|" not in inner and "#" not in inner:
        return Link(line, kind, inner.strip(), "", "")
    address, _, alias = inner.partition("|")
    target, _, fragment = address.partition("#")
    return Link(line, kind, target.strip().rstrip("\\"), fragment.strip().rstrip("\\"), alias)


def links(masked: str, line: int = 1) -> list[tuple[int, Link]]:
    """(offset, link) for each wikilink, embed and relative Markdown link; lines count from
    `line`."""
    found: list[tuple[int, Link]] = []
    at, row = 0, line
    if "[[" in masked:
        for match in WIKILINK.finditer(masked):
            start = match.start()
            row += masked.count("\n", at, start)
            at = start
            kind = "embed" if start and masked[start - 1] == "!" else "link"
            found.append((start, wikilink(match.group(1), kind, row)))
    if "](" in masked:
        for match in MARKDOWN_LINK.finditer(masked):
            target = match.group(1)
            if "://" not in target and not target.startswith(("#", "mailto:")):
                row = line + masked.count("\n", 0, match.start())
                path, _, fragment = unquote(target).partition("#")
                found.append((match.start(), Link(row, "link", path, fragment, "")))
    return found


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
