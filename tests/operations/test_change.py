"""Every verb: what it writes, what it answers, what is heard of it; in notes of every kind."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brain.api import Brain
from brain.errors import Ambiguous, BadRequest, Denied, NotFound, StaleFile
from brain.model import Event
from brain.operations import lookup
from tests import kit
from tests.operations.conftest import NOTE, Made, note

ID = "m-7f3k2ab4"
Verb = Callable[[Brain], dict[str, Any]]

# verb: (call, outcome, lines added, lines removed, as git counts them)
VERBS: dict[str, tuple[Verb, str, int, int]] = {
    "remember": (lambda b: b.remember("Seals bark", kind="decision"), "added", 1, 0),
    "update": (lambda b: b.update(ID, "Chose DuckDB"), "updated", 1, 1),
    "forget": (lambda b: b.forget(ID), "forgotten", 0, 1),
    "forget, nested": (lambda b: b.forget("short answers"), "forgotten", 0, 2),
    "pin": (lambda b: b.pin(ID), "pinned", 1, 1),
    "unpin": (lambda b: b.unpin("Deploys go"), "unpinned", 1, 1),
    "confirm": (lambda b: b.confirm("grey seals"), "confirmed", 1, 1),
    "tag": (lambda b: b.tag(ID, ["sql"], ["db"]), "tagged", 1, 1),
    "link": (lambda b: b.link(ID, "m-2b8xq1mz", as_="supersedes"), "linked", 1, 1),
    "link to a note": (lambda b: b.link(ID, "Walrus"), "linked", 1, 1),
    "move": (lambda b: b.move(ID, "User Preferences"), "moved", 1, 1),
    "reinforce": (lambda b: b.reinforce(ID), "reinforced", 0, 0),
    "demote": (lambda b: b.demote(ID), "demoted", 0, 0),
}
TEXT = """\
---
title: Memory  # mine
---
# Agent Memory

%% a person's remark %%

## Key Decisions
* 2026-02-01: Chose SQLite over PostgreSQL. [[Architecture]] #db ^m-7f3k2ab4
* Deploys go out on Tuesdays #pinned
*   Odd   spaces stay ^m-2b8xq1mz

## User Preferences
* Prefers short answers
\t* and no emoji
* Likes grey seals #candidate

## Table
| a | table |
|---|---|
| 1 | 2 |
"""
WAYS = {
    "plain": TEXT.encode(),
    "CRLF": TEXT.replace("\n", "\r\n").encode(),
    "BOM": b"\xef\xbb\xbf" + TEXT.encode(),
    "no newline at the end": TEXT.rstrip("\n").encode(),
    "CRLF and BOM": b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(),
}


def git(root: Path, *args: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x", "-c", "core.autocrlf=false"]
    done = subprocess.run(
        [*command, *args], cwd=root, capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", VERBS)
def test_a_diff_is_the_lines_it_is_about(made: Made, name: str, way: str) -> None:
    brain = made({**kit.VAULT, NOTE: WAYS[way]})
    root = brain.vault.paths.root
    git(root, "init", "-q")
    git(root, "add", NOTE)
    git(root, "commit", "-qm", "as it was")
    verb, outcome, added, removed = VERBS[name]
    assert verb(brain).outcome == outcome
    counted = git(root, "diff", "--numstat", "--", NOTE).split()
    assert [int(number) for number in counted[:2]] == ([added, removed] if added + removed else [])


@pytest.mark.parametrize("name", VERBS)
def test_the_answer_is_the_entry_as_it_stands(made: Made, name: str) -> None:
    brain = made({**kit.VAULT, NOTE: WAYS["CRLF"]})
    shape = VERBS[name][0](brain)
    assert shape.state == "written"
    assert shape.event.startswith("e-")
    if name.startswith("forget"):
        with pytest.raises(NotFound):
            brain.show(shape.id)
        return
    brain.refresh()
    shown = brain.show(shape.id)
    for key in ("text", "kind", "status", "tags", "path", "line", "end_line", "heading"):
        assert getattr(shown, key) == getattr(shape, key), key


# -- events --------------------------------------------------------------------------------------


def heard(brain: Brain) -> list[Event]:
    events: list[Event] = []
    brain.events.subscribe(lambda event: events.append(event))
    return events


@pytest.mark.parametrize("name", [name for name in VERBS if name not in ("reinforce", "demote")])
def test_a_write_is_heard_of_at_once_and_once(made: Made, name: str) -> None:
    brain = made({**kit.VAULT, NOTE: TEXT})
    brain.sync()
    events = heard(brain)
    shape = VERBS[name][0](brain)
    (event,) = [event for event in events if event.name == "memory:write"]
    delta = event.payload["delta"]
    assert shape.id in [entry["id"] for entries in delta.values() for entry in entries]
    brain.sync()
    brain.search("seals")
    assert len([event for event in events if event.name == "memory:write"]) == 1


def test_other_processes_hear_of_it_once(made: Made, tmp_path: Path) -> None:
    from brain import events

    brain = made()
    brain.sync()
    start = events.newest(brain.vault.index)
    shape = brain.remember("Seals bark")
    with kit.open_brain(brain.vault.paths.root, tmp_path / "state") as other:
        other.sync()
        brain.sync()
        told = [event for _, event in events.after(other.vault.index, start)]
    assert [event.name for event in told] == ["memory:write"]
    assert told[0].payload["delta"]["added"][0]["id"] == shape.id


def test_somebody_elses_change_beside_ours_is_heard_too(made: Made) -> None:
    brain = made()
    brain.sync()
    events = heard(brain)
    brain.remember("Seals bark")
    path = brain.vault.paths.root / NOTE
    path.write_text(path.read_text() + "- Written by hand\n")
    brain.sync()
    texts = [entry["text"] for event in events for entry in event.payload["delta"]["added"]]
    assert texts == ["2026-03-01: Seals bark", "Written by hand"]


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        ID,
        f"^{ID}",
        f"[id:{ID}]",
        f" {ID} ",
        "m-7f3k",
        "[[40_Brain/MEMORY#^m-7f3k2ab4]]",
        f"{NOTE}:4",
        "postgresql",
        "SQLite PostgreSQL",
    ],
)
def test_ids_in_every_spelling(brain: Brain, name: str) -> None:
    assert brain.tag(name, ["seen"]).id == ID


def test_words_that_several_have(made: Made) -> None:
    brain = made({NOTE: "- seals bark\n- seals sleep\n"})
    with pytest.raises(Ambiguous, match="matches 2 entries"):
        brain.pin("seals")
    assert brain.pin("seals sleep").text == "seals sleep #pinned"


def test_words_are_whole_words(made: Made) -> None:
    brain = made({NOTE: "- thing number 30\n- The cartel met Ann (again)\n- 南禅寺の湯豆腐\n"})
    for part in ("number 3", "art", "agai", "met", "cartelle", "豆腐湯", "南禅寺 tofu"):
        with pytest.raises(NotFound):
            brain.forget(part)
    assert brain.pin("NUMBER 30").line == 1
    assert brain.pin("met Ann").line == 2
    assert brain.pin("湯豆腐").line == 3


def test_an_id_that_an_entry_had_before_it_was_edited(made: Made) -> None:
    brain = made({NOTE: "- seals bark\n"})
    brain.sync()
    old = lookup.find(brain.vault, "seals").ref
    shape = brain.update(old, "seals sleep")
    assert shape.id == old


@pytest.mark.parametrize("name", ["TASK-1", "Architecture.md:1", "item_1"])
def test_what_is_no_memory_is_not_changed(brain: Brain, name: str) -> None:
    with pytest.raises(BadRequest, match="is not a memory"):
        brain.pin(name)


@pytest.mark.parametrize("name", ["m-zzzzzzzz", "nothing like it", "", "^"])
def test_what_is_not_there(brain: Brain, name: str) -> None:
    with pytest.raises(NotFound, match="no entry"):
        brain.forget(name)


# -- this and that -------------------------------------------------------------------------------


def test_nothing_to_change_changes_nothing(brain: Brain) -> None:
    before = note(brain)
    assert brain.pin("Deploys go").outcome == "unchanged"
    assert brain.unpin(ID).outcome == "unchanged"
    assert brain.confirm(ID).outcome == "unchanged"
    assert note(brain) == before
    assert brain.audit() == []


def test_a_link_writes_the_id_it_leads_to(brain: Brain) -> None:
    shape = brain.link(ID, "Deploys go")
    other = lookup.find(brain.vault, "Deploys go").ref
    assert f"[relates_to:: [[#^{other}]]]" in shape.text
    assert f"Tuesdays #pinned ^{other}\n" in note(brain)
    brain.unlink(ID, other)
    assert "relates_to" not in note(brain)


def test_a_link_into_another_note_has_its_whole_path(brain: Brain) -> None:
    other = lookup.find(brain.vault, "walrus eats").ref if brain.refresh() else ""
    shape = brain.link(ID, other)
    assert f"[[40_Brain/projects/zoo/agent/MEMORY#^{other}]]" in shape.text


@pytest.mark.parametrize(
    ("to", "link"),
    [
        ("Walrus", "[[Walrus]]"),
        ("walrus", "[[Walrus]]"),
        ("Notes/Walrus.md", "[[Notes/Walrus]]"),
        ("Notes/Walrus", "[[Notes/Walrus]]"),
        ("The Big Plan", "[[plan-7]]"),
        ("Plan", "[[A/Plan]]"),
        ("B/Plan", "[[B/Plan]]"),
        ("40_Brain/MEMORY.md", "[[40_Brain/MEMORY]]"),
        ("m-00000002", "[[#^m-00000002]]"),
        ("by-hand", "[[#^by-hand]]"),
        ("clams", "[[#^m-00000002]]"),
    ],
)
def test_a_note_of_this_name_goes_before_a_memory_with_these_words(
    made: Made, to: str, link: str
) -> None:
    brain = made({
        NOTE: "- First ^m-00000001\n- The walrus eats clams, see [[Walrus]] ^m-00000002\n"
        "- The Big Plan, plan A and plan B ^by-hand\n",
        "Notes/Walrus.md": "Tusks\n", "by-hand.md": "x\n", "m-00000002.md": "x\n",
        "Notes/plan-7.md": "---\ntitle: The Big Plan\n---\nwords\n",
        "A/Plan.md": "a\n", "B/Plan.md": "b\n",
    })  # fmt: skip
    assert brain.link("m-00000001", to).text == f"First [relates_to:: {link}]"
    assert brain.unlink("m-00000001", to).text == "First"


def test_a_note_that_is_not_there(made: Made) -> None:
    """To be linked to, it must be asked for; what is remembered is kept, and says so."""
    brain = made({NOTE: "- First ^m-00000001\n- Note that no such walrus eats clams\n"})
    text = note(brain)
    for name in ("No Such Note", "Architecture", "m-zzzzzzzz"):
        with pytest.raises(NotFound, match=f"no note or memory '{name}'. To link to a note that"):
            brain.link("m-00000001", name)
    assert note(brain) == text
    assert "#^m-" in brain.link("m-00000001", "such walrus").text
    assert "[[No Such Note]]" in brain.link("m-00000001", "[[No Such Note]]").text
    shape = brain.remember("Seals bark", links=["No Such Note", "[[Nor This]]", "m-00000001"])
    assert "[[No Such Note]] [[Nor This]] [[#^m-00000001]]" in shape.text
    assert shape.unmade == ["No Such Note"]
    (brain.vault.paths.root / "No Such Note.md").write_text("Now it is.\n")
    assert brain.remember("Seals swim", links=["no such note"]).unmade == []


def test_a_note_that_one_may_not_read_is_none(made: Made) -> None:
    brain = made({**kit.VAULT, "40_Brain/projects/farm/agent/AGENT.md": "---\ntype: project\n---\n",
                  "40_Brain/projects/farm/agent/Secret.md": "x\n"})  # fmt: skip
    with pytest.raises(NotFound):
        brain.link("walrus eats", "Secret", by="zoo")
    assert "[[Secret]]" in brain.link("walrus eats", "Secret").text


def test_a_contradiction_by_hand(brain: Brain) -> None:
    brain.link(ID, "Deploys go", as_="contradicts")
    assert len(brain.conflicts()) == 1
    brain.unlink(ID, "Deploys go", as_="contradicts")
    assert brain.conflicts() == []


def test_nonsense_is_refused(brain: Brain) -> None:
    with pytest.raises(BadRequest, match="no relation 'likes'"):
        brain.link(ID, "Walrus", as_="likes")
    with pytest.raises(BadRequest, match="to itself"):
        brain.link(ID, ID)
    with pytest.raises(BadRequest, match="No tags"):
        brain.tag(ID)
    with pytest.raises(BadRequest, match="section is empty"):
        brain.move(ID, " ")
    with pytest.raises(BadRequest, match="nothing to change"):
        brain.update(ID, "")


def test_what_links_to_what_is_forgotten_is_told(brain: Brain) -> None:
    brain.link("Deploys go", ID)
    assert brain.forget(ID).linked_from == [f"{NOTE}:5"]


def test_feedback_moves_the_score(brain: Brain) -> None:
    brain.reinforce(ID)
    brain.reinforce(ID, why="it helped")
    brain.demote(ID)
    brain.refresh()
    shown = brain.show(ID)
    assert shown.score == 5.0
    assert shown.confidence_factors["feedback"] == pytest.approx(0.0)
    assert [crumb["op"] for crumb in shown.provenance.since] == [
        "reinforce", "reinforce", "demote",
    ]  # fmt: skip


def test_where_a_memory_comes_from(brain: Brain) -> None:
    shape = brain.remember(
        "Seals bark", source="inferred", confidence=0.5, session="s-1", why="heard it", by="zoo",
        agent="zoo",
    )  # fmt: skip
    brain.refresh()
    shown = brain.show(shape.id)
    origin = shown.provenance
    assert (origin.by, origin.session) == ("zoo", "s-1")
    assert (origin.source, origin.why, origin.event) == (
        "inferred", "heard it", shape.event,
    )  # fmt: skip
    factors = shown.confidence_factors
    assert (factors["initial"], factors["trust"], factors["half_life"]) == (0.5, 0.6, 7)
    product = factors["initial"] * factors["trust"] * factors["remaining"] * factors["use"]
    assert shown.confidence == pytest.approx(product + factors["feedback"])


def test_pausing(brain: Brain) -> None:
    from brain.errors import Denied

    brain.pause()
    with pytest.raises(Denied, match="paused"):
        brain.remember("Seals bark")
    assert brain.search("walrus").freshness.fresh
    brain.resume()
    assert brain.remember("Seals bark").outcome == "added"


def test_a_setting_still_stops_writing_after_a_pause(made: Made) -> None:
    from brain.errors import Denied

    brain = made({**kit.VAULT, "40_Brain/brain.yaml": "memory: false\n"})
    brain.pause()
    with pytest.raises(Denied, match="`memory` in brain"):
        brain.resume()
    assert brain.status().paused == "memory"


def test_read_only(made: Made) -> None:
    from brain.errors import Denied

    brain = made({**kit.VAULT, "40_Brain/brain.yaml": "readOnly: true\n"})
    with pytest.raises(Denied, match="readOnly"):
        brain.pin(ID)


@pytest.mark.parametrize("purge", [False, True])
def test_who_links_to_a_memory_is_not_taken_for_it(brain: Brain, purge: bool) -> None:
    """Its id stands in their text, also when it is gone itself."""
    gone = brain.remember("Seals bark").id
    other = brain.remember("Whales heard it").id
    brain.link(other, gone)
    brain.forget(gone)
    for name in (gone, f"^{gone}", gone[:7]):
        with pytest.raises(NotFound):
            brain.forget(name)
    if purge:
        assert brain.forget(gone, purge=True).id == gone
    assert lookup.find(brain.vault, other).ref == other


@pytest.mark.parametrize(
    "verb",
    [
        lambda b: b.link(ID, "Deploys go"),
        lambda b: b.link(ID, "Architecture"),
        lambda b: b.unlink(ID, "Walrus"),
        lambda b: b.tag(ID, ["db"]),
        lambda b: b.tag(ID, ["new"], ["other"]),
        lambda b: b.update(ID, "Chose DuckDB"),
        lambda b: b.move(ID, "Key Decisions"),
    ],
)
def test_what_is_so_already_is_not_put_on_record(brain: Brain, verb: Verb) -> None:
    verb(brain)
    text, records = note(brain), brain.audit()
    shape = verb(brain)
    assert (shape.outcome, shape.state, shape.event) == ("unchanged", "unchanged", None)
    assert shape.id == ID
    assert note(brain) == text
    assert brain.audit() == records


def test_a_reason_is_put_on_record_though_the_words_are_the_same(brain: Brain) -> None:
    brain.update(ID, "Chose DuckDB")
    brain.update(ID, "Chose DuckDB", why="asked again", confidence=0.9)
    assert brain.history(ID)[-1].data["why"] == "asked again"


def test_an_update_that_says_the_opposite_is_a_conflict(brain: Brain) -> None:
    brain.remember("Enable caching in CI", kind="convention")
    mine = brain.remember("Use Redis for sessions", kind="convention").id
    shape = brain.update(mine, "Disable caching in CI")
    (other,) = shape.conflicts
    assert "Enable caching in CI" in other.text
    assert f"[contradicts:: [[#^{other.id}]]] ^{mine}" in note(brain)
    assert len(brain.conflicts()) == 1
    assert brain.update(mine, "Disable all caching in CI").conflicts == []
    brain.undo()
    brain.undo()
    assert brain.conflicts() == []
    assert "contradicts" not in note(brain)


def test_an_update_says_what_it_is_much_like(brain: Brain) -> None:
    one = brain.remember("Enable caching in CI", kind="convention").id
    mine = brain.remember("Use Redis for sessions", kind="convention").id
    assert [near.id for near in brain.update(mine, "Enable caching in CI!").near] == [one]
    assert brain.update(mine, "Use Valkey for sessions").near == []


# -- values without a new text ---------------------------------------------------------------------


def test_importance_and_confidence_change_without_a_new_text(brain: Brain) -> None:
    before = note(brain)
    changed = brain.update(ID, importance=0.3, confidence=0.5, why="it is over")
    assert (changed.outcome, changed.state) == ("updated", "written")
    assert note(brain) == before
    factors = brain.show(ID).importance_factors
    assert factors["base"] == 0.3
    assert brain.show(ID).confidence_factors["initial"] == 0.5
    assert brain.history(ID)[-1].data["why"] == "it is over"


def test_tags_are_added_without_a_new_text(brain: Brain) -> None:
    before = note(brain)
    changed = brain.update(ID, tags=["sqlite"], importance=0.3)
    assert "sqlite" in changed.tags
    assert note(brain) == before.replace("#db ^m-7f3k2ab4", "#db #sqlite ^m-7f3k2ab4")
    assert brain.show(ID).importance_factors["base"] == 0.3
    brain.undo()
    assert note(brain) == before
    assert brain.show(ID).importance_factors["base"] == 0.9
    assert brain.update(ID, tags=["db"]).outcome == "unchanged"


def test_the_undo_of_a_value_restores_the_one_before(brain: Brain) -> None:
    def base() -> float:
        return brain.show(ID).importance_factors["base"]  # type: ignore[no-any-return]

    brain.update(ID, importance=0.3)
    brain.update(ID, importance=0.4)
    brain.undo()
    assert base() == 0.3
    undone = brain.undo()
    assert base() == 0.9
    brain.undo(undone.event)
    assert base() == 0.3
    brain.sync(rebuild=True)
    assert base() == 0.3


def test_a_value_that_changed_since_is_not_undone(brain: Brain) -> None:
    first = brain.update(ID, importance=0.3)
    brain.update(ID, importance=0.4)
    with pytest.raises(StaleFile, match="importance of m-7f3k2ab4 changed since"):
        brain.undo(first.event)
    brain.undo(first.event, force=True)
    assert brain.show(ID).importance_factors["base"] == 0.9


def test_an_update_needs_something_to_change(brain: Brain) -> None:
    with pytest.raises(BadRequest, match="nothing to change"):
        brain.update(ID)
    with pytest.raises(BadRequest, match="text is empty"):
        brain.update(ID, "  ", importance=0.3)
    with pytest.raises(BadRequest, match="from 0 to 1"):
        brain.update(ID, importance=3)
    with pytest.raises(Denied):
        brain.update(ID, importance=0.3, by="zoo")


@pytest.mark.parametrize(
    ("line", "tags", "expected"),
    [
        ("Uses make #a #b", ["c"], "Uses make #c"),
        ("Uses make #a #b", ["b"], "Uses make #b"),
        ("Uses make #a #b", [], "Uses make"),
        ("Uses make #a #pinned", ["c"], "Uses make #pinned #c"),
        ("Uses make #decision #a", ["c"], "Uses make #decision #c"),
        ("Uses make #decision #a", ["warning"], "Uses make #warning"),
    ],
)
def test_tags_can_be_replaced(made: Made, line: str, tags: list[str], expected: str) -> None:
    brain = made({"40_Brain/MEMORY.md": f"- {line} ^m-aaaaaaa1\n"})
    brain.update("m-aaaaaaa1", tags=tags, replace=True)
    assert note(brain) == f"- {expected} ^m-aaaaaaa1\n"
    undone = brain.undo()
    assert undone.outcome == "undone"
    assert note(brain) == f"- {line} ^m-aaaaaaa1\n"


def test_a_forgotten_memory_is_named_with_its_undo(brain: Brain) -> None:
    event = brain.forget(ID).event
    for again in (brain.forget, brain.show):
        with pytest.raises(NotFound, match=rf"{ID} was forgotten\. `brain undo {event}` restores"):
            again(ID)
    brain.agent_add("stranger", type="skill")
    with pytest.raises(NotFound, match="There is no entry"):
        brain.show(ID, by="stranger")
    brain.undo(event)
    assert brain.forget(ID).outcome == "forgotten"


def test_a_tag_to_remove_that_is_not_there_is_named(brain: Brain) -> None:
    removed = brain.tag(ID, remove=["#DB", "nothere"])
    assert (removed.outcome, removed.absent, removed.tags) == ("tagged", ["nothere"], [])
    again = brain.tag(ID, remove=["db"])
    assert (again.outcome, again.absent) == ("unchanged", ["db"])


def test_what_a_tag_may_contain(brain: Brain) -> None:
    for tag in ("123", "a b", ""):
        with pytest.raises(BadRequest, match=r"has letters, digits, .* and is not only a number"):
            brain.tag(ID, [tag])


def test_a_memory_has_at_most_a_hundred_tags(brain: Brain) -> None:
    many = [f"t{number}" for number in range(101)]
    before = note(brain)
    message = "A memory may have 100 tags, not "
    for ask in (
        lambda: brain.remember("Seals bark", tags=many),
        lambda: brain.remember(f"Seals bark #{' #'.join(many)}"),
        lambda: brain.update(ID, tags=many),
        lambda: brain.update(ID, f"Seals bark #{' #'.join(many)}"),
        lambda: brain.tag(ID, many),
        lambda: brain.tag(ID, many[:100]),  # it has one
    ):
        with pytest.raises(BadRequest, match=message):
            ask()
    assert note(brain) == before
    assert len(brain.tag(ID, many[:99]).tags) == 100


@pytest.mark.parametrize(
    "again", ["[[walrus]]", "Notes/Walrus.md", "[[Notes/Walrus]]", "[[Walrus|the animal]]"]
)
def test_another_spelling_of_a_link_is_the_same_link(brain: Brain, again: str) -> None:
    linked = brain.link(ID, "Walrus")
    assert brain.link(ID, again).outcome == "unchanged"
    assert linked.text in note(brain)
    assert brain.link(ID, "[[Walrus#Tusks]]").outcome == "linked"
    assert brain.unlink(ID, again).outcome == "unlinked"
    assert "[[Walrus]]" not in note(brain)


def test_feedback_says_what_the_score_is_now(brain: Brain) -> None:
    assert brain.reinforce(ID).score == 3
    assert brain.demote(ID).score == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Seals bark", "- Seals bark ^"),
        ("* Seals bark", "- Seals bark ^"),
        ("- Seals bark\n    - at night", "- Seals bark ^"),
        ("-5 degrees is cold", "- -5 degrees is cold ^"),
        ("Seals - bark", "- Seals - bark ^"),
    ],
)
def test_a_list_mark_is_not_doubled(brain: Brain, text: str, expected: str) -> None:
    brain.remember(text, date=False)
    assert f"\n{expected}m-" in note(brain)
    assert brain.update(ID, "- Chose DuckDB").text.startswith("2026-02-01: Chose DuckDB")


def test_a_whole_note_is_not_a_memory(brain: Brain) -> None:
    """A path without a line would change the first memory of the note."""
    before = note(brain)
    for ask in (brain.forget, brain.pin, lambda id: brain.update(id, "Seals bark")):
        for name in (NOTE, f"{NOTE}:0"):
            with pytest.raises(BadRequest, match=r"is a whole note, not a memory\. Name its line"):
                ask(name)
    assert note(brain) == before
    assert brain.forget(f"{NOTE}:4").id == ID


def test_a_link_without_a_target_is_refused(brain: Brain) -> None:
    for target in ("", " ", "[[]]"):
        with pytest.raises(BadRequest, match="The link has no target"):
            brain.link(ID, target)
