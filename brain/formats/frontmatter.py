"""The properties at the head of a note, read as text.

YAML 1.1 would turn `10:30` into 630 and `on` into True, so every scalar stays the string that is
written. Plain `key: value` blocks, nearly all there are, are read line by line; anything richer
goes to python-frontmatter with a loader that resolves nothing, behind a guard against bombs.
"""

from __future__ import annotations

import re
from datetime import datetime
from unicodedata import normalize

from brain.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_CHARS = 64_000
MAX_DEPTH = 40
_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
# tabs, control characters and line breaks other than \n, which YAML reads in its own way
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PLAIN_KEY = re.compile(r"[A-Za-z_](?:[\w \-]*[\w\-])?")
_LONGEST_KEY = 1_000  # YAML looks for the colon no further than 1,024 characters
_WORDS = re.compile(r"\w[\w ./-]*")
_PLAIN = re.compile(r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[0-9])(?:[^#:]|:(?=\S)|(?<=\S)#)*")
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^']*'")
_STARS = re.compile(r"(?:^|[\s\[,{:-])\*[\w-]")
_COMPACT = re.compile(rf"(?:[-?:][ \t]+){{{MAX_DEPTH}}}")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_CREATED_KEYS = ("created", "date", "created_at", "createdAt", "creation date", "date created")
_NOTHING = ("", "~", "null", "Null", "NULL")


def split(text: str) -> tuple[str, int]:
    """The YAML between the fences and the offset where the body starts; ('', 0) without any."""
    if not text.startswith("---"):
        return "", 0
    end = text.find("\n---\n", 3)
    block = text[4:end] if text[3:4] == "\n" and end > 3 else "\n---"
    if "\n---" not in block and "..." not in block and not block.startswith("---"):
        return block + "\n", end + 5  # as nearly every note has it
    opening = _OPEN.match(text)
    if not opening:
        return "", 0
    closing = _CLOSE.search(text, opening.end())
    if not closing:
        return "", 0
    end = closing.end()
    return text[opening.end() : closing.start()], end + 1 if end < len(text) else end


def properties_of(text: str) -> tuple[dict[str, Any], int, list[Problem]]:
    """Return the properties of a note, the offset where its body starts, and problems."""
    block, body_at = split(text)
    properties, problems = read(block) if body_at else ({}, [])
    return properties, body_at, problems


def read(block: str) -> tuple[dict[str, Any], list[Problem]]:
    """The properties of a frontmatter block; lines of problems count in the note."""
    plain = read_plain(block)
    if plain is not None:
        return plain, []
    if why := refusal(block):
        return {}, [Problem(1, "frontmatter", why)]
    from brain.formats import yaml_text

    return yaml_text.read(block)


def read_plain(block: str) -> dict[str, Any] | None:
    """Read flat keys with plain or quoted scalars and simple lists; None for all other YAML."""
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    if _ODD.search(block):
        return None
    out: dict[str, Any] = {}
    key, indent = "", ""
    items: list[str] | None = None  # of the list that may follow the last key
    for line in block.split("\n"):
        if not line:
            continue
        if line[0] in " -":
            before, dash, rest = line.partition("- ")
            rest = rest.strip(" ")
            item = rest if rest.isalnum() else _scalar(rest)
            if not dash or before.strip(" ") or item is None or items is None:
                return None
            if items and before != indent:
                return None
            indent = before
            items.append(item)
            out[key] = items
            continue
        key, colon, rest = line.partition(":")
        if not colon or rest[:1] not in ("", " ") or key in out or len(key) >= _LONGEST_KEY:
            return None
        if not (key.isidentifier() or _PLAIN_KEY.fullmatch(key)):
            return None
        rest = rest.strip(" ")
        items = None if rest else []
        value = rest if rest.isalnum() else _value(rest) if rest else ""
        if value is None:
            return None
        out[key] = value
    return out


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
    """What YAML reads this text as, if it is beyond doubt."""
    if _WORDS.fullmatch(text) or _PLAIN.fullmatch(text):
        return text
    return text[1:-1] if _QUOTED.fullmatch(text) else None


def refusal(block: str) -> str:
    """Why this block is not handed to the YAML parser; '' if it may be."""
    if len(block) > MAX_CHARS:
        return f"properties are over {MAX_CHARS:,} characters; they were not read"
    indents = {len(line) - len(line.lstrip(" ")) for line in block.split("\n") if line.strip()}
    if brackets(block) > MAX_DEPTH or len(indents) > MAX_DEPTH or _COMPACT.search(block):
        return "properties are nested too deeply; they were not read"
    if _STARS.search(block):
        from brain.formats import yaml_text

        if yaml_text.uses_aliases(block):
            return "properties use YAML aliases, which are not supported"
    return ""


def brackets(block: str) -> int:
    """How deep the brackets are nested at most, those in strings and comments included."""
    depth = deepest = 0
    for char in block:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}" and depth:
            depth -= 1
    return deepest


def as_list(value: Any) -> tuple[str, ...]:
    """A property that may be one name, `a, b`, or a list, as a tuple of strings."""
    if isinstance(value, str):
        value = [] if value in _NOTHING else value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple([part.strip() for part in value if isinstance(part, str) and part.strip()])


def tags(properties: dict[str, Any]) -> tuple[str, ...]:
    """The tags that the properties give to the whole note, without `#`; spaces divide them too."""
    if not (value := properties.get("tags") or properties.get("tag")):
        return ()
    listed = " ".join(as_list(value))
    if not listed.isascii():
        listed = normalize("NFC", listed)
    words = [word.lstrip("#").rstrip("/") for word in listed.split()]
    return tuple(dict.fromkeys(filter(None, words)))


def title(properties: dict[str, Any]) -> str:
    """The title that the properties give; '' if none."""
    value = properties.get("title")
    return value if isinstance(value, str) and value not in _NOTHING else ""


def created(properties: dict[str, Any]) -> str | None:
    """The creation date that a note's properties claim, if it is one."""
    for key in _CREATED_KEYS:
        value = properties.get(key)
        if isinstance(value, str) and (match := _DATE.match(value)) and is_time(match.group()):
            return match.group()
    return None


def is_time(text: str) -> bool:
    """Is this a date, or a date and time, that exists?"""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
