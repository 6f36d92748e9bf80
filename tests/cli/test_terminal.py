"""Colour, width and line breaks: what a person sees in a terminal, and a program in a pipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brain.cli.terminal import columns, fitted, safe, wrapped
from tests.cli.conftest import Run, terminal

CODES = re.compile(r"\033\[[0-9;]*m")
SEARCH = ["search", "slug pellets", "-n", "3"]


def lines(shown: str) -> list[str]:
    return CODES.sub("", shown).replace("\r\n", "\n").split("\n")


# -- colour --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),  # as no-color.org has it
        ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
        ({"CLICOLOR": "0"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_a_terminal_is_coloured_unless_it_is_told_not_to_be(
    demo: Path, env: dict[str, str], coloured: bool
) -> None:
    shown = terminal(SEARCH, **env)
    assert ("\033[1mslug\033[22m" in shown, "«slug»" in shown) == (coloured, not coloured)
    assert ("\033[" in shown) == coloured


@pytest.mark.parametrize(("force", "coloured"), [("", True), ("1", True), ("0", False)])
def test_a_pipe_is_coloured_only_by_force(
    demo: Path, run: Run, monkeypatch: pytest.MonkeyPatch, force: str, coloured: bool
) -> None:
    assert "«slug»" in run(*SEARCH).out
    monkeypatch.setenv("CLICOLOR_FORCE", force)
    assert ("\033[1mslug\033[22m" in run(*SEARCH).out) == coloured
    assert "\033" not in run(*SEARCH, "--json").out


# -- width ---------------------------------------------------------------------------------------

LISTS = (
    ["list"], ["list", "--scope", "all", "-n", "300"], ["session", "list"], ["audit"], ["gaps"],
    ["agent", "list"], ["conflicts"], ["pending"], ["budget"], ["config"], ["status"], ["doctor"],
    ["graph"], ["search", "frost"], ["show", "m-7f3k2ab4"], ["history", "m-7f3k2ab4"], ["--help"],
    ["search", "--help"],
)  # fmt: skip


@pytest.mark.parametrize("args", LISTS, ids=" ".join)
def test_everything_fits_48_columns(demo: Path, run: Run, args: list[str]) -> None:
    """Not broken: a word that is wider than the terminal, such as a path, and a shell command."""
    note = demo / "40_Brain/MEMORY.md"
    note.write_text(
        note.read_text()
        + "- 2026-03-20: 東京の庭では毎朝水をやる。夏は夕方にも。堆肥は春。雑草は早めに。\n"
        "- 👩‍🌾🌱 Emoji 🌱🌱🌱🌱🌱🌱 and words between, 🌱🌱🌱 and a long line 🌱🌱\n"
    )
    run("remember", "Seals bark at dawn, and the word Donaudampfschifffahrtsgesellschaft is long")
    run("link", "m-7f3k2ab4", "m-9hx3c6vr", "--as", "contradicts")
    for width in (48, 80, 200):
        for line in lines(terminal(args, columns=width)):
            longest = max(map(columns, line.split()), default=0)
            is_example = line.startswith("  brain ")
            assert columns(line) <= width or longest > width - 8 or is_example, line


def test_a_pipe_gets_whole_lines(demo: Path, run: Run) -> None:
    text = " ".join(["wombats"] * 60)
    (demo / "Long.md").write_text(text + "\n")
    assert text in run("show", "Long").out


def test_a_text_for_a_prompt_is_not_wrapped(demo: Path, run: Run) -> None:
    piped = run("context", "slug pellets").out.rstrip("\n").split("\n")
    assert max(map(len, piped)) > 48
    assert lines(terminal(["context", "slug pellets"], columns=48))[: len(piped)] == piped


def test_lines_wrap_at_words() -> None:
    assert wrapped("one two three", 13) == "one two three"
    assert wrapped("one two three", 12) == "one two\nthree"
    assert wrapped("  one two three", 9) == "  one two\n  three"
    assert wrapped("- one two three", 9) == "- one two\n  three"
    assert wrapped("key  one two", 8, hang=3) == "key  one\n   two"
    assert wrapped("see https://example.org/path now", 10) == "see\nhttps://example.org/path\nnow"
    assert wrapped("東京の庭、水をやる。", 10) == "東京の庭、\n水をやる。"
    assert wrapped("東京の庭、水をやる。", 9) == "東京の\n庭、水を\nやる。"
    assert wrapped("é" * 5 + "e\u0301" * 5, 10) == "é" * 5 + "e\u0301" * 5


def test_a_line_of_a_list_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted("word " * 30, 38) == ("word " * 20)[:99].rstrip() + "…"
    assert fitted("short", 38) == "short"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert fitted("x" * 42, 38) == "x" * 42
    assert fitted("x" * 43, 38) == "x" * 41 + "…"
    assert fitted("水" * 21, 38) == "水" * 21
    assert fitted("水" * 22, 38) == "水" * 20 + "…"


def test_the_line_ends_of_windows_are_not_shown() -> None:
    assert safe("one\r\ntwo\r", lines=True) == "one\ntwo"
    assert safe("one\rtwo", lines=True) == "one\\rtwo"
