"""The token budget of a context: its size, its shares, and the parts that fit into them.

The total is a share of the remaining context of the model. Warnings and pinned memories, the
current task and summaries each have a share. Retrieval takes the rest: memories first, then the
best passages of notes; the last tokens name further notes. Tokens that are left go to parts that
had no room before. The tokens of the rendered text are counted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from brain._tuples import NamedTuple
from brain.config import Config
from brain.context import render
from brain.context.parts import LEFT_OUT, SECTIONS, Conflict, Package, Part, with_conflicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

Count = Callable[[str], int]
BUDGET_SHARE = 0.08  # of the remaining context
NAMES = 200  # tokens at the end that name further notes
NAMES_KEPT = 20  # notes for whose names tokens are left
MOST_NAMED = 60  # notes, shown or named
LINE = 40  # tokens for the round and the ids that had no room
LEAST_CUT = 40  # tokens below which a part is left out rather than cut
SEAM = 1  # more tokens that a part may take next to its neighbours
DENSEST = 6  # characters of a text that one token may stand for
DENSER = 1.5  # a text that would have to be so much denser than the densest before is not counted
CUT = " … "
NEAR = 40  # characters within which a cut looks for the end of a word
NAMED_IDS = 3  # ids of entries without room that the line of the round names
_ALONE = re.compile(r"(?:\A|(?<=\s))[^\w\s]+\Z")  # marks without a word
_DEFAULTS = Config()


class Tier(NamedTuple):
    """A tier of the budget and its sections."""

    share: float  # of the tokens that the tiers before this one leave
    least: int  # tokens
    most: int
    sections: tuple[str, ...]


TIERS = {
    "always": Tier(0.08, 200, 400, ("warnings", "pinned")),
    "bridge": Tier(0.5, 500, sys.maxsize, ("bridge",)),  # the current task
    "retrieval": Tier(0.65, 300, 1500, ("memories", "notes", "further")),
    "summary": Tier(1.0, 200, 600, ("summaries",)),
}
OWNERS = ("task", "project", "global")
DROP_ORDER = ("further", "summaries", "notes", "bridge", "memories", "pinned", "warnings")


class Allocation(NamedTuple):
    """The tokens for each tier. Their sum is never more than the total."""

    total: int
    always: int
    bridge: int
    retrieval: int
    summary: int


class Fitted(NamedTuple):
    """A context that fits its budget: `tokens` is never more than `allocation.total`."""

    package: Package
    text: str
    tokens: int
    used: dict[str, int]  # tokens of the parts, by tier
    left_out: dict[str, tuple[str, ...]]  # ids, by tier
    compression: float  # tokens of the kept parts, as a share of the tokens of all offered parts
    allocation: Allocation


def allocate(remaining: int, config: Config = _DEFAULTS) -> Allocation:
    """Return the allocation for `remaining` tokens of context."""
    return divide(min(_whole(remaining * BUDGET_SHARE), config.budgetCeiling))


def divide(total: int) -> Allocation:
    """Divide a budget among the tiers. If it is too small, the last tiers get less."""
    total = rest = max(0, total)
    sizes = []
    for tier in TIERS.values():
        sizes.append(min(max(_whole(rest * tier.share), tier.least), tier.most))
        rest = max(0, rest - sizes[-1])
    excess = sum(sizes) - total
    kept = []
    for size in reversed(sizes):
        kept.append(size - min(size, max(0, excess)))
        excess -= size
    return Allocation(total, *reversed(kept))


def _whole(value: float) -> int:
    """Round down, without errors of floating point: 8 % of 625 is 50."""
    return int(value + 1e-6)


def fit(
    package: Package,
    allocation: Allocation,
    format: str,
    count: Count,
    config: Config = _DEFAULTS,
) -> Fitted:
    """Return as much of a package as fits into the allocation: `count(text)` is never more than
    `allocation.total`.

    A part that contradicts another part is included with the marker that quotes both, or left out.
    """
    picks = _Picks(package, allocation.total, format, count)
    _fill(picks, package, allocation, config)
    while True:
        kept = package._replace(**picks.parts(), round=picks.line(package))
        kept = with_conflicts(kept, package.conflicts)
        text = render.render(kept, format)
        tokens = count(text)
        if tokens <= allocation.total or not picks.drop(tokens - allocation.total):
            break
    if tokens > allocation.total:
        kept, text, tokens = Package(package.query), "", 0
    used = {name: sum(map(picks.spent, tier.sections)) for name, tier in TIERS.items()}
    left = {
        name: tuple(id for section in tier.sections for id in picks.left_out(section))
        for name, tier in TIERS.items()
    }
    offered = picks.offered()
    share = min(1.0, sum(used.values()) / offered) if offered else 1.0
    return Fitted(kept, text, tokens, used, left, share if text else 0.0, allocation)


def _fill(picks: _Picks, package: Package, allocation: Allocation, config: Config) -> None:
    """Add the parts that have a fixed share, then memories and notes. The tokens that are left
    go to parts that did not fit in their share."""
    always = allocation.always
    always -= picks.take_each("warnings", package.warnings, always)
    picks.take_each("pinned", package.pinned, always)
    bridge = _ends_first(package.bridge, config.headTailPreserve)
    picks.take_each("bridge", bridge, allocation.bridge)
    picks.take_each("summaries", package.summaries, allocation.summary)
    shares = (config.taskShare, config.projectShare, config.globalShare)
    room = picks.room
    for owner, share in zip(OWNERS, shares, strict=True):
        own = [part for part in package.memories if part.tier == owner]
        picks.take_each("memories", own, int(room * share), cut=False)
    picks.take_each("memories", package.memories, picks.room)
    for name in ("warnings", "pinned"):
        picks.retake(name, getattr(package, name))
    picks.take_notes(package.notes)
    for name, parts in (("bridge", bridge), ("summaries", package.summaries)):
        picks.take_each(name, parts, picks.room)


def _ends_first(parts: tuple[Part, ...], keep: int) -> list[Part]:
    """Return the parts, ordered so that `keep` parts from each end come first, then the middle."""
    last = len(parts) - 1
    ends = [index for step in range(keep) for index in (step, last - step) if 0 <= index <= last]
    return [parts[index] for index in dict.fromkeys([*ends, *range(len(parts))])]


class _Picks:
    """The parts that are chosen so far, and the tokens that are left."""

    def __init__(self, package: Package, total: int, format: str, count: Count) -> None:
        self.format, self.count, self.package = render.find(format), count, package
        bare = Package(package.query, degraded=package.degraded)
        reserved = LINE if package.round else 0
        self.room = total - count(self.format.frame(bare, [])) - reserved - SEAM
        self.chosen: dict[str, dict[int, tuple[Part, int]]] = {name: {} for name in SECTIONS}
        self.costs: dict[tuple[str, Part], int] = {}
        self.pairs: dict[str, list[Conflict]] = {}
        self.marked: set[Conflict] = set()
        for pair in package.conflicts:
            for side in {pair.one, pair.other}:
                self.pairs.setdefault(side, []).append(pair)

    def cost(self, name: str, part: Part) -> int:
        """Return the tokens of a part in a section, without its conflicts."""
        if (tokens := self.costs.get((name, part))) is None:
            tokens = self.costs[name, part] = self.count(self.format.part(part, name)) + SEAM
        return tokens

    def _extra(self, name: str, part: Part) -> int:
        """Return the tokens that a part adds in addition to its own: the section's title and
        conflicts."""
        title = 0 if self.chosen[name] else self.count(self.format.section(name, [])) + 2 * SEAM
        pairs = [pair for pair in self.pairs.get(part.id, ()) if pair not in self.marked]
        if pairs and not self.marked:
            title += self.count(self.format.section("conflicts", [])) + 2 * SEAM
        marks = (self.count(self.format.conflict(render.marker(pair))) + SEAM for pair in pairs)
        return title + sum(marks)

    def take(self, name: str, index: int, part: Part, room: int) -> int:
        """Choose a part if it fits. Return its tokens, or 0."""
        extra = self._extra(name, part)
        if extra >= min(room, self.room):
            return 0
        tokens = self.cost(name, part) + extra
        if tokens > min(room, self.room):
            return 0
        self.marked.update(self.pairs.get(part.id, ()))
        self.chosen[name][index] = part, tokens
        self.room -= tokens
        return tokens

    def take_each(self, name: str, parts: Iterable[Part], room: int, cut: bool = True) -> int:
        """Choose the parts that fit, in order. A part that is longer than all available tokens is
        shortened. Return the tokens of the chosen parts."""
        used, whole, offered = 0, min(room, self.room), getattr(self.package, name)
        for part in parts:
            index, left = offered.index(part), min(room - used, self.room)
            if index in self.chosen[name] or left <= SEAM:
                continue
            tokens = self.take(name, index, part, left)
            if cut and not tokens and left >= LEAST_CUT and self.cost(name, part) > whole - SEAM:
                tokens = self._take_cut(name, index, part, left)
            used += tokens
        return used

    def _take_cut(self, name: str, index: int, part: Part, room: int) -> int:
        """Choose as much of the head and tail of a part as fits. Return the tokens, or 0."""
        whole, length = self.cost(name, part), _length(part)
        counted = min(length, 5 * whole)  # of a text that is far too long, only a part was counted
        share = (room - self._extra(name, part)) / whole * counted / max(1, length)
        for shrink in (0.9, 0.7, 0.5, 0.3):
            if length * share * shrink < LEAST_CUT:
                return 0
            if tokens := self.take(name, index, shortened(part, share * shrink), room):
                return tokens
        return 0

    def retake(self, name: str, parts: tuple[Part, ...]) -> None:
        """Choose the parts of a section again, with the tokens that are left."""
        if len(self.chosen[name]) < len(parts) or any(
            part != parts[index] for index, (part, _) in self.chosen[name].items()
        ):
            self.room += self.spent(name)
            self.chosen[name].clear()
            self.take_each(name, parts, self.room)

    def take_notes(self, notes: tuple[Part, ...]) -> None:
        """Choose the offered passages of notes and turns, in the order of the ranking. The last
        tokens name further notes, except that the best passage may take them all."""
        names = {
            index: Part("", "", "", "", part.path, 0, title=part.title)
            for index, part in enumerate(notes[:MOST_NAMED])
            if part.kind != "session" and part.path not in self.package.shown
        }
        costs = (self.cost("further", name) for name in [*names.values()][1:NAMES_KEPT])
        kept = min(NAMES, sum(costs), self.room // 2)
        taken: dict[int, list[int]] = {}
        dense: float = DENSEST
        for _, index, number in _excerpts(notes):
            part, numbers = notes[index], [*taken.get(index, []), number]
            spare = kept if taken else 0
            if len(part.passages[number].text) > dense * (self.room - spare):
                continue
            passages = tuple(part.passages[each] for each in numbers)
            if part.kind == "session":  # in the order of the conversation
                passages = tuple(sorted(passages, key=lambda passage: passage.line))
            before = self.chosen["notes"].get(index)
            self.room += before[1] if before else 0
            shown = part._replace(id=part.passages[numbers[0]].id, passages=passages)
            if tokens := self.take("notes", index, shown, self.room - spare):
                letters = DENSER * sum(len(passage.text) for passage in passages) / tokens
                dense = max(dense, letters) if taken else letters
                taken[index] = numbers
            elif before:
                self.chosen["notes"][index] = before
                self.room -= before[1]
        for index, name in names.items():
            if index not in taken:
                self.take("further", index, name, self.room)

    def parts(self) -> dict[str, Any]:
        """Return the chosen parts by section, in the order in which they were offered."""
        return {
            name: tuple(part for _, (part, _) in sorted(chosen.items()))
            for name, chosen in self.chosen.items()
        }

    def spent(self, name: str) -> int:
        """Return the tokens of the chosen parts of a section."""
        return sum(tokens for _, tokens in self.chosen[name].values())

    def offered(self) -> int:
        """Return the approximate tokens of all parts. Parts that were not counted are estimated by
        length."""
        tokens = sum(map(self.spent, SECTIONS))
        for name in SECTIONS:
            for index, part in enumerate(getattr(self.package, name)):
                whole = self.chosen[name].get(index, (None,))[0] == part
                texts = sum(len(passage.text) for passage in part.passages)
                if not whole and name != "notes":
                    tokens += self.costs.get((name, part)) or _length(part) // 3
                elif name == "notes" and index not in self.chosen[name]:
                    tokens += texts // 3
        return tokens

    def left_out(self, name: str) -> list[str]:
        """Return the ids of the parts of a section that had no room."""
        named = self.chosen["further"] if name == "notes" else {}
        offered = enumerate(getattr(self.package, name))
        return [
            p.id for index, p in offered if index not in self.chosen[name] and index not in named
        ]

    def line(self, package: Package) -> str:
        """Return the line of the round, with the memories and tasks that had no room."""
        missing = [id for name in SECTIONS if name != "notes" for id in self.left_out(name)]
        if not missing or not package.round:
            return package.round
        more = f" and {len(missing) - NAMED_IDS} more" if len(missing) > NAMED_IDS else ""
        return f"{package.round} No room for {', '.join(missing[:NAMED_IDS])}{more}."

    def drop(self, tokens: int) -> bool:
        """Drop parts with at least this number of tokens, the least important first. Return False
        if no part is left."""
        dropped = 0
        for name in DROP_ORDER:
            while self.chosen[name] and dropped < tokens:
                dropped += self.chosen[name].pop(max(self.chosen[name]))[1]
        return dropped > 0


def _excerpts(notes: tuple[Part, ...]) -> list[tuple[int, int, int]]:
    """Return (place in the ranking, note, passage) of the passages to choose from, sorted."""
    return sorted(
        (passage.place, index, number)
        for index, note in enumerate(notes[:MOST_NAMED])
        for number, passage in enumerate(note.passages)
    )


# -- cuts ------------------------------------------------------------------------------------------


def shortened(part: Part, share: float) -> Part:
    """Return a part with about this share of its text, from both ends of the text or of its
    steps."""
    room = int(_length(part) * share)
    if len(part.text) <= room // 2:
        return part._replace(steps=_ends(part.steps, room - len(part.text)))
    keep = min(room, len(part.text))
    head = keep * 2 // 3
    ends = _head(part.text, head), _tail(part.text, len(part.text) - (keep - head))
    return part._replace(text=CUT.join(ends), steps=())


def _head(text: str, stop: int) -> str:
    """Return the text up to the end of a word before `stop`, without half a link or a lone mark."""
    earliest = max(0, stop - NEAR)
    stop = _word_end(text, earliest, stop)
    opened = text.rfind("[[", earliest, stop)
    if opened >= 0 and text.find("]]", opened, stop) < 0:
        stop = _word_end(text, earliest, opened)
    return text[:earliest] + _ALONE.sub("", text[earliest:stop].rstrip())


def _word_end(text: str, earliest: int, stop: int) -> int:
    if not text[stop : stop + 1].strip():
        return stop
    space = max(text.rfind(" ", earliest, stop), text.rfind("\n", earliest, stop))
    return space if space >= 0 else stop


def _tail(text: str, start: int) -> str:
    """Return the text from the beginning of a word after `start`, without half a link."""
    latest = start + NEAR
    start = _word_start(text, start, latest)
    closed = text.find("]]", start, latest)
    if closed >= 0 and text.find("[[", start, closed) < 0:
        start = _word_start(text, closed + 2, latest)
    return text[start:].lstrip()


def _word_start(text: str, start: int, latest: int) -> int:
    if not text[start - 1 : start].strip():
        return start
    spaces = (text.find(" ", start, latest), text.find("\n", start, latest))
    return min((offset for offset in spaces if offset >= 0), default=start)


def _length(part: Part) -> int:
    return len(part.text) + sum(map(len, part.steps))


def _ends(steps: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the first and last steps that fit in `room` characters, with marks in place of the
    others."""
    head: list[str] = []
    tail: list[str] = []
    for index in range(len(steps)):
        step = steps[index // 2] if index % 2 == 0 else steps[-1 - index // 2]
        if (room := room - len(step)) < 0:
            break
        (head if index % 2 == 0 else tail).append(step)
    return (*head, *[LEFT_OUT] * (len(steps) - len(head) - len(tail)), *reversed(tail))
