"""Writing: what is on record stays there, whatever happens around it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from brain.journal.codec import event_id
from brain.journal.writer import Journal
from brain.state import State
from tests.journal.kit import (
    Clock,
    copy,
    device,
    entry,
    file,
    ids,
    lines,
    problems,
    put,
    records,
)


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    journal = device(tmp_path)
    given = entry("update", "m-1", "bot", before="Tuesdays", after="„Freitags“\n\u2028🦭", why=None)
    (record,) = journal.append([given])
    assert record.id == given.id
    assert record.at == "2026-03-01T12:00:00.000Z"
    assert (record.seq, record.lamport, record.device) == (1, 1, journal.device)
    assert records(journal) == [record]
    assert record.data == given.data
    assert file(journal) == tmp_path / f"40_Brain/journal/{journal.device}/2026-03.jsonl"


def test_a_line_has_its_members_in_order(tmp_path: Path) -> None:
    journal = device(tmp_path)
    put(journal, "reinforce", delta=3)
    (line,) = lines(journal)
    words = ["id", "at", "device", "seq", "lamport", "by", "op", "ref", "path", "delta", "crc"]
    places = [line.index(f'"{word}":'.encode()) for word in words]
    assert places == sorted(places)
    assert b" " not in line


def test_constructing_a_journal_touches_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "40_Brain", State(tmp_path / "state"))
    assert list(tmp_path.iterdir()) == []
    assert (records(journal), journal.device, journal.pending_uses()) == ([], "", [])
    assert list(tmp_path.iterdir()) == []


def test_several_records_share_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = device(tmp_path)
    put(journal, "remember")
    written: list[bytes] = []
    write = os.write
    monkeypatch.setattr(
        os, "write", lambda handle, data: (written.append(data), write(handle, data))[1]
    )
    records = journal.append([entry("remember"), entry("pin"), entry("link")], durable=False)
    assert [data.count(b"\n") for data in written if b'"op"' in data] == [3]
    assert [record.seq for record in records] == [2, 3, 4]


def test_names_of_the_head_cannot_be_data(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be named"):
        put(device(tmp_path), "remember", crc="1")


def test_names_that_are_not_unicode_are_spelled_out(tmp_path: Path) -> None:
    journal = device(tmp_path)
    put(journal, "remember", path_was="caf\udce9.md", huge=1 << 70)
    (record,) = records(journal)
    assert record.data == {"path_was": "caf\\udce9.md", "huge": str(1 << 70)}


def test_a_new_process_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    first = put(device(tmp_path), "remember")
    second = put(device(tmp_path), "pin")
    assert (second.device, second.seq, second.lamport) == (first.device, 2, 2)


def test_two_processes_take_turns(tmp_path: Path) -> None:
    one, other = device(tmp_path), device(tmp_path)
    made = [put(journal, "reinforce") for _ in range(5) for journal in (one, other)]
    assert [record.seq for record in made] == list(range(1, 11))
    assert records(one) == made


def test_what_another_device_wrote_comes_before(tmp_path: Path) -> None:
    here, there = device(tmp_path, "a"), device(tmp_path, "b")
    made = [put(there, "remember"), put(there, "pin"), put(here, "update"), put(there, "unpin")]
    assert [record.lamport for record in made] == [1, 2, 3, 4]
    assert ids(records(here)) == ids(made)


def test_each_month_has_its_file_and_the_clock_may_be_set_back(tmp_path: Path) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    made = [put(journal, "remember")]
    clock.forward(days=31)
    made.append(put(journal, "pin"))
    clock.forward(days=-400)
    made.append(put(journal, "unpin"))
    names = sorted(path.name for path in file(journal).parent.iterdir())
    assert names == ["2026-03.jsonl", "2026-04.jsonl"]
    assert made[2].at.startswith("2025-02")
    assert records(journal) == made
    assert put(device(tmp_path, clock=clock), "pin").seq == 4


# -- crashes -------------------------------------------------------------------------------------


def test_killed_before_it_remembered_a_device_catches_up(tmp_path: Path) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    put(journal, "remember")
    remembered = journal.state.device()
    put(journal, "pin")
    clock.forward(days=31)
    last = put(journal, "unpin")
    journal.state.save_device(remembered)
    again = put(device(tmp_path, clock=clock), "pin")
    assert (again.device, again.seq, again.lamport) == (last.device, 4, 4)
    assert problems(journal) == []


def test_a_torn_end_is_set_aside_and_the_next_line_starts_anew(tmp_path: Path) -> None:
    """Cut off at every byte of the last line, as in a power failure."""
    journal = device(tmp_path)
    kept = [put(journal, "remember", text="é"), put(journal, "pin")]
    remembered, size = journal.state.device(), file(journal).stat().st_size
    lost = put(journal, "update", before="a walrus", after="two")
    path, whole = file(journal), file(journal).read_bytes()
    for end in range(size, len(whole) + 1):
        journal.state.save_device(remembered)
        path.write_bytes(whole[:end])
        there = [*kept, lost] if end >= len(whole) - 1 else kept
        torn = size < end < len(whole) - 1
        after = device(tmp_path)
        assert records(after) == there, end
        assert [(p.line, p.code) for _, p in problems(after)] == [(3, "journal-torn")] * torn
        assert after.has([lost.id]) == ({lost.id} if lost in there else set())
        more = put(after, "unpin")
        assert after.has([more.id]) == {more.id}
        assert (more.device, more.seq) == (lost.device, len(there) + 1), end
        assert records(device(tmp_path)) == [*there, more], end
        assert [(p.line, p.code) for _, p in problems(after)] == [(3, "journal-line")] * torn
        assert problems(after)[:1] == [
            (f"40_Brain/journal/{lost.device}/2026-03.jsonl", problem)
            for _, problem in problems(after)[:1]
        ]
        assert put(device(tmp_path), "pin").seq == more.seq + 1


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = device(tmp_path)
    put(journal, "remember")
    before, write = file(journal).read_bytes(), os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: write(handle, data[: len(data) // 2]))
        with pytest.raises(OSError, match="full"):
            put(journal, "pin")
    assert file(journal).read_bytes() == before
    assert put(journal, "pin").seq == 2
    assert problems(journal) == []


def test_which_events_are_on_record(tmp_path: Path) -> None:
    clock = Clock()
    journal = device(tmp_path, clock=clock)
    old, last = put(journal, "remember"), None
    clock.forward(days=31)
    last = put(journal, "remember")
    theirs = put(device(tmp_path, "b"), "remember")
    assert journal.has([old.id, last.id, theirs.id, event_id()]) == {old.id, last.id}
    assert journal.has([]) == set()


# -- copies --------------------------------------------------------------------------------------


def test_an_older_file_makes_a_new_device_and_loses_nothing(tmp_path: Path) -> None:
    journal = device(tmp_path)
    first = put(journal, "remember")
    old = file(journal).read_bytes()
    put(journal, "pin")
    newer, path = file(journal).read_bytes(), file(journal)
    path.write_bytes(old)  # git checkout of an older commit
    after = put(journal, "unpin")
    assert after.device != first.device
    assert (after.seq, after.lamport) == (1, 3)
    assert path.read_bytes() == old
    path.write_bytes(newer)  # and back again
    assert [record.op for record in records(journal)] == ["remember", "pin", "unpin"]
    assert put(device(tmp_path), "pin").device == after.device


def test_another_line_at_the_same_place_makes_a_new_device(tmp_path: Path) -> None:
    journal = device(tmp_path)
    first = put(journal, "reinforce")
    other = device(tmp_path / "other", "b")
    put(other, "reinforce")
    path = file(journal)
    path.write_bytes(lines(other)[0].replace(other.device.encode(), first.device.encode()) + b"\n")
    assert put(device(tmp_path), "pin").device != first.device


def test_a_missing_file_makes_a_new_device(tmp_path: Path) -> None:
    journal = device(tmp_path)
    first = put(journal, "remember")
    file(journal).unlink()
    assert put(journal, "pin").device != first.device


def test_the_same_file_in_another_place_on_disk_is_the_same_file(tmp_path: Path) -> None:
    journal = device(tmp_path)
    first, path = put(journal, "remember"), file(journal)
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    assert put(journal, "pin").device == first.device


def test_a_copied_state_folder_is_another_device(tmp_path: Path) -> None:
    journal = device(tmp_path, "a")
    first = put(journal, "remember")
    copy(tmp_path / "state-a", tmp_path / "state-b")
    second = put(device(tmp_path, "b"), "pin")
    assert second.device != first.device
    assert put(device(tmp_path, "a"), "unpin").device == first.device
    assert put(device(tmp_path, "b"), "pin").device == second.device


@pytest.mark.parametrize("damage", [b"", b"{", b"x" * 5000])
def test_a_damaged_state_makes_a_new_device(tmp_path: Path, damage: bytes) -> None:
    first = put(device(tmp_path), "remember")
    for path in (tmp_path / "state-a").glob("state.db*"):
        path.unlink()
    (tmp_path / "state-a" / "state.db").write_bytes(damage)
    assert put(device(tmp_path), "pin").device != first.device
    kept = (tmp_path / "state-a" / "state.db.damaged").exists()
    assert kept == (len(damage) > 512)  # SQLite takes a shorter file for an empty one


def test_replaced_while_it_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a file without the new line, as by `git checkout`; and by a copy that has it."""
    for keeps_line in (False, True):
        journal = device(tmp_path / str(keeps_line))
        first, path, fsync = put(journal, "remember"), file(journal), os.fsync

        def replace(handle: int, path=path, keeps_line=keeps_line, fsync=fsync) -> None:
            monkeypatch.setattr(os, "fsync", fsync)
            data = path.read_bytes()
            path.unlink()
            path.write_bytes(data if keeps_line else data[: data.index(b"\n") + 1])

        monkeypatch.setattr(os, "fsync", replace)
        (record,) = journal.append([entry("pin")])
        assert ids(records(journal)) == [first.id, record.id]
        assert (record.device, record.seq) == (first.device, 2)


APPEND = """
import os, sys
from brain import lock
from brain.journal.codec import event_id
from brain.journal.writer import Journal
from brain.model import NewRecord
from brain.state import State
root, name = sys.argv[1:]
journal = Journal(f"{root}/40_Brain", State(f"{root}/state"))
for number in range(50):
    handle = lock.take(f"{root}/brain.lock", 60)
    journal.append([NewRecord(event_id(), "reinforce", name, f"m-{number}")] * 2, durable=False)
    os.close(handle)
"""


def test_four_processes_append_at_once(tmp_path: Path) -> None:
    (tmp_path / "40_Brain").mkdir()
    running = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), f"p{n}"]) for n in range(4)
    ]
    assert [process.wait(120) for process in running] == [0] * 4
    journal = Journal(tmp_path / "40_Brain", State(tmp_path / "state"))
    found = records(journal)
    assert [record.seq for record in found] == list(range(1, 401))
    assert {record.device for record in found} == {journal.device}
    for n in range(4):
        assert [r.ref for r in found if r.by == f"p{n}"][::2] == [f"m-{i}" for i in range(50)]
    assert problems(journal) == []


def test_a_record_behind_a_torn_line_of_the_same_id_is_found(tmp_path: Path) -> None:
    """The process was killed in the middle of the line, and the record was written again."""
    journal = device(tmp_path)
    first = entry("remember")
    journal.append([first])
    whole = file(journal).read_bytes()
    file(journal).write_bytes(whole[:40] + b"\n" + whole)
    assert journal.has([first.id]) == {first.id}
