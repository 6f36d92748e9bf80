"""What hides a secret from the rules, and what must be hidden from them.

Characters that nobody sees (a zero-width space inside a key) are lifted; what was redacted before
is covered with NULs, which no rule matches and which do not end a word, so that redacting twice
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_UNSEEN = re.compile("[\0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")
_DONE = re.compile(r"\[redacted:[a-z0-9-]{1,30}\]")


def lift(text: str) -> tuple[str, Callable[[int], int]]:
    """The text without unseen characters, and from where in it to where in the text."""
    if not _UNSEEN.search(text):
        return text, lambda at: at
    kept: list[int] = []
    at = 0
    for match in _UNSEEN.finditer(text):
        kept += range(at, match.start())
        at = match.end()
    kept += range(at, len(text))
    return _UNSEEN.sub("", text), kept.__getitem__


def cover(text: str) -> str:
    """The text with NULs for what was redacted before."""
    return _DONE.sub(lambda match: "\0" * len(match[0]), text)
