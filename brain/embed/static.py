"""A light model: the mean of one vector for each piece of a word. No layers, thousands of texts a
second, and it knows a synonym when it sees one, but not what a sentence says."""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise

import numpy as np

from brain.embed.safetensors import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

CHARACTERS = 8000  # of a text that are looked at


class Static:
    """WordLlama's vectors, mapped from the files of its package; none of its code is run."""

    name = "static"

    def __init__(self, folder: str) -> None:
        weights = os.path.join(folder, "weights", "l2_supercat_256.safetensors")
        self.table = read(weights)["embedding.weight"]
        path = os.path.join(folder, "tokenizers", "l2_supercat_tokenizer_config.json")
        with open(path, encoding="utf-8") as file:
            self.pieces = Bpe(file.read())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text, or of zeros where there is nothing to look at."""
        out = np.zeros((len(texts), self.table.shape[1]), np.float32)
        for row, text in zip(out, texts, strict=True):
            if ids := self.pieces.encode(text[:CHARACTERS]):
                row += self.table[ids].astype(np.float32).mean(axis=0)
                row /= max(float(np.linalg.norm(row)), 1e-9)
        return out


# -- pieces of words as SentencePiece models with byte fallback make them: of all pairs of
# neighbours the one that was learned first becomes one, again and again

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
