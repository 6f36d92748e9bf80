"""The rank is one product, and every factor can be shown."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.recall.rank import Factors, days_between, feedback, recency

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOME = st.floats(0, 100)


def test_the_formula() -> None:
    made = Factors(2.0, 0.75, near=0.5, parent=0.3, author=1.5, feedback=2.0, recency=recency(10))
    assert made.rank == pytest.approx((2.0 * 0.75 + 0.5 + 0.3) * 1.5 * 2.0 / (1 + 0.01 * 10))


@given(st.tuples(*[SOME] * len(Factors._fields)))
def test_the_rank_follows_from_the_factors(values: tuple[float, ...]) -> None:
    bm25, coverage, near, parent, vector, *factors = values
    assert Factors(*values).rank == pytest.approx(
        (bm25 * coverage + near + parent + vector) * math.prod(factors)
    )


@pytest.mark.parametrize(
    ("score", "factor"), [(0, 1.0), (3, 1.82), (-1, 0.82), (-5, 0.37), (99, 7.39), (-99, 0.14)]
)
def test_feedback(score: float, factor: float) -> None:
    assert feedback(score) == pytest.approx(factor, abs=0.005)


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


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_older_is_never_better(days: int, more: int) -> None:
    assert 0 < recency(days + more) <= recency(days) <= 1
