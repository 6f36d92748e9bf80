"""Writes the parts of the docs that come from the code: `python -m tests.generate`.

Whole pages (commands, settings), tables inside pages, and the output of every example.
`test_docs.py` fails while any of it is out of date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from brain import config, errors, init
from brain.cli.main import cli, summaries
from brain.kinds import KINDS
from brain.operations import GROUPS, OPERATIONS, results
from brain.serve.tools import TOOLS, Argument
from tests.picture import picture
from tests.replay import replay

ROOT = Path(__file__).parent.parent
HEAD = "<!-- Made by `make docs` from the code; changes here are overwritten. -->\n\n"
PLAYED = (
    "README.md",
    "docs/tutorial.md",
    "docs/explanation/context.md",
    "docs/explanation/graph.md",
    "docs/explanation/search.md",
    "docs/how-to/keep-notes-out.md",
    "docs/how-to/troubleshoot.md",
    "docs/how-to/use-with-an-agent.md",
    "docs/how-to/use-with-git.md",
    "docs/how-to/use-with-sync-services.md",
    "docs/how-to/writing.md",
    "docs/reference/events.md",
    "docs/reference/formats.md",
    "docs/reference/json.md",
    "docs/reference/python.md",
)


def page(name: str) -> str:
    """What a page should say."""
    if name in WHOLE:
        return (HEAD if name.endswith(".md") else "") + WHOLE[name]()
    return replay((ROOT / name).read_text(encoding="utf-8"), TABLES)


# -- commands ------------------------------------------------------------------------------------


def cli_page() -> str:
    # with its settings: click keeps the help option that it makes of them first
    context = click.Context(cli, info_name="brain", **cli.context_settings)
    parts = [
        "# Commands\n",
        "Every command takes `--vault`, `--json` and `--read-only`, before or behind its name"
        " ([the JSON](json.md)).\nLines for a person (warnings, progress, errors) go to standard"
        " error, results to standard output.\n",
        *_command(cli, context, "brain"),
    ]
    for group in GROUPS:
        parts.append(f"## {group.capitalize()}\n")
        for name, _ in summaries(group):
            parts += _commands(cli, context, name, "brain")
    return "\n".join([*parts, "## Exit codes\n", exit_codes(), ENVIRONMENT])


def _commands(group: click.Group, context: click.Context, name: str, path: str) -> Iterator[str]:
    """A command, and those below it."""
    command = group.get_command(context, name)
    assert command
    inner = click.Context(command, info_name=name, parent=context)
    yield f"### {path} {name}\n"
    yield from _command(command, inner, f"{path} {name}")
    if isinstance(command, click.Group):
        for below in command.list_commands(inner):
            yield from _commands(command, inner, below, f"{path} {name}")


def _command(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    words = inspect.cleandoc(command.help or "").split("\n\n")
    yield f"```text\n{name} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    for paragraph in words:
        if paragraph.startswith("\b"):
            yield f"```sh\n{paragraph[1:].strip()}\n```\n"
        else:
            yield f"{paragraph}\n"
    rows = [_option(p) for p in command.params if isinstance(p, click.Option)]
    if rows:
        yield "| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"


VALUES = {"path": "PATH", "text": "TEXT", "integer range": "N", "float range": "N"}


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
    value = "" if option.is_flag else f" {option.metavar or VALUES[option.type.name]}"
    means = " ".join((option.help or "").split())
    if option.show_default and not option.is_flag:
        means += f" [default: {option.default}]"
    return f"| {names}{value} | {means.strip()} |"


def exit_codes() -> str:
    meanings = {
        0: ["Success, also if a search finds nothing."],
        1: ["`brain doctor` found a problem, or `brain session import` left something out."],
        2: ["There is no such command or option, or an argument is missing."],
        130: ["Ctrl-C ended the command."],
        141: ["The program that read the output has ended, as `head` does."],
    }
    for error in vars(errors).values():
        if isinstance(error, type) and error.__module__ == "brain.errors" and error.__doc__:
            words = inspect.cleandoc(error.__doc__).replace("\n", " ")
            meanings.setdefault(error.exit_code, []).append(f"`{error.__name__}`: {words}")
    rows = [f"| {code} | {' '.join(words)} |" for code, words in sorted(meanings.items())]
    return "| code | when |\n|---|---|\n" + "\n".join(rows) + "\n"


ENVIRONMENT = """\
## Environment

| variable | meaning |
|---|---|
| `BRAIN_VAULT` | The vault, if `--vault` is not given. |
| `BRAIN_STATE` | The folder for this machine's local files (state.db, the registry of agents), \
instead of the platform's usual one. |
| `VISUAL`, `EDITOR` | The editor of `brain edit`. |
| `NO_COLOR` | If set, no colour and no bold text. Matches are marked «so». |
| `CLICOLOR_FORCE` | If set and not 0, bold text also in a pipe, unless `NO_COLOR` is set. |
| `COLUMNS` | The width of the terminal, if it does not report one. |
"""


# -- MCP ------------------------------------------------------------------------------------------


def mcp_page() -> str:
    parts = [MCP]
    for tool in TOOLS:
        hints = [
            word
            for word, holds in (
                ("read-only", tool.read_only),
                ("destructive", tool.destructive),
                ("idempotent", tool.read_only or tool.repeatable),
            )
            if holds
        ]
        parts.append(f"### {tool.name}\n")
        parts.append(f"{tool.description}\n")
        command = tool.operation if not tool.other[2] else f"{tool.operation}` or `{tool.other[2]}"
        parts.append(f"Operation: `{command}`. {'; '.join(hints).capitalize() or 'Writes'}.\n")
        rows = [_argument(argument) for argument in tool.arguments]
        parts.append("| argument | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _argument(argument: Argument) -> str:
    name = f"`{argument.name}`" + (" (required)" if argument.required else "")
    kind = "list of strings" if argument.type == "strings" else argument.type
    if argument.choices:
        kind = " or ".join(f"`{choice}`" for choice in argument.choices)
    return f"| {name} | {kind} | {argument.meaning} |"


MCP = """\
# MCP

`brain mcp --agent NAME` serves a vault by the [Model Context
Protocol](https://modelcontextprotocol.io), on standard input and output. A client starts it;
`brain connect` tells it how. It speaks the protocol of 2026-07-28 and the earlier ones that begin
with `initialize`. With `--read-only` nothing is written.

The agent has the rights of its type: an admin reads and writes all, a project agent reads its own
memory and the admin's and writes its own, a skill reads and writes nothing. This is policy, not
isolation: an agent with a shell is the same user.

A result is text for the model. Recalled text stands between `=== PROJECT MEMORY ===` and `=== END
OF PROJECT MEMORY ===`, each entry with `[id:…]`, its origin and place, and without characters that
cannot be seen. For programs, `_meta` has the [JSON document](json.md) as `brain/result`. An error
says what to do.

A change of global memory, which is the admin's, is confirmed by the user: by a form if the client
can show one, else by the argument `confirm`, which the agent sets after it has asked. A new pattern
and feedback need no confirmation.

Before each answer, the files are checked. While nobody asks, this happens once a minute.

## Resources

| resource | content |
|---|---|
| `brain://agent` | The AGENT.md of the agent. |
| `brain://memory` | The MEMORY.md of the agent. |
| `brain://global` | The MEMORY.md of the vault, unless the agent is the admin. |
| `brain://tasks` | The tasks of the vault. |

## Prompts

| prompt | argument | what it does |
|---|---|---|
| `recall` | `topic` | Recalls what is known about a topic. |
| `review` | | Goes through contradictions, candidates and unanswered questions with you. |

## Tools
"""


# -- settings ------------------------------------------------------------------------------------


def config_page() -> str:
    rows = []
    for name, spec in config.SETTINGS.items():
        choices = spec.choices
        means = spec.meaning
        if len(choices) > 1:
            means += f" One of: {', '.join(f'`{c}`' for c in choices)}."
        rows.append(f"| `{name}` | `{config.to_yaml(config.default(name))}` | {means} |")
    return CONFIG + "| setting | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


CONFIG = """\
# Settings

Settings live in `brain.yaml` in the brain folder, one `key: value` a line. Each has a default, so
the file may be empty or missing. `brain init` writes one that names them all, commented out.
`brain config` shows what holds.

A nested `memory:` block is read as if its keys stood at the top. A key that nobody knows is a
warning in `brain doctor`, with the nearest name that is known. A value that does not fit stops
every command with its line and exit code 6, because a setting such as `exclude` must not be dropped
in silence. What names something that this machine does not have (`vectorModel`, `tokenizer`) stops
nothing: the answer says what it did without. `brain watch` takes over a changed file at its next
full scan.

"""


# -- tables inside pages -------------------------------------------------------------------------


def kinds() -> str:
    rows = []
    for name, kind in KINDS.items():
        headings = ", ".join(heading.capitalize() for heading in kind.headings)
        rows.append(f"| `{name}` | {headings} |")
    return "| kind | headings that say so |\n|---|---|\n" + "\n".join(rows) + "\n"


def operations() -> str:
    """Every operation as a method of Brain: its signature, and what it does."""
    out = []
    for group in GROUPS:
        out.append(f"### {group.capitalize()}\n")
        for operation in OPERATIONS:
            if operation.group == group:
                function = operation.load()
                out.append(f"```py\n{_signature(operation.method, function)}\n```\n")
                out.append(f"{inspect.cleandoc(function.__doc__ or '')}\n")
    return "\n".join(out)


def _signature(name: str, function: Callable[..., object]) -> str:
    """As many parameters in a line as fit."""
    found = inspect.signature(function)
    shown, keyword_only = [], False
    for each in list(found.parameters.values())[1:]:
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            shown.append("*")
        default = "" if each.default is each.empty else f" = {each.default!r}"
        shown.append(f"{each.name}: {each.annotation}{default}".replace("'", '"'))
    result = str(found.return_annotation).replace("results.", "")
    if len(line := f"{name}({', '.join(shown)}) -> {result}") <= 96:
        return line
    lines = [""]
    for parameter in shown:
        if len(lines[-1]) + len(parameter) > 88:
            lines.append("")
        lines[-1] += f"{parameter}, "
    inside = "\n".join(f"    {each.rstrip()}" for each in lines)
    return f"{name}(\n{inside}\n) -> {result}"


def values() -> str:
    """Every result: its fields, and what it is."""
    rows = []
    for value in vars(results).values():
        if isinstance(value, type) and issubclass(value, results.Value) and value._fields:
            base = value.__mro__[1]
            own = [name for name in value._fields if name not in base._fields]
            fields = ", ".join(f"`{name}`" for name in own)
            if base is not results.Value:
                fields = f"those of `{base.__name__}`, {fields}"
            means = " ".join(inspect.cleandoc(value.__doc__ or "").split())
            rows.append(f"| `{value.__name__}` | {fields} | {means} |")
    return "| value | fields | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


WHOLE: dict[str, Callable[[], str]] = {
    "docs/demo.svg": picture,
    "docs/reference/cli.md": cli_page,
    "docs/reference/config.md": config_page,
    "docs/reference/mcp.md": mcp_page,
    "vault_template/40_Brain/brain.yaml": config.template,
    "vault_template/40_Brain/.gitignore": lambda: init.GITIGNORE,
    "vault_template/40_Brain/.gitattributes": lambda: init.GITATTRIBUTES,
}
TABLES: dict[str, Callable[[], str]] = {"kinds": kinds, "operations": operations, "values": values}


def main() -> None:
    for name in sys.argv[1:] or (*WHOLE, *PLAYED):
        path = ROOT / name
        new = page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != new:
            path.write_text(new, encoding="utf-8")
            print(f"{name} written")


if __name__ == "__main__":
    main()
