"""Search the vault: for words, by meaning, or for memories similar to an entry.

If a package, a model or an answer for a search by meaning is missing, search uses words alone and
says so in one line.
"""

from __future__ import annotations

import time
from functools import cached_property, partial

from brain.errors import BadRequest, BrainError, Busy, NoModel
from brain.index import read, relations
from brain.index.read import Filters
from brain.model import SCOPES
from brain.operations import lookup
from brain.operations.results import Answer
from brain.search.ranking import Search
from brain.search.snippet import Words, best_line, indexed_text, mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.access import Actor
    from brain.embed.similarity import Meanings
    from brain.index.read import Row
    from brain.open_vault import OpenVault
    from brain.search.ranking import Match

_MAX_COMPARED = 2000  # characters of an entry that are compared with other entries
PATIENCE = 1.0  # seconds that a search spends on passages that are not embedded yet


class SearchResult:
    """An entry that a search found. `line` and `snippet` are computed when they are read."""

    def __init__(self, row: Row, match: Match, prefix: bool = False) -> None:
        self.row = row
        self.match = match
        self.prefix = prefix
        self.conflicts: list[str] = []  # the ids of contradicting memories
        self.id, self.path, self.text = row.ref, row.path, row.text
        self.score = match.score
        self.factors = match.factors  # of the score, by name; see `brain.search.factors`
        self.covered = match.covered  # the fraction of the question that the entry contains
        self.exact = match.exact  # the number of exact terms that the entry contains as written
        self.also = match.also  # the paths of equal notes

    def __repr__(self) -> str:
        words = self._best[1].strip()[:40]
        return f"SearchResult({self.id}, {self.path}:{self.line}, {self.score:.2f}, {words!r})"

    @cached_property
    def _best(self) -> tuple[int, str]:
        return best_line(self.text or self.row.title, self._words)

    @cached_property
    def _words(self) -> Words:
        every = (term for concept in self.match.basis.concepts for term, _ in concept.every)
        return Words(tuple(every), self.prefix)

    @property
    def line(self) -> int:
        """The number of the best matching line, from 1. In a JSON file, it is the first line of the
        record, because the lines of its text are not lines of the file."""
        if not self.path.endswith(".md"):
            return self.row.line
        return min(self.row.end_line, self.row.line + self._best[0])

    def snippet(self, opening: str = "«", closing: str = "»") -> str:
        """Return an excerpt of the best line, in which the words of the question are marked."""
        return mark(self._best[1], self._words, opening, closing)


def search(
    vault: OpenVault,
    question: str,
    *,
    scopes: Iterable[str] = (),
    kinds: Iterable[str] = (),
    tags: Iterable[str] = (),
    agent: str = "",
    project: str = "",
    since: str = "",
    until: str = "",
    superseded: bool = False,
    limit: int | None = None,
    passages: bool = False,
    check: bool = True,
    by: Actor | str = "",
) -> Answer:
    """Return the best matches for a question, after updating the index. For each note, return only
    its best passage, or all matching passages with `passages`.

    Superseded memories are returned only with `superseded=True`. Entries that the actor `by` is not
    allowed to read are never returned. If you have just updated the index, `check=False` skips the
    update.
    """
    from brain.redact import redact

    if not isinstance(question, str) or not question.strip():
        raise BadRequest("There is nothing to search for.", "Give at least one word.")
    if limit is not None:
        lookup.check_limit(limit)
    freshness = vault.refresh() if check else vault.unchecked()
    filters = lookup.filters(
        vault, scopes, kinds, tags, agent, project, since, until, superseded, by
    )
    max_results = vault.config.searchLimit if limit is None else limit
    search_for = partial(find, vault, question, filters, max_results, passages)
    meaning, notes = model(vault)
    try:
        results, remarks = search_for(meaning)
    except NoModel as error:
        results, remarks = search_for(None)
        notes = [words_alone(error)]
    shown = [{"id": result.id, "path": result.path} for result in results]
    query, _ = redact(question, emails=vault.config.redactEmails)
    vault.publish("memory:search", {"query": query, "results": shown})
    if not results:
        remarks = [*remarks, *_remarks_on_filters(vault, filters)]
    return Answer(query=question, results=results, freshness=freshness, notes=(*remarks, *notes))


def find(
    vault: OpenVault,
    question: str,
    filters: Filters,
    limit: int,
    passages: bool,
    meaning: Meanings | None,
) -> tuple[list[SearchResult], list[str]]:
    """Return the best results, at most `limit`, and notes for the user."""
    if limit <= 0:
        return [], []
    now, config, index = vault.clock(), vault.config, vault.index
    matches = Search(index, filters, limit, now, config, meaning, passages).find(question)
    best = matches.ranked[:limit]
    rows = read.rows(index, [match.found.id for match in best])
    memories = [row.ref for row in rows if row.scope == "memory"]
    contradictions = relations.contradictions(index, memories, filters.owners)
    results = []
    for row, match in zip(rows, best, strict=True):
        result = SearchResult(row, match, matches.prefix)
        result.conflicts = contradictions.get(row.ref, []) if row.scope == "memory" else []
        results.append(result)
    note = matches.note
    if matches.corrections:
        from brain.search import fuzzy

        note = fuzzy.note(matches.corrections, (indexed_text(result.row) for result in results))
    return results, [note] if note else []


def similar(
    vault: OpenVault, id: str, *, limit: int = 5, agent: str = "", by: Actor | str = ""
) -> Answer:
    """Return the memories that are most similar to an entry, without the entry itself."""
    from brain.formats.inline import prose

    lookup.check_limit(limit)
    freshness = vault.refresh()
    row = lookup.find(vault, id, owners=lookup.visible(vault, by, agent))
    question = prose(row.text).strip()[:_MAX_COMPARED]
    found = search(
        vault, question, scopes=["memory"], agent=agent, limit=limit + 1, check=False, by=by
    )
    others = [result for result in found.results if result.id != row.ref]
    return found.replace(query=row.ref, results=others[:limit], freshness=freshness)


def _remarks_on_filters(vault: OpenVault, filters: Filters) -> list[str]:
    """Return a note for each tag and project of the filters that no entry has."""
    every = Filters(scopes=SCOPES, owners=filters.owners)
    filters_by_remark = {
        f"No entry has the tag #{tag.lstrip('#')}.": every._replace(tags=(tag,))
        for tag in filters.tags
    } | {
        f"No entry belongs to the project {project!r}.": every._replace(projects=(project,))
        for project in filters.projects
    }
    return [remark for remark, f in filters_by_remark.items() if not read.any_entry(vault.index, f)]


# -- by meaning ------------------------------------------------------------------------------------


def model(vault: OpenVault) -> tuple[Meanings | None, list[str]]:
    """Return the vault's `Meanings` with the model loaded, and remarks for the user. The first
    value is None if search is not hybrid, or if the model cannot be used."""
    if vault.config.searchProvider != "hybrid":
        return None, []
    started = time.perf_counter()
    try:
        meaning, spent = vault.meaning, vault.meaning.spent
        meaning.load()
        left = _embed(vault, PATIENCE)
    except NoModel as error:
        return None, [words_alone(error)]
    meaning.spent = spent + time.perf_counter() - started  # also for reading the vectors
    many = f"{left:,} passages are" if left > 1 else "One passage is"
    rest = f"{many} not searched by meaning yet; `brain sync` embeds the rest."
    return meaning, [rest] if left else []


def embed(vault: OpenVault, seconds: float | None = None) -> list[str]:
    """Embed new and changed passages if search is hybrid, for at most `seconds`. Without this
    limit, embed all, and download a missing model first. Return a message if embedding fails."""
    if vault.config.searchProvider != "hybrid":
        return []
    try:
        _embed(vault, seconds)
    except NoModel as error:
        return [str(error)]
    return []


def _embed(vault: OpenVault, seconds: float | None) -> int:
    """Embed passages as in `embed`. Return the number of passages that are left."""
    from brain.embed import end_pause, without_limit

    meaning, limited_model = vault.meaning, vault.meaning.model
    try:
        if seconds is not None:
            return meaning.embed_pending(seconds=seconds)
        meaning.model = without_limit(limited_model)
        meaning.load(download=True)
        left = meaning.embed_pending(vault.progress)
        end_pause(limited_model)
        return left
    except Busy:
        return 0  # another process is embedding them
    finally:
        meaning.model = limited_model


def purge_vectors(vault: OpenVault) -> bool:
    """Remove the vectors of all texts that are not in the index any more. Return False if that is
    not possible now."""
    from brain.index.vectors import text_digest
    from brain.search.hybrid import passages

    try:
        return vault.vectors.purge({text_digest(text) for _, text in passages(vault.index)})
    except BrainError:
        return False


def words_alone(reason: object) -> str:
    """Return the remark that search used words alone."""
    return f"Searched by words alone. {reason}"
