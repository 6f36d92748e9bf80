"""Read a note that is not a MEMORY.md: properties, links, tags, and passages with their headings
and lines. The properties of an AGENT.md describe an agent.

The parser searches the masked text by offsets, not line by line. A full Markdown parser would take
ten times as long without better search results.
"""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.formats import frontmatter, inline
from brain.formats.markdown import mask
from brain.formats.text import decode, derived_id
from brain.model import Document, Entry, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brain.model import Link

PACKED = 200  # maximum number of characters of a passage that is joined from short sections
LARGE = 700  # maximum number of characters of a passage; longer sections are divided
AGENT_TYPES = ("admin", "project", "skill")


class Heading(NamedTuple):
    """A heading outside of code: the offset of its line, its level and its words."""

    offset: int
    level: int
    words: str


def parse(
    data: bytes, name: str = "", find_links: Callable[[str, int], list[Link]] = inline.links
) -> Document:
    """Return the content of a note. `name` is the file name without extension, which is the title
    in Obsidian. `find_links` returns those links of a text that the caller needs."""
    text, problems = decode(data)
    properties, body_at, property_problems = frontmatter.properties_of(text)
    problems += property_problems
    title = frontmatter.title(properties)
    aliases = frontmatter.as_list(properties.get("aliases") or properties.get("alias"))
    body = text[body_at:]
    masked = mask(body)
    found = headings(masked, body)
    own_tags = frontmatter.tags(properties)
    entries = tuple(_entries(text, body_at, masked, found, own_tags, find_links))
    if not entries:  # the note is found by its title
        entries = (Entry(derived_id("n", name, ""), "note", "", "", "", (), 1, 1, None, ()),)
    return Document(
        entries, tuple(problems), title or name, aliases, properties,
        frontmatter.created(properties), False, tuple([h.words for h in found if h.words]),
    )  # fmt: skip


def headings(masked: str, text: str = "") -> list[Heading]:
    """Return the ATX headings of a masked text. Their words are read from `text`."""
    text = text or masked
    found: list[Heading] = []
    offset = 0 if masked.startswith("#") else masked.find("\n#") + 1 or -1
    while offset >= 0:
        end = masked.find("\n", offset)
        line = text[offset:end] if end >= 0 else text[offset:]
        words = line.lstrip("#")
        level = len(line) - len(words)
        if level <= 6 and (not words or words[0] in " \t\r"):
            words = words.strip()
            if words.endswith("#"):  # `## Words ##` is closed, `# C#` is not
                unclosed = words.rstrip("#")
                words = unclosed.rstrip() if unclosed[-1:] in ("", " ", "\t") else words
            found.append(tuple.__new__(Heading, (offset, level, words)))
        offset = masked.find("\n#", offset) + 1 or -1
    return found


def _entries(
    text: str,
    body_at: int,
    masked: str,
    found: list[Heading],
    own_tags: tuple[str, ...],
    find_links: Callable[[str, int], list[Link]],
) -> Iterator[Entry]:
    """Yield the passages of a note. The text of the first passage begins with the properties."""
    counts: dict[str, int] = {}
    line, counted_to = 1, 0
    for start, end, path in _passages(masked, found):
        first = start + body_at if start else 0
        passage = text[first : end + body_at].rstrip()
        line += text.count("\n", counted_to, first)
        counted_to = first
        if not passage:
            continue
        heading = " > ".join(path)
        ref = derived_id("n", heading, passage)
        if ref in counts:
            counts[ref] += 1
            ref = derived_id("n", heading, passage, str(counts[ref]))
        else:
            counts[ref] = 1
        part = masked[start:end] if end - start < len(masked) else masked
        tags = inline.tags(part)
        if start:
            links_found = find_links(part, line)
        else:
            links_found = find_links(part, 1 + text.count("\n", 0, body_at))
            if text.find("[[", 0, body_at) >= 0:
                links_found = find_links(text[:body_at], 1) + links_found
        values = (
            ref, "note", "", heading, passage,
            tuple(dict.fromkeys((*own_tags, *tags))) if tags else own_tags,
            line, line + passage.count("\n"), None, tuple(links_found), 0, 0, None,
            0 if start else min(body_at, len(passage)),
        )  # fmt: skip
        yield tuple.__new__(Entry, values)  # faster than the constructor


def _passages(masked: str, found: list[Heading]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (start, end, heading path) of each passage. Long sections are divided."""
    for start, end, path in _sections(found, len(masked)):
        passage_start = start
        while end - passage_start > LARGE:
            cut = _division(masked, passage_start)
            yield passage_start, cut, path
            passage_start = cut
        yield passage_start, end, path


def _sections(found: list[Heading], length: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the sections in order. Short sections are joined."""
    start = 0
    path: tuple[str, ...] = ()
    stack: list[Heading] = []
    for heading, after in zip(found, [*found[1:], None], strict=False):
        end = after.offset if after else length
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        if end - start > PACKED and heading.offset > start:
            yield start, heading.offset, path
            start, path = heading.offset, ()
        path = path or tuple([h.words for h in stack if h.words])
    yield start, length, path


def _division(text: str, start: int) -> int:
    """Return the offset at which to divide a section: after the last blank line within LARGE
    characters, else after the last line, sentence or word, else after LARGE characters."""
    stop = start + LARGE
    for gap in ("\n\n", "\n\r\n", "\n", ". ", "\u3002", " "):
        offset = text.rfind(gap, start + LARGE // 2, stop)
        if offset > 0:
            return offset + len(gap)
    return stop


def parse_agent(data: bytes, name: str = "") -> Document:
    """Return the content of an AGENT.md. The `extra` of its first entry has the properties `type`,
    `id` and `name`."""
    note = parse(data, name)
    agent = {
        key: value
        for key in ("type", "id", "name")
        if isinstance(value := note.properties.get(key), str) and value
    }
    problems, type = note.problems, agent.get("type", "")
    if type not in AGENT_TYPES:
        problem = f"has the unknown type {type}" if type else "has no type"
        remedy = f"write `type: {' | '.join(AGENT_TYPES)}` in its properties"
        problems += (Problem(1, "agent-type", f"{problem}; {remedy}"),)
    entries = [entry._replace(kind="agent") for entry in note.entries]
    if entries:
        entries[0] = entries[0]._replace(extra=agent)
    title = agent.get("name", note.title)
    return note._replace(entries=tuple(entries), problems=problems, title=title)
