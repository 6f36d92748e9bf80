"""Results as text for a model, from the JSON shapes of `brain.serialize`.

Recalled text is data: it is written between delimiters, with its origin, and without invisible
characters. Each entry begins with `[id:…]`.
"""

from __future__ import annotations

import re

from brain.context.parts import Package, Part
from brain.context.render import render
from brain.context.sanitize import clean, short
from brain.serve.tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Json = Mapping[str, Any]

EXCERPT, ABOVE = 1000, 2  # characters of a note or an error, and lines above the matching one
_TOOLS = {tool.operation: tool.name for tool in reversed(TOOLS)} | {"unpin": "memory_pin"}
_COMMAND = re.compile(r"`brain ([a-z]+)[^`]*`")
_OWN = re.compile(r"add `--agent [^`]*`")
_OPTION = re.compile(r"`?--([a-z-]+)( [\w-]+)?`?")


def result(document: Json) -> str:
    """Return the result of an operation as text."""
    if "outcome" in document:
        parts = _change(document)
    elif "text" in document and "budget" in document:
        parts = [document["text"] or "No memories."]
    else:
        entries = document["results"] if "results" in document else document["entries"]
        parts = [_entries(entries, document.get("query", "")) or "Nothing found."]
    parts += [short(note, EXCERPT) for note in document.get("notes", ())]
    parts += [f"Not fresh: {short(why)}" for why in document.get("stale", ())]
    return "\n".join(parts)


def error(message: str, remedy: str) -> str:
    """Return an error as text. Names of tools replace names of commands."""
    remedy = _COMMAND.sub(lambda match: f"`{_TOOLS.get(match[1], match[0].strip('`'))}`", remedy)
    remedy = _OWN.sub("leave out the scope `global`, or name a memory of its own", remedy)
    remedy = _OPTION.sub(lambda match: f"`{match[1]}`", remedy)
    return clean(f"{clean(message, EXCERPT)} {remedy}".strip())


def _change(document: Json) -> list[str]:
    line = document.get("line")  # missing for a file
    place = f"{document['path']}:{line}" if line else document["path"]
    outcome = "Nothing to change" if document["outcome"] == "unchanged" else document["outcome"]
    lines = [f"{outcome.capitalize()}: [id:{short(document['id'])}] in {short(place)}"]
    if delta := document.get("delta"):
        now = f" It is {document['score']:g} now." if document.get("score") is not None else ""
        lines.append(f"Its score changed by {delta:+g}.{now}")
    if document.get("state") == "pending":
        lines.append(
            "It is not in the note yet, because the note is being edited. It can be found."
        )
    for name, words in _REMARKS.items():
        if values := document.get(name):
            lines.append(f"{words} {', '.join(map(short, values))}.")
    for name, words in _OTHERS.items():
        if others := document.get(name):
            lines += [words, _entries(others)]
    return lines


_REMARKS = {
    "absent": "It did not have the tags",
    "redacted": "Left out as secrets or personal data:",
    "unmade": "These notes do not exist yet:",
    "linked_from": "Still linked from",
    "left": "Its text may still be in",
}
_OTHERS = {
    "near": "These are nearly the same. Forget or merge the redundant ones:",
    "conflicts": "It contradicts these. Find out what is true, and update or forget the other:",
    "superseded_by": "It is still replaced by:",
}


def _entries(entries: Iterable[Json], query: str = "") -> str:
    return render(Package(query, memories=tuple(map(_part, entries))), "codex")


def _text(entry: Json) -> str:
    """Return the text of an entry. An excerpt of a note begins near the matching line."""
    text = str(entry["text"])
    if entry.get("scope") != "sources":
        return text
    first_line = entry["end_line"] - text.count("\n")
    lines = text.split("\n")[max(0, entry["line"] - first_line - ABOVE) :]
    return clean("\n".join(lines), EXCERPT)


def _part(entry: Json) -> Part:
    origin = {name: entry[name] for name in ("by", "source", "session") if entry.get(name)}
    return Part(
        id=entry["id"],
        kind=entry.get("kind", ""),
        status=entry.get("status", ""),
        text=_text(entry),
        path=entry.get("path", ""),
        line=entry.get("line", 0),
        tags=tuple(entry.get("tags", ())),
        created=entry.get("created", ""),
        confidence=entry.get("confidence"),
        conflicts=tuple(entry.get("conflicts", ())),
        **origin,
    )
