"""The plugin for Claude Code, Codex and VS Code: it agrees with the code, and it finds Brain."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import brain
from brain import new_vault
from brain.cli.main import COMMANDS
from brain.serve.hook import CLIENTS
from brain.serve.tools import BY_NAME

PLUGIN = Path(__file__).parent.parent.parent / "plugins" / "claude-code"
SCRIPT = PLUGIN / "scripts/brain.sh"
MANIFEST = PLUGIN / ".claude-plugin/plugin.json"


def test_the_version_is_that_of_brain() -> None:
    assert json.loads(MANIFEST.read_text())["version"] == brain.__version__


def test_every_hook_is_a_line_of_shell() -> None:
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    assert set(hooks) == set(CLIENTS["claude-code"].events)
    for event, [group] in hooks.items():
        [hook] = group["hooks"]
        name = f'sh "${{CLAUDE_PLUGIN_ROOT}}/scripts/brain.sh" hook claude-code {event}'
        assert hook["command"] == name
        assert "args" not in hook  # Codex ignores them


def test_commands_and_the_skill_name_what_exists() -> None:
    texts = [path.read_text() for path in (*PLUGIN.glob("commands/*"), *PLUGIN.glob("skills/*/*"))]
    names = [path.stem for path in PLUGIN.glob("commands/*.md")]
    assert sorted(names) == ["forget", "memory", "pin", "remember"]
    tools = {name for text in texts for name in re.findall(r"`(memory_\w+)`", text)}
    assert tools
    assert tools <= set(BY_NAME)
    used = {name for text in texts for name in re.findall(r"`brain ([a-z]+)", text)}
    assert {"status", "list", "search", "budget", "alias", "config"} <= used
    assert used <= set(COMMANDS)


def run(home: Path, *args: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a machine with no program of ours on the PATH."""
    return subprocess.run(
        ["sh", str(SCRIPT), *args], input=given, capture_output=True, text=True, timeout=60,
        env={"HOME": str(home), "PATH": os.defpath, **env}, check=False,
    )  # fmt: skip


def test_it_finds_brain_where_it_is_not_on_the_path(tmp_path: Path) -> None:
    new_vault.create_demo(tmp_path / "vault")
    program = tmp_path / ".local/bin/brain"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m brain "$@"\n')
    program.chmod(0o755)
    given = json.dumps({"session_id": "s-1", "cwd": str(tmp_path), "source": "startup"})
    done = run(
        tmp_path, "hook", "claude-code", "SessionStart", given=given,
        BRAIN_VAULT=str(tmp_path / "vault"), PYTHONPATH=str(PLUGIN.parent.parent),
    )  # fmt: skip
    assert done.returncode == 0
    assert "Metric units" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_without_brain_a_hook_does_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "hook", "claude-code", "UserPromptSubmit", given="{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run(tmp_path, "mcp")
    assert done.returncode == 1
    assert "not installed" in done.stderr


def test_the_server_is_found_without_the_path_of_the_plugin(tmp_path: Path) -> None:
    """Codex replaces no variable in the arguments of a server."""
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["brain"]
    program = tmp_path / ".local/bin/brain"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        [server["command"], *server["args"]], capture_output=True, text=True, timeout=60,
        env={"HOME": str(tmp_path), "PATH": os.defpath}, check=True,
    )  # fmt: skip
    assert done.stdout == "mcp\n"
    assert "${" not in json.dumps(server)
