"""The Python interface: a Brain, which is an open vault with one method per operation."""

from __future__ import annotations

import os
from threading import get_ident
from weakref import finalize

from brain import operations
from brain.errors import BadRequest, WrongThread
from brain.open_vault import OpenVault
from brain.operations import change, settings
from brain.operations.agents import agent_add, agent_list, agent_register
from brain.operations.conflicts import conflicts, resolve
from brain.operations.context import context
from brain.operations.doctor import doctor, status, sync
from brain.operations.entries import list_, open_, show
from brain.operations.graph import graph
from brain.operations.history import audit, history
from brain.operations.pending import journal_write, pause, pending, resume
from brain.operations.remember import remember, remember_all
from brain.operations.search import search, similar
from brain.operations.session import (
    session_append,
    session_archive,
    session_end,
    session_fork,
    session_list,
    session_show,
    session_start,
)
from brain.operations.session_import import session_import
from brain.operations.undo import revert, undo
from brain.operations.usage import gaps
from brain.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Concatenate, ParamSpec, Self, TypeVar

    from brain.embed import Provider
    from brain.events import Events
    from brain.open_vault import Clock

    P = ParamSpec("P")
    R = TypeVar("R")


def method(operation: Callable[Concatenate[OpenVault, P], R]) -> Callable[Concatenate[Brain, P], R]:
    """Return a method of Brain that calls this operation with the vault of the Brain."""

    def call(brain: Brain, /, *args: P.args, **options: P.kwargs) -> R:
        return operations.run(operation, brain.vault, *args, **options)

    call.__name__, call.__doc__ = operation.__name__.rstrip("_"), operation.__doc__
    call.__wrapped__ = operation  # type: ignore[attr-defined]  # help() shows its signature
    return call


class Brain:
    """An open vault, for one thread. Use it as a context manager, or close it.

    `by` is the actor: the person at the machine, or the name of an agent. `agent` is the owner of
    the memory. An entry is given by an id in any spelling, by `path:line`, or by words that only
    one memory contains. A change returns the entry, the `outcome`, the `state` (`written`, or
    `pending` while a person types in the note) and `event`, the id for `undo`.
    """

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._thread = get_ident()
        # otherwise an index that was not closed would look damaged
        self._close = finalize(self, _close, vault, self._thread)

    @property
    def vault(self) -> OpenVault:
        """The open vault. Raises WrongThread in any thread but the one that opened it."""
        if get_ident() != self._thread:
            raise WrongThread(
                "This Brain was opened in another thread.",
                "Call `brain.open()` in each thread that uses the vault.",
            )
        if not self._close.alive:
            raise BadRequest("This Brain is closed.", "Call `brain.open()` again.")
        return self._vault

    @property
    def events(self) -> Events:
        """The events of this vault; see `Events.subscribe`."""
        return self.vault.events

    def close(self) -> None:
        """Write the remaining events, and close the vault."""
        if self._close.alive:
            self.vault.close()
            self._close.detach()

    def __repr__(self) -> str:
        return f"Brain({self._vault.paths.root_path!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # set up
    config = method(settings.config)
    budget = method(settings.budget)
    alias_list = method(settings.alias_list)
    alias_add = method(settings.alias_add)
    alias_remove = method(settings.alias_remove)
    agent_list = method(agent_list)
    agent_add = method(agent_add)
    agent_register = method(agent_register)
    # find
    search = method(search)
    context = method(context)
    show = method(show)
    list = method(list_)
    similar = method(similar)
    open = method(open_)
    graph = method(graph)
    # write
    remember = method(remember)
    remember_all = method(remember_all)
    update = method(change.update)
    forget = method(change.forget)
    tag = method(change.tag)
    pin = method(change.pin)
    unpin = method(change.unpin)
    link = method(change.link)
    unlink = method(change.unlink)
    move = method(change.move)
    confirm = method(change.confirm)
    reinforce = method(change.reinforce)
    demote = method(change.demote)
    session_start = method(session_start)
    session_append = method(session_append)
    session_show = method(session_show)
    session_list = method(session_list)
    session_end = method(session_end)
    session_fork = method(session_fork)
    session_archive = method(session_archive)
    session_import = method(session_import)
    # review
    history = method(history)
    audit = method(audit)
    undo = method(undo)
    revert = method(revert)
    conflicts = method(conflicts)
    resolve = method(resolve)
    gaps = method(gaps)
    pending = method(pending)
    # maintain
    status = method(status)
    doctor = method(doctor)
    sync = method(sync)
    refresh = method(OpenVault.refresh)
    journal_write = method(journal_write)
    pause = method(pause)
    resume = method(resume)


def _close(vault: OpenVault, thread: int) -> None:
    """Close a vault that the user did not close, if this is the thread that opened it. In another
    thread, SQLite does not allow it."""
    if get_ident() == thread:
        vault.close()


def open(
    path: str | Path,
    *,
    state: Path | None = None,
    clock: Clock | None = None,
    provider: Provider | None = None,
    read_only: bool = False,
) -> Brain:
    """Open the vault that contains `path`.

    `state` is the folder for this machine's local files. `provider` replaces the `vectorModel` of
    the settings: any object with `embed(texts)`. `read_only` turns off all writing, except to the
    index.
    """
    environ = os.environ
    found = layout.find(path, state or layout.state_home(environ))
    vault = OpenVault(found, clock, read_only=read_only)
    vault.environ = environ
    vault.provider = provider
    return Brain(vault)
