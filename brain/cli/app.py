"""The `brain` command: options that every command has, output, progress, and the one error
handler."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from brain.errors import BrainError

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
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean `brain {near[0]}`?" if near else " See `brain --help`."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
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
    brain watch                    keep the index in step while you write
    """
    ctx.obj = {"vault": vault, "json": as_json}


def common(command: F) -> F:
    """`--vault` and `--json`, before or behind the command's name."""
    command = click.option("--vault", "-V", type=click.Path(), help="The vault to use.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")(command)


def choices(vault: str | None, as_json: bool) -> tuple[str | None, bool]:
    """The options as given to the command, else to `brain` itself."""
    given = click.get_current_context().obj or {}
    return vault or given.get("vault") or os.environ.get("BRAIN_VAULT"), as_json or given.get(
        "json", False
    )


def opened(vault: str | None) -> Any:
    """The vault as an open Brain, with a progress line on a terminal."""
    from brain.api import Brain
    from brain.vault import layout

    found = layout.find(Path(vault or "."), layout.state_home(os.environ))
    brain = Brain(found, progress=Progress() if sys.stderr.isatty() else None)
    return brain


class Progress:
    """A line on stderr, once the work takes longer than a second."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.started > 1 and now - self.shown > 0.1:
            self.shown = now
            bar = "█" * (20 * done // total)
            sys.stderr.write(f"\r{bar:<20} {done:,} of {total:,} files")
        if done == total and self.shown:
            sys.stderr.write("\r\033[K")


def say(text: str = "", **style: Any) -> None:
    """A line on stdout, coloured only on a terminal and without NO_COLOR."""
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    click.echo(click.style(text, **style) if style and colour else text)


def note(text: str) -> None:
    """A line on stderr: for the person, not for a pipe."""
    click.echo(text, err=True)


def tell(value: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=None if not sys.stdout.isatty() else 2))


def main() -> None:
    """Run the command; every expected error ends as a sentence and its exit code."""
    gc.disable()  # one command, then gone: collecting garbage only costs time
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrainError as error:
        _show_error(error)
        code = error.exit_code
    except BrokenPipeError:
        code = 141
    _leave(code if isinstance(code, int) else 0)


def _show_error(error: BrainError) -> None:
    if "--json" in sys.argv:
        tell({"error": type(error).__name__, "message": error.message, "remedy": error.remedy})
    else:
        note(f"brain: {error}")


def _leave(code: int) -> None:
    """Everything is closed by now; skipping the interpreter's own farewell saves a tenth of a
    search."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    os._exit(code)
