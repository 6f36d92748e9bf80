"""XML: every piece an element, everything that is not ours escaped."""

from __future__ import annotations

from brain.recall.package import Package, Piece, sections
from brain.recall.render.defuse import lines, short
from brain.recall.render.words import ABOUT, is_empty, known, marker, said


def package(given: Package) -> str:
    """`given` as one element, well-formed whatever the memories say; '' for nothing."""
    if is_empty(given):
        return ""
    query = _value(short(given.query))
    parts = [f'<project_memory for="{query}">' if query else "<project_memory>", ABOUT]
    if given.degraded:
        parts.append(f"<degraded>{_text(short(given.degraded))}</degraded>")
    for name, pieces in sections(given):
        if pieces:
            parts += [f"<{name}>", *(_piece(piece, name) for piece in pieces), f"</{name}>"]
    if given.conflicts:
        parts += [f"<conflict>{_text(marker(pair))}</conflict>" for pair in given.conflicts]
    return "\n".join((*parts, "</project_memory>"))


def _piece(piece: Piece, section: str) -> str:
    """One piece: what is known of it as attributes, its id and words as text."""
    attributes = "".join(f' {name}="{_value(value)}"' for name, value in known(piece).items())
    tag = "warning" if section == "warnings" else "memory"
    text = lines(_text(f"[id:{short(piece.id)}] {said(piece)}"), "  ")
    return f"<{tag}{attributes}>{text}</{tag}>"


def _text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _value(text: str) -> str:
    return _text(text).replace('"', "&quot;")
