"""The bytes of a file into a document, whatever its format: pure, and it never raises."""

from __future__ import annotations

from brain.model import Document


def parse(format: str, path: str, data: bytes, owner: str = "") -> Document:
    """The file at `path`. `format` is the one of its Role, `owner` the agent whose it is."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    if format == "note":
        from brain.formats import note_md

        return note_md.parse(data, name)
    if format == "memory":
        from brain.formats import memory_md

        return memory_md.parse(data, owner)
    if format == "agent":
        from brain.formats import agent_md

        return agent_md.parse(data, name)
    if format == "items":
        from brain.formats import items_json

        return items_json.parse(data)
    if format == "tasks":
        from brain.formats import tasks_json

        return tasks_json.parse(data)
    from brain.formats import session_jsonl

    if format == "session":
        return session_jsonl.parse(data, name)
    return session_jsonl.parse_index(data)
