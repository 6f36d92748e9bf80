"""The words of an entry, and their fingerprint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.formats.inline import fingerprint, prose, without_links

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
        "Chose SQLite over PostgreSQL.",
        "**Chose SQLite over PostgreSQL**!",
        'Chose "SQLite" over PostgreSQL…',
    ],
)
def test_the_same_words_are_the_same_memory(again: str) -> None:
    assert fingerprint(again) == fingerprint(SAID)


@pytest.mark.parametrize(
    "other",
    [
        "Chose SQLite over Postgres",
        "Chose SQLite over PostgreSQL?",
        "Chose SQLite, over PostgreSQL, 2",
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


MARKED = st.sampled_from(
    ["#tag", "`#code`", "[[Link]]", "[a:: b]", "2026-02-01", "^m-1", "- ", "::"]
)


@given(st.lists(MARKED | st.text(max_size=10), max_size=6).map(" ".join))
def test_case_and_space_never_matter(text: str) -> None:
    assert len(fingerprint(text)) == 16
    assert fingerprint(text.replace(" ", "   ")) == fingerprint(text)


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("Chose SQLite [[Architecture]] [[Notes/Why|why]] #db", "Chose SQLite"),
        ("Documented in [[Architecture]]", "Documented in Architecture"),
        ("[[Architecture]] is old", "is old"),
        ("See [[Architecture]] first", "See Architecture first"),
        ("[[Architecture]]", "Architecture"),
    ],
)
def test_links_after_the_words_are_not_words(text: str, without: str) -> None:
    assert prose(without_links(text)).strip() == without
