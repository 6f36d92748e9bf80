"""YAML read as text by python-frontmatter: nothing is resolved, and repeated keys are reported.

Only for what `frontmatter.refusal` lets through: the C parser recurses, and a deep enough input
ends the process.
"""

from __future__ import annotations

from typing import Any

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler

from brain.formats.json_doc import storable
from brain.model import Problem

try:
    from yaml import CBaseLoader as BaseLoader
except ImportError:  # PyYAML was built without libyaml
    from yaml import BaseLoader  # type: ignore[assignment]


class _Loader(BaseLoader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.problems: list[Problem] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        seen: set[str] = set()
        for key in keys:
            if key.value in seen:
                said = f"`{key.value}` stands here a second time; the last one counts"
                line = _line(self.text, key.start_mark)
                self.problems.append(Problem(line, "duplicate-key", said))
                break
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Handler(YAMLHandler):
    """Takes the fences off exactly as they were put on, and keeps what the loader noticed."""

    problems: tuple[Problem, ...] = ()

    def split(self, text: str) -> tuple[str, str]:
        return text.removeprefix("---\n").removesuffix("\n---"), ""

    def load(self, fm: str, **_: object) -> Any:
        loader = _Loader(fm)
        try:
            value = loader.get_single_data()
        finally:
            loader.dispose()
        self.problems = tuple(loader.problems)
        if value and not isinstance(value, dict):
            raise TypeError
        return value


def read(block: str) -> tuple[dict[str, Any], list[Problem]]:
    """The properties of a frontmatter block; lines of problems count in the note, whose second
    line is the first of the block."""
    handler = _Handler()
    try:
        properties, _ = frontmatter.parse(f"---\n{block}\n---", handler=handler)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = _line(block, mark) if mark else 1
        what = getattr(error, "problem", None) or "cannot be read as YAML"
        return {}, [Problem(line, "frontmatter", f"properties are not valid YAML: {what}")]
    except (ValueError, TypeError, RecursionError, AttributeError):
        return {}, [Problem(1, "frontmatter", "properties are not a plain mapping")]
    found = {storable(str(key)): storable(value) for key, value in properties.items()}
    return found, list(handler.problems)


def _line(block: str, mark: yaml.Mark) -> int:
    """The line of the note; YAML itself would count U+2028 and the like as line ends."""
    return block.count("\n", 0, mark.index) + 2


def uses_aliases(block: str) -> bool:
    """Does this YAML repeat a part of itself by `*name`?"""
    try:
        return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(block, BaseLoader))
    except yaml.YAMLError:
        return False  # whoever reads it says what is wrong
