"""Connect: connect, mcp, hook."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from brain.access import ADMIN
from brain.cli import hook
from brain.cli.output import View, choices, common, is_read_only, opened, say, tell
from brain.errors import BadRequest, Denied, NotFound

if TYPE_CHECKING:
    from brain.connect.clients import Place
    from brain.connect.install import Step
    from brain.open_vault import OpenVault

VIEWS: dict[str, View] = {}  # no operations


def _mcp(agent: str, vault: str | None, as_json: bool) -> None:
    """Serve the vault to an AI client by MCP, on standard input and output.

    AI clients start this server; `brain connect` configures them to do so. The client
    gets the permissions of the agent, and stores memories in the memory of this agent.

    \b
    brain mcp --agent claude
    brain mcp --agent claude --read-only
    """
    from brain.open_vault import OpenVault
    from brain.serve.vault_thread import Worker
    from brain.vault import layout

    path, _ = choices(vault, as_json)
    found = layout.find(path or ".", layout.state_home(os.environ))
    agent = agent or os.environ.get("BRAIN_AGENT") or ADMIN
    worker = Worker(partial(OpenVault, found, read_only=is_read_only()), agent)
    worker.start()
    try:
        from brain.serve.mcp import server  # takes a second to load

        server(worker).run()
    finally:
        worker.close()


mcp_command = click.Command(
    "mcp",
    callback=_mcp,
    help=_mcp.__doc__,
    params=[
        click.Option(
            ["--agent", "-a"], default="", metavar="NAME",
            help="The agent that the client acts as.  [default: BRAIN_AGENT, else admin]",
        ),
        *common(),
    ],
)  # fmt: skip


# -- hook ------------------------------------------------------------------------------------------


def _hook(client: str, event: str, agent: str, vault: str | None, as_json: bool) -> None:
    """Answer an event of an AI client, read as JSON from standard input.

    AI clients run this command; `brain connect` configures them to do so. The command prints the
    context for the session, or imports the transcript. It always succeeds, so that no prompt fails;
    errors are in `hook.log` in the state folder. CLIENT is one of claude-code, codex, gemini,
    vscode, cursor. EVENT is the name of the event as the client spells it, such as SessionStart.

    \b
    brain hook claude-code SessionStart --agent claude --vault ~/Notes < event.json
    """
    path, _ = choices(vault, as_json)
    hook.run(client, event, agent, path or "", is_read_only())


hook_command = click.Command(
    "hook",
    callback=_hook,
    help=_hook.__doc__,
    # an option of another version must not make a prompt fail
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    params=[
        click.Argument(["client"], required=False, default=""),
        click.Argument(["event"], required=False, default=""),
        click.Option(
            ["--agent", "-a"], default="", metavar="NAME",
            help="The agent that the client acts as.  [default: BRAIN_AGENT, else admin]",
        ),
        *common(),
    ],
)  # fmt: skip


# -- connect ---------------------------------------------------------------------------------------

# The words that report a step: after the step, and in a dry run.
STEPS = {
    "created": ("Created", "Would create"),
    "edited": ("Edited", "Would edit"),
    "removed": ("Removed", "Would remove"),
    "run": ("Ran", "Would run"),
    "added": ("Created agent", "Would create agent"),
    "unchanged": ("Nothing to change:", "Nothing to change:"),
}


def _connect(
    client: str | None, agent: str, dry_run: bool, remove: bool, list_: bool,
    vault: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Let an AI client use the vault.

    CLIENT is one of claude-code, claude-desktop, codex, gemini, opencode, cursor, vscode. The
    command adds Brain's MCP server to the configuration of the client, with instructions when to
    use Brain. All other settings stay. Before Brain edits a file, it copies the file to
    NAME.brain-backup. If the agent does not exist, Brain creates it in the vault.

    \b
    brain connect claude-code
    brain connect codex --dry-run
    brain connect cursor --remove
    brain connect --list
    """
    from brain.connect import clients, install

    vault, as_json = choices(vault, as_json)
    place = clients.Place(os.path.expanduser("~"), os.environ, sys.platform)
    if list_:
        _print_clients(place, as_json)
        return
    if client is None:
        raise BadRequest("Name a client.", f"One of: {', '.join(clients.NAMES)}.")
    if is_read_only():
        raise Denied("Brain cannot connect a client with `--read-only`.", "Leave that option out.")
    chosen = clients.client(client)
    name = agent or chosen.agent
    if remove:
        steps = install.disconnect(chosen, place, dry_run)
    else:
        with opened(vault) as open_vault:
            added = _agent(open_vault, name, chosen.title, dry_run)
            root = str(open_vault.paths.root)
        command = [*_brain(), "mcp", "--agent", name, "--vault", root]
        steps = [*added, *install.connect(chosen, command, place, dry_run)]
    todo = "" if remove or dry_run else chosen.todo.format(title=chosen.title)
    if as_json:
        rows = [step._asdict() for step in steps]
        tell({"client": client, "agent": name, "dry_run": dry_run, "steps": rows, "todo": todo})
        return
    for step in steps:
        say(f"{STEPS[step.state][dry_run]} {step.target}")
    if todo:
        say(todo)


def _brain() -> list[str]:
    """Return the command that runs Brain, also where it is not on the PATH of the client."""
    import shutil

    found = sys.argv[0] if os.path.basename(sys.argv[0]) == "brain" else ""
    found = found if os.path.isfile(found) else shutil.which("brain") or ""
    return [os.path.abspath(found)] if found else [sys.executable, "-P", "-m", "brain"]


def _agent(vault: OpenVault, name: str, title: str, dry_run: bool) -> list[Step]:
    """Create the agent unless the vault has it. Return the step, or [] if nothing was done."""
    from brain import actors
    from brain.connect.install import Step
    from brain.operations import agents, run

    try:
        actors.resolve(vault, name)
    except NotFound:
        if not dry_run:
            run(agents.agent_add, vault, name, about=f"The memory of {title}.")
        return [Step("added", name)]
    return []


def _print_clients(place: Place, as_json: bool) -> None:
    from brain.connect import clients, install

    rows = [
        {
            "client": client.name,
            "connected": install.is_connected(client, place),
            "path": client.file(place),
        }
        for client in clients.CLIENTS
    ]
    if as_json:
        tell({"clients": rows})
        return
    for row in rows:
        say(f"{row['client']:<15} {'connected' if row['connected'] else '-':<10} {row['path']}")


connect_command = click.Command(
    "connect",
    callback=_connect,
    help=_connect.__doc__,
    params=[
        click.Argument(["client"], required=False),
        click.Option(
            ["--agent", "-a"], default="", metavar="NAME",
            help="The agent that the client acts as.  [default: one for each client]",
        ),
        click.Option(["--dry-run"], is_flag=True, help="Show what would be done, and do nothing."),
        click.Option(["--remove"], is_flag=True, help="Disconnect the client. The agent stays."),
        click.Option(["--list", "list_"], is_flag=True, help="List the clients."),
        *common(),
    ],
)  # fmt: skip
