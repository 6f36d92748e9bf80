"""The cascade: a walk from the best matches of a search to the entries that are connected to them.

The walk takes a few steps along the edges, in both directions. The step from a memory to its tag is
one step, and the step from the tag to another memory is a second one.
"""

from __future__ import annotations

from collections.abc import Mapping

from brain._tuples import NamedTuple
from brain.graph.edges import PREFIXES, Edges, edges, max_shared, name_of, normalized
from brain.index import relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.config import Config
    from brain.index.db import Index, Owners

    Step = tuple[float, float]  # weight of the edge, decay
    # by node: the score, the last edge in words (for a tag or note: the node before it), and the
    # trail: the seed, and the steps from it
    Layer = dict[str, tuple[float, str, tuple[Any, ...]]]

MAX_STEPS = 6  # after these, less than 1/100,000 of a score is left with the default weights
MAX_DIRECT = 100  # the number of edges from one entry to other entries that are followed
# the reason for reaching an entry: as the target of an edge, and as its source
_RELATIONS = {
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
    via: str  # the last edge in words; '' for a seed
    seed: str = ""
    steps: tuple[Step, ...] = ()


def cascade(
    index: Index, seeds: Mapping[str, float], owners: Owners, config: Config
) -> dict[str, Reached]:
    """Return the seeds, given by id with their scores, and the entries connected to them.

    Step d multiplies the score by the weight of the edge and by cascadeDecay^d. If an entry is
    reached in several ways, the highest score is kept. A superseded memory is replaced by its
    successor, which gets the same score. The same index and seeds give the same result.
    """
    all_edges = edges(index, owners)
    walk = _Walk(all_edges)
    last_step = min(config.cascadeDepth, MAX_STEPS)
    layer = _seed_layer(all_edges, seeds)
    reached = {id: Reached(score, "", trail[0]) for id, (score, _, trail) in layer.items()}
    for depth in range(1, last_step + 1):
        layer = walk.next_layer(layer, config.cascadeDecay**depth, is_last=depth == last_step)
        for id, (score, via, (seed, *steps)) in layer.items():
            if not _is_connector(id) and (id not in reached or score > reached[id].score):
                reached[id] = Reached(score, via, seed, tuple(steps))
    return _replace_superseded(reached, relations.successors(index, reached, owners))


def _seed_layer(edges_: Edges, seeds: Mapping[str, float]) -> Layer:
    """Return the visible seeds. If several of them are ids of one entry, the best score counts."""
    layer: Layer = {}
    for seed, score in seeds.items():
        id = edges_.ids.get(seed, "")
        if id and (id not in layer or score > layer[id][0]):
            layer[id] = (score, "", (seed,))
    return layer


class _Walk:
    """The steps from a node to its neighbours."""

    def __init__(self, edges_: Edges) -> None:
        self.weights = edges_.weights
        self.max_shared = max_shared(len(set(edges_.ids.values())))
        self.edges: dict[str, list[tuple[str, str, str]]] = {}  # (source, target, type)
        for edge in edges_.weights:
            self.edges.setdefault(edge[0], []).append(edge)
            self.edges.setdefault(edge[1], []).append(edge)

    def next_layer(self, layer: Layer, decay: float, is_last: bool) -> Layer:
        """Return the best score of every node that one step reaches. The last step leads only to
        entries."""
        best: dict[str, Any] = {}
        for node, (score, via, trail) in layer.items():
            previous = via if _is_connector(node) else node
            for target, weight, relation in self._steps(node):
                if target != previous and not (is_last and _is_connector(target)):
                    next_via = f"{relation} {previous}" if relation else previous
                    step = (-score * weight * decay, next_via, (*trail, (weight, decay)))
                    best[target] = min(step, best.get(target, step))
        return {target: (-score, via, trail) for target, (score, via, trail) in best.items()}

    def _steps(self, node: str) -> list[tuple[str, float, str]]:
        """Return (neighbour, weight, edge in words) for each step from a node. A step from an entry
        to a tag or note has no words."""
        edges = self.edges.get(node, [])
        ends = [
            (edge[1] if edge[0] == node else edge[0], self.weights[edge], edge) for edge in edges
        ]
        if _is_connector(node):
            if len({end for end, *_ in ends}) > self.max_shared:
                return []
            relation = (
                f"tag {node} of" if node[0] == "#" else f"note {name_of(normalized(node[2:-2]))} of"
            )
            return [(end, weight, relation) for end, weight, _ in ends]
        to_connectors = [(end, weight, "") for end, weight, _ in ends if _is_connector(end)]
        direct = [
            (end, weight, _RELATIONS[type][target == node])
            for end, weight, (_, target, type) in ends
            if not _is_connector(end)
        ]
        direct.sort(key=lambda step: (-step[1], step[0], step[2]))
        return direct[:MAX_DIRECT] + to_connectors


def _is_connector(node: str) -> bool:
    """Return True for a tag or note, which connects entries but is not an entry."""
    return node.startswith(PREFIXES)


def _replace_superseded(
    reached: dict[str, Reached], successors: Mapping[str, str]
) -> dict[str, Reached]:
    current = {id: entry for id, entry in reached.items() if id not in successors}
    for id, successor in sorted(successors.items()):
        superseded = reached[id]
        if successor not in current or superseded.score > current[successor].score:
            via = f"supersedes {id}" + (f", {superseded.via}" if superseded.via else "")
            current[successor] = superseded._replace(via=via)
    return current
