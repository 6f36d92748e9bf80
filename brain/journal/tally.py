"""What is known of one id, as a list of numbers and of what was said last: how it is counted, and
added to what is known of it elsewhere."""

from __future__ import annotations

from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Key: TypeAlias = tuple[int, str, int]  # counter, device, number
    Tally: TypeAlias = list[Any]  # the fields below
    Undo: TypeAlias = tuple[str, str, int, str]

SCORE, THOUSANDTHS, HITS, MERGES, REINFORCED, DEMOTED, REJECTED = range(7)  # counts
TOUCHED, HIT, CONFIDENCE, IMPORTANCE, SOURCE, PURGED = range(7, 13)  # (*key, value) of the last
ADDED = 13  # (*key, at, by, session) of the first
UNDONE = 14  # (id, event, score in thousandths, what it was) of each undoing, in order
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
    """Something was taken back."""
    of, undid = text(value, "of"), text(value, "undid")
    one = (text(value, "id"), of, thousandths(value.get("delta", 0)), undid)
    found[UNDONE] = _each_once((*found[UNDONE], one))


def _each_once(undone: tuple[Undo, ...]) -> tuple[Undo, ...]:
    return tuple(sorted(set(undone)))


def net(found: Tally) -> Tally:
    """The counts without what was taken back: once, if two devices did that at a time, and not at
    all if that was itself taken back."""
    if not found[UNDONE]:
        return found
    left = list(found)
    later: dict[str, list[Undo]] = {}
    for one in found[UNDONE]:
        later.setdefault(one[1] or one[0], []).append(one)

    def is_undone(event: str, seen: tuple[str, ...] = ()) -> bool:
        every = [one[0] for one in later.get(event, ()) if one[0] not in seen]
        return any(not is_undone(id, (*seen, id)) for id in every)

    for event, every in later.items():
        *_, delta, undid = every[0]
        if undid != "undo" and is_undone(event):
            _take_back(left, delta, undid)
    left[HITS : REJECTED + 1] = [max(0, count) for count in left[HITS : REJECTED + 1]]
    return left


def _take_back(left: Tally, delta: int, undid: str) -> None:
    whole, rest = divmod(delta, 1000)
    left[SCORE] += whole
    left[THOUSANDTHS] += rest
    if undid == "merge":
        left[MERGES] -= 1
        left[HITS] -= 1
    elif undid in FEEDBACK:
        left[FEEDBACK[undid][0]] -= 1


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
