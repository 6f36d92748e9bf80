"""brain.yaml, read: text in, settings out.

Keys are flat camelCase; a nested `memory:` block is read as if its keys stood at the top. An
unknown key is a warning with the nearest known name; a value of the wrong type stops with its line,
because a setting such as `exclude` must not be dropped in silence.
"""

from __future__ import annotations

from brain import config
from brain.config import SETTINGS, Config, nearest
from brain.errors import BadConfig
from brain.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.config import Setting

MAX_CHARS = 64_000
MUST_BE = {
    bool: "true or false",
    int: "a whole number above 0",
    float: "a number of 0 or more",
    tuple: "a list of words",
}


def parse(text: str) -> tuple[Config, list[Problem]]:
    """The settings that `text` (a brain.yaml) asks for, and warnings about keys nobody knows.

    Raises BadConfig, naming the line, for text that is not YAML or a value that does not fit.
    """
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return config.DEFAULTS, []
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, node in pairs(compose(text)):
        key, line = str(name.value), name.start_mark.line + 1
        if key not in SETTINGS:
            problems.append(
                Problem(line, "unknown-setting", f"unknown setting {key!r}. {nearest(key)}")
            )
        elif key in values:
            problems.append(Problem(line, "duplicate-setting", f"sets {key} a second time"))
        if key in SETTINGS and not _is_null(node):
            values[key] = _fit(key, SETTINGS[key], node, line)
    return Config(**values), problems


def compose(text: str) -> Any:
    """The mapping that a text is, None if it holds nothing. Raises BadConfig."""
    import yaml

    if len(text) > MAX_CHARS:
        raise BadConfig(f"brain.yaml is over {MAX_CHARS:,} characters.", "Shorten it.")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise BadConfig("brain.yaml is nested too deeply.", "See `brain config`.") from None
    except yaml.YAMLError as error:
        raise _no_yaml(text, error) from None
    if root is None or _is_null(root):
        return None
    if not isinstance(root, yaml.MappingNode):
        raise BadConfig(
            f"brain.yaml line {root.start_mark.line + 1} must be a `key: value` line.",
            "See `brain config` for the keys.",
        )
    return root


def pairs(root: Any) -> list[tuple[Any, Any]]:
    """The nodes (key, value) of each setting; those of a block `memory:` count as if they stood at
    the top."""
    found: list[tuple[Any, Any]] = []
    for key, node in root.value if root else ():
        found += node.value if is_block(key, node) else [(key, node)]
    return found


def is_block(key: Any, node: Any) -> bool:
    """Is this the block `memory:`, and not the setting of that name?"""
    return bool(key.value == "memory" and node.id == "mapping")


def _no_yaml(text: str, error: Any) -> BadConfig:
    """What is wrong, and where: a line that stops in the middle is noticed at the next one."""
    if reason := getattr(error, "reason", None):  # a character that YAML forbids
        what, line = reason, text.count("\n", 0, error.position)
    else:
        halted = "simple key" in (error.context or "")
        what, line = error.problem, (error.context_mark if halted else error.problem_mark).line
    line = min(line, text.rstrip().count("\n")) + 1
    return BadConfig(
        f"brain.yaml line {line} is not YAML: {what}.", "Mend or delete it; globs need quotes."
    )


def _is_null(node: Any) -> bool:
    """Is this `key:` without a value? Then the default holds."""
    return bool(node.tag == "tag:yaml.org,2002:null")


def _fit(key: str, spec: Setting, node: Any, line: int) -> Any:
    """A value as the type its setting has: what a word means is for the setting to say."""
    wanted = config.default(key)
    try:
        fitted = _convert(node, wanted)
    except (ValueError, KeyError):
        raise _unfit(key, node, line, MUST_BE.get(type(wanted), "a word")) from None
    for item in [node] if isinstance(node.value, str) else node.value:
        line = line if item is node else item.start_mark.line + 1
        if spec.choices and item.value not in spec.choices:
            raise _unfit(key, item, line, f"one of {', '.join(spec.choices)}")
        if spec.fits and not spec.fits(item.value):
            raise _unfit(key, item, line, spec.must)
    return fitted


def _unfit(key: str, node: Any, line: int, must: str) -> BadConfig:
    found = f", not {node.value!r}" if isinstance(node.value, str) else ""
    return BadConfig(
        f"brain.yaml line {line}: {key} must be {must}{found}.",
        "Mend the line or delete it to use the default.",
    )


def _convert(node: Any, wanted: Any) -> Any:
    """Raises ValueError or KeyError for a node that cannot be such a value."""
    if isinstance(wanted, tuple):
        return tuple(
            _word(item) for item in ([node] if isinstance(node.value, str) else node.value)
        )
    word = _word(node)
    if isinstance(wanted, bool):
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[
            word.casefold()
        ]
    if isinstance(wanted, int):
        number = int(word)
        if number < 1:
            raise ValueError
        return number
    if isinstance(wanted, float):
        if not 0 <= (weight := float(word)) < float("inf"):
            raise ValueError
        return weight
    return word


def _word(node: Any) -> str:
    """The text of a plain value; a list or a block is none. `(key, value)` is a pair of a block."""
    value = getattr(node, "value", None)
    if not isinstance(value, str):
        raise ValueError
    return value
