"""The kinds of memory: one table of what each is worth, how long it lasts, and what it is
called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from brain.record import NamedTuple

DEFAULT_KIND = "fact"


class Kind(NamedTuple):
    """`ttl` and `half_life` are in days; None means for ever."""

    importance: float
    weight: float
    ttl: int | None
    half_life: int | None
    headings: tuple[str, ...]


KINDS: dict[str, Kind] = {
    "correction": Kind(0.95, 1.4, 365, 365, ("corrections",)),
    "negative": Kind(0.90, 1.4, 365, 365, ("never", "avoid", "do not", "don't")),
    "warning": Kind(0.85, 1.4, 30, 90, ("warnings", "pitfalls", "gotchas")),
    "decision": Kind(0.90, 1.3, 90, 90, ("key decisions", "decisions")),
    "architecture": Kind(0.85, 1.25, 180, 180, ("architecture", "design")),
    "preference": Kind(0.90, 1.2, 365, 90, ("user preferences", "preferences")),
    "error": Kind(0.85, 1.2, 90, 60, ("errors", "failures", "lessons", "lessons learned")),
    "procedure": Kind(0.80, 1.15, 180, 60, ("procedures", "how to", "runbook")),
    "convention": Kind(0.80, 1.15, 180, 180, ("conventions", "style")),
    "pattern": Kind(0.70, 1.1, 180, 90, ("patterns",)),
    "fact": Kind(0.60, 1.0, 90, 30, ("project context", "facts")),
    "discovery": Kind(0.50, 1.0, 21, 30, ("discoveries", "findings")),
    "summary": Kind(0.50, 0.9, None, None, ("session summaries", "summaries")),
    "file_change": Kind(0.40, 0.8, 21, 14, ("changes",)),
    "task_progress": Kind(0.40, 0.8, 14, 14, ("progress", "status")),
}

_BY_HEADING = {heading: name for name, kind in KINDS.items() for heading in kind.headings}
_BY_HEADING |= {name.replace("_", " "): name for name in KINDS}


_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")


@lru_cache(512)  # the same few come with every entry of a note
def of_headings(path: tuple[str, ...]) -> str:
    """The kind that the innermost telling heading names; '' if none does.

    Emoji, numbers, emphasis, punctuation and tags around the words do not matter.
    """
    for heading in reversed(path):
        words = _EDGES.sub("", heading.partition(" #")[0]).casefold()
        words = words.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        if words in _BY_HEADING:
            return _BY_HEADING[words]
    return ""


def of_tags(tags: Iterable[str]) -> str:
    """The kind that a tag names outright; '' if none does."""
    for tag in tags:
        name = tag.casefold().replace("-", "_")
        if name in KINDS:
            return name
    return ""


def status_of(tags: Iterable[str]) -> str:
    """pinned, candidate, or confirmed when no tag says otherwise."""
    found = {tag.casefold() for tag in tags}
    return "pinned" if "pinned" in found else "candidate" if "candidate" in found else "confirmed"
