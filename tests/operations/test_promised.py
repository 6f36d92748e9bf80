"""What is promised and not written yet can be found; what a person edits keeps its history."""

from __future__ import annotations

import os
import time

from brain.index import read
from brain.operations import lookup
from tests import kit
from tests.conftest import MakeVault, OpenBrain

NOTE = "40_Brain/MEMORY.md"


def test_a_memory_that_waits_for_a_person_to_pause_is_found_at_once(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({NOTE: "# Agent Memory\n\n## Facts\n- The walrus naps\n"})
    brain = opened(root)
    brain.search("walrus")
    with open(root / NOTE, "a") as file:
        file.write("- a person is typing\n")
    before = (root / NOTE).read_bytes()
    heard: list[str] = []
    brain.events.subscribe(lambda event: heard.append(str(event)))
    made = brain.remember("Clams are delivered on Mondays", kind="fact")
    assert made.state == "pending"
    assert (root / NOTE).read_bytes() == before
    assert [hit.row.ref for hit in brain.search("clams mondays").results] == [made.id]
    rows = read.listed(brain.vault.index, lookup.filters(brain.vault, ["memory"]), 10)
    assert made.id in [row.ref for row in rows]
    dump = kit.dump(brain.vault.index)
    brain.sync()
    assert kit.dump(brain.vault.index) == dump
    past = time.time() - 60
    os.utime(root / NOTE, (past, past))
    brain.search("clams")
    assert b"Clams are delivered" in (root / NOTE).read_bytes()
    assert [hit.row.ref for hit in brain.search("clams mondays").results] == [made.id]
    told = [event for event in heard if "memory:write" in event and made.id in event]
    assert len(told) == 1


def test_the_score_survives_a_person_s_edit(vault: MakeVault, opened: OpenBrain) -> None:
    """An entry without an id of its own has one that comes from its words."""
    root = vault({NOTE: "- The walrus naps at noon\n- Deploys go out on Tuesdays\n"})
    brain = opened(root)
    brain.sync()
    old = lookup.find(brain.vault, "walrus").ref
    brain.reinforce(old)
    kit.outdate(root / NOTE)
    text = (root / NOTE).read_text()
    (root / NOTE).write_text(text.replace("at noon", "at one"))
    brain.sync()
    shown = brain.show(old)
    assert shown.text.startswith("The walrus naps at one")
    assert shown.id != old
    assert shown.score == 3
    [hit] = brain.search("walrus naps").results
    assert hit.factors["feedback"] > 1.8
    brain.sync(rebuild=True)
    assert brain.show(old).score == 3


def test_a_vault_that_nobody_has_written_to_gets_no_journal(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({NOTE: "- The walrus naps at noon\n"})
    brain = opened(root)
    brain.sync()
    (root / NOTE).write_text("- The walrus naps at one o'clock\n")
    brain.sync()
    assert not (root / "40_Brain" / "journal").exists()


def test_what_is_to_be_forgotten_is_not_found_any_more(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({NOTE: "- The walrus naps ^m-00000001\n- The seal sings ^m-00000002\n"}))
    brain.search("walrus")
    assert brain.forget("m-00000001").state == "pending"
    assert brain.search("walrus").results == []
    assert len(brain.search("seal").results) == 1


def test_what_waits_and_is_said_again_gets_what_was_asked_for(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({NOTE: "## Facts\n- Clams come on Sundays\n"})
    brain = opened(root)
    made = brain.remember("Clams come on Mondays", date=False)
    assert made.state == "pending"
    again = brain.remember("Clams come on Mondays", supersedes=["Sundays"], tags=["food"])
    assert (again.outcome, again.id, again.tags) == ("duplicate", made.id, ["food"])
    assert [hit.row.ref for hit in brain.search("clams").results] == [made.id]
    past = time.time() - 60
    os.utime(root / NOTE, (past, past))
    brain.search("clams")
    assert "- Clams come on Mondays #food [supersedes:: [[#^m-" in (root / NOTE).read_text()
