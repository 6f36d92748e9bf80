"""The `brain` command: its commands in their groups, built from the registry of operations.

The arguments and options of a command come from the signature of its operation, and its help from
the registry. The module of a group has a table VIEWS, which says how each command shows its result,
and which options it has besides the parameters of the operation.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import click
from click.core import ParameterSource

from brain.cli.output import (
    View,
    choices,
    common,
    crashed,
    guarded,
    opened,
    say,
    tell,
    warn,
)
from brain.cli.terminal import width
from brain.errors import BadRequest, BrainError, suggest
from brain.operations import GROUPS, OPERATIONS, Operation
from brain.operations import run as run_operation
from brain.operations.parameters import HIDDEN, Parameter, parameter

# Commands that are not operations: name, group, summary. Each is in the module of its group.
OTHERS = (
    ("init", "set up", "Create 40_Brain/ in a vault, or a demo vault."),
    ("completion", "set up", "Print the completion script for your shell."),
    ("connect", "connect", "Let an AI client use the vault."),
    ("mcp", "connect", "Serve the vault to an AI client by MCP."),
    ("hook", "connect", "Answer an event of an AI client."),
    ("edit", "write", "Open an entry in your editor."),
    ("watch", "maintain", "Keep the index up to date while notes change."),
    ("events", "maintain", "Show recent events."),
)
SUBGROUPS = {
    "agent": "Create, list and register agents.",
    "alias": "Manage words that mean the same.",
    "session": "Conversations: start, append, show, list, end, fork, archive, import.",
    "journal": "Write usage counts to the journal.",
}
OTHER_NAMES = {  # what users of other tools type
    "delete": "forget", "remove": "forget", "rm": "forget", "purge": "forget ID --purge",
    "add": "remember", "store": "remember", "save": "remember", "note": "remember",
    "find": "search", "query": "search", "grep": "search", "recall": "context", "ask": "context",
    "get": "show", "cat": "show", "view": "show", "ls": "list", "log": "audit",
    "rebuild": "sync --rebuild", "index": "sync", "settings": "config", "import": "session import",
    "agents": "agent list", "sessions": "session list", "setup": "init", "restore": "undo",
    "unpause": "resume", "serve": "mcp",
}  # fmt: skip
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
            found: click.Command = getattr(group_module(other[1]), f"{name}_command")
            return found
        if name in SUBGROUPS:
            return subgroup(name, SUBGROUPS[name])
        operation = next((each for each in OPERATIONS if each.name == name), None)
        return command(operation) if operation else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            remedy = "See `brain --help`."
            if other := OTHER_NAMES.get(name):
                remedy = f"Use `brain {other}`."
            elif close := suggest(name, COMMANDS, "`brain {}`"):
                remedy = close
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
@click.version_option(package_name="vault-brain", prog_name="brain")
@click.pass_context
def cli(ctx: click.Context, vault: str | None, as_json: bool) -> None:
    """Memory for AI agents, kept as notes in your Obsidian vault.

    \b
    brain init
    brain search "local first"
    brain remember "Deploys go out on Tuesdays"
    brain context "plan the next release"
    """
    ctx.obj = {"vault": vault, "json": as_json}
    if ctx.invoked_subcommand is None:
        say(ctx.get_help(), lines=True)


cli.params[:0] = common()


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal cannot show
    sys.excepthook = crashed
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)  # everything is closed; the interpreter's own exit takes a while


def run(args: list[str]) -> int:
    """Run a command, and return its exit code."""

    def act() -> object:
        try:
            columns = min(width(), 80) - 2 if width() else None  # of the help
            return cli.main(args, prog_name="brain", standalone_mode=False, terminal_width=columns)
        except click.exceptions.Abort:
            return 130
        except click.ClickException as error:
            raise _reworded(error) from None
        except SystemExit as end:  # after a broken pipe, and after completing
            return 141 if end.code == 1 else 0

    return guarded(act, args)


def _reworded(error: click.ClickException) -> BrainError:
    """Return an error of click as an error of Brain."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "brain"
    message = " ".join(error.format_message().split())
    message = message.replace("\0", "").replace("\\x00", "").replace("\\0", "")  # added by `Words`
    if not message.endswith((".", "?", "?)")):
        message += "."
    for pattern, words in _REWORDED:
        message = re.sub(pattern, words, message)
    remedy = f"See `{command} --help`."
    if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        remedy += " Put `--` before words that begin with a dash."
    return BadRequest(message, remedy)


_REWORDED = (  # what click says about numbers
    (r"is not a valid integer(?: range)?\.", "is not a whole number."),
    (r"is not a valid float(?: range)?\.", "is not a number."),
    (r"is not in the range (\S+?)<=x<=(\S+)\.", r"is not from \1 to \2."),
    (r"is not in the range x>=(\S+)\.", r"is less than \1."),
)


# -- commands from operations ----------------------------------------------------------------------


def group_module(group: str) -> ModuleType:
    return import_module(f"brain.cli.{group.replace(' ', '_')}")


def command(operation: Operation) -> click.Command:
    """Return the command of an operation."""
    function = operation.load()
    view: View = group_module(operation.group).VIEWS[operation.name]
    given = [p for p in inspect.signature(function).parameters.values() if p.name not in HIDDEN]

    joined = [p.name for p in given if parameter(operation.name, p.name).words]

    def run(vault: str | None, as_json: bool, **values: Any) -> int:
        vault, as_json = choices(vault, as_json)
        # a space stands for an empty argument; for a missing one, standard input may be read
        values |= {name: " ".join(values[name]) or " " * len(values[name]) for name in joined}
        options = dict(values)
        if view.prepare:
            view.prepare(values)
        with opened(vault) as open_vault:
            act = partial(run_operation, function, open_vault)
            named = {p.name: values[p.name] for p in given}
            result = view.run(act, options | named) if view.run else act(**named)
            if view.after:
                view.after(open_vault)
            if not hasattr(result, "freshness"):  # its view shows the failures
                warn(open_vault.failures)
        if as_json:
            from brain import serialize

            document = view.json(result, options) if view.json else serialize.document(result)
            tell({operation.key: document} if operation.key else document)
        else:
            view.text(result, options)
        return view.code(result)

    return Words(
        operation.name.split()[-1],
        callback=run,
        params=[*(_param(operation, p) for p in given), *view.options, *common()],
        help=_help(operation.summary, operation.details, operation.examples),
        short_help=operation.summary,
    )


def _help(summary: str, details: str, examples: Iterable[str]) -> str:
    return "\n\n".join(filter(None, [summary, details, "\n".join(["\b", *examples])]))


def subgroup(name: str, summary: str) -> click.Group:
    """Return the group of commands whose names begin with the word `name`. The word alone runs
    `list`, or prints the help if there is no such command."""
    members = [each for each in OPERATIONS if each.name.startswith(f"{name} ")]
    found = {each.name.split()[1]: command(each) for each in members}

    def run(vault: str | None, as_json: bool) -> None:
        context = click.get_current_context()
        vault, as_json = choices(vault, as_json)
        context.obj = {"vault": vault, "json": as_json}
        if context.invoked_subcommand is None:
            if "list" in found:
                context.invoke(found["list"])
            else:
                say(context.get_help(), lines=True)

    return click.Group(
        name,
        found,
        invoke_without_command=True,
        callback=run,
        params=common(),
        help=_help(summary, "", [line for each in members for line in each.examples]),
    )


def _param(operation: Operation, given: inspect.Parameter) -> click.Parameter:
    """Return the argument or option of one parameter of an operation."""
    about = parameter(operation.name, given.name)
    several = given.annotation == "Iterable[str]" or about.words
    is_optional = given.default is not inspect.Parameter.empty and not about.required
    metavar = about.metavar or None
    kind = _type(given.annotation, about)
    # for click, a parameter with any default, even None, is not required
    default = {"default": given.default} if is_optional and not several else {}
    if about.argument:
        required = about.required or not (is_optional or about.words)
        return click.Argument(
            [given.name], nargs=-1 if several else 1, type=kind, required=required,
            metavar=metavar, callback=None if several else _refuse_empty, **default,
        )  # fmt: skip
    flags = about.flags or (f"--{given.name.replace('_', '-')}",)
    if given.annotation == "bool":
        return click.Option([*flags, given.name], is_flag=True, help=about.meaning)
    return click.Option(
        [*flags, given.name], type=kind, multiple=several, required=about.required,
        show_default=bool(default.get("default")), metavar=metavar, help=about.meaning, **default,
    )  # fmt: skip


def _refuse_empty(context: click.Context, given: click.Parameter, value: Any) -> Any:
    """Refuse an argument that is empty, such as an unset variable of a shell: without an argument,
    a command may mean something else."""
    is_given = context.get_parameter_source(given.name or "") is ParameterSource.COMMANDLINE
    if value == "" and is_given and not given.required:
        raise click.BadParameter("it is empty.", context, given)
    return value


def _type(annotation: str, about: Parameter) -> click.ParamType[Any]:
    if annotation.startswith("float"):
        return click.FloatRange(about.least, about.most)
    if not annotation.startswith("int"):
        return click.STRING
    return click.INT if about.least is None else click.IntRange(about.least, about.most)


class Words(click.Command):
    """A command whose words may begin with a dash, as a bullet does, or a number below zero.
    Several words of one text are joined."""

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
