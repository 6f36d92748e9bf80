"""Who acts, and whose memory is meant.

An agent is a folder with an AGENT.md. What it may do is the lower of what that file claims and what
this machine's registry (`agents.json` in the state folder) says; without a word there, the agent of
the brain folder itself is the admin, and any other one is a project agent. One whose AGENT.md
cannot be read may do nothing.
"""

from __future__ import annotations

import os

from brain import access
from brain.access import ADMIN, PERSON, RANKS, Actor
from brain.errors import BrainError, Denied
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.api.asking import Asking

REGISTRY = "agents.json"
UNREADABLE = ("frontmatter", "duplicate-key", "invalid-utf8", "nul", "conflict-markers")
_MOST = 1_000_000  # bytes of an AGENT.md that are looked at


def actor(brain: Asking, by: Actor | str, session: str = "") -> Actor:
    """The actor that a name means: the person, or an agent with the rights it has on this
    machine. The name of the session is kept with all it does, hence it holds no secret."""
    if isinstance(by, str):
        by = PERSON if by in ("", PERSON.name) else _agent(brain, by)
    if session := session or by.session:
        from brain.redact import redact

        by = by._replace(session=redact(session, emails=brain.config.redactEmails)[0])
    return by


def _agent(brain: Asking, name: str) -> Actor:
    place = home(brain, name)
    _refuse_twins(brain, place.split("/")[1:])
    role = brain.vault.role(f"{place}/AGENT.md")
    assert role
    usual = ADMIN if role.agent == ADMIN else "project"
    claim = _claim(brain, place) or usual
    registered = registry(brain).get(role.agent, usual)
    return Actor(role.agent, access.effective(claim, registered), role.project)


def _refuse_twins(brain: Asking, folders: list[str]) -> None:
    """An agent and a project of one name would have each other's rights."""
    if len(folders) > 1:
        twins = [f"{top}/{folders[1]}" for top in ("agents", "projects")]
        if all(os.path.isdir(f"{brain.vault.folder_path}/{twin}") for twin in twins):
            both = " and ".join(twins)
            raise Denied(f"{both} have one name, so neither can act.", "Rename one of them.")


def _claim(brain: Asking, place: str) -> str:
    """The type that an agent's AGENT.md says; '' if it says none, and the least if what it says
    cannot be read."""
    from brain.formats import agent_md, frontmatter, text

    try:
        data, _ = files.read(f"{brain.vault.root_path}/{place}/AGENT.md", _MOST)
    except FileNotFoundError:
        return ""
    except OSError:
        return RANKS[0]
    said = agent_md.parse(data)
    words, _ = text.decode(data)
    open_ended = words.startswith("---") and not frontmatter.split(words)[1]
    if open_ended or any(problem.code in UNREADABLE for problem in said.problems):
        return RANKS[0]
    return str(said.properties["type"]) if "type" in said.properties else ""


def registry(brain: Asking) -> dict[str, str]:
    """What this machine says of its agents; a damaged registry makes none of them more."""
    import json

    path = f"{brain.vault.state_path}/{REGISTRY}"
    try:
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
        return {str(name): str(type) for name, type in said.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise BrainError(f"{path} cannot be read: {error}.", "Mend or delete it.") from None


def note(brain: Asking, agent: str) -> str:
    """The memory note of an agent, which may not be there yet."""
    return "/".join([home(brain, agent), *brain.vault.names.memory])


def home(brain: Asking, agent: str) -> str:
    """The folder of an agent, as a path in the vault; by the name of the folder, or by the id or
    name in its AGENT.md. Raises NotFound."""
    top = brain.vault.brain
    if agent in ("", ADMIN):
        return top
    marks = ("AGENT.md", "/".join(brain.vault.names.memory))
    if not {"", ".", ".."} & set(agent.split("/")):
        for folder in (f"agents/{agent}", f"projects/{agent}/agent", f"projects/{agent}", agent):
            if any(os.path.isfile(f"{brain.vault.folder_path}/{folder}/{n}") for n in marks):
                return f"{top}/{folder}"
    brain.refresh()
    named = brain.agent(agent)
    if named != agent:
        return home(brain, named)
    # it owns something, and has no note of its own yet
    is_project = os.path.isdir(f"{brain.vault.folder_path}/projects/{agent}")
    return f"{top}/projects/{agent}/agent" if is_project else f"{top}/agents/{agent}"
