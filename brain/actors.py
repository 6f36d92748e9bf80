"""The agents of a vault: who acts, with which rights on this machine, and where their memory is.

An agent is a folder with an AGENT.md. Its type is the lower of two types: the one in that file and
the one in this machine's registry (`agents.json` in the state folder). Without a registry entry,
the agent of the brain folder itself is the admin, and any other agent is a project agent. An agent
whose AGENT.md cannot be read has no rights.
"""

from __future__ import annotations

import os

from brain.access import ADMIN, PERSON, RANKS, Actor, lower_type
from brain.errors import BrainError, Denied, NotFound
from brain.index import read
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.open_vault import OpenVault

REGISTRY = "agents.json"
UNREADABLE = ("frontmatter", "duplicate-key", "invalid-utf8", "nul", "conflict-markers")
_MAX_SIZE = 1_000_000  # bytes of an AGENT.md


def resolve(vault: OpenVault, by: Actor | str, session: str = "") -> Actor:
    """Return the actor with this name: the person, or an agent with its rights on this machine.
    Secrets are removed from the session id, because every record contains it."""
    if isinstance(by, str):
        by = PERSON if by in ("", PERSON.name) else _agent(vault, by)
    if session := session or by.session:
        from brain.redact import redact

        by = by._replace(session=redact(session, emails=vault.config.redactEmails)[0])
    return by


def _agent(vault: OpenVault, name: str) -> Actor:
    try:
        folder = home(vault, name)
    except NotFound:  # do not reveal the names of other agents
        remedy = "Check --by. A folder with an AGENT.md is an agent."
        raise NotFound(f"There is no agent {name!r}.", remedy) from None
    _refuse_same_name(vault, folder.split("/")[1:])
    role = vault.paths.role(f"{folder}/AGENT.md")
    assert role
    claim = _type_in_file(vault, folder) or _default_type(role.agent)
    registered = registry(vault).get(role.agent, _default_type(role.agent))
    return Actor(role.agent, lower_type(claim, registered), role.project)


def _refuse_same_name(vault: OpenVault, folders: list[str]) -> None:
    """Raise Denied if an agent and a project have the same name, because they would share
    rights."""
    if len(folders) > 1:
        twins = [f"{parent}/{folders[1]}" for parent in ("agents", "projects")]
        if all(os.path.isdir(f"{vault.paths.folder_path}/{twin}") for twin in twins):
            both = " and ".join(twins)
            raise Denied(f"{both} have the same name, so neither can act.", "Rename one of them.")


def _type_in_file(vault: OpenVault, folder: str) -> str:
    """Return the type in an agent's AGENT.md; '' if it has none, and the lowest type if the file
    cannot be read."""
    from brain.formats import frontmatter, note_md, text

    try:
        data, _ = files.read(f"{vault.paths.root_path}/{folder}/AGENT.md", _MAX_SIZE)
    except FileNotFoundError:
        return ""
    except OSError:
        return RANKS[0]
    document = note_md.parse_agent(data)
    decoded, _ = text.decode(data)
    is_unclosed = decoded.startswith("---") and not frontmatter.split(decoded)[1]
    if is_unclosed or any(problem.code in UNREADABLE for problem in document.problems):
        return RANKS[0]
    return str(document.properties["type"]) if "type" in document.properties else ""


def registry(vault: OpenVault) -> dict[str, str]:
    """Return the types of the agents in the registry of this machine. Raise BrainError if the
    registry is damaged."""
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
    """Return the type in an agent's AGENT.md, or the default type."""
    return _type_in_file(vault, home(vault, agent)) or _default_type(agent)


def _default_type(agent: str) -> str:
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
    """Return the folder of an agent, as a path in the vault. `agent` is the name of that folder, or
    the id or name in its AGENT.md. Raise NotFound if there is no such agent."""
    brain = vault.paths.brain
    if agent in ("", ADMIN):
        return brain
    files_of_agent = ("AGENT.md", "/".join(vault.paths.names.memory))
    if not {"", ".", ".."} & set(agent.split("/")):
        for folder in (f"agents/{agent}", f"projects/{agent}/agent", f"projects/{agent}", agent):
            if any(
                os.path.isfile(f"{vault.paths.folder_path}/{folder}/{n}") for n in files_of_agent
            ):
                return f"{brain}/{folder}"
    vault.refresh()
    folder_name = agent_name(vault, agent)
    if folder_name != agent:
        return home(vault, folder_name)
    # the agent owns an entry but has no note yet
    is_project = os.path.isdir(f"{vault.paths.folder_path}/projects/{agent}")
    return f"{brain}/projects/{agent}/agent" if is_project else f"{brain}/agents/{agent}"


def agent_name(vault: OpenVault, name: str) -> str:
    """Return the folder name of an agent. `name` is the folder name in any case, or the id or name
    in its AGENT.md."""
    folded = name.casefold()
    owners = read.owners(vault.index)
    known = {ADMIN: ADMIN} | {owner.casefold(): owner for owner in owners}
    for agent in read.agents(vault.index):
        for key in ("id", "name"):
            known.setdefault(str(agent.get(key, "")).casefold(), agent["agent"])
    if folded not in known:
        raise NotFound(
            f"There is no agent {name!r}.",
            f"Agents: {', '.join(sorted(owners)) or 'none'}. A folder with an AGENT.md is one.",
        )
    return known[folded]
