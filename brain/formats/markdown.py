"""Markdown as Obsidian shows it: code and comments, and the blocks that markdown-it finds.

The mask blanks code fences, code spans and `%%comments%%`, and keeps every offset. A tag, link,
field or heading inside code or a comment does not count: look for them in the masked text.
What opens first counts: a comment in code is code, code in a comment is a comment.

For the blocks, comments are NULs. NULs do not indent what follows, and a line of them is blank.
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
_BACKTICKS = re.compile("``*")  # its first character is found faster than that of "`+"
_ONE_LINE = re.compile(r"(?<![`\\])(`[^`\n]+`)(?!`)")
_PREFIX = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]*)*")
_QUOTE, _GROWTH = 4, 16  # lines of a quote that are tried first, and by how many times more then
_DEEP = 80  # a fence is looked for at most this many characters into its line
# a blank line, or one that starts a list item, a heading, a table row or a fence
_NEXT_BLOCK = re.compile(r"\n[ \t\r]*(?:\n|\||```|~~~|(?:[-*+]|#{1,6}|\d{1,9}[.)])[ \t])")

Span = tuple[int, int]


# -- the mask --------------------------------------------------------------------------------------


def mask(text: str) -> str:
    """Return the text with code and comments as spaces; newlines stay."""
    if ("%" in text and "%%" in text) or ("~" in text and "~~~" in text):
        return _masked(text)
    if "`" not in text:
        return text
    fence = text.find("```")
    cut = text.rfind("\n", 0, fence) + 1 if fence >= 0 else len(text)
    parts = _ONE_LINE.split(text[:cut])  # text, code, text, code, …, text
    parts[1::2] = [" " * len(code) for code in parts[1::2]]
    before = "".join(parts)
    if "`" in before:  # code over several lines, in two backticks, or a backtick that is not code
        return _masked(text)
    return before + _masked(text[cut:])


def _masked(text: str) -> str:
    return blank(text, [(start, stop) for start, stop, _ in _hidden(text)])


def hidden(text: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of code and the spans of comments, each in order."""
    code: list[Span] = []
    comments: list[Span] = []
    for start, stop, comment in _hidden(text):
        (comments if comment else code).append((start, stop))
    return code, comments


def blank(text: str, spans: Iterable[Span], by: str = " ") -> str:
    """Return the text with these spans, which are in order, filled with `by`; newlines stay."""
    out: list[str] = []
    at = 0
    for start, stop in spans:
        filled = by * (stop - start)
        if text.find("\n", start, stop) >= 0:
            lines = text[start:stop].split("\n")
            filled = "\n".join([by * len(line) for line in lines])
        out += text[at:start], filled
        at = stop
    out.append(text[at:])
    return "".join(out)


def _hidden(text: str) -> Iterator[tuple[int, int, bool]]:
    """Return (start, stop, is a comment) of code and comments, in order."""
    marks = _marks(text)
    partners = _partners(text, marks)
    at, paragraph_end = 0, -1
    for number, (start, end) in enumerate(marks):
        if start < at:
            continue
        if text[start] == "%":
            close = text.find("%%", end)
            at = close + 2 if close >= 0 else len(text)  # an open comment runs to the end
            yield start, at, True
        elif end - start >= 3 and (fence_end := _fence_end(text, start, end)):
            at = fence_end
            yield start, at, False
        elif partner := partners[number]:
            if text[start - 1 : start] == "\\":
                continue
            first, last = marks[partner]
            if paragraph_end < first and text.find("\n", end, first) >= 0:
                if paragraph_end < end:
                    found = _NEXT_BLOCK.search(text, end)
                    paragraph_end = found.start() if found else len(text)
                if paragraph_end < first:
                    continue
            at = last
            yield start, at, False


def _marks(text: str) -> list[Span]:
    """Return the runs of backticks, of three tildes or more, and each `%%`."""
    if ("%" in text and "%%" in text) or ("~" in text and "~~~" in text):
        return [match.span() for match in _OPENER.finditer(text)]
    return [match.span() for match in _BACKTICKS.finditer(text)]


def _partners(text: str, marks: list[Span]) -> list[int]:
    """Return for each run of backticks the number of the next run of the same length, or 0."""
    partners = [0] * len(marks)
    latest: dict[int, int] = {}
    for number in range(len(marks) - 1, -1, -1):
        start, end = marks[number]
        if text[start] == "`":
            partners[number] = latest.get(end - start, 0)
            latest[end - start] = number
    return partners


def _fence_end(text: str, start: int, end: int) -> int:
    """Return the end of the block that the run `start` to `end` opens; 0 if it opens none."""
    _, newline, prefix = text[max(0, start - _DEEP) : start].rpartition("\n")
    if (prefix and not _PREFIX.fullmatch(prefix)) or (not newline and start > len(prefix)):
        return 0
    fence = text[start:end]
    line_end = _line_end(text, end)
    if fence[0] == "`" and "`" in text[end:line_end]:
        return 0  # a code span that happens to start a line
    width = len(prefix.expandtabs(4))
    if width < 4 and not prefix.strip():
        return _closing(text, line_end, fence, width + 3)
    return _nested_end(text, line_end, fence, prefix)


def _closing(text: str, at: int, fence: str, deepest: int) -> int:
    """Return the end of the line that closes the block opened by `fence`, else of the text."""
    while (found := text.find(fence, at)) >= 0:
        at = _line_end(text, found)
        indent = text[max(0, found - _DEEP) : found].rpartition("\n")[2]
        if len(indent) <= deepest and not indent.strip(" \t") and _only(text[found:at], fence):
            return at
    return len(text)


def _nested_end(text: str, at: int, fence: str, prefix: str) -> int:
    """Do the same for a fence inside a list item or a quote. The block ends with that, too."""
    quoted = ">" in prefix
    depth = len(prefix.expandtabs(4)) - (0 if prefix.strip() else 3)
    while at < len(text):
        stop = _line_end(text, at + 1)
        line = text[at + 1 : stop]
        inner = line.lstrip(" \t>") if quoted else line.lstrip(" \t")
        if inner.startswith(fence) and _only(inner, fence):
            return stop
        indent = line[: len(line) - len(inner)]
        outside = ">" not in indent if quoted else len(indent.expandtabs(4)) < depth
        if outside and (quoted or inner.strip()):
            return at
        at = stop
    return len(text)


def _only(rest: str, fence: str) -> bool:
    """Return True if there is only the fence on this line."""
    return not rest.lstrip(fence[0]).strip()


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


# -- blocks ----------------------------------------------------------------------------------------


class Block(NamedTuple):
    """Rows `start` to `stop` (exclusive) of the note, under these headings."""

    kind: str  # item, paragraph or other
    start: int
    stop: int
    own_stop: int  # the end of the entry itself and the start of what is nested in it
    path: tuple[str, ...]


def without_math(text: str, formulas: Iterable[tuple[int, int]]) -> str:
    """Return the text with each line of a formula as `$$`, which does not start a block. A line of
    a formula may start with `-`, `+` or `#`."""
    out: list[str] = []
    at = 0
    for start, stop in formulas:
        out += text[at:start], "$$" + "\n$$" * text.count("\n", start, stop)
        at = stop
    return "".join([*out, text[at:]])


def blocks(text: str, above: Iterable[tuple[int, str]] = ()) -> Iterator[Block]:
    """Return the top-level blocks of a text in order, each with the headings above it.

    `above` are the level and the words of the headings that the text itself is under.
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
        i = i + 1 if token.type in _LISTS else _after(tokens, i)


def headings(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Return the top-level headings in order: level, words, first row, row after the last."""
    tokens = _tokens(text)
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            start, stop = token.map
            yield int(token.tag[1]), _words(tokens[i + 1]), start, stop


def _tokens(text: str) -> list[Token]:
    lines = text.replace("\r", " ").split("\n")  # markdown-it would end lines at `\r` too
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
    """Apply markdown-it's rule for quotes to a few lines, and to more if the quote is longer.

    The rule itself reads all lines that could continue a quote, for every quote. That is quadratic
    if the quotes end before these lines do.
    """
    from markdown_it.rules_block import blockquote

    if silent:
        return blockquote(state, start, end, silent)
    rows: dict[Span, int] = state.env.setdefault("quotes", {})  # to try, by line and level
    place, count, last = (start, state.level), len(state.tokens), state.lineMax
    while True:
        stop = min(end, start + rows.get(place, _QUOTE))
        state.lineMax = stop if stop < end else last
        found = blockquote(state, start, stop, silent)
        state.lineMax = last
        if not found or state.line < stop:
            return found
        if stop == end:  # a quote around this one may come here again, with more lines
            rows[place] = len(state.bMarks)
            return found
        rows[place] = _GROWTH * (stop - start)
        del state.tokens[count:]
        state.line = start


def _words(inline: Token) -> str:
    return " ".join(inline.content.replace("\ufffd", " ").split())  # markdown-it's NUL


def _block(tokens: list[Token], i: int, headings: list[tuple[int, str]]) -> Block | None:
    """Return the block that token `i` opens, or None."""
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
    """Return the index after the token that closes token `i`."""
    if tokens[i].nesting <= 0:
        return i + 1
    level = tokens[i].level
    i += 1
    while tokens[i].level > level:
        i += 1
    return i + 1
