"""Create agents, list them, and register them on this machine."""

from __future__ import annotations

import os
import re
import unicodedata

from brain import access, actors, config
from brain.access import ADMIN, PERSON, RANKS
from brain.errors import BadRequest, Denied, NotFound
from brain.index import read
from brain.operations import apply
from brain.operations.results import Agent
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.access import Actor
    from brain.open_vault import OpenVault

_NAME = re.compile(r"\w[\w.-]*( [\w.-]+)*\Z")  # safe as a folder name on every system, and in YAML
_MAX_NAME = 60  # characters
_AGENT = """\
---
type: {type}
id: agent_{id}
name: {name}
---

# {title}

{about}
"""


def agent_add(
    vault: OpenVault, name: str, *, type: str = "project", about: str = "", by: Actor | str = ""
) -> Agent:
    """Create an agent: a folder with an `AGENT.md`. The memory of the agent will be in the same
    folder. Only a person may create an agent."""
    _require_person(vault, by, "create agents")
    _refuse_type(type)
    name = unicodedata.normalize("NFC", name.strip())
    if not _NAME.match(name) or len(name) > _MAX_NAME or name.endswith("."):
        raise BadRequest(
            f"{name!r} is not a name for an agent.",
            "Use letters, digits, `-`, `_`, `.` and single spaces, at most 60.",
        )
    if rules := apply.redacted(vault, f"{name}\n{about}")[1]:
        raise BadRequest(
            "The name and purpose of an agent must not contain secrets or personal data:"
            f" {', '.join(rules)}.",
            "Use other words.",
        )
    with vault.writing():
        vault.store.refuse_if_off()
        _refuse_used_name(vault, name)
        path = f"{_new_home(vault, name)}/AGENT.md"
        words = " ".join(about.split()) or "Describe its purpose here."
        text = _AGENT.format(
            type=type, id=re.sub(r"[^\w-]", "_", name), name=config.to_yaml(name), title=name,
            about=words,
        )  # fmt: skip
        files.create(vault.paths.root / path, text)
        vault.sync([vault.paths.brain])
    return _agent(vault, name, path)


def _refuse_used_name(vault: OpenVault, name: str) -> None:
    """Raise BadRequest if an agent has this name already. Case and accents do not matter."""
    names = [ADMIN, PERSON.name, *(read.owners(vault.index) - {name})]
    for found in read.agents(vault.index):
        names += [str(found.get(key, "")) for key in ("agent", "id", "name")]
    for other in names:
        if _folded(other) == _folded(name):
            raise BadRequest(f"There is an agent {other!r} already.", "See `brain agent list`.")


def _new_home(vault: OpenVault, name: str) -> str:
    """Return the folder for a new agent: the folder of its existing files, else a folder in the
    project with the same name, else a folder in agents/."""
    if name in read.owners(vault.index):
        return actors.home(vault, name)
    is_project = os.path.isdir(f"{vault.paths.folder_path}/projects/{name}")
    folder = f"projects/{name}/agent" if is_project else f"agents/{name}"
    return f"{vault.paths.brain}/{folder}"


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in plain if not unicodedata.combining(char))


def agent_list(vault: OpenVault, *, by: Actor | str = "") -> list[Agent]:
    """Return the agents that the actor may read, each with its type on this machine."""
    owners = access.readable(actors.resolve(vault, by))
    vault.refresh()
    return [
        _agent(vault, each["agent"], each["path"])
        for each in read.agents(vault.index)
        if owners is None or each["agent"] in owners
    ]


def agent_register(vault: OpenVault, name: str, *, type: str = "", by: Actor | str = "") -> Agent:
    """Register an agent on this machine. `type` is the highest type that it may have here; the
    default is the type that its `AGENT.md` claims now. Only a person may register an agent."""
    _require_person(vault, by, "register agents")
    vault.refresh()
    found = actors.agent_name(vault, name)
    path = next((a["path"] for a in read.agents(vault.index) if a["agent"] == found), "")
    if not path:
        raise NotFound(f"{found} has no AGENT.md.", f"Create it: `brain agent add {found}`.")
    highest = type or actors.claimed_type(vault, found)
    _refuse_type(highest)
    with vault.writing():
        vault.store.refuse_if_off()
        actors.register(vault, found, highest)
    return _agent(vault, found, path)


def _agent(vault: OpenVault, name: str, path: str) -> Agent:
    """Return an agent with its type. Agents with the same name have the lowest type."""
    registered = actors.registry(vault).get(name)
    try:
        effective = actors.resolve(vault, name).type
    except Denied:
        effective = RANKS[0]
    return Agent(
        name=name, type=effective, claims=actors.claimed_type(vault, name), registered=registered,
        path=path,
    )  # fmt: skip


def _require_person(vault: OpenVault, by: Actor | str, action: str) -> None:
    actor = actors.resolve(vault, by)
    if actor.type != PERSON.type:
        raise Denied(f"{actor.name} may not {action}.", "Ask a person.")


def _refuse_type(type: str) -> None:
    if type not in RANKS:
        raise BadRequest(f"There is no type {type!r}.", f"One of: {', '.join(RANKS)}.")
