"""The share of each step in the quality of a search: searches with some of them switched off.

A step is switched off by a constant or function of its module, patched in this process alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

from brain.index import fulltext
from brain.search import exact, factors, question, ranking, retrieve


class Step(NamedTuple):
    """A name, and what switches it off: settings, and names of modules with their values."""

    name: str
    settings: Mapping[str, object] = MappingProxyType({})
    patches: tuple[tuple[Any, str, object], ...] = ()


def _nothing(*_: object, **__: object) -> tuple[str, ...]:
    return ()


def _no_counts(*_: object) -> dict[int, int]:
    return {}


FLAT = fulltext.WEIGHTS | {"notes": (1.0,) * 6, "entries": (1.0,) * 5}
TURNS = (
    Step("irregular forms of words", patches=((question, "forms", _nothing),)),
    Step("names of speakers do not count as words", patches=((fulltext, "speakers", _nothing),)),
    Step("speaker named in the question", patches=((factors, "AUTHOR", 1.0),)),
    Step("turns that name a time", patches=((factors, "WHEN", 1.0),)),
    Step("turns of the date in the question", patches=((factors, "DATED", 1.0),)),
    Step("shares of neighbouring turns", patches=((ranking, "neighbours", _nothing),)),
    Step("a question passes on more", patches=((ranking, "ASKED", 1.0),)),
    Step("share of the whole session", patches=((ranking, "SESSION_WEIGHT", 0.0),)),
)
EVERY = (
    Step("stop words and fillers", patches=((question, "_SMALL", frozenset()),)),
    Step("fillers", patches=((question, "_SMALL", question.STOP_WORDS),)),
    Step("entries added to the idf", patches=((retrieve, "EXTRA_ROWS", 0),)),
    Step("coverage", patches=((retrieve, "ALL_WEIGHT", 0.0),)),
    Step("exact matches first", patches=((exact, "counts", _no_counts),)),
)
NOTES = (
    Step("best passage", patches=((ranking, "PASSAGE_WEIGHT", 0.0),)),
    Step("weights of fields", patches=((fulltext, "WEIGHTS", FLAT),)),
    Step("limit for common words", patches=((retrieve, "COMMON", 1.0),)),
)
STEPS = (*TURNS, *EVERY, *NOTES)


def hybrid(model: str) -> Step:
    """Return the change of settings that searches by meaning, too, with this model."""
    name = model.rstrip("/").rpartition("/")[2]
    return Step(name, {"searchProvider": "hybrid", "vectorModel": f'"{model}"'})


@contextmanager
def without(steps: Sequence[Step], root: Path) -> Iterator[None]:
    """While this lasts, a vault that is opened at `root` ranks without these steps."""
    settings = root / "40_Brain" / "brain.yaml"
    lines = [f"{key}: {value}\n" for step in steps for key, value in step.settings.items()]
    with ExitStack() as stack:
        for target, name, value in (change for step in steps for change in step.patches):
            stack.enter_context(patch.object(target, name, value))
        settings.write_text("".join(lines), encoding="utf-8")
        stack.callback(settings.unlink)
        yield
