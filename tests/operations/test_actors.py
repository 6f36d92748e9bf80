"""Who may change what: by place, by what AGENT.md claims, and by this machine's registry."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from brain import actors
from brain.access import Actor
from brain.api import Brain
from brain.errors import BrainError, Denied, NotFound, Refused
from brain.index import read
from brain.operations import lookup
from brain.vault import layout
from tests import kit
from tests.conftest import MakeVault, OpenBrain, SetZone
from tests.operations.conftest import Made, note

ID = "m-7f3k2ab4"
FILES = {
    **kit.VAULT,
    "40_Brain/agents/helper/AGENT.md": "---\ntype: skill\n---\n",
    "40_Brain/agents/helper/MEMORY.md": "- Helps with spelling\n",
    "40_Brain/agents/boss/AGENT.md": "---\ntype: admin\n---\n",
    "40_Brain/agents/quiet/AGENT.md": "Says no type.\n",
}
WALRUS = "The walrus eats clams"
DECISION = "Chose SQLite"


@pytest.fixture
def house(made: Made) -> Brain:
    return made(FILES)


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("admin", "admin"),
        ("zoo", "project"),
        ("Keeper", "project"),
        ("helper", "skill"),
        ("boss", "project"),  # it claims more than its place gives
        ("quiet", "project"),
        ("person", "person"),
        ("", "person"),
    ],
)
def test_the_type_an_agent_has(house: Brain, name: str, type: str) -> None:
    assert actors.resolve(house.vault, name).type == type


UNREADABLE = {
    "not valid": "---\ntype: skill\nname: [\n---\n",
    "said twice": "---\ntype: skill\ntype: project\n---\n",
    "never closed": "---\ntype: skill\n\nHelps.\n",
    "not UTF-8": b"---\ntype: skill\xff\n---\n",
    "too large": "---\ntype: skill\n---\n" + "x" * 1_000_000,
}


@pytest.mark.parametrize("why", UNREADABLE)
def test_a_claim_that_cannot_be_read_gives_nothing(made: Made, why: str) -> None:
    house = made({**FILES, "40_Brain/agents/helper/AGENT.md": UNREADABLE[why]})
    assert actors.resolve(house.vault, "helper").type == "skill"
    with pytest.raises(Denied, match="It is a skill, which writes nothing"):
        house.remember("Seals bark", agent="helper", by="helper")


@pytest.mark.skipif(os.name == "nt", reason="links need a right on Windows")
def test_nor_does_one_behind_a_link(house: Brain) -> None:
    path = house.vault.paths.root / "40_Brain/agents/helper/AGENT.md"
    path.rename(house.vault.paths.root / "real.md")
    path.symlink_to(house.vault.paths.root / "real.md")
    assert actors.resolve(house.vault, "helper").type == "skill"
    path.unlink()
    assert (
        actors.resolve(house.vault, "helper").type == "project"
    )  # it claims nothing; its place gives that


def test_the_registry_gives_and_takes(house: Brain) -> None:
    house.vault.paths.state.mkdir(parents=True, exist_ok=True)
    path = house.vault.paths.state / "agents.json"
    path.write_text(json.dumps({"boss": "admin", "zoo": "skill", "helper": "admin"}))
    types = {
        name: actors.resolve(house.vault, name).type for name in ("boss", "zoo", "helper", "admin")
    }
    assert types == {"boss": "admin", "zoo": "skill", "helper": "skill", "admin": "admin"}
    path.write_text("not JSON")
    with pytest.raises(BrainError, match="Fix or delete it"):
        actors.resolve(house.vault, "boss")


def test_an_agent_that_is_not_there(house: Brain) -> None:
    with pytest.raises(NotFound, match="There is no agent 'ghost'"):
        house.remember("x", by="ghost")


@pytest.mark.parametrize(
    ("by", "agent", "may"),
    [
        ("", "", True),
        ("", "zoo", True),
        ("admin", "", True),
        ("admin", "zoo", True),
        ("zoo", "zoo", True),
        ("zoo", "", False),
        ("zoo", "helper", False),
        ("boss", "", False),
        ("helper", "helper", False),
        ("helper", "", False),
    ],
)
def test_who_may_remember_where(house: Brain, by: str, agent: str, may: bool) -> None:
    if may:
        assert house.remember("Seals bark", agent=agent, by=by).outcome == "added"
        return
    hidden = (by, agent) == ("zoo", "helper")  # that it is there is not told either
    said = "There is no agent" if hidden else f"{by} may not write"
    with pytest.raises((Denied, NotFound), match=said):
        house.remember("Seals bark", agent=agent, by=by)
    assert "Seals bark" not in note(house)


@pytest.mark.parametrize("verb", ["pin", "forget", "reinforce", "demote", "confirm"])
def test_a_project_agent_changes_only_its_own(house: Brain, verb: str) -> None:
    own = house.remember("Seals bark #candidate", agent="zoo", by="zoo").id
    getattr(house, verb)(own, by="zoo")
    if verb in ("reinforce", "demote"):  # feedback is allowed on all that it may read
        assert getattr(house, verb)(ID, by="zoo").outcome == f"{verb}d"
    elif verb != "confirm":  # there is nothing to confirm
        with pytest.raises(Denied, match="zoo may not write what belongs to admin"):
            getattr(house, verb)(ID, by="zoo")


def test_what_may_not_be_read_is_not_there(house: Brain) -> None:
    house.sync()
    spelling = lookup.find(house.vault, "spelling").ref
    for name in (spelling, "spelling", "40_Brain/agents/helper/MEMORY.md:1"):
        with pytest.raises(NotFound, match="no entry"):
            house.pin(name, by="zoo")
    with pytest.raises(NotFound, match="no entry"):
        house.pin(ID, by="helper")


def test_the_journal_shows_an_agent_what_it_may_read(house: Brain) -> None:
    house.remember("Seals bark", agent="zoo")
    house.remember("Whales sing", agent="helper")
    assert {record.path for record in house.audit(by="zoo")} == {
        "40_Brain/projects/zoo/agent/MEMORY.md"
    }
    assert len(house.audit()) == 2
    assert house.audit(by="helper") == []


def test_nobody_writes_an_agent_md(house: Brain) -> None:
    from brain.model import Add, Write

    change = Add("40_Brain/AGENT.md", "m-1", "x", "")
    with pytest.raises(Refused, match="does not write"):
        house.vault.store.apply([Write("remember", "m-1", change)], Actor("admin", "admin"))


def test_who_and_in_which_session_is_on_record(house: Brain) -> None:
    shape = house.remember("Seals bark", agent="zoo", by="zoo", session="2026-03-01")
    (record,) = house.history(shape.id)
    assert (record.by, record.data["session"], record.op) == ("zoo", "2026-03-01", "remember")


# -- a bad run -----------------------------------------------------------------------------------


def test_a_whole_run_is_taken_back(house: Brain) -> None:
    zoo = "40_Brain/projects/zoo/agent/MEMORY.md"
    house.remember("A person said this", agent="zoo")
    before = note(house, zoo)
    house.remember("Clams are vegetables", agent="zoo", by="zoo")
    house.update("eats clams", "The walrus eats hay", by="zoo")
    house.pin("eats hay", by="zoo")
    house.reinforce("eats hay", by="zoo")
    house.forget("A person said", by="zoo")
    report = house.revert("zoo", "1h")
    assert [shape.undid for shape in report.undone] == [
        "forget", "reinforce", "pin", "update", "remember",
    ]  # fmt: skip
    assert report.kept == []
    assert note(house, zoo) == before
    assert house.revert("zoo", "1h").undone == []


def test_what_a_person_went_on_with_is_kept(house: Brain) -> None:
    zoo = "40_Brain/projects/zoo/agent/MEMORY.md"
    one = house.remember("Clams are vegetables", agent="zoo", by="zoo")
    two = house.remember("Seals are fish", agent="zoo", by="zoo")
    house.update(one.id, "Clams are no vegetables", by="")
    report = house.revert("zoo", "1h")
    assert [shape.id for shape in report.undone] == [two.id]
    (kept,) = report.kept
    assert kept.id == one.id
    assert "has changed since" in kept.data["why_not"]
    assert "no vegetables" in note(house, zoo)


def test_audit_filters(house: Brain) -> None:
    house.remember("Seals bark", agent="zoo", by="zoo")
    house.pin(ID)
    house.reinforce(ID, by="admin")

    def ops(**wanted: object) -> list[str]:
        return [record.op for record in house.audit(**wanted)]  # type: ignore[arg-type]

    assert ops() == ["reinforce", "pin", "remember"]
    assert ops(who="zoo") == ["remember"]
    assert ops(who="person") == ["pin"]
    assert ops(agent="admin") == ["reinforce", "pin"]
    assert ops(ops=["pin", "remember"]) == ["pin", "remember"]
    assert ops(id=ID) == ["reinforce", "pin"]
    assert ops(limit=1) == ["reinforce"]
    assert ops(since="2026-03-02") == []
    assert ops(until="2026-02-28") == []
    assert ops(since="2026-03-01", until="2026-03-01") == ["reinforce", "pin", "remember"]
    assert ops(since="1h") == ["reinforce", "pin", "remember"]
    with pytest.raises(BrainError, match="7d for seven days ago"):
        ops(since="soon")


def test_an_audit_names_what_may_have_been_meant(house: Brain) -> None:
    house.remember("Seals bark", agent="zoo", by="zoo")
    house.remember("Whales sing", agent="helper", by="admin")
    assert house.audit(ops=["pin"]) == house.audit(who="boss") == house.audit(agent="boss") == []

    def why(**wanted: Any) -> str:
        with pytest.raises(NotFound) as error:
            house.audit(**wanted)
        return str(error.value)

    assert why(ops=["forgot"]) == "There is no type of change 'forgot'. Did you mean 'forget'?"
    assert why(who="zo") == "There is no record of 'zo'. Did you mean 'zoo'?"
    assert why(who="nobody").startswith("There is no record of 'nobody'. Known names: admin,")
    assert "helper" not in why(who="nobody", by="zoo")
    assert "There is no agent 'nobody'" in why(agent="nobody")
    assert why(agent="helper", by="zoo") == why(agent="nobody", by="zoo").replace(
        "nobody", "helper"
    )


@pytest.mark.parametrize(
    ("where", "before", "day", "later"),
    [
        ("Asia/Tokyo", "2026-03-01T20:59", "2026-03-01", "2026-03-01T21:01"),
        ("America/New_York", "2026-03-01T06:59", "2026-03-01", "2026-03-01T07:01"),
        ("Pacific/Kiritimati", "2026-03-02T01:59", "2026-03-02", "2026-03-02T02:01"),
    ],
)
def test_times_are_by_the_clock_of_this_machine(
    house: Brain, zone: SetZone, where: str, before: str, day: str, later: str
) -> None:
    """It is noon in UTC."""
    zone(where)
    house.remember("Seals bark", agent="zoo", by="zoo")
    assert house.revert("zoo", later).undone == []
    for since in (before, day):
        assert len(house.audit(since=since)) == 1
        assert house.audit(since=since, until=before) == []
    assert len(house.audit(since=day, until=day)) == 1
    assert len(house.revert("zoo", before).undone) == 1


def test_entries_are_of_a_day_here(house: Brain, zone: SetZone) -> None:
    """Those of notes without a date, by when they were saved; a date in a note is that day."""
    zone("Pacific/Kiritimati")
    noon = kit.NOW.timestamp()
    os.utime(house.vault.paths.root / "40_Brain/MEMORY.md", (noon, noon))
    house.refresh()
    kept = lookup.filters(house.vault, ["memory"], since="2026-03-02", until="2026-03-02")
    assert {row.path for row in read.listed(house.vault.index, kept, 9)} == {"40_Brain/MEMORY.md"}
    kept = lookup.filters(house.vault, ["memory"], since="2026-02-01", until="2026-02-01")
    assert [row.ref for row in read.listed(house.vault.index, kept, 9)] == [ID]


def said(ask: Callable[[], object]) -> str:
    """The error that a question is answered with."""
    with pytest.raises(BrainError) as error:
        ask()
    return f"{type(error.value).__name__}: {error.value}"


def test_what_an_agent_may_not_read_is_answered_like_what_is_not_there(house: Brain) -> None:
    """An event, a memory that is there, one that is gone: no error tells them from none."""
    shape = house.remember("Whales sing", agent="helper")
    gone = house.remember("Seals bark", agent="helper")
    house.forget(gone.id)

    def asked(event: str, id: str) -> list[str]:
        told = [
            said(lambda: house.undo(event, by="zoo")),
            said(lambda: house.undo(event, force=True, by="zoo")),
            said(lambda: house.history(id, by="zoo")),
            said(lambda: house.audit(id=id, by="zoo")),
            said(lambda: house.forget(id, purge=True, by="zoo")),
            said(lambda: house.revert("helper", "1h", by="zoo")).replace("helper", "nobody"),
        ]
        return [one.replace(event, "EVENT").replace(id, "ID") for one in told]

    none = asked("e-0000000000", "m-00000000")
    assert asked(shape.event, shape.id) == none
    assert asked(gone.event, gone.id) == none
    assert none[-1] == said(lambda: house.revert("nobody", "1h", by="zoo"))
    assert "Whales sing" in note(house, "40_Brain/agents/helper/MEMORY.md")


def test_a_revert_tells_an_agent_nothing_of_what_it_may_not_read(house: Brain) -> None:
    house.remember("Whales sing", agent="helper", by="admin")
    mine = house.remember("Seals bark", agent="zoo", by="admin")
    report = house.revert("admin", "1h", by="zoo")
    assert [shape.id for shape in report.undone] == [mine.id]
    assert report.kept == []
    assert "Whales sing" in note(house, "40_Brain/agents/helper/MEMORY.md")


def test_links_from_what_may_not_be_read_are_not_told(house: Brain) -> None:
    shape = house.remember("Seals bark", agent="zoo", by="zoo")
    for agent in ("helper", "zoo"):
        house.link(house.remember(f"{agent} heard it", agent=agent).id, shape.id)
    (linked,) = house.forget(shape.id, by="zoo").linked_from
    assert linked.startswith("40_Brain/projects/zoo/")
    (linked,) = house.forget(shape.id, purge=True, by="zoo").linked_from
    assert linked.startswith("40_Brain/projects/zoo/")
    assert len(house.forget(shape.id, purge=True).linked_from) == 2


def test_an_agent_by_its_other_name_is_reverted_too(house: Brain) -> None:
    house.remember("Clams are vegetables", agent="zoo", by="zoo")
    report = house.revert("Keeper", "1h")
    assert [shape.undid for shape in report.undone] == ["remember"]


def test_an_agent_that_never_was_cannot_be_reverted(house: Brain) -> None:
    with pytest.raises(NotFound, match="There is no agent 'nobody'"):
        house.revert("nobody", "1h")


def test_one_that_is_gone_can(house: Brain) -> None:
    house.remember("Whales sing", by=Actor("ghost", "admin"))
    assert len(house.revert("ghost", "1h").undone) == 1
    assert house.revert("ghost", "1h").undone == []
    assert house.revert("person", "1h").kept == []


# -- what is pending -----------------------------------------------------------------------------


def test_while_somebody_types(house: Brain) -> None:
    path = house.vault.paths.root / "40_Brain/MEMORY.md"
    path.write_text(path.read_text() + "- typ")
    shape = house.remember("Seals bark")
    assert shape.state == "pending"
    assert "Seals bark" not in note(house)
    (waiting,) = house.pending()
    assert (waiting.state, waiting.id) == ("pending", shape.id)
    again = house.remember("Seals bark")
    assert (again.outcome, again.state, again.id) == (
        "duplicate", "pending", shape.id,
    )  # fmt: skip
    import os

    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert [hit.row.ref for hit in house.search("seals").results] == [shape.id]
    assert house.pending() == []


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "seen"),
    [
        ("", {"admin", "zoo", "helper"}),
        ("admin", {"admin", "zoo", "helper"}),
        ("zoo", {"admin", "zoo"}),
        ("boss", {"admin"}),
        ("helper", set()),
    ],
)
def test_who_may_read_what(house: Brain, by: str, seen: set[str]) -> None:
    filters = lookup.filters(house.vault, ["memory"], by=by) if house.refresh() else None
    assert filters
    assert {row.agent for row in read.listed(house.vault.index, filters, 100)} == seen
    words = "walrus OR spelling OR SQLite"
    hits = house.search(words, scopes=["memory"], by=by).results
    assert {hit.row.agent for hit in hits} == seen


def test_an_agent_that_may_not_be_seen_is_not_there(house: Brain) -> None:
    with pytest.raises(NotFound, match="There is no agent 'helper'"):
        house.search("spelling", agent="helper", by="zoo")
    assert house.search("walrus", agent="zoo", by="zoo").results


def test_show_as_an_agent(house: Brain) -> None:
    house.sync()
    assert house.show("walrus eats", by="zoo").agent == "zoo"
    with pytest.raises(NotFound, match="no entry"):
        house.show("spelling", by="zoo")


@pytest.mark.parametrize(
    "folder", ["agents/admin", "projects/admin/agent", "admin", "agents/person"]
)
def test_nobody_becomes_the_admin_by_the_name_of_a_folder(
    vault: MakeVault, opened: OpenBrain, folder: str
) -> None:
    claim = "---\ntype: admin\n---\n"
    brain = opened(vault({f"40_Brain/{folder}/AGENT.md": claim, "40_Brain/MEMORY.md": "- a b c\n"}))
    brain.sync()
    role = layout.role([*folder.split("/"), "AGENT.md"])
    assert role
    assert role.agent not in ("admin", "person")
    with pytest.raises((Denied, NotFound)):
        brain.remember("The seal sings", by=role.agent)


def test_an_agent_and_a_project_of_one_name_cannot_act(vault: MakeVault, opened: OpenBrain) -> None:
    files = {f"40_Brain/{place}/AGENT.md": "x\n" for place in ("agents/zoo", "projects/zoo/agent")}
    brain = opened(vault(files))
    with pytest.raises(Denied, match="same name"):
        brain.remember("The seal sings", by="zoo", agent="zoo")
    assert brain.remember("The seal sings", agent="zoo").outcome == "added"


def test_an_agent_that_may_not_write_a_note_hears_nothing_of_it(made: Made) -> None:
    """Neither that it is there, nor what is promised for it."""
    typing = {**kit.VAULT, "40_Brain/brain.yaml": "holdSeconds: 1000\n"}
    brain = made({**typing, "40_Brain/agents/park/AGENT.md": "---\ntype: project\n---\n"})
    (brain.vault.paths.root / "40_Brain/projects/zoo/agent/MEMORY.md").touch()
    assert brain.remember("The lion sleeps", agent="zoo", by="zoo").state == "pending"
    for name in ("zoo", "nobody"):
        with pytest.raises(NotFound) as caught:
            brain.remember("The lion sleeps", agent=name, by="park")
        assert str(caught.value) == f"There is no agent '{name}'. Leave --agent out."


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_what_this_machine_keeps_is_the_users_alone(brain: Brain) -> None:
    brain.remember("The lion sleeps")
    brain.context("lion")
    state = brain.vault.paths.state
    assert not state.stat().st_mode & 0o077
    assert not (state / "state.db").stat().st_mode & 0o077


def test_counts_and_questions_are_for_who_may_read_the_memory(house: Brain) -> None:
    """What is in the journal without a path: hits, and questions that had no answer."""
    house.context("what colour is the submarine")
    house.context("walrus", agent="zoo", by="zoo")
    house.context("quokka warranty", agent="zoo", by="zoo")
    house.journal_write()
    walrus = house.search("walrus", agent="zoo")[0].id
    ops = ("hit", "gap", "reject", "used_together")

    def seen(by: str) -> set[tuple[str, str]]:
        return {(r.op, r.data.get("query", r.id)) for r in house.audit(ops=ops, by=by)}

    assert {("gap", "what colour is the submarine"), ("hit", walrus)} <= seen("")
    assert ("hit", walrus) in seen("zoo")
    assert ("gap", "quokka warranty") in seen("zoo")
    assert ("gap", "what colour is the submarine") not in seen("zoo")
    assert ("hit", walrus) not in seen("quiet")
    assert not any(op == "gap" for op, _ in seen("quiet"))
    with pytest.raises(NotFound):
        house.history(walrus, by="quiet")
