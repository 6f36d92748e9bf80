"""Commands from operations: arguments and options from the signature, help from the registry.

The module of a group has a table VIEWS: how each command shows its result, and where it differs
from the signature of its operation.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from brain.cli.output import opened, tell
from brain.operations import OPERATIONS, Operation
from brain.operations.parameters import HIDDEN, Parameter, parameter

if TYPE_CHECKING:
    from brain.open_vault import OpenVault

Values = dict[str, Any]


class View(NamedTuple):
    """How a command shows its result."""

    text: Callable[[Any, Values], None]
    json: Callable[[Any, Values], Any] | None = None  # if it is not `serialize.document`
    code: Callable[[Any], int] = lambda _: 0  # the exit code
    options: tuple[click.Option, ...] = ()  # besides those of the operation
    prepare: Callable[[Values], None] | None = None  # changes values before the call
    after: Callable[[OpenVault], None] | None = None  # runs while the vault is still open


def group_module(group: str) -> ModuleType:
    """Return the module of a group of commands."""
    return import_module(f"brain.cli.{group.replace(' ', '_')}")


def command(operation: Operation) -> click.Command:
    """Return the command of an operation."""
    function = operation.load()
    view: View = group_module(operation.group).VIEWS[operation.name]
    given = [p for p in inspect.signature(function).parameters.values() if p.name not in HIDDEN]

    joined = [p.name for p in given if parameter(operation.name, p.name).words]

    def run(vault: str | None, as_json: bool, **values: Any) -> int:
        vault, as_json = choices(vault, as_json)
        values |= {name: " ".join(values[name]) for name in joined}
        options = dict(values)
        if view.prepare:
            view.prepare(values)
        with opened(vault) as open_vault:
            result = function(open_vault, **{p.name: values[p.name] for p in given})
            if view.after:
                view.after(open_vault)
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
    """Return the group of commands whose names begin with this word. Alone, it lists."""
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
                click.echo(context.get_help())

    return click.Group(
        name,
        found,
        invoke_without_command=True,
        callback=run,
        params=common(),
        help=_help(summary, "", [line for each in members for line in each.examples]),
    )


def common() -> list[click.Parameter]:
    """Return `--vault` and `--json`, which every command has."""
    vault = click.Option(["--vault", "-V"], type=click.Path(), help="Path of the vault.")
    return [vault, click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")]


def choices(vault: str | None, as_json: bool) -> tuple[str | None, bool]:
    """Return the options as given to the command, else to `brain` itself."""
    given = click.get_current_context().obj or {}
    vault = vault or given.get("vault") or os.environ.get("BRAIN_VAULT")
    return vault, as_json or given.get("json", False)


# -- parameters ----------------------------------------------------------------------------------


def _param(operation: Operation, given: inspect.Parameter) -> click.Parameter:
    """Return the argument or option of one parameter of an operation."""
    about = parameter(operation.name, given.name)
    several = given.annotation == "Iterable[str]" or about.words
    is_optional = given.default is not inspect.Parameter.empty
    default = given.default if is_optional and not several else None
    metavar = about.metavar or None
    kind = _type(given.annotation, about)
    if about.argument:
        required = about.required or not (is_optional or about.words)
        return click.Argument(
            [given.name], nargs=-1 if several else 1, type=kind, required=required,
            default=default, metavar=metavar,
        )  # fmt: skip
    flags = about.flags or (f"--{given.name.replace('_', '-')}",)
    if given.annotation == "bool":
        return click.Option([*flags, given.name], is_flag=True, help=about.meaning)
    return click.Option(
        [*flags, given.name], type=kind, multiple=several, required=about.required,
        default=default, show_default=bool(default), metavar=metavar, help=about.meaning,
    )  # fmt: skip


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
