"""Find the best line of an entry, and mark the words of the question in an excerpt of it."""

from __future__ import annotations

import re

from brain.formats.text import UNSPACED
from brain.search.question import Term
from brain.words import fold, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brain.index.read import Row

WIDTH = 160
_TAG = re.compile(r"(?<!\S)#[\w/-]+")
_PROPERTIES = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?---[ \t]*\r?(?:\n|\Z)")


class Words:
    """Finds the words of a question, in all their forms, in folded text."""

    def __init__(self, wanted: tuple[Term, ...], prefix: bool = False) -> None:
        single = {fold(word) for term in wanted if term.column != "spaced" for word in term.words}
        runs = {fold("".join(term.words)) for term in wanted if term.column == "spaced"}
        self._stems = set() if prefix else {stem(word) for word in single}
        self._roots = single if prefix else {_root(word) for word in single}
        self._runs, self._prefix = runs, prefix
        self._patterns: dict[bool, re.Pattern[str]] = {}

    def _pattern(self, is_ascii: bool) -> re.Pattern[str]:
        """Return the pattern of all words. A word also ends at a character of a script without
        spaces."""
        if is_ascii not in self._patterns:
            letter = r"[^\W_]" if is_ascii else rf"[^\W_{UNSPACED}]"
            rest = "" if self._prefix else f"{letter}*"
            words = [f"(?<!{letter}){re.escape(r)}{rest}" for r in _longest_first(self._roots)]
            runs = map(re.escape, _longest_first(self._runs))
            self._patterns[is_ascii] = re.compile("|".join((*words, *runs)) or r"(?!)")
        return self._patterns[is_ascii]

    def spans(self, folded: str) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, word) of each occurrence."""
        for match in self._pattern(folded.isascii()).finditer(folded):
            word = match.group()
            if word in self._runs or not self._stems:
                yield *match.span(), word
            elif (root := stem(word)) in self._stems:
                yield *match.span(), root


def _root(word: str) -> str:
    """Return the common beginning of all words that have the same stem as this word."""
    root = stem(word)
    return root[:-1] if len(root) > 2 and root != word else root


def _longest_first(words: set[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def best_line(text: str, words: Words) -> tuple[int, str]:
    """Return (number from 0, text) of the first line with the most distinct words.

    A line of the properties is used only if no other line contains a word. If no line does, return
    the first line with text after the properties.
    """
    folded = fold(text)
    body = body_at(text)
    per_line: dict[tuple[bool, int], set[str]] = {}
    line = offset = 0
    for start, _, word in words.spans(folded):
        line += folded.count("\n", offset, start)
        offset = start
        per_line.setdefault((offset >= body, line), set()).add(word)
    if not per_line:
        rest = text[body:].lstrip() or text.lstrip("- \t\r\n")  # nothing but properties
        best = text.count("\n", 0, len(text) - len(rest))
    else:
        _, best = max(per_line, key=lambda key: (key[0], len(per_line[key]), -key[1]))
    return best, text.split("\n", best + 1)[best]


def indexed_text(row: Row) -> str:
    """Return the text of an entry that full-text search matches."""
    return f"{row.heading} {row.text} {row.tags} {row.path} {row.title}"


def body_at(text: str) -> int:
    """Return the offset of the text of a note after its properties; 0 without properties."""
    properties = _PROPERTIES.match(text) if text.startswith("---") else None
    return properties.end() if properties else 0


def mark(line: str, words: Words, opening: str, closing: str) -> str:
    """Return at most WIDTH characters of a line, around its first match, with the words marked."""
    line = line.strip()
    folded = fold(line)
    spans = _joined_in_tags(line, [(start, stop) for start, stop, _ in words.spans(folded)])
    start = _window(line, spans[0][0] if spans else 0)
    stop = min(len(line), start + WIDTH)
    parts, position = ["…" if start else ""], start
    for a, b in spans:
        if a >= position and b <= stop:
            parts += [line[position:a], opening, line[a:b], closing]
            position = b
    parts += [line[position:stop], "…" if stop < len(line) else ""]
    return "".join(parts)


def _joined_in_tags(line: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, in which the spans of neighbouring words of a tag are joined."""
    joined: list[tuple[int, int]] = []
    tags = [match.span() for match in _TAG.finditer(line)] if "#" in line else []
    for start, stop in spans:
        last = joined[-1] if joined else (0, 0)
        is_next = line[last[1] : start] in ("/", "-", "_")
        if is_next and any(a <= last[0] and stop <= b for a, b in tags):
            joined[-1] = (last[0], stop)
        else:
            joined.append((start, stop))
    return joined


def _window(line: str, first: int) -> int:
    """Return the start of an excerpt before the first match, at the start of a word if one is
    near."""
    if len(line) <= WIDTH:
        return 0
    start = max(0, min(first - WIDTH // 4, len(line) - WIDTH))
    space = line.find(" ", start, min(first, start + 20)) if start else -1
    return space + 1 if space >= 0 else start
