"""Editors that have the note open, and save into the file that was displaced: real descriptors and
real leases."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.store import kit
from tests.store.desk import VirtualDisk
from tests.store.kit import LINE, NOTE, Open, text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")


def test_a_late_save_into_the_displaced_file(opened: Open, root: Path) -> None:
    """An editor opened the note before Brain wrote, and saves in place afterwards."""
    store = opened()
    with open(root / NOTE, "r+") as editor:
        assert store.apply([kit.write("remember", 1)])[0].state == "written"
        editor.write(kit.MEMORY + "- from the editor\n")
        editor.flush()
        store.absorb()
        assert len(kit.temps(root)) == 1  # the file is open, and may be written further
        assert LINE in text(root)
        editor.write("- and more\n")
    store.absorb()
    for line in ("- from the editor\n", "- and more\n", LINE):
        assert text(root).count(line) == 1, line
    assert kit.temps(root) == []
    assert kit.is_done(store)


def test_a_late_save_counts_while_the_file_is_still_open(opened: Open, root: Path) -> None:
    """An editor that never closes the file: what stood for a while is merged, each time once."""
    disk = VirtualDisk()
    store = opened(disk=disk)
    with open(root / NOTE, "r+") as editor:
        store.apply([kit.write("remember", 1)])
        editor.write(kit.MEMORY)
        for number in range(3):
            editor.write(f"- typed {number}\n")
            editor.flush()
            store.absorb()
            assert f"- typed {number}\n" not in text(root)
            disk.time += 11
            store.absorb()
            assert text(root).count("- typed") == number + 1
            assert len(kit.temps(root)) == 1
    store.absorb()
    assert text(root).count("- typed") == 3
    assert text(root).count(LINE) == 1
    assert kit.temps(root) == []


def test_a_window_pastes_into_the_displaced_file_what_it_had_cut(opened: Open, root: Path) -> None:
    """Its last save is the base, because both were made in place: so the line is new in it."""
    disk = VirtualDisk()
    store = opened(disk=disk)
    store.apply([kit.write("remember", 1)])
    loaded = text(root)
    disk.reads[os.stat(root / NOTE).st_ino] = 1

    def save(line: str) -> None:
        os.pwrite(editor, loaded.replace("- No id here\n", line).encode(), 0)
        os.ftruncate(editor, len(loaded) - len("- No id here\n") + len(line))
        store.absorb()
        disk.time += 11
        store.absorb()

    editor = os.open(root / NOTE, os.O_RDWR)
    save("- typed\n- No id here\n")
    save("- No id here\n- and more\n")
    store.apply([kit.write("remember", 2)])
    save("- No id here\n- typed\n- and more\n")
    os.close(editor)
    store.absorb()
    for line in ("- No id here\n- typed\n- and more\n", LINE, "A new thing 2"):
        assert text(root).count(line) == 1, line


def test_another_process_finds_the_late_save(opened: Open, root: Path) -> None:
    handle = os.open(root / NOTE, os.O_WRONLY | os.O_APPEND)
    opened().apply([kit.write("remember", 1)])
    os.write(handle, b"- appended late\n")
    os.close(handle)
    other = opened()
    assert other.state.has_work(str(root))
    other.absorb()
    assert text(root).count("- appended late\n") == 1
    assert LINE in text(root)
    assert kit.temps(root) == []


def test_each_displaced_file_is_kept_until_it_is_closed(opened: Open, root: Path) -> None:
    store = opened()
    handles = []
    for number in range(4):
        handles.append(os.open(root / NOTE, os.O_WRONLY | os.O_APPEND))
        store.apply([kit.write("remember", number)])
    assert len(kit.temps(root)) == 4
    for number, handle in enumerate(handles):
        os.write(handle, f"- late {number}\n".encode())
        os.close(handle)
        store.absorb()
        assert len(kit.temps(root)) == 3 - number
    for number in range(4):
        assert text(root).count(f"- late {number}\n") == 1
        assert text(root).count(f"A new thing {number}") == 1


@pytest.mark.parametrize("way", ["rename", "in place"])
def test_a_save_right_before_the_exchange_and_a_crash_right_after(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The process that recovers meets the person's next save."""

    def save(number: int) -> None:
        line = f"- Person {number}.\n"
        changed = text(root).replace("## Key Decisions\n", f"## Key Decisions\n{line}")
        saved = root / NOTE if way == "in place" else root / "x.swp"
        saved.write_text(changed)
        saved.rename(root / NOTE)

    for number, killed in ((1, True), (2, False)):
        store = opened()
        exchange = store.disk.exchange

        def exchanging(
            temp: str, path: str, number: int = number, killed: bool = killed, call=exchange
        ) -> None:
            if f"Person {number}" not in text(root):
                save(number)
            call(temp, path)
            if killed:
                raise KeyboardInterrupt

        monkeypatch.setattr(store.disk, "exchange", exchanging)
        if killed:
            with pytest.raises(KeyboardInterrupt):
                store.apply([kit.write("remember", 1)])
        else:
            store.absorb()
    store.absorb()
    for line in ("- Person 1.", "- Person 2.", "A new thing 1"):
        assert text(root).count(line) == 1, line
    assert kit.temps(root) == []
    assert kit.is_done(store)


def test_a_displaced_file_that_cannot_be_removed_is_looked_at_later(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, unlink = opened(), os.unlink

    def refuse(path: str) -> None:
        raise PermissionError(1, "Operation not permitted", path)

    monkeypatch.setattr(os, "unlink", refuse)
    store.apply([kit.write("remember", 1)])
    assert LINE in text(root)
    assert len(kit.temps(root)) == 1
    monkeypatch.setattr(os, "unlink", unlink)
    store.absorb()
    assert text(root).count(LINE) == 1
    assert kit.temps(root) == []
    assert kit.ops(store) == ["remember"]
    assert kit.is_done(store)


def test_a_save_before_the_exchange_survives_a_disk_that_fails_after_it(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of the person is in the displaced file by then, and nowhere else."""
    store = opened()
    exchange, sync = store.disk.exchange, store.disk.sync_folder

    def exchanging(temp: str, path: str) -> None:
        (root / NOTE).write_text(kit.MEMORY + "- from the editor\n")
        exchange(temp, path)

    def failing(folder: str) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(store.disk, "exchange", exchanging)
    monkeypatch.setattr(store.disk, "sync_folder", failing)
    store.apply([kit.write("remember", 1)])
    monkeypatch.setattr(store.disk, "exchange", exchange)
    monkeypatch.setattr(store.disk, "sync_folder", sync)
    store.absorb()
    assert text(root).count("- from the editor\n") == 1
    assert text(root).count(LINE) == 1
    assert kit.temps(root) == []
    assert kit.is_done(store)
