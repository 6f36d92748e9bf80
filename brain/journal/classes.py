"""Which ids are one entry's, and what is known of it under all of them together."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from brain.journal.tally import PURGED, join, tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.journal.fold import Fold
    from brain.journal.tally import Key, Tally


def classes(aliases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each id that is an entry's along with others, the smallest of them."""
    parent: dict[str, str] = {}

    def root(ref: str) -> str:
        while (up := parent.setdefault(ref, ref)) != ref:
            parent[ref] = parent[up]
            ref = up
        return ref

    for one, other in aliases:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    return {ref: root(ref) for ref in list(parent)}


def classed(fold: Fold, own: Collection[str] = ()) -> tuple[dict[str, Tally], dict[str, str]]:
    """What is known of each entry, and which of several ids it goes by. The fold is used up. `own`
    are ids that entries are known to have been added with."""
    names = classes(fold.same(own))
    found: dict[str, Tally] = {} if names else fold.tallies
    for ref, known in fold.tallies.items() if names else ():
        join(found.setdefault(names.get(ref, ref), tally()), known)
    for ref, purge in fold.purges.items():
        into = found.setdefault(names.get(ref, ref), tally())
        into[PURGED] = max(into[PURGED], purge)
    return found, names


def gone(fold: Fold) -> dict[str, Key]:
    """The ids of entries that were purged, and when."""
    names = classes(fold.same())
    last: dict[str, Key] = {}
    for ref, purge in fold.purges.items():
        name = names.get(ref, ref)
        last[name] = max(last.get(name, purge[:3]), purge[:3])
    return {ref: last[name] for ref, name in names.items() if name in last} | last
