"""Records are what `typing.NamedTuple` would make of the same class."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from brain._tuples import NamedTuple


class Ours(NamedTuple):
    """A point."""

    x: int
    y: str = "why"
    z: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.x


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: str = "why"
    z: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.x


GOOD = [((1,), {}), ((1, "b", (2,)), {}), ((), {"x": 1}), ((1,), {"z": (3,)}), ((1, "b"), {})]
BAD = [((), {}), ((1, "b", (), 4), {}), ((1,), {"x": 2}), ((1,), {"w": 2}), ((), {"y": "b"})]
BAD += [((), {"y": "b", "z": (), "w": 1}), ((1, "b", ()), {"w": 1}), ((1, "b", ()), {"z": ()})]


@pytest.mark.parametrize(("values", "named"), GOOD)
def test_a_record_is_the_same_tuple(values: tuple, named: dict) -> None:
    ours, theirs = Ours(*values, **named), Theirs(*values, **named)
    assert ours == theirs == tuple(ours)
    assert hash(ours) == hash(theirs)
    assert (ours.x, ours.y, ours.z, ours.twice) == (theirs.x, theirs.y, theirs.z, theirs.twice)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._asdict() == theirs._asdict()
    assert ours._replace(y="c") == theirs._replace(y="c")
    assert type(ours._replace(y="c")) is type(Ours._make(theirs)) is Ours
    assert copy.copy(ours) == pickle.loads(pickle.dumps(ours)) == ours


@pytest.mark.parametrize(("values", "named"), BAD)
def test_a_record_refuses_what_a_named_tuple_refuses(values: tuple, named: dict) -> None:
    for made in (Ours, Theirs):
        with pytest.raises(TypeError):
            made(*values, **named)


def test_a_record_cannot_be_changed() -> None:
    for point in (Ours(1), Theirs(1)):
        with pytest.raises(AttributeError):
            point.x = 2
        with pytest.raises(AttributeError):
            point.w = 2
        with pytest.raises((TypeError, ValueError)):
            point._replace(w=1)
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert Ours.__match_args__ == Theirs.__match_args__
    assert Ours.__doc__ == Theirs.__doc__
