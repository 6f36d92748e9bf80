"""What is remembered twice is one memory; what differs by a word is two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.lifecycle.dedup import Known, fingerprint, near

SAID = "Chose SQLite over PostgreSQL"


@pytest.mark.parametrize(
    "again",
    [
        "chose  sqlite over\tPostgreSQL",
        "- Chose SQLite over PostgreSQL",
        "- [x] Chose SQLite over PostgreSQL",
        "- 2026-02-01: Chose SQLite over PostgreSQL #db #decision ^m-7f3k2ab4",
        "2026-03-01 Chose SQLite over PostgreSQL",
        "Chose [[SQLite]] over [[Databases/PostgreSQL|PostgreSQL]]",
        "Chose SQLite over PostgreSQL [supersedes:: [[#^m-9c01dexk]]] #pinned ^m-2b8xq1mz",
        " Chose SQLite\nover PostgreSQL \n",
        "#db #decision Chose SQLite over PostgreSQL #pinned",
        "Chose #sqlite over #postgresql #db [k:: v]",
    ],
)
def test_the_same_words_are_the_same_memory(again: str) -> None:
    assert fingerprint(again) == fingerprint(SAID)


@pytest.mark.parametrize(
    "other",
    [
        "Chose SQLite over Postgres",
        "Chose SQLite over PostgreSQL.",
        "Never chose SQLite over PostgreSQL",
        "Chose `SQLite` over PostgreSQL",
        "",
    ],
)
def test_other_words_are_another_memory(other: str) -> None:
    assert fingerprint(other) != fingerprint(SAID)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Guard it with `#ifdef`", "Guard it with `#ifndef`"),
        ("#go", "#rust"),
        ("PR #41 broke the build", "PR #57 broke the build"),
        ("Broken since #41", "Broken since #57"),
        ("Chose #sqlite over #postgres", "Chose #postgres over #sqlite"),
        ("Chose #sqlite over #postgres", "Chose #sqlite over #mysql #db"),
        ("We use #redis", "We use #memcached"),
        ("Chose #sqlite over `x`", "Chose #mysql over `x`"),
        ("Keep #one `x`", "Keep #two `x`"),
        ("[trigger:: dbg!]", "[trigger:: println!]"),
        ("2026-02-01", "2026-02-02"),
        ("Run `make #one`", "Run `make #two`"),
        ("Keep `x [a:: b]`", "Keep `x [a:: c]`"),
        ("", " "),
    ],
)
def test_what_only_looks_like_a_mark_counts(one: str, other: str) -> None:
    assert (fingerprint(one) == fingerprint(other)) is (one.strip() == other.strip())


def test_accents_count_alike_however_they_are_stored() -> None:
    assert fingerprint("Cafe\N{COMBINING ACUTE ACCENT}") == fingerprint("CAFÉ")


def test_a_fingerprint_is_the_same_on_every_machine_and_in_every_version() -> None:
    assert fingerprint(SAID) == "49fbe29eaf4e1ef4"


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
    known.add("b", f"{SAID}!")
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


MARKED = st.sampled_from(
    ["#tag", "`#code`", "[[Link]]", "[a:: b]", "2026-02-01", "^m-1", "- ", "::"]
)


@given(st.lists(MARKED | st.text(max_size=10), max_size=6).map(" ".join))
def test_case_and_space_never_matter_and_near_follows_exact(text: str) -> None:
    assert len(fingerprint(text)) == len(near(text)) == 16
    spread = text.replace(" ", "   ")
    assert fingerprint(spread) == fingerprint(text)
