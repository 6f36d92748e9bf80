"""A reference to compare with: a file that is given on the command line, not part of the project.

It has `Notes(folder).rank(question)`, of which each result has the number of a note in `.paths` in
second place, and `Turns(turns).rank(question)`, which gives numbers of turns.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.locomo import Turn
from brain import embed
from brain.config import Config

NOTES_WEIGHT, TURNS_WEIGHT = 1.5, 0.5  # of a cosine

Cosines = Callable[[str], Any]


def load(path: Path) -> Any:
    """Return the module in this file."""
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cosines(model: str, texts: Sequence[str]) -> Cosines:
    """Return a function that gives the cosine of a question and each of these texts."""
    import numpy as np

    asked = embed.provider(model, Config(), "")

    def units(some: Sequence[str]) -> Any:
        rows = np.asarray(asked.embed(some), np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    known = units(texts)
    return lambda question: known @ units([question])[0]


def notes(path: Path, folder: Path, model: str = "") -> Callable[[str], list[str]]:
    """Return a search over the notes of a folder that gives their paths."""
    made = load(path).Notes(folder)
    near = cosines(model, made.given) if model else None

    def search(question: str) -> list[str]:
        given = (near(question), NOTES_WEIGHT) if near else ()
        return [made.paths[each[1]] for each in made.rank(question, *given)]

    return search


def turns(path: Path, said: Sequence[Turn], model: str = "") -> Callable[[str], list[str]]:
    """Return a search over turns that gives their keys."""
    given = [
        {"id": t.id, "who": t.speaker, "text": t.text, "session": t.session}
        | {"when": datetime.fromisoformat(t.at)}
        for t in said
    ]
    made = load(path).Turns(given)
    near = cosines(model, made.given) if model else None

    def search(question: str) -> list[str]:
        plain = " ".join(word for word in question.split() if not _names(word) & made.names)
        weighed = (near(plain or question), TURNS_WEIGHT) if near else ()
        return [said[at].key for at in made.rank(question, *weighed)]

    return search


def _names(word: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", word.lower()))
