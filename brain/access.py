"""Permissions: actors, owners, and the rules for reading and writing.

This is policy, not isolation: an agent with a shell has all rights of the OS user.

| actor   | reads                    | writes  |
|---------|--------------------------|---------|
| person  | all                      | all     |
| admin   | all                      | all     |
| project | its own, and the admin's | its own |
| skill   | what it is given         | nothing |
"""

from __future__ import annotations

import os

from brain._tuples import NamedTuple
from brain.errors import Denied, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.config import Config

ADMIN = "admin"
RANKS = ("skill", "project", "admin")  # from the fewest rights to the most


class Actor(NamedTuple):
    """The person at the machine, or an agent, named by its folder.

    `type` is person, admin, project or skill. `session` is the conversation in which it acts, if
    any.
    """

    name: str = "person"
    type: str = "person"
    project: str = ""
    session: str = ""


PERSON = Actor()


def may(actor: Actor, action: str, owner: str) -> bool:
    """Return True if the actor may `read` or `write` entries of this owner ('': no owner)."""
    if actor.type in ("person", "admin"):
        return True
    if actor.type != "project":
        return False
    if action == "read":
        return owner in ("", actor.name, ADMIN)
    # a project agent gets no rights from the name `admin` or an empty name
    return owner == actor.name and owner not in ("", ADMIN)


def readable(actor: Actor) -> tuple[str, ...] | None:
    """Return the owners whose entries the actor may read; None for all, () for none."""
    if actor.type in ("person", "admin"):
        return None
    return ("", actor.name, ADMIN) if actor.type == "project" else ()


def refuse_unseen(agent: str, owners: tuple[str, ...] | None) -> None:
    """Raise NotFound if an agent is given that is not among these owners (None: all). The error
    does not reveal whether the agent exists."""
    if agent and owners is not None and agent not in owners:
        raise NotFound(f"There is no agent {agent!r}.", "Leave --agent out.")


def require_admin(actor: Actor, action: str) -> None:
    """Raise Denied unless the actor is a person or an admin agent."""
    if actor.type not in ("person", "admin"):
        raise Denied(f"{actor.name} may not {action}.", "Ask the admin agent or a person.")


def lower_type(claim: str, registered: str) -> str:
    """Return the lower of the type in AGENT.md and the type in the registry. An unknown type counts
    as the lowest."""
    ranks = [RANKS.index(word) if word in RANKS else 0 for word in (claim, registered)]
    return RANKS[min(ranks)]


def paused(config: Config, state_path: str, read_only: bool) -> str:
    """Return the reason why writing is off: `--read-only`, the name of a setting, or `pause` for
    `brain pause`; '' if writing is on."""
    if read_only:
        return "--read-only"
    if config.readOnly or not config.memory:
        return "readOnly" if config.readOnly else "memory"
    return "pause" if os.path.lexists(f"{state_path}/paused") else ""
