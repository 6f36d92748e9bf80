"""Notes by their title, and the forms of a scope, a time, a kind and a tag."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from brain.api import Brain
from brain.errors import Ambiguous, BadRequest, NotFound
from brain.operations.lookup import scopes_of
from brain.timestamps import time_of
from tests import kit
from tests.operations.conftest import Made, note

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
LONG = "# Boats\n\n" + "".join(f"## Part {n}\n\n{'A boat floats. ' * 60}\n\n" for n in range(9))
FILES: dict[str, str | bytes] = {
    "40_Brain/AGENT.md": kit.AGENT,
    "40_Brain/MEMORY.md": "# Memory\n\n## Errors\n\n"
    "- 2026-03-01: Boats leak #sea ^m-00000001\n- 2026-03-09: Boats sink #sea ^m-00000002\n",
    "40_Brain/tasks.json": '[{"id": "T-1", "title": "Caulk"}, {"id": "T-2", "title": "Paint"}]',
    "Sea/Boats.md": LONG,
    "Sea/Old/Rafts.md": "---\ntitle: Log rafts\n---\nRafts drift.\n",
    "Lake/Rafts.md": "Rafts on a lake. #sea\n",
}


@pytest.fixture
def brain(made: Made) -> Brain:
    return made(FILES)


@pytest.mark.parametrize("name", ["Sea/Boats.md", "Boats", "boats", "Boats.md", "Sea/Boats"])
def test_a_note_is_shown_whole_by_path_and_by_title(brain: Brain, name: str) -> None:
    shown = brain.show(name)
    assert shown.text == LONG.rstrip("\n")
    assert (shown.path, shown.line, shown.end_line) == ("Sea/Boats.md", 1, LONG.count("\n") - 1)


def test_a_memory_note_is_shown_whole(brain: Brain) -> None:
    shown = brain.show("40_Brain/MEMORY.md")
    assert shown.text == note(brain).rstrip("\n")
    assert (shown.kind, shown.tags) == ("note", ["sea"])


def test_a_file_of_records_says_that_there_is_more(brain: Brain) -> None:
    assert brain.show("40_Brain/tasks.json").more == 1
    assert brain.show("T-1").more is None


def test_two_notes_of_one_name_are_told_apart_by_their_paths(brain: Brain) -> None:
    with pytest.raises(Ambiguous, match=r"Lake/Rafts\.md"):
        brain.show("Rafts")
    assert brain.show("log rafts").path == "Sea/Old/Rafts.md"


def test_a_link_leads_to_a_heading_or_a_block_of_a_note(brain: Brain) -> None:
    made = brain.remember("Oars float", links=["boats#Part 3", "Lake/Rafts.md#^b1", "Ships#Deck"])
    assert made.text.endswith("[[Boats#Part 3]] [[Lake/Rafts#^b1]] [[Ships#Deck]]")
    assert made.unmade == ["Ships#Deck"]
    linked = brain.link(made.id, "Boats.md#Part 4")
    assert "[relates_to:: [[Boats#Part 4]]]" in linked.text
    assert brain.unlink(made.id, "boats#Part 4").text == made.text
    with pytest.raises(NotFound, match=r"write \[\[Rowing#Deck\]\]"):
        brain.link(made.id, "Rowing#Deck")


def test_a_memory_is_not_shadowed_by_a_note_of_that_name(made: Made) -> None:
    brain = made({**FILES, "Boats leak.md": "Why?\n"})
    assert brain.show("Boats leak").path == "Boats leak.md"
    assert brain.pin("Boats leak").id == "m-00000001"


def test_a_place_in_a_note_is_one_passage(brain: Brain) -> None:
    assert len(brain.show("Sea/Boats.md:11").text) < len(LONG)


def test_notes_is_a_name_of_the_sources(brain: Brain) -> None:
    assert {hit.row.scope for hit in brain.search("boat", scopes="notes")} == {"sources"}
    assert {one.scope for one in brain.list(scopes=["notes"])} == {"sources"}
    assert "Sea/Boats.md" in brain.context("boat floats", scopes=["notes"]).text
    assert scopes_of(("notes", "memory", "sources")) == ("sources", "memory")
    with pytest.raises(BadRequest, match="notes, all"):
        scopes_of(("dreams",))


def test_failure_is_a_name_of_the_kind_error(brain: Brain) -> None:
    assert [one.id for one in brain.list(kinds=["failure"])] == ["m-00000002", "m-00000001"]
    assert [one.kind for one in brain.list(where="kind=failure")] == ["error", "error"]
    assert brain.search("boats", kinds=["failure"])[0].row.kind == "error"
    assert brain.remember("Masts break", kind="failure").kind == "error"


def test_an_age_is_a_time(brain: Brain) -> None:
    brain.vault.clock = lambda: NOW
    assert [one.id for one in brain.list(since="7d")] == ["m-00000002"]
    assert [hit.row.ref for hit in brain.search("boats", scopes="memory", since="1w")] == [
        "m-00000002"
    ]
    assert [one.id for one in brain.list(until="2d")] == ["m-00000001"]
    assert brain.audit(since="7d") == []
    with pytest.raises(BadRequest, match="7d for seven days ago"):
        brain.list(since="soon")


def test_an_age_in_days_means_the_whole_day_of_an_entry_only() -> None:
    """`revert --since 1d` undoes what was done in 24 hours, not more."""
    exact = datetime.fromisoformat(time_of("1d", NOW))
    assert (NOW - exact).total_seconds() == 86400
    assert len(time_of("1d", NOW, whole_days=True)) == len("2026-03-09")
    assert time_of("999999w", NOW) == "0001-01-01"
    assert time_of(" 2026-02 ", NOW) == "2026-02"


@pytest.mark.parametrize("query", ["tag:sea", "tag:#sea", "TAG:sea", "tag:sea leak"])
def test_a_tag_may_be_written_as_in_obsidian(brain: Brain, query: str) -> None:
    plain = "#sea" + query[query.index("sea") + 3 :]
    found, same = brain.search(query), brain.search(plain)
    assert [hit.row.ref for hit in found] == [hit.row.ref for hit in same] != []
    assert [hit.score for hit in found] == [hit.score for hit in same]
    assert {hit.row.ref for hit in found} >= {"m-00000001", "m-00000002"}
