"""Reading a file that another process looks at, and writing a file as a whole."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from brain.vault import files
from brain.vault.exchange import Disk

HOLDER = """
import fcntl, os, signal, sys, time
handle = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
while fcntl.fcntl(handle, fcntl.F_GETLEASE) == fcntl.F_WRLCK:
    time.sleep(0.001)
time.sleep(0.05)  # another process waits to open it
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")
@pytest.mark.parametrize("how", ["read", "look"])
def test_a_file_under_a_lease_is_waited_for(tmp_path: Path, how: str) -> None:
    """A file server that has a lease on a note gives it back when it is asked to. Until then the
    note cannot be opened without waiting, and that is neither an error nor an unreadable note."""
    note = tmp_path / "note.md"
    note.write_text("- a\n")
    with subprocess.Popen([sys.executable, "-c", HOLDER, note], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"leased\n"
        with pytest.raises(BlockingIOError):
            os.open(note, files.FLAGS)
        if how == "read":
            assert files.read(str(note), 100)[0] == b"- a\n"
        else:
            found = Disk().look(str(note))
            assert found
            assert found.data == b"- a\n"
    assert holder.returncode == 0


# -- writing as a whole --------------------------------------------------------------------------


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    files.write_atomically(str(path), b"old")
    assert path.stat().st_mode & 0o777 == 0o600
    path.with_name(".kept.json.tmp").write_bytes(b"left by a crash, and longer")
    files.write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["kept.json"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")

    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left") as raised:
        files.write_atomically(str(path), b"new")
    assert raised.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept.json"]


def test_a_link_in_place_of_the_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"untouched")
    (tmp_path / ".kept.json.tmp").symlink_to(tmp_path / "other")
    files.write_atomically(str(tmp_path / "kept.json"), b"new")
    assert (tmp_path / "kept.json").read_bytes() == b"new"
    assert (tmp_path / "other").read_bytes() == b"untouched"
