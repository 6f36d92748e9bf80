"""Questions about what points to what.

`owners` are the agents whose entries may be seen, None for everybody's. The filter is inside the
SQL of every question, so that what may not be seen ties nothing together either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from brain.index.db import Index, reading
from brain.index.query import _ROW, COLUMNS, CREATED, Row
from brain.index.sql import each, marks, owned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.sql import Owners

_TIED = "('memory', 'items')"
# few files hold memories: by way of them, not of all chunks
_ENTRIES = f"FROM files f CROSS JOIN chunks c ON c.file = f.id AND c.scope IN {_TIED}"
# the chunks of a file have numbers in a row, and so have their links
_LINKS = f"""FROM files f
    CROSS JOIN links l ON l.chunk >= (SELECT min(id) FROM chunks WHERE file = f.id)
        AND l.chunk <= (SELECT max(id) FROM chunks WHERE file = f.id)
    CROSS JOIN chunks c ON c.id = l.chunk AND c.file = f.id AND c.scope IN {_TIED}"""
_WHICH = f"WHERE f.scope IN {_TIED}"
# as it stands in a statement, each has an index of its own
_RELATIONS = {"supersedes": "'supersedes'", "contradicts": "'contradicts'"}
_BLOCK = "l.fragment >= '^' AND l.fragment < '_'"


def linking(index: Index, ref: str) -> list[Row]:
    """The chunks that link to the block with this id, wherever they say it is."""
    sql = f"""{_ROW} WHERE c.id IN (SELECT chunk FROM links WHERE fragment = ?) AND c.ref != ?
        ORDER BY c.path, c.line"""
    with reading():
        return [Row(*row) for row in index.db.execute(sql, (f"^{ref}", ref))]


# -- the graph of memories and items -------------------------------------------------------------


def blocks(index: Index, owners: Owners) -> list[tuple[str, str, str]]:
    """(id, kind, block) for each link of a memory or item to a block."""
    mine, values = owned(owners)
    sql = f"""SELECT c.ref, l.kind, substr(l.fragment, 2) {_LINKS}
        {_WHICH} AND substr(l.fragment, 1, 1) = '^'{mine}"""
    with reading():
        return index.db.execute(sql, values).fetchall()


def pointing(index: Index, owners: Owners) -> list[tuple[str, str]]:
    """(path, block) for each link of a note to a block."""
    mine, values = owned(owners)
    sql = f"""SELECT c.path, substr(l.fragment, 2) FROM links l
        CROSS JOIN chunks c ON c.id = l.chunk AND c.scope = 'sources' WHERE {_BLOCK}{mine}"""
    with reading():
        return index.db.execute(sql, values).fetchall()


def tags(index: Index, refs: Iterable[str], owners: Owners) -> list[tuple[str, str]]:
    """(id, tags) of those of these ids that are a memory's or an item's."""
    mine, values = owned(owners)
    sql = f"SELECT c.ref, c.tags FROM chunks c WHERE c.scope IN {_TIED}{mine} AND c.ref IN"
    with reading():
        return list(each(index.db, sql, refs, values))


def links(
    index: Index, owners: Owners, refs: Iterable[str] | None = None
) -> list[tuple[str, str, str, str]]:
    """(id, kind, target, fragment) of what memories and items point to: these, or all."""
    mine, values = owned(owners)
    columns, tied = "SELECT c.ref, l.kind, l.target, l.fragment", "CROSS JOIN links l ON"
    with reading():
        if refs is None:
            sql = f"{columns} {_LINKS} {_WHICH}{mine}"
            return index.db.execute(sql, values).fetchall()
        sql = f"""{columns} FROM chunks c {tied} l.chunk = c.id
            WHERE c.scope IN {_TIED}{mine} AND c.ref IN"""
        return list(each(index.db, sql, refs, values))


def tagged(index: Index, owners: Owners) -> list[tuple[str, str]]:
    """(id, tags) of all memories and items that carry any. Asking the index for those with a few
    certain tags takes as long: it would look at all of them, too, once for each tag."""
    mine, values = owned(owners)
    sql = f"SELECT c.ref, c.tags {_ENTRIES} {_WHICH} AND c.tags != ''{mine}"
    with reading():
        return index.db.execute(sql, values).fetchall()


def naming(index: Index, names: Collection[str], owners: Owners) -> list[tuple[str, str, str, str]]:
    """(id, kind, target, fragment) of the links of memories and items to notes with one of these
    names, given in lower case; and of those that name a folder too, or whose case only Python
    knows. Links to a memory, by an id that Brain gave, are none."""
    mine, values = owned(owners)
    known = (*names, *(f"{name}.md" for name in names))
    sql = f"""SELECT c.ref, l.kind, l.target, l.fragment {_LINKS}
        {_WHICH} AND l.target != '' AND substr(l.fragment, 1, 3) != '^m-'{mine}
        AND (instr(l.target, '/') OR lower(l.target) IN {marks(known)}
             OR {_foreign("l.target")})"""
    with reading():
        return index.db.execute(sql, (*values, *known)).fetchall()


def count(index: Index, owners: Owners, most: int) -> int:
    """How many memories and items there are, up to so many."""
    mine, values = owned(owners)
    sql = f"SELECT count(*) FROM (SELECT 1 {_ENTRIES} {_WHICH}{mine} LIMIT {most:d})"
    with reading():
        return int(index.db.execute(sql, values).fetchone()[0])


def relations(index: Index, kind: str, owners: Owners) -> list[tuple[str, str, str]]:
    """(id, other, created) for each memory that `supersedes` or `contradicts` another one.

    Nobody supersedes for others: the memory of an agent takes the place of its own ones, the
    admin's of any, and for an agent who asks its own count like the admin's.
    """
    mine, values = owned(owners)
    own = ""
    if kind == "supersedes" and owners is None:
        own = """ AND (c.agent = 'admin' OR EXISTS (SELECT 1 FROM chunks o
            WHERE o.ref = substr(l.fragment, 2) AND o.scope = 'memory' AND o.agent = c.agent))"""
    sql = f"""SELECT c.ref, substr(l.fragment, 2), {CREATED} FROM links l
        CROSS JOIN chunks c ON c.id = l.chunk AND c.scope = 'memory'
        CROSS JOIN files f ON f.id = c.file
        WHERE l.kind = {_RELATIONS[kind]} AND substr(l.fragment, 1, 1) = '^'{mine}{own}"""
    with reading():
        return index.db.execute(sql, values).fetchall()


def present(index: Index, refs: Iterable[str], owners: Owners) -> set[str]:
    """Those of these ids that are a memory's."""
    mine, values = owned(owners)
    sql = f"SELECT c.ref FROM chunks c WHERE c.scope = 'memory'{mine} AND c.ref IN"
    with reading():
        return {row[0] for row in each(index.db, sql, refs, values)}


def renamed(index: Index) -> list[tuple[str, str]]:
    """(id, class) of all ids that are an entry's along with others."""
    with reading():
        return index.db.execute("SELECT ref, class FROM aliases").fetchall()


def learned(
    index: Index, refs: Collection[str] | None = None, waiting: bool = True
) -> list[tuple[str, str, float]]:
    """(id, other, strength) of entries that were put to use together: those of these ids, or all;
    with or without what waits on this machine, so that a pair may come twice."""
    found: list[tuple[str, str, float]] = []
    tables = [("learned", "one", "strength"), ("spooled", "ref", "count")]
    with reading():
        for table, one, strength in tables if waiting else tables[:1]:
            sql = f"SELECT {one}, other, {strength} FROM {table} WHERE other != ''"
            if refs is None:
                found += index.db.execute(sql)
            elif index.db.execute(f"{sql} LIMIT 1").fetchone():
                rows = [*each(index.db, f"{sql} AND {one} IN", refs)]
                rows += each(index.db, f"{sql} AND other IN", refs)
                found += dict.fromkeys(rows)  # a pair of two of these was found from either side
    return found


def entries(index: Index, owners: Owners, agent: str = "") -> list[Row]:
    """All memories and items, of one agent if it is named, in order of their places."""
    mine, values = owned(owners)
    if agent:
        mine, values = f"{mine} AND c.agent = ?", (*values, agent)
    sql = f"{COLUMNS} {_ENTRIES} {_WHICH}{mine} ORDER BY c.scope DESC, c.path, c.line, c.id"
    with reading():
        return [Row(*row) for row in index.db.execute(sql, values)]


def notes(index: Index, owners: Owners) -> list[tuple[str, str]]:
    """(path, title) of all notes."""
    mine, values = owned(owners, "f")
    sql = f"SELECT f.path, f.title FROM files f WHERE f.path LIKE '%.md'{mine} ORDER BY f.path"
    with reading():
        return index.db.execute(sql, values).fetchall()


def _foreign(column: str) -> str:
    """Are there characters beyond ASCII?"""
    return f"length({column}) != length(CAST({column} AS BLOB))"
