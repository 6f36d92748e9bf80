"""Find similar words for a question without results: `sqlte` finds *sqlite*.

A similar word has the same first letter. It occurs in an entry that passes the filters, so the
message does not reveal words of entries that the actor may not read.
"""

from __future__ import annotations

import re

from brain.index import fulltext
from brain.search.question import Concept, Term
from brain.search.retrieve import match
from brain.words import fold, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brain.index.db import Index
    from brain.index.read import Filters

SHORTEST, LONGEST = 4, 40  # letters of a word that may be misspelt
LONG = 8  # letters of a word in which more than one may be missing
SIMILAR = 0.75  # the share of letters that two similar stems have in the same order
WORDS = 5  # words of a question that are tried, and similar words for each of them
NAMED = 3  # words that a note names
_ENDINGS = ("", "e", "s", "ed", "ing", "ion", "ation", "al", "ly")


def similar(index: Index, wanted: Sequence[Concept], filters: Filters) -> list[Concept]:
    """Return the concepts with similar words as alternatives; [] if there are no similar words."""
    if index.fts != "fts5":
        return []
    named = {word for c in wanted if c.term.exact and not c.term.column for word in c.term.words}
    tried = [c for c in wanted if _may_be_wrong(c.term) and c.term.words[0] not in named][:WORDS]
    found = {c: words for c in tried if (words := _words(index, fold(c.term.words[0]), filters))}
    if not found:
        return []
    return [c._replace(others=tuple((word, 1.0) for word in found.get(c, ()))) for c in wanted]


def note(wanted: Sequence[Concept], texts: Iterable[str]) -> str:
    """Return the message for results that were found by similar words. It shows these words as they
    are written in the texts."""
    asked = [concept.term.words[0] for concept in wanted if concept.others]
    stems = {stem(word) for concept in wanted for word, _ in concept.others}
    words = (word for text in texts for word in re.findall(r"[^\W_]+", text))
    found: dict[str, str] = {}
    for word in words:
        folded = fold(word)
        if stem(folded) in stems:
            found.setdefault(folded, word)
    similar = list(found.values())[:NAMED]
    return f"No results for {_either(asked)}. Showing {_either(similar)}."


def _either(words: list[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def _may_be_wrong(term: Term) -> bool:
    """Return True for a single word of letters that is long enough to be misspelt."""
    word = term.words[0]
    plain = len(term.words) == 1 and not (term.column or term.exact)
    return plain and word.isalpha() and SHORTEST <= len(word) <= LONGEST


def _words(index: Index, word: str, filters: Filters) -> list[str]:
    """Return the most similar words that occur in entries that pass the filters."""
    from difflib import SequenceMatcher, get_close_matches

    root, vocabulary = stem(word), fulltext.vocabulary(index, word[0])
    candidates = sorted(
        term
        for term in vocabulary
        if term.isalpha() and (len(word) >= LONG or abs(len(term) - len(root)) <= 1)
    )
    similar = {
        word: SequenceMatcher(None, term, root).ratio()
        for term in get_close_matches(root, candidates, 4 * WORDS, SIMILAR)
        if (word := _with_stem(term)) and _occurs(index, word, filters)
    }
    best_ratio = max(similar.values(), default=0.0)
    return [word for word, ratio in similar.items() if ratio == best_ratio][:WORDS]


def _occurs(index: Index, word: str, filters: Filters) -> bool:
    return any(
        fulltext.any_matches(index, table, match(Term((word,)), table), filters)
        for table in ("passages", "entries", "turns")
    )


def _with_stem(root: str) -> str:
    """Return a word with this stem; '' if no ending gives one."""
    words = [root + ending for ending in _ENDINGS]
    if root.endswith("i"):
        words.append(f"{root[:-1]}y")
    return next((word for word in words if stem(word) == root), "")
