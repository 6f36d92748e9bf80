"""Purge a memory: remove its line and every other copy of its text on this machine."""

from __future__ import annotations

from contextlib import suppress

from brain import access, events
from brain.errors import BrainError, Busy, Denied, NotFound
from brain.index import journal_facts, records
from brain.model import Remove, Write
from brain.operations import apply, history, lookup, semantic, usage
from brain.operations.results import Entry, Forgotten, entry
from brain.store.hold import MAX_HOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brain.access import Actor
    from brain.index.read import Row
    from brain.open_vault import OpenVault

_STATE = "this machine's state folder, until other processes have finished with it"


def purge(vault: OpenVault, id: str, by: Actor, agent: str = "") -> Forgotten:
    """Remove a memory from its note, the journal of this device, the index, the pending writes and
    the usage. `left` lists where its words may still be. Other devices drop their records of it
    once they read this purge.

    If the process is killed in between, call it again with the whole id. That also works for a
    memory that is no longer in its note.
    """
    with vault.writing():
        vault.store.refuse_off()
        row = None
        with suppress(NotFound):
            row = lookup.memory(vault, id, by, agent)
        refs = (
            journal_facts.same(vault.index, row.ref) if row else history.refs(vault, id, by, agent)
        )
        known = records.select(vault.index, refs=refs)  # this may fail, so it comes first
        texts = [row.text if row else "", *(str(record.data.get("before", "")) for record in known)]
        linked = apply.linked_from(vault, refs, by)
        gone = _remove(vault, row, by) if row else _removed(vault, refs, id, by)
        settled = vault.store.scrub(refs, texts)
        usage.forget(vault, refs, texts)
        data = {"refs": sorted(refs), "agent": gone.agent}
        result = apply.apply(vault, [Write("purge", gone.id, None, data)], by)[0]
        with vault.store.locked():
            left = vault.journal.purge(refs)  # the journals of other devices that mention it
            vault.state.drop_uses(dict.fromkeys(refs, vault.now()))
        left += [] if vault.state.compact() and settled else [_STATE]
        left += _purge_index(vault, refs)
        left += ["the history of its git repository"] if vault.store.git else []
        left += ["backups and sync services", "devices that have not synced since"]
        return apply.changed(gone, "purged", result, cls=Forgotten, linked_from=linked, left=left)


def _remove(vault: OpenVault, row: Row, by: Actor) -> Entry:
    """Remove a memory from its note, and return it."""
    remove = Write("forget", row.ref, Remove(row.path, row.ref), {"purge": True})
    result = apply.apply(vault, [remove], by, wait=MAX_HOLD + 2)[0]
    if result.state != "written":
        raise Busy(
            f"{row.path} is being changed; {row.ref} will be removed, but is not purged yet.",
            "Run `brain forget --purge` again with its whole id in a moment.",
        )
    return entry(row)


def _removed(vault: OpenVault, refs: Collection[str], id: str, by: Actor) -> Entry:
    """Return a memory that is no longer in its note, perhaps purged by another device. Raise
    NotFound if the journal does not know it."""
    found = records.select(vault.index, refs=refs)
    last = max(found, key=lambda r: (bool(r.path), r.key), default=None)
    if last is None:
        raise NotFound(f"There is no memory {id!r}.", "See `brain audit` for what was forgotten.")
    if not access.may(by, "write", owner := history.owner(vault, last)):
        raise Denied(f"{by.name} may not purge {last.ref}.", "Ask the admin agent or a person.")
    return Entry(id=last.ref, path=last.path, agent=owner, tags=[], extra={})


def _purge_index(vault: OpenVault, refs: Collection[str]) -> list[str]:
    """Remove a memory from the index, and its vectors. Return the files that another process is
    reading."""
    path = vault.index.path.removeprefix(f"{vault.paths.root_path}/")
    try:
        vault.sync()
        vault.write_events(wait=30.0)
        events.forget(vault.index, refs)
        clean = vault.index.compact()
        vectors = semantic.purge(vault)
    except BrainError:
        clean = vectors = False
    left = [] if clean else [f"{path}, which another process is reading"]
    return [*left, *([] if vectors else [_STATE])]
