"""MEMORY.md: a heading tree with one memory per top-level list item or paragraph.

markdown-it-py finds the blocks, so that fences, tables, callouts, HTML and comments are what
Obsidian takes them for; everything inside a line is read by `links`. Spans are exact: the bytes
`start` to `end` of a chunk are the entry, from its marker to the end of its last nested line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from brain import kinds
from brain.formats import frontmatter, links, note_md
from brain.formats.mask import mask, mask_comments
from brain.formats.text import Offsets, decode, derived_id
from brain.model import Chunk, Document, Link, Problem

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_CHARS, MAX_LINES = 1_000_000, 20_000  # above this a note is read by passages, without entries
UNSAFE = frozenset({"invalid-utf8", "nul", "conflict-markers"})
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[^\[\]\n]\][ \t]+)?")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?=$|[:\s,])")
_ENTRY_OPENERS = {"list_item_open", "paragraph_open"}
_OTHER_BLOCKS = {"fence", "code_block", "html_block", "blockquote_open", "table_open"}


class Block(NamedTuple):
    """Rows `start` to `stop` (exclusive) of the note, under these headings."""

    entry: bool
    start: int
    stop: int
    own_stop: int  # where the entry's first paragraph ends
    path: tuple[str, ...]


def parse(data: bytes, owner: str = "") -> Document:
    """Read a memory note; `owner` is the agent whose memory it is, part of every derived id."""
    text, problems = decode(data)
    if len(text) > MAX_CHARS or text.count("\n") > MAX_LINES:
        limit = f"{MAX_CHARS:,} characters or {MAX_LINES:,} lines"
        problem = Problem(1, "too-long", f"is over {limit}; it is read as a plain note")
        document = note_md.parse(data)
        return Document(document.chunks, (*document.problems, problem), document.title)
    block, body_at = frontmatter.split(text)
    properties: dict[str, Any] = {}
    if body_at:
        properties, more = frontmatter.read(block)
        problems += more
    note = _Note(text, data, body_at, owner, frontmatter.tags(properties))
    chunks = tuple(note.chunks())
    problems += note.problems
    return Document(
        chunks=chunks,
        problems=tuple(problems),
        title=str(properties.get("title") or ""),
        properties=properties,
        created=frontmatter.created(properties),
        broken=any(problem.code in UNSAFE for problem in problems),
    )


class _Note:
    """One parse: the text seen three ways (as it is, without comments, without code either)."""

    def __init__(
        self, text: str, data: bytes, body_at: int, owner: str, tags: tuple[str, ...]
    ) -> None:
        self.offsets = Offsets(text, data)
        self.shown = mask_comments(text, body_at)
        self.masked = mask(text, body_at)
        self.owner = owner
        self.tags = tags
        self.problems: list[Problem] = []
        self.counts: dict[str, int] = {}
        self.ids: dict[str, int] = {}

    def chunks(self) -> Iterator[Chunk]:
        for block in blocks(self.shown):
            start = self.offsets.starts[block.start]
            stop = self._end(block.stop, start)
            if not self.shown[start:stop].strip():
                continue
            if block.entry:
                if chunk := self.entry(block, start, stop):
                    yield chunk
            else:
                yield self.passage(block, start, stop)

    def _end(self, row: int, start: int) -> int:
        """Where the text between `start` and this row ends, without blank lines behind it."""
        starts = self.offsets.starts
        stop = starts[row] if row < len(starts) else len(self.shown)
        return start + len(self.shown[start:stop].rstrip())

    def entry(self, block: Block, start: int, stop: int) -> Chunk | None:
        marker = _MARKER.match(self.shown, start, stop)
        begin = marker.end() if marker else start
        own = max(begin, min(stop, self._end(block.own_stop, start)))
        block_id, own_text_end = self._block_id(begin, own)
        masked = self.masked[begin:own_text_end]
        found, fields, bare = _inline(masked, self.offsets.line(begin))
        tags = tuple(dict.fromkeys(links.tags(bare)))
        prose = _prose(self.shown[begin:own_text_end], masked)
        if not prose and not tags and not found:
            return None
        nested = self.shown[own:stop]
        text = self.shown[begin:own_text_end].rstrip() + _dedent(nested)
        ref = self._ref(block_id, prose, self.offsets.line(start))
        extra: dict[str, Any] = {"fields": fields} if fields else {}
        if ref == block_id:
            extra["anchored"] = True
        return Chunk(
            ref=ref,
            kind=kinds.of_tags(tags) or kinds.of_headings(block.path) or kinds.DEFAULT_KIND,
            status=kinds.status_of(tags),
            heading=" > ".join(block.path),
            text=text.replace("\r", ""),
            tags=tuple(dict.fromkeys((*self.tags, *tags))),
            line=self.offsets.line(start),
            end_line=self.offsets.line(max(start, stop - 1)),
            created=_created(prose, block.path),
            links=tuple(found) + self._nested_links(own, stop),
            start=self.offsets.byte(start),
            end=self.offsets.byte(stop),
            extra=extra or None,
        )

    def _nested_links(self, own: int, stop: int) -> tuple[Link, ...]:
        masked = self.masked[own:stop]
        return tuple(_inline(masked, self.offsets.line(own))[0]) if masked.strip() else ()

    def _block_id(self, begin: int, own: int) -> tuple[str, int]:
        """The block id at the end of the entry's own lines (or of its first), and where it
        starts."""
        for end in (own, self._line_end(begin, own)):
            line_start = max(begin, self.masked.rfind("\n", 0, end) + 1)
            if match := links.BLOCK_ID.search(self.masked[line_start:end]):
                if end == own:
                    return match.group(1), line_start + match.start()
                return match.group(1), own
        return "", own

    def _line_end(self, begin: int, own: int) -> int:
        at = self.masked.find("\n", begin, own)
        return own if at < 0 else at

    def _ref(self, block_id: str, prose: str, line: int) -> str:
        count = self.counts[prose] = self.counts.get(prose, 0) + 1
        if block_id and block_id not in self.ids:
            self.ids[block_id] = line
            return block_id
        if block_id:
            first = self.ids[block_id]
            message = (
                f"^{block_id} stands on line {first} already; this entry counts as having none"
            )
            self.problems.append(Problem(line, "duplicate-id", message))
        return derived_id("m", self.owner, prose, str(count))

    def passage(self, block: Block, start: int, stop: int) -> Chunk:
        """A table, fence, callout or the like: no memory, but searchable where it stands."""
        masked = self.masked[start:stop]
        line = self.offsets.line(start)
        text = self.shown[start:stop]
        return Chunk(
            ref=derived_id("n", self.owner, text),
            kind="note",
            status="",
            heading=" > ".join(block.path),
            text=text.replace("\r", ""),
            tags=tuple(dict.fromkeys((*self.tags, *links.tags(masked)))),
            line=line,
            end_line=self.offsets.line(max(start, stop - 1)),
            created=None,
            links=tuple(links.links(masked, line)),
            start=self.offsets.byte(start),
            end=self.offsets.byte(stop),
        )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark").enable("table")
    md.core.ruler.disable(["inline", "text_join"])
    return md


def blocks(shown: str) -> Iterator[Block]:
    """The top-level blocks of a text in order, each with the headings above it."""
    # a lone carriage return would count as a line end for markdown-it
    tokens = _markdown().parse(shown.replace("\r", " "))
    path: list[tuple[int, str]] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.type == "heading_open":
            level = int(token.tag[1])
            path = [p for p in path if p[0] < level] + [(level, tokens[i + 1].content.strip())]
            i += 3
            continue
        if token.type in ("bullet_list_open", "ordered_list_open"):
            i += 1  # its items are the entries
            continue
        if token.map and (token.type in _ENTRY_OPENERS or token.type in _OTHER_BLOCKS):
            words = tuple(word for _, word in path if word)
            yield _block(tokens, i, words)
            i = _after(tokens, i)
            continue
        i += 1


def _block(tokens: list[Token], i: int, path: tuple[str, ...]) -> Block:
    token = tokens[i]
    assert token.map
    start, stop = token.map
    own_stop = stop
    if token.type == "list_item_open":
        own_stop = start + 1
        first = tokens[i + 1]
        if first.type == "paragraph_open" and first.map:
            own_stop = first.map[1]
    return Block(token.type in _ENTRY_OPENERS, start, stop, own_stop, path)


def _after(tokens: list[Token], i: int) -> int:
    """The index behind the token that closes token `i`."""
    if tokens[i].nesting == 0:
        return i + 1
    level = tokens[i].level
    i += 1
    while tokens[i].level > level:
        i += 1
    return i + 1


def _inline(masked: str, line: int) -> tuple[list[Link], dict[str, str], str]:
    """Links (typed fields among them), the other fields, and the text with the fields blanked."""
    found: list[Link] = []
    plain: dict[str, str] = {}
    bare, at = [], 0
    for start, end, key, value in links.fields(masked):
        row = line + masked.count("\n", 0, start)
        name = key.casefold().replace(" ", "_").replace("-", "_")
        targets = links.WIKILINK.findall(value)
        if name in links.RELATIONS and targets:
            found += [links.wikilink(inner, name, row) for inner in targets]
        else:
            plain[key] = value
        bare += [masked[at:start], " " * (end - start)]
        at = end
    rest = "".join([*bare, masked[at:]])
    found += links.links(rest, line)
    return found, plain, rest


def _prose(shown: str, masked: str) -> str:
    """The words that make an entry what it is: without tags, fields and extra white space."""
    cuts = links.tag_spans(masked)
    cuts += [(start, end) for start, end, _, _ in links.fields(masked)]
    kept, at = [], 0
    for start, end in sorted(cuts):
        kept.append(shown[at:start])
        at = max(at, end)
    kept.append(shown[at:])
    return " ".join("".join(kept).split())


def _created(prose: str, path: tuple[str, ...]) -> str | None:
    """The date the entry starts with, else the one in the innermost dated heading."""
    for words in (prose, *reversed(path)):
        if match := _DATE.match(words):
            return match.group(1)
    return None


def _dedent(nested: str) -> str:
    """The nested lines, moved left by what they have in common."""
    lines = nested.split("\n")
    depths = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    cut = min(depths, default=0)
    return "\n".join([lines[0].rstrip(), *(line[cut:].rstrip() for line in lines[1:])]).rstrip()
