"""Who this device is, and how far its journal has come, as its state folder remembers it.

A device id belongs to one state folder and one history. A state folder that was copied, and a
journal that does not go on where we left it (a restored backup, an older checkout), get a new id;
what is written under the old one stays as it is.
"""

from __future__ import annotations

import os
import re

from brain.journal import line
from brain.record import NamedTuple

NAME = re.compile(r"[0-9a-hjkmnp-tv-z]{6,8}\Z")  # of a device, and of its folder
FILE = "device.json"
_KEPT = 50  # former ids that are remembered
_ROOM = 1023  # bytes, so that a shorter memory covers a longer one
_FLAGS = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Device(NamedTuple):
    """`month` names the journal's last file ('' if there is none yet), `size` is where its last
    sound line ends and `sum` that line's; `length` is where the file ends, and `torn` whether that
    is in the middle of a line. `home` is what tells the state folder from a copy of it."""

    id: str
    seq: int = 0
    lamport: int = 0
    month: str = ""
    size: int = 0
    sum: int = -1
    length: int = 0
    torn: bool = False
    home: int = 0
    past: tuple[str, ...] = ()

    def turn(self, month: str) -> Device:
        """The device at the start of another file."""
        return self._replace(month=month, size=0, sum=-1, length=0, torn=False)

    @property
    def seed(self) -> int:
        """What the next line's sum starts from."""
        return 0 if self.sum < 0 else line.after(self.sum)


def new(state: str, former: Device | None = None) -> Device:
    """A device that has written nothing yet."""
    past = (*former.past, former.id)[-_KEPT:] if former else ()
    lamport = former.lamport if former else 0
    return Device(line.letters(8), lamport=lamport, home=_home(state), past=past)


def load(state: str) -> Device | None:
    """The device of this state folder; None if it has none, or only a damaged one.

    In a copy of a state folder the id is the original's, and a new one is taken.
    """
    import orjson

    try:
        with open(f"{state}/{FILE}", "rb") as file:
            value = orjson.loads(file.read())
        device = Device(**{**value, "past": tuple(value["past"])})
        if not NAME.match(device.id) or device.seq < 0 or device.lamport < 0:
            return None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return device if device.home == _home(state) else new(state, device)


def save(state: str, device: Device) -> tuple[int, int, int, int]:
    """Remember; and what `read.stat_of` says of that. Written over in its place, and not waited
    for: to rename a new file over the old one makes ext4 write it out at once. What a crash takes
    is read again from the journal, and half a memory is none."""
    import orjson

    data = orjson.dumps(device._asdict()).ljust(_ROOM) + b"\n"
    path = f"{state}/{FILE}"
    try:
        handle = os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        os.makedirs(state, 0o700, exist_ok=True)
        handle = os.open(path, _FLAGS, 0o600)
    try:
        os.write(handle, data)
        st = os.fstat(handle)
    finally:
        os.close(handle)
    return st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino


def _home(state: str) -> int:
    """The folder's inode. Its device number would change with every boot on some systems."""
    try:
        return os.stat(state).st_ino
    except FileNotFoundError:
        os.makedirs(state, 0o700, exist_ok=True)
        return os.stat(state).st_ino
