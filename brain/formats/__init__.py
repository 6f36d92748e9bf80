"""Parse and edit the files of a vault, one module per format, without I/O.

A parser accepts any bytes, never raises, and reports problems by line. An edit changes only the
bytes of its entry. If that is not possible, the whole edit is refused.
"""

from __future__ import annotations

from brain.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from brain.model import Change, Document, EditedFile


def parse(format: str, path: str, data: bytes, owner: str = "") -> Document:
    """Return the content of a file for the index. `format` is the format in the file's Role, and
    `owner` is the agent that the file belongs to. Of the links in a plain note, only those to
    blocks are read, because a search follows no others."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    if format in ("note", "agent"):
        from brain.formats import inline, note_md

        if format == "agent":
            return note_md.parse_agent(data, name)
        return note_md.parse(data, name, inline.to_blocks)
    if format == "memory":
        from brain.formats import memory_md

        return memory_md.parse(data, owner)
    if format in ("items", "tasks"):
        from brain.formats import records_json

        return records_json.parse(format, data)
    from brain.formats import session_jsonl

    if format == "session":
        return session_jsonl.parse(data, name)
    return session_jsonl.parse_index(data)


def edit(
    format: str, path: str, data: bytes, changes: Sequence[Change], owner: str = ""
) -> EditedFile:
    """Apply changes to a file in order. Return the new bytes, and the result of each change.

    `data` is b"" for a file that does not exist yet. Only the bytes of the changed entries differ.
    A change that was applied before changes nothing. Raise Refused, with path and line, if the file
    cannot be edited safely.
    """
    if format == "memory":
        from brain.formats import memory_edit

        return memory_edit.edit(path, data, changes, owner)
    if format == "settings":
        from brain.formats import brain_yaml

        return brain_yaml.edit(path, data, changes)
    raise Refused(f"{path} is not a file that Brain edits.", "Edit it by hand.")
