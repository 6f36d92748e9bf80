"""`brain session import --follow`, with an import of our own."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import click
import pytest

from brain.cli import sessions
from brain.errors import Busy
from brain.operations.results import Imported, ImportedSession

NOTHING = Imported(
    state="imported", found=[], sessions=[], messages=0, bytes=0, deleted=0, problems=[]
)


def follow(
    monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], Imported]
) -> tuple[Imported, list[dict[str, Any]]]:
    """Follow with an import that does these steps, and ends it with the last. Return what it
    returns, and the arguments of each call."""
    monkeypatch.setattr(sessions, "POLL", 0.001)
    calls: list[dict[str, Any]] = []

    def act(**values: Any) -> Imported:
        calls.append(values)
        if len(calls) == len(steps):
            signal.raise_signal(signal.SIGTERM)
        return steps[min(len(calls), len(steps)) - 1]()

    with click.Context(click.Command("import")):
        return sessions._import(act, {"paths": (), "follow": True, "since": "", "yes": True}), calls


def test_a_look_covers_the_time_of_the_look_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may change after it was read, however long that look takes."""
    monkeypatch.setattr(sessions, "RECENT", timedelta())

    def slow() -> Imported:
        time.sleep(1.1)
        return NOTHING

    began = datetime.now().replace(microsecond=0)
    _, calls = follow(monkeypatch, slow, lambda: NOTHING)
    assert datetime.fromisoformat(calls[1]["since"]) - began < timedelta(seconds=1)


def test_an_error_is_reported_once_and_following_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def busy() -> Imported:
        raise Busy("Another process writes.", "Try again.")

    def broken() -> Imported:
        return NOTHING.replace(problems=["/x.jsonl: It cannot be read."])

    found, calls = follow(
        monkeypatch, lambda: NOTHING, busy, busy, broken, broken, lambda: NOTHING
    )  # fmt: skip
    assert len(calls) == 6
    assert found.problems == ["/x.jsonl: It cannot be read."]
    said = capsys.readouterr().err
    assert said.count("Another process writes.") == 1
    assert said.count("/x.jsonl") == 1


def test_a_session_that_grows_several_times_counts_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grown = ImportedSession(
        session="S1", agent="claude", client="claude-code", path="S1.jsonl", messages=2, bytes=500
    )

    def more() -> Imported:
        return NOTHING.replace(sessions=[grown], messages=2, bytes=500)

    found, _ = follow(monkeypatch, more, more, more)
    sessions.print_import(found, {})
    assert "Imported 6 messages in 1 session, 1.5 kB." in capsys.readouterr().out
