"""Days and moments as the index and the journal write them."""

from __future__ import annotations

from datetime import UTC, datetime

from brain.errors import BadRequest


def told(moment: datetime) -> str:
    """A moment as records and events tell it: `2026-02-01T09:30:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_date(text: str) -> str:
    """A day or a moment as the index writes it: `2026-02-01`, `2026-02-01T09:30:00`, in UTC."""
    if not text:
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{text!r} is no date.", "Write it as 2026-02-01.") from None
    if len(text) <= 10:
        return moment.date().isoformat()
    if moment.tzinfo:
        moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")
