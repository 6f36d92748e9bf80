"""state.db: what this machine keeps of a vault."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from brain.errors import BrainError, Busy
from brain.state import Device, NoteRow, PendingRow, Recall, State, Use


def test_nothing_is_created_by_asking(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    assert (state.device(), state.flag("x"), state.rows(Recall)) == (None, "", [])
    assert (state.batches(), state.first_use(), state.rows(NoteRow)) == ([], "", [])
    assert (state.rows(PendingRow), state.has_pending(), state.exists()) == ([], False, False)
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    state.set_flag("x", "1")
    assert not (tmp_path / "state").stat().st_mode & 0o077
    assert not Path(state.path).stat().st_mode & 0o077


def test_a_flag_is_set_and_removed(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.set_flag("x", "1")
    assert State(tmp_path).flag("x") == "1"
    state.set_flag("x", "")
    assert state.flag("x") == ""


def test_a_device_is_remembered_with_its_former_ids(tmp_path: Path) -> None:
    state = State(tmp_path)
    first = state.new_device("aaaaaaaa")._replace(seq=3, lamport=9)
    state.save_device(first)
    assert State(tmp_path).device() == first
    assert State(tmp_path).new_device("bbbbbbbb") == Device(
        "bbbbbbbb", lamport=9, home=first.home, past=("aaaaaaaa",)
    )


def test_only_the_last_recalls_are_kept(tmp_path: Path) -> None:
    state = State(tmp_path)
    for number in range(5):
        state.add_recall(number, {"number": number}, keep=3)
    assert [value["number"] for *_, value in state.rows(Recall)] == [2, 3, 4]
    ids = [id for id, *_ in state.rows(Recall)]
    state.delete(Recall, id=ids[0])
    for id in ids[:2]:
        state.change_recall(id, {"number": "x"})
    assert [value["number"] for *_, value in state.rows(Recall)] == ["x", 4]


def test_a_file_that_was_replaced_is_opened_again(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.set_flag("x", "1")
    for path in tmp_path.glob("state.db*"):
        path.unlink()
    assert state.flag("x") == ""
    state.set_flag("x", "2")
    assert State(tmp_path).flag("x") == "2"


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"not a database" * 100)
    state = State(tmp_path)
    state.set_flag("x", "1")
    assert state.flag("x") == "1"
    assert (tmp_path / "state.db.damaged").read_bytes().startswith(b"not a database")


@pytest.mark.parametrize("open_already", [False, True])
def test_a_file_damaged_behind_its_first_page_is_set_aside(
    tmp_path: Path, open_already: bool
) -> None:
    state = State(tmp_path)
    state.add_uses([Use("hit", f"m-{n}", last="2026") for n in range(2000)])
    state.close()
    data = (tmp_path / "state.db").read_bytes()
    if open_already:
        assert state.flag("uses")
        assert state._db
        state._db.execute("PRAGMA shrink_memory")  # so that it reads the file again
    with open(tmp_path / "state.db", "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (len(data) - 4096))
    if open_already:
        with pytest.raises(BrainError, match=r"set aside as state\.db\.damaged"):
            state.uses("")
    assert state.uses("") == []
    state.set_flag("x", "1")
    assert (tmp_path / "state.db.damaged").exists()


@pytest.mark.parametrize("version", [1, 99])
def test_a_file_of_another_version_is_set_aside(version: int, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "state.db")) as other:
        other.executescript(f"CREATE TABLE x (y); PRAGMA user_version = {version};")
    assert State(tmp_path).device() is None
    assert (tmp_path / "state.db.damaged").exists()


def test_a_writer_that_holds_it_too_long_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.state._WAIT", 0.01)
    one, other = State(tmp_path), State(tmp_path)
    other.set_flag("x", "1")
    with one._writing(), pytest.raises(Busy, match="Another process holds"):
        other.set_flag("x", "2")
    other.set_flag("x", "3")
    assert one.flag("x") == "3"


COUNT = """
import sys
from brain.state import PendingRow, State, Use
state = State(sys.argv[1])
for _ in range(100):
    state.add_uses([Use("hit", "m-1", last="2026-03-01")])
"""


def test_processes_count_together(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COUNT, str(tmp_path)]
    running = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert State(tmp_path).uses("") == [Use("hit", "m-1", "", 400, "2026-03-01")]
