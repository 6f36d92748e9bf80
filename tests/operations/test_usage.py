"""What is learned from a recall is nobody else's to know, and never in the way."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from brain.api import Brain
from brain.errors import NotFound
from brain.operations import pending, usage
from tests import kit
from tests.conftest import OpenBrain
from tests.operations.conftest import NOTE, Made
from tests.store.kit import SECRET

ALPHA, BETA = "40_Brain/agents/alpha", "40_Brain/agents/beta"
AGENTS: dict[str, str | bytes] = {
    "40_Brain/AGENT.md": kit.AGENT,
    "40_Brain/MEMORY.md": "- Rockets need fuel ^m-00000001\n",
    f"{ALPHA}/AGENT.md": "---\ntype: project\n---\nAlpha.\n",
    f"{ALPHA}/MEMORY.md": "- The launch pad is wet ^m-0000000a\n",
    f"{BETA}/AGENT.md": "---\ntype: project\n---\nBeta.\n",
    f"{BETA}/MEMORY.md": "- The launch code is 17 ^m-0000000b\n- Zeppelins float ^m-0000000c\n",
}


@pytest.fixture
def agents(made: Made) -> Brain:
    return made(AGENTS)


def test_what_one_agent_was_shown_is_not_told_another(agents: Brain) -> None:
    """Nor which round it is, though both name the same session."""
    agents.context("launch code", by="beta", session="s1")
    other = agents.context("launch code", by="alpha", session="s1")
    assert (other.round.number, other.round.shown) == (1, ())
    again = agents.context("launch code", by="beta", session="s1")
    assert (again.round.number, again.round.shown) == (2, ("m-0000000b",))


def test_an_agent_hears_of_no_other_agents(agents: Brain) -> None:
    for name in ("beta", "nobody"):
        with pytest.raises(NotFound) as caught:
            agents.context("launch", by="alpha", agent=name)
        assert str(caught.value) == f"There is no agent '{name}'. Leave --agent out."


def test_the_last_recall_is_told_to_who_asked_for_it(agents: Brain) -> None:
    agents.context("launch code", by="beta")
    assert agents.status().last_injected["query"] == "launch code"
    assert agents.status(by="beta").last_injected["query"] == "launch code"
    assert agents.status(by="alpha").last_injected is None


def test_what_an_agent_counts_is_what_it_may_read(agents: Brain) -> None:
    whole, part = agents.status(), agents.status(by="alpha")
    assert whole.scopes["memory"] == {"files": 3, "entries": 4}
    assert part.scopes["memory"] == {"files": 2, "entries": 2}
    assert [agent["agent"] for agent in part.agents] == ["admin", "alpha"]
    assert part.problems == 0


def test_questions_are_told_to_who_asked_them(agents: Brain) -> None:
    agents.context("walrus", by="alpha")
    agents.context("walrus", by="beta")
    agents.context("quokka")
    every = {(gap.query, gap.agent) for gap in agents.gaps().gaps}
    assert every == {("quokka", None), ("walrus", "alpha"), ("walrus", "beta")}
    assert [gap.agent for gap in agents.gaps(by="alpha").gaps] == ["alpha"]


def test_a_question_is_open_while_who_asked_it_finds_nothing(agents: Brain) -> None:
    """Though another agent knows the answer."""
    agents.context("zeppelins", by="alpha")
    assert [gap.query for gap in agents.gaps(by="alpha").gaps] == ["zeppelins"]
    assert [gap.query for gap in agents.gaps().gaps] == ["zeppelins"]
    agents.remember("Zeppelins float", agent="alpha", by="alpha")
    assert agents.gaps().gaps == []


def test_a_word_that_is_only_near_is_no_answer(agents: Brain) -> None:
    agents.context("tusks")
    agents.remember("Tasks are due on Monday")
    assert agents.search("tusks").results  # for want of anything better
    assert [gap.query for gap in agents.gaps().gaps] == ["tusks"]


def test_what_was_demoted_is_no_answer(agents: Brain) -> None:
    agents.context("fuel for rockets")
    agents.demote("m-00000001")
    for _ in range(2):
        assert [gap.query for gap in agents.gaps().gaps] == ["fuel for rockets"]
        agents.journal_write()
    agents.remember("Fuel for rockets is stored in the north")
    assert agents.gaps().gaps == []


def test_a_question_that_is_half_a_character(agents: Brain) -> None:
    said = agents.context("launch \udcff code", session="s1")
    assert said.refs
    assert agents.status().last_injected["query"] == "launch ? code"


def test_another_vault_in_the_same_place_hears_nothing(agents: Brain, opened: OpenBrain) -> None:
    """The first one, which then comes back, has an id since something was written to it."""
    agents.remember("Rockets are loud")
    agents.context("salary of Bob")
    assert [gap.query for gap in agents.gaps().gaps] == ["salary of Bob"]
    root = agents.vault.paths.root
    agents.close()
    os.rename(root, root.with_name("away"))
    kit.lay(root, {"40_Brain/MEMORY.md": "- Another\n"})
    other = opened(root)
    assert other.status().last_injected is None
    assert other.gaps().gaps == other.gaps(all=True).gaps == []
    other.context("Another")
    other.remember("Something else")
    assert other.gaps().gaps == []
    os.rename(root, root.with_name("other"))
    os.rename(root.with_name("away"), root)
    agents = opened(root)
    assert agents.status().last_injected["query"] == "salary of Bob"
    assert [gap.query for gap in agents.gaps().gaps] == ["salary of Bob"]


def test_what_is_flushed_is_not_of_another_vault(agents: Brain, opened: OpenBrain) -> None:
    agents.remember("Rockets are loud")
    agents.context("salary of Bob")
    root = agents.vault.paths.root
    agents.close()
    os.rename(root, root.with_name("away"))
    kit.lay(root, {"40_Brain/MEMORY.md": "- Another\n"})
    other = opened(root)
    other.context("the price of fish")
    assert other.journal_write() == 2  # the question, and that its memory was seen
    [file] = root.glob("40_Brain/journal/*/*.jsonl")
    assert "fish" in file.read_text()
    assert "Bob" not in file.read_text()


def test_usage_is_written_once_a_day(agents: Brain) -> None:
    """By the daemon; not on the day on which it was counted, and not while writing is paused."""
    vault = agents.vault
    now = vault.clock()
    assert pending.write_usage_if_due(vault) == []
    agents.context("rockets")
    written = lambda: list(vault.paths.folder.glob("journal/*/*.jsonl"))  # noqa: E731
    assert pending.write_usage_if_due(vault) == []
    assert written() == []
    vault.clock = lambda: now + timedelta(days=1)
    agents.pause()
    assert pending.write_usage_if_due(vault) == []
    assert written() == []
    agents.resume()
    assert pending.write_usage_if_due(vault) == []
    assert ["hit" in path.read_text() for path in written()] == [True]
    assert vault.journal.pending_uses() == []


def test_95_of_100_recalls_set_the_95th_percentile() -> None:
    assert usage.p95([1.0] * 95 + [500.0] * 5) == 1
    assert usage.p95([1.0] * 94 + [500.0] * 6) == 500
    assert (usage.p95([7.0]), usage.p95([])) == (7, 0)


def test_hits_on_passages_stay_out_of_the_journal(made: Made) -> None:
    """The id of a passage changes with each edit of its note."""
    brain = made({**AGENTS, "Rockets.md": "# Rockets\n\nA rocket burns kerosene and fuel.\n"})
    shown = brain.context("what do rockets burn as fuel?")
    assert {id[:2] for id in shown.shown} == {"m-", "n-", "Ro"}
    brain.journal_write()
    hits = [record.id for record in brain.audit(ops=["hit"])]
    assert hits == ["m-00000001"]


def test_a_gap_holds_its_session_and_what_was_worked_on(agents: Brain) -> None:
    agents.context("who repairs the boiler?", session="s1")
    agents.context("who repairs the boiler?", session="s2", text="boiler.py\nkey: " + SECRET)
    agents.context("who sings?")
    for _ in range(2):  # before and after it is written to the journal
        gaps = {gap.query: gap for gap in agents.gaps()}
        boiler, singer = gaps["who repairs the boiler?"], gaps["who sings?"]
        assert (boiler.count, boiler.session) == (2, "s2")
        assert boiler.snippet.startswith("boiler.py key: ")
        assert SECRET not in boiler.snippet
        assert (singer.session, singer.snippet) == (None, "who sings?")
        agents.journal_write()
    (record,) = [r for r in agents.audit(ops=["gap"]) if "boiler" in r.data["query"]]
    assert (record.data["session"], record.data["snippet"]) == ("s2", boiler.snippet)


def test_beginnings_of_words_do_not_answer_a_question(made: Made) -> None:
    brain = made({NOTE: "## Facts\n- the kubernetes cluster ^m-00000001\n"})
    assert "m-00000001" in brain.context("kubern").text
    assert [gap.query for gap in brain.gaps()] == ["kubern"]
    brain.remember("kubern is short for it", date=False)
    assert brain.gaps().gaps == []
