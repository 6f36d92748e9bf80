"""Edges between memories, items, tags and notes.

The cascade of a context and the picture of `brain graph` use the same edges. An edge comes from a
tag, a link or a typed field in the text of the vault, or from the journal, which knows the memories
that were used together. The same vault gives the same edges, in whatever order it was indexed.

A memory or item is known by its id, a tag as `#db`, a note as `[[path]]`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from unicodedata import normalize

from brain import kinds
from brain._tuples import NamedTuple
from brain.index import links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.db import Index, Owners

# how the names of tags, notes and clusters begin; an item whose id begins so is not in the graph
PREFIXES = ("#", "[[", "((")
MAX_SHARED = 100  # entries with a tag or note: what more of them share says too little
MIN_SHARED = 10  # so many are never too many
# of each type of edge; a learned edge is one that was used once
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
    """An edge between two nodes of the picture.

    Its type is has_tag, link, relates_to, supersedes, contradicts, derived_from, learned or
    in_cluster.
    """

    source: str
    target: str
    type: str
    weight: float


class Note(NamedTuple):
    """A note at the end of an edge. One that is named but not in the vault has no path."""

    path: str
    label: str


class Edges(NamedTuple):
    """The edges that `owners` may see: their weights by (source, target, type)."""

    weights: dict[tuple[str, str, str], float]
    ids: dict[str, str]  # the present id of every entry, by each id that it ever had
    notes: dict[str, Note]


def strengthened(type: str, weight: float, times: float) -> float:
    """Return the weight of a learned or written link after so many uses of both ends together.

    Each time closes the same share w of the distance to 1: n times are 1 - (1 - w)^n. A written
    link counts as one time more, so learning strengthens it.
    """
    return float(1 - (1 - min(1.0, weight)) ** (times + (type != "learned")))


def edges(index: Index, owners: Owners, *, agent: str = "", pending: bool = False) -> Edges:
    """Return all edges, or those of one agent's entries.

    With `pending`, uses that only this machine knows count as well.
    """
    rows = [row for row in links.tags(index, owners, agent) if not row[0].startswith(PREFIXES)]
    ids = _present_ids(index, [id for id, _ in rows])
    found = {(ids[id], f"#{topic}", "has_tag") for id, tags in rows for topic in topics(tags)}
    named = []  # (source, target, type) of links to notes
    replaced = {(ids.get(new), ids.get(old)) for new, old, _ in links.supersessions(index, owners)}
    for id, kind, target, fragment in links.of_entries(index, owners):
        source, type = ids.get(id), "link" if kind == "embed" else kind
        other = ids.get(fragment[1:]) if fragment.startswith("^") else None
        if source and other:
            if type == "supersedes" and (source, other) not in replaced:
                type = "link"  # the memory of an agent that may not supersede this one
            found.add((source, other, type))
        elif source and _names_note(target, fragment):
            named.append((source, target, type))
    linking = [(path, ids[block]) for path, block in links.of_notes(index, owners) if block in ids]
    nodes, notes = _notes(index, owners, {to for _, to, _ in named}, {path for path, _ in linking})
    found |= {(source, nodes[target], type) for source, target, type in named}
    found |= {(nodes[path], id, "link") for path, id in linking}
    given = {
        (ids.get(id, ""), ids.get(other) or nodes.get(other, ""), type): weight
        for id, other, type, weight in links.weights(index)
    }
    weighted = {edge: given.get(edge, WEIGHTS[edge[2]]) for edge in found if edge[0] != edge[1]}
    for (one, other), times in _times_together(index, ids, pending).items():
        weighted[one, other, "learned"] = strengthened("learned", WEIGHTS["learned"], times)
        for ends in ((one, other), (other, one)):
            for type in ("relates_to", "link"):
                if (*ends, type) in weighted:
                    weighted[(*ends, type)] = strengthened(type, weighted[(*ends, type)], times)
    return Edges(weighted, ids, notes)


def topics(tags: str) -> Iterator[str]:
    """Yield the tags that say what a memory is about, not those for its kind or status."""
    for tag in tags.casefold().split():
        if tag.replace("-", "_") not in _NO_TOPIC:
            yield tag


def hubs(edges: Iterable[Edge], entries: Collection[str]) -> set[str]:
    """Return the tags and notes that too many entries share to connect them."""
    most = max_shared(len(entries))
    return {node for node, ids in shared(edges, entries).items() if len(ids) > most}


def shared(edges: Iterable[Edge], entries: Collection[str]) -> dict[str, set[str]]:
    """Return the entries of each tag and note."""
    sharing: dict[str, set[str]] = {}
    for edge in edges:
        for id, node in ((edge.source, edge.target), (edge.target, edge.source)):
            if node.startswith(PREFIXES) and id in entries:
                sharing.setdefault(node, set()).add(id)
    return sharing


def max_shared(entries: int) -> int:
    """Return how many entries may share a tag or note that connects them.

    A tag or note of more than half of all entries says nothing about any of them.
    """
    return min(MAX_SHARED, max(MIN_SHARED, entries // 2))


def _present_ids(index: Index, ids: Iterable[str]) -> dict[str, str]:
    """Return the present id of these entries by each id that they ever had.

    An entry that is in the vault twice goes by the smaller id.
    """
    names = links.aliases(index)
    present: dict[str, str] = {}
    for id in ids:
        name = names.get(id, id)
        present[name] = min(id, present.get(name, id))
    return present | {id: present[name] for id, name in names.items() if name in present}


def _times_together(
    index: Index, ids: Mapping[str, str], pending: bool
) -> dict[tuple[str, str], float]:
    """Return how often two entries were used together; of each pair the smaller id is first."""
    times: dict[tuple[str, str], float] = {}
    for one, other, count in sorted(links.learned(index, pending=pending)):
        if one in ids and other in ids and ids[one] != ids[other] and count > 0:
            low, high = sorted((ids[one], ids[other]))
            times[low, high] = times.get((low, high), 0.0) + count
    return times


# -- notes -----------------------------------------------------------------------------------------


def _notes(
    index: Index, owners: Owners, targets: Collection[str], paths: Collection[str]
) -> tuple[dict[str, str], dict[str, Note]]:
    """Return the node of each link target and path, and the notes by node."""
    if not targets and not paths:
        return {}, {}
    spellings = {target: spelled(target) for target in sorted(targets)}
    names = {name_of(spelling) for spelling in spellings.values()}
    titles = {
        path: title
        for path, title in links.notes(index, owners)
        if path in paths or name_of(spelled(path)) in names
    }
    places = _places(spellings.values(), titles)
    missing = _longest(set(spellings.values()) - places.keys())
    nodes: dict[str, str] = {}
    notes: dict[str, Note] = {}
    for target in (*spellings, *paths):
        path = target if target in paths else places.get(spellings[target], "")
        node = f"[[{path.removesuffix('.md') or missing[spellings[target]]}]]"
        label = titles.get(path) or name_of((path or target).removesuffix(".md"))
        nodes[target] = node
        notes.setdefault(node, Note(path, label))
    return nodes, notes


def _names_note(target: str, fragment: str) -> bool:
    """Return True if a link that leads to no visible memory names a note.

    A link to a memory that is gone or may not be seen does not.
    """
    if not fragment.startswith("^"):
        return bool(target)
    return not (fragment.startswith("^m-") or name_of(spelled(target)) in ("", "memory"))


def spelled(target: str) -> str:
    """Return the note that a link names, without case, Unicode form, `.md` and `../`."""
    name = target.casefold() if target.isascii() else normalize("NFC", target).casefold()
    return name.removesuffix(".md").lstrip("./") or name


def name_of(note: str) -> str:
    """Return the name of a note without its folders."""
    return note.rpartition("/")[2]


def _places(spellings: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """Return the path of the note that each spelling means, if there is one.

    It is the exact path, else the least deep path that ends in the spelling, else the first.
    """
    by_name: dict[str, list[tuple[str, str]]] = {}
    for path in paths:
        by_name.setdefault(name_of(spelled(path)), []).append((spelled(path), path))
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


def _longest(spellings: Iterable[str]) -> dict[str, str]:
    """Return the longest spelling of each missing note, by every spelling of it.

    A spelling that may mean several notes means none of them.
    """
    by_name: dict[str, set[str]] = {}
    found: dict[str, str] = {}
    for spelling in sorted(spellings, key=lambda note: (-note.count("/"), note)):
        longer = by_name.setdefault(name_of(spelling), set())
        ends = [full for full in longer if full.endswith(f"/{spelling}")]
        found[spelling] = ends[0] if len(ends) == 1 else spelling
        longer.add(found[spelling])
    return found
