"""Commands about Brain itself: status, doctor, config, completion."""

from __future__ import annotations

import click

from brain import config, settings, wire
from brain.cli.app import choices, common, seeing
from brain.cli.output import counted, note, opened, say, tell, warn
from brain.errors import NotFound
from brain.index.moment import shown
from brain.model import Problem

# How much a problem matters: these are only worth a line all together.
HARMLESS = {
    "bom": "with a byte order mark; that is kept as it is",
    "crlf": "with carriage returns; that is kept as it is",
    "line-separator": "with U+2028 or U+2029; that is kept as it is",
    "hard-link": "with hard links; that is kept as it is",
    "no-swap": "on a disk where files cannot change places in one step",
    "pending": "with writes that wait; see `brain pending`",
}


@click.command("status")
@seeing
@common
def status_command(by: str, vault: str | None, as_json: bool) -> None:
    """Show what is indexed, how fresh it is, and if a daemon runs.

    \b
    brain status
    brain status --json
    """
    from brain import daemon

    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        shape = brain.status(by=by) | {"daemon": daemon.running(brain.vault.paths)}
    if as_json:
        tell(shape)
        return
    say(f"Vault   {shape['vault']}", "bold")
    say(f"Index   {shape['index']} ({shape['engine']})")
    for scope, count in shape["scopes"].items():
        if count["entries"]:
            entries = "entry" if count["entries"] == 1 else "entries"
            where = counted(count["files"], "file")
            say(f"        {scope:<9} {count['entries']:>7,} {entries} in {where}")
    for agent in shape["agents"]:
        say(f"Agent   {agent['agent']} ({agent.get('type', 'no type')})")
    say(f"Daemon  {'process ' + str(shape['daemon']) if shape['daemon'] else 'not running'}")
    if last := shape["last_injected"]:
        handed = counted(len(last["refs"]), "memory", "memories")
        say(f"Recall  {handed} for {last['query']!r}, {shown(last['at'])[:16]}")
        say(f"        {shape['recall']['p95_ms']:.0f} ms at most for 95 % of the last recalls")
    if shape["recall"]["degraded"]:
        say("        slow, so that less is looked at than usual")
    say("Fresh   yes" if shape["fresh"] else "Fresh   no")
    for why in shape["stale"]:
        say(f"        {why}")
    if shape["problems"]:
        say(f"{counted(shape['problems'], 'remark')}; see `brain doctor`.")


@click.command("doctor")
@click.option("--all", "everything", is_flag=True, help="Also list what is harmless, file by file.")
@common
def doctor_command(everything: bool, vault: str | None, as_json: bool) -> None:
    """Check the index and the files. Lists every file that could not be read as it stands,
    secrets in memory notes, and what waits to be written. Changes nothing.

    Ends with 1 if there is something to put right.

    \b
    brain doctor
    brain doctor --all --json
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        freshness = brain.refresh()
        healthy = brain.healthy()
        found = sorted([*brain.problems(), *brain.examined()])
    serious = [(path, problem) for path, problem in found if problem.code not in HARMLESS]
    if as_json:
        problems = [wire.problem(path, problem) for path, problem in found]
        tell({"healthy": healthy, "problems": problems, **wire.freshness(freshness)})
    else:
        say("The index is sound." if healthy else "The index was damaged; it is built again.")
        for path, problem in found if everything else serious:
            place = f"{path}:{problem.line}" if problem.line else path
            say(f"{place}  {problem.code}: {problem.message}")
        if not everything:
            _summarise(found)
        warn(freshness)
        if not serious:
            say("Nothing to put right.")
    if serious:
        raise click.exceptions.Exit(1)


def _summarise(found: list[tuple[str, Problem]]) -> None:
    for code, words in HARMLESS.items():
        if count := len({path for path, problem in found if problem.code == code}):
            say(f"{counted(count, 'file')} {words}.")


@click.command("config")
@click.argument("name", required=False)
@common
def config_command(name: str | None, vault: str | None, as_json: bool) -> None:
    """Show the settings of this vault, or one of them. They are set in brain.yaml.

    \b
    brain config
    brain config exclude
    """
    vault, as_json = choices(vault, as_json)
    if name and name not in settings.SETTINGS:
        raise NotFound(f"There is no setting {name!r}.", settings.nearest(name))
    with opened(vault) as brain:
        for problem in brain.vault.warnings:
            note(f"brain.yaml line {problem.line}: {problem.message}")
        chosen = (name,) if name else settings.SETTINGS
        values = {key: getattr(brain.vault.config, key) for key in chosen}
    if as_json:
        tell(values)
    elif name:
        say(settings.written(values[name]))
    else:
        wide = max(map(len, values))
        for key, value in values.items():
            changed = "" if value == config.default(key) else "  (set)"
            say(f"{key:<{wide}} {settings.written(value)}{changed}")


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@common
def completion_command(shell: str, vault: str | None, as_json: bool) -> None:
    """Print what makes your shell complete `brain` commands.

    \b
    eval "$(brain completion bash)"      in ~/.bashrc
    brain completion fish > ~/.config/fish/completions/brain.fish
    """
    from click.shell_completion import get_completion_class

    from brain.cli.app import cli

    kind = get_completion_class(shell)
    assert kind
    script = kind(cli, {}, "brain", "_BRAIN_COMPLETE").source()
    _, as_json = choices(vault, as_json)
    tell({"shell": shell, "script": script}) if as_json else click.echo(script)
