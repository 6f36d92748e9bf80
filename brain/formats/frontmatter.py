"""The properties at the head of a note, read as text.

YAML 1.1 would turn `10:30` into 630 and `on` into True, so every scalar stays the string that is
written. Plain `key: value` blocks, nearly all there are, are read line by line; anything richer
goes to python-frontmatter with a loader that resolves nothing, behind a guard against bombs.
"""

from __future__ import annotations

import re
from typing import Any

from brain.model import Problem

MAX_CHARS = 64_000
MAX_DEPTH = 40
_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_PLAIN_KEY = re.compile(r"[A-Za-z_](?:[\w \-]*[\w\-])?")
_WORDS = re.compile(r"[A-Za-z0-9][\w ./-]*$")
_PLAIN_VALUE = re.compile(
    r"[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^#:]|:(?=\S)|(?<=\S)#)*$|-?[0-9](?:[^#:]|:(?=\S))*$"
)
_FLOW_LIST = re.compile(r"\[([^\[\]{}'\"#&*!|>:%@`]*)\]$")
_ALIAS = re.compile(r"(?:^|[\s\[,{:-])[&*][A-Za-z0-9_]")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_CREATED_KEYS = ("created", "date", "created_at", "createdAt", "creation date", "date created")


def split(text: str) -> tuple[str, int]:
    """The YAML between the fences and the offset where the body starts; ('', 0) without any."""
    if not text.startswith("---"):
        return "", 0
    opening = _OPEN.match(text)
    if not opening:
        return "", 0
    closing = _CLOSE.search(text, opening.end())
    if not closing:
        return "", 0
    end = closing.end()
    return text[opening.end() : closing.start()], end + 1 if end < len(text) else end


def read(block: str) -> tuple[dict[str, Any], list[Problem]]:
    """The properties of a frontmatter block; lines of problems count in the note."""
    plain = _read_plain(block)
    if plain is not None:
        return plain, []
    return _read_yaml(block)


def _read_plain(block: str) -> dict[str, Any] | None:
    """Flat keys, plain scalars, simple lists; None for whatever else YAML can say."""
    out: dict[str, Any] = {}
    key = ""
    if "\r" in block:
        block = block.replace("\r\n", "\n").removesuffix("\r")
    for line in block.split("\n"):
        if not line:
            continue
        if line[0] in " -":
            item = line.lstrip(" ")
            value = item[2:].strip(" ")
            if not key or not item.startswith("- ") or not _is_plain(value):
                return None
            if out[key] == "":
                out[key] = []
            if not isinstance(out[key], list):
                return None
            out[key].append(value)
            continue
        key, colon, value = line.partition(":")
        if not colon or key in out or not (key.isidentifier() or _PLAIN_KEY.fullmatch(key)):
            return None
        if value and value[0] != " ":
            return None
        value = value.strip(" ")
        if not value or _is_plain(value):
            out[key] = value
        elif flow := _FLOW_LIST.match(value):
            out[key] = tuple(v.strip() for v in flow.group(1).split(",") if v.strip())
        else:
            return None
    return {k: list(v) if isinstance(v, tuple) else v for k, v in out.items()}


def _is_plain(value: str) -> bool:
    """Does YAML read this text as itself?"""
    return bool(_WORDS.match(value) or _PLAIN_VALUE.match(value))


def _read_yaml(block: str) -> tuple[dict[str, Any], list[Problem]]:
    if why := refusal(block):
        return {}, [Problem(1, "frontmatter", why)]
    import frontmatter
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    class Handler(YAMLHandler):
        def load(self, fm: str, **_: object) -> Any:
            return yaml.load(fm, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))

    try:
        properties, _ = frontmatter.parse(f"---\n{block}\n---\n", handler=Handler())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        what = getattr(error, "problem", None) or "cannot be read as YAML"
        return {}, [Problem(line, "frontmatter", f"properties are not valid YAML: {what}")]
    except (ValueError, TypeError, RecursionError, AttributeError):
        return {}, [Problem(1, "frontmatter", "properties are not a plain mapping")]
    return {str(key): value for key, value in properties.items()}, []


def refusal(block: str) -> str:
    """Why this block is not handed to the YAML parser; '' if it may be."""
    if len(block) > MAX_CHARS:
        return f"properties are over {MAX_CHARS:,} characters; they were not read"
    depth = deepest = 0
    for char in block:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    indents = {len(line) - len(line.lstrip(" ")) for line in block.split("\n") if line.strip()}
    if deepest > MAX_DEPTH or len(indents) > MAX_DEPTH or re.search(r"(?:- ){40}", block):
        return "properties are nested too deeply; they were not read"
    if _ALIAS.search(block):
        return "properties use YAML anchors or aliases, which are not supported"
    return ""


def as_list(value: Any) -> tuple[str, ...]:
    """A property that may be one word, `a, b`, or a list, as a tuple of strings."""
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
        return tuple(part.strip() for part in parts if part.strip())
    if isinstance(value, list):
        return tuple(str(part).strip() for part in value if isinstance(part, str) and part.strip())
    return ()


def tags(properties: dict[str, Any]) -> tuple[str, ...]:
    """The tags that the properties give to the whole note, without `#`."""
    if not (value := properties.get("tags") or properties.get("tag")):
        return ()
    return tuple(dict.fromkeys(tag.lstrip("#") for tag in as_list(value) if tag.lstrip("#")))


def created(properties: dict[str, Any]) -> str | None:
    """The creation date that a note's properties claim, if it looks like one."""
    for key in _CREATED_KEYS:
        value = properties.get(key)
        if isinstance(value, str) and (match := _DATE.match(value)):
            return match.group()
    return None
