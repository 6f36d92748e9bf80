"""DOT that any text survives, and the JSON shape."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from brain.recall import drawing
from brain.recall.clusters import Cluster
from brain.recall.map import Edge, Graph, Node

ID = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|[0-9.]+|->|[{}\[\];,=])', re.DOTALL)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def read(text: str) -> list[str]:
    """The tokens of a DOT file; strings as Graphviz shows them, with a quote in front."""
    tokens, at = [], 0
    while text[at:].strip():
        match = ID.match(text, at)
        assert match, text[at : at + 40]
        at = match.end()
        token = match[1]
        if token[0] == '"':
            shown = re.sub(
                r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], token[1:-1], flags=re.S
            )
            token = f'"{shown}'
        tokens.append(token)
    return tokens


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_one_string_of_dot(text: str) -> None:
    assert read(drawing.quoted(text)) == [f'"{_CONTROL.sub(chr(0xFFFD), text)}']


ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(st.lists(ids, min_size=1, max_size=6, unique=True), st.text(max_size=80), st.data())
def test_the_dot_file_says_what_the_graph_says(
    names: list[str], label: str, data: st.DataObject
) -> None:
    nodes = tuple(Node(name, "memory", label) for name in names)
    some = st.sampled_from(names)
    ends = data.draw(st.lists(st.tuples(some, some), max_size=6, unique=True))
    graph = Graph(nodes, tuple(Edge(*pair, "link", 0.5) for pair in ends))
    tokens = read(drawing.dot(graph))
    assert tokens[:3] == ["digraph", "brain", "{"]
    assert tokens[-1] == "}"
    arrows = [at for at, token in enumerate(tokens) if token == "->"]
    found = [(tokens[at - 1][1:], tokens[at + 1][1:]) for at in arrows]
    assert found == ends
    shown = [tokens[at + 2] for at, token in enumerate(tokens) if token == "label"][: len(names)]
    clean = " ".join(_CONTROL.sub("\ufffd", " ".join(label.split())).split())
    assert all(" ".join(said[1:].split("\n")).strip() == clean for said in shown)


def test_the_shape_has_what_each_type_of_node_has() -> None:
    nodes = (
        Node("m-1", "memory", "One", "40_Brain/MEMORY.md", 3, "fact", "pinned", "admin", "One #x"),
        Node("#x", "tag", "#x"),
        Node("[[a]]", "note", "a"),
        Node("c-1", "cluster", "x"),
    )
    graph = Graph(nodes, (Edge("m-1", "#x", "has_tag", 0.8),))
    shape = drawing.shape(graph, [Cluster("c-1", "x", ("m-1",))], "m-1")
    assert json.loads(json.dumps(shape)) == {
        "root": "m-1",
        "nodes": [
            {
                "id": "m-1", "type": "memory", "label": "One", "kind": "fact", "status": "pinned",
                "agent": "admin", "path": "40_Brain/MEMORY.md", "line": 3,
            },
            {"id": "#x", "type": "tag", "label": "#x"},
            {"id": "[[a]]", "type": "note", "label": "a", "path": None},
            {"id": "c-1", "type": "cluster", "label": "x"},
        ],
        "edges": [{"source": "m-1", "target": "#x", "type": "has_tag", "weight": 0.8}],
        "clusters": [{"id": "c-1", "name": "x", "members": ["m-1"]}],
    }  # fmt: skip
    assert drawing.shape(Graph(), [])["root"] is None
