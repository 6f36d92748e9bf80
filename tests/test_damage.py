"""brain.db is a cache: whatever happens to it, every search answers as before."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brain import operations
from brain.api import Brain
from brain.errors import BrainError, Busy, IndexDamaged
from brain.index import relations
from brain.index.db import reading
from brain.open_vault import OpenVault
from brain.operations.remember import remember
from tests import kit
from tests.conftest import MakeVault, OpenBrain

QUESTIONS = ("walrus", "database file", "café", "東京", "sqlite", "parser", "short answers")
Damage = Callable[[Path, random.Random, Path], None]
NAMES = ("brain.db", "brain.db-wal", "brain.db-shm")


def delete(db: Path, chance: random.Random, other: Path) -> None:
    db.unlink()


def truncate(db: Path, chance: random.Random, other: Path) -> None:
    os.truncate(db, chance.randrange(db.stat().st_size))


def flip(db: Path, chance: random.Random, other: Path) -> None:
    target = chance.choice([p for p in (db, Path(f"{db}-wal")) if p.exists() and p.stat().st_size])
    with open(target, "r+b") as file:
        for _ in range(chance.choice([1, 10, 1000])):
            file.seek(chance.randrange(target.stat().st_size))
            file.write(bytes([chance.randrange(256)]))


def flip_in_secret(db: Path, chance: random.Random, other: Path) -> None:
    """With the times put back."""
    st = db.stat()
    flip(db, chance, other)
    os.utime(db, ns=(st.st_atime_ns, st.st_mtime_ns))


def foreign_wal(db: Path, chance: random.Random, other: Path) -> None:
    for suffix in ("-wal", "-shm"):
        shutil.copy(f"{other}{suffix}", f"{other}{suffix}.copy")
        os.replace(f"{other}{suffix}.copy", f"{db}{suffix}")


def foreign_shared_memory(db: Path, chance: random.Random, other: Path) -> None:
    shutil.copy(f"{other}-shm", f"{other}-shm.copy")
    os.replace(f"{other}-shm.copy", f"{db}-shm")


def foreign_journal(db: Path, chance: random.Random, other: Path) -> None:
    """What another SQLite left behind when it was killed: its pages are rolled back into ours."""
    with sqlite3.connect(other.with_name("rollback.db"), isolation_level=None) as made:
        made.execute("CREATE TABLE IF NOT EXISTS t (x)")
        made.execute("BEGIN")
        made.execute("INSERT INTO t VALUES (zeroblob(100000))")
        shutil.copy(f"{other.with_name('rollback.db')}-journal", f"{db}-journal")
        made.execute("ROLLBACK")
    made.close()


def swap_for_another(db: Path, chance: random.Random, other: Path) -> None:
    """The index of another vault, as a sync tool would bring it, with or without its WAL."""
    for suffix in ("", "-wal", "-shm") if chance.random() < 0.5 else ("",):
        shutil.copy(f"{other}{suffix}", f"{db}{suffix}.new")
        os.replace(f"{db}{suffix}.new", f"{db}{suffix}")


def overwrite_with_another(db: Path, chance: random.Random, other: Path) -> None:
    shutil.copy(other, db)


def empty(db: Path, chance: random.Random, other: Path) -> None:
    os.truncate(db, 0)


def garbage(db: Path, chance: random.Random, other: Path) -> None:
    db.write_bytes(chance.randbytes(chance.choice([1, 100, 4096, 100_000])))


def another_version(db: Path, chance: random.Random, other: Path) -> None:
    with sqlite3.connect(db) as made:
        made.execute(f"PRAGMA user_version = {chance.randrange(3, 100)}")
    made.close()


def lost_rows(db: Path, chance: random.Random, other: Path) -> None:
    """SQLite itself is content with this one."""
    with sqlite3.connect(db) as made:
        made.execute("DELETE FROM entries WHERE id % 2")
    made.close()


DAMAGES = [
    delete, truncate, flip, flip_in_secret, foreign_wal, foreign_shared_memory, foreign_journal,
    swap_for_another, overwrite_with_another, empty, garbage, another_version, lost_rows,
]  # fmt: skip


@pytest.fixture
def other(vault: MakeVault, tmp_path: Path) -> Path:
    """The brain.db of another vault that was not closed, beside its WAL."""
    root = vault({f"{n}.md": f"walrus {n} database\n" for n in range(50)}, name="other")
    with kit.open_brain(root, tmp_path / "other-state") as brain:
        brain.sync()
        kept = tmp_path / "kept"
        kept.mkdir()
        for name in NAMES:
            shutil.copy(root / "40_Brain" / name, kept / name)
    return kept / "brain.db"


def trial(damage: Damage, seed: int, vault: MakeVault, state: Path, other: Path) -> None:
    chance = random.Random(seed)
    root = vault(kit.VAULT | {f"n{n}.md": f"walrus {n} " * n for n in range(chance.randrange(40))})
    with kit.open_brain(root, state) as first:
        expected = kit.answers(first, *QUESTIONS)
    assert len(expected) > len(QUESTIONS)
    db = root / "40_Brain/brain.db"
    with kit.open_brain(root, state) as brain:
        assert kit.answers(brain, *QUESTIONS) == expected
        assert not brain.vault.index.news
        if chance.random() < 0.5:  # so that the WAL holds something
            brain.search("walrus")
            brain.vault.write_events()
        kit.outdate(db)
        damage(db, chance, other)
        assert kit.answers(brain, *QUESTIONS) == expected  # while it was open
        assert brain.vault.index.healthy()
        if damage is foreign_shared_memory:  # the file itself is sound
            assert not brain.vault.index.news
    with kit.open_brain(root, state) as again:
        assert kit.answers(again, *QUESTIONS) == expected
        # the one before left it sound; but a journal only shows when the file is opened
        assert not again.vault.index.news or damage is foreign_journal
    kit.outdate(db)
    damage(db, chance, other)  # while it was closed
    with kit.open_brain(root, state) as last:
        assert kit.answers(last, *QUESTIONS) == expected
        assert last.vault.index.healthy()


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_same_answers_after(damage: Damage, vault: MakeVault, tmp_path: Path, other: Path) -> None:
    for seed in range(5):
        trial(damage, seed, vault, tmp_path / f"state{seed}", other)


@pytest.mark.stress
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_same_answers_after_many(
    damage: Damage, vault: MakeVault, tmp_path: Path, other: Path
) -> None:
    for seed in range(100, 150):
        trial(damage, seed, vault, tmp_path / f"state{seed}", other)
        shutil.rmtree(tmp_path / f"state{seed}", ignore_errors=True)


def test_another_full_text_engine(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    found = {}
    for engine in ("fts4", "fts5", "auto", "fts4"):
        brain = opened(root, engine=engine)
        found[engine] = [(hit["id"], hit["line"]) for hit in kit.answers(brain, *QUESTIONS)]
        assert brain.vault.index.healthy()
        brain.vault.close()
    assert found["fts5"] == found["auto"]
    assert sorted(found["fts4"]) == sorted(found["fts5"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_owner_may_read_the_index(vault: MakeVault, opened: OpenBrain) -> None:
    """It contains the text of all notes."""
    root = vault()
    brain = opened(root)
    brain.search("walrus")
    for name in NAMES:
        assert (root / "40_Brain" / name).stat().st_mode & 0o777 == 0o600


def test_a_folder_in_its_place_is_left_alone(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault(kit.VAULT | {"40_Brain/brain.db/mine.txt": "mine"})
    with pytest.raises(BrainError, match=r"cannot be created at .*brain\.db"):
        opened(root).search("walrus")
    assert (root / "40_Brain/brain.db/mine.txt").read_text() == "mine"


def test_damage_is_told_in_one_line(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    first = opened(root)
    first.sync()
    assert first.vault.index.news == ""
    first.close()
    (root / "40_Brain/brain.db").write_bytes(b"not a database")
    second = opened(root)
    second.search("walrus")
    assert second.vault.index.news == "The index was changed by another program; it is built again."


def test_pages_that_nobody_was_seen_to_change(vault: MakeVault, opened: OpenBrain) -> None:
    """A failing disk changes no time stamp; SQLite notices when it reads."""
    root = vault()
    brain = opened(root)
    expected = kit.answers(brain, *QUESTIONS)
    index = brain.vault.index
    brain.vault.close()
    db = root / "40_Brain/brain.db"
    data = db.read_bytes()
    db.write_bytes(data[:100] + bytes(byte ^ 0x55 for byte in data[100:]))
    with index._lock(0):
        index._write_seal()
    again = opened(root)
    assert kit.answers(again, *QUESTIONS) == expected
    assert again.vault.index.news == "The index was damaged; it is built again."


def test_a_narrow_sync_fills_a_new_index(vault: MakeVault, opened: OpenBrain) -> None:
    """A watcher asks for a few paths; if the index is lost meanwhile, it needs all of them."""
    root = vault()
    brain = opened(root)
    brain.sync()
    (root / "40_Brain/brain.db").unlink()
    brain.sync(["40_Brain/MEMORY.md"])
    assert kit.found(brain, "tusks", check=False) == ["Notes/Walrus.md"]


def test_a_sync_that_is_interrupted_goes_on_later(
    vault: MakeVault, opened: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault({f"{n}.md": f"note {n}\n" for n in range(20)})
    brain = opened(root)
    monkeypatch.setattr("brain.sync.BATCH_FILES", 2)
    monkeypatch.setattr("brain.sync.BATCHES_A_COMMIT", 2)

    def stop(number: int, total: int) -> None:
        if number == 11:
            raise KeyboardInterrupt

    brain.vault.progress = stop
    with pytest.raises(KeyboardInterrupt):
        brain.sync()
    brain.vault.progress = None
    stats = brain.sync(["1.md"])
    assert len(stats.added) == 12  # eight were committed
    assert stats.cold
    assert not brain.vault.index.news


# -- more than one process ---------------------------------------------------------------------

ASK = """
import json, sys
from pathlib import Path
from tests import kit
root, state, *questions = sys.argv[1:]
with kit.open_brain(Path(root), Path(state)) as brain:
    print(json.dumps(kit.answers(brain, *questions)))
    print(brain.vault.index.news)
"""
SYNC = """
import sys
from pathlib import Path
import brain.sync
from tests import kit
brain.sync.BATCH_FILES, brain.sync.BATCHES_A_COMMIT = 20, 2
root, state = sys.argv[1:]
with kit.open_brain(Path(root), Path(state)) as opened:
    print("ready", flush=True)
    opened.sync()
    print(opened.vault.index.news)
"""


def run(code: str, *args: object) -> subprocess.Popen[str]:
    here = Path(__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=here, env=os.environ | {"PYTHONPATH": str(here)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> list[str]:
    """The lines that a process printed; it must have ended well."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split("\n")


def big(vault: MakeVault, notes: int = 400) -> Path:
    words = ("walrus", "database", "parser", "file", "answers")
    return vault(
        kit.VAULT
        | {f"b/{n}.md": f"# {words[n % 5]} {n}\n\n" + f"w{n} " * 200 for n in range(notes)}
    )


def kill_while_syncing(root: Path, state: Path, chance: random.Random) -> None:
    process = run(SYNC, root, state)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    time.sleep(chance.random() * 0.2)  # the moment is what is varied
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


@pytest.mark.parametrize("trials", [3, pytest.param(50, marks=pytest.mark.stress)])
def test_killed_while_syncing(trials: int, vault: MakeVault, tmp_path: Path) -> None:
    root, chance = big(vault), random.Random(1)
    with kit.open_brain(root, tmp_path / "calm") as calm:
        expected = kit.answers(calm, *QUESTIONS)
    (root / "40_Brain/brain.db").unlink()
    for _ in range(trials):
        state = tmp_path / "state"
        kill_while_syncing(root, state, chance)
        if chance.random() < 0.5:
            kill_while_syncing(root, state, chance)
        with kit.open_brain(root, state) as brain:
            assert kit.answers(brain, *QUESTIONS) == expected
            assert brain.vault.index.healthy()
        shutil.rmtree(state, ignore_errors=True)


@pytest.mark.parametrize("trials", [1, pytest.param(30, marks=pytest.mark.stress)])
def test_two_processes_fill_the_index_at_once(
    trials: int, vault: MakeVault, tmp_path: Path
) -> None:
    root = big(vault)
    with kit.open_brain(root, tmp_path / "calm") as calm:
        expected = json.loads(json.dumps(kit.answers(calm, *QUESTIONS)))
    for n in range(trials):
        (root / "40_Brain/brain.db").unlink()
        both = [run(SYNC, root, tmp_path / f"state{n}") for _ in range(2)]
        assert [ended(process) for process in both] == [["ready", "", ""]] * 2
        answer, news, *_ = ended(run(ASK, root, tmp_path / f"state{n}", *QUESTIONS))
        assert json.loads(answer) == expected
        assert news == ""  # no one took the other's work for damage


WRITE = """
import sys
from pathlib import Path
from tests import kit
root, state, rounds = sys.argv[1:]
with kit.open_brain(Path(root), Path(state)) as brain:
    for n in range(int(rounds)):
        Path(root, f"new{n % 7}.md").write_text(f"newcomer number{n}\\n" * (n % 50 + 1))
        brain.sync([f"new{n % 7}.md"] if n % 3 else None)
        assert not brain.vault.index.news, brain.vault.index.news
"""


@pytest.mark.parametrize("rounds", [60, pytest.param(3000, marks=pytest.mark.stress)])
def test_a_writer_and_those_who_come_and_go(rounds: int, vault: MakeVault, tmp_path: Path) -> None:
    """A daemon that writes and commands that ask: nobody takes the other for an intruder."""
    root, state = vault(), tmp_path / "state"
    with kit.open_brain(root, state) as brain:
        brain.sync()
    writers = [run(WRITE, root, state, rounds)]
    if rounds > 100:
        writers.append(run(WRITE, root, state, rounds))
    asked = 0
    while any(writer.poll() is None for writer in writers):
        with kit.open_brain(root, state) as brain:
            assert "Notes/Walrus.md" in kit.found(brain, "tusks")
            assert not brain.vault.index.news
            asked += 1
    for writer in writers:
        ended(writer)
    assert asked
    with kit.open_brain(root, state) as brain:
        assert f"new{(rounds - 1) % 7}.md" in kit.found(brain, f"number{rounds - 1}")
        assert brain.vault.index.healthy()
        assert not brain.vault.index.news


def test_one_process_leaves_while_another_stays(vault: MakeVault, opened: OpenBrain) -> None:
    """The last one out moves the WAL into the file, whoever wrote it."""
    root = vault()
    daemon, reader = opened(root), opened(root)
    daemon.sync()
    reader.search("walrus")
    (root / "new.md").write_text("a newcomer\n")
    daemon.sync()
    daemon.close()
    reader.vault.index.close()
    after = opened(root)
    assert kit.found(after, "newcomer") == ["new.md"]
    assert not after.vault.index.news


def test_others_see_what_one_wrote(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    one, two = opened(root), opened(root)
    for n in range(5):
        (root / f"{n}.md").write_text(f"newcomer number{n}\n")
        assert kit.found(one, f"number{n}") == [f"{n}.md"]
        assert kit.found(two, f"number{n}", check=False) == [f"{n}.md"]
        two.vault.write_events()
        one.vault.write_events()
        one, two = two, one
    assert not one.vault.index.news
    assert not two.vault.index.news
    assert kit.dump(one.vault.index) == kit.dump(two.vault.index)


def test_a_rebuild_is_seen_by_others(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    one, two = opened(root), opened(root)
    assert kit.found(one, "tusks") == kit.found(two, "tusks") == ["Notes/Walrus.md"]
    one.sync(rebuild=True)
    assert kit.found(two, "tusks") == ["Notes/Walrus.md"]
    assert not two.vault.index.news


class Holder:
    """Another Brain that has the lock, as a writer at work has it."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain

    def __enter__(self) -> None:
        self._lock = self.brain.vault.index.exclusive()
        self._lock.__enter__()

    def __exit__(self, *_: Any) -> None:
        self._lock.__exit__(None, None, None)


def test_a_search_does_not_wait_for_a_writer(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    writer, reader = opened(root), opened(root)
    writer.sync()
    (root / "new.md").write_text("a newcomer\n")
    with Holder(writer):
        started = time.monotonic()
        answer = reader.search("walrus")
        reader.vault.close()
        assert time.monotonic() - started < 2
    assert [hit.row.path for hit in answer.results]
    assert not answer.freshness.fresh
    assert answer.freshness.stale == (
        "Another Brain process is writing the index. Try again in a moment.",
    )
    assert reader.search("walrus").freshness.fresh


def test_a_search_beside_a_writer_is_fresh_if_nothing_changed(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault()
    writer, reader = opened(root), opened(root)
    writer.sync()
    with Holder(writer):
        assert reader.search("walrus").freshness.fresh


def test_a_full_disk_is_no_damage(vault: MakeVault, opened: OpenBrain) -> None:
    """The index stays what it was, and works again once there is room."""
    root = vault(kit.VAULT)
    brain = opened(root)
    brain.sync()
    (pages,) = brain.vault.index.db.execute("PRAGMA page_count").fetchone()
    brain.vault.index.db.execute(f"PRAGMA max_page_count = {pages}")
    (root / "Large.md").write_text("\n\n".join(f"# Part {n}\n{n * 'otter '}" for n in range(400)))
    with pytest.raises(BrainError, match=r"disk is full\. Free some space"):
        brain.sync()
    brain.vault.index.db.execute(f"PRAGMA max_page_count = {1000 * pages}")
    assert brain.search("otter").results
    assert brain.search("walrus").results


def test_a_mistake_in_a_question_is_no_damage(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    before = brain.vault.index._inode

    def wrong(vault: OpenVault) -> object:
        with reading():
            return vault.index.db.execute("SELECT no_such_column FROM entries")

    with pytest.raises(sqlite3.OperationalError, match="no_such_column"):
        operations.run(wrong, brain.vault)
    assert brain.vault.index._inode == before
    assert not brain.vault.index.news


def test_a_table_that_is_gone_is_damage(vault: MakeVault, opened: OpenBrain) -> None:
    """SQLite calls both a mistake in the question."""
    brain = opened(vault())
    brain.sync()
    brain.vault.index.db.execute("DROP TABLE learned")
    brain.vault.index._write_seal()  # as if nobody had been seen to do it
    assert not brain.vault.index.healthy()
    found = operations.run(lambda vault: relations.learned(vault.index, pending=True), brain.vault)
    assert found == []
    assert brain.vault.index.news == "The index was damaged; it is built again."


def test_what_has_written_is_not_called_again(vault: MakeVault, opened: OpenBrain) -> None:
    """Else a second change would be undone, or a memory be counted twice."""
    brain = opened(vault())
    calls: list[str] = []

    def writes(vault: OpenVault, text: str) -> None:
        calls.append(remember(vault, text).outcome)
        raise IndexDamaged("The index cannot be read.")

    with pytest.raises(IndexDamaged):
        operations.run(writes, brain.vault, "Seals bark")
    assert calls == ["added"]


def test_an_index_that_is_held_is_no_damage(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    brain.vault.index.db.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(brain.vault.index.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy), reading():
        brain.vault.index.db.execute("BEGIN IMMEDIATE")
    other.close()


# -- a full disk ---------------------------------------------------------------------------------

FULL = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # no file grows over this size
os.execv(sys.executable, [sys.executable, "-m", "brain", *sys.argv[1:]])
"""
READING = (
    "search walrus", "list", "show m-7f3k2ab4", "context walrus", "graph", "status", "doctor",
    "pending", "history m-7f3k2ab4", "audit", "conflicts", "gaps", "agent list",
)  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit for the size of files")
def test_reading_on_a_full_disk(vault: MakeVault, tmp_path: Path) -> None:
    """SQLite cannot add the files of its WAL, so brain.db and state.db are read as they are."""
    root, state = vault(), tmp_path / "state"
    with kit.open_brain(root, state) as brain:
        brain.context("walrus")  # creates state.db
        expected = kit.found(brain, "walrus")
    before = (root / "40_Brain/brain.db").read_bytes()
    assert not (root / "40_Brain/brain.db-wal").exists()

    def ask(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", FULL, *command.split(), "--vault", str(root)],
            env=os.environ | {"BRAIN_STATE": str(state)},
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip

    for command in READING:
        done = ask(command)
        assert (done.returncode, done.stderr) == (0, ""), command
    answer = json.loads(ask("search walrus --json").stdout)
    assert answer["fresh"]
    assert [result["path"] for result in answer["results"]] == expected
    failed = ask("remember The walrus is old")
    assert failed.returncode == 1
    assert "disk is full" in failed.stderr

    (root / "New.md").write_text("A walrus, too\n")  # the index does not have it
    why = "The index cannot be updated, because its disk is full. Free some space."
    for command in READING:
        done = ask(command)
        shown = done.stdout if command == "status" else done.stderr
        assert done.returncode == 0, done.stderr
        assert why in " ".join(shown.split()), command
    answer = json.loads(ask("search walrus --json").stdout)
    assert not answer["fresh"]
    assert answer["stale"] == [why]
    assert (root / "40_Brain/brain.db").read_bytes() == before
    with kit.open_brain(root, state) as brain:  # there is space again
        assert "New.md" in kit.found(brain, "walrus")
        assert remember(brain.vault, "The walrus is old").state == "written"
        assert not brain.vault.index.news
