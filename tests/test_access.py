"""Who may read and write what: the table of the design, and that no name or claim widens it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.access import ADMIN, PERSON, RANKS, Actor, lower_type, may, readable

GARDEN = Actor("garden", "project", "garden")
SKILL = Actor("spelling", "skill")
CHIEF = Actor(ADMIN, "admin")
OWNERS = ("", ADMIN, "garden", "other")


@pytest.mark.parametrize(
    ("actor", "reads", "writes"),
    [
        (PERSON, OWNERS, OWNERS),
        (CHIEF, OWNERS, OWNERS),
        (GARDEN, ("", ADMIN, "garden"), ("garden",)),
        (SKILL, (), ()),
        (Actor("garden", "no such type"), (), ()),
        (Actor("garden", ""), (), ()),
    ],
)
def test_the_table_holds(actor: Actor, reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
    assert tuple(owner for owner in OWNERS if may(actor, "read", owner)) == reads
    assert tuple(owner for owner in OWNERS if may(actor, "write", owner)) == writes


@pytest.mark.parametrize("name", [ADMIN, "", "person"])
def test_a_name_gives_no_rights(name: str) -> None:
    for kind in ("project", "skill", ""):
        actor = Actor(name, kind)
        assert not may(actor, "write", ADMIN)
        assert not may(actor, "write", "")
        assert not may(actor, "write", "garden")


def test_a_project_does_not_make_its_notes_anybody_elses() -> None:
    assert not may(Actor("helper", "project", "garden"), "write", "garden")


@pytest.mark.parametrize(
    ("claim", "registered", "expected"),
    [
        ("admin", "admin", "admin"),
        ("admin", "project", "project"),
        ("project", "admin", "project"),
        ("skill", "admin", "skill"),
        ("admin", "skill", "skill"),
        ("person", "admin", "skill"),
        ("Admin", "admin", "skill"),
        ("", "admin", "skill"),
    ],
)
def test_the_lower_of_claim_and_registry_counts(claim: str, registered: str, expected: str) -> None:
    assert lower_type(claim, registered) == expected


ACTOR = st.builds(
    Actor,
    st.sampled_from([*OWNERS, "person", "spelling"]),
    st.sampled_from([*RANKS, "person", "", "root"]),
)
OWNER = st.sampled_from([*OWNERS, "person"]) | st.text()
WORD = st.sampled_from(RANKS) | st.text()


@given(ACTOR, OWNER)
def test_the_filter_of_a_query_says_the_same_as_may(actor: Actor, owner: str) -> None:
    owners = readable(actor)
    assert may(actor, "read", owner) is (owners is None or owner in owners)


@given(ACTOR, OWNER)
def test_what_may_be_written_may_be_read(actor: Actor, owner: str) -> None:
    assert may(actor, "read", owner) or not may(actor, "write", owner)


@given(ACTOR, OWNER, st.text())
def test_an_action_nobody_knows_is_no_more_than_writing(
    actor: Actor, owner: str, action: str
) -> None:
    if action != "read":
        assert may(actor, action, owner) is may(actor, "write", owner)


@given(WORD, WORD)
def test_no_claim_rises_above_the_registry(claim: str, registered: str) -> None:
    rank = RANKS.index(lower_type(claim, registered))
    for word in (claim, registered):
        assert rank <= (RANKS.index(word) if word in RANKS else 0)
