"""Commands that go on until they are ended: watch, events."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from brain import wire
from brain.cli.app import choices, common
from brain.cli.output import counted, note, opened, say
from brain.index.moment import shown
from brain.model import Event

POLL = 0.2  # seconds between looks at the ring of another process


@click.command("watch")
@common
def watch_command(vault: str | None, as_json: bool) -> None:
    """Keep the index in step while the vault changes. Prints a line per event.

    Ends cleanly on Ctrl-C or SIGTERM.

    \b
    brain watch
    brain watch --json > events.jsonl
    """
    from brain import daemon

    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain, daemon.only_one(brain.vault.paths), stopping() as stop:
        brain.events.subscribe(lambda event: _print(event, as_json))
        if not as_json:
            note(f"Watching {brain.vault.paths.root}. Ctrl-C ends it.")
        daemon.run(brain.vault, stop, note)
        if not as_json:
            note("Stopped.")


@click.command("events")
@click.option("--follow", "-f", is_flag=True, help="Go on printing what happens.")
@click.option("--limit", "-n", default=20, show_default=True, type=click.IntRange(0, 1000))
@common
def events_command(follow: bool, limit: int, vault: str | None, as_json: bool) -> None:
    """Show what happened lately. It may be in any Brain process on this machine.

    \b
    brain events
    brain events --follow --json
    """
    from brain.index import ring

    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain, stopping() as stop:
        last = 0 if limit else ring.newest(brain.vault.index)
        while True:
            brain.vault.index.check()
            happened = ring.after(brain.vault.index, last, limit)
            for _, event in happened:
                _print(event, as_json)
            if not follow or stop.wait(POLL):
                return
            limit, last = ring.SIZE, happened[-1][0] if happened else last


def _print(event: Event, as_json: bool) -> None:
    shape = wire.event(event)
    if as_json:
        say(json.dumps(shape, ensure_ascii=False))
    else:
        say(f"{shown(event.at)[11:]}  {event.name:<13} {_words(shape)}")


def _words(event: dict[str, Any]) -> str:
    match event["event"]:
        case "memory:write":
            counts = {name: len(entries) for name, entries in event["delta"].items()}
            what = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
            return f"{event['path']}  {what}"
        case "memory:search":
            return f"{event['query']!r}  {counted(len(event['results']), 'result')}"
        case "memory:read":
            return f"{event['path']}  {event['size']} characters"
        case "memory:sync":
            return f"{counted(event['files'], 'file')} indexed in {event['seconds']} s"
    return ""


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, in place of ending the process where it stands."""
    stop = threading.Event()
    before: dict[int, Any] = {}

    def end(*_: object) -> None:
        stop.set()
        restore()  # the second Ctrl-C does not ask

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, end)
    try:
        yield stop
    finally:
        restore()
