"""The blocks of a Markdown text, as markdown-it finds them and Obsidian shows them.

Comments are NULs here: they do not indent what follows them, and a line of them is blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+|$)(?:\[[^\[\]\n]\](?:\s+|$))?")
MATH = re.compile(r"^ {0,3}+\$\$(?:(?!\$\$).)*+\$\$[ \t\r]*+$", re.MULTILINE | re.DOTALL)
_LISTS = {"bullet_list_open", "ordered_list_open"}
_OTHER = {"fence", "code_block", "html_block", "blockquote_open", "table_open"}


class Block(NamedTuple):
    """Rows `start` to `stop` (exclusive) of the note, under these headings."""

    kind: str  # item, paragraph or other
    start: int
    stop: int
    own_stop: int  # where what belongs to the entry itself ends and what is nested in it starts
    path: tuple[str, ...]


class Heading(NamedTuple):
    """A heading of rows `start` to `stop` (exclusive)."""

    level: int
    words: str
    start: int
    stop: int


def without_math(text: str, formulas: Iterable[tuple[int, int]]) -> str:
    """The text with each line of a formula as `$$`, which starts no other block: in formulas a line
    may start with `-`, `+` or `#`."""
    out: list[str] = []
    at = 0
    for start, stop in formulas:
        out += text[at:start], "$$" + "\n$$" * text.count("\n", start, stop)
        at = stop
    return "".join([*out, text[at:]])


def blocks(text: str) -> Iterator[Block]:
    """The top-level blocks of a text in order, each with the headings above it."""
    tokens = _tokens(text)
    path: list[tuple[int, str]] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.type == "heading_open":
            level = int(token.tag[1])
            path = [p for p in path if p[0] < level] + [(level, _words(tokens[i + 1]))]
        elif token.type not in _LISTS and (block := _block(tokens, i, path)):
            yield block
        i = i + 1 if token.type in _LISTS else _after(tokens, i)


def headings(text: str) -> Iterator[Heading]:
    """The top-level headings of a text in order."""
    tokens = _tokens(text)
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield Heading(int(token.tag[1]), _words(tokens[i + 1]), *token.map)


def _tokens(text: str) -> list[Token]:
    lines = text.replace("\r", " ").split("\n")  # markdown-it would end lines at `\r` too
    lines = [line.rstrip("\0 \t") if "\0" in line else line for line in lines]
    return _markdown().parse("\n".join(lines))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark").enable("table")
    md.core.ruler.disable(["inline", "text_join"])
    return md


def _words(inline: Token) -> str:
    return " ".join(inline.content.replace("\ufffd", " ").split())  # markdown-it's NUL


def _block(tokens: list[Token], i: int, headings: list[tuple[int, str]]) -> Block | None:
    """The block that token `i` opens; None if it opens none."""
    token = tokens[i]
    if not token.map:
        return None
    start, stop = token.map
    path = tuple(words for _, words in headings if words)
    if token.type == "paragraph_open":
        return Block("paragraph", start, stop, stop, path)
    if token.type == "list_item_open":
        first = tokens[i + 1]
        own_stop = first.map[1] if first.map and first.type not in _LISTS else start + 1
        return Block("item", start, stop, own_stop, path)
    return Block("other", start, stop, stop, path) if token.type in _OTHER else None


def _after(tokens: list[Token], i: int) -> int:
    """The index behind the token that closes token `i`."""
    if tokens[i].nesting <= 0:
        return i + 1
    level = tokens[i].level
    i += 1
    while tokens[i].level > level:
        i += 1
    return i + 1
