"""Pending writes, pausing, and writing usage to the journal."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime

from brain import access
from brain.errors import BadRequest, BrainError, Denied
from brain.index.moment import told
from brain.operations import lookup
from brain.operations.results import PendingWrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.intents import Intent, Open
    from brain.open_vault import OpenVault


def pending(
    vault: OpenVault, *, apply: str = "", drop: str = "", agent: str = "", by: Actor | str = ""
) -> list[PendingWrite]:
    """Return the writes that are not in their note yet. First apply, or drop, the blocked one with
    this id."""
    seen = lookup.visible(vault, by, agent)
    if apply and drop:
        raise BadRequest("A blocked write is applied or dropped.", "Give one of the two.")
    if apply or drop:
        access.require_admin(access.resolve(vault, by), "release blocked writes")
        vault.store.release(apply or drop, drop=bool(drop))
    vault.drain()
    found = [_value(entry) for entry in vault.store.pending()]
    return [each for each in found if seen is None or vault.owner(each.path) in seen]


def _value(entry: Open) -> PendingWrite:
    intent = entry.intent
    deeds = [
        {"op": deed.op, "id": deed.ref, "event": deed.id, "text": getattr(deed.change, "text", "")}
        for deed in intent.deeds
    ]
    return PendingWrite(
        id=intent.id,
        at=time_of(intent),
        by=intent.by,
        path=intent.path,
        state=entry.state or "waiting",
        why=entry.why,
        deeds=deeds,
    )


def time_of(intent: Intent) -> str:
    """Return the time of a pending write, as records have it."""
    return told(datetime.fromtimestamp(intent.at, UTC))


def journal_write(vault: OpenVault, *, by: Actor | str = "") -> int:
    """Write the usage that was counted on this machine to the journal; return the number of
    records. This happens once a day by itself."""
    access.require_admin(access.resolve(vault, by), "write the journal")
    vault.journal_ahead = True
    if vault.paused:
        raise Denied("Writing is off.", "See `brain resume`, and `brain config`.")
    vault.refuse_loss()
    if purged := _purged(vault):
        vault.state.drop_uses(purged)
    with vault.store.locked():
        return vault.journal.write_uses()


def _purged(vault: OpenVault) -> dict[str, str]:
    """Return the entries with pending uses that were purged since, on any device, and when."""
    from brain.index import facts
    from brain.journal.reader import update_index

    refs = {ref for use in vault.journal.pending_uses() for ref in (use.ref, use.other)}
    if refs:
        update_index(vault.journal, vault.index)
    found = facts.load(vault.index, refs)
    return {ref: known.purged for ref, known in found.items() if known.purged}


def write_usage_if_due(vault: OpenVault) -> list[str]:
    """Write usage to the journal if some of it is from an earlier day, or if writing it was cut
    short. Return what went wrong."""
    try:
        first = vault.state.first_use()
        if first and not vault.paused and (first[:10] < vault.now()[:10] or vault.state.batches()):
            journal_write(vault)
    except (BrainError, OSError) as error:
        return [str(error)]
    return []


def pause(vault: OpenVault, *, by: Actor | str = "") -> bool:
    """Stop all writing on this machine until `resume`. Return True: writing is paused."""
    access.require_admin(access.resolve(vault, by), "pause writing")
    os.makedirs(vault.paths.state_path, 0o700, exist_ok=True)
    with open(_mark(vault), "w", encoding="utf-8"):
        pass
    return True


def resume(vault: OpenVault, *, by: Actor | str = "") -> bool:
    """Allow writing again, and write what is pending. Return False: writing is not paused."""
    access.require_admin(access.resolve(vault, by), "resume writing")
    with suppress(FileNotFoundError):
        os.unlink(_mark(vault))
    vault.drain()
    return False


def _mark(vault: OpenVault) -> str:
    """Return the file that every writer on this machine looks for."""
    return f"{vault.paths.state_path}/paused"
