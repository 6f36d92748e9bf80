"""Kills itself before and in the middle of each call that changes the disk, one after the other:
`python -m tests.sessions.killer KIND [all]`. A write is cut in its middle; with `all`, it is also
left out. Prints how often, as JSON; fails if a line was lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from brain.api import Brain
from tests import kit as base
from tests.sessions.kit import FIXTURES, sessions

CALLS = ("write", "fsync", "rename", "replace", "unlink", "mkdir")
TEXTS = [f"m{number}" for number in range(12)]
SOURCE = FIXTURES / "codex_0.99"


def prepare(brain: Brain) -> None:
    for id in TEXTS:
        brain.session_append("s1", f"Text {id}", message=id, create=True)


def append(brain: Brain, acknowledge: Callable[[str], None]) -> None:
    for number in range(12, 24):
        brain.session_append("s1", f"Text {number}", message=f"m{number}", create=True)
        acknowledge(f"m{number}")


def end(brain: Brain, acknowledge: Callable[[str], None]) -> None:
    brain.session_end("s1", summary="Done")


def fork(brain: Brain, acknowledge: Callable[[str], None]) -> None:
    brain.session_fork("s1", new="fork")


def archive(brain: Brain, acknowledge: Callable[[str], None]) -> None:
    brain.session_archive("s1")


def import_(brain: Brain, acknowledge: Callable[[str], None]) -> None:
    assert not brain.session_import([str(SOURCE)]).problems
    acknowledge("imported")


KINDS = {"append": append, "end": end, "fork": fork, "archive": archive, "import": import_}


def armed(at: int, half: bool) -> None:
    """Kill this process at the call with this number: before it or, of a write, in its middle."""
    count = 0

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                if half and name == "write":
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **options)

        setattr(os, name, call)

    for name in CALLS:
        wrap(name)


def attempt(kind: str, folder: Path, at: int, half: bool) -> tuple[bool, list[str]]:
    """Return True if the process was killed, and what it had acknowledged."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            send = os.write
            with base.open_brain(folder / "vault", folder / "state") as brain:
                brain.sync()
                armed(at, half)
                KINDS[kind](brain, lambda id: send(write, f"{id}\n".encode()) and None)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with open(read) as file:
        said = file.read().split()
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"{kind} failed at call {at}"
    return os.WIFSIGNALED(status), said


def check(kind: str, folder: Path, said: list[str]) -> None:
    """Nothing acknowledged is lost; after a second try, everything is there once."""
    found = sessions(folder / "vault")
    messages = [line["id"] for line in found["s1"]]
    assert messages[:12] == TEXTS
    assert len(messages) == len(set(messages))
    if kind == "append":
        assert set(said) <= set(messages)
    if kind == "fork":
        assert [line["id"] for line in found.get("fork", [])] in ([], TEXTS)
    with base.open_brain(folder / "vault", folder / "state") as brain:
        if kind != "fork" or "fork" not in found:
            KINDS[kind](brain, lambda _: None)
        assert {each.id for each in brain.session_list(all=True)} == sessions(
            folder / "vault"
        ).keys()
    found = sessions(folder / "vault")
    wanted = {"s1": TEXTS + ([f"m{n}" for n in range(12, 24)] if kind == "append" else [])}
    if kind == "fork":
        wanted["fork"] = TEXTS
    if kind == "import":
        imported = found.pop("01a1ed9d-f382-7361-be81-84d8dd0114e5")
        keys = [(line["id"], line["role"]) for line in imported]
        assert len(keys) == len(set(keys)) == 6
    assert {id: [line["id"] for line in lines] for id, lines in found.items()} == wanted
    places = list((folder / "vault").glob("40_Brain/**/s1.jsonl"))
    assert len(places) == 1
    assert ("archive" in str(places[0])) == (kind == "archive")


def sweep(kind: str, ways: tuple[bool, ...]) -> int:
    kills = 0
    with tempfile.TemporaryDirectory() as name:
        ready = Path(name, "ready")
        base.lay(ready / "vault", {"40_Brain/MEMORY.md": "- One\n"})
        with base.open_brain(ready / "vault", ready / "state") as brain:
            prepare(brain)
        for half in ways:
            at = 0
            while True:
                at += 1
                folder = Path(name, "now")
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(ready, folder)
                killed, said = attempt(kind, folder, at, half)
                check(kind, folder, said)
                if not killed:
                    break
                kills += 1
    return kills


if __name__ == "__main__":
    every = sys.argv[2:] == ["all"]
    print(json.dumps({"kills": sweep(sys.argv[1], (True, False) if every else (True,))}))
