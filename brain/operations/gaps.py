"""List questions that had no answer, and suggest tags."""

from __future__ import annotations

import re
from contextlib import suppress

from brain import access, actors
from brain.context.recall import answer_ids
from brain.errors import NotFound
from brain.graph.edges import topics
from brain.index import read, records
from brain.operations import usage
from brain.operations.results import Gap, Gaps, TagSuggestion
from brain.search.question import terms
from brain.state import Use, sum_uses
from brain.words import fold, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.open_vault import OpenVault

MIN_TAG = 3  # characters
_WORD = re.compile(r"[^\W_]+")


def gaps(vault: OpenVault, *, all: bool = False, agent: str = "", by: Actor | str = "") -> Gaps:
    """Return questions that had no answer, the most frequent first. With `all`, also return those
    that have an answer now. An agent gets only its own questions. Also suggest tags."""
    actor = actors.resolve(vault, by)
    vault.refresh()
    sees_all = access.readable(actor) is None
    found = [
        Gap(
            id=use.ref,
            query=use.text,
            agent=use.other or None,
            count=use.times,
            last=use.last,
            session=use.session or None,
            snippet=use.snippet or usage.snippet(use.text),
            open=not _is_answered(vault, use),
        )
        for use in sum_uses(_all_gaps(vault))
        if (sees_all or use.other == actor.name) and (not agent or use.other == agent)
    ]
    found.sort(key=lambda gap: (-gap.count, gap.last, gap.id, gap.agent or ""))
    return Gaps(gaps=[gap for gap in found if all or gap.open], tags=_suggest_tags(vault, actor))


def _all_gaps(vault: OpenVault) -> list[Use]:
    """Return the gaps in the journal, and those that are not in it yet. `other` is the asker."""
    found = [
        Use(
            op="gap",
            ref=record.ref,
            other=str(record.data.get("agent", "")),
            times=records.count_of(record),
            last=str(record.data.get("last") or record.at),
            text=str(record.data.get("query", "")),
            refs=tuple(refs) if isinstance(refs := record.data.get("refs"), list) else (),
            session=str(record.data.get("session", "")),
            snippet=str(record.data.get("snippet", "")),
        )
        for record in records.select(vault.index, ops=("gap",))
    ]
    return found + [use for use in vault.journal.pending_uses() if use.op == "gap"]


def _is_answered(vault: OpenVault, gap: Use) -> bool:
    """Return True if the asker would now find an entry that was not rejected before."""
    owners = None
    if gap.other:
        with suppress(NotFound):  # the agent does not exist any more, so search for all owners
            owners = access.readable(actors.resolve(vault, gap.other))
    found = answer_ids(vault.index, gap.text, owners, vault.clock(), vault.config)
    return not found <= set(gap.refs)


def _suggest_tags(vault: OpenVault, by: Actor) -> list[TagSuggestion]:
    """Suggest a tag for memories that were useful for the same question and share no tag: the
    longest word of the question that all of them contain."""
    found: dict[tuple[str, ...], TagSuggestion] = {}
    owners = access.readable(by)
    for recall in usage.recalls_of(vault, by):
        refs = tuple(sorted(recall.get("useful", [])))
        rows = read.by_ids(vault.index, refs, owners) if len(refs) > 1 else {}
        tags = [set(topics(row.tags)) for row in rows.values()]
        if len(rows) < 2 or set.intersection(*tags):
            continue
        words = [fold(word) for term in terms(str(recall["query"])) for word in term.words]
        texts = [{stem(word) for word in _WORD.findall(fold(row.text))} for row in rows.values()]
        common = [w for w in words if len(w) >= MIN_TAG and all(stem(w) in t for t in texts)]
        if tag := max(common, key=len, default=""):
            found[refs] = TagSuggestion(tag=tag, ids=sorted(rows), query=recall["query"])
    return list(found.values())
