"""Pieces of words as SentencePiece models with byte fallback make them: of all pairs of neighbours
the one that was learned first becomes one, again and again."""

from __future__ import annotations

import json
import re
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACE = "▁"
_WORD = re.compile(f"{_SPACE}+[^{_SPACE}]*")  # no pair reaches over the space before a word
_LONGEST = 200  # characters that are looked at as one word; a longer one is cut


class Bpe:
    """A `tokenizer.json` of this kind."""

    def __init__(self, text: str) -> None:
        model: dict[str, Any] = json.loads(text)["model"]
        self.numbers: dict[str, int] = model["vocab"]
        merges = (pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"])
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """The numbers of the pieces."""
        out: list[int] = []
        for word in _WORD.findall(_SPACE + text.replace(" ", _SPACE)) if text else ():
            for start in range(0, len(word), _LONGEST):
                part = word[start : start + _LONGEST]
                pieces = self._known.get(part)
                if pieces is None:
                    pieces = self._known[part] = self._pieces(part)
                out += pieces
        return out

    def _pieces(self, word: str) -> list[int]:
        parts, never = list(word), len(self._ranks)
        while len(parts) > 1:
            pairs = [f"{one} {other}" for one, other in pairwise(parts)]
            rank, at = min((self._ranks.get(pair, never), at) for at, pair in enumerate(pairs))
            if rank == never:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [number for part in parts for number in self._numbers(part)]

    def _numbers(self, part: str) -> list[int]:
        """A piece, or the bytes of one that has no number."""
        if part in self.numbers:
            return [self.numbers[part]]
        named = [f"<0x{byte:02X}>" for byte in part.encode("utf-8", "replace")]
        return [self.numbers[name] for name in named if name in self.numbers]
