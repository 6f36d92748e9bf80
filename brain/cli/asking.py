"""Commands that ask: search, show, list, open."""

from __future__ import annotations

from typing import Any

import click

from brain import wire
from brain.cli.app import choices, common, seeing
from brain.cli.output import counted, fitted, opened, print_answer, say, tell, warn
from brain.index.moment import shown
from brain.model import SCOPES
from brain.operations import lookup


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
    """Show one entry whole. That is its text, where it stands, what it links to.

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
    keys = ("id", "scope", "kind", "status", "agent", "project", "heading")
    about = [(key, shape[key]) for key in keys]
    about += [("created", shown(shape["created"])), ("tags", _tags(shape))]
    for link in shape["links"]:
        target = link["target"] + (f"#{link['fragment']}" if link["fragment"] else "")
        about.append((link["kind"], target))
    if "provenance" in shape:
        about += _worth(shape)
    wide = max(len(key) for key, said in about if said)
    for key, said in about:
        if said:
            say(f"{key:<{wide}} {said}", "dim")


def _tags(shape: dict[str, Any]) -> str:
    return " ".join(f"#{tag}" for tag in shape["tags"])


def _worth(shape: dict[str, Any]) -> list[tuple[str, str]]:
    """What a memory is worth, why, and where it comes from."""
    origin = shape["provenance"]
    session = f", in session {origin['session']}" if origin["session"] else ""
    return [
        ("score", f"{shape['score']:g}, {counted(shape['hits'], 'hit')}"),
        ("importance", f"{shape['importance']:.2f} = {_importance(shape['importance_factors'])}"),
        ("confidence", f"{shape['confidence']:.2f} = {_confidence(shape)}"),
        ("from", f"{origin['by']}, {shown(origin['at'])[:10]}{session}"),
        ("because", origin["why"] or ""),
        *((one["op"], f"{one['by']}, {shown(one['at'])[:10]}") for one in origin["since"]),
    ]


def _importance(factors: dict[str, Any]) -> str:
    """The formula, with the numbers in it; factors of 1 are left out."""
    start = f"{factors['base']:g} at first"
    if factors["merges"]:
        start = f"({start} + {factors['merges']:.1f} for duplicates)"
    words = {
        "unvisited": "as nobody asked for it",
        "fading": f"after {counted(round(factors['idle_days']), 'day')} unused",
        "unused": f"with {counted(factors['hits'], 'hit')}",
        "candidate": "as a candidate",
    }
    named = {name: f"{factors[name]:.2f}" for name in words}
    parts = [f"{said} {words[name]}" for name, said in named.items() if said != "1.00"]
    return " × ".join([start, *parts])


def _confidence(shape: dict[str, Any]) -> str:
    factors = shape["confidence_factors"]
    fading = f", half in {factors['half_life']}" if factors["half_life"] else ""
    age = counted(round(factors["age_days"]), "day")
    parts = [
        f"{factors['initial']:g} at first",
        f"{factors['trust']:g} as {shape['provenance']['source']}",
        f"{factors['remaining']:.2f} after {age}{fading}",
        f"{factors['use']:.2f} for use",
    ]
    moved = f" {factors['feedback']:+.2f} by feedback" if factors["feedback"] else ""
    return f"{' × '.join(parts)}{moved}"


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
    """List entries, newest first. They are memories unless another scope is asked for.

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
        entries = brain.listed(lookup.filters(brain.vault, **filters), where, order, limit, offset)
    if as_json:
        tell({"entries": entries, **wire.freshness(freshness)})
        return
    for entry in entries:
        named = (entry["heading"] or entry["title"]) if entry["kind"] in ("note", "agent") else ""
        first = (named or entry["text"]).split("\n", 1)[0]
        head = f"{entry['id']:<12} {shown(entry['created'])[:10]}  {entry['kind']:<12} "
        say(head + fitted(first, len(head)))
    if not entries:
        say("Nothing to list.")
    warn(freshness)


@click.command("open")
@click.argument("id")
@common
def open_command(id: str, vault: str | None, as_json: bool) -> None:
    """Print where an entry can be opened: in Obsidian, in an editor.

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
