"""The entries of one note by their words, for `operations.memory_notes`.

To be removed with it: `lifecycle.similar` asks the index instead.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain.formats.prose import fingerprint, prose
from brain.formats.text import blake2b

_NESTED = re.compile(r"\n(?=\s*(?:\n|(?:[-*+]|\d{1,9}[.)])\s))")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_WORD = re.compile(r"\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}]\w+)*")
# Words that say nothing by themselves; those that deny something are not among them.
_EMPTY = frozenset(
    (
        *("a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am"),
        *("to", "of", "in", "on", "at", "by", "for", "with", "from", "as", "into"),
        *("and", "or", "that", "this", "these", "those", "it", "its", "we", "our", "i", "you"),
        *("has", "have", "had", "will", "would", "so", "then", "there", "please"),
    )
)


@lru_cache(4)
def near(text: str) -> str:
    """As `fingerprint`, for what says nearly the same: punctuation, dates, width and case of
    letters do not count, nor do words that say nothing by themselves."""
    words = _WORD.findall(_DATE.sub(" ", normalize("NFKC", prose(text)).casefold()))
    telling = [word for word in words if word not in _EMPTY]
    joined = " ".join(telling or words) or text
    return blake2b(joined.encode(errors="surrogatepass"), digest_size=8).hexdigest()


class Known:
    """The entries there are, by what they say. Of equal ones the first that was added counts."""

    def __init__(self) -> None:
        self._exact: dict[str, list[str]] = {}
        self._near: dict[str, list[str]] = {}
        self._keys: dict[str, tuple[str, tuple[str, ...]]] = {}

    def add(self, ref: str, text: str) -> None:
        """Learn an entry, or that it says something else now."""
        self.remove(ref)
        exact, nears = self._keys[ref] = fingerprint(text), _nears(text)
        self._exact.setdefault(exact, []).append(ref)
        for key in nears:
            self._near.setdefault(key, []).append(ref)

    def remove(self, ref: str) -> None:
        exact, nears = self._keys.pop(ref, ("", ()))
        if exact:
            _drop(self._exact, exact, ref)
        for key in nears:
            _drop(self._near, key, ref)

    def exact(self, text: str) -> str | None:
        """The entry that says this already."""
        return next(iter(self._exact.get(fingerprint(text), ())), None)

    def near(self, text: str) -> list[str]:
        """Return the entries that say nearly this, with or without the lines nested in them."""
        found = [ref for key in _nears(text) for ref in self._near.get(key, ())]
        return list(dict.fromkeys(found))


def _nears(text: str) -> tuple[str, ...]:
    """What tells that a text is near: of the whole, and of what its nested lines belong to."""
    if "\n" not in text:
        return (near(text),)
    return tuple({near(text): 0, near(_NESTED.split(text, maxsplit=1)[0]): 0})


def _drop(held: dict[str, list[str]], key: str, ref: str) -> None:
    held[key].remove(ref)
    if not held[key]:
        del held[key]
