"""Embeddings by a command of the user, from the setting vectorModel.

The command reads a JSON array of texts from standard input. It writes a JSON array of arrays of
numbers to standard output, or one array of numbers per line. It runs without a shell.
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

TIMEOUT = 120.0  # seconds for one batch
REMEDY = "See the setting vectorModel."


class Command:
    """A command as a provider. Secrets are redacted from the texts that it gets."""

    batch = 256  # large, because starting a program is slow

    def __init__(self, line: str, *, redact_emails: bool = True, seconds: float = TIMEOUT) -> None:
        self.name = f"command: {line}"
        self._redact_emails, self._seconds = redact_emails, seconds
        try:
            self._arguments = shlex.split(line)
        except ValueError as error:
            raise NoModel(f"The command {line!r} cannot be parsed ({error}).", REMEDY) from error

    def within(self, seconds: float) -> Self:
        """Return the same command with this time limit, if it is shorter."""
        limited = copy(self)
        limited._seconds = min(seconds, self._seconds)
        return limited

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return the output of the command, one row for each text. Raise NoModel if it fails."""
        texts_json = json.dumps([redact(text, emails=self._redact_emails)[0] for text in texts])
        try:
            code, output, errors = _run(self._arguments, texts_json.encode(), self._seconds)
        except (OSError, ValueError) as error:
            raise NoModel(f"The {self.name!r} cannot be run ({error}).", REMEDY) from error
        except subprocess.TimeoutExpired as error:
            raise NoModel(
                f"The {self.name!r} took longer than {self._seconds:g} s.", REMEDY
            ) from error
        if code:
            message = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
            raise NoModel(f"The {self.name!r} failed: {message or code}.", REMEDY)
        return rows(output, self.name)


def _run(arguments: list[str], input: bytes, seconds: float) -> tuple[int, bytes, bytes]:
    """Return (exit code, output, errors). At the time limit, kill the command and its child
    processes, because a child that keeps running would keep the output open."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        arguments, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(input, seconds)
        except BaseException:  # Ctrl-C too: the command is in a session of its own
            if sys.platform == "win32":
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, output, errors


def rows(output: bytes, name: str) -> list[Any]:
    """Return the rows in an output: one JSON array of rows, or one row per line."""
    try:
        lines = output.split(b"\n")
        values = [json.loads(line) for line in lines if line.strip()]
    except ValueError:
        values = []
    if not values:
        try:  # one JSON array over several lines
            values = [json.loads(output)]
        except ValueError as error:
            raise NoModel(f"The output of the {name!r} is not JSON.", REMEDY) from error
    if (
        len(values) == 1
        and isinstance(values[0], list)
        and all(isinstance(r, list) for r in values[0])
    ):
        return values[0]
    return values
