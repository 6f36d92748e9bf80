"""Words near those of a question, for one that nothing else answers: `sqlte` is near *sqlite*.

Near is what one edit makes of a word: a letter less, more or other, or two that change places; for
a long word, what two make of its stem. The first letter stays. A near word stands in something that
passes the filters, so that nobody is told of words in what they may not read.
"""

from __future__ import annotations

import re

from brain.formats.stems import stem
from brain.index import matches
from brain.recall.concepts import Concept
from brain.recall.terms import Term, fold, match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from brain.index.db import Index
    from brain.index.read import Filters

SHORT, LONG = 4, 8  # letters: of the shortest word with any near ones, and of one with more
LONGEST = 40
WORDS = 5  # of a question that are tried
STEPS = 2_000  # through the words of the index, for one word
NAMED = 3  # words that a note names
_ENDINGS = ("", "e", "s", "ed", "ing", "ion", "ation", "al", "ly")


def near(index: Index, wanted: Sequence[Concept], filters: Filters) -> list[Concept]:
    """The same concepts, some of them with the words that are near; [] if there are none."""
    if index.fts != "fts5":
        return []
    named = {word for c in wanted if c.term.exact and not c.term.column for word in c.term.words}
    tried = [c for c in wanted if _may_be_wrong(c.term) and c.term.words[0] not in named][:WORDS]
    found = {c: words for c in tried if (words := _near(index, fold(c.term.words[0]), filters))}
    if not found:
        return []
    return [Concept(c.term, tuple((word, 1.0) for word in found.get(c, ()))) for c in wanted]


def note(wanted: Sequence[Concept], texts: Iterable[str]) -> str:
    """What to say of texts that hold near words: which, as they stand there."""
    asked = [concept.term.words[0] for concept in wanted if concept.others]
    stems = {stem(word) for concept in wanted for word, _ in concept.others}
    words = (word for text in texts for word in re.findall(r"[^\W_]+", text))
    found: dict[str, str] = {}
    for word in words:
        folded = fold(word)
        if stem(folded) in stems:
            found.setdefault(folded, word)
    said = list(found.values())[:NAMED]
    return f"Nothing here holds {_either(asked)}; this is what holds {_either(said)}."


def _either(words: list[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def _may_be_wrong(term: Term) -> bool:
    """Is this one word of letters, and no small one?"""
    word = term.words[0]
    plain = len(term.words) == 1 and not (term.column or term.exact)
    return plain and word.isalpha() and SHORT <= len(word) <= LONGEST


def _near(index: Index, word: str, filters: Filters) -> list[str]:
    """The nearest words that stand where the filters let one look, as far as there are any."""
    found = _standing(index, _one_edit(word), filters)
    if not found and len(word) >= LONG:
        found = _standing(index, _two_edits(index, stem(word)), filters)
    return found


def _standing(index: Index, words: list[str], filters: Filters) -> list[str]:
    """Those of these words that stand in what passes the filters, found by halves: few do."""
    wanted = match(tuple(Term((word,)) for word in words))
    if not words or not matches.any_matches(index, wanted, filters):
        return []
    if len(words) == 1:
        return words
    half = len(words) // 2
    return [w for some in (words[:half], words[half:]) for w in _standing(index, some, filters)]


def _one_edit(word: str) -> list[str]:
    """What one edit makes of a word, of each stem one."""
    made = {stem(near): near for near in sorted(_edits(word))}
    made.pop(stem(word), None)
    return sorted(made.values())


def _edits(word: str) -> Iterator[str]:
    blocks = {ord(char) & ~31 for char in word}  # a script keeps its letters together
    every = [chr(block + at) for block in sorted(blocks) for at in range(32)]
    letters = [char for char in every if char.isalpha() and char == fold(char)]
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in letters)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in letters)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def _two_edits(index: Index, root: str) -> list[str]:
    """A word for each stem of the index that two edits make of this one."""
    found = []
    next_term = matches.terms(index)
    at = first = root[0]
    for _ in range(STEPS):
        term = next_term(at)
        if term is None or not term.startswith(first):
            break
        alive, near = _alike(term, root, 2)
        if near and (word := _with_stem(term)):
            found.append(word)
        at = f"{term}\0" if alive == len(term) else f"{term[: alive + 1]}\U0010ffff"
    return found


def _alike(term: str, root: str, most: int) -> tuple[int, bool]:
    """(how many first letters of a term may begin one that is near, whether it is near)."""
    above: list[int] = []
    row = list(range(len(root) + 1))
    for at, char in enumerate(term):
        below = [at + 1]
        for column, other in enumerate(root, 1):
            best = min(row[column] + 1, below[-1] + 1, row[column - 1] + (char != other))
            turned = at and column > 1 and char == root[column - 2] and other == term[at - 1]
            below.append(min(best, above[column - 2] + 1) if turned else best)
        if min(below) > most or not char.isalpha():
            return at, False
        above, row = row, below
    return len(term), row[-1] <= most


def _with_stem(root: str) -> str:
    """A word that has this stem; '' if none comes to mind."""
    words = [root + ending for ending in _ENDINGS]
    if root.endswith("i"):
        words.append(f"{root[:-1]}y")
    return next((word for word in words if stem(word) == root), "")
