"""How good a ranking is, as numbers: recall, MRR and nDCG, with intervals by bootstrap."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence

DEPTHS = (1, 5, 10, 20)
METRICS = (*(f"R@{depth}" for depth in DEPTHS), "MRR", "nDCG@10")
Scores = dict[str, float]


def score(ranked: Sequence[str], gold: Collection[str]) -> Scores:
    """What one answer is worth. R@k is the share of `gold` among the first k."""
    places = [place for place, id in enumerate(dict.fromkeys(ranked)) if id in gold]
    found: Scores = {
        f"R@{depth}": sum(place < depth for place in places) / len(gold) for depth in DEPTHS
    }
    found["MRR"] = 1 / (places[0] + 1) if places else 0.0
    best = sum(_gain(place) for place in range(min(10, len(gold))))
    found["nDCG@10"] = sum(_gain(place) for place in places if place < 10) / best
    return found


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def mean(scores: Sequence[Scores], metric: str) -> float:
    return sum(one[metric] for one in scores) / len(scores) if scores else math.nan


def interval(values: Sequence[float], rounds: int = 2000, seed: int = 7) -> tuple[float, float]:
    """The 95 % interval of the mean, by drawing the same number of values again and again."""
    rng = random.Random(seed)
    count = len(values)
    means = sorted(sum(rng.choices(values, k=count)) / count for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of all lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
