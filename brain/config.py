"""The settings of a vault and their defaults; `settings` says what each means."""

from __future__ import annotations

from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Config(NamedTuple):
    """The settings of one vault, with their defaults."""

    include: tuple[str, ...] = ("**/*.md",)
    exclude: tuple[str, ...] = ()
    useGitignore: bool = True
    maxFileSize: int = 10_000_000
    maxMemorySize: int = 50_000
    memoryPath: str = "<agent>/MEMORY.md"
    sessionsPath: str = "<agent>/sessions/"
    dbPath: str = "auto"
    searchProvider: str = "fts5"
    searchLimit: int = 10
    aliases: tuple[str, ...] = ()
    vectorModel: str = ""
    textWeight: float = 0.7
    vectorWeight: float = 0.3
    similarityThreshold: float = 0.4
    autoInject: bool = True
    injectionTopN: int = 5
    topK: int = 15
    maxPinned: int = 5
    maxPerSource: int = 2
    maxRetrievalMs: int = 200
    cascadeSeeds: int = 10
    cascadeDepth: int = 2
    cascadeDecay: float = 0.7
    tokenizer: str = "estimate"
    budgetCeiling: int = 5000
    taskShare: float = 0.4
    projectShare: float = 0.4
    globalShare: float = 0.2
    headTailPreserve: int = 2
    memory: bool = True
    readOnly: bool = False
    datePrefix: bool = True
    sections: tuple[str, ...] = ()
    redactEmails: bool = True
    reinforceWeight: float = 3.0
    demoteWeight: float = 1.0
    holdSeconds: float = 2.0


DEFAULTS = Config()


def default(name: str) -> Any:
    """The default of a setting."""
    return getattr(DEFAULTS, name)
