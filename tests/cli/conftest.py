"""A demo vault to ask, and two ways to ask: in this process, and from a shell."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from brain import new_vault
from brain.cli import main

COMMAND = [sys.executable, "-m", "brain"]


class Said(NamedTuple):
    """What a command ended with and said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Said]


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a vault of its own."""
    monkeypatch.setenv("BRAIN_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("BRAIN_VAULT", raising=False)
    for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture(scope="session")
def _demo_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("once") / "demo"
    new_vault.create_demo(root)
    then = time.time() - 60  # nobody is typing
    for path in root.rglob("*.md"):
        os.utime(path, (then, then))
    return root


@pytest.fixture
def demo(_demo_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo vault, and we are in it."""
    root = tmp_path / "demo"
    shutil.copytree(_demo_once, root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("search", "frost")` in this process."""

    def ask(*args: object) -> Said:
        capsys.readouterr()
        code = main.run([str(arg) for arg in args])
        return Said(code, *capsys.readouterr())

    return ask


@pytest.fixture
def shell() -> Run:
    """`shell("search", "frost", cwd=…)` as a process of its own; `env` adds to the environment."""

    def ask(*args: object, cwd: Path | None = None, **env: str) -> Said:
        done = subprocess.run(
            [*COMMAND, *map(str, args)],
            cwd=cwd,
            env=os.environ | env,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return ask


def terminal(args: list[str], columns: int = 80, **env: str) -> str:
    """What a command shows on a terminal."""
    pid, handle = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execve(sys.executable, [*COMMAND, *args], os.environ | env)
    shown, deadline = b"", time.monotonic() + 30
    while time.monotonic() < deadline and select.select([handle], [], [], 30)[0]:
        try:
            data = os.read(handle, 4096)
        except OSError:  # Linux: the other side is closed
            break
        if not data:
            break
        shown += data
    os.close(handle)
    os.waitpid(pid, 0)
    return shown.decode()
