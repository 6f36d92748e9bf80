"""The thread that owns an open vault, and runs the operations of a server one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from brain import actors, daemon
from brain.open_vault import OpenVault

P = ParamSpec("P")
R = TypeVar("R")


class Worker:
    """A vault that is open in a thread of its own, because only one thread can use a vault.

    `agent` is the actor of all calls; it must exist. `start` raises the errors of opening.
    """

    def __init__(self, open_vault: Callable[[], OpenVault], agent: str) -> None:
        self.agent = agent
        self._threads = ThreadPoolExecutor(1, "brain")
        self._vault: OpenVault | None = None
        self._opening: Future[None] = self._threads.submit(self._open, open_vault)

    def _open(self, open_vault: Callable[[], OpenVault]) -> None:
        self._vault = open_vault()
        self.agent = actors.resolve(self._vault, self.agent).name

    def start(self) -> None:
        """Wait until the vault is open, and then update the index before the first question."""
        try:
            self._opening.result()
        except BaseException:
            self.close()
            raise
        self._threads.submit(self._call, daemon.rescan)

    def _call(self, function: Callable[[OpenVault], R]) -> R:
        assert self._vault
        return function(self._vault)

    async def run(self, function: Callable[..., R], *args: object, **options: object) -> R:
        """Call a function with the vault and these arguments, in the thread of the vault."""
        call = partial(self._call, lambda vault: function(vault, *args, **options))
        return await asyncio.wrap_future(self._threads.submit(call))

    def close(self) -> None:
        """Close the vault when the submitted operations have ended."""
        if self._opening.exception() is None:
            self._threads.submit(self._call, OpenVault.close)
        self._threads.shutdown()
