"""Sessions: start, append, show, list, end, fork, archive, import."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from brain.cli.maintain import stop_signals
from brain.cli.output import Values, View, aligned, choices, counted, indented, note, say, say_entry
from brain.errors import BrainError
from brain.timestamps import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from brain.operations.results import Imported, Session, SessionLine, SessionMessages

POLL = 1.0  # seconds between two looks at the transcripts
RECENT = timedelta(minutes=2)  # each look also opens files that changed so long before the last


def print_session(session: Session, _: Values) -> None:
    """Print a session on one line, then what is known about it."""
    print_sessions([session], {})
    for name in ("client", "cwd", "parent", "summary"):
        if value := getattr(session, name):
            say(f"  {name}: {value}", lines=True)


def print_sessions(sessions: list[Session], _: Values) -> None:
    """Print a session per line."""
    rows = [
        [
            each.id, shown(each.updated or "")[:16], each.agent,
            counted(each.messages, "message"), each.state.replace("open", ""),
        ]
        for each in sessions
    ]  # fmt: skip
    for head, each in zip(aligned(rows), sessions, strict=True):
        say_entry(head, each.title)
    if not sessions:
        say("No sessions.")


def print_messages(found: SessionMessages, _: Values) -> None:
    """Print the messages of a session, each with its speaker and time."""
    print_session(found.session, {})
    for message in found.messages:
        who = " ".join(filter(None, (str(message.get("role", "")), str(message.get("name", "")))))
        say()
        say(f"{who}  {shown(str(message.get('timestamp', '')))}  {message.get('id', '')}", "dim")
        say(indented(_words(message)), lines=True)


def _words(message: dict[str, Any]) -> str:
    import json

    parts = [message.get(name) for name in ("content", "input")]
    texts = [p if isinstance(p, str) else json.dumps(p, ensure_ascii=False) for p in parts if p]
    return "\n".join(texts)


def print_line(line: SessionLine, _: Values) -> None:
    known = "" if line.outcome == "appended" else ", there already"
    say(f"{line.session}  {counted(line.messages, 'message')}  {line.id}{known}")


def _read_text(values: Values) -> None:
    """Read the message from a pipe if none is given."""
    given = values["text"] or values["name"]
    if values["text"] == "-" or (not given and not sys.stdin.isatty()):
        values["text"] = sys.stdin.read()


def print_import(found: Imported, _: Values) -> None:
    """Print what was found, and what was imported from it."""
    for each in found.found:
        say(f"{each.client}  {counted(each.sessions, 'session')}  {_size(each.bytes)}")
    for problem in found.problems:
        note(problem)
    if found.deleted:
        many = counted(found.deleted, "session")
        note(f"Left out {many} deleted from the vault. To import them again, add --again.")
    if found.state == "asks":
        say(f"This would add {_size(found.bytes)} to the vault. To import it, add --yes.")
    elif found.sessions:
        sessions = {each.path for each in found.sessions}  # one may have grown several times
        total = f"{counted(found.messages, 'message')} in {counted(len(sessions), 'session')}"
        say(f"Imported {total}, {_size(found.bytes)}.")
    else:
        say("Nothing new." if found.found else "No transcripts found.")


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def _import(act: Callable[..., Imported], values: Values) -> Imported:
    """Import sessions. Ask a person before a large import. Continue if `--follow` is given."""
    follow, as_json = values.pop("follow"), choices(None, False)[1]
    last_look = datetime.now()
    found = act(**values)
    if found.state == "asks" and sys.stdin.isatty() and not as_json:
        note(f"This would add {_size(found.bytes)} to the vault.")
        if click.confirm("Import it?", err=True):
            found = act(**values | {"yes": True})
    if not follow or found.state == "asks":
        return found
    with stop_signals() as stop:
        if not as_json:
            note("Following the transcripts. Ctrl-C ends it.")
        reported = set(found.problems)
        while not stop.wait(POLL):
            since, last_look = last_look - RECENT, datetime.now()
            try:
                more = act(**values | {"yes": True, "again": False, "since": str(since)[:19]})
            except BrainError as error:  # such as a lock that is busy
                problems = [str(error)]
            else:
                problems = more.problems
                found = _joined(found, more)
                for session in more.sessions:
                    note(f"{session.session}  {counted(session.messages, 'new message')}")
            for problem in dict.fromkeys(problems):
                if problem not in reported:
                    note(problem)
            reported |= set(problems)
    return found


def _joined(found: Imported, more: Imported) -> Imported:
    """Return two imports as one."""
    return found.replace(
        sessions=[*found.sessions, *more.sessions], messages=found.messages + more.messages,
        bytes=found.bytes + more.bytes,
        problems=[*dict.fromkeys([*found.problems, *more.problems])],
    )  # fmt: skip


VIEWS = {
    "session start": View(print_session),
    "session append": View(print_line, prepare=_read_text),
    "session show": View(print_messages),
    "session list": View(print_sessions),
    "session end": View(print_session),
    "session fork": View(print_session),
    "session archive": View(print_sessions),
    "session import": View(
        print_import,
        run=_import,
        code=lambda found: int(found.state == "asks" or bool(found.problems)),
        options=(
            click.Option(
                ["--follow", "-f"], is_flag=True, help="Keep importing while agents work."
            ),
        ),
    ),
}
