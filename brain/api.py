"""An open vault: sync it, ask it, look at it. What every surface (CLI, Python, MCP, HTTP) stands
on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from brain import config as settings
from brain import sync as syncing
from brain import wire
from brain.errors import Ambiguous, BadRequest, Busy, IndexDamaged, NotFound, VaultLooksEmpty
from brain.events import Events
from brain.index import query, ring
from brain.index.db import Index
from brain.index.query import Filters, Row
from brain.model import SCOPES, Problem
from brain.recall import search as searching
from brain.recall.search import Hit
from brain.sync import Progress, Stats
from brain.vault import files, layout
from brain.vault.layout import Vault

Clock = Callable[[], datetime]
T = TypeVar("T")
_ID = re.compile(r"\[id:([^\]]+)\]|\^(.+)")
_PLACE = re.compile(r"(.+?):(\d+)$")


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether an answer reflects the vault as it is. `stale` says what does not, and why."""

    fresh: bool
    as_of: str
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a search, and how fresh they are."""

    results: list[Hit]
    freshness: Freshness


class Brain:
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    `watched` is set by a process that follows the vault itself; then only the brain folder is
    looked at before an answer, and the watcher is trusted for the sources.
    """

    def __init__(
        self, vault: Vault, clock: Clock | None = None, progress: Progress | None = None
    ) -> None:
        self.vault = vault
        self.clock: Clock = clock or (lambda: datetime.now(UTC))
        self.progress = progress
        self.events = Events()
        self.watched = False
        self.config, self.warnings = settings.parse(files.settings(vault))
        path = layout.database(vault, self.config.dbPath)
        self.index = Index(path, vault.state / "index.seal", str(vault.root), self.config.ftsEngine)

    def __enter__(self) -> Brain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the events that wait, if nobody else is writing, and close the index."""
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
        self.index.rebuild() if rebuild else self.index.check()
        stats = self._surely(
            lambda: syncing.sync(
                self.vault, self.index, self.config, only=only, wait=wait,
                progress=self.progress, accept_loss=accept_loss,
            )
        )  # fmt: skip
        self._tell(stats)
        return stats

    def _tell(self, stats: Stats) -> None:
        if stats.cold and not stats.quiet:
            self.events.publish(self.now(), "memory:sync", wire.stats(stats))
        for delta in stats.deltas:
            self.events.publish(self.now(), "memory:write", wire.delta(delta))
        if stats.deltas or stats.cold:
            self.flush_events()

    def flush_events(self, wait: float = 0.25) -> None:
        """Put what happened where other processes see it; later, if another one is writing."""
        if self.events.waiting:
            try:
                ring.append(self.index, self.events.waiting, wait)
                self.events.waiting.clear()
            except (Busy, IndexDamaged):
                del self.events.waiting[: -ring.SIZE]

    def refresh(self) -> Freshness:
        """Make sure that the index is in step, or say why it could not be made so."""
        only = None
        if self.watched:
            only = [self.vault.brain]
        stale: list[str] = []
        try:
            self.sync(only, wait=0.25)
        except (Busy, VaultLooksEmpty) as error:
            stale.append(str(error))
        stale += [f"{path} {why}" for path, why in self._surely(lambda: query.stale(self.index))]
        return Freshness(not stale, self.now(), tuple(stale))

    def _surely(self, ask: Callable[[], T]) -> T:
        """Ask; if the index turns out to be damaged, build it again and ask once more."""
        try:
            return ask()
        except IndexDamaged:
            self.index.damaged()
            syncing.sync(self.vault, self.index, self.config, progress=self.progress)
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
        limit: int | None = None,
        check: bool = True,
    ) -> Answer:
        """The best matches for a question; first makes sure that the index is in step.

        `check=False` leaves that out, for a caller that has just done it; the answer is then
        only as fresh as the last check.
        """
        if not question.strip():
            raise BadRequest("There is nothing to search for.", "Give at least one word.")
        freshness = self.refresh() if check else Freshness(False, "", ("not checked",))
        filters = self.filters(scopes, kinds, tags, agent, project, since, until)
        most = self.config.searchLimit if limit is None else limit
        hits = self._surely(
            lambda: searching.search(self.index, question, filters, most, self.clock(), self.config)
        )
        if self.events.listeners or check:
            shown = [{"id": h.row.ref, "path": h.row.path} for h in hits]
            self.events.publish(self.now(), "memory:search", {"query": question, "results": shown})
        return Answer(hits, freshness)

    def filters(
        self,
        scopes: Iterable[str] = (),
        kinds: Iterable[str] = (),
        tags: Iterable[str] = (),
        agent: str = "",
        project: str = "",
        since: str = "",
        until: str = "",
    ) -> Filters:
        """Filters as a person words them, checked."""
        chosen = tuple(dict.fromkeys(scopes))
        if "all" in chosen:
            chosen = SCOPES
        if unknown := [scope for scope in chosen if scope not in SCOPES]:
            raise BadRequest(
                f"There is no scope {unknown[0]!r}.", f"Scopes: {', '.join(SCOPES)}, all."
            )
        return Filters(
            scopes=chosen or Filters().scopes,
            kinds=tuple(kinds),
            tags=tuple(tags),
            agents=(self.agent(agent),) if agent else (),
            projects=(project,) if project else (),
            since=_date(since),
            until=_date(until),
        )

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

    def find(self, name: str) -> Row:
        """The entry a person means by an id (`m-…`, `^m-…`, `[id:…]`, a prefix) or `path:line`."""
        if match := _ID.fullmatch(name.strip()):
            name = match.group(1) or match.group(2)
        found = self._surely(lambda: query.by_ref(self.index, name.strip()))
        if not found and (place := _PLACE.fullmatch(name)):
            path, line = place.group(1), int(place.group(2))
            found = self._surely(lambda: query.by_place(self.index, path, line))[:1]
        if not found:
            found = self._surely(lambda: query.by_place(self.index, name, 0))[:1]
        if not found:
            raise NotFound(
                f"There is no entry {name!r}.", "Look for it with `brain search` or `brain list`."
            )
        if len(found) > 1:
            places = ", ".join(f"{row.path}:{row.line} ({row.ref})" for row in found[:5])
            raise Ambiguous(
                f"{name!r} could be any of {len(found)}: {places}.", "Give its path:line."
            )
        return found[0]

    def show(self, name: str) -> tuple[Row, dict[str, Any]]:
        """An entry, and its wire shape with its links. Counts as reading it."""
        row = self.find(name)
        links = self._surely(lambda: query.links_of(self.index, row.id))
        payload = {"type": row.scope, "path": row.path, "size": len(row.text)}
        self.events.publish(self.now(), "memory:read", payload)
        return row, wire.entry(row) | {"links": [wire.link(link) for link in links]}

    def entries(self, filters: Filters, limit: int, offset: int = 0) -> list[Row]:
        """Entries that pass the filters, newest first."""
        return self._surely(lambda: query.listed(self.index, filters, limit, offset))

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

    def url(self, row: Row, line: int = 0) -> str:
        """The address that opens an entry in Obsidian, at the heading above `line` if it has no
        id."""
        heading = heading_above(row, line or row.line)
        return wire.obsidian_url(self.vault.root.name, row, heading)


def heading_above(row: Row, line: int) -> str:
    """The nearest heading above a line of a chunk."""
    for text in reversed(row.text.split("\n")[: line - row.line + 1]):
        words = text.lstrip("#")
        if words != text and len(text) - len(words) <= 6 and words[:1] == " ":
            return words.strip()
    return row.heading.rpartition(" > ")[2] if row.scope in ("memory", "archive") else ""


def _date(text: str) -> str:
    if not text:
        return ""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{text!r} is no date.", "Write it as 2026-02-01.") from None
    return text


def open(path: str | Path, *, state: Path | None = None, clock: Clock | None = None) -> Brain:
    """Open the vault that holds `path`. `state` is where this machine's local files go."""
    import os

    home = state or layout.state_home(os.environ)
    return Brain(layout.find(Path(path), home), clock)
