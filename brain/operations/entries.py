"""Show, list and open entries."""

from __future__ import annotations

from brain.index import read
from brain.index.read import Filters
from brain.operations import lookup
from brain.operations.results import Listing, Place, entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brain.access import Actor
    from brain.filter_expr import Comparison, Group
    from brain.index.read import Row
    from brain.open_vault import Freshness, OpenVault
    from brain.operations.results import Entry


def show(vault: OpenVault, id: str, *, agent: str = "", by: Actor | str = "") -> Entry:
    """Return an entry with its links. For a memory, also return its current values and its origin.
    If `id` is the path or title of a note, return the whole text of the note. The entry counts as
    read."""
    from brain.operations import provenance

    freshness = vault.refresh()
    row, line = lookup.locate(vault, id, lookup.visible(vault, by, agent))
    links = read.links_of(vault.index, row.id)
    others = read.by_place(vault.index, row.path, 0) if not line else [row]
    if not line and row.path.endswith(".md"):
        return _whole(vault, others, freshness)
    _publish_read(vault, row)
    found = provenance.entries(vault, [row])[0]
    more = provenance.details(vault, row) if lookup.is_memory(row) else {}
    left = len(others) - 1 or None
    return found.replace(links=links, freshness=freshness, more=left, **more)


def _whole(vault: OpenVault, rows: list[Row], freshness: Freshness) -> Entry:
    """Return a note as one entry, with the text of its file, and the links and tags of all its
    entries."""
    from brain.formats.text import decode

    text, _ = decode(vault.read(rows[0].path))
    text = text.rstrip("\n") or "\n\n".join(row.text for row in rows)
    tags = dict.fromkeys(tag for row in rows for tag in row.tags.split())
    _publish_read(vault, rows[0]._replace(text=text))
    note = {} if rows[0].scope == "sources" else {"id": rows[0].path, "kind": "note", "status": ""}
    return entry(rows[0]).replace(
        heading="", text=text, tags=list(tags), line=1, end_line=text.count("\n") + 1,
        links=[link for row in rows for link in read.links_of(vault.index, row.id)],
        freshness=freshness, **note,
    )  # fmt: skip


def _publish_read(vault: OpenVault, row: Row) -> None:
    payload = {"type": row.scope, "path": row.path, "size": len(row.text)}
    vault.events.publish(vault.now(), "memory:read", payload)


def entries(vault: OpenVault, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
    """Return entries that pass the filters, newest first."""
    return read.listed(vault.index, filters, limit, offset)


def list_(
    vault: OpenVault,
    *,
    scopes: Iterable[str] = (),
    kinds: Iterable[str] = (),
    tags: Iterable[str] = (),
    agent: str = "",
    project: str = "",
    since: str = "",
    until: str = "",
    superseded: bool = False,
    where: str = "",
    order: str = "",
    limit: int = 50,
    offset: int = 0,
    by: Actor | str = "",
) -> Listing:
    """Return the entries that pass the filters and `where` (`importance>=0.7 and kind=decision`),
    newest first or in the order `order`. Without `scopes`, only memories are listed."""
    from brain import filter_expr
    from brain.operations import provenance

    freshness = vault.refresh()
    chosen = lookup.words(scopes) or ("memory",)
    filters = lookup.filters(
        vault, chosen, kinds, tags, agent, project, since, until, superseded, by
    )
    page = (limit, offset) if not (where or order) else (-1, 0)
    rows = entries(vault, filters, *page)
    found = provenance.entries(vault, rows)
    if where.strip():
        wanted = filter_expr.parse(where)
        found = [each for each in found if wanted.matches(_mapping(each))]
        if not found:
            _refuse_unknown(vault, wanted, filters)
    if order.strip():
        given = ({**_mapping(each), "entry": each} for each in found)
        found = [each["entry"] for each in filter_expr.sort(given, order)]
    if where or order:
        found = found[offset : offset + limit]
    return Listing(entries=found, freshness=freshness)


def _mapping(entry: Entry) -> dict[str, Any]:
    """Return the fields of an entry by name, for filter expressions."""
    owner = {"agent": entry.agent or None, "project": entry.project or None}
    return {**entry.extra, **vars(entry), **owner}


def _refuse_unknown(vault: OpenVault, wanted: Comparison | Group, filters: Filters) -> None:
    """Raise BadRequest if a filter without results names a kind that does not exist."""
    own = read.kinds(vault.index, filters.owners)
    for kind in wanted.values("kind"):
        if kind not in {each.casefold() for each in own}:
            lookup.check_kind(vault, kind, filters.owners)


def open_(vault: OpenVault, id: str, *, agent: str = "", by: Actor | str = "") -> Place:
    """Return the address of an entry in Obsidian, and its file and line for an editor."""
    vault.refresh()
    row, line = lookup.locate(vault, id, lookup.visible(vault, by, agent))
    line = line or row.line
    return Place(
        id=row.ref,
        url=_obsidian_url(vault.paths.root.name, row, heading_above(row, line)),
        path=row.path,
        line=line,
        file=str(vault.paths.root / row.path),
    )


def _obsidian_url(vault_name: str, row: Row, heading: str) -> str:
    """Return the address that opens an entry in Obsidian: its block if its id is in the file, else
    its heading."""
    import re
    from urllib.parse import quote

    path = row.path.removesuffix(".md")
    if lookup.is_anchored(row):
        path += f"#^{row.ref}"
    elif heading:  # like Obsidian, leave out characters that would end a link
        path += "#" + " ".join(re.sub(r"[#^|\[\]\\]|%%", " ", heading).split())
    return f"obsidian://open?vault={quote(vault_name, safe='')}&file={quote(path, safe='')}"


def heading_above(row: Row, line: int) -> str:
    """Return the nearest heading above a line of a note or a memory; '' if there is none."""
    if row.scope in ("memory", "archive"):
        return row.heading.rpartition(" > ")[2]
    if row.scope != "sources":
        return ""
    from brain.formats import frontmatter, markdown, note_md

    _, body_at = frontmatter.split(row.text) if row.line == 1 else ("", 0)
    shown = "\n".join(row.text.split("\n")[: line - row.line + 1])[body_at:]
    if above := note_md.headings(markdown.mask(shown)):
        return above[-1].words
    return row.heading.rpartition(" > ")[2] if row.line > 1 else ""
