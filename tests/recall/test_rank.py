"""The rank is one product, and every factor can be shown."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.config import Config
from brain.recall.rank import Factors, days_between, factors, feedback, recency

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_formula() -> None:
    made = factors(2.0, True, "memory", "2026-02-19T12:00:00Z", NOW, Config())
    assert made == Factors(2.0, 2.0, 1.0, 1 / 1.1)
    assert made.rank == pytest.approx(2.0 * 2.0 * math.exp(0.2 * 0) / (1 + 0.01 * 10))


@pytest.mark.parametrize("scope", ["items", "tasks", "sources", "sessions", "archive"])
def test_only_memories_grow_old(scope: str) -> None:
    assert factors(2.0, False, scope, "1999-01-01", NOW, Config()).recency == 1.0
    assert recency("memory", 100, 0.01) == 0.5


@pytest.mark.parametrize(
    ("score", "factor"), [(0, 1.0), (3, 1.82), (-1, 0.82), (-5, 0.37), (99, 7.39), (-99, 0.14)]
)
def test_feedback(score: float, factor: float) -> None:
    assert feedback(score, 0.2) == pytest.approx(factor, abs=0.005)


@pytest.mark.parametrize(
    ("earlier", "days"),
    [
        ("2026-02-28T12:00:00Z", 1),
        ("2026-02-28T12:00:00+00:00", 1),
        ("2026-02-28T14:00:00+02:00", 1),
        ("2026-02-28", 1.5),
        ("2026-03-01", 0.5),
        ("2027-01-01", 0),
        ("2026-99-99", 0),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_days(earlier: str, days: float) -> None:
    assert days_between(earlier, NOW) == days


@given(st.datetimes(timezones=st.just(UTC)), st.text())
def test_days_are_never_negative(then: datetime, text: str) -> None:
    assert days_between(then.isoformat(), NOW) >= 0
    assert days_between(text, NOW) >= 0


@given(st.floats(0, 100), st.integers(0, 10_000))
def test_older_is_never_better(bm25: float, days: int) -> None:
    config = Config()
    older = (NOW - timedelta(days=days)).isoformat()
    newer = (NOW - timedelta(days=days / 2)).isoformat()
    first, second = (factors(bm25, False, "memory", t, NOW, config).rank for t in (older, newer))
    assert first <= second
