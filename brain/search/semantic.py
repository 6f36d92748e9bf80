"""Meaning as one addend of a score: the calibrated cosine of an entry, never scaled by question.

    meaning(note) = the highest cosine of its passages
    added         = vectorWeight x 1.5 (turns: 0.5) x meaning

A model and the vectors it made come from `embed` and `index.vectors`; here they are only a mapping
from row ids to cosines.
"""

from __future__ import annotations

import re

from brain.config import Config
from brain.search.question import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.index.db import Index
    from brain.index.read import Filters
    from brain.recall.similar import Meaning

WEIGHTS = {"passages": 1.5, "entries": 1.5, "turns": 0.5}
NEAREST = 300  # entries that are considered for their meaning alone


def cosines(
    meaning: Meaning | None,
    index: Index,
    question: str,
    filters: Filters,
    config: Config,
    rows: Iterable[int],
) -> dict[int, float]:
    """Return how similar the nearest entries are to a question, and those of `rows`, which the
    actor may read, by row id. What is less similar than `similarityThreshold` is left out."""
    if meaning is None:
        return {}
    found = meaning.similar(index, question, filters, NEAREST, rows)
    return {id: cosine for id, cosine in found.items() if cosine >= config.similarityThreshold}


def added(cosine: float, sort: str, config: Config) -> float:
    """Return what the meaning of an entry adds to its score."""
    return config.vectorWeight * WEIGHTS[sort] * max(0.0, cosine)


def without_names(question: str, names: Iterable[str]) -> str:
    """Return a question without the names of speakers, which say who spoke and not of what."""
    said = {word for name in names for word in name.split()}

    def kept(word: re.Match[str]) -> str:
        return "" if fold(word[1]) in said else word[0]

    plain = re.sub(r"([^\W_]+)(?:['’]s\b)?", kept, question) if said else question
    return " ".join(plain.split()) or question
