"""AGENT.md: the properties that say who an agent is, and a body that is searched like any note."""

from __future__ import annotations

from brain.formats import note_md
from brain.model import Document, Problem

TYPES = ("admin", "project", "skill")


def parse(data: bytes, name: str = "") -> Document:
    """Read an agent's definition. Its first chunk carries `type`, `id` and `name` as extra."""
    note = note_md.parse(data, name)
    said = {
        key: value
        for key in ("type", "id", "name")
        if isinstance(value := note.properties.get(key), str) and value
    }
    chunks = [chunk._replace(kind="agent") for chunk in note.chunks]
    if chunks:
        chunks[0] = chunks[0]._replace(extra=said)
    return note._replace(
        chunks=tuple(chunks),
        problems=(*note.problems, *_problems(said.get("type", ""))),
        title=said.get("name", note.title),
    )


def _problems(type: str) -> list[Problem]:
    if type in TYPES:
        return []
    what = f"says that its type is {type}" if type else "says no type"
    remedy = f"write `type: {' | '.join(TYPES)}` in its properties"
    return [Problem(1, "agent-type", f"{what}; {remedy}")]
