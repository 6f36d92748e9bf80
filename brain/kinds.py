"""The kinds of memory, and the formulas of importance, confidence and trust.

Importance is how much a memory matters. It fades while the memory is not used. Confidence is how
reliable a memory is. It halves with the half-life of the kind. Both are between 0 and 1, and are
computed when they are needed, never stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from math import log1p

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


# -- importance, confidence, trust -----------------------------------------------------------------

# Trust by source: a person, an observation or extraction, an inference.
TRUST = {
    "user_stated": 1.0,
    "user_corrected": 1.0,
    "extracted": 0.8,
    "observed": 0.8,
    "migration": 0.8,
    "inferred": 0.6,
}
SOURCES = tuple(TRUST)
INFERRED_HALF_LIFE = 7  # days, for every kind
MERGED, UNVISITED, CANDIDATE = 0.1, 0.8, 0.9
WEEKLY, RESISTANCE, PER_HIT = 0.95, 0.5, 0.05
REINFORCED, DEMOTED, REJECTED = 0.05, 0.10, 0.02


def trust(source: str) -> float:
    """Return the trust in a source. An unknown source has the trust of `inferred`."""
    return TRUST.get(source, TRUST["inferred"])


class Importance(NamedTuple):
    """The parts of an importance: a sum, and factors."""

    base: float
    merges: float = 0.0  # for duplicates that were merged into the memory
    unvisited: float = 1.0  # for a candidate that was not used during its quarantine
    fading: float = 1.0  # for the weeks since the last use
    unused: float = 1.0  # smaller for fewer uses
    candidate: float = 1.0

    @property
    def value(self) -> float:
        start = _clamp(self.base + self.merges)
        return start * self.unvisited * self.fading * self.unused * self.candidate


def importance(
    kind: str,
    base: float | None = None,
    merges: int = 0,
    status: str = "confirmed",
    hits: int = 0,
    days_since_access: float = 0,
    unvisited: bool = False,
) -> Importance:
    """Return how much a memory matters now.

    `base` is the value that was given with the memory; None stands for the value of its kind. Each
    merged duplicate adds to it. The importance loses 5 % a week. A memory that was never used loses
    another half over the first week. Each use reduces that loss by a twentieth of the importance.
    A pinned memory does not fade.
    """
    start = KINDS.get(kind, KINDS[DEFAULT_KIND]).importance if base is None else base
    parts = Importance(start, MERGED * max(0, merges), UNVISITED if unvisited else 1.0)
    if status == "pinned":
        return parts
    weeks = max(0.0, days_since_access) / 7
    lost = max(0.0, 1 - RESISTANCE - PER_HIT * max(0, hits)) * min(1.0, weeks)
    candidate = CANDIDATE if status == "candidate" else 1.0
    return parts._replace(fading=WEEKLY**weeks, unused=1 - lost, candidate=candidate)


class Confidence(NamedTuple):
    """The parts of a confidence: a product, and the amount that feedback adds to it."""

    initial: float
    trust: float = 1.0
    remaining: float = 1.0  # the share that is left at its age
    use: float = 1.0
    feedback: float = 0.0

    @property
    def value(self) -> float:
        return _clamp(self.initial * self.trust * self.remaining * self.use + self.feedback)


def confidence(
    initial: float,
    kind: str,
    source: str,
    age_days: float = 0,
    hits: int = 0,
    reinforced: int = 0,
    demoted: int = 0,
    rejected: int = 0,
) -> Confidence:
    """Return how reliable a memory is now.

    The confidence halves with the half-life of the kind, or after a week if it was inferred. Uses
    increase it. Each reinforcement, demotion, or rejection by a verifier changes it by a fixed
    amount.
    """
    feedback = REINFORCED * reinforced - DEMOTED * demoted - REJECTED * rejected
    use = 1 + 0.1 * log1p(max(0, hits))
    days = half_life(kind, source)
    remaining = 1.0 if days is None else 0.5 ** (max(0.0, age_days) / days)
    return Confidence(initial, trust(source), remaining, use, feedback)


def half_life(kind: str, source: str) -> int | None:
    """Return the days after which half of the confidence is left; None if it does not decrease."""
    if source == "inferred":
        return INFERRED_HALF_LIFE
    return KINDS.get(kind, KINDS[DEFAULT_KIND]).half_life


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
