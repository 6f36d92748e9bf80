"""What is kept of what was found, the best first: nothing twice, no session too often, not the
weakest."""

from __future__ import annotations

from brain.config import Config
from brain.index.query import Row
from brain.recall import about
from brain.recall.snippet import body_at
from brain.recall.weighing import Weighed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def without(some: Iterable[Weighed], others: Iterable[Weighed]) -> list[Weighed]:
    there = {one.row.id for one in others}
    return [one for one in some if one.row.id not in there]


def left_out(before: Iterable[Weighed], after: Iterable[Weighed]) -> list[str]:
    return [one.row.ref for one in without(before, after)]


def strong(best: list[Weighed], config: Config) -> list[Weighed]:
    """Without the weakest of them."""
    return best[: len(best) - int(len(best) * config.dropShare)]


def diverse(best: Iterable[Weighed], config: Config) -> list[Weighed]:
    """No session has more than its share; what is of none may come as often as it likes."""
    counts: dict[str, int] = {}
    kept = []
    for one in best:
        session = _session(one)
        counts[session] = counts.get(session, 0) + 1
        if not session or counts[session] <= config.maxPerSource:
            kept.append(one)
    return kept


def _session(one: Weighed) -> str:
    """The session that it was said or learned in; '' if there is none."""
    return one.row.path if one.row.scope == "sessions" else one.known.session


def distinct(some: Iterable[Weighed], before: Iterable[Weighed], most: int) -> list[Weighed]:
    """The first of these, without what says the same, to the word, as one before it."""
    said = {_said(one.row) for one in before}
    kept: list[Weighed] = []
    for one in some:
        if len(kept) == most:
            break
        if (words := _said(one.row)) not in said:
            said.add(words)
            kept.append(one)
    return kept


def _said(row: Row) -> tuple[str, str]:
    """What an entry says; of a turn, who says it, too."""
    if row.scope == "sources":
        return "", " ".join(row.text[body_at(row.text) :].split())
    speaker = row.heading if row.scope == "sessions" else ""
    return speaker, " ".join(about.without_fields(row.text).split())
