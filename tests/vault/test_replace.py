"""Replacing a note while somebody saves it: neither side loses a line."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brain.errors import StaleFile
from brain.vault import scan, swap
from brain.vault.replace import create, keep_copy, replace

TEMP = ".brain-x.tmp"


def adding(line: bytes) -> Callable[[bytes], bytes]:
    return lambda text: text + line


def others(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name != "note.md")


def test_the_new_text_is_there_and_nothing_else(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("- a\n")
    note.chmod(0o640)
    replaced = replace(str(note), TEMP, b"- a\n", adding(b"- b\n"))
    assert note.read_text() == "- a\n- b\n"
    assert stat.S_IMODE(note.stat().st_mode) == 0o640
    assert replaced.data == b"- a\n- b\n"
    assert others(tmp_path) == []


def test_what_was_saved_since_it_was_read_is_merged(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("- a\n- theirs\n")
    replaced = replace(str(note), TEMP, b"- a\n", adding(b"- ours\n"))
    assert note.read_bytes() == replaced.data == b"- a\n- theirs\n- ours\n"
    assert others(tmp_path) == []


def test_a_note_that_was_deleted_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(StaleFile):
        replace(str(tmp_path / "note.md"), TEMP, b"- a\n", adding(b"- b\n"))
    assert others(tmp_path) == []


def test_a_new_note_does_not_cover_another(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    create(str(note), TEMP, b"- a\n")
    with pytest.raises(StaleFile):
        create(str(note), TEMP, b"- b\n")
    assert note.read_bytes() == b"- a\n"
    assert others(tmp_path) == []


def test_an_editor_that_has_the_old_file_open_can_still_save(tmp_path: Path) -> None:
    """It writes into the displaced file, which is kept, and named with what it held."""
    note = tmp_path / "note.md"
    note.write_text("- a\n")
    with open(note, "r+") as editor:
        replaced = replace(str(note), TEMP, b"- a\n", adding(b"- b\n"))
        editor.write("- a\n- from the editor\n")
    [left] = replaced.left
    assert left.data == b"- a\n"
    assert (tmp_path / left.name).read_text() == "- a\n- from the editor\n"
    assert note.read_text() == "- a\n- b\n"


def test_a_full_disk_leaves_the_note_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "note.md"
    note.write_text("- a\n")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        replace(str(note), TEMP, b"- a\n", adding(b"- b\n"))
    assert note.read_text() == "- a\n"
    assert others(tmp_path) == []


def test_without_an_atomic_swap_there_is_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swap, "_native", lambda: None)
    note = tmp_path / "note.md"
    note.write_text("- a\n- theirs\n")
    replace(str(note), TEMP, b"- a\n", adding(b"- ours\n"))
    assert note.read_text() == "- a\n- theirs\n- ours\n"
    assert others(tmp_path) == []


EDITOR = """
import os, sys
path, way, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    while True:
        with open(path) as file:
            text = file.read()
        if text.startswith("- start"):
            break
    text += f"- person {number}\\n"
    if way == "rename":
        with open(path + ".swp", "w") as file:
            file.write(text)
        os.rename(path + ".swp", path)
    else:
        with open(path, "r+") as file:
            file.write(text)
"""


@pytest.mark.parametrize("way", ["rename", "in place"])
def test_no_save_of_an_editor_is_lost(tmp_path: Path, way: str) -> None:
    """What it saved is in the note, or was in it until the editor itself saved over it with a text
    that it had read too early; then it was told of, and the store brings it back."""
    note = tmp_path / "note.md"
    note.write_text("- start\n")
    editor = subprocess.Popen([sys.executable, "-c", EDITOR, str(note), way, "300"])
    number, told, left = 0, b"", set[str]()
    while editor.poll() is None:
        base = note.read_bytes()
        if base.startswith(b"- start"):
            temp = f".brain-{number}.tmp"
            replaced = replace(str(note), temp, base, adding(b"- agent %d\n" % number))
            told += b"".join(found.saved for found in replaced.found)
            left |= {kept.name for kept in replaced.left}  # the editor has it open
            number += 1
    text = note.read_bytes() + told + b"".join((tmp_path / name).read_bytes() for name in left)
    missing = [n for n in range(300) if b"- person %d\n" % n not in text]
    assert editor.returncode == 0
    assert number
    assert missing == []
    assert set(others(tmp_path)) <= left


def test_a_file_that_cannot_be_removed_is_left_to_be_looked_at_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note.md"
    note.write_text("- a\n")

    def refuse(path: str) -> None:
        raise PermissionError(1, "Operation not permitted", path)

    monkeypatch.setattr("brain.vault.replace.os.unlink", refuse)
    replaced = replace(str(note), TEMP, b"- a\n", adding(b"- b\n"))
    assert [(left.name, left.data) for left in replaced.left] == [(TEMP, b"- a\n")]
    assert others(tmp_path) == [TEMP]


def test_texts_that_are_kept_do_not_cover_each_other(tmp_path: Path) -> None:
    """As many in one second as there are; each is known as a conflict copy by its name."""
    note, aside = str(tmp_path / "note.md"), tmp_path / TEMP
    for number in range(300):
        aside.write_text(f"- {number}\n")
        keep_copy(str(aside), note)
    names = others(tmp_path)
    assert {(tmp_path / name).read_text() for name in names} == {f"- {n}\n" for n in range(300)}
    assert {scan.copied_by(name) for name in names} == {"Syncthing"}
