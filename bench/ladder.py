"""The share of each factor in the quality of a search: searches with some of them switched off.

A factor is switched off by a constant or function of its module, patched in this process alone, or
by a setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

from brain.index import matches
from brain.recall import concepts, lookup, near, priors, question, ranking


class Factor(NamedTuple):
    """A name, and what switches it off: settings, and names of modules with their values."""

    name: str
    settings: Mapping[str, object] = MappingProxyType({})
    patches: tuple[tuple[Any, str, object], ...] = ()


def _nothing(*_: object) -> tuple[str, ...]:
    return ()


def _no_scores(*_: object) -> dict[int, float]:
    return {}


def _all_the_same(*_: object) -> float:
    return 1.0


FACTORS = (
    Factor("forms of words", patches=((concepts, "forms", _nothing),)),
    Factor("names of speakers are no words", patches=((matches, "speakers", _nothing),)),
    Factor("author", patches=((priors, "AUTHOR", 1.0),)),
    Factor("near", patches=((near, "spread", _no_scores),)),
    Factor("near: a question hands on more", patches=((near, "ASKED", 1.0),)),
    Factor("coverage", patches=((lookup, "coverage", _all_the_same),)),
    Factor("parent", patches=((ranking, "PARENT_FACTOR", 0.0),)),
    Factor("when", patches=((priors, "WHEN", 1.0),)),
    Factor("dated", patches=((priors, "DATED", 1.0),)),
    Factor("aliases", patches=((question, "ALIAS_FACTOR", 0.0),)),
)


@contextmanager
def without(factors: Sequence[Factor], root: Path) -> Iterator[None]:
    """While this lasts, a vault that is opened at `root` ranks without these factors."""
    settings = root / "40_Brain" / "brain.yaml"
    lines = [f"{key}: {value}\n" for factor in factors for key, value in factor.settings.items()]
    with ExitStack() as stack:
        for target, name, value in (change for factor in factors for change in factor.patches):
            stack.enter_context(patch.object(target, name, value))
        settings.write_text("".join(lines), encoding="utf-8")
        stack.callback(settings.unlink)
        yield


def rungs() -> Iterator[tuple[str, list[Factor]]]:
    """(what is added, what is still off), from every factor off to none."""
    yield "Brain with every factor off", list(FACTORS)
    for count, factor in enumerate(FACTORS, 1):
        yield f"+ {factor.name}", list(FACTORS[count:])
