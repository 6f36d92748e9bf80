"""Where the answer stands, and a short piece of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.search.question import terms
from brain.search.snippet import WIDTH, Words, best_line, mark


def marked(line: str, question: str, prefix: bool = False) -> str:
    return mark(line, Words(terms(question), prefix), "<", ">")


@pytest.mark.parametrize(
    ("line", "question", "expected"),
    [
        ("The walrus sleeps", "walrus", "The <walrus> sleeps"),
        ("WALRUS, walrus.", "walrus", "<WALRUS>, <walrus>."),
        ("tusks and tusked, tuskless", "tusk", "<tusks> and <tusked>, tuskless"),
        ("das Café dort", "cafe", "das <Café> dort"),
        ("at the cafe", "café", "at the <cafe>"),
        ("one file, one database", '"one file"', "<one> <file>, <one> database"),
        ("snake_case here", "snake_case", "<snake>_<case> here"),
        ("東京の水族館", "水族館", "東京の<水族館>"),
        ("東京の水族館", "館", "東京の水族<館>"),
        ("데이터베이스", "데이터", "<데이터>베이스"),
        ("- a #db tag", "#db", "- a #<db> tag"),
        ("#adr/accepted #db", "#adr/accepted", "#<adr/accepted> #db"),
        ("#adr/accepted", "accepted", "#adr/<accepted>"),
        ("nothing here", "walrus", "nothing here"),
        ("   \t walrus \r", "walrus", "<walrus>"),
    ],
)
def test_marks(line: str, question: str, expected: str) -> None:
    assert marked(line, question) == expected


def test_a_word_between_characters_is_marked() -> None:
    assert marked("我们用Redis做缓存", "redis") == "我们用<Redis>做缓存"
    assert marked("我们用Redis做缓存", "redi", prefix=True) == "我们用<Redi>s做缓存"
    assert best_line("缓存\n我们用Redis做缓存", Words(terms("redis")))[0] == 1


def test_beginnings_of_words_are_marked_too() -> None:
    assert marked("two walruses", "walrus", prefix=True) == "two <walrus>es"


def test_a_long_line_is_cut_around_the_match() -> None:
    piece = marked("lorem ipsum " * 100 + "walrus " + "dolor sit " * 100, "walrus")
    assert piece.startswith("…")
    assert piece.endswith("…")
    assert "<walrus>" in piece
    assert len(piece) <= WIDTH + 4


@given(st.text(), st.text())
def test_marking_only_adds_marks(line: str, question: str) -> None:
    line = line.replace("<", "").replace(">", "")
    piece = marked(line, question)
    assert piece.replace("<", "").replace(">", "").strip("…") in line.strip().strip("…") or (
        piece.replace("<", "").replace(">", "") == line.strip()
    )
    assert piece.count("<") == piece.count(">")


@pytest.mark.parametrize(
    ("text", "question", "line"),
    [
        ("one\ntwo walrus\nthree\n", "walrus", 1),
        ("walrus\nwalrus tusks\n", "walrus tusks", 1),
        ("---\ntags: walrus\n---\n\nthe walrus\n", "walrus", 4),
        ("---\ntags: walrus\n---\n\nnone\n", "walrus", 1),
        ("\n\nfirst words\n", "walrus", 2),
        ("---\ntags: clam\n---\n\n# Title\n\ntext\n", "walrus", 4),
        ("---\r\ntags: clam\r\n---\r\ntext\r\n", "walrus", 3),
        ("---\n---\ntext\n", "walrus", 2),
        ("---\ntags: clam\n---\n", "walrus", 1),  # it has no text
        ("---\ntags: clam\n--- no end\n", "walrus", 0),
        ("---\n", "walrus", 0),
        ("a\r\nwalrus\r\n", "walrus", 1),
        ("a\u2028walrus\nb\n", "walrus", 0),
        ("", "walrus", 0),
    ],
)
def test_the_best_line(text: str, question: str, line: int) -> None:
    assert best_line(text, Words(terms(question)))[0] == line


@given(st.text(alphabet="ab \n\r\u2028", max_size=50), st.text(alphabet="ab ", max_size=10))
def test_the_best_line_is_one_of_the_text(text: str, question: str) -> None:
    number, line = best_line(text, Words(terms(question)))
    assert text.split("\n")[number] == line
