"""Where the `brain` command starts and ends."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    gc.set_threshold(200_000)  # most commands are gone before there is garbage worth collecting
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal cannot show
    _leave(run(sys.argv[1:]))


def run(args: list[str]) -> int:
    """The exit code of a command."""
    from brain.cli import quick

    code = quick.run(args)
    if code is None:
        from brain.cli import app

        code = app.run(args)
    return code


def _leave(code: int) -> None:
    """Everything is closed by now; the interpreter's own farewell would take a while."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)
