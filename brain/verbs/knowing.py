"""What is known of a memory beside its line: where it comes from, and what it is worth now."""

from __future__ import annotations

from math import log1p

from brain import wire, worth
from brain.access import PERSON
from brain.errors import BrainError
from brain.index import facts
from brain.index.facts import Facts
from brain.recall.rank import days_between
from brain.verbs import naming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from brain.api.asking import Asking
    from brain.index.query import Row
    from brain.verbs.answer import Shape

QUARANTINE = 1.0  # days in which somebody should have asked for a candidate
INITIAL = 1.0  # confidence, where none was given


def entries(brain: Asking, rows: Sequence[Row]) -> list[Shape]:
    """Entries in their wire shape; memories with what they are worth now."""
    known = facts.of(brain.index, [row.ref for row in rows if is_memory(row)])
    now = brain.clock()
    return [
        wire.entry(row) | (values(row, known.get(row.ref), now) if is_memory(row) else {})
        for row in rows
    ]


def is_memory(row: Row) -> bool:
    """Is this an entry of a memory note or of the archive?"""
    return row.scope in naming.EDITABLE and row.kind != "note"


def values(row: Row, known: Facts | None, now: datetime) -> Shape:
    """What a memory is worth now, and what that is computed from."""
    found = known or Facts(row.ref)
    source = found.source or "user_stated"
    used = max(row.created, found.touched, found.last_hit)
    age, idle = days_between(row.created, now), days_between(used, now)
    return {
        "score": found.score,
        "hits": found.hits,
        "last_hit": found.last_hit or None,
        "updated": max(found.touched, row.created),
        "importance": worth.importance(
            row.kind, found.importance, found.merges, row.status, found.hits, idle,
            row.status == "candidate" and not found.hits and age > QUARANTINE,
        ),
        "confidence": worth.confidence(
            _initial(found), row.kind, source, age, found.hits,
            found.reinforced, found.demoted, found.rejected,
        ),
        "source": source,
        "by": found.by or PERSON.name,
        "session": found.session or None,
    }  # fmt: skip


def provenance(brain: Asking, row: Row) -> Shape:
    """Who said it, when, in which session, why; what happened since; and each factor of its
    confidence and importance."""
    found = facts.of(brain.index, [row.ref]).get(row.ref) or Facts(row.ref)
    refs = naming.same(brain, row.ref)
    try:
        records = [wire.record(record) for record in brain.journal.records(ref=refs)]
    except BrainError:  # a journal cannot be read, which `brain doctor` tells
        records = []
    made = next((r for r in records if r["op"] in ("add", "promote")), {})
    now = brain.clock()
    return {
        "provenance": {
            "by": made.get("by", found.by or PERSON.name),
            "at": made.get("at", row.created),
            "session": made.get("session", found.session or None),
            "source": found.source or "user_stated",
            "why": made.get("why"),
            "event": made.get("event"),
            "since": [_crumb(r) for r in records if r is not made],
        },
        "confidence_factors": _confidence(row, found, now),
        "importance_factors": _importance(row, found, now),
    }


def _crumb(record: Shape) -> Shape:
    keys = ("op", "at", "by", "session", "why", "delta", "event")
    return {key: record[key] for key in keys if record.get(key) is not None}


def _initial(found: Facts) -> float:
    return INITIAL if found.confidence is None else found.confidence


def _confidence(row: Row, found: Facts, now: datetime) -> Shape:
    """initial x trust x remaining x use, plus what feedback moved."""
    source = found.source or "user_stated"
    age, half = days_between(row.created, now), worth.half_life(row.kind, source)
    moved = worth.REINFORCED * found.reinforced - worth.DEMOTED * found.demoted
    return {
        "initial": _initial(found),
        "trust": worth.trust(source),
        "remaining": 1.0 if half is None else 0.5 ** (age / half),
        "use": 1 + 0.1 * log1p(found.hits),
        "feedback": moved - worth.REJECTED * found.rejected,
        "age_days": age,
        "half_life": half,
    }


def _importance(row: Row, found: Facts, now: datetime) -> Shape:
    base = worth.base_importance(row.kind) if found.importance is None else found.importance
    used = max(row.created, found.touched, found.last_hit)
    return {
        "base": base,
        "merges": worth.MERGED * found.merges,
        "hits": found.hits,
        "idle_days": 0.0 if row.status == "pinned" else days_between(used, now),
        "status": row.status,
    }
