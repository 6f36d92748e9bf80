"""Any note of the vault: properties, links, tags, and heading-aware passages with their lines.

Works by offsets on the masked text, never line by line: a full Markdown parser would take ten
times as long for nothing that search needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from brain.formats import frontmatter, links
from brain.formats.mask import mask
from brain.formats.text import decode, derived_id
from brain.model import Chunk, Document

PACKED = 2_400  # sections are taken together while they stay under this many characters
LARGE = 4_000  # a section longer than this is divided


class Heading(NamedTuple):
    """A heading outside code: the offset of its line, its level, its words."""

    at: int
    level: int
    words: str


def parse(data: bytes, name: str = "") -> Document:
    """Read a note; `name` is its file name without the ending, which Obsidian shows as its
    title."""
    text, problems = decode(data)
    block, body_at = frontmatter.split(text)
    properties: dict[str, Any] = {}
    if body_at:
        properties, more = frontmatter.read(block)
        problems += more
    title = properties.get("title")
    title = title if isinstance(title, str) else ""
    aliases = frontmatter.as_list(properties.get("aliases") or properties.get("alias"))
    roots = tuple(dict.fromkeys(filter(None, (title, *aliases))))
    return Document(
        chunks=tuple(_chunks(text, mask(text, body_at), roots, frontmatter.tags(properties))),
        problems=tuple(problems),
        title=title or name,
        aliases=aliases,
        properties=properties,
        created=frontmatter.created(properties),
    )


def headings(masked: str) -> list[Heading]:
    """The ATX headings of a masked text."""
    found: list[Heading] = []
    at = 0 if masked.startswith("#") else masked.find("\n#") + 1
    while at > 0 or (at == 0 and not found and masked.startswith("#")):
        end = masked.find("\n", at)
        line = masked[at:end] if end >= 0 else masked[at:]
        words = line.lstrip("#")
        level = len(line) - len(words)
        if level <= 6 and (not words or words[0] in " \t\r"):
            words = words.strip()
            if words.endswith("#"):
                words = words.rstrip("#").rstrip()
            found.append(Heading(at, level, words))
        at = masked.find("\n#", at) + 1
    return found


def _chunks(
    text: str, masked: str, roots: tuple[str, ...], own_tags: tuple[str, ...]
) -> Iterator[Chunk]:
    found = links.links(masked)
    tagged = links.tags(masked) if "#" in masked else []
    seen: dict[str, int] = {}
    line, counted = 1, 0
    link_at = tag_at = 0
    for start, end, path in _pieces(text, masked):
        body = text[start:end].rstrip()
        line += text.count("\n", counted, start)
        counted = start
        first_link, first_tag = link_at, tag_at
        while link_at < len(found) and found[link_at][0] < end:
            link_at += 1
        while tag_at < len(tagged) and tagged[tag_at][0] < end:
            tag_at += 1
        if not body or body.isspace():
            continue
        heading = " > ".join(dict.fromkeys((*roots, *path)))
        ref = derived_id("n", heading, body)
        if ref in seen:
            seen[ref] += 1
            ref = derived_id("n", heading, body, str(seen[ref]))
        else:
            seen[ref] = 1
        tags = own_tags
        if tag_at > first_tag:
            tags = tuple(dict.fromkeys((*own_tags, *[t for _, t in tagged[first_tag:tag_at]])))
        yield Chunk(
            ref, "note", "", heading, body, tags, line, line + body.count("\n"), None,
            tuple([link for _, link in found[first_link:link_at]]),
        )  # fmt: skip


def _pieces(text: str, masked: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(start, end, heading path) of each passage, the over-long ones divided."""
    for start, end, path in _passages(headings(masked), len(text)):
        at = start
        while end - at > LARGE:
            cut = _cut(text, at)
            yield at, cut, path
            at = cut
        yield at, end, path


def _passages(found: list[Heading], length: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Sections in order, taken together while they are small."""
    start = 0
    path: tuple[str, ...] = ()
    stack: list[Heading] = []
    ends = [heading.at for heading in found[1:]] + [length]
    for heading, end in zip(found, ends, strict=True):
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        if end - start > PACKED and heading.at > start:
            yield start, heading.at, path
            start, path = heading.at, ()
        path = path or tuple([h.words for h in stack])
    yield start, length, path


def _cut(text: str, start: int) -> int:
    """Where to divide: after the last blank line that fits, else a line end, else a space."""
    stop = start + LARGE
    for gap in ("\n\n", "\n", " "):
        at = text.rfind(gap, start + LARGE // 4, stop)
        if at > 0:
            return at + len(gap)
    return stop
