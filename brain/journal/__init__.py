"""The journal: what happened to the memories, in files that only grow, one per device and month.

A device writes only its own files, so any sync tool or `git merge` can carry them. Whoever reads
them all comes to the same facts, in whatever order they arrived. See `line` for a line, `device`
for who a device is, `log` for writing, `read` for reading, `fold` for what it amounts to,
`fresh` and `into` for how that gets into the index, `spool` for what waits on this machine.
"""

from __future__ import annotations

__all__ = ["Entry", "Journal", "Record", "Spool", "event_id", "refresh"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.journal.fresh import refresh
    from brain.journal.line import Entry, Record, event_id
    from brain.journal.log import Journal
    from brain.journal.spool import Spool

_HOMES = {
    "Entry": "line",
    "Journal": "log",
    "Record": "line",
    "Spool": "spool",
    "event_id": "line",
    "refresh": "fresh",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a search needs few of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'brain.journal' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"brain.journal.{_HOMES[name]}"), name)
