"""A text is compared with the memories that the index knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.api import Brain
from brain.compare.similar import MOST_COMPARED, Similar, similar, terms
from brain.index import fulltext, read
from tests.compare import score
from tests.conftest import MakeVault, OpenBrain

MEMORY = """\
# Memory

## Facts
- 2026-02-01: The dev server listens on port 8080 #ops ^m-00000001
- The nightly backup runs on the old server [[Backups]] ^m-00000002
- Deploys go out on Tuesdays ^m-00000003
- The importer skips rows whose customer column holds only white space characters ^m-00000004
- The nightly backup runs on the server ^m-00000005
- We never deploy on Fridays ^m-00000006

## Progress
- The search index has 3 shards ^m-00000007

| The dev server | listens on port 9999 |
|---|---|
"""
ZOO = (
    "- The walrus eats clams ^m-0000000a\n- The keeper never feeds the seals at noon ^m-0000000b\n"
)
FILES = {
    "40_Brain/MEMORY.md": MEMORY,
    "40_Brain/AGENT.md": "---\ntype: admin\nname: Ada\n---\nx\n",
    "40_Brain/archive/2025.md": "- The dev server listens on port 7070 ^m-0000000c\n",
    "40_Brain/projects/zoo/agent/AGENT.md": "---\ntype: project\nname: K\n---\nx\n",
    "40_Brain/projects/zoo/agent/MEMORY.md": ZOO,
    "Notes/Server.md": "The dev server listens on port 6060\n",
}


@pytest.fixture(params=["fts5", "fts4"])
def brain(request: pytest.FixtureRequest, vault: MakeVault, opened: OpenBrain) -> Brain:
    found = opened(vault(FILES), engine=request.param)
    found.sync()
    return found


def compared(brain: Brain, text: str, **options: object) -> Similar:
    return similar(brain.vault.index, text, **({"owners": None} | options))  # type: ignore[arg-type]


def ids(found: Similar) -> tuple[str, list[str], list[str]]:
    """Return the ids of a result: the same, near, contradicting."""
    near = [row.ref for row, _ in found.near]
    return found.same.ref if found.same else "", near, [row.ref for row in found.contradicts]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The dev server listens on port 8080.", "m-00000001"),
        ("- deploys go out on TUESDAYS #ops", "m-00000003"),
        ("The importer skips all rows whose customer column holds only white space characters", ""),
        (
            "The importer skips rows whose customers column holds only white space character",
            "m-00000004",
        ),
        (
            "The importer skips input rows whose customer column holds only white space characters",
            "m-00000004",
        ),
        ("The walrus eats clams", "m-0000000a"),
        ("The walrus eats", ""),
        ("", ""),
    ],
)
def test_a_memory_that_exists_is_found(brain: Brain, text: str, same: str) -> None:
    assert ids(compared(brain, text))[0] == same


def test_near_memories_come_nearest_first(brain: Brain) -> None:
    found = compared(brain, "The nightly backup runs on the old server at night")
    assert ids(found) == ("", ["m-00000002", "m-00000005"], [])
    scores = [score for _, score in found.near]
    assert scores == sorted(scores, reverse=True)
    assert all(0.6 <= score < 1 for score in scores)


def test_contradictions_are_found_in_memories_only(brain: Brain) -> None:
    found = compared(brain, "The dev server listens on port 9090")
    assert ids(found) == ("", [], ["m-00000001"])
    assert ids(compared(brain, "We deploy on Fridays"))[2] == ["m-00000006"]


def test_only_memories_of_the_owners_count(brain: Brain) -> None:
    text = "The keeper feeds the seals at noon"
    assert ids(compared(brain, text))[2] == ["m-0000000b"]
    assert ids(compared(brain, text, owners=("", "admin", "zoo")))[2] == ["m-0000000b"]
    assert compared(brain, text, owners=("", "admin")) == Similar()
    assert compared(brain, "The walrus eats clams", owners=("", "admin")).same is None
    assert compared(brain, "The walrus eats clams", owners=()) == Similar()


def test_an_entry_is_not_compared_with_itself(brain: Brain) -> None:
    assert compared(brain, "Deploys go out on Tuesdays", exclude=("m-00000003",)) == Similar()
    port = compared(brain, "The dev server listens on port 9090", exclude=["m-00000001"])
    assert port == Similar()


def test_a_report_of_an_event_contradicts_nothing(brain: Brain) -> None:
    assert ids(compared(brain, "The search index has 5 shards"))[2] == []
    text = "The dev server listens on port 9090"
    assert ids(compared(brain, text, kind="task_progress"))[2] == []


def test_a_superseded_memory_contradicts_nothing(vault: MakeVault, opened: OpenBrain) -> None:
    lines = "- We use Jira for planning ^m-00000001\n"
    lines += "- We use Linear for planning [supersedes:: [[#^m-00000001]]] ^m-00000002\n"
    brain = opened(vault({"40_Brain/MEMORY.md": lines}))
    brain.sync()
    assert ids(compared(brain, "We do not use Jira for planning"))[2] == []
    assert ids(compared(brain, "We do not use Linear for planning"))[2] == ["m-00000002"]


@pytest.mark.parametrize(
    ("text", "same", "lacking"),
    [
        ("The nightly backup runs on the old server", "m-00000002", ()),
        ("The nightly backup runs on the old server [[backups]]", "m-00000002", ()),
        ("The nightly backup runs on the old server [[Backups]] [[Ops]]", "m-00000002", ("Ops",)),
        ("The nightly backup runs on the old server [[Ops]]", "", ()),
        ("Deploys go out on Tuesdays [[Release plan]]", "m-00000003", ("Release plan",)),
    ],
)
def test_a_link_is_not_lost(brain: Brain, text: str, same: str, lacking: tuple[str, ...]) -> None:
    """Links after the words are not words. Of two texts that each link to something else, neither
    is the other."""
    found = compared(brain, text)
    assert (ids(found)[0], found.lacking) == (same, lacking)
    if not same:
        assert (found.near[0][0].ref, found.near[0][1]) == ("m-00000002", 1.0)


def test_changed_and_forgotten_memories_are_not_found(brain: Brain) -> None:
    note = Path(brain.vault.paths.root, "40_Brain/MEMORY.md")
    note.write_text(MEMORY.replace("on Tuesdays", "on Mondays"), encoding="utf-8")
    brain.sync()
    assert compared(brain, "Deploys go out on Tuesdays").same is None
    assert ids(compared(brain, "Deploys go out on Mondays"))[0] == "m-00000003"


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
@pytest.mark.parametrize("name", ["pairs", "paraphrases_tuning", "paraphrases_validation"])
def test_what_may_contradict_a_text_is_compared_with_it(
    name: str, engine: str, vault: MakeVault, opened: OpenBrain
) -> None:
    """Full text finds the other text of every contradiction among all texts of the set."""
    pairs = score.pairs(Path(__file__).with_name(f"{name}.jsonl"))
    lines = [f"- {pair['a'].lstrip('- ')} ^m-{at:08}\n" for at, pair in enumerate(pairs)]
    brain = opened(vault({"40_Brain/MEMORY.md": "".join(lines)}), engine=engine)
    brain.sync()
    opposed = {at: pair for at, pair in enumerate(pairs) if pair["label"] == "contradiction"}
    missed = [pair for at, pair in opposed.items() if at not in compared_with(brain, pair["b"])]
    assert not missed
    noticed = [
        at for at, pair in opposed.items() if f"m-{at:08}" in ids(compared(brain, pair["b"]))[2]
    ]
    judged = [at for at, pair in opposed.items() if score.judge(pair) == "contradiction"]
    assert noticed == judged


def compared_with(brain: Brain, text: str) -> set[int]:
    """Return the numbers of the memories that full text finds for a text."""
    found = fulltext.sharing(brain.vault.index, terms(text), None, MOST_COMPARED)
    return {int(row.ref[2:]) for row in read.rows(brain.vault.index, [id for id, _ in found])}


def test_words_that_many_memories_have(vault: MakeVault, opened: OpenBrain) -> None:
    lines = "".join(f"- The dev server of team{n} uses port {n + 1000}\n" for n in range(400))
    brain = opened(vault({"40_Brain/MEMORY.md": lines + "- We never deploy the dev server\n"}))
    brain.sync()
    found = compared(brain, "The dev server of team7 uses port 2000")
    assert [row.text for row in found.contradicts] == ["The dev server of team7 uses port 1007"]
    found = compared(brain, "We deploy the dev server")
    assert [row.text for row in found.contradicts] == ["We never deploy the dev server"]
