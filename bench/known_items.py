"""Questions of which it is known what they look for: made from notes, one for each way to ask."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from brain.formats import frontmatter
from brain.index.read import Row
from brain.words import STOP_WORDS

_WORD = re.compile(r"[a-z]{4,}")
_FIVE = re.compile(r"(?<![\w#/])(?:[a-z]+ ){4}[a-z]+(?!\w)")
_IRREGULAR = (
    "go went", "write wrote", "choose chose", "grow grew", "keep kept", "take took", "give gave",
    "find found", "know knew", "eat ate", "freeze froze", "leaf leaves", "make made", "hold held",
    "build built", "leave left", "begin began", "run ran", "break broke", "come came", "buy bought",
    "sell sold", "send sent", "tell told", "think thought", "mouse mice", "child children",
    "shelf shelves", "stand stood", "lose lost", "pay paid", "sow sown", "drive drove",
)  # fmt: skip
OTHER = {one: other for pair in _IRREGULAR for one, other in (pair.split(), reversed(pair.split()))}


class Item(NamedTuple):
    """A question, and the path of the note that it looks for."""

    way: str
    question: str
    wanted: str


class Note(NamedTuple):
    """A note with all that its pieces say."""

    path: str
    title: str
    text: str
    tags: tuple[str, ...]
    words: tuple[str, ...]  # the rarest first


def notes(rows: Iterable[Row]) -> list[Note]:
    """The pieces of each note, put together."""
    pieces: dict[str, list[Row]] = {}
    for row in rows:
        pieces.setdefault(row.path, []).append(row)
    texts = {name: "\n".join(map(_body, some)) for name, some in sorted(pieces.items())}
    words = {
        name: sorted(set(_WORD.findall(text.lower())) - STOP_WORDS) for name, text in texts.items()
    }
    common = Counter(word for some in words.values() for word in some)
    return [
        Note(
            name,
            pieces[name][0].title,
            text,
            tuple(pieces[name][0].tags.split()),
            tuple(sorted(words[name], key=lambda word: (common[word], word))),
        )
        for name, text in texts.items()
    ]


def _body(row: Row) -> str:
    """What a piece says, without the properties of the note."""
    return row.text[frontmatter.split(row.text)[1] :] if row.line == 1 else row.text


def items(
    found: Sequence[Note], synonyms: Mapping[str, Sequence[str]], rng: random.Random
) -> list[Item]:
    """For each note, every way to ask for it that it allows."""
    ways: dict[str, Callable[[Note], str]] = {
        "title": lambda note: note.title,
        "three of its words": lambda note: " ".join(_some(note, 3, rng)),
        "phrase": lambda note: _phrase(note, rng),
        "synonym": lambda note: _replaced(note, lambda word: _synonym(word, synonyms), rng),
        "tag": lambda note: _tag(note, rng),
        "other form": lambda note: _replaced(note, moved, rng),
        "irregular form": lambda note: _replaced(note, OTHER.get, rng),
        "path": lambda note: note.path,
    }
    made = [Item(way, ask(note), note.path) for note in found for way, ask in ways.items()]
    return [item for item in made if item.question]


def _some(note: Note, count: int, rng: random.Random) -> list[str]:
    """Words as a person remembers them: neither the rarest ones nor the commonest."""
    few = note.words[2:14]
    return rng.sample(few, count) if len(few) >= count else []


def _phrase(note: Note, rng: random.Random) -> str:
    """Five words that follow each other, in quotes."""
    runs = _FIVE.findall(note.text)
    return f'"{rng.choice(runs)}"' if runs else ""


def _tag(note: Note, rng: random.Random) -> str:
    words = _some(note, 2, rng)
    return f"#{rng.choice(note.tags)} {' '.join(words)}" if note.tags and words else ""


def _replaced(note: Note, other: Callable[[str], str | None], rng: random.Random) -> str:
    """One word of the note as it does not stand there, beside one that does."""
    text = set(_WORD.findall(note.text.lower()))
    pairs = [(word, said) for word in note.words if (said := other(word)) and said not in text]
    beside = _some(note, 1, rng)
    if not pairs or not beside:
        return ""
    word, said = pairs[0] if pairs[0][0] not in beside else pairs[-1]
    return f"{said} {beside[0]}" if word not in beside else ""


def _synonym(word: str, synonyms: Mapping[str, Sequence[str]]) -> str:
    return next(iter(synonyms.get(word, ())), "")


def moved(word: str) -> str:
    """The word with another ending; '' where that would be no word."""
    if word.endswith("s"):
        return "" if word.endswith(("ss", "us", "is", "ous", "ies", "es")) else word[:-1]
    if word.endswith(("ed", "ing", "ly", "y", "x", "h", "z", "er", "en")):
        return ""
    if word.endswith("e"):
        return f"{word[:-1]}ing"
    return f"{word}s"
