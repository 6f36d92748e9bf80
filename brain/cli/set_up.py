"""Set up: init, config, budget, alias, agent, completion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brain import config
from brain.cli.output import (
    Values,
    View,
    aligned,
    choices,
    common,
    counted,
    is_read_only,
    note,
    say,
    tell,
)
from brain.errors import Denied

if TYPE_CHECKING:
    from brain.open_vault import OpenVault
    from brain.operations.results import Agent, AliasChange, Aliases, Budget, SettingChange

PARTS = ("remaining", "total", "always", "bridge", "retrieval", "summary")


def _init(folder: str | None, demo: bool, views: bool, vault: str | None, as_json: bool) -> None:
    """Create 40_Brain/ in a vault, or a demo vault.

    Existing files are left alone.

    \b
    cd ~/Notes && brain init
    brain init ~/Notes
    brain init --views               with tables of memory and agents for Obsidian
    brain init --demo /tmp/demo      a small vault to try things in
    """
    from brain import new_vault

    vault, as_json = choices(vault, as_json)
    root = Path(folder or vault or ".")
    if is_read_only():
        raise Denied("Brain cannot create files with `--read-only`.", "Leave that option out.")
    created = new_vault.create_demo(root) if demo else new_vault.create(root, views)
    if as_json:
        tell({"vault": str(root.resolve()), "created": created})
        return
    for path in created:
        say(f"  + {path}")
    total = f"{counted(len(created), 'file')} created in {root.resolve()}."
    say(total if created else "All files exist already.")
    if advice := new_vault.advice(root):
        say()
        say(advice, lines=True)
    say()
    say("Next: brain search WORDS")


init_command = click.Command(
    "init",
    callback=_init,
    help=_init.__doc__,
    params=[
        click.Argument(["folder"], required=False, type=click.Path()),
        click.Option(["--demo"], is_flag=True, help="Copy the demo vault into an empty folder."),
        click.Option(["--views"], is_flag=True, help="Add Memory.base, tables for Obsidian."),
        *common(),
    ],
)


def _completion(shell: str, vault: str | None, as_json: bool) -> None:
    """Print the completion script for your shell.

    \b
    eval "$(brain completion bash)"      in ~/.bashrc
    brain completion fish > ~/.config/fish/completions/brain.fish
    """
    from click.shell_completion import get_completion_class

    from brain.cli.main import cli

    kind = get_completion_class(shell)
    assert kind
    script = kind(cli, {}, "brain", "_BRAIN_COMPLETE").source()
    _, as_json = choices(vault, as_json)
    tell({"shell": shell, "script": script}) if as_json else say(script, lines=True, wrap=False)


completion_command = click.Command(
    "completion",
    callback=_completion,
    help=_completion.__doc__,
    params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])), *common()],
)


def print_config(values: dict[str, Any], options: Values) -> None:
    """Print one setting, or all settings, with a mark at each that is not the default."""
    if options["name"]:
        say(config.to_yaml(values[options["name"]]))
        return
    width = max(map(len, values))
    for key, value in values.items():
        changed = "" if value == config.default(key) else "  (set)"
        say(f"{key:<{width}} {config.to_yaml(value)}{changed}", hang=width + 1)


def _note_warnings(vault: OpenVault) -> None:
    for problem in vault.warnings:
        note(f"brain.yaml line {problem.line}: {problem.message}")


def print_agent(agent: Agent, _: Values) -> None:
    print_agents([agent], {})


def print_agents(found: list[Agent], _: Values) -> None:
    """Print an agent per line, with its type on this machine."""
    rows = [[agent.name, agent.type, agent.path] for agent in found]
    for line, agent in zip(aligned(rows), found, strict=True):
        say(line.rstrip())
        _print_limit(agent)


def _print_limit(agent: Agent) -> None:
    """Print why the type of an agent is lower than the type in its AGENT.md or in the registry."""
    if agent.claims != agent.type:
        limit = "registered as" if agent.registered else "not registered, so at most"
        say(f"  claims {agent.claims}; {limit} {agent.registered or agent.type}", "dim")
    elif agent.registered not in (None, "", agent.type):
        say(f"  registered as {agent.registered}; its AGENT.md claims only {agent.claims}", "dim")


def print_aliases(found: Aliases, _: Values) -> None:
    """Print each word with its synonyms."""
    if not found.aliases:
        say("No aliases.")
    for word, others in found.aliases.items():
        say(f"{word} = {', '.join(others)}")


def print_alias(change: AliasChange, _: Values) -> None:
    """Print a word with its synonyms, and what happened."""
    others = ", ".join(change.stands_for)
    say(f"{change.word} = {others}" if others else f"{change.word} has no synonyms now.")
    _print_state(change)


def _print_state(change: SettingChange) -> None:
    if change.state != "written":
        waits = "It is pending while brain.yaml is being edited."
        say("Nothing changed." if change.state == "unchanged" else waits, "dim")


def print_budget(budget: Budget, _: Values) -> None:
    """Print the tokens of each part of a context, for some numbers of remaining tokens."""
    table = [PARTS, *([f"{row[part]:,}" for part in PARTS] for row in budget.allocations)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for number, row in enumerate(table):
        cells = [f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]
        say(" ".join(cells), "" if number else "dim", wrap=False)
    if budget.change:
        _print_state(budget.change)


VIEWS = {
    "agent list": View(print_agents),
    "agent add": View(print_agent),
    "agent register": View(print_agent),
    "config": View(print_config, after=_note_warnings),
    "budget": View(print_budget),
    "alias list": View(print_aliases),
    "alias add": View(print_alias),
    "alias remove": View(print_alias),
}
