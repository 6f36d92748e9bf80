"""Plain text: between two delimiters, each line that is not ours behind a prefix."""

from __future__ import annotations

from brain.recall.package import Package, Piece, sections
from brain.recall.render.defuse import lines, quoted, short
from brain.recall.render.words import ABOUT, TITLES, is_empty, marker, said, sentence

FIRST, LAST = "=== PROJECT MEMORY ===", "=== END OF PROJECT MEMORY ==="
_PREFIX = "  | "


def package(given: Package) -> str:
    """`given` as text whose every line of content begins with `* ` or `  | `; '' for nothing."""
    if is_empty(given):
        return ""
    asked = f' Recalled for: "{quoted(given.query)}".' if given.query else ""
    parts = [FIRST, ABOUT + asked]
    if given.degraded:
        parts.append(f"Degraded: {short(given.degraded)}")
    for name, pieces in sections(given):
        if pieces:
            parts += [f"{TITLES[name].upper()}:", *(_piece(piece, name) for piece in pieces)]
    if given.conflicts:
        parts += ["CONFLICTS:", *(f"* {marker(pair)}" for pair in given.conflicts)]
    return "\n".join((*parts, LAST))


def _piece(piece: Piece, section: str) -> str:
    warn = "WARNING " if section == "warnings" else ""
    text = f"{warn}[id:{short(piece.id)}] {sentence(piece)} {said(piece)}"
    return f"* {lines(text, _PREFIX)}"
