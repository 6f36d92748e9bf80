"""Permissions: who acts, whose memory it is, and who may read and write what.

This is policy, not isolation: an agent with a shell is the same OS user.

| actor   | reads                    | writes  |
|---------|--------------------------|---------|
| person  | all                      | all     |
| admin   | all                      | all     |
| project | its own, and the admin's | its own |
| skill   | what it is given         | nothing |

An agent is a folder with an AGENT.md. Its type is the lower of the one in that file and the one in
this machine's registry (`agents.json` in the state folder). Without a registry entry, the agent of
the brain folder itself is the admin, and any other one is a project agent. An agent whose AGENT.md
cannot be read may do nothing.
"""

from __future__ import annotations

import os

from brain._tuples import NamedTuple
from brain.errors import BrainError, Denied, NotFound
from brain.index import read
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.config import Config
    from brain.open_vault import OpenVault

ADMIN = "admin"
RANKS = ("skill", "project", "admin")  # from the least to the most
REGISTRY = "agents.json"
UNREADABLE = ("frontmatter", "duplicate-key", "invalid-utf8", "nul", "conflict-markers")
_MOST = 1_000_000  # bytes of an AGENT.md that are read


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
    """Return True if the actor may `read` or `write` what this agent owns ('': no agent)."""
    if actor.type in ("person", "admin"):
        return True
    if actor.type != "project":
        return False
    if action == "read":
        return owner in ("", actor.name, ADMIN)
    # a project agent called `admin`, or nothing at all, gains nothing by its name
    return owner == actor.name and owner not in ("", ADMIN)


def readable(actor: Actor) -> tuple[str, ...] | None:
    """Return the owners whose entries the actor may read; None for all, () for none."""
    if actor.type in ("person", "admin"):
        return None
    return ("", actor.name, ADMIN) if actor.type == "project" else ()


def refuse_unseen(agent: str, owners: tuple[str, ...] | None) -> None:
    """Raise NotFound for a given agent that is not among these owners (None: all). The error does
    not reveal whether the agent exists."""
    if agent and owners is not None and agent not in owners:
        raise NotFound(f"There is no agent {agent!r}.", "Leave --agent out.")


def require_admin(actor: Actor, action: str) -> None:
    """Raise Denied unless the actor is a person or an admin agent."""
    if actor.type not in ("person", "admin"):
        raise Denied(f"{actor.name} may not {action}.", "Ask the admin agent or a person.")


def effective(claim: str, registered: str) -> str:
    """Return the lower of the type in AGENT.md and the type in the registry. An unknown word
    counts as the lowest."""
    ranks = [RANKS.index(word) if word in RANKS else 0 for word in (claim, registered)]
    return RANKS[min(ranks)]


# -- agents of a vault ---------------------------------------------------------------------------


def resolve(vault: OpenVault, by: Actor | str, session: str = "") -> Actor:
    """Return the actor of this name: the person, or an agent with its rights on this machine. The
    session is recorded with every change, so secrets are removed from it."""
    if isinstance(by, str):
        by = PERSON if by in ("", PERSON.name) else _agent(vault, by)
    if session := session or by.session:
        from brain.redact import redact

        by = by._replace(session=redact(session, emails=vault.config.redactEmails)[0])
    return by


def _agent(vault: OpenVault, name: str) -> Actor:
    try:
        place = home(vault, name)
    except NotFound:  # without the names of others, as anybody could be asking
        remedy = "Check --by. A folder with an AGENT.md is an agent."
        raise NotFound(f"There is no agent {name!r}.", remedy) from None
    _refuse_twins(vault, place.split("/")[1:])
    role = vault.paths.role(f"{place}/AGENT.md")
    assert role
    claim = _claim(vault, place) or _usual(role.agent)
    registered = registry(vault).get(role.agent, _usual(role.agent))
    return Actor(role.agent, effective(claim, registered), role.project)


def _refuse_twins(vault: OpenVault, folders: list[str]) -> None:
    """Raise Denied for an agent and a project of one name, which would share their rights."""
    if len(folders) > 1:
        twins = [f"{top}/{folders[1]}" for top in ("agents", "projects")]
        if all(os.path.isdir(f"{vault.paths.folder_path}/{twin}") for twin in twins):
            both = " and ".join(twins)
            raise Denied(f"{both} have one name, so neither can act.", "Rename one of them.")


def _claim(vault: OpenVault, place: str) -> str:
    """Return the type in an agent's AGENT.md: '' if it has no type, the lowest if the file cannot
    be read."""
    from brain.formats import frontmatter, note_md, text

    try:
        data, _ = files.read(f"{vault.paths.root_path}/{place}/AGENT.md", _MOST)
    except FileNotFoundError:
        return ""
    except OSError:
        return RANKS[0]
    document = note_md.parse_agent(data)
    words, _ = text.decode(data)
    open_ended = words.startswith("---") and not frontmatter.split(words)[1]
    if open_ended or any(problem.code in UNREADABLE for problem in document.problems):
        return RANKS[0]
    return str(document.properties["type"]) if "type" in document.properties else ""


def registry(vault: OpenVault) -> dict[str, str]:
    """Return the types of agents on this machine. A damaged registry is an error."""
    import json

    path = f"{vault.paths.state_path}/{REGISTRY}"
    try:
        with open(path, encoding="utf-8") as file:
            types = json.load(file)
        return {str(name): str(type) for name, type in types.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise BrainError(f"{path} cannot be read: {error}.", "Fix or delete it.") from None


def claimed_type(vault: OpenVault, agent: str) -> str:
    """Return the type that an agent's AGENT.md claims; without one, the usual type."""
    return _claim(vault, home(vault, agent)) or _usual(agent)


def _usual(agent: str) -> str:
    return ADMIN if agent == ADMIN else "project"


def register(vault: OpenVault, agent: str, type: str) -> None:
    """Set the highest type of an agent in the registry of this machine.

    The caller holds the store's lock."""
    import json

    text = json.dumps(registry(vault) | {agent: type}, ensure_ascii=False, indent=2)
    files.write_atomically(f"{vault.paths.state_path}/{REGISTRY}", f"{text}\n".encode())


def memory_note(vault: OpenVault, agent: str) -> str:
    """Return the path of an agent's memory note, which may not exist yet."""
    return "/".join([home(vault, agent), *vault.paths.names.memory])


def home(vault: OpenVault, agent: str) -> str:
    """Return the folder of an agent, as a path in the vault. `agent` is the name of the folder, or
    the id or name in its AGENT.md. Raises NotFound."""
    top = vault.paths.brain
    if agent in ("", ADMIN):
        return top
    marks = ("AGENT.md", "/".join(vault.paths.names.memory))
    if not {"", ".", ".."} & set(agent.split("/")):
        for folder in (f"agents/{agent}", f"projects/{agent}/agent", f"projects/{agent}", agent):
            if any(os.path.isfile(f"{vault.paths.folder_path}/{folder}/{n}") for n in marks):
                return f"{top}/{folder}"
    vault.refresh()
    named = agent_name(vault, agent)
    if named != agent:
        return home(vault, named)
    # it owns an entry, and has no note of its own yet
    is_project = os.path.isdir(f"{vault.paths.folder_path}/projects/{agent}")
    return f"{top}/projects/{agent}/agent" if is_project else f"{top}/agents/{agent}"


def agent_name(vault: OpenVault, name: str) -> str:
    """Return the agent of this name: that of its folder, or the id or name in its AGENT.md."""
    folded = name.casefold()
    owners = read.owners(vault.index)
    known = {ADMIN: ADMIN} | {owner.casefold(): owner for owner in owners}
    for found in read.agents(vault.index):
        for key in ("id", "name"):
            known.setdefault(str(found.get(key, "")).casefold(), found["agent"])
    if folded not in known:
        raise NotFound(
            f"There is no agent {name!r}.",
            f"Agents: {', '.join(sorted(owners)) or 'none'}. A folder with an AGENT.md is one.",
        )
    return known[folded]


def paused(config: Config, state_path: str, read_only: bool) -> str:
    """Return what turns writing off: `--read-only`, the name of a setting, or `pause` for
    `brain pause`; '' if nothing does."""
    if read_only:
        return "--read-only"
    if config.readOnly or not config.memory:
        return "readOnly" if config.readOnly else "memory"
    return "pause" if os.path.lexists(f"{state_path}/paused") else ""
