"""Plays the examples of a page in a vault of its own, and writes what they print behind them.

    ```console    each `$ command` runs: `brain` in this process, anything else in a shell
    ```python     runs; what it prints stands in the ```text block behind it
    ```text watch what `brain watch`, started by an earlier command, has printed since
    <!-- run: command -->          runs unseen; `stop watching` ends `brain watch`
    <!-- table: name -->           what follows, up to the next comment, comes from the code

A line `…` in an example's output stands for lines that are left out. What differs from run to run
(times, folders, the last digits of ranks) is replaced by something that does not, so that a page
is up to date exactly if playing it changes nothing. The clock stands still at NOW.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from brain.cli import main
from brain.open_vault import OpenVault
from tests.ids import Ids

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
SAVED = datetime(2026, 10, 1, 8, tzinfo=UTC).timestamp()  # when every note was last saved
COLD, WARM = "0.14", "0.01"  # seconds, in place of those that were measured
GAP = "…"
_PART = re.compile(
    r"^```(?P<kind>console|python|text watch)\n(?P<body>.*?)^```\n"
    r"|^<!-- run: (?P<run>[^\n]*) -->\n"
    r"|^<!-- table: (?P<table>\w+) -->\n(?P<rows>.*?)(?=^<!-- )",
    re.MULTILINE | re.DOTALL,
)
_OUTPUT = re.compile(r"\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def replay(page: str, tables: dict[str, Callable[[], str]]) -> str:
    """The page as it should be."""
    out, at = [], 0
    with TemporaryDirectory() as folder, Terminal(Path(folder).resolve()) as terminal:
        for part in _PART.finditer(page):
            if part.start() < at:
                continue
            out.append(page[at : part.start()])
            at = part.end()
            if part["kind"] == "python":
                printed = terminal.python(part["body"])
                out.append(part.group())
                if written := _OUTPUT.match(page, at):
                    out.append(f"\n```text\n{_shortened(printed, written[1])}```\n")
                    at = written.end()
            else:
                out.append(_played(part, terminal, tables))
    return "".join(out) + page[at:]


def _played(part: re.Match[str], terminal: Terminal, tables: dict[str, Callable[[], str]]) -> str:
    if part["run"]:
        terminal.type(part["run"])
        return part.group()
    if part["table"]:
        return f"<!-- table: {part['table']} -->\n\n{tables[part['table']]()}\n"
    if part["kind"] == "text watch":
        return f"```text watch\n{terminal.watched(part['body'].count(chr(10)))}```\n"
    return f"```console\n{''.join(_commands(part['body'], terminal))}```\n"


def _commands(body: str, terminal: Terminal) -> Iterator[str]:
    for command, written in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        yield f"$ {command}\n{_shortened(terminal.type(command), written)}"


def _shortened(printed: str, written: str) -> str:
    """What was printed, with the gap that the page leaves in it."""
    lines, old = printed.split("\n"), written.split("\n")
    if GAP not in old or len(lines) < len(old):
        return printed
    head, tail = old.index(GAP), len(old) - old.index(GAP) - 1
    return "\n".join([*lines[:head], GAP, *lines[len(lines) - tail :]])


class Terminal:
    """A shell in a home folder of its own, where time stands still."""

    def __init__(self, folder: Path) -> None:
        self.home = self.here = folder / "home"
        self.state = folder / "state"
        self.code = 0
        self.names: dict[str, Any] = {}
        self.watcher: subprocess.Popen[str] | None = None
        self.log = folder / "watch.log"
        self.read = 0
        self.ids = Ids()

    def __enter__(self) -> Terminal:
        self.home.mkdir()
        self._environ = {**os.environ, "BRAIN_STATE": str(self.state), "HOME": str(self.home)}
        self._environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
        self._environ.pop("BRAIN_VAULT", None)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def type(self, command: str) -> str:
        """Run a command; what it printed, on either stream, made the same for every run."""
        if command.startswith("cd "):
            self.here = self.here / command[3:].strip("\"'")
            return ""
        if command == "echo $?":
            return f"{self.code}\n"
        if command == "brain watch":
            return self._watch()
        if command == "stop watching":
            return self._stop()
        return self._brain(command) if command.startswith("brain ") else self._shell(command)

    def _shell(self, command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.here, env=self._environ, text=True, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        self.code = done.returncode
        self._stamp()
        return self._same(done.stdout)

    def _brain(self, command: str) -> str:
        printed = io.StringIO()
        with self._inside(printed):
            self.code = main.run(shlex.split(command)[1:])
        self._stamp()
        return self._same(printed.getvalue())

    def python(self, code: str) -> str:
        printed = io.StringIO()
        with self._inside(printed):
            exec(compile(code, "<example>", "exec"), self.names)
        return self._same(printed.getvalue())

    @contextmanager
    def _inside(self, printed: io.StringIO) -> Iterator[None]:
        before = Path.cwd()
        made = OpenVault.__init__

        def still(self: OpenVault, vault: Any, clock: Any = None, **more: Any) -> None:
            made(self, vault, clock or (lambda: NOW), **more)

        os.chdir(self.here)
        try:
            with (
                patch.dict(os.environ, self._environ, clear=True),
                patch.object(OpenVault, "__init__", still),
                self.ids(),
                redirect_stdout(printed),
                redirect_stderr(printed),
            ):
                yield
        finally:
            os.chdir(before)

    def _watch(self) -> str:
        with open(self.log, "w") as log:
            self.watcher = subprocess.Popen(
                [sys.executable, "-m", "brain", "watch"], cwd=self.here, env=self._environ,
                text=True, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        return self.watched(1)

    def _stop(self) -> str:
        if self.watcher:
            self.watcher.terminate()
            self.watcher.wait(20)
        return ""

    def watched(self, lines: int) -> str:
        """What the watcher has printed since the last time, once it is so many lines."""
        deadline = time.monotonic() + 20
        while True:
            text = self.log.read_text()
            if text.count("\n", self.read) >= max(1, lines) or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        new, self.read = text[self.read :], len(text)
        return self._same(new)

    def _stamp(self) -> None:
        """Every note was saved at the same time."""
        for path in self.home.rglob("*"):
            if path.is_file() and not path.name.startswith("brain.db"):
                os.utime(path, (SAVED, SAVED))

    def _same(self, text: str) -> str:
        text = text.replace(str(self.home), "/home/you")
        if text.startswith("{\n") or (text.startswith("{") and text.count("\n") == 1):
            shape = json.loads(text, parse_float=lambda digits: round(float(digits), 2))
            if "event" in shape:
                now = {"at": _iso(NOW)} if "at" in shape else {}
                return json.dumps(shape | now, ensure_ascii=False) + "\n"
            if "seconds" in shape:
                shape["seconds"] = float(COLD if shape["cold"] else WARM)
            if shape.get("recall"):
                shape["recall"]["p95_ms"] = 12.3
            return json.dumps(shape, ensure_ascii=False, indent=2) + "\n"
        text = re.sub(r"(new.*)\(\d+\.\d\d s\)", rf"\1({COLD} s)", text)
        text = re.sub(r"(nothing new|changed|removed) \(\d+\.\d\d s\)", rf"\1 ({WARM} s)", text)
        text = re.sub(r"in \d+\.\d+ s", f"in {COLD} s", text)
        text = re.sub(r'("seconds": )\d+\.\d+', rf"\g<1>{COLD}", text)
        text = re.sub(r"^\d\d:\d\d:\d\d(?=  memory)", "12:00:00", text, flags=re.MULTILINE)
        return re.sub(r'("at": ")[^"]*', rf"\g<1>{_iso(NOW)}", text)


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
