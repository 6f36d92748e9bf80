"""A word is stemmed as FTS5 does it, so that all that was found is also marked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.words import stem

WORDS = """
    caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled
    sized hopping tanned falling hissing fizzed failing filing happy sky relational conditional
    rational valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli
    vietnamization predication operator feudalism decisiveness hopefulness callousness formaliti
    sensitiviti sensibiliti triplicate formative formalize electriciti electrical hopeful goodness
    revival allowance inference airliner gyroscopic adjustable defensible irritant replacement
    adjustment dependent adoption homologou communism activate angulariti homologous effective
    bowdlerize probate rate cease controll roll gardens gardening gardener tests tested testing
    rotation rotating rotates slugs flies dies yes yellow yoyo say says saying being bees is as us
    bus buses gas class classes oed eed seed need agreeing freed ing ed s ss es singing thing
    university universal apologi geologi happily possibly ably
""".split()  # noqa: SIM905 - a list of them would fill the page
ENDINGS = (
    "", "s", "es", "ies", "ed", "eed", "ing", "y", "ational", "tional", "enci", "anci", "izer",
    "logi", "bli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness",
    "fulness", "ousness", "aliti", "iviti", "biliti", "icate", "ative", "alize", "iciti", "ical",
    "ful", "ness", "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "sion",
    "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou", "e", "ll",
)  # fmt: skip


class Porter:
    """FTS5's own stemmer, asked for the terms that it puts into its index."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            "CREATE VIRTUAL TABLE t USING fts5 (w, tokenize='porter unicode61 remove_diacritics 2')"
        )
        self.db.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, 'row')")

    def __call__(self, word: str) -> str:
        self.db.execute("INSERT INTO t (rowid, w) VALUES (1, ?)", (word,))
        (found,) = self.db.execute("SELECT term FROM v").fetchall()
        self.db.execute("DELETE FROM t")
        return str(found[0])


@pytest.fixture(scope="module")
def porter() -> Iterator[Porter]:
    found = Porter()
    yield found
    found.db.close()


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_stemmed_as_fts5_does(word: str, porter: Porter) -> None:
    assert stem(word) == porter(word)


@given(
    root=st.text(alphabet="abcdefghilmnorstuvwxyz", min_size=1, max_size=8),
    endings=st.lists(st.sampled_from(ENDINGS), max_size=3),
)
def test_so_is_any_root_with_any_endings(root: str, endings: list[str], porter: Porter) -> None:
    word = root + "".join(endings)
    assert stem(word) == porter(word)


@given(word=st.text(alphabet="aeiouybcdlstz0é京ß", min_size=1, max_size=70))
def test_so_is_what_is_hardly_a_word(word: str, porter: Porter) -> None:
    """Digits, long words, letters beyond ASCII; accents are gone before a word is stemmed."""
    folded = word.replace("é", "e")
    assert stem(folded) == porter(folded)


@pytest.mark.parametrize(
    ("one", "other"),
    [("garden", "gardens"), ("testing", "tests"), ("rotation", "rotating")],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)
