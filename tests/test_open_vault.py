"""An index that is kept in step: nothing that it finds on its way is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brain import lock
from brain.api import Brain
from brain.errors import BrainError, Busy
from brain.index import records
from brain.index.db import Index
from brain.journal.writer import Journal
from brain.operations import lookup
from brain.store import Store
from brain.store.store import Outcome
from tests.conftest import MakeVault, OpenBrain

NOTE = "40_Brain/MEMORY.md"
MEMORY = "## Facts\n- The pump runs on mondays in the old shed\n- another one\n"


def edit(root: Path, old: str, new: str) -> None:
    """As a person does it, some time ago."""
    path = root / NOTE
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, (1, 1))


@pytest.fixture
def root(vault: MakeVault, opened: OpenBrain) -> Path:
    """A vault with a memory that has a score, and that a person has edited since."""
    root = vault({NOTE: MEMORY})
    os.utime(root / NOTE, (1, 1))
    with opened(root) as brain:
        brain.sync()
        brain.reinforce(lookup.find(brain.vault, "pump").ref)
        assert score(brain) == 3
    edit(root, "mondays", "tuesdays")
    return root


def score(brain: Brain) -> float:
    (hit,) = brain.search("pump").results
    found = brain.show(hit.row.ref).score
    assert isinstance(found, float)
    return found


# -- an entry that a person edits keeps its history ----------------------------------------------


def test_while_another_process_writes(root: Path, opened: OpenBrain) -> None:
    brain = opened(root)
    handle = lock.take(f"{brain.vault.paths.folder_path}/brain.db-write")
    assert handle is not None
    answer = brain.search("pump")
    assert not answer.freshness.fresh
    assert "mondays" in answer.results[0].row.text
    os.close(handle)
    assert brain.search("pump").freshness.fresh
    assert score(brain) == 3


KILLED = """
import os, sys
from pathlib import Path
from brain.index import records
from brain.index.db import Index
from brain.journal.writer import Journal
from tests import kit

root, state, when = sys.argv[1:]
append = Journal.append

def killed(self, entries, durable=True):
    if when == "after":
        append(self, entries, durable)
    os._exit(9)

Journal.append = killed
kit.open_brain(Path(root), Path(state)).refresh()
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_when_it_goes_on_record(
    when: str, root: Path, opened: OpenBrain, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    done = subprocess.run([sys.executable, "-c", KILLED, root, state, when], check=False)
    assert done.returncode == 9
    assert score(opened(root)) == 3


def test_on_a_disk_without_room(
    root: Path, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = opened(root)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "journal")

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", full)
        answer = brain.search("pump")
        assert "mondays" in answer.results[0].row.text
        assert any("No space left" in why for why in answer.freshness.stale)
        with pytest.raises(BrainError, match="No space left"):
            brain.sync()
    assert score(brain) == 3


def test_a_vault_that_may_not_be_written_is_followed_all_the_same(
    root: Path, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    answer = opened(root).search("pump")
    assert answer.freshness.fresh
    assert "tuesdays" in answer.results[0].row.text


# -- what changed is told ------------------------------------------------------------------------


def test_what_changed_is_told_though_the_journals_cannot_be_brought_in(
    root: Path, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = opened(root)
    heard: list[str] = []
    brain.events.subscribe(lambda event: heard.append(event.name))
    exclusive = Index.exclusive
    asked: list[float] = []

    def busy(self: Index, wait: float = 30.0) -> object:
        asked.append(wait)
        if len(asked) == 2:  # after the files, the journals
            raise Busy("Another Brain process is writing the index.")
        return exclusive(self, wait)

    monkeypatch.setattr(Index, "exclusive", busy)
    assert not brain.refresh().fresh
    assert heard == ["memory:write"]
    assert brain.refresh().fresh
    assert heard == ["memory:write"]


# -- what a person typed is compared, too ----------------------------------------------------------


def test_contradictions_between_memories_that_a_person_typed(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({NOTE: "## Facts\n- The staging server listens on port 8080\n- another one\n"})
    os.utime(root / NOTE, (1, 1))
    brain = opened(root)
    brain.remember("The walrus eats clams")
    assert brain.conflicts() == []
    edit(root, "- another one", "- The staging server listens on port 9090")
    brain.sync()
    (conflict,) = brain.conflicts()
    assert [entry.line for entry in conflict.entries] == [3, 2]
    assert (conflict.type, conflict.by) == ("contradictory", "person")
    assert "contradicts" not in (root / NOTE).read_text()
    edit(root, "clams", "clams and fish")
    brain.sync()
    assert len(brain.conflicts()) == 1
    brain.resolve(conflict.event, keep=conflict.entries[0].id)
    assert brain.conflicts() == []


def test_an_agents_memory_is_compared_once(root: Path, opened: OpenBrain) -> None:
    brain = opened(root)
    brain.remember("The staging server listens on port 8080")
    brain.remember("The staging server listens on port 9090")
    brain.sync()
    assert len(list(records.select(brain.vault.index, ops=("conflict",)))) == 1


# -- someone saves right after a write -------------------------------------------------------------


@pytest.mark.parametrize("how", ["old text", "renamed away"])
def test_the_answer_is_what_was_written(
    root: Path, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The note lacks the line, or is missing, when the index is updated."""
    brain, note = opened(root), root / NOTE
    brain.remember("The walrus eats clams")
    old, apply = note.read_text(), Store.apply

    def applied(*args: Any) -> list[Outcome]:
        done = apply(*args)
        note.rename(root / "moved.md")
        if how == "old text":
            note.write_text(old)
        return done

    monkeypatch.setattr(Store, "apply", applied)
    said = brain.remember("The seal eats herring")
    monkeypatch.undo()
    assert said.text.endswith("The seal eats herring")
    if how == "renamed away":
        (root / "moved.md").rename(note)
    os.utime(note, (1, 1))  # nobody is typing
    assert brain.show(said.id).text.endswith("The seal eats herring")
    assert "herring" in note.read_text()
