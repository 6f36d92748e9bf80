"""Read the properties at the head of a note, as text.

YAML 1.1 would read `10:30` as 630 and `on` as True, so every scalar is kept as a string. Plain
`key: value` blocks, which nearly all notes have, are read line by line. For other YAML,
python-frontmatter is used, with a loader that does not convert values. Deeply nested YAML is
refused first, because the recursion of the C parser would crash the process.
"""

from __future__ import annotations

import re
from datetime import datetime
from unicodedata import normalize

from brain.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_CHARS = 64_000
MAX_DEPTH = 40
_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
# tabs, control characters and line breaks other than \n, which have a special meaning in YAML
_SPECIAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PLAIN_KEY = re.compile(r"[A-Za-z_](?:[\w \-]*[\w\-])?")
_MAX_KEY = 1_000  # YAML looks for the colon in the first 1,024 characters
_WORDS = re.compile(r"\w[\w ./-]*")
_PLAIN = re.compile(r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[0-9])(?:[^#:]|:(?=\S)|(?<=\S)#)*")
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^']*'")
_ALIAS = re.compile(r"(?:^|[\s\[,{:-])\*[\w-]")
_COMPACT = re.compile(rf"(?:[-?:][ \t]+){{{MAX_DEPTH}}}")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_CREATED_KEYS = ("created", "date", "created_at", "createdAt", "creation date", "date created")
_NOTHING = ("", "~", "null", "Null", "NULL")


def split(text: str) -> tuple[str, int]:
    """Return the YAML between the `---` lines, and the offset of the body; ('', 0) if the text has
    no properties."""
    opening = _OPEN.match(text)
    if not opening:
        return "", 0
    closing = _CLOSE.search(text, opening.end())
    if not closing:
        return "", 0
    end = closing.end()
    return text[opening.end() : closing.start()], end + 1 if end < len(text) else end


def properties_of(text: str) -> tuple[dict[str, Any], int, list[Problem]]:
    """Return the properties of a note, the offset of its body, and the problems."""
    block, body_at = split(text)
    properties, problems = read(block) if body_at else ({}, [])
    return properties, body_at, problems


def read(block: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the properties in a block of YAML, and the problems, with their lines in the note."""
    plain = read_plain(block)
    if plain is not None:
        return plain, []
    if reason := refusal(block):
        return {}, [Problem(1, "frontmatter", reason)]
    return _read_yaml(block)


def read_plain(block: str) -> dict[str, Any] | None:
    """Read flat keys with plain or quoted scalars and simple lists. Return None for other YAML."""
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    if _SPECIAL.search(block):
        return None
    properties: dict[str, Any] = {}
    key, indent = "", ""
    items: list[str] | None = None  # items of a list that may follow the last key
    for line in block.split("\n"):
        if not line:
            continue
        if line[0] in " -":
            lead, dash, value_text = line.partition("- ")
            value_text = value_text.strip(" ")
            item = value_text if value_text.isalnum() else _scalar(value_text)
            if not dash or lead.strip(" ") or item is None or items is None:
                return None
            if items and lead != indent:
                return None
            indent = lead
            items.append(item)
            properties[key] = items
            continue
        key, colon, value_text = line.partition(":")
        if (
            not colon
            or value_text[:1] not in ("", " ")
            or key in properties
            or len(key) >= _MAX_KEY
        ):
            return None
        if not (key.isidentifier() or _PLAIN_KEY.fullmatch(key)):
            return None
        value_text = value_text.strip(" ")
        items = None if value_text else []
        value = value_text if value_text.isalnum() else _value(value_text) if value_text else ""
        if value is None:
            return None
        properties[key] = value
    return properties


def _value(text: str) -> str | list[str] | None:
    if text[0] != "[":
        return _scalar(text)
    if text[-1] != "]":
        return None
    inner = text[1:-1].strip(" ")
    parts = [part.strip(" ") for part in inner.removesuffix(",").split(",")] if inner else []
    if not all(_WORDS.fullmatch(part) or _QUOTED.fullmatch(part) for part in parts):
        return None
    return [part if part[0] not in "\"'" else part[1:-1] for part in parts]


def _scalar(text: str) -> str | None:
    """Return the value of a YAML scalar; None if it is neither plain nor quoted."""
    if _WORDS.fullmatch(text) or _PLAIN.fullmatch(text):
        return text
    return text[1:-1] if _QUOTED.fullmatch(text) else None


def refusal(block: str) -> str:
    """Return the reason why a block must not be parsed as YAML; '' if there is none."""
    if len(block) > MAX_CHARS:
        return f"properties are over {MAX_CHARS:,} characters; they were not read"
    indents = {len(line) - len(line.lstrip(" ")) for line in block.split("\n") if line.strip()}
    if bracket_depth(block) > MAX_DEPTH or len(indents) > MAX_DEPTH or _COMPACT.search(block):
        return "properties are nested too deeply; they were not read"
    if _ALIAS.search(block) and _uses_aliases(block):
        return "properties use YAML aliases, which are not supported"
    return ""


def bracket_depth(block: str) -> int:
    """Return the depth of nested brackets, including those in strings and comments."""
    depth = deepest = 0
    for char in block:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}" and depth:
            depth -= 1
    return deepest


def _uses_aliases(block: str) -> bool:
    """Return True if the YAML contains a reference `*name` to one of its parts."""
    import yaml

    try:
        return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(block, _loader()))
    except yaml.YAMLError:
        return False  # `_read_yaml` reports the error


def _read_yaml(block: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return properties that are not plain lines, and problems with their lines in the note."""
    import frontmatter
    import yaml

    from brain.formats.text import storable

    handler = _Handler()
    try:
        found, _ = frontmatter.parse(f"---\n{block}\n---", handler=handler)  # type: ignore[arg-type]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = _line(block, mark) if mark else 1
        what = getattr(error, "problem", None) or "cannot be read as YAML"
        return {}, [Problem(line, "frontmatter", f"properties are not valid YAML: {what}")]
    except (ValueError, TypeError, RecursionError, AttributeError):
        return {}, [Problem(1, "frontmatter", "properties are not a plain mapping")]
    properties = {storable(str(key)): storable(value) for key, value in found.items()}
    return properties, handler.problems


class _Handler:
    """A handler for python-frontmatter, which removes the fences and reads the YAML."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def split(self, text: str) -> tuple[str, str]:
        return text.removeprefix("---\n").removesuffix("\n---"), ""

    def load(self, block: str) -> Any:
        loader = _loader()(block)
        try:
            node = loader.get_single_node()
            value = loader.construct_document(node) if node else None
        finally:
            loader.dispose()
        if value and not isinstance(value, dict):
            raise TypeError
        for key in _repeated_keys(node) if node else ():
            message = f"repeats `{key.value}`; the last one counts"
            self.problems.append(Problem(_line(block, key.start_mark), "duplicate-key", message))
        return value


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # PyYAML may be built without libyaml


def _repeated_keys(node: Any) -> Iterator[Any]:
    """Yield the first repeated key of each mapping."""
    inner = node.value if node.id == "sequence" else []
    if node.id == "mapping":
        inner = [part for pair in node.value for part in pair]
        first: dict[str, Any] = {}
        keys = [key for key, _ in node.value if key.id == "scalar"]
        yield from [key for key in keys if first.setdefault(key.value, key) is not key][:1]
    for part in inner:
        yield from _repeated_keys(part)


def _line(block: str, mark: Any) -> int:
    """Return the line of a YAML mark in the note. YAML itself would also count U+2028 and similar
    characters as line ends."""
    return block.count("\n", 0, mark.index) + 2  # the block begins on the second line


def as_list(value: Any) -> tuple[str, ...]:
    """Return the names in a property, which may be a name, names with commas, or a list."""
    if isinstance(value, str):
        value = [] if value in _NOTHING else value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple([part.strip() for part in value if isinstance(part, str) and part.strip()])


def tags(properties: dict[str, Any]) -> tuple[str, ...]:
    """Return the tags in the properties, without `#`. Commas and spaces separate them."""
    if not (value := properties.get("tags") or properties.get("tag")):
        return ()
    listed = " ".join(as_list(value))
    if not listed.isascii():
        listed = normalize("NFC", listed)
    words = [word.lstrip("#").rstrip("/") for word in listed.split()]
    return tuple(dict.fromkeys(filter(None, words)))


def title(properties: dict[str, Any]) -> str:
    """Return the title in the properties; '' if there is none."""
    value = properties.get("title")
    return value if isinstance(value, str) and value not in _NOTHING else ""


def created(properties: dict[str, Any]) -> str | None:
    """Return the first valid creation date in the properties; None if there is none."""
    for key in _CREATED_KEYS:
        value = properties.get(key)
        if isinstance(value, str) and (match := _DATE.match(value)) and is_time(match.group()):
            return match.group()
    return None


def is_time(text: str) -> bool:
    """Return True if a text is a valid date, or date and time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
