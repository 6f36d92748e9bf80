"""Commands for what an agent is given: context, gaps."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from brain.cli.app import acting, choices, common, seeing
from brain.cli.output import explained, note, opened, say, tell, warn
from brain.index.moment import shown
from brain.recall.rank import Factors
from brain.recall.render import FORMATS

if TYPE_CHECKING:
    from brain.context.scoring import ScoredEntry
    from brain.verbs.recalling import Context


@click.command("context")
@click.argument("question", nargs=-1, required=True)
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file that is open.")
@click.option("--text", default="", metavar="TEXT", help="What is worked on; `-` reads it.")
@click.option("--agent", default="", metavar="NAME", help="For whom.  [everybody's memory]")
@click.option("--scope", "scopes", multiple=True, help="Where to look.  [memory, items, sources]")
@click.option("--tasks", is_flag=True, help="With the open tasks.")
@click.option("--format", type=click.Choice(FORMATS), default="claude", metavar="NAME",
              show_default=True, help=f"One of {', '.join(FORMATS)}.")  # fmt: skip
@click.option("--remaining", type=int, default=100_000, metavar="N", show_default=True,
              help="Tokens of context that are left.")  # fmt: skip
@click.option(
    "--budget",
    type=int,
    metavar="N",
    help="Tokens to use, whatever is left and `brain budget` says.",
)
@click.option("--explain", is_flag=True, help="Print what speaks for each memory.")
@acting
@common
def context_command(
    question: tuple[str, ...], text: str, explain: bool, by: str, vault: str | None, as_json: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Print what an agent should know before it answers.

    \b
    brain context "how do we deploy?"
    brain context "mend the importer" --file src/import.py --format gemini
    git diff | brain context "review this" --text -
    """
    vault, as_json = choices(vault, as_json)
    said = sys.stdin.read() if text == "-" else text
    with opened(vault) as brain:
        found = brain.recall(" ".join(question), text=said, by=by, **wanted)
        if as_json:
            from brain import wire

            tell(wire.context(found))
            return
        if prompt := found.text or ("{}" if found.asked.format == "json" else ""):
            say(prompt)
        if explain:
            _explain(found)
        warn(found.freshness)
        for remark in found.notes:
            note(remark)


def _explain(found: Context) -> None:
    fitted = found.fitted
    say(
        f"\n{fitted.tokens:,} of {fitted.allocation.total:,} tokens,"
        f" {fitted.compression:.0%} of what was offered,"
        f" chosen among {found.recalled.considered:,}.",
        "dim",
    )
    for one, trigger in found.recalled.warnings:
        say(f"  {one.row.ref}  {trigger!r} is mentioned", "dim")
    told: dict[str, None] = {}
    for one in found.recalled.memories:
        told |= dict.fromkeys(_reasons(one))
    for line in told:
        say(f"  {line}", "dim")


def _reasons(one: ScoredEntry) -> list[str]:
    """The formula of a score, and of the one that it was handed, each with the numbers in it."""
    own = [f"{one.id}  {one.score:.6f} = {_reason(one)}"]
    return own + (_reasons(one.inherited.origin) if one.inherited and _inherits(one) else [])


def _inherits(one: ScoredEntry) -> bool:
    """Return True if the score of an entry is the inherited one."""
    return bool(one.inherited and (not one.search_factors or one.inherited.score >= one.score))


def _reason(one: ScoredEntry) -> str:
    """The formula of a score, with the numbers in it."""
    if one.search_factors is None and one.inherited is None:
        return "came unasked"
    if one.inherited and _inherits(one):
        via, origin, ways = one.inherited.via, one.inherited.origin, one.inherited.steps
        steps = "".join(f" × tie {weight:.6f} × decay {decay:.6f}" for weight, decay in ways)
        return f"{origin.id} {origin.score:.6f}{steps} ({via})"
    recall = [f"{name} {value:.6f}" for name, value in one.recall_factors.items() if value != 1]
    search = one.search_factors or Factors(0.0, 0.0)
    return " × ".join([explained(search, alone=not recall), *recall])


@click.command("gaps")
@click.option("--all", "every", is_flag=True, help="Also those that find something by now.")
@click.option("--agent", default="", metavar="NAME", help="Only what was asked for this agent.")
@seeing
@common
def gaps_command(every: bool, agent: str, by: str, vault: str | None, as_json: bool) -> None:
    """List questions without an answer. Also memories that want a tag.

    \b
    brain gaps
    brain gaps --all --json
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        found, tags = brain.gaps(agent=agent, every=every, by=by), brain.wanted_tags(by=by)
    if as_json:
        tell({"gaps": found, "tags": tags})
        return
    for one in found:
        times = "once" if one["count"] == 1 else f"{one['count']:,} times"
        now = "" if one["open"] else ", and finds something now"
        say(f"{one['query']}")
        say(f"  asked {times}, last {shown(one['last'])[:10]}{now}", "dim")
    if not found:
        say("Nothing was asked in vain.")
    for one in tags:
        say(f"{', '.join(one['ids'])} answered {one['query']!r} together; tag them #{one['tag']}?")
