"""Search by meaning: the model that the settings name, and the vectors it makes.

If a package, a model or an answer is missing, search uses words alone and says so.
"""

from __future__ import annotations

import time

from brain.errors import Busy, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from brain.open_vault import OpenVault
    from brain.recall.similar import Meaning

    T = TypeVar("T")

PATIENCE = 1.0  # seconds that a search spends on missing vectors


def with_model(vault: OpenVault, search: Callable[[Meaning | None], T]) -> tuple[T, list[str]]:
    """Return `search(model)` and remarks for the user. The model is None unless a hybrid search is
    set and possible."""
    if vault.config.searchProvider != "hybrid":
        return vault.ask(lambda: search(None)), []
    return vault.ask(lambda: _hybrid(vault, search))


def _hybrid(vault: OpenVault, search: Callable[[Meaning | None], T]) -> tuple[T, list[str]]:
    from brain.index import vectors

    started = time.perf_counter()
    errors = _add_vectors(vault, budget=PATIENCE, wait=0.25)
    missing = 0 if errors else vectors.count_missing(vault.index)
    if "meaning" in vault.__dict__:
        vault.meaning.spent += time.perf_counter() - started
    try:
        if not errors:
            many = f"{missing:,} entries are" if missing > 1 else "One entry is"
            rest = f"{many} not searched by meaning yet; `brain sync` does the rest."
            return search(vault.meaning), [rest] if missing else []
    except NoModel as error:
        errors = [str(error)]
    return search(None), [f"Searched by words alone. {error}" for error in errors]


def add_vectors(vault: OpenVault, budget: float | None = None) -> list[str]:
    """Make the missing vectors if a hybrid search is set, all or for `budget` seconds. Return what
    went wrong."""
    if vault.config.searchProvider != "hybrid":
        return []
    return vault.ask(lambda: _add_vectors(vault, budget))


def _add_vectors(vault: OpenVault, budget: float | None = None, wait: float = 30.0) -> list[str]:
    from brain.embed import forgive, patient
    from brain.recall import hybrid

    try:
        model = vault.meaning.provider
        if budget is None:  # the model may take its time
            hybrid.catch_up(vault.index, patient(model), progress=vault.progress, wait=wait)
            forgive(model)
        else:
            hybrid.catch_up(vault.index, model, budget=budget, wait=wait)
    except NoModel as error:
        return [str(error)]
    except Busy:
        pass  # another process may be making them
    return []
