"""Search by meaning: vectors kept in step, compared exactly, and failing in a sentence."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import embed, serialize
from brain.api import Brain
from brain.errors import NoModel
from brain.index import read
from brain.index.read import Filters
from brain.model import SCOPES
from brain.operations import search as searching
from brain.search import hybrid as hybrid
from brain.search.factors import ADDED, MULTIPLIED
from brain.search.hybrid import Piece
from brain.state import Recall
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.embed.kit import Broken, Hashing, Sleeper

np = pytest.importorskip("numpy")

CARS = {
    "car.md": "The automobile needs new tyres before winter.\n",
    "cat.md": "The feline sleeps on the sofa all day long.\n",
    "40_Brain/agents/mech/AGENT.md": "---\ntype: project\n---\nA mechanic.\n",
    "40_Brain/agents/mech/MEMORY.md": "- My vehicle makes a strange noise\n",
}
EVERY = Filters(scopes=SCOPES)


def similar(brain: Brain, question: str, filters: Filters, limit: int) -> dict[int, float]:
    """The entries that are nearest, after all were embedded."""
    brain.vault.provider = brain.vault.provider or Hashing()
    brain.sync()
    brain.vault.meaning.embed_pending()
    return hybrid.similar(brain.vault.meaning, brain.vault.index, question, filters, limit=limit)


def test_what_means_the_same_is_near(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault(CARS))
    found = similar(brain, "car", EVERY, 2)
    rows = read.rows(brain.vault.index, list(found))
    assert {row.path for row in rows} == {"car.md", "40_Brain/agents/mech/MEMORY.md"}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert all(0 < cosine <= 1 for cosine in found.values())


def test_an_agent_is_not_told_what_it_may_not_read(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault(CARS))
    found = similar(brain, "vehicle noise", EVERY._replace(owners=("admin",)), 50)
    assert {row.agent for row in read.rows(brain.vault.index, list(found))} <= {"admin"}
    mine = similar(brain, "noise", EVERY._replace(owners=("mech",)), 50)
    assert {row.agent for row in read.rows(brain.vault.index, list(mine))} == {"mech"}


def test_what_a_model_sees_of_an_entry() -> None:
    turn = Piece(1, "sessions", "s", "Ada", "On Tuesday.", "Bob: " + "x" * 999 + " When?")
    (seen,) = hybrid.texts(turn)
    assert seen.endswith("x When?\nAda: On Tuesday.")
    assert len(seen) < 300
    note = Piece(2, "sources", "Plan", "Goals", "---\ntags: [a]\n---\n# Goals\n\nWin.\n", "")
    assert hybrid.texts(note) == ["Plan\nGoals\nWin."]
    memory = Piece(3, "memory", "MEMORY", "Key Decisions", "Chose SQLite", "")
    assert hybrid.texts(memory) == ["Key Decisions\nChose SQLite"]


@given(st.text(max_size=30), st.text(max_size=6000))
def test_all_of_a_text_is_seen_in_windows(heading: str, text: str) -> None:
    seen = hybrid.texts(Piece(1, "items", "", heading, text, ""))
    assert all(len(window) <= hybrid.WINDOW + hybrid.LEAD + 1 for window in seen)
    whole = "".join(hybrid.windows(text))
    assert "".join(whole.split()) == "".join(text.split())


def test_the_end_of_a_long_note_is_found(vault: MakeVault, opened: OpenBrain) -> None:
    filler = "Nothing of interest stands in this sentence. " * 50
    brain = opened(vault({"long.md": filler + "The physician came.", "short.md": filler[:900]}))
    found = similar(brain, "doctor", EVERY, 1)
    assert [row.path for row in read.rows(brain.vault.index, list(found))] == ["long.md"]


HYBRID = {**CARS, "40_Brain/brain.yaml": "searchProvider: hybrid\nsimilarityThreshold: 0.2\n"}


@pytest.fixture
def searched(vault: MakeVault, opened: OpenBrain) -> Brain:
    """A vault that is searched by meaning."""
    brain = opened(vault(HYBRID))
    brain.vault.provider = Hashing()
    return brain


def test_what_holds_none_of_the_words_is_found(searched: Brain) -> None:
    answer = searched.search("a new car", scopes=["all"])
    assert [hit.row.path for hit in answer.results][:2] == [
        "car.md",
        "40_Brain/agents/mech/MEMORY.md",
    ]
    assert answer.notes == ()
    assert kit.found(searched, "car") != []  # where no word matches at all
    assert answer.freshness.fresh


def test_what_is_found_by_meaning_alone_shows_its_text(vault: MakeVault, opened: OpenBrain) -> None:
    text = f"---\ntags: [garage]\n---\n\n{CARS['car.md']}"
    brain = opened(vault({**HYBRID, "car.md": text}))
    brain.vault.provider = Hashing()
    (hit,) = (hit for hit in brain.search("vehicle").results if hit.row.path == "car.md")
    assert hit.factors["note"] + hit.factors["passage"] == 0
    assert (hit.line, hit.snippet()) == (5, CARS["car.md"].strip())


def test_the_score_follows_from_what_is_shown(searched: Brain) -> None:
    results = searched.search("the physician needs tyres", scopes=["all"]).results
    for hit in results:
        shown = serialize.search_result(hit, explain=True)
        factors = shown["factors"]
        added = sum(factors.get(name, 0) for name in ADDED)
        assert shown["score"] == added * math.prod(factors.get(name, 1) for name in MULTIPLIED)
    assert any(hit.factors.get("meaning") for hit in results)


def test_meaning_is_not_scaled_by_other_results(searched: Brain) -> None:
    """What an entry scores does not depend on what else is found."""
    before = {hit.path: hit.score for hit in searched.search("automobile tyres").results}
    root = searched.vault.paths.root
    (root / "more.md").write_text("Nothing of the sort, with as many words as others.\n")
    (root / "best.md").write_text("automobile\n")
    meaning = {
        hit.path: hit.factors["meaning"] for hit in searched.search("automobile tyres").results
    }
    assert before["car.md"] > meaning["car.md"] > 0
    cosines = hybrid.similar(
        searched.vault.meaning, searched.vault.index, "automobile tyres", Filters()
    )
    rows = {row.path: row.id for row in read.rows(searched.vault.index, list(cosines))}
    assert meaning["car.md"] == pytest.approx(2 * cosines[rows["car.md"]])


def test_an_agent_finds_by_meaning_only_what_it_may_read(searched: Brain) -> None:
    searched.sync()
    filters = Filters(scopes=SCOPES, owners=("mech",))
    searched.search("vehicle")
    vault = searched.vault
    hits, _ = searching.find(vault, "automobile", filters, 50, False, vault.meaning)
    assert {hit.row.agent for hit in hits} == {"mech"}


def test_the_answers_of_a_new_index_are_the_same(searched: Brain, tmp_path: Path) -> None:
    root = searched.vault.paths.root
    asked = ("car", "feline noise", "tyres", "winter on the sofa")
    kit.answers(searched, *asked)
    (root / "cat.md").rename(root / "tom.md")
    (root / "car.md").write_text("The vehicle is red, the noise is loud.\n")
    (root / "dog.md").write_text("A dog is no feline.\n")
    (root / "40_Brain/agents/mech/MEMORY.md").unlink()
    (root / "40_Brain/MEMORY.md").write_text("- A physician came by automobile\n")
    before = kit.answers(searched, *asked)
    searched.sync(rebuild=True)
    assert kit.answers(searched, *asked) == before


@pytest.mark.parametrize(
    "model",
    ["word2vec", "/nowhere/model", "command: /nowhere/model", "http://127.0.0.1:1/", ""],
)
def test_without_its_model_search_goes_on_by_words(
    vault: MakeVault, opened: OpenBrain, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = f"searchProvider: hybrid\nvectorModel: '{model}'\n"
    brain = opened(vault({**CARS, "40_Brain/brain.yaml": settings}))
    plain = opened(vault(CARS))
    answer = brain.search("strange tyres", scopes=["all"])
    assert [hit.row.path for hit in answer.results] == kit.found(
        plain, "strange tyres", scopes=["all"]
    )
    (said,) = answer.notes
    assert said.startswith("Searched by words alone. ")
    assert serialize.answer(answer)["notes"] == [said]
    assert "\n" not in said
    assert len(searching.embed(brain.vault)) == 1


def test_a_model_that_fails_only_when_it_is_asked(searched: Brain) -> None:
    searched.search("car")
    searched.vault.meaning.model = Broken(RuntimeError("out of memory"))
    answer = searched.search("tyres")
    assert [hit.row.path for hit in answer.results] == ["car.md"]
    assert "out of memory" in answer.notes[0]


def test_an_answer_says_what_is_not_searched_by_meaning_yet(
    searched: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "PATIENCE", 0.0)
    (said,) = searched.search("tyres").notes
    assert said == "4 passages are not searched by meaning yet; `brain sync` embeds the rest."
    assert searching.embed(searched.vault) == []
    assert searched.search("tyres").notes == ()


def test_names_of_speakers_are_left_out_of_what_is_meant(
    vault: MakeVault, opened: OpenBrain
) -> None:
    turns = [("Ada", "I bought an automobile."), ("Bob", "Hello Ada, dear Ada!")]
    lines = [
        json.dumps({"id": f"t{n}", "role": "user", "name": name, "content": text})
        for n, (name, text) in enumerate(turns)
    ]
    brain = opened(vault({**HYBRID, "40_Brain/sessions/one.jsonl": "\n".join(lines) + "\n"}))
    brain.vault.provider = model = Hashing()
    hits = brain.search("Which car does Ada's have?", scopes=["sessions"]).results
    assert model.given[-1] == "Which car does have?"
    assert hits[0].row.ref == "t0"


def test_what_has_no_word_of_the_question_must_be_near(searched: Brain) -> None:
    """The meaning of what has one counts, however little that is."""
    searched.search("car")

    def found(threshold: float) -> dict[str, dict[str, float]]:
        vault = searched.vault
        vault.config = vault.config._replace(similarityThreshold=threshold)
        hits, _ = searching.find(vault, "the car makes noise", Filters(), 9, False, vault.meaning)
        return {hit.row.path: hit.factors for hit in hits}

    every, few = found(0.0), found(0.99)
    words = {path for path, parts in every.items() if parts.get("note") or parts.get("share")}
    assert set(few) == words < set(every)
    assert "car.md" in every
    assert all(few[path] == every[path] for path in words)
    assert any(parts["meaning"] for parts in few.values())


def test_feedback_counts_for_what_is_found_by_its_meaning_alone(
    vault: MakeVault, opened: OpenBrain
) -> None:
    brain = opened(vault({**HYBRID, "40_Brain/MEMORY.md": "- The physician is kind ^m-7f3k2ab4\n"}))
    brain.vault.provider = Hashing()
    (before,) = brain.search("doctor", scopes=["memory"]).results[:1]
    brain.reinforce("m-7f3k2ab4")
    (after,) = brain.search("doctor", scopes=["memory"]).results[:1]
    assert (before.factors["share"], before.factors["feedback"]) == (0.0, 1.0)
    assert after.factors["feedback"] > 1.5


def test_a_context_is_made_by_meaning_too(vault: MakeVault, opened: OpenBrain) -> None:
    files = {**HYBRID, "40_Brain/MEMORY.md": "- The physician is kind\n- Boats are wet\n"}
    brain = opened(vault(files))
    brain.vault.provider = Hashing()
    assert "The physician is kind" in brain.context("doctor").text
    brain.vault.meaning.model = Broken(RuntimeError("down"))
    said = brain.context("boats")
    assert "Boats are wet" in said.text
    assert said.degraded == "some passages were not searched by meaning"


def test_a_context_has_less_similar_notes_behind_one_that_passes_the_gate(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """The threshold is for a search: a context names further notes."""
    strict = "searchProvider: hybrid\nsimilarityThreshold: 0.99\n"
    files = {"40_Brain/brain.yaml": strict, "red.md": "My car is red\n", "b.md": "An automobile\n"}
    brain = opened(vault(files))
    brain.vault.provider = Hashing()
    assert [hit.row.path for hit in brain.search("red car").results] == ["red.md"]
    assert "b.md" in brain.context("red car").text
    assert "b.md" not in brain.context("boats on a lake").text


@pytest.mark.parametrize(("threshold", "has_turns"), [(0.1, True), (0.99, False)])
def test_turns_by_meaning_alone_must_be_near_for_a_context_to_have_turns(
    threshold: float, has_turns: bool, vault: MakeVault, opened: OpenBrain
) -> None:
    turn = json.dumps({"id": "t0", "role": "user", "content": "I bought an automobile."})
    settings = f"searchProvider: hybrid\nsimilarityThreshold: {threshold}\n"
    brain = opened(
        vault({"40_Brain/brain.yaml": settings, "40_Brain/sessions/a.jsonl": turn + "\n"})
    )
    brain.vault.provider = Hashing()
    assert ("automobile" in brain.context("car", scopes=["sessions"]).text) is has_turns


def test_what_means_the_same_is_a_cluster(vault: MakeVault, opened: OpenBrain) -> None:
    lines = "- My car is red ^m-00000001\n- My automobile is red ^m-00000002\n- Bread ^m-00000003\n"
    files = {"40_Brain/MEMORY.md": lines}
    plain = opened(vault(files))
    assert plain.graph().clusters == []  # no word, tag or link says so
    brain = opened(vault({**files, "40_Brain/brain.yaml": "searchProvider: hybrid\n"}))
    brain.vault.provider = Hashing()
    brain.sync()
    (cluster,) = brain.graph().clusters
    assert sorted(cluster["members"]) == ["m-00000001", "m-00000002"]
    brain.vault.provider = Broken(NoModel("gone"))  # type: ignore[assignment]
    del brain.vault.meaning
    assert brain.graph().clusters == []


def test_a_model_that_hangs_is_waited_for_once(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(embed, "TIMEOUT", 0.2)
    brain, sleeper = opened(vault(HYBRID)), Sleeper(0.3)
    brain.vault.provider = sleeper
    started = time.perf_counter()
    said = brain.context("tyres")
    took = time.perf_counter() - started
    assert "took longer than 0.2 s" in said.notes[0]
    [(_, ms, _)] = brain.vault.state.rows(Recall)
    assert ms < (took - 0.2) * 1000  # the rest is the model's
    for answer in (brain.search("tyres"), brain.search("tyres")):
        assert [hit.row.path for hit in answer.results] == ["car.md"]
        assert "is called again in" in answer.notes[0]
    assert len(sleeper.asked) == 1
    # who can wait asks it all the same
    assert "took longer than 0.3 s" in searching.embed(brain.vault)[0]
    assert len(sleeper.asked) == 2


def test_a_model_that_works_again_is_asked_after_a_sync(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(embed, "SLOW", 0.0)  # as if it had taken long
    brain = opened(vault(HYBRID))
    brain.vault.provider = Broken(RuntimeError("busy"))  # type: ignore[assignment]
    assert "busy" in brain.search("car").notes[0]
    monkeypatch.setattr(brain.vault.provider, "answer", None)
    assert "a moment ago" in brain.search("car").notes[0]
    brain.vault.provider = Hashing()
    brain.vault.provider.name = "broken"
    del brain.vault.meaning
    assert "a moment ago" in brain.search("car").notes[0]
    assert searching.embed(brain.vault) == []
    assert brain.search("car").notes == ()


def test_what_may_not_be_seen_is_not_seen(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = opened(vault())
    brain.sync()
    index = brain.vault.index
    every = [id for (id,) in index.rows("SELECT id FROM entries ORDER BY id DESC")]
    assert list(hybrid.passing(index, every, Filters(scopes=SCOPES))) == every
    own = Filters(scopes=("memory",), owners=("zoo",))
    whole = list(hybrid.passing(index, [*every, 10**9], own))
    assert {(row.agent, row.scope) for row in read.rows(index, whole)} == {("zoo", "memory")}
    for step in (1, 2, 5):
        monkeypatch.setattr(hybrid, "STEP", step)
        assert list(hybrid.passing(index, every, own)) == whole
    assert list(hybrid.passing(index, every, Filters(owners=()))) == []
