"""The age of a memory: from when it was made, however its note changes."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brain.api import Brain, open
from brain.index import read
from brain.operations import pending
from tests.conftest import MakeVault, SetZone
from tests.journal.kit import records
from tests.operations.conftest import LONG_AGO, NOTE, settle

MORNING = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


class Machine:
    """A vault that is opened anew for each step, with a clock that can be set."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root, self.state = root, state
        self.now = MORNING

    def brain(self) -> Brain:
        return open(self.root, state=self.state, clock=lambda: self.now)

    def remember(self, text: str, **options: object) -> str:
        with self.brain() as brain:
            return brain.remember(text, **options).id  # type: ignore[arg-type]

    def created(self, id: str) -> str:
        with self.brain() as brain:
            return brain.show(id).created

    def listed(self) -> list[str]:
        with self.brain() as brain:
            return [entry.text.partition(": ")[2] or entry.text for entry in brain.list()]


@pytest.fixture
def machine(vault: MakeVault, tmp_path: Path) -> Machine:
    root = vault({NOTE: "## Facts\n- Seals bark\n"})
    settle(root)
    return Machine(root, tmp_path / "state")


def test_the_newest_comes_first_within_a_day(machine: Machine) -> None:
    for text in ("one", "two", "three"):
        machine.remember(f"Walrus number {text}")
        machine.now += timedelta(minutes=1)
    assert machine.listed()[:3] == [f"Walrus number {n}" for n in ("three", "two", "one")]


def test_a_new_memory_is_not_as_old_as_its_day(machine: Machine) -> None:
    id = machine.remember("Whales sing")
    assert machine.created(id) == "2026-03-01T09:30:00.000Z"
    machine.now += timedelta(seconds=5)
    with machine.brain() as brain:
        factors = brain.show(id).confidence_factors
    assert factors["age_days"] == pytest.approx(5 / 86400)


def test_the_quarantine_lasts_a_day_from_when_it_was_stored(machine: Machine) -> None:
    machine.now = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
    id = machine.remember("Whales sing", tags=["candidate"])
    early = machine.remember("Orcas hunt", tags=["candidate"], date="2026-02-20")

    def factor(id: str) -> float:
        with machine.brain() as brain:
            return brain.show(id).importance_factors["unvisited"]  # type: ignore[no-any-return]

    machine.now += timedelta(hours=23)
    assert (factor(id), factor(early)) == (1.0, 1.0)
    machine.now += timedelta(hours=2)
    assert (factor(id), factor(early)) == (0.8, 0.8)


def test_another_date_than_that_of_the_write_counts(machine: Machine) -> None:
    assert machine.created(machine.remember("Whales sing", date="2026-02-28")) == "2026-02-28"


@pytest.mark.parametrize("name", ["Asia/Tokyo", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_the_day_is_that_of_this_machine(machine: Machine, zone: SetZone, name: str) -> None:
    zone(name)
    for hour in (1, 12, 23):
        machine.now = datetime(2026, 3, 1, hour, tzinfo=UTC)
        id = machine.remember(f"Walrus number {hour}")
        assert machine.created(id) == f"2026-03-01T{hour:02}:00:00.000Z"
    assert machine.listed()[:3] == [f"Walrus number {hour}" for hour in (23, 12, 1)]


# -- memories without a date -----------------------------------------------------------------------

THEN = datetime.fromtimestamp(LONG_AGO, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def seals(machine: Machine) -> str:
    with machine.brain() as brain:
        return next(entry.created for entry in brain.list() if entry.text == "Seals bark")


@pytest.mark.parametrize("seen", [True, False])
def test_a_write_by_an_agent_does_not_make_others_young(machine: Machine, seen: bool) -> None:
    if seen:
        assert seals(machine) == THEN
    machine.remember("Whales sing", date=False, by="admin")
    assert (machine.root / NOTE).stat().st_mtime > LONG_AGO
    assert seals(machine) == THEN


def test_it_outlives_the_index_and_the_day(machine: Machine) -> None:
    machine.remember("Whales sing")
    (machine.root / "40_Brain/brain.db").unlink()
    assert seals(machine) == THEN
    with machine.brain() as brain:
        assert not [r for r in records(brain.vault.journal) if r.op == "seen"]
    machine.now += timedelta(days=1)
    with machine.brain() as brain:
        assert pending.write_usage_if_due(brain.vault) == []
        found = [r for r in records(brain.vault.journal) if r.op == "seen"]
        assert [(r.by, r.data, r.at[:10]) for r in found] == [
            ("brain", {"created": THEN}, "2026-03-01")
        ]
        assert not brain.vault.journal.pending_uses()
    (machine.root / "40_Brain/brain.db").unlink()
    assert seals(machine) == THEN


def test_another_machine_learns_it_from_the_journal(machine: Machine, tmp_path: Path) -> None:
    seals(machine)
    with machine.brain() as brain:
        brain.journal_write()
    os.utime(machine.root / NOTE)
    assert seals(Machine(machine.root, tmp_path / "other")) == THEN


def test_a_memory_that_a_person_rewords_stays_as_old_as_it_is(machine: Machine) -> None:
    machine.remember("Whales sing")
    seals(machine)
    text = (machine.root / NOTE).read_text()
    (machine.root / NOTE).write_text(text.replace("Seals bark", "Seals bark at dawn"))
    with machine.brain() as brain:
        found = next(entry for entry in brain.list() if entry.text == "Seals bark at dawn")
        assert found.created == THEN


def test_what_an_agent_added_has_the_time_of_that(machine: Machine) -> None:
    id = machine.remember("Whales sing", date=False, by="admin")
    with machine.brain() as brain:
        brain.journal_write()
        assert read.facts(brain.vault.index, [id])[id].by == "admin"
    assert machine.created(id) == "2026-03-01T09:30:00.000Z"


def test_nothing_is_recorded_while_writing_is_off(machine: Machine, tmp_path: Path) -> None:
    with open(machine.root, state=tmp_path / "new", read_only=True) as brain:
        assert [entry.created for entry in brain.list()] == [THEN]
        assert not brain.vault.state.exists()


def test_a_sync_that_finds_nothing_new_writes_nothing(machine: Machine) -> None:
    with machine.brain() as brain:
        brain.sync()
        uses = brain.vault.state.uses("")
        assert [use.op for use in uses] == ["seen"]
        changes = brain.vault.index.db.total_changes
        brain.sync()
        assert brain.vault.state.uses("") == uses
        assert brain.vault.index.db.total_changes == changes
