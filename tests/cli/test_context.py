"""`brain context` at the command line: the prompt on standard output, and nothing else there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import kit
from tests.cli.conftest import Run

NOTE = "40_Brain/MEMORY.md"
FORMATS = ("claude", "gemini", "codex", "opencode", "json")


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with one memory, and we are in it."""
    root = kit.lay(tmp_path / "zoo", {NOTE: "- The walrus eats clams ^m-00000001\n"})
    monkeypatch.chdir(root)
    return root


def is_empty(said: str, format: str) -> bool:
    return said == ("{}\n" if format == "json" else "")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("limit", [("--budget", 0), ("--budget", 1), ("--remaining", 50)])
def test_a_budget_that_holds_nothing(
    zoo: Path, run: Run, format: str, limit: tuple[str, int]
) -> None:
    said = run("context", "walrus", "--format", format, *limit)
    assert said.code == 0
    assert is_empty(said.out, format)
    total = {"--budget": limit[1], "--remaining": 4}[limit[0]]
    assert said.err == f"No memory fits into {total} tokens.\n"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("setting", ["autoInject", "memory"])
def test_contexts_that_are_off(zoo: Path, run: Run, format: str, setting: str) -> None:
    (zoo / "40_Brain/brain.yaml").write_text(f"{setting}: false\n")
    said = run("context", "walrus", "--format", format)
    assert said.code == 0
    assert "walrus eats" not in said.out
    if format == "json":
        assert said.json["query"] == "walrus"
        assert "memories" not in said.json
    else:
        assert said.out == ""
    assert said.err == f"Contexts are turned off: {setting} is false.\n"


@pytest.mark.parametrize("format", FORMATS)
def test_a_question_that_nothing_is_known_about(zoo: Path, run: Run, format: str) -> None:
    said = run("context", "zeppelin", "--format", format)
    assert (said.json["query"] == "zeppelin") if format == "json" else (said.out == "")
    assert said.err == "The vault has nothing about this.\n"


def test_the_remarks_are_part_of_the_json(zoo: Path, run: Run) -> None:
    assert run("context", "walrus", "--json").json["notes"] == []
    (note,) = run("context", "zeppelin", "--json").json["notes"]
    assert note == "The vault has nothing about this."


def test_a_prompt_comes_alone(zoo: Path, run: Run) -> None:
    said = run("context", "walrus", "--format", "codex")
    assert said.out.startswith("=== PROJECT MEMORY ===\n")
    assert said.out.endswith("\n=== END OF PROJECT MEMORY ===\n")
    assert said.err == ""


@pytest.mark.parametrize("option", ["--budget", "--remaining"])
def test_less_than_no_tokens_is_an_error(zoo: Path, run: Run, option: str) -> None:
    said = run("context", "walrus", option, "-5")
    assert (said.code, said.out) == (2, "")
    assert "-5" in said.err
    assert "0 or more" in said.err


def test_a_budget_of_its_own_overrides_the_ceiling(zoo: Path, run: Run) -> None:
    lines = "".join(f"- The walrus {n} eats {'clams and ' * 40}\n" for n in range(5))
    (zoo / NOTE).write_text(lines)
    (zoo / "40_Brain/brain.yaml").write_text("budgetCeiling: 300\n")
    usual = run("context", "walrus", "--json").json
    wished = run("context", "walrus", "--json", "--budget", "5000").json
    assert usual["tokens"] <= usual["budget"]["total"] == 300
    assert 300 < wished["tokens"] <= wished["budget"]["total"] == 5000


def test_without_its_model_a_context_says_what_to_do(zoo: Path, run: Run) -> None:
    pytest.importorskip("numpy")
    settings = "searchProvider: hybrid\nvectorModel: 'command: /nowhere/model'\n"
    (zoo / "40_Brain/brain.yaml").write_text(settings)
    said = run("context", "walrus", "--format", "codex")
    assert "Degraded: some passages were not searched by meaning" in said.out
    assert run("search", "walrus").err == said.err  # the same sentence, with its remedy
    assert "cannot be run" in said.err
