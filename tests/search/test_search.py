"""Search, from a question to a place in a file, on both full-text engines."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import serialize
from brain.api import Brain
from brain.errors import BadRequest
from brain.search.factors import ADDED, MULTIPLIED
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.search.conftest import OTHERS, Searched


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("tusks", ["Notes/Walrus.md"]),
        ("TUSKS", ["Notes/Walrus.md"]),
        ("where are the whiskers?", ["Notes/Walrus.md"]),
        ("cafe", ["Notes/Café.md"]),
        ("naive", ["Notes/Café.md"]),
        ("東京", ["Notes/東京.md"]),
        ("水族館", ["Notes/東京.md"]),
        ("館", ["Notes/東京.md"]),
        ("セイウチ", ["Notes/東京.md"]),
        ("京水", []),
        ('"one file"', ["Architecture.md"]),
        ('"whiskers tusks"', ["Notes/Walrus.md"]),  # its words
        ('"file one" tusks', ["Notes/Walrus.md"]),  # which do not count as long as others do
        ('"tusks xylophone"', ["Notes/Walrus.md"]),
        ('"xylophone qqq"', []),
        ("#animals/sea", ["Notes/Walrus.md"]),
        ("#sea", ["Notes/Walrus.md"]),
        ("local-first", ["40_Brain/MEMORY.md"]),
        ("https://example.org/tusks", []),
        ("parser", ["40_Brain/tasks.json"]),
        ("calls", ["40_Brain/projects/zoo/items.json"]),
        ("tusk", ["Notes/Walrus.md"]),  # another form of the word
        ("whisk", ["Notes/Walrus.md"]),  # the beginning of one
        ("usk", []),
        ("qqq", []),
    ],
)
def test_a_question_finds(question: str, expected: list[str], searched: Searched) -> None:
    assert kit.found(searched(), question) == expected


def test_a_whole_word_keeps_beginnings_out(searched: Searched) -> None:
    brain = searched({"a.md": "clam\n", "b.md": "clammy\n"})
    assert kit.found(brain, "clam") == ["a.md"]
    assert kit.found(brain, "cla") == ["a.md", "b.md"]
    found = brain.search("cla")
    assert all(hit.prefix for hit in found)
    assert found.notes == ("No results for whole words. Showing words that begin with them.",)


def test_korean_chinese_japanese(searched: Searched) -> None:
    texts = {
        "ko.md": "데이터베이스를 골랐다\n",
        "zh.md": "我们选择了数据库\n",
        "ja.md": "検索エンジン\n",
    }
    brain = searched(texts)
    for question, path in [("데이터", "ko.md"), ("数据库", "zh.md"), ("检", ""), ("索", "ja.md"),
                           ("エンジン", "ja.md"), ("選択", ""), ("选择", "zh.md")]:  # fmt: skip
        assert kit.found(brain, question) == ([path] if path else []), question


SENTENCE = "海象は北の海に住んでいて、長い牙を持つ大きな動物である。"


def test_a_note_is_not_longer_for_its_script(searched: Searched) -> None:
    """However many characters it holds: its English words count as those of any other note."""
    files = {"ja.md": f"clam {SENTENCE * 9}\n", "en.md": f"clam {'filler ' * 40}\n"}
    assert kit.found(searched(files | OTHERS), "clam") == ["ja.md", "en.md"]


def test_a_note_is_not_shorter_for_its_script(searched: Searched) -> None:
    """One Japanese word in a long English note does not make it a note about that word."""
    about = f"{SENTENCE}海象の牙。\n"
    files = {"ja.md": about, "en.md": f"海象 {'filler ' * 200}\n", "x.md": "犬と猫と鳥と魚。\n"}
    brain = searched(files | OTHERS)
    for question in ("海象", "海象の牙"):
        assert kit.found(brain, question) == ["ja.md", "en.md"]


def test_a_question_in_two_scripts(searched: Searched) -> None:
    """What holds both comes first, and what is rare in all of the vault counts more."""
    files = {f"{n}.md": "clam\n" for n in range(5)} | {f"x{n}.md": "else\n" for n in range(9)}
    brain = searched(files | {"both.md": f"clam {SENTENCE}\n", "ja.md": f"{SENTENCE}\n"})
    assert kit.found(brain, "clam 海象")[:3] == ["both.md", "ja.md", "0.md"]
    hits = brain.search("clam 海象").results
    assert hits[0].covered == 1
    assert hits[0].covered > hits[1].covered > hits[2].covered


def test_the_characters_of_a_heading_a_tag_and_a_path_count(searched: Searched) -> None:
    text = "---\ntags: [動物]\n---\n# 海象\n\nclam\n\n## Second\n\nmussel\n"
    brain = searched({"北/a.md": text, "b.md": "clam\n"})
    for question in ("動物", "海象", "北"):
        assert kit.found(brain, question)[0] == "北/a.md"


def test_the_words_of_a_path_and_a_heading_count(searched: Searched) -> None:
    brain = searched({"Deep/Sea/x.md": "# Anemone\n\nblue\n", "y.md": "blue\n"})
    assert kit.found(brain, "deep") == ["Deep/Sea/x.md"]
    assert kit.found(brain, "anemone") == ["Deep/Sea/x.md"]
    assert kit.found(brain, "blue sea")[0] == "Deep/Sea/x.md"


# -- ranking -----------------------------------------------------------------------------------


def test_the_score_follows_from_its_factors(searched: Searched) -> None:
    hits = searched().search("walrus OR the sqlite clams", scopes=["all"], limit=50).results
    assert len(hits) > 4
    for hit in hits:
        shown = serialize.search_result(hit, explain=True)
        factors = shown["factors"]
        added = sum(factors.get(name, 0) for name in ADDED)
        multiplied = math.prod(factors.get(name, 1) for name in MULTIPLIED)
        assert shown["score"] == added * multiplied > 0
        assert factors.keys() <= {*ADDED, *MULTIPLIED, "feedback", "recency"}
        assert all(0 <= factors[name] <= 1 for name in ADDED if name in factors)
    others = [h.score for h in hits if h.row.scope != "memory"]
    assert others == sorted(others, reverse=True)


def test_what_holds_every_word_comes_first(searched: Searched) -> None:
    """Also if the other holds the rarer word."""
    brain = searched({
        "often.md": "walrus\n",
        "both.md": f"clam {'and something else ' * 3} walrus\n",
        "clam.md": "clam\n",
        **{f"{n}.md": f"{'clam' if n < 3 else ''} {'filler ' * 20}{n}\n" for n in range(9)},
    })  # fmt: skip
    first, second, *_ = brain.search("walrus clam").results
    assert (first.row.path, second.row.path) == ("both.md", "often.md")
    assert first.covered == 1.0 > second.covered
    assert {hit.covered for hit in brain.search("walrus").results} == {1.0}


@pytest.mark.parametrize(
    ("question", "complete"),
    [
        ("walrus tusks", {"apart.md", "exact.md"}),
        ("the walrus and its tusks", {"apart.md", "exact.md"}),  # stop words do not vote
        ("walrus_tusks", {"exact.md"}),
        ('"walrus tusks" clam', set()),
        ("#sea clam", {"tagged.md"}),
        ("水族館 clam", {"水.md"}),
        ("wal tus", {"apart.md", "exact.md"}),  # beginnings of words
    ],
)
def test_complete_is_what_holds_all_that_was_asked(
    question: str, complete: set[str], searched: Searched
) -> None:
    brain = searched({
        "exact.md": "walrus_tusks\n", "apart.md": "tusks of a walrus\n", "one.md": "walrus\n",
        "tagged.md": "clam #sea\n", "水.md": "水族館 clam\n", "clam.md": "clam\n",
    })  # fmt: skip
    hits = brain.search(question).results
    assert {hit.row.path for hit in hits if hit.covered == 1} == complete
    assert len(hits) > len(complete)


def test_a_newer_memory_is_better_and_a_newer_note_is_not(searched: Searched) -> None:
    brain = searched({
        "40_Brain/MEMORY.md": "- 2020-01-01: the walrus\n- 2026-02-28: the walrus\n",
        "a.md": "---\ncreated: 2020-01-01\n---\nclam\n",
        "b.md": "---\ncreated: 2026-01-01\n---\nclam\n",
        **{f"{n}.md": "something else\n" for n in range(5)},
    })  # fmt: skip
    new, old = brain.search("walrus").results
    assert (new.row.line, old.row.line) == (2, 1)
    assert old.factors["recency"] == pytest.approx(1 / (1 + 0.01 * 2251.5))
    assert not any("recency" in hit.factors for hit in brain.search("clam").results)


def test_the_order_is_always_the_same(searched: Searched) -> None:
    files = {f"{n:02}.md": f"walrus\n{' ' * n}\n" for n in (5, 3, 9, 1, 7)}
    brain = searched(files)
    first = kit.found(brain, "walrus")
    assert first == sorted(files)
    brain.sync(rebuild=True)
    assert kit.found(brain, "walrus") == first


def test_limit(searched: Searched) -> None:
    brain = searched({f"{n:02}.md": f"walrus {n}\n" for n in range(30)})
    assert len(brain.search("walrus").results) == 10
    assert len(brain.search("walrus", limit=25).results) == 25
    for limit in (0, -1):
        with pytest.raises(BadRequest, match=f"The limit must be at least 1, not {limit}"):
            brain.search("walrus", limit=limit)


def test_a_question_that_is_missing(searched: Searched) -> None:
    brain = searched({"a.md": "walrus\n"})
    for question in (None, "", " ", 7):
        with pytest.raises(BadRequest, match="There is nothing to search for"):
            brain.search(question)  # type: ignore[arg-type]


# -- where it stands ---------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line", [1, 2, 77, 300, 999, 1000])
def test_the_line_of_a_long_note(line: int, end: str, searched: Searched) -> None:
    lines = [f"## Part {n}" if n % 50 == 0 else f"filler number {n}" for n in range(1, 1001)]
    lines[line - 1] += " walrus"
    (hit, *_) = searched({"a.md": end.join(lines) + end}).search("walrus").results
    assert hit.line == line
    assert hit.snippet() == lines[line - 1].replace("walrus", "«walrus»")


def test_the_line_of_a_memory(searched: Searched) -> None:
    text = "---\na: b\n---\n# T\n\n## Decisions\n- one\n  - two\n  - the walrus\n- three\n"
    (hit,) = searched({"40_Brain/MEMORY.md": text}).search("walrus").results
    assert hit.line == 9
    assert (hit.row.line, hit.row.end_line) == (7, 9)
    assert hit.snippet() == "- the «walrus»"


def test_the_line_of_an_item_is_where_it_starts(searched: Searched) -> None:
    text = '[\n  {\n    "id": "a",\n    "content": "one\\ntwo\\nthe walrus"\n  }\n]\n'
    (hit,) = searched({"40_Brain/projects/p/items.json": text}).search("walrus").results
    assert hit.line == 2
    assert hit.snippet() == "the «walrus»"


def test_the_line_of_a_turn(searched: Searched) -> None:
    text = '{"role": "user", "content": "a"}\n{"role": "user", "content": "a\\nb\\nwalrus"}\n'
    filler = {f"{n}.md": "clam\n" for n in range(3)}
    brain = searched({"40_Brain/sessions/s.jsonl": text} | filler)
    hit, beside = brain.search("walrus", scopes=["sessions"]).results
    assert (hit.line, beside.line) == (2, 1)
    assert (hit.factors["near"], beside.factors["share"]) == (0, 0)


# -- what must never happen --------------------------------------------------------------------

NASTY = st.one_of(
    st.text(),
    st.text(alphabet='"*^:(){}+-#/\\\'NEARANDORNOT 東é_.%\0\n'),
    st.lists(st.sampled_from(["AND", "OR", "NOT", "NEAR(", "text:", "a*", '"', "(", "^x", "-b"]))
    .map(" ".join),
)  # fmt: skip


@pytest.fixture(scope="module", params=["fts5", "fts4"])
def standing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("standing")
    kit.lay(home / "v", kit.VAULT)
    with kit.open_brain(home / "v", home / "state", engine=request.param) as brain:
        brain.sync()
        yield brain


@given(question=NASTY, tag=NASTY, data=st.data())
def test_no_question_breaks_anything(standing: Brain, question: str, tag: str, data: Any) -> None:
    if not question.strip():
        return
    try:
        plain = standing.search(question, check=False, scopes=["all"])
        with suppress(BadRequest):
            standing.search(question, check=False, kinds=[tag])
        if tag.strip(" #"):
            standing.search(question, check=False, tags=[tag], kinds=["fact"])
    except sqlite3.Error as error:  # pragma: no cover
        pytest.fail(f"{question!r}: {error}")
    for hit in plain.results:
        assert serialize.search_result(hit, explain=True)["line"] >= 1


@pytest.mark.parametrize(
    "question", ["\ud800 walrus", "walrus \udfff", "a" * 100_000, "a " * 50_000]
)
def test_a_strange_question(question: str, standing: Brain) -> None:
    standing.search(question)
    standing.vault.write_events()
    assert not standing.vault.new_events


def test_feedback_moves_a_memory_up_and_down(vault: MakeVault, opened: OpenBrain) -> None:
    """And the explanation shows by how much, also after the index was built again."""
    lines = "- The walrus eats clams ^m-00000001\n- The walrus eats squid ^m-00000002\n"
    brain = opened(vault({"40_Brain/MEMORY.md": lines}))

    def found() -> list[tuple[str, float]]:
        hits = brain.search("walrus eats").results
        return [(hit.row.ref, round(hit.factors["feedback"], 2)) for hit in hits]

    assert found() == [("m-00000001", 1.0), ("m-00000002", 1.0)]
    brain.reinforce("m-00000002")
    assert found() == [("m-00000002", 1.82), ("m-00000001", 1.0)]
    for _ in range(5):
        brain.demote("m-00000002")
    assert found() == [("m-00000001", 1.0), ("m-00000002", 0.67)]
    brain.sync(rebuild=True)
    assert found() == [("m-00000001", 1.0), ("m-00000002", 0.67)]


def test_memories_at_odds_are_marked(vault: MakeVault, opened: OpenBrain) -> None:
    """Each names the other; when one of them is gone, there is no conflict any more."""
    lines = (
        "- Always feed the walrus at noon ^m-00000001\n"
        "- Never feed the walrus at noon [contradicts:: [[#^m-00000001]]] ^m-00000002\n"
        "- The walrus naps [contradicts:: [[#^m-gone0000]]] ^m-00000003\n"
    )
    root = vault({"40_Brain/MEMORY.md": lines})
    brain = opened(root)
    answer = brain.search("walrus")
    assert {hit.row.ref: hit.conflicts for hit in answer.results} == {
        "m-00000001": ["m-00000002"],
        "m-00000002": ["m-00000001"],
        "m-00000003": [],
    }
    shapes = serialize.answer(answer)["results"]
    assert {shape["id"]: shape["conflicts"] for shape in shapes}["m-00000001"] == ["m-00000002"]
    brain.forget("m-00000001")
    assert not any(hit.conflicts for hit in brain.search("walrus").results)


def test_a_conflict_with_what_is_superseded_is_none(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({
        "40_Brain/MEMORY.md": "- oil is blue [contradicts:: [[#^m-00000002]]] ^m-00000001\n"
        "- oil is red ^m-00000002\n- oil is green [supersedes:: [[#^m-00000002]]] ^m-00000003\n"
    }))  # fmt: skip
    for superseded in (False, True):
        found = brain.search("oil", superseded=superseded).results
        assert len(found) == 2 + superseded
        assert not any(hit.conflicts for hit in found)


# -- the same vault, the same answer -----------------------------------------------------------

MIXED: dict[str, str | bytes] = kit.VAULT | {
    "40_Brain/sessions/2026-01-02.jsonl": "".join(
        f'{{"id": "t{n}", "role": "user", "name": "{name}", "content": "{text}"}}\n'
        for n, (name, text) in enumerate([
            ("Ada", "Did the walrus go out?"), ("Bo", "It went on Tuesday"), ("Ada", "Good"),
            ("Bo", "The walrus eats clams"), ("Ada", "And squid"), ("Bo", "Yes"),
        ])
    ),
    **{f"Sea/{n}.md": f"The walrus {'swims ' * (n % 3)}in the sea\n" for n in range(12)},
    **{f"Land/{n}.md": f"Nothing of that here, number {n}\n" for n in range(30)},
}  # fmt: skip
ASKED = (
    "walrus",
    "did the walrus go",
    "What did Bo say?",
    "sea swim",
    '"in the sea"',
    "#db",
    "wal",
)


STILL = {"as_of": ""}


def everything(brain: Brain) -> list[str]:
    """What leaves Brain for each question, to the last digit, but for the time of the check."""
    return [
        json.dumps(serialize.answer(brain.search(question, scopes=["all"], limit=40)) | STILL)
        for question in ASKED
    ]


def test_an_index_built_anew_gives_the_same_answers(searched: Searched) -> None:
    brain = searched(MIXED)
    before = everything(brain)
    brain.sync(rebuild=True)
    assert everything(brain) == before


@settings(max_examples=8)
@given(data=st.data())
def test_the_order_in_which_notes_came_does_not_matter(
    data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Some are there at first, some come and go again; the answers are those of the same notes."""
    root = tmp_path_factory.mktemp("order") / "v"
    old(root, MIXED)
    late = data.draw(st.permutations(sorted(MIXED)).map(lambda paths: paths[:6]))
    with kit.open_brain(root, root.parent / "state") as brain:
        brain.sync()
        expected = everything(brain)
        for path in late:
            (root / path).unlink()
        old(root, {"gone.md": "walrus walrus walrus\n"})
        brain.sync()
        assert everything(brain) != expected
        (root / "gone.md").unlink()
        for path in data.draw(st.permutations(late)):
            old(root, {path: MIXED[path]})
            brain.sync()
        assert everything(brain) == expected


def old(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files of the same time: a turn that names none is as old as its file."""
    kit.lay(root, files)
    for path in files:
        os.utime(root / path, (1_700_000_000, 1_700_000_000))


def test_a_note_is_found_by_its_name(searched: Searched) -> None:
    """Whatever links to it, and however often."""
    links = {f"{n}.md": "[[Crop Rotation]] and crop rotation\n" for n in range(5)}
    memory = {"40_Brain/MEMORY.md": "- crop rotation [[Crop Rotation]] #rotation\n"}
    files = links | memory | {"Deep/Crop Rotation.md": f"# Beds\n\n{'something else ' * 200}\n"}
    brain = searched(files | {f"x{n}.md": "other\n" for n in range(20)})
    for question in ("Crop Rotation", "crop rotation?", "[[Crop Rotation]]", "Crop Rotation.md"):
        assert kit.found(brain, question)[0] == "Deep/Crop Rotation.md", question


GLUED = "データベースはSQLiteを使う\n我们用Redis做缓存\n2026年5月にiPhone15を購入\nส่งREST APIแล้ว\n"


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
@pytest.mark.parametrize("word", ["SQLite", "sqlite", "Redis", "iPhone15", "REST", "API", "2026"])
def test_a_word_between_characters_is_found(
    word: str, engine: str, vault: MakeVault, opened: OpenBrain
) -> None:
    notes = {f"{n}.md": f"{line}\n" for n, line in enumerate(GLUED.split("\n"))}
    plain = {"redis.md": "Redis listens on a port, sqlite does not\n"}
    brain = opened(vault(notes | plain), engine=engine)
    found = {hit.row.path for hit in brain.search(word).results}
    assert {path for path, text in notes.items() if word.lower() in text.lower()} <= found
    both = brain.search("redis 缓存").results
    assert both[0].row.path == "1.md"
    assert both[0].covered == 1
