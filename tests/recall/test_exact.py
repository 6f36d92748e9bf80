"""What holds a thing exactly as it was written, and what only holds something like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.recall.exact import exactly
from brain.recall.terms import fold, terms
from tests.conftest import MakeVault, OpenBrain


def stands(question: str, text: str, tags: str = "") -> bool:
    """Is the first thing that the question asks for there, exactly so?"""
    term = next(term for term in terms(question) if term.exact)
    return exactly(term).stands_in(fold(tags), fold(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("max_size", "set max_size."),
        ("max_size", "(max_size: 3)"),
        ("max_size", "config.max_size"),
        ("max_size", "min_size/max_size"),
        ("max_size", "配置max_size为"),
        ("MAX_SIZE", "max_size"),
        ("src/app.py", "see src/app.py."),
        ("src/app.py", "`src/app.py`:12"),
        ("src/app.py", "./src/app.py"),
        ("src/app.py", "\n10_Notes/src/app.py"),  # the path of the note itself
        ("Notes/Walrus", "\nDeep/Notes/Walrus.md"),
        ("getUsers", "getUsers()"),
        ("use getUsers", "getusers"),
        ("X-Request-ID", "the X-Request-ID header"),
        ("use --dry-run now", "with --dry-run"),
        ("192.168.0.17", "192.168.0.17:80"),
        ("1.2.3", "version 1.2.3, then"),
        ("C++", "I like C++."),
        ("C++", "Java/C++/Go"),
        ("C#", "(C#)"),
        ("see .env", "the .env file"),
        ("#123", "issue #123."),
        ('"C++"', "C++"),
        ('"the parser is"', "The parser\nis broken"),
        ('"the parser is"', "the **parser** is"),
        ('"one, two"', "one,\n  two"),
        ('"one two !"', "one two"),
        ('"周二部署"', "在周二部署完成"),
        ('"用SQLite数据库"', "我们用sqlite数据库"),
    ],
)
def test_it_is_there(question: str, text: str) -> None:
    assert stands(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("max_size", "my_max_size"),
        ("max_size", "max_size_limit"),
        ("max_size", "max size"),
        ("src/app.py", "src/app.py.bak"),
        ("src/app.py", "src/app.pyc"),
        ("src/app.py", "other/src/app.py\nnote.md"),
        ("src/app.py", "src/app.py-old"),
        ("getUsers", "getUser getUsersById"),
        ("X-Request-ID", "x request id"),
        ("X-Request-ID", "X-Request-ID-2"),
        ("use --dry-run now", "dry-run"),
        ("192.168.0.17", "192 168 0 17"),
        ("192.168.0.17", "192.168.0.170"),
        ("1.2.3", "1.2.3.4"),
        ("C++", "vitamin C"),
        ("C++", "Objective-C++"),
        ("see .env", "prod.env"),
        ('"C++"', "C"),
        ('"max_size"', "max_size_limit"),
        ('"one, two"', "one two"),
        ('"parser is"', "the parser isn"),
        ('"周二部署"', "周二 二部 部署"),
    ],
)
def test_something_like_it_is_there(question: str, text: str) -> None:
    assert not stands(question, text)


@pytest.mark.parametrize(
    ("question", "tags", "expected"),
    [
        ("#db", " a db ", True),
        ("#DB", " db ", True),
        ("#db/", " db ", True),
        ("(#db)", " db ", True),
        ("#db", " not-db ", False),
        ("#db", " db/sql ", False),
        ("#db", " my_db ", False),
        ("#animals/sea", " animals/sea ", True),
        ("#日本語", " 日本語 ", True),
        ("#日本語", " 日本 ", False),
        ("#日本語", "", False),
    ],
)
def test_a_tag_is_the_whole_tag(question: str, tags: str, expected: bool) -> None:
    assert stands(question, "db sql animals sea 日本語", tags) is expected


@given(st.text() | st.text('abZ9_-./#+ "日本', max_size=12))
def test_whatever_is_written_stands_in_itself(question: str) -> None:
    """Alone in a text, as it was asked for."""
    for term in terms(question):
        if term.exact and not term.column:
            said = fold(term.exact.strip('"'))
            assert exactly(term).stands_in("", said), term


def _many(number: int) -> dict[str, str]:
    return {f"loose/{n}.md": "---\ntags: [db/sql]\n---\nmax size\n" for n in range(number)}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("#db", "tagged.md"),
        ("max_size", "named.md"),
        ("what is max_size", "named.md"),
        ('"Max_Size"', "named.md"),
    ],
)
def test_what_is_exactly_so_is_first_among_very_many(
    question: str, path: str, vault: MakeVault, opened: OpenBrain
) -> None:
    long = "Something else altogether is said here, and at length. " * 30
    exact = {
        "tagged.md": f"---\ntags: [db]\n---\n{long}\n",
        "named.md": f"{long} `max_size` {long}\n",
    }
    brain = opened(vault(_many(520) | exact))
    assert brain.search(question).results[0].row.path == path


@pytest.mark.parametrize("question", ["Garden Plan", "[[Garden Plan]]", "garden plan.md"])
@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_the_note_that_is_named_is_first_among_many(
    question: str, engine: str, vault: MakeVault, opened: OpenBrain
) -> None:
    notes = {f"{n}.md": "garden plan garden plan garden\n" for n in range(80)}
    notes |= {"N/Garden Plan.md": "Something else altogether\n", "Garden Plan/x.md": "No\n"}
    brain = opened(vault(notes | {"40_Brain/brain.yaml": f"ftsEngine: {engine}\n"}))
    assert brain.search(question).results[0].row.path == "N/Garden Plan.md"


@pytest.mark.parametrize("question", ["#🚀", "notes with #🚀, please"])
def test_a_tag_without_a_letter_is_found(
    question: str, vault: MakeVault, opened: OpenBrain
) -> None:
    brain = opened(vault({"a.md": "Launch #🚀\n", "b.md": "Notes 🚀 #🚀🚀\n"}))
    found = brain.search(question).results
    assert found[0].row.path == "a.md"
    assert found[0].score == found[0].factors.rank
