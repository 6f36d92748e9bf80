"""An open vault that is asked: search, show, list, status; `brain.api` adds what is done to its
memories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from brain import access, wire
from brain.api.keeping import Clock, Freshness, Keeping
from brain.errors import Ambiguous, BadRequest, NotFound, suggest
from brain.index import query
from brain.index.moment import as_date
from brain.index.query import Filters, Row
from brain.model import SCOPES, Problem
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from brain.access import Actor
    from brain.filter_expr import Comparison, Group
    from brain.recall.search import Hit
    from brain.recall.similar import Meaning

    T = TypeVar("T")

__all__ = ["Answer", "Asking", "Clock", "Freshness", "heading_above"]

ID = r"\[id:([^\]]+)\]|(?:\[\[[^\]]*#)?\^([^\]]+)(?:\]\])?"  # as in a prompt, or as in a link
PLACE = r"(.+):([0-9]{1,9})"
KINDS_OF_OTHERS = ("note", "agent", "task", "session", "user", "assistant", "system", "tool")
GONE = r"m-[0-9a-z]{4,8}"  # an id that nothing has; what links to it is not meant


class Answer(NamedTuple):
    """The results of a search, and how fresh they are; `notes` say what else one should know."""

    results: list[Hit]
    freshness: Freshness
    notes: tuple[str, ...] = ()


class Asking(Keeping):
    """What one can ask an open vault. `here` is the folder that a person is in, from which they may
    name files."""

    here = ""

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
        from brain.redact import redact

        if not question.strip():
            raise BadRequest("There is nothing to search for.", "Give at least one word.")
        freshness = self.refresh() if check else self.unchecked()
        filters = self.filters(scopes, kinds, tags, agent, project, since, until, superseded, by)
        most = self.config.searchLimit if limit is None else limit
        given = (self.index, question, filters, most, self.clock(), self.config)
        (hits, about), notes = self.by_meaning(lambda meaning: search(*given, meaning))
        shown = [{"id": h.row.ref, "path": h.row.path} for h in hits]
        asked, _ = redact(question, emails=self.config.redactEmails)
        self.events.publish(self.now(), "memory:search", {"query": asked, "results": shown})
        if not hits:
            about = [*about, *self._unknown(filters)]
        return Answer(hits, freshness, (*about, *notes))

    def _unknown(self, filters: Filters) -> list[str]:
        """What there is nothing of, whatever the question."""
        every = Filters(scopes=SCOPES, owners=filters.owners)
        wanted = [(f"is tagged #{t.lstrip('#')}", every._replace(tags=(t,))) for t in filters.tags]
        for project in filters.projects:
            said = f"belongs to a project {project!r}"
            wanted.append((said, every._replace(projects=(project,))))
        return self._surely(
            lambda: [f"Nothing {s}." for s, f in wanted if not query.any_passes(self.index, f)]
        )

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
        access.refuse_unseen(agent, owners)
        return Filters(
            scopes=chosen or Filters().scopes,
            kinds=tuple(self._kind(kind, owners) for kind in kinds),
            tags=tuple(tags),
            agents=(self.agent(agent),) if agent else (),
            projects=(project,) if project else (),
            since=as_date(since),
            until=as_date(until),
            owners=owners,
            superseded=superseded,
        )

    def _kind(self, name: str, owners: tuple[str, ...] | None) -> str:
        """The kind that a person calls so: one that there may be, or one of the vault's own."""
        from brain.kinds import KINDS

        known = {*KINDS, *KINDS_OF_OTHERS}
        if name in known:
            return name
        known |= self._surely(lambda: query.kinds(self.index, owners))
        folded = name.strip().casefold().replace("-", "_")
        if found := {name, folded} & known:
            return name if name in found else folded
        every = sorted(known)
        remedy = suggest(folded, every) or f"Kinds: {', '.join(every)}."
        raise BadRequest(f"There is no kind {name!r}.", remedy)

    def actor(self, by: Actor | str, session: str = "") -> Actor:
        """Who acts, with the rights that this machine gives."""
        from brain.verbs import who

        return who.actor(self, by, session)

    def readable(self, by: Actor | str) -> tuple[str, ...] | None:
        """The agents whose entries an actor may see; None for all."""
        if not by:
            return None
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
                f"There is no agent {name!r}.",
                f"Agents: {', '.join(sorted(owners)) or 'none'}. A folder with an AGENT.md is one.",
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
        for where in self._paths(path):
            if found := seen(self._surely(partial(query.by_place, self.index, where, line))):
                return found[0], line or found[0].line
        if not re.fullmatch(GONE, name) and (found := seen(self._with_words(name))):
            return _the_one(name, found), found[0].line
        raise NotFound(
            f"There is no entry {name!r}.", "Look for it with `brain search` or `brain list`."
        )

    def _paths(self, path: str) -> list[str]:
        """The files that a person may mean: one as the vault names it, or as seen from `here`."""
        import os.path

        root = self.vault.root_path
        seen = os.path.normpath(os.path.join(self.here or root, path))
        return [path, seen.removeprefix(f"{root}/")] if seen.startswith(f"{root}/") else [path]

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
        hits, _ = self._surely(
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
        from brain import filter_expr
        from brain.verbs import knowing

        some = (limit, offset) if not (where or order) else (-1, 0)
        every = self.entries(filters, *some)
        found = self._surely(lambda: knowing.entries(self, every))
        if where.strip():
            wanted = filter_expr.parse(where)
            found = [shape for shape in found if wanted.matches(shape)]
            if not found:
                self._refuse_unknown(wanted, filters)
        if order.strip():
            found = [dict(shape) for shape in filter_expr.parse_order(order).sort(found)]
        return found if some[0] >= 0 else found[offset : offset + limit]

    def _refuse_unknown(self, wanted: Comparison | Group, filters: Filters) -> None:
        """BadRequest if a filter that finds nothing asks for a kind that there is not."""
        own = self._surely(lambda: query.kinds(self.index, filters.owners))
        for kind in wanted.values("kind"):
            if kind not in {each.casefold() for each in own}:
                self._kind(kind, filters.owners)

    # -- looking after it ------------------------------------------------------------------------

    def problems(self) -> list[tuple[str, Problem]]:
        """All that `brain doctor` shows."""
        from brain.verbs import examining

        found = self._surely(lambda: query.problems(self.index))
        found += [(f"{self.vault.brain}/brain.yaml", problem) for problem in self.warnings]
        return sorted([*found, *self._surely(lambda: examining.large(self))])

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

    def status(self, by: Actor | str = "") -> dict[str, Any]:
        """What is indexed, how fresh it is, and what recall did last; to an agent, as far as it
        may know of that."""
        from brain.verbs import afterwards

        freshness = self.refresh()
        actor = self.actor(by)
        owners = self.readable(actor)
        agents = self._surely(lambda: query.agents(self.index))
        return {
            "vault": self.vault.root_path,
            "brain": self.vault.brain,
            "index": self.index.path,
            "engine": self.index.fts,
            "scopes": self._surely(lambda: query.counts(self.index, owners)),
            "agents": [one for one in agents if owners is None or one["agent"] in owners],
            "problems": len(self.problems()) if owners is None else 0,
            "recall": afterwards.health(self),
            "last_injected": afterwards.last_injected(self, actor),
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
        many = f"{len(found)}" if len(found) < query.MOST_ALIKE else "very many"
        raise Ambiguous(f"{name!r} could be any of {many}: {places}.", "Give its id or path:line.")
    return found[0]
