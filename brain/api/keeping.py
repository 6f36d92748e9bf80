"""An open vault that is kept in step: its index, its store, its events; `brain.api.asking` asks
it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property

from brain import sync as syncing
from brain import wire
from brain.delta import Delta
from brain.errors import BrainError, IndexDamaged
from brain.events import Events
from brain.formats import config_yaml
from brain.index import query, ring
from brain.index.db import Index
from brain.index.moment import told
from brain.model import Event
from brain.record import NamedTuple
from brain.sync import Progress, Stats
from brain.vault import files, layout
from brain.vault.layout import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, TypeVar

    from brain.embed import Provider
    from brain.journal import Journal
    from brain.recall.similar import Meaning
    from brain.store import Store

    T = TypeVar("T")

Clock = Callable[[], datetime]


class Freshness(NamedTuple):
    """Whether an answer reflects the vault as it is. `stale` says what does not, and why."""

    fresh: bool
    as_of: str
    stale: tuple[str, ...] = ()


class Keeping:
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    `watched` is set by a process that follows the vault itself; then only the brain folder is
    looked at before an answer, and the watcher is trusted for the sources. `provider` takes the
    place of the `vectorModel` of the settings: any object with `embed(texts)`.
    """

    provider: Provider | None = None

    def __init__(
        self, vault: Vault, clock: Clock | None = None, progress: Progress | None = None
    ) -> None:
        self.clock: Clock = clock or (lambda: datetime.now(UTC))
        self.progress = progress
        self.events = Events()
        self.watched = False
        self.config, self.warnings = config_yaml.parse(files.settings(vault))
        self.vault = vault.named(self.config.memoryPath, self.config.sessionsPath)
        self.index = self._index()
        self._checked = ""  # when the index was last known to be in step
        self._told: dict[tuple[str, str], str] = {}  # own writes that listeners have heard of
        self._lags = False  # something was put on record that the index does not know yet

    @cached_property
    def journal(self) -> Journal:
        """The journals of the vault."""
        from brain.journal import Journal

        return Journal(self.vault.folder, self.vault.state, self.clock)

    @cached_property
    def store(self) -> Store:
        """The door through which everything is written."""
        from brain.store import Store

        return Store(self.vault, self.config, self.journal)

    @cached_property
    def meaning(self) -> Meaning:
        """The model of a hybrid search, with the vectors that it made; NoModel if there is none."""
        from brain.verbs import meaning

        return meaning.model(self)

    def _index(self) -> Index:
        path = layout.database(self.vault, self.config.dbPath)
        seal = f"{self.vault.state_path}/index.seal"
        names = str(self.vault.names)
        return Index(path, seal, self.vault.folder_path, self.config.ftsEngine, names)

    def reload(self) -> None:
        """Take over a changed brain.yaml; after BadConfig all is as it was."""
        before, vault = self.config, self.vault
        self.config, self.warnings = config_yaml.parse(files.settings(self.vault))
        self.vault = vault.named(self.config.memoryPath, self.config.sessionsPath)
        kept = before.dbPath, before.ftsEngine, vault
        if kept != (self.config.dbPath, self.config.ftsEngine, self.vault):
            self.index.close()
            self.index = self._index()
        if "store" in self.__dict__:
            self.store.config, self.store.vault = self.config, self.vault
        if before.vectorModel != self.config.vectorModel:
            self.__dict__.pop("meaning", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Bring the index in step with what was written here, write the events that wait, if
        nobody else is writing, and close the index."""
        if self._told and self.index.whole:
            with suppress(BrainError):
                self.sync([self.vault.brain], wait=0.25)
        self.flush_events(wait=0)
        self.index.close()

    def now(self) -> str:
        return told(self.clock())

    # -- bringing the index in step ------------------------------------------------------------

    def sync(
        self,
        only: Iterable[str] | None = None,
        *,
        rebuild: bool = False,
        accept_loss: bool = False,
        wait: float = 30.0,
    ) -> Stats:
        """Read what changed since the last time. `rebuild` starts from nothing."""
        started = self.now()
        self.index.rebuild() if rebuild else self.index.check()
        paths = None if only is None else list(only)
        try:
            stats = self._sync(paths, wait, accept_loss)
        except IndexDamaged as error:
            self.index.damaged(error)
            stats = self._sync(None, wait, accept_loss)
        try:
            self._facts(wait)
        finally:  # the index has the files already, so that nobody would find it again
            self._tell(stats)
        self._checked = started
        if paths is None or self.vault.brain in paths:
            self._told.clear()
        return stats

    def _sync(self, only: list[str] | None, wait: float, accept_loss: bool) -> Stats:
        return syncing.sync(
            self.vault, self.index, self.config, only=only, wait=wait, progress=self.progress,
            accept_loss=accept_loss, promised=self.store.promised() if self.waiting() else None,
            before=lambda deltas: self._follow(deltas, wait),
        )  # fmt: skip

    def _follow(self, deltas: Iterable[Delta], wait: float) -> None:
        """An entry whose id comes from its words keeps its history when a person edits it, in a
        vault that has one. Put on record before the index knows, else a crash or another writer in
        between would part the two for good; what is on record twice does no harm."""
        pairs = [
            (delta.path, old, new)
            for delta in deltas
            if delta.scope == "memory"
            for old, new in delta.renamed
        ]
        if pairs and not self.paused and self._has_journal():
            from brain.journal import Entry, event_id

            entries = [
                Entry(event_id(), "alias", "person", new, path, {"old": old})
                for path, old, new in pairs
            ]
            with self.store.locked(wait):
                self.journal.append(entries)

    def _has_journal(self) -> bool:
        """Is there a journal, on a disk that can be written to?"""
        path = f"{self.vault.folder_path}/journal"
        return os.path.isdir(path) and os.access(path, os.W_OK)

    def _facts(self, wait: float) -> None:
        """What the journals say, into the index, if there are any."""
        places = (f"{self.vault.folder_path}/journal", f"{self.vault.state_path}/spool.jsonl")
        if any(map(os.path.exists, places)):
            from brain.journal import refresh

            refresh(self.journal, self.index, wait)

    def _tell(self, stats: Stats) -> None:
        if stats.cold and not stats.quiet:
            self.events.publish(self.now(), "memory:sync", wire.stats(stats))
        for delta in stats.deltas:
            rest = self._untold(delta)
            if rest == delta:
                self.events.publish(self.now(), "memory:write", wire.delta(delta))
                continue
            self.events.keep(Event(self.now(), "memory:write", wire.delta(delta)))
            if rest.added or rest.changed or rest.removed:
                self.events.hear(Event(self.now(), "memory:write", wire.delta(rest)))
        if stats.deltas or stats.cold:
            self.flush_events()

    def wrote(self, delta: Delta) -> None:
        """Tell who listens here what was just written. Other processes hear of it, once, from
        whichever process finds it in the files first."""
        for ref, text in (*delta.added, *delta.changed):
            self._told[delta.path, ref] = text
        for ref, _ in delta.removed:
            self._told[delta.path, ref] = ""
        if self.events.listeners:
            self.events.hear(Event(self.now(), "memory:write", wire.delta(delta)))

    def _untold(self, delta: Delta) -> Delta:
        """A change without what listeners have heard of."""
        if not self._told:
            return delta

        def new(pairs: tuple[tuple[str, str], ...], gone: bool) -> tuple[tuple[str, str], ...]:
            return tuple(
                (ref, text)
                for ref, text in pairs
                if self._told.pop((delta.path, ref), None) != ("" if gone else text)
            )

        return delta._replace(
            added=new(delta.added, False),
            changed=new(delta.changed, False),
            removed=new(delta.removed, True),
        )

    def drain(self, wait: float = 30.0) -> list[str]:
        """Carry out what waits to be written; says what could not be. One stat call if nothing
        waits."""
        try:
            if self.waiting() and not self.paused:
                self.refuse_loss(wait=wait)
                self.store.drain(wait)
        except (BrainError, OSError) as error:
            return [str(error)]
        return []

    def refuse_loss(self, paths: Iterable[str] = (), wait: float = 30.0) -> None:
        """Before these files are written: VaultLooksEmpty if the vault does. What is written into
        a vault that is unmounted or half synced would be all that the next sync finds. One stat
        call each; the vault is walked only if a note is gone that the index knows."""
        note = "/".join([self.vault.brain, *self.vault.names.memory])
        gone = [p for p in {note, *paths} if not os.path.lexists(f"{self.vault.root_path}/{p}")]
        if gone:
            known = self._surely(lambda: query.any_known(self.index, gone))
            if known:
                self.sync(wait=wait)

    def waiting(self) -> bool:
        """Is anything promised that is not settled? One stat call."""
        try:
            return os.stat(f"{self.vault.state_path}/intents.jsonl").st_size > 0
        except OSError:
            return False

    @property
    def paused(self) -> bool:
        """Is nothing to be written, by the settings or by `brain pause`?"""
        off = self.config.readOnly or not self.config.memory
        return off or os.path.lexists(f"{self.vault.state_path}/paused")

    def flush_events(self, wait: float = 0.25) -> None:
        """Put what happened where other processes see it; later, if another one is writing."""
        if self.events.waiting:
            try:
                ring.append(self.index, list(self.events.waiting), wait)
                self.events.waiting.clear()
            except BrainError:
                return  # they wait for the next time

    def refresh(self) -> Freshness:
        """Make sure that the index is in step, or say why it could not be made so."""
        stale = self.drain(wait=0.25)
        try:
            self.sync([self.vault.brain] if self.watched else None, wait=0.25)
        except IndexDamaged:
            raise
        except BrainError as error:
            stale.append(str(error))
        stale += [f"{path} {why}" for path, why in self._surely(lambda: query.stale(self.index))]
        return Freshness(not stale, self._checked, tuple(stale))

    def unchecked(self) -> Freshness:
        """How fresh an answer is that nobody has checked for."""
        return Freshness(False, self._checked, ("not checked",))

    def _catch_up(self) -> None:
        """See what was written here, even if nobody has asked for a refresh."""
        if self._told or self._lags:
            self._lags = False
            self.refresh()

    def _surely(self, ask: Callable[[], T]) -> T:
        """Ask; if the index turns out to be damaged, build it again and ask once more."""
        try:
            return ask()
        except IndexDamaged as error:
            self.index.damaged(error)
            self.sync()
            return ask()
