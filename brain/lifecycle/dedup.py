"""Is this known already? The same words, or nearly the same.

What counts is the prose: list marker, checkbox, date before it, fields and block id do not, nor do
tags before and behind it. Of links and of tags in a sentence the words count, and code as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from unicodedata import normalize

from brain.formats.links import FIELD, tag_spans
from brain.formats.markdown import mask

_LEAD = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[^\[\]\n]\]\s+)?"
    r"(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"(?:\s*[:,]|(?=\s|$)))?"
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"(`+[^`]*`+)")
_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
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
# Behind these a sentence goes on.
_OPEN = _EMPTY | frozenset(
    (
        *("over", "than", "not", "no", "never", "only", "use", "uses", "used", "using", "via"),
        *("without", "about", "like", "called", "named", "prefer", "avoid", "versus", "vs"),
        *("chose", "choose", "adopt", "adopted", "dropped", "needs", "need", "between", "per"),
    )
)


def prose(text: str) -> str:
    """The words of an entry, without what stands around them; the whole entry if it has none."""
    start = _LEAD.match(text)
    words = _BLOCK_ID.sub("", text[start.end() :] if start else text)
    if "`" in words:
        parts = _CODE.split(words)
        parts[::2] = [_plain(part) for part in parts[::2]]
        words = "".join(parts)
    else:
        words = _plain(words)
    words = untagged(words)
    return words if words.strip() else text


def _plain(words: str) -> str:
    """Without fields, and the brackets of links."""
    if "::" in words:
        words = FIELD.sub("", words)
    return _WIKILINK.sub(r"\1", words) if "[[" in words else words


def untagged(words: str, links: bool = False) -> str:
    """Without the tags before and behind some words, and the links if these are no words either;
    a tag that stands among the words, or that they do not end without, is one of them."""
    if "#" not in words and not links:
        return words
    lines = zip(words.split("\n"), mask(words).split("\n"), strict=True)
    return "\n".join([_untagged(line, tag_spans(masked), links) for line, masked in lines])


def _untagged(line: str, spans: list[tuple[int, int]], links: bool) -> str:
    if links:
        spans = sorted([*spans, *(match.span() for match in _LINK.finditer(line))])
    start, stop, behind = 0, len(line), []
    while spans and not line[spans[-1][1] : stop].strip():
        behind.append(spans.pop())
        stop = behind[-1][0]
    before = line[:stop].split()
    if behind and before and before[-1].casefold() in _OPEN:  # they would break off
        spans.append(behind[-1])
        stop = behind[-1][1]
    while spans and not line[start : spans[0][0]].strip():
        start = spans.pop(0)[1]
    words = line[start:stop]
    for at, _ in reversed(spans):
        if line[at] == "#":
            words = words[: at - start] + words[at - start + 1 :]
    return words


@lru_cache(4)  # one text is asked about, and learned, several times in a row
def fingerprint(text: str) -> str:
    """16 hexadecimal digits that are the same for the same words, whatever their case and space.

    The words are normalised as in [002]: small letters, white space collapsed; accents composed,
    too. The hash is BLAKE2 of 64 bits instead of two rounds of djb2: with djb2's sums the second
    seed adds nothing to 32 bits, of which 77,000 entries make an even chance that two different
    ones are taken for one, and in Python it takes ten times as long.
    """
    return _digest(" ".join(normalize("NFC", prose(text)).lower().split()))


@lru_cache(4)
def near(text: str) -> str:
    """As `fingerprint`, for what says nearly the same: punctuation, dates, width and case of
    letters do not count, nor do words that say nothing by themselves."""
    words = _WORD.findall(_DATE.sub(" ", normalize("NFKC", prose(text)).casefold()))
    telling = [word for word in words if word not in _EMPTY]
    return _digest(" ".join(telling or words) or text)


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


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
