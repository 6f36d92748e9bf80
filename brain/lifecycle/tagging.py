"""Which tag memories want that were useful for one question: a word of it that all of them hold."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORD = re.compile(r"[^\W_]+")
SHORTEST = 3


def infer(words: Sequence[str], texts: Sequence[str], stem: Callable[[str], str]) -> str:
    """The longest of these words that stands in every text, in some form; of several the first. ''
    if there is none, or fewer than two texts."""
    if len(texts) < 2:
        return ""
    held = [{stem(word) for word in _WORD.findall(text)} for text in texts]
    common = [w for w in words if len(w) >= SHORTEST and all(stem(w) in some for some in held)]
    return max(common, key=len, default="")
