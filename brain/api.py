"""The Python interface: a Brain is an open vault with one method per operation."""

from __future__ import annotations

from brain import access
from brain.open_vault import OpenVault
from brain.operations import doctor, find, lookup, semantic
from brain.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any, Concatenate, ParamSpec, Self, TypeVar

    from brain.access import Actor
    from brain.context.recall import Rerank
    from brain.events import Events
    from brain.open_vault import Clock
    from brain.verbs.recalling import Context

    Shape = dict[str, Any]
    P = ParamSpec("P")
    R = TypeVar("R")


def method(operation: Callable[Concatenate[OpenVault, P], R]) -> Callable[Concatenate[Brain, P], R]:
    """Return a method of Brain that calls this operation with its vault."""

    def call(self: Brain, /, *args: P.args, **options: P.kwargs) -> R:
        return operation(self.vault, *args, **options)

    call.__name__, call.__doc__ = operation.__name__, operation.__doc__
    return call


class Brain:
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    Verbs take the one who acts as `by`: the person at the machine, or the name of an agent. They
    answer with the entry and with what happened: `outcome`, `state` (`written`, or `pending` while
    a person types in the note) and `event`, by which it can be undone. Names of entries are ids in
    any spelling, `path:line`, or words that only one memory has.
    """

    def __init__(self, vault: OpenVault) -> None:
        self.vault = vault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _actor(self, by: Actor | str, session: str = "") -> Actor:
        return access.resolve(self.vault, by, session)

    def close(self) -> None:
        """Index what was written, and close the vault."""
        self.vault.close()

    @property
    def events(self) -> Events:
        """Events of this vault, to subscribe to."""
        return self.vault.events

    search = method(find.search)
    show = method(find.show)
    filters = method(lookup.filters)
    entries = method(find.entries)
    listed = method(find.listed)
    place = method(find.place)
    status = method(doctor.status)
    problems = method(doctor.problems)
    healthy = method(doctor.healthy)
    examined = method(doctor.examined)
    learn = method(semantic.add_vectors)
    sync = method(OpenVault.sync)
    refresh = method(OpenVault.refresh)

    def remember(
        self,
        text: str,
        *,
        kind: str = "",
        tags: Iterable[str] = (),
        section: str = "",
        links: Iterable[str] = (),
        supersedes: Iterable[str] = (),
        source: str = "",
        confidence: float | None = None,
        importance: float | None = None,
        session: str = "",
        why: str = "",
        date: str | bool | None = None,
        agent: str = "",
        by: Actor | str = "",
    ) -> Shape:
        """A new memory of an agent (the admin, unless named).

        `date` is the day to begin with; False for none, None for what the setting says. The
        outcome is `added`, `duplicate` (the shape is of what is there, which gets the tags and
        links that it lacks) or `conflict` (written, and linked to what it contradicts).
        """
        from brain.verbs.remembering import Wanted, remember

        wanted = Wanted(
            text, kind, _each(tags), section, _each(links), _each(supersedes), source,
            confidence, importance, why, date,
        )  # fmt: skip
        return remember(self.vault, wanted, agent, self._actor(by, session))

    def update(
        self,
        id: str,
        text: str,
        *,
        tags: Iterable[str] = (),
        confidence: float | None = None,
        importance: float | None = None,
        why: str = "",
        session: str = "",
        by: Actor | str = "",
    ) -> Shape:
        """Other words for a memory; its score stays."""
        from brain.verbs import changing

        given = {"confidence": confidence, "importance": importance, "why": why or None}
        given = {key: value for key, value in given.items() if value is not None}
        return changing.update(self.vault, id, text, _each(tags), given, self._actor(by, session))

    def forget(
        self,
        id: str,
        *,
        purge: bool = False,
        why: str = "",
        session: str = "",
        by: Actor | str = "",
    ) -> Shape:
        """A memory goes, with what is nested in it. `purge` also takes its words out of the
        journal, the index and the state folder, and tells where they may still be."""
        from brain.verbs import changing, purging

        if purge:
            return purging.purge(self.vault, id, self._actor(by, session))
        return changing.forget(self.vault, id, why, self._actor(by, session))

    def pin(self, id: str, *, session: str = "", by: Actor | str = "") -> Shape:
        """A memory is always part of the context from now on."""
        from brain.verbs import changing

        return changing.pin(self.vault, id, self._actor(by, session))

    def unpin(self, id: str, *, session: str = "", by: Actor | str = "") -> Shape:
        """A memory is pinned no longer."""
        from brain.verbs import changing

        return changing.unpin(self.vault, id, self._actor(by, session))

    def confirm(self, id: str, *, session: str = "", by: Actor | str = "") -> Shape:
        """A candidate counts like any other memory from now on."""
        from brain.verbs import changing

        return changing.confirm(self.vault, id, self._actor(by, session))

    def reinforce(
        self, id: str, *, why: str = "", session: str = "", by: Actor | str = ""
    ) -> Shape:
        """A memory was useful: its score rises."""
        from brain.verbs import changing

        weight = self.vault.config.reinforceWeight
        return self._judged(
            changing.weigh(self.vault, id, "reinforce", weight, why, self._actor(by, session))
        )

    def demote(self, id: str, *, why: str = "", session: str = "", by: Actor | str = "") -> Shape:
        """A memory was wrong, stale or beside the point: its score falls."""
        from brain.verbs import changing

        weight = -self.vault.config.demoteWeight
        return self._judged(
            changing.weigh(self.vault, id, "demote", weight, why, self._actor(by, session))
        )

    def _judged(self, said: Shape) -> Shape:
        """Learn from it, once it is on record."""
        from brain.verbs import afterwards

        self.vault.journal_ahead = True
        afterwards.judged(self.vault, said["id"], said["delta"] > 0)
        return said

    def link(
        self,
        id: str,
        to: str,
        *,
        as_: str = "relates_to",
        session: str = "",
        by: Actor | str = "",
    ) -> Shape:
        """A memory gets a typed link to another one, or to a note."""
        from brain.verbs import changing

        return changing.link(self.vault, id, to, as_, self._actor(by, session))

    def unlink(
        self,
        id: str,
        to: str,
        *,
        as_: str = "relates_to",
        session: str = "",
        by: Actor | str = "",
    ) -> Shape:
        """A memory loses such a link."""
        from brain.verbs import changing

        return changing.link(self.vault, id, to, as_, self._actor(by, session), gone=True)

    def tag(
        self,
        id: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        session: str = "",
        by: Actor | str = "",
    ) -> Shape:
        """Tags of a memory come and go."""
        from brain.verbs import changing

        return changing.tag(self.vault, id, _each(add), _each(remove), self._actor(by, session))

    def move(self, id: str, section: str, *, session: str = "", by: Actor | str = "") -> Shape:
        """A memory goes to another section of its note."""
        from brain.verbs import changing

        return changing.move(self.vault, id, section, self._actor(by, session))

    def graph(
        self,
        id: str = "",
        *,
        depth: int | None = None,
        agent: str = "",
        format: str = "json",
        by: Actor | str = "",
    ) -> Shape:
        """Return how memories are connected: all of them, or those up to `depth` steps from one.

        `format` is json, or canvas for Obsidian.
        """
        from brain.verbs import relating

        return self.vault.ask(lambda: relating.graph(self.vault, id, depth, agent, format, by))

    # -- what an agent is given --------------------------------------------------------------------

    def recall(
        self,
        question: str,
        *,
        files: Iterable[str] = (),
        text: str = "",
        agent: str = "",
        session: str = "",
        scopes: Iterable[str] = (),
        tasks: bool = False,
        format: str = "claude",
        remaining: int = 100_000,
        budget: int | None = None,
        rerank: Rerank | None = None,
        check: bool = True,
        by: Actor | str = "",
    ) -> Context:
        """What belongs into a prompt about this, within its budget: `.text`, and what explains it.

        `files` are open, `text` is being worked on, `remaining` are the tokens of context that are
        left; `budget` sets the tokens outright. `agent` is for whom: its own memory, and the
        admin's. What is handed out counts as a hit.
        """
        from brain.verbs.recalling import Asked, recall

        asked = Asked(
            question, _each(files), text, agent, session, _each(scopes), tasks, format,
            remaining, budget,
        )  # fmt: skip
        return recall(self.vault, asked, self._actor(by, session), check, rerank)

    def gaps(self, *, agent: str = "", every: bool = False, by: Actor | str = "") -> list[Shape]:
        """Questions that nothing was known about; with `every`, also those that find something
        now. An agent hears of its own."""
        from brain.verbs import missing

        return missing.gaps(self.vault, agent, every, self._actor(by))

    def wanted_tags(self, *, by: Actor | str = "") -> list[Shape]:
        """Memories that were useful for one question and share no tag, with one they could."""
        from brain.verbs import missing

        return missing.tags(self.vault, self._actor(by))

    # -- what happened -----------------------------------------------------------------------------

    def history(self, id: str, *, by: Actor | str = "") -> list[Shape]:
        """What the journal knows of a memory, oldest first; also of one that is gone."""
        from brain.verbs import history

        return history.history(self.vault, id, self._actor(by))

    def audit(
        self,
        *,
        id: str = "",
        who: str = "",
        agent: str = "",
        ops: Iterable[str] = (),
        since: str = "",
        until: str = "",
        limit: int = 50,
        by: Actor | str = "",
    ) -> list[Shape]:
        """What was done, newest first: by `who`, to the memory of `agent`, of these kinds."""
        from brain.verbs import history

        return history.audit(
            self.vault, id=id, who=who, agent=agent, ops=ops, since=since, until=until, limit=limit,
            by=self._actor(by),
        )  # fmt: skip

    def undo(self, event: str = "", *, force: bool = False, by: Actor | str = "") -> Shape:
        """Take back a change, or the last one. StaleFile, showing the difference, if somebody has
        gone on with the entry; `force` takes it back all the same."""
        from brain.verbs import undoing

        self.vault.journal_ahead = True
        return undoing.undo(self.vault, event, force, self._actor(by))

    def revert(
        self, agent: str, since: str = "", *, force: bool = False, by: Actor | str = ""
    ) -> Shape:
        """Take back all that an agent did since then; tells what could not be."""
        from brain.verbs import undoing

        return undoing.revert(self.vault, agent, since, force, self._actor(by))

    def conflicts(self, *, by: Actor | str = "") -> list[Shape]:
        """Memories that contradict each other, and are not resolved."""
        from brain.verbs import conflicts

        return conflicts.conflicts(self.vault, self._actor(by))

    def resolve(self, id: str, keep: str = "", *, by: Actor | str = "") -> Shape:
        """End a conflict, by its event or one of its memories. `keep` supersedes the other."""
        from brain.verbs import conflicts

        return conflicts.resolve(self.vault, id, keep, self._actor(by))

    # -- writing itself ----------------------------------------------------------------------------

    def pending(self) -> list[Shape]:
        """What is promised and not in its note yet."""
        from brain.verbs import waiting

        return waiting.pending(self.vault)

    def release(self, id: str, *, drop: bool = False) -> None:
        """Carry out, or drop, what is blocked because git moved on."""
        self.vault.store.release(id, drop=drop)

    def flush(self) -> int:
        """Put on record what waits on this machine: hits, and what was used together."""
        from brain.verbs import waiting

        self.vault.journal_ahead = True
        return waiting.flush(self.vault)

    def flush_if_due(self) -> list[str]:
        """Do that once a day; says what went wrong."""
        from brain.verbs import waiting

        return waiting.flush_if_due(self.vault)

    def pause(self, paused: bool = True) -> None:
        """Stop, or resume, all writing on this machine."""
        from brain.verbs import waiting

        waiting.pause(self.vault, paused)


def open(path: str | Path, *, state: Path | None = None, clock: Clock | None = None) -> Brain:
    """Open the vault that contains `path`. `state` is the folder for this machine's local files."""
    import os

    home = state or layout.state_home(os.environ)
    return Brain(OpenVault(layout.find(path, home), clock))


def _each(values: Iterable[str]) -> tuple[str, ...]:
    """Some words, or one."""
    return (values,) if isinstance(values, str) else tuple(values)
