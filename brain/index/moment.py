"""Days and moments as the index and the journal write them.

They write moments in UTC. What a person says or is shown is by the clock of this machine; a day in
a note is a day, wherever it is read.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from brain.errors import BadRequest

_DAY = len("2026-02-01")


def told(moment: datetime) -> str:
    """A moment as records and events tell it: `2026-02-01T09:30:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_date(text: str) -> str:
    """Return a day, or a moment by the clock of this machine: `2026-02-01T09:30:00`."""
    if not text:
        return ""
    moment = _read(text)
    if len(text) <= _DAY:
        return moment.date().isoformat()
    return _here(moment).isoformat(timespec="seconds")


def first(text: str) -> str:
    """The moment from which on records are of the day or time that a person says, in UTC."""
    return _utc(_read(text)) if text else ""


def after(text: str) -> str:
    """The first moment that is later than the day or the second that a person says, in UTC."""
    if not text:
        return ""
    length = timedelta(days=1) if len(text) <= _DAY else timedelta(seconds=1)
    try:
        return _utc(_read(text) + length)
    except OverflowError:
        return ""  # it never ends


def shown(at: str) -> str:
    """Return a moment by the clock of this machine, `2026-02-01 09:30:00`; a day stays a day."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    if len(at) <= _DAY:
        return at
    return _here(moment).isoformat(" ", "seconds")


def _read(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        remedy = "Write it as 2026-02-01, as 2026-02-01T09:30, or as 7d for seven days ago."
        raise BadRequest(f"{text!r} is not a date.", remedy) from None


def _here(moment: datetime) -> datetime:
    """A moment by the clock of this machine; so is one without a zone already."""
    with suppress(OverflowError, ValueError):
        moment = moment.astimezone() if moment.tzinfo else moment
    return moment.replace(tzinfo=None)


def _utc(moment: datetime) -> str:
    """One without a zone is by the clock of this machine, save at the ends of time."""
    with suppress(OverflowError, ValueError):
        moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")
