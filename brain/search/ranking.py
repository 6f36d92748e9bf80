"""Ranking: the steps of a search, from a question to ordered matches.

1. Understand the question: terms, aliases, names of speakers, times (`question`).
2. Look up the share of the question that notes, passages, entries and turns contain (`retrieve`).
3. Score the best that pass the filters (`factors`), with their meaning if a model is given.
4. Put first the entries that contain a quotation, tag, path or identifier as written (`exact`).
5. Order by score. Feedback and recency order memories that cover the question equally.
6. If there is no match, try the beginnings of words, then quoted words one by one, then similar
   words (`fuzzy`).
"""

from __future__ import annotations

from datetime import datetime

from brain._tuples import NamedTuple
from brain.config import Config
from brain.index import fulltext
from brain.index.db import Index
from brain.index.fulltext import Found
from brain.index.read import Filters
from brain.search import exact, factors
from brain.search.factors import AFTER, ASKED, BEFORE, PASSAGE_WEIGHT, SESSION_WEIGHT
from brain.search.question import Concept, Expected, concepts, expected, terms, without_quotes
from brain.search.retrieve import Basis, Lookup, Shares, combine, saturation
from brain.words import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from brain.embed.similarity import Meanings as Meaning
    from brain.index.db import Owners

    T = TypeVar("T", int, float)
    Cosines = Mapping[int, float]  # by row id
    Sorts = Mapping[int, tuple[str, int]]  # table of full text and file of an entry, by row id

MIN_MATCHES = 60  # matches of each sort that are scored, for a page of ten results
MAX_SEEDS = 500  # turns that score their neighbours, and memories whose feedback is read
BEST_SESSIONS = 5  # sessions of which all turns are scored
SHOWN_PASSAGES = 5  # best passages of a note that are read
SAME_COVERAGE = 0.1  # memories cover a question equally if their coverage differs by less
SPARE = 40  # additional rows that are read, because some may not pass the filters
BEGINNINGS = "No results for whole words. Showing words that begin with them."
UNQUOTED = "No results for the text in quotes. Showing results for its words."


class Match:
    """An entry that matches a question, or the best passage of a note, with its score factors."""

    __slots__ = ("also", "basis", "exact", "factors", "found", "mask", "passages", "weak")

    def __init__(
        self, found: Found, factors: dict[str, float], mask: int, basis: Basis, exact: int = 0
    ) -> None:
        self.found, self.factors, self.exact = found, factors, exact
        self.mask, self.basis = mask, basis  # the concepts of the question in the entry
        self.passages = [found.id]  # row ids of the passages of a note, the best first
        self.also: list[str] = []  # paths of equal notes
        self.weak = False  # a turn without a word of the question, below `similarityThreshold`

    @property
    def score(self) -> float:
        """The score, from 0 to about 1, or higher with meaning."""
        return factors.score(self.factors)

    @property
    def covered(self) -> float:
        """The fraction of the question that the entry contains."""
        return self.basis.covered(self.mask)

    @property
    def key(self) -> tuple[int, float, tuple[str, int, int]]:
        """The sort key among all matches."""
        return -self.exact, -self.score, self.place

    @property
    def place(self) -> tuple[str, int, int]:
        """The sort key among equal scores."""
        return self.found.path, self.found.line, self.found.place


class Question(NamedTuple):
    """A question with its concepts and the expected answer."""

    text: str
    concepts: list[Concept]
    spoken: list[Concept]  # concepts for turns: with all forms, without names of speakers
    names: list[Concept]  # concepts that are names of speakers
    speakers: list[str]  # speakers that the question names, as written
    expected: Expected
    exact: dict[int, int]  # number of exact terms in an entry, by row id


class Matches(NamedTuple):
    """Matches of a question, best first, and how they were found."""

    ranked: list[Match]
    prefix: bool = False  # True if the terms match only as beginnings of words
    note: str = ""
    corrections: Sequence[Concept] = ()  # similar words, if the words of the question have no match
    concepts: Sequence[Concept] = ()  # the concepts that were searched for


class Search:
    """A search. The same index, question and clock give the same matches."""

    def __init__(
        self,
        index: Index,
        filters: Filters,
        limit: int,
        now: datetime,
        config: Config,
        meaning: Meaning | None = None,
        passages: bool = False,
        weak: bool = False,
    ) -> None:
        """At least `limit` matches of each sort are returned, if there are so many. If `passages`,
        every passage of a note is a match, not only the best one. If `weak`, notes and turns may be
        less similar than `similarityThreshold`."""
        self.index, self.filters, self.now, self.config = index, filters.resolve(index), now, config
        self.meaning, self.passages, self.weak = meaning, passages, weak
        self.enough = max(MIN_MATCHES, 2 * limit)
        # only entries that the actor may read, of the requested agents, are counted
        readable, agents = filters.owners, filters.agents
        self.owners: Owners = (
            tuple(a for a in agents if readable is None or a in readable) if agents else readable
        )

    def find(self, question: str) -> Matches:
        """Return the matches of a question, best first."""
        if (asked := self.understand(question)) is None:
            return Matches([])
        plain = without_quotes(question)
        loose = self.understand(plain) if plain != question else None
        for form, note in ((asked, ""), (loose, UNQUOTED)):
            for prefix in (False, True) if form else ():
                if form and (found := self.rank(form, prefix)):
                    note = note or (BEGINNINGS if prefix else "")
                    return Matches(found, prefix, note, concepts=form.concepts)
        from brain.search import fuzzy  # only a few questions need it

        similar = fuzzy.similar(self.index, (loose or asked).concepts, self.filters)
        if similar and (found := self.rank(asked._replace(concepts=similar, spoken=similar))):
            return Matches(found, corrections=similar, concepts=similar)
        found = self.rank(asked, require_word=False) if self.meaning else []
        return Matches(found, concepts=asked.concepts)

    def understand(self, text: str) -> Question | None:
        """Return the question with its concepts; None if it has no word, tag or id."""
        wanted = terms(text)
        first = exact.counts(self.index, text, wanted, self.filters)
        if not wanted and not first:
            return None
        speakers = fulltext.speakers(self.index, self.filters.owners) if self.has_turns else []
        hints = expected(text, speakers)
        parts = {word for name in hints.names for word in name.split()}
        names = [term for term in wanted if fold(term.words[0]) in parts and len(term.words) == 1]
        rest = [term for term in wanted if term not in names]
        if not rest:
            rest, names, hints = list(wanted), [], hints._replace(names=frozenset())
        return Question(
            text=text,
            concepts=concepts(wanted, self.config, text),
            spoken=concepts(rest, self.config, text, irregular=True),
            names=concepts(names, self.config, text),
            speakers=[name for name in speakers if fold(name) in hints.names],
            expected=hints,
            exact=first,
        )

    @property
    def has_turns(self) -> bool:
        return "sessions" in self.filters.scopes

    def rank(self, asked: Question, prefix: bool = False, require_word: bool = True) -> list[Match]:
        """Return the ranked matches of a question. With `require_word`, return [] if all matches
        were found by meaning alone."""
        lookup = Lookup(self.index, self.owners, prefix)
        found: list[Match] = []
        if self.filters.scopes != ("sessions",):
            entries = lookup.shares("entries", asked.concepts)
            notes = lookup.shares("notes", asked.concepts)
            passages = lookup.shares("passages", asked.concepts)
            rows = {**entries.scores, **passages.scores}
            scopes = tuple(scope for scope in self.filters.scopes if scope != "sessions")
            filters = self.filters._replace(scopes=scopes)
            cosines = self._cosines(asked.text, filters, rows)
            others = fulltext.tables_and_files(
                self.index, [*asked.exact, *(id for id in cosines if id not in rows)]
            )
            found += self._entries(asked, entries, cosines, others)
            found += self._notes(asked, notes, passages, cosines, others)
        if self.has_turns:
            found += self._turns(asked, lookup)
        if require_word and not any(match.mask or match.exact for match in found):
            return []
        return self._order(self._without_copies(sorted(found, key=lambda match: match.key)))

    # -- memories, items, tasks ------------------------------------------------------------------

    def _entries(
        self, asked: Question, shares: Shares, cosines: Cosines, others: Sorts
    ) -> list[Match]:
        """Return the best memories, items and tasks."""
        more = (id for id, (sort, _) in others.items() if sort == "entries")
        near_ids = (id for id in more if id in asked.exact or self._is_near(cosines[id]))
        rows = {*shares.scores, *near_ids}
        scores = {
            id: self._words(shares.scores.get(id, 0.0))
            + factors.meaning(cosines.get(id, 0.0), "entries", self.config)
            for id in rows
        }
        feedback = self._feedback(scores)
        weighed = {id: scores[id] * factors.feedback(score) for id, (score, _) in feedback.items()}
        matches = []
        for found in self._best(scores | weighed, asked.exact):
            parts = self._parts("entries", found.id, shares, cosines)
            if found.scope == "memory":  # age does not matter for a note or task
                score, touched = feedback.get(found.id, (0.0, ""))
                days = factors.days_between(max(found.created, touched), self.now)
                parts |= {"feedback": factors.feedback(score), "recency": factors.recency(days)}
            mask, count = shares.masks.get(found.id, 0), asked.exact.get(found.id, 0)
            matches.append(Match(found, parts, mask, shares.basis, count))
        return matches

    def _feedback(self, scores: Mapping[int, float]) -> dict[int, tuple[float, str]]:
        """Return the feedback on the best of these entries. For the others, it does not matter:
        feedback cannot make them results."""
        if not fulltext.any_feedback(self.index):
            return {}
        best = next(_batches(scores, {}, max(self.enough, MAX_SEEDS)), [])
        return fulltext.feedback(self.index, best)

    def _parts(self, sort: str, id: int, shares: Shares, cosines: Cosines) -> dict[str, float]:
        """Return the factors of an entry from its words and its meaning."""
        parts = {"share": self._words(shares.scores.get(id, 0.0))}
        if id in cosines:
            parts["meaning"] = factors.meaning(cosines[id], sort, self.config)
        return parts

    def _words(self, share: float) -> float:
        return share * self.config.textWeight if self.meaning else share

    # -- notes -----------------------------------------------------------------------------------

    def _notes(
        self, asked: Question, whole: Shares, part: Shares, cosines: Cosines, others: Sorts
    ) -> list[Match]:
        """Return the best notes, each with its best passage, or all passages."""
        notes = fulltext.notes_of(self.index, list(part.scores))
        notes |= {id: note for id, (sort, note) in others.items() if sort == "passages"}
        best: dict[int, float] = {}
        best_cosines: dict[int, float] = {}
        for id, note in notes.items():
            best[note] = max(best.get(note, 0.0), part.scores.get(id, 0.0))
            if id in cosines:
                best_cosines[note] = max(best_cosines.get(note, 0.0), cosines[id])
        first = {notes[id]: count for id, count in asked.exact.items() if id in notes}
        found = {note for note, share in best.items() if share} | {*whole.scores, *first}
        scores = {
            note: self._words(whole.scores.get(note, 0.0) + PASSAGE_WEIGHT * best.get(note, 0.0))
            for note in found
            | {note for note in best_cosines if self.weak or self._is_near(best_cosines[note])}
        }
        for note in best_cosines.keys() & scores.keys():
            similar = factors.meaning(best_cosines[note], "passages", self.config)
            scores[note] += (1 + PASSAGE_WEIGHT) * similar
        matches: list[Match] = []
        for batch in _batches(scores, first, self.enough):
            for note, passages in self._passages(asked, batch, notes, part, cosines):
                for group in ([found] for found in passages) if self.passages else (passages,):
                    matches.append(self._note(asked, note, group, whole, part, cosines))
            if len(matches) >= self.enough:
                break
        return matches

    def _passages(
        self, asked: Question, batch: list[int], notes: Mapping[int, int], part: Shares,
        cosines: Cosines,
    ) -> Iterator[tuple[int, list[Found]]]:  # fmt: skip
        """Yield the notes with a passage that passes the filters, and these passages, the best
        first. For a note without a matching passage, yield its first one."""

        def worth(id: int) -> tuple[int, float]:
            similar = factors.meaning(cosines.get(id, 0.0), "passages", self.config)
            return asked.exact.get(id, 0), self._words(part.scores.get(id, 0.0)) + similar

        wanted: dict[int, list[int]] = {note: [] for note in batch}
        for id, note in notes.items():
            if note in wanted:
                wanted[note].append(id)
        ids: list[int] = []
        for of_note in wanted.values():
            if len(of_note) > SHOWN_PASSAGES and not (self.passages or self.filters.tags):
                threshold = sorted(map(worth, of_note), reverse=True)[SHOWN_PASSAGES - 1]
                of_note = [id for id in of_note if worth(id) >= threshold]
            ids += of_note
        missing = [note for note, of_note in wanted.items() if not of_note]
        ids += fulltext.first_passages(self.index, missing).values()
        passing: dict[int, list[Found]] = {}
        for found in fulltext.entries(self.index, ids, self.filters):
            passing.setdefault(found.file, []).append(found)
        for note, passages in passing.items():
            passages.sort(key=lambda found: (*(-part for part in worth(found.id)), found.line))
            yield note, passages

    def _note(
        self, asked: Question, note: int, passages: Sequence[Found], whole: Shares, part: Shares,
        cosines: Cosines,
    ) -> Match:  # fmt: skip
        """Return the match of a note with these passages. The first one is shown."""
        ids, scale = [found.id for found in passages], self._words(1 / (1 + PASSAGE_WEIGHT))
        parts = {
            "note": whole.scores.get(note, 0.0) * scale,
            "passage": PASSAGE_WEIGHT * _largest(part.scores, ids) * scale,
        }
        if similar := _largest(cosines, ids):
            parts["meaning"] = factors.meaning(similar, "passages", self.config)
        mask = whole.masks.get(note, 0)
        for id in ids:
            mask |= part.masks.get(id, 0)
        match = Match(passages[0], parts, mask, whole.basis, _largest(asked.exact, ids))
        match.passages = ids
        return match

    # -- turns -----------------------------------------------------------------------------------

    def _turns(self, asked: Question, lookup: Lookup) -> list[Match]:
        """Return the best turns, scored by the words of the turn, of the turns around it, and of
        the whole session."""
        own = lookup.shares("turns", asked.spoken)
        filters = self.filters._replace(scopes=("sessions",))
        names = asked.expected.names
        cosines = self._cosines(asked.text, filters, own.scores, names)
        seeds = self._best(own.scores, asked.exact, max(self.enough, MAX_SEEDS), filters)
        near_shares: dict[int, float] = {}
        for seed in seeds:
            for id, part in neighbours(seed):
                near_shares[id] = near_shares.get(id, 0.0) + part * own.scores.get(seed.id, 0.0)
        sessions, others = self._sessions(asked, own)
        known = {seed.id for seed in seeds}
        alike = (id for id in cosines if self.weak or self._is_near(cosines[id]))
        wanted = dict.fromkeys(
            (*near_shares, *others, *alike, *own.scores.keys() & cosines, *asked.exact)
        )
        more = [id for id in wanted if id not in known]
        matches = []
        for turn in seeds + fulltext.entries(self.index, more, filters):
            parts = self._parts("turns", turn.id, own, cosines)
            parts["near"] = self._words(near_shares.get(turn.id, 0.0))
            parts["session"] = self._words(SESSION_WEIGHT * sessions.get(turn.file, 0.0))
            parts |= {name: f(turn, asked.expected) for name, f in factors.MULTIPLIED.items()}
            mask, count = own.masks.get(turn.id, 0), asked.exact.get(turn.id, 0)
            match = Match(turn, parts, mask, own.basis, count)
            match.weak = not mask and not self._is_near(cosines.get(turn.id, 0.0))
            matches.append(match)
        return matches

    def _sessions(self, asked: Question, own: Shares) -> tuple[dict[int, float], list[int]]:
        """Return the share of the question in each session, by file, and the turns of the best
        sessions. A session is scored like a text in which each turn is a word. The names of
        speakers count as words, too."""
        files = fulltext.notes_of(self.index, list(own.masks))
        counts: list[dict[int, int]] = [{} for _ in asked.spoken]
        for id, mask in own.masks.items():
            for bit, count in enumerate(counts):
                if mask >> bit & 1:
                    count[files[id]] = count.get(files[id], 0) + 1
        if asked.names:
            spoken = fulltext.turn_counts(self.index, asked.speakers, self.owners)
            counts += [spoken for _ in asked.names]
        size = fulltext.sessions(self.index, self.owners)
        mean = fulltext.size(self.index, "turns", self.owners) / (size or 1)
        basis = Basis([*asked.spoken, *asked.names], [len(count) for count in counts], size)
        turns = fulltext.turns_of(self.index, list(set(files.values())))
        found = [
            {
                file: saturation(n, len(turns[file]) / mean)
                for file, n in count.items()
                if file in turns
            }
            for count in counts
        ]
        scores = combine(found, basis).scores
        best = sorted(turns, key=lambda file: (-scores[file], turns[file].start))[:BEST_SESSIONS]
        return scores, [id for file in best for id in turns[file]]

    # -- all sorts -------------------------------------------------------------------------------

    def _cosines(
        self, question: str, filters: Filters, also: Iterable[int], names: Iterable[str] = ()
    ) -> Cosines:
        """Return the cosines of the nearest entries and of the entries in `also`; {} without a
        model."""
        if self.meaning is None:
            return {}
        from brain.search import hybrid

        question = hybrid.without_names(question, names)
        return hybrid.similar(self.meaning, self.index, question, filters, also)

    def _is_near(self, cosine: float) -> bool:
        """Return True if an entry is similar enough to be found only by its meaning."""
        return cosine >= self.config.similarityThreshold

    def _best(
        self,
        scores: Mapping[int, float],
        first: Mapping[int, int],
        enough: int = 0,
        filters: Filters | None = None,
    ) -> list[Found]:
        """Return the best entries that pass the filters. Entries in `first` come first."""
        enough, best = enough or self.enough, []
        for batch in _batches(scores, first, enough):
            best += fulltext.entries(self.index, batch, filters or self.filters)
            if len(best) >= enough:
                break
        place = [(-first.get(f.id, 0), -scores[f.id], f.path, f.line, f.place) for f in best]
        return [found for _, found in sorted(zip(place, best, strict=True))][:enough]

    def _without_copies(self, ranked: list[Match]) -> list[Match]:
        """Remove copies of a note that is ranked higher. The match of that note lists their
        paths."""
        notes = {match.found.file for match in ranked if match.found.sort == "passages"}
        digests = fulltext.digests(self.index, sorted(notes))
        by_digest: dict[bytes, Match] = {}
        kept = []
        for match in ranked:
            digest = digests.get(match.found.file, b"")
            other = by_digest.setdefault(digest, match) if digest else match
            if other.found.file == match.found.file:
                kept.append(match)
            elif match.found.path not in other.also:
                other.also.append(match.found.path)
        return kept

    def _order(self, ranked: list[Match]) -> list[Match]:
        """Order memories that cover the question equally by feedback and recency. They are
        exchanged only with each other, so none of them moves below an entry that covers less."""
        ordered, placed = list(ranked), set()
        for leader_place, leader in enumerate(ranked):
            if leader.found.scope != "memory" or leader_place in placed:
                continue
            places, best_covered = [], leader.covered
            for place in range(leader_place, len(ranked)):
                match = ranked[place]
                if match.exact != leader.exact:
                    break
                covers_equally = abs(match.covered - leader.covered) < SAME_COVERAGE
                if covers_equally and match.found.scope == "memory" and place not in placed:
                    places.append(place)
                    best_covered = max(best_covered, match.covered)
                elif match.covered < best_covered:
                    break
            placed.update(places)
            group = [ranked[place] for place in places]
            group.sort(key=lambda match: (-factors.order(match.factors), match.place))
            for place, match in zip(places, group, strict=True):
                ordered[place] = match
        return ordered


def neighbours(turn: Found) -> Iterator[tuple[int, float]]:
    """Yield (row id, weight) of the turns around `turn`. The weight multiplies the share of
    `turn`."""
    start = turn.id - turn.place
    session = range(start, start + turn.siblings)
    for step, (after, before) in enumerate(zip(AFTER, BEFORE, strict=True), 1):
        if turn.id + step in session:
            asks = step == 1 and turn.text.rstrip().endswith(("?", "？"))
            yield turn.id + step, after * (ASKED if asks else 1.0)
        if turn.id - step in session:
            yield turn.id - step, before


def _largest(values: Mapping[int, T], ids: Iterable[int]) -> T:
    """Return the largest of the values of these ids; 0 if there is none."""
    return max((values[id] for id in ids if id in values), default=0)


def _batches(
    scores: Mapping[int, float], first: Mapping[int, int], enough: int
) -> Iterator[list[int]]:
    """Yield row ids in batches, the best first. Rows with equal scores are in the same batch, so
    the result does not depend on the order in which the index was filled."""
    if exact_ids := [id for id in first if id in scores]:
        yield exact_ids
    remaining = sorted(
        (id for id in scores if id not in first), key=scores.__getitem__, reverse=True
    )
    start, step = 0, enough + SPARE
    while start < len(remaining):
        stop = min(len(remaining), start + step)
        while stop < len(remaining) and scores[remaining[stop]] == scores[remaining[stop - 1]]:
            stop += 1
        yield remaining[start:stop]
        start, step = stop, 4 * step
