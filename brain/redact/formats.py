"""Which rules a text gives reason to try, and what they find.

Ordinary text holds no hint and costs a few microseconds; patterns are compiled when first needed.
"""

from __future__ import annotations

from functools import cache

from brain.redact import rules
from brain.redact.rules import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

SHORTEST = 15  # no provider's key is shorter than this
NOISE = 32  # nor what is taken for noise than this


def hinted(text: str, lower: str) -> list[Rule]:
    """The rules whose hints the text holds, looked up by a character that each hint has."""
    found: dict[str, Rule] = {}
    for mark, hints in _HINTS:
        if mark in text:
            found |= {rule.name: rule for hint, rule in hints if hint in text}
    return [*found.values(), *(rule for name, rule in _NAMED if name in lower)]


def spans(rule: Rule, text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Where a rule finds something."""
    if rule.hints:
        pattern = _compiled(rule)
        yield from (match.span(pattern.groups) for match in pattern.finditer(text))
        return
    for lead in _lead(rule.name).finditer(lower):
        if found := _compiled(rule).match(text, lead.end()):
            yield found.span(1)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern when it is first needed: most texts need none, and compiling costs more than all
    else."""
    import re

    return re.compile(pattern)


def _compiled(rule: Rule) -> re.Pattern[str]:
    """At the start of a word, and on to the word's end; or, without hints, just that length.

    Keys are ASCII: a letter of another script ends them, with or without a space.
    """
    if not rule.hints:
        return compiled(rf"(?a)({rule.pattern})(?![\w+/=\0-])")
    rest = "" if "(" in rule.pattern.replace("(?", "") else r"[\w-]*+"
    return compiled(rf"(?a)(?<![A-Za-z0-9\0])(?:{rule.pattern}){rest}")


def _lead(name: str) -> re.Pattern[str]:
    """A provider's name and what may stand between it and a key, in any notation."""
    return compiled(
        name + r"[\w .-]{0,30}\\?[\"'`\])]{0,2}[ \t]{0,3}(?:=>|:=|[:=：])[ \t]{0,3}\\?[\"'`]?"
    )


def _by_mark() -> tuple[tuple[str, list[tuple[str, Rule]]], ...]:
    """The hints, by the first of a few rare characters that each holds; '' for none of them."""
    out: dict[str, list[tuple[str, Rule]]] = {mark: [] for mark in ("_", "-", "/", "=", ".", "")}
    for rule in (*rules.PREFIXED, *rules.SHAPED):
        for hint in rule.hints:
            out[next(mark for mark in out if mark in hint)].append((hint, rule))
    return tuple(out.items())


_HINTS = _by_mark()
_NAMED = tuple((name, Rule(name, (), pattern)) for name, pattern in rules.NAMED.items())
