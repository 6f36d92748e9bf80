"""Blanks what is not prose, keeping every offset: code fences, code spans, `%%comments%%`.

A tag, link, field or heading inside code or a comment is none; whoever looks for them looks in the
masked text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RUN = re.compile(r"`+")


def mask(text: str, start: int = 0) -> str:
    """`text` with code, comments and all before `start` turned into spaces; newlines stay."""
    text = _mask_code(text, start)
    if "%%" in text:
        text = _blank(text, list(_comments(text)))
    return text


def mask_comments(text: str, start: int = 0) -> str:
    """`text` with only comments and all before `start` turned into spaces; code stays."""
    spans = [(0, start)] if start else []
    if "%%" in text:
        spans += _comments(_mask_code(text, start))
    return _blank(text, spans)


def _mask_code(text: str, start: int) -> str:
    if start:
        text = _blank(text, [(0, start)])
    if "```" in text or "~~~" in text:
        text = _blank(text, list(_fences(text)))
    if "`" in text:
        text = _blank(text, list(_code_spans(text)))
    return text


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    out: list[str] = []
    at = 0
    for start, end in spans:
        out += text[at:start], _spaces(text[start:end])
        at = end
    out.append(text[at:])
    return "".join(out)


def _spaces(text: str) -> str:
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Each fenced block with both fences; one that is never closed runs to the end."""
    at = 0
    while at < len(text):
        ticks, tildes = _fence(text, at, "```"), _fence(text, at, "~~~")
        if not (ticks or tildes):
            return
        opening = min(filter(None, (ticks, tildes)))
        start, end = opening
        mark = text[end - 1]
        if mark == "`" and "`" in text[end : _line_end(text, end)]:
            at = end  # a code span that happens to start a line
            continue
        at = _closing(text, end, mark * (end - text.index(mark, start)))
        yield start, at


def _closing(text: str, at: int, fence: str) -> int:
    """Where the block opened by `fence` ends."""
    while closing := _fence(text, at, fence):
        at = closing[1]
        stop = _line_end(text, at)
        if not text[at:stop].strip():
            return stop
    return len(text)


def _fence(text: str, at: int, fence: str) -> tuple[int, int] | None:
    """(start of its line, end) of the next run of `fence` that starts a line, at most 3 spaces
    in."""
    while (found := text.find(fence, at)) >= 0:
        at = found + len(fence)
        while text.startswith(fence[0], at):
            at += 1
        start = text.rfind("\n", 0, found) + 1
        if found - start <= 3 and not text[start:found].strip(" "):
            return start, at
    return None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """A run of backticks up to the next run of the same length in the same paragraph."""
    runs = [(m.start(), m.end()) for m in _RUN.finditer(text)]
    i = 0
    while i < len(runs):
        start, end = runs[i]
        stop = text.find("\n\n", end)
        for j in range(i + 1, len(runs)):
            if 0 <= stop < runs[j][0]:
                break
            if runs[j][1] - runs[j][0] == end - start:
                yield start, runs[j][1]
                i = j
                break
        i += 1


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """From `%%` to the next `%%`; one that is never closed runs to the end, as Obsidian shows
    it."""
    at = text.find("%%")
    while at >= 0:
        end = text.find("%%", at + 2)
        stop = end + 2 if end >= 0 else len(text)
        yield at, stop
        at = text.find("%%", stop)
