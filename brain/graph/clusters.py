"""Clusters: groups of related memories, named after their common tags or words.

Clusters are the communities of the graph, found by modularity with Louvain's method. If there are
embeddings, pairs of similar memories count like edges. Nodes are visited in the order of their
names, and equal gains are decided by name, so the same graph has the same clusters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from brain._tuples import NamedTuple
from brain.formats.inline import prose
from brain.formats.text import derived_id
from brain.graph import nodes
from brain.graph.edges import WEIGHTS, Edge, hubs
from brain.graph.nodes import ENTRIES, Graph, Node
from brain.words import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    Links = list[dict[int, float]]  # for each node, the weights of its edges by the other end

MIN_MEMBERS = 2
_MAX_TAGS, _MAX_WORDS = 2, 3  # in a name
_WORD = re.compile(r"[^\W\d_]{2,}")
_MAX_PASSES = 50  # over all nodes; tests never needed more than a dozen
_MIN_GAIN = 1e-12  # a smaller gain may be a rounding error


class Cluster(NamedTuple):
    """Related memories and items, those with the strongest edges first.

    The id is derived from the node with the strongest edges, which is often a tag.
    """

    id: str
    name: str
    members: tuple[str, ...]


def find(graph: Graph, similar: Iterable[tuple[str, str, float]] = ()) -> list[Cluster]:
    """Return the clusters of a graph, largest first.

    `similar` are pairs of memories with their similarity.
    """
    entries = {node.id for node in graph.nodes if node.type in ENTRIES}
    shared_too_often = hubs(graph.edges, entries)
    edges = [
        (edge.source, edge.target, edge.weight)
        for edge in graph.edges
        if edge.source not in shared_too_often and edge.target not in shared_too_often
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
    clusters = [
        Cluster(id, name, members) for (id, members), name in zip(groups, names, strict=True)
    ]
    return sorted(clusters, key=lambda cluster: (-len(cluster.members), cluster.id))


def _strength(edges: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """Return for each node the sum of the weights of its edges."""
    sums: dict[str, float] = {}
    for one, other, weight in sorted(edges):
        sums[one] = sums.get(one, 0.0) + weight
        sums[other] = sums.get(other, 0.0) + weight
    return sums


def add(graph: Graph, clusters: Iterable[Cluster]) -> Graph:
    """Add the clusters that have a member in the graph, with edges from the members."""
    ids = {node.id for node in graph.nodes}
    edges = [
        Edge(member, cluster.id, "in_cluster", WEIGHTS["in_cluster"])
        for cluster in clusters
        for member in cluster.members
        if member in ids
    ]
    used = {edge.target for edge in edges}
    added = [
        Node(cluster.id, "cluster", cluster.name, entries=len(cluster.members))
        for cluster in clusters
        if cluster.id in used
    ]
    return nodes.ordered((*graph.nodes, *added), (*graph.edges, *edges))


# -- communities -----------------------------------------------------------------------------------


def communities(edges: Iterable[tuple[str, str, float]]) -> list[list[str]]:
    """Return the sorted nodes of each community. The community with the smallest name comes first.

    The weights of several edges between two nodes are added. A node without an edge is in no
    community.
    """
    ordered = sorted(
        (min(a, b), max(a, b), weight) for a, b, weight in edges if weight > 0 and a != b
    )
    names = sorted({name for edge in ordered for name in edge[:2]})
    index = {name: node for node, name in enumerate(names)}
    links: Links = [{} for _ in names]
    for one, other, weight in ordered:
        for source, target in ((index[one], index[other]), (index[other], index[one])):
            links[source][target] = links[source].get(target, 0.0) + weight
    groups = [[node] for node in range(len(names))]
    while len(homes := _homes(links)) and len(set(homes)) < len(homes):
        groups, links = _merge(groups, links, homes)
    return sorted(sorted(names[node] for node in group) for group in groups)


def _homes(links: Links) -> list[int]:
    """Return the community of each node. At first, each node has its own. Nodes then move to the
    communities of neighbours until no move adds to modularity."""
    degrees = [sum(neighbours.values()) for neighbours in links]
    total = sum(degrees)
    homes = list(range(len(links)))
    sums = list(degrees)  # the sum of the degrees in each community
    for _ in range(_MAX_PASSES):
        moved = False
        for node, neighbours in enumerate(links):
            home = homes[node]
            sums[home] -= degrees[node]
            best = _best_community(node, home, neighbours, homes, sums, degrees[node] / total)
            sums[best] += degrees[node]
            homes[node] = best
            moved = moved or best != home
        if not moved:
            break
    return homes


def _best_community(
    node: int,
    home: int,
    neighbours: dict[int, float],
    homes: list[int],
    sums: list[float],
    share: float,
) -> int:
    """Return the community where a node adds most to modularity; in a tie, its own community."""
    weights: dict[int, float] = {home: 0.0}
    for other, weight in neighbours.items():
        if other != node:
            weights[homes[other]] = weights.get(homes[other], 0.0) + weight
    best, best_gain = home, weights[home] - sums[home] * share + _MIN_GAIN
    for community in sorted(weights):
        gain = weights[community] - sums[community] * share
        if gain > best_gain:
            best, best_gain = community, gain + _MIN_GAIN
    return best


def _merge(
    groups: list[list[int]], links: Links, homes: list[int]
) -> tuple[list[list[int]], Links]:
    """Merge each community into one node. The edges between members of a community become an edge
    from the node to itself."""
    index = {home: node for node, home in enumerate(dict.fromkeys(homes))}
    merged_groups: list[list[int]] = [[] for _ in index]
    merged_links: Links = [{} for _ in index]
    for node, home in enumerate(homes):
        source = index[home]
        merged_groups[source] += groups[node]
        for other, weight in links[node].items():
            target = index[homes[other]]
            merged_links[source][target] = merged_links[source].get(target, 0.0) + weight
    return merged_groups, merged_links


# -- names -----------------------------------------------------------------------------------------


def _names(graph: Graph, groups: Sequence[tuple[str, ...]]) -> list[str]:
    """Name each cluster after the tags of at least half of its members, else after its typical
    words.

    Clusters that would have the same name are named after both.
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
    return _number_repeats([name or group[0] for name, group in zip(names, groups, strict=True)])


def _number_repeats(names: Iterable[str]) -> list[str]:
    """Append a number to each repeated name: 'a', 'a 2', 'a 3'."""
    count: Counter[str] = Counter()
    numbered = []
    for name in names:
        count[name] += 1
        numbered.append(f"{name} {count[name]}" if count[name] > 1 else name)
    return numbered


def _common_tags(tags: Sequence[set[str]]) -> str:
    count = Counter(tag for every in tags for tag in every)
    common = [tag for tag, times in count.items() if times > 1 and 2 * times >= len(tags)]
    return ", ".join(sorted(common, key=lambda tag: (-count[tag], tag))[:_MAX_TAGS])


def _typical_words(words: Sequence[set[str]], frequency: Counter[str], entries: int) -> str:
    """Return the words with the highest tf-idf. Words that all entries contain do not count."""
    count = Counter(word for every in words for word in every)
    score = {word: times * log(entries / frequency[word]) for word, times in count.items()}
    typical: list[str] = []
    for word in sorted((w for w in score if score[w] > 0), key=lambda w: (-score[w], w)):
        if not any(word.startswith(other) or other.startswith(word) for other in typical):
            typical.append(word)  # only one of "crop" and "crops"
    return ", ".join(typical[:_MAX_WORDS])


def _words(node: Node) -> set[str]:
    found = _WORD.findall(prose(node.text).casefold())
    return {word for word in found if word not in STOP_WORDS and (word[3:] or not word.isascii())}
