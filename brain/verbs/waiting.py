"""What is promised and not written yet, and whether anything is written at all."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime

from brain.errors import BrainError, Denied
from brain.index.moment import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.api import Brain
    from brain.intents import Open
    from brain.journal import Spool
    from brain.verbs.answer import Shape


def pending(brain: Brain) -> list[Shape]:
    """What waits: `state` is `waiting` (for a person to pause, or for git), `blocked`, or `written`
    for what is in its note and cannot be settled."""
    brain.drain()
    return [_shape(entry) for entry in brain.store.pending()]


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


def flush(brain: Brain) -> int:
    """Put hits and learned links on record that wait on this machine; how many records that are."""
    from brain.journal import Spool

    if brain.paused:
        raise Denied("Writing is off.", "See `brain resume`, and `brain config`.")
    brain.refuse_loss()
    spool = Spool(brain.vault.state_path)
    if gone := _purged(brain, spool):
        spool.drop(gone)
    with brain.store.locked():
        return spool.flush(brain.journal)


def _purged(brain: Brain, spool: Spool) -> dict[str, str]:
    """Which of the entries that something waits for were purged since, here or on another device,
    and when."""
    from brain.index import facts
    from brain.journal import refresh

    refs = {ref for waits in spool.waiting(brain.journal) for ref in (waits.ref, waits.other)}
    if refs:
        refresh(brain.journal, brain.index)
    return {
        ref: known.purged for ref, known in facts.load(brain.index, refs).items() if known.purged
    }


def flush_if_due(brain: Brain) -> list[str]:
    """Flush what waits since yesterday; says what went wrong."""
    from brain.journal import Spool

    try:
        if not brain.paused and Spool(brain.vault.state_path).due(brain.now()):
            flush(brain)
    except (BrainError, OSError) as error:
        return [str(error)]
    return []


def pause(brain: Brain, paused: bool) -> None:
    """Leave, or take away, the mark that every writer on this machine looks for."""
    path = f"{brain.vault.state_path}/paused"
    if paused:
        os.makedirs(brain.vault.state_path, 0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8"):
            pass
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
        brain.drain()
