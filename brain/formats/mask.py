"""Blanks what is not prose, keeping every offset: code fences, code spans, `%%comments%%`.

A tag, link, field or heading inside code or a comment is none; whoever looks for them looks in the
masked text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_RUN = re.compile(r"`+")


def mask(text: str, start: int = 0) -> str:
    """`text` with code, comments and all before `start` turned into spaces; newlines stay."""
    body = _mask_code(text[start:])
    if "%%" in body:
        body = _blank(body, _comments(body))
    return _spaces(text[:start]) + body if start else body


def mask_comments(text: str, start: int = 0) -> str:
    """`text` with only comments and all before `start` turned into spaces; code stays."""
    body = text[start:]
    if "%%" in body:
        body = _blank(body, _comments(_mask_code(body)))
    return _spaces(text[:start]) + body if start else body


def _mask_code(text: str) -> str:
    if "```" in text or "~~~" in text:
        text = _blank(text, _fences(text))
    if "`" in text:
        text = _blank(text, _code_spans(text))
    return text


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
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
    ahead = {mark: _fence(text, 0, mark * 3) for mark in "`~"}
    at = 0
    while openings := [opening for opening in ahead.values() if opening]:
        start, end = min(openings)
        mark = text[end - 1]
        if mark == "~" or "`" not in text[end : _line_end(text, end)]:
            at = _closing(text, end, mark * (end - text.index(mark, start)))
            yield start, at
        else:
            at = end  # a code span that happens to start a line
        for mark, opening in ahead.items():
            if opening and opening[0] < at:
                ahead[mark] = _fence(text, at, mark * 3)


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
        before = text[max(0, found - 4) : found].rpartition("\n")
        if not before[2].strip(" ") and (before[1] or found < 4):
            return found - len(before[2]), at
    return None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """A run of backticks up to the next run of the same length in the same paragraph."""
    runs = [match.span() for match in _RUN.finditer(text)]
    partner: list[int] = [0] * len(runs)
    latest: dict[int, int] = {}
    for i in range(len(runs) - 1, -1, -1):
        length = runs[i][1] - runs[i][0]
        partner[i] = latest.get(length, 0)
        latest[length] = i
    i, paragraph_end = 0, -1
    while i < len(runs):
        start, end = runs[i]
        if paragraph_end < end:
            paragraph_end = text.find("\n\n", end)
            paragraph_end = len(text) if paragraph_end < 0 else paragraph_end
        if partner[i] and runs[partner[i]][0] < paragraph_end:
            i = partner[i]
            yield start, runs[i][1]
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
