"""What is said again: the memory that says it already gets what was asked for along with it."""

from __future__ import annotations

from brain import access
from brain.changes import Add, Deed, Relate, Retag
from brain.errors import BadRequest
from brain.formats.links import RELATIONS
from brain.index import links, query
from brain.operations import lookup
from brain.verbs import answer
from brain.verbs.changing import anchored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.index.query import Row
    from brain.model import Chunk, Link
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape

_PLAIN = ("link", *RELATIONS)


def merged(
    vault: OpenVault, asked: Add, supersedes: Sequence[str], data: dict[str, Any], by: Actor
) -> Shape:
    """The memory `asked.ref` says already what was to be added: that it was said again is put on
    record. What it lacks of the tags, links and fields is added, it takes the place of what it is
    to supersede, and no other one keeps its own; `superseded_by` are those that still do."""
    vault.refresh()
    row = lookup.find(vault, asked.ref)
    ids = lookup.same_ids(vault, row.ref)
    older = [lookup.memory(vault, id, by) for id in supersedes]
    if any(each.ref in ids for each in older):
        raise BadRequest("A memory cannot supersede itself.", "Name another one.")
    first = [deed for each in older for deed in anchored(each, by)]
    more = [*_lacking(vault, row, asked), *_instead(row, older), *_revived(vault, ids, by)]
    merge = Deed("merge", row.ref, None, data)
    result = answer.applied(vault, [*first, *more, merge], by, main=len(first))[0]
    vault.refresh()
    shape = answer.happened(answer.of_row(lookup.find(vault, row.ref)), "duplicate", result)
    left = [{"id": new.ref, "text": new.text} for new, _ in _superseding(vault, ids, by)]
    return shape | told(left)


def told(superseding: list[dict[str, str]]) -> Shape:
    """What is told of other memories."""
    return {"near": [], "conflicts": [], "superseded_by": superseding}


def _lacking(vault: OpenVault, row: Row, asked: Add) -> Iterator[Deed]:
    """What brings the tags, links and fields that were asked for into the entry. A memory that is
    known does not become a candidate."""
    said = _read(asked, row.agent)
    have = {*row.tags.casefold().split(), "candidate"}
    if tags := tuple(tag for tag in said.tags if tag.casefold() not in have):
        yield Deed("tag", row.ref, Retag(row.path, row.ref, tags))
    there = {(link.target, link.fragment) for link in query.links_of(vault.index, row.id)}
    for link in said.links:
        if link.kind in _PLAIN and (link.target, link.fragment) not in there:
            kind = link.kind if link.kind in RELATIONS else "relates_to"
            yield Deed("link", row.ref, Relate(row.path, row.ref, kind, _as_text(link)))
    fields = (answer.of_row(row).get("fields") or {}) if row.extra else {}
    for key, value in (said.extra or {}).get("fields", {}).items():
        if fields.get(key) != value:
            yield Deed("link", row.ref, Relate(row.path, row.ref, key, value))


def _read(asked: Add, agent: str) -> Chunk:
    """The entry as it would have been added."""
    from brain.formats import memory_edit, memory_md

    data = memory_edit.edit(asked.path, b"", [asked], agent).data
    return memory_md.parse(data, agent).chunks[-1]


def _as_text(link: Link) -> str:
    return f"[[{link.target}{'#' if link.fragment else ''}{link.fragment}]]"


def _instead(row: Row, older: Sequence[Row]) -> Iterator[Deed]:
    for each in older:
        change = Relate(row.path, row.ref, "supersedes", lookup.link_to(each, row.path))
        yield Deed("link", row.ref, change)


def _revived(vault: OpenVault, ids: Collection[str], by: Actor) -> Iterator[Deed]:
    """What was superseded and is said again is current; so there is no circle either."""
    for new, link in _superseding(vault, ids, by):
        if access.may(by, "write", new.agent):
            change = Relate(new.path, new.ref, "supersedes", _as_text(link), gone=True)
            yield Deed("unlink", new.ref, change)


def _superseding(vault: OpenVault, ids: Collection[str], by: Actor) -> Iterator[tuple[Row, Link]]:
    """Yield the memories that supersede the one with these ids, for this actor, and their links."""
    rows = links.supersessions(vault.index, access.readable(by))
    newer = {new for new, old, _ in rows if old in ids}
    for row in (row for ref in sorted(ids) for row in lookup.linking(vault, ref)):
        if row.scope == "memory" and row.ref in newer:
            for link in query.links_of(vault.index, row.id):
                if link.kind == "supersedes" and link.fragment.removeprefix("^") in ids:
                    yield row, link
