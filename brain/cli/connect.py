"""Connect: mcp."""

from __future__ import annotations

import os
from functools import partial

import click

from brain.access import ADMIN
from brain.cli.output import View, choices, common, is_read_only

VIEWS: dict[str, View] = {}  # no operations


def _mcp(agent: str, vault: str | None, as_json: bool) -> None:
    """Serve the vault to an AI client by MCP, on standard input and output.

    The client starts it; `brain connect` says how. AGENT is who uses it: what it may read and
    write, and whose memory it stores.

    \b
    brain mcp --agent claude
    brain mcp --agent claude --read-only
    """
    from brain.open_vault import OpenVault
    from brain.serve.worker import Worker
    from brain.vault import layout

    path, _ = choices(vault, as_json)
    found = layout.find(path or ".", layout.state_home(os.environ))
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
            ["--agent", "-a"], default=ADMIN, show_default=True, metavar="NAME",
            help="The agent that uses it.",
        ),
        *common(),
    ],
)  # fmt: skip
