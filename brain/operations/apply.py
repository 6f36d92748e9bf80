"""Apply changes through the store, and return the entry as it is afterwards."""

from __future__ import annotations

from brain import access
from brain.events import write_payload
from brain.index import read
from brain.journal.codec import event_id
from brain.operations.results import Changed, Entry
from brain.operations.results import entry as of_row
from brain.redact import redact
from brain.store import targets
from brain.sync import Delta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from brain.access import Actor
    from brain.index.read import Row
    from brain.model import Deed
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
    deeds: Sequence[Deed],
    by: Actor,
    main: int = 0,
    wait: float = 1.0,
    exact: Mapping[str, bytes] | None = None,
) -> list[Outcome]:
    """Apply changes, update the index and return the results, that of the main one first. The
    others are its parts and are undone with it. A person who is typing is waited for, a little."""
    deeds = _parted(deeds, main)
    results = _apply(vault, deeds, by, wait, exact)
    return sorted(results, key=lambda result: "part_of" in result.deed.data)


def apply_each(vault: OpenVault, changes: Sequence[Sequence[Deed]], by: Actor) -> list[Outcome]:
    """Apply several changes in one write, and return the result of the main deed of each, the first
    one. Each change can be undone separately."""
    deeds = [deed for change in changes for deed in _parted(change, 0)]
    results = {result.deed.id: result for result in _apply(vault, deeds, by)}
    return [results[deed.id] for deed in deeds if "part_of" not in deed.data]


def _parted(deeds: Sequence[Deed], main: int) -> list[Deed]:
    """Return the deeds, with all others marked as parts of the main one."""
    whole = deeds[main]._replace(id=event_id())
    parts = [deed._replace(data=deed.data | {"part_of": whole.id}) for deed in deeds]
    return [*parts[:main], whole, *parts[main + 1 :]]


def _apply(
    vault: OpenVault,
    deeds: Sequence[Deed],
    by: Actor,
    wait: float = 1.0,
    exact: Mapping[str, bytes] | None = None,
) -> list[Outcome]:
    if not deeds:
        return []
    with vault.writing():
        paths = dict.fromkeys(deed.change.path for deed in deeds if deed.change)
        before = {path: targets.encode(vault.store.note(path).text) for path in paths}
        vault.writes += 1
        results = vault.store.apply(deeds, by, exact)
        if any(result.state == "pending" for result in results):
            results = vault.store.wait(results, wait)
        # the result is what is written, even if a person has saved something else since
        heads = {path: targets.encode(vault.store.note(path).text) for path in paths}
        vault.sync(paths, known_texts=before, heads=heads)
        _publish(vault, results)
    return results


def _publish(vault: OpenVault, results: Sequence[Outcome]) -> None:
    """Emit `memory:write` for the memories of which only the journal changed; a sync finds no
    change in them."""
    deeds = [result.deed for result in results if result.deed.change is None]
    for ref in dict.fromkeys(deed.ref for deed in deeds if deed.op in _REPORTED):
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
        rules = [*rules, *(_redacted_rules(result.deed) - {*rules})]
    fields = {name: getattr(entry, name) for name in Entry._fields}
    given = {
        "outcome": outcome,
        "state": result.state if result else "unchanged",
        "event": result.deed.id if result else None,
        "redacted": sorted(rules),
    }
    return cls(**{**fields, **given, **more})


def _redacted_rules(deed: Deed) -> set[str]:
    """Return the rules that found a secret in the arguments other than the text of an entry."""
    if deed.op == "undo":
        return set()
    given = {**deed.change._asdict(), **deed.data} if deed.change else deed.data
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
