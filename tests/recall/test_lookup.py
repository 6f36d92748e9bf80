"""Each thing asked is looked up by itself: which pieces hold it, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.api import Brain
from brain.index import matches, read
from brain.recall import lookup
from brain.recall.concepts import Concept, concepts
from brain.recall.lookup import Found, look_up, noted
from brain.recall.terms import Term, match, terms
from tests import kit
from tests.conftest import MakeVault, OpenBrain

EVEN = (1.0, 1.0, 1.0, 1.0, 1.0)
SEVERAL = (1, 2, 1.5, 1.2, 2)
WORDS = ("walrus", "clam", "tusk", "went", "go", "sea", "the")
NOTES = {
    f"{n:02}.md": " ".join(WORDS[(n * k + k) % 7] for k in range(1, 2 + n % 6))
    + f" filler{n}{' 海象の牙' if n % 3 else ' 東京の海' if n % 2 else ''}\n"
    for n in range(40)
} | {f"f{n:02}.md": f"filler {n}\n" for n in range(60)}  # a word of most notes would weigh nothing


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brain]:
    home = tmp_path_factory.mktemp("lookup")
    kit.lay(home / "v", NOTES)
    with kit.open_brain(home / "v", home / "state") as brain:
        brain.sync()
        yield brain


def asked(question: str, aliases: dict[str, tuple[str, ...]] | None = None) -> list[Concept]:
    return concepts(terms(question), aliases or {}, 0.5)


questions = st.lists(st.sampled_from(("walrus", "clam", "tusk", "sea")), min_size=1, max_size=4)


@given(words=questions)
def test_the_sum_is_the_bm25_of_all_words_together(standing: Brain, words: list[str]) -> None:
    """Where no word has other forms, it is what FTS5 says of the whole question."""
    wanted = terms(" ".join(words))
    found = look_up(standing.vault.index, asked(" ".join(words)), EVEN)
    whole = matches.weighed(standing.vault.index, match(wanted), EVEN)
    assert found.scores == pytest.approx(whole)


mixed = st.lists(st.sampled_from(("walrus", "clam", "sea", "海象", "東京", "海")), min_size=1)


@given(words=mixed, most=st.integers(1, 60))
def test_however_little_is_weighed_what_holds_all_is_the_same(
    standing: Brain, words: list[str], most: int
) -> None:
    """What is common is not weighed, but where all of it stands is known."""
    every = look_up(standing.vault.index, asked(" ".join(words)), EVEN)
    some = look_up(standing.vault.index, asked(" ".join(words)), EVEN, most=most)
    assert some.scores  # the rarest word is always weighed
    assert all(some.held[id] <= every.held[id] for id in some.scores)
    assert some.partly == (len(some.concepts) < len(every.concepts))
    assert {id for id in every.held if every.held[id] == every.asked} == {
        id for id in some.held if some.held[id] == some.asked
    }


@given(asked=st.integers(1, 64), held=st.integers(0, 64))
def test_and_comes_before_or(asked: int, held: int) -> None:
    found = Found({}, {1: min(held, asked), 2: asked}, asked, [])
    worth = found.coverages()
    assert worth[found.held[2]] == 1
    assert worth[found.held[1]] == 1 or 0.25 <= worth[found.held[1]] < 0.75
    assert worth[0] == 0.25


def test_the_forms_of_a_word_count_as_one(standing: Brain) -> None:
    """Neither twice where two of them stand, nor as rare as the rarer one is."""
    went = look_up(standing.vault.index, asked("went"), EVEN)
    go = look_up(standing.vault.index, asked("go"), EVEN)
    assert went.scores == pytest.approx(go.scores)
    assert went.asked == 1
    assert set(went.held.values()) == {1}
    alone = matches.weighed(standing.vault.index, '"went"', EVEN)
    assert len(went.scores) > len(alone)
    only = alone.keys() - matches.matching(standing.vault.index, '"go"')
    assert only
    assert all(went.scores[id] < alone[id] for id in only)  # more pieces hold some form


def test_a_word_in_characters_is_as_rare_as_it_is_among_all_pieces(standing: Brain) -> None:
    """Not as common as it is where such characters stand: most pieces of those hold it."""
    rare, common = (
        look_up(standing.vault.index, asked(word), EVEN).scores for word in ("東京", "海象")
    )
    assert 0 < max(common.values()) < max(rare.values())
    clam = look_up(standing.vault.index, asked("clam"), EVEN)  # in about as many as 海象
    assert max(common.values()) == pytest.approx(max(clam.scores.values()), rel=0.3)


def test_an_alias_is_worth_half(standing: Brain) -> None:
    alias = {"seahorse": ("walrus",)}
    other = look_up(standing.vault.index, asked("seahorse", alias), EVEN)
    itself = look_up(standing.vault.index, asked("walrus"), EVEN)
    assert other.scores == pytest.approx({id: s / 2 for id, s in itself.scores.items()})
    assert look_up(standing.vault.index, asked("seahorse"), EVEN).scores == {}
    assert concepts(terms("seahorse"), alias, 0) == [Concept(Term(("seahorse",)))]


def test_phrases_tags_and_names_have_no_other_forms() -> None:
    for question in ('"they went"', "#went", "went_home"):
        assert asked(question)[0].others == ()


def test_what_is_nearly_everywhere_is_not_noted(standing: Brain) -> None:
    (held,) = noted(standing.vault.index, asked("walrus"))
    assert list(held.scores) == sorted(held.scores)
    assert noted(standing.vault.index, asked("walrus"), most=len(held.scores) - 1) == []


# -- through a search --------------------------------------------------------------------------


def test_a_common_word_must_do_where_the_rare_one_is_filtered_out(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never nothing: also when there was too much to weigh at first."""
    files = {f"{n}.md": f"clam number {n}\n" for n in range(30)}
    brain = opened(vault(files | {"rare.md": "walrus\n", "here.md": "clam #here\n"}))
    monkeypatch.setattr("brain.recall.lookup.look_up.__defaults__", (False, 5, None))
    assert kit.found(brain, "walrus clam")[0] == "rare.md"
    assert kit.found(brain, "walrus clam", tags=["here"]) == ["here.md"]


def test_an_alias_finds_and_the_word_itself_comes_first(
    vault: MakeVault, opened: OpenBrain
) -> None:
    files = {"a.md": "the database is slow\n", "b.md": "the db is slow\n", "c.md": "else\n",
             "d.md": "other\n", "e.md": "none\n"}  # fmt: skip
    brain = opened(vault(files))
    assert kit.found(brain, "db") == ["b.md", "a.md"]
    assert kit.found(brain, "database") == ["a.md", "b.md"]


def test_words_that_are_everywhere_are_looked_up_together(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds all of them is found, without weighing everything that holds one."""
    files = {f"{n:03}.md": "walrus clam\n" if n % 2 else "walrus\n" for n in range(300)}
    files |= {f"x{n:03}.md": "clam\n" for n in range(150)}
    brain = opened(vault(files))
    brain.sync()
    monkeypatch.setattr(lookup, "FEW", 20)
    asked = concepts(terms("walrus clam"), {}, 0.5)
    found = lookup.look_up(brain.vault.index, asked, SEVERAL, most=100)
    rows = read.rows(brain.vault.index, sorted(found.scores))
    assert {row.path for row in rows} == {path for path, text in files.items() if "us c" in text}
    assert set(found.held.values()) == {2}
    monkeypatch.setattr(lookup, "FEW", 200)  # too few hold both: one of them will do
    found = lookup.look_up(brain.vault.index, asked, SEVERAL, most=100)
    assert len(found.scores) == 300
