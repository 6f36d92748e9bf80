"""The system calls by which a note is replaced while other programs may be writing it.

The new file and the old one are exchanged in one step, so that whatever was in the note is still
there under the name of the temporary file, and can be looked at. Comparing before renaming cannot
promise that.

- Linux: `renameat2` with RENAME_EXCHANGE. macOS: `renamex_np` with RENAME_SWAP.
- Elsewhere, and on file systems that cannot do this: a second link to the old file is made, then
  the new one is renamed over it. A save by rename between these two calls, a few microseconds, is
  lost; a save in place never is. `brain doctor` says where this is so.

A read lease tells whether a process has a file open for writing. Linux grants one on local disks to
the owner of a file. The access time tells whether another program has read a file; it says nothing
on a disk that is mounted with `noatime`, on macOS and on Windows.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from brain._tuples import NamedTuple
from brain.vault import files

if sys.platform != "win32":
    import fcntl

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_NEW = 4 if sys.platform == "darwin" else 1  # RENAME_EXCL, RENAME_NOREPLACE
_AT_FDCWD = -100
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
_ST_NOATIME = 1024
_AT_EMPTY_PATH, _STATX_BTIME = 0x1000, 0x800
_BTIME = 80  # bytes before the time of birth in the result of statx
_OLD = ".old"  # the end of the name of the old file while files are exchanged by links
_NO_LIMIT = 1 << 40
_RECENT = 0.1  # seconds in which a file may be touched again without another time


class Look(NamedTuple):
    """A file as it was found."""

    data: bytes
    identity: str  # of the file: a number that is used again after it is deleted, and its birth
    born: float  # by the clock; 0 if that is not known
    mode: int
    owner: tuple[int, int]
    links: int
    modified: float  # by the clock
    changed: float  # by the clock; a program cannot set this time
    accessed: int  # ns
    writer: bool | None  # a process has it open for writing; None if that is not known
    shows_reads: bool  # the access time changes when another program reads the file
    stamp: str  # equal as long as the file is not touched; '' if it was touched just now


class Disk:
    """The disk as the store uses it. A test may model another machine by a class of its own."""

    def look(self, path: str) -> Look | None:
        """Read a file without leaving a trace; None if it does not exist."""
        try:
            handle, quiet = files.open_quietly(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            writer = _is_lease_refused(handle)
            data, st = _read(handle, path)
            if writer is False:  # whoever opened it for writing since has ended the lease
                writer = fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_RDLCK
            born = _born(handle)
            return Look(
                data=data, identity=f"{st.st_ino} {born}", born=float(born or 0), mode=st.st_mode,
                owner=(st.st_uid, st.st_gid), links=st.st_nlink, modified=st.st_mtime,
                changed=st.st_ctime, accessed=st.st_atime_ns, writer=writer,
                shows_reads=quiet and _shows_reads(handle),
                stamp=files.stamp_of(st) if not 0 <= self.now() - st.st_ctime < _RECENT else "",
            )  # fmt: skip
        finally:
            os.close(handle)

    def stamp(self, path: str) -> str:
        """Return the stamp of a file, as `look` does, by one stat call."""
        return files.stamp(path)

    def is_committed(self, path: str, found: Look, unknown: bool = True) -> bool:
        """Return True if a file is what git has checked out; `unknown` if git cannot say."""
        import subprocess

        folder, name = os.path.split(path)
        command = ["git", "-C", folder]
        try:
            asked = [
                subprocess.run(
                    [*command, *words], capture_output=True, timeout=5, check=True
                ).stdout
                for words in (["rev-parse", f"HEAD:./{name}"], ["hash-object", name])
            ]
        except (OSError, subprocess.SubprocessError):
            return unknown
        return asked[0] == asked[1]

    def create(self, path: str, data: bytes, like: Look | None = None) -> tuple[str, int]:
        """Create a file with these bytes, on the disk when this returns; mode and owner as those of
        `like`. Return its identity and access time. That time is before the file was made, so that
        every read changes it."""
        handle = os.open(path, files.CREATE, 0o666)
        try:
            files.write_all(handle, data)
            if like and hasattr(os, "fchmod"):
                with suppress(OSError):  # only root may give a file away; the mode matters more
                    os.fchown(handle, *like.owner)
                os.fchmod(handle, like.mode & 0o7777)
            st = os.fstat(handle)
            accessed = st.st_mtime_ns - 1_000_000_000
            if os.utime in os.supports_fd:
                os.utime(handle, ns=(accessed, st.st_mtime_ns))
            os.fsync(handle)
            return f"{st.st_ino} {_born(handle)}", accessed
        finally:
            os.close(handle)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def exchange(self, temp: str, path: str) -> None:
        """Exchange two files in one step: nothing is overwritten. FileNotFoundError if one of them
        does not exist."""
        if not _renamed(temp, path, _EXCHANGE):
            _exchange_by_links(temp, path)

    def complete_exchange(self, temp: str) -> None:
        """Complete an exchange by links that a crash cut short. Where files are exchanged in one
        step, there is nothing to do."""
        old = f"{temp}{_OLD}"
        if os.path.lexists(old):
            if os.path.lexists(temp):
                os.unlink(old)  # a second link to the note
            else:
                os.rename(old, temp)

    def place(self, temp: str, path: str) -> None:
        """Rename a file to a name that is free; FileExistsError if it is not."""
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

    def unlink(self, path: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(path)

    def sync_folder(self, folder: str) -> None:
        """Make the names in a folder durable."""
        files.sync_folder(folder)

    def now(self) -> float:
        """Return the time of the clock by which files get theirs. It may be set."""
        return time.time()

    def uptime(self) -> float:
        """Return seconds of a clock that only runs forwards, until the machine starts again."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def missing_for(self, path: str) -> float:
        """Return for how many seconds a name has been missing, at least."""
        try:
            return max(0.0, self.now() - os.stat(os.path.dirname(path)).st_mtime)
        except OSError:
            return float("inf")


def _read(handle: int, path: str) -> tuple[bytes, os.stat_result]:
    try:
        return files.read_open(handle, _NO_LIMIT)
    except OSError as error:  # a folder, for one
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from None


def is_atomic(folder: str) -> bool:
    """Return True if two files can be exchanged in one step in this folder."""
    missing = f"{folder}/.brain-no-such-file"
    try:
        return _renamed(missing, missing, _EXCHANGE)
    except OSError:
        return True


def _is_lease_refused(handle: int) -> bool | None:
    """Return True if a process has the file open for writing; None if the system has no leases."""
    if sys.platform != "linux":
        return None
    try:
        # the default signal, sent to the holder of a lease when the file is opened, ends a process
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False


def _born(handle: int) -> str:
    """Return when a file was created, in seconds; '' if the system does not tell."""
    statx = getattr(_libc(), "statx", None) if sys.platform == "linux" else None
    found = ctypes.create_string_buffer(256)
    if statx is None or statx(handle, b"", _AT_EMPTY_PATH, _STATX_BTIME, found):
        return ""
    seconds, nanoseconds = struct.unpack_from("qI", found, _BTIME)
    return f"{seconds}.{nanoseconds:09}"


def _shows_reads(handle: int) -> bool:
    return sys.platform == "linux" and not os.fstatvfs(handle).f_flag & _ST_NOATIME


def _renamed(temp: str, path: str, how: int) -> bool:
    """Rename with a flag; False if this system or file system cannot do that."""
    rename = _native()
    if rename is None:
        return False
    if not rename(os.fsencode(temp), os.fsencode(path), how):
        return True
    number = ctypes.get_errno()
    if number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number), path)
    return False


def _exchange_by_links(temp: str, path: str) -> None:
    """Exchange files where the system cannot: see the top of this module."""
    old = f"{temp}{_OLD}"
    os.link(path, old)
    try:
        os.replace(temp, path)
    except OSError:
        os.unlink(old)
        raise
    os.rename(old, temp)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _native() -> Callable[[bytes, bytes, int], int] | None:
    """Return the system's own call; it returns 0 if it has worked."""
    if sys.platform not in ("linux", "darwin"):
        return None
    libc = _libc()
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
