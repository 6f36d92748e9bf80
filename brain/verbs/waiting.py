"""What is promised and not written yet, and whether anything is written at all."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime

from brain.errors import BrainError, Denied
from brain.index.moment import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.intents import Open
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape


def pending(vault: OpenVault) -> list[Shape]:
    """What waits: `state` is `waiting` (for a person to pause, or for git), `blocked`, or `written`
    for what is in its note and cannot be settled."""
    vault.drain()
    return [_shape(entry) for entry in vault.store.pending()]


def _shape(entry: Open) -> Shape:
    intent = entry.intent
    deeds = [
        {"op": deed.op, "id": deed.ref, "event": deed.id, "text": getattr(deed.change, "text", "")}
        for deed in intent.deeds
    ]
    return {
        "id": intent.id,
        "at": moment(intent.at),
        "by": intent.by,
        "path": intent.path,
        "state": entry.state or "waiting",
        "why": entry.why,
        "deeds": deeds,
    }


def moment(at: float) -> str:
    """The time of an intent, as records tell it."""
    return told(datetime.fromtimestamp(at, UTC))


def flush(vault: OpenVault) -> int:
    """Put hits and learned links on record that wait on this machine; how many records that are."""
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


def flush_if_due(vault: OpenVault) -> list[str]:
    """Flush what waits since yesterday; says what went wrong."""
    try:
        first = vault.state.first_use()
        if first and not vault.paused and (first[:10] < vault.now()[:10] or vault.state.batches()):
            flush(vault)
    except (BrainError, OSError) as error:
        return [str(error)]
    return []


def pause(vault: OpenVault, paused: bool) -> None:
    """Leave, or take away, the mark that every writer on this machine looks for."""
    path = f"{vault.paths.state_path}/paused"
    if paused:
        os.makedirs(vault.paths.state_path, 0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8"):
            pass
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
        vault.drain()
