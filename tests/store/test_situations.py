"""What becomes of lines while a person and an agent write the same note, step by step.

Each test is one situation of brain/store/versions.py, on real files with the real store.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.store.desk import Desk, VirtualDisk

HOW = ("in place", "by rename")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("how", HOW)
def test_a_stale_window_that_saves_twice_takes_nothing_away(desk: Desk, how: str) -> None:
    old = desk.read()
    desk.remember("X")
    desk.save(old + "- line 0\n", how)
    desk.wait(6.2)
    desk.save(old + "- line 1\n", how)
    for _ in range(5):
        desk.sync(after=2.2)
    assert "- X" in desk.text
    assert "- line 1" in desk.text


@pytest.mark.parametrize("how", HOW)
def test_a_stale_window_rewords_its_own_line(desk: Desk, how: str) -> None:
    old = desk.read()
    desk.remember("X")
    desk.save(old + "- line 0\n", how)
    desk.sync(after=1)
    desk.wait(6.2)
    desk.save(old + "- line 1\n", how)
    for _ in range(5):
        desk.sync(after=2.2)
    assert "- X" in desk.text
    assert "- line 1" in desk.text
    assert "- line 0" not in desk.text


@pytest.mark.parametrize("how", HOW)
def test_a_stale_window_that_saves_by_itself_for_minutes(desk: Desk, how: str) -> None:
    buffer = desk.read()
    desk.remember("X")
    for number in range(100):
        buffer += f"- typed number {number}\n"
        desk.save(buffer, how)
        desk.sync(after=2)
    assert desk.text.count("typed") == 100
    assert desk.text.count("- X") == 1


@pytest.mark.parametrize("how", HOW)
def test_the_same_stale_text_again_and_again(desk: Desk, how: str) -> None:
    old = desk.read()
    desk.remember("X")
    for _ in range(20):
        desk.save(old + "- same\n", how)
        desk.sync(after=2)
    assert "- X" in desk.text


@pytest.mark.parametrize("how", HOW)
def test_a_person_deletes_the_newest_line(desk: Desk, how: str) -> None:
    """Saved in place it is gone at once; saved by rename it may return once."""
    desk.remember("X")
    desk.wait(60)
    for _ in range(1 if how == "in place" else 2):
        text = desk.read()
        desk.save("".join(line for line in text.splitlines(True) if "X" not in line), how)
        desk.sync(after=1)
        desk.wait(8)
    assert "- X" not in desk.text


@pytest.mark.parametrize("how", HOW)
def test_a_person_deletes_an_older_line(desk: Desk, how: str) -> None:
    desk.remember("X")
    desk.remember("Y")
    desk.wait(1)
    text = desk.read()
    desk.save("".join(line for line in text.splitlines(True) if "X" not in line), how)
    desk.sync(after=1)
    assert "- X" not in desk.text
    assert "- Y" in desk.text


@pytest.mark.parametrize("how", HOW)
def test_a_person_rewords_a_line_that_coincided_with_a_write(desk: Desk, how: str) -> None:
    text = desk.read()
    desk.wait(1)
    desk.save(text + "- Meet Anna on Tues\n", how)
    desk.remember("X")
    desk.wait(1)
    text = desk.read()
    desk.save(text.replace("Tues", "Wednesday at noon"), how)
    for _ in range(4):
        desk.sync(after=2.2)
    assert "Tues\n" not in desk.text
    assert "noon" in desk.text
    assert "- X" in desk.text


@pytest.mark.parametrize("how", HOW)
def test_clocks_that_jump(desk: Desk, how: str) -> None:
    old = desk.read()
    desk.remember("X")
    desk.disk.offset -= 7200
    desk.save(old + "- e\n", how)
    desk.sync(after=1)
    desk.disk.offset += 14_400
    desk.save(old + "- e\n- f\n", how)
    desk.sync(after=1)
    assert "- X" in desk.text
    assert "- f" in desk.text


def test_a_clock_that_is_set_forward_does_not_make_a_write_old(desk: Desk) -> None:
    """A second after the write, another program has read it, and a stale window saves."""
    old = desk.read()
    desk.remember("X")
    desk.read()
    desk.wait(1)
    desk.disk.offset += 7200
    desk.save(old)
    desk.sync()
    assert "- X" in desk.text


def test_a_late_save_through_an_old_descriptor_and_another_one(desk: Desk) -> None:
    handle = os.open(desk.note, os.O_RDWR)
    seen = os.pread(handle, 9999, 0).decode()
    desk.remember("turnips")
    desk.save_through(handle, seen + "- ONE\n")
    desk.wait(5.5)
    handle = os.open(desk.note, os.O_RDWR)
    seen = os.pread(handle, 9999, 0).decode()
    desk.sync()
    desk.save_through(handle, seen + "- TWO\n")
    for _ in range(5):
        desk.sync(after=2.5)
    for word in ("turnips", "ONE", "TWO"):
        assert desk.text.count(word) == 1
    assert not desk.left()


def test_a_merged_late_save_is_protected_from_a_stale_window(desk: Desk) -> None:
    handle = os.open(desk.note, os.O_RDWR)
    seen = os.pread(handle, 9999, 0).decode()
    desk.remember("X")
    desk.save_through(handle, seen + "- LATE\n")
    stale = desk.read()
    desk.sync(after=1)
    desk.save(stale + "- Z\n")
    desk.sync(after=1)
    for word in ("X", "LATE", "Z"):
        assert f"- {word}" in desk.text


def test_half_a_save_is_waited_for(desk: Desk) -> None:
    desk.remember("X")
    handle = os.open(desk.note, os.O_WRONLY | os.O_TRUNC)
    desk.sync(after=1)
    desk.remember("Y")
    os.write(handle, b"# M\n\n- one\n- tw")
    desk.sync(after=1)
    os.write(handle, b"o\n- e\n")
    os.close(handle)
    desk.stamp(desk.note)
    desk.sync(after=1)
    lines = [line.split(" ^")[0] for line in desk.text.splitlines()]
    assert sorted(lines) == sorted(["# M", "", "- one", "- two", "- e", "- X", "- Y"])


def test_a_person_who_edits_alone_makes_brain_write_nothing(desk: Desk) -> None:
    desk.remember("X")
    desk.save(desk.read() + "- e\n")
    inode = os.stat(desk.note).st_ino
    desk.sync(after=5)
    desk.sync(after=5)
    assert os.stat(desk.note).st_ino == inode
    assert "- e" in desk.text


@pytest.mark.parametrize("shows_reads", [True, False])
def test_a_deletion_without_leases_and_without_access_times(
    tmp_path: Path, shows_reads: bool
) -> None:
    """macOS and `noatime`: a text has to stand for a second; deleted twice, the line is gone."""
    disk = VirtualDisk()
    disk.leases, disk.shows_reads = False, shows_reads
    desk = Desk(tmp_path, disk=disk)
    desk.remember("X")
    desk.wait(60)
    for _ in range(2):
        text = desk.read()
        desk.save("".join(line for line in text.splitlines(True) if "X" not in line))
        desk.sync(after=0.5)
        desk.sync(after=1)
        desk.wait(8)
    assert "- X" not in desk.text
    desk.sync(after=70)
    assert not desk.left()


def test_a_stale_window_without_leases(tmp_path: Path) -> None:
    disk = VirtualDisk()
    disk.leases = disk.shows_reads = False
    desk = Desk(tmp_path, disk=disk)
    old = desk.read()
    desk.remember("X")
    for number in range(3):
        desk.save(old + f"- line {number}\n")
        desk.sync(after=2)
    desk.sync(after=2)
    assert "- X" in desk.text
    assert "- line 2" in desk.text
    assert "- line 0" not in desk.text
