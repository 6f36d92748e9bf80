"""The cascade: from the best matches of a search to the memories and items connected to them.

A walk of a few steps over the edges, in both directions. From a memory to its tag is one step,
from the tag to another memory a second one.
"""

from __future__ import annotations

from collections.abc import Mapping

from brain._tuples import NamedTuple
from brain.graph.edges import PREFIXES, Edges, edges, max_shared, name_of, spelled
from brain.index import links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.config import Config
    from brain.index.db import Index, Owners

    Step = tuple[float, float]  # weight of the edge, decay
    # by node: score, the reason as shown (of a tag or note: where it was entered from), and the
    # seed with the steps from it
    Layer = dict[str, tuple[float, str, tuple[Any, ...]]]

MAX_STEPS = 6  # after so many, with the usual weights, less than a hundred-thousandth is left
MAX_DIRECT = 100  # edges of one entry to others: the strongest
# the reason for an entry that is reached: as the target of an edge, as its source
_WORDS = {
    "relates_to": ("related to", "related to"),
    "link": ("linked from", "links to"),
    "supersedes": ("superseded by", "supersedes"),
    "contradicts": ("contradicts", "contradicts"),
    "derived_from": ("source of", "derived from"),
    "learned": ("learned with", "learned with"),
}


class Reached(NamedTuple):
    """An entry that the cascade reached."""

    score: float
    via: str  # the last edge in words, '' for a seed
    seed: str = ""
    steps: tuple[Step, ...] = ()


def cascade(
    index: Index, seeds: Mapping[str, float], owners: Owners, config: Config
) -> dict[str, Reached]:
    """Return the seeds, given by id with their scores, and the entries connected to them.

    After step d a score is the one before x the weight of the edge x cascadeDecay^d, and the
    highest is kept. A superseded memory is replaced by its successor, which gets its score. The
    same index and seeds give the same answer.
    """
    found = edges(index, owners)
    walk = _Walk(found)
    last = min(config.cascadeDepth, MAX_STEPS)
    layer = _start(found, seeds)
    reached = {id: Reached(score, "", trail[0]) for id, (score, _, trail) in layer.items()}
    for depth in range(1, last + 1):
        layer = walk.next_layer(layer, config.cascadeDecay**depth, is_last=depth == last)
        for id, (score, via, (seed, *steps)) in layer.items():
            if not _is_between(id) and (id not in reached or score > reached[id].score):
                reached[id] = Reached(score, via, seed, tuple(steps))
    return _replace_superseded(reached, links.successors(index, reached, owners))


def _start(found: Edges, seeds: Mapping[str, float]) -> Layer:
    """Return the seeds that may be seen. Of several ids of one entry the best score counts."""
    layer: Layer = {}
    for seed, score in seeds.items():
        id = found.ids.get(seed, "")
        if id and (id not in layer or score > layer[id][0]):
            layer[id] = (score, "", (seed,))
    return layer


class _Walk:
    """The steps from a node to its neighbours."""

    def __init__(self, found: Edges) -> None:
        self.weights = found.weights
        self.max_shared = max_shared(len(set(found.ids.values())))
        self.edges: dict[str, list[tuple[str, str, str]]] = {}  # (source, target, type)
        for edge in found.weights:
            self.edges.setdefault(edge[0], []).append(edge)
            self.edges.setdefault(edge[1], []).append(edge)

    def next_layer(self, layer: Layer, decay: float, is_last: bool) -> Layer:
        """Return the best score of every node one step further. The last step is to an entry."""
        found: dict[str, Any] = {}
        for node, (score, reason, trail) in layer.items():
            start = reason if _is_between(node) else node
            for to, weight, words in self._steps(node):
                if to != start and not (is_last and _is_between(to)):
                    via = f"{words} {start}" if words else start
                    step = (-score * weight * decay, via, (*trail, (weight, decay)))
                    found[to] = min(step, found.get(to, step))
        return {to: (-score, via, trail) for to, (score, via, trail) in found.items()}

    def _steps(self, node: str) -> list[tuple[str, float, str]]:
        """Return (neighbour, weight, reason in words) for each step from a node."""
        edges = self.edges.get(node, [])
        ends = [
            (edge[1] if edge[0] == node else edge[0], self.weights[edge], edge) for edge in edges
        ]
        if _is_between(node):
            if len({to for to, *_ in ends}) > self.max_shared:
                return []
            words = (
                f"tag {node} of" if node[0] == "#" else f"note {name_of(spelled(node[2:-2]))} of"
            )
            return [(to, weight, words) for to, weight, _ in ends]
        between = [(to, weight, "") for to, weight, _ in ends if _is_between(to)]
        direct = [
            (to, weight, _WORDS[type][target == node])
            for to, weight, (_, target, type) in ends
            if not _is_between(to)
        ]
        direct.sort(key=lambda step: (-step[1], step[0], step[2]))
        return direct[:MAX_DIRECT] + between


def _is_between(node: str) -> bool:
    """Return True for a tag or note, which connects entries and is not one."""
    return node.startswith(PREFIXES)


def _replace_superseded(
    reached: dict[str, Reached], successors: Mapping[str, str]
) -> dict[str, Reached]:
    current = {id: found for id, found in reached.items() if id not in successors}
    for id, successor in sorted(successors.items()):
        old = reached[id]
        if successor not in current or old.score > current[successor].score:
            via = f"supersedes {id}" + (f", {old.via}" if old.via else "")
            current[successor] = old._replace(via=via)
    return current
