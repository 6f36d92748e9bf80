"""What an asker may not read is not counted: no number tells it what stands there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.api import Brain
from brain.index import fulltext
from tests import kit
from tests.conftest import MakeVault, OpenBrain

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


@pytest.mark.parametrize(
    "asked", ["tango", "quux", "海象", "東京", "went", "quu", "tango quux", "東京 tango"]
)
def test_no_score_tells_what_stands_in_hidden_memories(asked: str, laid: Laid) -> None:
    """Whatever word of one length they hold, an agent that may not read them is told the same."""
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
    (mine,) = brain.search("quux", by="alpha").results
    assert mine.match.basis.counts == [1]
    assert all(hit.match.basis.counts == [9] for hit in brain.search("quux").results)


def test_a_hidden_speaker_is_nobody(laid: Laid) -> None:
    """Not even by what is left out of a question that names one."""
    brain = laid("tango")
    assert fulltext.speakers(brain.vault.index) == ["Ada", "Bo", "Zelda"]
    assert fulltext.speakers(brain.vault.index, MINE) == ["Ada", "Bo"]
    assert fulltext.speakers(brain.vault.index, MINE, most=1) == ["Ada"]
    assert fulltext.speakers(brain.vault.index, ()) == []


agents = st.lists(st.sampled_from(("alpha", "beta", "gamma", "")), max_size=12)


@given(agents=agents, owners=st.lists(st.sampled_from(("alpha", "beta", "", "admin"))))
def test_only_rows_that_may_be_read_are_counted(
    tmp_path_factory: pytest.TempPathFactory, agents: list[str], owners: list[str]
) -> None:
    home = tmp_path_factory.mktemp("unseen")
    files = {
        f"40_Brain/projects/{agent}/agent/{n}.md" if agent else f"{n}.md": f"# A\n\ntango {n}\n"
        for n, agent in enumerate(agents)
    }
    kit.lay(home / "v", files | {"40_Brain/MEMORY.md": "- tango one\n- two\n"})
    with kit.open_brain(home / "v", home / "state") as brain:
        brain.sync()
        index, mine = brain.vault.index, tuple(owners)
        for table in ("notes", "passages", "entries"):
            by = "file" if table == "notes" else "id"
            sql = f"SELECT {by}, agent FROM entries WHERE sort = ?"
            rows = index.rows(sql, ("passages" if table == "notes" else table,))
            seen = {id for id, agent in rows if agent in owners}
            assert fulltext.size(index, table) == len({id for id, _ in rows})
            assert fulltext.size(index, table, mine) == len(seen)
            found = {id for id, _ in fulltext.saturations(index, table, '"tango"', mine)}
            assert found <= seen
            assert fulltext.count(index, table, '"tango"', mine) == len(found)
            assert set(fulltext.matching(index, table, '"tango"', mine)) == found
            assert set(fulltext.best(index, table, '"tango"', mine, 99)) == found
