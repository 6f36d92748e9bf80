"""Words that mean the same, built in and the vault's own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brain.config import Config
from brain.recall.aliases import GROUPS, expand, split
from brain.recall.terms import fold


def test_what_is_built_in_works_both_ways() -> None:
    known = expand(Config())
    assert "database" in known["db"]
    assert "db" in known["database"]
    assert "login" in known["auth"]
    assert "login" not in known  # which means more than auth does


def test_own_words_are_added() -> None:
    known = expand(Config(aliases=("auth=Sign-In", "Käse=cheese, fromage")))
    assert known["auth"] == ("authentication", "authorization", "login", "sign-in")
    assert known["sign-in"] == ("auth",)
    assert known["kase"] == ("cheese", "fromage")
    assert known["fromage"] == ("kase", "cheese")


def test_a_word_without_others_is_switched_off() -> None:
    known = expand(Config(aliases=("db=",)))
    assert not {"db", "database"} & known.keys()
    assert "auth" in known


def test_a_word_can_be_switched_off_and_given_others() -> None:
    known = expand(Config(aliases=("db=", "db=store")))
    assert known["db"] == ("store",)
    assert "database" not in known


def test_the_table_is_folded_and_names_no_word_twice() -> None:
    words = [word for group in GROUPS for word in group]
    assert words == [fold(word) for word in words]
    assert len(words) == len(set(words))


def test_an_entry_is_read_leniently() -> None:
    assert split("  Auth =  log in,login, ,AUTH,login") == ("auth", ("log in", "login"))
    assert split("no sign") == ("no sign", ())
    assert expand(Config(aliases=("", "=x", ","))) == expand(Config())


@given(st.lists(st.text("ab=, é", max_size=8), max_size=5))
def test_whatever_is_set_a_word_never_stands_for_itself(entries: list[str]) -> None:
    for word, others in expand(Config(aliases=tuple(entries))).items():
        assert word
        assert others
        assert word not in others
        assert len(set(others)) == len(others)
