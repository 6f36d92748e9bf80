"""A canvas that Obsidian opens, valid and with nothing on top of anything else; the JSON shape."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brain.graph.clusters import Cluster
from brain.graph.edges import Edge
from brain.graph.export import canvas, shape
from brain.graph.nodes import Graph, Node

MEMORY = "40_Brain/MEMORY.md"
SIDES = ("top", "right", "bottom", "left")
OF_TYPE = {"text": {"text"}, "file": {"file", "subpath"}, "group": {"label"}}
OF_ALL = {"id", "type", "x", "y", "width", "height", "color"}
OF_EDGE = {"id", "fromNode", "fromSide", "toNode", "toSide", "toEnd", "color", "label"}


def check(drawn: dict[str, Any]) -> None:
    """Is this JSON Canvas 1.0, with every card in its group and none on top of another?"""
    assert drawn == json.loads(json.dumps(drawn))
    assert set(drawn) == {"nodes", "edges"}
    nodes = {node["id"]: node for node in drawn["nodes"]}
    assert len(nodes) == len(drawn["nodes"])
    for node in nodes.values():
        assert set(node) <= OF_ALL | OF_TYPE[node["type"]]
        assert all(type(node[key]) is int for key in ("x", "y", "width", "height"))
        assert node["type"] == "group" or node[node["type"]]
        assert node.get("subpath", "#").startswith("#")
        assert node.get("color", "1") in "123456"
    assert len({edge["id"] for edge in drawn["edges"]}) == len(drawn["edges"])
    for edge in drawn["edges"]:
        assert set(edge) <= OF_EDGE
        assert edge["fromNode"] in nodes
        assert edge["toNode"] in nodes
        assert edge["fromSide"] in SIDES
        assert edge["toSide"] in SIDES
        assert edge.get("toEnd", "arrow") in ("none", "arrow")
    groups = [node for node in drawn["nodes"] if node["type"] == "group"]
    cards = [node for node in drawn["nodes"] if node["type"] != "group"]
    assert not any(overlap(*pair) for kind in (groups, cards) for pair in combinations(kind, 2))
    assert all(sum(inside(card, group) for group in groups) == 1 for card in cards)


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def inside(card: dict[str, Any], group: dict[str, Any]) -> bool:
    return all(
        group[at] <= card[at] and card[at] + card[size] <= group[at] + group[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def apart(one: dict[str, Any], other: dict[str, Any], at: str, size: str) -> int:
    """How much room there is between two cards in one direction; less than 0 if they overlap."""
    first, second = sorted((one, other), key=lambda card: int(card[at]))
    return int(second[at]) - int(first[at]) - int(first[size])


types = st.sampled_from(["memory", "item", "tag", "note"])


@given(st.lists(types, max_size=40), st.data())
def test_every_graph_is_laid_out(kinds: list[str], data: st.DataObject) -> None:
    nodes = [
        Node(f"{kind}{n}", kind, f"words {n}", MEMORY if n % 2 else "")
        for n, kind in enumerate(kinds)
    ]
    some = st.integers(0, max(0, len(nodes) - 1))
    ends = data.draw(st.lists(st.tuples(some, some), max_size=20)) if nodes else []
    edges = [Edge(nodes[one].id, nodes[other].id, "link", 0.5) for one, other in ends]
    entries = [node.id for node in nodes if node.type in ("memory", "item")]
    home = data.draw(st.lists(st.integers(0, 4), min_size=len(entries), max_size=len(entries)))
    found = [
        Cluster(
            f"c-{n}",
            f"name {n}",
            tuple(id for id, at in zip(entries, home, strict=True) if at == n),
        )
        for n in range(4)  # those at 4 are in none
    ]
    drawn = canvas(Graph(tuple(nodes), tuple(edges)), found)
    check(drawn)
    assert len(drawn["edges"]) == len(edges)
    groups = {node["id"]: node for node in drawn["nodes"] if node["type"] == "group"}
    cards = {node["id"]: node for node in drawn["nodes"] if node["type"] != "group"}
    assert set(cards) == {node.id for node in nodes}
    for cluster in found:
        assert all(inside(cards[id], groups[f"(({cluster.id}))"]) for id in cluster.members)


def test_a_click_opens_the_memory() -> None:
    nodes = (
        Node("m-1", "memory", "One", MEMORY, 3, status="pinned", anchored=True),
        Node("m-2", "memory", "Two", MEMORY, 4, status="confirmed"),
        Node("item_1", "item", "Three", "40_Brain/projects/zoo/items.json", 2, status=""),
        Node("#x", "tag", "#X"),
        Node("[[Sea]]", "note", "The Sea", "Sea.md"),
        Node("[[nowhere]]", "note", "Nowhere"),
    )
    edges = (Edge("m-1", "#x", "has_tag", 0.8), Edge("m-2", "m-1", "supersedes", 0.9))
    drawn = canvas(Graph(nodes, edges), [Cluster("c-1", "sea", ("m-1", "m-2"))])
    check(drawn)
    cards = {node["id"]: node for node in drawn["nodes"]}
    assert (cards["m-1"]["file"], cards["m-1"]["subpath"]) == (MEMORY, "#^m-1")
    assert cards["m-2"]["text"] == "Two\n\n[[40_Brain/MEMORY]]"
    assert cards["item_1"]["text"] == "Three\n\n`40_Brain/projects/zoo/items.json`"
    assert cards["#x"]["text"] == "#X"
    assert cards["[[Sea]]"]["file"] == "Sea.md"
    assert cards["[[nowhere]]"]["text"] == "Nowhere"
    assert cards["((c-1))"]["label"] == "sea"
    assert inside(cards["#x"], cards["((c-1))"])  # where the memories that carry it are
    assert not inside(cards["[[Sea]]"], cards["((c-1))"])
    assert [edge.get("label") for edge in drawn["edges"]] == [None, "supersedes"]
    assert canvas(Graph(), []) == {"nodes": [], "edges": []}


CHARACTER = 10  # pixels that a character of a label takes at most, on average


def test_what_a_line_is_called_fits_between_two_cards() -> None:
    nodes = tuple(Node(f"m-{n}", "memory", f"words {n}", MEMORY) for n in range(9))
    types = ("supersedes", "contradicts", "derived_from", "relates_to", "learned", "link")
    edges = tuple(Edge(f"m-{n}", f"m-{n + 1}", type, 0.5) for n, type in enumerate(types))
    drawn = canvas(Graph(nodes, edges), [])
    longest = max(len(edge["label"]) for edge in drawn["edges"])
    cards = [node for node in drawn["nodes"] if node["type"] != "group"]
    for one, other in combinations(cards, 2):
        if one["y"] == other["y"]:
            assert apart(one, other, "x", "width") >= CHARACTER * longest
        elif one["x"] == other["x"]:
            assert apart(one, other, "y", "height") >= 60  # a label, and the name of a file


def test_a_note_has_room_for_more_than_its_heading() -> None:
    nodes = (Node("[[Sea]]", "note", "Sea", "Sea.md"), Node("[[nowhere]]", "note", "Nowhere"))
    cards = {node["id"]: node for node in canvas(Graph(nodes), [])["nodes"]}
    assert cards["[[Sea]]"]["height"] == 160
    assert cards["[[nowhere]]"]["height"] == 60


def test_a_group_ends_where_its_cards_end() -> None:
    nodes = (
        *(Node(f"m-{n}", "memory", f"words {n}", MEMORY) for n in range(3)),
        *(Node(f"#t{n}", "tag", f"#t{n}") for n in range(3)),
    )
    group, *cards = canvas(Graph(nodes), [])["nodes"]
    for at, size in (("x", "width"), ("y", "height")):
        margin = min(card[at] for card in cards) - group[at]
        last = max(card[at] + card[size] for card in cards)
        assert group[at] + group[size] - last == margin


def test_the_shape_has_what_each_type_of_node_has() -> None:
    nodes = (
        Node("m-1", "memory", "One", "40_Brain/MEMORY.md", 3, "fact", "pinned", "admin", "One #x"),
        Node("#x", "tag", "#x"),
        Node("[[a]]", "note", "a"),
        Node("c-1", "cluster", "x"),
    )
    graph = Graph(nodes, (Edge("m-1", "#x", "has_tag", 0.8),))
    found = shape(graph, [Cluster("c-1", "x", ("m-1",))], "m-1")
    assert json.loads(json.dumps(found)) == {
        "root": "m-1",
        "nodes": [
            {
                "id": "m-1", "type": "memory", "label": "One", "kind": "fact", "status": "pinned",
                "agent": "admin", "path": "40_Brain/MEMORY.md", "line": 3,
            },
            {"id": "#x", "type": "tag", "label": "#x", "count": 0},
            {"id": "[[a]]", "type": "note", "label": "a", "count": 0, "path": None},
            {"id": "c-1", "type": "cluster", "label": "x", "count": 0},
        ],
        "edges": [{"source": "m-1", "target": "#x", "type": "has_tag", "weight": 0.8}],
        "clusters": [{"id": "c-1", "name": "x", "members": ["m-1"]}],
    }  # fmt: skip
    assert shape(Graph(), [])["root"] is None
