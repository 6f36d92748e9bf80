"""The settings of a vault: name, type, default and meaning, one row each."""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.errors import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")


class Setting(NamedTuple):
    """The meaning of a setting, and the rules for its values."""

    meaning: str
    choices: tuple[str, ...] = ()
    must: str = ""  # completes "it must be …", the error for other values
    fits: Callable[[str], bool] | None = None  # checks the value, or each item of a list
    mapping: bool = False  # a list of `name=value` that brain.yaml has as a mapping


_rows: list[Setting] = []


def _setting(default: T, meaning: str, **rules: Any) -> T:
    """Add a row to SETTINGS and return the default, for use in the body of Config."""
    _rows.append(Setting(meaning, **rules))
    return default


# -- values ----------------------------------------------------------------------------------------

RESERVED = ("agents", "projects", "archive", "journal")  # folders that Brain uses


def _is_in_agent(path: str, ending: str) -> bool:
    """Return True for a visible path in `<agent>/` that Brain does not use otherwise."""
    agent, *parts = path.removesuffix("/").split("/")
    hidden = any(part.startswith(".") or not part.strip() or "\\" in part for part in parts)
    return (
        agent == "<agent>" and path.endswith(ending) and bool(parts) and not hidden
        and parts[0] not in RESERVED and parts[-1] != "AGENT.md"
    )  # fmt: skip


def _is_memory_path(path: str) -> bool:
    return _is_in_agent(path, ".md")


def _is_sessions_path(path: str) -> bool:
    return _is_in_agent(path, "/")


def _is_alias(words: str) -> bool:
    """Return True for `word=others`. Without others, the word has no synonyms."""
    word, equals, _ = words.partition("=")
    return bool(equals and word.strip())


def _is_project(words: str) -> bool:
    """Return True for `name=path`. The path may exist only on another machine."""
    name, equals, path = words.partition("=")
    return bool(equals and name.strip() and path.strip())


def _is_tokenizer(name: str) -> bool:
    family, _, model = name.partition(":")
    return name == "estimate" or (family in ("tiktoken", "tokenizers") and bool(model))


def _is_section(words: str) -> bool:
    """Return True for `kind=heading`."""
    from brain.kinds import KINDS

    kind, _, heading = words.partition("=")
    return kind.strip().casefold() in KINDS and bool(heading.strip())


# -- the table -------------------------------------------------------------------------------------


class Config(NamedTuple):
    """The settings of one vault."""

    vaultId: str = _setting(
        "",
        "The id by which a machine finds its local data about the vault, even after the vault was"
        " moved. Brain sets this id.",
    )

    # files
    include: tuple[str, ...] = _setting(
        ("**/*.md",), "The files of the vault that are indexed as sources, as globs."
    )
    exclude: tuple[str, ...] = _setting(
        (), "The files that are not indexed, as globs: `Private/**`, `*.excalidraw.md`."
    )
    useGitignore: bool = _setting(
        True,
        "Leave out the files that .gitignore and .secretsignore name. Brain's own files are always"
        " read.",
    )
    maxFileSize: int = _setting(
        10_000_000,
        "The largest file that is read, in bytes. `brain doctor` lists larger ones. Transcripts may"
        " be larger.",
    )
    maxMemorySize: int = _setting(
        50_000,
        "The number of characters of a MEMORY.md above which `brain doctor` suggests archiving.",
    )
    memoryPath: str = _setting(
        "<agent>/MEMORY.md",
        "The memory note of an agent, in its folder.",
        must="a path in the agent's folder that ends in `.md`, as `<agent>/MEMORY.md` is",
        fits=_is_memory_path,
    )
    sessionsPath: str = _setting(
        "<agent>/sessions/",
        "The sessions of an agent, in its folder.",
        must="a path in the agent's folder that ends in `/`, as `<agent>/sessions/` is",
        fits=_is_sessions_path,
    )
    sessionSync: str = _setting(
        "always",
        "When messages of a session are flushed to the disk: after each, or when the session ends.",
        choices=("always", "end"),
    )
    sessionRetentionDays: int = _setting(
        30, "A session is moved to the archive this number of days after its last message."
    )
    projects: tuple[str, ...] = _setting(
        (),
        "The folders in which agents work, by agent or project: `{garden: ~/code/garden}`. An"
        " imported session belongs to the agent or project whose folder contains the working folder"
        " of the session. If several contain it, the longest path counts.",
        must="names, each with the path of a folder, as `{garden: ~/code/garden}`",
        fits=_is_project,
        mapping=True,
    )
    dbPath: str = _setting(
        "auto",
        "The path of brain.db. `auto`: the brain folder on a local disk, else this machine's state"
        " folder.",
    )

    # search
    searchProvider: str = _setting(
        "fts5", "Search by words, or by words and meaning.", choices=("fts5", "hybrid")
    )
    searchLimit: int = _setting(10, "The number of results that a search shows by default.")
    aliases: tuple[str, ...] = _setting(
        (),
        "Words with the same meaning, as `auth=login, sign-in`; see `brain alias`.",
        must="words as `auth=login, sign-in`",
        fits=_is_alias,
    )
    vectorModel: str = _setting(
        "",
        "The embedding model for `searchProvider: hybrid`: the name of a model of fastembed, a"
        " folder, `command: …` or an http address. Empty: all-MiniLM-L6-v2.",
    )
    textWeight: float = _setting(1.0, "The weight of words in the score of a hybrid search.")
    vectorWeight: float = _setting(1.0, "The weight of meaning in the score of a hybrid search.")
    similarityThreshold: float = _setting(
        0.4,
        "The similarity, from 0 to 1, from which on a hybrid search finds an entry that contains no"
        " word of the question.",
    )

    # contexts
    autoInject: bool = _setting(
        True, "Whether `brain context` returns memories. Search always works."
    )
    injectionTopN: int = _setting(
        5, "The maximum number of memories that a context shows for the question."
    )
    topK: int = _setting(
        15, "The number of best entries from which the `injectionTopN` memories come."
    )
    maxPinned: int = _setting(5, "The number of pinned memories in a context, newest first.")
    maxPerSource: int = _setting(2, "The number of memories from the same session in a context.")
    maxRetrievalMs: int = _setting(
        200,
        "The time in milliseconds after which a context gets no related entries.",
    )
    cascadeSeeds: int = _setting(
        10, "The number of best entries whose connected entries are added."
    )
    cascadeDepth: int = _setting(2, "The number of steps to a connected entry, at most 6.")
    cascadeDecay: float = _setting(0.7, "The factor by which each step reduces the score.")
    tokenizer: str = _setting(
        "estimate",
        "How tokens are counted: `estimate`, or a tokenizer that is installed, as"
        " `tiktoken:o200k_base` or `tokenizers:/path/to/tokenizer.json`.",
        must="`estimate`, `tiktoken:` and a name, or `tokenizers:` and a path",
        fits=_is_tokenizer,
    )
    budgetCeiling: int = _setting(
        5000, "The maximum number of tokens of a context, unless a call sets its budget."
    )
    taskShare: float = _setting(
        0.4, "Of the tokens for memories, the share for memories of the current session."
    )
    projectShare: float = _setting(0.4, "The share for memories of the agent or project.")
    globalShare: float = _setting(0.2, "The share for memories of the admin.")
    headTailPreserve: int = _setting(
        2, "The number of tasks at the beginning and at the end of the list that are dropped last."
    )

    # writing
    memory: bool = _setting(True, "Whether Brain writes and returns contexts. Search always works.")
    readOnly: bool = _setting(False, "Write nothing to this vault, on any machine.")
    datePrefix: bool = _setting(True, "Start a new memory with the day, as `2026-02-01: …`.")
    sections: tuple[str, ...] = _setting(
        (),
        "The section for new memories, by kind: `decision=Choices made`. Other kinds go to the"
        " section that the note has for them, or to the default section.",
        must="a kind and a heading, as `decision=Choices made`",
        fits=_is_section,
    )
    redactEmails: bool = _setting(True, "Redact email addresses, as personal data.")
    reinforceWeight: float = _setting(
        3.0, "The amount that `reinforce` adds to the score of a memory."
    )
    demoteWeight: float = _setting(
        1.0, "The amount that `demote` subtracts from the score of a memory."
    )
    holdSeconds: float = _setting(
        2.0, "The number of seconds that a write waits after a person's last change of the note."
    )


SETTINGS: dict[str, Setting] = dict(zip(Config._fields, _rows, strict=True))
DEFAULTS = Config()


def default(name: str) -> Any:
    """Return the default of a setting."""
    return getattr(DEFAULTS, name)


def nearest(key: str) -> str:
    """Return the remedy for a setting that does not exist."""
    return suggest(key, SETTINGS) or "See `brain config` for all settings."


# -- brain.yaml ------------------------------------------------------------------------------------


def template(id: str = "") -> str:
    """Return a brain.yaml with all settings and their defaults, commented out. `vaultId` is set to
    this id."""
    parts = [
        "# Settings of this vault's brain. The lines that are commented out show the defaults.\n"
    ]
    for name, setting in SETTINGS.items():
        if name == "vaultId" and id:
            parts.append(f"\n# {setting.meaning}\n{name}: {id}\n")
            continue
        choices = f" One of: {', '.join(setting.choices)}." if setting.choices else ""
        parts.append(f"\n# {setting.meaning}{choices}\n# {name}: {to_yaml(default(name))}\n")
    return "".join(parts)


def to_yaml(value: Any) -> str:
    """Return a value as YAML."""
    if isinstance(value, tuple):
        return f"[{', '.join(_quote(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not value.isalnum():
        return _quote(value)
    return str(value)


def _quote(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)  # JSON strings are valid YAML
