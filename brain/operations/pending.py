"""List pending writes, pause and resume writing, and write usage to the journal."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from brain import access, actors
from brain.errors import BrainError
from brain.index import read, records
from brain.operations import lookup
from brain.operations.results import PendingWrite
from brain.timestamps import to_utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.store.store import Pending


def pending(
    vault: OpenVault, *, drop: str = "", agent: str = "", by: Actor | str = ""
) -> list[PendingWrite]:
    """Return the writes that are not in their note yet, and the entries of agents that a person
    removed in the last day. `undo` restores a removed entry. If `drop` is given, the pending
    write with this event is cancelled first."""
    visible = lookup.visible(vault, by, agent)
    dropped: list[PendingWrite] = []
    if drop:
        access.require_admin(actors.resolve(vault, by), "drop pending writes")
        vault.store.refuse_if_off()
        dropped = [_value(vault.store.drop(drop), state="dropped")]
    vault.refresh()
    found = [_value(each) for each in vault.store.pending()]
    found = [*dropped, *found, *removed(vault)]
    return [each for each in found if visible is None or vault.owner(each.path) in visible]


def _value(write: Pending, state: str = "pending") -> PendingWrite:
    return PendingWrite(
        event=write.write.id,
        at=time_of(write),
        by=write.by,
        op=write.write.op,
        id=write.write.ref,
        path=write.path,
        text=text_of(write),
        state=state,
        why=write.why,
    )


def removed(vault: OpenVault) -> list[PendingWrite]:
    """Return the entries that a person removed in the last day, and that were not restored. Entries
    that another device forgot are left out: git or a sync service removed their lines."""
    since = (vault.clock().astimezone(UTC) - timedelta(days=1)).isoformat(timespec="seconds")[:19]
    found = records.select(vault.index, ops=("removed",), since=since, newest_first=True)
    return [
        PendingWrite(
            event=record.id,
            at=record.at,
            by=record.by,
            op=record.op,
            id=record.ref,
            path=record.path,
            text=str(record.data.get("before", "")),
            state="removed",
            why=f"`brain undo {record.id}` restores it",
        )
        for record in found
        if not read.by_ref(vault.index, record.ref)
        and lookup.last_forget(vault, record.ref) is None
    ]


def text_of(write: Pending) -> str:
    """Return the new text of the entry of a pending write; '' if the write has no text."""
    change = write.write.change
    return str(getattr(change, "text", "") or getattr(change, "raw", ""))


def time_of(write: Pending) -> str:
    """Return the time of a pending write, in the format of records."""
    return to_utc(datetime.fromtimestamp(write.at, UTC))


def journal_write(vault: OpenVault, *, by: Actor | str = "") -> int:
    """Write the usage that was counted on this machine to the journal. Return the number of
    records. Brain also does this once a day."""
    access.require_admin(actors.resolve(vault, by), "write the journal")
    vault.store.refuse_if_off()
    vault.refuse_loss()
    if purged := _purged(vault):
        vault.state.drop_uses(purged)
    with vault.store.locked():
        count = vault.journal.write_uses()
    vault.sync(())
    return count


def _purged(vault: OpenVault) -> dict[str, str]:
    """Return the entries with pending uses that were purged on any device, with the time."""
    from brain.index import read
    from brain.journal.reader import update_index

    refs = {ref for use in vault.journal.pending_uses() for ref in (use.ref, use.other)}
    if refs:
        update_index(vault.journal, vault.index)
    found = read.facts(vault.index, refs)
    return {ref: known.purged for ref, known in found.items() if known.purged}


def write_usage_if_due(vault: OpenVault) -> list[str]:
    """Write usage to the journal if some of it is from an earlier day, or if an earlier attempt was
    interrupted. Return the errors."""
    try:
        first = vault.state.first_use()
        if first and not vault.paused and (first[:10] < vault.now()[:10] or vault.state.batches()):
            journal_write(vault)
    except (BrainError, OSError) as error:
        return [str(error)]
    return []


def pause(vault: OpenVault, *, by: Actor | str = "") -> bool:
    """Stop all writing on this machine until `resume`. Return True, because writing is paused."""
    access.require_admin(actors.resolve(vault, by), "pause writing")
    vault.store.refuse_read_only()
    with vault.store.locked():
        vault.claim()
    os.makedirs(vault.paths.state_path, 0o700, exist_ok=True)  # a read-only vault has none yet
    with open(_pause_file(vault), "w", encoding="utf-8"):
        pass
    return True


def resume(vault: OpenVault, *, by: Actor | str = "") -> bool:
    """Allow writing again, and apply pending writes. Return False, because writing is not
    paused. Raise Denied if a setting still stops writing."""
    access.require_admin(actors.resolve(vault, by), "resume writing")
    vault.store.refuse_read_only()
    with suppress(FileNotFoundError):
        os.unlink(_pause_file(vault))
    vault.absorb()
    vault.store.refuse_if_off()
    return False


def _pause_file(vault: OpenVault) -> str:
    """Return the path of the file that pauses all writing on this machine."""
    return f"{vault.paths.state_path}/paused"
