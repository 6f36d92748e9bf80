"""An open vault: ask it, and remember in it. What every surface (CLI, Python, MCP, HTTP) stands
on."""

from __future__ import annotations

from functools import cached_property

from brain.access import PERSON
from brain.api.asking import Answer, Asking, Clock, Freshness, heading_above
from brain.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    from brain.access import Actor
    from brain.verbs.notes import Note

    Shape = dict[str, Any]

__all__ = ["Answer", "Brain", "Freshness", "heading_above", "open"]


class Brain(Asking):
    """A vault with its index, for one thread. Use it as a context manager, or close it.

    Verbs take the one who acts as `by`: the person at the machine, or the name of an agent. They
    answer with the entry and with what happened: `outcome`, `state` (`written`, or `pending` while
    a person types in the note) and `event`, by which it can be undone. Names of entries are ids in
    any spelling, `path:line`, or words that only one memory has.
    """

    @cached_property
    def notes(self) -> dict[str, Note]:
        """What is known of the notes that were written to."""
        return {}

    def actor(self, by: Actor | str, session: str = "") -> Actor:
        """Who acts, with the rights that this machine gives."""
        from brain.verbs import who

        return who.actor(self, by, session)

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
        by: Actor | str = PERSON,
    ) -> Shape:
        """A new memory of an agent (the admin, unless named).

        `date` is the day to begin with; False for none, None for what the setting says. The
        outcome is `added`, `duplicate` (nothing was written: the shape is of what is there) or
        `conflict` (written, and linked to what it contradicts).
        """
        from brain.verbs.remembering import Wanted, remember

        wanted = Wanted(
            text, kind, tuple(tags), section, tuple(links), tuple(supersedes), (), source,
            confidence, importance, why, date,
        )  # fmt: skip
        return remember(self, wanted, agent, self.actor(by, session))

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
        by: Actor | str = PERSON,
    ) -> Shape:
        """Other words for a memory; its score stays."""
        from brain.verbs import changing

        given = {"confidence": confidence, "importance": importance, "why": why or None}
        given = {key: value for key, value in given.items() if value is not None}
        return changing.update(self, id, text, tuple(tags), given, self.actor(by, session))

    def forget(
        self, id: str, *, why: str = "", session: str = "", by: Actor | str = PERSON
    ) -> Shape:
        """A memory goes, with what is nested in it."""
        from brain.verbs import changing

        return changing.forget(self, id, why, self.actor(by, session))

    def pin(self, id: str, *, session: str = "", by: Actor | str = PERSON) -> Shape:
        """A memory is always part of the context from now on."""
        from brain.verbs import changing

        return changing.pin(self, id, self.actor(by, session))

    def unpin(self, id: str, *, session: str = "", by: Actor | str = PERSON) -> Shape:
        """A memory is pinned no longer."""
        from brain.verbs import changing

        return changing.unpin(self, id, self.actor(by, session))

    def confirm(self, id: str, *, session: str = "", by: Actor | str = PERSON) -> Shape:
        """A candidate counts like any other memory from now on."""
        from brain.verbs import changing

        return changing.confirm(self, id, self.actor(by, session))

    def reinforce(
        self, id: str, *, why: str = "", session: str = "", by: Actor | str = PERSON
    ) -> Shape:
        """A memory was useful: its score rises."""
        from brain.verbs import changing

        weight = self.config.reinforceWeight
        return changing.weigh(self, id, "reinforce", weight, why, self.actor(by, session))

    def demote(
        self, id: str, *, why: str = "", session: str = "", by: Actor | str = PERSON
    ) -> Shape:
        """A memory was wrong, stale or beside the point: its score falls."""
        from brain.verbs import changing

        weight = -self.config.demoteWeight
        return changing.weigh(self, id, "demote", weight, why, self.actor(by, session))

    def link(
        self,
        id: str,
        to: str,
        *,
        as_: str = "relates_to",
        session: str = "",
        by: Actor | str = PERSON,
    ) -> Shape:
        """A memory gets a typed link to another one, or to a note."""
        from brain.verbs import changing

        return changing.link(self, id, to, as_, self.actor(by, session))

    def unlink(
        self,
        id: str,
        to: str,
        *,
        as_: str = "relates_to",
        session: str = "",
        by: Actor | str = PERSON,
    ) -> Shape:
        """A memory loses such a link."""
        from brain.verbs import changing

        return changing.link(self, id, to, as_, self.actor(by, session), gone=True)

    def tag(
        self,
        id: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        session: str = "",
        by: Actor | str = PERSON,
    ) -> Shape:
        """Tags of a memory come and go."""
        from brain.verbs import changing

        return changing.tag(self, id, tuple(add), tuple(remove), self.actor(by, session))

    def move(self, id: str, section: str, *, session: str = "", by: Actor | str = PERSON) -> Shape:
        """A memory goes to another section of its note."""
        from brain.verbs import changing

        return changing.move(self, id, section, self.actor(by, session))


def open(path: str | Path, *, state: Path | None = None, clock: Clock | None = None) -> Brain:
    """Open the vault that holds `path`. `state` is where this machine's local files go."""
    import os

    home = state or layout.state_home(os.environ)
    return Brain(layout.find(path, home), clock)
