"""The pipeline behind `recall`: from a question to the entries that belong into a prompt.

Search gives at most 500 candidates; those that hold too little of the question go; what makes a
memory fit weighs the others; the best pull in what they are tied to; what is superseded gives way;
the weakest are dropped, no session has more than its share, nothing is said twice, and the first
few are kept. Pinned memories, warnings whose trigger occurs, summaries and tasks come without being
searched for.
"""

from __future__ import annotations

from datetime import datetime

from brain.config import Config
from brain.index import query, shelf
from brain.index.query import Filters, Row
from brain.recall import graph, ranking, share, sifting, triggers
from brain.recall.ranking import Looked, Ranked
from brain.recall.weighing import Request, Scale, Weighed
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from brain.index.db import Index
    from brain.recall.similar import Meaning

    Rerank = Callable[[str, list["Weighed"]], list["Weighed"]]

SUMMARIES, TASKS = 10, 20  # at most; the budget decides how many of them are shown
TURN = 0.5  # of the share that a memory must hold is enough for a turn
_TIED = ("memory", "items")
_TRIGGERS = ("trigger", "triggers")


class Recalled(NamedTuple):
    """What belongs into a prompt, before anybody counts tokens."""

    warnings: list[tuple[Weighed, str]]  # each with the trigger that was met
    pinned: list[Weighed]
    memories: list[Weighed]
    summaries: list[Weighed]
    tasks: list[Weighed]
    opposites: dict[str, list[str]]  # ids of memories at odds
    considered: int  # how many candidates there were
    rejected: list[str]  # ids that the reranker took out
    late: bool = False  # there was no time to follow ties
    asks: bool = False  # there is something in the question that one could know
    answered: bool = False  # something fits it
    notes: tuple[str, ...] = ()  # what to say of it


NOTHING = Recalled([], [], [], [], [], {}, 0, [])


class Found(NamedTuple):
    """What a search found, and how many of it there were before those that do not fit went."""

    every: list[Weighed]
    considered: int
    asks: bool
    is_near: bool = False  # found by words near those of the question, which is no answer
    note: str = ""


def recall(
    index: Index,
    request: Request,
    now: datetime,
    config: Config,
    rerank: Rerank | None = None,
    late: Callable[[], bool] = lambda: False,
    meaning: Meaning | None = None,
) -> Recalled:
    """The entries for a request. Same index, request and clock: same answer, unless `late` says
    that time is up, or the reranker has a mind of its own."""
    scale, owners = Scale(index, request, now, config), request.owners
    found = _found(scale, meaning)
    every, is_late = found.every, late()
    if not is_late:
        every = _merged(every, _tied(scale, every))
    every = sorted(_current(scale, every), key=_order)
    kept, failed = _reranked(rerank, request.query, every)
    rejected = sifting.left_out(every[: config.topK], kept)
    known = {one.row.id: one for one in every}
    warnings = [(known.get(one.row.id, one), said) for one, said in _warnings(scale)]
    met = [one for one, _ in warnings]
    pinned = _standing(scale, shelf.pinned(index, owners, -1))[: config.maxPinned]
    pinned = [known.get(one.row.id, one) for one in sifting.without(pinned, met)]
    best = sifting.distinct(sifting.without(kept, [*pinned, *met]), [*met, *pinned], config.topK)
    chosen = sifting.diverse(sifting.strong(best, config), config)[: config.injectionTopN]
    summaries = scale.weigh(shelf.summaries(index, owners, SUMMARIES))
    summaries = sifting.without(summaries, [*chosen, *pinned, *met])
    memories, opposites = _paired(scale, chosen, [*met, *pinned, *summaries])
    tasks = scale.weigh(shelf.open_tasks(index, owners, TASKS)) if request.tasks else []
    return Recalled(
        warnings, pinned, memories, summaries, tasks, opposites, found.considered, rejected,
        is_late, found.asks, bool(kept) and not found.is_near,
        tuple(note for note in (found.note, failed) if note),
    )  # fmt: skip


def answers(
    index: Index, question: str, owners: tuple[str, ...] | None, now: datetime, config: Config
) -> set[str]:
    """The ids of what fits a question, as far as a context would look for it by words."""
    found = _found(Scale(index, Request(question, owners=owners), now, config), None)
    return set() if found.is_near else {one.row.ref for one in found.every}


def _found(scale: Scale, meaning: Meaning | None) -> Found:
    """What the search finds and what fits the question, the best first."""
    request, config = scale.request, scale.config
    filters = Filters(scopes=request.scopes, owners=request.owners, superseded=True)
    most = config.candidateLimit
    looked = ranking.looked(scale.index, request.query, filters, most, scale.now, config, meaning)
    looked = looked._replace(found=looked.found[:most])
    held = share.shares(scale.index, looked, config.similarityThreshold)
    lift = max(1.0, config.sameFileFactor) if request.files else 1.0
    some = [one for one in looked.found if _fits(one, held, lift, config)]
    some = _worth_reading(some, request, config)
    rows = query.rows(scale.index, [one.candidate.id for one in some])
    every = [
        weighed._replace(factors=one.factors, exact=one.exact)
        for weighed, one in zip(scale.weigh(rows), some, strict=True)
        if lift == 1 or _fits(one, held, weighed.fitness.affinity, config)
    ]
    note = _note(looked, every)
    every.sort(key=_order)
    return Found(every, len(looked.found), share.asks(looked), bool(looked.near), note)


def _fits(one: Ranked, held: Mapping[int, float], lift: float, config: Config) -> bool:
    """Does it hold enough of the question? A note needs more: it is long, and holds some of the
    words of anything. A turn needs less: it leans on the turns around it, and is only looked at
    where somebody wants turns. So does what is about an open file."""
    scope = one.candidate.scope
    least = config.leastNoteShare if scope == "sources" else config.leastShare
    return held[one.candidate.id] * lift >= least * (TURN if scope == "sessions" else 1.0)


def _note(looked: Looked, every: Iterable[Weighed]) -> str:
    """What `search` would say of it."""
    if not looked.near:
        return looked.note if every else ""
    from brain.recall import fuzzy

    texts = [f"{o.row.heading} {o.row.text} {o.row.tags} {o.row.path}" for o in every]
    return fuzzy.note(looked.near, texts) if texts else ""


def _reranked(
    rerank: Rerank | None, question: str, every: list[Weighed]
) -> tuple[list[Weighed], str]:
    """(what a reranker makes of it, what to say): if it fails, the order before it stays."""
    if rerank is None:
        return every, ""
    try:
        kept = list(rerank(question, list(every)))
    except Exception as error:  # it is the caller's own code
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        return every, f"The reranker failed ({said}); the order before it stays."
    if not all(isinstance(one, Weighed) for one in kept):
        return every, "The reranker gave back something else; the order before it stays."
    return kept, ""


def _worth_reading(found: list[Ranked], request: Request, config: Config) -> list[Ranked]:
    """Without notes that no factor can bring among the best any more: they are long to read."""
    notes = [one for one in found if one.candidate.scope == "sources"]
    if len(notes) <= 2 * config.topK:
        return found
    lift = config.sameFileFactor if request.files else 1.0
    least = notes[2 * config.topK - 1].factors.rank
    gone = {n.candidate.id for n in notes[2 * config.topK :] if n.factors.rank * lift <= least}
    return [one for one in found if one.candidate.id not in gone]


def _order(one: Weighed) -> tuple[int, bool, float, str, int, str]:
    """What only shares a tag or a note with one that fits comes behind all that fit."""
    is_loose = one.factors is None and len(one.steps) > 1
    return (-one.exact, is_loose, -one.score, one.row.path, one.row.line, one.row.ref)


def _tied(scale: Scale, every: Sequence[Weighed]) -> list[Weighed]:
    """What the best are tied to."""
    best = [one for one in every if one.row.scope in _TIED][: scale.config.cascadeSeeds]
    seeds = {one.row.ref: one.score for one in reversed(best)}
    if not seeds:
        return []
    reached = graph.cascade(scale.index, seeds, scale.request.owners, scale.config)
    away = {ref: what for ref, what in reached.items() if what.via}
    givers = {one.row.ref: one for one in reversed(best)}
    return [
        one._replace(
            handed=away[ref].score,
            via=away[ref].via,
            giver=givers[away[ref].seed],
            steps=away[ref].steps,
        )
        for ref, one in scale.named(away).items()
    ]


def _merged(every: Iterable[Weighed], tied: Iterable[Weighed]) -> list[Weighed]:
    """Each entry once; one that was found both ways keeps the better score."""
    found = {one.row.id: one for one in every}
    for one in tied:
        was = found.get(one.row.id)
        if was is None:
            found[one.row.id] = one
        elif one.handed > was.score:
            found[one.row.id] = was._replace(
                handed=one.handed, via=one.via, giver=one.giver, steps=one.steps
            )
    return list(found.values())


def _current(scale: Scale, every: list[Weighed]) -> list[Weighed]:
    """What is superseded gives way to what is in its place now, with its score."""
    memories = [one.row.ref for one in every if one.row.scope == "memory"]
    ends = graph.current(scale.index, memories, scale.request.owners)
    if not ends:
        return every
    old = [one for one in every if one.row.scope == "memory" and one.row.ref in ends]
    new = scale.named(ends.values())
    best: dict[int, Weighed] = {}
    for one in sorted(old, key=_order):
        if instead := new.get(ends[one.row.ref]):
            via = f"supersedes {one.row.ref}"
            handed = instead._replace(handed=one.score, via=via, exact=one.exact, giver=one)
            best.setdefault(instead.row.id, handed)
    return _merged(sifting.without(every, old), best.values())


def _warnings(scale: Scale) -> list[tuple[Weighed, str]]:
    """Negative memories whose trigger occurs in the question or in what is worked on."""
    request = scale.request
    rows = [row for row in shelf.negative(scale.index, request.owners) if row.extra]
    if not rows:
        return []
    said = triggers.heard(request.query, request.text)
    met = {row.id: triggers.triggered(_triggers(row), said) for row in rows}
    found = _standing(scale, [row for row in rows if met[row.id]])
    return [(one, met[one.row.id]) for one in found]


def _standing(scale: Scale, rows: list[Row]) -> list[Weighed]:
    """Those of these memories that no other one supersedes."""
    refs = [row.ref for row in rows]
    gone = graph.current(scale.index, refs, scale.request.owners) if refs else {}
    return scale.weigh([row for row in rows if row.ref not in gone])


def _triggers(row: Row) -> str:
    import json

    fields = json.loads(row.extra).get("fields", {}) if row.extra else {}
    return ",".join(str(said) for key, said in fields.items() if key.casefold() in _TRIGGERS)


def _paired(
    scale: Scale, memories: list[Weighed], unasked: list[Weighed]
) -> tuple[list[Weighed], dict[str, list[str]]]:
    """Memories with those that contradict them right behind, then those that contradict what comes
    without being asked for; and who is at odds with whom."""
    shown = [*memories, *unasked]
    refs = [one.row.ref for one in shown if one.row.scope == "memory"]
    opposites = graph.opposites(scale.index, refs, scale.request.owners) if refs else {}
    if not opposites:
        return memories, {}
    there = {one.row.ref for one in shown}
    missing = scale.named(ref for refs in opposites.values() for ref in refs if ref not in there)
    out: list[Weighed] = []
    for at, one in enumerate(shown):
        if at < len(memories):
            out.append(one)
        for ref in opposites.get(one.row.ref, ()):
            if other := missing.pop(ref, None):
                via = f"contradicts {one.row.ref}"
                out.append(other._replace(handed=one.score, via=via, exact=one.exact, giver=one))
    for ref, others in list(opposites.items()):
        for its in set(others) - there:
            opposites.setdefault(its, []).append(ref)
    return out, opposites
