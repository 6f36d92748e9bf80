"""Sessions: start, append, show, list, end, fork, archive, import."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from brain.cli.output import Values, View, counted, fitted, indented, say
from brain.index.moment import shown

if TYPE_CHECKING:
    from brain.operations.results import Session, SessionLine, SessionMessages


def print_session(session: Session, _: Values) -> None:
    """Print a session on one line, then what is known about it."""
    say(_line(session))
    for name in ("client", "cwd", "parent", "summary"):
        if value := getattr(session, name):
            say(f"  {name}: {value}", lines=True)


def print_sessions(sessions: list[Session], _: Values) -> None:
    for session in sessions:
        say(_line(session))
    if not sessions:
        say("No sessions.")


def _line(session: Session) -> str:
    when = shown(session.updated or "")[:16]
    head = f"{session.id}  {when}  {session.agent}  {counted(session.messages, 'message')}"
    if session.state != "open":
        head += f"  {session.state}"
    return f"{head}  {fitted(session.title, len(head) + 2)}".rstrip()


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


VIEWS = {
    "session start": View(print_session),
    "session append": View(print_line, prepare=_read_text),
    "session show": View(print_messages),
    "session list": View(print_sessions),
    "session end": View(print_session),
    "session fork": View(print_session),
    "session archive": View(print_sessions),
}
