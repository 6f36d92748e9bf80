"""How many tokens a context may take, and which pieces fit into them.

The total is a share of what is left of the model's context. Warnings and pinned memories get their
part first, then the task at hand, then the memories that fit the question, then summaries; what one
part leaves, the next may use, and what the last one leaves goes to the warnings and pinned memories
that have no place yet. What is counted is the text as it is rendered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from brain._tuples import NamedTuple
from brain.config import Config
from brain.recall.choose import Cost, Picks, choose_bridge, choose_in_order, choose_shared
from brain.recall.package import SECTIONS, Package, Piece, sections, with_conflicts

Render = Callable[[Package], str]
Count = Callable[[str], int]
TIER_OF = dict(zip(SECTIONS, ("always", "always", "bridge", "retrieval", "summary"), strict=True))
BUDGET_SHARE = 0.08  # of the remaining context
_DEFAULTS = Config()


class Part(NamedTuple):
    """Bounds of a part in tokens, and its share of what the parts before it leave."""

    share: float
    least: int
    most: int = sys.maxsize


PARTS = {
    "always": Part(0.08, 200, 400),  # warnings and pinned memories
    "bridge": Part(0.5, 500),  # the task at hand
    "retrieval": Part(0.65, 300, 1500),  # memories that fit the question
    "summary": Part(1.0, 200, 600),  # summaries of sessions
}


class Allocation(NamedTuple):
    """Tokens for each part; together never more than the total."""

    total: int
    always: int
    bridge: int
    retrieval: int
    summary: int


class Fitted(NamedTuple):
    """What is handed out: it takes `tokens`, which is never more than `allocation.total`."""

    package: Package
    text: str
    tokens: int
    used: dict[str, int]  # tokens of the pieces, by tier
    left_out: dict[str, tuple[str, ...]]  # ids, by tier
    compression: float  # tokens of the pieces kept, as a share of those of all that were offered
    allocation: Allocation


def allocate(remaining: int, config: Config = _DEFAULTS) -> Allocation:
    """Return the budget that `remaining` tokens of context give, divided."""
    return divide(min(_whole(remaining * BUDGET_SHARE), config.budgetCeiling))


def divide(total: int) -> Allocation:
    """Divide a budget. If it is too small for all parts, the last ones get less."""
    total = rest = max(0, total)
    parts = []
    for part in PARTS.values():
        parts.append(min(max(_whole(rest * part.share), part.least), part.most))
        rest = max(0, rest - parts[-1])
    over = sum(parts) - total
    kept = []
    for size in reversed(parts):
        kept.append(size - min(size, max(0, over)))
        over -= size
    return Allocation(total, *reversed(kept))


def _whole(value: float) -> int:
    """8 % of 625 are 50, though the machine may find a little less."""
    return int(value + 1e-6)


def fit(
    package: Package,
    allocation: Allocation,
    render: Render,
    count: Count,
    config: Config = _DEFAULTS,
) -> Fitted:
    """As much of `package` as the allocation holds: `count(text)` is never over its total.

    A piece that contradicts another brings the marker that quotes both, or stays out.
    """
    cost = Cost(package, render, count)
    picks = _choose(package, allocation, cost, config)
    while True:
        kept = with_conflicts(package._replace(**picks.pieces()), package.conflicts)
        text = render(kept)
        tokens = count(text)
        if tokens <= allocation.total or not picks.drop(tokens - allocation.total):
            break
    if tokens > allocation.total:
        kept, text, tokens = Package(package.query), "", 0
    return _fitted(package, kept, text, tokens, cost, picks, allocation)


def _choose(package: Package, allocation: Allocation, cost: Cost, config: Config) -> Picks:
    """Fill tier by tier. What all of them leave goes to warnings and pinned memories."""
    picks, left = _filled(package, allocation, cost, config)
    if left <= 0 or (picks.holds("warnings", package) and picks.holds("pinned", package)):
        return picks
    again, left = Picks(cost), allocation.total - cost.frame
    for name in ("bridge", "memories", "summaries"):
        for pick in picks.chosen[name]:
            left -= again.take(name, pick.at, pick.piece, left)
    _fill_always(package, left, again)
    return again


def _filled(
    package: Package, allocation: Allocation, cost: Cost, config: Config
) -> tuple[Picks, int]:
    """(what is chosen, tokens that are left): what one tier leaves flows on."""
    picks = Picks(cost)
    pool, carry = allocation.total - cost.frame, 0
    for tier in PARTS:
        room = max(0, min(getattr(allocation, tier) + carry, pool))
        if tier == "always":
            used = _fill_always(package, room, picks)
        elif tier == "bridge":
            used = choose_bridge(package.bridge, room, picks, config.headTailPreserve)
        elif tier == "retrieval":
            shares = (config.taskShare, config.projectShare, config.globalShare)
            used = choose_shared(package.memories, room, picks, shares)
        else:
            used = choose_in_order(package.summaries, "summaries", room, picks)
        carry = max(0, getattr(allocation, tier) + carry - used)
        pool -= used
    return picks, pool


def _fill_always(package: Package, room: int, picks: Picks) -> int:
    used = choose_in_order(package.warnings, "warnings", room, picks)
    return used + choose_in_order(package.pinned, "pinned", room - used, picks)


def _fitted(
    package: Package,
    kept: Package,
    text: str,
    tokens: int,
    cost: Cost,
    picks: Picks,
    allocation: Allocation,
) -> Fitted:
    """What was kept and what was not."""
    used = dict.fromkeys(PARTS, 0)
    left: dict[str, tuple[str, ...]] = dict.fromkeys(PARTS, ())
    for (name, offered), (_, shown) in zip(sections(package), sections(kept), strict=True):
        tier, ids = TIER_OF[name], {piece.id for piece in shown}
        used[tier] += picks.cost_of(name) if shown else 0
        left[tier] += tuple(piece.id for piece in offered if piece.id not in ids)
    whole = cost.of_all(_every(package))
    share = min(1.0, sum(used.values()) / whole) if whole else 1.0
    return Fitted(kept, text, tokens, used, left, share, allocation)


def _every(package: Package) -> list[tuple[str, Piece]]:
    return [(name, piece) for name, pieces in sections(package) for piece in pieces]
