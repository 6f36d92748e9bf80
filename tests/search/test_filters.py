"""What a filter lets through, and what is said of one that lets nothing through."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import BadRequest, NotFound
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.search.conftest import Searched


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, {"memory", "sources"}),
        ({"scopes": ["memory"]}, {"memory"}),
        ({"scopes": ["sessions"]}, {"sessions"}),
        ({"scopes": ["archive"]}, {"archive"}),
        ({"scopes": ["sources", "archive"]}, {"sources", "archive"}),
        ({"scopes": ["all"]}, {"memory", "sources", "sessions", "archive"}),
        ({"scopes": ["items"]}, set()),
        ({"project": "zoo"}, {"memory"}),
        ({"agent": "zoo"}, {"memory"}),
        ({"agent": "Keeper"}, {"memory"}),
        ({"agent": "ada"}, set()),
        ({"kinds": ["note"]}, {"sources"}),
        ({"tags": ["animals"]}, {"sources"}),
        ({"tags": ["nothing"]}, set()),
    ],
)
def test_filters(wanted: dict[str, Any], expected: set[str], searched: Searched) -> None:
    hits = searched().search("walrus", **wanted).results
    assert {hit.row.scope for hit in hits} == expected


def test_an_agent_by_folder_id_or_name(searched: Searched) -> None:
    brain = searched()
    for name in ("admin", "agent_admin", "Ada", "ADA"):
        assert kit.found(brain, "sqlite", agent=name) == ["40_Brain/MEMORY.md"]
    with pytest.raises(NotFound, match="no agent 'nobody'"):
        brain.search("sqlite", agent="nobody")


@pytest.mark.parametrize(
    ("tag", "found"),
    [("db", True), ("DB", True), ("#db", True), ("d", False), ("db/x", False), ("animals", True),
     ("Animals/SEA", True), ("animals/s", False), ("sea", False), ("%", False), ("_b", False)],
)  # fmt: skip
def test_tags(tag: str, found: bool, searched: Searched) -> None:
    hits = searched().search("database sqlite tusks", tags=[tag]).results
    assert bool(hits) == found


def test_all_tags_must_be_there(searched: Searched) -> None:
    brain = searched({"a.md": "walrus #one #two\n", "b.md": "walrus #one\n"})
    assert kit.found(brain, "walrus", tags=["one", "two"]) == ["a.md"]


@pytest.mark.parametrize(
    ("since", "until", "days"),
    [
        ("", "", [1, 15, 28]),
        ("2026-02-15", "", [15, 28]),
        ("", "2026-02-15", [1, 15]),
        ("2026-02-02", "2026-02-27", [15]),
        ("2026-02-01", "2026-02-01", [1]),
        ("2026-03-01", "", []),
    ],
)
def test_dates(since: str, until: str, days: list[int], searched: Searched) -> None:
    lines = [f"- 2026-02-{day:02}: walrus\n" for day in (1, 15, 28)]
    brain = searched({"40_Brain/MEMORY.md": "".join(lines)})
    hits = brain.search("walrus", since=since, until=until).results
    assert sorted(int(hit.row.created[8:10]) for hit in hits) == days


def test_bad_filters(searched: Searched) -> None:
    brain = searched()
    with pytest.raises(BadRequest, match="no scope 'everything'"):
        brain.search("x", scopes=["everything"])
    with pytest.raises(BadRequest, match=r"no kind 'descision'\. Did you mean 'decision'"):
        brain.search("x", kinds=["descision"])
    with pytest.raises(BadRequest, match=r"no kind 'qqq'\. Kinds: agent, architecture"):
        brain.search("x", kinds=["fact", "qqq"])
    with pytest.raises(BadRequest, match="not a date"):
        brain.search("x", since="soon")
    with pytest.raises(BadRequest, match="nothing to search for"):
        brain.search("  ")


def test_kinds_of_the_vault_are_kinds(searched: Searched) -> None:
    text = '[{"id": "a", "type": "Recipe", "content": "walrus soup"}]'
    brain = searched({"40_Brain/projects/p/items.json": text})
    path = "40_Brain/projects/p/items.json"
    assert kit.found(brain, "walrus", kinds=["Recipe"]) == [path]
    for kind in ("Task-Progress", "FACT", "task", "assistant"):  # of which there is none
        assert kit.found(brain, "walrus", kinds=[kind]) == []
    with pytest.raises(BadRequest, match=r"no kind 'Recipes'\. Did you mean 'Recipe'"):
        brain.search("x", kinds=["Recipes"])


def test_no_error_names_a_kind_that_may_not_be_seen(vault: MakeVault, opened: OpenBrain) -> None:
    item = '[{"id": "a", "type": "recipe", "content": "walrus soup"}]'
    agent = "40_Brain/projects/{}/agent/AGENT.md"
    brain = opened(vault({
        "40_Brain/projects/p/items.json": item,
        **{agent.format(name): f"---\nid: {name}\n---\n" for name in ("p", "q")},
    }))  # fmt: skip
    assert kit.found(brain, "walrus", kinds=["recipe"], by="p")
    for asked in ("recipe", "recipes"):
        with pytest.raises(BadRequest, match=rf"no kind '{asked}'\. Kinds: (?!.*recipe)"):
            brain.search("walrus", kinds=[asked], by="q")


def test_an_answer_tells_that_there_is_no_such_tag_or_project(searched: Searched) -> None:
    brain = searched()
    nothing = brain.search("sqlite", tags=["#nope", "db"], project="nowhere")
    assert nothing.results == []
    assert nothing.notes == (
        "No entry has the tag #nope.",
        "No entry belongs to the project 'nowhere'.",
    )
    for wanted in ({"tags": ["animals"]}, {"project": "zoo"}):
        assert brain.search("sqlite", **wanted).notes == ()


def test_a_filter_looks_beyond_the_best_matches(searched: Searched) -> None:
    """One note among a thousand better ones is found when it alone passes."""
    brain = searched({"z.md": "walrus and much else besides #rare\n"}
                     | {f"{n}.md": "walrus walrus\n" for n in range(600)})  # fmt: skip
    assert kit.found(brain, "walrus", tags=["rare"]) == ["z.md"]


@pytest.mark.parametrize("tag", ["", "#", " "])
def test_an_empty_tag_is_refused(searched: Searched, tag: str) -> None:
    with pytest.raises(BadRequest, match="A tag is empty"):
        searched().search("sqlite", tags=["db", tag])
