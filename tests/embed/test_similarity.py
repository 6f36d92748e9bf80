"""Passages by their meaning: embedded once, resumed, calibrated, and compared exactly."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.embed import similarity
from brain.embed.local import Folder
from brain.embed.similarity import Meanings, mean_cosine, to_bytes
from brain.errors import NoModel
from brain.index import vectors as files
from brain.index.vectors import Vectors, text_digest
from tests.embed.kit import SIZE, Broken, Hashing, tiny_model

DAY = 20_000
TEXTS = {1: "the car is red", 2: "the feline sleeps", 5: "a boat on water", 9: "walrus"}


class Texts:
    """An index that knows nothing but the texts of its rows."""

    def __init__(self, texts: dict[int, str]) -> None:
        self.texts, self.mark, self.read = dict(texts), "1", 0

    def passages(self, _: Any, after: int) -> Iterator[tuple[int, str]]:
        for row in sorted(self.texts):
            if row > after:
                self.read += 1
                yield row, self.texts[row]


class Fixture:
    """Meanings of some texts. `again` opens them as another process would."""

    def __init__(self, state: Path) -> None:
        self.state, self.day = state, DAY

    def __call__(self, texts: Texts, model: Any) -> Meanings:
        kept = Vectors(str(self.state))
        return Meanings(model, kept, texts, texts.passages, lambda: self.day)  # type: ignore[arg-type]


@pytest.fixture
def made(tmp_path: Path) -> Fixture:
    return Fixture(tmp_path / "state")


def test_what_means_the_same_is_near(made: Fixture) -> None:
    mine = made(Texts(TEXTS), Hashing())
    assert mine.cosines("automobile") == {}
    assert mine.embed_pending() == 0
    found = mine.cosines("vehicle")
    assert next(iter(found)) == 1
    assert set(found) == set(TEXTS)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert all(0 <= meaning <= 1 for meaning in found.values())
    assert mine.cosines("walrus")[9] == pytest.approx(1, abs=1e-3)


def test_each_text_is_embedded_once(made: Fixture) -> None:
    texts, model = Texts({**TEXTS, 11: "walrus"}), Hashing()
    mine = made(texts, model)
    mine.embed_pending()
    asked = [text for text in model.given if text not in similarity.SENTENCES]
    assert sorted(asked) == sorted(TEXTS.values())
    model.given.clear()
    texts.texts[12] = "something new"
    assert mine.embed_pending() == made(texts, model).embed_pending() == 0
    assert model.given == ["something new"]
    assert set(mine.cosines("new")) == {*TEXTS, 11, 12}


def test_a_new_index_needs_no_model(made: Fixture) -> None:
    mine = made(texts := Texts(TEXTS), model := Hashing())
    mine.embed_pending()
    before = mine.cosines("the red car")
    model.given.clear()
    texts.texts = {row + 100: text for row, text in TEXTS.items()}
    texts.mark = "2"  # of a rebuilt index
    again = {row - 100: meaning for row, meaning in mine.cosines("the red car").items()}
    assert again == before
    other = made(texts, model)
    assert other.embed_pending() == 0
    assert other.cosines("the red car") == mine.cosines("the red car")
    assert model.given == ["the red car"]


def test_only_what_is_new_is_read(made: Fixture) -> None:
    mine = made(texts := Texts(TEXTS), Hashing())
    mine.embed_pending()
    texts.read = 0
    mine.cosines("a car")
    texts.texts[20] = "another text"
    mine.embed_pending()
    assert texts.read == 1


def test_rows_that_are_gone_are_dropped_some_day(
    made: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "SPARE", 5)
    mine = made(texts := Texts(TEXTS), Hashing())
    for row in range(100, 200):
        texts.texts[row] = f"text {row}"
        texts.texts.pop(row - 1, None)
        mine.embed_pending()
    found = mine.cosines("text 199")
    assert next(iter(found)) == 199
    assert len(found) < 30


def test_the_nearest_text_of_a_row_counts(made: Fixture) -> None:
    texts = Texts({})
    texts.passages = lambda _, after: iter(  # type: ignore[method-assign]
        [pair for pair in [(1, "a boat"), (1, "walrus"), (2, "a car")] if pair[0] > after]
    )
    mine = made(texts, Hashing())
    mine.embed_pending()
    assert mine.cosines("walrus")[1] == pytest.approx(1, abs=1e-3)
    assert set(mine.cosines("boat")) == {1, 2}


def test_an_interrupted_run_goes_on_where_it_was(made: Fixture) -> None:
    texts = Texts({n: f"note {n}" for n in range(1, 101)})

    class Interrupted(Hashing):
        batch = 10

        def embed(self, asked: Sequence[str]) -> list[list[float]]:
            if len(self.given) > 60:
                raise KeyboardInterrupt
            return super().embed(asked)

    told: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        made(texts, Interrupted()).embed_pending(lambda *at: told.append(at))
    assert told[0] == (10, 100)
    embedded = told[-1][0]
    assert 40 <= embedded < 100
    rest = Hashing()
    assert made(texts, rest).embed_pending(lambda *at: told.append(at)) == 0
    assert told[-1] == (100 - embedded, 100 - embedded)
    assert sorted(rest.given) == sorted(texts.texts[n] for n in range(embedded + 1, 101))


def test_no_more_than_the_time_allows(made: Fixture) -> None:
    mine = made(Texts({n: f"note {n}" for n in range(1, 51)}), Hashing())
    assert mine.embed_pending(seconds=0) == 50
    assert mine.embed_pending() == 0


def test_another_process_may_have_embedded_it_meanwhile(made: Fixture) -> None:
    texts, model = Texts({n: f"note {n}" for n in range(1, 31)}), Hashing()
    slow = made(texts, model)
    assert slow.embed_pending(seconds=0) == 30
    made(texts, Hashing()).embed_pending()
    model.given.clear()
    assert slow.embed_pending() == 0
    assert model.given == []
    assert len(slow.cosines("note 7")) == 30


def test_each_model_has_its_own_vectors(made: Fixture) -> None:
    texts, other = Texts(TEXTS), Hashing(32)
    other.name = "other"
    made(texts, Hashing()).embed_pending()
    mine = made(texts, other)
    assert mine.cosines("car") == {}
    mine.embed_pending()
    assert set(mine.cosines("car")) == set(TEXTS)
    back = Hashing()
    assert made(texts, back).embed_pending() == 0  # the first ones are still there
    assert back.given == []


def test_a_model_of_another_size_under_the_same_name(made: Fixture) -> None:
    texts = Texts(TEXTS)
    made(texts, Hashing()).embed_pending()
    asked = made(texts, Hashing(32))
    with pytest.raises(NoModel, match=rf"returns 32 numbers .* returned {SIZE} before"):
        asked.cosines("car")
    assert asked.embed_pending() == 0
    assert set(asked.cosines("car")) == set(TEXTS)
    larger = Hashing(64)
    texts.texts[50] = "one more"
    embedding = made(texts, larger)
    with pytest.raises(NoModel, match="returns 64 numbers"):
        embedding.embed_pending()
    assert embedding.embed_pending() == 0
    assert set(embedding.cosines("car")) == {*TEXTS, 50}


def test_vectors_of_two_sizes_are_never_mixed(made: Fixture) -> None:
    """A process that still has the former model goes on after another one began again."""
    texts, size = Texts({n: f"note {n}" for n in range(1, 31)}), Hashing(32)
    former = made(texts, Hashing())
    former.embed_pending(seconds=0)
    with pytest.raises(NoModel, match="returns 32 numbers"):
        made(texts, size).embed_pending()
    mine = made(texts, size)
    mine.embed_pending(seconds=0)
    former.embed_pending()
    assert mine.embed_pending() == 0
    assert len(mine.cosines("note 7")) == 30
    assert next(iter(mine.cosines("note 7"))) == 7


def test_nothing_is_kept_of_a_model_that_does_not_answer(made: Fixture) -> None:
    texts = Texts(TEXTS)
    made(texts, Hashing()).embed_pending()
    with pytest.raises(NoModel, match="down"):
        made(texts, Broken(RuntimeError("down"))).embed_pending()
    assert made(texts, Hashing()).embed_pending(seconds=0) == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RuntimeError("out of memory"), "out of memory"),
        (NoModel("gone."), "gone"),
        ([[float("nan"), 1.0]], "not numbers"),
        ([[float("inf"), 1.0]], "not numbers"),
        ([], "numbers for 1 texts"),
        ([[1.0], [2.0]], "numbers for 1 texts"),
        ([[]], "numbers for 1 texts"),
        ([["one", "two"]], "failed"),
        ([[1.0, 2.0], [1.0]], "failed"),
        (None, "numbers for 1 texts"),
        ({"a": 1}, "failed"),
    ],
)
def test_a_model_that_fails_is_a_sentence(answer: Any, said: str) -> None:
    with pytest.raises(NoModel, match=said):
        similarity.embed(Broken(answer), ["a text"])


# -- calibration -----------------------------------------------------------------------------------


class Narrow(Hashing):
    """A model that finds any two texts alike, as some do: a large part of each vector is equal."""

    name = "narrow"

    def _row(self, text: str) -> list[float]:
        return [*super()._row(text), 1.5]


def test_models_with_other_cosines_give_comparable_meanings(made: Fixture) -> None:
    """Of unrelated texts it is about 0, whatever the cosine; of equal ones 1."""
    words = [f"{''.join(random.Random(n).sample('abcdefghijklmnop', 8))}" for n in range(900)]
    texts = Texts({n: " ".join(words[n * 8 : n * 8 + 8]) for n in range(1, 101)})
    found = {}
    for model in (Hashing(), Narrow()):
        mine = made(texts, model)
        mine.embed_pending()
        found[model.name] = mine.cosines(texts.texts[40])
    for cosines in found.values():
        assert cosines[40] == pytest.approx(1, abs=0.01)
        rest = [meaning for row, meaning in cosines.items() if row != 40]
        assert sum(rest) / len(rest) < 0.05
    kept = Vectors(str(made.state))
    assert kept.model("narrow").mean == pytest.approx(0.69, abs=0.02)  # type: ignore[union-attr]
    assert kept.model("hashing").mean < 0.05  # type: ignore[union-attr]


def test_a_model_is_calibrated_without_the_vault(made: Fixture) -> None:
    """Where all notes are about one thing, their cosine does not say how near unrelated texts
    are."""
    mine = made(Texts({1: "a red car", 2: "the red car", 3: "red car"}), Narrow())
    mine.embed_pending()
    found = mine.cosines("car")
    assert min(found.values()) > 0.3
    assert max(mine.cosines("walrus").values()) < 0.15
    mean = Vectors(str(made.state)).model("narrow").mean  # type: ignore[union-attr]
    many = made(Texts({n: f"the red car {n}" for n in range(1, 200)}), Narrow())
    many.embed_pending()
    assert Vectors(str(made.state)).model("narrow").mean == mean  # type: ignore[union-attr]


def test_the_mean_is_that_of_all_pairs() -> None:
    rows = np.random.default_rng(1).normal(size=(300, 24)) + 0.5
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    every = (units @ units.T)[np.triu_indices(300, 1)].mean()
    assert mean_cosine(to_bytes(rows.astype(np.float32))) == pytest.approx(every, abs=0.005)
    assert mean_cosine(np.ones((1, 4), np.int8)) == 0.0
    assert (
        mean_cosine(np.ones((9, 4), np.int8)) == 0.95
    )  # and not 1, by which nothing can be divided


# -- numbers ---------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8), min_size=1, max_size=20))
def test_bytes_keep_the_direction(rows: list[list[float]]) -> None:
    exact = np.array(rows, np.float32)
    for was, now in zip(exact.astype(float), to_bytes(exact).astype(float), strict=True):
        length = math.sqrt(was @ was) * math.sqrt(now @ now)
        if np.abs(was).max() > 1e-30:
            assert was @ now / length > 0.99
        else:
            assert not now.any() or length == 0 or was @ now / length > 0.9


@pytest.mark.parametrize("block", [1, 7, 4096])
@pytest.mark.parametrize("size", [8, 384, 1500])
def test_a_cosine_does_not_depend_on_the_other_passages(
    made: Fixture, size: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in one bit: whole numbers are added without an error, in whatever order."""
    texts = {n: f"{n} walrus {n % 5} boat {n % 3}" for n in range(1, 41)}
    mine = made(Texts(texts), Hashing(size))
    mine.embed_pending()
    expected = mine.cosines("walrus 3 boat")
    monkeypatch.setattr(similarity, "BLOCK", block)
    some = {row: text for row, text in texts.items() if row % 4 == 1}
    for rows in (texts, some):
        found = made(Texts(rows), Hashing(size)).cosines("walrus 3 boat")
        assert found == {row: meaning for row, meaning in expected.items() if row in rows}


def test_a_text_without_meaning_is_near_to_nothing(made: Fixture) -> None:
    mine = made(Texts({1: "...", 2: "a car"}), Hashing())
    mine.embed_pending()
    assert mine.cosines("car")[1] == 0.0
    assert set(mine.cosines("???").values()) == {0.0}


def test_pairs_that_mean_nearly_the_same(made: Fixture) -> None:
    mine = made(Texts({1: "a car", 2: "an automobile", 3: "a car", 4: "walrus"}), Hashing())
    mine.embed_pending()
    names = {1: "m-1", 3: "m-3", 4: "m-4", 99: "m-99"}
    [(one, other, how)] = mine.pairs(names, least=0.6)
    assert (one, other) == ("m-1", "m-3")
    assert how == pytest.approx(1, abs=1e-3)


# -- a real model, and vectors that are not needed any more ----------------------------------------


def test_a_real_model_from_a_folder(made: Fixture, tmp_path: Path) -> None:
    model = Folder(str(tiny_model(tmp_path / "tiny")))
    mine = made(Texts({1: "the red car", 2: "the feline", 3: "walrus"}), model)
    mine.load()
    assert mine.spent > 0
    assert mine.embed_pending() == 0
    assert next(iter(mine.cosines("The red automobile"))) == 1
    assert next(iter(mine.cosines("the cat"))) == 2


def test_vectors_of_texts_that_are_gone_are_removed_after_a_while(made: Fixture) -> None:
    texts = Texts(TEXTS)
    made(texts, Hashing()).embed_pending()
    gone = text_digest(texts.texts.pop(9))
    for _ in range(2 + files.KEEP // files.SWEEP):
        made.day += files.SWEEP
        again = Hashing()
        assert made(texts, again).embed_pending() == 0
        assert again.given == []
    kept = Vectors(str(made.state))
    model = kept.model("hashing")
    assert kept.get(model, [gone]) == {}  # type: ignore[arg-type]
    assert len(kept.get(model, [text_digest(t) for t in TEXTS.values()])) == 3  # type: ignore[arg-type]
