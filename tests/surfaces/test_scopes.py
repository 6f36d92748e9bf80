"""Scopes: what an agent may not read makes no difference to anything it is told.

Every operation and every tool is called in two vaults. In one of them, the agents that the actor
may not read do not exist. All answers must be equal: results, counts and errors. The calls are made
from the registry and the table of tools.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import brain
from brain import access, actors, serialize
from brain.errors import BrainError
from brain.open_vault import OpenVault
from brain.operations import OPERATIONS, Operation
from brain.operations.parameters import HIDDEN
from brain.serve.mcp import META, server
from brain.serve.tools import TOOLS, Tool
from brain.serve.vault_thread import Worker
from brain.vault import layout
from tests import kit
from tests.ids import Ids
from tests.surfaces.cases import normal

# agent: (folder, type in AGENT.md, type in the registry, secret word, id)
AGENTS = {
    "admin": ("", "admin", "", "aardvark", "m-aaaaaaa1"),
    "zoo": ("projects/zoo/agent/", "project", "", "zebra", "m-zzzzzzz1"),
    "other": ("projects/other/agent/", "project", "", "otter", "m-ttttttt1"),
    "boss": ("agents/boss/", "admin", "admin", "bison", "m-bbbbbbb1"),
    "helper": ("agents/helper/", "skill", "", "heron", "m-hhhhhhh1"),
}
SCORES = ("score", "factors", "fitness", "handed", "giver", "covered", "weight", "strength")


def files(agents: list[str]) -> dict[str, str | bytes]:
    out: dict[str, str | bytes] = {"40_Brain/brain.yaml": 'vaultId: "v-tjtv5yrgqkde"\n'}
    for name in agents:
        folder, type, _, word, id = AGENTS[name]
        home = f"40_Brain/{folder}"
        turn = {"id": "msg_1", "role": "user", "content": f"The {word} spoke"}
        out |= {
            f"{home}AGENT.md": f"---\ntype: {type}\nname: {name} {word}\n---\nKnows the {word}.\n",
            f"{home}MEMORY.md": f"- The {word} eats grass #{word} ^{id}\n- Never wake a {word}\n",
            f"{home}sessions/{word}.jsonl": json.dumps(turn) + "\n",
        }
        if folder.startswith("projects/"):
            item = {"id": f"item_{word}", "type": "fact", "title": word, "content": f"{word} is"}
            task = {"tasks": [{"id": f"TASK-{word}", "status": "open", "description": word}]}
            out[f"40_Brain/projects/{name}/items.json"] = json.dumps([item])
            out[f"40_Brain/projects/{name}/tasks.json"] = json.dumps(task)
    return out


class House:
    """A vault with these agents, each with a history. In all houses that begin with the same
    agents, these have the same ids."""

    def __init__(self, folder: Path, agents: list[str]) -> None:
        self.root, self.state = folder / "vault", folder / "state"
        kit.lay(self.root, files(agents))
        (self.root / "40_Brain/journal").mkdir()
        then = time.time() - 3600  # nobody is typing
        for path in self.root.rglob("*"):
            os.utime(path, (then, then))
        self.paths = layout.find(self.root, self.state)
        ranks = {name: AGENTS[name][2] for name in agents if AGENTS[name][2]}
        self.paths.state.mkdir(parents=True)
        (self.paths.state / "agents.json").write_text(json.dumps(ranks))
        self.events: dict[str, str] = {}
        self.ids = Ids()
        with self.ids(), brain.open(self.root, state=self.state) as opened:
            for name in agents:
                told = opened.remember(f"The {AGENTS[name][3]} sleeps at noon", agent=name)
                opened.reinforce(AGENTS[name][4])
                opened.demote(told.id)
                self.events[name] = str(told.event)
        self.ids = Ids(1000)  # from here on the same in each house

    def notes(self, name: str) -> list[bytes]:
        home = self.root / "40_Brain" / AGENTS[name][0]
        return [(home / note).read_bytes() for note in ("AGENT.md", "MEMORY.md")]


def hidden(actor: str) -> list[str]:
    owners = access.readable(access.Actor(actor, "project" if actor == "zoo" else "skill"))
    return [name for name in AGENTS if name not in (owners or ())]


def calls(operation: Operation, owner: str, event: str) -> Iterator[dict[str, Any]]:
    """Arguments of an operation that aim at what this agent owns."""
    folder, _, _, word, id = AGENTS[owner]
    values: dict[str, list[Any]] = {
        "id": [id, id[:5], f"40_Brain/{folder}MEMORY.md:1", word],
        "question": [word],
        "text": [f"A {word} was seen"],
        "section": ["Animals"],
        "to": [id, word],
        "add": [[word]],
        "name": [owner, f"{owner} {word}"],
        "word": [word],
        "synonyms": [["beast"]],
        "event": [event],
        "since": ["1d"],
        "tokens": [3000],
        "agent": ["", owner],
        "who": [owner],
        "project": [owner],
        "supersedes": [[id]],
        "keep": [id],
        "tags": [[word]],
        "drop": [event],
        "links": [[id], [word], [f"{word}.jsonl"], [f"40_Brain/{folder}MEMORY.md"]],
        "files": [[f"40_Brain/{folder}MEMORY.md"], [f"40_Brain/{folder}AGENT.md"]],
        "where": [f"agent={owner}", f"tag={word}", f"text~{word}", f"project={owner}"],
        "session": [word],
        "message": ["msg_1"],
        "new": [word],
        "scopes": [["sessions"], ["all"], ["archive"]],
        "kinds": [[word]],
        "format": ["json"],
    }
    takes = {
        name: each
        for name, each in inspect.signature(operation.load()).parameters.items()
        if name not in (*HIDDEN, "by")
    }
    needed = {name: values[name][0] for name, each in takes.items() if each.default is each.empty}
    yield needed
    for name in takes:
        for value in values.get(name, ()):
            if needed.get(name) != value and not (value == "" or operation.name == "journal write"):
                yield needed | {name: value}


def outcome(opened: Any, operation: Operation, given: dict[str, Any], actor: str) -> Any:
    takes = inspect.signature(operation.load()).parameters
    try:
        options = {**given, "by": actor} if "by" in takes else given
        return serialize.document(getattr(opened, operation.method)(**options))
    except BrainError as error:
        return {"error": type(error).__name__, "message": str(error)}


def plain(value: Any) -> Any:
    """Without scores: how rare a word is depends on all entries."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key not in SCORES}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("actor", ["zoo", "helper"])
def test_no_operation_tells_of_what_the_actor_may_not_read(tmp_path: Path, actor: str) -> None:
    unseen = hidden(actor)
    seen = [name for name in AGENTS if name not in unseen or name == actor]
    whole = House(tmp_path / "whole", [*seen, *(name for name in AGENTS if name not in seen)])
    part = House(tmp_path / "part", seen)
    before = {name: whole.notes(name) for name in unseen}
    leaks = []
    with (
        brain.open(whole.root, state=whole.state) as one,
        brain.open(part.root, state=part.state) as two,
    ):
        for operation in (each for each in OPERATIONS if takes_actor(each)):
            for owner in unseen:
                for given in calls(operation, owner, whole.events[owner]):
                    answers = []
                    for house, opened in ((whole, one), (part, two)):
                        with house.ids():
                            answers.append(outcome(opened, operation, given, actor))
                    told, expected = (plain(normal(answer)) for answer in answers)
                    places = [(str(whole.root), ""), (str(part.root), "")]
                    told, expected = (replaced(value, places) for value in (told, expected))
                    if told != expected and owner != actor:
                        leaks.append(f"{operation.name} {given}: {difference(told, expected)}")
    assert not leaks, "\n".join(leaks)
    assert {name: whole.notes(name) for name in unseen} == before


def difference(one: str, other: str) -> str:
    """Where two texts begin to differ."""
    pairs = zip(one, other, strict=False)
    at = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    start = max(0, at - 60)
    return f"…{one[start : at + 120]} != …{other[start : at + 120]}"


def takes_actor(operation: Operation) -> bool:
    return "by" in inspect.signature(operation.load()).parameters


def replaced(value: Any, pairs: list[tuple[str, str]]) -> str:
    text = json.dumps(value, ensure_ascii=False)
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def tool_calls(tool: Tool, owner: str) -> Iterator[dict[str, Any]]:
    """Arguments of a tool that aim at what this agent owns."""
    folder, _, _, word, id = AGENTS[owner]
    values: dict[str, list[Any]] = {
        "id": [id, f"40_Brain/{folder}MEMORY.md:1", word],
        "content": [f"A {word} was seen"],
        "query": [word],
        "to": [id, word],
        "tags": [[word]],
        "project": [owner],
        "links": [[id], [word]],
        "session": [word],
        "supersedes": [[id]],
        "scopes": [["all"]],
        "scope": ["global"],
        "where": [f"text~{word}"],
        "kinds": [["fact"]],
        "add": [[word]],
    }
    needed = {each.name: values[each.name][0] for each in tool.arguments if each.required}
    yield needed
    for argument in tool.arguments:
        for value in values.get(argument.name, ()):
            yield needed | {
                argument.name: value,
                **({"confirm": True} if tool.needs_confirmation else {}),
            }


@pytest.mark.parametrize("actor", ["zoo", "helper"])
def test_no_tool_tells_of_what_the_agent_may_not_read(tmp_path: Path, actor: str) -> None:
    unseen = hidden(actor)
    seen = [name for name in AGENTS if name not in unseen or name == actor]
    whole = House(tmp_path / "whole", [*seen, *(name for name in AGENTS if name not in seen)])
    part = House(tmp_path / "part", seen)
    before = {name: whole.notes(name) for name in unseen}

    async def told(house: House) -> list[tuple[str, str]]:
        worker = Worker(partial(OpenVault, house.paths), actor)
        worker.start()
        out = []
        try:
            async with Client(server(worker)) as client:
                for tool in TOOLS:
                    for owner in unseen:
                        for given in tool_calls(tool, owner):
                            result = await client.call_tool(tool.name, given)
                            texts = [block.text for block in result.content]
                            shape = plain(normal([result.meta[META], texts]))
                            out.append((f"{tool.name} {given}", json.dumps(shape)))
                for uri in ("brain://agent", "brain://memory", "brain://global", "brain://tasks"):
                    try:
                        read = await client.read_resource(uri)
                        out.append((uri, str(plain(normal(read.contents[0].text)))))
                    except Exception as error:  # the SDK's, for a refused resource
                        out.append((uri, str(error)))
        finally:
            worker.close()
        return out

    answers = []
    for house in (whole, part):
        with house.ids():
            answers.append(asyncio.run(told(house)))
    one, two = answers
    pairs = [(name, a, b) for (name, a), (_, b) in zip(one, two, strict=True) if a != b]
    leaks = [f"{name}: {difference(a, b)}" for name, a, b in pairs]
    assert not leaks, "\n".join(leaks)
    assert {name: whole.notes(name) for name in unseen} == before


@pytest.mark.parametrize("owner", AGENTS)
@pytest.mark.parametrize("actor", [*AGENTS, ""])
def test_the_table_of_scopes_holds_for_each_pair(tmp_path: Path, actor: str, owner: str) -> None:
    house = House(tmp_path, list(AGENTS))
    with brain.open(house.root, state=house.state) as opened:
        who = actors.resolve(opened.vault, actor)
        id = AGENTS[owner][4]
        for operation, action in (("show", "read"), ("reinforce", "read"), ("pin", "write")):
            named = next(each for each in OPERATIONS if each.name == operation)
            told = outcome(opened, named, {"id": id}, actor)
            assert ("error" not in told) is access.may(who, action, owner), operation
        found = opened.list(by=actor, limit=100)
        owners = {entry.agent for entry in found}
        assert owners == {name for name in AGENTS if access.may(who, "read", name)}
