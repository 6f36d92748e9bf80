"""An open vault that is kept in step and asked; `brain.api` adds what is done to its memories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property

from brain import config as settings
from brain import sync as syncing
from brain import wire
from brain.errors import (
    Ambiguous,
    BadRequest,
    BrainError,
    Busy,
    IndexDamaged,
    NotFound,
    VaultLooksEmpty,
)
from brain.events import Events
from brain.index import query, ring
from brain.index.db import Index
from brain.index.moment import as_date
from brain.index.query import Filters, Row
from brain.model import SCOPES, Event, Problem
from brain.record import NamedTuple
from brain.sync import Delta, Progress, Stats
from brain.vault import files, layout
from brain.vault.layout import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeVar

    from brain.access import Actor
    from brain.embed import Provider
    from brain.journal import Journal
    from brain.recall.search import Hit
    from brain.recall.similar import Meaning
    from brain.store import Store

    T = TypeVar("T")

Clock = Callable[[], datetime]
ID = r"\[id:([^\]]+)\]|(?:\[\[[^\]]*#)?\^([^\]]+)(?:\]\])?"  # as in a prompt, or as in a link
PLACE = r"(.+):([0-9]{1,9})"


class Freshness(NamedTuple):
    """Whether an answer reflects the vault as it is. `stale` says what does not, and why."""

    fresh: bool
    as_of: str
    stale: tuple[str, ...] = ()


class Answer(NamedTuple):
    """The results of a search, and how fresh they are; `notes` say what else one should know."""

    results: list[Hit]
    freshness: Freshness
    notes: tuple[str, ...] = ()


class Asking:
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    `watched` is set by a process that follows the vault itself; then only the brain folder is
    looked at before an answer, and the watcher is trusted for the sources. `provider` takes the
    place of the `vectorModel` of the settings: any object with `embed(texts)`.
    """

    provider: Provider | None = None

    def __init__(
        self, vault: Vault, clock: Clock | None = None, progress: Progress | None = None
    ) -> None:
        self.vault = vault
        self.clock: Clock = clock or (lambda: datetime.now(UTC))
        self.progress = progress
        self.events = Events()
        self.watched = False
        self.config, self.warnings = settings.parse(files.settings(vault))
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
        return Index(path, seal, self.vault.folder_path, self.config.ftsEngine)

    def reload(self) -> None:
        """Take over a changed brain.yaml; after BadConfig all is as it was."""
        before = self.config
        self.config, self.warnings = settings.parse(files.settings(self.vault))
        if (before.dbPath, before.ftsEngine) != (self.config.dbPath, self.config.ftsEngine):
            self.index.close()
            self.index = self._index()
        if "store" in self.__dict__:
            self.store.config = self.config
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
        return (
            self.clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        )

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
        except IndexDamaged:
            self.index.damaged()
            stats = self._sync(None, wait, accept_loss)
        self._follow(stats, wait)
        self._facts(wait)
        self._checked = started
        self._tell(stats)
        if paths is None or self.vault.brain in paths:
            self._told.clear()
        return stats

    def _sync(self, only: list[str] | None, wait: float, accept_loss: bool) -> Stats:
        return syncing.sync(
            self.vault, self.index, self.config, only=only, wait=wait, progress=self.progress,
            accept_loss=accept_loss, promised=self.store.promised() if self.waiting() else None,
        )  # fmt: skip

    def _follow(self, stats: Stats, wait: float) -> None:
        """An entry whose id comes from its words keeps its history when a person edits it, in a
        vault that has one."""
        pairs = [
            (delta.path, old, new)
            for delta in stats.deltas
            if delta.scope == "memory"
            for old, new in delta.renamed
        ]
        if pairs and not self.paused and os.path.isdir(f"{self.vault.folder_path}/journal"):
            from brain.journal import Entry, event_id

            entries = [
                Entry(event_id(), "alias", "person", new, path, {"old": old})
                for path, old, new in pairs
            ]
            with suppress(BrainError), self.store.locked(wait):
                self.journal.append(entries)

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
                self.store.drain(wait)
        except BrainError as error:
            return [str(error)]
        return []

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
        except (Busy, VaultLooksEmpty) as error:
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
        except IndexDamaged:
            self.index.damaged()
            self.sync()
            return ask()

    # -- asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        scopes: Iterable[str] = (),
        kinds: Iterable[str] = (),
        tags: Iterable[str] = (),
        agent: str = "",
        project: str = "",
        since: str = "",
        until: str = "",
        superseded: bool = False,
        limit: int | None = None,
        check: bool = True,
        by: Actor | str = "",
    ) -> Answer:
        """The best matches for a question; first makes sure that the index is in step.

        Memories that another one supersedes are left out, and what `by` may not read is not there.
        `check=False` leaves that out, for a caller that has just done it; the answer is then
        only as fresh as the last check.
        """
        from brain.recall.search import search

        if not question.strip():
            raise BadRequest("There is nothing to search for.", "Give at least one word.")
        freshness = self.refresh() if check else self.unchecked()
        filters = self.filters(scopes, kinds, tags, agent, project, since, until, superseded, by)
        most = self.config.searchLimit if limit is None else limit
        asked = (self.index, question, filters, most, self.clock(), self.config)
        hits, notes = self.by_meaning(lambda meaning: search(*asked, meaning))
        shown = [{"id": h.row.ref, "path": h.row.path} for h in hits]
        self.events.publish(self.now(), "memory:search", {"query": question, "results": shown})
        return Answer(hits, freshness, tuple(notes))

    def by_meaning(self, ask: Callable[[Meaning | None], T]) -> tuple[T, list[str]]:
        """What `ask` answers, given the meaning to ask by where a hybrid search is set and
        possible, and what one should know about that. Asked again if the index was damaged."""
        if self.config.searchProvider != "hybrid":
            return self._surely(lambda: ask(None)), []
        from brain.verbs import meaning

        return self._surely(lambda: meaning.asking(self, ask))

    def learn(self, budget: float | None = None) -> list[str]:
        """Make what a hybrid search needs and does not have yet, if one is set: all of it, or as
        much as some seconds allow. Says what went wrong."""
        if self.config.searchProvider != "hybrid":
            return []
        from brain.verbs import meaning

        return self._surely(lambda: meaning.learn(self, budget))

    def filters(
        self,
        scopes: Iterable[str] = (),
        kinds: Iterable[str] = (),
        tags: Iterable[str] = (),
        agent: str = "",
        project: str = "",
        since: str = "",
        until: str = "",
        superseded: bool = False,
        by: Actor | str = "",
    ) -> Filters:
        """Filters as a person words them, checked."""
        chosen = tuple(dict.fromkeys(scopes))
        if "all" in chosen:
            chosen = SCOPES
        if unknown := [scope for scope in chosen if scope not in SCOPES]:
            raise BadRequest(
                f"There is no scope {unknown[0]!r}.", f"Scopes: {', '.join(SCOPES)}, all."
            )
        owners = self.readable(by)
        if owners is not None and agent and agent not in owners:
            raise NotFound(f"There is no agent {agent!r}.", "Leave --agent out.")
        return Filters(
            scopes=chosen or Filters().scopes,
            kinds=tuple(kinds),
            tags=tuple(tags),
            agents=(self.agent(agent),) if agent else (),
            projects=(project,) if project else (),
            since=as_date(since),
            until=as_date(until),
            owners=owners,
            superseded=superseded,
        )

    def actor(self, by: Actor | str, session: str = "") -> Actor:
        """Who acts, with the rights that this machine gives."""
        from brain.verbs import who

        return who.actor(self, by, session)

    def readable(self, by: Actor | str) -> tuple[str, ...] | None:
        """The agents whose entries an actor may see; None for all."""
        if not by:
            return None
        from brain import access

        return access.readable(self.actor(by))

    def agent(self, name: str) -> str:
        """The agent that a person calls so: by its folder, or by the id or name in its AGENT.md."""
        folded = name.casefold()
        owners = self._surely(lambda: query.owners(self.index))
        known = {owner.casefold(): owner for owner in owners}
        for said in self._surely(lambda: query.agents(self.index)):
            for key in ("id", "name"):
                known.setdefault(str(said.get(key, "")).casefold(), said["agent"])
        if folded not in known:
            raise NotFound(
                f"There is no agent {name!r}.", f"Agents: {', '.join(sorted(owners)) or 'none'}."
            )
        return known[folded]

    def find(self, name: str, *, owners: tuple[str, ...] | None = None) -> Row:
        """The entry a person means by an id (`m-…`, `^m-…`, `[id:…]`, a prefix), by `path:line`,
        or by words that only one memory has. `owners` are those whose entries may be seen."""
        return self._place(name, owners)[0]

    def _place(self, name: str, owners: tuple[str, ...] | None = None) -> tuple[Row, int]:
        """The entry a person means, and the line of its file that they mean."""
        import re

        self._catch_up()

        def seen(rows: list[Row]) -> list[Row]:
            return [row for row in rows if owners is None or row.agent in owners]

        name = name.strip().removeprefix(f"{self.vault.root_path}/")
        if match := re.fullmatch(ID, name):
            name = match[1] or match[2]
        if found := seen(self._surely(lambda: query.by_ref(self.index, name))):
            return _the_one(name, found), found[0].line
        if found := seen(self._by_another_id(name)):
            return found[0], found[0].line
        path, line = name, 0
        if place := re.fullmatch(PLACE, name):
            path, line = place[1], int(place[2])
        if found := seen(self._surely(lambda: query.by_place(self.index, path, line))):
            return found[0], line or found[0].line
        if found := seen(self._with_words(name)):
            return _the_one(name, found), found[0].line
        raise NotFound(
            f"There is no entry {name!r}.", "Look for it with `brain search` or `brain list`."
        )

    def _by_another_id(self, ref: str) -> list[Row]:
        """The entry that had this id before a person edited it."""
        from brain.index import facts

        if not ref.isascii():
            return []
        others = self._surely(lambda: facts.same(self.index, ref)) - {ref}
        return [row for other in sorted(others) for row in query.by_ref(self.index, other)]

    def _with_words(self, words: str) -> list[Row]:
        """The memories that hold all of these words."""
        from brain.recall.search import search

        wanted = words.casefold().split()
        filters = Filters(scopes=("memory",))
        hits = self._surely(
            lambda: search(self.index, words, filters, 200, self.clock(), self.config)
        )
        return [h.row for h in hits if all(word in h.row.text.casefold() for word in wanted)]

    def show(self, name: str, *, by: Actor | str = "") -> dict[str, Any]:
        """An entry with its links, in its wire shape; of a memory also what it is worth now, and
        where it comes from. Counts as reading it."""
        row = self.find(name, owners=self.readable(by))
        links = self._surely(lambda: query.links_of(self.index, row.id))
        payload = {"type": row.scope, "path": row.path, "size": len(row.text)}
        self.events.publish(self.now(), "memory:read", payload)
        shape = wire.entry(row) | {"links": [wire.link(link) for link in links]}
        from brain.verbs import knowing

        if knowing.is_memory(row):
            shape |= knowing.entries(self, [row])[0] | knowing.provenance(self, row)
        return shape

    def entries(self, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
        """Entries that pass the filters, newest first."""
        self._catch_up()
        return self._surely(lambda: query.listed(self.index, filters, limit, offset))

    def listed(
        self, filters: Filters, where: str = "", order: str = "", limit: int = 50, offset: int = 0
    ) -> list[dict[str, Any]]:
        """Entries that pass the filters and `where` (`importance>=0.7 and kind=decision`), in
        their wire shape with what they are worth now; newest first, or as `order` says."""
        from brain import where as language
        from brain.verbs import knowing

        some = (limit, offset) if not (where or order) else (-1, 0)
        every = self.entries(filters, *some)
        found = self._surely(lambda: knowing.entries(self, every))
        if where.strip():
            wanted = language.parse(where)
            found = [shape for shape in found if wanted.matches(shape)]
        if order.strip():
            found = [dict(shape) for shape in language.order(order).sort(found)]
        return found if some[0] >= 0 else found[offset : offset + limit]

    # -- looking after it ------------------------------------------------------------------------

    def problems(self) -> list[tuple[str, Problem]]:
        """All that `brain doctor` shows."""
        found = self._surely(lambda: query.problems(self.index))
        found += [(f"{self.vault.brain}/brain.yaml", problem) for problem in self.warnings]
        limit = self.config.maxMemorySize
        for path, size in self._surely(lambda: query.large_memories(self.index, limit)):
            message = f"holds {size:,} bytes, over maxMemorySize ({limit:,}); archive what is old"
            found.append((path, Problem(0, "large-memory", message)))
        return sorted(found)

    def healthy(self) -> bool:
        """Is the index sound? If not, it has been built again."""
        if self.index.healthy():
            return True
        self.sync(rebuild=True)
        return False

    def place(self, name: str) -> dict[str, Any]:
        """Where an entry can be opened: its address in Obsidian, its file and line for an
        editor."""
        row, line = self._place(name)
        url = wire.obsidian_url(self.vault.root.name, row, heading_above(row, line))
        file = str(self.vault.root / row.path)
        return {"id": row.ref, "url": url, "path": row.path, "line": line, "file": file}

    def status(self) -> dict[str, Any]:
        """What is indexed, how fresh it is, and what recall did last."""
        from brain.verbs import afterwards

        freshness = self.refresh()
        return {
            "vault": self.vault.root_path,
            "brain": self.vault.brain,
            "index": self.index.path,
            "engine": self.index.fts,
            "scopes": self._surely(lambda: query.counts(self.index)),
            "agents": self._surely(lambda: query.agents(self.index)),
            "problems": len(self.problems()),
            "recall": afterwards.health(self),
            "last_injected": afterwards.last_injected(self),
            **wire.freshness(freshness),
        }


def heading_above(row: Row, line: int) -> str:
    """The nearest heading above a line of a note or a memory; '' if there is none."""
    if row.scope in ("memory", "archive"):
        return row.heading.rpartition(" > ")[2]
    if row.scope != "sources":
        return ""
    from brain.formats import frontmatter, mask, note_md

    _, body_at = frontmatter.split(row.text) if row.line == 1 else ("", 0)
    shown = "\n".join(row.text.split("\n")[: line - row.line + 1])[body_at:]
    if above := note_md.headings(mask.mask(shown)):
        return above[-1].words
    return row.heading.rpartition(" > ")[2] if row.line > 1 else ""


def _the_one(name: str, found: list[Row]) -> Row:
    if len(found) > 1:
        places = ", ".join(f"{row.path}:{row.line} ({row.ref})" for row in found[:5])
        raise Ambiguous(
            f"{name!r} could be any of {len(found)}: {places}.", "Give its id or path:line."
        )
    return found[0]
