"""The current values of a memory, computed from its journal records, and its origin."""

from __future__ import annotations

from brain import wire, worth
from brain.access import PERSON
from brain.errors import BrainError
from brain.index import facts, records
from brain.index.facts import Facts
from brain.operations import lookup
from brain.recall.rank import days_between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from brain.index.query import Row
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape
    from brain.worth import Confidence, Importance

QUARANTINE = 1.0  # days in which somebody should have asked for a candidate
INITIAL = 1.0  # confidence, where none was given


def entries(vault: OpenVault, rows: Sequence[Row]) -> list[Shape]:
    """Entries in their wire shape; memories with what they are worth now."""
    known = facts.load(vault.index, [row.ref for row in rows if lookup.is_memory(row)])
    now = vault.clock()
    return [
        wire.entry(row) | (values(row, known.get(row.ref), now) if lookup.is_memory(row) else {})
        for row in rows
    ]


def values(row: Row, known: Facts | None, now: datetime) -> Shape:
    """What a memory is worth now, and what that is computed from."""
    found = known or Facts(row.ref)
    return {
        "score": found.score,
        "hits": found.hits,
        "last_hit": found.last_hit or None,
        "updated": max(found.touched, row.created),
        "importance": _importance(row, found, now).value,
        "confidence": _confidence(row, found, now).value,
        "source": _source(found),
        "by": found.by or PERSON.name,
        "session": found.session or None,
    }


def _source(found: Facts) -> str:
    return found.source or "user_stated"


def _importance(row: Row, found: Facts, now: datetime) -> Importance:
    quarantined = row.status == "candidate" and not found.hits
    unvisited = quarantined and days_between(row.created, now) > QUARANTINE
    return worth.importance(
        row.kind, found.importance, found.merges, row.status, found.hits, _idle(row, found, now),
        unvisited,
    )  # fmt: skip


def _idle(row: Row, found: Facts, now: datetime) -> float:
    """Days since a memory was last used, or came to be."""
    return days_between(max(row.created, found.touched, found.last_hit), now)


def _confidence(row: Row, found: Facts, now: datetime) -> Confidence:
    initial = INITIAL if found.confidence is None else found.confidence
    return worth.confidence(
        initial, row.kind, _source(found), days_between(row.created, now), found.hits,
        found.reinforced, found.demoted, found.rejected,
    )  # fmt: skip


def provenance(vault: OpenVault, row: Row) -> Shape:
    """Who said it, when, in which session, why; what happened since; and each factor of its
    confidence and importance."""
    found = facts.load(vault.index, [row.ref]).get(row.ref) or Facts(row.ref)
    refs = lookup.same_ids(vault, row.ref)
    try:
        history = [wire.record(record) for record in records.select(vault.index, refs=refs)]
    except BrainError:  # a journal cannot be read, which `brain doctor` tells
        history = []
    made = next((r for r in history if r["op"] in ("add", "promote")), {})
    now = vault.clock()
    return {
        "provenance": {
            "by": made.get("by", found.by or PERSON.name),
            "at": made.get("at", row.created),
            "session": made.get("session", found.session or None),
            "source": _source(found),
            "why": made.get("why"),
            "event": made.get("event"),
            "since": [_crumb(r) for r in history if r is not made],
        },
        "confidence_factors": _confidence(row, found, now)._asdict()
        | {
            "age_days": days_between(row.created, now),
            "half_life": worth.half_life(row.kind, _source(found)),
        },
        "importance_factors": _importance(row, found, now)._asdict()
        | {"hits": found.hits, "idle_days": _idle(row, found, now), "status": row.status},
    }


def _crumb(record: Shape) -> Shape:
    keys = ("op", "at", "by", "session", "why", "delta", "event")
    return {key: record[key] for key in keys if record.get(key) is not None}
