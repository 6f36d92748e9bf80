"""Words that mean the same, as the user says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.search.question import own_aliases, split_alias
from tests import kit
from tests.conftest import MakeVault, OpenBrain


def test_own_words_stand_for_each_other() -> None:
    known = own_aliases(("auth=Sign-In", "Käse=cheese, fromage", "auth=login"))
    assert known["auth"] == ("sign-in", "login")
    assert known["sign-in"] == ("auth",)
    assert known["kase"] == ("cheese", "fromage")
    assert known["fromage"] == ("kase", "cheese")


def test_an_entry_is_read_leniently() -> None:
    assert split_alias("  Auth =  log in,login, ,AUTH,login") == ("auth", ("log in", "login"))
    assert split_alias("no sign") == ("no sign", ())
    assert own_aliases(("", "=x", ",")) == {}


@given(st.lists(st.text("ab=, é", max_size=8), max_size=5))
def test_whatever_is_set_a_word_never_stands_for_itself(entries: list[str]) -> None:
    for word, others in own_aliases(tuple(entries)).items():
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


def test_the_words_themselves_come_before_their_alias(vault: MakeVault, opened: OpenBrain) -> None:
    settings = {"40_Brain/brain.yaml": f"aliases: [{', '.join(OWN)}]\n"}
    brain = opened(vault(NOTES | settings))
    assert kit.found(brain, "部署") == ["zh.md", "deploy.md"]
    assert kit.found(brain, "deploy") == ["deploy.md", "zh.md"]
    assert kit.found(brain, "garden snail") == ["snail.md", "slug.md"]
    assert kit.found(brain, '"garden snail"') == ["snail.md"]  # in quotes it is meant so


def test_nothing_is_built_in(vault: MakeVault, opened: OpenBrain) -> None:
    files = {"a.md": "the database is slow\n", "b.md": "the db is slow\n"}
    own = {"40_Brain/brain.yaml": "aliases: [db=database]\n"}
    assert kit.found(opened(vault(files)), "db") == ["b.md"]
    brain = opened(vault(files | own))
    assert kit.found(brain, "db") == ["b.md", "a.md"]
    assert kit.found(brain, "databases") == ["a.md", "b.md"]


def test_an_alias_is_worth_half(vault: MakeVault, opened: OpenBrain) -> None:
    files = {f"40_Brain/{n}/MEMORY.md": f"- filler {n}\n" for n in range(3)}
    files |= {"40_Brain/MEMORY.md": "- the walrus\n", "40_Brain/brain.yaml": "aliases: [a1=walrus]"}
    brain = opened(vault(files))
    (itself,), (other,) = brain.search("walrus").results, brain.search("a1").results
    assert other.score == pytest.approx(itself.score / 2)
