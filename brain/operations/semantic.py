"""Search by meaning: the model that the settings name, and the vectors it makes.

If a package, a model or an answer is missing, search uses words alone and says so.
"""

from __future__ import annotations

import time

from brain.errors import Busy, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.open_vault import OpenVault
    from brain.recall.similar import Meaning

PATIENCE = 1.0  # seconds that a search spends on missing vectors


def model(vault: OpenVault) -> tuple[Meaning | None, list[str]]:
    """Return the model of a hybrid search and remarks for the user. It is None if search is not
    hybrid, or if the model cannot be used."""
    if vault.config.searchProvider != "hybrid":
        return None, []
    from brain.index import vectors

    started = time.perf_counter()
    errors = _add_vectors(vault, budget=PATIENCE, wait=0.25)
    if "meaning" in vault.__dict__:
        vault.meaning.spent += time.perf_counter() - started
    if errors:
        return None, [words_alone(error) for error in errors]
    left = vectors.count_missing(vault.index)
    many = f"{left:,} entries are" if left > 1 else "One entry is"
    rest = f"{many} not searched by meaning yet; `brain sync` does the rest."
    return vault.meaning, [rest] if left else []


def add_vectors(vault: OpenVault, budget: float | None = None) -> list[str]:
    """Make the missing vectors if a hybrid search is set, all or for `budget` seconds. Return what
    went wrong."""
    return _add_vectors(vault, budget) if vault.config.searchProvider == "hybrid" else []


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


def words_alone(why: object) -> str:
    """Return the remark that a model did not help."""
    return f"Searched by words alone. {why}"
