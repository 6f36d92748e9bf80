"""The thread that owns an open vault, and runs every operation of a server one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from brain import access, daemon
from brain.open_vault import OpenVault

P = ParamSpec("P")
R = TypeVar("R")


class Worker:
    """Opens a vault in a thread of its own. Raises what that raises. Close it at the end.

    A vault can be used in one thread only. `agent` is who uses it here; it must exist.
    """

    def __init__(self, opened: Callable[[], OpenVault], agent: str) -> None:
        self.agent = agent
        self._threads = ThreadPoolExecutor(1, "brain")
        self._vault: OpenVault | None = None
        self._opening: Future[None] = self._threads.submit(self._open, opened)

    def _open(self, opened: Callable[[], OpenVault]) -> None:
        self._vault = opened()
        self.agent = access.resolve(self._vault, self.agent).name

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
        """Close the vault, after the operations that were begun."""
        if self._opening.exception() is None:
            self._threads.submit(self._call, OpenVault.close)
        self._threads.shutdown()
