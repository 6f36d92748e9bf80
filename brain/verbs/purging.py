"""Forgetting for good: not only the line, but also whatever else has kept its words."""

from __future__ import annotations

import time

from brain import access, events
from brain.changes import Deed, Remove
from brain.errors import BrainError, Busy, Denied, NotFound
from brain.index import records
from brain.operations import apply, lookup
from brain.operations.results import Entry, Forgotten, entry
from brain.verbs import afterwards, history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brain.access import Actor
    from brain.index.read import Row
    from brain.open_vault import OpenVault

_STATE = "this machine's state folder, until what is being written is settled"


def purge(vault: OpenVault, id: str, by: Actor, agent: str = "") -> Forgotten:
    """A memory goes, with all that this machine says of it: in the note, the journal of this
    device, the index, what was promised and what waits to be counted. `left` tells where its words
    may still be. Other devices leave out what they have on record of it once they read of this.

    Killed in between, or for one that is gone from its note already, it is done again with the
    whole id.
    """
    row = _there(vault, id, by, agent)
    refs = lookup.same_ids(vault, row.ref) if row else history.refs(vault, id, by, agent)
    texts = [*_texts(vault, refs), row.text if row else ""]  # before anything is done: it may fail
    linked = apply.linked_from(vault, refs, by)
    gone = _removed(vault, row, by) if row else _gone(vault, refs, id, by)
    settled = _settled(vault, refs)
    afterwards.unlearn(vault, refs, texts)
    data = {"refs": sorted(refs), "agent": gone.agent}
    result = apply.apply(vault, [Deed("purge", gone.id, None, data)], by)[0]
    others = _unsaid(vault, refs)
    left = [*others, *([] if settled else [_STATE]), *_index(vault, refs), *_out_of_reach(vault)]
    return apply.changed(gone, "purged", result, cls=Forgotten, linked_from=linked, left=left)


def _there(vault: OpenVault, id: str, by: Actor, agent: str) -> Row | None:
    try:
        return lookup.memory(vault, id, by, agent)
    except NotFound:
        return None


def _removed(vault: OpenVault, row: Row, by: Actor) -> Entry:
    """The memory, out of its note."""
    remove = Deed("remove", row.ref, Remove(row.path, row.ref), {"purge": True})
    result = apply.apply(vault, [remove], by, wait=vault.store.max_hold + 2)[0]
    if result.state != "written":
        raise Busy(
            f"{row.path} is being changed; {row.ref} will be removed, but is not purged yet.",
            "Run `brain forget --purge` again with its whole id in a moment.",
        )
    gone = entry(row)
    apply.report_removed(vault, gone)
    return gone


def _gone(vault: OpenVault, refs: Collection[str], id: str, by: Actor) -> Entry:
    """One that is out of its note already, perhaps purged by another device. Raises NotFound if
    nothing is on record of it."""
    found = records.select(vault.index, refs=refs)
    last = max(found, key=lambda r: (bool(r.path), r.key), default=None)
    if last is None:
        raise NotFound(f"There is no memory {id!r}.", "See `brain audit` for what was forgotten.")
    if not access.may(by, "write", owner := history.owner(vault, last)):
        raise Denied(f"{by.name} may not purge {last.ref}.", "Ask the admin agent or a person.")
    return Entry(id=last.ref, path=last.path, agent=owner, tags=[], extra={})


def _settled(vault: OpenVault, refs: Collection[str]) -> bool:
    """End what was promised of it. A change of another entry that was promised along with it is
    given its time."""
    deadline = time.monotonic() + vault.store.settle_after + 1
    while not vault.store.expunge(refs):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _texts(vault: OpenVault, refs: Collection[str]) -> list[str]:
    """What it has said, as long as that is on record."""
    return [str(r.data.get("before", "")) for r in records.select(vault.index, refs=refs)]


def _unsaid(vault: OpenVault, refs: Collection[str]) -> list[str]:
    """Take out what is on record and what waits to be; the journals of others that speak of it."""
    with vault.store.locked():
        others = vault.journal.purge(refs)
        vault.state.drop_uses(dict.fromkeys(refs, vault.now()))
    return others


def _index(vault: OpenVault, refs: Collection[str]) -> list[str]:
    """Clean the index. That it could not be done is told, not raised: all else is done."""
    path = vault.index.path.removeprefix(f"{vault.paths.root_path}/")
    try:
        vault.sync()
        vault.write_events(wait=30.0)
        events.forget(vault.index, refs)
        clean = vault.index.compact()
    except BrainError:
        clean = False
    return [] if clean else [f"{path}, which another process is reading"]


def _out_of_reach(vault: OpenVault) -> list[str]:
    """Where no program that runs here can take words out of."""
    out = ["the history of its git repository"] if vault.store.git else []
    return [*out, "backups and sync services", "devices that have not synced since"]
