"""brain.yaml: every setting, its default, and what it means. Pure: text in, settings out.

Keys are flat camelCase; a nested `memory:` block is read as if its keys stood at the top. An
unknown key is a warning with the nearest known name; a value of the wrong type stops with its line,
because a setting such as `exclude` must not be dropped in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from brain.errors import BadConfig
from brain.model import Problem


def _setting(default: Any, doc: str, choices: tuple[str, ...] = ()) -> Any:
    metadata = {"doc": doc, "choices": choices}
    if isinstance(default, tuple):
        return field(default_factory=lambda: default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one vault."""

    include: tuple[str, ...] = _setting(
        ("**/*.md",), "Which files of the vault are indexed as sources, as globs."
    )
    exclude: tuple[str, ...] = _setting(
        (), "Which of those are not, as globs: `Private/**`, `*.excalidraw.md`."
    )
    useGitignore: bool = _setting(
        True,
        "Leave out what .gitignore and .secretsignore name. Brain's own files are always read.",
    )
    maxFileSize: int = _setting(
        10_000_000, "Bytes. A larger file is not read, and `brain doctor` says so."
    )
    maxMemorySize: int = _setting(
        50_000, "Characters of a MEMORY.md above which `brain doctor` suggests to archive."
    )
    dbPath: str = _setting(
        "auto",
        "Where brain.db lies: a path, or `auto`: in the brain folder on a local disk, else in this"
        " machine's state folder.",
    )
    searchProvider: str = _setting("fts5", "How search works.", ("fts5",))
    ftsEngine: str = _setting(
        "auto", "The full-text engine of SQLite; `auto` takes the best there is.",
        ("auto", "fts5", "fts4"),
    )  # fmt: skip
    searchLimit: int = _setting(10, "How many results a search shows unless told otherwise.")
    candidateLimit: int = _setting(500, "How many matches are ranked for one search.")
    headingWeight: float = _setting(1.0, "Weight of words in headings and titles.")
    bodyWeight: float = _setting(2.0, "Weight of words in the text.")
    tagWeight: float = _setting(1.5, "Weight of words in tags.")
    pathWeight: float = _setting(1.2, "Weight of words in the file's path.")
    scoreFactor: float = _setting(0.2, "A memory's rank is multiplied by e^(scoreFactor x score).")
    recencyDecay: float = _setting(0.01, "A memory's rank is divided by 1 + recencyDecay x days.")
    watchStep: int = _setting(20, "Milliseconds between looks while changes keep coming in.")
    watchDebounce: int = _setting(100, "Milliseconds for which changes are gathered before a sync.")
    rescanSeconds: int = _setting(
        60, "Seconds between full scans, which catch what a watcher missed."
    )


SETTINGS = {f.name: f for f in fields(Config)}


def default(name: str) -> Any:
    """The default of a setting."""
    return getattr(_DEFAULTS, name)


def parse(text: str) -> tuple[Config, list[Problem]]:
    """The settings that `text` (a brain.yaml) asks for, and warnings about keys nobody knows.

    Raises BadConfig, naming the line, for text that is not YAML or a value that does not fit.
    """
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return _DEFAULTS, []
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value, line in _pairs(text):
        if key in SETTINGS:
            values[key] = _fit(key, value, line)
        else:
            problems.append(Problem(line, "unknown-setting", _unknown(key)))
    return Config(**values), problems


def _pairs(text: str) -> list[tuple[str, Any, int]]:
    """(key, value, line) of each setting."""
    import yaml

    from brain.formats.frontmatter import refusal

    if why := refusal(text):
        raise BadConfig(f"brain.yaml: {why}.", "Simplify it; see `brain config`.")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or "it cannot be read"
        raise BadConfig(
            f"brain.yaml{where} is not YAML: {what}.", "Mend or delete that line."
        ) from None
    if not isinstance(root, yaml.MappingNode):
        raise BadConfig("brain.yaml must hold `key: value` lines.", "See `brain config` for them.")
    pairs = []
    for key, value in root.value:
        if key.value == "memory" and isinstance(value, yaml.MappingNode):
            pairs += [(k.value, _plain(v), k.start_mark.line + 1) for k, v in value.value]
        else:
            pairs.append((key.value, _plain(value), key.start_mark.line + 1))
    return pairs


def _plain(node: Any) -> Any:
    """A node as a string or a list of strings: what it means is for the setting to say."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return [item.value for item in node.value if isinstance(item, yaml.ScalarNode)]
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _fit(key: str, value: Any, line: int) -> Any:
    """The text of a value as the type its setting has."""
    wanted = default(key)
    try:
        fitted = _convert(value, wanted)
    except (ValueError, TypeError, KeyError):
        kind = {bool: "true or false", int: "a whole number", float: "a number", tuple: "a list"}
        raise BadConfig(
            f"brain.yaml line {line}: {key} must be {kind.get(type(wanted), 'a word')},"
            f" not {value!r}.",
            "Mend the line or delete it to use the default.",
        ) from None
    choices = SETTINGS[key].metadata["choices"]
    if choices and fitted not in choices:
        raise BadConfig(
            f"brain.yaml line {line}: {key} must be one of {', '.join(choices)}, not {value!r}."
        )
    return fitted


def _convert(value: Any, wanted: Any) -> Any:
    if isinstance(wanted, tuple):
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(value)
    if not isinstance(value, str):
        raise TypeError
    if isinstance(wanted, bool):
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[
            value.casefold()
        ]
    if isinstance(wanted, (int, float)):
        number = type(wanted)(value.replace("_", ""))
        if number < 0:
            raise ValueError
        return number
    return value


def _unknown(key: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, SETTINGS, n=1, cutoff=0.5)
    return f"unknown setting {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def template() -> str:
    """A brain.yaml that names every setting, commented out, with its default."""
    parts = ["# Settings of this vault's brain. What is commented out is the default.\n"]
    for name, spec in SETTINGS.items():
        choices = spec.metadata["choices"]
        doc = spec.metadata["doc"] + (f" One of: {', '.join(choices)}." if len(choices) > 1 else "")
        parts.append(f"\n# {doc}\n# {name}: {written(default(name))}\n")
    return "".join(parts)


def written(value: Any) -> str:
    """A value as YAML would have it."""
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


_DEFAULTS = Config()
