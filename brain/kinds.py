"""The kinds of memory: a table, and the headings and tags that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from brain._tuples import NamedTuple
from brain.words import casefold

DEFAULT_KIND = "fact"


class Kind(NamedTuple):
    """A kind of memory. `ttl` and `half_life` are in days; None means forever."""

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

OTHER_NAMES = {"failure": "error"}

_BY_HEADING = {heading: name for name, kind in KINDS.items() for heading in kind.headings}
_BY_HEADING |= {name.replace("_", " "): name for name in KINDS}
_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")


@lru_cache(512)  # the entries of a note have few different paths
def kind_of_headings(path: tuple[str, ...]) -> str:
    """Return the first kind that a heading names, from the innermost heading outwards; '' if
    none."""
    return next(
        filter(None, (_BY_HEADING.get(comparable_heading(heading)) for heading in reversed(path))),
        "",
    )


def comparable_heading(heading: str) -> str:
    """Return the words of a heading for comparison: in lower case, and without surrounding emoji,
    numbers, emphasis, punctuation and tags."""
    words = _EDGES.sub("", heading.partition(" #")[0])
    words = casefold(" ".join(words.split()))
    return words.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def kind_named(name: str) -> str:
    """Return the kind for a name in any spelling. An unknown name is returned in lower case."""
    folded = name.strip().casefold().replace("-", "_")
    return OTHER_NAMES.get(folded, folded)


def kind_of_tags(tags: Iterable[str]) -> str:
    """Return the first kind that a tag names; '' if none does."""
    names = (tag.casefold().replace("-", "_") for tag in tags)
    return next((name for name in names if name in KINDS), "")


def status_of(tags: Iterable[str]) -> str:
    """Return the status: pinned or candidate if there is such a tag, else confirmed."""
    found = {tag.casefold() for tag in tags}
    return "pinned" if "pinned" in found else "candidate" if "candidate" in found else "confirmed"
