"""Questions about what points to what."""

from __future__ import annotations

from brain.index.db import Index, reading
from brain.index.query import _ROW, Row


def linking(index: Index, ref: str) -> list[Row]:
    """The chunks that link to the block with this id, wherever they say it is."""
    sql = f"""{_ROW} WHERE c.id IN (SELECT chunk FROM links WHERE fragment = ?) AND c.ref != ?
        ORDER BY c.path, c.line"""
    with reading():
        return [Row(*row) for row in index.db.execute(sql, (f"^{ref}", ref))]


def note_named(index: Index, name: str) -> str:
    """The name by which a link reaches this note, given by its name or path; '' if there is none.

    Where several notes have the name, it is the first one's whole path.
    """
    file = f"{name.removesuffix('.md')}.md"
    sql = """SELECT path FROM files WHERE path LIKE '%.md'
        AND (path = ?1 OR substr(path, -length(?1) - 1) = '/' || ?1) ORDER BY path"""
    with reading():
        found = [str(path).removesuffix(".md") for (path,) in index.db.execute(sql, (file,))]
    if len(found) == 1:
        return found[0].rpartition("/")[2]
    return found[0] if found else ""
