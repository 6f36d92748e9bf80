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
    """The meaning of a setting, and the values that it may have besides its type."""

    meaning: str
    choices: tuple[str, ...] = ()
    must: str = ""  # the sentence "it must be …", for values that do not fit
    fits: Callable[[str], bool] | None = None  # of a list, for each of its words
    mapping: bool = False  # a list of `name=value` that is written as a block of these


_rows: list[Setting] = []


def _setting(default: T, meaning: str, **rules: Any) -> T:
    """Add a row to SETTINGS and return the default, for use in the body of Config."""
    _rows.append(Setting(meaning, **rules))
    return default


# -- values ----------------------------------------------------------------------------------------

RESERVED = ("agents", "projects", "archive", "journal")  # folders of the brain with a meaning


def _is_in_agent(path: str, ending: str) -> bool:
    """Return True for a visible path below `<agent>/` that Brain uses for nothing else."""
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
    """Return True for `word=others`. Without others, the word means only itself."""
    word, equals, _ = words.partition("=")
    return bool(equals and word.strip())


def _is_project(words: str) -> bool:
    """Return True for `name=path`, with the path of a folder on some machine."""
    name, equals, path = words.partition("=")
    return bool(equals and name.strip() and path.strip())


def _is_tokenizer(name: str) -> bool:
    family, _, which = name.partition(":")
    return name == "estimate" or (family in ("tiktoken", "tokenizers") and bool(which))


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
        "The id by which a machine finds its local data about the vault, also after it was moved."
        " Brain sets it.",
    )

    # files
    include: tuple[str, ...] = _setting(
        ("**/*.md",), "Which files of the vault are indexed as sources, as globs."
    )
    exclude: tuple[str, ...] = _setting(
        (), "Which of those are left out, as globs: `Private/**`, `*.excalidraw.md`."
    )
    useGitignore: bool = _setting(
        True,
        "Leave out what .gitignore and .secretsignore name. Brain's own files are always read.",
    )
    maxFileSize: int = _setting(
        10_000_000, "Bytes. A larger file is not read, and `brain doctor` lists it."
    )
    maxMemorySize: int = _setting(
        50_000, "Characters of a MEMORY.md above which `brain doctor` suggests to archive."
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
        "When the messages of a session are flushed to the disk: after each, or at its end.",
        choices=("always", "end"),
    )
    sessionRetentionDays: int = _setting(
        30, "Days after its last message, after which a session moves to the archive."
    )
    projects: tuple[str, ...] = _setting(
        (),
        "The folders in which agents work, by the agent or project that imported sessions belong"
        " to: `{garden: ~/code/garden}`. The longest path that contains the folder counts.",
        must="names with the path of a folder each, as `{garden: ~/code/garden}`",
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
    searchLimit: int = _setting(10, "How many results a search shows by default.")
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
    textWeight: float = _setting(1.0, "Multiplies what words add to the score of a hybrid search.")
    vectorWeight: float = _setting(
        1.0, "Multiplies what meaning adds to the score of a hybrid search."
    )
    similarityThreshold: float = _setting(
        0.4,
        "How similar, 0 to 1, an entry that contains no word of the question must be for a hybrid"
        " search to find it.",
    )

    # contexts
    autoInject: bool = _setting(
        True, "Whether `brain context` returns memories. Search always works."
    )
    injectionTopN: int = _setting(5, "How many memories that fit the question a context has.")
    topK: int = _setting(15, "How many of the best entries they are selected from.")
    maxPinned: int = _setting(5, "How many pinned memories a context has, newest first.")
    maxPerSource: int = _setting(2, "How many memories of one session a context has.")
    maxRetrievalMs: int = _setting(
        200, "Milliseconds after which a context is made of what was found so far."
    )
    cascadeSeeds: int = _setting(10, "How many of the best entries add those connected to them.")
    cascadeDepth: int = _setting(2, "How many steps away, at most 6.")
    cascadeDecay: float = _setting(0.7, "The factor on a score after each step.")
    tokenizer: str = _setting(
        "estimate",
        "How tokens are counted: `estimate`, or a tokenizer that is installed, as"
        " `tiktoken:o200k_base` or `tokenizers:/path/to/tokenizer.json`.",
        must="`estimate`, `tiktoken:` and a name, or `tokenizers:` and a path",
        fits=_is_tokenizer,
    )
    budgetCeiling: int = _setting(
        5000, "The most tokens a context may have, unless a call sets its budget."
    )
    taskShare: float = _setting(
        0.4, "The share of memories of the present session among those that fit."
    )
    projectShare: float = _setting(0.4, "The share of memories of the agent or project.")
    globalShare: float = _setting(0.2, "The share of memories of the admin.")
    headTailPreserve: int = _setting(
        2, "How many entries at both ends of the current task are dropped last."
    )

    # writing
    memory: bool = _setting(
        True, "Whether Brain writes, and returns contexts, at all. Search always works."
    )
    readOnly: bool = _setting(False, "Write nothing to this vault, on any machine.")
    datePrefix: bool = _setting(True, "Start a new memory with the day, as `2026-02-01: …`.")
    sections: tuple[str, ...] = _setting(
        (),
        "The section for new memories, by kind: `decision=Choices made`. Other kinds go to the"
        " section that the note has for them, or to the usual one.",
        must="a kind and a heading, as `decision=Choices made`",
        fits=_is_section,
    )
    redactEmails: bool = _setting(True, "E-mail addresses are personal data: do not store them.")
    reinforceWeight: float = _setting(3.0, "What `reinforce` adds to the score of a memory.")
    demoteWeight: float = _setting(1.0, "What `demote` subtracts from the score of a memory.")
    holdSeconds: float = _setting(
        2.0, "A write waits while a note was changed less than so many seconds ago."
    )


SETTINGS: dict[str, Setting] = dict(zip(Config._fields, _rows, strict=True))
DEFAULTS = Config()


def default(name: str) -> Any:
    """Return the default of a setting."""
    return getattr(DEFAULTS, name)


def nearest(key: str) -> str:
    """Return the remedy for a setting that does not exist."""
    return suggest(key, SETTINGS) or "See `brain config` for all of them."


# -- brain.yaml ------------------------------------------------------------------------------------


def template(id: str = "") -> str:
    """Return a brain.yaml that names every setting, commented out, with its default; `vaultId` is
    set to this id."""
    parts = ["# Settings of this vault's brain. What is commented out is the default.\n"]
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

    return json.dumps(text, ensure_ascii=False)  # which YAML reads, too
