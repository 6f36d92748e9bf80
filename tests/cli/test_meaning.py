"""Search by meaning at the command line, with a command as its model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests import kit
from tests.cli.conftest import COMMAND, Run
from tests.embed.kit import tiny_model

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


SLOW = """\
import json, pathlib, sys, time
sys.path.insert(0, {root!r})
from tests.embed.kit import Hashing
texts = json.load(sys.stdin)
log = pathlib.Path({log!r})
with log.open("a") as file:
    file.write(json.dumps(texts) + "\\n")
if len(log.read_text().splitlines()) == {stop}:
    time.sleep(60)
json.dump(Hashing().embed(texts), sys.stdout)
"""


def test_embedding_is_interrupted_and_resumed(tmp_path: Path, run: Run) -> None:
    """Ctrl-C while the model works on the second batch: the first one is not embedded again."""
    vault = kit.lay(tmp_path / "v", {f"{n}.md": f"The note number {n}\n" for n in range(300)})
    script, log = tmp_path / "model.py", tmp_path / "log"
    root = str(Path(__file__).parents[2])
    script.write_text(SLOW.format(root=root, log=str(log), stop=3))
    hybrid(vault, f"command: {sys.executable} {script}")

    def calls() -> list[list[str]]:
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    process = subprocess.Popen([*COMMAND, "sync", "--vault", str(vault)], stderr=subprocess.PIPE)
    try:
        while len(calls()) < 3:  # the first one only asks what the model is like
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert b"The next `brain sync` embeds the rest." in said
    first, second = calls()[1:]
    assert (len(first), len(second)) == (256, 44)
    assert run("sync", "--vault", str(vault)).err == ""
    assert calls()[3:] == [second]
    assert run("sync", "--rebuild", "--vault", str(vault)).err == ""
    assert len(calls()) == 4
    assert run("search", "the note number 7", "--vault", str(vault)).err == ""
    assert calls()[4:] == [["the note number 7"]]


def test_a_model_in_a_folder_makes_what_means_the_same_findable(tmp_path: Path, run: Run) -> None:
    vault = kit.lay(tmp_path / "v", {"a.md": "automobile\n", "b.md": "walrus\n", "c.md": "boat\n"})
    hybrid(vault, str(tiny_model(tmp_path / "tiny")))
    assert run("sync", "--vault", str(vault)).err == ""
    said = run("search", "car?", "--vault", str(vault))
    assert said.out.startswith("a.md:1\n")
    assert said.err == ""
