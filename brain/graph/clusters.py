"""Clusters: memories that belong together, named after what they share.

They are the communities of the graph, found by modularity with Louvain's method. Where there are
embeddings, pairs of similar memories count like edges. Nodes are visited in the order of their
names, which also decides between equal gains, so the same graph has the same clusters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from brain._tuples import NamedTuple
from brain.formats.prose import prose
from brain.formats.text import derived_id
from brain.graph import nodes
from brain.graph.edges import WEIGHTS, Edge, hubs
from brain.graph.nodes import ENTRIES, Graph, Node
from brain.words import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    Links = list[dict[int, float]]  # of each node to others, and to itself

MIN_MEMBERS = 2
_TAGS, _WORDS = 2, 3  # in a name
_WORD = re.compile(r"[^\W\d_]{2,}")
_MAX_PASSES = 50  # in which nodes still move; there were never more than a dozen
_MIN_GAIN = 1e-12  # less is noise of floating point


class Cluster(NamedTuple):
    """Memories and items that belong together, those with the strongest edges first.

    The id stays while the node with the strongest edges (often a tag) stays.
    """

    id: str
    name: str
    members: tuple[str, ...]


def find(graph: Graph, similar: Iterable[tuple[str, str, float]] = ()) -> list[Cluster]:
    """Return the clusters of a graph, largest first.

    `similar` are pairs of memories with their similarity.
    """
    entries = {node.id for node in graph.nodes if node.type in ENTRIES}
    crowded = hubs(graph.edges, entries)
    edges = [
        (edge.source, edge.target, edge.weight)
        for edge in graph.edges
        if edge.source not in crowded and edge.target not in crowded
    ]
    edges += ((one, other, cosine) for one, other, cosine in similar if {one, other} <= entries)
    strength = _strength(edges)
    groups = []
    for group in communities(edges):
        ordered = sorted(group, key=lambda node: (-strength[node], node))
        members = tuple(node for node in ordered if node in entries)
        if len(members) >= MIN_MEMBERS:
            groups.append((derived_id("c", ordered[0]), members))
    names = _names(graph, [members for _, members in groups])
    found = [Cluster(id, name, members) for (id, members), name in zip(groups, names, strict=True)]
    return sorted(found, key=lambda cluster: (-len(cluster.members), cluster.id))


def _strength(edges: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """Return the sum of the weights of each node's edges."""
    found: dict[str, float] = {}
    for one, other, weight in sorted(edges):
        found[one] = found.get(one, 0.0) + weight
        found[other] = found.get(other, 0.0) + weight
    return found


def add(graph: Graph, clusters: Iterable[Cluster]) -> Graph:
    """Return the graph with the clusters that have a member in it, and edges to them."""
    ids = {node.id for node in graph.nodes}
    edges = [
        Edge(member, cluster.id, "in_cluster", WEIGHTS["in_cluster"])
        for cluster in clusters
        for member in cluster.members
        if member in ids
    ]
    known = {edge.target for edge in edges}
    added = [
        Node(cluster.id, "cluster", cluster.name, entries=len(cluster.members))
        for cluster in clusters
        if cluster.id in known
    ]
    return nodes.ordered((*graph.nodes, *added), (*graph.edges, *edges))


# -- communities -----------------------------------------------------------------------------------


def communities(edges: Iterable[tuple[str, str, float]]) -> list[list[str]]:
    """Return the nodes of each community, sorted, that with the smallest name first.

    Several edges between two nodes add up. A node without an edge is in no community.
    """
    ordered = sorted(
        (min(a, b), max(a, b), weight) for a, b, weight in edges if weight > 0 and a != b
    )
    names = sorted({name for edge in ordered for name in edge[:2]})
    number = {name: at for at, name in enumerate(names)}
    links: Links = [{} for _ in names]
    for one, other, weight in ordered:
        for at, to in ((number[one], number[other]), (number[other], number[one])):
            links[at][to] = links[at].get(to, 0.0) + weight
    groups = [[at] for at in range(len(names))]
    while len(homes := _homes(links)) and len(set(homes)) < len(homes):
        groups, links = _merge(groups, links, homes)
    return sorted(sorted(names[at] for at in group) for group in groups)


def _homes(links: Links) -> list[int]:
    """Return the community of each node, once no node gains by moving to a neighbour's."""
    degrees = [sum(to.values()) for to in links]
    total = sum(degrees)
    homes = list(range(len(links)))
    sums = list(degrees)  # of the degrees in each community
    for _ in range(_MAX_PASSES):
        moved = False
        for node, to in enumerate(links):
            home = homes[node]
            sums[home] -= degrees[node]
            best = _best(node, home, to, homes, sums, degrees[node] / total)
            sums[best] += degrees[node]
            homes[node] = best
            moved = moved or best != home
        if not moved:
            break
    return homes


def _best(
    node: int, home: int, to: dict[int, float], homes: list[int], sums: list[float], share: float
) -> int:
    """Return the community where a node adds most to modularity, its own in a tie."""
    weights: dict[int, float] = {home: 0.0}
    for other, weight in to.items():
        if other != node:
            weights[homes[other]] = weights.get(homes[other], 0.0) + weight
    best, most = home, weights[home] - sums[home] * share + _MIN_GAIN
    for community in sorted(weights):
        gain = weights[community] - sums[community] * share
        if gain > most:
            best, most = community, gain + _MIN_GAIN
    return best


def _merge(
    groups: list[list[int]], links: Links, homes: list[int]
) -> tuple[list[list[int]], Links]:
    """Make each community one node, with the edges between its members as an edge to itself."""
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


# -- names -----------------------------------------------------------------------------------------


def _names(graph: Graph, groups: Sequence[tuple[str, ...]]) -> list[str]:
    """Name each cluster after tags that at least half of it has, else after its typical words.

    Clusters that would have the same name get both.
    """
    tags: dict[str, set[str]] = {}
    labels = {node.id: node.label.removeprefix("#") for node in graph.nodes}
    for edge in graph.edges:
        if edge.type == "has_tag":
            tags.setdefault(edge.source, set()).add(labels[edge.target])
    words = {node.id: _words(node) for node in graph.nodes if node.type in ENTRIES}
    frequency = Counter(word for every in words.values() for word in every)
    by_tags = [_common_tags([tags.get(member, set()) for member in group]) for group in groups]
    by_words = [
        _typical_words([words[member] for member in group], frequency, len(words))
        for group in groups
    ]
    names = [one or other for one, other in zip(by_tags, by_words, strict=True)]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    names = [
        f"{name}: {more}" if name in repeated and more not in ("", name) else name
        for name, more in zip(names, by_words, strict=True)
    ]
    return _number([name or group[0] for name, group in zip(names, groups, strict=True)])


def _number(names: Iterable[str]) -> list[str]:
    """Append a number to names that came before."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if seen[name] > 1 else name)
    return found


def _common_tags(tags: Sequence[set[str]]) -> str:
    count = Counter(tag for every in tags for tag in every)
    common = [tag for tag, times in count.items() if times > 1 and 2 * times >= len(tags)]
    return ", ".join(sorted(common, key=lambda tag: (-count[tag], tag))[:_TAGS])


def _typical_words(words: Sequence[set[str]], frequency: Counter[str], entries: int) -> str:
    """Return the words with the highest tf-idf. A word of all entries says nothing."""
    count = Counter(word for every in words for word in every)
    score = {word: times * log(entries / frequency[word]) for word, times in count.items()}
    found: list[str] = []
    for word in sorted((w for w in score if score[w] > 0), key=lambda w: (-score[w], w)):
        if not any(word.startswith(known) or known.startswith(word) for known in found):
            found.append(word)  # one of crop and crops
    return ", ".join(found[:_WORDS])


def _words(node: Node) -> set[str]:
    found = _WORD.findall(prose(node.text).casefold())
    return {word for word in found if word not in STOP_WORDS and (word[3:] or not word.isascii())}
