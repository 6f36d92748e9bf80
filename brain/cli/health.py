"""Commands about Brain itself: status, doctor, config, completion."""

from __future__ import annotations

from typing import Any

import click

from brain import config as settings
from brain import wire
from brain.cli.app import choices, common, note, opened, say, tell
from brain.errors import NotFound
from brain.index import query

# How much a problem matters: these are only worth a line all together.
HARMLESS = {
    "bom": "start with a byte order mark",
    "crlf": "have carriage returns",
    "line-separator": "hold U+2028 or U+2029",
    "hard-link": "have hard links",
}


@click.command("status")
@common
def status_command(vault: str | None, as_json: bool) -> None:
    """Show what is indexed, how fresh it is, and whether a daemon runs.

    \b
    brain status
    brain status --json
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        freshness = brain.refresh()
        counts = query.counts(brain.index)
        shape = {
            "vault": str(brain.vault.root),
            "brain": brain.vault.brain,
            "index": str(brain.index.path),
            "engine": brain.index.fts,
            "scopes": counts,
            "agents": query.agents(brain.index),
            "problems": len(brain.problems()),
            "daemon": _daemon(brain),
            "fresh": freshness.fresh,
            "as_of": freshness.as_of,
            "stale": list(freshness.stale),
        }
        if as_json:
            tell(shape)
            return
        say(f"Vault   {shape['vault']}", bold=True)
        say(f"Index   {shape['index']} ({shape['engine']})")
        for scope, count in counts.items():
            if count["entries"]:
                say(
                    f"        {scope:<9} {count['entries']:>7,} entries in {count['files']:,} files"
                )
        for agent in shape["agents"]:
            say(f"Agent   {agent['agent']} ({agent.get('type', 'no type')})")
        say(f"Daemon  {'process ' + str(shape['daemon']) if shape['daemon'] else 'not running'}")
        say("Fresh   yes" if freshness.fresh else "Fresh   no")
        for why in freshness.stale:
            say(f"        {why}")
        if shape["problems"]:
            say(f"{shape['problems']:,} remarks; see `brain doctor`.")


def _daemon(brain: Any) -> int | None:
    """The process that watches this vault, if one does."""
    import os

    from brain import lock

    path = brain.vault.state / "daemon.lock"
    if not path.exists():
        return None
    handle = lock.take(path)
    if handle is not None:
        os.close(handle)
        return None
    text = path.read_text().strip()
    return int(text) if text.isdigit() else None


@click.command("doctor")
@click.option("--all", "everything", is_flag=True, help="Also list what is harmless, file by file.")
@common
def doctor_command(everything: bool, vault: str | None, as_json: bool) -> None:
    """Check the index and list every file that could not be read as it stands. Changes nothing.

    Ends with 1 if there is something to put right.

    \b
    brain doctor
    brain doctor --all --json
    """
    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        freshness = brain.refresh()
        healthy = brain.index.healthy()
        if not healthy:
            brain.sync(rebuild=True)
        found = brain.problems()
        serious = [(path, p) for path, p in found if p.code not in HARMLESS]
        if as_json:
            tell({"healthy": healthy, "problems": [wire.problem(path, p) for path, p in found],
                  "fresh": freshness.fresh, "stale": list(freshness.stale)})  # fmt: skip
        else:
            say(
                "The index was damaged; it is built again."
                if not healthy
                else "The index is sound."
            )
            for path, p in found if everything else serious:
                say(f"{path}{f':{p.line}' if p.line else ''}  {p.code}: {p.message}")
            if not everything:
                _summarise(found)
            for why in freshness.stale:
                note(f"Not fresh: {why}")
            if not serious:
                say("Nothing to put right.")
        if serious:
            raise click.exceptions.Exit(1)


def _summarise(found: list[Any]) -> None:
    for code, words in HARMLESS.items():
        if count := sum(1 for _, p in found if p.code == code):
            say(f"{count:,} files {words}; that is kept as it is.")


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
    with opened(vault) as brain:
        for problem in brain.warnings:
            note(f"brain.yaml line {problem.line}: {problem.message}")
        if name and name not in settings.SETTINGS:
            raise NotFound(f"There is no setting {name!r}.", "See `brain config` for all of them.")
        values = {
            key: getattr(brain.config, key) for key in settings.SETTINGS if name in (None, key)
        }
        if as_json:
            tell(values)
            return
        for key, value in values.items():
            changed = "" if value == settings.default(key) else "  (set)"
            say(
                settings.written(value) if name else f"{key:<15} {settings.written(value)}{changed}"
            )


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print what makes your shell complete `brain` commands.

    \b
    eval "$(brain completion bash)"      in ~/.bashrc
    brain completion fish > ~/.config/fish/completions/brain.fish
    """
    from click.shell_completion import get_completion_class

    from brain.cli.app import cli

    kind = get_completion_class(shell)
    assert kind
    click.echo(kind(cli, {}, "brain", "_BRAIN_COMPLETE").source())
