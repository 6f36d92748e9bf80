"""The `brain` command for click: its subcommands, and the options that every one of them has."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import click

from brain.cli.output import guarded
from brain.errors import BadRequest, BrainError, suggest

# Which module holds which command: only the one that is run is imported.
COMMANDS = {
    "init": "keeping",
    "sync": "keeping",
    "watch": "following",
    "events": "following",
    "search": "asking",
    "show": "asking",
    "list": "asking",
    "open": "asking",
    "context": "recalling",
    "gaps": "recalling",
    "graph": "graph",
    "remember": "writing",
    "update": "writing",
    "forget": "writing",
    "pin": "writing",
    "unpin": "writing",
    "confirm": "writing",
    "link": "writing",
    "unlink": "writing",
    "tag": "writing",
    "move": "writing",
    "reinforce": "feedback",
    "demote": "feedback",
    "history": "history",
    "audit": "history",
    "undo": "history",
    "revert": "history",
    "conflicts": "history",
    "resolve": "history",
    "alias": "tuning",
    "budget": "tuning",
    "flush": "pending",
    "pending": "pending",
    "pause": "pending",
    "resume": "pending",
    "status": "health",
    "doctor": "health",
    "config": "health",
    "completion": "health",
}
F = TypeVar("F", bound=Callable[..., Any])


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"brain.cli.{COMMANDS[name]}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            remedy = suggest(name, COMMANDS, "`brain {}`") or "See `brain --help`."
            raise BadRequest(f"There is no command {name!r}.", remedy)
        return super().resolve_command(ctx, args)


class Worded(click.Command):
    """A command whose words may begin with a dash, as a bullet does, or a number below zero."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = [f"\0{arg}" if _BULLET.match(arg) else arg for arg in args]
        rest = super().parse_args(ctx, args)
        ctx.params = {name: _bare(value) for name, value in ctx.params.items()}
        return rest


_BULLET = re.compile(r"-{1,3}\s|-\d\S*\s")


def _bare(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_bare, value))
    return value.removeprefix("\0") if isinstance(value, str) else value


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--vault",
    "-V",
    type=click.Path(),
    help="The vault; else BRAIN_VAULT, else the folder you are in.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.version_option(package_name="vault-brain", prog_name="brain")
@click.pass_context
def cli(ctx: click.Context, vault: str | None, as_json: bool) -> None:
    """Agent memory that lives in your Obsidian vault.

    \b
    brain init                     lay 40_Brain/ into the vault you are in
    brain search "local first"     find something
    brain remember "Deploys go out on Tuesdays" --kind decision
    brain watch                    keep the index in step while you write
    """
    ctx.obj = {"vault": vault, "json": as_json}
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def common(command: F) -> F:
    """`--vault` and `--json`, before or behind the command's name."""
    command = click.option("--vault", "-V", type=click.Path(), help="The vault to use.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")(command)


def acting(command: F) -> F:
    """`--by` and `--session`: who does it, in which conversation."""
    command = click.option(
        "--session", default="", metavar="ID", help="The conversation this happens in."
    )(command)
    return click.option("--by", default="", metavar="AGENT", help="Who acts.  [you]")(command)


def seeing(command: F) -> F:
    """`--by`: for whom one looks."""
    said = "See only what this agent may."
    return click.option("--by", default="", metavar="AGENT", help=said)(command)


def choices(vault: str | None, as_json: bool) -> tuple[str | None, bool]:
    """The options as given to the command, else to `brain` itself."""
    given = click.get_current_context().obj or {}
    vault = vault or given.get("vault") or os.environ.get("BRAIN_VAULT")
    return vault, as_json or given.get("json", False)


def run(args: list[str]) -> int:
    """The exit code of a command."""

    def act() -> object:
        try:
            return cli.main(args, prog_name="brain", standalone_mode=False)
        except click.exceptions.Abort:
            return 130
        except click.ClickException as error:
            raise _worded(error) from None
        except SystemExit as end:  # how click ends when nobody reads any more, and after completing
            return 141 if end.code == 1 else 0

    return guarded(act, args)


def _worded(error: click.ClickException) -> BrainError:
    """An error of the command line, in our words."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "brain"
    message = " ".join(error.format_message().split())
    remedy = f"See `{command} --help`."
    if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        remedy += " Words that begin with a dash go behind `--`."
    return BadRequest(message, remedy)
