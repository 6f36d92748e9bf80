"""From some memories to those that are tied to them, from what is superseded to what took its
place, and from one side of a contradiction to the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brain.index import graph as ask
from brain.recall.steps import Walk
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.config import Config
    from brain.index.db import Index
    from brain.recall.steps import Layer
    from brain.recall.ties import Owners

    Step = tuple[float, float]


class Reached(NamedTuple):
    """What the cascade came to: its score, how many steps away, over which tie, in words; the seed
    that it started from, and the weight and decay of each step."""

    score: float
    depth: int
    via: str
    seed: str = ""
    steps: tuple[Step, ...] = ()


def cascade(
    index: Index,
    seeds: Mapping[str, float],
    owners: Owners,
    config: Config,
) -> dict[str, Reached]:
    """The seeds, given by id with their scores, and the memories and items that they are tied to.

    From a memory to its tag is one step, from there to another memory a second one. After step d
    a score is the one before x the tie's weight x cascadeDecay^d, and the highest is kept. What is
    superseded gives way to what took its place, which gets its score. One index and the same
    seeds have one answer, in whatever order anything is stored.
    """
    walk = Walk(index, owners, config)
    layer = _start(walk, seeds)
    reached = {name: Reached(score, 0, "", trail[0]) for name, (score, _, trail) in layer.items()}
    for depth in range(1, walk.depth + 1):
        layer = walk.further(layer, depth)
        for name, (score, why, (seed, *steps)) in layer.items():
            if name in walk.shown and (name not in reached or score > reached[name].score):
                reached[name] = Reached(score, depth, why, seed, tuple(steps))
    found = {walk.shown[name]: what for name, what in reached.items()}
    return _giving_way(found, successors(index, found, owners))


def _start(walk: Walk, seeds: Mapping[str, float]) -> Layer:
    """The seeds that may be seen; of several ids of one memory the best score counts."""
    layer: Layer = {}
    walk.meet(map(walk.name, seeds))
    for ref, score in seeds.items():
        name = walk.name(ref)
        if name in walk.shown and (name not in layer or score > layer[name][0]):
            layer[name] = (score, "", (ref,))
    return layer


def _giving_way(reached: dict[str, Reached], ends: Mapping[str, str]) -> dict[str, Reached]:
    kept = {ref: found for ref, found in reached.items() if ref not in ends}
    for ref, end in sorted(ends.items()):
        old = reached[ref]
        if end not in kept or old.score > kept[end].score:
            why = f"supersedes {ref}" + (f", {old.via}" if old.via else "")
            kept[end] = old._replace(via=why)
    return kept


def successors(index: Index, refs: Iterable[str], owners: Owners = None) -> dict[str, str]:
    """For those of these memories that are superseded, what is in their place now: followed to
    the end, each time to the newest that says so (of two from one day, to the smaller id).

    Memories that supersede each other in a circle are all still there: none of them is in the
    answer, and what leads into the circle ends where it enters it.
    """
    names = dict(ask.renamed(index))
    newest: dict[str, str] = {}
    rows = sorted(ask.relations(index, "supersedes", owners))
    for new, old, _ in sorted(rows, key=lambda row: row[2], reverse=True):
        if names.get(new, new) != names.get(old, old):
            newest.setdefault(names.get(old, old), new)
    ends = ((ref, _end(names.get(ref, ref), newest, names)) for ref in refs)
    return {ref: end for ref, end in ends if end}


def _end(ref: str, newest: Mapping[str, str], names: Mapping[str, str]) -> str:
    """The last that supersedes an entry, '' if it stays."""
    seen = [ref]
    end = ""
    while seen[-1] in newest:
        end = newest[seen[-1]]
        name = names.get(end, end)
        if name in seen:
            return "" if name == ref else end
        seen.append(name)
    return end


def contradictions(
    index: Index, refs: Iterable[str], owners: Owners = None
) -> dict[str, list[str]]:
    """For those of these memories that contradict others, or are contradicted, the others. What is
    superseded contradicts nothing any more."""
    names = dict(ask.renamed(index))
    pairs = [
        (names.get(ref, ref), names.get(other, other))
        for ref, other, _ in ask.relations(index, "contradicts", owners)
    ]
    gone = successors(index, {side for pair in pairs for side in pair}, owners) if pairs else {}
    pairs = [pair for pair in pairs if not gone.keys() & set(pair)]
    sides = {side for pair in pairs for side in pair}
    ids = sides.union(ref for ref, name in names.items() if name in sides)
    there: dict[str, str] = {}
    for ref in sorted(ask.present(index, ids, owners)):
        there.setdefault(names.get(ref, ref), ref)
    found: dict[str, set[str]] = {}
    for one, other in [*pairs, *((other, one) for one, other in pairs)]:
        if one != other and one in there and other in there:
            found.setdefault(one, set()).add(there[other])
    asked = ((ref, found.get(names.get(ref, ref), set())) for ref in refs)
    return {ref: sorted(others) for ref, others in asked if others}
