"""Commands about what happened, and for putting it right: history, audit, undo, revert, conflicts,
resolve."""

from __future__ import annotations

from typing import Any

import click

from brain.cli.app import choices, common
from brain.cli.output import note, opened, say, tell
from brain.cli.writing import print_change
from brain.index.moment import shown

BY = click.option("--by", default="", metavar="AGENT", help="Who asks or acts.  [you]")


@click.command("history")
@click.argument("id")
@BY
@common
def history_command(id: str, by: str, vault: str | None, as_json: bool) -> None:
    """Show what happened to a memory, oldest first. It may be gone.

    \b
    brain history m-7f3k2ab4
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        records = brain.history(id, by=by)
    _print(records, as_json)


@click.command("audit")
@click.option("--id", default="", help="Only what happened to this memory.")
@click.option("--who", default="", metavar="NAME", help="Only what this agent, or `person`, did.")
@click.option("--agent", "-a", default="", help="Only what was done to this agent's memory.")
@click.option("--op", "ops", multiple=True, help="Only add, remove, update, pin, … Repeatable.")
@click.option("--since", default="", metavar="TIME", help="From 2026-02-01 on, or 2h ago: 2h.")
@click.option("--until", default="", metavar="TIME", help="Up to then.")
@click.option("--limit", "-n", default=50, show_default=True, type=click.IntRange(1, 100_000))
@BY
@common
def audit_command(vault: str | None, as_json: bool, **wanted: Any) -> None:
    """Show what was done to memories, by whom, newest first.

    \b
    brain audit --since 1d
    brain audit --who zoo --op add --op update
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        records = brain.audit(**wanted)
    _print(records, as_json)


def _print(records: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        tell({"records": records})
        return
    for record in records:
        did = f"{record['by']:<10} {record['op']:<9} {record['id']:<12} {record['event']}"
        say(f"{shown(record['at'])}  {did}")
        for line in _details(record):
            say(f"  {line}", "dim")
    if not records:
        say("Nothing on record.")


def _details(record: dict[str, Any]) -> list[str]:
    said = [f"{key} {record[key]}" for key in ("session", "source", "delta", "of") if key in record]
    out = [", ".join(said)] if said else []
    if "state" in record:
        out.append("not in the note yet; see `brain pending`")
    if record.get("why"):
        out.append(f"because {record['why']}")
    if record.get("before"):
        out += [f"was: {line}" for line in record["before"].split("\n")]
    return out


@click.command("undo")
@click.argument("event", required=False, default="")
@click.option("--force", is_flag=True, help="Even if somebody has gone on with the entry.")
@BY
@common
def undo_command(event: str, force: bool, by: str, vault: str | None, as_json: bool) -> None:
    """Take back the last change, or EVENT. `brain audit` shows the events.

    If the entry is no longer what that change left, nothing is done and the difference is shown.

    \b
    brain undo
    brain undo e-4jk2q8xw1z
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.undo(event, force=force, by=by)
    print_change(shape, as_json)


@click.command("revert")
@click.option("--agent", "-a", required=True, help="Whose changes.")
@click.option("--since", required=True, metavar="TIME", help="From 2026-02-01 on, or 2h ago: 2h.")
@click.option("--force", is_flag=True, help="Even where somebody has gone on with an entry.")
@BY
@common
def revert_command(
    agent: str, since: str, force: bool, by: str, vault: str | None, as_json: bool
) -> None:
    """Take back all that an agent did since a time, newest first.

    What somebody has gone on with stays as it is, and is listed.

    \b
    brain revert --agent garden-planner --since 2h
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.revert(agent, since, force=force, by=by)
    if as_json:
        tell(shape)
        return
    for one in shape["undone"]:
        print_change(one, as_json)
    for record in shape["kept"]:
        note(f"Kept {record['op']} of {record['id']} ({record['event']}): {record['why_not']}")
    say(f"{len(shape['undone'])} taken back, {len(shape['kept'])} kept.")


@click.command("conflicts")
@BY
@common
def conflicts_command(by: str, vault: str | None, as_json: bool) -> None:
    """List memories that contradict each other.

    \b
    brain conflicts
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        found = brain.conflicts(by=by)
    if as_json:
        tell({"conflicts": found})
        return
    for conflict in found:
        say(f"{conflict['event']}  {conflict['type']}, {shown(conflict['at'])[:10]}", "bold")
        for entry in conflict["entries"]:
            say(f"  {entry['id']}  {entry['text']}")
    if not found:
        say("No conflicts.")


@click.command("resolve")
@click.argument("id")
@click.option("--keep", default="", metavar="ID", help="The memory that holds; it supersedes.")
@BY
@common
def resolve_command(id: str, keep: str, by: str, vault: str | None, as_json: bool) -> None:
    """End a conflict, by its event or by one of its memories.

    \b
    brain resolve m-7f3k2ab4
    brain resolve m-7f3k2ab4 --keep m-7f3k2ab4
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.resolve(id, keep, by=by)
    print_change(shape, as_json)
