"""What each setting means, what it may be, and how it is written. Pure."""

from __future__ import annotations

from brain.config import default
from brain.errors import suggest
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Setting(NamedTuple):
    """What a setting means, and what it may be: one of a few words, or words that fit, as `must`
    says."""

    doc: str
    choices: tuple[str, ...] = ()
    must: str = ""
    fits: Callable[[str], bool] | None = None


KEPT = ("agents", "projects", "archive", "journal")  # folders of the brain with a meaning


def _is_in_agent(path: str, ending: str) -> bool:
    """Is this a visible place below `<agent>/` that nothing else of Brain's is kept in?"""
    agent, *parts = path.removesuffix("/").split("/")
    hidden = any(part.startswith(".") or not part.strip() or "\\" in part for part in parts)
    return (
        agent == "<agent>" and path.endswith(ending) and bool(parts) and not hidden
        and parts[0] not in KEPT and parts[-1] != "AGENT.md"
    )  # fmt: skip


def _is_memory_path(path: str) -> bool:
    return _is_in_agent(path, ".md")


def _is_sessions_path(path: str) -> bool:
    return _is_in_agent(path, "/")


def _is_alias(words: str) -> bool:
    """`word=others`; without others, the word means only itself."""
    word, equals, _ = words.partition("=")
    return bool(equals and word.strip())


def _is_tokenizer(name: str) -> bool:
    family, _, which = name.partition(":")
    return name == "estimate" or (family in ("tiktoken", "tokenizers") and bool(which))


def _is_section(words: str) -> bool:
    """`kind=heading`."""
    from brain.kinds import KINDS

    kind, _, heading = words.partition("=")
    return kind.strip().casefold() in KINDS and bool(heading.strip())


SETTINGS = {
    "include": Setting("Which files of the vault are indexed as sources, as globs."),
    "exclude": Setting("Which of those are not, as globs: `Private/**`, `*.excalidraw.md`."),
    "useGitignore": Setting(
        "Leave out what .gitignore and .secretsignore name. Brain's own files are always read."
    ),
    "maxFileSize": Setting("Bytes. A larger file is not read, and `brain doctor` says so."),
    "maxMemorySize": Setting(
        "Characters of a MEMORY.md above which `brain doctor` suggests to archive."
    ),
    "memoryPath": Setting(
        "Where the memory note of an agent lies, in its folder.",
        must="a path in the agent's folder that ends in `.md`, as `<agent>/MEMORY.md` is",
        fits=_is_memory_path,
    ),
    "sessionsPath": Setting(
        "Where its sessions lie, in its folder.",
        must="a path in the agent's folder that ends in `/`, as `<agent>/sessions/` is",
        fits=_is_sessions_path,
    ),
    "dbPath": Setting(
        "Where brain.db lies: a path, or `auto`: in the brain folder on a local disk, else in this"
        " machine's state folder."
    ),
    "searchProvider": Setting(
        "How search works: by words, or by words and meaning.", ("fts5", "hybrid")
    ),
    "searchLimit": Setting("How many results a search shows unless told otherwise."),
    "aliases": Setting(
        "Words that mean the same, as `auth=login, sign-in`; see `brain alias`. A few are built"
        " in.",
        must="words as `auth=login, sign-in`",
        fits=_is_alias,
    ),
    "vectorModel": Setting(
        "The embedding model for `searchProvider: hybrid`: `minilm`, `static`, `command: …` or an"
        " http address."
    ),
    "textWeight": Setting("The share of the words in a hybrid search."),
    "vectorWeight": Setting("The share of the meaning in a hybrid search."),
    "similarityThreshold": Setting("A hybrid search adds nothing less similar than this."),
    "autoInject": Setting("Whether `brain context` hands out memories; searching always works."),
    "injectionTopN": Setting("How many memories that fit the question a context holds."),
    "topK": Setting("How many of the best are looked at for them."),
    "maxPinned": Setting("How many pinned memories a context holds, the newest first."),
    "maxPerSource": Setting("How many memories of one session a context holds."),
    "maxRetrievalMs": Setting("Milliseconds after which a context makes do with what it has."),
    "cascadeSeeds": Setting("How many of the best pull in what they are tied to."),
    "cascadeDepth": Setting("Over how many ties, at most 6."),
    "cascadeDecay": Setting("What is left of a score after each tie."),
    "tokenizer": Setting(
        "What counts tokens: `estimate`, or a tokenizer that is installed, as `tiktoken:o200k_base`"
        " or `tokenizers:/path/to/tokenizer.json`.",
        must="`estimate`, `tiktoken:` and a name, or `tokenizers:` and a path",
        fits=_is_tokenizer,
    ),
    "budgetCeiling": Setting("Tokens that memory takes at most, unless a call says how many."),
    "taskShare": Setting("The share of what the session at hand knows among memories that fit."),
    "projectShare": Setting("The share of what the agent or project knows."),
    "globalShare": Setting("The share of what the admin knows."),
    "headTailPreserve": Setting("How many pieces at either end of the task at hand stay longest."),
    "memory": Setting("Whether Brain writes and injects at all; searching always works."),
    "readOnly": Setting("Write nothing into this vault, on any machine."),
    "datePrefix": Setting("Begin what is remembered with the day, as `2026-02-01: …`."),
    "sections": Setting(
        "Where what is remembered goes, by kind: `decision=Choices made`. A kind that is not named"
        " goes to the section that the note has for it, or to its usual one.",
        must="a kind and a heading, as `decision=Choices made`",
        fits=_is_section,
    ),
    "redactEmails": Setting("Treat e-mail addresses like secrets: never store them."),
    "reinforceWeight": Setting("What `reinforce` adds to a memory's score."),
    "demoteWeight": Setting("What `demote` takes from a memory's score."),
    "holdSeconds": Setting("A note changed less than so many seconds ago is being typed in: wait."),
}


def nearest(key: str) -> str:
    """Return the remedy for a setting that does not exist."""
    return suggest(key, SETTINGS) or "See `brain config` for all of them."


def template() -> str:
    """A brain.yaml that names every setting, commented out, with its default."""
    parts = ["# Settings of this vault's brain. What is commented out is the default.\n"]
    for name, spec in SETTINGS.items():
        choices = spec.choices
        doc = spec.doc + (f" One of: {', '.join(choices)}." if len(choices) > 1 else "")
        parts.append(f"\n# {doc}\n# {name}: {written(default(name))}\n")
    return "".join(parts)


def written(value: Any) -> str:
    """A value as YAML would have it."""
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not value.isalnum():
        return _quoted(value)
    return str(value)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)  # which YAML reads, too
