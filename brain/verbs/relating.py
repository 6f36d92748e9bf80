"""How memories hang together: the graph of all of them, or around one, in the shape asked for."""

from __future__ import annotations

from brain.errors import BadRequest, NotFound
from brain.index import facts
from brain.index.query import Filters
from brain.operations import find, lookup, semantic
from brain.recall import canvas, clusters, drawing
from brain.recall import map as maps
from brain.recall.clusters import Cluster
from brain.recall.map import ENTRIES, Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.index.query import Row
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape

FORMATS = ("json", "dot", "canvas")
ALIKE = 0.6  # a cosine from which on two memories belong together by their meaning alone


def graph(
    vault: OpenVault, id: str, depth: int | None, agent: str, format: str, by: Actor | str
) -> Shape | str:
    """The graph of what the actor may see, of one agent's memories if it is named: all of it, or
    what lies around the entry or note that is meant by `id`."""
    if format not in FORMATS:
        raise BadRequest(f"There is no format {format!r}.", f"Formats: {', '.join(FORMATS)}.")
    filters = lookup.filters(vault, agent=agent, by=by)
    owners, config = filters.owners, vault.config
    whole = maps.around(vault.index, None, owners, config=config, agent="".join(filters.agents))
    found = clusters.find(whole, _similar(vault, owners))
    root = _root(vault, lookup.find(vault, id, owners=owners), whole) if id else ""
    shown = maps.near(whole, root, depth or config.cascadeDepth) if root else whole
    return _drawn(shown, found, root, format, config.clusterEdge)


def _similar(vault: OpenVault, owners: tuple[str, ...] | None) -> list[tuple[str, str, float]]:
    """Memories and items that mean nearly the same, where a hybrid search is set."""
    if vault.config.searchProvider != "hybrid":
        return []
    filters = Filters(scopes=("memory", "items"), owners=owners)
    names = {row.id: row.ref for row in find.entries(vault, filters, -1)}
    least = max(ALIKE, vault.config.similarityThreshold)
    found, _ = semantic.with_model(
        vault, lambda meaning: meaning.pairs(vault.index, names, least) if meaning else []
    )
    return found


def _root(vault: OpenVault, row: Row, whole: Graph) -> str:
    """The node that an entry is; for a passage, its note."""
    name = row.path.removesuffix(".md")
    ids = {node.id for node in whole.nodes}
    for id in (row.ref, *sorted(facts.same(vault.index, row.ref)), f"[[{name}]]"):
        if id in ids:
            return id
    raise NotFound(
        f"{row.ref} in {row.path}, line {row.line}, has no tie to any memory.",
        "The graph is of memories, items, their tags, and the notes that they name.",
    )


def _drawn(
    shown: Graph, found: list[Cluster], root: str, format: str, weight: float
) -> Shape | str:
    there = {node.id for node in shown.nodes if node.type in ENTRIES}
    some = [cluster for cluster in found if there.intersection(cluster.members)]
    if format == "canvas":
        return canvas.canvas(shown, some)
    joined = clusters.joined(shown, some, weight)
    return drawing.dot(joined) if format == "dot" else drawing.shape(joined, some, root)
