"""Edges between memories, items, tags and notes.

The cascade of a context and the output of `brain graph` use the same edges. An edge comes from a
tag, a link or a typed field in the text of the vault, or from the journal, which records memories
that were used together. The order of indexing does not change the edges.

A node is named by the id of a memory or item, by a tag (`#db`), or by a note (`[[path]]`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from unicodedata import normalize

from brain import kinds
from brain._tuples import NamedTuple
from brain.index import relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.db import Index, Owners

# how the names of tags, notes and clusters begin; an item whose id begins so is left out
PREFIXES = ("#", "[[", "((")
MAX_SHARED = 100  # a tag or note of more entries than this does not connect them
MIN_SHARED = 10  # a tag or note of at most this many entries always connects them
# weights by type of edge; a learned edge has this weight after one use
WEIGHTS = {
    "has_tag": 0.8,
    "in_cluster": 0.6,
    "supersedes": 0.9,
    "relates_to": 0.5,
    "link": 0.5,
    "learned": 0.5,
    "contradicts": 0.3,
    "derived_from": 0.3,
}
_NO_TOPIC = frozenset({"pinned", "candidate", *kinds.KINDS})


class Edge(NamedTuple):
    """An edge between two nodes of the graph.

    Its type is has_tag, link, relates_to, supersedes, contradicts, derived_from, learned or
    in_cluster.
    """

    source: str
    target: str
    type: str
    weight: float


class Note(NamedTuple):
    """A note at the end of an edge. The path is '' if a link names the note but it does not
    exist."""

    path: str
    label: str


class Edges(NamedTuple):
    """The edges that `owners` may see: their weights by (source, target, type)."""

    weights: dict[tuple[str, str, str], float]
    ids: dict[str, str]  # the current id of each entry, by its current and former ids
    notes: dict[str, Note]


def strengthened(type: str, weight: float, times: float) -> float:
    """Return the weight of a learned or written link after its ends were used together `times`
    times.

    The formula is 1 - (1 - weight)^times: each use closes the same share of the distance to 1. A
    written link counts as one more use, so learning strengthens it.
    """
    return float(1 - (1 - min(1.0, weight)) ** (times + (type != "learned")))


def edges(index: Index, owners: Owners, *, agent: str = "", pending: bool = False) -> Edges:
    """Return all edges, or the edges of one agent's entries.

    With `pending`, uses that are not in the journal yet count, too.
    """
    rows = [row for row in relations.tags(index, owners, agent) if not row[0].startswith(PREFIXES)]
    ids = _current_ids(index, [id for id, _ in rows])
    unweighted = {(ids[id], f"#{topic}", "has_tag") for id, tags in rows for topic in topics(tags)}
    to_notes = []  # (source, target, type) of links
    replaced = {
        (ids.get(new), ids.get(old)) for new, old, _ in relations.supersessions(index, owners)
    }
    for id, kind, target, fragment in relations.of_entries(index, owners):
        source, type = ids.get(id), "link" if kind == "embed" else kind
        other = ids.get(fragment[1:]) if fragment.startswith("^") else None
        if source and other:
            if type == "supersedes" and (source, other) not in replaced:
                type = "link"  # an agent without permission to supersede this memory
            unweighted.add((source, other, type))
        elif source and _names_note(target, fragment):
            to_notes.append((source, target, type))
    from_notes = [
        (path, ids[block]) for path, block in relations.of_notes(index, owners) if block in ids
    ]
    nodes, notes = _notes(
        index, owners, {target for _, target, _ in to_notes}, {path for path, _ in from_notes}
    )
    unweighted |= {(source, nodes[target], type) for source, target, type in to_notes}
    unweighted |= {(nodes[path], id, "link") for path, id in from_notes}
    written_weights = {
        (ids.get(id, ""), ids.get(other) or nodes.get(other, ""), type): weight
        for id, other, type, weight in relations.weights(index)
    }
    weighted = {
        edge: written_weights.get(edge, WEIGHTS[edge[2]])
        for edge in unweighted
        if edge[0] != edge[1]
    }
    for (one, other), times in _times_together(index, ids, pending).items():
        weighted[one, other, "learned"] = strengthened("learned", WEIGHTS["learned"], times)
        for ends in ((one, other), (other, one)):
            for type in ("relates_to", "link"):
                if (*ends, type) in weighted:
                    weighted[(*ends, type)] = strengthened(type, weighted[(*ends, type)], times)
    return Edges(weighted, ids, notes)


def topics(tags: str) -> Iterator[str]:
    """Yield the tags of a memory that are topics, not those for its kind or status."""
    for tag in tags.casefold().split():
        if tag.replace("-", "_") not in _NO_TOPIC:
            yield tag


def hubs(edges: Iterable[Edge], entries: Collection[str]) -> set[str]:
    """Return the tags and notes that have too many entries to connect them."""
    limit = max_shared(len(entries))
    return {node for node, ids in shared(edges, entries).items() if len(ids) > limit}


def shared(edges: Iterable[Edge], entries: Collection[str]) -> dict[str, set[str]]:
    """Return the entries of each tag and note."""
    by_node: dict[str, set[str]] = {}
    for edge in edges:
        for id, node in ((edge.source, edge.target), (edge.target, edge.source)):
            if node.startswith(PREFIXES) and id in entries:
                by_node.setdefault(node, set()).add(id)
    return by_node


def max_shared(entries: int) -> int:
    """Return the maximum number of entries that a tag or note connects, given the number of all
    entries.

    A tag or note of more than half of all entries connects no entries.
    """
    return min(MAX_SHARED, max(MIN_SHARED, entries // 2))


def _current_ids(index: Index, ids: Iterable[str]) -> dict[str, str]:
    """Return the current id of these entries, by all their current and former ids.

    If the vault contains an entry twice, under two of its ids, the smaller id is used.
    """
    names = relations.aliases(index)
    current: dict[str, str] = {}
    for id in ids:
        name = names.get(id, id)
        current[name] = min(id, current.get(name, id))
    return current | {id: current[name] for id, name in names.items() if name in current}


def _times_together(
    index: Index, ids: Mapping[str, str], pending: bool
) -> dict[tuple[str, str], float]:
    """Return how often two entries were used together, by (smaller id, greater id)."""
    times: dict[tuple[str, str], float] = {}
    for one, other, count in sorted(relations.learned(index, pending=pending)):
        if one in ids and other in ids and ids[one] != ids[other] and count > 0:
            low, high = sorted((ids[one], ids[other]))
            times[low, high] = times.get((low, high), 0.0) + count
    return times


# -- notes -----------------------------------------------------------------------------------------


def _notes(
    index: Index, owners: Owners, targets: Collection[str], paths: Collection[str]
) -> tuple[dict[str, str], dict[str, Note]]:
    """Return the node for each link target and path, and the notes by node."""
    if not targets and not paths:
        return {}, {}
    spellings = {target: normalized(target) for target in sorted(targets)}
    names = {name_of(spelling) for spelling in spellings.values()}
    titles = {
        path: title
        for path, title in relations.notes(index, owners)
        if path in paths or name_of(normalized(path)) in names
    }
    paths_found = _note_paths(spellings.values(), titles)
    missing = _longest_spellings(set(spellings.values()) - paths_found.keys())
    nodes: dict[str, str] = {}
    notes: dict[str, Note] = {}
    for target in (*spellings, *paths):
        path = target if target in paths else paths_found.get(spellings[target], "")
        node = f"[[{path.removesuffix('.md') or missing[spellings[target]]}]]"
        label = titles.get(path) or name_of((path or target).removesuffix(".md"))
        nodes[target] = node
        notes.setdefault(node, Note(path, label))
    return nodes, notes


def _names_note(target: str, fragment: str) -> bool:
    """Return True if a link that leads to no visible memory leads to a note.

    Otherwise, it leads to a memory that was deleted or that is not visible.
    """
    if not fragment.startswith("^"):
        return bool(target)
    return not (fragment.startswith("^m-") or name_of(normalized(target)) in ("", "memory"))


def normalized(target: str) -> str:
    """Return the target of a link without case, Unicode form, `.md` and `../`, for comparison."""
    name = target.casefold() if target.isascii() else normalize("NFC", target).casefold()
    return name.removesuffix(".md").lstrip("./") or name


def name_of(note: str) -> str:
    """Return the name of a note without its folders."""
    return note.rpartition("/")[2]


def _note_paths(spellings: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """Return the path of the note that each spelling leads to, if there is one.

    It is the exact path, else the path in the fewest folders that ends in the spelling. Of several
    such paths, it is the first in alphabetical order.
    """
    by_name: dict[str, list[tuple[str, str]]] = {}
    for path in paths:
        by_name.setdefault(name_of(normalized(path)), []).append((normalized(path), path))
    found = {}
    for spelling in spellings:
        matching = [
            (full != spelling, path.count("/"), path)
            for full, path in by_name.get(name_of(spelling), ())
            if f"/{full}".endswith(f"/{spelling}")
        ]
        if matching:
            found[spelling] = min(matching)[2]
    return found


def _longest_spellings(spellings: Iterable[str]) -> dict[str, str]:
    """Return for each spelling of a missing note the longest spelling of the same note.

    For a spelling that could be short for several others, return the spelling itself.
    """
    by_name: dict[str, set[str]] = {}
    found: dict[str, str] = {}
    for spelling in sorted(spellings, key=lambda note: (-note.count("/"), note)):
        longest = by_name.setdefault(name_of(spelling), set())
        ends = [full for full in longest if full.endswith(f"/{spelling}")]
        found[spelling] = ends[0] if len(ends) == 1 else spelling
        longest.add(found[spelling])
    return found
