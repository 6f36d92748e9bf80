"""Markdown as Obsidian reads it: code and comments, and the blocks that markdown-it finds.

`mask` replaces code fences, code spans and `%%comments%%` by spaces and keeps every offset. Tags,
links, fields and headings in code or comments do not count, so the masked text is searched for
them. A comment in code is code, and code in a comment is a comment.

To find the blocks, comments are replaced by NULs, because spaces would indent the text after a
comment. A line of NULs counts as blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from brain._tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+|$)(?:\[[^\[\]\n]\](?:\s+|$))?")
MATH = re.compile(r"^ {0,3}+\$\$(?:(?!\$\$).)*+\$\$[ \t\r]*+$", re.MULTILINE | re.DOTALL)
_LISTS = {"bullet_list_open", "ordered_list_open"}
_OTHER = {"fence", "code_block", "html_block", "blockquote_open", "table_open"}
_OPENER = re.compile(r"`+|~{3,}|%%")
_BACKTICKS = re.compile("``*")  # faster than "`+"
_PREFIX = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]*)*")
_QUOTE, _GROWTH = 4, 16  # the lines of a quote to try first, and the factor for each further try
_MAX_INDENT = 80  # characters before a fence
# a blank line, or one that starts a list item, a heading, a table row or a fence
_NEXT_BLOCK = re.compile(r"\n[ \t\r]*(?:\n|\||```|~~~|(?:[-*+]|#{1,6}|\d{1,9}[.)])[ \t])")

Span = tuple[int, int]


# -- the mask --------------------------------------------------------------------------------------


def mask(text: str) -> str:
    """Return the text with spaces in place of code and comments. Newlines are kept."""
    return blank(text, [(start, stop) for start, stop, _ in _hidden(text)])


def code_and_comments(text: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of code and the spans of comments, each in order."""
    code: list[Span] = []
    comments: list[Span] = []
    for start, stop, comment in _hidden(text):
        (comments if comment else code).append((start, stop))
    return code, comments


def blank(text: str, spans: Iterable[Span], fill: str = " ") -> str:
    """Fill these spans, which are sorted, with a character. Newlines are kept."""
    parts: list[str] = []
    position = 0
    for start, stop in spans:
        filled = fill * (stop - start)
        if text.find("\n", start, stop) >= 0:
            lines = text[start:stop].split("\n")
            filled = "\n".join([fill * len(line) for line in lines])
        parts += text[position:start], filled
        position = stop
    parts.append(text[position:])
    return "".join(parts)


def _hidden(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, stop, is_comment) of code and comments, in order."""
    marks = _marks(text)
    partners = _partners(text, marks)
    position, paragraph_end = 0, -1
    for index, (start, end) in enumerate(marks):
        if start < position:
            continue
        if text[start] == "%":
            close = text.find("%%", end)
            position = close + 2 if close >= 0 else len(text)  # an open comment extends to the end
            yield start, position, True
        elif end - start >= 3 and (fence_end := _fence_end(text, start, end)):
            position = fence_end
            yield start, position, False
        elif partner := partners[index]:
            if text[start - 1 : start] == "\\":
                continue
            partner_start, partner_end = marks[partner]
            if paragraph_end < partner_start and text.find("\n", end, partner_start) >= 0:
                if paragraph_end < end:
                    found = _NEXT_BLOCK.search(text, end)
                    paragraph_end = found.start() if found else len(text)
                if paragraph_end < partner_start:
                    continue
            position = partner_end
            yield start, position, False


def _marks(text: str) -> list[Span]:
    """Return the spans of runs of backticks, of three or more tildes, and of each `%%`."""
    if ("%" in text and "%%" in text) or ("~" in text and "~~~" in text):
        return [match.span() for match in _OPENER.finditer(text)]
    return [match.span() for match in _BACKTICKS.finditer(text)]


def _partners(text: str, marks: list[Span]) -> list[int]:
    """Return for each run of backticks the index of the next run of the same length, or 0."""
    partners = [0] * len(marks)
    latest: dict[int, int] = {}
    for index in range(len(marks) - 1, -1, -1):
        start, end = marks[index]
        if text[start] == "`":
            partners[index] = latest.get(end - start, 0)
            latest[end - start] = index
    return partners


def _fence_end(text: str, start: int, end: int) -> int:
    """Return the end of the code block that the fence from `start` to `end` opens; 0 if it opens
    none."""
    _, newline, prefix = text[max(0, start - _MAX_INDENT) : start].rpartition("\n")
    if (prefix and not _PREFIX.fullmatch(prefix)) or (not newline and start > len(prefix)):
        return 0
    fence = text[start:end]
    line_end = _line_end(text, end)
    if fence[0] == "`" and "`" in text[end:line_end]:
        return 0  # a code span at the start of a line
    width = len(prefix.expandtabs(4))
    if width < 4 and not prefix.strip():
        return _closing_end(text, line_end, fence, width + 3)
    return _nested_end(text, line_end, fence, prefix)


def _closing_end(text: str, position: int, fence: str, max_indent: int) -> int:
    """Return the end of the line that closes the block of a fence; the end of the text if there is
    none."""
    while (found := text.find(fence, position)) >= 0:
        position = _line_end(text, found)
        indent = text[max(0, found - _MAX_INDENT) : found].rpartition("\n")[2]
        if (
            len(indent) <= max_indent
            and not indent.strip(" \t")
            and _is_only_fence(text[found:position], fence)
        ):
            return position
    return len(text)


def _nested_end(text: str, position: int, fence: str, prefix: str) -> int:
    """Return the end of the code block that a fence in a list item or quote opens. The block ends
    with the list item or quote at the latest."""
    quoted = ">" in prefix
    depth = len(prefix.expandtabs(4)) - (0 if prefix.strip() else 3)
    while position < len(text):
        stop = _line_end(text, position + 1)
        line = text[position + 1 : stop]
        inner = line.lstrip(" \t>") if quoted else line.lstrip(" \t")
        if inner.startswith(fence) and _is_only_fence(inner, fence):
            return stop
        indent = line[: len(line) - len(inner)]
        outside = ">" not in indent if quoted else len(indent.expandtabs(4)) < depth
        if outside and (quoted or inner.strip()):
            return position
        position = stop
    return len(text)


def _is_only_fence(rest: str, fence: str) -> bool:
    """Return True if a line that begins with a fence has no other text."""
    return not rest.lstrip(fence[0]).strip()


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


# -- blocks ----------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A block: the rows `start` to `stop` (exclusive), and `path`, the headings above it."""

    kind: str  # item, paragraph or other
    start: int
    stop: int
    own_stop: int  # the row after the item's own text; nested rows follow
    path: tuple[str, ...]


def without_math(text: str, formulas: Iterable[tuple[int, int]]) -> str:
    """Replace each line of a formula by `$$`, because a line of a formula may start with `-`, `+`
    or `#`, which would start a block."""
    parts: list[str] = []
    position = 0
    for start, stop in formulas:
        parts += text[position:start], "$$" + "\n$$" * text.count("\n", start, stop)
        position = stop
    return "".join([*parts, text[position:]])


def blocks(text: str, above: Iterable[tuple[int, str]] = ()) -> Iterator[Block]:
    """Yield the top-level blocks of a text in order, each with the headings above it.

    `above` are the levels and words of the headings above the text.
    """
    tokens = _tokens(text)
    path = list(above)
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.type == "heading_open":
            level = int(token.tag[1])
            path = [p for p in path if p[0] < level] + [(level, _words(tokens[i + 1]))]
        elif token.type not in _LISTS and (block := _block(tokens, i, path)):
            yield block
        i = i + 1 if token.type in _LISTS else _index_after(tokens, i)


def headings(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield the top-level headings in order, as (level, words, first row, row after the last)."""
    tokens = _tokens(text)
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            start, stop = token.map
            yield int(token.tag[1]), _words(tokens[i + 1]), start, stop


def _tokens(text: str) -> list[Token]:
    lines = text.replace("\r", " ").split("\n")  # markdown-it would also end lines at `\r`
    lines = [line.rstrip("\0 \t") if "\0" in line else line for line in lines]
    return _markdown().parse("\n".join(lines))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark").enable("table")
    md.core.ruler.disable(["inline", "text_join"])
    terminates = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.at("blockquote", _quote, {"alt": terminates})
    return md


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply markdown-it's rule for quotes to a few lines, and to more lines if the quote is longer.

    The original rule reads all lines that could continue a quote, also if the quote ends earlier.
    This takes quadratic time for many quotes.
    """
    from markdown_it.rules_block import blockquote

    if silent:
        return blockquote(state, start, end, silent)
    # the number of rows to try, by line and level
    rows: dict[Span, int] = state.env.setdefault("quotes", {})
    key, token_count, line_max = (start, state.level), len(state.tokens), state.lineMax
    while True:
        stop = min(end, start + rows.get(key, _QUOTE))
        state.lineMax = stop if stop < end else line_max
        found = blockquote(state, start, stop, silent)
        state.lineMax = line_max
        if not found or state.line < stop:
            return found
        if stop == end:  # an outer quote may be tried again with more lines
            rows[key] = len(state.bMarks)
            return found
        rows[key] = _GROWTH * (stop - start)
        del state.tokens[token_count:]
        state.line = start


def _words(inline: Token) -> str:
    return " ".join(inline.content.replace("\ufffd", " ").split())  # markdown-it replaces NULs


def _block(tokens: list[Token], i: int, headings: list[tuple[int, str]]) -> Block | None:
    """Return the block that token `i` opens; None if it opens none."""
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


def _index_after(tokens: list[Token], i: int) -> int:
    """Return the index after the token that closes token `i`."""
    if tokens[i].nesting <= 0:
        return i + 1
    level = tokens[i].level
    i += 1
    while tokens[i].level > level:
        i += 1
    return i + 1
