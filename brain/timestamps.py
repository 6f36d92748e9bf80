"""Days and times: parse the user's input, format times for records and for display.

The index and the journal contain times in UTC. Times that a person enters or sees are in the local
time of this machine. A day in a note is the same day on every machine.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from brain.errors import BadRequest

_DAY = len("2026-02-01")
_AGE = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def to_utc(time: datetime) -> str:
    """Return a time in the format of records and events: `2026-02-01T09:30:00.000Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(text: str, now: datetime, whole_days: bool = False) -> str:
    """Convert an age (`30m`, `2h`, `7d`) to a time. Return a date or time unchanged. With
    `whole_days`, convert an age in days or weeks to a day, because most entries have no time of
    day."""
    text = text.strip()
    if not (match := _AGE.fullmatch(text)):
        return text
    try:
        then = now.astimezone() - timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError:
        return "0001-01-01"  # longer ago than any entry
    if whole_days and match[2] in "dw":
        return then.date().isoformat()
    return then.isoformat(timespec="seconds")


def as_date(text: str) -> str:
    """Return a day, or a time in local time: `2026-02-01T09:30:00`."""
    if not text:
        return ""
    time = _parse(text)
    if len(text) <= _DAY:
        return time.date().isoformat()
    return _local(time).isoformat(timespec="seconds")


def start_of(text: str) -> str:
    """Return the start of a day or second in UTC. The text is in local time."""
    return _utc(_parse(text)) if text else ""


def end_of(text: str) -> str:
    """Return the end of a day or second in UTC. The text is in local time."""
    if not text:
        return ""
    length = timedelta(days=1) if len(text) <= _DAY else timedelta(seconds=1)
    try:
        return _utc(_parse(text) + length)
    except OverflowError:
        return ""  # there is no later time


def shown(text: str) -> str:
    """Return a time in local time, `2026-02-01 09:30:00`. A day is returned unchanged."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    if len(text) <= _DAY:
        return text
    return _local(time).isoformat(" ", "seconds")


def _parse(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        remedy = "Write it as 2026-02-01, as 2026-02-01T09:30, or as 7d for seven days ago."
        raise BadRequest(f"{text!r} is not a date.", remedy) from None


def _local(time: datetime) -> datetime:
    """Convert a time to local time. A time without a zone is local already."""
    with suppress(OverflowError, ValueError):
        time = time.astimezone() if time.tzinfo else time
    return time.replace(tzinfo=None)


def _utc(time: datetime) -> str:
    """Convert a time to UTC. A time without a zone is local. At the ends of Python's calendar,
    where it cannot be converted, the zone is dropped."""
    with suppress(OverflowError, ValueError):
        time = time.astimezone(UTC)
    return time.replace(tzinfo=None).isoformat(timespec="seconds")
