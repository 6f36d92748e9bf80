"""Purge a memory: remove it from its note, and remove every other copy of its text."""

from __future__ import annotations

from contextlib import suppress

from brain import access, events
from brain.errors import BrainError, Busy, Denied, NotFound
from brain.index import read, records
from brain.model import Remove, Write
from brain.operations import apply, history, lookup, search, usage
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
    the usage. In the result, `left` lists the places where copies of its text may remain. Other
    devices remove their records of the memory when they read the record of this purge.

    If the process is killed, purge the memory again by its full id. This works even if the memory
    is no longer in its note.
    """
    with vault.writing():
        vault.store.refuse_if_off()
        row = None
        with suppress(NotFound):
            row = lookup.memory(vault, id, by, agent)
        refs = read.all_ids(vault.index, row.ref) if row else history.refs(vault, id, by, agent)
        # this raises an error if a journal cannot be read, before anything is removed
        known_records = records.select(vault.index, refs=refs)
        texts = [
            row.text if row else "",
            *(str(record.data.get("before", "")) for record in known_records),
        ]
        linked = apply.linked_from(vault, refs, by)
        memory = _remove(vault, row, by) if row else _already_removed(vault, refs, id, by)
        is_scrubbed = vault.store.scrub(refs, texts)
        usage.forget(vault, refs, texts)
        data = {"refs": sorted(refs), "agent": memory.agent}
        result = apply.apply(vault, [Write("purge", memory.id, None, data)], by)[0]
        with vault.store.locked():
            left = vault.journal.purge(refs)  # other devices' journals that contain the memory
            vault.state.drop_uses(dict.fromkeys(refs, vault.now()))
        left += [] if vault.state.compact() and is_scrubbed else [_STATE]
        left += _purge_index(vault, refs)
        left += ["the git history of the vault"] if vault.store.git else []
        left += ["backups and sync services", "devices that have not synced since"]
        return apply.changed(memory, "purged", result, cls=Forgotten, linked_from=linked, left=left)


def _remove(vault: OpenVault, row: Row, by: Actor) -> Entry:
    """Remove a memory from its note, and return it."""
    remove = Write("forget", row.ref, Remove(row.path, row.ref), {"purge": True})
    result = apply.apply(vault, [remove], by, wait=MAX_HOLD + 2)[0]
    if result.state != "written":
        raise Busy(
            f"{row.path} is being changed; {row.ref} will be removed, but is not purged yet.",
            "Run `brain forget --purge` again with its full id in a moment.",
        )
    return entry(row)


def _already_removed(vault: OpenVault, refs: Collection[str], id: str, by: Actor) -> Entry:
    """Return a memory that is no longer in its note. Another device may have purged it. Raise
    NotFound if the journal has no record of it."""
    found = records.select(vault.index, refs=refs)
    last = max(found, key=lambda r: (bool(r.path), records.key(r)), default=None)
    if last is None:
        raise NotFound(f"There is no memory {id!r}.", "See `brain audit` for what was forgotten.")
    if not access.may(by, "write", owner := history.owner(vault, last)):
        raise Denied(f"{by.name} may not purge {last.ref}.", "Ask the admin agent or a person.")
    return Entry(id=last.ref, path=last.path, agent=owner, tags=[], extra={})


def _purge_index(vault: OpenVault, refs: Collection[str]) -> list[str]:
    """Remove a memory and its vectors from the index. Return the places that still contain text of
    the memory because another process is reading them."""
    path = vault.index.path.removeprefix(f"{vault.paths.root_path}/")
    try:
        vault.sync()
        vault.write_events(wait=30.0)
        events.forget(vault.index, refs)
        is_compacted = vault.index.compact()
        has_no_vectors = search.purge_vectors(vault)
    except BrainError:
        is_compacted = has_no_vectors = False
    left = [] if is_compacted else [f"{path}, which another process is reading"]
    return [*left, *([] if has_no_vectors else [_STATE])]
