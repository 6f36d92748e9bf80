"""Models that turn the meaning of a text into numbers, for a search by meaning.

A provider is any object with `embed(texts)`, which returns one row of numbers for each text. A row
does not depend on the other texts. A provider may also have
- `name`, for messages; and `key`, if the name alone does not identify the model,
- `batch`, the number of texts for one call,
- `embed_question(text)`, which returns one row, if questions are embedded in another way,
- `load(download)`, which loads the model before the first call; `download` allows the network,
- `within(seconds)`, which returns the same provider with this time limit.
A provider raises NoModel if it fails. Searches call it through `similarity.py`.

If a person waits for the answer (`Waited`), a model has a few seconds. A model that fails after a
second or more is not called for a minute, so that the next questions do not wait again. This is
recorded in state.db for other processes, without any text of a question or an answer.
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
TIMEOUT = 5.0  # seconds for one answer
SLOW = 1.0  # seconds; after a faster failure the model may be called again at once
PAUSE = 60.0  # seconds without a call after a slow failure
_FLAG = "model"


def provider(model: str, config: Config, downloads: str) -> Provider:
    """Return the provider for a value of the setting `vectorModel`, without loading it. `downloads`
    is the folder for models from a hub."""
    model = model.strip()
    kind, _, rest = model.partition(":")
    if kind == "command" and rest.strip():
        from brain.embed.command import Command

        return Command(rest.strip(), redact_emails=config.redactEmails)
    if kind in ("http", "https") and rest.startswith("//"):
        from brain.embed.http import Http

        return Http(model, redact_emails=config.redactEmails)
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
    """A model with a time limit, which downloads no files. Its NoModel errors include the time of
    the next call."""

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
        """Load the model, if its provider has `load`."""
        if load := getattr(self.model, "load", None):
            self._call(lambda _: load(False))

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the rows of the model. Raise NoModel at once if it failed within the last
        minute."""
        return self._call(lambda model: model.embed(texts))

    def embed_question(self, text: str) -> Any:
        """Return the row for a question, with the same time limit as `embed`."""
        return self._call(lambda model: embed_question(model, text))

    def _call(self, call: Callable[[Any], Any]) -> Any:
        if left := self._seconds_left():
            raise NoModel(f"The model {self.name!r} failed a moment ago.", _next_call(left))
        within = getattr(self.model, "within", None)
        model = within(TIMEOUT) if within else self.model
        started = time.monotonic()
        try:
            return call(model)
        except Exception as error:  # the provider may be the user's own
            if time.monotonic() - started < min(SLOW, TIMEOUT):
                raise
            with suppress(BrainError):
                self.state.set_flag(_FLAG, f"{self._mark()} {self._clock()}")
            if isinstance(error, NoModel):
                raise NoModel(error.message, f"{error.remedy} {_next_call(PAUSE)}") from error
            raise NoModel(
                f"The model {self.name!r} failed ({error}).", _next_call(PAUSE)
            ) from error

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
    """Return the row for a question."""
    ask = getattr(model, "embed_question", None)
    return ask(text) if ask else model.embed([text])[0]


def without_limit(model: Provider) -> Provider:
    """Return the model without a time limit."""
    return model.model if isinstance(model, Waited) else model


def end_pause(model: Provider) -> None:
    """Allow calls of a model that has failed."""
    if isinstance(model, Waited):
        with suppress(BrainError):
            model.state.set_flag(_FLAG, "")


def _next_call(seconds: float) -> str:
    return f"It is called again in {seconds:.0f} s, or after `brain sync`."
