"""Brain: agent memory that lives in an Obsidian vault."""

from __future__ import annotations

__version__ = "0.1.0"
# fmt: off
# isort: off
__all__ = [
    "Actor", "Agent", "AliasChange", "Aliases", "Ambiguous", "Answer", "BadConfig", "BadRequest",
    "Brain", "BrainError", "Budget", "Busy", "ChangeRecord", "Changed", "Conflict", "Context",
    "Denied", "Diagnosis", "Entry", "Event", "Feedback", "FileProblem", "Forgotten",
    "FoundTranscripts", "Freshness", "Gap", "Gaps", "Graph", "Imported", "ImportedSession",
    "IndexDamaged", "Link", "Listing", "Memory", "Mention", "NoModel", "NotFound", "PendingWrite",
    "Place", "Provenance", "Refused", "Remembered", "Resolved", "Reverted", "SearchResult",
    "Session", "SessionLine", "SessionMessages", "SettingChange", "StaleFile", "Stats", "Status",
    "TagSuggestion", "Tagged", "Undone", "Updated", "VaultLooksEmpty", "VaultNotFound",
    "WrongThread", "__version__", "open",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.access import Actor
    from brain.api import Brain, open
    from brain.errors import (
        Ambiguous, BadConfig, BadRequest, BrainError, Busy, Denied, IndexDamaged, NoModel,
        NotFound, Refused, StaleFile, VaultLooksEmpty, VaultNotFound, WrongThread,
    )
    from brain.model import Event, Link
    from brain.open_vault import Freshness
    from brain.operations.results import (
        Agent, AliasChange, Aliases, Answer, Budget, Changed, ChangeRecord, Conflict, Context,
        Diagnosis, Entry, Feedback, FileProblem, Forgotten, FoundTranscripts, Gap, Gaps, Graph,
        Imported, ImportedSession, Listing, Memory, Mention,
        PendingWrite, Place, Provenance, Remembered, Resolved, Reverted, Session, SessionLine,
        SessionMessages, SettingChange, Status,
        TagSuggestion, Tagged, Undone, Updated,
    )
    from brain.operations.search import SearchResult
    from brain.sync import Stats
# fmt: on
# isort: on

_HOMES = {
    "Actor": "brain.access",
    "Brain": "brain.api",
    "Event": "brain.model",
    "Freshness": "brain.open_vault",
    "Link": "brain.model",
    "SearchResult": "brain.operations.search",
    "Stats": "brain.sync",
    "open": "brain.api",
}  # the others are in brain.errors and brain.operations.results


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import brain` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'brain' has no attribute {name!r}")
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    errors = import_module("brain.errors")
    return getattr(errors, name, None) or getattr(import_module("brain.operations.results"), name)
