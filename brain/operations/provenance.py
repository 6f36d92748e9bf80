"""Compute the current values of a memory from its journal records, and return its origin."""

from __future__ import annotations

from brain import importance
from brain.access import PERSON
from brain.context.scoring import current_confidence, source_of
from brain.errors import BrainError
from brain.index import journal_facts, records
from brain.index.journal_facts import Facts
from brain.operations import lookup
from brain.operations.results import Entry, Memory, Provenance, entry, entry_fields
from brain.search.factors import days_between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from brain.importance import Importance
    from brain.index.read import Row
    from brain.model import Record
    from brain.open_vault import OpenVault

QUARANTINE = 1.0  # days in which a candidate should be used


def entries(vault: OpenVault, rows: Sequence[Row]) -> list[Entry]:
    """Return the entries of these rows. Memories have their current values."""
    known = journal_facts.load(vault.index, [row.ref for row in rows if lookup.is_memory(row)])
    now = vault.clock()
    return [
        Memory(**entry_fields(row), **values(row, known.get(row.ref), now))
        if lookup.is_memory(row)
        else entry(row)
        for row in rows
    ]


def values(row: Row, known: Facts | None, now: datetime) -> dict[str, Any]:
    """Return the current values of a memory, by field of `results.Memory`."""
    found = known or Facts(row.ref)
    return {
        "score": found.score,
        "hits": found.hits,
        "last_hit": found.last_hit or None,
        "updated": max(found.touched, row.created),
        "importance": _importance(row, found, now).value,
        "confidence": current_confidence(row, found, now).value,
        "source": source_of(found),
        "by": found.by or PERSON.name,
        "session": found.session or None,
    }


def _importance(row: Row, found: Facts, now: datetime) -> Importance:
    quarantined = row.status == "candidate" and not found.hits
    unvisited = quarantined and days_between(found.created or row.created, now) > QUARANTINE
    return importance.importance(
        row.kind, found.importance, found.merges, row.status, found.hits, _idle(row, found, now),
        unvisited,
    )  # fmt: skip


def _idle(row: Row, found: Facts, now: datetime) -> float:
    """Return the days since a memory was last used, changed or created."""
    return days_between(max(row.created, found.touched, found.last_hit), now)


def details(vault: OpenVault, row: Row) -> dict[str, Any]:
    """Return the origin of a memory, and the factors of its confidence and importance."""
    memory_facts = journal_facts.load(vault.index, [row.ref]).get(row.ref) or Facts(row.ref)
    ids = journal_facts.all_ids(vault.index, row.ref)
    try:
        history = list(records.select(vault.index, refs=ids))
    except BrainError:  # `brain doctor` reports a journal that cannot be read
        history = []
    creation = next((record for record in history if record.op in ("remember", "promote")), None)
    creation_data = creation.data if creation else {}
    now = vault.clock()
    return {
        "provenance": Provenance(
            by=creation.by if creation else memory_facts.by or PERSON.name,
            at=creation.at if creation else row.created,
            session=creation_data.get("session", memory_facts.session or None),
            messages=creation_data.get("messages"),
            snippet=creation_data.get("snippet"),
            source=source_of(memory_facts),
            why=creation_data.get("why"),
            event=creation.id if creation else None,
            since=[_step(record) for record in history if record is not creation],
        ),
        "confidence_factors": current_confidence(row, memory_facts, now)._asdict()
        | {
            "age_days": days_between(row.created, now),
            "half_life": importance.half_life(row.kind, source_of(memory_facts)),
        },
        "importance_factors": _importance(row, memory_facts, now)._asdict()
        | {
            "hits": memory_facts.hits,
            "idle_days": _idle(row, memory_facts, now),
            "status": row.status,
        },
    }


def _step(record: Record) -> dict[str, Any]:
    """Return a summary of a later change of a memory."""
    data = {key: record.data.get(key) for key in ("session", "why", "delta")}
    step = {"op": record.op, "at": record.at, "by": record.by, **data, "event": record.id}
    return {key: value for key, value in step.items() if value is not None}
