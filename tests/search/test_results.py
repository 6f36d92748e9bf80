"""What a search shows: each note once, equal notes once, memories in their order."""

from __future__ import annotations

import json

import pytest

from brain import serialize
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.search.conftest import OTHERS, Searched

SESSION_AGENT = "40_Brain/projects/zoo/agent/AGENT.md"
FILL = "Words that fill the page and say nothing of interest to anyone. " * 10


def test_a_note_is_shown_once_with_its_best_passage(searched: Searched) -> None:
    long = f"# A\n\n{FILL} walrus\n\n# B\n\n{FILL}\n\n# C\n\nThe walrus and its tusks\n"
    brain = searched({"a.md": long, "b.md": "tusks\n"})
    first, second = brain.search("walrus tusks").results
    assert (first.path, first.line) == ("a.md", long.count("\n"))
    assert first.snippet() == "The «walrus» and its «tusks»"
    assert second.path == "b.md"
    every = brain.search("walrus tusks", passages=True).results
    assert [hit.path for hit in every].count("a.md") == 2
    assert every[0].id == first.id
    assert every[0].score == first.score


def test_the_whole_note_counts(searched: Searched) -> None:
    """One word in each passage is more than one word in one of them."""
    both = f"# A\n\n{FILL} walrus\n\n# B\n\n{FILL}\n\n# C\n\n{FILL} tusks\n"
    one = f"# A\n\n{FILL} walrus\n\n# B\n\n{FILL}\n\n# C\n\n{FILL} clams\n"
    brain = searched({"a.md": one, "b.md": both})
    first, second = brain.search("walrus tusks").results
    assert [first.path, second.path] == ["b.md", "a.md"]
    assert first.factors["note"] > second.factors["note"]
    assert first.covered == 1 > second.covered


@pytest.mark.parametrize("place", ["title", "alias", "heading", "folder", "tag", "property"])
def test_a_note_is_found_by_what_is_not_its_text(place: str, searched: Searched) -> None:
    text = {
        "alias": "---\naliases: [Walrus]\n---\nsome text\n",
        "heading": "# Walrus\n\nsome text\n",
        "tag": "---\ntags: [walrus]\n---\nsome text\n",
        "property": "---\nanimal: walrus\n---\nsome text\n",
    }.get(place, "some text\n")
    path = {"title": "Walrus.md", "folder": "Walrus/a.md"}.get(place, "a.md")
    brain = searched({path: text, "b.md": "other text\n"})
    (hit,) = brain.search("walrus").results
    assert hit.path == path
    if place == "property":
        assert hit.line == 2


def test_equal_notes_are_shown_once(searched: Searched) -> None:
    same = "The walrus sleeps\n"
    brain = searched({"a.md": same, "Copy/a.md": same, "b.md": "The walrus wakes up\n"})
    hits = brain.search("walrus sleeps").results
    assert sorted(hit.path for hit in hits) == ["a.md", "b.md"] or [h.path for h in hits] == [
        "Copy/a.md",
        "b.md",
    ]
    assert {hits[0].path, *hits[0].also} == {"a.md", "Copy/a.md"}
    assert serialize.search_result(hits[0])["also"] == hits[0].also
    assert hits[1].also == []


def test_kind_and_source_are_words(searched: Searched) -> None:
    items = [
        {"id": "i1", "type": "decision", "title": "Store", "content": "One file"},
        {
            "id": "i2",
            "type": "fact",
            "title": "Log",
            "content": "Text",
            "sourceFile": "src/walrus.py",
        },
    ]
    brain = searched({
        "40_Brain/projects/p/items.json": json.dumps(items),
        "40_Brain/MEMORY.md": "## Decisions\n- Use one file\n## Other\n- Plain fact\n",
    })  # fmt: skip
    assert [h.id for h in brain.search("decision", scopes=["items"]).results] == ["i1"]
    assert [h.id for h in brain.search("walrus", scopes=["items"]).results] == ["i2"]
    (memory,) = brain.search("decision", scopes=["memory"]).results
    assert memory.row.text == "Use one file"


def test_the_source_of_a_memory_is_a_word(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"40_Brain/MEMORY.md": "- Written by hand\n"}))
    made = brain.remember("The walrus naps at noon", source="inferred")
    brain.remember("Seals nap at one", source="user_stated")
    assert [hit.id for hit in brain.search("inferred").results] == [made.id]
    (hit,) = brain.search("inferred walrus").results
    assert hit.covered == 1


# -- memories ----------------------------------------------------------------------------------


def test_age_never_ranks_all_words_below_fewer(searched: Searched) -> None:
    """An old memory that contains the whole question comes before newer entries with a part."""
    brain = searched({
        "40_Brain/MEMORY.md": "- 2019-01-01: agent loop implementation notes\n"
        "- 2026-02-27: agent of today\n- 2026-02-28: the loop again\n",
        **{f"{n}.md": f"filler {n}\n" for n in range(9)},
    })  # fmt: skip
    first, *others = brain.search("agent loop implementation").results
    assert first.row.line == 1
    assert first.covered == 1
    assert all(hit.covered < 0.9 for hit in others)


def test_age_orders_memories_that_cover_the_question_equally(searched: Searched) -> None:
    brain = searched({
        "40_Brain/MEMORY.md": "- 2019-01-01: the walrus eats\n- 2026-02-28: so a walrus eats it\n",
        **{f"{n}.md": f"filler {n}\n" for n in range(9)},
    })  # fmt: skip
    hits = brain.search("walrus").results
    assert [hit.row.line for hit in hits] == [2, 1]


def test_feedback_does_not_lift_a_memory_over_one_that_covers_more(
    vault: MakeVault, opened: OpenBrain
) -> None:
    lines = "- The walrus eats clams ^m-00000001\n- The walrus sleeps ^m-00000002\n"
    files = {f"{n}.md": f"filler {n}\n" for n in range(9)}
    brain = opened(vault({"40_Brain/MEMORY.md": lines} | files))
    for _ in range(3):
        brain.reinforce("m-00000002")
    assert [h.id for h in brain.search("walrus clams").results] == ["m-00000001", "m-00000002"]
    assert [h.id for h in brain.search("walrus").results] == ["m-00000002", "m-00000001"]


def test_no_memory_moves_below_an_entry_that_covers_less(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """Even if a fresher one that covers as much stands further down."""
    brain = opened(vault({
        "40_Brain/MEMORY.md": "- 2019-01-01: walrus clams\n"
        f"- 2026-02-28: walrus clams {'and many other words ' * 30}\n",
        "a.md": "walrus\n",
        **{f"{n}.md": f"filler {n}\n" for n in range(9)},
    }))  # fmt: skip
    hits = brain.search("walrus clams").results
    places = [(hit.path, hit.row.line) for hit in hits]
    assert places.index(("40_Brain/MEMORY.md", 1)) < places.index(("a.md", 1))


def test_the_explanation_gives_every_score(vault: MakeVault, opened: OpenBrain) -> None:
    from brain.search import factors

    brain = opened(vault(kit.VAULT))
    for hit in brain.search("walrus sqlite clams tusks", scopes=["all"], limit=50).results:
        shown = serialize.search_result(hit, explain=True)
        assert shown["score"] == factors.score(shown["factors"]) == hit.score
        assert 0 < shown["covered"] <= 1 or shown["factors"].get("near")


@pytest.mark.parametrize("path", ["a.md", "MEMORY.md", "40_Brain/a.md", "40_Brain/MEMORY.md"])
def test_an_entry_of_any_note_is_shown_with_its_links(path: str, searched: Searched) -> None:
    """The index has only some links of notes, and all links of a memory note and its tables."""
    brain = searched({path: "| walrus [[Other]] |\n|---|\n| [[MEMORY#^m-7f3k2ab4]] |\n"})
    (hit,) = brain.search("walrus").results
    found = [(link.line, link.target, link.fragment) for link in brain.show(hit.id).links or ()]
    assert found == [(1, "Other", ""), (3, "MEMORY", "^m-7f3k2ab4")]


def test_a_note_that_is_named_is_shown_whole(vault: MakeVault, opened: OpenBrain) -> None:
    text = f"---\ntags: [x]\n---\n# A\n\n{FILL} [[Other]]\n\n\n# B\n\n{FILL * 3}\n\n"
    text += "# C\n\nThe end #y\n"
    brain = opened(vault({"Notes/a.md": text}))
    brain.sync()
    whole = brain.show("Notes/a.md")
    assert whole.text.split() == text.split()
    assert [n for n, line in enumerate(whole.text.split("\n")) if line.startswith("#")] == [
        n for n, line in enumerate(text.split("\n")) if line.startswith("#")
    ]
    assert (whole.line, whole.end_line, whole.tags) == (1, text.count("\n"), ["x", "y"])
    assert [link.target for link in whole.links or ()] == ["Other"]
    assert [link.target for link in brain.show("Notes/a.md:4").links or ()] == ["Other"]
    part = brain.show(f"Notes/a.md:{text.count(chr(10))}")
    assert part.text.endswith("The end #y")
    assert len(part.text) <= 700
    assert brain.show(part.id).text == part.text


def test_a_note_without_text_is_found_by_its_title(searched: Searched) -> None:
    brain = searched({"Birds/Blue heron.md": "", "Kingfisher.md": "\n", "c.md": "a blue door\n"})
    first, second = brain.search("blue heron").results
    assert (first.path, first.line, first.snippet()) == (
        "Birds/Blue heron.md", 1, "«Blue» «heron»",
    )  # fmt: skip
    assert second.path == "c.md"
    assert [hit.path for hit in brain.search("kingfisher")] == ["Kingfisher.md"]


def test_notes_without_text_are_not_equal(searched: Searched) -> None:
    brain = searched({"Grey heron.md": "", "Blue heron.md": ""})
    found = brain.search("heron").results
    assert [(hit.path, hit.also) for hit in found] == [("Blue heron.md", []), ("Grey heron.md", [])]


def test_small_talk_weighs_little_in_memories_and_fully_elsewhere(searched: Searched) -> None:
    session = "40_Brain/projects/zoo/agent/sessions/s.jsonl"
    turns = ("I took the last train", "A walrus", *(f"Filler {n}" for n in range(8)))
    lines = (json.dumps({"id": f"t{n}", "role": "user", "content": t}) for n, t in enumerate(turns))
    memories = ("the last stuff to look for", "a walrus", *(f"page {n}" for n in range(4)))
    memory = "## Facts\n\n" + "".join(f"- {text}\n" for text in memories)
    notes = {"a.md": "the last stuff to look for\n", "b.md": "a walrus\n"}
    files = {**notes, "40_Brain/MEMORY.md": memory, SESSION_AGENT: "---\n---\n"}
    brain = searched({**files, session: "\n".join(lines)})
    question = "what stuff did the last walrus look at?"
    first, second, *_ = brain.search(question, scopes=["memory"]).results
    assert (first.text, second.text) == memories[1::-1]
    assert first.covered > 0.5 > second.covered
    assert brain.search(question, scopes=["notes"])[0].path == "a.md"
    (train, *_) = brain.search("the last one took what?", scopes=["sessions"]).results
    assert train.covered == 1


def test_what_occurs_nowhere_weighs_half_if_its_parts_count(searched: Searched) -> None:
    brain = searched({**OTHERS, "a.md": "缓存\n", "b.md": "limits of max size\n"})
    (cache,) = brain.search("缓存是什么").results
    assert cache.covered > 0.25  # one pair of four, and the whole sequence
    assert brain.search("max_size qqq").results[0].covered > 0.4
