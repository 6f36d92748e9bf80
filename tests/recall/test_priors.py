"""What a question lets one expect of its answer: who said it, when, and that it is no question."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.index.matches import Candidate
from brain.recall.priors import DATED, WHEN, author, dated, expected, when
from tests.conftest import MakeVault, OpenBrain


def said(
    text: str, *, by: str = "Ada", on: str = "2026-03-14T10:00:00", scope: str = "sessions"
) -> Candidate:
    return Candidate(1, scope, on, "s.jsonl", 1, 0, 1, by, text)


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


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("When did it start?", True), ("how long did it take", True), ("What year was that?", True),
        ("In which month does it bloom?", True), ("Since when?", True), ("On what day?", True),
        ("What happened when she came?", False), ("Whenever", False), ("What is time?", False),
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
    assert dated(said("", on=f"{on}T08:00:00"), wanted) == 1  # a note: too long to be of one day


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
        assert hits[0].factors.author == 1.5
        assert f"{ref[:10]}/4" not in [hit.row.ref for hit in hits]  # a name is no word to look for


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
