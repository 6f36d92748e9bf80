"""Where in a chunk the answer stands: the best line, and a short piece of it with the words
marked."""

from __future__ import annotations

import re

from brain.recall.terms import Term, fold

WIDTH = 160


def pattern(wanted: tuple[Term, ...], prefix: bool = False) -> re.Pattern[str] | None:
    """A regex for the folded words of a question, longest first."""
    whole: set[str] = set()
    parts: set[str] = set()
    for term in wanted:
        if term.column == "spaced":
            parts.add(fold("".join(term.words)))
        else:
            whole.update(fold(word) for word in term.words)
    end = "" if prefix else r"(?![^\W_])"
    choices = [rf"(?<![^\W_]){re.escape(word)}{end}" for word in _longest_first(whole)]
    choices += [re.escape(part) for part in _longest_first(parts)]
    return re.compile("|".join(choices)) if choices else None


def _longest_first(words: set[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def best_line(text: str, words: re.Pattern[str] | None) -> tuple[int, str]:
    """(line from 0, its text) of the first line that holds the most different words.

    A line of the properties counts only if no other holds a word; the first line with any text, if
    none does at all.
    """
    folded = fold(text)
    body = text.find("\n---", 3) + 4 if text.startswith("---") else 0  # behind the properties
    per_line: dict[tuple[bool, int], set[str]] = {}
    row = at = 0
    for found in words.finditer(folded) if words else ():
        row += folded.count("\n", at, found.start())
        at = found.start()
        per_line.setdefault((at >= body, row), set()).add(found.group())
    if not per_line:
        best = text[: len(text) - len(text.lstrip())].count("\n")
    else:
        _, best = max(per_line, key=lambda key: (key[0], len(per_line[key]), -key[1]))
    return best, text.split("\n", best + 1)[best]


def mark(line: str, words: re.Pattern[str] | None, opening: str, closing: str) -> str:
    """At most WIDTH characters of a line, around its first match, with the words marked."""
    line = line.strip()
    folded = fold(line)
    spans = [m.span() for m in words.finditer(folded)] if words else []
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
    """Where to start, so that the first match is well inside, at a word if one starts near."""
    if len(line) <= WIDTH:
        return 0
    start = max(0, min(first - WIDTH // 4, len(line) - WIDTH))
    space = line.find(" ", start, min(first, start + 20)) if start else -1
    return space + 1 if space >= 0 else start
