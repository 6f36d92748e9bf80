"""A light model: the mean of one vector for each piece of a word. No layers, thousands of texts a
second, and it knows a synonym when it sees one, but not what a sentence says."""

from __future__ import annotations

import os

import numpy as np

from brain.embed.bpe import Bpe
from brain.embed.safetensors import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CHARACTERS = 8000  # of a text that are looked at


class Static:
    """WordLlama's vectors, mapped from the files of its package in `folder`; none of its code is
    run."""

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
