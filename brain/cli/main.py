"""Where the `brain` command starts and ends: the group of commands, and the one error handler."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress

import click

from brain.cli import commands
from brain.cli.output import guarded
from brain.errors import BadRequest, BrainError, suggest
from brain.operations import GROUPS, OPERATIONS

# Commands that are not operations: name, group, summary. Each is in the module of its group.
OTHERS = (
    ("init", "set up", "Create 40_Brain/ in a vault, or a demo vault."),
    ("completion", "set up", "Print the completion script for your shell."),
    ("watch", "maintain", "Keep the index up to date while notes change."),
    ("events", "maintain", "Show recent events."),
)
SUBGROUPS = {
    "alias": "Manage words that mean the same.",
    "journal": "Write usage counts to the journal.",
}
COMMANDS = tuple(
    dict.fromkeys(["init", *(o.name.split()[0] for o in OPERATIONS), *(o[0] for o in OTHERS)])
)


class Commands(click.Group):
    """The commands in their groups. Only the one that runs is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        other = next((each for each in OTHERS if each[0] == name), None)
        if other:
            found: click.Command = getattr(commands.group_module(other[1]), f"{name}_command")
            return found
        if name in SUBGROUPS:
            return commands.subgroup(name, SUBGROUPS[name])
        operation = next((each for each in OPERATIONS if each.name == name), None)
        return commands.command(operation) if operation else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            remedy = suggest(name, COMMANDS, "`brain {}`") or "See `brain --help`."
            raise BadRequest(f"There is no command {name!r}.", remedy)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group in GROUPS:
            with formatter.section(group.capitalize()):
                formatter.write_dl(summaries(group))


def summaries(group: str) -> list[tuple[str, str]]:
    """Return the commands of a group, each with one line."""
    found = {name: summary for name, home, summary in OTHERS if home == group}
    for operation in OPERATIONS:
        if operation.group == group:
            name = operation.name.split()[0]
            found[name] = SUBGROUPS.get(name, operation.summary)
    return [(name, found[name]) for name in COMMANDS if name in found]


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--vault",
    "-V",
    type=click.Path(),
    help="Path of the vault. Default: BRAIN_VAULT, then the current folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.version_option(package_name="vault-brain", prog_name="brain")
@click.pass_context
def cli(ctx: click.Context, vault: str | None, as_json: bool) -> None:
    """Memory for AI agents, kept as notes in your Obsidian vault.

    \b
    brain init                                   create 40_Brain/ in this vault
    brain search "local first"                   search the vault
    brain remember "Deploys go out on Tuesdays"  store a memory
    brain context "plan the next release"        print the memories an agent needs
    """
    ctx.obj = {"vault": vault, "json": as_json}
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    gc.set_threshold(200_000)  # most commands end before there is garbage worth collecting
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal cannot show
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)  # everything is closed; the interpreter's own exit takes a while


def run(args: list[str]) -> int:
    """Run a command, and return its exit code."""

    def act() -> object:
        try:
            return cli.main(args, prog_name="brain", standalone_mode=False)
        except click.exceptions.Abort:
            return 130
        except click.ClickException as error:
            raise _reworded(error) from None
        except SystemExit as end:  # after a broken pipe, and after completing
            return 141 if end.code == 1 else 0

    return guarded(act, args)


def _reworded(error: click.ClickException) -> BrainError:
    """Return an error of the command line as one of Brain's."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "brain"
    message = " ".join(error.format_message().split())
    remedy = f"See `{command} --help`."
    if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        remedy += " Words that begin with a dash go behind `--`."
    return BadRequest(message, remedy)
