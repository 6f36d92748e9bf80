"""Search the vault, for words or for memories similar to an entry."""

from __future__ import annotations

from brain.errors import BadRequest, NoModel
from brain.index import read
from brain.index.read import Filters
from brain.model import SCOPES
from brain.operations import lookup, semantic
from brain.operations.results import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.access import Actor
    from brain.open_vault import OpenVault

_MAX_COMPARED = 2000  # characters of an entry that are compared with other entries


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
    from brain.search.search import search

    if not question.strip():
        raise BadRequest("There is nothing to search for.", "Give at least one word.")
    freshness = vault.refresh() if check else vault.unchecked()
    filters = lookup.filters(
        vault, scopes, kinds, tags, agent, project, since, until, superseded, by
    )
    max_results = vault.config.searchLimit if limit is None else limit
    arguments = (vault.index, question, filters, max_results, vault.clock(), vault.config)
    model, notes = semantic.model(vault)
    try:
        results, remarks = search(*arguments, model, passages)
    except NoModel as error:
        results, remarks = search(*arguments, None, passages)
        notes = [semantic.words_alone(error)]
    shown = [{"id": h.row.ref, "path": h.row.path} for h in results]
    redacted_question, _ = redact(question, emails=vault.config.redactEmails)
    vault.events.publish(
        vault.now(), "memory:search", {"query": redacted_question, "results": shown}
    )
    if not results:
        remarks = [*remarks, *_remarks_on_filters(vault, filters)]
    return Answer(query=question, results=results, freshness=freshness, notes=(*remarks, *notes))


def similar(
    vault: OpenVault, id: str, *, limit: int = 5, agent: str = "", by: Actor | str = ""
) -> Answer:
    """Return the memories that are most similar to an entry, without the entry itself."""
    from brain.formats.links import strip_fields

    freshness = vault.refresh()
    row = lookup.find(vault, id, owners=lookup.visible(vault, by, agent))
    question = strip_fields(row.text)[:_MAX_COMPARED]
    found = search(
        vault, question, scopes=["memory"], agent=agent, limit=limit + 1, check=False, by=by
    )
    others = [result for result in found.results if result.id != row.ref]
    return found.replace(query=row.ref, results=others[:limit], freshness=freshness)


def _remarks_on_filters(vault: OpenVault, filters: Filters) -> list[str]:
    """Return a note for each tag and project of the filters that no entry has."""
    all_entries = Filters(scopes=SCOPES, owners=filters.owners)
    conditions = [
        (f"is tagged #{t.lstrip('#')}", all_entries._replace(tags=(t,))) for t in filters.tags
    ]
    for project in filters.projects:
        condition = f"belongs to a project {project!r}"
        conditions.append((condition, all_entries._replace(projects=(project,))))
    return [f"Nothing {s}." for s, f in conditions if not read.any_entry(vault.index, f)]
