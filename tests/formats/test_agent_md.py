"""AGENT.md: who an agent says it is."""

from __future__ import annotations

from hypothesis import given

from brain.formats import note_md
from tests.formats import strategies


def test_golden(case, check_case) -> None:
    check_case(case, note_md.parse_agent(f"{case.before}\n".encode(), "AGENT"))


@given(strategies.data)
def test_any_bytes_are_read(data: bytes) -> None:
    document = note_md.parse_agent(data, "AGENT")
    assert {entry.kind for entry in document.entries} <= {"agent"}
    known = document.properties.get("type") in note_md.AGENT_TYPES
    assert known == all(problem.code != "agent-type" for problem in document.problems)


def test_only_the_first_passage_says_who_it_is() -> None:
    note = "---\ntype: skill\nname: Long\n---\n" + "words " * 2_000
    first, *rest = note_md.parse_agent(note.encode()).entries
    assert first.extra == {"type": "skill", "name": "Long"}
    assert rest
    assert all(entry.extra is None for entry in rest)
