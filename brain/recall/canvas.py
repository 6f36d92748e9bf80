"""The graph as a canvas of Obsidian (JSON Canvas 1.0): clusters are groups, memories are cards.

A memory whose id stands in its note is a file card that shows that block: a click opens it. Others
are text cards with a link to their note. Cards lie in a grid inside their group, and groups in
rows; nothing overlaps, what a line is called fits between two cards, and the same graph is laid out
in the same way every time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, isqrt, sqrt

from brain.recall.clusters import Cluster
from brain.recall.map import ENTRIES, Edge, Graph, Node
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Shape = dict[str, Any]

WIDTH, HEIGHT = 360, 160  # of a memory's card, or a note's: the file that it shows is cut to it
SMALL_WIDTH, SMALL_HEIGHT = 240, 60  # of a tag's, or of a note's that is not there
ACROSS, DOWN = 140, 80  # between cards: room for the name of a line, and of the file below it
MARGIN = 40  # around the cards of a group
APART = 160  # between groups
_COLOURS = {"contradicts": "1", "supersedes": "2", "learned": "5"}
_BOTH_WAYS = ("has_tag", "relates_to", "contradicts", "learned")
_STATUS = {"pinned": "4", "candidate": "3"}
LOOSE = "No cluster"


class Box(NamedTuple):
    """Where something lies on the canvas, in whole pixels."""

    x: int
    y: int
    width: int
    height: int


class Group(NamedTuple):
    """A cluster with the cards that lie in it; `id` begins as no card's does."""

    id: str
    label: str
    cards: list[Node]


def canvas(graph: Graph, clusters: Sequence[Cluster]) -> Shape:
    """What a `.canvas` file holds."""
    groups = _groups(graph, clusters)
    boxes: dict[str, Box] = {}
    nodes: list[Shape] = []
    grids = [_grid(group.cards) for group in groups]
    for group, grid, box in zip(groups, grids, _rows([_size(grid) for grid in grids]), strict=True):
        x, y = box.x + MARGIN, box.y + MARGIN
        laid = [at._replace(x=at.x + x, y=at.y + y) for at in grid]
        nodes.append({"id": group.id, "type": "group", **box._asdict(), "label": group.label})
        nodes += [_card(card, at) for card, at in zip(group.cards, laid, strict=True)]
        boxes |= {card.id: at for card, at in zip(group.cards, laid, strict=True)}
    edges = [edge for edge in graph.edges if edge.type != "in_cluster"]
    return {"nodes": nodes, "edges": [_edge(at, edge, boxes) for at, edge in enumerate(edges)]}


def _groups(graph: Graph, clusters: Sequence[Cluster]) -> list[Group]:
    """The cards of each cluster. A tag or note lies where most of its ties end."""
    home = {member: at for at, cluster in enumerate(clusters) for member in cluster.members}
    tied: dict[str, Counter[int]] = {}
    for edge in graph.edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in home:
                tied.setdefault(other, Counter())[home[one]] += 1
    groups = [Group(f"(({c.id}))", c.name, []) for c in clusters]
    groups.append(Group("((loose))", LOOSE, []))
    for node in graph.nodes:
        if node.type != "cluster":
            found = tied.get(node.id, Counter()) if node.type not in ENTRIES else Counter()
            nearest = min(found, key=lambda at: (-found[at], at), default=len(clusters))
            groups[home.get(node.id, nearest)].cards.append(node)
    return [group for group in groups if group.cards]


# -- the layout ------------------------------------------------------------------------------------


def _grid(cards: Sequence[Node]) -> list[Box]:
    """Where the cards of a group lie, in rows as high as their highest card."""
    columns = ceil(sqrt(len(cards)))
    boxes: list[Box] = []
    y = 0
    for first in range(0, len(cards), columns):
        sizes = [_card_size(card) for card in cards[first : first + columns]]
        boxes += [Box(at * (WIDTH + ACROSS), y, *size) for at, size in enumerate(sizes)]
        y += max(height for _, height in sizes) + DOWN
    return boxes


def _card_size(card: Node) -> tuple[int, int]:
    return (WIDTH, HEIGHT) if card.type in ENTRIES or card.path else (SMALL_WIDTH, SMALL_HEIGHT)


def _size(grid: Sequence[Box]) -> tuple[int, int]:
    """The width and height of a group around these cards."""
    width = max(box.x + box.width for box in grid)
    return width + 2 * MARGIN, max(box.y + box.height for box in grid) + 2 * MARGIN


def _rows(sizes: Sequence[tuple[int, int]]) -> list[Box]:
    """Boxes of these sizes in rows, in order; about as wide as high all in all."""
    most = max([width for width, _ in sizes] + [isqrt(sum(w * h for w, h in sizes)) * 3 // 2])
    boxes: list[Box] = []
    x = y = tallest = 0
    for width, height in sizes:
        if x and x + width > most:
            x, y, tallest = 0, y + tallest + APART, 0
        boxes.append(Box(x, y, width, height))
        x, tallest = x + width + APART, max(tallest, height)
    return boxes


# -- cards and lines -------------------------------------------------------------------------------


def _card(node: Node, box: Box) -> Shape:
    out: Shape = {"id": node.id, **box._asdict()}
    if node.status in _STATUS:
        out["color"] = _STATUS[node.status]
    if node.path.endswith(".md") and (node.anchored or node.type == "note"):
        place = {"subpath": f"#^{node.id}"} if node.anchored else {}
        return out | {"type": "file", "file": node.path, **place}
    if node.path.endswith(".md"):
        name = node.path.removesuffix(".md")
        return out | {"type": "text", "text": f"{node.label}\n\n[[{name}]]"}
    where = f"\n\n`{node.path}`" if node.path else ""
    return out | {"type": "text", "text": f"{node.label}{where}"}


def _edge(at: int, edge: Edge, boxes: dict[str, Box]) -> Shape:
    start, end = _sides(boxes[edge.source], boxes[edge.target])
    out: Shape = {"id": f"e{at}", "fromNode": edge.source, "fromSide": start}
    out |= {"toNode": edge.target, "toSide": end}
    if edge.type in _COLOURS:
        out["color"] = _COLOURS[edge.type]
    if edge.type in _BOTH_WAYS:
        out["toEnd"] = "none"
    return out if edge.type == "has_tag" else out | {"label": edge.type.replace("_", " ")}


def _sides(one: Box, other: Box) -> tuple[str, str]:
    """The sides that face each other."""
    right = (2 * other.x + other.width) - (2 * one.x + one.width)
    down = (2 * other.y + other.height) - (2 * one.y + one.height)
    if abs(right) >= abs(down):
        return ("right", "left") if right >= 0 else ("left", "right")
    return ("bottom", "top") if down > 0 else ("top", "bottom")
