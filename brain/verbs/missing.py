"""What is missing: questions that nothing was known about, and memories that want a tag."""

from __future__ import annotations

from contextlib import suppress

from brain import access
from brain.context.recall import answer_ids
from brain.errors import NotFound
from brain.graph.edges import topics
from brain.index import read, records
from brain.lifecycle import tagging
from brain.operations.results import Gap, Gaps, TagSuggestion
from brain.recall.stems import stem
from brain.recall.terms import fold, terms
from brain.state import Use
from brain.verbs import afterwards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault


def gaps(vault: OpenVault, *, all: bool = False, agent: str = "", by: Actor | str = "") -> Gaps:
    """Return questions that had no answer, the most frequent first; with `all`, also those that
    have one now. An agent gets its own. Also suggest tags."""
    actor = access.resolve(vault, by)
    found = [Gap(**each) for each in _gaps(vault, agent, all, actor)]
    return Gaps(gaps=found, tags=[TagSuggestion(**each) for each in tags(vault, actor)])


def _gaps(vault: OpenVault, agent: str, every: bool, by: Actor) -> list[dict[str, Any]]:
    vault.refresh()
    found: dict[tuple[str, str], dict[str, Any]] = {}
    refs: dict[tuple[str, str], tuple[str, ...]] = {}
    for gap in _asked(vault):
        key = gap.ref, gap.other
        if (agent and gap.other != agent) or not _may_know(by, gap.other):
            continue
        said = {"query": gap.text, "agent": gap.other or None}
        one = found.setdefault(key, {"id": gap.ref, **said, "count": 0, "last": ""})
        one["count"] += gap.times
        if gap.last >= one["last"]:
            one["last"], refs[key] = gap.last, gap.refs
    shapes = [one | {"open": not _finds(vault, one, refs[key])} for key, one in found.items()]
    shapes.sort(key=lambda one: (-one["count"], one["last"], one["id"], one["agent"] or ""))
    return [one for one in shapes if every or one["open"]]


def _may_know(by: Actor, asker: str) -> bool:
    return access.readable(by) is None or asker == by.name


def _asked(vault: OpenVault) -> list[Use]:
    """Return the gaps of the journal, and those that are not in it yet. `other` is who asked."""
    found = [
        Use(
            op="gap",
            ref=record.ref,
            other=str(record.data.get("agent", "")),
            times=records.count_of(record),
            last=str(record.data.get("last") or record.at),
            text=str(record.data.get("query", "")),
            refs=tuple(map(str, record.data.get("refs", ()))),
        )
        for record in records.select(vault.index, ops=("gap",))
    ]
    return found + [use for use in vault.journal.pending_uses() if use.op == "gap"]


def _finds(vault: OpenVault, gap: dict[str, Any], refs: Collection[str]) -> bool:
    """Does the one for whom it was asked find anything now but what was no answer?"""
    question, agent = gap["query"], gap["agent"]
    owners = None
    if agent:
        with suppress(NotFound):  # who is gone has left its question to everybody
            owners = access.readable(access.resolve(vault, agent))
    found = answer_ids(vault.index, question, owners, vault.clock(), vault.config)
    return not found <= set(refs)


def tags(vault: OpenVault, by: Actor) -> list[dict[str, Any]]:
    """Memories that were useful for one question and have no tag in common, with the tag that they
    want. Nothing is written: `brain tag` does that."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    owners = access.readable(by)
    for recall in afterwards.seen(vault, by):
        refs = tuple(sorted(recall.get("useful", [])))
        rows = read.by_ids(vault.index, refs, owners) if len(refs) > 1 else {}
        if len(rows) < 2 or _share_a_tag([row.tags for row in rows.values()]):
            continue
        words = [fold(word) for term in terms(str(recall["query"])) for word in term.words]
        texts = [fold(row.text) for row in rows.values()]
        if tag := tagging.infer(words, texts, stem):
            found[refs] = {"tag": tag, "ids": sorted(rows), "query": recall["query"]}
    return list(found.values())


def _share_a_tag(every: list[str]) -> bool:
    return bool(set.intersection(*(set(topics(tags)) for tags in every)))
