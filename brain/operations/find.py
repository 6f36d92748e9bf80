"""Search, show, list and open entries."""

from __future__ import annotations

from brain import access, wire
from brain.errors import BadRequest
from brain.index import query
from brain.index.query import Filters
from brain.model import SCOPES
from brain.operations import lookup, semantic
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brain.access import Actor
    from brain.filter_expr import Comparison, Group
    from brain.index.query import Row
    from brain.open_vault import Freshness, OpenVault
    from brain.recall.search import Hit


class Answer(NamedTuple):
    """The results of a search, how fresh they are, and remarks for the user."""

    results: list[Hit]
    freshness: Freshness
    notes: tuple[str, ...] = ()


def search(
    vault: OpenVault,
    question: str,
    *,
    scopes: Iterable[str] = (),
    kinds: Iterable[str] = (),
    tags: Iterable[str] = (),
    agent: str = "",
    project: str = "",
    since: str = "",
    until: str = "",
    superseded: bool = False,
    limit: int | None = None,
    check: bool = True,
    by: Actor | str = "",
) -> Answer:
    """Return the best matches for a question, after updating the index.

    Superseded memories are left out unless `superseded` is given, and so is everything that `by`
    may not read. `check=False` skips the update, for a caller that has just done it.
    """
    from brain.recall.search import search
    from brain.redact import redact

    if not question.strip():
        raise BadRequest("There is nothing to search for.", "Give at least one word.")
    freshness = vault.refresh() if check else vault.unchecked()
    filters = lookup.filters(
        vault, scopes, kinds, tags, agent, project, since, until, superseded, by
    )
    most = vault.config.searchLimit if limit is None else limit
    given = (vault.index, question, filters, most, vault.clock(), vault.config)
    (hits, about), notes = semantic.with_model(vault, lambda model: search(*given, model))
    shown = [{"id": h.row.ref, "path": h.row.path} for h in hits]
    asked, _ = redact(question, emails=vault.config.redactEmails)
    vault.events.publish(vault.now(), "memory:search", {"query": asked, "results": shown})
    if not hits:
        about = [*about, *_unknown(vault, filters)]
    return Answer(hits, freshness, (*about, *notes))


def _unknown(vault: OpenVault, filters: Filters) -> list[str]:
    """Return a remark for each tag and project that no entry has."""
    every = Filters(scopes=SCOPES, owners=filters.owners)
    wanted = [(f"is tagged #{t.lstrip('#')}", every._replace(tags=(t,))) for t in filters.tags]
    for project in filters.projects:
        said = f"belongs to a project {project!r}"
        wanted.append((said, every._replace(projects=(project,))))
    return vault.ask(
        lambda: [f"Nothing {s}." for s, f in wanted if not query.any_passes(vault.index, f)]
    )


def show(vault: OpenVault, id: str, *, by: Actor | str = "") -> dict[str, Any]:
    """Return an entry with its links; of a memory also its current values and its origin. Counts
    as reading it."""
    from brain.operations import provenance

    row = lookup.find(vault, id, owners=access.visible_owners(vault, by))
    links = vault.ask(lambda: query.links_of(vault.index, row.id))
    payload = {"type": row.scope, "path": row.path, "size": len(row.text)}
    vault.events.publish(vault.now(), "memory:read", payload)
    shape = wire.entry(row) | {"links": [wire.link(link) for link in links]}
    if lookup.is_memory(row):
        shape |= provenance.entries(vault, [row])[0] | provenance.provenance(vault, row)
    return shape


def entries(vault: OpenVault, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
    """Return entries that pass the filters, newest first."""
    vault.catch_up()
    return vault.ask(lambda: query.listed(vault.index, filters, limit, offset))


def listed(
    vault: OpenVault,
    filters: Filters,
    where: str = "",
    order: str = "",
    limit: int = 50,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """Return entries that pass the filters and `where` (`importance>=0.7 and kind=decision`), in
    their wire shape with their current values; newest first, or as `order` says."""
    from brain import filter_expr
    from brain.operations import provenance

    some = (limit, offset) if not (where or order) else (-1, 0)
    every = entries(vault, filters, *some)
    found = vault.ask(lambda: provenance.entries(vault, every))
    if where.strip():
        wanted = filter_expr.parse(where)
        found = [shape for shape in found if wanted.matches(shape)]
        if not found:
            _refuse_unknown(vault, wanted, filters)
    if order.strip():
        found = [dict(shape) for shape in filter_expr.parse_order(order).sort(found)]
    return found if some[0] >= 0 else found[offset : offset + limit]


def _refuse_unknown(vault: OpenVault, wanted: Comparison | Group, filters: Filters) -> None:
    """Raise BadRequest if a filter without results names a kind that does not exist."""
    own = vault.ask(lambda: query.kinds(vault.index, filters.owners))
    for kind in wanted.values("kind"):
        if kind not in {each.casefold() for each in own}:
            lookup.check_kind(vault, kind, filters.owners)


def place(vault: OpenVault, id: str) -> dict[str, Any]:
    """Return where an entry can be opened: its address in Obsidian, its file and line."""
    row, line = lookup.locate(vault, id)
    url = wire.obsidian_url(vault.paths.root.name, row, heading_above(row, line))
    file = str(vault.paths.root / row.path)
    return {"id": row.ref, "url": url, "path": row.path, "line": line, "file": file}


def heading_above(row: Row, line: int) -> str:
    """Return the nearest heading above a line of a note or a memory; '' if there is none."""
    if row.scope in ("memory", "archive"):
        return row.heading.rpartition(" > ")[2]
    if row.scope != "sources":
        return ""
    from brain.formats import frontmatter, mask, note_md

    _, body_at = frontmatter.split(row.text) if row.line == 1 else ("", 0)
    shown = "\n".join(row.text.split("\n")[: line - row.line + 1])[body_at:]
    if above := note_md.headings(mask.mask(shown)):
        return above[-1].words
    return row.heading.rpartition(" > ")[2] if row.line > 1 else ""
