"""Commands that ask: search, show, list, open."""

from __future__ import annotations

from typing import Any

import click

from brain import wire
from brain.cli.app import choices, common, seeing
from brain.cli.output import opened, print_answer, say, tell, warn
from brain.index.moment import shown
from brain.model import SCOPES


def filtering(command: Any) -> Any:
    """The filters that search and list share."""
    for option in (
        click.option(
            "--scope",
            "-s",
            "scopes",
            multiple=True,
            help=f"One of {', '.join(SCOPES)}, all. Repeatable.",
        ),
        click.option(
            "--kind",
            "-k",
            "kinds",
            multiple=True,
            help="Only this kind: decision, preference, task, …",
        ),
        click.option(
            "--tag", "-t", "tags", multiple=True, help="Only with this tag, or one nested in it."
        ),
        click.option("--agent", "-a", default="", help="Only what this agent owns."),
        click.option("--project", "-p", default="", help="Only what belongs to this project."),
        click.option(
            "--since", default="", metavar="DATE", help="Only what is from this day on: 2026-02-01."
        ),
        click.option(
            "--until", default="", metavar="DATE", help="Only what is from this day or before."
        ),
        click.option("--superseded", is_flag=True, help="Also what another memory replaces."),
        seeing,
    ):
        command = option(command)
    return command


@click.command("search")
@click.argument("words", nargs=-1, required=True)
@filtering
@click.option(
    "--limit", "-n", type=click.IntRange(1, 1000), help="How many results.  [searchLimit]"
)
@click.option("--explain", is_flag=True, help="Show every factor of every rank.")
@common
def search_command(
    words: tuple[str, ...],
    limit: int | None,
    explain: bool,
    vault: str | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """Find what the vault says about WORDS.

    Memories, items, tasks and notes are searched; transcripts and the archive only on request.
    Put a phrase in quotes, inside the shell's own: brain search '"local first"'.

    \b
    brain search sqlite
    brain search "deploy tuesday" --kind decision --explain
    brain search frost --scope sessions --scope sources --since 2026-01-01
    """
    vault, as_json = choices(vault, as_json)
    question = " ".join(words)
    with opened(vault) as brain:
        answer = brain.search(question, limit=limit, **filters)
    print_answer(question, answer, explain, as_json)


@click.command("show")
@click.argument("id")
@seeing
@common
def show_command(id: str, by: str, vault: str | None, as_json: bool) -> None:
    """Show one entry whole: its text, where it stands, what it links to.

    ID is an id as a search prints it, the beginning of one, PATH:LINE, or words that only one
    memory has. Of a memory it also tells what it is worth now, and why; and where it comes from.

    \b
    brain show m-7f3k2ab4
    brain show "10_Projects/Garden Planner/Architecture.md:12"
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        freshness = brain.refresh()
        shape = brain.show(id, by=by)
    if as_json:
        tell(shape | wire.freshness(freshness))
        return
    _print_entry(shape)
    warn(freshness)


def _print_entry(shape: dict[str, Any]) -> None:
    say(f"{shape['path']}:{shape['line']}", "bold")
    say(shape["text"])
    say()
    for key in ("id", "scope", "kind", "status", "agent", "project", "heading", "created"):
        if said := shown(shape[key]) if key == "created" else shape[key]:
            say(f"{key:<8} {said}", "dim")
    if shape["tags"]:
        say(f"{'tags':<8} {' '.join('#' + tag for tag in shape['tags'])}", "dim")
    for link in shape["links"]:
        target = link["target"] + (f"#{link['fragment']}" if link["fragment"] else "")
        say(f"{link['kind']:<8} {target}", "dim")
    if "provenance" in shape:
        _print_worth(shape)


def _print_worth(shape: dict[str, Any]) -> None:
    """What a memory is worth, why, and where it comes from."""
    sure, weight, origin = (
        shape["confidence_factors"], shape["importance_factors"], shape["provenance"],
    )  # fmt: skip
    hits = f"{shape['hits']} {'hit' if shape['hits'] == 1 else 'hits'}"
    say(f"{'score':<8} {shape['score']:g}, {hits}", "dim")
    merged = f" {weight['merges']:+.1f} for duplicates" if weight["merges"] else ""
    idle = f", {weight['idle_days']:.0f} days unused" if weight["idle_days"] >= 1 else ""
    say(f"importance {shape['importance']:.2f}: {weight['base']:g} at first{merged}{idle}", "dim")
    fading = f", half in {sure['half_life']}" if sure["half_life"] else ""
    parts = [
        f"{sure['initial']:g} at first",
        f"{sure['trust']:g} as {origin['source']}",
        f"{sure['remaining']:.2f} after {sure['age_days']:.0f} days{fading}",
        f"{sure['use']:.2f} for use",
    ]
    moved = f" {sure['feedback']:+.2f} by feedback" if sure["feedback"] else ""
    say(f"confidence {shape['confidence']:.2f}: {' × '.join(parts)}{moved}", "dim")
    session = f", in session {origin['session']}" if origin["session"] else ""
    say(f"{'from':<8} {origin['by']}, {shown(origin['at'])[:10]}{session}", "dim")
    if origin["why"]:
        say(f"{'because':<8} {origin['why']}", "dim")
    for crumb in origin["since"]:
        say(f"{crumb['op']:<8} {crumb['by']}, {shown(crumb['at'])[:10]}", "dim")


@click.command("list")
@filtering
@click.option("--where", "-w", default="", metavar="FILTER", help="importance>=0.7 and kind=…")
@click.option("--order", "-o", default="", metavar="FIELD", help="importance, -created, …")
@click.option("--limit", "-n", default=50, show_default=True, type=click.IntRange(1, 100_000))
@click.option("--offset", default=0, type=click.IntRange(0), help="Skip so many.")
@common
def list_command(
    where: str,
    order: str,
    limit: int,
    offset: int,
    vault: str | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List entries, newest first: memories unless another scope is asked for.

    FILTER compares fields by = != > >= < <= ~ (contains) and `in (…)`, joined by and, or, not.
    An order is from the most down; `-` turns it around.

    \b
    brain list
    brain list --kind decision --since 2026-01-01
    brain list --where 'importance>=0.7 and (tags=db or text~sqlite)' --order confidence
    brain list --scope tasks --json
    """
    vault, as_json = choices(vault, as_json)
    filters["scopes"] = filters["scopes"] or ("memory",)
    with opened(vault) as brain:
        freshness = brain.refresh()
        entries = brain.listed(brain.filters(**filters), where, order, limit, offset)
    if as_json:
        tell({"entries": entries, **wire.freshness(freshness)})
        return
    for entry in entries:
        named = (entry["heading"] or entry["title"]) if entry["kind"] in ("note", "agent") else ""
        first = (named or entry["text"]).split("\n", 1)[0]
        say(f"{entry['id']:<12} {shown(entry['created'])[:10]}  {entry['kind']:<12} {first[:100]}")
    if not entries:
        say("Nothing to list.")
    warn(freshness)


@click.command("open")
@click.argument("id")
@common
def open_command(id: str, vault: str | None, as_json: bool) -> None:
    """Print the obsidian:// address of an entry, and its file and line for an editor.

    \b
    brain open m-7f3k2ab4
    xdg-open "$(brain open m-7f3k2ab4 | head -1)"
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        brain.refresh()
        place = brain.place(id)
    if as_json:
        tell(place)
    else:
        say(place["url"])
        say(f"{place['file']}:{place['line']}")
