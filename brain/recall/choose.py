"""Which pieces fit into a part of the budget: in order, from both ends, or by shares."""

from __future__ import annotations

import re

from brain._tuples import NamedTuple
from brain.recall.package import LEFT_OUT, SECTIONS, Conflict, Package, Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

LEAST_CUT = 40  # tokens below which a piece is left out rather than cut
MISSES = 4  # pieces in a row that do not fit, after which a part counts as full
SEAM = 3  # tokens that a piece may take more of where it meets its neighbours
CUT = " … "
NEAR = 40  # characters within which a cut looks for the end of a word
_ALONE = re.compile(r"(?:\A|(?<=\s))[^\w\s]+\Z")  # marks without a word
TIER_NAMES = ("task", "project", "global")
DROP_ORDER = tuple(reversed(SECTIONS))
_PROBES = (Piece("a", "", "", "b", "", 0), Piece("x", "", "", "y", "", 0))


class Cost:
    """What pieces and the frame around them cost in one format, each counted once."""

    def __init__(
        self, package: Package, render: Callable[[Package], str], count: Callable[[str], int]
    ) -> None:
        self.render, self.count = render, count
        self.bare = Package(package.query, degraded=package.degraded)
        self.pairs: dict[str, list[Conflict]] = {}
        for pair in package.conflicts:
            for side in {pair.one, pair.other}:
                self.pairs.setdefault(side, []).append(pair)
        self._known_ends: dict[str, tuple[int, int, str]] = {}
        head, foot, text = self._ends("memories")
        self.frame = count(text[:head]) + count(text[len(text) - foot :]) + SEAM
        self._heads: dict[str, int] = {}
        self._known: dict[tuple[str, Piece], int] = {}
        self._said: dict[Conflict, int] = {}

    def _ends(self, name: str) -> tuple[int, int, str]:
        """How much of a rendering with one piece in section `name` is not the piece."""
        if (known := self._known_ends.get(name)) is None:
            one, other = (self._alone(name, probe) for probe in _PROBES)
            known = _alike(one, other), _alike(one[::-1], other[::-1]), one
            self._known_ends[name] = known
        return known

    def _alone(self, name: str, piece: Piece) -> str:
        only: dict[str, Any] = {name: (piece,)}
        return self.render(self.bare._replace(**only))

    def section(self, name: str) -> int:
        """What the heading of a section costs."""
        if (known := self._heads.get(name)) is None:
            head, foot, text = self._ends(name)
            whole = self.count(text[:head] + text[len(text) - foot :])
            known = self._heads[name] = max(0, whole - self.frame) + SEAM
        return known

    def piece(self, name: str, piece: Piece) -> int:
        """What a piece costs in section `name`, without its conflicts."""
        if (known := self._known.get((name, piece))) is None:
            text = self._alone(name, piece)
            head, foot, _ = self._ends(name)
            known = self._known[name, piece] = self.count(text[head : len(text) - foot]) + SEAM
        return known

    def marker(self, pair: Conflict) -> int:
        """What the marker of a conflict costs, with the heading that it may bring."""
        if (known := self._said.get(pair)) is None:
            text = self.render(self.bare._replace(conflicts=(pair,)))
            known = self._said[pair] = max(0, self.count(text) - self.frame) + 2 * SEAM
        return known

    def of_all(self, pieces: list[tuple[str, Piece]]) -> int:
        """What all pieces cost; those that nothing had room for are judged by their length."""
        counted = sum(self._known.get(key, 0) for key in pieces)
        known_chars = sum(len(key[1].text) + 1 for key in pieces if key in self._known)
        other_chars = sum(len(key[1].text) + 1 for key in pieces if key not in self._known)
        return counted + (counted * other_chars // known_chars if known_chars else other_chars // 3)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)


class Pick(NamedTuple):
    """A piece that was chosen: its place among those offered, and what it costs."""

    at: int
    piece: Piece
    tokens: int


class Picks:
    """What was chosen so far, and what it costs."""

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.chosen: dict[str, list[Pick]] = {name: [] for name in SECTIONS}
        self.marked: set[Conflict] = set()

    def extra(self, name: str, piece: Piece) -> int:
        """What a piece brings with it: the heading of its section, the markers of its conflicts."""
        pairs = [pair for pair in self.cost.pairs.get(piece.id, ()) if pair not in self.marked]
        heading = 0 if self.chosen[name] else self.cost.section(name)
        return heading + sum(self.cost.marker(pair) for pair in pairs)

    def take(self, name: str, at: int, piece: Piece, room: int) -> int:
        """Choose a piece if it fits: what it costs, or 0."""
        extra = self.extra(name, piece)
        if extra >= room:
            return 0
        tokens = self.cost.piece(name, piece) + extra
        if tokens > room:
            return 0
        self.marked.update(self.cost.pairs.get(piece.id, ()))
        self.chosen[name].append(Pick(at, piece, tokens))
        return tokens

    def take_cut(self, name: str, at: int, piece: Piece, room: int) -> int:
        """Choose what fits of a piece, its head and its tail: what that costs, or 0."""
        whole, length = self.cost.piece(name, piece), _length(piece)
        shown = min(length, 5 * whole)  # of a text that is far too long, only a part was counted
        share = (room - self.extra(name, piece)) / whole * shown / max(1, length)
        for shrink in (0.9, 0.7, 0.5, 0.3):
            if room < LEAST_CUT or length * share * shrink < LEAST_CUT:
                return 0
            cut = shortened(piece, share * shrink)
            if tokens := self.take(name, at, cut, room):
                return tokens
        return 0

    def holds(self, name: str, package: Package) -> bool:
        """Is all of a section there, and nothing of it cut?"""
        return bool(self.pieces()[name] == getattr(package, name))

    def cost_of(self, name: str) -> int:
        """What was chosen of a section costs so much."""
        return sum(pick.tokens for pick in self.chosen[name])

    def pieces(self) -> dict[str, Any]:
        """What was chosen, in the order in which it was offered."""
        return {
            name: tuple(pick.piece for pick in sorted(chosen, key=lambda pick: pick.at))
            for name, chosen in self.chosen.items()
        }

    def drop(self, tokens: int) -> bool:
        """Let go of at least so many tokens, the least needed first; False if nothing is left."""
        dropped = 0
        for name in DROP_ORDER:
            while self.chosen[name] and dropped < tokens:
                dropped += self.chosen[name].pop().tokens
        return dropped > 0


def shortened(piece: Piece, share: float) -> Piece:
    """A piece with about that share of its words: both ends of its text, or of its steps."""
    room = int(_length(piece) * share)
    if len(piece.text) <= room // 2:
        return piece._replace(steps=_ends(piece.steps, room - len(piece.text)))
    keep = min(room, len(piece.text))
    head = keep * 2 // 3
    ends = _head(piece.text, head), _tail(piece.text, len(piece.text) - (keep - head))
    return piece._replace(text=CUT.join(ends), steps=())


def _head(text: str, stop: int) -> str:
    """What stands before, up to the end of a word; no link is left open, and no mark alone."""
    near = max(0, stop - NEAR)
    stop = _word_end(text, near, stop)
    opened = text.rfind("[[", near, stop)
    if opened >= 0 and text.find("]]", opened, stop) < 0:
        stop = _word_end(text, near, opened)
    return text[:near] + _ALONE.sub("", text[near:stop].rstrip())


def _word_end(text: str, near: int, stop: int) -> int:
    if not text[stop : stop + 1].strip():
        return stop
    space = max(text.rfind(" ", near, stop), text.rfind("\n", near, stop))
    return space if space >= 0 else stop


def _tail(text: str, start: int) -> str:
    """What stands behind, from the beginning of a word on; of no link only the end."""
    far = start + NEAR
    start = _word_start(text, start, far)
    closed = text.find("]]", start, far)
    if closed >= 0 and text.find("[[", start, closed) < 0:
        start = _word_start(text, closed + 2, far)
    return text[start:].lstrip()


def _word_start(text: str, start: int, far: int) -> int:
    if not text[start - 1 : start].strip():
        return start
    spaces = (text.find(" ", start, far), text.find("\n", start, far))
    return min((at for at in spaces if at >= 0), default=start)


def _length(piece: Piece) -> int:
    return len(piece.text) + sum(map(len, piece.steps))


def _ends(steps: tuple[str, ...], room: int) -> tuple[str, ...]:
    """The first and the last steps that `room` characters hold, and marks in place of others."""
    head: list[str] = []
    tail: list[str] = []
    for at in range(len(steps)):
        step = steps[at // 2] if at % 2 == 0 else steps[-1 - at // 2]
        if (room := room - len(step)) < 0:
            break
        (head if at % 2 == 0 else tail).append(step)
    return (*head, *[LEFT_OUT] * (len(steps) - len(head) - len(tail)), *reversed(tail))


def choose_in_order(pieces: tuple[Piece, ...], name: str, room: int, picks: Picks) -> int:
    """Take what fits, in order; one that is too long for all of the room is cut."""
    return _take_each(enumerate(pieces), name, room, picks)


def choose_bridge(pieces: tuple[Piece, ...], room: int, picks: Picks, keep: int) -> int:
    """Take from both ends first: `keep` pieces from either, then the middle."""
    last = len(pieces) - 1
    ends = [at for step in range(keep) for at in (step, last - step) if 0 <= at <= last]
    order = dict.fromkeys([*ends, *range(len(pieces))])
    return _take_each(((at, pieces[at]) for at in order), "bridge", room, picks)


def _take_each(pieces: Iterable[tuple[int, Piece]], name: str, room: int, picks: Picks) -> int:
    used = misses = 0
    for at, piece in pieces:
        left = room - used
        if left <= SEAM or misses == MISSES:
            break
        tokens = picks.take(name, at, piece, left)
        if not tokens and left >= LEAST_CUT and picks.cost.piece(name, piece) > room - SEAM:
            tokens = picks.take_cut(name, at, piece, left)
        used += tokens
        misses = 0 if tokens else misses + 1
    return used


def choose_shared(
    pieces: tuple[Piece, ...], room: int, picks: Picks, shares: tuple[float, ...]
) -> int:
    """Give task, project and global their shares, then what is left to the best of the rest."""
    left = {tier: int(room * share) for tier, share in zip(TIER_NAMES, shares, strict=True)}
    used, rest = 0, []
    misses = dict.fromkeys(left, 0)
    for at, piece in enumerate(pieces):
        share = min(left.get(piece.tier, 0), room - used)
        full = share <= SEAM or misses[piece.tier] >= MISSES
        if tokens := 0 if full else picks.take("memories", at, piece, share):
            used += tokens
            left[piece.tier] -= tokens
        else:
            rest.append((at, piece))
            misses[piece.tier] = misses.get(piece.tier, 0) + 1
    return used + _take_each(rest, "memories", room - used, picks)
