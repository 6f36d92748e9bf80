"""Search by meaning: prepare the model that the settings name, and embed passages.

If a package, a model or an answer is missing, search uses words alone and says so in one line.
"""

from __future__ import annotations

import time

from brain.errors import BrainError, Busy, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.embed.similarity import Meanings
    from brain.open_vault import OpenVault

PATIENCE = 1.0  # seconds that a search spends on passages that are not embedded yet


def model(vault: OpenVault) -> tuple[Meanings | None, list[str]]:
    """Return the passages by their meaning, with the model loaded, and remarks for the user. It is
    None if search is not hybrid, or if the model cannot be used."""
    if vault.config.searchProvider != "hybrid":
        return None, []
    started = time.perf_counter()
    try:
        meaning, spent = vault.meaning, vault.meaning.spent
        meaning.load()
        left = _embed(vault, PATIENCE)
    except NoModel as error:
        return None, [words_alone(error)]
    meaning.spent = spent + time.perf_counter() - started  # also for reading the vectors
    many = f"{left:,} passages are" if left > 1 else "One passage is"
    rest = f"{many} not searched by meaning yet; `brain sync` does the rest."
    return meaning, [rest] if left else []


def embed(vault: OpenVault, seconds: float | None = None) -> list[str]:
    """Embed new and changed passages if search is hybrid, all or for so many seconds. Return a
    message if that fails. Without a limit, a missing model is downloaded first."""
    if vault.config.searchProvider != "hybrid":
        return []
    try:
        _embed(vault, seconds)
    except NoModel as error:
        return [str(error)]
    return []


def _embed(vault: OpenVault, seconds: float | None) -> int:
    """Return how many passages are left."""
    from brain.embed import end_pause, without_limit

    meaning, waited = vault.meaning, vault.meaning.model
    try:
        if seconds is not None:
            return meaning.embed_pending(seconds=seconds)
        meaning.model = without_limit(waited)
        meaning.load(download=True)
        left = meaning.embed_pending(vault.progress)
        end_pause(waited)
        return left
    except Busy:
        return 0  # another process is embedding them
    finally:
        meaning.model = waited


def purge(vault: OpenVault) -> bool:
    """Remove the vectors of all texts that are not in the index any more. Return False if that is
    not possible now."""
    from brain.index.vectors import text_digest
    from brain.search.hybrid import passages

    try:
        return vault.vectors.purge({text_digest(text) for _, text in passages(vault.index)})
    except BrainError:
        return False


def words_alone(why: object) -> str:
    """Return the remark that search used words alone."""
    return f"Searched by words alone. {why}"
