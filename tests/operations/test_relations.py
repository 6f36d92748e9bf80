"""Weights of links, types of conflicts, and where a memory comes from."""

from __future__ import annotations

import pytest

from brain.api import Brain
from brain.errors import BadRequest
from tests import kit
from tests.operations.conftest import Made
from tests.store.kit import SECRET

A, B = "m-0000000a", "m-0000000b"
FILES: dict[str, str | bytes] = {
    "40_Brain/AGENT.md": kit.AGENT,
    "40_Brain/MEMORY.md": f"- Walruses eat clams #sea ^{A}\n- Seals bark #sea ^{B}\n",
    "Ice.md": "Ice floats.\n",
}


@pytest.fixture
def brain(made: Made) -> Brain:
    return made(FILES)


def weights(brain: Brain, id: str) -> dict[str, float]:
    return {
        edge["target"]: edge["weight"]
        for edge in brain.graph().edges
        if edge["source"] == id and edge["type"] == "relates_to"
    }


def test_a_link_may_have_a_weight(brain: Brain) -> None:
    brain.link(A, B, weight=0.9)
    brain.link(A, "Ice", weight=0.2)
    assert weights(brain, A) == {B: 0.9, "[[Ice]]": 0.2}
    assert brain.link(A, B, weight=0.7).outcome == "linked"
    assert brain.link(A, B).outcome == "unchanged"
    brain.sync(rebuild=True)
    assert weights(brain, A) == {B: 0.7, "[[Ice]]": 0.2}
    with pytest.raises(BadRequest, match="weight must be from 0 to 1"):
        brain.link(A, B, weight=2)


def test_the_weight_of_a_link_can_be_undone(brain: Brain) -> None:
    brain.link(A, B, weight=0.9)
    brain.link(A, B, weight=0.7)
    undone = brain.undo()
    assert weights(brain, A) == {B: 0.9}
    brain.undo(undone.event)
    assert weights(brain, A) == {B: 0.7}
    brain.forget(A)
    assert weights(brain, A) == {}


def test_nodes_carry_their_counts(brain: Brain) -> None:
    brain.link(A, "Ice")
    counts = {node["id"]: node.get("count") for node in brain.graph().nodes}
    assert (counts["#sea"], counts["[[Ice]]"], counts[A]) == (2, 1, None)
    around = {node["id"]: node.get("count") for node in brain.graph(A, depth=1).nodes}
    assert around["#sea"] == 2
    clusters = [node for node in brain.graph().nodes if node["type"] == "cluster"]
    assert [node["count"] for node in clusters] == [
        len(c["members"]) for c in brain.graph().clusters
    ]


def types(brain: Brain, all: bool = False) -> list[str]:
    return [conflict.type for conflict in brain.conflicts(all=all)]


def test_two_names_for_one_thing_are_ambiguous(brain: Brain) -> None:
    brain.remember("The default branch is main")
    brain.remember("The default branch is trunk")
    brain.remember("Always feed the seals at noon")
    brain.remember("Never feed the seals at noon")
    assert types(brain) == ["ambiguous", "contradictory"]


def test_what_supersedes_is_no_open_conflict(brain: Brain) -> None:
    old = brain.remember("Always feed the seals at noon")
    new = brain.remember("Never feed the seals at noon", supersedes=[old.id])
    assert (new.outcome, new.conflicts) == ("added", [])
    assert "contradicts" not in new.text
    assert (types(brain), types(brain, all=True)) == ([], ["superseded"])
    (record,) = brain.audit(ops=["conflict"])
    assert record.data["type"] == "superseded"


def test_a_conflict_ends_as_superseded(brain: Brain) -> None:
    brain.remember("Always feed the seals at noon")
    new = brain.remember("Never feed the seals at noon")
    brain.resolve(new.id, keep=new.id)
    assert types(brain) == []
    (ended,) = brain.conflicts(all=True)
    assert (ended.type, bool(ended.resolved)) == ("superseded", True)


def test_a_memory_knows_the_messages_that_it_comes_from(brain: Brain) -> None:
    said = f"We talked about\nbait. password: {SECRET}"
    new = brain.remember("Clams are bait", session="s1", messages="12-18", snippet=said)
    origin = brain.show(new.id).provenance
    assert (origin.session, origin.messages) == ("s1", [12, 18])
    assert origin.snippet.startswith("We talked about bait.")
    assert SECRET not in origin.snippet
    plain = brain.show(brain.remember("Herring are bait", messages="7").id).provenance
    assert (plain.messages, plain.snippet) == ([7, 7], None)
    for wrong in ("18-12", "some", "-1"):
        with pytest.raises(BadRequest, match="is not a range of messages"):
            brain.remember("Krill is bait", messages=wrong)
