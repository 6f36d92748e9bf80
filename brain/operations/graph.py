"""Return the graph of memories, or the part of it around an entry."""

from __future__ import annotations

from brain.errors import BadRequest, NoModel, NotFound
from brain.graph import clusters, export, nodes
from brain.graph.nodes import ENTRIES
from brain.index import read
from brain.index.read import Filters
from brain.operations import lookup, results, search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.access import Actor
    from brain.graph.nodes import Graph
    from brain.index.read import Row
    from brain.open_vault import OpenVault

FORMATS = ("json", "canvas")
MIN_SIMILARITY = 0.6  # least cosine of two memories that clusters connect by their meaning


def graph(
    vault: OpenVault,
    id: str = "",
    *,
    depth: int | None = None,
    format: str = "",
    agent: str = "",
    by: Actor | str = "",
) -> results.Graph | dict[str, Any]:
    """Return how memories are connected: all memories, or the entries up to `depth` steps from
    one entry. With the format `canvas`, return the content of a .canvas file for Obsidian."""
    freshness = vault.refresh()
    document = _graph(vault, id, depth, agent, format or "json", by)
    return document if format == "canvas" else results.Graph(**document, freshness=freshness)


def _graph(
    vault: OpenVault, id: str, depth: int | None, agent: str, format: str, by: Actor | str
) -> dict[str, Any]:
    if format not in FORMATS:
        raise BadRequest(f"There is no format {format!r}.", f"Formats: {', '.join(FORMATS)}.")
    filters = lookup.filters(vault, agent=agent, by=by)
    owners, config = filters.owners, vault.config
    graph = nodes.full_graph(vault.index, owners, "".join(filters.agents))
    all_clusters = clusters.find(graph, _similar(vault, owners))
    root = _root(vault, lookup.find(vault, id, owners=owners), graph) if id else ""
    if root:
        graph = nodes.neighbourhood(graph, root, depth or config.cascadeDepth)
    entries = {node.id for node in graph.nodes if node.type in ENTRIES}
    shown = [cluster for cluster in all_clusters if entries.intersection(cluster.members)]
    if format == "canvas":
        return export.canvas(graph, shown)
    return export.shape(clusters.add(graph, shown), shown, root)


def _similar(vault: OpenVault, owners: tuple[str, ...] | None) -> list[tuple[str, str, float]]:
    """Return pairs of memories and items with nearly the same meaning, if search is hybrid."""
    if vault.config.searchProvider != "hybrid":
        return []
    filters = Filters(scopes=("memory", "items"), owners=owners)
    names = {row.id: row.ref for row in read.listed(vault.index, filters, -1)}
    least = max(MIN_SIMILARITY, vault.config.similarityThreshold)
    model, _ = search.model(vault)
    try:
        return model.pairs(names, least) if model else []
    except NoModel:
        return []


def _root(vault: OpenVault, row: Row, graph: Graph) -> str:
    """Return the node of an entry; for a passage, the node of its note."""
    name = row.path.removesuffix(".md")
    ids = {node.id for node in graph.nodes}
    for id in (row.ref, *sorted(read.all_ids(vault.index, row.ref)), f"[[{name}]]"):
        if id in ids:
            return id
    raise NotFound(
        f"{row.ref} in {row.path}, line {row.line}, is not connected to any memory.",
        "The graph contains memories, items, their tags, and the notes to which they link.",
    )
