"""Sessions at a terminal, as text: `$ command` lines and what they print.

Each file is played in a demo vault of its own. `brain` runs in this process, where time stands
still; anything else runs in a shell. What differs from run to run is masked. Rewrite them all with
`python -m tests.transcripts` and read the diff.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from brain import new_vault
from brain.cli import main
from brain.open_vault import OpenVault
from tests.ids import Ids

FOLDER = Path(__file__).parent
NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
SAVED = datetime(2026, 10, 1, 8, tzinfo=UTC).timestamp()


def play(text: str, home: Path) -> str:
    """The transcript as it is now. Lines before the first command are kept as they are."""
    root = home / "demo"
    new_vault.create_demo(root)
    head, *commands = re.split(r"^\$ ", text, flags=re.MULTILINE)
    out = [head]
    made = OpenVault.__init__

    def still(self: OpenVault, vault: Any, clock: object = None, **more: Any) -> None:
        made(self, vault, lambda: NOW, **more)

    environ = {"BRAIN_STATE": str(home / "state"), "BRAIN_VAULT": str(root), "HOME": str(home)}
    with patch.dict(os.environ, environ), patch.object(OpenVault, "__init__", still), Ids()():
        code = 0
        for block in commands:
            command = block.split("\n", 1)[0]
            if command == "echo $?":
                said = f"{code}\n"
            else:
                _stamp(root)
                code, said = _run(command, root)
            out.append(f"$ {command}\n{_masked(said, home)}")
    return "".join(out)


def _run(command: str, root: Path) -> tuple[int, str]:
    if command.startswith("brain"):
        screen = io.StringIO()
        with redirect_stdout(screen), redirect_stderr(screen):
            code = main.run(shlex.split(command)[1:])
        return code, screen.getvalue()
    done = subprocess.run(
        ["sh", "-c", command], cwd=root, capture_output=True, text=True, timeout=30, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _stamp(root: Path) -> None:
    """Every note was saved at the same time: memories without a date are from then."""
    for path in root.rglob("*"):
        if path.is_file() and not path.name.startswith("brain.db"):
            os.utime(path, (SAVED, SAVED))


def _masked(text: str, home: Path) -> str:
    text = text.replace(str(home), "~")
    text = re.sub(r"\(\d+\.\d\d s\)", "(… s)", text)
    text = re.sub(r"in \d+\.\d+ s\b", "in … s", text)
    text = re.sub(r'"seconds": [\d.]+', '"seconds": …', text)
    return re.sub(r"(\d\.\d{3})\d*(?=[, }\n]|$)", r"\1…", text)  # the rest is up to SQLite
