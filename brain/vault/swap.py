"""Replacing a file without losing what somebody saves at the same moment.

The new file and the old one change places in one step, so that whatever was there is still there,
under the name of the temporary file, and can be looked at: compare-then-rename cannot promise that.

- Linux: `renameat2` with RENAME_EXCHANGE; macOS: `renamex_np` with RENAME_SWAP.
- Elsewhere, and on file systems that cannot: a second link to the old file is made, then the new
  one is renamed over it. A save by rename that falls between these two calls, a few microseconds,
  is lost; a save in place never is. `brain doctor` says where this is so.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from brain.vault import files

if sys.platform != "win32":
    import fcntl

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_NEW = 4 if sys.platform == "darwin" else 1  # RENAME_EXCL, RENAME_NOREPLACE
_AT_FDCWD = -100
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LIMIT = 1 << 40


def write(path: str, data: bytes, like: os.stat_result | None = None) -> None:
    """A new file with these bytes, on the disk when this returns; mode and owner as `like`.

    If it cannot be written whole, none is left.
    """
    handle = os.open(path, files.CREATE, 0o666)
    try:
        try:
            files.write_all(handle, data)
            if like and hasattr(os, "fchmod"):
                _resemble(handle, like)
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def _resemble(handle: int, like: os.stat_result) -> None:
    st = os.fstat(handle)
    if (st.st_uid, st.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):  # only root may give a file away; the mode matters more
            os.fchown(handle, like.st_uid, like.st_gid)
    if st.st_mode != like.st_mode:
        os.fchmod(handle, like.st_mode & 0o7777)


def exchange(temp: str, path: str) -> None:
    """Let two files change places: no moment without one, nothing overwritten. Raises OSError."""
    if not _renamed(temp, path, _EXCHANGE):
        _by_links(temp, path)


def place(temp: str, path: str) -> None:
    """Give the temporary file its name, if nobody has taken it: else FileExistsError."""
    if _renamed(temp, path, _NEW):
        return
    try:
        os.link(temp, path)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(temp, path)
    else:
        os.unlink(temp)


def atomic(folder: str) -> bool:
    """Can two files change places in one step in this folder?"""
    missing = f"{folder}/.brain-no-such-file"
    try:
        return _renamed(missing, missing, _EXCHANGE)
    except OSError:
        return True


def _renamed(temp: str, path: str, how: int) -> bool:
    """False if this system or file system cannot do that."""
    rename = _native()
    if rename is None:
        return False
    if not rename(os.fsencode(temp), os.fsencode(path), how):
        return True
    number = ctypes.get_errno()
    if number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number), path)
    return False


def _by_links(temp: str, path: str) -> None:
    """The way of file systems that cannot: see the top of this module."""
    old = f"{temp}.old"
    os.link(path, old)
    try:
        os.replace(temp, path)
    except OSError:
        os.unlink(old)
        raise
    os.rename(old, temp)


@cache
def _native() -> Callable[[bytes, bytes, int], int] | None:
    """The system's own call; it returns 0 when it has worked."""
    if sys.platform not in ("linux", "darwin"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renamex_np"):
        rename = libc.renamex_np
        rename.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
        return lambda a, b, how: int(rename(a, b, how))
    if hasattr(libc, "renameat2"):
        rename = libc.renameat2
        path = (ctypes.c_int, ctypes.c_char_p)
        rename.argtypes = (*path, *path, ctypes.c_uint)
        return lambda a, b, how: int(rename(_AT_FDCWD, a, _AT_FDCWD, b, how))
    return None


def in_use(path: str) -> bool | None:
    """Has another process this file open, so that something may still be written to it?

    A write lease is only given on a file that nobody else has open. None where there are no leases.
    """
    handle = os.open(path, _LOOK)
    try:
        return _refused(handle)
    finally:
        os.close(handle)  # ends the lease, too


def read(path: str) -> tuple[bytes, bool | None]:
    """What a file holds, and whether another process had it open at any moment of reading it: who
    opens a file ends the lease on it. None where there are no leases."""
    handle = files.opened(path)
    try:
        used = _refused(handle)
        data, _ = files.read_open(handle, NO_LIMIT)
        if used is False:
            used = fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_WRLCK
        return data, used
    finally:
        os.close(handle)


def _refused(handle: int) -> bool | None:
    """Is a lease refused because somebody else has the file open?"""
    if sys.platform != "linux":
        return None
    try:
        # who opens the file at this very moment makes the kernel send a signal: one that is ignored
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False
