"""What the terms of a question stand for: each with other forms of its word, and its aliases."""

from __future__ import annotations

import re

from brain.formats.text import UNSPACED
from brain.index import matches
from brain.recall.forms import bases, forms
from brain.recall.terms import Term, fold
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brain.index.db import Index

_PIECE = f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+"  # compiled when an alias needs it, which few do


class Concept(NamedTuple):
    """One thing asked for: a term, and what else stands for it, with what that is worth."""

    term: Term
    others: tuple[tuple[str, float], ...] = ()
    glued: tuple[str, ...] = ()  # words of it that stand in a script without spaces

    @property
    def every(self) -> tuple[Term, ...]:
        glued = (Term((word,), "spaced") for word in self.glued)
        return (self.term, *(_term(words) for words, _ in self.others), *glued)

    @property
    def worths(self) -> tuple[float, ...]:
        """What each of these is worth."""
        return (1.0, *(worth for _, worth in self.others), *(1.0 for _ in self.glued))

    @property
    def tables(self) -> tuple[str, ...]:
        """Where it is looked up, each once."""
        return tuple(dict.fromkeys(map(table_of, self.every)))


def table_of(term: Term) -> str:
    """Where a term is looked up."""
    return matches.SPACED if term.column == "spaced" else matches.WORDS


def _term(words: str) -> Term:
    if not words.isascii() and re.fullmatch(f"[{UNSPACED}]+", words):
        return Term(tuple(words), "spaced")
    return Term(tuple(words.split()))


def concepts(
    wanted: Sequence[Term],
    aliases: Mapping[str, Sequence[str]],
    alias_factor: float,
    question: str = "",
) -> list[Concept]:
    """What the terms of a question stand for."""
    every: list[tuple[Term, dict[str, float]]] = []
    for term in wanted:
        word = _word(term)
        others = dict.fromkeys(forms(word), 1.0) if word and not term.column else {}
        if alias_factor:
            names = (word, *bases(word)) if word else (fold(term.exact),)
            known = (aliases.get(name, ()) for name in names)
            others = {other: alias_factor for some in known for other in some} | others
        every.append((term, others))
    for head in _heads(question, aliases) if alias_factor else ():
        _share(every, head, aliases[head], alias_factor)
    return [Concept(term, tuple(others.items())) for term, others in every]


def with_glued(index: Index, concept: Concept) -> Concept:
    """A concept with those of its words that stand between characters of a script without spaces,
    as in `我们用Redis做缓存`: full text takes all of that for one word."""
    words = [term.words[0] for term in concept.every if len(term.words) == 1 and not term.column]
    glued = [w for w in words if matches.frequency(index, f'"{w}"', 0, matches.SPACED)]
    return concept._replace(glued=tuple(glued)) if glued else concept


def _word(term: Term) -> str:
    """The folded word, or run of characters, that may have aliases; '' if there is none."""
    if term.column == "spaced":
        return fold("".join(term.words))
    return fold(term.words[0]) if len(term.words) == 1 and not (term.column or term.exact) else ""


def _heads(question: str, aliases: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The words with aliases that are several, or several characters, and stand in a question."""
    long = [head for head in aliases if not (head.isascii() and head.isalnum())]
    if not long:
        return
    folded = fold(question)
    said = [{piece, *bases(piece)} for piece in re.findall(_PIECE, folded)]
    for head in long:
        parts = re.findall(_PIECE, head)
        if re.fullmatch(f"[{UNSPACED}]{{2,}}", head):
            if head in folded:
                yield head
        elif len(parts) > 1 and any(
            all(part in piece for part, piece in zip(parts, said[at:], strict=False))
            for at in range(len(said) - len(parts) + 1)
        ):
            yield head


def _share(
    every: Sequence[tuple[Term, dict[str, float]]],
    head: str,
    others: Sequence[str],
    factor: float,
) -> None:
    """Let those of these terms that are part of a head divide the worth of its aliases."""
    parts = set(re.findall(_PIECE, head))
    pairs = {head[at : at + 2] for at in range(len(head) - 1)}
    mine = []
    for term, known in every:
        word = _word(term)
        inside = word in pairs if term.column == "spaced" else parts & {word, *bases(word)}
        if word and (inside or word == head):
            mine.append(known)
    for known in mine:
        for other in others:
            known.setdefault(other, factor / len(mine))
