"""Clusters: memories that belong together, with a name from what they share.

They are the communities of the graph; where there are embeddings, `similar` adds what those say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from brain.formats.text import derived_id
from brain.lifecycle.dedup import prose
from brain.recall import map as maps
from brain.recall.communities import communities
from brain.recall.map import ENTRIES, Edge, Graph, Node
from brain.recall.terms import STOP_WORDS
from brain.record import NamedTuple

LEAST = 2  # memories in a cluster
_TAGS, _WORDS = 2, 3  # in a name
_WORD = re.compile(r"[^\W\d_]{2,}")


class Cluster(NamedTuple):
    """Memories and items that belong together, the most tied ones first.

    The id stays while the node that holds most of it together (often a tag) does.
    """

    id: str
    name: str
    members: tuple[str, ...]


def find(graph: Graph, similar: Iterable[tuple[str, str, float]] = ()) -> list[Cluster]:
    """The clusters of a graph, the largest first. `similar` are pairs of memories that are alike,
    with how much, and count like edges."""
    entries = {node.id: node for node in graph.nodes if node.type in ENTRIES}
    crowded = maps.hubs(graph)
    ties = [
        (edge.source, edge.target, edge.weight)
        for edge in graph.edges
        if edge.type != "in_cluster" and edge.source not in crowded and edge.target not in crowded
    ]
    ties += ((one, other, how) for one, other, how in similar if {one, other} <= entries.keys())
    strength = _strength(ties)
    groups = []
    for group in communities(ties):
        ordered = sorted(group, key=lambda node: (-strength[node], node))
        members = tuple(node for node in ordered if node in entries)
        if len(members) >= LEAST:
            groups.append((derived_id("c", ordered[0]), members))
    names = _names(graph, [members for _, members in groups])
    found = [Cluster(id, name, members) for (id, members), name in zip(groups, names, strict=True)]
    return sorted(found, key=lambda cluster: (-len(cluster.members), cluster.id))


def _strength(ties: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """How strongly each node is tied, all in all."""
    found: dict[str, float] = {}
    for one, other, weight in sorted(ties):
        found[one] = found.get(one, 0.0) + weight
        found[other] = found.get(other, 0.0) + weight
    return found


def joined(graph: Graph, clusters: Iterable[Cluster], weight: float) -> Graph:
    """The graph with those of the clusters that it has a member of, and edges to them."""
    there = {node.id for node in graph.nodes}
    edges = [
        Edge(member, cluster.id, "in_cluster", weight)
        for cluster in clusters
        for member in cluster.members
        if member in there
    ]
    known = {edge.target for edge in edges}
    nodes = [Node(c.id, "cluster", c.name) for c in clusters if c.id in known]
    return maps.joined(graph, nodes, edges)


# -- names -----------------------------------------------------------------------------------------


def _names(graph: Graph, groups: Sequence[tuple[str, ...]]) -> list[str]:
    """Tags that at least half of a cluster carries, else its most telling words; both where two
    clusters would be called the same."""
    tags: dict[str, set[str]] = {}
    spelled = {node.id: node.label.removeprefix("#") for node in graph.nodes}
    for edge in graph.edges:
        if edge.type == "has_tag":
            tags.setdefault(edge.source, set()).add(spelled[edge.target])
    words = {node.id: _words(node) for node in graph.nodes if node.type in ENTRIES}
    known = Counter(word for every in words.values() for word in every)
    shared = [_shared([tags.get(member, set()) for member in group]) for group in groups]
    telling = [_telling([words[member] for member in group], known, len(words)) for group in groups]
    names = [one or other for one, other in zip(shared, telling, strict=True)]
    twice = {name for name, times in Counter(names).items() if times > 1}
    names = [
        f"{name}: {more}" if name in twice and more not in ("", name) else name
        for name, more in zip(names, telling, strict=True)
    ]
    return _numbered([name or group[0] for name, group in zip(names, groups, strict=True)])


def _numbered(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that came before."""
    before: Counter[str] = Counter()
    found = []
    for name in names:
        before[name] += 1
        found.append(f"{name} {before[name]}" if before[name] > 1 else name)
    return found


def _shared(tags: Sequence[set[str]]) -> str:
    carried = Counter(tag for every in tags for tag in every)
    common = [tag for tag, times in carried.items() if times > 1 and 2 * times >= len(tags)]
    return ", ".join(sorted(common, key=lambda tag: (-carried[tag], tag))[:_TAGS])


def _telling(words: Sequence[set[str]], known: Counter[str], entries: int) -> str:
    """The words with the highest tf-idf; those that all entries have say nothing."""
    here = Counter(word for every in words for word in every)
    worth = {word: times * log(entries / known[word]) for word, times in here.items()}
    found: list[str] = []
    for word in sorted((w for w in worth if worth[w] > 0), key=lambda w: (-worth[w], w)):
        if not any(word.startswith(said) or said.startswith(word) for said in found):
            found.append(word)  # one of crop and crops
    return ", ".join(found[:_WORDS])


def _words(node: Node) -> set[str]:
    found = _WORD.findall(prose(node.text).casefold())
    return {word for word in found if word not in STOP_WORDS and (word[3:] or not word.isascii())}
