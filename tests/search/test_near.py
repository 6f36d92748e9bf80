"""What stands near a match counts: in its own session or section, and nowhere else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.index.fulltext import Found
from brain.search.ranking import neighbours
from tests.conftest import MakeVault, OpenBrain

SESSION = "40_Brain/sessions/{}.jsonl"


def turns(*said: str) -> str:
    """A session in which two people speak in turn."""
    lines = [
        {"id": f"t{n}", "role": "user", "name": ("Ada", "Bo")[n % 2], "content": text}
        for n, text in enumerate(said)
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


FILLER = {SESSION.format(f"f{n}"): turns("Rain again", "It pours", "Still") for n in range(4)}


def test_an_answer_is_found_beside_its_question(vault: MakeVault, opened: OpenBrain) -> None:
    """It holds none of the words, and still comes right behind."""
    said = turns(
        "Hello there", "Good morning", "Where did you put the ladder?", "Behind the shed, as ever",
        "Thank you", "You are welcome", "Bye", "See you",
    )  # fmt: skip
    brain = opened(vault(FILLER | {SESSION.format("s"): said}))
    hits = brain.search("ladder", scopes=["sessions"]).results
    assert [hit.row.ref for hit in hits][:2] == ["t2", "t3"]
    question, answer, *_ = hits
    assert (answer.factors["share"], question.factors["near"]) == (0, 0)
    assert answer.factors["near"] == pytest.approx(0.8 * question.factors["share"])


def test_neighbours_are_of_the_same_session(vault: MakeVault, opened: OpenBrain) -> None:
    files = {SESSION.format("a"): turns("Nothing", "The ladder"),
             SESSION.format("b"): turns("Other things", "And more")}  # fmt: skip
    brain = opened(vault(FILLER | files))
    hits = brain.search("ladder", scopes=["sessions"]).results
    assert {hit.row.path for hit in hits} == {SESSION.format("a")}


def test_neighbours_that_may_not_be_seen_are_not(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault(FILLER | {SESSION.format("s"): turns("The ladder?", "Yes", "Well")}))
    assert len(brain.search("ladder", scopes=["sessions"]).results) == 3
    assert brain.search("ladder", scopes=["sessions"], tags=["x"]).results == []
    assert brain.search("ladder").results == []


def test_memories_have_no_neighbours(vault: MakeVault, opened: OpenBrain) -> None:
    lines = "## Facts\n- one\n- the ladder is behind the shed\n- three\n- a ladder again\n"
    brain = opened(vault({"40_Brain/MEMORY.md": lines, "a.md": "clam\n", "b.md": "clam\n"}))
    hits = brain.search("ladder", scopes=["all"]).results
    assert len(hits) == 2
    assert not any({"near", "session"} & hit.factors.keys() for hit in hits)


def test_in_notes_nothing_is_found_for_its_neighbours_alone(
    vault: MakeVault, opened: OpenBrain
) -> None:
    parts = [f"{'Some words to fill the page with. ' * 20}{n}" for n in range(9)]
    parts[3] += " ladder"
    text = "# One\n\n" + "\n\n".join(parts)
    brain = opened(vault({"long.md": text, "b.md": "the ladder\n"}))
    hits = brain.search("ladder", passages=True).results
    assert len(hits) == 2
    assert all("ladder" in hit.row.text for hit in hits)


def test_the_session_of_a_turn_counts(vault: MakeVault, opened: OpenBrain) -> None:
    """Of two turns that say the same, that of the session which says more about it is better."""
    small = ("Hm", "Yes", "Well", "Right", "So", "Fine", "Good")
    files = {
        SESSION.format("a"): turns("We paint it", *small, "Rain again"),
        SESSION.format("b"): turns("We paint it", *small, "The ladder is old"),
    }
    brain = opened(vault(FILLER | files))
    hits = [
        h for h in brain.search("paint ladder", scopes=["sessions"]).results if h.row.ref == "t0"
    ]
    assert [hit.row.path for hit in hits[:2]] == [SESSION.format("b"), SESSION.format("a")]
    assert hits[0].factors["session"] > hits[1].factors["session"] > 0
    assert hits[0].factors["share"] == hits[1].factors["share"]


# -- the arithmetic ----------------------------------------------------------------------------


def turn(id: int, place: int, siblings: int, text: str = "said") -> Found:
    where = {"file": 1, "sort": "turns", "scope": "sessions", "path": "s.jsonl", "line": place + 1}
    said = {"created": "2026-01-01", "speaker": "Ada", "text": text}
    return Found(id=id, place=place, siblings=siblings, **where, **said)


def test_what_is_handed_on() -> None:
    assert dict(neighbours(turn(104, 4, 9))) == {
        105: 0.4, 106: 0.2, 107: 0.1, 103: 0.3, 102: 0.15, 101: 0.1,
    }  # fmt: skip
    assert dict(neighbours(turn(104, 4, 9, "where? "))) == {
        105: 0.8, 106: 0.2, 107: 0.1, 103: 0.3, 102: 0.15, 101: 0.1,
    }  # fmt: skip
    assert dict(neighbours(turn(100, 0, 2))) == {101: 0.4}
    assert dict(neighbours(turn(7, 0, 1))) == {}


@given(place=st.integers(0, 30), more=st.integers(1, 30), asks=st.booleans())
def test_nothing_leaves_its_session(place: int, more: int, asks: bool) -> None:
    one = turn(1000 + place, place, place + more, "where?" if asks else "there")
    assert set(dict(neighbours(one))) <= set(range(1000, 1000 + place + more)) - {one.id}
