"""Forms of a word that no stemmer brings together find each other."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.words import _FORMS, forms, stem
from tests import kit
from tests.conftest import MakeVault, OpenBrain


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("go", "went"), ("went", "go"), ("went", "gone"), ("going", "went"), ("goes", "went"),
        ("writing", "wrote"), ("writes", "written"), ("running", "ran"), ("chose", "choose"),
        ("mice", "mouse"), ("children", "child"), ("knives", "knife"), ("indices", "index"),
        ("bus", "buses"), ("buses", "bus"), ("atlas", "atlases"), ("better", "good"),
    ],
)  # fmt: skip
def test_a_form_of(word: str, other: str) -> None:
    assert other in forms(word)


@pytest.mark.parametrize("word", ["garden", "gardens", "testing", "sqlite", "", "s", "ing", "es"])
def test_a_regular_word_has_no_other_forms(word: str) -> None:
    assert forms(word) == ()


@given(word=st.sampled_from(sorted(_FORMS)))
def test_forms_are_forms_of_each_other(word: str) -> None:
    for other in forms(word):
        assert other != word
        assert word in forms(other)


@given(word=st.text(alphabet="abegimnorstuw", max_size=12))
def test_a_word_is_no_form_of_itself(word: str) -> None:
    assert word not in forms(word)


SESSION = "40_Brain/sessions/s.jsonl"


def turn(text: str) -> str:
    return json.dumps({"role": "user", "content": text}) + "\n"


OTHERS = {f"40_Brain/sessions/x{n}.jsonl": turn(f"Nothing of that sort, {n}") for n in range(4)}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("We went to the lake", "go lake"),
        ("They go swimming", "went"),
        ("A shelf of books", "shelves"),
        ("The mice are back", "mouse"),
        ("She was teaching maths", "taught"),
        ("One garden", "gardens"),
        ("Many gardens", "garden"),
        ("Gardening all day", "gardens"),
        ("The bus is late", "buses"),
    ],
)
def test_a_question_in_another_form_finds_the_turn(
    text: str, question: str, vault: MakeVault, opened: OpenBrain
) -> None:
    brain = opened(vault({SESSION: turn(text), **OTHERS}))
    hits = brain.search(question, scopes=["sessions"]).results
    assert [hit.row.path for hit in hits] == [SESSION]
    assert hits[0].covered == 1
    assert not hits[0].prefix
    assert "«" in hits[0].snippet()


def test_in_notes_irregular_forms_are_other_words(vault: MakeVault, opened: OpenBrain) -> None:
    """A note that says *left* mostly means a side, and *found* a foundation."""
    brain = opened(vault({"a.md": "the left side\n", "b.md": "leave it\n", "c.md": "gardens\n"}))
    assert kit.found(brain, "leave") == ["b.md"]
    assert kit.found(brain, "garden") == ["c.md"]


def test_the_word_itself_and_its_forms_count_alike(vault: MakeVault, opened: OpenBrain) -> None:
    """Which form stands in a turn says nothing about how well it answers."""
    texts = {"a": "they went home", "b": "they go home", "c": "something else"}
    files = {f"40_Brain/sessions/{name}.jsonl": turn(text) for name, text in texts.items()}
    brain = opened(vault(files | OTHERS))
    scores = [hit.score for hit in brain.search("went", scopes=["sessions"]).results]
    assert len(scores) == 2
    assert scores[0] == pytest.approx(scores[1])
    one, other = (kit.found(brain, word, scopes=["sessions"]) for word in ("went", "go"))
    assert one == other == ["40_Brain/sessions/a.jsonl", "40_Brain/sessions/b.jsonl"]


def test_forms_are_not_what_a_stemmer_finds_anyway() -> None:
    """Each of them would be looked up for nothing."""
    same = [(word, o) for word in _FORMS for o in _FORMS[word] if stem(word) == stem(o)]
    assert same == []
