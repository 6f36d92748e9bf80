"""Brain: agent memory that lives in an Obsidian vault."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Brain",
    "BrainError",
    "Event",
    "Filters",
    "Freshness",
    "Hit",
    "__version__",
    "open",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.api import Brain, open
    from brain.errors import BrainError
    from brain.index.query import Filters
    from brain.model import Event
    from brain.open_vault import Freshness
    from brain.operations.find import Answer
    from brain.recall.search import Hit

_HOMES = {
    "Answer": "brain.operations.find",
    "Brain": "brain.api",
    "BrainError": "brain.errors",
    "Event": "brain.model",
    "Filters": "brain.index.query",
    "Freshness": "brain.open_vault",
    "Hit": "brain.recall.search",
    "open": "brain.api",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import brain` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'brain' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
