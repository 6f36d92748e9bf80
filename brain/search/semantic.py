"""Meaning as one addend of a score: the calibrated cosine of an entry, never scaled by question.

    meaning(note) = the highest cosine of its passages
    added         = vectorWeight x 1.5 (turns: 0.5) x meaning

What contains no word of the question must be as similar as `similarityThreshold`.

`embed.meanings` has a model and the vectors that it made. `passages` says what the model sees of
each entry, and `similar` which entries that pass the filters are nearest to a question.
"""

from __future__ import annotations

import re

from brain._tuples import NamedTuple
from brain.config import Config
from brain.words import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brain.embed.meanings import Meanings
    from brain.index.db import Index
    from brain.index.read import Filters

WEIGHTS = {"passages": 1.5, "entries": 1.5, "turns": 0.5}
NEAREST = 300  # entries that are considered for their meaning alone
WINDOW = 700  # characters, as a passage has at most
WINDOWS = 32  # of one entry; what comes behind them is found by its words
LEAD = 160  # characters of title and heading
BEFORE = 240  # characters of the turn before
PAGE = 2000  # entries that are read at once
STEP = 600  # of the nearest, of which those are taken that pass the filters
_HEADING = re.compile(r"\A#{1,6}[ \t].*")


def added(cosine: float, sort: str, config: Config) -> float:
    """Return what the meaning of an entry adds to its score."""
    return config.vectorWeight * WEIGHTS[sort] * max(0.0, cosine)


def without_names(question: str, names: Iterable[str]) -> str:
    """Return a question without the names of speakers, which say who spoke and not of what."""
    said = {word for name in names for word in name.split()}

    def kept(word: re.Match[str]) -> str:
        return "" if fold(word[1]) in said else word[0]

    plain = re.sub(r"([^\W_]+)(?:['’]s\b)?", kept, question) if said else question
    return " ".join(plain.split()) or question


# -- what a model sees -----------------------------------------------------------------------------


class Piece(NamedTuple):
    """An entry as a model is to see it; `before` is the turn before it in a session."""

    id: int
    scope: str
    title: str
    heading: str
    text: str
    before: str


def passages(index: Index, after: int = 0) -> Iterator[tuple[int, str]]:
    """Yield (row, text) of everything that is to be embedded and has a greater row; see
    `brain.embed.meanings`."""
    before = """iif(c.scope = 'sessions', coalesce((SELECT b.heading || ': ' || b.text FROM chunks b
        WHERE b.id = c.id - 1 AND b.file = c.file), ''), '')"""
    sql = (
        f"SELECT c.id, c.scope, f.title, c.heading, c.text, {before} FROM chunks c"
        " JOIN files f ON f.id = c.file WHERE c.id > ? ORDER BY c.id LIMIT ?"
    )
    while rows := index.rows(sql, (after, PAGE)):
        for piece in map(Piece._make, rows):
            yield from ((piece.id, text) for text in given(piece))
        after = rows[-1][0]


def given(piece: Piece) -> list[str]:
    """What a model sees of an entry, in windows of a size that it can take in.

    A turn is seen with the end of the one before, to which it may be the answer; a passage of a
    note with its title and headings, and without its properties.
    """
    text = piece.text
    if piece.scope == "sessions":
        who = f"{piece.heading}: " if piece.heading else ""
        first, *rest = [who + part for part in windows(text)]
        return [f"{piece.before[-BEFORE:]}\n{first}".strip(), *rest]
    if text.startswith("---\n") and (end := text.find("\n---", 3)) > 0:
        text = text[end + 4 :]
    title = ""
    if piece.scope == "sources":
        title = piece.title if piece.title not in piece.heading else ""
        text = _HEADING.sub("", text.lstrip())  # which is in the lead
    lead = "\n".join(part for part in (title, piece.heading) if part)[:LEAD]
    return [f"{lead}\n{part}".strip() for part in windows(text.strip())]


def windows(text: str) -> list[str]:
    """The text in pieces of at most WINDOW characters, cut where a paragraph, a line, a sentence
    or a word ends."""
    parts: list[str] = []
    while len(text) > WINDOW and len(parts) < WINDOWS - 1:
        ends = (text.rfind(mark, WINDOW // 2, WINDOW) for mark in ("\n\n", "\n", ". ", " "))
        stop = next((at + 1 for at in ends if at > 0), WINDOW)
        parts.append(text[:stop].strip())
        text = text[stop:].strip()
    return [*parts, text[:WINDOW]]


def similar(
    meanings: Meanings | None,
    index: Index,
    question: str,
    filters: Filters,
    also: Iterable[int] = (),
    limit: int = NEAREST,
) -> dict[int, float]:
    """Return the meanings of the `limit` entries that are nearest to a question and pass the
    filters, and of those of `also`, which the actor may read, the nearest first. What is as near as
    the last is there, too."""
    if meanings is None:
        return {}
    also, last = set(also), 0.0
    for most in (STEP, 0):  # all, if too few of the nearest pass the filters
        cosines = meanings.cosines(question, most, also)
        found: dict[int, float] = {}
        for id in passing(index, list(cosines)[: most or None], filters):
            if len(found) >= limit and cosines[id] < last:
                break
            found[id] = last = cosines[id]
        if len(found) >= limit or len(cosines) < STEP:
            break
    wanted = found.keys() | also
    return {id: cosine for id, cosine in cosines.items() if id in wanted}


def passing(index: Index, ids: list[int], filters: Filters) -> list[int]:
    """Return those of these entries that pass the filters, in the order given."""
    where, values = filters.where(index)
    sql = f"SELECT c.id FROM chunks c JOIN files f ON f.id = c.file WHERE {where}"
    some = f" AND c.id IN ({','.join(map(str, ids))})" if len(ids) <= STEP else ""
    found = {id for (id,) in index.rows(sql + some, values)}
    return [id for id in ids if id in found]
