"""Words that mean the same: a few that are built in, and the vault's own."""

from __future__ import annotations

from functools import lru_cache

from brain.config import Config
from brain.recall.terms import fold

# Every word of a group stands for the others.
GROUPS = (
    ("auth", "authentication"),
    ("db", "database"),
    ("config", "configuration", "settings"),
    ("env", "environment"),
    ("repo", "repository"),
    ("prod", "production"),
    ("dev", "development"),
    ("deps", "dependencies"),
    ("docs", "documentation"),
    ("perf", "performance"),
    ("infra", "infrastructure"),
    ("admin", "administrator"),
    ("k8s", "kubernetes"),
    ("js", "javascript"),
    ("ts", "typescript"),
    ("postgres", "postgresql", "pg"),
    ("dir", "directory", "folder"),
    ("lib", "library"),
    ("spec", "specification"),
    ("param", "parameter"),
    ("msg", "message"),
    ("async", "asynchronous"),
    ("i18n", "internationalization"),
    ("a11y", "accessibility"),
)
# A word that stands for others, which mean more than it does.
WIDER = {"auth": ("authorization", "login"), "api": ("endpoint",), "ci": ("pipeline",)}


def expand(config: Config) -> dict[str, tuple[str, ...]]:
    """For each folded word, the others that stand for it: what is built in, then the vault's own.

    `word=other, words` in the settings is a group of its own. `word=` takes the word out of those
    that are built in.
    """
    return _expanded(config.aliases)


@lru_cache(maxsize=8)
def _expanded(entries: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    own = [pair for entry in entries if (pair := split(entry))[0]]
    gone = {word for word, others in own if not others}
    found: dict[str, dict[str, None]] = {}
    for group in GROUPS:
        _join(found, [word for word in group if word not in gone])
    for word, others in WIDER.items():
        if word not in gone:
            found.setdefault(word, {}).update(dict.fromkeys(o for o in others if o not in gone))
    for word, others in own:
        _join(found, [word, *others] if others else [])
    return {word: tuple(others) for word, others in found.items() if others}


def _join(found: dict[str, dict[str, None]], group: list[str]) -> None:
    for word in group:
        found.setdefault(word, {}).update(dict.fromkeys(o for o in group if o != word))


def split(entry: str) -> tuple[str, tuple[str, ...]]:
    """(word, others) of `word=other, words`, folded, each once."""
    word, _, rest = entry.partition("=")
    folded = [_word(other) for other in rest.split(",")]
    return _word(word), tuple(dict.fromkeys(o for o in folded if o and o != _word(word)))


def _word(text: str) -> str:
    return fold(" ".join(text.split()))
