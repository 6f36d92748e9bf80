"""A command as the model: a real one, in every way in which it can go wrong."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest

from brain.config import Config
from brain.embed import provider
from brain.embed.command import Command
from brain.errors import NoModel

COUNT = "import json, sys\ntexts = json.load(sys.stdin)\n"


@pytest.fixture
def script(tmp_path: Path):
    """`script(code)` is the command line that runs it."""

    def make(code: str) -> str:
        path = tmp_path / "a model.py"
        path.write_text(COUNT + code)
        return f'{sys.executable} "{path}"'

    return make


def test_one_array_or_one_a_line(script) -> None:
    rows = [[5.0, 1.0], [3.0, 1.0]]
    for code in (
        "json.dump([[float(len(t)), 1.0] for t in texts], sys.stdout)",
        "json.dump([[float(len(t)), 1.0] for t in texts], sys.stdout, indent=1)",
        "for t in texts: print([float(len(t)), 1.0])",
    ):
        model = provider(f"command: {script(code)}", Config(), "")
        assert model.embed(["walru", "two"]) == rows


def test_one_text_is_one_row_in_either_shape(script) -> None:
    for code in ("print([[1.0, 2.0]])", "print([1.0, 2.0])"):
        assert Command(script(code)).embed(["x"]) == [[1.0, 2.0]]


def test_a_secret_does_not_leave(script, tmp_path: Path) -> None:
    model = Command(script(f"open({str(tmp_path / 'seen')!r}, 'w').write(texts[0]); print([[1]])"))
    model.embed(["mail ada@example.org, token ghp_1234567890abcdefghijABCDEFGHIJ123456"])
    seen = (tmp_path / "seen").read_text()
    assert "[redacted" in seen
    assert "ghp_" not in seen
    assert "ada@" not in seen


def test_no_shell_reads_the_line(script, tmp_path: Path) -> None:
    line = (
        f"{script('print(sys.argv[1:], file=sys.stderr); sys.exit(3)')} '$HOME;' | > {tmp_path}/x"
    )
    with pytest.raises(NoModel, match=r"\$HOME;.*'\|'"):
        Command(line).embed(["x"])
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit('no such model')", "no such model"),
        ("sys.exit(7)", "failed: 7"),
        ("print('hello')", "is not JSON"),
        ("", "is not JSON"),
    ],
)
def test_what_goes_wrong_is_a_sentence(script, code: str, said: str) -> None:
    with pytest.raises(NoModel, match=said):
        Command(script(code)).embed(["x"])


def test_a_command_that_hangs_is_ended(script) -> None:
    with pytest.raises(NoModel, match=r"longer than 0\.5 s"):
        Command(script("import time; time.sleep(60)"), seconds=0.5).embed(["x"])


def test_what_it_started_is_ended_with_it(tmp_path: Path) -> None:
    """A shell waits for its child, and both hold the output open."""
    os.mkfifo(tmp_path / "alive")
    reading = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    line = f"sh -c 'sleep 60 > {tmp_path}/alive & wait'"
    with pytest.raises(NoModel, match=r"longer than 0\.3 s"):
        Command(line).within(0.3).embed(["x"])
    assert select.select([reading], [], [], 10)[0]  # nobody is left who could write
    os.close(reading)


def test_a_child_that_got_away_is_not_waited_for(script) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '3'], start_new_session=True); "
    with pytest.raises(NoModel, match=r"longer than 0\.5 s"):
        Command(script(code + "import time; time.sleep(60)"), seconds=0.5).embed(["x"])


def test_nobody_gets_more_time_by_being_asked_to_hurry(script) -> None:
    with pytest.raises(NoModel, match=r"longer than 0\.2 s"):
        Command(script("import time; time.sleep(60)"), seconds=0.2).within(5).embed(["x"])


@pytest.mark.parametrize("line", ["/nowhere/model", "'unclosed", "a\0b"])
def test_a_command_that_cannot_be_run(line: str) -> None:
    with pytest.raises(NoModel, match="cannot be"):
        Command(line).embed(["x"])
