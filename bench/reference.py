"""A reference to compare with: a file that is given on the command line, not part of the project.

It has `Notes(folder).rank(question)`, of which each result has the number of a note in `.paths` in
second place, and `Turns(turns).rank(question)`, which gives numbers of turns.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.locomo import Turn


def load(path: Path) -> Any:
    """Return the module in this file."""
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notes(path: Path, folder: Path) -> Callable[[str], list[str]]:
    """Return a search over the notes of a folder that gives their paths."""
    made = load(path).Notes(folder)
    return lambda question: [made.paths[each[1]] for each in made.rank(question)]


def turns(path: Path, said: Sequence[Turn]) -> Callable[[str], list[str]]:
    """Return a search over turns that gives their keys."""
    given = [
        {"id": t.id, "who": t.speaker, "text": t.text, "session": t.session}
        | {"when": datetime.fromisoformat(t.at)}
        for t in said
    ]
    made = load(path).Turns(given)
    return lambda question: [said[at].key for at in made.rank(question)]
