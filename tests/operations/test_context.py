"""`recall`: the right memories in the prompt, in the right order, and what is learned from it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import new_vault, serialize
from brain.api import Brain
from brain.context import triggers
from brain.errors import BadRequest
from brain.operations.context import NO_CONTENT, QUESTION
from brain.operations.results import Context, TagSuggestion
from brain.search.factors import order
from brain.state import Recall
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.operations.conftest import NOTE, Made

ZOO = "40_Brain/projects/zoo/agent/MEMORY.md"
AGENT = "---\ntype: project\nid: zoo\nname: Zoo\n---\n"


def shown(context: Context, part: str = "memories") -> list[str]:
    return [piece.id for piece in getattr(context.fitted.package, part)]


def excerpts(context: Context) -> list[str]:
    """The texts of notes and turns, without white space at their ends."""
    return [one.text.strip() for part in context.fitted.package.notes for one in part.passages]


def bullets(*lines: str, heading: str = "Facts") -> str:
    return f"## {heading}\n" + "".join(f"- {line}\n" for line in lines)


# -- what is in it -------------------------------------------------------------------------------


def test_a_question_brings_what_is_known(made: Made) -> None:
    brain = made({NOTE: bullets("The walrus eats clams ^m-00000001", "Bread is baked ^m-00000002")})
    said = brain.context("what does the walrus eat")
    assert shown(said) == ["m-00000001"]
    assert "[id:m-00000001]" in said.text
    assert "walrus eats clams" in said.text
    assert "Bread" not in said.text
    assert said.freshness.fresh


def test_the_pinned_are_always_there_newest_first(made: Made) -> None:
    lines = [f"2026-02-{n:02}: rule number {n} #pinned ^m-0000000{n}" for n in range(1, 8)]
    brain = made({NOTE: bullets(*lines)})
    said = brain.context("something else entirely")
    assert shown(said, "pinned") == [f"m-0000000{n}" for n in (7, 6, 5, 4, 3)]
    others = shown(brain.context("rule number"))  # what is shown as pinned is not shown again
    assert sorted(others) == ["m-00000001", "m-00000002"]


def test_a_warning_comes_first_when_its_trigger_is_mentioned(made: Made) -> None:
    brain = made({
        NOTE: bullets("Never use print [trigger:: println!, dbg!] ^m-00000001", heading="Never")
        + bullets("Logging goes through tracing ^m-00000002")
    })  # fmt: skip
    assert shown(brain.context("how does logging work"), "warnings") == []
    for question, text in (("may I use println! here", ""), ("review", "x = dbg!(y)")):
        said = brain.context(question, text=text)
        assert shown(said, "warnings") == ["m-00000001"]
        (piece,) = said.fitted.package.warnings
        assert piece.trigger in ("println!", "dbg!")
        assert piece.text == "Never use print"  # what is for programs is not for prompts
    assert shown(brain.context("what is println"), "warnings") == []  # the sign is part of it


@pytest.mark.parametrize(
    ("trigger", "text", "is_met"),
    [
        ("蛞蝓药", "请用蛞蝓药吗", True),
        ("docker", "请用Docker吗", True),
        ("ขนมปัง", "กินขนมปังไหม", True),
        ("café", "the cafe\u0301 tables", True),
        ("cafe\u0301", "the CAFÉ tables", True),
        ("drop table", "DROP\n\t  TABLE users", True),
        ("drop table", "drop\u00a0table", True),
        ("Straße", "in der STRASSE", True),
        ("drop table", "drop", False),
        ("drop table", "drop tables", False),
        ("drop table", "raindrop table", False),
        ("able", "drop table", False),
        ("println!", "eprintln!()", False),
        ("!!", "stop!!now", True),
        ("--force", "git push --force", True),
        ("--force", "git push --forced", False),
        ("b, a b c", "a b c b", True),
    ],
)
def test_what_sets_off_a_warning(made: Made, trigger: str, text: str, is_met: bool) -> None:
    """In any case, Unicode form and white space; as words, where words have spaces between."""
    brain = made({NOTE: bullets(f"Beware [trigger:: {trigger}] ^m-00000001", heading="Never")})
    for said in (brain.context(text), brain.context("review", text=text)):
        assert shown(said, "warnings") == ["m-00000001"] * is_met


def test_a_trigger_is_not_put_together_from_the_question_and_the_text(made: Made) -> None:
    brain = made({NOTE: bullets("Beware [trigger:: drop table]", heading="Never")})
    assert shown(brain.context("drop", text="table"), "warnings") == []


def test_of_a_huge_text_both_ends_are_looked_at(made: Made) -> None:
    brain = made({NOTE: bullets(
        *(f"Never {word} [trigger:: {word}]" for word in ("alpha", "beta", "gamma")),
        heading="Never",
    )})  # fmt: skip
    text = f"alpha {'x ' * triggers.MAX_TEXT} beta {'x ' * triggers.MAX_TEXT} gamma"
    met = [one for _, one in brain.context("review", text=text).recalled.warnings]
    assert sorted(met) == ["alpha", "gamma"]


def test_of_a_huge_question_the_first_words_count(made: Made) -> None:
    """Each once; a trigger is looked for in all of it."""
    brain = made({NOTE: bullets("a walrus ^m-00000001", *(f"filler {n}" for n in range(9)))
                  + bullets("Beware [trigger:: cheese] ^m-00000002", heading="Never")})  # fmt: skip
    many = " ".join(f"w{n}" for n in range(5_000))
    assert shown(brain.context("word " * 20_000 + "walrus")) == ["m-00000001"]
    said = brain.context(f"{many} cheese walrus")
    assert shown(said) == []
    assert shown(said, "warnings") == ["m-00000002"]
    assert len(said.asked.query) <= QUESTION
    assert shown(brain.context("x" * 100_000 + " walrus")) == ["m-00000001"]


def test_a_procedure_comes_with_its_steps(made: Made) -> None:
    brain = made({NOTE: "## Procedures\n- Deploy the zoo ^m-00000001\n  1. Feed\n  2. Lock\n"})
    (piece,) = brain.context("deploy the zoo").fitted.package.memories
    assert (piece.text, piece.steps) == ("Deploy the zoo", ("Feed", "Lock"))


def test_a_procedure_keeps_its_structure(made: Made) -> None:
    brain = made(
        {
            NOTE: """## Procedures
- Release the kraken ^m-00000001
    1. Prepare
        1. fetch the key
        2. open the gate
    2. Release
       and wait for the splash
        - from afar
    3. Close
"""
        }
    )
    said = brain.context("release the kraken", format="codex")
    assert (
        """Release the kraken
  | 1. Prepare
  |    1. fetch the key
  |    2. open the gate
  | 2. Release
  |    and wait for the splash
  |     - from afar
  | 3. Close
"""
        in said.text
    )


def test_summaries_and_tasks(made: Made) -> None:
    tasks = {"tasks": [
        {"id": "T-1", "status": "pending", "priority": 2, "description": "Paint the fence"},
        {"id": "T-2", "status": "completed", "priority": 1, "description": "Buy paint"},
        {"id": "T-3", "status": "in_progress", "priority": 1, "description": "Mend the gate"},
    ]}  # fmt: skip
    brain = made({
        NOTE: "## Session Summaries\n### 2026-02-05\n- Talked about gates ^m-00000001\n",
        "40_Brain/tasks.json": json.dumps(tasks),
    })  # fmt: skip
    said = brain.context("fences")
    assert shown(said, "summaries") == ["m-00000001"]
    assert shown(said, "bridge") == []
    assert shown(brain.context("fences", tasks=True), "bridge") == ["T-3", "T-1"]


def test_what_is_superseded_gives_way(made: Made) -> None:
    """The old words are asked for, the new memory comes."""
    brain = made({NOTE: bullets(
        "Deploys happen on Tuesdays ^m-00000001",
        "Releases go out on Fridays [supersedes:: [[#^m-00000001]]] ^m-00000002",
    )})  # fmt: skip
    said = brain.context("deploys tuesdays")
    assert shown(said) == ["m-00000002"]
    (one,) = serialize.context(said)["memories"]
    assert one["via"] == "supersedes m-00000001"


def test_contradictions_travel_in_pairs(made: Made) -> None:
    brain = made({NOTE: bullets(
        "Always feed the walrus at noon ^m-00000001",
        "Never do so then [contradicts:: [[#^m-00000001]]] ^m-00000002",
        *(f"filler about birds {n} ^m-1000000{n}" for n in range(5)),
    )})  # fmt: skip
    said = brain.context("feed the walrus")
    assert shown(said)[:2] == ["m-00000001", "m-00000002"]
    assert said.text.count("⚠ CONFLICT") == 1


def test_a_marker_quotes_words_and_no_fields(made: Made) -> None:
    brain = made({
        NOTE: bullets("Never eat cheese [trigger:: cheese] ^m-00000001", heading="Never")
        + bullets("Cheese is fine [contradicts:: [[#^m-00000001]]] ^m-00000002")
    })  # fmt: skip
    said = brain.context("cheese")
    assert '#m-00000001 says "Never eat cheese" but' in said.text
    assert '#m-00000002 says "Cheese is fine".' in said.text
    assert "::" not in said.text


@pytest.mark.parametrize("format", ["claude", "gemini", "codex", "json"])
def test_what_comes_unasked_is_not_shown_as_one_side_either(made: Made, format: str) -> None:
    """Pinned memories, warnings and summaries that are contradicted."""
    brain = made({
        NOTE: bullets("Reply in French #pinned ^m-00000001")
        + bullets("Never eat cheese [trigger:: cheese] ^m-00000002", heading="Never")
        + bullets("We chose the boat ^m-00000003", heading="Session Summaries")
        + bullets(
            *(f"{said} [contradicts:: [[#^m-0000000{n}]]] ^m-1000000{n}" for n, said in
              ((1, "Reply in German"), (2, "Cheddar is fine"), (3, "We chose the plane"))),
            *(f"filler {n}" for n in range(9)),
        )
    })  # fmt: skip
    said = brain.context("hello cheese", format=format)
    assert [shown(said, part) for part in ("pinned", "warnings", "summaries")] == [
        ["m-00000001"], ["m-00000002"], ["m-00000003"],
    ]  # fmt: skip
    assert sorted(shown(said)) == ["m-10000001", "m-10000002", "m-10000003"]
    assert said.text.count("⚠ CONFLICT") == 3
    assert said.text.count("Reply in German") == 2  # once in the marker
    named = {piece.id: piece.conflicts for piece in said.fitted.package.memories}
    assert named == {f"m-1000000{n}": (f"m-0000000{n}",) for n in (1, 2, 3)}


def test_what_is_superseded_does_not_come_back_by_a_contradiction(made: Made) -> None:
    brain = made({NOTE: bullets(
        "oil is blue [contradicts:: [[#^m-00000002]]] ^m-00000001", "oil is red ^m-00000002",
        "oil is green now [supersedes:: [[#^m-00000002]]] ^m-00000003",
        *(f"filler {n}" for n in range(5)),
    )})  # fmt: skip
    for question in ("oil red", "oil blue"):
        said = brain.context(question)
        assert sorted(shown(said)) == ["m-00000001", "m-00000003"]
        assert "CONFLICT" not in said.text
        assert "contradicts" not in said.text


def test_a_warning_that_is_pinned_comes_once(made: Made) -> None:
    line = "Never eat cheese #pinned [trigger:: cheese] ^m-00000001"
    brain = made({NOTE: bullets(line, heading="Never")})
    said = brain.context("cheese")
    assert (shown(said, "warnings"), shown(said, "pinned")) == (["m-00000001"], [])
    assert shown(brain.context("bread"), "pinned") == ["m-00000001"]


def test_what_is_tied_comes_along(made: Made) -> None:
    brain = made({NOTE: bullets(
        "The walrus eats clams [[#^m-00000002]] ^m-00000001", "Feed only at noon ^m-00000002",
        "Bread is baked ^m-00000003",
    )})  # fmt: skip
    said = serialize.context(brain.context("walrus"))
    assert [one["id"] for one in said["memories"]] == ["m-00000001", "m-00000002"]
    assert said["memories"][1]["handed"] > 0
    assert "m-00000001" in said["memories"][1]["via"]


def test_no_session_has_more_than_its_share(made: Made) -> None:
    brain = made({NOTE: bullets("seals bark")})
    other = brain.remember("walrus by hand", date=False)
    for n in range(4):
        brain.remember(f"walrus fact number {n}", session="s1", date=False)
    said = brain.context("walrus")
    sessions = [piece.session for piece in said.fitted.package.memories]
    assert sessions.count("s1") == 2
    assert other.id in shown(said)


def test_the_weakest_are_dropped_and_a_few_kept(made: Made) -> None:
    lines = [f"walrus {'clam ' * n} ^m-{n:08d}" for n in range(20)]
    brain = made({NOTE: bullets(*lines)})
    assert len(shown(brain.context("walrus clam"))) == 5
    few = made({NOTE: bullets(*lines[:4])})
    assert len(shown(few.context("walrus clam"))) == 3  # of four, 30 % by count is one


@pytest.mark.parametrize(
    ("line", "open_file", "factor"),
    [
        ("see `src/app.py` for it", "/home/me/project/src/app.py", 1.5),
        ("see [[Design/Walrus]] for it", "Design/Walrus.md", 1.5),
        ("see [[Walrus]] for it", "Design/Walrus.md", 1.5),
        ("see it [files:: lib/a.rs, lib/b.rs]", "lib/b.rs", 1.5),
        ("see `src/app.py` for it", "src/other.py", 1.2),
        ("see `src/app.py` for it", "lib/other.py", 1.0),
        ("see `the app` for it", "app", 1.0),
    ],
)
def test_a_file_that_is_open_counts(made: Made, line: str, open_file: str, factor: float) -> None:
    brain = made({NOTE: bullets(f"{line} file ^m-00000001", *["filler"] * 3)})
    (one,) = serialize.context(brain.context("see the file for it", files=[open_file]))["memories"]
    assert one["fitness"]["affinity"] == factor


def test_status_kind_and_use_count(made: Made) -> None:
    brain = made({NOTE: bullets("walrus a #candidate ^m-00000001", "walrus b ^m-00000002")
                  + bullets("walrus c ^m-00000003", heading="Key Decisions")})  # fmt: skip
    memories = serialize.context(brain.context("walrus"))["memories"]
    fitness = {o["id"]: o["fitness"] for o in memories}
    assert fitness["m-00000001"]["status"] == 0.8
    assert fitness["m-00000003"]["kind"] == 1.3
    brain.journal_write()
    again = {o["id"]: o["fitness"] for o in serialize.context(brain.context("walrus"))["memories"]}
    assert again["m-00000002"]["use"] == pytest.approx(1.05)  # it was in a prompt once
    assert again["m-00000002"]["access"] == pytest.approx(1.5)


def test_the_same_question_has_the_same_answer(made: Made) -> None:
    """Hits that wait on this machine are no part of the vault: they count once they are flushed."""
    lines = [f"walrus fact {number} ^m-0000000{number}" for number in range(9)]
    brain = made({NOTE: bullets(*lines), "40_Brain/brain.yaml": "topK: 3\n"})
    first = brain.context("walrus")
    for ref in first.refs:
        brain.reinforce(ref)
    second, third = brain.context("walrus"), brain.context("walrus")
    assert second.text == third.text
    (brain.vault.paths.folder / "brain.db").unlink()
    assert brain.context("walrus").text == second.text


def test_a_guess_is_worth_less(made: Made) -> None:
    brain = made({})
    sure = brain.remember("walrus likes fish", source="user_stated").id
    guess = brain.remember("walrus likes squid", source="inferred").id
    found = {o["id"]: o for o in serialize.context(brain.context("walrus likes"))["memories"]}
    assert (found[sure]["fitness"]["trust"], found[guess]["fitness"]["trust"]) == (1.0, 0.6)
    assert found[sure]["score"] > found[guess]["score"]


def test_a_prompt_tells_the_confidence_that_show_tells(made: Made) -> None:
    brain = made({NOTE: bullets("2025-12-01: walrus ^m-00000001")})
    (piece,) = brain.context("walrus").fitted.package.memories
    assert piece.confidence == pytest.approx(0.5**3, rel=0.02)  # 90 days, half in 30
    brain.refresh()
    assert brain.show("m-00000001").confidence == pytest.approx(piece.confidence, rel=0.1)


def own(one: dict[str, Any]) -> float:
    """What an entry is worth by itself."""
    if not one["factors"]:
        return 0.0
    return order(one["factors"]) * math.prod(one["fitness"].values())


def score(one: dict[str, Any]) -> float:
    """What the score must be, by all that is told of it and of the one that handed it on."""
    if not (giver := one.get("giver")):
        assert one["handed"] == 0
        return own(one)
    assert giver["score"] == pytest.approx(score(giver))
    ways = math.prod(step["weight"] * step["decay"] for step in giver["steps"])
    assert one["handed"] == pytest.approx(giver["score"] * ways)
    return max(own(one), giver["score"] * ways)


def test_every_score_follows_from_what_is_shown(made: Made) -> None:
    brain = made({NOTE: bullets(
        *(f"walrus {n} #sea [[Notes]] ^m-{n:08d}" for n in range(9)), "seals ^m-00000010",
    ), "Notes.md": "# Notes\n\nAll about the walrus.\n"})  # fmt: skip
    brain.reinforce("m-00000003")
    said = serialize.context(brain.context("walrus notes", files=["Notes.md"]))
    assert len(said["memories"]) == 5
    for one in said["memories"]:
        assert one["score"] == pytest.approx(score(one))


_REF = st.sampled_from([f"m-{n:08d}" for n in range(8)])
_LINE = st.tuples(
    st.sampled_from(["walrus eats", "walrus", "seal", "old seal walrus"]),
    st.sampled_from(["", "#sea", "#pinned", "#sea #ice", "[trigger:: walrus]"]),
    st.sampled_from(["", "relates_to", "supersedes", "contradicts", "link"]),
    _REF,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(_LINE, min_size=2, max_size=8), st.sampled_from(["walrus", "does it eat seal"]))
def test_every_score_follows_whatever_hands_it_on(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, ...]], question: str
) -> None:
    root = tmp_path_factory.mktemp("vault")
    said = {"": "", "link": "[[#^{}]]"}
    rows = [
        f"- {words} {mark} {said.get(tie, f'[{tie}:: [[#^{{}}]]]').format(to)} ^m-{n:08d}\n"
        for n, (words, mark, tie, to) in enumerate(lines)
    ]
    (root / "40_Brain").mkdir()
    (root / "40_Brain/brain.yaml").write_text("")
    half = len(rows) // 2
    text = "".join(["## Never\n", *rows[:half], "## Facts\n", *rows[half:]])
    (root / NOTE).write_text(text)
    with kit.open_brain(root, root / "state") as brain:
        told = serialize.context(brain.context(question))
    for one in (*told["memories"], *told["warnings"], *told["pinned"]):
        assert one["score"] == pytest.approx(score(one))


def test_the_same_answer_also_after_a_rebuild(made: Made) -> None:
    brain = made({NOTE: bullets(*(f"walrus {n} #sea ^m-{n:08d}" for n in range(30)))})
    first = brain.context("walrus 7").text
    (brain.vault.paths.root / "a.md").write_text("walrus\n")
    brain.sync()
    (brain.vault.paths.root / "a.md").unlink()
    brain.sync()
    brain.sync(rebuild=True)
    for _ in range(2):
        assert _as_if_new(brain).context("walrus 7").text == first


def _as_if_new(brain: Brain) -> Brain:
    """Without the hits of former recalls."""
    brain.vault.state.close()
    for path in Path(brain.vault.paths.state_path).glob("state.db*"):
        path.unlink()
    return brain


# -- who may see what ----------------------------------------------------------------------------


@pytest.fixture
def zoo(made: Made) -> Brain:
    return made({
        NOTE: bullets("the walrus is everybody's ^m-00000001"),
        "40_Brain/projects/zoo/agent/AGENT.md": AGENT,
        ZOO: bullets("the walrus of the zoo ^m-00000002"),
        "40_Brain/agents/other/AGENT.md": AGENT.replace("zoo", "other"),
        "40_Brain/agents/other/MEMORY.md": bullets("a secret walrus #pinned ^m-00000003"),
    })  # fmt: skip


def test_an_agent_gets_its_own_and_the_admins(zoo: Brain) -> None:
    for said in (zoo.context("walrus", by="zoo"), zoo.context("walrus", agent="zoo")):
        assert sorted(shown(said)) == ["m-00000001", "m-00000002"]
        assert shown(said, "pinned") == []
        assert "secret" not in said.text
        tiers = {piece.id: piece.tier for piece in said.fitted.package.memories}
        assert tiers == {"m-00000001": "global", "m-00000002": "project"}
    assert shown(zoo.context("walrus"), "pinned") == ["m-00000003"]


def test_nobody_supersedes_for_others(made: Made) -> None:
    brain = made({
        NOTE: bullets("the walrus is everybody's ^m-00000001"),
        "40_Brain/projects/zoo/agent/AGENT.md": AGENT,
        ZOO: bullets("mine [supersedes:: [[40_Brain/MEMORY#^m-00000001]]] ^m-00000002"),
    })  # fmt: skip
    found = [hit.row.ref for hit in brain.search("walrus").results]
    assert found == ["m-00000001"]
    assert shown(brain.context("walrus"))[0] == "m-00000001"
    assert [hit.row.ref for hit in brain.search("walrus", by="zoo").results] == []
    assert shown(brain.context("walrus", by="zoo")) == ["m-00000002"]


# -- limits and settings -------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0, 1, 30, 100, 400, 5000])
@pytest.mark.parametrize("format", ["claude", "gemini", "codex", "opencode", "json"])
def test_the_budget_is_never_exceeded(zoo: Brain, budget: int, format: str) -> None:
    said = zoo.context("walrus", budget=budget, format=format)
    assert said.fitted.tokens <= budget
    assert said.fitted.allocation.total <= budget


def test_it_can_be_turned_off(vault: MakeVault, opened: OpenBrain) -> None:
    for setting in ("autoInject: false", "memory: false"):
        root = vault({NOTE: bullets("walrus #pinned"), "40_Brain/brain.yaml": f"{setting}\n"})
        brain = opened(root)
        assert brain.context("walrus").fitted.package.pinned == ()
        assert brain.gaps().gaps == []


def test_bad_requests(made: Made) -> None:
    brain = made({})
    with pytest.raises(BadRequest, match="The question is empty"):
        brain.context("  ")
    with pytest.raises(BadRequest, match="no format 'poem'"):
        brain.context("x", format="poem")
    with pytest.raises(BadRequest, match="no scope 'everything'"):
        brain.context("x", scopes=["everything"])


def test_other_scopes_on_request(made: Made) -> None:
    turn = '{"id": "t1", "role": "user", "content": "the walrus spoke"}\n'
    brain = made({"40_Brain/sessions/s.jsonl": turn, "a.md": "a walrus\n"})
    assert excerpts(brain.context("walrus")) == ["a walrus"]
    assert excerpts(brain.context("walrus", scopes=["sessions"])) == ["the walrus spoke"]
    assert sorted(excerpts(brain.context("walrus", scopes=["all"]))) == [
        "a walrus", "the walrus spoke",
    ]  # fmt: skip


def test_a_reranker_has_the_last_word(made: Made) -> None:
    brain = made({NOTE: bullets(*(f"walrus {n} ^m-{n:08d}" for n in range(4)))})

    def backwards(query: str, found: list[Any]) -> list[Any]:
        assert query == "walrus"
        return [one for one in reversed(found) if one.row.ref != "m-00000000"]

    assert shown(brain.context("walrus", rerank=backwards)) == [
        "m-00000003", "m-00000002", "m-00000001",
    ]  # fmt: skip
    brain.journal_write()
    assert brain.show("m-00000000").confidence_factors["feedback"] == pytest.approx(-0.02)


# -- what is learned -----------------------------------------------------------------------------


def test_what_is_in_a_prompt_is_a_hit(made: Made) -> None:
    brain = made({NOTE: bullets("walrus ^m-00000001", "seal ^m-00000002")})
    before = {path.name for path in brain.vault.paths.folder.rglob("*") if path.is_file()}
    brain.context("walrus")
    brain.context("walrus")
    brain.refresh()
    assert brain.show("m-00000001").hits == 2
    assert brain.show("m-00000002").hits == 0
    after = {path.name for path in brain.vault.paths.folder.rglob("*") if path.is_file()}
    assert {name for name in after - before if not name.startswith("brain.db")} == set()
    assert brain.journal_write() == 3  # the hits, and two memories that were seen
    brain.sync(rebuild=True)
    assert brain.show("m-00000001").hits == 2


def test_what_was_useful_together_is_tied(made: Made) -> None:
    brain = made({NOTE: bullets("walrus clams ^m-00000001", "walrus noon ^m-00000002")})
    assert brain.gaps().tags == []
    brain.context("walrus")
    brain.reinforce("m-00000001")
    brain.reinforce("m-00000002")
    brain.refresh()
    ties = brain.graph("m-00000001").edges
    assert "learned" in [edge["type"] for edge in ties]
    assert brain.gaps().tags == [
        TagSuggestion(tag="walrus", ids=["m-00000001", "m-00000002"], query="walrus")
    ]


def test_questions_without_an_answer(made: Made) -> None:
    brain = made({NOTE: bullets("walrus ^m-00000001")})
    brain.context("Who flies the zeppelin?")
    brain.context("who flies the  zeppelin")
    brain.context("walrus")
    (gap,) = brain.gaps().gaps
    assert (gap.query, gap.count, gap.open) == ("Who flies the zeppelin?", 2, True)
    brain.journal_write()
    assert [one.count for one in brain.gaps().gaps] == [2]
    brain.remember("Jonas flies the zeppelin")
    assert brain.gaps().gaps == []
    assert [one.open for one in brain.gaps(all=True).gaps] == [False]


def test_what_others_know_fills_no_gap(zoo: Brain) -> None:
    """What was asked for an agent is open until that agent finds something."""
    zoo.context("zeppelin", agent="zoo")
    (zoo.vault.paths.folder / "agents/other/MEMORY.md").write_text("- the zeppelin flies\n")
    assert [gap.query for gap in zoo.gaps().gaps] == ["zeppelin"]
    (zoo.vault.paths.root / ZOO).write_text("- the zeppelin is ours\n")
    assert zoo.gaps().gaps == []


def test_a_question_whose_every_answer_was_demoted_is_a_gap(made: Made) -> None:
    brain = made({NOTE: bullets("walrus one ^m-00000001", "walrus two ^m-00000002")})
    brain.context("walrus")
    brain.demote("m-00000001")
    assert brain.gaps(all=True).gaps == []
    brain.demote("m-00000002")
    assert [one.query for one in brain.gaps(all=True).gaps] == ["walrus"]


def test_no_secret_is_kept_of_a_question(made: Made) -> None:
    token = "gh" + "p_" + "0123456789abcdefghijABCDEFGHIJ012345"
    brain = made({})
    brain.context(f"who uses {token}")
    for path in Path(brain.vault.paths.state_path).iterdir():
        assert token not in path.read_text(errors="replace"), path.name
    assert "[redacted:" in brain.gaps().gaps[0].query


SEA = {
    NOTE: bullets("walrus clams ^m-00000001", "bread oven ^m-00000002", "tea #pinned ^m-00000003"),
    "Walrus.md": "# Walrus\n\nThe walrus has tusks.\n",
}


def test_rounds_and_topics(made: Made) -> None:
    brain = made(SEA)
    first = brain.context("walrus clams", session="s1")
    second = brain.context("more walrus", session="s1")
    assert (first.round.number, first.round.shown) == (1, ())
    assert second.round.number == 2
    assert {"m-00000001", "m-00000003"} < set(second.round.shown)
    assert brain.context("bread oven", session="s1").round.number == 1
    assert brain.context("bread oven", session="s2").round.number == 1


@pytest.mark.parametrize("format", ["claude", "gemini", "codex", "json"])
def test_what_a_session_has_seen_is_not_shown_again(made: Made, format: str) -> None:
    brain = made(SEA)
    first = brain.context("walrus clams", session="s1", format=format)
    assert {"m-00000001", "m-00000003"} < set(first.shown)
    assert "1 about this topic" in first.text
    second = brain.context("walrus clams", session="s1", format=format)
    assert second.shown == []
    assert second.text.count("\n") == 0
    assert "2 about this topic. Nothing new. 3 entries shown before are left out." in second.text
    assert brain.context("walrus clams", format=format).shown == first.shown  # without a session
    again = brain.context("walrus clams", session="s1", again=True, format=format)
    assert (again.shown, again.round.number) == (first.shown, 1)


def test_a_note_is_named_once_in_a_session(made: Made) -> None:
    section = "## Part {at} {n}\n\n" + "The walrus swims far. " * 22 + "\n\n"
    notes = {
        f"N{at}.md": f"# N{at}\n\n" + "".join(section.format(at=at, n=n) for n in range(3))
        for at in range(30)
    }
    brain = made({NOTE: "", **notes})
    named: list[str] = []
    for _ in range(4):
        package = brain.context("walrus swims", session="s1", budget=900).fitted.package
        named += [part.path for part in package.further]
        assert package.notes  # the text of a note may follow its name
    assert len(named) == len(set(named)) > 5


def test_a_note_without_text_is_only_named(made: Made) -> None:
    brain = made({NOTE: "", "Blue heron.md": "", "Walrus.md": "The walrus met a blue heron.\n"})
    said = brain.context("blue heron", session="s1")
    assert excerpts(said) == ["The walrus met a blue heron."]
    assert shown(said, "further") == [""]
    assert "Blue heron.md" in said.text
    assert brain.context("blue heron", session="s1").text.count("\n") == 0


def test_what_is_related_to_an_entry_is_offered_once(made: Made) -> None:
    """A later round has no memories that only share a tag with one of an earlier round."""
    others = (f"Filler {n} of the pond #pond ^m-1000000{n}" for n in range(9))
    brain = made({NOTE: bullets("The walrus eats clams #pond ^m-00000001", *others)})
    first = brain.context("walrus clams", session="s1")
    assert shown(first)[0] == "m-00000001"
    assert len(shown(first)) == 5
    second = brain.context("walrus clams", session="s1")
    assert shown(second) == []


def test_a_later_round_returns_what_is_new(made: Made) -> None:
    brain = made(SEA)
    brain.context("walrus clams", session="s1")
    brain.remember("The walrus sleeps on ice", date=False)
    second = brain.context("walrus clams ice", session="s1")
    assert len(second.shown) == 1
    assert "sleeps on ice" in second.text
    assert brain.gaps(all=True).gaps == []


@pytest.mark.parametrize("prompt", ["yes, go on", "thanks", "ok, please continue"])
def test_a_prompt_without_content_gets_nothing_and_changes_no_topic(
    made: Made, prompt: str
) -> None:
    brain = made(SEA)
    brain.context("walrus clams", session="s1")
    said = brain.context(prompt, session="s1")
    assert (said.text, said.notes) == ("", (NO_CONTENT,))
    assert brain.context("walrus clams", session="s1").round.number == 2


def test_what_had_no_room_is_named(made: Made) -> None:
    brain = made({NOTE: bullets(*(f"walrus {'clam ' * 60} {n} ^m-{n:08d}" for n in range(7)))})
    said = brain.context("walrus clam", session="s1", budget=600)
    assert "No room for m-0000000" in said.text


def test_two_passages_of_the_first_notes_and_names_of_further_ones(made: Made) -> None:
    section = "## Part {at} {n}\n\n" + "The walrus swims far. " * 22 + "\n\n"
    notes = {
        f"N{at}.md": f"# N{at}\n\n" + "".join(section.format(at=at, n=n) for n in range(3))
        for at in range(30)
    }
    said = made({NOTE: "", **notes}).context("walrus swims", budget=1500)
    package = said.fitted.package
    assert [len(note.passages) for note in package.notes][:2] == [2, 2]
    assert {len(note.passages) for note in package.notes[2:]} <= {1}
    assert len(package.further) > 5
    assert said.fitted.tokens > 1_300
    for note in package.notes:
        assert said.text.count(note.path) == 1


def test_a_small_budget_has_the_text_of_the_best_note(made: Made) -> None:
    brain = made({NOTE: "", "Walrus.md": "The walrus eats clams near the shore. " * 6 + "\n"})
    said = brain.context("what does the walrus eat", budget=200)
    assert excerpts(said) == [("The walrus eats clams near the shore. " * 6).strip()]
    assert shown(said, "further") == []


def test_notes_that_are_much_weaker_than_the_best_one_are_left_out(made: Made) -> None:
    weak = {
        f"N{n}.md": f"The clam of day {n}, and more words about another thing.\n" for n in range(9)
    }
    other = {f"F{n}.md": "An empty page.\n" for n in range(9)}
    brain = made({NOTE: "", "Walrus.md": "Walrus tusks crack clams.\n", **weak, **other})
    assert len(brain.search("which clams do the walrus tusks crack").results) == 10
    said = brain.context("which clams do the walrus tusks crack")
    assert [part.path for part in said.fitted.package.notes] == ["Walrus.md"]
    assert shown(said, "further") == []


def test_an_item_shows_its_title_and_its_citation(made: Made) -> None:
    item = {"id": "item_1", "type": "decision", "title": "Tides", "content": "Feed at low water."}
    item |= {"sourceFile": "Sea.md", "lineNumber": 7, "confidence": 0.5}
    brain = made({"40_Brain/projects/zoo/items.json": json.dumps([item])})
    said = brain.context("tides", format="codex")
    assert "Tides: Feed at low water." in said.text
    assert "Sea.md:7" in said.text
    (one,) = serialize.context(said)["memories"]
    assert (one["fitness"]["trust"], one["fitness"]["confidence"]) == (0.8, 0.75)
    assert one["fitness"]["kind"] == 1.3


def test_a_scope_restricts_all_that_is_shown(made: Made) -> None:
    tasks = {"tasks": [{"id": "T-1", "status": "open", "description": "walrus bath"}]}
    brain = made({
        NOTE: bullets("walrus #pinned ^m-00000001", "walrus eats ^m-00000002")
        + bullets("no walrus jokes [trigger:: walrus] ^m-00000003", heading="Never")
        + bullets("Talked about it ^m-00000004", heading="Session Summaries"),
        "Walrus.md": "# Walrus\n\nThe walrus has tusks.\n",
        "40_Brain/tasks.json": json.dumps(tasks),
    })  # fmt: skip
    notes = brain.context("walrus", scopes=["sources"], tasks=True)
    assert [part.path for part in notes.fitted.package.notes] == ["Walrus.md"]
    assert notes.shown[1:] == ["Walrus.md"]
    both = brain.context("walrus", scopes=["tasks"], tasks=True)
    assert both.shown == ["T-1"]  # once


def test_a_procedure_is_found_by_its_trigger(made: Made) -> None:
    brain = made({
        NOTE: "## Procedures\n- Roll out [trigger:: deploy to production]"
        " [prerequisites:: tests pass] [warnings:: never on Fridays] ^m-00000001\n"
        "    1. Tag\n    2. Push\n"
    })  # fmt: skip
    said = brain.context("please deploy to production", format="codex")
    (part,) = said.fitted.package.memories
    assert (part.id, part.trigger, part.steps) == (
        "m-00000001", "deploy to production", ("Tag", "Push"),
    )  # fmt: skip
    assert "Prerequisites: tests pass" in said.text
    assert "Warnings: never on Fridays" in said.text
    assert brain.gaps(all=True).gaps == []


def test_an_agent_may_judge_whatever_it_was_handed(made: Made) -> None:
    item = {"id": "item_1", "title": "Tides", "content": "walrus at low water"}
    turn = '{"id": "t1", "role": "user", "content": "the walrus spoke"}\n'
    brain = made({
        "40_Brain/projects/zoo/agent/AGENT.md": AGENT, ZOO: bullets("a walrus ^m-00000001"),
        "40_Brain/projects/zoo/items.json": json.dumps([item]),
        "40_Brain/projects/zoo/agent/sessions/s.jsonl": turn,
        "Walrus.md": "# Walrus\n\nThe walrus has tusks.\n",
    })  # fmt: skip
    for scope in ("memory", "items", "sessions"):
        for id in brain.context("walrus", scopes=[scope], by="zoo").shown:
            assert brain.reinforce(id, by="zoo").outcome == "reinforced"
            assert brain.demote(id, by="zoo").outcome == "demoted"
    passage, _ = brain.context("walrus", scopes=["sources"]).shown
    before = brain.vault.paths.folder / "journal"
    count = sum(path.read_text().count(passage) for path in before.rglob("*.jsonl"))
    assert brain.demote(passage).outcome == "demoted"
    assert count == sum(path.read_text().count(passage) for path in before.rglob("*.jsonl")) == 0


def test_the_demo_answers_with_the_memory_about_frost(tmp_path: Path, opened: OpenBrain) -> None:
    new_vault.create_demo(tmp_path / "garden")
    said = opened(tmp_path / "garden").context("when is the last frost?")
    first, *_ = memories = said.fitted.package.memories
    assert "Frost" in first.text
    assert said.text.index("[id:") == said.text.index(f"[id:{first.id}]")
    assert any("safe day for tender plants is 14 May" in part.text for part in memories)
    assert "lost its last column" not in said.text


def test_slow_recalls_look_at_less_and_say_so(made: Made) -> None:
    brain = made({NOTE: bullets(*(f"walrus {n} ^m-{n:08d}" for n in range(20)))})
    state = brain.vault.state
    brain.context("walrus")

    def took(*times: float, degraded: bool = False) -> Context:
        state.delete(Recall)
        last = {"query": "", "refs": [], "by": "", "agent": "", "session": ""}
        for ms in times:
            state.add_recall(ms, last, 100)
        state.set_flag("degraded", "1" if degraded else "")
        brain.context("walrus")
        return brain.context("walrus")

    assert took(900, 900, 900, 900, degraded=False).degraded  # with its own, five
    slow = took(*[900] * 50, degraded=True)
    assert "900 ms" in slow.degraded
    assert len(shown(slow)) == 4  # of five, 30 % are dropped
    assert not took(900, 900).degraded  # too few to tell
    assert not took(*[10] * 100, degraded=True).degraded
    assert took(*[250] * 100, degraded=True).degraded  # not healthy yet
    assert not took(*[250] * 100).degraded


def test_reading_is_told(made: Made) -> None:
    brain = made({NOTE: bullets("walrus ^m-00000001")})
    heard: list[Any] = []
    brain.events.subscribe(heard.append)
    brain.context("walrus")
    (event,) = [one for one in heard if one.name == "memory:read"]
    assert (event.payload["type"], event.payload["path"]) == ("memory", NOTE)


def test_nothing_is_written_while_paused(made: Made) -> None:
    brain = made({NOTE: bullets("walrus ^m-00000001")})
    brain.pause()
    brain.context("walrus")
    brain.context("zeppelin")
    assert brain.vault.journal.pending_uses() == []
    assert brain.context("walrus").text


def test_a_note_is_shown_without_its_properties(made: Made) -> None:
    """Unless one of them is what answers."""
    text = "---\ntags: [sea]\nhabitat: arctic\n---\n\n# Walrus\n\nTusks and whiskers.\n"
    brain = made({NOTE: "", "Notes/Walrus.md": text})
    (note,) = brain.context("whiskers").fitted.package.notes
    (passage,) = note.passages
    assert (passage.text.strip(), passage.line) == ("# Walrus\n\nTusks and whiskers.", 6)
    (note,) = brain.context("arctic").fitted.package.notes
    assert (note.passages[0].text.strip(), note.passages[0].line) == (text.rstrip(), 1)


# -- what really fits ----------------------------------------------------------------------------


GARDEN = {
    NOTE: bullets(
        "The garden made more beans than we could eat ^m-00000001",
        "Tender plants may go out after 14 May ^m-00000002",
        "A good net looks tight over the cabbage ^m-00000003",
        *(f"Bed {n} holds kale and leek ^m-1{n:07d}" for n in range(9)),
    ),
    "Season.md": "# Season\n\nThe tomatoes were slow. Plants stood in the house until June, and the"
    " neighbour, who has a good eye, made a list of what looks weak.\n",
}  # fmt: skip


@pytest.mark.parametrize("question", [
    "how do I make sourdough bread", "thanks, looks good", "book a flight to Berlin",
    "please review my pull request", "what is the capital of France",
])  # fmt: skip
def test_what_does_not_fit_is_left_out(made: Made, question: str) -> None:
    brain = made(GARDEN)
    said = brain.context(question)
    assert (shown(said), said.text) == ([], "")
    nothing = ("The vault has nothing about this.", NO_CONTENT)
    assert said.notes in [(one,) for one in nothing]


@pytest.mark.parametrize(("question", "answer"), [
    ("when may tender plants go out?", "m-00000002"),
    ("how tight is the cabbage net?", "m-00000003"),
    ("beans", "m-00000001"),
    ("were the tomatoes slow?", "Season.md"),
])  # fmt: skip
def test_what_fits_is_there(made: Made, question: str, answer: str) -> None:
    said = made(GARDEN).context(question)
    package = said.fitted.package
    assert answer in {name for p in (*package.memories, *package.notes) for name in (p.id, p.path)}


def test_in_a_small_vault_a_word_that_all_hold_still_says_something(made: Made) -> None:
    brain = made({NOTE: bullets(*(f"the walrus {word}" for word in ("eats", "swims", "sleeps")))})
    assert len(shown(brain.context("walrus, obey"))) == 3


def test_a_question_that_nothing_fits_is_a_gap_until_something_does(made: Made) -> None:
    brain = made(GARDEN)
    brain.context("how do I make sourdough bread")
    assert [gap.query for gap in brain.gaps().gaps] == ["how do I make sourdough bread"]
    brain.remember("Sourdough bread wants a day of rest")
    assert brain.gaps().gaps == []


@pytest.mark.parametrize("question", ["..", "\n.", "thanks, looks good", "why not?"])
def test_a_question_that_asks_for_nothing_is_no_gap(made: Made, question: str) -> None:
    brain = made(GARDEN)
    brain.context(question)
    assert brain.gaps(all=True).gaps == []


def test_a_memory_comes_before_a_note_that_fits_as_well(made: Made) -> None:
    brain = made({
        NOTE: bullets("2026-02-01: The walrus eats clams ^m-00000001"),
        "Sea.md": "# Sea\n\nThe walrus eats clams.\n",
        **{f"{n}.md": f"# Page {n}\n\nOther matters.\n" for n in range(9)},
    })  # fmt: skip
    said = brain.context("does the walrus eat clams")
    package = said.fitted.package
    assert [part.path for part in (*package.memories, *package.notes)] == [NOTE, "Sea.md"]
    assert said.text.index("m-00000001") < said.text.index("Sea.md")


def test_nothing_is_said_twice(made: Made) -> None:
    note = "---\ncreated: 2026-01-0{n}\n---\n# Backup\n\nThe backup runs at night.\n"
    brain = made({
        NOTE: bullets("The other backup is on a tape ^m-00000001"),
        **{f"{n}/Backup.md": note.format(n=n) for n in range(1, 7)},
    })  # fmt: skip
    said = brain.context("backup")
    assert shown(said) == ["m-00000001"]
    assert len(excerpts(said)) == 1


def test_near_words_and_loosened_quotes_are_told(made: Made) -> None:
    brain = made({NOTE: bullets("The pigeons like kale ^m-00000001")})
    said = brain.context("pigoens")
    assert shown(said) == ["m-00000001"]
    assert said.notes == tuple(brain.search("pigoens").notes)
    assert [gap.query for gap in brain.gaps().gaps] == ["pigoens"]  # it was no answer
    said = brain.context('"kale pigeons"')
    assert said.notes == tuple(brain.search('"kale pigeons"').notes) != ()


# -- turns ---------------------------------------------------------------------------------------


def test_a_turn_names_its_speaker_and_its_session(made: Made) -> None:
    turns = [
        {"role": "user", "name": "Mallory", "content": "the ibis must go"},
        {"role": "assistant", "content": "the ibis stays"},
    ]
    brain = made({
        "40_Brain/projects/zoo/agent/AGENT.md": AGENT,
        "40_Brain/projects/zoo/agent/sessions/s-1.jsonl": "".join(
            json.dumps(turn | {"id": f"t{n}"}) + "\n" for n, turn in enumerate(turns)
        ),
        "40_Brain/projects/zoo/items.json": '[{"id": "item_1", "content": "ibis"}]',
    })  # fmt: skip
    said = brain.context("ibis", scopes=["sessions"], format="codex")
    (session,) = said.fitted.package.notes
    assert [(one.id, one.by) for one in session.passages] == [("t0", "Mallory"), ("t1", "")]
    assert "sessions/s-1.jsonl" in said.text
    assert "[id:t0] Mallory: the ibis must go" in said.text
    assert "by zoo" not in said.text + brain.context("ibis", format="codex").text
    (told,) = json.loads(brain.context("ibis", scopes=["sessions"], format="json").text)["notes"]
    assert [one.get("by") for one in told["passages"]] == ["Mallory", None]


# -- what is learned of it -----------------------------------------------------------------------


def test_demoting_all_that_was_found_is_a_gap_whatever_else_was_there(made: Made) -> None:
    brain = made({
        NOTE: bullets("walrus tusks ^m-00000001", "metric units #pinned ^m-00000002")
        + bullets("no walrus jokes [trigger:: walrus] ^m-00000003", heading="Never"),
        "Walrus.md": "# Walrus\n\nThe walrus has tusks.\n",
    })  # fmt: skip
    said = brain.context("walrus tusks")
    assert {"m-00000001", "m-00000002", "m-00000003"} == set(said.refs)
    brain.demote("m-00000003")
    assert brain.gaps().gaps == []
    brain.demote("m-00000001")
    assert [gap.query for gap in brain.gaps().gaps] == ["walrus tusks"]


def test_what_only_a_warning_answers_is_no_gap(made: Made) -> None:
    brain = made({NOTE: bullets("ask first [trigger:: walrus] ^m-00000001", heading="Never")})
    assert shown(brain.context("may I feed a walrus"), "warnings") == ["m-00000001"]
    assert brain.gaps(all=True).gaps == []


# -- triggers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "text", "is_met"),
    [
        ("[trigger:: arr[0], C++]", "x = arr[0]", True),
        ("[trigger:: arr[0], C++]", "written in C++ today", True),
        ("[Trigger:: dbg!]", "a dbg! here", True),
        ("[triggers:: dbg!, print]", "a print here", True),
        ("[trigger:: foo(bar, baz)]", "call foo(bar, baz) now", True),
        ("[trigger:: foo(bar, baz)]", "a baz) alone", False),
        ("[trigger:: foo(, bar]", "a bar", True),
    ],
)
def test_triggers_hold_what_code_holds(made: Made, field: str, text: str, is_met: bool) -> None:
    brain = made({NOTE: bullets(f"never so {field} ^m-00000001", heading="Never")})
    said = brain.context("review this", text=text)
    assert shown(said, "warnings") == (["m-00000001"] if is_met else [])
    assert not is_met or said.fitted.package.warnings[0].text == "never so"


# -- a reranker, and tasks -----------------------------------------------------------------------


def test_a_reranker_that_fails_changes_nothing(made: Made) -> None:
    brain = made({NOTE: bullets("walrus one ^m-00000001", "walrus two ^m-00000002")})
    plain = shown(brain.context("walrus"))

    def broken(question: str, found: list[Any]) -> list[Any]:
        raise ValueError("no model")

    said = brain.context("walrus", rerank=broken)
    assert shown(said) == plain
    assert said.notes == (
        "The reranker failed (ValueError: no model); the original order is kept.",
    )
    for odd in (None, ["x"]):
        said = brain.context("walrus", rerank=lambda question, found, odd=odd: odd)
        assert shown(said) == plain
        assert len(said.notes) == 1
    assert said.recalled.rejected == []


def test_tasks_by_priority(made: Made) -> None:
    levels = ["low", "Medium", "urgent", "high", None]
    tasks = [
        {"id": f"T-{n}", "title": f"task {n}", "status": "open", "priority": level}
        for n, level in enumerate(levels)
    ]
    brain = made({"40_Brain/tasks.json": json.dumps({"tasks": tasks})})
    said = brain.context("fences", tasks=True)
    assert shown(said, "bridge") == ["T-2", "T-3", "T-1", "T-0", "T-4"]
