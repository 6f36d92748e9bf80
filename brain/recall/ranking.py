"""Ranking: what a question asks for, and the best matches of the index, with all that their rank is
made of."""

from __future__ import annotations

from datetime import datetime

from brain.config import Config
from brain.index import matches
from brain.index.db import Index
from brain.index.matches import Candidate
from brain.index.read import Filters
from brain.recall import candidates, near, priors, rank
from brain.recall.concepts import Concept
from brain.recall.exact import exactly
from brain.recall.lookup import Found, look_up, noted
from brain.recall.question import Asked, understood
from brain.recall.rank import Factors
from brain.recall.terms import Term, fold, without_quotes
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brain.embed.meanings import Meanings as Meaning

# weights of words in the heading, text, tags and path, and of characters of scripts without spaces
FIELD_WEIGHTS = (1.0, 2.0, 1.5, 1.2, 2.0)
PARENT_FACTOR = 0.3  # of the bm25 of the whole session or section, besides that of the entry
MAX_RANKED = 500  # matches
LIKELY = 500  # matches of which the text is read, to see whether they hold it exactly as asked
ENOUGH = 60  # matches that are ranked for a page of ten
NO_WORDS = Found({}, {}, 0, [])  # for a search by meaning alone
UNQUOTED = "Nothing here holds the text in quotes; this is what holds its words."
NOTHING = (0.0, "")  # the feedback of an entry that nobody has judged


class RankedMatch(NamedTuple):
    """A match with the factors of its rank."""

    match: Candidate
    factors: Factors
    exact: int = 0
    cosine: float = 0.0  # how much of the same it means, in a hybrid search


def _order(one: RankedMatch) -> tuple[int, float, str, int, int]:
    """What holds it exactly as it was written comes first; then the rank counts."""
    c = one.match
    return (-one.exact, -one.factors.rank, c.path, c.line, c.place)


class Matches(NamedTuple):
    """Ranked matches of a question, and how they were found."""

    ranked: list[RankedMatch]
    terms: tuple[Term, ...] = ()
    prefix: bool = False  # the terms only match as beginnings of words
    note: str = ""
    corrections: Sequence[Concept] = ()  # similar words, where the question's own match nothing
    concepts: Sequence[Concept] = ()  # what was searched for
    lookup: Found = NO_WORDS  # which entries contain each concept


def find_matches(
    index: Index,
    question: str,
    filters: Filters,
    limit: int,
    now: datetime,
    config: Config,
    meaning: Meaning | None,
) -> Matches:
    """What is found by words; if there is nothing, by meaning alone."""
    filters = filters.resolve(index)
    asked = understood(index, question, filters, config, meaning)
    if asked is None:
        return Matches([])
    if matches_found := _by_words(index, asked, filters, limit, now, config):
        return matches_found
    plain = without_quotes(question)
    loose = understood(index, plain, filters, config, meaning) if plain != question else None
    if loose and (matches_found := _by_words(index, loose, filters, limit, now, config)):
        return matches_found._replace(note=UNQUOTED)
    if matches_found := _by_near_words(index, loose or asked, filters, limit, now, config):
        return matches_found
    by_meaning = asked.similar is not None
    found = _rank(index, asked, NO_WORDS, filters, limit, now, config) if by_meaning else []
    return Matches(found, asked.words, concepts=asked.votes)


def _by_words(
    index: Index, asked: Asked, filters: Filters, limit: int, now: datetime, config: Config
) -> Matches | None:
    for prefix in (False, True):
        found, held = _ranked(index, asked, prefix, filters, limit, now, config)
        if found:
            return Matches(found, asked.words, prefix, concepts=asked.votes, lookup=held)
    return None


def _by_near_words(
    index: Index, asked: Asked, filters: Filters, limit: int, now: datetime, config: Config
) -> Matches | None:
    from brain.recall import fuzzy  # which few questions need

    votes = fuzzy.near(index, [*asked.votes, *asked.names], filters)
    if not votes:
        return None
    asked = asked._replace(votes=votes, names=[])
    found, held = _ranked(index, asked, False, filters, limit, now, config)
    return (
        Matches(found, asked.words, corrections=votes, concepts=votes, lookup=held)
        if found
        else None
    )


def _ranked(
    index: Index,
    asked: Asked,
    prefix: bool,
    filters: Filters,
    limit: int,
    now: datetime,
    config: Config,
) -> tuple[list[RankedMatch], Found]:
    found = look_up(index, asked.votes, FIELD_WEIGHTS, prefix, owners=filters.owners)
    ranked = _rank(index, asked, found, filters, limit, now, config)
    if not ranked and found.partly:  # what is rare was filtered out: the common words must do
        most = matches.size(index) * 64
        found = look_up(index, asked.votes, FIELD_WEIGHTS, prefix, most, filters.owners)
        ranked = _rank(index, asked, found, filters, limit, now, config)
    return ranked, found


def _rank(
    index: Index,
    asked: Asked,
    found: Found,
    filters: Filters,
    limit: int,
    now: datetime,
    config: Config,
) -> list[RankedMatch]:
    """All that is worth a look, the best first."""
    own = found.covered()
    most = max(MAX_RANKED, limit)
    known = (
        matches.feedback(index, candidates.best(own, most)) if matches.any_feedback(index) else {}
    )
    enough = min(most, max(ENOUGH, 2 * limit))
    liked = candidates.liked(own, known)
    asked = asked._replace(called=(*asked.called, *candidates.named(index, asked.name, found)))
    likely = candidates.phrases(index, found, liked, LIKELY)
    exact = _exact(index, asked, likely)
    chosen = candidates.chosen(index, liked, exact, filters, enough)
    if found.partly:  # what is everywhere was not weighed, and may be there exactly so
        exact |= _exact(index, asked, {c.id for c in chosen} - likely)
    chosen += _called(index, asked, chosen, filters)
    handed = near.spread([(c, own[c.id]) for c in chosen if c.id in own])
    chosen += candidates.brought(index, handed, chosen, filters)
    cosines: dict[int, float] = {}
    if asked.similar and (chosen or not found.asked):  # else beginnings of words come first
        cosines = asked.similar(enough, [c.id for c in chosen])
        chosen += _meant(index, cosines, chosen, filters, config)
        known |= matches.feedback(index, [c.id for c in chosen if c.id not in own])
    asked_too = noted(index, asked.names, owners=filters.owners)
    whole = near.parents([c.section for c in chosen], [h for _, h in found.concepts] + asked_too)
    worth, expects = found.coverages(), any(asked.expected)
    make = tuple.__new__  # without their own way of taking arguments: there are many
    ranked = []
    for c in chosen:
        score, touched = known.get(c.id, NOTHING)
        factors = (
            found.scores.get(c.id, 0.0),
            worth[found.held.get(c.id, 0)],
            handed.get(c.id, 0.0),
            whole.get(c.id - c.place, 0.0) * PARENT_FACTOR,
            0.0,
            priors.author(c, asked.expected) if expects else 1.0,
            priors.when(c, asked.expected) if expects else 1.0,
            priors.dated(c, asked.expected) if expects else 1.0,
            rank.feedback(score) if score else 1.0,
            _recency(c, touched, now),
        )
        ranked.append(make(RankedMatch, (c, make(Factors, factors), exact.get(c.id, 0), 0.0)))
    return sorted(_blended(ranked, cosines, config), key=_order)


def _meant(
    index: Index,
    cosines: dict[int, float],
    chosen: list[Candidate],
    filters: Filters,
    config: Config,
) -> list[Candidate]:
    """What is not chosen for its words and means enough of the same."""
    there = {c.id for c in chosen}
    least = config.similarityThreshold
    added = [id for id, cosine in cosines.items() if cosine >= least and id not in there]
    return matches.candidates(index, added, filters) if added else []


def _blended(
    found: list[RankedMatch], cosines: dict[int, float], config: Config
) -> list[RankedMatch]:
    """With their meaning: the best by words is worth textWeight, the nearest vectorWeight."""
    if not cosines:
        return found
    text = config.textWeight / (max((one.factors.relevance for one in found), default=0.0) or 1.0)
    vector = config.vectorWeight / (max(0.0, *cosines.values()) or 1.0)
    return [
        one._replace(
            factors=one.factors._replace(
                bm25=one.factors.bm25 * text,
                near=one.factors.near * text,
                parent=one.factors.parent * text,
                vector=max(0.0, cosines.get(one.match.id, 0.0)) * vector,
            ),
            cosine=cosines.get(one.match.id, 0.0),
        )
        for one in found
    ]


def _recency(c: Candidate, touched: str, now: datetime) -> float:
    """Age counts in memories only: what a note or a transcript says stays as true as it was."""
    if c.scope != "memory":
        return 1.0
    return rank.recency(rank.days_between(max(c.created, touched), now))


def _exact(index: Index, asked: Asked, may: Iterable[int]) -> dict[int, int]:
    """How many things each of these holds exactly as they were written, if any. What has the id or
    the name that was asked for comes before them all."""
    every = [c.term for c in (*asked.votes, *asked.names) if c.term.exact]
    wanted = [exactly(term) for term in every]
    counts = {}
    if wanted and (ids := sorted(may)):
        texts = not all(said.is_tag for said in wanted)
        for id, tags, text in matches.haystacks(index, ids, texts):
            tags, text = fold(tags), fold(text)
            counts[id] = sum(said.stands_in(tags, text) for said in wanted)
    counts |= dict.fromkeys(asked.called, len(wanted) + 1)
    return {id: count for id, count in counts.items() if count}


def _called(
    index: Index,
    asked: Asked,
    chosen: list[Candidate],
    filters: Filters,
) -> list[Candidate]:
    """What has the id or the name that was asked for, and is not there for its words."""
    there = {c.id for c in chosen}
    ids = [id for id in asked.called if id not in there]
    return matches.candidates(index, ids, filters) if ids else []
