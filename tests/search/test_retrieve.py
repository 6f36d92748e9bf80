"""The share of a question that a row contains, and which rows are looked at."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.api import Brain
from brain.config import Config
from brain.index import fulltext
from brain.search import retrieve
from brain.search.question import Concept, concepts, terms
from brain.search.retrieve import Lookup
from tests import kit
from tests.conftest import MakeVault, OpenBrain

WORDS = ("walrus", "clam", "tusk", "went", "sea", "gardens")
NOTES = {
    f"{n:02}.md": " ".join(WORDS[(n * k + k) % 6] for k in range(1, 2 + n % 6)) + f" filler{n}\n"
    for n in range(40)
} | {f"f{n:02}.md": f"{'filler ' * (1 + n % 7)}{n}\n" for n in range(60)}


@pytest.fixture(scope="module", params=["fts5", "fts4"])
def standing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brain]:
    home = tmp_path_factory.mktemp("retrieve")
    kit.lay(home / "v", NOTES)
    with kit.open_brain(home / "v", home / "state", engine=request.param) as brain:
        brain.sync()
        yield brain


def asked(question: str) -> list[Concept]:
    return concepts(terms(question), Config(), question)


def by_the_book(question: list[str]) -> dict[str, float]:
    """The shares of the notes, reckoned from their words."""
    rows = {}
    for path, text in NOTES.items():
        name = path.removesuffix(".md")
        rows[path] = [name] * 4, re.findall(r"\w+", text)
    lengths = {path: len(body) + 1 for path, (_, body) in rows.items()}
    mean = sum(lengths.values()) / len(lengths)
    held: dict[str, float] = {}
    covered: dict[str, float] = {}
    whole = 0.0
    for word in dict.fromkeys(question):
        counts = {p: body.count(word) + name.count(word) for p, (name, body) in rows.items()}
        counts = {path: count for path, count in counts.items() if count}
        rest = len(rows) + retrieve.EXTRA_ROWS - len(counts)
        idf = math.log(1 + (rest + 0.5) / (len(counts) + 0.5))
        whole += idf
        for path, count in counts.items():
            much = count / (count + 1.2 * (0.25 + 0.75 * lengths[path] / mean))
            held[path] = held.get(path, 0.0) + idf * much
            covered[path] = covered.get(path, 0.0) + idf
    return {p: h / whole * (0.7 + 0.3 * covered[p] / whole) for p, h in held.items()}


@given(words=st.lists(st.sampled_from(("walrus", "clam", "tusk", "sea", "xylophone")), min_size=1))
def test_the_share_by_the_book(standing: Brain, words: list[str]) -> None:
    """bm25 without its idf, weighed by how rare a word is; FTS4 rounds the mean length."""
    index = standing.vault.index
    found = Lookup(index, None).shares("notes", asked(" ".join(words)))
    paths = dict(index.rows("SELECT id, path FROM files"))
    shares = {paths[id]: share for id, share in found.scores.items()}
    assert shares == pytest.approx(by_the_book(words), rel=1e-9 if index.fts == "fts5" else 0.05)
    assert all(0 < share <= 1 for share in shares.values())


def test_a_word_that_is_nowhere_counts(standing: Brain) -> None:
    lookup = Lookup(standing.vault.index, None)
    whole, half = (lookup.shares("notes", asked(q)) for q in ("walrus", "walrus xylophone"))
    assert whole.scores.keys() == half.scores.keys()
    assert all(half.scores[id] < whole.scores[id] / 2 for id in half.scores)
    assert all(half.basis.covered(mask) < 0.5 for mask in half.masks.values())


def test_the_tables_hold_what_the_views_say(standing: Brain) -> None:
    assert standing.vault.index.healthy()


# -- words that are nearly everywhere ----------------------------------------------------------


@pytest.fixture
def common(vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch) -> Brain:
    """A vault in which `clam` is in most notes; no word is too few to be common."""
    monkeypatch.setattr(retrieve, "FEW", 5)
    files = {f"{n:03}.md": f"clam {'filler ' * (n % 9)}{n}\n" for n in range(90)}
    files |= {f"w{n}.md": f"walrus {'and clam' if n % 2 else ''} {n}\n" for n in range(8)}
    brain = opened(vault(files))
    brain.sync()
    return brain


def test_a_common_word_adds_to_what_a_rarer_one_found(
    common: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieve, "ENOUGH", 8)
    index = common.vault.index
    found = Lookup(index, None).shares("passages", asked("walrus clam"))
    rows = {id for id, _ in fulltext.saturations(index, "passages", '"walrus"')}
    assert set(found.scores) == rows
    assert sorted(found.masks.values()) == [1] * 4 + [3] * 4
    every = fulltext.count(index, "passages", '"clam"')
    assert found.basis.counts == [8, every]


def test_if_little_is_found_the_best_for_any_word_are_added(common: Brain) -> None:
    index = common.vault.index
    found = Lookup(index, None).shares("passages", asked("walrus clam"))
    assert len(found.scores) == 98
    alone = Lookup(index, None).shares("passages", asked("clam"))
    assert {*alone.scores.values()} == {retrieve.COMMON_SATURATION}
    assert len(common.search("clam", limit=50).results) == 50


def test_small_vaults_are_not_cut(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({f"{n}.md": f"clam {n}\n" for n in range(9)}))
    brain.sync()
    found = Lookup(brain.vault.index, None).shares("passages", asked("clam"))
    weighed = dict(fulltext.saturations(brain.vault.index, "passages", '"clam"'))
    assert found.scores == pytest.approx(weighed)


def test_an_edit_touches_only_its_passage(vault: MakeVault, opened: OpenBrain) -> None:
    """The other passages of a note keep their rows, and full text stays true."""
    parts = [f"## Part {n}\n\n{'words to fill a page ' * 28}{n}\n" for n in range(6)]
    root = vault({"a.md": "\n".join(parts)})
    brain = opened(root)
    brain.sync()
    index = brain.vault.index
    before = dict(index.rows("SELECT id, text FROM entries WHERE path = 'a.md'"))
    assert len(before) == 6
    parts[2] = parts[2].replace("page 2", "page walrus")
    (root / "a.md").write_text("new first line\n" + "\n".join(parts))
    brain.sync()
    after = dict(index.rows("SELECT id, text FROM entries WHERE path = 'a.md'"))
    assert len(before.keys() & after.keys()) >= 4
    assert index.healthy()
    assert [hit.line for hit in brain.search("walrus").results] == [12]
    brain.sync(rebuild=True)
    assert [hit.line for hit in brain.search("walrus").results] == [12]


def test_rows_of_full_text_are_views_of_the_index(standing: Brain) -> None:
    with pytest.raises(sqlite3.OperationalError):
        standing.vault.index.db.execute("INSERT INTO note_texts VALUES (1)")
