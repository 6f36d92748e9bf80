"""An open vault: its settings, paths, index, journal, store, events and clock.

Operations take it as their first argument and pass it down. Nothing here calls an operation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, partial

from brain import access, events
from brain import sync as syncing
from brain._tuples import NamedTuple
from brain.errors import BrainError, IndexDamaged
from brain.events import Events, sync_payload, write_payload
from brain.formats import brain_yaml
from brain.index import read
from brain.index.db import Index
from brain.model import Event
from brain.sync import Delta, Progress, Stats
from brain.timestamps import to_utc
from brain.vault import files, identity, layout
from brain.vault.layout import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from brain.embed import Provider
    from brain.embed.meanings import Meanings
    from brain.index.vectors import Vectors
    from brain.journal.writer import Journal
    from brain.state import State
    from brain.store import Store

Clock = Callable[[], datetime]
MOST_COMPARED = 20  # memories that a person typed since the last sync


class Freshness(NamedTuple):
    """The freshness of an answer. `stale` lists the parts that may be out of date, and why."""

    fresh: bool
    as_of: str
    stale: tuple[str, ...] = ()


class OpenVault:
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    `watched` is set by a process that follows the vault itself; then only the brain folder is
    checked before an answer, and the watcher is trusted for the sources. `provider` replaces the
    `vectorModel` of the settings: any object with `embed(texts)`. `here` is the current folder of
    the user; files may be named relative to it. `environ` says where clients keep their files.
    `engine` is a full-text engine of SQLite, "fts5" or "fts4"; "auto" takes the best there is.
    `read_only` turns all writing but that of the index off.
    """

    provider: Provider | None = None
    here = ""
    environ: Mapping[str, str] = {}
    writes = 0  # calls of the store

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
        self.watched = False
        self.read_only = read_only
        self.config, self.warnings = brain_yaml.parse(files.settings_text(paths))
        self.paths = paths.with_names(self.config.memoryPath, self.config.sessionsPath)
        self._engine = engine
        self.index = self._index()
        self._claimed = False  # the state folder is known to be this vault's
        self._checked = ""  # when the index was last up to date

    @cached_property
    def journal(self) -> Journal:
        """The journal of the vault, of all devices."""
        from brain.journal.writer import Journal

        return Journal(self.paths.folder_path, self.state, self.clock)

    @cached_property
    def state(self) -> State:
        """Data of this machine about the vault."""
        from brain.state import State

        return State(self.paths.state_path)

    @cached_property
    def store(self) -> Store:
        """The store, through which every file is written."""
        from brain.store import Store

        return Store(self.paths, self.config, self.journal, self.state, read_only=self.read_only)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of texts that were embedded on this machine."""
        from brain.index.vectors import Vectors

        return Vectors(self.paths.state_path)

    @cached_property
    def meaning(self) -> Meanings:
        """The model of a hybrid search, with the passages that it has embedded. Nothing is loaded
        yet."""
        from brain.embed import Waited, provider
        from brain.embed.meanings import Meanings
        from brain.search.semantic import passages

        downloads = os.path.join(os.path.dirname(self.paths.state_path), "models")
        model = self.provider or provider(self.config.vectorModel, self.config, downloads)
        waited = Waited(model, self.state)
        return Meanings(waited, self.vectors, self.index, passages, self.today)

    def _index(self) -> Index:
        path = layout.database(self.paths, self.config.dbPath)
        names = str(self.paths.names)
        return Index(path, self.paths.folder_path, self.paths.id, self._engine, names)

    def reload(self) -> None:
        """Read brain.yaml again. After BadConfig the settings are as before."""
        before, paths, index = self.config, self.paths, self.index
        self.config, self.warnings = brain_yaml.parse(files.settings_text(paths))
        self.paths = paths.with_names(self.config.memoryPath, self.config.sessionsPath)
        if (before.dbPath, paths) != (self.config.dbPath, self.paths):
            self.index.close()
            self.index = self._index()
        if "store" in self.__dict__:
            self.store.config, self.store.vault = self.config, self.paths
        if before.vectorModel != self.config.vectorModel or index is not self.index:
            self.__dict__.pop("meaning", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the remaining events unless another process is writing, and close the index."""
        self.write_events(wait=0)
        self.index.close()
        for name in ("state", "vectors"):
            if name in self.__dict__:
                getattr(self, name).close()

    def now(self) -> str:
        return to_utc(self.clock())

    def today(self) -> int:
        """The days since 1970."""
        return int(self.clock().timestamp() // 86400)

    def read(self, path: str) -> bytes:
        """Return the content of a file; empty if it is missing or cannot be read."""
        try:
            return files.read(f"{self.paths.root_path}/{path}", self.config.maxFileSize)[0]
        except OSError:
            return b""

    def owner(self, path: str) -> str:
        """Return the agent that owns this file; '' without an owner."""
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
        known_texts: Mapping[str, bytes] | None = None,
        heads: Mapping[str, bytes] | None = None,
    ) -> Stats:
        """Update the index from the files. `rebuild` starts with an empty index. `known_texts` are
        notes as the index has them; only what changed of those is parsed. `heads` are indexed in
        place of what is in these notes."""
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
            has_news = self._facts(wait)
            if not heads and not stats.cold:
                self._compare(stats.deltas, wait)
            # other records may be all that was known of a memory
            self._record_seen(stats, stats.cold or (has_news and not heads), wait)
        finally:  # the index has the files by now, so no later sync would report them
            self._publish(stats)
        self._checked = started
        return stats

    def _sync(
        self,
        only: list[str] | None,
        wait: float,
        accept_loss: bool,
        known_texts: Mapping[str, bytes] | None = None,
        heads: Mapping[str, bytes] | None = None,
    ) -> Stats:
        promised = self.store.heads() if self.has_pending() else {}
        for path, head in (heads or {}).items():
            promised[path] = partial(_instead, head)
        return syncing.sync(
            self.paths, self.index, self.config, only=only, wait=wait, progress=self.progress,
            accept_loss=accept_loss, promised=promised, written=heads or (),
            before=lambda deltas: self._before(deltas, wait), known_texts=known_texts,
        )  # fmt: skip

    def _before(self, deltas: list[Delta], wait: float) -> None:
        """Record and publish how entries change, in the transaction that changes their rows."""
        self._follow(deltas, wait)
        at = self.now()
        found = [Event(at, "memory:write", write_payload(delta)) for delta in deltas]
        events.insert(self.index, self.index.db, found)

    def _follow(self, deltas: Iterable[Delta], wait: float) -> None:
        """Record new ids of entries that a person edited, so that they keep their history.

        This happens before the index is updated. After a crash in between, the same records are
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
        """Return True if a sync may append to the journal. It never creates one."""
        journal = f"{self.paths.folder_path}/journal"
        return os.path.isdir(journal) and os.access(journal, os.W_OK) and not self.paused

    def _compare(self, deltas: Iterable[Delta], wait: float) -> None:
        """Record the contradictions between memories that a person typed and others, so that
        `brain conflicts` lists them. Their note is not marked."""
        typed = [
            (delta.path, ref, text)
            for delta in deltas
            if delta.scope == "memory"
            for ref, text in (*delta.added, *delta.changed)
        ][:MOST_COMPARED]
        if not typed or not self._may_record():
            return
        from brain.lifecycle.similar import new_contradictions

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
            self._facts(wait)

    def _facts(self, wait: float) -> bool:
        """Read new journal records into the index. Return True if there were any."""
        places = (f"{self.paths.folder_path}/journal", f"{self.paths.state_path}/state.db")
        if any(map(os.path.exists, places)):
            from brain.journal.reader import update_index

            return update_index(self.journal, self.index, wait)
        return False

    def _record_seen(self, stats: Stats, everywhere: bool, wait: float) -> None:
        """Record the creation time of undated memories that are new, in the notes that changed or
        `everywhere`. Without it, the next write to their note would make them young again."""
        if (stats.quiet and not everywhere) or self.paused:
            return
        paths = [*stats.added, *stats.changed, *(new for _, new in stats.moved)]
        found = read.unseen(self.index, None if everywhere else paths)
        if found:
            from brain.state import Use

            now = self.now()
            with suppress(BrainError, OSError):  # the next change tries again
                self.state.add_uses(
                    [Use("seen", ref, last=now, text=created) for ref, created in found]
                )
                self._facts(wait)

    def _publish(self, stats: Stats) -> None:
        if stats.cold and not stats.quiet:
            self.events.publish(self.now(), "memory:sync", sync_payload(stats))
        if stats.cold or self.events.listeners:
            self.write_events()

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out, with an index that has every text that appeared in a note."""
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
            identity.claim(self.paths.state_path, self.paths.root_path, self.paths.id)
        self._claimed = True

    def absorb(self, wait: float = 30.0) -> list[str]:
        """Merge the texts that appeared in notes, write what is pending, and return what went
        wrong. A few stat calls if there is nothing to do."""
        try:
            if self.state.exists() and self.state.has_work(self.paths.root_path):
                self.refuse_loss(wait=wait)
                self.store.absorb(wait)
        except (BrainError, OSError) as error:
            return [str(error)]
        return []

    def refuse_loss(self, wait: float = 30.0) -> None:
        """Raise VaultLooksEmpty if the vault does, before a file is written.

        A file written into a vault that is unmounted or half synced would be all that the next
        sync finds. One stat call each; the vault is walked only if an indexed note is gone.
        """
        note = "/".join([self.paths.brain, *self.paths.names.memory])
        if not os.path.lexists(f"{self.paths.root_path}/{note}") and read.any_known(
            self.index, [note]
        ):
            self.sync(wait=wait)

    def has_pending(self) -> bool:
        """Return True if there are pending writes."""
        return self.state.exists() and self.state.has_pending()

    def has_work(self) -> bool:
        """Return True if a write is pending, or events are not delivered yet."""
        return self.has_pending() or self.events.has_news()

    @property
    def paused(self) -> str:
        """What turns writing off; see `access.paused`."""
        return access.paused(self.config, self.paths.state_path, self.read_only)

    def write_events(self, wait: float = 0.25) -> None:
        """Write events to the index (later, if another process is writing), and call listeners."""
        if self.events.waiting:
            try:
                events.append(self.index, list(self.events.waiting), wait)
                self.events.waiting.clear()
            except BrainError:
                return  # next time
        self.events.deliver(self.index)

    def refresh(self) -> Freshness:
        """Update the index. Return the freshness, with the reason if that was not possible."""
        stale = self.absorb(wait=0.25)
        try:
            self.sync([self.paths.brain] if self.watched else None, wait=0.25)
        except IndexDamaged:
            raise
        except BrainError as error:
            stale.append(str(error))
        stale += [f"{path} {why}" for path, why in read.stale(self.index)]
        return Freshness(not stale, self._checked, tuple(stale))

    def unchecked(self) -> Freshness:
        """The freshness of an answer without a check."""
        return Freshness(False, self._checked, ("not checked",))

    def repair(self, error: IndexDamaged) -> None:
        """Rebuild the index, after this error."""
        self.index.damaged(error)
        self.sync()


def _instead(head: bytes, _: bytes) -> bytes:
    """Return the text that is indexed in place of the one in a note."""
    return head
