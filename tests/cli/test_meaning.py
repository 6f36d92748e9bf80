"""Search by meaning at the command line, with a command as its model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import kit
from tests.cli.conftest import Run

pytest.importorskip("numpy")

MODEL = """\
import json, sys
sys.path.insert(0, {root!r})
from tests.embed.kit import Hashing
json.dump(Hashing().embed(json.load(sys.stdin)), sys.stdout)
"""


def hybrid(vault: Path, model: str) -> None:
    """Set a vault to be searched by meaning with this model."""
    settings = f"searchProvider: hybrid\nsimilarityThreshold: 0.2\nvectorModel: '{model}'\n"
    (vault / "40_Brain/brain.yaml").write_text(settings)


def test_a_command_makes_what_means_the_same_findable(tmp_path: Path, run: Run) -> None:
    vault = kit.lay(tmp_path / "v", {"a.md": "The automobile is red.\n", "b.md": "A boat.\n"})
    script = tmp_path / "model.py"
    script.write_text(MODEL.format(root=str(Path(__file__).parents[2])))
    assert "Nothing found" in run("search", "car?", "--vault", str(vault)).out
    hybrid(vault, f"command: {sys.executable} {script}")
    assert run("sync", "--vault", str(vault)).code == 0
    said = run("search", "car?", "--explain", "--vault", str(vault))
    assert said.out.startswith("a.md:1\n")
    assert " = meaning 0." in said.out
    assert said.err == ""


def test_without_its_model_everything_works_and_says_so(tmp_path: Path, run: Run) -> None:
    vault = kit.lay(tmp_path / "v", {"car.md": "The automobile is red.\n"})
    hybrid(vault, "command: /nowhere/model")
    said = run("sync", "--vault", str(vault))
    assert (said.code, said.out[:7]) == (0, "1 file,")
    assert "cannot be run" in said.err
    said = run("search", "red", "--vault", str(vault))
    assert said.out.startswith("car.md:1\n")
    assert said.err.startswith("Searched by words alone. ")
    answer = run("search", "red", "--json", "--vault", str(vault)).json
    assert [hit["path"] for hit in answer["results"]] == ["car.md"]
    assert answer["fresh"]
    assert len(answer["notes"]) == 1
