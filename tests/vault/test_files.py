"""Reading a file that another process looks at."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brain.vault import files, swap

HOLDER = """
import fcntl, os, signal, sys, time
handle = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
while fcntl.fcntl(handle, fcntl.F_GETLEASE) == fcntl.F_WRLCK:
    time.sleep(0.001)
time.sleep(0.05)  # somebody waits to open it
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")
@pytest.mark.parametrize("read", [lambda path: files.read(path, 100), swap.read])
def test_a_file_under_a_lease_is_waited_for(
    tmp_path: Path, read: Callable[[str], tuple[bytes, object]]
) -> None:
    """Another writer that asks whether the note is open holds a lease on it for a moment: then it
    cannot be opened without waiting, and that is neither an error nor an unreadable note."""
    note = tmp_path / "note.md"
    note.write_text("- a\n")
    with subprocess.Popen([sys.executable, "-c", HOLDER, note], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"leased\n"
        with pytest.raises(BlockingIOError):
            os.open(note, files.FLAGS)
        assert read(str(note))[0] == b"- a\n"
    assert holder.returncode == 0
