"""System calls that replace a note while other programs may be writing it.

The new file and the old one are exchanged in one step. The replaced text is then in the temporary
file and can be read, even if another program saved it a moment before. If Brain compared and then
renamed, a save between these two steps would be lost.

- Linux: `renameat2` with RENAME_EXCHANGE. macOS: `renamex_np` with RENAME_SWAP.
- Other systems, and file systems that cannot exchange files: a second link to the old file is
created, then the new file is renamed over it. A save by rename between these two calls, which take
a few microseconds, is lost; a save in place is kept. `brain doctor` reports such a file system.

A read lease shows whether a process has a file open for writing. Linux grants leases on local disks
to the owner of a file. The access time shows whether another program has read a file, but not on a
disk that is mounted with `noatime`, on macOS or on Windows.
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
_BTIME = 80  # offset of the creation time in the result of statx
_OLD = ".old"  # suffix of the old file while files are exchanged by links
_NO_LIMIT = 1 << 40
_RECENT = 0.1  # seconds within which two changes of a file may get the same file times


class Look(NamedTuple):
    """The content and attributes of a file when it was read."""

    data: bytes
    identity: str  # inode and creation time: an inode number is reused after a file is deleted
    born: float  # creation time by the clock; 0 if unknown
    mode: int
    owner: tuple[int, int]
    links: int
    modified: float  # by the clock
    changed: float  # by the clock; a program cannot set this time
    accessed: int  # ns
    has_writer: bool | None  # a process has the file open for writing; None if unknown
    shows_reads: bool  # the access time changes when another program reads the file
    stamp: str  # changes when the file changes; '' if the next change might not change it


class Disk:
    """The disk operations of the store. A test may replace them to model another machine."""

    def look(self, path: str) -> Look | None:
        """Return the content and attributes of a file; None if it does not exist. If possible, its
        access time is not changed."""
        try:
            handle, keeps_access_time = files.open_quietly(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            has_writer = _is_lease_refused(handle)
            data, st = _read(handle, path)
            if has_writer is False:  # the lease has ended if a process has opened the file since
                has_writer = fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_RDLCK
            born = _creation_time(handle)
            return Look(
                data=data, identity=f"{st.st_ino} {born}", born=float(born or 0), mode=st.st_mode,
                owner=(st.st_uid, st.st_gid), links=st.st_nlink, modified=st.st_mtime,
                changed=st.st_ctime, accessed=st.st_atime_ns, has_writer=has_writer,
                shows_reads=keeps_access_time and _shows_reads(handle),
                stamp=files.stamp_of(st) if not 0 <= self.now() - st.st_ctime < _RECENT else "",
            )  # fmt: skip
        finally:
            os.close(handle)

    def stamp(self, path: str) -> str:
        """Return the current stamp of a file, to compare with the stamp in a Look."""
        return files.stamp(path)

    def is_committed(self, path: str, found: Look, unknown: bool = True) -> bool:
        """Return True if a file is the same as in the commit that git has checked out. Return
        `unknown` if git fails."""
        folder, name = os.path.split(path)
        entry = _git(folder, "ls-tree", "HEAD", f"./{name}")
        hash = _git(folder, "hash-object", name)
        return unknown if entry is None or hash is None else hash.strip() in entry.split()

    def differs_since(self, path: str, commit: str) -> bool:
        """Return True if a file differs between `commit` and the commit that git has checked out,
        or if git fails."""
        folder, name = os.path.split(path)
        return _git(folder, "diff", "--quiet", commit, "HEAD", "--", name) is None

    def is_from_git(self, git: str, found: Look) -> bool | None:
        """Return True if git created a file: it was born while git had its index locked, and git
        wrote the index then. Return None while the index is locked."""
        locked = _life(f"{git}/index.lock") if git else None
        if locked and 0 < locked[0] <= found.born:
            return None
        wrote = _life(f"{git}/index") if git else None  # it was created as the lock
        return wrote is not None and 0 < wrote[0] <= found.born <= wrote[1]

    def create(self, path: str, data: bytes, like: Look | None = None) -> tuple[str, int]:
        """Create a file with these bytes, and with the mode and owner of `like`. The bytes are on
        the disk when this returns. Return the identity and access time of the file. The access time
        is set to before its creation, so that every read changes it."""
        handle = os.open(path, files.CREATE, 0o666)
        try:
            files.write_all(handle, data)
            if like and hasattr(os, "fchmod"):
                with suppress(OSError):  # only root may change the owner
                    os.fchown(handle, *like.owner)
                os.fchmod(handle, like.mode & 0o7777)
            st = os.fstat(handle)
            accessed = st.st_mtime_ns - 1_000_000_000
            if os.utime in os.supports_fd:
                os.utime(handle, ns=(accessed, st.st_mtime_ns))
            os.fsync(handle)
            return f"{st.st_ino} {_creation_time(handle)}", accessed
        finally:
            os.close(handle)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def exchange(self, temp: str, path: str) -> None:
        """Exchange two files in one step: nothing is overwritten. Raise FileNotFoundError if one of
        them does not exist."""
        if not _rename(temp, path, _EXCHANGE):
            _exchange_by_links(temp, path)

    def complete_exchange(self, temp: str) -> None:
        """Complete an exchange by links that a crash interrupted. Do nothing where files are
        exchanged in one step."""
        old = f"{temp}{_OLD}"
        if os.path.lexists(old):
            if os.path.lexists(temp):
                os.unlink(old)  # a second link to the note
            else:
                os.rename(old, temp)

    def place(self, temp: str, path: str) -> None:
        """Rename a file to an unused name. Raise FileExistsError if the name is used."""
        if _rename(temp, path, _NEW):
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
        """Wait until the file names in a folder are on the disk."""
        files.sync_folder(folder)

    def now(self) -> float:
        """Return the time of the clock that file times come from. The user may set this clock."""
        return time.time()

    def uptime(self) -> float:
        """Return the seconds since the machine started, by a clock that cannot be set."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def missing_for(self, path: str) -> float:
        """Return the seconds since the folder of a missing file changed. The file has been missing
        for at least this time."""
        try:
            return max(0.0, self.now() - os.stat(os.path.dirname(path)).st_mtime)
        except OSError:
            return float("inf")


def _git(folder: str, *arguments: str) -> bytes | None:
    """Return the output of git; None if git fails or exits with a code other than 0."""
    import subprocess

    command = ["git", "-C", folder, *arguments]
    try:
        return subprocess.run(command, capture_output=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _read(handle: int, path: str) -> tuple[bytes, os.stat_result]:
    try:
        return files.read_open(handle, _NO_LIMIT)
    except OSError as error:  # it may be a folder
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from None


def is_atomic(folder: str) -> bool:
    """Return True if two files can be exchanged in one step in this folder."""
    missing = f"{folder}/.brain-no-such-file"
    try:
        return _rename(missing, missing, _EXCHANGE)
    except OSError:
        return True


def _is_lease_refused(handle: int) -> bool | None:
    """Return True if a process has the file open for writing, which prevents a lease. Return None
    if the system has no leases."""
    if sys.platform != "linux":
        return None
    try:
        # if another process opens the file, this process gets a signal; SIGIO would end it
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False


def _creation_time(handle: int) -> str:
    """Return the creation time of a file in seconds; '' if the system does not provide it."""
    statx = getattr(_libc(), "statx", None) if sys.platform == "linux" else None
    buffer = ctypes.create_string_buffer(256)
    if statx is None or statx(handle, b"", _AT_EMPTY_PATH, _STATX_BTIME, buffer):
        return ""
    seconds, nanoseconds = struct.unpack_from("qI", buffer, _BTIME)
    return f"{seconds}.{nanoseconds:09}"


def _life(path: str) -> tuple[float, float] | None:
    """Return the times when a file was created and modified; None if there is no file."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return float(_creation_time(handle) or 0), os.fstat(handle).st_mtime
    finally:
        os.close(handle)


def _shows_reads(handle: int) -> bool:
    return sys.platform == "linux" and not os.fstatvfs(handle).f_flag & _ST_NOATIME


def _rename(temp: str, path: str, flag: int) -> bool:
    """Rename with a flag. Return False if this system or file system cannot do that."""
    rename = _rename_call()
    if rename is None:
        return False
    if not rename(os.fsencode(temp), os.fsencode(path), flag):
        return True
    error_number = ctypes.get_errno()
    if error_number not in _UNSUPPORTED:
        raise OSError(error_number, os.strerror(error_number), path)
    return False


def _exchange_by_links(temp: str, path: str) -> None:
    """Exchange files with links, where the system has no call for it; see the top of this
    module."""
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
def _rename_call() -> Callable[[bytes, bytes, int], int] | None:
    """Return the system call that renames with a flag. It returns 0 if it succeeded."""
    if sys.platform not in ("linux", "darwin"):
        return None
    libc = _libc()
    if hasattr(libc, "renamex_np"):
        rename = libc.renamex_np
        rename.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
        return lambda a, b, flag: int(rename(a, b, flag))
    if hasattr(libc, "renameat2"):
        rename = libc.renameat2
        path = (ctypes.c_int, ctypes.c_char_p)
        rename.argtypes = (*path, *path, ctypes.c_uint)
        return lambda a, b, flag: int(rename(_AT_FDCWD, a, _AT_FDCWD, b, flag))
    return None
