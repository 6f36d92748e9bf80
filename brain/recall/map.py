"""The graph of memories as it can be shown: nodes, edges, and the surroundings of one of them.

It holds what `owners` may see and nothing of anything else: what another agent's memories say, a
tag that only they carry, a link that leads to them are not there. The same vault gives the same
graph, whatever the order in which it was indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from brain.config import Config
from brain.index import graph as ask
from brain.recall import ties
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.db import Index
    from brain.index.query import Row
    from brain.recall.ties import Owners

TYPES = ("memory", "item", "tag", "note", "cluster")
ENTRIES = TYPES[:2]
LABEL = 100  # characters
_LINK = re.compile(r"\[\[([^\[\]\n|]*)(?:\|([^\[\]\n]*))?\]\]")
# links that stand behind a sentence, as Brain writes them, and not in it
_BEHIND = re.compile(
    r"(?<=[.!?])(?:[ \t]++\[\[[^\[\]\n]*+\]\])++(?=[ \t]*+(?:$|[#\[]))", re.MULTILINE
)


class Node(NamedTuple):
    """A memory or item (its id is the node's), a tag (`#db`), a note (`[[path]]`) or a cluster.

    A note that is named but not there has no path. `anchored`: its id stands in the file.
    """

    id: str
    type: str
    label: str
    path: str = ""
    line: int = 0
    kind: str = ""
    status: str = ""
    agent: str = ""
    text: str = ""
    anchored: bool = False


class Edge(NamedTuple):
    """A tie from one node to another: has_tag, link, relates_to, supersedes, contradicts,
    derived_from, learned or in_cluster, with the weight that it has in a cascade."""

    source: str
    target: str
    type: str
    weight: float


class Graph(NamedTuple):
    """Nodes by type and id, and the edges between them, both in a fixed order."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()


def around(
    index: Index,
    ref: str | None,
    owners: Owners,
    depth: int = 2,
    config: Config | None = None,
    agent: str = "",
) -> Graph:
    """All memories and items with their ties, of one agent if it is named; or the surroundings of
    one node."""
    graph = _Drawn(index, owners, config or Config(), agent).graph()
    return graph if ref is None else near(graph, ref, depth)


def near(graph: Graph, root: str, depth: int) -> Graph:
    """What lies at most so many steps from a node, with all edges in between. As in a cascade, a
    tag or note that too many share is shown and leads no further."""
    crowded = hubs(graph) - {root}
    beside: dict[str, list[str]] = {}
    for edge in graph.edges:
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    found = {node.id for node in graph.nodes if node.id == root}
    layer = set(found)
    for _ in range(depth):
        layer = {to for node in layer - crowded for to in beside.get(node, ())} - found
        found |= layer
    return _ordered(
        (node for node in graph.nodes if node.id in found),
        (edge for edge in graph.edges if edge.source in found and edge.target in found),
    )


def hubs(graph: Graph) -> set[str]:
    """The tags and notes that too many share to be a way from one memory to another."""
    entries = {node.id for node in graph.nodes if node.type in ENTRIES}
    sharing: dict[str, set[str]] = {}
    for edge in graph.edges:
        for one, way in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in entries and way not in entries:
                sharing.setdefault(way, set()).add(one)
    most = ties.most(len(entries))
    return {way for way, every in sharing.items() if len(every) > most}


def _ordered(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    by_type = sorted(nodes, key=lambda node: (TYPES.index(node.type), node.id))
    return Graph(tuple(by_type), tuple(sorted(edges)))


def joined(graph: Graph, nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """A graph with more in it."""
    return _ordered((*graph.nodes, *nodes), (*graph.edges, *edges))


class _Drawn:
    """The graph of one question, while it is put together."""

    def __init__(self, index: Index, owners: Owners, config: Config, agent: str) -> None:
        self.index, self.owners, self.agent = index, owners, agent
        self.weights = ties.weights(config)
        self.names = dict(ask.renamed(index))
        self.ids: dict[str, str] = {}  # of each entry, by the smallest id that it ever had
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str, str], float] = {}

    def graph(self) -> Graph:
        rows = ask.entries(self.index, self.owners, self.agent)
        self._add_entries([row for row in rows if not row.ref.startswith(ties.WAYS)])
        self._add_links()
        self._add_learned()
        edges = (Edge(*ends, weight) for ends, weight in self.edges.items())
        return _ordered(self.nodes.values(), edges)

    def _id(self, ref: str) -> str:
        return self.ids.get(self.names.get(ref, ref), "")

    def _tie(self, source: str, target: str, kind: str) -> None:
        if source != target:
            self.edges[source, target, kind] = self.weights[kind]

    def _add_entries(self, rows: list[Row]) -> None:
        for row in rows:
            name = self.names.get(row.ref, row.ref)
            self.ids[name] = min(row.ref, self.ids.get(name, row.ref))
        spelling: dict[str, str] = {}
        for row in rows:
            id = self._id(row.ref)
            if row.ref == id:
                self.nodes.setdefault(id, _node(row))
            for tag in row.tags.split():
                for topic in ties.topics(tag):
                    spelling[topic] = min(tag, spelling.get(topic, tag))
                    self._tie(id, f"#{topic}", "has_tag")
        for topic, tag in spelling.items():
            self.nodes[f"#{topic}"] = Node(f"#{topic}", "tag", f"#{tag}")

    def _add_links(self) -> None:
        """Those to other memories at once, those to notes when all of them are known."""
        named: list[tuple[str, str, str]] = []  # memory, kind, note
        for ref, said, target, fragment in ask.links(self.index, self.owners):
            kind = "link" if said == "embed" else said
            other = self._id(fragment[1:]) if fragment.startswith("^") else ""
            if not (id := self._id(ref)):
                continue
            if other:
                self._tie(id, other, kind)
            elif ties.is_note(target, fragment):
                named.append((id, kind, target))
        naming = [
            (path, self._id(block))
            for path, block in ask.pointing(self.index, self.owners)
            if self._id(block)
        ]
        self._add_notes(named, naming)

    def _add_notes(self, named: list[tuple[str, str, str]], naming: list[tuple[str, str]]) -> None:
        titles = dict(ask.notes(self.index, self.owners))
        spellings = {ties.spelled(note) for _, _, note in named}
        places = ties.places(spellings, titles)
        for id, kind, note in sorted(named):
            path = places.get(ties.spelled(note), "")
            # to an agent, a note that is not there and one that it may not see are the same
            if path or self.owners is None:
                self._tie(id, self._note(path, titles.get(path, ""), note), kind)
        for path, id in naming:
            self._tie(self._note(path, titles.get(path, ""), path), id, "link")

    def _note(self, path: str, title: str, spelling: str) -> str:
        name = path.removesuffix(".md") or ties.spelled(spelling)
        label = title or ties.name_of((path or spelling).removesuffix(".md"))
        self.nodes.setdefault(f"[[{name}]]", Node(f"[[{name}]]", "note", label[:LABEL], path))
        return f"[[{name}]]"

    def _add_learned(self) -> None:
        times = ties.together(ask.learned(self.index), self.names)
        for (one, other), count in times.items():
            low, high = sorted((self.ids.get(one, ""), self.ids.get(other, "")))
            if not low:
                continue
            self.edges[low, high, "learned"] = ties.weight(self.weights, "learned", count)
            for pair in ((low, high), (high, low)):
                for kind in ("relates_to", "link"):
                    if (*pair, kind) in self.edges:
                        self.edges[(*pair, kind)] = ties.weight(self.weights, kind, count)


def _node(row: Row) -> Node:
    type = "item" if row.scope == "items" else "memory"
    words = (row.heading if type == "item" else "") or row.text
    anchored = '"anchored"' in (row.extra or "")
    return Node(
        row.ref, type, label(words), row.path, row.line, row.kind, row.status, row.agent, row.text,
        anchored,
    )  # fmt: skip


def label(text: str) -> str:
    """The words of the first line, without links' targets, tags, fields and date."""
    from brain.lifecycle.dedup import prose

    line = _BEHIND.sub("", text.strip().partition("\n")[0])
    named = _LINK.sub(lambda link: link[2] or ties.name_of(link[1].partition("#")[0]), line)
    words = " ".join(prose(named).split())
    return words if len(words) <= LABEL else f"{words[: LABEL - 1].rstrip()}…"
