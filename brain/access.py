"""Who may read and write what. Policy, not isolation: an agent with a shell is the same OS user.

| actor   | reads                    | writes  |
|---------|--------------------------|---------|
| person  | all                      | all     |
| admin   | all                      | all     |
| project | its own, and the admin's | its own |
| skill   | what it is handed        | nothing |
"""

from __future__ import annotations

from brain.errors import NotFound
from brain.record import NamedTuple

ADMIN = "admin"
RANKS = ("skill", "project", "admin")  # from the least to the most


class Actor(NamedTuple):
    """Who acts: the person at the machine, or an agent by the name of its folder.

    `type` is person, admin, project or skill; `session` is the conversation it acts in, if any.
    """

    name: str = "person"
    type: str = "person"
    project: str = ""
    session: str = ""


PERSON = Actor()


def may(actor: Actor, action: str, owner: str) -> bool:
    """May the actor `read` or `write` what this agent owns ('' for notes that no agent owns)?"""
    if actor.type in ("person", "admin"):
        return True
    if actor.type != "project":
        return False
    if action == "read":
        return owner in ("", actor.name, ADMIN)
    # a project agent called `admin`, or nothing at all, gains nothing by its name
    return owner == actor.name and owner not in ("", ADMIN)


def readable(actor: Actor) -> tuple[str, ...] | None:
    """The owners whose entries the actor may read; None for all. `()` is nobody."""
    if actor.type in ("person", "admin"):
        return None
    return ("", actor.name, ADMIN) if actor.type == "project" else ()


def refuse_unseen(agent: str, owners: tuple[str, ...] | None) -> None:
    """NotFound for an agent, if it is named, that is not among these owners; None are all. That
    there is one is not told either."""
    if agent and owners is not None and agent not in owners:
        raise NotFound(f"There is no agent {agent!r}.", "Leave --agent out.")


def effective(claim: str, registered: str) -> str:
    """The type an agent really has: the lower of what its AGENT.md says and what this machine's
    registry says. A word that is no type counts as the lowest."""
    ranks = [RANKS.index(word) if word in RANKS else 0 for word in (claim, registered)]
    return RANKS[min(ranks)]
