"""The steps of a cascade: from memories over their ties to what lies one step further.

Every question to the index is asked once for a whole layer, never for a single memory. Inside,
a memory goes by the smallest id that it ever had; `shown` has the one that it has now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brain.index import graph as ask
from brain.recall import ties
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.config import Config
    from brain.index.db import Index
    from brain.recall.ties import Owners, Pair

    # the score of a memory with its reason, of a way with where it starts; and how one came there:
    # the seed, and weight and decay of each step
    Layer = dict[str, tuple[float, str, tuple[Any, ...]]]

TAG, NOTE, _ = ties.WAYS
MOST_STEPS = 6  # after so many, with the usual weights, less than a hundred-thousandth is left
# what is said of the memory at the other end: of one that is pointed to, of one that points
_WORDS = {
    "relates_to": ("related to", "related to"),
    "link": ("linked from", "links to"),
    "supersedes": ("superseded by", "supersedes"),
    "contradicts": ("contradicts", "contradicts"),
    "derived_from": ("source of", "derived from"),
}


class Step(NamedTuple):
    """To a memory, or to a way: a tag or a note between two of them."""

    to: str
    weight: float
    words: str = ""


class Walk:
    """The ties of those memories that a cascade comes to, of all that `owners` have."""

    def __init__(self, index: Index, owners: Owners, config: Config) -> None:
        self.index, self.owners, self.config = index, owners, config
        self.depth = min(config.cascadeDepth, MOST_STEPS)
        self.weights = ties.weights(config)
        self.names = dict(ask.renamed(index))
        self.shown: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self.most = ties.most(ask.count(index, owners, 2 * ties.MOST))
        self.direct: dict[str, list[tuple[str, str, str]]] = {}  # (kind, other, words)
        self.pointing: list[Pair] = []  # a note, and a memory that it links to
        self._read_blocks()

    def name(self, ref: str) -> str:
        return self.names.get(ref, ref)

    def _read_blocks(self) -> None:
        name = self.names.get
        for ref, said, block in ask.blocks(self.index, self.owners):
            one, other = name(ref, ref), name(block, block)
            if one != other:
                kind = "link" if said == "embed" else said
                to, back = _WORDS[kind]
                self.direct.setdefault(one, []).append((kind, other, to))
                self.direct.setdefault(other, []).append((kind, one, back))
        for path, block in ask.pointing(self.index, self.owners):
            self.pointing.append((ties.spelled(path), name(block, block)))

    def meet(self, names: Iterable[str]) -> None:
        """Learn which of these may be seen, and what tags they carry."""
        new = set(names) - self.tags.keys()
        for ref, tags in ask.tags(self.index, self._ids(new), self.owners) if new else ():
            name = self.name(ref)
            if not _is_way(ref):
                self.shown[name] = min(ref, self.shown.get(name, ref))
                self.tags[name] = self.tags.get(name, "") + tags

    def _ids(self, names: set[str]) -> set[str]:
        """All ids that these entries ever had."""
        return names.union(ref for ref, name in self.names.items() if name in names)

    def further(self, layer: Layer, depth: int) -> Layer:
        """The best score of everything that is one step further, with its reason."""
        found: dict[str, Any] = {}
        decay = self.config.cascadeDecay**depth
        steps = self._steps(layer, last=depth == self.depth)
        ends = {step.to for every in steps.values() for step in every} - self.shown.keys()
        self.meet(node for node in ends if not _is_way(node))
        for node in sorted(layer):
            score, said, trail = layer[node]
            start = said if _is_way(node) else node
            for to, weight, words in steps.get(node, ()):
                if to != start and (to in self.shown or _is_way(to)):
                    why = f"{words} {self.shown[start]}" if words else start
                    new = (-score * weight * decay, why, (*trail, (weight, decay)))
                    found[to] = min(new, found.get(to, new))
        return {to: (-score, why, trail) for to, (score, why, trail) in found.items()}

    def _steps(self, layer: Layer, last: bool) -> dict[str, list[Step]]:
        ways = {node for node in layer if _is_way(node)}
        memories = layer.keys() - ways
        steps = self._direct(memories)
        found = [] if last else [*self._to_ways(memories)]  # the last step is one to a memory
        for node, step in [*found, *self._from_ways(ways)]:
            steps.setdefault(node, []).append(step)
        return steps

    def _direct(self, memories: set[str]) -> dict[str, list[Step]]:
        """The strongest ties of each of these with other memories."""
        found: dict[str, list[Step]] = {name: [] for name in memories}
        times = self._together(memories)
        for (name, other), count in times.items():
            found[name].append(Step(other, self._weight("learned", count), "learned with"))
        for name in memories:
            for kind, other, words in self.direct.get(name, ()):
                weight = self._weight(kind, times.get((name, other), 0.0))
                found[name].append(Step(other, weight, words))
        for steps in found.values():
            steps.sort(key=lambda step: (-step.weight, step.to, step.words))
            del steps[ties.MOST :]
        return found

    def _weight(self, kind: str, times: float = 0.0) -> float:
        return ties.weight(self.weights, kind, times)

    def _together(self, memories: set[str]) -> dict[Pair, float]:
        """How often each of these was put to use along with another one, seen from it."""
        ids = self._ids(memories)
        pairs = ties.together(
            ask.learned(self.index, ids, waiting=False) if ids else (), self.names
        )
        both = pairs | {(other, name): times for (name, other), times in pairs.items()}
        return {pair: times for pair, times in both.items() if pair[0] in memories}

    def _to_ways(self, memories: set[str]) -> Iterator[tuple[str, Step]]:
        self.meet(memories)
        for name in memories:
            for tag in ties.topics(self.tags[name]):
                yield name, Step(TAG + tag, self.config.tagEdge)
        for name, kind, note in self._named(
            ask.links(self.index, self.owners, self._ids(memories))
        ):
            yield name, Step(NOTE + note, self._weight(kind))
        for note, name in self.pointing:
            if name in memories:
                yield name, Step(NOTE + note, self._weight("link"))

    def _named(self, rows: list[tuple[str, str, str, str]]) -> Iterator[tuple[str, str, str]]:
        """(memory, kind, note): which notes links name. One that holds the id of a memory names
        that."""
        blocks = {self.name(fragment[1:]) for *_, fragment in rows if fragment.startswith("^")}
        self.meet(blocks)
        for ref, kind, target, fragment in rows:
            is_memory = fragment.startswith("^") and self.name(fragment[1:]) in self.shown
            if not is_memory and not _is_way(ref) and ties.is_note(target, fragment):
                yield self.name(ref), "link" if kind == "embed" else kind, ties.spelled(target)

    def _from_ways(self, ways: set[str]) -> Iterator[tuple[str, Step]]:
        """From tags and notes to those that carry them, if they are not too many."""
        tags = {way.removeprefix(TAG) for way in ways if way.startswith(TAG)}
        for tag, names in self._carriers(tags).items():
            for name in names if len(names) <= self.most else ():
                yield TAG + tag, Step(name, self.config.tagEdge, f"tag #{tag} of")
        notes = {way.removeprefix(NOTE) for way in ways if way.startswith(NOTE)}
        for note, named in self._naming(notes).items():
            for name, weight in named.items() if len(named) <= self.most else ():
                yield NOTE + note, Step(name, weight, f"note {ties.name_of(note)} of")

    def _carriers(self, tags: set[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {tag: set() for tag in tags}
        among: dict[str, set[str]] = {}  # of the tags as they stand there, which are often the same
        for ref, said in ask.tagged(self.index, self.owners) if tags else ():
            if said not in among:
                among[said] = tags.intersection(said.casefold().split())
            if among[said] and not _is_way(ref):
                for tag in among[said]:
                    found[tag].add(self.name(ref))
                if ref not in self.names:
                    self.shown[ref] = ref  # of others, meeting them tells
        return found

    def _naming(self, notes: set[str]) -> dict[str, dict[str, float]]:
        """The memories that name each of these notes, or are named by it, in whatever spelling."""
        wanted = set(map(ties.name_of, notes))
        rows = ask.naming(self.index, wanted, self.owners) if notes else []
        every = [*self._named(rows), *((name, "link", note) for note, name in self.pointing)]
        named = [tie for tie in every if ties.name_of(tie[2]) in wanted]
        known = ties.longest([*notes, *(note for *_, note in named)])
        found: dict[str, dict[str, float]] = {known[note]: {} for note in notes}
        for name, kind, note in named:
            if known[note] in found:
                here = found[known[note]]
                here[name] = max(here.get(name, 0.0), self._weight(kind))
        return {note: found[known[note]] for note in notes}


def _is_way(node: str) -> bool:
    return node.startswith(ties.WAYS)
