"""Commands that lay a brain into a vault and keep its index: init, sync."""

from __future__ import annotations

from pathlib import Path

import click

from brain.cli.app import choices, common
from brain.cli.output import counted, learn, opened, print_stats, say, tell


@click.command("init")
@click.argument("folder", required=False, type=click.Path())
@click.option("--demo", is_flag=True, help="Also copy the demo vault; only into an empty folder.")
@common
def init_command(folder: str | None, demo: bool, vault: str | None, as_json: bool) -> None:
    """Lay 40_Brain/ into a vault. No file that is there is touched.

    \b
    cd ~/Notes && brain init
    brain init ~/Notes
    brain init --demo /tmp/demo      a small vault to try things in
    """
    from brain import setup

    vault, as_json = choices(vault, as_json)
    root = Path(folder or vault or ".")
    made = setup.demo(root) if demo else setup.init(root)
    if as_json:
        tell({"vault": str(root.resolve()), "created": made})
        return
    for path in made:
        say(f"  + {path}")
    total = f"{counted(len(made), 'file')} created in {root.resolve()}."
    say(total if made else "Everything was there already.")
    if advice := setup.advice(root):
        say(f"\n{advice}")
    say("\nNext: brain search WORDS")


@click.command("sync")
@click.option("--rebuild", is_flag=True, help="Throw the index away and read everything again.")
@click.option("--accept-loss", is_flag=True, help="Believe it when nearly all files are gone.")
@common
def sync_command(rebuild: bool, accept_loss: bool, vault: str | None, as_json: bool) -> None:
    """Bring the index in step with the vault. Reads notes, writes none.

    Searching does this by itself; run it to see what changed, or to rebuild.

    \b
    brain sync
    brain sync --rebuild
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        stats = brain.sync(rebuild=rebuild, accept_loss=accept_loss)
        learn(brain)
    print_stats(stats, as_json)
