"""Any note of the vault: properties, links, tags, and heading-aware passages with their lines.
AGENT.md is a note whose properties describe an agent.

The parser works by offsets on the masked text, never line by line. A full Markdown parser would
take ten times as long, and a search would find no more.
"""

from __future__ import annotations

from collections.abc import Iterator

from brain._tuples import NamedTuple
from brain.formats import frontmatter, links
from brain.formats.markdown import mask
from brain.formats.text import decode, derived_id
from brain.model import Document, Entry, Problem

PACKED = 200  # short sections are joined up to this many characters
LARGE = 700  # a passage has no more characters; a longer section is divided
AGENT_TYPES = ("admin", "project", "skill")


class Heading(NamedTuple):
    """A heading outside code: the offset of its line, its level, its words."""

    at: int
    level: int
    words: str


def parse(data: bytes, name: str = "") -> Document:
    """Read a note. `name` is its file name without the extension, the title in Obsidian."""
    text, problems = decode(data)
    properties, body_at, more = frontmatter.properties_of(text)
    problems += more
    title = frontmatter.title(properties)
    aliases = frontmatter.as_list(properties.get("aliases") or properties.get("alias"))
    body = text[body_at:]
    masked = mask(body)
    found = headings(masked, body)
    entries = tuple(_entries(text, body_at, masked, found, frontmatter.tags(properties)))
    return Document(
        entries, tuple(problems), title or name, aliases, properties,
        frontmatter.created(properties), False, tuple([h.words for h in found if h.words]),
    )  # fmt: skip


def headings(masked: str, text: str = "") -> list[Heading]:
    """Return the ATX headings of a masked text; their words come from `text`."""
    text = text or masked
    found: list[Heading] = []
    at = 0 if masked.startswith("#") else masked.find("\n#") + 1 or -1
    while at >= 0:
        end = masked.find("\n", at)
        line = text[at:end] if end >= 0 else text[at:]
        words = line.lstrip("#")
        level = len(line) - len(words)
        if level <= 6 and (not words or words[0] in " \t\r"):
            words = words.strip()
            if words.endswith("#"):  # `## Words ##` is closed, `# C#` is not
                bare = words.rstrip("#")
                words = bare.rstrip() if bare[-1:] in ("", " ", "\t") else words
            found.append(tuple.__new__(Heading, (at, level, words)))
        at = masked.find("\n#", at) + 1 or -1
    return found


def _entries(
    text: str, body_at: int, masked: str, found: list[Heading], own_tags: tuple[str, ...]
) -> Iterator[Entry]:
    """Return the passages of a note. The text of the first one begins with the properties."""
    seen: dict[str, int] = {}
    line, counted = 1, 0
    for start, end, path in _passages(masked, found):
        first = start + body_at if start else 0
        passage = text[first : end + body_at].rstrip()
        line += text.count("\n", counted, first)
        counted = first
        if not passage:
            continue
        heading = " > ".join(path)
        ref = derived_id("n", heading, passage)
        if ref in seen:
            seen[ref] += 1
            ref = derived_id("n", heading, passage, str(seen[ref]))
        else:
            seen[ref] = 1
        part = masked[start:end] if end - start < len(masked) else masked
        tags = links.tags(part)
        if start:
            pointed = links.links(part, line)
        else:
            pointed = links.links(part, 1 + text.count("\n", 0, body_at))
            if text.find("[[", 0, body_at) >= 0:
                pointed = links.links(text[:body_at]) + pointed
        values = (
            ref, "note", "", heading, passage,
            tuple(dict.fromkeys((*own_tags, *tags))) if tags else own_tags,
            line, line + passage.count("\n"), None, tuple(pointed), 0, 0, None,
            0 if start else min(body_at, len(passage)),
        )  # fmt: skip
        yield tuple.__new__(Entry, values)  # without the checks of its constructor: there are many


def _passages(masked: str, found: list[Heading]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Return (start, end, heading path) of each passage. Long ones are divided."""
    for start, end, path in _sections(found, len(masked)):
        at = start
        while end - at > LARGE:
            cut = _cut(masked, at)
            yield at, cut, path
            at = cut
        yield at, end, path


def _sections(found: list[Heading], length: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Return the sections in order, short ones joined."""
    start = 0
    path: tuple[str, ...] = ()
    stack: list[Heading] = []
    for heading, after in zip(found, [*found[1:], None], strict=False):
        end = after.at if after else length
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        if end - start > PACKED and heading.at > start:
            yield start, heading.at, path
            start, path = heading.at, ()
        path = path or tuple([h.words for h in stack if h.words])
    yield start, length, path


def _cut(text: str, start: int) -> int:
    """Return where to divide: after the last blank line that fits, else line, sentence or word."""
    stop = start + LARGE
    for gap in ("\n\n", "\n\r\n", "\n", ". ", "\u3002", " "):
        at = text.rfind(gap, start + LARGE // 2, stop)
        if at > 0:
            return at + len(gap)
    return stop


def parse_agent(data: bytes, name: str = "") -> Document:
    """Read an AGENT.md. Its first entry has the properties `type`, `id` and `name` as extra."""
    note = parse(data, name)
    agent = {
        key: value
        for key in ("type", "id", "name")
        if isinstance(value := note.properties.get(key), str) and value
    }
    problems, type = note.problems, agent.get("type", "")
    if type not in AGENT_TYPES:
        what = f"says that its type is {type}" if type else "says no type"
        remedy = f"write `type: {' | '.join(AGENT_TYPES)}` in its properties"
        problems += (Problem(1, "agent-type", f"{what}; {remedy}"),)
    entries = [entry._replace(kind="agent") for entry in note.entries]
    if entries:
        entries[0] = entries[0]._replace(extra=agent)
    title = agent.get("name", note.title)
    return note._replace(entries=tuple(entries), problems=problems, title=title)
