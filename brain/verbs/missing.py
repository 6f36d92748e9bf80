"""What is missing: questions that nothing was known about, and memories that want a tag."""

from __future__ import annotations

from brain.index.query import Filters
from brain.journal import Spool
from brain.recall.search import search

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
    shapes = [one | {"open": not _finds(brain, one["query"])} for one in found.values()]
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


def _finds(brain: Brain, question: str) -> bool:
    from brain.recall.context import SCOPES

    filters = Filters(scopes=SCOPES)
    return bool(search(brain.index, question, filters, 1, brain.clock(), brain.config))
