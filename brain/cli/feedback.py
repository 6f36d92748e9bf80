"""Commands that say how useful a memory was: reinforce, demote."""

from __future__ import annotations

from typing import Any

import click

from brain.cli.app import acting, choices, common
from brain.cli.output import opened
from brain.cli.writing import print_change


@click.command("reinforce")
@click.argument("id")
@click.option("--why", default="", help="The reason; kept in the journal.")
@acting
@common
def reinforce_command(id: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Say that a memory was useful. Its score rises by 3, and it is found sooner.

    \b
    brain reinforce m-7f3k2ab4
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.reinforce(id, **options)
    print_change(shape, as_json)


@click.command("demote")
@click.argument("id")
@click.option("--why", default="", help="The reason; kept in the journal.")
@acting
@common
def demote_command(id: str, vault: str | None, as_json: bool, **options: Any) -> None:
    """Say that a memory was wrong, stale or beside the point. Its score falls by 1.

    \b
    brain demote m-7f3k2ab4 --why "moved to Postgres"
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.demote(id, **options)
    print_change(shape, as_json)
