"""The graph that `brain graph` shows: nodes with labels, edges, and the surroundings of a node.

It contains only what `owners` may see: no tag, link or count reveals the rest.
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
LABEL = 100  # characters
_LINK = re.compile(r"\[\[([^\[\]\n|]*)(?:\|([^\[\]\n]*))?\]\]")
# links after a sentence, as Brain writes them, and not inside it
_LINKS_AFTER = re.compile(
    r"(?<=[.!?])(?:[ \t]++\[\[[^\[\]\n]*+\]\])++(?=[ \t]*+(?:$|[#\[]))", re.MULTILINE
)


class Node(NamedTuple):
    """A memory or item (by its id), a tag (`#db`), a note (`[[path]]`) or a cluster."""

    id: str
    type: str
    label: str
    path: str = ""  # of a note that is not in the vault: ''
    line: int = 0
    kind: str = ""
    status: str = ""
    agent: str = ""
    text: str = ""
    anchored: bool = False  # the id is in the file
    entries: int = 0  # memories and items of a tag, note or cluster, in the whole graph


class Graph(NamedTuple):
    """Nodes by type and id, and the edges between them, both in a fixed order."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()


def whole(index: Index, owners: Owners, agent: str = "") -> Graph:
    """Return the graph of all memories and items, or of those of one agent."""
    found = edges(index, owners, agent=agent, pending=True)
    filters = Filters(scopes=("memory", "items"), owners=owners, agents=(agent,) if agent else ())
    rows = [row for row in read.listed(index, filters, -1) if not row.ref.startswith(PREFIXES)]
    nodes = [*_entries(rows, found), *_tags(rows)]
    for id, note in found.notes.items():
        # for an agent, a note that is missing and one that it may not see are the same
        if note.path or owners is None:
            nodes.append(Node(id, "note", note.label[:LABEL], note.path))
    ids = {node.id for node in nodes}
    every = [Edge(*edge, weight) for edge, weight in found.weights.items()]
    shown = [edge for edge in every if {edge.source, edge.target} <= ids]
    entries = {node.id for node in nodes if node.type in ENTRIES}
    sharing = shared(shown, entries)
    counted = (node._replace(entries=len(sharing.get(node.id, ()))) for node in nodes)
    return ordered(counted, shown)


def _entries(rows: Iterable[Row], found: Edges) -> list[Node]:
    """Return a node per entry; of several rows with one id, that of the first memory."""
    nodes: dict[str, Node] = {}
    for row in sorted(rows, key=lambda row: (row.scope == "items", row.path, row.line, row.id)):
        if found.ids[row.ref] == row.ref:
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
    """Return a node per tag, labelled with the first of its spellings."""
    spellings: dict[str, str] = {}
    for row in rows:
        for tag in row.tags.split():
            for topic in topics(tag):
                spellings[topic] = min(tag, spellings.get(topic, tag))
    return [Node(f"#{topic}", "tag", f"#{tag}") for topic, tag in spellings.items()]


def label(text: str) -> str:
    """Return the words of the first line, without link targets, tags, fields and date."""
    from brain.formats.prose import prose

    line = _LINKS_AFTER.sub("", text.strip().partition("\n")[0])
    named = _LINK.sub(lambda link: link[2] or name_of(link[1].partition("#")[0]), line)
    words = " ".join(prose(named).split())
    return words if len(words) <= LABEL else f"{words[: LABEL - 1].rstrip()}…"


def around(graph: Graph, root: str, depth: int) -> Graph:
    """Return the nodes at most `depth` steps from a node, with all edges between them.

    As in a cascade, a tag or note that too many share is shown and leads no further.
    """
    entries = {node.id for node in graph.nodes if node.type in ENTRIES}
    crowded = hubs(graph.edges, entries) - {root}
    neighbours: dict[str, list[str]] = {}
    for edge in graph.edges:
        neighbours.setdefault(edge.source, []).append(edge.target)
        neighbours.setdefault(edge.target, []).append(edge.source)
    found = {node.id for node in graph.nodes if node.id == root}
    layer = set(found)
    for _ in range(depth):
        layer = {to for node in layer - crowded for to in neighbours.get(node, ())} - found
        found |= layer
    return ordered(
        (node for node in graph.nodes if node.id in found),
        (edge for edge in graph.edges if {edge.source, edge.target} <= found),
    )


def ordered(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """Return the graph of these nodes and edges."""
    by_type = sorted(nodes, key=lambda node: (TYPES.index(node.type), node.id))
    return Graph(tuple(by_type), tuple(sorted(edges)))
