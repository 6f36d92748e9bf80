"""Which version a text was edited from: one situation for each row of the cost table, and for each
rule. Nothing here touches a disk."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brain.store import versions
from brain.store.merge import Units, apply_edits
from brain.store.versions import Evidence, History


class Page:
    """A note, an agent that changes it, and windows that save it. A text is given as its lines,
    separated by commas."""

    def __init__(self, text: str = "one, two") -> None:
        self.now = 0.0
        self.history = History.start(units(text))

    def agent(self, text: str) -> Page:
        """The agent makes this the text of the note."""
        self.history.change(units(text))
        return self._write()

    def save(self, text: str, evidence: Evidence | None = None, after: float = 60.0) -> Page:
        """Some window saves this text, in place; what it lacks is written again."""
        self.now += after
        evidence = evidence or Evidence(in_place=True, age=after)
        self.history.observe(units(text), self.history.tip, evidence, in_note=True, at=self.now)
        return self._write()

    def _write(self) -> Page:
        if not self.history.is_written:
            self.history.tip = self.history.write(self.now)
        return self

    @property
    def lines(self) -> set[str]:
        return {unit.removeprefix("- ") for unit in self.history.head}


def units(text: str) -> Units:
    return tuple(f"- {line}" for line in text.split(", ") if line)


# -- one situation for each constant ---------------------------------------------------------------


def reword_own_line() -> Page:
    """A window rewords a line that it had saved itself, before the agent's write."""
    return Page().save("one!, two").agent("one!").save("one!!, two")


def reword_the_agents_line() -> Page:
    """A person who has seen the agent's line rewords it."""
    return Page().agent("one, two, agent").save("one, two, agent and more")


def stale_deletion() -> Page:
    """The text of a stale window has a line that the agent has removed."""
    return Page("one, two, three").agent("two, three").save("one, three")


def undone_deletion() -> Page:
    """A window deleted everything, and another one, that has not seen this, types."""
    return Page("three, one").save("").agent("agent").save("three, one, typed")


def stale_window() -> Page:
    """A window from before the agent's write deletes another line."""
    return Page().agent("one, two, agent").save("one")


def own_lines_and_a_stale_window() -> Page:
    """One window saves by rename. Another one, in place, is stale, and then shows the line of the
    first."""
    page = Page("two").agent("agent").save("agent, one", Evidence(in_place=False))
    return page.save("two, new").save("one")


def two_own_lines_at_once() -> Page:
    """All that a window had just added is missing: this may be another window."""
    return Page("one").agent("").save("agent, three").save("")


def go_on_typing() -> Page:
    """A window goes on with the line that it had added before the agent's write."""
    return Page().save("one, two, typed").agent("one, two, typed, agent").save("one, two, typed!")


def two_wordings() -> Page:
    """Two windows reword the same line."""
    first = "one, two and a great deal of other words"
    return Page().save(first).agent(f"{first}, agent").save("one, two!")


def delete_reworded() -> Page:
    """A stale window deletes a line that another window has reworded."""
    return Page().agent("one, two, agent").save("one!, two").save("two")


def cut_and_paste() -> Page:
    """A person cuts a line in a stale window, loads the note, and pastes it somewhere else."""
    page = Page().agent("one, two, agent").save("two")
    return page.save("two, agent, one, typed")


SITUATIONS: dict[str, tuple[Callable[[], Page], set[str]]] = {
    "OLDER": (reword_own_line, {"one!!"}),
    "LAST_SAVE": (reword_the_agents_line, {"one", "two", "agent and more"}),
    "KNOWS_MORE": (stale_deletion, {"three"}),
    "RETURNED": (undone_deletion, {"agent", "typed"}),
    "PASTED": (cut_and_paste, {"one", "two", "agent", "typed"}),
    "LACKS": (stale_window, {"one", "agent"}),
    "LACKS_GONE": (own_lines_and_a_stale_window, {"one", "new"}),
    "LACKS_NEW": (own_lines_and_a_stale_window, {"one", "new"}),
    "LACKS_TIP": (two_own_lines_at_once, {"agent", "three"}),
    "ADDED": (go_on_typing, {"one", "two", "typed!", "agent"}),
    "REWORDED": (
        two_wordings,
        {"one", "two!", "two and a great deal of other words", "agent"},
    ),
    "NOTHING_LEFT": (delete_reworded, {"one!", "two", "agent"}),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_cost_decides_a_situation(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    situation, lines = SITUATIONS[name]
    assert situation().lines == lines
    without = versions.KNOWS_MORE if name == "PASTED" else 0.0
    monkeypatch.setattr(versions, name, without)
    assert situation().lines != lines


def test_every_cost_has_a_situation() -> None:
    costs = {
        name
        for name, value in vars(versions).items()
        if name.isupper() and value.__class__ is float
    }
    assert costs - {"STOOD", "STOOD_AGAIN", "READING", "YOUNG"} == SITUATIONS.keys()


# -- rules -----------------------------------------------------------------------------------------


def test_a_person_alone_is_not_second_guessed() -> None:
    """Nothing is guarded, so every text counts as it is, even one that was there before."""
    page = Page().save("one").save("one, two").save("")
    assert page.lines == set()
    assert not any(version.written for version in page.history.versions)


def test_gits_text_counts() -> None:
    page = Page().agent("one, two, agent").save("one", Evidence(git=True))
    assert page.lines == {"one"}


def test_what_git_brings_back_stays_under_a_save() -> None:
    """An agent writes while an older commit is checked out. Back on the branch, a person edits the
    note before Brain looks at it."""
    page = Page("one, two").agent("one, two, agent").save("one", Evidence(git=True))
    page.agent("one, past")
    evidence = Evidence(in_place=None, age=0.2, after_git=True)
    page.save("one!, two, agent, past", evidence)
    assert page.lines == {"one!", "two", "agent", "past"}


def test_guarded_lines_stay_when_a_window_saves_over_gits_text() -> None:
    """A stale window saves after a checkout, before Brain looks: the agent's line stays."""
    page = Page("one, two").agent("one, two, agent")
    page.save("one, two!", Evidence(age=60.0, after_git=True))
    assert page.lines == {"one", "two!", "agent"}


def test_a_pending_write_is_merged_into_gits_text() -> None:
    page = Page()
    page.history.change(units("one, two, agent"))
    page.save("one", Evidence(git=True))
    assert page.lines == {"one", "agent"}


READ = Evidence(read=True, age=60)


def test_a_deliberate_deletion() -> None:
    """Exactly the text from before the write, by someone who has read it."""
    assert Page().agent("one, two, agent").save("one, two", READ).lines == {"one", "two"}


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(), Evidence(age=60), Evidence(unread=True, age=60),
        Evidence(read=True, age=versions.STOOD - 0.1),
    ],
)  # fmt: skip
def test_not_a_deliberate_deletion(evidence: Evidence) -> None:
    """Nobody is known to have read the line, or it stood for too short a time."""
    page = Page().agent("one, two, agent").save("one, two", evidence)
    assert page.lines == {"one", "two", "agent"}


def test_a_deliberate_deletion_that_types_as_well_is_a_stale_window() -> None:
    assert "agent" in Page().agent("one, two, agent").save("one, two, typed", READ).lines


def test_deleted_again_it_is_gone() -> None:
    """Where no access times show who has read the note."""
    page = Page().agent("one, two, agent").save("one, two", Evidence(age=60))
    assert "agent" in page.lines
    assert "agent" in page.save("one, two", Evidence(age=versions.STOOD_AGAIN - 0.1)).lines
    assert "agent" in page.save("one, two", Evidence(age=60, unread=True)).lines
    assert "agent" not in page.save("one, two", Evidence(age=versions.STOOD_AGAIN)).lines


def test_a_stale_window_deletes_a_line_that_the_agent_has_reworded() -> None:
    """Its text is the note without everything that was restored before, and it has seen nothing of
    that."""
    page = Page("one, old ^a1").agent("one, old ^a1, a, b").save("one, old ^a1, typed")
    page.agent("one, new ^a1, typed, a, b").save("one, old ^a1, typed, more")
    assert page.save("one, typed, more").lines == {"one", "new ^a1", "typed", "more", "a", "b"}


def test_a_line_that_is_pasted_stays_if_it_is_not_known_how_the_note_was_saved() -> None:
    page = Page().agent("one, two, agent").save("two, agent", Evidence(age=60))
    assert page.lines == {"two", "agent"}
    assert page.save("two, agent, one").lines == {"one", "two", "agent"}


def test_a_persons_line_that_is_deleted_again_is_gone() -> None:
    """Without it, the note is what Brain wrote before. The line was not guarded at first."""
    page = Page().agent("one, two, agent").save("one, two, agent, typed")
    page.save("one, two, agent", Evidence(in_place=False, age=60))
    page.save("one, two, agent", Evidence(in_place=False, age=60))
    assert page.lines == {"one", "two", "agent"}


def test_an_older_text_that_lacks_many_lines_is_not_deliberate() -> None:
    few = ", ".join(f"line {n}" for n in range(versions.FEW))
    assert Page().agent(f"one, two, {few}").save("one, two", READ).lines == {"one", "two"}
    many = f"{few}, later"
    assert "later" in Page().agent(f"one, two, {many}").save("one, two", READ).lines


@pytest.mark.parametrize("unread", [False, True])
def test_a_version_that_nobody_read_is_not_a_base(unread: bool) -> None:
    """A window types a line that is like the agent's newest one: other words for it, or, if nobody
    has read that, a line of its own."""
    page = Page().agent("one, two, agent").agent("one, two, agent, later")
    page.history.versions[-1].unread = unread
    assert ("later" in page.save("one, two, agent, later on").lines) == unread


def test_a_version_may_be_read_after_it_was_displaced() -> None:
    """A program opens the note, Brain writes it, the program reads and saves what it had opened."""
    page = Page().agent("one, two, agent").agent("one, two, agent, later")
    page.history.versions[1].unread = True
    lines = page.save("one, two, agent, typed", after=versions.READING / 2).lines
    assert lines == {"one", "two", "agent", "later", "typed"}


@pytest.mark.parametrize(
    ("evidence", "is_kept"),
    [
        (Evidence(in_place=False, age=versions.YOUNG / 2), True),
        (Evidence(in_place=False, age=-versions.YOUNG), True),
        (Evidence(in_place=False, age=versions.YOUNG * 2), False),
        (Evidence(in_place=True, age=versions.YOUNG / 2, read=True), False),
    ],
)
def test_a_line_that_nobody_can_have_read_is_not_reworded(
    evidence: Evidence, is_kept: bool
) -> None:
    """A line of a late save was merged just now, and a program that has not seen it adds one that
    is like it. Later, or after a read, this is other words for it."""
    page = Page().agent("one, two, agent")
    late = units("one, two, person 1")
    page.history.observe(late, page.history.versions[0], Evidence(), in_note=False, at=page.now)
    page._write()
    page.save("one, two, agent, person 2", evidence)
    assert ("person 1" in page.lines) == is_kept
    assert "person 2" in page.lines


def test_nobody_has_read_the_note_since_brain_wrote_it() -> None:
    """An append without reading undoes nothing, so it may have any base."""
    page = Page().agent("one, two, agent").save("two, agent!", Evidence(unread=True))
    assert "agent" in page.lines
    page = Page().agent("one, two, agent").save("one, two, agent, typed", Evidence(unread=True))
    assert page.lines == {"one", "two", "agent", "typed"}


def test_an_append_says_nothing_about_what_was_seen() -> None:
    """A program appends to the note, then a stale window saves."""
    page = Page().agent("one, two, agent").save("one, two, agent, appended")
    assert page.save("one, two, typed").lines == {"one", "two", "agent", "appended", "typed"}


def test_an_informed_edit() -> None:
    """The text has the newer line, so its author has seen the older one."""
    page = Page().agent("one, two, agent").agent("one, two, agent, later")
    assert page.save("one, two, later").lines == {"one", "two", "later"}


def test_a_late_save_is_based_on_no_later_version_than_it_displaced() -> None:
    page = Page().agent("one, two, agent")
    page.history.observe(units("one, typed"), page.history.versions[0], Evidence(), False)
    assert page.lines == {"one", "typed", "agent"}
    assert page.history.tip.units == units("one, two, agent")


def test_a_late_save_with_the_words_of_a_later_version() -> None:
    """It cannot have seen the other line of the agent, which it lacks."""
    page = Page().agent("one, two, agent").agent("one, two, agent, later")
    page.history.observe(units("one, two, later"), page.history.versions[0], Evidence(), False)
    assert page.lines == {"one", "two", "agent", "later"}


def test_another_devices_version() -> None:
    """A sync service brings the text that the other device made of the version it had."""
    page = Page().agent("one, two, agent").agent("one, two, agent, later")
    assert page.save("one, agent, device").lines == {"one", "agent", "later", "device"}


def test_the_agents_removal_is_protected() -> None:
    page = Page().agent("one")
    assert page.save("one, two, typed").lines == {"one", "typed"}


def test_a_person_may_bring_back_what_the_agent_removed() -> None:
    page = Page().agent("one").agent("one, agent")
    assert page.save("one, agent, two").lines == {"one", "two", "agent"}


# -- bounds ----------------------------------------------------------------------------------------


def test_three_lines_that_are_deleted_again_after_another_deletion_are_gone() -> None:
    """A window deletes three lines, which come back. Another one deletes a fourth line. Then the
    first window deletes the three again. Its text is a part of what it saved before."""
    page = Page("one, five").agent("one, two, three, four, five").save("one, five")
    assert {"two", "three", "four"} <= page.lines
    page.save("one, two, three, four", Evidence(in_place=False, age=60.0))
    assert page.save("one").lines == {"one"}


def test_a_stale_window_that_deletes_two_lines_removes_no_others() -> None:
    """One of the two came back once, and the agent has removed the other one. All that the text
    lacks of the note came back once, but the window never had three of these lines."""
    page = Page("one").agent("one, two").save("one, x").save("one, two, x, y")
    page.agent("one, two, x, y, a, b, c").save("one, two, x, y, z")
    page.agent("one, two, x, z, a, b, c")
    assert {"a", "b", "c"} <= page.save("one, x, z").lines


def test_the_number_of_versions_is_bounded() -> None:
    """The oldest stays, so a window that was never closed still takes nothing away."""
    page = Page()
    for number in range(5 * versions.KEEP):
        page.agent(f"one, two, agent, write {number}")
    page.save("one, two, typed")
    assert len(page.history.versions) <= versions.KEEP + 1
    assert {"agent", "typed"} <= page.lines
    assert page.history.versions[0].units == units("one, two")
    again = History(page.history.versions, page.history.tip.n, [], page.history.guards)
    assert again.head == page.history.tip.units


def test_a_line_that_no_version_has_any_more_is_dropped_last() -> None:
    """Two editors overwrite each other; what the first one typed can be restored for long."""
    page = Page().agent("one, two, agent").save("one, two, agent, typed").save("one, two, agent")
    lines = "one, two, agent"
    for number in range(2 * versions.KEEP):
        lines += f", write {number}"
        page.agent(lines)
    assert len(page.history.versions) <= versions.KEEP + 1
    assert any("- typed" in version.units for version in page.history.versions)


def test_old_versions_and_their_guards_go() -> None:
    page = Page()
    page.history.change(units("one, two, agent"))
    page.history.tip = page.history.write(at=100.0)
    page.history.change(units("one, two, agent, later"))
    page.history.tip = page.history.write(at=200.0)
    page.history.forget_before(150.0)
    assert [version.units for version in page.history.versions] == [units("one, two, agent, later")]
    assert page.history.guards.keys() == {"- later"}
    assert page.lines == {"one", "two", "agent", "later"}


def test_purged_words_are_in_no_version() -> None:
    page = Page().agent("one, two, secret").agent("one, two").save("one, two, typed")
    page.history.scrub(lambda unit: "secret" in unit)
    versions = page.history.versions
    assert not any("secret" in str([v.units, v.changes, v.own, v.new]) for v in versions)
    assert "- secret" not in {*page.history.guards, *page.history.known_units}
    assert page.save("one, two, typed, more").lines == {"one", "two", "typed", "more"}


def test_a_version_is_stored_as_changes_of_the_one_before() -> None:
    page = Page().agent("one, two, agent").save("one!, two").agent("one!, two, agent, later")
    before: Units = ()
    for version in page.history.versions:
        assert apply_edits(before, version.changes) == version.units
        before = version.units
