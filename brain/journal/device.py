"""Who this device is, and how far its journal has come, as its state folder remembers it.

A device id belongs to one state folder and one history. A state folder that was copied, and a
journal that does not go on where we left it (a restored backup, an older checkout), get a new id;
what is written under the old one stays as it is.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from brain.journal import line
from brain.record import NamedTuple

NAME = re.compile(r"[0-9a-hjkmnp-tv-z]{6,8}\Z")  # of a device, and of its folder
FILE = "device.json"
_KEPT = 50  # former ids that are remembered


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


def save(state: str, device: Device) -> None:
    """Remember. Not synced to disk: what is lost in a crash is read again from the journal."""
    import orjson

    temp = f"{state}/.{FILE}.{os.getpid()}"
    data = orjson.dumps(device._asdict())
    try:
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except FileNotFoundError:
        os.makedirs(state, exist_ok=True)
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(handle, data) < len(data):
            raise OSError("the disk is full")
    finally:
        os.close(handle)
    try:
        os.replace(temp, f"{state}/{FILE}")
    except OSError:
        with suppress(OSError):
            os.unlink(temp)
        raise


def _home(state: str) -> int:
    """The folder's inode. Its device number would change with every boot on some systems."""
    try:
        return os.stat(state).st_ino
    except FileNotFoundError:
        os.makedirs(state, exist_ok=True)
        return os.stat(state).st_ino
