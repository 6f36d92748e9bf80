"""Apply changes through the store, and return the entry as it is afterwards."""

from __future__ import annotations

import time

from brain import access
from brain.changes import Add, Done, Move
from brain.errors import BrainError
from brain.formats import links
from brain.index import read
from brain.journal.codec import event_id
from brain.kinds import status_of
from brain.operations import lookup, memory_notes
from brain.operations.results import Changed, Entry
from brain.operations.results import entry as of_row
from brain.redact import redact, redact_value
from brain.store import Outcome, place
from brain.sync import Delta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from brain.access import Actor
    from brain.changes import Deed
    from brain.index.read import Row
    from brain.model import Chunk
    from brain.open_vault import OpenVault

    C = TypeVar("C", bound=Changed)

_BESIDE = ("why", "section", "links", "tags", "add", "value")


def entry(vault: OpenVault, path: str, done: Done) -> Entry:
    """Return the entry as a change left it."""
    from brain.formats import memory_md

    heading = done.section
    if isinstance(done.change, Move):  # its section is the one it came from
        heading = " > ".join(memory_notes.known(vault, path).path(done.change.section))
    above = [f"{'#' * min(n, 6)} {words}" for n, words in enumerate(heading.split(" > "), 1)]
    text = "\n".join([*(above if heading else ()), "", done.after])
    chunk = memory_md.parse(text.encode(), vault.owner(path)).chunks[-1]
    last = done.line + done.after.count("\n")
    return _entry(vault, path, chunk).replace(line=done.line, end_line=last, heading=heading)


def _entry(vault: OpenVault, path: str, chunk: Chunk) -> Entry:
    role = vault.paths.role(path)
    return Entry(
        id=chunk.ref,
        scope=role.scope if role else "",
        kind=chunk.kind,
        status=chunk.status,
        agent=role.agent if role else "",
        project=role.project if role else "",
        path=path,
        line=chunk.line,
        end_line=chunk.end_line,
        heading=chunk.heading,
        text=chunk.text,
        tags=list(chunk.tags),
        created=chunk.created or vault.now(),
        extra=chunk.extra or {},
    )


def added(vault: OpenVault, change: Add, kind: str, done: Done | None) -> Entry:
    """Return a new entry, without a parse if it is one plain line. `done` is None while the write
    is pending."""
    from brain.formats.memory_md import _created
    from brain.model import Chunk

    plain = done and "\n" not in done.after and not any(m in done.after for m in ("`", "%%", "$$"))
    if done and not plain:
        return entry(vault, change.path, done)
    if done:
        text = done.after.partition(" ")[2].strip().removesuffix(f"^{change.ref}").rstrip()
        tags = list(dict.fromkeys(links.tags(text)))
    else:
        given = {"section": change.section, "links": change.links, "tags": change.tags}
        change = change._replace(**redact_value(given, emails=vault.config.redactEmails))
        marks = [f"#{tag.lstrip('#')}" for tag in change.tags]
        text, tags = " ".join([change.text, *change.links, *marks]), list(change.tags)
    chunk = Chunk(
        change.ref, kind, status_of(tags), done.section if done else change.section, text,
        tuple(tags), done.line if done else 0, done.line if done else 0, _created(text, ()), (),
        0, 0, {"anchored": True} if done else None,
    )  # fmt: skip
    return _entry(vault, change.path, chunk)


def changed(
    entry: Entry,
    outcome: str,
    result: Outcome | None = None,
    rules: Iterable[str] = (),
    cls: type[C] = Changed,  # type: ignore[assignment]
    **more: Any,
) -> C:
    """Return an entry with what happened to it. Without a result nothing was done."""
    if result:
        rules = [*rules, *(_left_out(result.deed) - {*rules})]
    fields = {name: getattr(entry, name) for name in Entry._fields}
    given = {
        "outcome": outcome,
        "state": result.state if result else "unchanged",
        "event": result.deed.id if result else None,
        "redacted": sorted(rules),
    }
    return cls(**{**fields, **given, **more})


def _left_out(deed: Deed) -> set[str]:
    """Return the rules that found a secret in what was given besides the text of an entry."""
    if deed.op == "undo":
        return set()
    given = {**deed.change._asdict(), **deed.data} if deed.change else deed.data
    text = str([given[name] for name in _BESIDE if name in given])
    return {part.partition("]")[0] for part in text.split("[redacted:")[1:]}


def redacted(vault: OpenVault, text: str) -> tuple[str, list[str]]:
    """Return a text without its secrets, and the rules that found them."""
    clean, found = redact(text, emails=vault.config.redactEmails)
    return clean, [hit.rule for hit in found]


def apply(
    vault: OpenVault,
    deeds: Sequence[Deed],
    by: Actor,
    main: int = 0,
    wait: float = 1.0,
    unless: Callable[[str, bytes], bool] | None = None,
) -> list[Outcome]:
    """Apply changes and return their results, that of the main one first. The others are its parts
    and are undone with it. Now and then, pending writes get time to settle."""
    if len(deeds) > 1:
        whole = deeds[main]._replace(id=event_id())
        parts = [deed._replace(data=deed.data | {"part_of": whole.id}) for deed in deeds]
        deeds = [*parts[:main], whole, *parts[main + 1 :]]
    vault.refuse_loss([deed.change.path for deed in deeds if deed.change])
    vault.writes += 1
    results = vault.store.apply(deeds, by, wait, unless)
    now = time.monotonic()
    vault.settled = vault.settled or now
    if now > vault.settled + vault.store.settle_after:
        vault.settled = now
        vault.drain()
    return sorted(results, key=lambda result: "part_of" in result.deed.data)


def report(vault: OpenVault, outcome: str, entry: Entry) -> None:
    """Report to listeners that an entry was `added`, `changed` or `removed`."""
    vault.wrote(Delta(entry.path, entry.scope, **{outcome: ((entry.id, entry.text),)}))


def nothing_to_do(vault: OpenVault, deeds: Sequence[Deed]) -> Done | None:
    """Return what the last change would find, if none of them would change or record anything."""
    promised = vault.store.promised()
    done = None
    for deed in deeds:
        if not deed.change or deed.data:
            return None
        path = deed.change.path
        data = place.read(vault.paths, path, vault.config.maxFileSize).data
        data = promised[path](data) if path in promised else data
        (done,) = place.edited(vault.paths, path, data, [deed.change]).done
        if done.outcome != "already":
            return None
    return done


def pending_entry(vault: OpenVault, row: Row) -> Entry:
    """Return an entry as it will be once its pending writes are written."""
    vault.refresh()
    try:
        return of_row(lookup.find(vault, row.ref))
    except BrainError:
        return of_row(row)


def linked_from(vault: OpenVault, ids: Iterable[str], by: Actor) -> list[str]:
    """Return the places of entries that link to one of these ids and that the actor may read."""
    owners = access.readable(by)
    rows = [row for id in ids for row in read.linking(vault.index, id)]
    return [f"{row.path}:{row.line}" for row in rows if owners is None or row.agent in owners]
