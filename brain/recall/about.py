"""Which files an entry is about: those it links to, those it names as code, those in its `files`
field; and what it says without its fields."""

from __future__ import annotations

import re

from brain.formats.links import fields
from brain.formats.mask import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.index.query import Row

_LINK = re.compile(r"\[\[([^\]|#^]+)")
_CODE = re.compile(r"`([^`\s]{1,200})`")
_PATH = re.compile(r"[\w@.~-]*(?:[/\\][\w@.~-]+)+|[\w-]+\.[a-z][a-z0-9]{0,4}", re.I)
_FILES = re.compile(r"\[files?::\s*((?:\[\[[^\[\]]*\]\]|[^\]])+)\]", re.I)


def files(row: Row) -> list[str]:
    """The files that an entry is about; a note is about itself."""
    found = named(row.text)
    if row.scope == "sources" and row.path not in found:
        found.append(row.path)
    return found


def named(text: str) -> list[str]:
    """The files that a text is about."""
    if "[" not in text and "`" not in text:
        return []
    found = [said.strip() for said in _LINK.findall(text)]
    found += [said for said in _CODE.findall(text) if _PATH.fullmatch(said)]
    for field in _FILES.findall(text):
        found += [said.strip(" `[]") for said in field.split(",")]
    return list(dict.fromkeys(name for name in found if name))


def without_fields(text: str) -> str:
    """The text without its `[key:: value]` fields, which are for programs."""
    for field in reversed(fields(mask(text))):
        before = text[: field.start].rstrip(" ") if text[field.end :][:1] in ("", "\n", " ") else ""
        text = (before or text[: field.start]) + text[field.end :]
    return text
