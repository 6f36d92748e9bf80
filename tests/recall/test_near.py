"""What stands near a match counts: in its own session or section, and nowhere else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.index.matches import Candidate
from brain.recall.lookup import Held
from brain.recall.near import AFTER, BEFORE, neighbours, parents, spread
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
    assert (answer.factors.bm25, question.factors.near) == (0, 0)
    assert answer.factors.near == pytest.approx(0.8 * question.factors.bm25)


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
    assert {(hit.factors.near, hit.factors.parent) for hit in hits} == {(0, 0)}


def test_in_notes_nothing_is_found_for_its_neighbours_alone(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """But of two passages that match, the one beside another match is better."""
    long = "\n\n".join(f"{'Some words to fill the page with. ' * 40}{n}" for n in range(9))
    parts = long.split("\n\n")
    parts[1] += " ladder"
    parts[3] += " ladder"
    brain = opened(vault({"long.md": "# One\n\n" + "\n\n".join(parts), "b.md": "the ladder\n"}))
    hits = brain.search("ladder").results
    assert all("ladder" in hit.row.text for hit in hits)
    assert any(hit.factors.parent > 0 for hit in hits if hit.row.path == "long.md")
    assert all(hit.factors.near == 0 for hit in hits if hit.row.path == "b.md")


# -- the arithmetic ----------------------------------------------------------------------------


def turn(id: int, place: int, siblings: int, text: str = "said") -> Candidate:
    return Candidate(
        id, "sessions", "2026-01-01", "s.jsonl", place + 1, place, siblings, "Ada", text
    )


def test_what_is_handed_on() -> None:
    assert dict(neighbours(turn(104, 4, 9))) == {
        105: 0.4, 106: 0.2, 107: 0.1, 103: 0.3, 102: 0.15, 101: 0.1,
    }  # fmt: skip
    assert dict(neighbours(turn(104, 4, 9, "where? "))) == {
        105: 0.8, 106: 0.2, 107: 0.1, 103: 0.3, 102: 0.15, 101: 0.1,
    }  # fmt: skip
    assert dict(neighbours(turn(100, 0, 2))) == {101: 0.4}
    assert spread([(turn(7, 0, 1), 5.0)]) == {}


@given(
    place=st.integers(0, 30),
    more=st.integers(1, 30),
    score=st.floats(0.001, 100),
    asks=st.booleans(),
)
def test_nothing_leaves_its_section(place: int, more: int, score: float, asks: bool) -> None:
    one = turn(1000 + place, place, place + more, "where?" if asks else "there")
    handed = spread([(one, score)])
    assert set(handed) <= set(one.section) - {one.id}
    assert sum(handed.values()) <= score * (sum(AFTER) + sum(BEFORE) + AFTER[0]) * 1.001


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    data=st.data(),
)
def test_a_whole_counts_by_how_many_of_its_pieces_match(
    sizes: list[int], data: st.DataObject
) -> None:
    """More of them, more worth; none, nothing; a single piece is no whole."""
    sections, first = [], 1
    for size in sizes:
        sections.append(range(first, first + size))
        first += size
    ids = sorted(data.draw(st.sets(st.integers(1, first - 1))))
    found = parents(sections, [Held(dict.fromkeys(ids, 1.0), idf=2.0)])
    assert set(found) == {section.start for section in sections if len(section) > 1}
    for start, worth in found.items():
        section = next(s for s in sections if s.start == start)
        assert (worth > 0) == bool(set(section) & set(ids))
        fewer = [id for id in ids if id != max(set(section) & set(ids), default=0)]
        less = parents(sections, [Held(dict.fromkeys(fewer, 1.0), idf=2.0)])[start]
        assert less < worth or worth == 0
