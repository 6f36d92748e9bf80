"""JSON: the same as data, for a program that makes its own prompt of it."""

from __future__ import annotations

import json

from brain.recall.package import Package, Piece, sections
from brain.recall.render.defuse import clean, short
from brain.recall.render.words import ABOUT, MOST_TAGS, known, marker, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def package(given: Package) -> str:
    """`given` as one JSON object, without a character that cannot be seen."""
    told: dict[str, Any] = {"about": ABOUT, "query": short(given.query)}
    if given.degraded:
        told["degraded"] = short(given.degraded)
    for name, pieces in sections(given):
        if pieces:
            told[name] = [_piece(piece) for piece in pieces]
    if given.conflicts:
        told["conflicts"] = [marker(pair) for pair in given.conflicts]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _piece(piece: Piece) -> dict[str, Any]:
    told: dict[str, Any] = {"id": short(piece.id), "text": clean(piece.text), **known(piece)}
    if "at" in told:
        del told["at"]
        told |= {"path": short(piece.path), "line": piece.line}
    for name in {"tags", "conflicts"} & told.keys():
        told[name] = [short(value) for value in getattr(piece, name)[:MOST_TAGS]]
    if "confidence" in told:
        told["confidence"] = float(told["confidence"])
    if piece.steps:
        told["steps"] = steps(piece)
    return told
