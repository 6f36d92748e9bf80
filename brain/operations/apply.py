"""Check and apply changes through the store, return the changed entry, and link it to others."""

from __future__ import annotations

import re

from brain import access
from brain.errors import BadRequest
from brain.index import read
from brain.journal.codec import event_id
from brain.model import Anchor, Relate, Write
from brain.operations.lookup import is_anchored, link_to
from brain.operations.results import Changed, Entry, Mention
from brain.operations.results import entry as of_row
from brain.redact import redact
from brain.sync import Delta, write_payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from brain.access import Actor
    from brain.compare.similar import Similar
    from brain.index.read import Row
    from brain.open_vault import OpenVault
    from brain.store import Outcome

    C = TypeVar("C", bound=Changed)

MAX_TAGS = 100  # of a memory
_MARK = re.compile(r"\A[-*+][ \t]+(?=\S)")
_ITEMS = re.compile(r"^(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_REPORTED = ("reinforce", "demote", "update", "undo")  # emit memory:write even without a file
# arguments other than the text of an entry
_ARGUMENTS = ("why", "snippet", "section", "links", "tags", "add", "value")


def apply(
    vault: OpenVault,
    writes: Sequence[Write],
    by: Actor,
    main: int = 0,
    wait: float = 1.0,
    exact: Mapping[str, bytes | None] | None = None,
) -> list[Outcome]:
    """Apply changes and update the index. Return the results, that of `writes[main]` first. The
    other changes are parts of this one and are undone with it. If a person is typing, wait up to
    `wait` seconds."""
    writes = _with_parts(writes, main)
    results = _apply(vault, writes, by, wait, exact)
    return sorted(results, key=lambda result: "part_of" in result.write.data)


def apply_each(vault: OpenVault, changes: Sequence[Sequence[Write]], by: Actor) -> list[Outcome]:
    """Apply groups of writes together. Return the result of the first write of each group. Each
    group can be undone separately."""
    writes = [write for change in changes for write in _with_parts(change, 0)]
    results = {result.write.id: result for result in _apply(vault, writes, by)}
    return [results[write.id] for write in writes if "part_of" not in write.data]


def _with_parts(writes: Sequence[Write], main: int) -> list[Write]:
    """Return the writes with the mark that all others are parts of `writes[main]`."""
    main_write = writes[main]._replace(id=event_id())
    parts = [write._replace(data=write.data | {"part_of": main_write.id}) for write in writes]
    return [*parts[:main], main_write, *parts[main + 1 :]]


def _apply(
    vault: OpenVault,
    writes: Sequence[Write],
    by: Actor,
    wait: float = 1.0,
    exact: Mapping[str, bytes | None] | None = None,
) -> list[Outcome]:
    if not writes:
        return []
    with vault.writing():
        paths = dict.fromkeys(write.change.path for write in writes if write.change)
        before = {path: vault.store.note(path).data for path in paths}
        vault.writes += 1
        results = vault.store.apply(writes, by, exact)
        if any(result.state == "pending" for result in results):
            results = vault.store.wait(results, wait)
        # index the written text, even if a person has saved another one since
        notes = {path: vault.store.note(path) for path in paths}
        heads = {path: note.data for path, note in notes.items() if not note.is_missing}
        vault.sync(paths, known_texts=before, heads=heads)
        _publish(vault, results)
    return results


def _publish(vault: OpenVault, results: Sequence[Outcome]) -> None:
    """Emit `memory:write` for memories that changed only in the journal, because a sync does not
    find these changes."""
    writes = [result.write for result in results if result.write.change is None]
    for ref in dict.fromkeys(write.ref for write in writes if write.op in _REPORTED):
        for row in read.exact(vault.index, ref)[:1]:
            delta = Delta(row.path, row.scope, changed=((row.ref, row.text),))
            vault.publish("memory:write", write_payload(delta))


def changed(
    entry: Entry,
    outcome: str,
    result: Outcome | None = None,
    rules: Iterable[str] = (),
    cls: type[C] = Changed,  # type: ignore[assignment]
    **extra_fields: Any,
) -> C:
    """Return an entry with an outcome. Without a result, no change was made."""
    if result and result.state == "unchanged":
        result, outcome = None, "unchanged"
    if result:
        rules = [*rules, *(_redacted_rules(result.write) - {*rules})]
    fields = {name: getattr(entry, name) for name in Entry._fields}
    result_fields = {
        "outcome": outcome,
        "state": result.state if result else "unchanged",
        "event": result.write.id if result else None,
        "redacted": sorted(rules),
    }
    return cls(**{**fields, **result_fields, **extra_fields})


def _redacted_rules(write: Write) -> set[str]:
    """Return the rules that found a secret in the arguments of a write, except in the text."""
    if write.op == "undo":
        return set()
    arguments = {**write.change._asdict(), **write.data} if write.change else write.data
    text = str([arguments[name] for name in _ARGUMENTS if name in arguments])
    return {part.partition("]")[0] for part in text.split("[redacted:")[1:]}


def redacted(vault: OpenVault, text: str) -> tuple[str, list[str]]:
    """Redact the secrets of a text. Return the text, and the rules that found them."""
    clean, found = redact(text, emails=vault.config.redactEmails)
    return clean, [secret.rule for secret in found]


def current(vault: OpenVault, row: Row) -> Entry:
    """Return the current entry of a row; the old entry if it was deleted."""
    return of_row(find(vault, row.path, row.ref) or row)


def find(vault: OpenVault, path: str, ref: str) -> Row | None:
    """Return the row of an entry in a file; None if there is none."""
    return next((row for row in read.exact(vault.index, ref) if row.path == path), None)


def linked_from(vault: OpenVault, ids: Iterable[str], by: Actor) -> list[str]:
    """Return the places (`path:line`) of readable entries that link to one of these ids."""
    owners = access.readable(by)
    rows = [row for id in ids for row in read.linking(vault.index, id)]
    return [f"{row.path}:{row.line}" for row in rows if owners is None or row.agent in owners]


def anchor(other: Row, by: Actor) -> list[Write]:
    """Return the write that adds an entry's id to its file; none if the id is there already, or if
    the actor may not write it."""
    if is_anchored(other) or not access.may(by, "write", other.agent):
        return []
    return [Write("anchor", other.ref, Anchor(other.path, other.ref))]


# -- the arguments of a write ----------------------------------------------------------------------


def check_tags(tags: Iterable[str]) -> None:
    """Raise BadRequest if these are too many tags for a memory."""
    count = len({tag.lstrip("#").casefold() for tag in tags})
    if count > MAX_TAGS:
        raise BadRequest(
            f"A memory may have {MAX_TAGS} tags, not {count:,}.", "Leave some of them out."
        )


def without_mark(text: str) -> str:
    """Return a text without the list mark (`- `) of its only item, which its note already has."""
    text = text.strip()
    rest = _MARK.sub("", text)
    return text if _ITEMS.search(rest) else rest


def is_list(text: str) -> bool:
    """Return True if a text of several lines begins with an item of a list."""
    return "\n" in text and bool(_ITEMS.match(text))


def check_range(**values: float | None) -> None:
    """Raise BadRequest if a given value is not from 0 to 1."""
    for name, value in values.items():
        if value is not None and not 0 <= value <= 1:
            raise BadRequest(
                f"{name} must be from 0 to 1, not {value}.", "Give a number such as 0.8."
            )


# -- links to memories that a text replaces or contradicts --------------------------------------


def comparable(vault: OpenVault, path: str, by: Actor) -> tuple[str, ...]:
    """Return the owners whose memories are compared with a new one in this note: the owner of the
    note and the admin, if the actor may read them."""
    owners = sorted({access.ADMIN, vault.owner(path)})
    return tuple(owner for owner in owners if access.may(by, "read", owner))


def mentioned(found: Similar) -> tuple[list[Mention], list[Mention]]:
    """Return the memories that are similar to a text, and those that it contradicts."""
    near = [Mention(id=row.ref, text=row.text) for row, _ in found.near]
    return near, [Mention(id=row.ref, text=row.text) for row in found.contradicts]


def fields_of(
    superseded: Sequence[Row], contradicted: Sequence[Row], path: str, by: Actor
) -> tuple[tuple[tuple[str, str], ...], list[Write]]:
    """Return the fields of a new memory that supersedes or contradicts others, and the writes
    that add the ids of the other memories to their notes."""
    fields: list[tuple[str, str]] = []
    writes: list[Write] = []
    for name, rows in (("supersedes", superseded), ("contradicts", contradicted)):
        for row in rows:
            writes += anchor(row, by)
            fields.append((name, link_to(row, path)))
    return tuple(fields), writes


def mark(row: Row, found: Similar, by: Actor) -> tuple[list[Write], list[Write]]:
    """Return the writes that link a memory to the memories that it contradicts: the writes that add
    ids to these memories, and the writes of the links and conflicts."""
    anchors: list[Write] = []
    links: list[Write] = []
    for other in found.contradicts:
        anchors += anchor(other, by)
        field = Relate(row.path, row.ref, "contradicts", link_to(other, row.path))
        type = found.conflict_types[other.ref]
        links += [Write("link", row.ref, field), conflict_record(row, other, type)]
    return anchors, links


def conflict_record(row: Row, other: Row, type: str) -> Write:
    """Return the record of a conflict of this type; if `type` is '', the record that ends it."""
    data = {"other": other.ref, "agent": row.agent}
    if not type:
        return Write("resolve", row.ref, None, data)
    return Write("conflict", row.ref, None, data | {"type": type})
