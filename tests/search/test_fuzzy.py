"""Words near those that nothing holds: found last of all, and the answer says so."""

from __future__ import annotations

import pytest

from brain.api import Brain
from brain.search import fuzzy
from brain.search.question import Concept, Term
from brain.search.ranking import BEGINNINGS
from brain.words import stem
from tests import kit
from tests.conftest import MakeVault, OpenBrain

NOTES = {
    "sqlite.md": "We keep it all in SQLite, in one file.\n",
    "config.md": "The configuration is read at the start.\n",
    "kube.md": "Kubernetes was too much for us.\n",
    "mail.md": "Письма приходят утром.\n",
    "cafe.md": "A café with a view.\n",
} | {f"{n}.md": f"filler {n}\n" for n in range(9)}


@pytest.fixture
def brain(vault: MakeVault, opened: OpenBrain) -> Brain:
    brain = opened(vault(NOTES))
    brain.sync()
    return brain


@pytest.mark.parametrize(
    ("question", "found", "word"),
    [
        ("sqlte", "sqlite.md", "SQLite"),  # a letter less
        ("sqllite", "sqlite.md", "SQLite"),  # more
        ("sqlyte", "sqlite.md", "SQLite"),  # other
        ("sqltie", "sqlite.md", "SQLite"),  # two that changed places
        ("configuraton", "config.md", "configuration"),  # in the ending that no stem has
        ("kubrnetse", "kube.md", "Kubernetes"),  # two edits of a long word
        ("писма", "mail.md", "Письма"),
        ("cafè9", "", ""),
        ("sqte", "", ""),  # two edits of a short one
        ("zqlite", "", ""),  # the first letter is another
        ("sqx", "", ""),
    ],
)
def test_a_word_that_nothing_holds_finds_what_is_near(
    question: str, found: str, word: str, brain: Brain
) -> None:
    answer = brain.search(question)
    assert [hit.row.path for hit in answer.results] == ([found] if found else [])
    said = f"No results for '{question}'. Showing '{word}'."
    assert answer.notes == ((said,) if found else ())
    for hit in answer.results:
        assert f"«{word}»" in hit.snippet()
        assert not hit.prefix


def test_only_the_most_similar_words_count(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"a.md": "The kestrel\n", "b.md": "The kestrin\n"}))
    assert kit.found(brain, "kestrl") == ["a.md"]
    assert kit.found(brain, "kestrinn") == ["b.md"]


def test_near_words_come_last_of_all(brain: Brain) -> None:
    """Not beside a word that stands there, nor where a beginning of one does."""
    assert kit.found(brain, "sqlte kubernetes") == ["kube.md"]
    assert brain.search("sqlte kubernetes").notes == ()
    assert kit.found(brain, "kubern") == ["kube.md"]
    assert brain.search("kubern").notes == (BEGINNINGS,)


def test_several_words(brain: Brain) -> None:
    answer = brain.search("sqlte kubernetos xylophone")
    assert {hit.row.path for hit in answer.results} == {"sqlite.md", "kube.md"}
    assert all(0 < hit.covered < 0.5 for hit in answer.results)
    (note,) = answer.notes
    assert note.startswith("No results for 'sqlte' or 'kubernetos'. Showing '")


def test_a_name_is_meant_as_it_is_written(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"a.md": "the walrus #tusks m-aaaaaaaw item42 python\n"}))
    for question in ("m-aaaaaaax", "item43", "http://walrux", "src/pyhton.js", "max_wlrus"):
        assert brain.search(question).results == [], question
    for question in ('"walrux"', "#tuskz"):  # which count as words if there is nothing else
        assert kit.found(brain, question) == ["a.md"]


def test_nobody_is_told_of_words_that_they_may_not_read(
    vault: MakeVault, opened: OpenBrain
) -> None:
    agent = "40_Brain/projects/{}/agent"
    files = {f"{agent.format(name)}/AGENT.md": "---\ntype: project\n---\n" for name in ("a", "b")}
    files |= {
        f"{agent.format('a')}/MEMORY.md": "- The cormorant is red\n",
        f"{agent.format('b')}/MEMORY.md": "- A cormorang and a zebrafish\n",
        "note.md": "The warehouses\n",
    }
    brain = opened(vault(files))
    brain.sync()
    answer = brain.search("cormoranx", by="a")
    assert answer.notes == ("No results for 'cormoranx'. Showing 'cormorant'.",)
    found, other = (brain.search(word, by="a") for word in ("zebrafich", "zebraxxch"))
    assert found.replace(query="") == other.replace(query="")
    assert brain.search("zebrafich", by="b").notes
    assert brain.search("warehuoses", by="a", scopes=["memory"]).notes == ()
    assert brain.search("warehuoses", by="a").notes


def test_without_fts5_there_are_none(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault(NOTES), engine="fts4")
    assert brain.search("sqlte").results == []


def test_a_note_names_few_words_as_they_stand_there() -> None:
    near = [Concept(Term(("tsuk",)), (("tusk", 1.0),)), Concept(Term(("else",)))]
    texts = ["no", "A Tusk and TUSK", "the tusks' tusk"]
    said = "No results for 'tsuk'. Showing 'Tusk' or 'tusks'."
    assert fuzzy.note(near, texts) == said


@pytest.mark.parametrize("word", ["database", "library", "relational", "hoping", "walrus", "news"])
def test_a_stem_has_a_word(word: str) -> None:
    assert stem(fuzzy._with_stem(stem(word))) == stem(word)
