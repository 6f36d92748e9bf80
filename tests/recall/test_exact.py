"""What holds a thing exactly as it was written, and what only holds something like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.recall.exact import exactly
from brain.recall.terms import fold, terms


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
