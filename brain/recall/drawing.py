"""The graph as others read it: one JSON shape, and Graphviz' DOT. `canvas` has Obsidian's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from brain.recall.clusters import Cluster
from brain.recall.map import ENTRIES, Edge, Graph, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHAPES = {
    "memory": "box",
    "item": "note",
    "tag": "ellipse",
    "note": "folder",
    "cluster": "hexagon",
}
_STYLES = {"learned": "dashed", "has_tag": "dotted", "in_cluster": "dotted"}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def shape(graph: Graph, clusters: Sequence[Cluster], root: str = "") -> dict[str, Any]:
    """Nodes, edges and clusters. `root` is the node whose surroundings they are, if any."""
    return {
        "root": root or None,
        "nodes": [_node(node) for node in graph.nodes],
        "edges": [_edge(edge) for edge in graph.edges],
        "clusters": [
            {"id": cluster.id, "name": cluster.name, "members": list(cluster.members)}
            for cluster in clusters
        ],
    }


def _node(node: Node) -> dict[str, Any]:
    out: dict[str, Any] = {"id": node.id, "type": node.type, "label": node.label}
    if node.type in ENTRIES:
        out |= {"kind": node.kind, "status": node.status, "agent": node.agent or None}
        return out | {"path": node.path, "line": node.line}
    return out | {"path": node.path or None} if node.type == "note" else out


def _edge(edge: Edge) -> dict[str, Any]:
    weight = round(edge.weight, 6)
    return {"source": edge.source, "target": edge.target, "type": edge.type, "weight": weight}


# -- DOT -------------------------------------------------------------------------------------------


def dot(graph: Graph) -> str:
    """For Graphviz: `brain graph --format dot | dot -Tsvg`."""
    lines = ["digraph brain {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for node in graph.nodes:
        name = quoted(_wrapped(node.label))
        lines.append(f"  {quoted(node.id)} [label={name}, shape={_SHAPES[node.type]}];")
    for edge in graph.edges:
        style = _STYLES.get(edge.type, "solid")
        ends = f"{quoted(edge.source)} -> {quoted(edge.target)}"
        about = f"label={quoted(edge.type)}, penwidth={1 + edge.weight:.2f}, style={style}"
        lines.append(f"  {ends} [{about}];")
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """Any text as a string of DOT. A backslash is doubled, so that neither the quote behind it nor
    Graphviz' own `\\N` and `\\l` are meant; what no terminal or parser should see is replaced."""
    clean = _CONTROLS.sub("\ufffd", text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + clean.replace("\n", "\\n") + '"'


def _wrapped(text: str, width: int = 32) -> str:
    """The words in lines of about this many characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)
