"""LoCoMo conversations as a vault, and its questions with the turns that answer them.

One agent for each conversation, one session file for each of its sessions, one line for each turn.
The data is read from where it lies and never copied into the project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5  # its evidence is what the question distorts: reported apart
_AGENT = "---\ntype: project\nname: {name}\n---\n\n# {name}\n\nWhat was said in one conversation.\n"


class Turn(NamedTuple):
    conversation: str
    session: int
    id: str
    speaker: str
    role: str
    text: str
    at: str

    @property
    def key(self) -> str:
        """What names a turn among those of all conversations."""
        return f"{self.conversation}/{self.id}"


class Question(NamedTuple):
    text: str
    evidence: frozenset[str]  # keys of turns
    category: int
    conversation: str


def read(path: Path) -> tuple[list[Turn], list[Question]]:
    """All turns, and all questions that have evidence among them."""
    turns: list[Turn] = []
    questions: list[Question] = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        said = list(_turns(sample["sample_id"], sample["conversation"]))
        turns += said
        questions += _questions(sample, {turn.key for turn in said})
    return turns, questions


def _turns(name: str, conversation: dict[str, Any]) -> Iterator[Turn]:
    numbers = (int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in sorted(numbers):
        at = _moment(conversation[f"session_{number}_date_time"])
        for turn in conversation[f"session_{number}"]:
            caption = turn.get("blip_caption")
            text = turn.get("text", "") + (f" [shares {caption}]" if caption else "")
            role = "user" if turn["speaker"] == conversation["speaker_a"] else "assistant"
            yield Turn(name, number, turn["dia_id"], turn["speaker"], role, text, at)


def _moment(said: str) -> str:
    """`1:56 pm on 8 May, 2023` in ISO 8601."""
    return datetime.strptime(said.strip(), "%I:%M %p on %d %B, %Y").isoformat()


def _questions(sample: dict[str, Any], known: set[str]) -> Iterator[Question]:
    name = sample["sample_id"]
    for asked in sample["qa"]:
        evidence = frozenset(f"{name}/{id}" for id in repaired(asked.get("evidence") or []))
        if evidence & known:
            yield Question(asked["question"], evidence & known, asked["category"], name)


def repaired(evidence: list[str]) -> list[str]:
    """The ids of turns, also from `D8:6; D9:17`, `D:11:26` and `D30:05`."""
    return [
        f"D{int(session)}:{int(turn)}"
        for said in evidence
        for session, turn in re.findall(r"D:?(\d+):(\d+)", said)
    ]


def lay(root: Path, turns: list[Turn]) -> None:
    """Write the vault."""
    sessions: dict[Path, list[str]] = {}
    for turn in turns:
        agent = root / "40_Brain" / "agents" / turn.conversation
        file = agent / "sessions" / f"session_{turn.session}.jsonl"
        line = {"id": turn.id, "role": turn.role, "name": turn.speaker, "content": turn.text,
                "timestamp": turn.at}  # fmt: skip
        sessions.setdefault(file, []).append(json.dumps(line, ensure_ascii=False))
    for file, lines in sessions.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        agent = file.parent.parent
        (agent / "AGENT.md").write_text(_AGENT.format(name=agent.name), encoding="utf-8")
