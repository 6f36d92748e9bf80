"""The real clients, from npm, against a model on loopback.

Their own lists show Brain while it is connected, and a session of theirs gets its context, stores a
memory, and ends up in the vault. It goes on after a resume and a compaction. The plugin's commands
and tools work inside them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from brain import new_vault
from tests.cli.conftest import COMMAND
from tests.connect.test_plugin import PLUGIN

# the newest of each, also where npm would choose an older one for this version of Node
PACKAGES = (
    *("@anthropic-ai/claude-code@latest", "@openai/codex@latest", "@google/gemini-cli@latest"),
    "opencode-ai@latest",
)
LISTS = {
    "claude-code": ["claude", "mcp", "list"],
    "codex": ["codex", "mcp", "list"],
    "gemini": ["gemini", "mcp", "list"],
    "opencode": ["opencode", "mcp", "list"],
}


# How a client is asked, without questions to a person.
ASKS = {
    "claude-code": ["claude", "-p", "--allowedTools", "mcp__brain__memory_store", "--"],
    "codex": ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
              "-c", 'mcp_servers.brain.default_tools_approval_mode="approve"',
              "-c", "mcp_servers.brain.required=true"],  # else the first prompt may be faster
    "gemini": ["gemini", "--approval-mode=yolo", "-p"],
}  # fmt: skip
RESUMES = {
    "codex": [*ASKS["codex"], "resume", "--last"],
    "gemini": ["gemini", "--approval-mode=yolo", "--resume", "latest", "-p"],
}
CODEX = """\
model = "mock"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
"""
OPENCODE = """\
{
  "model": "mock/mock", // what `brain connect` keeps
  "provider": {"mock": {
    "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "ADDRESS/v1", "apiKey": "mock"},
    "models": {"mock": {"name": "mock", "tool_call": true}},
  }},
}
"""
GEMINI = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
PROMPT = "May I use slug pellets? STORE Copper tape keeps slugs out of the beds."


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of the clients."""
    folder = tmp_path_factory.mktemp("clients")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    subprocess.run([*install, *PACKAGES], check=True, timeout=600, capture_output=True)
    return folder / "node_modules" / ".bin"


class Machine(NamedTuple):
    """A home folder with a vault and a project; `requests` is what reached the model."""

    home: Path
    vault: Path
    project: Path
    log: Path
    env: dict[str, str]

    def run(self, *command: str, code: int = 0) -> str:
        done = subprocess.run(
            command, env=self.env, cwd=self.project, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def requests(self) -> str:
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def last_request(self) -> Any:
        return json.loads(self.requests().splitlines()[-1])["body"]

    def wait_for_answer(self, answers: int = 1) -> list[str]:
        """Return the transcripts in the vault, once the answers are there: the import runs on its
        own."""
        until = time.monotonic() + 60
        while True:
            found = self.vault.glob("40_Brain/agents/*/sessions/*.jsonl")
            lines = [line for path in found for line in path.read_text("utf-8").splitlines()]
            if sum("Mock answer." in line for line in lines) >= answers:
                return lines
            assert time.monotonic() < until
            time.sleep(0.2)


@pytest.fixture
def machine(programs: Path, tmp_path: Path) -> Iterator[Machine]:
    vault, home, project = (tmp_path / name for name in ("vault", "home", "garden-planner"))
    new_vault.create_demo(vault)
    home.mkdir()
    project.mkdir()
    log = tmp_path / "requests"
    mock = Path(__file__).with_name("mock_model.py")
    with subprocess.Popen(
        [sys.executable, mock, log], stdout=subprocess.PIPE, text=True
    ) as model:  # fmt: skip
        assert model.stdout
        url = f"http://127.0.0.1:{model.stdout.readline().strip()}"
        env = {
            "HOME": str(home),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "BRAIN_STATE": str(tmp_path / "state"),
            "PYTHONPATH": str(Path(__file__).parent.parent.parent),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-api03-mock-000000000000",
            "DISABLE_AUTOUPDATER": "1",
            "MCP_CONNECTION_NONBLOCKING": "false",  # else the first prompt may be faster
            "MCP_CONNECT_TIMEOUT_MS": "60000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "mock",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        (home / ".gemini").mkdir()
        (home / ".gemini/settings.json").write_text(GEMINI)
        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text(CODEX.format(url=url))
        (home / ".config/opencode").mkdir(parents=True)
        (home / ".config/opencode/opencode.jsonc").write_text(OPENCODE.replace("ADDRESS", url))
        try:
            yield Machine(home, vault, project, log, env)
        finally:
            model.terminate()


@pytest.mark.clients
@pytest.mark.parametrize("name", ASKS)
def test_a_session_uses_the_vault_and_ends_up_in_it(machine: Machine, name: str) -> None:
    vault = machine.vault
    machine.run(*COMMAND, "connect", name, "--vault", str(vault))
    machine.run(*ASKS[name], PROMPT)

    requests = machine.requests()
    assert "brain-context" in requests  # Gemini escapes its brackets
    assert "Metric units and ISO dates" in requests  # pinned: the context of the session
    assert "Never suggest slug pellets" in requests  # recalled for the prompt
    (memory,) = vault.glob("40_Brain/agents/*/MEMORY.md")
    assert "Copper tape keeps slugs out of the beds." in memory.read_text(encoding="utf-8")

    lines = machine.wait_for_answer()
    messages = [json.loads(line) for line in lines]
    said = [each.get("content") for each in messages if each.get("role") == "user"]
    assert said == [PROMPT]
    assert "Mock answer." in [each.get("content") for each in messages]
    assert "brain-context" not in "".join(lines)
    machine.run(*COMMAND, "connect", name, "--remove")


@pytest.mark.clients
def test_opencode_stores_a_memory_and_its_session_is_imported(machine: Machine) -> None:
    """It runs no hooks of other programs, so a person imports its sessions."""
    machine.run(*COMMAND, "connect", "opencode", "--vault", str(machine.vault))
    machine.run("opencode", "run", PROMPT)
    assert "Brain is the user's long-term memory" in machine.requests()
    (memory,) = machine.vault.glob("40_Brain/agents/opencode/MEMORY.md")
    assert "Copper tape keeps slugs out of the beds." in memory.read_text(encoding="utf-8")

    machine.run(*COMMAND, "session", "import", "--vault", str(machine.vault))
    messages = [json.loads(line) for line in machine.wait_for_answer()]
    assert [each["role"] for each in messages if "content" in each or "input" in each] == [
        "user", "tool_call", "assistant",
    ]  # fmt: skip
    assert PROMPT in messages[1]["content"]  # in quotes, as OpenCode stores it


@pytest.mark.clients
def test_a_session_goes_on_after_resume_and_compaction(machine: Machine) -> None:
    machine.run(*COMMAND, "connect", "claude-code", "--vault", str(machine.vault))
    prompts = ["May I use slug pellets?", "What about frost?", "Which seeds are old?"]
    ask = ("claude", "-p", "--output-format", "json")
    session = json.loads(machine.run(*ask, "--", prompts[0]))["session_id"]
    pinned = "Metric units and ISO dates"
    assert json.dumps(machine.last_request()).count(pinned) == 1

    machine.run(*ask, "--resume", session, "--", prompts[1])
    assert json.dumps(machine.last_request()).count(pinned) == 2  # the old one is in the history

    machine.run(*ask, "--resume", session, "--", "/compact")
    machine.run(*ask, "--resume", session, "--", prompts[2])
    assert pinned in json.dumps(machine.last_request())
    (written,) = machine.home.glob(f".claude/projects/*/{session}.jsonl")
    lines = written.read_text(encoding="utf-8").splitlines()
    assert any("SessionStart:compact" in line and pinned in line for line in lines)

    lines = machine.wait_for_answer(len(prompts))
    messages = [json.loads(line) for line in lines]
    said = [each["content"] for each in messages if each["role"] in ("user", "assistant")]
    assert said == [text for prompt in prompts for text in (prompt, "Mock answer.")]
    assert [each["event"] for each in messages if "event" in each] == ["start", "compaction"]
    assert "brain-context" not in "".join(lines)


@pytest.mark.clients
@pytest.mark.parametrize("name", RESUMES)
def test_a_resumed_session_keeps_its_context(machine: Machine, name: str) -> None:
    machine.run(*COMMAND, "connect", name, "--vault", str(machine.vault))
    prompts = ["May I use slug pellets?", "What about frost?"]
    machine.run(*ASKS[name], prompts[0])
    machine.run(*RESUMES[name], prompts[1])
    assert "Metric units and ISO dates" in json.dumps(machine.last_request())

    messages = [json.loads(line) for line in machine.wait_for_answer(len(prompts))]
    said = [each["content"] for each in messages if each["role"] in ("user", "assistant")]
    assert said == [text for prompt in prompts for text in (prompt, "Mock answer.")]


@pytest.mark.clients
@pytest.mark.parametrize("name", LISTS)
def test_a_client_lists_brain_until_it_is_removed(
    programs: Path, tmp_path: Path, name: str
) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    home.mkdir()
    new_vault.create_demo(vault)
    env = {
        "HOME": str(home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "BRAIN_STATE": str(tmp_path / "state"),
        "BRAIN_VAULT": str(vault),
        "PYTHONPATH": str(Path(__file__).parent.parent.parent),
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            command, env=env, cwd=vault, capture_output=True, text=True, timeout=120, check=True
        )
        return done.stdout + done.stderr

    def is_listed() -> bool:
        return "--agent" in run(*LISTS[name])

    assert not is_listed()
    run(*COMMAND, "connect", name)
    assert is_listed()
    if name == "claude-code":
        assert "Connected" in run(*LISTS[name])
    assert "Nothing to change" in run(*COMMAND, "connect", name)
    run(*COMMAND, "connect", name, "--remove")
    assert not is_listed()


# -- the plugin ------------------------------------------------------------------------------------


@pytest.mark.clients
def test_the_plugin_is_valid(machine: Machine) -> None:
    for folder in (PLUGIN, PLUGIN.parent):
        machine.run("claude", "plugin", "validate", str(folder), "--strict")


@pytest.fixture
def with_plugin(machine: Machine) -> Machine:
    """A machine where Brain is not on the PATH; the plugin finds it."""
    program = machine.home / ".local/bin/brain"
    program.parent.mkdir(parents=True)
    package = machine.env["PYTHONPATH"]  # Codex hands it to no server
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{package}" exec "{sys.executable}" -P -m brain "$@"\n'
    )
    program.chmod(0o755)
    machine.run(*COMMAND, "agent", "add", "claude", "--vault", str(machine.vault))
    machine.env.update(BRAIN_VAULT=str(machine.vault), BRAIN_AGENT="claude")
    return machine


CLAUDE = ("claude", "--plugin-dir", str(PLUGIN), "-p", "--")


@pytest.mark.clients
def test_the_plugin_gives_a_session_its_context(with_plugin: Machine) -> None:
    with_plugin.run(*CLAUDE, "May I use slug pellets?")
    requests = with_plugin.requests()
    assert requests.count("Metric units and ISO dates") == 1
    assert "Never suggest slug pellets" in requests
    assert "mcp__plugin_brain_brain__memory_store" in requests
    with_plugin.wait_for_answer()


def results(machine: Machine) -> str:
    """What the tools returned in the last turn."""
    return "\n".join(
        json.dumps(block["content"], ensure_ascii=False)
        for message in machine.last_request()["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    )


@pytest.mark.clients
def test_the_commands_that_change_memory(with_plugin: Machine) -> None:
    """None of them asks for a permission, because the user typed the command."""
    note = with_plugin.vault / "40_Brain/agents/claude/MEMORY.md"
    tape = "Copper tape keeps slugs out of the beds."
    with_plugin.run(*CLAUDE, f"/brain:remember {tape}")
    assert tape in note.read_text(encoding="utf-8"), results(with_plugin)
    for pinned in (True, False):
        with_plugin.run(*CLAUDE, "/brain:pin copper tape")
        (line,) = [each for each in note.read_text(encoding="utf-8").splitlines() if tape in each]
        assert ("#pinned" in line) == pinned, results(with_plugin)
    with_plugin.run(*CLAUDE, "/brain:forget copper tape")
    assert tape not in note.read_text(encoding="utf-8"), results(with_plugin)


# What a user types behind /brain:memory, and what the output contains.
MEMORY = {
    "status": "memory", "list": "Metric units", "list warning": "Rotation looks back",
    "search hedgehog": "Never suggest slug pellets", "budget": "retrieval", "budget 3000": "3,000",
    "alias add slug snail": "snail", "alias list": "slug", "alias remove slug": "slug",
    "config": "autoInject", "auto off": "false",
}  # fmt: skip


@pytest.mark.clients
def test_the_memory_command_runs_brain(with_plugin: Machine) -> None:
    ask = ["claude", *CLAUDE[1:-1], "--allowedTools", "Edit", "Read", "--"]  # for `auto`
    for given, found in MEMORY.items():
        with_plugin.run(*ask, f"/brain:memory {given}")
        assert found in results(with_plugin), given


@pytest.mark.clients
def test_codex_offers_the_tools_of_the_plugin(with_plugin: Machine) -> None:
    with_plugin.run("codex", "plugin", "marketplace", "add", str(PLUGIN.parent))
    with_plugin.run("codex", "plugin", "add", "brain@brain-local")
    (path,) = with_plugin.home.glob(".codex/plugins/cache/*/brain/*/.mcp.json")
    servers = json.loads(path.read_text())
    servers["mcpServers"]["brain"]["required"] = True  # else the first prompt may be faster
    path.write_text(json.dumps(servers))
    with_plugin.run(
        "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
        "May I plant leeks? QUERY slug pellets",
    )  # fmt: skip
    request = with_plugin.last_request()
    assert "Metric units and ISO dates" in json.dumps(request)  # its hooks run, too
    (result,) = [each for each in request["input"] if each["type"] == "function_call_output"]
    assert "Never suggest slug pellets" in json.dumps(result)
    with_plugin.wait_for_answer()
