"""Commands about writing itself: flush, pending, pause, resume."""

from __future__ import annotations

import click

from brain.cli.app import choices, common
from brain.cli.output import counted, opened, say, tell


@click.command("flush")
@common
def flush_command(vault: str | None, as_json: bool) -> None:
    """Put into the journal what waits on this machine. That is which memories were used, and
    together.

    It is done once a day by itself.

    \b
    brain flush
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        count = brain.flush()
    if as_json:
        tell({"records": count})
    else:
        say(f"{counted(count, 'record')} flushed." if count else "Nothing waited.")


@click.command("pending")
@click.option("--apply", "apply_", default="", metavar="ID", help="Carry out what is blocked.")
@click.option("--drop", default="", metavar="ID", help="Give up what is blocked.")
@common
def pending_command(apply_: str, drop: str, vault: str | None, as_json: bool) -> None:
    """Show what is promised and not in its note yet. Somebody types there, git moved on, or another
    vault lies here now.

    \b
    brain pending
    brain pending --apply i-4jk2q8xw1z
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        if apply_ or drop:
            brain.release(apply_ or drop, drop=bool(drop))
        waiting = brain.pending()
    if as_json:
        tell({"pending": waiting})
        return
    for one in waiting:
        what = ", ".join(f"{deed['op']} {deed['id']}" for deed in one["deeds"])
        say(f"{one['id']}  {one['path']}  {what}, by {one['by']}")
        for deed in one["deeds"]:
            for line in filter(None, deed["text"].split("\n")):
                say(f"  {line}")
        if one["why"]:
            say(f"  {one['why']}; --apply or --drop it", "dim")
    if not waiting:
        say("Nothing is pending.")


@click.command("pause")
@common
def pause_command(vault: str | None, as_json: bool) -> None:
    """Stop all writing on this machine until `brain resume`. Searching goes on.

    \b
    brain pause
    """
    _pause(vault, as_json, True)


@click.command("resume")
@common
def resume_command(vault: str | None, as_json: bool) -> None:
    """Go on writing after `brain pause`, and carry out what waits.

    \b
    brain resume
    """
    _pause(vault, as_json, False)


def _pause(vault: str | None, as_json: bool, paused: bool) -> None:
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        brain.pause(paused)
    if as_json:
        tell({"paused": paused})
    else:
        said = "Nothing is written until `brain resume`." if paused else "Brain writes again."
        say(said)
