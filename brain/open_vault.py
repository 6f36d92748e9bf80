"""An open vault: its settings, paths, index, journal, store, events and clock.

Operations take an open vault as their first argument and pass it on. This module calls no
operation.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property

from brain import access, events
from brain import sync as syncing
from brain._tuples import NamedTuple
from brain.errors import BrainError, IndexDamaged
from brain.events import Events
from brain.formats import brain_yaml
from brain.index import read
from brain.index.db import Index
from brain.model import Event
from brain.sync import NOTHING, Delta, Progress, Stats, sync_payload, write_payload
from brain.timestamps import to_utc
from brain.vault import files, layout
from brain.vault.layout import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from brain.embed import Provider
    from brain.embed.similarity import Meanings
    from brain.index.vectors import Vectors
    from brain.journal.writer import Journal
    from brain.state import State
    from brain.store import Store

Clock = Callable[[], datetime]
MAX_COMPARED = 20  # memories that a person typed and that one sync compares with other memories


class Freshness(NamedTuple):
    """The freshness of a result. `stale` lists the parts that may be out of date, with reasons."""

    fresh: bool
    as_of: str
    stale: tuple[str, ...] = ()


class OpenVault:
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    `watched` is True if a daemon watches the vault. Then only the brain folder is checked before an
    operation, and the daemon updates the sources. `provider` replaces the `vectorModel` of the
    settings: any object with `embed(texts)`. `here` is the current folder of the user; paths may be
    relative to it. `environ` are the environment variables, which locate the files of clients.
    `engine` is a full-text engine of SQLite, "fts5" or "fts4"; "auto" selects the best available
    one. `read_only` turns off all writing, except to the index.
    """

    provider: Provider | None = None
    here = ""
    environ: Mapping[str, str] = {}
    writes = 0  # how often an operation has written with the store
    failures: tuple[str, ...] = ()  # reasons why the last refresh could not update the index

    def __init__(
        self,
        paths: Vault,
        clock: Clock | None = None,
        progress: Progress | None = None,
        engine: str = "auto",
        read_only: bool = False,
    ) -> None:
        self.clock: Clock = clock or (lambda: datetime.now(UTC))
        self.progress = progress
        self.events = Events(lambda: events.newest(self.index))
        self.new_events: deque[Event] = deque(maxlen=events.KEPT)  # not in the index yet
        self.watched = False
        self.read_only = read_only
        self.config, self.warnings = brain_yaml.parse(files.settings_text(paths))
        self.paths = paths.with_names(self.config.memoryPath, self.config.sessionsPath)
        self._engine = engine
        self.index = self._open_index()
        self._claimed = False  # True if the state folder has been claimed for this vault
        self._checked = ""  # time when the index was last up to date

    @cached_property
    def journal(self) -> Journal:
        """The journals of the vault, from all devices."""
        from brain.journal.writer import Journal

        return Journal(self.paths.folder_path, self.state, self.clock)

    @cached_property
    def state(self) -> State:
        """The data of this machine about the vault."""
        from brain.state import State

        return State(self.paths.state_path)

    @cached_property
    def store(self) -> Store:
        """The store, which writes all files."""
        from brain.store import Store

        return Store(self.paths, self.config, self.journal, self.state, read_only=self.read_only)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of the texts that this machine has embedded."""
        from brain.index.vectors import Vectors

        return Vectors(self.paths.state_path)

    @cached_property
    def meaning(self) -> Meanings:
        """The model of a hybrid search and the passages that it has embedded, loaded on first
        use."""
        from brain.embed import Waited, provider
        from brain.embed.similarity import Meanings
        from brain.search.hybrid import passages

        downloads = os.path.join(os.path.dirname(self.paths.state_path), "models")
        model = self.provider or provider(self.config.vectorModel, self.config, downloads)
        waited = Waited(model, self.state)
        return Meanings(waited, self.vectors, self.index, passages, self.today)

    def _open_index(self) -> Index:
        path = layout.database(self.paths, self.config.dbPath)
        names = str(self.paths.names)
        return Index(path, self.paths.folder_path, self.paths.id, self._engine, names)

    def reload(self) -> None:
        """Read brain.yaml again. If it raises BadConfig, the old settings are kept."""
        old_config, paths, index = self.config, self.paths, self.index
        self.config, self.warnings = brain_yaml.parse(files.settings_text(paths))
        self.paths = paths.with_names(self.config.memoryPath, self.config.sessionsPath)
        if (old_config.dbPath, paths) != (self.config.dbPath, self.paths):
            self.index.close()
            self.index = self._open_index()
        if "store" in self.__dict__:
            self.store.config, self.store.vault = self.config, self.paths
        if old_config.vectorModel != self.config.vectorModel or index is not self.index:
            self.__dict__.pop("meaning", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the remaining events, unless another process is writing, and close all
        databases."""
        self.write_events(wait=0)
        self.index.close()
        for name in ("state", "vectors"):
            if name in self.__dict__:
                getattr(self, name).close()

    def now(self) -> str:
        return to_utc(self.clock())

    def today(self) -> int:
        """Return the number of days since 1970."""
        return int(self.clock().timestamp() // 86400)

    def read(self, path: str) -> bytes:
        """Return the content of a file; empty if it is missing or cannot be read."""
        try:
            return files.read(f"{self.paths.root_path}/{path}", self.config.maxFileSize)[0]
        except OSError:
            return b""

    def owner(self, path: str) -> str:
        """Return the agent that owns this file; '' if it has no owner."""
        role = self.paths.role(path)
        return role.agent if role else ""

    # -- updating the index ------------------------------------------------------------------

    def sync(
        self,
        only: Iterable[str] | None = None,
        *,
        rebuild: bool = False,
        accept_loss: bool = False,
        wait: float = 30.0,
        known_texts: Mapping[str, bytes] = NOTHING,
        heads: Mapping[str, bytes] = NOTHING,
    ) -> Stats:
        """Update the index from the files. `rebuild` starts with an empty index. `known_texts` are
        the indexed texts of notes, so that only the changed parts are parsed. `heads` are texts
        that are indexed in place of the content of their notes."""
        started = self.now()
        if rebuild:
            self.write_events()
            self.index.rebuild()
            self.events.skip()
        self.index.check()
        paths = None if only is None else list(only)
        try:
            stats = self._sync(paths, wait, accept_loss, known_texts, heads)
        except IndexDamaged as error:
            self.index.damaged(error)
            stats = self._sync(None, wait, accept_loss)
        try:
            has_news = self._update_facts(wait)
            if not heads and not stats.cold:
                self._record_contradictions(stats.deltas, wait)
            # a memory may be known only from records of other devices
            self._record_seen(stats, stats.cold or (has_news and not heads), wait)
        finally:  # the index is updated, so no later sync would report these changes
            self._publish(stats)
        self._checked = started
        return stats

    def _sync(
        self,
        only: list[str] | None,
        wait: float,
        accept_loss: bool,
        known_texts: Mapping[str, bytes] = NOTHING,
        heads: Mapping[str, bytes] = NOTHING,
    ) -> Stats:
        stats = Stats()
        changes = syncing.sync(
            self.paths, self.index, self.config, stats, only=only, wait=wait,
            progress=self.progress, accept_loss=accept_loss, heads=heads,
            promised=self.store.heads() if self.has_pending() else NOTHING,
            known_texts=known_texts,
        )  # fmt: skip
        with closing(changes):  # an error closes the iterator, so that the changes are not stored
            for deltas in changes:
                self._record_changes(deltas, wait)
        return stats

    def _record_changes(self, deltas: list[Delta], wait: float) -> None:
        """Record and publish changes of entries, in the transaction that changes their rows."""
        self._record_new_ids(deltas, wait)
        now = self.now()
        new_events = [Event(now, "memory:write", write_payload(delta)) for delta in deltas]
        events.insert(self.index, self.index.db, new_events)

    def _record_new_ids(self, deltas: Iterable[Delta], wait: float) -> None:
        """Record new ids of entries that a person edited, so that they keep their history.

        The records are written before the index. After a crash in between, the same records are
        appended again, which does no harm.
        """
        found = [
            (new, delta.path, {"old": old})
            for delta in deltas
            if delta.scope == "memory"
            for old, new in delta.renamed
        ]
        if found and self._may_record():
            self._record("alias", found, wait)

    def _record(
        self, op: str, found: Iterable[tuple[str, str, dict[str, str]]], wait: float
    ) -> None:
        """Append records of the effects of a person's edits, each given as id, path and data."""
        from brain.journal.codec import event_id
        from brain.model import NewRecord

        with self.store.locked(wait):
            self.journal.append([NewRecord(event_id(), op, "person", *each) for each in found])

    def _may_record(self) -> bool:
        """Return True if a sync may append to the journal. A sync never creates a journal."""
        journal = f"{self.paths.folder_path}/journal"
        return os.path.isdir(journal) and os.access(journal, os.W_OK) and not self.paused

    def _record_contradictions(self, deltas: Iterable[Delta], wait: float) -> None:
        """Record contradictions between memories that a person typed and other memories, for
        `brain conflicts`. The notes are not changed."""
        typed = [
            (delta.path, ref, text)
            for delta in deltas
            if delta.scope == "memory"
            for ref, text in (*delta.added, *delta.changed)
        ][:MAX_COMPARED]
        if not typed or not self._may_record():
            return
        from brain.compare.similar import new_contradictions

        found = []
        for path, ref, text in typed:
            owner = self.owner(path)
            others = new_contradictions(self.index, ref, text, (owner, access.ADMIN))
            found += [
                (ref, path, {"type": type, "agent": owner, "other": other})
                for other, type in others.items()
            ]
        if found:
            self._record("conflict", found, wait)
            self._update_facts(wait)

    def _update_facts(self, wait: float) -> bool:
        """Read new journal records into the index. Return True if there were any."""
        places = (f"{self.paths.folder_path}/journal", f"{self.paths.state_path}/state.db")
        if any(map(os.path.exists, places)):
            from brain.journal.reader import update_index

            return update_index(self.journal, self.index, wait)
        return False

    def _record_seen(self, stats: Stats, everywhere: bool, wait: float) -> None:
        """Record the creation time of new undated memories in the changed notes, or `everywhere`.
        Otherwise the next write to their note would change their creation time."""
        if (stats.quiet and not everywhere) or self.paused:
            return
        paths = [*stats.added, *stats.changed, *(new for _, new in stats.moved)]
        unseen = read.undated(self.index, None if everywhere else paths)
        if unseen:
            from brain.state import Use

            now = self.now()
            with suppress(BrainError, OSError):  # the next sync with a change tries again
                self.state.add_uses(
                    [Use("seen", ref, last=now, text=created) for ref, created in unseen]
                )
                self._update_facts(wait)

    def _publish(self, stats: Stats) -> None:
        if stats.cold and not stats.quiet:
            self.publish("memory:sync", sync_payload(stats))
        if stats.cold or self.events.listeners:
            self.write_events()

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the vault for writing. Then merge the texts that other programs saved, and update
        the index, before anything is written."""
        if self.store.is_locked:
            yield
            return
        self.store.refuse_read_only()
        self.refuse_loss()
        with self.store.locked():
            self.claim()
            self.store.absorb()
            self.sync([self.paths.brain])
            yield

    def claim(self) -> None:
        """Give the vault an id if it has none, and record that the state folder is its own."""
        if self._claimed or self.paused:
            return
        if not self.paths.id:
            self.paths = self.store.vault = self.paths._replace(id=self.store.name_vault())
            self.index.id = self.paths.id
        if self.paths.id:
            layout.claim(self.paths.state_path, self.paths.root_path, self.paths.id)
        self._claimed = True

    def absorb(self, wait: float = 30.0) -> list[str]:
        """Merge texts that other programs saved, apply pending writes, and return the errors. If
        there is nothing to do, this takes a few stat calls."""
        try:
            if self.state.exists() and self.state.has_work(self.paths.root_path):
                self.refuse_loss(wait=wait)
                self.store.absorb(wait)
        except (BrainError, OSError) as error:
            return [str(error)]
        return []

    def refuse_loss(self, wait: float = 30.0) -> None:
        """Raise VaultLooksEmpty if the vault seems to be unmounted or half synced.

        Otherwise a file that is written now would be the only file that the next sync finds. This
        takes one stat call; the vault is walked only if the memory note is missing.
        """
        note = "/".join([self.paths.brain, *self.paths.names.memory])
        if not os.path.lexists(f"{self.paths.root_path}/{note}") and read.has_file(
            self.index, [note]
        ):
            self.sync(wait=wait)

    def has_pending(self) -> bool:
        """Return True if there are pending writes."""
        return self.state.exists() and self.state.has_pending()

    def has_work(self) -> bool:
        """Return True if there are pending writes or undelivered events."""
        return self.has_pending() or self.events.has_news()

    @property
    def paused(self) -> str:
        """The reason why writing is off; see `access.paused`."""
        return access.paused(self.config, self.paths.state_path, self.read_only)

    def publish(self, name: str, payload: dict[str, Any]) -> None:
        """Publish an event. `write_events` writes it to the index."""
        self.new_events.append(Event(self.now(), name, payload))

    def write_events(self, wait: float = 0.25) -> None:
        """Write new events to the index, and call the listeners. If another process is writing, the
        next call writes them."""
        if self.new_events:
            try:
                events.append(self.index, list(self.new_events), wait)
                self.new_events.clear()
            except BrainError:
                return  # the next call tries again
        self.events.deliver(self.index)

    def refresh(self) -> Freshness:
        """Update the index. Return the freshness, with the reasons if the update failed."""
        stale = self.absorb(wait=0.25)
        try:
            self.sync([self.paths.brain] if self.watched else None, wait=0.25)
        except IndexDamaged:
            raise
        except BrainError as error:
            stale.append(str(error))
        self.failures = tuple(dict.fromkeys(stale))
        stale = [*self.failures, *(f"{path} {why}" for path, why in read.stale(self.index))]
        return Freshness(not stale, self._checked, tuple(stale))

    def unchecked(self) -> Freshness:
        """Return the freshness of a result for which the index was not updated."""
        return Freshness(False, self._checked, ("not checked",))
