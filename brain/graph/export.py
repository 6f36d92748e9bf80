"""The graph in other formats: the JSON shape of the docs, and Obsidian's JSON Canvas 1.0.

In a canvas, clusters are groups and memories are cards. If the id of a memory is in its note, the
card shows that block of the file, and a click opens it. Other memories are text cards with a link
to their note. Each group has its cards in a grid, and groups are in rows. Nothing overlaps, the
label of a line fits between two cards, and the same graph always has the same layout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, isqrt, sqrt

from brain._tuples import NamedTuple
from brain.graph.clusters import Cluster
from brain.graph.edges import Edge
from brain.graph.nodes import ENTRIES, Graph, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Shape = dict[str, Any]


def shape(graph: Graph, clusters: Sequence[Cluster], root: str = "") -> Shape:
    """Return the graph as JSON: nodes, edges and clusters. `root` is the node whose neighbourhood
    the graph is, '' for the whole graph."""
    return {
        "root": root or None,
        "nodes": [_node(node) for node in graph.nodes],
        "edges": [edge._asdict() | {"weight": round(edge.weight, 6)} for edge in graph.edges],
        "clusters": [
            cluster._asdict() | {"members": list(cluster.members)} for cluster in clusters
        ],
    }


def _node(node: Node) -> Shape:
    document: Shape = {"id": node.id, "type": node.type, "label": node.label}
    if node.type in ENTRIES:
        document |= {"kind": node.kind, "status": node.status, "agent": node.agent or None}
        return document | {"path": node.path, "line": node.line}
    document["count"] = node.entries
    return document | {"path": node.path or None} if node.type == "note" else document


# -- canvas ----------------------------------------------------------------------------------------

# in pixels
WIDTH, HEIGHT = 360, 160  # of the card of an entry or note, which may show only a part of it
SMALL_WIDTH, SMALL_HEIGHT = 240, 60  # of the card of a tag, or of a note that does not exist
COLUMN_GAP, ROW_GAP = 140, 80  # space for the label of a line, and for the file name below a card
MARGIN = 40  # around the cards of a group
GROUP_GAP = 160
_EDGE_COLORS = {"contradicts": "1", "supersedes": "2", "learned": "5"}
_STATUS_COLORS = {"pinned": "4", "candidate": "3"}
_UNDIRECTED = ("has_tag", "relates_to", "contradicts", "learned")
NO_CLUSTER = "No cluster"


class Box(NamedTuple):
    """A rectangle on the canvas."""

    x: int
    y: int
    width: int
    height: int


class Group(NamedTuple):
    """A cluster with its cards. Its id begins with `((`, unlike the ids of cards."""

    id: str
    label: str
    cards: list[Node]


def canvas(graph: Graph, clusters: Sequence[Cluster]) -> Shape:
    """Return the content of a `.canvas` file."""
    groups = _groups(graph, clusters)
    boxes: dict[str, Box] = {}
    nodes: list[Shape] = []
    grids = [_grid(group.cards) for group in groups]
    for group, grid, box in zip(groups, grids, _rows([_size(grid) for grid in grids]), strict=True):
        x, y = box.x + MARGIN, box.y + MARGIN
        placed = [cell._replace(x=cell.x + x, y=cell.y + y) for cell in grid]
        nodes.append({"id": group.id, "type": "group", **box._asdict(), "label": group.label})
        nodes += [_card(card, cell) for card, cell in zip(group.cards, placed, strict=True)]
        boxes |= {card.id: cell for card, cell in zip(group.cards, placed, strict=True)}
    lines = [_line(index, edge, boxes) for index, edge in enumerate(graph.edges)]
    return {"nodes": nodes, "edges": lines}


def _groups(graph: Graph, clusters: Sequence[Cluster]) -> list[Group]:
    """Assign the cards to clusters. A tag or note goes to the cluster with most of its edges."""
    home = {member: index for index, cluster in enumerate(clusters) for member in cluster.members}
    count: dict[str, Counter[int]] = {}
    for edge in graph.edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in home:
                count.setdefault(other, Counter())[home[one]] += 1
    groups = [Group(f"(({cluster.id}))", cluster.name, []) for cluster in clusters]
    groups.append(Group("((loose))", NO_CLUSTER, []))
    for node in graph.nodes:
        edges_by_cluster = count.get(node.id, Counter()) if node.type not in ENTRIES else Counter()
        nearest = min(
            edges_by_cluster,
            key=lambda index: (-edges_by_cluster[index], index),
            default=len(clusters),
        )
        groups[home.get(node.id, nearest)].cards.append(node)
    return [group for group in groups if group.cards]


def _grid(cards: Sequence[Node]) -> list[Box]:
    """Return a box for each card of a group, in rows as tall as their tallest card."""
    columns = ceil(sqrt(len(cards)))
    boxes: list[Box] = []
    y = 0
    for start in range(0, len(cards), columns):
        sizes = [_card_size(card) for card in cards[start : start + columns]]
        boxes += [Box(column * (WIDTH + COLUMN_GAP), y, *size) for column, size in enumerate(sizes)]
        y += max(height for _, height in sizes) + ROW_GAP
    return boxes


def _card_size(card: Node) -> tuple[int, int]:
    return (WIDTH, HEIGHT) if card.type in ENTRIES or card.path else (SMALL_WIDTH, SMALL_HEIGHT)


def _size(grid: Sequence[Box]) -> tuple[int, int]:
    """Return the width and height of a group that contains these cards."""
    width = max(box.x + box.width for box in grid)
    return width + 2 * MARGIN, max(box.y + box.height for box in grid) + 2 * MARGIN


def _rows(sizes: Sequence[tuple[int, int]]) -> list[Box]:
    """Arrange boxes of these sizes in rows, in order. The result is about as wide as tall."""
    widest = max([width for width, _ in sizes] + [isqrt(sum(w * h for w, h in sizes)) * 3 // 2])
    boxes: list[Box] = []
    x = y = tallest = 0
    for width, height in sizes:
        if x and x + width > widest:
            x, y, tallest = 0, y + tallest + GROUP_GAP, 0
        boxes.append(Box(x, y, width, height))
        x, tallest = x + width + GROUP_GAP, max(tallest, height)
    return boxes


def _card(node: Node, box: Box) -> Shape:
    document: Shape = {"id": node.id, **box._asdict()}
    if node.status in _STATUS_COLORS:
        document["color"] = _STATUS_COLORS[node.status]
    if node.path.endswith(".md") and (node.anchored or node.type == "note"):
        block = {"subpath": f"#^{node.id}"} if node.anchored else {}
        return document | {"type": "file", "file": node.path, **block}
    if node.path.endswith(".md"):
        name = node.path.removesuffix(".md")
        return document | {"type": "text", "text": f"{node.label}\n\n[[{name}]]"}
    path = f"\n\n`{node.path}`" if node.path else ""
    return document | {"type": "text", "text": f"{node.label}{path}"}


def _line(index: int, edge: Edge, boxes: dict[str, Box]) -> Shape:
    start, end = _sides(boxes[edge.source], boxes[edge.target])
    document: Shape = {"id": f"e{index}", "fromNode": edge.source, "fromSide": start}
    document |= {"toNode": edge.target, "toSide": end}
    if edge.type in _EDGE_COLORS:
        document["color"] = _EDGE_COLORS[edge.type]
    if edge.type in _UNDIRECTED:
        document["toEnd"] = "none"
    return document if edge.type == "has_tag" else document | {"label": edge.type.replace("_", " ")}


def _sides(one: Box, other: Box) -> tuple[str, str]:
    """Return the sides of two boxes that face each other."""
    right = (2 * other.x + other.width) - (2 * one.x + one.width)
    down = (2 * other.y + other.height) - (2 * one.y + one.height)
    if abs(right) >= abs(down):
        return ("right", "left") if right >= 0 else ("left", "right")
    return ("bottom", "top") if down > 0 else ("top", "bottom")
