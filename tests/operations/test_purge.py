"""Forgotten for good: no file that Brain can reach holds the words, and nothing counts any more."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from brain import events
from brain.api import Brain
from brain.errors import Busy, Denied, NotFound
from brain.index import read
from brain.operations import lookup
from brain.state import Recall
from tests import kit
from tests.journal.kit import records
from tests.operations.conftest import LONG_AGO, NOTE, Made
from tests.store.killer import Killer, killed

WORD = "zyzzyva"


def _stress(number: int) -> Any:
    return pytest.param(number, marks=pytest.mark.stress)


def holding(brain: Brain, word: str = WORD) -> list[str]:
    """The files of the vault and of the state folder that hold a word, in any case."""
    found = []
    for folder in (brain.vault.paths.root, brain.vault.paths.state):
        for path in folder.rglob("*"):
            if path.is_file() and word.encode() in path.read_bytes().lower():
                found.append(path.name)
    return sorted(found)


def told(brain: Brain) -> str:
    """Remember something, and let it leave its words wherever it may."""
    long = " ".join(f"{WORD}{n}" for n in range(5000))  # more than a page of brain.db
    shape = brain.remember(f"The {WORD} is a weevil of the palms {long}", tags=["insects"])
    brain.sync()
    brain.update(shape.id, f"The {WORD} is a weevil")
    brain.sync()
    brain.reinforce(shape.id, why=f"the {WORD} again")
    brain.context("which weevil lives in palms", session="s-1")
    return str(shape.id)


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_no_file_holds_the_words(made: Made, engine: str) -> None:
    brain = made(kit.VAULT, engine)
    brain.vault.index.db.execute(
        "PRAGMA secure_delete = OFF"
    )  # on by default in some builds of SQLite
    ref = told(brain)
    brain.context(f"what is a weevil, if not a {WORD[:6]}")
    assert len(holding(brain)) >= 4  # the note, the journal, the index, what was promised
    gone = brain.forget(ref, purge=True)
    assert gone.left == ["backups and sync services", "devices that have not synced since"]
    assert holding(brain) == []
    brain.sync()
    brain.vault.close()
    assert holding(brain) == []
    assert brain.history(ref)[0].op == "purge"
    assert brain.vault.index.healthy()


def test_nor_the_vectors_of_others_are_lost(made: Made) -> None:
    """The index is cleaned, not made anew: what is dear in it stays."""
    brain = made()
    brain.sync()
    with brain.vault.index.exclusive(), brain.vault.index.transaction() as db:
        db.execute("INSERT INTO meta VALUES ('dear', 'yes')")
    brain.forget(told(brain), purge=True)
    assert brain.vault.index.db.execute("SELECT value FROM meta WHERE key = 'dear'").fetchone()
    assert brain.sync().quiet
    assert not brain.vault.index.news


def test_what_others_promised_meanwhile_stays(made: Made) -> None:
    brain = made()
    ref = told(brain)
    brain.remember("Seals bark at night")
    brain.forget(ref, purge=True)
    assert holding(brain) == []
    assert holding(brain, "seals bark")


def test_hits_that_wait_do_not_count(made: Made) -> None:
    brain = made()
    ref = told(brain)
    brain.context("weevil palms walrus clams", agent="zoo")
    brain.context("weevil")
    assert read.facts(brain.vault.index, [ref]) or brain.sync()
    brain.forget(ref, purge=True)
    brain.journal_write()
    brain.sync()
    found = read.facts(brain.vault.index, [ref])[ref]
    assert (found.hits, found.score) == (0, 0)
    assert found.purged
    assert ref not in str(brain.vault.state.rows(Recall))


def test_what_was_asked_of_it_goes_with_it(made: Made) -> None:
    """Also by who was not shown it; what was asked of something else is the asker's."""
    brain = made()
    ref = told(brain)
    for question in (WORD, f"which weevil, if no {WORD}", "walrus clams", "is there a weevil?"):
        brain.context(question, session="s-2")
    brain.context(f"palm {WORD}", agent="zoo", by="zoo")
    brain.context(f"{WORD} weevil", by="zoo", agent="zoo")
    brain.search(f"{WORD} weevil")
    brain.vault.write_events()
    brain.forget(ref)
    brain.context(f"{WORD} weevil")
    brain.forget(ref, purge=True)
    state = str(brain.vault.state.rows(Recall))
    assert "walrus" in state
    assert "weevil" not in state
    assert WORD not in state


def test_an_entry_that_had_other_ids(made: Made) -> None:
    """A person wrote and edited it before it had an id of its own."""
    brain = made()
    note = brain.vault.paths.root / NOTE
    brain.reinforce("m-7f3k2ab4")  # from now on there is a history
    for text in (f"- {WORD} one\n", f"- {WORD} one two\n", f"- {WORD} one two three\n"):
        lines = [line for line in note.read_text().split("\n") if WORD not in line]
        note.write_text("\n".join(lines) + text)
        os.utime(note, (LONG_AGO, LONG_AGO))
        brain.sync()
    row = lookup.find(brain.vault, f"{WORD} one two three")
    refs = read.all_ids(brain.vault.index, row.ref)
    assert len(refs) == 3
    brain.reinforce(row.ref)
    brain.forget(row.ref, purge=True)
    [record] = [r for r in records(brain.vault.journal) if r.op == "purge"]
    assert set(record.data["refs"]) == refs
    assert holding(brain) == []


def test_what_was_forgotten_before_can_still_be_purged(made: Made) -> None:
    brain = made()
    ref = told(brain)
    brain.forget(ref)
    assert holding(brain)
    gone = brain.forget(ref, purge=True)
    assert (gone.outcome, gone.id) == ("purged", ref)
    assert holding(brain) == []
    with pytest.raises(NotFound):
        brain.forget("m-00000000", purge=True)


def test_only_by_who_may_write_it(made: Made) -> None:
    brain = made()
    ref = told(brain)
    brain.forget(ref)
    with pytest.raises((Denied, NotFound)):
        brain.forget(ref, purge=True, by="zoo")
    assert holding(brain)


def test_while_a_person_types_it_is_said_that_it_is_not_done(made: Made) -> None:
    brain = made(kit.VAULT)
    brain.vault.store.max_hold = 0.1
    ref = told(brain)
    (brain.vault.paths.root / ".git").mkdir()
    (brain.vault.paths.root / ".git/index.lock").touch()
    brain.vault.store.git = str(brain.vault.paths.root / ".git")
    with pytest.raises(Busy, match="not purged yet"):
        brain.forget(ref, purge=True)
    (brain.vault.paths.root / ".git/index.lock").unlink()
    assert brain.forget(ref, purge=True).outcome == "purged"
    assert holding(brain) == []


@pytest.fixture
def reader() -> Iterator[list[sqlite3.Connection]]:
    readers: list[sqlite3.Connection] = []
    yield readers
    for one in readers:
        one.close()


def test_who_reads_the_index_meanwhile_is_named(
    made: Made, reader: list[sqlite3.Connection]
) -> None:
    brain = made()
    ref = told(brain)
    brain.sync()
    brain.vault.index.db.execute("PRAGMA busy_timeout = 50")
    reader.append(sqlite3.connect(brain.vault.index.path, isolation_level=None))
    reader[0].execute("BEGIN")
    reader[0].execute("SELECT count(*) FROM entries").fetchone()
    left = brain.forget(ref, purge=True).left
    assert "40_Brain/brain.db, which another process is reading" in left


def test_followers_do_not_hear_the_words(made: Made) -> None:
    brain = made()
    ref = told(brain)
    assert any(WORD in str(event) for _, event in events.after(brain.vault.index, 0))
    brain.forget(ref, purge=True)
    brain.sync()
    assert not any(WORD in str(event) for _, event in events.after(brain.vault.index, 0))


def test_nor_do_those_that_wait_on_another_device(made: Made, tmp_path: Path) -> None:
    brain = made()
    ref = told(brain)
    with kit.open_brain(brain.vault.paths.root, tmp_path / "other") as other:
        other.context("weevil palms")
        brain.forget(ref, purge=True)
        other.journal_write()
    brain.sync()
    found = read.facts(brain.vault.index, [ref])[ref]
    assert (found.hits, bool(found.purged)) == (0, True)


def test_what_another_device_has_on_record_is_purged_there(made: Made, tmp_path: Path) -> None:
    brain = made()
    ref = told(brain)
    with kit.open_brain(brain.vault.paths.root, tmp_path / "other") as other:
        other.reinforce(ref, why=f"another device knows the {WORD}, too")
        theirs = f"40_Brain/journal/{other.vault.journal.device}/2026-03.jsonl"
        assert theirs in brain.forget(ref, purge=True).left
        assert holding(brain) == ["2026-03.jsonl"]
        with pytest.raises(Denied):
            other.forget(ref, purge=True, by="zoo")
        assert theirs not in other.forget(ref, purge=True).left
    assert holding(brain) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("at", [*range(2, 65, 9), *(_stress(n) for n in range(1, 65))])
def test_killed_in_the_middle_it_can_be_done_again(tmp_path: Path, at: int) -> None:
    quick = {"40_Brain/brain.yaml": "holdSeconds: 0\n"}
    root = kit.lay(tmp_path.resolve() / "vault", {**kit.VAULT, **quick})
    with kit.open_brain(root, tmp_path / "state") as brain:
        ref = told(brain)
    brain = kit.open_brain(root, tmp_path / "state")
    assert killed(lambda: brain.forget(ref, purge=True), Killer(at, "before")) is not None
    with kit.open_brain(root, tmp_path / "state") as again:
        assert again.forget(ref, purge=True).outcome == "purged"
        assert holding(again) == []
        again.sync()
        assert again.sync().quiet
        assert "clams" in again.search("walrus clams").results[0].row.text


def test_the_words_are_gone_while_the_vault_is_open(made: Made) -> None:
    """Also from the log of state.db, which SQLite empties only when the last process closes it."""
    brain = made()
    ref = brain.remember(f"The {WORD} is in the cellar").id
    brain.context(f"where is the {WORD}")
    brain.forget(ref, purge=True)
    assert [name for name in holding(brain) if name.startswith("state.db")] == []


def test_another_process_that_reads_the_state_is_named(made: Made) -> None:
    brain = made()
    ref = brain.remember(f"The {WORD} is in the cellar").id
    brain.context(f"where is the {WORD}")
    with closing(sqlite3.connect(brain.vault.state.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM recalls").fetchall()
        left = brain.forget(ref, purge=True).left
    assert any("state folder" in place for place in left)
