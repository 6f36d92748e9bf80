"""A question as a person types it becomes words that can be looked up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.search.question import MAX_TERMS, Term, terms
from brain.search.retrieve import match
from brain.words import STOP_WORDS, fold


def words(question: str) -> list[str]:
    return [" ".join(term.words) for term in terms(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # the six steps: URLs go, hyphens split, punctuation goes, single characters go …
        ("https://example.org/a?b=c walrus", ["walrus"]),
        ("ask www.example.org/walrus there", ["ask"]),
        ("obsidian://open?vault=x walrus", ["walrus"]),
        ("local-first search", ["local", "first", "search"]),
        ("what?! (really) * walrus^", ["really", "walrus"]),
        ("x walrus y", ["walrus"]),
        # … except: stop words do not vote when other words are there
        ("where is the walrus", ["walrus"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("how do I get something to use", ["how", "do", "get", "something", "to", "use"]),
        ("how do I get rid of moss", ["rid", "moss"]),
        # text in quotes is a phrase
        ('"one file" database', ["one file", "database"]),
        ("\u201cone file\u201d", ["one file"]),
        ('"walrus"', ["walrus"]),
        ('an "unclosed quote', ["unclosed", "quote"]),
        ('"the walrus"', ["the walrus"]),
        # tags, paths and identifiers are looked up as one, besides their words
        ("#animals/sea", ["animals sea", "animals", "sea"]),
        ("Notes/Walrus.md", ["Notes Walrus md", "Notes", "Walrus", "md"]),
        ("brain.index.db", ["brain index db", "brain", "index", "db"]),
        ("snake_case", ["snake case", "snake", "case"]),
        ("1.2.3", ["1 2 3"]),
        ("I like C++ and C#", ["C", "C"]),
        ('"C++"', ["C"]),
        ("the X-Request-ID header", ["X Request ID", "Request", "ID", "header"]),
        ("use --dry-run", ["dry run", "dry", "run"]),
        ("a sci-fi book at 10:30", ["sci", "fi", "book", "10", "30"]),
        ("local-first", ["local first", "local", "first"]),  # all that is asked
        # scripts without spaces, also a single character
        ("館", ["館"]),
        ("東京", ["東 京"]),
        ("東京の", ["東 京 の", "東 京", "京 の"]),
        ("데이터", ["데 이 터", "데 이", "이 터"]),
        ('"数据库"', ["数 据 库"]),
        ('"用SQLite数据库"', ["用 数 据 库", "SQLite"]),
        ("SQLite数据库", ["SQLite", "数 据 库", "数 据", "据 库"]),
        ("café", ["café"]),
        ("cafe\u0301", ["café"]),
        ("", []),
        ("?!", []),
        ("x", []),
    ],
)
def test_terms(question: str, expected: list[str]) -> None:
    assert words(question) == expected


def test_a_tag_is_looked_up_among_tags() -> None:
    assert terms("#db")[0] == Term(("db",), "tags", "#db")
    assert terms("#日本語")[0] == Term(("日本語",), "tags", "#日本語")


def test_a_repeated_word_counts_once() -> None:
    assert words("walrus walrus") == ["walrus"]


@pytest.mark.parametrize(
    "long",
    ["n" * 10**6, "a." * 500_000, "a-" * 500_000, "n't" * 300_000, "_" * 10**6, "\u201c" * 10**6,
     "the " * 250_000, '"' + "n" * 10**6 + '"', "x" * 10**6 + "/+" + "y" * 1000],
)  # fmt: skip
def test_a_long_question_takes_no_time(long: str) -> None:
    """What no person wrote as a word is none, and the words behind it are still there."""
    assert "walrus" in words(f"{long} walrus")


def test_a_question_without_spaces_may_be_long() -> None:
    assert words("部署" * 500_000) == ["部 署", "署 部"]
    assert words(f"{'部署' * 100}，walrus") == ["walrus", "部 署 " * 99 + "部 署", "部 署", "署 部"]


def test_so_many_words_count() -> None:
    assert words(" ".join(f"w{n}" for n in range(10**5))) == [f"w{n}" for n in range(MAX_TERMS)]
    assert words("the of " * 999 + "walrus") == ["walrus"]
    (phrase,) = terms('"' + "ab " * 10**5 + '"')
    assert phrase.words == ("ab",) * MAX_TERMS


def test_stop_words_are_lower_case() -> None:
    assert all(word == word.casefold() for word in STOP_WORDS)
    assert words("The Walrus") == ["Walrus"]


@pytest.mark.parametrize(
    ("question", "table", "prefix", "engine", "expected"),
    [
        ("local", "notes", False, "fts5", '"local"'),
        ("local", "notes", True, "fts5", '"local"*'),
        ("local", "notes", True, "fts4", '"local*"'),
        ("#db", "notes", False, "fts5", 'tags:"db"'),
        ("#db", "passages", False, "fts5", '"db"'),
        ("#db", "notes", False, "fts4", '"db"'),
        ("東京", "characters", False, "fts5", '"東 京"'),
    ],
)
def test_match(question: str, table: str, prefix: bool, engine: str, expected: str) -> None:
    assert match(terms(question)[0], table, prefix, engine) == expected


@given(st.text())
def test_every_word_is_quoted(question: str) -> None:
    found = terms(question)
    assert len(found) <= MAX_TERMS
    assert not set('"*^: ') & {char for term in found for word in term.words for char in word}


@given(st.text())
def test_folding_keeps_offsets(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


def test_folding() -> None:
    assert fold("CAFÉ Straße ÅNGSTRÖM İ") == "cafe straße angstrom i"
