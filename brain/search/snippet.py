"""Find the best line of an entry, and mark the words of the question in an excerpt of it."""

from __future__ import annotations

import re

from brain.search.question import Term
from brain.words import fold, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 160
_PROPERTIES = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?---[ \t]*\r?(?:\n|\Z)")


class Words:
    """The words of a question, in all their forms, to be found in folded text."""

    def __init__(self, wanted: tuple[Term, ...], prefix: bool = False) -> None:
        single = {fold(word) for term in wanted if term.column != "spaced" for word in term.words}
        runs = {fold("".join(term.words)) for term in wanted if term.column == "spaced"}
        self._stems = set() if prefix else {stem(word) for word in single}
        roots = single if prefix else {_root(word) for word in single}
        rest = "" if prefix else r"[^\W_]*"
        choices = [rf"(?<![^\W_]){re.escape(root)}{rest}" for root in _longest_first(roots)]
        choices += [re.escape(run) for run in _longest_first(runs)]
        self._runs = runs
        self._any = re.compile("|".join(choices)) if choices else None

    def spans(self, folded: str) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, word) of each occurrence."""
        for match in self._any.finditer(folded) if self._any else ():
            word = match.group()
            if word in self._runs or not self._stems:
                yield *match.span(), word
            elif (root := stem(word)) in self._stems:
                yield *match.span(), root


def _root(word: str) -> str:
    """Return the common beginning of all words with the stem of this one."""
    root = stem(word)
    return root[:-1] if len(root) > 2 and root != word else root


def _longest_first(words: set[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def best_line(text: str, words: Words) -> tuple[int, str]:
    """Return (line from 0, its text) of the first line with the most different words.

    A line of the properties counts only if no other line contains a word. Without any word it is
    the first line with text after the properties.
    """
    folded = fold(text)
    body = body_at(text)
    per_line: dict[tuple[bool, int], set[str]] = {}
    row = at = 0
    for start, _, word in words.spans(folded):
        row += folded.count("\n", at, start)
        at = start
        per_line.setdefault((at >= body, row), set()).add(word)
    if not per_line:
        rest = text[body:].lstrip() or text.lstrip("- \t\r\n")  # nothing but properties
        best = text.count("\n", 0, len(text) - len(rest))
    else:
        _, best = max(per_line, key=lambda key: (key[0], len(per_line[key]), -key[1]))
    return best, text.split("\n", best + 1)[best]


def body_at(text: str) -> int:
    """Return the offset of the text of a note after its properties; 0 without properties."""
    properties = _PROPERTIES.match(text) if text.startswith("---") else None
    return properties.end() if properties else 0


def mark(line: str, words: Words, opening: str, closing: str) -> str:
    """Return at most WIDTH characters of a line, around its first match, with the words marked."""
    line = line.strip()
    folded = fold(line)
    spans = [(start, stop) for start, stop, _ in words.spans(folded)]
    start = _window(line, spans[0][0] if spans else 0)
    stop = min(len(line), start + WIDTH)
    out, at = ["…" if start else ""], start
    for a, b in spans:
        if a >= at and b <= stop:
            out += [line[at:a], opening, line[a:b], closing]
            at = b
    out += [line[at:stop], "…" if stop < len(line) else ""]
    return "".join(out)


def _window(line: str, first: int) -> int:
    """Return the start of the excerpt: before the first match, at a word if one starts near."""
    if len(line) <= WIDTH:
        return 0
    start = max(0, min(first - WIDTH // 4, len(line) - WIDTH))
    space = line.find(" ", start, min(first, start + 20)) if start else -1
    return space + 1 if space >= 0 else start
