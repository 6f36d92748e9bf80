"""Maintain: status, doctor, sync, watch, events, journal, pause, resume."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from brain import access, actors
from brain.cli.output import (
    Progress,
    Values,
    View,
    choices,
    common,
    counted,
    note,
    opened,
    say,
    warn,
    who,
)
from brain.model import Event
from brain.timestamps import shown

if TYPE_CHECKING:
    from brain.open_vault import OpenVault
    from brain.operations.results import Diagnosis, FileProblem, Status
    from brain.sync import Stats

COUNTS = {"promotions": "promoted automatically", "evictions": "archived automatically"}
HEALTH = {True: "sound", False: "damaged; `brain doctor` repairs it"}
POLL = 0.2  # seconds between looks at the events of other processes
# Problems that need no action: one line for all files of a code.
HARMLESS = {
    "bom": "with a byte order mark; that is kept as it is",
    "crlf": "with carriage returns; that is kept as it is",
    "line-separator": "with U+2028 or U+2029; that is kept as it is",
    "hard-link": "with hard links; that is kept as it is",
    "no-exchange": "on a disk where files cannot be exchanged in one step",
    "pending": "with pending writes; see `brain pending`",
}


def print_status(status: Status, _: Values) -> None:
    say(f"Vault   {status.vault}", "bold", hang=8)
    _row("Index", f"{status.index} ({status.engine}, {HEALTH[status.healthy]})")
    for scope, count in status.scopes.items():
        if count["entries"]:
            entries = "entry" if count["entries"] == 1 else "entries"
            where = counted(count["files"], "file")
            _row("", f"{scope:<9} {count['entries']:>7,} {entries} in {where}")
    if status.kinds:
        _row("Kinds", ", ".join(f"{count:,} {kind}" for kind, count in status.kinds.items()))
    for agent in status.agents:
        _row("Agent", f"{agent['agent']} ({agent.get('type', 'no type')})")
    _row("Writing", _paused(status.paused) if status.paused else "on")
    _row("Daemon", f"process {status.daemon}" if status.daemon else "not running")
    if last := status.last_injected:
        given = counted(len(last["refs"]), "memory", "memories")
        _row("Context", f"{given} for {last['query']!r}, {shown(last['at'])[:16]}")
        _row("", f"95 % of the last contexts took at most {status.recall['p95_ms']:.0f} ms")
    if status.recall["degraded"]:
        _row("", "contexts are slow, so they search less than usual")
    if counters := status.counters:
        others = [f"{counters[key]:,} {words}" for key, words in COUNTS.items() if counters[key]]
        used = f"memories were used {counted(counters['accesses'], 'time')}"
        _row("Counts", ", ".join([used, *others]))
        if counters["created"]:
            _row("", f"changes are recorded since {shown(counters['created'])[:10]}")
        if counters["last_compacted"]:
            _row("", f"the journal was compacted on {shown(counters['last_compacted'])[:10]}")
    _row("Fresh", "yes" if status.freshness.fresh else "no")
    for why in status.freshness.stale:
        _row("", why)
    if status.problems:
        say(f"{counted(status.problems, 'remark')}; see `brain doctor`.")


def _row(name: str, value: str) -> None:
    say(f"{name:<7} {value}", hang=8)


def _paused(paused: str) -> str:
    """Return why nothing is written, and what to do."""
    if paused == "pause":
        return "paused on this machine; `brain resume` allows it again"
    if paused == "--read-only":
        return "off, because of `--read-only`"
    return f"off, because of `{paused}` in brain.yaml"


def print_diagnosis(found: Diagnosis, options: Values) -> None:
    """Print all problems. Unless `--all` is given, harmless problems get one line per code."""
    say("The index is sound." if found.healthy else "The index was damaged and has been rebuilt.")
    for problem in found.problems if options["all"] else _serious(found):
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        say(f"{place}  {problem.code}: {problem.message}")
    if not options["all"]:
        for code, words in HARMLESS.items():
            if count := len({each.path for each in found.problems if each.code == code}):
                say(f"{counted(count, 'file')} {words}.")
    if found.paused:
        say(f"Writing is {_paused(found.paused)}.")
    warn(found.freshness.stale)
    if not _serious(found):
        say("No problems found.")


def _serious(found: Diagnosis) -> list[FileProblem]:
    return [problem for problem in found.problems if problem.code not in HARMLESS]


def print_stats(stats: Stats, _: Values) -> None:
    counts = {
        "new": len(stats.added),
        "changed": len(stats.changed),
        "moved": len(stats.moved),
        "removed": len(stats.removed),
    }
    parts = [f"{count:,} {word}" for word, count in counts.items() if count]
    files, news = counted(stats.files, "file"), ", ".join(parts) or "nothing new"
    say(f"{files}, {news} ({stats.seconds:.2f} s).")


def _embed(vault: OpenVault) -> None:
    """Embed new passages if search is hybrid, with a progress line."""
    if vault.config.searchProvider != "hybrid":
        return
    from brain import operations
    from brain.operations.search import embed

    if isinstance(vault.progress, Progress):
        vault.progress.what = "passages"
    try:
        errors = operations.run(embed, vault)
    except KeyboardInterrupt:
        note("\nInterrupted. The next `brain sync` embeds the rest.")
        raise
    for error in errors:
        note(error)


def print_written(count: int, _: Values) -> None:
    say(f"{counted(count, 'record')} written." if count else "No usage to write.")


def print_paused(paused: bool, _: Values) -> None:
    say("Nothing is written until `brain resume`." if paused else "Brain writes again.")


VIEWS = {
    "status": View(print_status),
    "doctor": View(
        print_diagnosis,
        code=lambda found: 1 if _serious(found) else 0,
        options=(click.Option(["--all"], is_flag=True, help="List harmless problems as well."),),
    ),
    "sync": View(print_stats, after=_embed),
    "journal write": View(print_written),
    "pause": View(print_paused),
    "resume": View(print_paused),
}


# -- commands that run until they are stopped ----------------------------------------------------


def _watch(by: str, vault: str | None, as_json: bool) -> None:
    """Keep the index up to date while notes change.

    The command prints one line per event. Ctrl-C or SIGTERM stops it.

    \b
    brain watch
    brain watch --json > events.jsonl
    """
    from brain import daemon

    vault, as_json = choices(vault, as_json)
    with (
        opened(vault) as open_vault,
        daemon.only_one(open_vault.paths),
        stop_signals() as stop,
    ):
        access.require_admin(actors.resolve(open_vault, by), "watch the vault")
        open_vault.events.subscribe(lambda event: _print(event, as_json))
        if not as_json:
            note(f"Watching {open_vault.paths.root}. Ctrl-C ends it.")
        daemon.run(open_vault, stop, note)
        if not as_json:
            note("Stopped.")


watch_command = click.Command(
    "watch", callback=_watch, help=_watch.__doc__, params=[*who("by"), *common()]
)


def _events(follow: bool, limit: int, by: str, vault: str | None, as_json: bool) -> None:
    """Show recent events.

    The events come from all Brain processes on this machine.

    \b
    brain events
    brain events --follow --json
    """
    from brain import events

    vault, as_json = choices(vault, as_json)
    with opened(vault) as open_vault, stop_signals() as stop:
        access.require_admin(actors.resolve(open_vault, by), "see all events")
        index = open_vault.index
        last = 0 if limit else events.newest(index)
        while True:
            index.check()
            new_events = events.after(index, last, limit)
            for _, event in new_events:
                _print(event, as_json)
            if not follow or stop.wait(POLL):
                return
            limit, last = events.KEPT, new_events[-1][0] if new_events else last


events_command = click.Command(
    "events",
    callback=_events,
    help=_events.__doc__,
    params=[
        click.Option(["--follow", "-f"], is_flag=True, help="Continue with new events."),
        click.Option(
            ["--limit", "-n"], default=20, show_default=True, metavar="N",
            type=click.IntRange(0, 1000),
            help="Number of events.",
        ),
        *who("by"),
        *common(),
    ],
)  # fmt: skip


def _print(event: Event, as_json: bool) -> None:
    from brain import serialize

    shape = serialize.event(event)
    if as_json:
        import json

        say(json.dumps(shape, ensure_ascii=False), lines=True)
    else:
        say(f"{shown(event.at)[11:]}  {event.name:<13} {_words(shape)}", hang=10)


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
def stop_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set instead of ending the process at once."""
    stop = threading.Event()
    before: dict[int, Any] = {}

    def end(*_: object) -> None:
        # the interrupted code may hold the lock of the event, so another thread sets it
        threading.Thread(target=stop.set).start()
        restore()  # a second Ctrl-C ends the process at once

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, end)
    try:
        yield stop
    finally:
        restore()
