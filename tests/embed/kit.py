"""Small real providers, so that no test needs a model of 80 MB."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from zlib import crc32

from brain.embed.command import Command

SIZE = 509
SAME = {"automobile": "car", "vehicle": "car", "physician": "doctor", "feline": "cat"}


class Hashing:
    """A vector that counts words, in which a few synonyms are one: enough of a meaning to test."""

    name = "hashing"

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        self.given: list[str] = []  # everything it was ever asked

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.given += texts
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> list[float]:
        row = [0.0] * self.size
        for word in re.findall(r"\w+", text.lower()):
            row[crc32(SAME.get(word, word).encode()) % self.size] += 1.0
        length = math.sqrt(sum(n * n for n in row)) or 1.0
        return [n / length for n in row]


class Sleeper(Command):
    """A real command that never answers; `asked` is how often it was started."""

    def __init__(self, seconds: float = 120.0) -> None:
        super().__init__("sleep 60", seconds=seconds)
        self.asked: list[int] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(len(texts))
        return super().embed(texts)
