"""The graph that `brain graph` shows: nodes with labels, edges, and the neighbourhood of a node.

The graph contains only entries of `owners`: no tag, link or count reveals other entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from brain._tuples import NamedTuple
from brain.graph.edges import PREFIXES, Edge, Edges, edges, hubs, name_of, shared, topics
from brain.index import read
from brain.index.read import Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.db import Index, Owners
    from brain.index.read import Row

TYPES = ("memory", "item", "tag", "note", "cluster")
ENTRIES = TYPES[:2]
MAX_LABEL = 100  # characters
_LINK = re.compile(r"\[\[([^\[\]\n|]*)(?:\|([^\[\]\n]*))?\]\]")
# links after a sentence, as Brain writes them, but not inside it
_LINKS_AFTER = re.compile(
    r"(?<=[.!?])(?:[ \t]++\[\[[^\[\]\n]*+\]\])++(?=[ \t]*+(?:$|[#\[]))", re.MULTILINE
)


class Node(NamedTuple):
    """A memory or item (by its id), a tag (`#db`), a note (`[[path]]`) or a cluster."""

    id: str
    type: str
    label: str
    path: str = ""  # '' for a note that does not exist
    line: int = 0
    kind: str = ""
    status: str = ""
    agent: str = ""
    text: str = ""
    anchored: bool = False  # True if the id is in the file
    entries: int = 0  # number of memories and items of a tag, note or cluster, in the whole graph


class Graph(NamedTuple):
    """Nodes and the edges between them, both in a fixed order."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()


def full_graph(index: Index, owners: Owners, agent: str = "") -> Graph:
    """Return the graph of all memories and items, or only of one agent's memories and items."""
    graph_edges = edges(index, owners, agent=agent, pending=True)
    filters = Filters(scopes=("memory", "items"), owners=owners, agents=(agent,) if agent else ())
    rows = [row for row in read.listed(index, filters, -1) if not row.ref.startswith(PREFIXES)]
    nodes = [*_entries(rows, graph_edges), *_tags(rows)]
    for id, note in graph_edges.notes.items():
        # an agent must not learn whether a note is missing or not visible
        if note.path or owners is None:
            nodes.append(Node(id, "note", note.label[:MAX_LABEL], note.path))
    ids = {node.id for node in nodes}
    all_edges = [Edge(*edge, weight) for edge, weight in graph_edges.weights.items()]
    shown_edges = [edge for edge in all_edges if {edge.source, edge.target} <= ids]
    entries = {node.id for node in nodes if node.type in ENTRIES}
    entries_by_node = shared(shown_edges, entries)
    counted = (node._replace(entries=len(entries_by_node.get(node.id, ()))) for node in nodes)
    return ordered(counted, shown_edges)


def _entries(rows: Iterable[Row], edges_: Edges) -> list[Node]:
    """Return one node per entry. Of several rows with the same id, the first one is used."""
    nodes: dict[str, Node] = {}
    for row in sorted(rows, key=lambda row: (row.scope == "items", row.path, row.line, row.id)):
        if edges_.ids[row.ref] == row.ref:
            nodes.setdefault(row.ref, _entry(row))
    return list(nodes.values())


def _entry(row: Row) -> Node:
    type = "item" if row.scope == "items" else "memory"
    return Node(
        id=row.ref,
        type=type,
        label=label((row.heading if type == "item" else "") or row.text),
        path=row.path,
        line=row.line,
        kind=row.kind,
        status=row.status,
        agent=row.agent,
        text=row.text,
        anchored='"anchored"' in (row.extra or ""),
    )


def _tags(rows: Iterable[Row]) -> list[Node]:
    """Return one node per tag. Its label is the first of its spellings in sort order."""
    spellings: dict[str, str] = {}
    for row in rows:
        for tag in row.tags.split():
            for topic in topics(tag):
                spellings[topic] = min(tag, spellings.get(topic, tag))
    return [Node(f"#{topic}", "tag", f"#{tag}") for topic, tag in spellings.items()]


def label(text: str) -> str:
    """Return the words of the first line without link targets, tags, fields and date."""
    from brain.formats.inline import prose

    line = _LINKS_AFTER.sub("", text.strip().partition("\n")[0])
    without_targets = _LINK.sub(lambda link: link[2] or name_of(link[1].partition("#")[0]), line)
    words = " ".join(prose(without_targets).split())
    return words if len(words) <= MAX_LABEL else f"{words[: MAX_LABEL - 1].rstrip()}…"


def neighbourhood(graph: Graph, root: str, depth: int) -> Graph:
    """Return the nodes at most `depth` steps from a node, with all edges between them.

    As in a cascade, a tag or note of too many entries is included, but the walk does not continue
    from it.
    """
    entries = {node.id for node in graph.nodes if node.type in ENTRIES}
    shared_too_often = hubs(graph.edges, entries) - {root}
    neighbours: dict[str, list[str]] = {}
    for edge in graph.edges:
        neighbours.setdefault(edge.source, []).append(edge.target)
        neighbours.setdefault(edge.target, []).append(edge.source)
    reached = {node.id for node in graph.nodes if node.id == root}
    layer = set(reached)
    for _ in range(depth):
        layer = {
            target for node in layer - shared_too_often for target in neighbours.get(node, ())
        } - reached
        reached |= layer
    return ordered(
        (node for node in graph.nodes if node.id in reached),
        (edge for edge in graph.edges if {edge.source, edge.target} <= reached),
    )


def ordered(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """Return the graph of these nodes and edges in a fixed order."""
    by_type = sorted(nodes, key=lambda node: (TYPES.index(node.type), node.id))
    return Graph(tuple(by_type), tuple(sorted(edges)))
