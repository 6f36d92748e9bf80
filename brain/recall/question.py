"""A question, understood: what it asks for, whom it names, what its answer may look like."""

from __future__ import annotations

import re

from brain.config import Config
from brain.formats.links import tags
from brain.index import matches, read
from brain.index.db import Index
from brain.index.read import Filters
from brain.recall import aliases, hybrid, priors
from brain.recall.concepts import Concept, concepts, with_glued
from brain.recall.terms import MAX_TERMS, Term, fold, terms
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brain.embed.meanings import Meanings as Meaning

    Similar = Callable[[int, list[int]], dict[int, float]]


ALIAS_FACTOR = 0.5  # weight of an alias, relative to the word itself
_NAME = re.compile(r"[^\W_][\w.-]*[^\W_]")
_MOST = 10_000  # characters of a question in which ids are looked for


class Asked(NamedTuple):
    """A question, understood."""

    votes: list[Concept]
    names: list[Concept]  # of speakers, which tell who said it rather than what
    expected: priors.Expected
    similar: Similar | None = None  # in a hybrid search
    name: str = ""  # the question itself, folded: it may be the name of a note
    called: tuple[int, ...] = ()  # the row ids of entries whose id or odd tag it names

    @property
    def words(self) -> tuple[Term, ...]:
        return tuple(term for concept in (*self.votes, *self.names) for term in concept.every)


def understood(
    index: Index, question: str, filters: Filters, config: Config, meaning: Meaning | None
) -> Asked | None:
    """What a question asks of this index; None if there is no word in it, and no tag."""
    name = fold(question.strip(" \t\n?!.\"'[]")).removesuffix(".md")
    called = (*_ids(index, question), *_signed(index, question))
    if not (wanted := terms(question)) and not called:
        return None
    every = concepts(wanted, aliases.expand(config), ALIAS_FACTOR, question)
    every = [with_glued(index, concept) for concept in every]
    speakers = matches.speakers(index, filters.owners) if "sessions" in filters.scopes else []
    expected = priors.expected(question, speakers)
    said = {word for name in expected.names for word in name.split()}
    names = [c for c in every if len(c.term.words) == 1 and fold(c.term.words[0]) in said]
    votes = [c for c in every if c not in names]
    if filters.scopes != ("sessions",) or not votes:
        votes, names = every, []
    similar = hybrid.asked(meaning, index, question, names, filters) if meaning else None
    return Asked(votes, names, expected, similar, name, called)


def _signed(index: Index, question: str) -> list[int]:
    """The row ids of what has a tag that full text knows no word of, as `#🚀`."""
    found = tags(question[:_MOST]) if "#" in question and not question.isascii() else []
    signs = [tag for tag in found if not re.search(r"\w", tag)]
    return [id for tag in signs[:MAX_TERMS] for id in matches.tagged(index, tag)]


def _ids(index: Index, question: str) -> list[int]:
    """The row ids of entries whose id stands in the question: `m-7f3k2ab4`, also as in a link or a
    prompt, `item_1`, `TASK-1`."""
    words = (word for word in _NAME.findall(question[:_MOST]) if not word.isalpha())
    ids = list(dict.fromkeys(word for word in words if not word.isdigit()))[:MAX_TERMS]
    return read.called(index, ids) if ids else []
