"""Embeddings by a command that the settings name.

It reads one JSON array of texts from its standard input, and writes to its standard output
one JSON array of arrays of numbers, or with one array of numbers a line. It runs without a shell.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from copy import copy

from brain.errors import NoModel
from brain.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

SECONDS = 120.0  # for one batch
REMEDY = "See the setting vectorModel."


class Command:
    """A command line. Secrets are redacted before texts are sent to it."""

    batch = 256  # starting a program is slow

    def __init__(self, line: str, *, emails: bool = True, seconds: float = SECONDS) -> None:
        self.name = f"command: {line}"
        self._emails, self._seconds = emails, seconds
        try:
            self._words = shlex.split(line)
        except ValueError as error:
            raise NoModel(f"The command {line!r} cannot be read ({error}).", REMEDY) from error

    def within(self, seconds: float) -> Self:
        """Return the same command with this time limit."""
        quick = copy(self)
        quick._seconds = min(seconds, self._seconds)
        return quick

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return the answer of the command, one row for each text. Raise NoModel if it fails."""
        sent = json.dumps([redact(text, emails=self._emails)[0] for text in texts])
        try:
            code, answer, errors = _run(self._words, sent.encode(), self._seconds)
        except (OSError, ValueError) as error:
            raise NoModel(f"The {self.name!r} cannot be run ({error}).", REMEDY) from error
        except subprocess.TimeoutExpired as error:
            raise NoModel(
                f"The {self.name!r} took longer than {self._seconds:g} s.", REMEDY
            ) from error
        if code:
            message = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
            raise NoModel(f"The {self.name!r} failed: {message or code}.", REMEDY)
        return rows(answer, self.name)


def _run(words: list[str], sent: bytes, seconds: float) -> tuple[int, bytes, bytes]:
    """Return (exit code, output, errors). When the time is up, the command and all its child
    processes are ended: a child that outlives it would keep its output open."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            answer, errors = process.communicate(sent, seconds)
        except BaseException:  # Ctrl-C too: the command is in a session of its own
            if sys.platform == "win32":
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, answer, errors


def rows(answer: bytes, name: str) -> list[Any]:
    """Return the rows of an answer: one JSON array, or one array per line."""
    try:
        lines = answer.split(b"\n")
        found = [json.loads(line) for line in lines if line.strip()]
    except ValueError:
        found = []
    if not found:
        try:  # laid out over several lines
            found = [json.loads(answer)]
        except ValueError as error:
            raise NoModel(f"The {name!r} did not answer in JSON.", REMEDY) from error
    if (
        len(found) == 1
        and isinstance(found[0], list)
        and all(isinstance(r, list) for r in found[0])
    ):
        return found[0]
    return found
