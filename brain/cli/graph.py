"""The command `graph`, which shows how memories are connected."""

from __future__ import annotations

from typing import Any

import click

from brain import wire
from brain.cli.app import choices, common, seeing
from brain.cli.output import opened, say, tell, warn

_TOP = 5  # members of a cluster that are listed
_WORDS = {  # of an edge, read from its source and from its target
    "supersedes": ("supersedes", "superseded by"),
    "contradicts": ("contradicts", "contradicts"),
    "derived_from": ("derived from", "source of"),
    "relates_to": ("relates to", "relates to"),
    "link": ("links to", "linked from"),
    "learned": ("learned with", "learned with"),
}


@click.command("graph")
@click.argument("id", required=False, default="")
@click.option(
    "--format",
    "-f",
    type=click.Choice(["json", "canvas"]),
    metavar="FORMAT",
    help="json, or canvas for Obsidian.",
)
@click.option(
    "--depth", "-d", type=click.IntRange(1, 10), help="How many steps around ID.  [cascadeDepth]"
)
@click.option("--agent", "-a", default="", help="Only what this agent owns.")
@seeing
@common
def graph_command(
    id: str,
    format: str | None,
    depth: int | None,
    agent: str,
    by: str,
    vault: str | None,
    as_json: bool,
) -> None:
    """Show how memories are connected. All of them by clusters, or those around ID.

    They are connected by tags that they share, notes that they name, links, and by being used
    together. From a memory to its tag is one step, from the tag to another memory a second one.
    Obsidian opens a canvas that is in the vault.

    \b
    brain graph
    brain graph m-7f3k2ab4
    brain graph --format canvas > "Memory Map.canvas"
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        freshness = brain.refresh()
        drawn = brain.graph(id, depth=depth, agent=agent, format=format or "json", by=by)
    if format == "canvas":
        tell(drawn)
    elif as_json or format:
        tell(drawn | wire.freshness(freshness))
    else:
        _print_around(drawn) if id else _print_clusters(drawn)
    warn(freshness)


def _print_clusters(shape: dict[str, Any]) -> None:
    nodes = {node["id"]: node for node in shape["nodes"]}
    loose = {id for id, node in nodes.items() if node["type"] in ("memory", "item")}
    for cluster in shape["clusters"]:
        members = cluster["members"]
        loose.difference_update(members)
        say(f"{cluster['name']}  ({len(members)})", "bold")
        for id in members[:_TOP]:
            say(f"  {_line(nodes[id])}")
        if len(members) > _TOP:
            say(f"  and {len(members) - _TOP} more", "dim")
    if loose:
        say(f"{len(loose)} more in no cluster.", "dim")
    if not nodes:
        say("There are no memories yet.")


def _print_around(shape: dict[str, Any]) -> None:
    """An entry, what it is tied to itself, and what shares its tags and notes."""
    nodes = {node["id"]: node for node in shape["nodes"]}
    root = nodes[shape["root"]]
    say(f"{root['path']}:{root['line']}" if root.get("line") else root["id"], "bold")
    say(root["label"])
    ways = [id for edge in shape["edges"] if (id := _other(edge, root["id"])) in nodes]
    for edge in shape["edges"]:
        other = nodes.get(_other(edge, root["id"]))
        if other and edge["type"] in _WORDS and other["type"] in ("memory", "item", "note"):
            words = _WORDS[edge["type"]][edge["target"] == root["id"]]
            said = f"{words:<14} {_line(other)}"
            say(f"{said}  {edge['weight']:.2f}" if edge["type"] == "learned" else said)
    for way in sorted(set(ways), key=lambda id: (nodes[id]["type"] != "cluster", id)):
        _print_way(shape, nodes, root["id"], way)


def _print_way(
    shape: dict[str, Any], nodes: dict[str, dict[str, Any]], root: str, way: str
) -> None:
    """A tag or note of the entry, and who else is there; or its cluster."""
    node = nodes[way]
    if node["type"] == "cluster":
        say(f"{'in cluster':<14} {node['label']}")
    if node["type"] not in ("tag", "note"):
        return
    ends = dict.fromkeys(_other(edge, way) for edge in shape["edges"])
    others = [id for id in ends if id and id != root]
    if others or node["type"] == "tag":  # a note with nobody else was named above
        say(node["label"], "bold")
    for id in others:
        say(f"  {_line(nodes[id])}")


def _other(edge: dict[str, Any], id: str) -> str:
    """The other end of an edge, '' if it does not end there at all."""
    ends = (edge["source"], edge["target"])
    return str(ends[ends[0] == id]) if id in ends else ""


def _line(node: dict[str, Any]) -> str:
    if node["type"] == "note":
        return str(node["id"])
    return f"{node['id']:<12} {node['label']}"
