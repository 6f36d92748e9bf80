"""Read relations between entries: links, tags, supersessions and contradictions.

`owners` are the agents whose entries are visible, None for all. Every statement contains this
filter, so an invisible entry does not connect other entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brain.index.db import CREATED, Index, each, owned, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.db import Owners

_SCOPES = "('memory', 'items')"
# only a few files have memories, so find the entries by their files
_ENTRIES = f"FROM files f CROSS JOIN entries c ON c.file = f.id AND c.scope IN {_SCOPES}"
# the entries of a file have consecutive row ids
_LINKS = f"""FROM files f
    CROSS JOIN links l ON l.entry >= (SELECT min(id) FROM entries WHERE file = f.id)
        AND l.entry <= (SELECT max(id) FROM entries WHERE file = f.id)
    CROSS JOIN entries c ON c.id = l.entry AND c.file = f.id AND c.scope IN {_SCOPES}"""
_WHERE = f"WHERE f.scope IN {_SCOPES}"
_BLOCK = "l.fragment >= '^' AND l.fragment < '_'"


# -- links, tags, notes ----------------------------------------------------------------------------


def tags(index: Index, owners: Owners, agent: str = "") -> list[tuple[str, str]]:
    """Return (id, tags) of all memories and items, or of those of one agent."""
    visible, values = owned(owners)
    if agent:
        visible, values = f"{visible} AND c.agent = ?", (*values, agent)
    return index.rows(f"SELECT c.ref, c.tags {_ENTRIES} {_WHERE}{visible}", values)


def of_entries(index: Index, owners: Owners) -> list[tuple[str, str, str, str]]:
    """Return (id, kind, target, fragment) of all links of memories and items."""
    visible, values = owned(owners)
    sql = f"SELECT c.ref, l.kind, l.target, l.fragment {_LINKS} {_WHERE}{visible}"
    return index.rows(sql, values)


def of_notes(index: Index, owners: Owners) -> list[tuple[str, str]]:
    """Return (path, block id) of all links of notes to a block."""
    visible, values = owned(owners)
    sql = f"""SELECT c.path, substr(l.fragment, 2) FROM links l
        CROSS JOIN entries c ON c.id = l.entry AND c.scope = 'sources' WHERE {_BLOCK}{visible}"""
    return index.rows(sql, values)


def notes(index: Index, owners: Owners) -> list[tuple[str, str]]:
    """Return (path, title) of all notes."""
    visible, values = owned(owners, "f")
    sql = f"SELECT f.path, f.title FROM files f WHERE f.path LIKE '%.md'{visible} ORDER BY f.path"
    return index.rows(sql, values)


def learned(index: Index, *, pending: bool) -> list[tuple[str, str, float]]:
    """Return (id, other id, times) of entries that were used together.

    With `pending`, uses that are not in the journal yet are added, so a pair may appear twice.
    """
    tables = [("learned", "one", "strength"), ("pending_uses", "ref", "count")]
    found: list[tuple[str, str, float]] = []
    for table, column, count_column in tables if pending else tables[:1]:
        found += index.rows(
            f"SELECT {column}, other, {count_column} FROM {table} WHERE other != ''"
        )
    return found


def weights(index: Index) -> list[tuple[str, str, str, float]]:
    """Return (id, other id or note, type, weight) of links with a set weight, oldest first. Weights
    that were undone are left out."""
    undone = """SELECT 1 FROM records {0} WHERE {0}.op = 'undo' AND {0}.ref = {1}.ref
        AND json_extract({0}.data, '$.of') = {1}.id"""
    sql = f"""SELECT r.ref, json_extract(r.data, '$.other'), json_extract(r.data, '$.as'),
        json_extract(r.data, '$.weight') FROM records r WHERE r.op = 'link' AND NOT r.purged
        AND instr(r.data, '"weight":') AND NOT EXISTS ({undone.format("u", "r")}
            AND NOT EXISTS ({undone.format("v", "u")})) ORDER BY r.lamport, r.device, r.seq"""
    return [row for row in index.rows(sql) if type(row[3]) in (int, float) and 0 <= row[3] <= 1]


def aliases(index: Index) -> dict[str, str]:
    """Return for each id of an entry with several ids the smallest of them."""
    return dict(index.rows("SELECT ref, class FROM aliases"))


# -- supersedes, contradicts -----------------------------------------------------------------------


def supersessions(index: Index, owners: Owners) -> list[tuple[str, str, str]]:
    """Return (id, superseded id, created) for each memory that supersedes another one.

    For `owners`, their memories supersede any memory. For all (None), an agent's memory supersedes
    only memories of the same agent, and a memory of the admin supersedes any memory.
    """
    own = ""
    if owners is None:
        own = """ AND (c.agent = 'admin' OR EXISTS (SELECT 1 FROM entries o
            WHERE o.ref = substr(l.fragment, 2) AND o.scope = 'memory' AND o.agent = c.agent))"""
    return _relations(index, "supersedes", owners, own)


def _relations(
    index: Index, kind: str, owners: Owners, condition: str = ""
) -> list[tuple[str, str, str]]:
    visible, values = owned(owners)
    # the kind is not a placeholder, so that SQLite uses the partial index for it
    sql = f"""SELECT c.ref, substr(l.fragment, 2), {CREATED} FROM links l
        CROSS JOIN entries c ON c.id = l.entry AND c.scope = 'memory'
        CROSS JOIN files f ON f.id = c.file
        WHERE l.kind = '{kind}' AND substr(l.fragment, 1, 1) = '^'{visible}{condition}"""
    return index.rows(sql, values)


def successors(
    index: Index, ids: Iterable[str] | None = None, owners: Owners = None
) -> dict[str, str]:
    """Return the current successor of each superseded memory with one of these ids (None: all).

    A chain of successors is followed to its end. If several memories supersede the same memory, the
    newest is used, and of two with the same time, the one with the smaller id. Memories that
    supersede each other in a circle have no successor, and a chain that leads into a circle ends at
    the first memory of the circle.
    """
    if not (rows := supersessions(index, owners)):
        return {}
    names = aliases(index)
    newest: dict[str, str] = {}
    for new, old, _ in sorted(sorted(rows), key=lambda row: row[2], reverse=True):
        if names.get(new, new) != names.get(old, old):
            newest.setdefault(names.get(old, old), new)
    if ids is None:
        ids = [*newest, *(id for id, name in names.items() if name in newest)]
    ends = ((id, _last_successor(names.get(id, id), newest, names)) for id in ids)
    return {id: end for id, end in ends if end}


def _last_successor(start: str, newest: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return the last memory in the chain of successors; '' if there is none."""
    chain = [start]
    successor = ""
    while chain[-1] in newest:
        successor = newest[chain[-1]]
        next_name = names.get(successor, successor)
        if next_name in chain:
            return "" if next_name == start else successor
        chain.append(next_name)
    return successor


def superseded_rows(index: Index, owners: Owners) -> list[int]:
    """Return the row ids of all superseded memories."""
    if not (superseded := successors(index, owners=owners)):
        return []
    sql = "SELECT c.id FROM entries c WHERE c.scope = 'memory' AND c.ref IN"
    with reading():
        return sorted(id for (id,) in each(index.db, sql, superseded))


def contradictions(index: Index, ids: Iterable[str], owners: Owners = None) -> dict[str, list[str]]:
    """Return the memories that contradict each of these ids. The relation holds in both directions.

    Superseded memories are left out.
    """
    ids = list(ids)
    if not ids or not (rows := _relations(index, "contradicts", owners)):
        return {}
    names = aliases(index)
    wanted = {names.get(id, id) for id in ids}
    pairs = {(names.get(id, id), names.get(other, other)) for id, other, _ in rows}
    pairs = {pair for pair in pairs if wanted.intersection(pair)}
    if not pairs:
        return {}
    superseded = successors(index, {side for pair in pairs for side in pair}, owners)
    pairs = {pair for pair in pairs if not superseded.keys() & set(pair)}
    current = _current_ids(index, {side for pair in pairs for side in pair}, names, owners)
    found: dict[str, set[str]] = {}
    for one, other in pairs | {(other, one) for one, other in pairs}:
        if one != other and one in current and other in current:
            found.setdefault(one, set()).add(current[other])
    contradicting = ((id, found.get(names.get(id, id), set())) for id in ids)
    return {id: sorted(others) for id, others in contradicting if others}


def _current_ids(
    index: Index, wanted: set[str], names: Mapping[str, str], owners: Owners
) -> dict[str, str]:
    """Return the current ids of those memories that still exist, by their smallest ids."""
    visible, values = owned(owners)
    ids = wanted.union(id for id, name in names.items() if name in wanted)
    sql = f"SELECT c.ref FROM entries c WHERE c.scope = 'memory'{visible} AND c.ref IN"
    current: dict[str, str] = {}
    with reading():
        for (id,) in sorted(each(index.db, sql, ids, values)):
            current.setdefault(names.get(id, id), id)
    return current
