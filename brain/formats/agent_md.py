"""AGENT.md: the properties that say who an agent is, and a body that is searched like any note."""

from __future__ import annotations

from brain.formats import note_md
from brain.model import Document, Problem

TYPES = ("admin", "project", "skill")


def parse(data: bytes, name: str = "") -> Document:
    """Read an agent's definition. Its first chunk carries `type`, `id` and `name` as extra."""
    note = note_md.parse(data, name)
    said = {
        key: str(note.properties[key]) for key in ("type", "id", "name") if note.properties.get(key)
    }
    problems = list(note.problems)
    if said.get("type") not in TYPES:
        problems.append(
            Problem(
                1,
                "agent-type",
                f"says no type; write `type: {' | '.join(TYPES)}` in its properties",
            )
        )
    chunks = [chunk._replace(kind="agent") for chunk in note.chunks]
    if chunks:
        chunks[0] = chunks[0]._replace(extra=said)
    return Document(
        tuple(chunks), tuple(problems), said.get("name", note.title), created=note.created
    )
