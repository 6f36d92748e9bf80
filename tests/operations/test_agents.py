"""Agents are created, listed and registered by a person."""

from __future__ import annotations

import json

import pytest

from brain import actors
from brain.api import Brain
from brain.errors import BadRequest, Denied, NotFound
from tests import kit
from tests.cli.conftest import Run, run
from tests.operations.conftest import Made, note

__all__ = ["run"]  # a fixture


def type_of(brain: Brain, name: str) -> str:
    return actors.resolve(brain.vault, name).type


def test_an_agent_is_created_in_one_step(brain: Brain) -> None:
    made = brain.agent_add("claude", about="Writes code.")
    assert (made.name, made.type, made.registered) == ("claude", "project", None)
    assert note(brain, made.path) == (
        "---\ntype: project\nid: agent_claude\nname: claude\n---\n\n# claude\n\nWrites code.\n"
    )
    stored = brain.remember("Seals bark", agent="claude", by="claude")
    assert (stored.state, stored.path) == ("written", "40_Brain/agents/claude/MEMORY.md")


def test_the_agent_of_a_project_is_in_the_project(made: Made) -> None:
    project = {"40_Brain/projects/reef/items.json": "[]", "40_Brain/projects/empty/": ""}
    brain = made({**kit.VAULT, **project, "40_Brain/agents/old/MEMORY.md": "- Seals bark\n"})
    for name in ("reef", "empty"):
        assert brain.agent_add(name).path == f"40_Brain/projects/{name}/agent/AGENT.md"
    assert brain.agent_add("old").path == "40_Brain/agents/old/AGENT.md"
    assert brain.remember("Seals bark at dawn", agent="reef", by="reef").state == "written"


@pytest.mark.parametrize("name", ["zoo", "ZOO", "Zoö", "keeper", "admin", "person", "agent_admin"])
def test_a_name_is_given_once(brain: Brain, name: str) -> None:
    with pytest.raises(BadRequest, match="already"):
        brain.agent_add(name)


@pytest.mark.parametrize("name", ["", ".", "..", ".x", "a/b", "a\\b", "a\nb", "a: b", "x" * 61])
def test_a_name_is_a_folder(brain: Brain, name: str) -> None:
    with pytest.raises(BadRequest, match="is not a name"):
        brain.agent_add(name)


def test_an_agent_has_the_lower_of_two_types(brain: Brain) -> None:
    brain.agent_add("boss", type="admin")
    assert type_of(brain, "boss") == "project"
    found = brain.agent_register("boss")
    assert (found.type, found.registered) == ("admin", "admin")
    assert type_of(brain, "boss") == "admin"
    brain.agent_register("boss", type="skill")
    assert type_of(brain, "boss") == "skill"
    brain.agent_register("zoo", type="admin")
    assert type_of(brain, "zoo") == "project"  # it claims no more
    registry = json.loads((brain.vault.paths.state / "agents.json").read_text())
    assert registry == {"boss": "skill", "zoo": "admin"}


def test_the_list_says_what_an_agent_may_be_here(brain: Brain) -> None:
    brain.agent_add("boss", type="admin")
    brain.agent_register("zoo", type="skill")
    assert [(a.name, a.type, a.claims, a.registered) for a in brain.agent_list()] == [
        ("admin", "admin", "admin", None),
        ("boss", "project", "admin", None),
        ("zoo", "skill", "project", "skill"),
    ]


def test_an_agent_sees_only_what_it_may_read(brain: Brain) -> None:
    brain.agent_add("boss", type="admin")
    assert [agent.name for agent in brain.agent_list(by="zoo")] == ["admin", "zoo"]


@pytest.mark.parametrize("actor", ["zoo", "admin"])
def test_only_a_person_creates_and_registers(brain: Brain, actor: str) -> None:
    with pytest.raises(Denied, match="may not create agents"):
        brain.agent_add("boss", by=actor)
    with pytest.raises(Denied, match="may not register agents"):
        brain.agent_register("zoo", type="admin", by=actor)


def test_nonsense_is_refused(brain: Brain) -> None:
    with pytest.raises(BadRequest, match="no type 'king'"):
        brain.agent_add("boss", type="king")
    with pytest.raises(BadRequest, match="no type 'king'"):
        brain.agent_register("zoo", type="king")
    with pytest.raises(NotFound, match="no agent 'nobody'"):
        brain.agent_register("nobody")
    brain.pause()
    with pytest.raises(Denied, match="paused"):
        brain.agent_add("boss")
    with pytest.raises(Denied, match="paused"):
        brain.agent_register("zoo")


def test_in_words(brain: Brain, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAIN_STATE", str(brain.vault.paths.state.parent))
    where = ("--vault", brain.vault.paths.root)
    said = run("agent", "add", "boss", "--type", "admin", *where)
    assert said.out == (
        "boss  project  40_Brain/agents/boss/AGENT.md\n"
        "  claims admin; not registered, so at most project\n"
    )
    said = run("agent", "register", "boss", *where)
    assert said.out == "boss  admin  40_Brain/agents/boss/AGENT.md\n"
    assert run("agent", *where).out == (
        "admin  admin    40_Brain/AGENT.md\n"
        "boss   admin    40_Brain/agents/boss/AGENT.md\n"
        "zoo    project  40_Brain/projects/zoo/agent/AGENT.md\n"
    )
    assert run("agent", "list", "--json", *where).json["agents"][1]["type"] == "admin"
    assert run("agent", "register", "zoo", "--type", "admin", *where).out == (
        "zoo  project  40_Brain/projects/zoo/agent/AGENT.md\n"
        "  registered as admin; its AGENT.md claims only project\n"
    )
