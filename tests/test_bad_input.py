"""Bad input gives a row that `brain doctor` shows, and never a crash, a hang or 512 MB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import bad_input


def run(what: str, root: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bad_input", what, str(root)],
        cwd=Path(__file__).parent.parent, env=os.environ | {"PYTHONPATH": "."},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bad_input_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    bad_input.lay(root)
    answer = json.loads(run("main", root))
    found = {path: set(codes) for path, codes in answer["problems"].items()}
    for path, codes in bad_input.EXPECTED.items():
        assert found.pop(path, set()) == codes, path
    assert found.keys() <= {"40_Brain/projects/zoo/agent/AGENT.md"}
    assert answer["quiet"]
    assert answer["healthy"]
    hits = set(answer["hits"])
    assert {"bom.md", "crlf.md", "latin.md", "bomb.md", "hard.md", "long-line.md"} <= hits
    assert not any("secret" in path or "out" in path for path in hits)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_what_may_not_be_read_keeps_its_entries() -> None:
    with TemporaryDirectory(dir="/tmp") as folder:  # where others may look
        root = Path(folder)
        root.chmod(0o755)
        run("as_nobody", root / "vault")
