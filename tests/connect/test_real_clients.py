"""The real clients, from npm: their own lists show Brain once it is connected, and no longer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from brain import init
from tests.cli.conftest import COMMAND

PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli")
LISTS = {
    "claude-code": ["claude", "mcp", "list"],
    "codex": ["codex", "mcp", "list"],
    "gemini": ["gemini", "mcp", "list"],
}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of the clients."""
    folder = tmp_path_factory.mktemp("clients")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    subprocess.run([*install, *PACKAGES], check=True, timeout=600, capture_output=True)
    return folder / "node_modules" / ".bin"


@pytest.mark.clients
@pytest.mark.parametrize("name", LISTS)
def test_a_client_lists_brain_until_it_is_removed(
    programs: Path, tmp_path: Path, name: str
) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    home.mkdir()
    init.create_demo(vault)
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
