"""Precision and recall on labelled pairs: `python -m tests.compare.score FILE [--wrong]`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from brain.compare.contradictions import contradicts
from brain.compare.similar import NEAR, is_same, similarity

LABELS = ("duplicate", "near", "contradiction", "different")
Pair = dict[str, Any]


class Score(NamedTuple):
    """How well one label is given."""

    precision: float
    recall: float
    given: int
    labelled: int


def pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def judge(pair: Pair) -> str:
    """Return the label that Brain gives to a pair."""
    a, b = pair["a"], pair["b"]
    if is_same(a, b):
        return "duplicate"
    if contradicts(a, b):
        return "contradiction"
    return "near" if similarity(a, b) >= NEAR else "different"


def scores(judged: Iterable[tuple[str, str]]) -> dict[str, Score]:
    """Return the score of each label, from (label, given label) of each pair."""
    counts = Counter(judged)
    found = {}
    for label in LABELS:
        right = counts[label, label]
        given = sum(count for (_, other), count in counts.items() if other == label)
        labelled = sum(count for (other, _), count in counts.items() if other == label)
        precision, recall = right / given if given else 1.0, right / labelled if labelled else 1.0
        found[label] = Score(precision, recall, given, labelled)
    return found


def main(path: str, *options: str) -> None:
    """Print the scores, and the pairs that were judged wrongly."""
    every = [(pair, judge(pair)) for pair in pairs(Path(path))]
    found = scores((pair["label"], given) for pair, given in every)
    for label, score in found.items():
        print(
            f"{label:14} precision {score.precision:.3f}  recall {score.recall:.3f}"
            f"  given {score.given}  labelled {score.labelled}"
        )
    for pair, given in every if "--wrong" in options else ():
        if given != pair["label"]:
            print(f"{pair['label']} judged {given}:\n  {pair['a']!r}\n  {pair['b']!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
