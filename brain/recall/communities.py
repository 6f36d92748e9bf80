"""Which nodes of a graph belong together: communities by modularity, found by Louvain's method.

Nodes are looked at in the order of their names and ties are broken by it, so that the same graph
has the same communities, in whatever order it is given.
"""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    Links = list[dict[int, float]]  # of each node to others, and to itself

_PASSES = 50  # rounds in which nodes still move; there were never more than a dozen
_GAIN = 1e-12  # what is less is noise of floating point


def communities(edges: Iterable[tuple[str, str, float]]) -> list[list[str]]:
    """The nodes of each community, sorted, the one with the smallest name first. Several edges
    between two nodes add up; a node without any edge is not there."""
    ordered = sorted((min(a, b), max(a, b), how) for a, b, how in edges if how > 0 and a != b)
    names = sorted({name for edge in ordered for name in edge[:2]})
    number = {name: at for at, name in enumerate(names)}
    links: Links = [{} for _ in names]
    for one, other, weight in ordered:
        for at, to in ((number[one], number[other]), (number[other], number[one])):
            links[at][to] = links[at].get(to, 0.0) + weight
    groups = [[at] for at in range(len(names))]
    while len(homes := _homes(links)) and len(set(homes)) < len(homes):
        groups, links = _merged(groups, links, homes)
    return sorted(sorted(names[at] for at in group) for group in groups)


def _homes(links: Links) -> list[int]:
    """The community of each node, once no node gains by moving to a neighbour's."""
    degrees = [sum(to.values()) for to in links]
    whole = sum(degrees)
    homes = list(range(len(links)))
    sums = list(degrees)  # of the degrees in each community
    for _ in range(_PASSES):
        moved = False
        for node, to in enumerate(links):
            home = homes[node]
            sums[home] -= degrees[node]
            best = _best(node, home, to, homes, sums, degrees[node] / whole)
            sums[best] += degrees[node]
            homes[node] = best
            moved = moved or best != home
        if not moved:
            break
    return homes


def _best(
    node: int, home: int, to: dict[int, float], homes: list[int], sums: list[float], share: float
) -> int:
    """The community in which a node adds most to modularity; its own unless another is better."""
    tied: dict[int, float] = {home: 0.0}
    for other, weight in to.items():
        if other != node:
            tied[homes[other]] = tied.get(homes[other], 0.0) + weight
    best, most = home, tied[home] - sums[home] * share + _GAIN
    for community in sorted(tied):
        gain = tied[community] - sums[community] * share
        if gain > most:
            best, most = community, gain + _GAIN
    return best


def _merged(
    groups: list[list[int]], links: Links, homes: list[int]
) -> tuple[list[list[int]], Links]:
    """Each community as one node, with what ties its members as a tie to itself."""
    number = {home: at for at, home in enumerate(dict.fromkeys(homes))}
    merged: list[list[int]] = [[] for _ in number]
    between: Links = [{} for _ in number]
    for node, home in enumerate(homes):
        here = number[home]
        merged[here] += groups[node]
        for other, weight in links[node].items():
            there = number[homes[other]]
            between[here][there] = between[here].get(there, 0.0) + weight
    return merged, between
