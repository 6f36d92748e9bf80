"""Questions about what the journals say."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.index import read
from brain.index.db import Index
from brain.index.records import Conflict, conflicts
from brain.journal.reader import update_index
from brain.journal.writer import Journal
from tests.journal.kit import Clock, device, dump, index, links, put

AT = "2026-03-01T12:00:00.000Z"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return device(tmp_path, clock=Clock())


@pytest.fixture
def known(tmp_path: Path) -> Index:
    return index(tmp_path)


def test_nothing_is_known_of_what_nothing_was_said_of(journal: Journal, known: Index) -> None:
    update_index(journal, known)
    assert read.facts(known, ["m-1", "\ud800"]) == {}
    assert read.facts(known, []) == {}
    assert links(known, "m-1") == []
    assert conflicts(known) == []
    assert read.all_ids(known, "m-1") == {"m-1"}
    assert dump(known) == []


def test_links_are_learned_in_both_directions(journal: Journal, known: Index) -> None:
    put(journal, "used_together", "m-2", other="m-1", strength=2)
    put(journal, "used_together", "m-1", other="m-2", strength=0.5)
    put(journal, "used_together", "m-3", other="m-1")
    put(journal, "used_together", "m-1", other="m-1")
    update_index(journal, known)
    assert links(known, "m-1") == [("m-2", 2.5, AT), ("m-3", 1.0, AT)]
    assert links(known, "m-3") == [("m-1", 1.0, AT)]


def test_a_conflict_is_open_until_it_is_resolved(journal: Journal, known: Index) -> None:
    raised = put(journal, "conflict", "m-2", other="m-1", type="contradictory")
    put(journal, "conflict", "m-3", other="m-4", type="superseded")
    put(journal, "alias", "m-0", old="m-2")
    update_index(journal, known)
    first, second = conflicts(known)
    assert first == Conflict("m-2", "m-1", "contradictory", AT, "bot", raised.id)
    put(journal, "resolve", "m-1", other="m-0")
    update_index(journal, known)
    assert conflicts(known) == [second]
    assert conflicts(known, open_only=False) == [first._replace(resolved=AT), second]
    put(journal, "conflict", "m-1", other="m-0")
    put(journal, "resolve", "m-3")  # all of its conflicts
    update_index(journal, known)
    assert [(c.ref, c.type) for c in conflicts(known)] == [("m-1", "ambiguous")]


def test_facts_survive_the_index(journal: Journal, known: Index) -> None:
    for op in ("remember", "reinforce", "hit", "merge"):
        put(journal, op)
    update_index(journal, known)
    before = read.facts(known, ["m-1"])
    known.rebuild()
    assert read.facts(known, ["m-1"]) == {}
    update_index(journal, known)
    assert read.facts(known, ["m-1"]) == before
