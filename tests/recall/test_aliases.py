"""Words that mean the same, built in and the vault's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.config import Config
from brain.recall.aliases import GROUPS, expand, split
from brain.recall.concepts import concepts
from brain.recall.lookup import look_up
from brain.recall.terms import fold, terms
from tests import kit
from tests.conftest import MakeVault, OpenBrain


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


# -- through a search --------------------------------------------------------------------------

NOTES = {
    "deploy.md": "We deploy on Tuesday\n",
    "zh.md": "周二部署\n",
    "db.md": "数据库很慢\n",
    "sign.md": "The sign-in page is slow\n",
    "auth.md": "The auth is slow\n",
    "snail.md": "A garden snail ate it\n",
    "slug.md": "The slug ate it\n",
    "store.md": "The store is slow\n",
    "mouse.md": "A rodent was here\n",
    "cpp.md": "Templates of cpp\n",
} | {f"{n}.md": f"filler {n}\n" for n in range(20)}
OWN = (
    *("部署=deploy", "auth=sign-in", "slug=garden snail", "数据库=store", "mouse=rodent"),
    "c++=cpp",
)


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("部署", {"zh.md", "deploy.md"}),
        ("deploy", {"zh.md", "deploy.md"}),
        ("我们周二部署", {"zh.md", "deploy.md"}),  # within a run of characters
        ("数据库", {"db.md", "store.md"}),
        ("数据库很慢", {"db.md", "store.md"}),
        ("auth", {"sign.md", "auth.md"}),
        ("sign-in", {"sign.md", "auth.md"}),
        ("sign in", {"sign.md", "auth.md"}),  # of which one word is a small one
        ("who may sign in here?", {"sign.md", "auth.md"}),
        ("garden snail", {"snail.md", "slug.md"}),
        ("the garden snails of xyz", {"snail.md", "slug.md"}),
        ("garden or snail", {"snail.md"}),  # not one after the other
        ("slug", {"snail.md", "slug.md"}),
        ("slugs", {"snail.md", "slug.md"}),
        ("mice", {"mouse.md"}),
        ("C++", {"cpp.md"}),
        ("the C++ templates", {"cpp.md"}),
    ],
)
def test_an_alias_is_used_however_it_is_written(
    question: str, expected: set[str], engine: str, vault: MakeVault, opened: OpenBrain
) -> None:
    settings = f"aliases: [{', '.join(OWN)}]\n"
    brain = opened(vault(NOTES | {"40_Brain/brain.yaml": settings}), engine=engine)
    if engine == "fts4":  # there are no stems: the words themselves must be there
        question = question.replace("xyz", "snail").replace("slugs", "slugs slug")
    found = brain.search(question).results
    assert {hit.row.path for hit in found} == expected
    scores = {hit.row.path: hit.score for hit in found}
    assert scores == {hit.row.path: hit.factors.rank for hit in found}


def test_the_words_themselves_come_before_their_alias(vault: MakeVault, opened: OpenBrain) -> None:
    settings = {"40_Brain/brain.yaml": f"aliases: [{', '.join(OWN)}]\n"}
    brain = opened(vault(NOTES | settings))
    assert kit.found(brain, "部署") == ["zh.md", "deploy.md"]
    assert kit.found(brain, "deploy") == ["deploy.md", "zh.md"]
    assert kit.found(brain, "garden snail") == ["snail.md", "slug.md"]
    assert kit.found(brain, '"garden snail"') == ["snail.md"]  # in quotes it is meant so


def test_forms_of_what_is_built_in(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"db.md": "one db\n", "c.md": "the config\n", "p.md": "the prod\n"}))
    for question, found in (("databases", "db"), ("setting", "c"), ("configurations", "c")):
        assert kit.found(brain, question) == [f"{found}.md"]
    for question in ("set", "product"):  # forms of `settings` and `production` to a stemmer alone
        assert kit.found(brain, question) == []


def test_common_words_with_aliases_in_two_scripts(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not weighed because it is everywhere is still known to be there."""
    files = {f"d{n}.md": "we deploy filler\n" for n in range(9)} | NOTES
    files |= {f"z{n}.md": "周二部署 filler\n" for n in range(9)}
    files["both.md"] = "部署 walrus filler\n"
    brain = opened(vault(files))
    brain.sync()
    known = expand(Config(aliases=OWN))
    for question in ("deploy walrus", "walrus 部署", "deploy filler", "deploy 部署 filler"):
        wanted = concepts(terms(question), known, 0.5, question)
        every = look_up(brain.vault.index, wanted, (1, 1, 1, 1, 1))
        some = look_up(brain.vault.index, wanted, (1, 1, 1, 1, 1), most=3)
        assert some.scores
        assert {id for id, held in some.held.items() if held == len(wanted)} == {
            id for id, held in every.held.items() if held == len(wanted)
        }
