"""Changes into the bytes of a file, whatever its format: pure, and all or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from brain.changes import Change, Edited
from brain.errors import Refused


def edit(format: str, path: str, data: bytes, changes: Sequence[Change], owner: str = "") -> Edited:
    """The file at `path` after these changes, in order, and what became of each.

    `format` is the one of its Role, `owner` the agent whose memory it is, and `data` is b"" for a
    file that is not there yet. No byte changes but those the changes are about; a change that was
    made before changes nothing. Raises Refused, naming path and line, for a file that cannot be
    edited safely.
    """
    if format == "memory":
        from brain.formats import memory_edit

        return memory_edit.edit(path, data, changes, owner)
    if format in ("items", "tasks"):
        from brain.formats import json_edit

        return json_edit.edit(format, path, data, changes)
    if format == "session":
        from brain.formats import session_edit

        return session_edit.edit(path, data, changes)
    if format == "settings":
        from brain.formats import yaml_edit

        return yaml_edit.edit(path, data, changes)
    raise Refused(f"{path} is not a file that Brain edits.", "Edit it by hand.")
