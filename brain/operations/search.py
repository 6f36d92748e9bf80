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

_MOST_COMPARED = 2000  # characters of an entry that others are compared to


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

    Superseded memories are returned only with `superseded`. Entries that `by` may not read are
    never returned. If you have just updated the index, `check=False` skips the update.
    """
    from brain.redact import redact
    from brain.search.search import search

    if not question.strip():
        raise BadRequest("There is nothing to search for.", "Give at least one word.")
    freshness = vault.refresh() if check else vault.unchecked()
    filters = lookup.filters(
        vault, scopes, kinds, tags, agent, project, since, until, superseded, by
    )
    most = vault.config.searchLimit if limit is None else limit
    given = (vault.index, question, filters, most, vault.clock(), vault.config)
    model, notes = semantic.model(vault)
    try:
        hits, about = search(*given, model, passages)
    except NoModel as error:
        hits, about = search(*given, None, passages)
        notes = [semantic.words_alone(error)]
    shown = [{"id": h.row.ref, "path": h.row.path} for h in hits]
    asked, _ = redact(question, emails=vault.config.redactEmails)
    vault.events.publish(vault.now(), "memory:search", {"query": asked, "results": shown})
    if not hits:
        about = [*about, *_unknown(vault, filters)]
    return Answer(query=question, results=hits, freshness=freshness, notes=(*about, *notes))


def similar(
    vault: OpenVault, id: str, *, limit: int = 5, agent: str = "", by: Actor | str = ""
) -> Answer:
    """Return the memories that are most similar to an entry, without the entry itself."""
    from brain.formats.links import strip_fields

    freshness = vault.refresh()
    row = lookup.find(vault, id, owners=lookup.visible(vault, by, agent))
    question = strip_fields(row.text)[:_MOST_COMPARED]
    found = search(
        vault, question, scopes=["memory"], agent=agent, limit=limit + 1, check=False, by=by
    )
    others = [result for result in found.results if result.id != row.ref]
    return found.replace(query=row.ref, results=others[:limit], freshness=freshness)


def _unknown(vault: OpenVault, filters: Filters) -> list[str]:
    """Return a remark for each tag and project that no entry has."""
    every = Filters(scopes=SCOPES, owners=filters.owners)
    wanted = [(f"is tagged #{t.lstrip('#')}", every._replace(tags=(t,))) for t in filters.tags]
    for project in filters.projects:
        condition = f"belongs to a project {project!r}"
        wanted.append((condition, every._replace(projects=(project,))))
    return [f"Nothing {s}." for s, f in wanted if not read.any_passes(vault.index, f)]
