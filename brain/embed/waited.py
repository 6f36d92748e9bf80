"""A model while somebody waits for it.

It is given a few seconds for an answer. One that fails after a second or more is left alone for a
minute, so that the next questions do not wait again; other processes know that from state.db,
where no word of a question or an answer is kept.
"""

from __future__ import annotations

import time
from contextlib import suppress
from zlib import crc32

from brain.errors import BrainError, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from brain.embed import Provider
    from brain.state import State

SECONDS = 5.0  # for one answer
SLOW = 1.0  # seconds; what fails sooner may be asked again at once
PAUSE = 60.0  # seconds
_FLAG = "model"


class Waited:
    """`model` with so little patience. What fails is a NoModel, which says when it is asked
    again."""

    def __init__(
        self, model: Provider, state: State, clock: Callable[[], float] = time.time
    ) -> None:
        self.model, self.state, self._clock = model, state, clock
        self.name: str = getattr(model, "name", type(model).__name__)

    def embed(self, texts: Sequence[str]) -> Any:
        """What the model answers; NoModel at once if it failed within the last minute."""
        if left := self._left():
            raise NoModel(f"The model {self.name!r} failed a moment ago.", _again(left))
        within = getattr(self.model, "within", None)
        model = within(SECONDS) if within else self.model
        started = time.monotonic()
        try:
            return model.embed(texts)
        except Exception as error:  # a provider may be anybody's
            if time.monotonic() - started < min(SLOW, SECONDS):
                raise
            self._remember()
            if isinstance(error, NoModel):
                raise NoModel(error.message, f"{error.remedy} {_again(PAUSE)}") from error
            raise NoModel(f"The model {self.name!r} failed ({error}).", _again(PAUSE)) from error

    def _left(self) -> float:
        """Seconds until it is asked again."""
        try:
            mark, _, since = self.state.flag(_FLAG).partition(" ")
            left = float(since) + PAUSE - self._clock()
        except (BrainError, ValueError):
            return 0.0
        return left if mark == self._mark() and 0 < left <= PAUSE else 0.0

    def _remember(self) -> None:
        with suppress(BrainError):
            self.state.set_flag(_FLAG, f"{self._mark()} {self._clock()}")

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
