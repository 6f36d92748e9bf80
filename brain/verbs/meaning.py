"""A search by meaning is made ready: the model that the settings name, and the vectors it makes.

Whatever is missing (a package, a model, an answer) is a sentence, and search goes on by words.
"""

from __future__ import annotations

import time

from brain.errors import Busy, NoModel
from brain.index import vectors
from brain.recall import hybrid
from brain.recall.similar import Meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from brain.api.asking import Asking
    from brain.api.keeping import Keeping

    T = TypeVar("T")

PATIENCE = 1.0  # seconds that a search spends on vectors that are missing


def model(brain: Keeping) -> Meaning:
    """The model of the settings, or the one that was given; NoModel if it is not there."""
    from brain.embed import provider
    from brain.embed.waited import Waited

    model = brain.provider or provider(brain.config.vectorModel, brain.config)
    return Meaning(Waited(model, brain.vault.state_path))


def asking(brain: Asking, ask: Callable[[Meaning | None], T]) -> tuple[T, list[str]]:
    """What `ask` answers by meaning, or by words alone if that cannot be; and what a person should
    know about it."""
    started = time.perf_counter()
    meaning, notes = ready(brain)
    if "meaning" in brain.__dict__:
        brain.meaning.spent += time.perf_counter() - started
    try:
        return ask(meaning), notes
    except NoModel as error:
        return ask(None), [alone(error)]


def ready(brain: Asking) -> tuple[Meaning | None, list[str]]:
    """What to search by besides words, if anything, and what a person should know about it."""
    wrong = learn(brain, budget=PATIENCE, wait=0.25)
    if wrong:
        return None, [alone(sentence) for sentence in wrong]
    left = vectors.count_missing(brain.index)
    many = f"{left:,} entries are" if left > 1 else "One entry is"
    rest = f"{many} not searched by meaning yet; `brain sync` does the rest."
    return brain.meaning, [rest] if left else []


def learn(brain: Asking, budget: float | None = None, wait: float = 30.0) -> list[str]:
    """Make the vectors that are missing; says what went wrong. All of them, and then the model may
    take its time; or for some seconds, and then it is not waited for long."""
    from brain.embed.waited import forgive, patient

    try:
        model = brain.meaning.provider
        if budget is None:
            hybrid.catch_up(brain.index, patient(model), progress=brain.progress, wait=wait)
            forgive(model)
        else:
            hybrid.catch_up(brain.index, model, budget=budget, wait=wait)
    except NoModel as error:
        return [str(error)]
    except Busy:
        return []  # somebody else may be making them
    return []


def alone(why: object) -> str:
    """How an answer says that a model did not help."""
    return f"Searched by words alone. {why}"
