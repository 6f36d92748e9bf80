"""Markdown: a heading for each section, a list item for each piece.

Content never begins a line: the first line stands behind an id, each further one behind a mark. So
it cannot open a heading, a fence, a rule, a table or a block of HTML. `<` is escaped where it would
open a tag.
"""

from __future__ import annotations

import re

from brain.recall.package import Package, Piece, sections
from brain.recall.render.defuse import MARK, lines, quoted, short
from brain.recall.render.words import ABOUT, TITLES, is_empty, marker, said, sentence

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PREFIX = f"  {MARK} "


def package(given: Package) -> str:
    """`given` as Markdown whose blocks are ours alone; '' for nothing."""
    if is_empty(given):
        return ""
    asked = f' Recalled for: "{_inline(quoted(given.query))}".' if given.query else ""
    parts = ["# Project memory", "", ABOUT + asked]
    if given.degraded:
        parts += ["", f"Degraded: {_inline(short(given.degraded))}"]
    for name, pieces in sections(given):
        if pieces:
            parts += ["", f"## {TITLES[name]}", "", *(_piece(piece, name) for piece in pieces)]
    if given.conflicts:
        parts += ["", "## Conflicts", ""]
        parts += [f"- {_inline(marker(pair))}" for pair in given.conflicts]
    return "\n".join(parts)


def _piece(piece: Piece, section: str) -> str:
    warn = "**WARNING** " if section == "warnings" else ""
    text = f"[id:{short(piece.id)}] {sentence(piece)} {said(piece)}"
    return f"- {warn}{lines(_inline(text), _PREFIX)}"


def _inline(text: str) -> str:
    return _TAG.sub("&lt;", text)
