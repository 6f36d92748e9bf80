"""Add the meaning of an entry to its score: a calibrated cosine, which is not scaled per question.

    meaning(note) = the highest cosine of its passages
    added         = vectorWeight x 2 (turns: 0.5) x meaning

An entry without a word of the question must be at least as similar as `similarityThreshold`.

`embed.meanings` has a model and its vectors. `passages` yields the texts for the model, and
`similar` returns the entries that are nearest to a question and pass the filters.
"""

from __future__ import annotations

import re

from brain._tuples import NamedTuple
from brain.words import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brain.embed.similarity import Meanings
    from brain.index.db import Index
    from brain.index.read import Filters

NEAREST = 300  # entries that are considered only because of their meaning
WINDOW = 700  # characters, the maximum of a passage
WINDOWS = 32  # per entry; the rest is found only by its words
LEAD = 160  # characters of title and heading
BEFORE = 240  # characters of the turn before
PAGE = 2000  # entries that are read at once
STEP = 600  # nearest entries to which the filters are applied at first
_HEADING = re.compile(r"\A#{1,6}[ \t].*")


def without_names(question: str, names: Iterable[str]) -> str:
    """Return a question without the names of speakers, which do not belong to its topic."""
    parts = {word for name in names for word in name.split()}

    def remove(word: re.Match[str]) -> str:
        return "" if fold(word[1]) in parts else word[0]

    plain = re.sub(r"([^\W_]+)(?:['’]s\b)?", remove, question) if parts else question
    return " ".join(plain.split()) or question


# -- the texts that a model embeds -----------------------------------------------------------------


class Piece(NamedTuple):
    """An entry to embed. `before` is the previous turn of a session."""

    id: int
    scope: str
    title: str
    heading: str
    text: str
    before: str


def passages(index: Index, after: int = 0) -> Iterator[tuple[int, str]]:
    """Yield (row id, text) for every text to embed whose row id is greater than `after`; see
    `brain.embed.similarity`."""
    before = """iif(c.scope = 'sessions', coalesce((SELECT b.heading || ': ' || b.text
        FROM entries b WHERE b.id = c.id - 1 AND b.file = c.file), ''), '')"""
    sql = (
        f"SELECT c.id, c.scope, f.title, c.heading, c.text, {before} FROM entries c"
        " JOIN files f ON f.id = c.file WHERE c.id > ? ORDER BY c.id LIMIT ?"
    )
    while rows := index.rows(sql, (after, PAGE)):
        for piece in map(Piece._make, rows):
            yield from ((piece.id, text) for text in texts(piece))
        after = rows[-1][0]


def texts(piece: Piece) -> list[str]:
    """Return the texts of an entry to embed, each of a size that a model can read.

    The text of a turn starts with the end of the previous turn, which it may answer. The text of a
    passage starts with the title and headings of the note, and does not include its properties.
    """
    text = piece.text
    if piece.scope == "sessions":
        speaker = f"{piece.heading}: " if piece.heading else ""
        first, *rest = [speaker + part for part in windows(text)]
        return [f"{piece.before[-BEFORE:]}\n{first}".strip(), *rest]
    if text.startswith("---\n") and (end := text.find("\n---", 3)) > 0:
        text = text[end + 4 :]
    title = ""
    if piece.scope == "sources":
        title = piece.title if piece.title not in piece.heading else ""
        text = _HEADING.sub("", text.lstrip())  # the heading is in the lead
    lead = "\n".join(part for part in (title, piece.heading) if part)[:LEAD]
    return [f"{lead}\n{part}".strip() for part in windows(text.strip())]


def windows(text: str) -> list[str]:
    """Return the text in windows of at most WINDOW characters, cut where a paragraph, a line, a
    sentence or a word ends."""
    parts: list[str] = []
    while len(text) > WINDOW and len(parts) < WINDOWS - 1:
        ends = (text.rfind(mark, WINDOW // 2, WINDOW) for mark in ("\n\n", "\n", ". ", " "))
        stop = next((end + 1 for end in ends if end > 0), WINDOW)
        parts.append(text[:stop].strip())
        text = text[stop:].strip()
    return [*parts, text[:WINDOW]]


def similar(
    meanings: Meanings,
    index: Index,
    question: str,
    filters: Filters,
    also: Iterable[int] = (),
    limit: int = NEAREST,
) -> dict[int, float]:
    """Return the cosines of the nearest entries that pass the filters (`limit`, and more only if
    they are equal), and of the entries in `also`, which the actor may read. The nearest entry comes
    first."""
    also, last = set(also), 0.0
    for most in (STEP, 0):  # 0: all, if too few of the nearest pass the filters
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
    """Return the ids of the entries that pass the filters, in the given order."""
    where, values = filters.where(index)
    sql = f"SELECT c.id FROM entries c JOIN files f ON f.id = c.file WHERE {where}"
    some = f" AND c.id IN ({','.join(map(str, ids))})" if len(ids) <= STEP else ""
    found = {id for (id,) in index.rows(sql + some, values)}
    return [id for id in ids if id in found]
