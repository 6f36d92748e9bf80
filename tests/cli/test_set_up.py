"""`brain alias` and `brain budget`, as they are typed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brain.cli.terminal import columns
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def _nobody_types(demo: Path) -> None:
    os.utime(demo / "40_Brain/brain.yaml", (1_000_000_000, 1_000_000_000))


def test_aliases_come_and_go(run: Run, demo: Path) -> None:
    assert run("alias", "list").out == "No aliases.\n"
    assert run("alias", "add", "auth", "sso").out == ("auth = sso\n")
    assert "\nsso = auth\n" in run("alias", "list").out
    assert 'aliases: ["auth=sso"]' in (demo / "40_Brain/brain.yaml").read_text(encoding="utf-8")
    assert run("alias", "remove", "auth", "sso", "--json").json["value"] == []
    assert run("alias", "add", "js", "javascript").out == "js = javascript\n"
    assert run("alias", "add", "js", "javascript").out.endswith("Nothing changed.\n")
    assert run("alias", "remove", "js").out == "js has no synonyms now.\n"


def test_an_alias_that_is_none_is_a_sentence(run: Run, demo: Path) -> None:
    said = run("alias", "remove", "walrus")
    assert (said.code, said.err) == (4, "brain: walrus is not an alias. See `brain alias list`.\n")
    assert run("alias", "add", "walrus").code == 2


def test_the_budget_is_shown_and_set(run: Run, demo: Path) -> None:
    rows = run("budget").out.split("\n")
    assert rows[0].split() == ["remaining", "total", "always", "bridge", "retrieval", "summary"]
    assert rows[1].split() == ["100,000", "5,000", "400", "2,300", "1,495", "600"]
    shown = run("budget", "3000", "--json").json
    assert shown["ceiling"] == shown["change"]["value"] == 3000
    assert shown["allocations"][0]["total"] == 3000
    assert run("config", "budgetCeiling").out == "3000\n"
    assert run("budget", "many").code == 2


def test_the_undo_of_a_setting_says_what_applies_now(demo: Path, run: Run) -> None:
    run("budget", "3000")
    said = run("undo")
    assert said.code == 0
    assert said.out.split("\n")[1:] == ["  It is no longer set. The default is 5000.", ""]
    run("budget", "3000")
    run("budget", "4000")
    assert run("undo").out.split("\n")[1:] == ["  budgetCeiling: 3000", ""]


def test_init_adds_views_on_request(tmp_path: Path, run: Run) -> None:
    assert "Memory.base" not in run("init", tmp_path / "new").out
    said = run("init", "--views", tmp_path / "new")
    assert said.out.startswith("  + 40_Brain/Memory.base\n1 file created in ")


def test_lists_have_aligned_columns(run: Run, demo: Path) -> None:
    """Also if a name is written in wide characters."""
    for name in ("claude", "a", "庭師"):
        run("agent", "add", name)
    lines = run("agent", "list").out.splitlines()
    starts = {columns(line[: line.index("project")]) for line in lines if "project  " in line}
    assert len(starts) == 1
    for id in ("s1", "a-longer-id"):
        run("session", "start", id, "--title", "Leeks")
    lines = [line for line in run("session", "list").out.splitlines() if "Leeks" in line]
    assert len({line.index("Leeks") for line in lines}) == 1
    assert len({line.index("admin") for line in lines}) == 1
    run("session", "end", "s1")
    lines = [line for line in run("session", "list").out.splitlines() if "Leeks" in line]
    assert len({line.index("Leeks") for line in lines}) == 1
