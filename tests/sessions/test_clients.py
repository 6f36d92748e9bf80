"""Our reader of Claude Code's transcripts against the official one, in `claude-agent-sdk`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import MakeVault, OpenBrain
from tests.sessions.kit import copy, imported, sessions

pytestmark = pytest.mark.clients
MAIN = "11111111-1111-4111-8111-111111111111"
INJECTED = ("This session is being continued", "<task-notification>", "<command-name>")
INJECTED += ("<local-command-stdout>", "<local-command-caveat>")


def official(session: str) -> list[str]:
    """Return the uuids of the messages that the official reader shows, without injected ones."""
    from claude_agent_sdk import get_session_messages

    found = []
    for message in get_session_messages(session):
        content = message.message.get("content")
        if not (isinstance(content, str) and content.startswith(INJECTED)):
            found.append(message.uuid)
    return found


def ours(root: Path, session: str) -> list[str]:
    return [line.get("native") or line["id"] for line in sessions(root)[session]]


def cut(path: Path, text: str) -> None:
    """Leave out a transcript from the first line with this text on."""
    lines = path.read_text().splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if text in line and '"type":"user"' in line)
    path.write_text("".join(lines[:end]))


@pytest.mark.parametrize(
    ("until", "messages"), [("USEPARALLEL", 7), ("USEAGENT", 16), ("Rewound question", 21)]
)
def test_the_same_messages_in_the_same_order(
    vault: MakeVault,
    opened: OpenBrain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: str,
    messages: int,
) -> None:
    """Plain turns, a tool, parallel calls, a subagent."""
    home, root = copy(tmp_path, "claude_code"), vault()
    path = next(home.rglob(f"{MAIN}.jsonl"))
    cut(path, until)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    with opened(root) as brain:
        assert imported(brain, path) == messages
    assert ours(root, MAIN) == official(MAIN)


def test_after_a_compaction_and_in_a_fork(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The official reader shows the branch that is active; we have all of it, in its order."""
    home, root = copy(tmp_path, "claude_code"), vault()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    with opened(root) as brain:
        imported(brain, home)
    shown = official(MAIN)
    assert len(shown) >= 2
    assert [id for id in ours(root, MAIN) if id in shown] == shown
    fork = next(path.stem for path in home.rglob("*.jsonl") if path.stem[:2] == "26")
    everything = ours(root, MAIN) + ours(root, fork)
    assert set(official(fork)) <= set(everything)
    assert len(everything) == len(set(everything))
