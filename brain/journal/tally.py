"""What is known of one id, as a list of numbers and of what was said last: how it is counted, and
added to what is known of it elsewhere."""

from __future__ import annotations

from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Key: TypeAlias = tuple[int, str, int]  # counter, device, number
    Tally: TypeAlias = list[Any]  # the fields below

SCORE, THOUSANDTHS, HITS, MERGES, REINFORCED, DEMOTED, REJECTED = range(7)  # counts
TOUCHED, HIT, CONFIDENCE, IMPORTANCE, SOURCE, PURGED = range(7, 13)  # (*key, value) of the last
ADDED = 13  # (*key, at, by, session) of the first
UNDONE = 14  # (event, score in thousandths, what it was) of each that was taken back, in order
_COUNTS, _LAST = range(7), range(7, 13)
NEVER = ()  # the empty tuple: there is one, and to look at a full one would cost a cache miss
LIMIT = 1_000_000  # no count or score of one record is larger
FEEDBACK = {  # where it is counted, and what it is worth unless it says so
    "hit": (HITS, 0),
    "reinforce": (REINFORCED, 3),
    "demote": (DEMOTED, -1),
    "reject": (REJECTED, 0),
}


def tally() -> Tally:
    """Nothing yet."""
    return [0, 0, 0, 0, 0, 0, 0, (), (), (), (), (), (), (), ()]


def unpacked(state: str | list[Any]) -> Tally:
    """A tally that was kept as JSON."""
    import orjson

    known = orjson.loads(state) if isinstance(state, str) else state
    found = [tuple(value) if value.__class__ is list else value for value in known]
    found[UNDONE] = tuple(map(tuple, found[UNDONE]))
    return found


def join(into: Tally, more: Tally) -> None:
    """Add what is known of an id, or of another id of the same entry."""
    for field in _COUNTS:
        into[field] += more[field]
    for field in _LAST:
        into[field] = max(into[field], more[field])
    into[ADDED] = min(into[ADDED] or more[ADDED], more[ADDED] or into[ADDED])
    if more[UNDONE]:
        into[UNDONE] = _each_once((*into[UNDONE], *more[UNDONE]))


def undo(found: Tally, value: dict[str, Any]) -> None:
    """Something was taken back; if two devices do that at a time, it is taken back once."""
    one = (text(value, "of"), thousandths(value.get("delta", 0)), text(value, "undid"))
    found[UNDONE] = _each_once((*found[UNDONE], one))


def _each_once(undone: tuple[tuple[str, int, str], ...]) -> tuple[tuple[str, int, str], ...]:
    """The records of what was taken back, of several about one event the last in this order; those
    that name none are all counted."""
    every = sorted(undone)
    return tuple(
        one
        for one, after in zip(every, [*every[1:], None], strict=True)
        if not (one[0] and after and after[0] == one[0])
    )


def net(found: Tally) -> Tally:
    """The counts without what was taken back."""
    if not found[UNDONE]:
        return found
    left = list(found)
    for _, delta, undid in found[UNDONE]:
        whole, rest = divmod(delta, 1000)
        left[SCORE] += whole
        left[THOUSANDTHS] += rest
        if undid == "merge":
            left[MERGES] -= 1
            left[HITS] -= 1
        elif undid in FEEDBACK:
            left[FEEDBACK[undid][0]] -= 1
    left[HITS : REJECTED + 1] = [max(0, count) for count in left[HITS : REJECTED + 1]]
    return left


def judge(found: Tally, value: dict[str, Any], op: str, key: Key, times: int = 1) -> None:
    """Count feedback that was given so many times, `value` and `key` being the last of it."""
    column, worth = FEEDBACK[op]
    if column == HITS:
        found[HITS] += _hits(value) * times
        if key > found[HIT]:
            found[HIT] = (*key, text(value, "last") or value["at"])
        return
    found[column] += times
    score(found, value.get("delta", worth), times)
    if column == REINFORCED and key > found[TOUCHED]:
        found[TOUCHED] = (*key, value["at"])


def _hits(value: dict[str, Any]) -> int:
    """How many hits a record counts."""
    count = value.get("count", 1)
    return count if count.__class__ is int and 0 < count < LIMIT else 1


def score(found: Tally, delta: Any, times: int = 1) -> None:
    """Fractions are kept apart: small whole numbers cost no memory, and those add up alike in any
    order."""
    if delta.__class__ is int and -LIMIT < delta < LIMIT:
        found[SCORE] += delta * times
        return
    whole, rest = divmod(thousandths(delta), 1000)
    found[SCORE] += whole * times
    found[THOUSANDTHS] += rest * times


def thousandths(number: Any) -> int:
    """A number as a whole number of something, which adds up alike in any order."""
    return round(number * 1000) if is_number(number) and -LIMIT < number < LIMIT else 0


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value)


def text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
