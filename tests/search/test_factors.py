"""What a question lets one expect of its answer: who said it, when, and that it is no question."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.index.fulltext import Found
from brain.search.factors import (
    DATED,
    WHEN,
    author,
    dated,
    days_between,
    feedback,
    order,
    recency,
    score,
    when,
)
from brain.search.question import expected
from tests.conftest import MakeVault, OpenBrain


def said(text: str, *, by: str = "Ada", on: str = "2026-03-14T10:00:00") -> Found:
    return Found(1, 1, "turns", "sessions", on, "s.jsonl", 1, 0, 1, by, text)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Ada say?", {"ada"}),
        ("what did ada's sister say", {"ada"}),
        ("Did José come?", {"jose"}),
        ("did jose come", {"jose"}),
        ("Ask Miller", {"bo miller"}),
        ("Did Ada meet Bo?", {"ada", "bo miller"}),
        ("Adamant", set()),
        ("What will happen?", set()),  # of one who is called Will
    ],
)
def test_speakers_that_a_question_names(question: str, names: set[str]) -> None:
    assert expected(question, ["Ada", "José", "Bo Miller", "Will"]).names == names


def test_what_the_speaker_said_counts_more() -> None:
    wanted = expected("What did Ada say?", ["Ada", "Bo"])
    assert author(said("x", by="ADA"), wanted) == 1.5
    assert author(said("x", by="Bo"), wanted) == 1
    assert author(said("x", by=""), wanted) == 1
    both = expected("What did Ada tell Bo?", ["Ada", "Bo"])
    assert author(said("x", by="Ada"), both) == 1  # who of them said it is not known


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("When did it start?", True), ("how long did it take", True), ("What year was that?", True),
        ("In which month does it bloom?", True), ("Since when?", True), ("On what day?", True),
        ("So when did she come?", True), ("Whenever", False), ("What is time?", False),
        ("Where?", False),
    ],
)  # fmt: skip
def test_whether_a_question_asks_for_a_time(question: str, time: bool) -> None:
    assert expected(question, []).time == time


@pytest.mark.parametrize(
    ("text", "names_one"),
    [("It was last Friday", True), ("two weeks AGO", True), ("on the 3rd", True), ("in 2019", True),
     ("It was good", False), ("the lasting one", False), ("page 20199", False)],
)  # fmt: skip
def test_what_names_a_time_answers_when(text: str, names_one: bool) -> None:
    wanted = expected("When was it?", [])
    assert when(said(text), wanted) == (WHEN if names_one else 1)
    assert when(said(text), expected("Where was it?", [])) == 1


@pytest.mark.parametrize(
    ("question", "on", "meant"),
    [
        ("What happened on 14 March 2026?", "2026-03-14", True),
        ("What happened on March 14th?", "2026-03-14", True),
        ("What happened on the 14th of March?", "2025-03-14", True),
        ("What happened on 2026-03-14?", "2026-03-14", True),
        ("What happened in March?", "2026-03-01", True),
        ("What happened in march 2026", "2026-03-31", True),
        ("What happened in 2026-03?", "2026-03-02", True),
        ("What happened in 2026?", "2026-12-31", True),
        ("What happened on 14 March 2026?", "2025-03-14", False),
        ("What happened on 14 March 2026?", "2026-03-15", False),
        ("What happened in March?", "2026-04-14", False),
        ("What may happen?", "2026-05-01", False),
        ("What happened in May 2026?", "2026-05-01", True),
        ("What happened on 3 May?", "2026-05-03", True),
        ("Room 2026", "2026-05-03", False),
        ("April or June?", "2026-06-09", True),
    ],
)
def test_dates_that_a_question_names(question: str, on: str, meant: bool) -> None:
    wanted = expected(question, [])
    assert dated(said("x", on=f"{on}T08:00:00"), wanted) == (DATED if meant else 1)


@given(question=st.text(), text=st.text(), name=st.text(), day=st.text(max_size=12))
def test_nothing_breaks_and_factors_stay_in_bounds(
    question: str, text: str, name: str, day: str
) -> None:
    wanted = expected(question, [name])
    one = said(text, by=name, on=day)
    assert author(one, wanted) in (1, 1.5)
    assert when(one, wanted) in (1, WHEN)
    assert dated(one, wanted) in (1, DATED)


# -- through a search --------------------------------------------------------------------------


def conversation(*said: tuple[str, str], on: str = "2026-03-14") -> str:
    lines = [
        {"id": f"{on}/{n}", "role": "user", "name": name, "content": text,
         "timestamp": f"{on}T10:00:00"}
        for n, (name, text) in enumerate(said)
    ]  # fmt: skip
    return "".join(f"{json.dumps(line)}\n" for line in lines)


SESSION = "40_Brain/sessions/{}.jsonl"
SMALL = (("Ada", "Hm"), ("Bo", "Yes"), ("Ada", "Well"), ("Bo", "Right"), ("Ada", "So"))


def first(brain_hits: list[object]) -> str:
    return brain_hits[0].row.ref  # type: ignore[attr-defined,no-any-return]


def test_the_speaker_named_in_the_question_comes_first(vault: MakeVault, opened: OpenBrain) -> None:
    files = {
        SESSION.format("a"): conversation(("Ada", "I paint boats"), *SMALL, on="2026-01-01"),
        SESSION.format("b"): conversation(("Bo", "I paint boats"), *SMALL, on="2026-01-02"),
    }
    brain = opened(vault(files))
    for name, ref in (("Ada", "2026-01-01/0"), ("Bo", "2026-01-02/0")):
        hits = brain.search(f"What does {name} paint?", scopes=["sessions"]).results
        assert first(hits) == ref
        assert hits[0].factors["author"] == 1.5
        with_name = [hit for hit in hits if hit.row.ref == f"{ref[:10]}/4"]
        assert all(hit.factors["share"] == 0 for hit in with_name)  # a name is not a word


def test_a_turn_counts_for_its_session_alone(vault: MakeVault, opened: OpenBrain) -> None:
    said = [("Bo", "My boat leaks"), *SMALL, ("Ada", "I met Jean yesterday")]
    brain = opened(vault({SESSION.format("a"): conversation(*said)}))
    hits = brain.search("When did Ada see the boat?", scopes=["sessions"]).results
    far = next(hit for hit in hits if "Jean" in hit.text)
    assert far.factors["near"] == far.factors["share"] == 0 < far.factors["session"]


def test_the_day_named_in_the_question_comes_first(vault: MakeVault, opened: OpenBrain) -> None:
    days = ("2026-02-03", "2026-03-14", "2026-04-05")
    files = {
        SESSION.format(day): conversation(("Ada", "We paint boats"), *SMALL, on=day) for day in days
    }
    brain = opened(vault(files))
    for day, named in zip(days, ("3 February", "March", "April 5th, 2026"), strict=True):
        hits = brain.search(f"What did we paint in {named}?", scopes=["sessions"]).results
        assert first(hits) == f"{day}/0"


def test_the_name_alone_is_a_word_like_any_other(vault: MakeVault, opened: OpenBrain) -> None:
    files = {SESSION.format("a"): conversation(("Bo", "Hello Ada"), *SMALL)}
    hits = opened(vault(files)).search("Ada", scopes=["sessions"]).results
    assert "2026-03-14/0" in [hit.row.ref for hit in hits]


# -- the formula -------------------------------------------------------------------------------

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_formula() -> None:
    made = {"share": 0.5, "near": 0.2, "session": 0.1, "author": 1.5, "dated": 2.0}
    assert score(made) == pytest.approx((0.5 + 0.2 + 0.1) * 1.5 * 2.0)
    memory = {"share": 0.5, "feedback": 2.0, "recency": recency(10)}
    assert score(memory) == 0.5
    assert order(memory) == pytest.approx(0.5 * 2.0 / (1 + 0.01 * 10))


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
