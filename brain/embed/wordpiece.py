"""Word pieces, as BERT's uncased models read text: small letters without accents, punctuation
apart, and of each word the longest beginnings that the vocabulary knows."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 100  # characters; a longer word is unknown
# Punctuation and symbols of ASCII, and each character of CJK, are words of their own.
_CJK = "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002ceaf\uf900-\ufaff"
_CJK += "\U0002f800-\U0002fa1f"
_ASCII_WORD = re.compile(r"[a-z0-9]+|[^a-z0-9\s]")
_APART = re.compile(f"[{_CJK}]")


class WordPiece:
    """A vocabulary: one piece a line, its number is its line."""

    def __init__(self, lines: list[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(lines)}
        self.unknown = self.numbers["[UNK]"]
        self.opening, self.closing = self.numbers["[CLS]"], self.numbers["[SEP]"]
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of the pieces, with the marks at both ends, at most `most`."""
        out = [self.opening]
        for word in words(text):
            pieces = self._known.get(word)
            if pieces is None:
                pieces = self._known[word] = self._pieces(word)
            out += pieces
            if len(out) >= most:
                break
        return [*out[: most - 1], self.closing]

    def _pieces(self, word: str) -> list[int]:
        out: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST:
            for stop in range(len(word), start, -1):
                number = self.numbers.get(("##" if start else "") + word[start:stop])
                if number is not None:
                    out.append(number)
                    start = stop
                    break
            else:
                return [self.unknown]
        return out or [self.unknown]


def words(text: str) -> list[str]:
    """What the vocabulary is asked for, in order."""
    if text.isascii():
        return _ASCII_WORD.findall(_clean(text).lower())
    text = _APART.sub(r" \g<0> ", _clean(text)).lower()
    plain = "".join([c for c in unicodedata.normalize("NFD", text) if not _is(c, "Mn")])
    return [part for word in plain.split() for part in _split(word)]


def _clean(text: str) -> str:
    """Without what does not show; any white space is a space."""
    if text.isascii() and text.isprintable():
        return text
    out = []
    for char in text:
        if char in "\t\n\r" or _is(char, "Zs"):
            out.append(" ")
        elif char != "\ufffd" and not unicodedata.category(char).startswith("C"):
            out.append(char)
    return "".join(out)


def _split(word: str) -> list[str]:
    """A word with each punctuation mark as a word of its own."""
    out, begins = [], True
    for char in word:
        apart = _is_punctuation(char)
        if begins or apart:
            out.append(char)
        else:
            out[-1] += char
        begins = apart
    return out


def _is(char: str, category: str) -> bool:
    return unicodedata.category(char) == category


def _is_punctuation(char: str) -> bool:
    if char < "\x80":
        return not char.isalnum()
    return unicodedata.category(char).startswith("P")
