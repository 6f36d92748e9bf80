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

from brain import config, errors, new_vault
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
    """Return the current text of a page."""
    if name in WHOLE:
        return (HEAD if name.endswith(".md") else "") + WHOLE[name]()
    return replay((ROOT / name).read_text(encoding="utf-8"), TABLES)


# -- commands ------------------------------------------------------------------------------------


def cli_page() -> str:
    # with its settings: click keeps the help option that it makes of them first
    context = click.Context(cli, info_name="brain", **cli.context_settings)
    parts = [
        "# Commands\n",
        "Every command has the options `--vault`, `--json` ([the JSON](json.md)) and `--read-only`."
        " You can put\nthem before or after the name of the command. Results go to standard output."
        " Messages for you\n(warnings, progress, errors) go to standard error.\n",
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
        0: ["The command succeeded, even if a search found nothing."],
        1: ["`brain doctor` found a problem, or `brain session import` left something out."],
        2: ["There is no such command or option, or an argument is missing."],
        130: ["Ctrl-C ended the command."],
        141: ["The program that reads the output has ended, for example `head`."],
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
| `BRAIN_STATE` | The state folder, which contains this machine's local files (state.db, the \
registry of agents). The default is different on Linux and macOS. |
| `VISUAL`, `EDITOR` | The editor of `brain edit`. |
| `NO_COLOR` | If set, the output has no colour and no bold text. Matching words are \
marked «like this». |
| `CLICOLOR_FORCE` | If set and not 0, the output has bold text even in a pipe, \
unless `NO_COLOR` is set. |
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

`brain mcp --agent NAME` serves a vault over the [Model Context
Protocol](https://modelcontextprotocol.io), on standard input and output. AI clients start this
server; `brain connect` configures them to do so. The server supports the version 2026-07-28 of the
protocol, and the earlier versions that begin with `initialize`. With `--read-only`, it writes
nothing.

**Permissions.** The agent has the permissions of its type. An admin reads and writes everything. A
project agent reads your notes, its own memory and the memory of the admin, and writes its own
memory. A skill may do nothing. These permissions [are not a security
boundary](../explanation/data-safety.md#policy-not-isolation).

**Results.** A result is text for the model. Recalled entries are between the lines
`=== PROJECT MEMORY ===` and `=== END OF PROJECT MEMORY ===`. Each entry has its `[id:…]`, its
origin and its place. Invisible characters are removed. For programs, `_meta` contains the [JSON
document](json.md) under the key `brain/result`. An error message says what to do.

**Confirmation.** The memory of the admin is global memory. If an agent changes it, the user has to
confirm the change. The client shows a form for this. If the client cannot show forms, the agent has
to ask the user, and then set the argument `confirm`. Feedback, and new memories of the kind
`pattern`, need no confirmation.

**Freshness.** The server checks the files of the vault before each answer, and once a minute
without a request.

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
| `review` | | Reviews contradictions, candidates and unanswered questions with you. |

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

The settings of a vault are in `brain.yaml` in the brain folder, one `key: value` per line. Every
setting has a default, so the file may be empty or missing. `brain init` creates a file that lists
all settings as comments. `brain config` shows the current values.

The settings may also be in a nested block `memory:`. An unknown key is a warning in `brain doctor`,
which suggests the most similar setting.

If a value is not valid, every command stops with exit code 6 and names the line, so that no setting
is ignored without notice. A value may also be valid but name something that this machine does not
have (`vectorModel`, `tokenizer`). In this case, commands still work, and their output says what is
missing.

`brain watch` uses a changed `brain.yaml` after its next full scan.

"""


# -- tables inside pages -------------------------------------------------------------------------


def kinds() -> str:
    rows = []
    for name, kind in KINDS.items():
        headings = ", ".join(heading.capitalize() for heading in kind.headings)
        rows.append(f"| `{name}` | {headings} |")
    return "| kind | headings |\n|---|---|\n" + "\n".join(rows) + "\n"


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
    "vault_template/40_Brain/.gitignore": lambda: new_vault.GITIGNORE,
    "vault_template/40_Brain/.gitattributes": lambda: new_vault.GITATTRIBUTES,
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
