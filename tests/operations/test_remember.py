"""`remember`: where a memory goes, what its line says, and what is not written twice."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from brain.api import Brain
from brain.errors import BadRequest, NotFound
from brain.operations import lookup
from brain.operations.results import Mention
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.operations.conftest import NOTE, Made, note, settle

ZOO = "40_Brain/projects/zoo/agent/MEMORY.md"


def line(brain: Brain, id: str) -> str:
    return next(row for row in note(brain).split("\n") if row.endswith(f"^{id}"))


def test_a_line_as_a_person_would_write_it(brain: Brain) -> None:
    shape = brain.remember(
        "Chose FTS5 for search", kind="decision", tags=["db"], links=["Architecture"]
    )
    assert re.fullmatch(r"m-[0-9a-hjkmnp-tv-z]{8}", shape.id)
    assert line(brain, shape.id) == (
        f"- 2026-03-01: Chose FTS5 for search [[Architecture]] #db ^{shape.id}"
    )
    assert (shape.outcome, shape.state, shape.kind) == ("added", "written", "decision")
    assert (shape.path, shape.line) == ("40_Brain/MEMORY.md", 6)
    assert shape.heading == "Agent Memory > Key Decisions"


def test_what_it_answers_is_what_is_found(brain: Brain) -> None:
    shape = brain.remember("Seals bark at dawn", kind="discovery", tags=["sea"])
    brain.refresh()
    shown = brain.show(shape.id)
    same = ("id", "text", "path", "line", "end_line", "kind", "status", "tags", "created")
    assert [getattr(shown, key) for key in same] == [getattr(shape, key) for key in same]


@pytest.mark.parametrize(
    ("options", "kind", "heading"),
    [
        ({}, "fact", "Project Context"),
        ({"kind": "preference"}, "preference", "User Preferences"),
        ({"kind": "warning"}, "warning", "Warnings"),
        ({"tags": ["decision"]}, "decision", "Key Decisions"),
        ({"section": "Key Decisions"}, "decision", "Key Decisions"),
        ({"section": "Zoology"}, "fact", "Zoology"),
        ({"section": "Zoology", "kind": "error"}, "error", "Zoology"),
        ({"section": "Key Decisions", "kind": "fact"}, "fact", "Key Decisions"),
    ],
)
def test_kind_and_section(
    brain: Brain, options: dict[str, object], kind: str, heading: str
) -> None:
    shape = brain.remember("Otters hold hands", **options)  # type: ignore[arg-type]
    assert (shape.kind, shape.heading) == (kind, f"Agent Memory > {heading}")
    brain.refresh()
    assert brain.show(shape.id).kind == kind


def test_a_section_that_is_there_for_the_kind_is_used(made: Made) -> None:
    brain = made({"40_Brain/MEMORY.md": "# M\n\n## Decisions we made\n\n## Gotchas\n- a\n"})
    assert brain.remember("b", kind="warning").heading == "M > Gotchas"


def test_dates(brain: Brain) -> None:
    assert brain.remember("one", date=False).text == "one"
    assert brain.remember("two", date="2025-12-24").text == "2025-12-24: two"
    assert brain.remember("2025-01-01: three").text == "2025-01-01: three"
    with pytest.raises(BadRequest, match="not a date"):
        brain.remember("four", date="soon")


def test_a_setting_leaves_the_date_out(made: Made) -> None:
    brain = made({**kit.VAULT, "40_Brain/brain.yaml": "datePrefix: no\n"})
    assert brain.remember("one").text == "one"


def test_a_note_that_is_not_there_is_made(made: Made) -> None:
    brain = made({"40_Brain/AGENT.md": kit.AGENT})
    shape = brain.remember("First")
    assert note(brain) == (
        f"# Agent Memory\n\n## Project Context\n- 2026-03-01: First ^{shape.id}\n"
    )


def test_more_lines_are_nested(brain: Brain) -> None:
    shape = brain.remember("To release:\n1. tag\n2. push", kind="procedure", date=False)
    assert shape.text == "To release:\n1. tag\n2. push"
    assert f"- To release: ^{shape.id}\n" in note(brain)
    assert shape.end_line - shape.line >= 2


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_nothing_is_refused(brain: Brain, text: str) -> None:
    with pytest.raises(BadRequest, match="text is empty"):
        brain.remember(text)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "thought"}, "no kind 'thought'"),
        ({"source": "rumour"}, "no source 'rumour'"),
        ({"confidence": 1.5}, "from 0 to 1"),
        ({"tags": ["no tag"]}, "cannot be a tag"),
    ],
)
def test_nonsense_is_refused(brain: Brain, options: dict[str, object], sentence: str) -> None:
    before = note(brain)
    with pytest.raises(BadRequest, match=sentence):
        brain.remember("x", **options)  # type: ignore[arg-type]
    assert note(brain) == before


# -- whose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["zoo", "Keeper", "keeper"])
def test_another_agents_memory(brain: Brain, name: str) -> None:
    shape = brain.remember("The seal eats fish", agent=name)
    assert (shape.path, shape.agent, shape.project) == (ZOO, "zoo", "zoo")
    assert "The seal eats fish" in note(brain, ZOO)


@pytest.mark.parametrize("name", ["nobody", "../..", "/etc", "."])
def test_an_agent_that_is_not_there(brain: Brain, name: str) -> None:
    with pytest.raises(NotFound, match="There is no agent"):
        brain.remember("x", agent=name)


# -- what is known already -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PR #41 broke the build on main", "PR #57 broke the build on main"),
        ("Chose #sqlite over #postgres", "Chose #mysql over #sqlite"),
        ("[[Design Doc]]", "#db"),
    ],
)
def test_what_stands_in_a_sentence_is_part_of_it(brain: Brain, one: str, other: str) -> None:
    brain.remember(one, kind="error")
    shape = brain.remember(other, kind="error")
    assert (shape.outcome, shape.conflicts) == ("added", [])
    assert other in note(brain)


@pytest.mark.parametrize(
    "text",
    [
        "Chose SQLite over PostgreSQL for local-first search.",
        "chose  sqlite over postgresql for local-first search.",
        "2026-02-01: Chose SQLite over PostgreSQL for local-first search. #db",
    ],
)
def test_the_same_words_are_not_written_again(brain: Brain, text: str) -> None:
    before = note(brain)
    shape = brain.remember(text + " [[Architecture]]", kind="decision")
    assert (shape.outcome, shape.id) == ("duplicate", "m-7f3k2ab4")
    assert note(brain) == before
    assert [record.op for record in brain.history("m-7f3k2ab4")] == ["merge"]
    shown = brain.show("m-7f3k2ab4")
    assert (shown.hits, shown.importance_factors["merges"]) == (1, 0.1)


def test_what_was_just_remembered_is_known(brain: Brain) -> None:
    first = brain.remember("Seals bark at dawn")
    for _ in range(3):
        again = brain.remember("seals bark at DAWN")
        assert (again.outcome, again.id) == ("duplicate", first.id)
    assert note(brain).count("bark") == 1


def test_what_a_person_took_out_is_not(brain: Brain) -> None:
    first = brain.remember("Seals bark at dawn")
    path = brain.vault.paths.root / "40_Brain/MEMORY.md"
    path.write_text(path.read_text().replace(line(brain, first.id) + "\n", ""))
    again = brain.remember("Seals bark at dawn")
    assert again.outcome == "added"
    assert again.id != first.id


def test_links_behind_the_words_are_not_words(brain: Brain) -> None:
    first = brain.remember("Seals bark at dawn", links=["Walrus"], tags=["sea"])
    assert brain.remember("Seals bark at dawn", links=["Walrus"]).outcome == "duplicate"
    assert brain.remember("Seals bark at dawn").id == first.id
    assert brain.remember("Seals bark at dawn", links=["Architecture"]).outcome == "added"


def test_nearly_the_same_is_told(brain: Brain) -> None:
    first = brain.remember("The deploy runs on Tuesdays")
    shape = brain.remember("Deploy runs: on Tuesdays!")
    assert shape.outcome == "added"
    assert [near.id for near in shape.near] == [first.id]


def test_what_lacks_only_nested_lines_or_links_is_near(made: Made) -> None:
    sand = "- Bed B is sandy ^m-00000001\n    - mulch helps\n"
    brain = made({NOTE: f"## Facts\n{sand}- Seals bark [[Sea]] ^m-00000002\n"})
    shape = brain.remember("Bed B is sandy.", date=False)
    assert (shape.outcome, [near.id for near in shape.near]) == ("added", ["m-00000001"])
    shape = brain.remember("Seals bark", links=["Land"])
    assert (shape.outcome, [near.id for near in shape.near]) == ("added", ["m-00000002"])


# -- what contradicts ----------------------------------------------------------------------------


def test_a_contradiction_is_kept_and_linked(brain: Brain) -> None:
    old = brain.remember("Always use tabs in Makefiles", kind="convention")
    new = brain.remember("Never use tabs in Makefiles", kind="convention")
    assert new.outcome == "conflict"
    assert [other.id for other in new.conflicts] == [old.id]
    assert f"[contradicts:: [[#^{old.id}]]]" in line(brain, new.id)
    assert line(brain, old.id)
    (conflict,) = brain.conflicts()
    assert {entry.id for entry in conflict.entries} == {old.id, new.id}
    assert conflict.type == "contradictory"


@pytest.mark.parametrize("about", ["", "[files:: src/a.py]", "[[Style]]"])
def test_a_contradiction_may_be_of_another_kind(brain: Brain, about: str) -> None:
    old = brain.remember(f"Always use tabs in Makefiles {about}", kind="decision")
    new = brain.remember(f"Never use tabs in Makefiles {about}", kind="preference")
    assert [other.id for other in new.conflicts] == [old.id]


def test_a_contradiction_of_a_bullet_without_an_id(made: Made) -> None:
    brain = made({"40_Brain/MEMORY.md": "## Conventions\n- Always use tabs in Makefiles\n"})
    new = brain.remember("Never use tabs in Makefiles", kind="convention")
    old = new.conflicts[0].id
    assert f"- Always use tabs in Makefiles ^{old}\n" in note(brain)
    assert len(brain.conflicts()) == 1


def test_a_conflict_is_resolved(brain: Brain) -> None:
    old = brain.remember("Always use tabs in Makefiles", kind="convention")
    new = brain.remember("Never use tabs in Makefiles", kind="convention")
    shape = brain.resolve(new.id)
    assert shape.outcome == "resolved"
    assert brain.conflicts() == []
    assert "contradicts" not in note(brain)
    assert line(brain, old.id)
    with pytest.raises(NotFound, match="no open conflict"):
        brain.resolve(new.id)


def test_what_is_kept_supersedes(brain: Brain) -> None:
    old = brain.remember("Always use tabs in Makefiles", kind="convention")
    new = brain.remember("Never use tabs in Makefiles", kind="convention")
    event = brain.conflicts()[0].event
    brain.resolve(event, keep=new.id)
    assert f"[supersedes:: [[#^{old.id}]]]" in line(brain, new.id)
    assert brain.conflicts() == []


def test_a_conflict_ends_when_one_side_is_superseded(brain: Brain) -> None:
    old = brain.remember("Always use tabs in Makefiles", kind="convention")
    new = brain.remember("Never use tabs in Makefiles", kind="convention")
    assert len(brain.conflicts()) == 1
    brain.remember("Makefiles are generated", supersedes=[old.id])
    assert brain.conflicts() == []
    with pytest.raises(NotFound, match="no open conflict"):
        brain.resolve(new.id)


def test_a_conflict_ends_with_one_of_its_sides(brain: Brain) -> None:
    brain.remember("Always use tabs in Makefiles", kind="convention")
    new = brain.remember("Never use tabs in Makefiles", kind="convention")
    brain.forget(new.id)
    assert brain.conflicts() == []


# -- what it takes the place of ------------------------------------------------------------------


def test_supersession(brain: Brain) -> None:
    shape = brain.remember("Deploys go out on Wednesdays", supersedes=["Deploys go out"])
    old = re.search(r"Tuesdays #pinned \^(m-\w{8})", note(brain))
    assert old
    assert f"[supersedes:: [[#^{old[1]}]]]" in line(brain, shape.id)


def test_what_is_superseded_is_readable_but_not_recalled(brain: Brain) -> None:
    shape = brain.remember("Deploys go out on Wednesdays", supersedes=["Deploys go out"])
    old = lookup.find(brain.vault, "Tuesdays").ref

    def found(**options: bool) -> set[str]:
        return {hit.row.ref for hit in brain.search("deploys", **options).results}  # type: ignore[arg-type]

    def listed(**options: bool) -> set[str]:
        return {entry.id for entry in brain.list(**options)}

    assert found() == {shape.id}
    assert found(superseded=True) == {shape.id, old}
    assert old not in listed()
    assert old in listed(superseded=True)
    assert brain.show(old).id == old
    brain.forget(shape.id)
    assert found() == {old}


def current(brain: Brain, words: str) -> set[str]:
    return {hit.row.ref for hit in brain.search(words, scopes=["memory"]).results}


def test_what_is_known_supersedes_too(brain: Brain) -> None:
    known = brain.remember("Cats sleep")
    old = brain.remember("Cats never rest")
    shape = brain.remember("cats sleep", supersedes=["never rest"])
    assert (shape.outcome, shape.id) == ("duplicate", known.id)
    assert f"[supersedes:: [[#^{old.id}]]]" in line(brain, known.id)
    assert shape.text in line(brain, known.id)
    assert current(brain, "cats") == {known.id}
    assert brain.undo().id == known.id
    assert current(brain, "cats") == {known.id, old.id}
    assert brain.show(known.id).hits == 0


def test_what_was_superseded_and_is_said_again_is_current(brain: Brain) -> None:
    nine = brain.remember("Standup is at nine").id
    ten = brain.remember("Standup is at ten", supersedes=[nine]).id
    assert current(brain, "standup") == {ten}
    shape = brain.remember("Standup is at nine")
    assert (shape.outcome, shape.superseded_by) == ("duplicate", [])
    assert current(brain, "standup") == {nine, ten}
    brain.undo()
    assert current(brain, "standup") == {ten}


def test_what_supersedes_each_other_in_turn(brain: Brain) -> None:
    """The last that was said is current, and there is no circle."""
    nine = brain.remember("Standup is at nine").id
    ten = brain.remember("Standup is at ten", supersedes=[nine]).id
    brain.remember("Standup is at noon", supersedes=[ten])
    brain.remember("Standup is at nine", supersedes=["at noon"])
    assert current(brain, "standup") == {nine}
    brain.remember("Standup is at ten", supersedes=[nine])
    assert current(brain, "standup") == {ten}
    assert note(brain).count("supersedes::") == 2


def test_who_may_not_change_what_supersedes_is_told(brain: Brain) -> None:
    old = brain.remember("Fish at nine", agent="zoo").id
    new = brain.remember("Fish at ten", supersedes=[old])
    shape = brain.remember("Fish at nine", agent="zoo", by="zoo")
    assert shape.outcome == "duplicate"
    assert shape.superseded_by == [Mention(id=new.id, text=new.text)]


def test_nothing_supersedes_itself(brain: Brain) -> None:
    known = brain.remember("Cats sleep").id
    before = note(brain)
    with pytest.raises(BadRequest, match="cannot supersede itself"):
        brain.remember("Cats sleep", supersedes=[known])
    with pytest.raises(NotFound):
        brain.remember("Cats sleep", supersedes=["nothing like it"])
    assert note(brain) == before
    assert [step.op for step in brain.history(known)] == ["remember"]


def test_what_was_asked_for_along_with_what_is_known_is_done(brain: Brain) -> None:
    other = brain.remember("Dogs bark").id
    known = brain.remember("Cats sleep", tags=["pets"]).id
    shape = brain.remember(
        "Cats sleep #Pets #night [trigger:: cat]", tags=["indoors", "candidate"], links=[other]
    )
    assert (shape.outcome, shape.id) == ("duplicate", known)
    assert shape.tags == ["pets", "night", "indoors"]
    assert shape.status == "confirmed"
    assert f"[relates_to:: [[#^{other}]]]" in line(brain, known)
    assert "[trigger:: cat]" in line(brain, known)
    before = note(brain)
    brain.remember("Cats sleep #night [trigger:: cat]", links=[other])
    assert note(brain) == before
    brain.undo()
    brain.undo()
    assert line(brain, known).endswith(f"Cats sleep #pets ^{known}")


# -- secrets -------------------------------------------------------------------------------------


def test_secrets_are_left_out(brain: Brain) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    shape = brain.remember(f"The token is {key}", why=f"seen {key}")
    assert shape.redacted
    everything = b"".join(p.read_bytes() for p in brain.vault.paths.root.rglob("*") if p.is_file())
    everything += b"".join(
        p.read_bytes() for p in brain.vault.paths.state.rglob("*") if p.is_file()
    )
    assert key.encode() not in everything
    assert "[redacted:" in shape.text
    again = brain.remember(f"The token is {key}")
    assert again.outcome == "duplicate"


def test_a_setting_says_where_a_kind_goes(vault: MakeVault, opened: OpenBrain) -> None:
    settings = 'sections: ["decision=Choices made", "fact=Things"]\n'
    memory = "# Agent Memory\n\n## Key Decisions\n- one\n"
    brain = opened(vault({"40_Brain/brain.yaml": settings, "40_Brain/MEMORY.md": memory}))
    made = brain.remember("Use SQLite", kind="decision")
    assert made.kind == "decision"
    assert made.heading.endswith("Choices made")
    assert brain.remember("Seals sing", kind="warning").heading.endswith("Warnings")


def at_one_moment(root: Path, state: Path, *texts: str) -> list[str]:
    """What comes of remembering these texts in as many threads at once."""
    start, outcomes = threading.Barrier(len(texts)), list[str]()

    def say(text: str) -> None:
        with kit.open_brain(root, state) as brain:
            start.wait()
            outcomes.append(brain.remember(text).outcome)

    threads = [threading.Thread(target=say, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


def test_two_who_say_the_same_at_one_moment_make_one_memory(
    vault: MakeVault, tmp_path: Path
) -> None:
    root = vault({"40_Brain/MEMORY.md": "## Facts\n- one\n"})
    settle(root)
    assert at_one_moment(root, tmp_path / "s", *["The seal sings"] * 3) == [
        "added", "duplicate", "duplicate",
    ]  # fmt: skip
    assert (root / "40_Brain/MEMORY.md").read_text().count("seal sings") == 1


def test_two_who_say_the_opposite_at_one_moment_are_in_conflict(
    vault: MakeVault, tmp_path: Path
) -> None:
    root = vault({"40_Brain/MEMORY.md": "## Facts\n- one\n"})
    settle(root)
    opposite = ("Always visit the emu at noon", "Never visit the emu at noon")
    assert at_one_moment(root, tmp_path / "s", *opposite) == ["added", "conflict"]


def test_what_waits_is_contradicted_too(vault: MakeVault, opened: OpenBrain) -> None:
    slow = "holdSeconds: 600\n"
    brain = opened(vault({"40_Brain/MEMORY.md": "## Facts\n- one\n", "40_Brain/brain.yaml": slow}))
    first = brain.remember("Always visit the emu at noon")
    brain.remember("Always visit the owl at noon", kind="preference")
    assert first.state == "pending"
    second = brain.remember("Never visit the emu at noon")
    assert (second.outcome, second.state) == ("conflict", "pending")
    assert [other.id for other in second.conflicts] == [first.id]
    assert "emu" in second.conflicts[0].text
    settle(brain.vault.paths.root)
    brain.vault.absorb()
    assert f"[contradicts:: [[#^{first.id}]]]" in line(brain, second.id)
    assert len(brain.conflicts()) == 1


def test_what_somebody_else_wrote_between_two_memories_counts(brain: Brain) -> None:
    """The second one starts from what the first one left, and finds another note there."""
    path = brain.vault.paths.root / "40_Brain/MEMORY.md"
    first = brain.remember("The walrus sleeps at noon")
    ours = line(brain, first.id)
    path.write_text(note(brain).replace(ours, f"{ours}\n- The seal sings\n- Always use tusks"))
    settle(brain.vault.paths.root)
    against = brain.remember("Never use tusks")
    assert (against.outcome, len(against.conflicts)) == ("conflict", 1)
    assert brain.remember("The seal sings").outcome == "duplicate"
    path.write_text(note(brain).replace(f"{ours}\n", ""))
    settle(brain.vault.paths.root)
    assert brain.remember("The otter swims").outcome == "added"
    assert note(brain).count("otter") == 1
    assert note(brain).count("tusks") == 2


def test_what_contradicts_a_memory_that_somebody_removed_is_no_conflict(brain: Brain) -> None:
    path = brain.vault.paths.root / "40_Brain/MEMORY.md"
    first = brain.remember("Always use tusks")
    brain.remember("The walrus sleeps at noon")
    path.write_text(note(brain).replace(line(brain, first.id) + "\n", ""))
    os.utime(path, (time.time() + 60, time.time() + 60))  # by somebody who had seen it
    settled = brain.remember("Never use tusks")
    assert (settled.outcome, settled.conflicts) == ("added", [])


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"date": "20260101"}, "is not a date"),
        ({"date": "2026-W05-1"}, "is not a date"),
        ({"section": "   "}, "section is empty"),
        ({"links": ["A]] #pinned ^m-x"]}, "is not a link"),
    ],
)
def test_what_could_be_misread_is_refused(brain: Brain, named: dict[str, Any], said: str) -> None:
    before = note(brain)
    with pytest.raises(BadRequest, match=said):
        brain.remember("The gate is shut", **named)
    assert note(brain) == before


def test_one_tag_or_link_is_one(brain: Brain) -> None:
    brain.remember("The gate is shut", tags="zoo", links="Map", date=False)
    assert "- The gate is shut [[Map]] #zoo ^" in note(brain)
    brain.remember("The fence is high", tags=["zoo", "ZOO", "wood"], date=False)
    assert "- The fence is high #zoo #wood ^" in note(brain)


def test_a_time_before_the_words_is_a_date(brain: Brain) -> None:
    brain.remember("2026-02-01T10:00 meeting about the gate")
    assert "- 2026-02-01T10:00 meeting about the gate ^" in note(brain)


# -- several at once -------------------------------------------------------------------------------


def test_several_memories_are_one_write(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    exchanged: list[str] = []
    exchange = brain.vault.store.disk.exchange
    monkeypatch.setattr(
        brain.vault.store.disk, "exchange", lambda a, b: (exchanged.append(b), exchange(a, b))
    )
    settle(brain.vault.paths.root)
    brain.remember("Seals bark")
    exchanged.clear()
    made = brain.remember_all(
        [
            "The otter swims",
            {"text": "We chose SQLite", "kind": "decision", "tags": "db"},
            "seals bark",
            "The otter swims",
        ]
    )
    assert [one.outcome for one in made] == ["added", "added", "duplicate", "duplicate"]
    assert made[0].id == made[3].id
    assert len(exchanged) == 1
    assert "#db" in line(brain, made[1].id)
    assert brain.undo(made[0].event).outcome == "undone"
    assert "otter" not in note(brain)
    assert "SQLite" in note(brain)


def test_several_memories_are_all_stored_or_none(brain: Brain) -> None:
    before = note(brain)
    with pytest.raises(BadRequest, match="no kind 'x'"):
        brain.remember_all(["The otter swims", {"text": "Seals bark", "kind": "x"}])
    with pytest.raises(BadRequest, match="A memory has no 'colour'"):
        brain.remember_all([{"text": "Seals bark", "colour": "grey"}])
    assert note(brain) == before
    assert brain.remember_all([]) == []


@pytest.mark.parametrize("text", ["- soak\n- sow", "1. soak\n2. sow"])
def test_a_list_is_nested_below_its_date(brain: Brain, text: str) -> None:
    id = brain.remember(text, date="2026-03-01").id
    first, second = text.split("\n")
    assert f"- 2026-03-01: ^{id}\n    {first}\n    {second}\n" in note(brain)
