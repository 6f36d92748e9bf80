"""Two memories that tell an agent the opposite are noticed; two that only share words are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.lifecycle.conflict import Stances, may_oppose, opposes

OPPOSED = [
    ("Always use tabs in Go files", "Never use tabs in Go files"),
    ("Use tabs in Go", "Don\N{RIGHT SINGLE QUOTATION MARK}t use tabs in Go files"),
    ("Use Postgres for the queue", "Do not use Postgres"),
    ("Enable strict mode in CI", "Disable strict mode in CI"),
    ("Caching should be enabled for the API", "Caching should be disabled for the API"),
    ("Turn on telemetry", "Turn off telemetry"),
    ("Add semicolons in TypeScript", "Remove semicolons in TypeScript"),
    ("Add semicolons", "Don't add semicolons"),
    ("Functions should have docstrings", "Functions shouldn't have docstrings"),
    ("You must run migrations before a deploy", "You must not run migrations before a deploy"),
    ("Use tabs instead of spaces", "Use spaces instead of tabs"),
    ("Prefer pytest over unittest", "Prefer unittest over pytest"),
    ("Prefer pytest over unittest", "Avoid pytest"),
    ("- 2026-02-01: Always deploy on Tuesdays #ops ^m-7f3k2ab4", "Never deploy on Tuesdays"),
    ("Use SQLite for search because the index is disposable", "Never use SQLite for search"),
    ("In Go files, always use tabs", "Never use tabs in Go files"),
    ("Always open gate 3 at dawn", "Never open gate 3 at dawn"),
    ("Always open gate 3 of 12 at dawn", "Never open gate 3 at dawn"),
    ("Always open gate 3 at dawn", "Never open the gate at dawn"),
    ("In 2025 always use yarn for nightly builds", "In 2026 never use yarn for nightly builds"),
    ("Always use nets. It took 3 days.", "Never use nets. It took 5 days."),
]
APART = [
    ("Always run tests", "Never commit .env files"),
    ("Always use tabs in Go files", "In Python files, never use tabs"),
    ("Use tabs, don't use spaces", "Use tabs"),
    ("Never use eval", "Never use exec"),
    ("Always write tests", "Never write to production"),
    ("Use SQLite", "The index is not used"),
    ("Add a changelog entry", "Remove the old index"),
    ("Enable caching", "Disable telemetry"),
    ("Use spaces in YAML", "Don't use tabs in YAML"),
    ("Never push to main", "Always push tags after a release"),
    ("The garden needs water", "The garden needs no water"),
    ("Always open gate number 1 at dawn", "Never open gate number 3 at dawn"),
    ("Use python 3.11 for the build server", "Don't use python 3.12 for the build server"),
    ("Always water bed-1 in the morning sun", "Never water bed-2 in the morning sun"),
    ("Always", "Never"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), OPPOSED)
def test_opposites_are_noticed(one: str, other: str) -> None:
    assert opposes(one, other)
    assert opposes(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_is_about_something_else_is_no_conflict(one: str, other: str) -> None:
    assert not opposes(one, other)
    assert not opposes(other, one)


@pytest.mark.parametrize("text", [text for pair in OPPOSED[:9] for text in pair])
def test_nothing_opposes_itself(text: str) -> None:
    assert not opposes(text, text)


def test_only_entries_of_the_same_kind_or_about_the_same_file_conflict() -> None:
    held = Stances()
    held.add("a", "Always use tabs in Go files", "convention", ["go.mod"])
    asked = "Never use tabs in Go files"
    assert held.against(asked, "convention") == ["a"]
    assert held.against(asked, "preference") == []
    assert held.against(asked, "preference", ["main.go"]) == []
    assert held.against(asked, "preference", ["main.go", "go.mod"]) == ["a"]
    assert held.against(asked) == []


def test_what_was_changed_or_removed_conflicts_no_more() -> None:
    held = Stances()
    held.add("a", "Always use tabs in Go", "fact")
    held.add("b", "Use tabs in Go files", "fact")
    assert held.against("Never use tabs in Go", "fact") == ["a", "b"]
    held.add("a", "Never use tabs in Go", "fact")
    assert held.against("Never use tabs in Go", "fact") == ["b"]
    held.remove("b")
    held.remove("never there")
    assert held.against("Never use tabs in Go", "fact") == []
    assert held.against("Use tabs in Go", "fact") == ["a"]


WORDS = ("tabs", "go", "yaml", "search", "never", "always", "use", "don't", "enable", "disable")
WORDS += (
    "1",
    "2",
    "add",
    "remove",
    "should",
    "not",
    "and",
    ",",
    "instead of",
    "because",
    "index",
    "avoid",
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@given(st.lists(TEXT, max_size=8), TEXT)
def test_looking_up_finds_what_comparing_finds(held: list[str], asked: str) -> None:
    stances = Stances()
    for at, text in enumerate(held):
        stances.add(str(at), text, "fact")
    compared = {str(at) for at, text in enumerate(held) if opposes(asked, text)}
    assert set(stances.against(asked, "fact")) == compared


@given(TEXT | st.text(), TEXT | st.text())
def test_opposition_goes_both_ways(one: str, other: str) -> None:
    assert opposes(one, other) == opposes(other, one)


@pytest.mark.parametrize(
    ("text", "lines", "may"),
    [
        ("Always visit the emu", ["- one", "- Never do that ^m-00000001"], True),
        ("Always visit the emu", ["- Always do that", "- Add it", ""], False),
        ("The emu sleeps", ["- Never do that"], False),
    ],
)
def test_lines_that_may_oppose(text: str, lines: list[str], may: bool) -> None:
    assert may_oppose(text, lines) == may
