"""Show, list and open entries. A memory has its current values, computed from its journal
records."""

from __future__ import annotations

from brain import importance
from brain.access import PERSON
from brain.context.scoring import current_confidence, source_of
from brain.errors import BrainError
from brain.index import read, records
from brain.index.read import Facts, Filters
from brain.operations import lookup
from brain.operations.results import Listing, Memory, Place, Provenance, entry, entry_fields
from brain.search.factors import days_between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Any

    from brain.access import Actor
    from brain.filter_expr import Comparison, Group
    from brain.importance import Importance
    from brain.index.read import Row
    from brain.model import Link, Record
    from brain.open_vault import Freshness, OpenVault
    from brain.operations.results import Entry

QUARANTINE = 1.0  # days in which a candidate should be used


def show(vault: OpenVault, id: str, *, agent: str = "", by: Actor | str = "") -> Entry:
    """Return an entry with its links. For a memory, also return its current values and its origin.
    If `id` is the path or title of a note, return the whole text of the note. This emits
    `memory:read`."""
    freshness = vault.refresh()
    row, line = lookup.locate(vault, id, lookup.visible(vault, by, agent))
    others = read.by_place(vault.index, row.path, 0) if not line else [row]
    if not line and row.path.endswith(".md"):
        return _whole(vault, others, freshness)
    _publish_read(vault, row)
    found = with_values(vault, [row])[0]
    fields = details(vault, row) if lookup.is_memory(row) else {}
    more = len(others) - 1 or None
    links = _links(vault, [row])
    return found.replace(links=links, freshness=freshness, more=more, **fields)


def _links(vault: OpenVault, rows: list[Row]) -> list[Link]:
    """Return the links of entries of one file. The links of a note are read from the file, because
    the index has only the links of notes to blocks."""
    role = vault.paths.role(rows[0].path)
    if role and role.format != "note":
        return [link for row in rows for link in read.links_of(vault.index, row.id)]
    from brain.formats import note_md

    wanted = {row.ref for row in rows}
    passages = note_md.parse(vault.read(rows[0].path)).entries
    return [link for entry in passages if entry.ref in wanted for link in entry.links]


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
        links=_links(vault, rows), freshness=freshness, **note,
    )  # fmt: skip


def _publish_read(vault: OpenVault, row: Row) -> None:
    payload = {"type": row.scope, "path": row.path, "size": len(row.text)}
    vault.publish("memory:read", payload)


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

    lookup.check_limit(limit)
    freshness = vault.refresh()
    chosen = lookup.words(scopes) or ("memory",)
    filters = lookup.filters(
        vault, chosen, kinds, tags, agent, project, since, until, superseded, by
    )
    page = (limit, offset) if not (where or order) else (-1, 0)
    found = with_values(vault, read.listed(vault.index, filters, *page))
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


# -- the current values of a memory, and its origin ------------------------------------------------


def with_values(vault: OpenVault, rows: Sequence[Row]) -> list[Entry]:
    """Return the entries of these rows. Memories have their current values."""
    known = read.facts(vault.index, [row.ref for row in rows if lookup.is_memory(row)])
    now = vault.clock()
    return [
        Memory(**entry_fields(row), **values(row, known.get(row.ref), now))
        if lookup.is_memory(row)
        else entry(row)
        for row in rows
    ]


def values(row: Row, known: Facts | None, now: datetime) -> dict[str, Any]:
    """Return the current values of a memory, by field of `results.Memory`."""
    found = known or Facts(row.ref)
    return {
        "score": found.score,
        "hits": found.hits,
        "last_hit": found.last_hit or None,
        "updated": max(found.touched, row.created),
        "importance": _importance(row, found, now).value,
        "confidence": current_confidence(row, found, now).value,
        "source": source_of(found),
        "by": found.by or PERSON.name,
        "session": found.session or None,
    }


def _importance(row: Row, found: Facts, now: datetime) -> Importance:
    quarantined = row.status == "candidate" and not found.hits
    unvisited = quarantined and days_between(found.created or row.created, now) > QUARANTINE
    return importance.importance(
        row.kind, found.importance, found.merges, row.status, found.hits, _idle(row, found, now),
        unvisited,
    )  # fmt: skip


def _idle(row: Row, found: Facts, now: datetime) -> float:
    """Return the days since a memory was last used, changed or created."""
    return days_between(max(row.created, found.touched, found.last_hit), now)


def details(vault: OpenVault, row: Row) -> dict[str, Any]:
    """Return the origin of a memory, and the factors of its confidence and importance."""
    memory_facts = read.facts(vault.index, [row.ref]).get(row.ref) or Facts(row.ref)
    ids = read.all_ids(vault.index, row.ref)
    try:
        history = list(records.select(vault.index, refs=ids))
    except BrainError:  # `brain doctor` reports a journal that cannot be read
        history = []
    creation = next((record for record in history if record.op in ("remember", "promote")), None)
    creation_data = creation.data if creation else {}
    now = vault.clock()
    return {
        "provenance": Provenance(
            by=creation.by if creation else memory_facts.by or PERSON.name,
            at=creation.at if creation else row.created,
            session=creation_data.get("session", memory_facts.session or None),
            messages=creation_data.get("messages"),
            snippet=creation_data.get("snippet"),
            source=source_of(memory_facts),
            why=creation_data.get("why"),
            event=creation.id if creation else None,
            since=[_step(record) for record in history if record is not creation],
        ),
        "confidence_factors": current_confidence(row, memory_facts, now)._asdict()
        | {
            "age_days": days_between(row.created, now),
            "half_life": importance.half_life(row.kind, source_of(memory_facts)),
        },
        "importance_factors": _importance(row, memory_facts, now)._asdict()
        | {
            "hits": memory_facts.hits,
            "idle_days": _idle(row, memory_facts, now),
            "status": row.status,
        },
    }


def _step(record: Record) -> dict[str, Any]:
    """Return a summary of a later change of a memory."""
    data = {key: record.data.get(key) for key in ("session", "why", "delta")}
    step = {"op": record.op, "at": record.at, "by": record.by, **data, "event": record.id}
    return {key: value for key, value in step.items() if value is not None}
