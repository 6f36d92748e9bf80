"""What an asker may not read is not counted: no number tells it what stands there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.api import Brain
from brain.index import matches
from brain.recall import lookup
from brain.recall.concepts import concepts
from brain.recall.lookup import look_up, noted
from brain.recall.terms import terms
from tests import kit
from tests.conftest import MakeVault, OpenBrain

EVEN = (1.0, 1.0, 1.0, 1.0, 1.0)
MINE = ("", "alpha", "admin")
ALPHA, BETA = "40_Brain/projects/alpha/agent", "40_Brain/projects/beta/agent"
Laid = Callable[[str], Brain]


def _turns(*said: tuple[str, str]) -> str:
    turns = [
        {"id": str(n), "role": "user", "name": name, "content": text}
        for n, (name, text) in enumerate(said)
    ]
    return "".join(json.dumps(turn) + "\n" for turn in turns)


def _files(word: str) -> dict[str, str]:
    """A vault in which beta's memories, which alpha may not read, hold this word."""
    filler = "".join(f"- filler {n}\n" for n in range(20))
    hidden = "".join(f"- {word} hidden {n}\n" for n in range(8))
    said = (("Zelda", f"we saw {word}"), ("Ada", f"{word} again"), ("Zelda", "and clams"))
    return {
        "40_Brain/MEMORY.md": "- Clams for all\n",
        f"{ALPHA}/AGENT.md": "---\ntype: project\nid: agent_alpha\n---\n# Alpha\n",
        f"{ALPHA}/MEMORY.md": f"# M\n## Facts\n- probe tango quux go 海象 東京\n{filler}",
        f"{ALPHA}/sessions/s.jsonl": _turns(("Ada", "tango or quux?"), ("Bo", "clams, quux")),
        f"{BETA}/AGENT.md": "---\ntype: project\nid: agent_beta\n---\n# Beta\n",
        f"{BETA}/MEMORY.md": f"# M\n## Facts\n{hidden}",
        f"{BETA}/sessions/s.jsonl": _turns(*said),
        "note.md": "tango in a note\n",
    }


@pytest.fixture(params=["fts5", "fts4"])
def laid(request: pytest.FixtureRequest, vault: MakeVault, opened: OpenBrain) -> Laid:
    """`laid(word)`: an open Brain on such a vault, with either full-text engine."""

    def make(word: str) -> Brain:
        root = vault(_files(word))
        brain = opened(root, root.parent / f"state-{root.name}", request.param)
        brain.sync()
        return brain

    return make


def _told(brain: Brain, question: str, **wanted: Any) -> list[tuple[str, float]]:
    found = brain.search(question, by="alpha", **wanted).results
    return [(f"{hit.row.path}:{hit.row.line}", hit.score) for hit in found]


@pytest.mark.parametrize("listed", [0, 99])
@pytest.mark.parametrize(
    "asked", ["tango", "quux", "海象", "東京", "went", "quu", "tango quux", "東京 tango"]
)
def test_no_score_tells_what_stands_in_hidden_memories(
    asked: str, listed: int, laid: Laid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever word of one length they hold, an agent that may not read them is told the same."""
    monkeypatch.setattr(lookup, "LISTED", listed)
    for words in (("nothing", "tango", "quux", "go"), ("海象", "東京")):
        plain, *others = [laid(word) for word in words]
        for scopes in ([], ["sessions"], ["all"]):
            expected = _told(plain, asked, scopes=scopes)
            for brain in others:
                found = _told(brain, asked, scopes=scopes)
                assert [place for place, _ in found] == [place for place, _ in expected]
                assert [s for _, s in found] == pytest.approx([s for _, s in expected], rel=1e-9)


def test_who_may_read_all_is_told_of_all(laid: Laid) -> None:
    brain = laid("quux")
    assert len(brain.search("quux").results) == 9
    mine = {hit.row.ref: hit.factors.bm25 for hit in brain.search("quux", by="alpha").results}
    every = {hit.row.ref: hit.factors.bm25 for hit in brain.search("quux").results}
    assert all(every[ref] < score for ref, score in mine.items())  # it is rarer among its own


def test_a_hidden_speaker_is_nobody(laid: Laid) -> None:
    """Not even by what is left out of a question that names one."""
    brain = laid("tango")
    assert matches.speakers(brain.vault.index) == ["Ada", "Bo", "Zelda"]
    assert matches.speakers(brain.vault.index, MINE) == ["Ada", "Bo"]
    assert matches.speakers(brain.vault.index, MINE, most=1) == ["Ada"]
    assert matches.speakers(brain.vault.index, ()) == []


def test_what_is_noted_is_what_may_be_read(laid: Laid) -> None:
    brain = laid("quux")
    wanted = concepts(terms("quux"), {}, 0.5)
    (every,), (mine,) = (
        noted(brain.vault.index, wanted),
        noted(brain.vault.index, wanted, owners=MINE),
    )
    assert len(every.scores) == 13
    assert len(mine.scores) == 3
    assert noted(brain.vault.index, wanted, owners=())[0].scores == {}


def test_words_that_are_everywhere_are_found_where_they_may_be_read(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only among the first that hold them, of which an asker may read none."""
    files = {f"40_Brain/projects/beta/{n:02}.md": "tango quux\n" for n in range(60)}
    files |= {f"{n:02}.md": "tango quux\n" for n in range(30)}
    brain = opened(vault(files))
    brain.sync()
    monkeypatch.setattr(lookup, "FEW", 10)
    monkeypatch.setattr(lookup, "SOME", 20)
    wanted = concepts(terms("tango quux"), {}, 0.5)
    found = look_up(brain.vault.index, wanted, EVEN, most=15, owners=MINE)
    assert matches.count_hidden(brain.vault.index, MINE) == 60
    assert 20 <= len(found.scores) < 30
    assert not matches.hidden(brain.vault.index, MINE, found.scores)
    assert all(held == 2 for held in found.held.values())


agents = st.lists(st.sampled_from(("alpha", "beta", "gamma", "")), max_size=12)


@given(agents=agents, owners=st.lists(st.sampled_from(("alpha", "beta", "", "admin"))))
def test_hidden_is_what_belongs_to_others(
    tmp_path_factory: pytest.TempPathFactory, agents: list[str], owners: list[str]
) -> None:
    home = tmp_path_factory.mktemp("unseen")
    files = {
        (
            f"40_Brain/projects/{agent}/agent/{n}.md" if agent else f"{n}.md"
        ): "# A\n\na\n\n# B\n\nb\n"
        for n, agent in enumerate(agents)
    }
    kit.lay(home / "v", files | {"40_Brain/MEMORY.md": "- one\n- two\n"})
    with kit.open_brain(home / "v", home / "state") as brain:
        brain.sync()
        rows = brain.vault.index.db.execute("SELECT id, agent FROM chunks").fetchall()
        hidden = {id for id, agent in rows if agent not in owners}
        assert matches.hidden(brain.vault.index, owners, [id for id, _ in rows]) == hidden
        assert matches.hidden(brain.vault.index, owners) == hidden
        assert matches.count_hidden(brain.vault.index, owners) == len(hidden)
