"""The system calls by which a note is replaced: leases, access times, exchanges, and what is done
where the system lacks one of them."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from brain.vault import exchange, files
from brain.vault.exchange import Disk
from brain.vault.files import MISSING

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="as Linux has it")
DISK = Disk()


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "note.md").write_text("- a\n")
    return tmp_path / "note.md"


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# -- looking ---------------------------------------------------------------------------------------


def test_a_file_as_it_was_found(note: Path) -> None:
    note.chmod(0o640)
    found = DISK.look(str(note))
    assert found
    st = note.stat()
    assert (found.data, stat.S_IMODE(found.mode), found.links) == (b"- a\n", 0o640, 1)
    assert found.owner == (st.st_uid, st.st_gid)
    assert (found.modified, found.changed) == (st.st_mtime, st.st_ctime)


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    assert DISK.look(str(tmp_path / "none.md")) is None
    assert DISK.look(str(tmp_path / "none" / "none.md")) is None
    assert DISK.stamp(str(tmp_path / "none.md")) == MISSING


def test_a_folder_and_a_link_are_not_files(note: Path) -> None:
    with pytest.raises(OSError, match="not a regular file") as raised:
        DISK.look(str(note.parent))
    assert raised.value.filename == str(note.parent)
    (note.parent / "link.md").symlink_to(note)
    with pytest.raises(OSError):  # noqa: PT011 - ELOOP or EMLINK
        DISK.look(str(note.parent / "link.md"))


def test_a_stamp_changes_whenever_the_file_does(note: Path) -> None:
    before = DISK.stamp(str(note))
    assert DISK.stamp(str(note)) == before
    DISK.look(str(note))
    assert DISK.stamp(str(note)) == before
    os.utime(note, (1, 1))
    assert DISK.stamp(str(note)) != before


def test_a_file_that_was_touched_just_now_has_no_stamp_yet(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be touched again within the same tick of the clock."""
    changed, disk = note.stat().st_ctime, Disk()
    monkeypatch.setattr(disk, "now", lambda: changed + 0.01)
    found = disk.look(str(note))
    assert found
    assert found.stamp == ""
    monkeypatch.setattr(disk, "now", lambda: changed + 1)
    found = disk.look(str(note))
    assert found
    assert found.stamp == disk.stamp(str(note))


# -- leases ----------------------------------------------------------------------------------------


def writer(path: Path) -> bool | None:
    found = DISK.look(str(path))
    assert found
    return found.has_writer


@LINUX
@pytest.mark.parametrize(
    ("flags", "writes"),
    [
        (os.O_RDONLY, False),
        (os.O_WRONLY, True),
        (os.O_RDWR, True),
        (os.O_WRONLY | os.O_APPEND, True),
    ],
)
def test_a_process_that_has_the_file_open_for_writing_is_noticed(
    note: Path, flags: int, writes: bool
) -> None:
    assert writer(note) is False
    handle = os.open(note, flags)
    assert writer(note) is writes
    os.close(handle)
    assert writer(note) is False


@LINUX
def test_a_writer_is_noticed_under_every_name_of_the_file(note: Path) -> None:
    """A displaced file has another name than the one under which it was opened."""
    with open(note, "r+"):
        os.rename(note, note.with_name(".brain-x.tmp"))
        assert writer(note.with_name(".brain-x.tmp")) is True


OPENER = """
import os, sys
for _ in range(300):
    os.close(os.open(sys.argv[1], os.O_WRONLY))
"""


@LINUX
def test_a_lease_hinders_nobody_and_ends_no_process(note: Path) -> None:
    """Whoever opens the file meanwhile breaks the lease. The default signal would end this
    process."""
    with subprocess.Popen([sys.executable, "-c", OPENER, str(note)]) as other:
        while other.poll() is None:
            assert DISK.look(str(note))
    assert other.returncode == 0


@LINUX
def test_a_writer_that_comes_while_the_file_is_read_is_noticed(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener: list[subprocess.Popen[bytes]] = []
    read, code = files.read_open, "import os, sys; os.open(sys.argv[1], os.O_WRONLY)"

    def slowly(handle: int, limit: int) -> tuple[bytes, os.stat_result]:
        import fcntl

        opener.append(subprocess.Popen([sys.executable, "-c", code, str(note)]))
        while fcntl.fcntl(handle, fcntl.F_GETLEASE) == fcntl.F_RDLCK:
            assert opener[0].poll() is None
        return read(handle, limit)

    monkeypatch.setattr(files, "read_open", slowly)
    assert writer(note) is True
    assert opener[0].wait(60) == 0


@LINUX
def test_where_leases_are_refused_nothing_is_known(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of another owner, or a network disk."""

    def refuse(handle: int, command: int, value: int = 0) -> int:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(exchange.fcntl, "fcntl", refuse)
    assert writer(note) is None


# -- access times ----------------------------------------------------------------------------------


def created(path: Path, data: bytes = b"- b\n") -> int:
    return DISK.create(str(path), data)[1]


@LINUX
def test_a_read_by_another_program_shows_and_a_look_does_not(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    accessed = created(note)
    for _ in range(2):
        found = DISK.look(str(note))
        assert found
        assert found.accessed == accessed
    files.read(str(note), 100)  # Brain's own index
    assert note.stat().st_atime_ns == accessed
    if not found.shows_reads:
        pytest.skip("this disk is mounted with noatime")
    note.read_text()
    assert note.stat().st_atime_ns != accessed


@LINUX
def test_where_the_access_time_cannot_be_kept_it_shows_nothing(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the owner may open a file without changing it."""
    real = os.open

    def other_owner(path: str, flags: int, *more: int) -> int:
        if flags & os.O_NOATIME:
            raise PermissionError(errno.EPERM, "Operation not permitted", path)
        return real(path, flags, *more)

    monkeypatch.setattr(os, "open", other_owner)
    found = DISK.look(str(note))
    assert found
    assert found.data == b"- a\n"
    assert not found.shows_reads


@LINUX
def test_where_access_times_are_off_they_show_nothing(
    note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mount:
        f_flag = 1024  # noatime

    monkeypatch.setattr(os, "fstatvfs", lambda handle: Mount)
    found = DISK.look(str(note))
    assert found
    assert not found.shows_reads


@LINUX
def test_a_file_is_told_from_a_later_one_with_the_same_number(tmp_path: Path) -> None:
    """The number of a deleted file is used again soon."""
    note, seen = tmp_path / "note.md", set()
    for _ in range(20):
        note.write_text("- a\n")
        found = DISK.look(str(note))
        assert found
        seen.add(found.identity)
        note.unlink()
    assert len(seen) == 20


# -- writing ---------------------------------------------------------------------------------------


def test_a_new_file_is_like_the_one_it_replaces(note: Path) -> None:
    note.chmod(0o640)
    found = DISK.look(str(note))
    temp = note.with_name("x.tmp")
    identity, _ = DISK.create(str(temp), b"- b\n", found)
    assert stat.S_IMODE(temp.stat().st_mode) == 0o640
    new = DISK.look(str(temp))
    assert new
    assert (new.data, new.identity) == (b"- b\n", identity)
    with pytest.raises(FileExistsError):
        DISK.create(str(temp), b"- c\n")


def test_a_file_is_on_the_disk_when_it_was_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def noted(handle: int) -> None:
        real(handle)
        synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", noted)
    created(tmp_path / "note.md", b"- b\n")
    assert synced == [4]


def test_a_short_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:1]))
    created(tmp_path / "note.md", b"- some text\n")
    assert (tmp_path / "note.md").read_bytes() == b"- some text\n"


@pytest.fixture(params=["atomic", "by links"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With `renameat2`, and where the system does not have it."""
    if request.param == "by links":
        monkeypatch.setattr(exchange, "_rename_call", lambda: None)
    return str(request.param)


def test_two_files_are_exchanged(note: Path, way: str) -> None:
    temp = note.with_name("x.tmp")
    temp.write_text("- b\n")
    DISK.exchange(str(temp), str(note))
    assert (note.read_text(), temp.read_text()) == ("- b\n", "- a\n")
    assert names(note.parent) == ["note.md", "x.tmp"]
    assert note.stat().st_nlink == temp.stat().st_nlink == 1


def test_an_editor_that_has_the_old_file_open_can_still_save(note: Path, way: str) -> None:
    temp = note.with_name("x.tmp")
    temp.write_text("- b\n")
    with open(note, "r+") as editor:
        DISK.exchange(str(temp), str(note))
        editor.write("- from the editor\n")
    assert note.read_text() == "- b\n"
    assert temp.read_text() == "- from the editor\n"


def test_a_note_that_was_deleted_is_not_exchanged(note: Path, way: str) -> None:
    temp = note.with_name("x.tmp")
    os.rename(note, temp)
    with pytest.raises(FileNotFoundError):
        DISK.exchange(str(temp), str(note))
    assert names(note.parent) == ["x.tmp"]


def test_a_new_note_does_not_cover_another(note: Path, way: str) -> None:
    temp = note.with_name("x.tmp")
    temp.write_text("- b\n")
    with pytest.raises(FileExistsError):
        DISK.place(str(temp), str(note))
    assert (note.read_text(), temp.read_text()) == ("- a\n", "- b\n")
    DISK.place(str(temp), str(note.with_name("new.md")))
    assert names(note.parent) == ["new.md", "note.md"]
    assert note.with_name("new.md").stat().st_nlink == 1


def test_where_there_are_no_links_either(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A FAT disk: a new note can still be placed."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(exchange, "_rename_call", lambda: None)
    monkeypatch.setattr(os, "link", refuse)
    temp = note.with_name("x.tmp")
    temp.write_text("- b\n")
    with pytest.raises(FileExistsError):
        DISK.place(str(temp), str(note))
    DISK.place(str(temp), str(note.with_name("new.md")))
    assert names(note.parent) == ["new.md", "note.md"]


@pytest.mark.parametrize("call", ["replace", "rename"])
def test_an_exchange_by_links_that_was_cut_short_is_completed(
    note: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Killed before this call: no second link to the note is left, and no text."""
    monkeypatch.setattr(exchange, "_rename_call", lambda: None)
    temp = note.with_name("x.tmp")
    temp.write_text("- b\n")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, call, killed)
        with pytest.raises(KeyboardInterrupt):
            DISK.exchange(str(temp), str(note))
    DISK.complete_exchange(str(temp))
    DISK.complete_exchange(str(temp))
    assert names(note.parent) == ["note.md", "x.tmp"]
    assert {note.read_text(), temp.read_text()} == {"- a\n", "- b\n"}
    assert note.stat().st_nlink == 1


def test_whether_files_can_be_exchanged_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform in ("linux", "darwin"):
        assert exchange.is_atomic(str(tmp_path))
    monkeypatch.setattr(exchange, "_rename_call", lambda: None)
    assert not exchange.is_atomic(str(tmp_path))
    assert names(tmp_path) == []


def test_a_file_system_that_cannot_exchange(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system has the call, this disk does not."""
    import ctypes

    def refuse(old: bytes, new: bytes, how: int) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(exchange, "_rename_call", lambda: refuse)
    temp = note.with_name("x.tmp")
    temp.write_text("- b\n")
    DISK.exchange(str(temp), str(note))
    assert (note.read_text(), temp.read_text()) == ("- b\n", "- a\n")
    assert not exchange.is_atomic(str(note.parent))


EDITOR = """
import os, sys
path, way, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
while "agent" not in open(path).read():
    pass
for number in range(count):
    text = f"- person {number}\\n"
    if way == "rename":
        with open(path + ".swp", "w") as file:
            file.write(text)
        os.rename(path + ".swp", path)
    else:
        with open(path, "r+") as file:
            file.write(text)
            file.truncate()
"""


@pytest.mark.parametrize("style", ["rename", "in place"])
def test_no_save_is_overwritten_unseen(note: Path, style: str) -> None:
    """Each text that is displaced can be looked at. The last save of the editor is there, in the
    note or in the file that the last exchange displaced."""
    command = [sys.executable, "-c", EDITOR, str(note), style, "300"]
    temp, seen, number = note.with_name("x.tmp"), set[str](), 0
    with subprocess.Popen(command) as editor:
        while editor.poll() is None:
            temp.unlink(missing_ok=True)
            created(temp, f"- agent {number}\n".encode())
            DISK.exchange(str(temp), str(note))
            seen.add(temp.read_text())
            number += 1
    seen |= {note.read_text(), temp.read_text()}
    assert editor.returncode == 0
    assert number
    assert "- person 299\n" in seen


def test_how_long_a_name_is_missing(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    note.unlink()
    changed = note.parent.stat().st_mtime
    monkeypatch.setattr(disk, "now", lambda: changed + 3)
    assert disk.missing_for(str(note)) == pytest.approx(3)
    assert disk.missing_for(str(note.parent / "gone" / "note.md")) == float("inf")
