"""From a promise to its end: held, written, wiped and written anew, taken out, merged, blocked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.changes import Add, Change, Deed, Move, Relate, Remove, Retag, Update
from brain.config import Config
from brain.errors import BrainError, NotFound
from brain.formats import memory_md
from brain.intents import Log
from brain.store import Store, door, settling, standing
from brain.vault import swap
from tests import kit as base
from tests.store import kit
from tests.store.kit import NOTE, QUICK, A, B

Open = Callable[..., Store]
LINE = "- A new thing 1 #candidate ^m-new00001\n"
WATCHED = QUICK._replace(settleSeconds=1000.0)  # until it is told otherwise


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return base.lay(tmp_path.resolve() / "vault", kit.VAULT)


@pytest.fixture
def opened(root: Path, tmp_path: Path) -> Open:
    return lambda config=QUICK, state="state": kit.open_store(root, tmp_path / state, config)


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def text(root: Path) -> str:
    return (root / NOTE).read_text()


def ops(store: Store) -> list[str]:
    return [record.op for record in kit.records(store)]


# -- while a person types --------------------------------------------------------------------------


def test_held_while_a_person_types(opened: Open, root: Path) -> None:
    typing = Config(holdSeconds=1000.0, holdMost=1000.0)
    age(root / NOTE, 10)
    store = opened(typing)
    [outcome] = store.apply([kit.deed("add", 1)], wait=0)
    assert outcome.state == "pending"
    assert LINE not in text(root)
    assert [entry.intent.deeds[0].op for entry in store.pending()] == ["add"]
    assert ops(store) == []
    store.drain()
    assert LINE not in text(root)
    age(root / NOTE, 2000)
    other = opened(typing)  # any process of this machine will do
    other.drain()
    assert LINE in text(root)
    assert ops(other) == ["add"]
    assert other.pending() == []
    assert store.pending() == []


def test_not_for_ever(opened: Open, root: Path) -> None:
    store = opened(Config(holdSeconds=1000.0, holdMost=0.0))
    assert store.apply([kit.deed("add", 1)], wait=0)[0].state == "written"


def test_own_writes_are_no_typing(opened: Open, root: Path) -> None:
    age(root / NOTE, 2000)
    store = opened(Config(holdSeconds=1000.0, holdMost=1000.0))
    for number in range(3):
        assert store.apply([kit.deed("add", number)], wait=0)[0].state == "written"
    with open(root / NOTE, "a") as file:
        file.write("- A person's\n")
    assert store.apply([kit.deed("add", 3)], wait=0)[0].state == "pending"


def test_the_answer_waits_a_moment(opened: Open, root: Path) -> None:
    age(root / NOTE, 0)
    store = opened(Config(holdSeconds=0.2, holdMost=10.0))
    [outcome] = store.apply([kit.deed("add", 1)], wait=30)
    assert outcome.state == "written"
    assert outcome.done
    assert outcome.done.after == LINE.rstrip()


def test_what_waits_can_be_built_upon(opened: Open, root: Path) -> None:
    """An agent may update what it has just added, though nobody sees it in the note yet."""
    store = opened(Config(holdSeconds=1000.0, holdMost=1000.0))
    store.apply([kit.deed("add", 1)], wait=0)
    store.apply([Deed("update", "m-new00001", Update(NOTE, "m-new00001", "A newer"))], wait=0)
    age(root / NOTE, 2000)
    store.drain()
    assert "- A newer #candidate ^m-new00001\n" in text(root)
    assert "A new thing" not in text(root)


def test_an_entry_that_is_gone_when_its_turn_comes(opened: Open, root: Path) -> None:
    """The person deleted it while the update waited: the journal keeps the words."""
    store = opened(Config(holdSeconds=1000.0, holdMost=1000.0, settleSeconds=0.0))
    store.apply([kit.deed("update", 1)], wait=0)
    (root / NOTE).write_text("# Agent Memory\n\n- Nothing else\n")
    age(root / NOTE, 2000)
    store.drain()
    [record] = kit.records(store)
    assert record.op == "gone"
    assert record.data["change"]["text"] == "Chose DuckDB 1"
    assert text(root) == "# Agent Memory\n\n- Nothing else\n"
    assert store.log.empty()


def test_one_that_cannot_be_written_does_not_stop_others(opened: Open, root: Path) -> None:
    store = opened(Config(holdSeconds=1000.0, holdMost=1000.0, settleSeconds=0.0))
    store.apply([kit.deed("add", 1)], wait=0)
    store.apply([kit.deed("put", 1)], wait=0)
    (root / NOTE).write_text("<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n")
    age(root / NOTE, 2000)
    age(root / kit.ITEMS, 2000)
    store.drain()
    [entry] = store.pending()
    assert entry.intent.path == NOTE
    assert "line 1" in entry.why
    assert "item_n1" in (root / kit.ITEMS).read_text()
    (root / NOTE).write_text(kit.MEMORY)
    age(root / NOTE, 2000)
    store.drain()
    assert LINE in text(root)
    assert store.pending() == []


def test_a_note_that_is_read_only_by_now_is_settled(opened: Open, root: Path) -> None:
    """To see that a change stands, it is enough to read."""
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).chmod(0o444)
    store.config = QUICK
    store.drain()
    assert store.log.empty()
    assert ops(store) == ["add"]


def test_what_cannot_be_settled_is_told_after_a_while(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).rename(root / "elsewhere.md")
    (root / NOTE).symlink_to("../elsewhere.md")
    store.config = QUICK
    store.drain()
    assert store.pending() == []
    store.clock = lambda: time.time() + 2 * door.STUCK
    [entry] = store.pending()
    assert "lies behind a symbolic link" in entry.why
    (root / NOTE).unlink()
    (root / "elsewhere.md").rename(root / NOTE)
    store.drain()
    assert store.pending() == []
    assert store.log.empty()


def test_what_was_wiped_from_a_note_that_is_read_only_is_told(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).write_text(kit.MEMORY)
    (root / NOTE).chmod(0o444)
    store.config = QUICK
    store.drain()
    [entry] = store.open()
    assert "is read-only" in entry.why
    (root / NOTE).chmod(0o644)
    store.drain()
    assert LINE in text(root)
    assert store.open() == [] or store.open()[0].why == ""


# -- git -------------------------------------------------------------------------------------------


def git(root: Path, *args: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *args], cwd=root, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repo(root: Path) -> Path:
    try:
        git(root, "init", "-q", "-b", "main")
    except FileNotFoundError:
        pytest.skip("there is no git")
    (root / ".gitignore").write_text("40_Brain/brain.db*\n40_Brain/journal/\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    return root


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge/"])
def test_held_while_git_is_at_work(opened: Open, root: Path, name: str) -> None:
    base.lay(root, {f".git/{name}": ""})
    store = opened()
    assert store.apply([kit.deed("add", 1)], wait=0)[0].state == "pending"
    store.drain()
    assert LINE not in text(root)
    at = root / ".git" / name.rstrip("/")
    at.rmdir() if at.is_dir() else at.unlink()
    store.drain()
    assert LINE in text(root)


def test_a_checkout_is_not_undone(opened: Open, repo: Path) -> None:
    """What it took out is not written again by itself, but kept, and reported."""
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    git(repo, "checkout", "-q", "-f", "HEAD~1")
    store.apply([kit.deed("add", 2)])
    assert LINE not in text(repo)
    store.config = QUICK
    store.drain()
    [entry] = store.pending()
    assert (entry.state, entry.why) == ("blocked", settling.MOVED)
    store.drain()
    assert LINE not in text(repo)
    store.release(entry.intent.id)
    assert LINE in text(repo)
    assert store.pending() == []
    assert ops(store) == ["add", "add"]
    store.drain()
    assert store.log.empty()


def test_what_is_blocked_can_be_dropped(opened: Open, repo: Path) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    store = opened()
    store.config = WATCHED
    store.apply([kit.deed("add", 1)])
    git(repo, "checkout", "-q", "-f", "HEAD~1")
    store.config = QUICK
    store.drain()
    [entry] = store.pending()
    with pytest.raises(NotFound, match="Nothing is pending under i-nothing"):
        store.release("i-nothing")
    store.release(entry.intent.id, drop=True)
    assert store.pending() == []
    assert LINE not in text(repo)
    assert store.log.empty()


def test_a_commit_in_between_does_no_harm(opened: Open, repo: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    git(repo, "commit", "-qam", "with it")
    store.config = QUICK
    store.drain()
    assert store.log.empty()
    assert LINE in text(repo)


# -- editors that have not seen it -----------------------------------------------------------------


def test_wiped_by_a_stale_editor(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1), kit.deed("update", 1)])
    (root / NOTE).write_text(kit.MEMORY + "- from the editor\n")
    store.config = QUICK
    store.drain()
    assert LINE in text(root)
    assert "Chose DuckDB 1" in text(root)
    assert "- from the editor\n" in text(root)
    store.drain()
    assert store.log.empty()
    assert ops(store) == ["add", "update"]


def test_the_next_write_brings_it_back(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).write_text(kit.MEMORY + "- from the editor\n")
    store.apply([kit.deed("add", 2)])
    assert text(root).count("A new thing") == 2
    assert ops(store) == ["add", "add"]


def test_wiped_by_an_editor_that_had_seen_half_of_it(opened: Open, root: Path) -> None:
    """It saves what we left after the first write, unchanged: that wipes the second."""
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    first = text(root)
    store.apply([kit.deed("add", 2)])
    (root / NOTE).write_text(first)
    store.config = QUICK
    store.drain()
    assert text(root).count("A new thing") == 2


def test_a_deletion_that_nobody_saw_is_honoured(opened: Open, root: Path) -> None:
    """No process was there to settle it; when the person saved tells that it had stood."""
    store = opened(WATCHED)
    before = text(root)
    with kit.ago(store, 6):
        store.apply([kit.deed("add", 1)])
    (root / NOTE).write_text(before)
    store.apply([kit.deed("add", 2)])
    assert LINE not in text(root)
    store.config = QUICK
    store.drain()
    assert LINE not in text(root)
    assert ops(store) == ["add", "add", "gone"]


def test_a_backup_that_keeps_its_time_is_honoured(opened: Open, root: Path, tmp_path: Path) -> None:
    """`cp -p` gives the note the time at which it was once saved, long before our change."""
    shutil.copy2(root / NOTE, tmp_path / "backup.md")
    age(tmp_path / "backup.md", 1000)
    store = opened(WATCHED)
    with kit.ago(store, 6):
        store.apply([kit.deed("add", 1)])
    shutil.copy2(tmp_path / "backup.md", root / NOTE)
    store.config = QUICK
    store.drain()
    assert text(root) == kit.MEMORY
    assert ops(store) == ["add", "gone"]
    assert store.log.empty()


def test_a_later_deletion_is_honoured(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    with kit.ago(store, 100):
        store.apply([kit.deed("add", 1), kit.deed("add", 2)])
    (root / NOTE).write_text(text(root).replace(LINE, ""))
    store.apply([kit.deed("add", 3)])  # does not bring it back
    store.config = QUICK
    store.drain()
    store.drain()
    assert LINE not in text(root)
    assert "A new thing 2" in text(root)
    gone = kit.records(store)[-1]
    assert gone.op == "gone"
    assert gone.ref == "m-new00001"
    assert gone.data["change"]["text"] == "A new thing 1"
    assert ops(store).count("gone") == 1
    assert store.log.empty()


def test_a_person_who_deletes_it_again_and_again(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.clock = lambda: time.time() - 2 * standing.SLOW  # so long after each write they save
    store.apply([kit.deed("add", 1)])
    for _ in range(standing.AGAIN + 1):
        (root / NOTE).write_text(kit.MEMORY)
        store.config = QUICK
        store.drain()
        store.config = WATCHED
        if store.log.empty():
            break
    assert store.log.empty()
    assert LINE not in text(root)
    assert ops(store) == ["add", "gone"]


def test_an_id_that_a_person_removed_is_no_loss(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).write_text(text(root).replace(" ^m-new00001", ""))
    store.config = QUICK
    store.drain()
    assert text(root).count("A new thing 1") == 1
    assert store.log.empty()


def test_an_entry_that_a_person_went_on_writing_is_no_loss(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).write_text(text(root).replace("A new thing 1", "A new thing, and more"))
    store.config = QUICK
    store.drain()
    assert text(root).count("A new thing") == 1


def test_text_that_reappears_wins(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([Deed("forget", kit.B, Remove(NOTE, kit.B))])
    assert kit.B not in text(root)
    (root / NOTE).write_text(kit.MEMORY)
    store.config = QUICK
    store.drain()
    store.apply([kit.deed("add", 1)])
    assert kit.B in text(root)


def test_what_was_added_and_removed_stays_removed(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    store.apply([Deed("forget", "m-new00001", Remove(NOTE, "m-new00001"))])
    store.apply([kit.deed("add", 2), Deed("forget", "m-new00002", Remove(NOTE, "m-new00002"))])
    (root / NOTE).write_text(text(root) + "- from the editor\n")
    store.apply([kit.deed("add", 3)])
    store.config = QUICK
    store.drain()
    store.drain()
    assert "A new thing 1" not in text(root)
    assert "A new thing 2" not in text(root)
    assert "A new thing 3" in text(root)
    assert "gone" not in ops(store)


@pytest.mark.parametrize("told", [False, True])
def test_what_was_removed_right_before_a_crash_stays_removed(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """The removal has taken its place in the note; perhaps the log was told, and no more done."""
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    mark = store.log.mark

    def last_mark(ids: list[str], state: str, *rest: Any, **more: Any) -> None:
        if state == "written":
            if told:
                mark(ids, state, *rest, **more)
            raise KeyboardInterrupt
        mark(ids, state, *rest, **more)

    monkeypatch.setattr(store.log, "mark", last_mark)
    with pytest.raises(KeyboardInterrupt):
        store.apply([Deed("remove", "m-new00001", Remove(NOTE, "m-new00001"))])
    assert LINE not in text(root)
    again = opened(WATCHED)
    again.drain()
    (root / NOTE).write_text(text(root) + "- A person goes on\n")
    again.apply([kit.deed("add", 2)])
    again.config = QUICK
    again.drain()
    again.drain()
    assert LINE not in text(root)
    assert again.log.empty()
    assert sorted(ops(again)) == ["add", "add", "remove"]


def test_a_note_that_is_deleted(opened: Open, root: Path) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    (root / NOTE).unlink()
    store.config = QUICK
    store.drain()
    assert not (root / NOTE).exists()
    assert ops(store) == ["add", "gone"]


# -- editors that have it open ---------------------------------------------------------------------


def test_a_late_save_into_the_displaced_file(opened: Open, root: Path) -> None:
    """An editor opened the note before we wrote, and saves in place after."""
    store = opened(WATCHED)
    with open(root / NOTE, "r+") as editor:
        store.apply([kit.deed("add", 1)])
        editor.write(kit.MEMORY.replace("No emoji", "").rstrip() + "\n- from the editor\n")
        editor.flush()
        assert len(kit.temps(root)) == 1
        assert "from the editor" not in text(root)
        store.config = QUICK
        store.drain()
        assert "- from the editor\n" in text(root)
        assert LINE in text(root)
        assert len(kit.temps(root)) == 1  # it is still open
        editor.write("- and more\n")
    store.drain()
    store.drain()
    assert text(root).count("- from the editor\n") == 1
    assert text(root).count("- and more\n") == 1
    assert text(root).count(LINE) == 1
    assert kit.temps(root) == []
    assert store.log.empty()
    assert not list(store.vault.state.glob("bases/*"))


def test_a_late_save_of_records(opened: Open, root: Path) -> None:
    """Lines of JSON cannot be mixed; records can."""
    store = opened(WATCHED)
    with open(root / kit.ITEMS, "r+") as editor:
        store.apply([kit.deed("put", 1)])
        editor.write('[{"id": "item_2", "content": "y"}, {"id": "mine", "content": "z"}]\n')
        editor.truncate()
    store.config = QUICK
    store.drain()
    store.drain()
    from brain.formats import items_json

    found = {c.ref: c.text for c in items_json.parse((root / kit.ITEMS).read_bytes()).chunks}
    assert set(found) == {"item_2", "mine", "item_n1"}
    assert "y" in found["item_2"]
    assert kit.temps(root) == []


def test_a_late_save_that_cannot_be_merged_is_kept_beside_the_note(
    opened: Open, root: Path
) -> None:
    store = opened(WATCHED)
    with open(root / kit.ITEMS, "r+") as editor:
        store.apply([kit.deed("put", 1)])
        editor.write("{{{ half of something")
        editor.truncate()
    store.config = QUICK
    store.drain()
    assert "item_n1" in (root / kit.ITEMS).read_text()
    [copy] = kit.conflicts(root)
    assert next(root.rglob(copy)).read_text() == "{{{ half of something"
    assert kit.temps(root) == []


@pytest.mark.parametrize("way", ["rename", "in place"])
def test_a_save_in_the_moment_of_clearing_up(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A person saved right before the swap, and we were killed right after it; who clears up gives
    that its place back just when the person saves once more."""
    real, read, numbers = swap.exchange, swap.read, iter("12")

    def save() -> None:
        line = f"- Person {next(numbers)}.\n"
        changed = text(root).replace("## Key Decisions\n", f"## Key Decisions\n{line}")
        saved = root / NOTE if way == "in place" else root / "x.swp"
        saved.write_text(changed)
        saved.rename(root / NOTE)

    def exchange(temp: str, path: str) -> None:
        monkeypatch.setattr(swap, "exchange", real)
        save()
        real(temp, path)

    def killed(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(swap, "exchange", exchange)
    monkeypatch.setattr(swap, "read", killed)
    with pytest.raises(KeyboardInterrupt):
        opened().apply([kit.deed("add", 1)])
    monkeypatch.setattr(swap, "exchange", exchange)
    monkeypatch.setattr(swap, "read", read)
    store = opened()
    store.drain()
    store.drain()
    for line in ("- Person 1.", "- Person 2.", "A new thing 1"):
        assert text(root).count(line) == 1, line
    assert kit.temps(root) == []
    assert store.log.empty()


def test_a_late_save_after_a_promise_was_taken_back(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file could not be written, the first was brought back; an editor has it open."""
    store, write = opened(WATCHED), swap.write
    note = str(root / "40_Brain/.brain")

    def full(path: str, data: bytes, *more: Any) -> None:
        if path.startswith(note):
            raise OSError(28, "No space left on device")
        write(path, data, *more)

    monkeypatch.setattr(swap, "write", full)
    with open(root / kit.SESSION, "r+") as editor:
        with pytest.raises(BrainError, match="No space left"):
            store.apply([kit.deed("append", 1), kit.deed("add", 1)])
        assert "msg_n1" not in (root / kit.SESSION).read_text()
        editor.seek(0, os.SEEK_END)
        editor.write('{"id": "late", "role": "user", "content": "late"}\n')
    store.config = QUICK
    store.drain()
    store.drain()
    assert '"late"' in (root / kit.SESSION).read_text()
    assert "msg_n1" not in (root / kit.SESSION).read_text()
    assert kit.records(store) == []
    assert kit.temps(root) == []
    assert store.log.empty()


# -- the log ---------------------------------------------------------------------------------------


def test_a_log_that_was_emptied_and_filled_again(opened: Open, root: Path) -> None:
    """By others, to more than its former length, while this process looked elsewhere."""
    one, two = opened(), opened()
    one.config = WATCHED
    one.apply([kit.deed("add", 1)])
    two.drain()
    assert two.log.empty()
    two.config = WATCHED
    two.apply([kit.adding("x" * 3000, "m-00000002")])
    one.apply([kit.deed("add", 3)])
    assert {entry.intent.deeds[0].ref for entry in one.open()} == {"m-00000002", "m-new00003"}


def test_a_long_log_is_written_anew(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.intents._LONG", 10_000)
    store = opened(Config(holdSeconds=1000.0, holdMost=1000.0, settleSeconds=0.0))
    store.apply([kit.deed("add", 1)], wait=0)
    for number in range(50):
        store.apply([kit.adding("y " * 200, f"m-{number:08d}", kit.NOTE)], wait=0)
        [*_, last] = store.open()
        store.log.mark([last.intent.id], "failed")
    size = os.stat(store.log.path).st_size
    assert size < 25_000
    other = opened()
    assert [entry.intent.deeds[0].ref for entry in other.pending()] == ["m-new00001"]
    other.drain()
    assert LINE in text(root)


def test_a_log_of_another_version_is_not_thrown_away(opened: Open, root: Path) -> None:
    store = opened()
    store.apply([kit.deed("add", 1)])
    with open(store.log.path, "a") as file:
        file.write('{"id": "i-1", "deeds": [{"change": {"change": "conjure"}}]}\n{"torn\n\n')
    other = opened()
    other.drain()
    assert "conjure" in Path(store.log.path).read_text()
    assert other.apply([kit.deed("add", 2)])[0].state == "written"


def test_a_log_in_memory_is_what_is_on_disk(opened: Open) -> None:
    store = opened(WATCHED)
    store.apply([kit.deed("add", 1), kit.deed("put", 1)])
    other = Log(store.log.path)
    other.refresh()
    assert {id: vars(e) for id, e in other.open.items()} == {
        id: vars(e) for id, e in store.log.open.items()
    }


SLEEPER = """
import sys, time
from pathlib import Path
from typing import Any
from tests.store import kit
store = kit.open_store(Path(sys.argv[1]), Path(sys.argv[2]))
with store.locked():
    print("locked", flush=True)
    sys.stdin.readline()
"""


def test_asking_does_not_wait_for_a_writer(opened: Open, root: Path, tmp_path: Path) -> None:
    from brain.errors import Busy

    store = opened(WATCHED)
    store.apply([kit.deed("add", 1)])
    here = Path(__file__).parent.parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER, str(root), str(tmp_path / "state")], cwd=here, text=True,
        env=os.environ | {"PYTHONPATH": str(here)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as other:  # fmt: skip
        assert other.stdout
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(Busy, match="Another Brain process is writing"):
            store.drain(wait=0.05)
        other.communicate("\n", timeout=60)
    store.drain(wait=30)


# -- several changes of one entry ------------------------------------------------------------------

NEW = "m-new00001"
STEPS: dict[str, Change] = {
    "pin": Retag(NOTE, A, add=("#pinned",)),
    "unpin": Retag(NOTE, A, remove=("#pinned",)),
    "tag": Retag(NOTE, A, add=("#more",)),
    "first words": Update(NOTE, A, "First words"),
    "second words": Update(NOTE, A, "Second words"),
    "as it was": Update(NOTE, A, "Chose SQLite over PostgreSQL."),
    "relate": Relate(NOTE, A, "supersedes", f"[[#^{B}]]"),
    "unrelate": Relate(NOTE, A, "supersedes", f"[[#^{B}]]", gone=True),
    "move": Move(NOTE, A, "User Preferences"),
    "move back": Move(NOTE, A, "Key Decisions"),
    "add": Add(NOTE, NEW, "A new thing", "Key Decisions"),
    "update it": Update(NOTE, NEW, "A newer thing"),
    "tag it": Retag(NOTE, NEW, add=("#tagged",)),
    "move it": Move(NOTE, NEW, "User Preferences"),
}


def carried_out(store: Store, root: Path, names: Sequence[str]) -> list[str]:
    """What the note says before these changes and after each of them."""
    said = [text(root)]
    for name in names:
        change = STEPS[name]
        assert store.apply([Deed(name, change.ref, change)])[0].state == "written"
        said.append(text(root))
    return said


def entries(said: str) -> set[tuple[str, str]]:
    """The entries of a note, with the headings above each."""
    chunks = memory_md.parse(said.encode(), "admin").chunks
    return {(chunk.text, chunk.heading) for chunk in chunks}


@pytest.mark.parametrize(
    "names",
    [
        ("pin", "unpin"), ("tag", "pin", "unpin"), ("relate", "unrelate"), ("move", "move back"),
        ("first words", "as it was"), ("first words", "second words", "first words"),
    ],
)  # fmt: skip
def test_what_we_set_back_ourselves_was_not_wiped(
    opened: Open, root: Path, names: Sequence[str]
) -> None:
    """A person saves an unrelated line: nothing is written anew, and nothing counts as gone."""
    store = opened(WATCHED)
    last = carried_out(store, root, names)[-1]
    (root / NOTE).write_text(last + "- A person's own line\n")
    store.drain()
    store.config = QUICK
    store.drain()
    assert text(root) == last + "- A person's own line\n"
    assert "gone" not in ops(store)
    assert store.log.empty()


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        ("first words", "second words"), ("add", "update it"), ("add", "tag it"), ("tag", "pin"),
        ("first words", "tag"), ("move",), ("add", "move it"), ("move", "first words"),
        ("first words", "move", "pin"), ("pin", "unpin", "tag"), ("add", "update it", "move it"),
    ],
)  # fmt: skip
def test_all_that_a_stale_save_wiped_comes_back(
    opened: Open, root: Path, names: Sequence[str], behind: bool
) -> None:
    """The editor held the note as it was before all of these; whether or not something else is
    written before it is noticed."""
    store = opened(WATCHED)
    said = carried_out(store, root, names)
    (root / NOTE).write_text(said[0] + "- A person's own line\n")
    if behind:
        store.apply([kit.adding("Something else", "m-other001")])
    store.config = QUICK
    store.drain()
    there = entries(text(root))
    assert entries(said[-1]) <= there
    assert len(there) == len(entries(said[-1])) + 1 + behind
    assert "gone" not in ops(store)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6), st.integers(0, 6))
def test_whatever_was_done_stands_after_a_stale_save(names: list[str], at: int) -> None:
    """Every change that was acknowledged, in any order, whichever of our texts is saved over it."""
    if NEW in {STEPS[name].ref for name in names}:
        names = ["add", *(name for name in names if name != "add")]
    with tempfile.TemporaryDirectory() as folder:
        root = base.lay(Path(folder).resolve() / "vault", kit.VAULT)
        store = kit.open_store(root, Path(folder) / "state", WATCHED)
        said = carried_out(store, root, names)
        (root / NOTE).write_text(said[min(at, len(names))] + "- A person's own line\n")
        store.drain()
        store.config = QUICK
        store.drain()
        there = entries(text(root))
        assert entries(said[-1]) <= there
        assert [text for text, _ in there - entries(said[-1])] == ["A person's own line"]
        assert "gone" not in ops(store)
