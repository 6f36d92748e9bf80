"""What a person says of time is by the clock of the machine; records are in UTC."""

from __future__ import annotations

import pytest

from brain.errors import BadRequest
from brain.timestamps import as_date, end_of, shown, start_of
from tests.conftest import SetZone


@pytest.mark.parametrize(
    ("where", "said", "start", "end"),
    [
        ("UTC", "2026-02-01", "2026-02-01T00:00:00", "2026-02-02T00:00:00"),
        ("Asia/Tokyo", "2026-02-01", "2026-01-31T15:00:00", "2026-02-01T15:00:00"),
        ("America/New_York", "2026-02-01", "2026-02-01T05:00:00", "2026-02-02T05:00:00"),
        ("America/New_York", "2026-03-08", "2026-03-08T05:00:00", "2026-03-09T04:00:00"),
        ("Asia/Tokyo", "2026-02-01T09:30", "2026-02-01T00:30:00", "2026-02-01T00:30:01"),
        ("Asia/Tokyo", "2026-02-01T09:30Z", "2026-02-01T09:30:00", "2026-02-01T09:30:01"),
        ("Asia/Tokyo", "2026-02-01T09:30+01:00", "2026-02-01T08:30:00", "2026-02-01T08:30:01"),
    ],
)
def test_from_when_to_when(zone: SetZone, where: str, said: str, start: str, end: str) -> None:
    zone(where)
    assert (start_of(said), end_of(said)) == (start, end)


def test_at_the_ends_of_time(zone: SetZone) -> None:
    zone("Asia/Tokyo")
    assert start_of("0001-01-01") == "0001-01-01T00:00:00"
    assert end_of("9999-12-31") == ""
    assert (start_of(""), end_of(""), as_date("")) == ("", "", "")
    for read in (start_of, end_of, as_date):
        with pytest.raises(BadRequest, match="not a date"):
            read("soon")


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("2026-11-16T16:51:00.123Z", "2026-11-17 01:51:00"),
        ("2026-11-16T16:51:00+01:00", "2026-11-17 00:51:00"),
        ("2026-11-16T16:51", "2026-11-16 16:51:00"),
        ("2026-11-16", "2026-11-16"),
        ("long ago", "long ago"),
    ],
)
def test_shown_by_the_clock_of_this_machine(zone: SetZone, at: str, text: str) -> None:
    zone("Asia/Tokyo")
    assert shown(at) == text


def test_a_filter_is_by_the_clock_of_this_machine(zone: SetZone) -> None:
    zone("Asia/Tokyo")
    assert as_date("2026-02-01") == "2026-02-01"
    assert as_date("2026-02-01T09:30") == "2026-02-01T09:30:00"
    assert as_date("2026-02-01T09:30Z") == "2026-02-01T18:30:00"
