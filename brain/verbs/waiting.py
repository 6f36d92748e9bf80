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
    from brain.journal import Spool
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
    from brain.journal import Spool

    if vault.paused:
        raise Denied("Writing is off.", "See `brain resume`, and `brain config`.")
    vault.refuse_loss()
    spool = Spool(vault.paths.state_path)
    if gone := _purged(vault, spool):
        spool.drop(gone)
    with vault.store.locked():
        return spool.flush(vault.journal)


def _purged(vault: OpenVault, spool: Spool) -> dict[str, str]:
    """Which of the entries that something waits for were purged since, here or on another device,
    and when."""
    from brain.index import facts
    from brain.journal import refresh

    refs = {ref for waits in spool.waiting(vault.journal) for ref in (waits.ref, waits.other)}
    if refs:
        refresh(vault.journal, vault.index)
    return {
        ref: known.purged for ref, known in facts.load(vault.index, refs).items() if known.purged
    }


def flush_if_due(vault: OpenVault) -> list[str]:
    """Flush what waits since yesterday; says what went wrong."""
    from brain.journal import Spool

    try:
        if not vault.paused and Spool(vault.paths.state_path).due(vault.now()):
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
