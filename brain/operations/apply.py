"""Apply changes through the store, and return the entry as it is afterwards."""

from __future__ import annotations

from brain import access
from brain.events import write_payload
from brain.index import read
from brain.journal.codec import event_id
from brain.model import Anchor, Write
from brain.operations.lookup import is_anchored
from brain.operations.results import Changed, Entry
from brain.operations.results import entry as of_row
from brain.redact import redact
from brain.store import file_types
from brain.sync import Delta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from brain.access import Actor
    from brain.index.read import Row
    from brain.open_vault import OpenVault
    from brain.store import Outcome

    C = TypeVar("C", bound=Changed)

_REPORTED = ("reinforce", "demote", "update", "undo")  # written events, also without a file
_GIVEN = (
    "why",
    "snippet",
    "section",
    "links",
    "tags",
    "add",
    "value",
)  # besides the text of an entry


def apply(
    vault: OpenVault,
    writes: Sequence[Write],
    by: Actor,
    main: int = 0,
    wait: float = 1.0,
    exact: Mapping[str, bytes] | None = None,
) -> list[Outcome]:
    """Apply changes, update the index and return the results, that of the main one first. The
    others are its parts and are undone with it. A person who is typing is waited for, a little."""
    writes = _parted(writes, main)
    results = _apply(vault, writes, by, wait, exact)
    return sorted(results, key=lambda result: "part_of" in result.write.data)


def apply_each(vault: OpenVault, changes: Sequence[Sequence[Write]], by: Actor) -> list[Outcome]:
    """Apply groups of writes at once, and return the result of the first write of each group. Each
    group can be undone separately."""
    writes = [write for change in changes for write in _parted(change, 0)]
    results = {result.write.id: result for result in _apply(vault, writes, by)}
    return [results[write.id] for write in writes if "part_of" not in write.data]


def _parted(writes: Sequence[Write], main: int) -> list[Write]:
    """Return the writes, with all others marked as parts of the main one."""
    whole = writes[main]._replace(id=event_id())
    parts = [write._replace(data=write.data | {"part_of": whole.id}) for write in writes]
    return [*parts[:main], whole, *parts[main + 1 :]]


def _apply(
    vault: OpenVault,
    writes: Sequence[Write],
    by: Actor,
    wait: float = 1.0,
    exact: Mapping[str, bytes] | None = None,
) -> list[Outcome]:
    if not writes:
        return []
    with vault.writing():
        paths = dict.fromkeys(write.change.path for write in writes if write.change)
        before = {path: file_types.encode(vault.store.note(path).text) for path in paths}
        vault.writes += 1
        results = vault.store.apply(writes, by, exact)
        if any(result.state == "pending" for result in results):
            results = vault.store.wait(results, wait)
        # the result is what is written, even if a person has saved something else since
        heads = {path: file_types.encode(vault.store.note(path).text) for path in paths}
        vault.sync(paths, known_texts=before, heads=heads)
        _publish(vault, results)
    return results


def _publish(vault: OpenVault, results: Sequence[Outcome]) -> None:
    """Emit `memory:write` for the memories of which only the journal changed; a sync finds no
    change in them."""
    writes = [result.write for result in results if result.write.change is None]
    for ref in dict.fromkeys(write.ref for write in writes if write.op in _REPORTED):
        for row in [row for row in read.by_ref(vault.index, ref) if row.ref == ref][:1]:
            delta = Delta(row.path, row.scope, changed=((row.ref, row.text),))
            vault.events.publish(vault.now(), "memory:write", write_payload(delta))


def changed(
    entry: Entry,
    outcome: str,
    result: Outcome | None = None,
    rules: Iterable[str] = (),
    cls: type[C] = Changed,  # type: ignore[assignment]
    **more: Any,
) -> C:
    """Return an entry with its outcome. Without a result nothing was done."""
    if result and result.state == "unchanged":
        result, outcome = None, "unchanged"
    if result:
        rules = [*rules, *(_redacted_rules(result.write) - {*rules})]
    fields = {name: getattr(entry, name) for name in Entry._fields}
    given = {
        "outcome": outcome,
        "state": result.state if result else "unchanged",
        "event": result.write.id if result else None,
        "redacted": sorted(rules),
    }
    return cls(**{**fields, **given, **more})


def _redacted_rules(write: Write) -> set[str]:
    """Return the rules that found a secret in the arguments other than the text of an entry."""
    if write.op == "undo":
        return set()
    given = {**write.change._asdict(), **write.data} if write.change else write.data
    text = str([given[name] for name in _GIVEN if name in given])
    return {part.partition("]")[0] for part in text.split("[redacted:")[1:]}


def redacted(vault: OpenVault, text: str) -> tuple[str, list[str]]:
    """Return a text without its secrets, and the rules that found them."""
    clean, found = redact(text, emails=vault.config.redactEmails)
    return clean, [hit.rule for hit in found]


def current(vault: OpenVault, row: Row) -> Entry:
    """Return an entry as it is in the index now; as it was if it is gone."""
    return of_row(find(vault, row.path, row.ref) or row)


def find(vault: OpenVault, path: str, ref: str) -> Row | None:
    """Return the row of an entry of this file."""
    rows = read.by_ref(vault.index, ref)
    return next((row for row in rows if row.path == path and row.ref == ref), None)


def linked_from(vault: OpenVault, ids: Iterable[str], by: Actor) -> list[str]:
    """Return the places of entries that link to one of these ids and that the actor may read."""
    owners = access.readable(by)
    rows = [row for id in ids for row in read.linking(vault.index, id)]
    return [f"{row.path}:{row.line}" for row in rows if owners is None or row.agent in owners]


def anchor(other: Row, by: Actor) -> list[Write]:
    """Return the write that writes the id of a link's target to its file, if needed and allowed."""
    if is_anchored(other) or not access.may(by, "write", other.agent):
        return []
    return [Write("anchor", other.ref, Anchor(other.path, other.ref))]
