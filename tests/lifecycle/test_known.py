"""The entries of one note by their words."""

from __future__ import annotations

import pytest

from brain.formats.prose import fingerprint
from brain.lifecycle.known import Known, near

SAID = "Chose SQLite over PostgreSQL"


@pytest.mark.parametrize(
    "again",
    [
        "We chose SQLite, over PostgreSQL!",
        "Chose the SQLite over PostgreSQL (2026-02-01)",
        "Ｃｈｏｓｅ SQLite over PostgreSQL…",
    ],
)
def test_nearly_the_same_words_are_near(again: str) -> None:
    assert near(again) == near(SAID)
    assert fingerprint(again) != fingerprint(SAID)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs", "Do not use tabs"),
        ("Use tabs", "Never use tabs"),
        ("Retry 3 times", "Retry 5 times"),
        ("Deploy with caching", "Deploy without caching"),
        ("!!!", "???"),
    ],
)
def test_what_denies_or_counts_is_not_near(one: str, other: str) -> None:
    assert near(one) != near(other)


def test_known_entries_are_found_and_forgotten() -> None:
    known = Known()
    known.add("a", SAID)
    known.add("b", f"{SAID}, we")
    known.add("c", SAID)
    assert known.exact(f"- {SAID.upper()} #db") == "a"
    assert known.near(f"We {SAID}") == ["a", "b", "c"]
    known.remove("a")
    known.remove("never there")
    assert known.exact(SAID) == "c"
    known.add("c", "Something else")
    assert known.exact(SAID) is None
    assert known.near(SAID) == ["b"]


def test_nested_lines_do_not_hide_what_an_entry_says() -> None:
    known = Known()
    known.add("a", f"{SAID}\n- because it is one file")
    known.add("b", f"{SAID} #db\n\n  1. first\n  2. then")
    known.add("c", "Chose SQLite over\nPostgreSQL")
    known.add("d", "Chose SQLite\n- over PostgreSQL")
    assert known.near(SAID) == ["a", "b", "c", "d"]
    assert known.near(f"{SAID}\n* for other reasons") == ["a", "b", "c", "d"]
    assert known.near("Chose SQLite") == ["d"]
    assert known.exact(SAID) == "c"
    known.remove("a")
    known.add("b", "Something else")
    assert known.near(SAID) == ["c", "d"]
