"""Embeddings by a command that the settings name.

It is given one JSON array of texts on its standard input, and answers on its standard output with
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
    """A command line. What looks like a secret is taken out of texts before they leave."""

    batch = 256  # to start a program takes long

    def __init__(self, line: str, *, emails: bool = True, seconds: float = SECONDS) -> None:
        self.name = f"command: {line}"
        self._emails, self._seconds = emails, seconds
        try:
            self._words = shlex.split(line)
        except ValueError as error:
            raise NoModel(f"The command {line!r} cannot be read ({error}).", REMEDY) from error

    def within(self, seconds: float) -> Self:
        """The same command, which may take no longer than this."""
        quick = copy(self)
        quick._seconds = min(seconds, self._seconds)
        return quick

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """What the command answers, one row for each text; NoModel if it does not."""
        given = json.dumps([redact(text, emails=self._emails)[0] for text in texts])
        try:
            code, answer, errors = _run(self._words, given.encode(), self._seconds)
        except (OSError, ValueError) as error:
            raise NoModel(f"The {self.name!r} cannot be run ({error}).", REMEDY) from error
        except subprocess.TimeoutExpired as error:
            raise NoModel(
                f"The {self.name!r} took longer than {self._seconds:g} s.", REMEDY
            ) from error
        if code:
            said = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
            raise NoModel(f"The {self.name!r} failed: {said or code}.", REMEDY)
        return rows(answer, self.name)


def _run(words: list[str], given: bytes, seconds: float) -> tuple[int, bytes, bytes]:
    """(exit code, output, errors). Whoever is not waited for any more is ended, together with all
    that it started: a child that outlives it would hold its output open."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            answer, errors = process.communicate(given, seconds)
        except BaseException:  # Ctrl-C too: the command is in a session of its own
            if sys.platform == "win32":
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, answer, errors


def rows(answer: bytes, name: str) -> list[Any]:
    """One JSON array, or one array a line."""
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
