"""One contract: the same cases through Python, the command line and MCP, with equal answers."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

import brain
from brain import serialize
from brain.cli import main
from brain.errors import BrainError
from brain.open_vault import OpenVault
from brain.operations import OPERATIONS
from brain.serve import answers
from brain.serve.mcp import META, server
from brain.serve.tools import TOOLS
from brain.serve.vault_thread import Worker
from brain.vault import layout
from tests import kit
from tests.surfaces.cases import CASES, FILES, Case, arguments, command_line, normal, tool_call
from tests.surfaces.cases import operation as named

ERAS = ("auto", "legacy")  # protocol 2026-07-28, and the ones that begin with `initialize`
MCP_CASES = [case for case in CASES if tool_call(case)]
READS = [case for case in MCP_CASES if tool_call(case)[0].read_only]


class House:
    """A vault that is the same at the beginning of each visit, at the same place."""

    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "vault", folder / "state"

    def renew(self) -> None:
        for path in (self.root, self.state):
            shutil.rmtree(path, ignore_errors=True)
        kit.lay(self.root, FILES)
        then = time.time() - 3600  # nobody is typing
        for path in self.root.rglob("*"):
            os.utime(path, (then, then))

    def notes(self) -> dict[str, Any]:
        """All that a person would see, besides the journal."""
        found = [*sorted(self.root.rglob("*.md")), self.root / "40_Brain" / "brain.yaml"]
        return normal({str(p.relative_to(self.root)): p.read_text() for p in found if p.exists()})

    def worker(self, agent: str) -> Worker:
        made = Worker(partial(OpenVault, layout.find(self.root, self.state)), agent)
        made.start()
        return made


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("BRAIN_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("BRAIN_VAULT", raising=False)
    monkeypatch.chdir(tmp_path)
    return House(tmp_path)


def by_python(house: House, case: Case) -> Any:
    operation = named(case.operation)
    with brain.open(house.root, state=house.state) as opened:
        try:
            result = getattr(opened, operation.method)(**arguments(case))
        except BrainError as error:
            kind = type(error).__name__
            return {"error": kind, "message": error.message, "remedy": error.remedy}
        document = serialize.document(result)
    return {operation.key: document} if operation.key else document


def by_command(house: House, case: Case, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    main.run(["--vault", str(house.root), "--json", *command_line(case)])
    return json.loads(capsys.readouterr().out)


async def agree(*_: object) -> ElicitResult:
    return ElicitResult(action="accept", content={"confirm": True})


def by_mcp(house: House, case: Case, era: str) -> tuple[Any, str]:
    """The document, and the text for the model."""
    tool, values = tool_call(case)
    worker = house.worker(case.by)

    async def ask() -> Any:
        async with Client(server(worker), mode=era, elicitation_callback=agree) as client:
            return await client.call_tool(tool.name, values)

    try:
        result = asyncio.run(ask())
    finally:
        worker.close()
    document = result.meta[META]
    assert result.is_error is ("error" in document)
    assert result.structured_content is None  # clients show it to the model in place of the text
    return document, result.content[0].text


def test_every_operation_and_every_tool_has_a_case() -> None:
    assert {case.operation for case in CASES} == {operation.name for operation in OPERATIONS}
    assert {tool_call(case)[0].name for case in MCP_CASES} == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_command_line_answers_as_python_does(
    house: House, case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    house.renew()
    expected, notes = normal(by_python(house, case)), house.notes()
    house.renew()
    assert normal(by_command(house, case, capsys)) == expected
    assert house.notes() == notes


@pytest.mark.parametrize("case", MCP_CASES, ids=str)
def test_mcp_answers_as_python_does_in_both_eras(house: House, case: Case) -> None:
    house.renew()
    expected, notes = normal(by_python(house, case)), house.notes()
    for era in ERAS:
        house.renew()
        document, text = by_mcp(house, case, era)
        assert normal(document) == expected
        assert house.notes() == notes
        if "error" in document:
            assert text == answers.error(document["message"], document["remedy"])
        else:
            assert text == answers.result(document)


COMMAND = [sys.executable, "-m", "brain", "mcp"]


@pytest.mark.parametrize("era", ERAS)
def test_a_process_answers_as_python_does(house: House, era: str) -> None:
    cases = [case for case in READS if case.by == "claude"]
    house.renew()
    expected = [normal(by_python(house, case)) for case in cases]
    house.renew()
    command = [*COMMAND, "--agent", "claude", "--vault", str(house.root)]

    async def ask() -> list[Any]:
        start = StdioServerParameters(
            command=command[0], args=command[1:], env={"BRAIN_STATE": str(house.state)},
            cwd=Path(__file__).parent.parent.parent,
        )  # fmt: skip
        async with Client(start, mode=era) as client:
            calls = [tool_call(case) for case in cases]
            return [await client.call_tool(tool.name, values) for tool, values in calls]

    assert [normal(result.meta[META]) for result in asyncio.run(ask())] == expected


@pytest.fixture(scope="session")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """The official MCP inspector's command line, from npm."""
    folder = tmp_path_factory.mktemp("inspector")
    package = "@modelcontextprotocol/inspector"
    subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, package],
        check=True, timeout=300, capture_output=True,
    )  # fmt: skip
    program = folder / "node_modules" / ".bin" / "mcp-inspector"

    def ask(command: list[str], *args: str, env: dict[str, str]) -> Any:
        done = subprocess.run(
            [program, "--cli", *command, *args], capture_output=True, text=True, timeout=60,
            env=os.environ | env, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    return ask


@pytest.mark.clients
def test_the_inspector_gets_the_same_answers(house: House, inspector: Callable[..., Any]) -> None:
    house.renew()
    env = {"BRAIN_STATE": str(house.state), "BRAIN_VAULT": str(house.root)}
    listed = inspector(COMMAND, "--method", "tools/list", env=env)
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in TOOLS]
    cases = [case for case in READS if case.by == "admin"]
    plain = [case for case in cases if all(type(v) is str for v in tool_call(case)[1].values())]
    assert len(plain) > 2
    for case in plain:
        house.renew()
        expected = normal(by_python(house, case))
        house.renew()
        tool, values = tool_call(case)
        given = [
            each for name, value in values.items() for each in ("--tool-arg", f"{name}={value}")
        ]
        method = ("--method", "tools/call", "--tool-name", tool.name)
        answer = inspector(COMMAND, *method, *given, env=env)
        assert normal(answer["_meta"][META]) == expected
