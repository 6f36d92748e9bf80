"""Days and times: read from people, written for records, and shown on this machine.

The index and the journal hold times in UTC. A time that a person gives or sees is by the clock of
this machine. A day in a note is the same day everywhere.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from brain.errors import BadRequest

_DAY = len("2026-02-01")


def to_utc(time: datetime) -> str:
    """Return a time as records and events have it: `2026-02-01T09:30:00.000Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_date(text: str) -> str:
    """Return a day, or a time by the clock of this machine: `2026-02-01T09:30:00`."""
    if not text:
        return ""
    time = _parse(text)
    if len(text) <= _DAY:
        return time.date().isoformat()
    return _local(time).isoformat(timespec="seconds")


def start_of(text: str) -> str:
    """Return when the day or second that a person gives begins, in UTC."""
    return _utc(_parse(text)) if text else ""


def end_of(text: str) -> str:
    """Return the first time after the day or second that a person gives, in UTC."""
    if not text:
        return ""
    length = timedelta(days=1) if len(text) <= _DAY else timedelta(seconds=1)
    try:
        return _utc(_parse(text) + length)
    except OverflowError:
        return ""  # there is no later time


def shown(at: str) -> str:
    """Return a time by the clock of this machine, `2026-02-01 09:30:00`; a day stays a day."""
    try:
        time = datetime.fromisoformat(at)
    except ValueError:
        return at
    if len(at) <= _DAY:
        return at
    return _local(time).isoformat(" ", "seconds")


def _parse(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        remedy = "Write it as 2026-02-01, as 2026-02-01T09:30, or as 7d for seven days ago."
        raise BadRequest(f"{text!r} is not a date.", remedy) from None


def _local(time: datetime) -> datetime:
    """Return a time by the clock of this machine. A time without a zone is one already."""
    with suppress(OverflowError, ValueError):
        time = time.astimezone() if time.tzinfo else time
    return time.replace(tzinfo=None)


def _utc(time: datetime) -> str:
    """Return a time in UTC. A time without a zone is by the clock of this machine, except where
    the calendar of Python ends."""
    with suppress(OverflowError, ValueError):
        time = time.astimezone(UTC)
    return time.replace(tzinfo=None).isoformat(timespec="seconds")
