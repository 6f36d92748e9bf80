"""What a memory is worth: the seeds' numbers, and what holds for all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.importance import SOURCES, confidence, importance, trust
from brain.kinds import KINDS

KIND = st.sampled_from([*KINDS, "unheard-of"])
SOURCE = st.sampled_from([*SOURCES, "unheard-of"])
STATUS = st.sampled_from(["candidate", "confirmed", "pinned"])
DAYS = st.floats(-10, 10_000)
COUNT = st.integers(0, 1000)
PART = st.floats(0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_just_remembered_matters_as_its_kind_does(kind: str) -> None:
    assert importance(kind).value == KINDS[kind].importance


def test_a_value_given_counts_instead_of_the_kinds() -> None:
    assert importance("decision", 0.3).value == 0.3


def test_what_nobody_asks_for_fades_by_a_twentieth_a_week() -> None:
    assert importance("fact", hits=10, days_since_access=7).value == pytest.approx(0.6 * 0.95)
    assert importance("fact", hits=10, days_since_access=70).value == pytest.approx(0.6 * 0.95**10)


def test_what_was_never_used_fades_to_half_besides() -> None:
    assert importance("fact", days_since_access=14).value == pytest.approx(0.6 * 0.95**2 * 0.5)
    assert importance("fact", hits=4, days_since_access=14).value == pytest.approx(
        0.6 * 0.95**2 * 0.7
    )


def test_a_candidate_counts_less_and_less_still_once_nobody_came_to_see_it() -> None:
    assert importance("fact", status="candidate").value == pytest.approx(0.6 * 0.9)
    assert importance("fact", status="candidate", unvisited=True).value == pytest.approx(
        0.6 * 0.9 * 0.8
    )


def test_pinned_memories_do_not_fade() -> None:
    assert importance("fact", status="pinned", days_since_access=5000).value == 0.6


def test_each_merged_duplicate_adds_a_tenth_up_to_one() -> None:
    assert importance("fact", merges=2).value == pytest.approx(0.8)
    assert importance("fact", merges=9).value == 1.0


@pytest.mark.parametrize(
    ("kind", "days"), [("correction", 365), ("preference", 90), ("fact", 30), ("procedure", 60)]
)
def test_confidence_halves_with_the_kinds_half_life(kind: str, days: int) -> None:
    assert confidence(0.8, kind, "user_stated", days).value == pytest.approx(0.4)


def test_a_guess_halves_in_a_week_whatever_its_kind() -> None:
    assert confidence(1.0, "correction", "inferred", 7).value == pytest.approx(0.6 / 2)


def test_a_summary_stays_what_it_was() -> None:
    assert confidence(0.5, "summary", "user_stated", 10_000).value == 0.5


def test_feedback_moves_confidence() -> None:
    plain = confidence(0.5, "fact", "user_stated").value
    assert confidence(0.5, "fact", "user_stated", reinforced=2).value == pytest.approx(plain + 0.1)
    assert confidence(0.5, "fact", "user_stated", demoted=1).value == pytest.approx(plain - 0.1)
    assert confidence(0.5, "fact", "user_stated", rejected=1).value == pytest.approx(plain - 0.02)


def test_what_a_person_said_is_trusted_more_than_what_was_seen_and_that_more_than_a_guess() -> None:
    assert trust("user_stated") > trust("observed") > trust("inferred")
    assert trust("unheard-of") == trust("inferred")


IMPORTANCE = st.fixed_dictionaries({
    "kind": KIND, "base": st.none() | PART, "merges": COUNT, "status": STATUS, "hits": COUNT,
    "days_since_access": DAYS, "unvisited": st.booleans(),
})  # fmt: skip
CONFIDENCE = st.fixed_dictionaries({
    "initial": PART, "kind": KIND, "source": SOURCE, "age_days": DAYS, "hits": COUNT,
    "reinforced": COUNT, "demoted": COUNT, "rejected": COUNT,
})  # fmt: skip


@given(IMPORTANCE, CONFIDENCE)
def test_both_stay_between_nothing_and_all(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert 0 <= importance(**one).value <= 1
    assert 0 <= confidence(**other).value <= 1


@given(IMPORTANCE, st.floats(0, 1000), COUNT)
def test_time_never_adds_importance_and_use_never_takes_any(
    given: dict[str, Any], more: float, times: int
) -> None:
    now = importance(**given).value
    later = given | {"days_since_access": given["days_since_access"] + more}
    used = given | {"hits": given["hits"] + times}
    assert importance(**later).value <= now <= importance(**used).value


@given(CONFIDENCE, st.floats(0, 1000), COUNT)
def test_time_and_demotion_never_add_confidence_and_use_never_takes_any(
    given: dict[str, Any], more: float, times: int
) -> None:
    now = confidence(**given).value
    assert confidence(**given | {"age_days": given["age_days"] + more}).value <= now
    assert confidence(**given | {"demoted": given["demoted"] + times}).value <= now
    assert confidence(**given | {"hits": given["hits"] + times}).value >= now
    assert confidence(**given | {"reinforced": given["reinforced"] + times}).value >= now
