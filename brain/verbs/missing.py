"""What is missing: questions that nothing was known about, and memories that want a tag."""

from __future__ import annotations

from contextlib import suppress

from brain import access
from brain.errors import NotFound
from brain.index import shelf
from brain.index.query import Filters
from brain.journal import Spool
from brain.lifecycle import tagging
from brain.recall.context import SCOPES
from brain.recall.search import search
from brain.recall.stems import stem
from brain.recall.terms import fold, terms
from brain.recall.ties import topics
from brain.verbs import afterwards, who

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.api import Brain
    from brain.verbs.answer import Shape


def gaps(brain: Brain, agent: str = "", every: bool = False) -> list[Shape]:
    """Questions that nothing was known about, the most frequent first; without `every`, only those
    that still find nothing."""
    brain.refresh()
    found: dict[str, Shape] = {}
    for ref, question, whose, times, at in _asked(brain):
        if agent and whose != agent:
            continue
        empty = {"id": ref, "query": question, "agent": whose or None, "count": 0, "last": ""}
        one = found.setdefault(ref, empty)
        one["count"] += times
        one["last"] = max(one["last"], at)
    shapes = [
        one | {"open": not _finds(brain, one["query"], one["agent"])} for one in found.values()
    ]
    shapes.sort(key=lambda one: (-one["count"], one["last"], one["id"]))
    return [one for one in shapes if every or one["open"]]


def _asked(brain: Brain) -> list[tuple[str, str, str, int, str]]:
    """(id, question, agent, times, last) of what is on record, and of what waits to be."""
    found = []
    for record in brain.journal.records(ops=("gap",)):
        said = record.data
        count = said.get("count")
        found.append((
            record.ref, str(said.get("query", "")), str(said.get("agent", "")),
            count if isinstance(count, int) else 1, str(said.get("last") or record.at),
        ))  # fmt: skip
    for waits in Spool(brain.vault.state_path).waiting(brain.journal):
        if waits.op == "gap":
            found.append((waits.ref, waits.said, waits.other, waits.times, waits.at))
    return found


def _finds(brain: Brain, question: str, agent: str | None) -> bool:
    """Does the one for whom it was asked find anything now?"""
    owners = None
    if agent:
        with suppress(NotFound):  # who is gone has left its question to everybody
            owners = access.readable(who.actor(brain, agent))
    filters = Filters(scopes=SCOPES, owners=owners)
    return bool(search(brain.index, question, filters, 1, brain.clock(), brain.config))


def tags(brain: Brain) -> list[Shape]:
    """Memories that were useful for one question and have no tag in common, with the tag that they
    want. Nothing is written: `brain tag` does that."""
    found: dict[tuple[str, ...], Shape] = {}
    for recall in afterwards.state(brain).get("last", []):
        refs = tuple(sorted(recall.get("useful", [])))
        rows = shelf.by_refs(brain.index, refs, None) if len(refs) > 1 else {}
        if len(rows) < 2 or _share_a_tag([row.tags for row in rows.values()]):
            continue
        words = [fold(word) for term in terms(str(recall["query"])) for word in term.words]
        texts = [fold(row.text) for row in rows.values()]
        if tag := tagging.infer(words, texts, stem):
            found[refs] = {"tag": tag, "ids": sorted(rows), "query": recall["query"]}
    return list(found.values())


def _share_a_tag(every: list[str]) -> bool:
    return bool(set.intersection(*(set(topics(tags)) for tags in every)))
