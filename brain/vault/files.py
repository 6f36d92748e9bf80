"""Read and write files: symlinks are not followed, pipes do not block, and writes are atomic. Also
read the state of git."""

from __future__ import annotations

import os
import stat as modes
import sys
import time
from contextlib import suppress

from brain.errors import BadConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

    from brain.vault.layout import Vault

_LEASE_TIMEOUT = 1.0  # seconds for another program to give up a lease
SMALL_FILE = 1_000_000  # bytes, more than any ignore file or brain.yaml has
MISSING = "missing"  # the stamp of a file that does not exist
_FOLLOW = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_FOLLOW |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
FLAGS = _FOLLOW | getattr(os, "O_NOFOLLOW", 0)
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
CREATE |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOATIME = getattr(os, "O_NOATIME", 0)


def read(path: str, limit: int, flags: int = FLAGS) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file and its stat. Raises OSError.

    The stat is taken before the bytes are read, so a later stat shows a change in between.
    """
    handle, _ = open_quietly(path, flags)
    try:
        return read_open(handle, limit)
    finally:
        os.close(handle)


def open_quietly(path: str, flags: int = FLAGS) -> tuple[int, bool]:
    """Open a file for reading. Return its handle, and True if reading does not change the access
    time. By the access time, the store notices that another program has read a note. Only the owner
    of a file may read it without changing this time."""
    try:
        return _open(path, flags | _NOATIME), bool(_NOATIME)
    except PermissionError:
        return _open(path, flags), False


def open_regular(path: str) -> tuple[BufferedReader, os.stat_result]:
    """Open a regular file for reading in pieces. Return the open file and its stat."""
    handle = open_quietly(path)[0]
    st = os.fstat(handle)
    if not modes.S_ISREG(st.st_mode):
        os.close(handle)
        raise OSError("it is not a regular file")
    return os.fdopen(handle, "rb"), st


def _open(path: str, flags: int) -> int:
    """Open a file. If another program, such as a file server, has a lease on the file, the first
    attempt fails and tells that program to give up the lease. So try again for a second."""
    deadline = 0.0
    while True:
        try:
            return os.open(path, flags)
        except BlockingIOError:
            now = time.monotonic()
            deadline = deadline or now + _LEASE_TIMEOUT
            if now > deadline:
                raise
            time.sleep(0.0005)


def read_open(handle: int, limit: int) -> tuple[bytes, os.stat_result]:
    """Return the bytes and the stat of an open file."""
    st = os.fstat(handle)
    if not modes.S_ISREG(st.st_mode):
        raise OSError("it is not a regular file")
    if st.st_size > limit:
        raise OSError("it is too large")
    data = os.read(handle, st.st_size + 1)
    while len(data) < st.st_size and (more := os.read(handle, st.st_size)):
        data += more
    return data, st


def stamp(path: str) -> str:
    """Return the stamp of a file with one stat call. The stamp changes when the file changes."""
    try:
        return stamp_of(os.stat(path, follow_symlinks=False))
    except OSError:
        return MISSING


def stamp_of(st: os.stat_result) -> str:
    """Return the stamp for these stat values."""
    return f"{st.st_ino} {st.st_size} {st.st_mtime_ns} {st.st_ctime_ns}"


def text(path: str, limit: int = SMALL_FILE) -> str:
    """Return the text of a file; '' if it is missing or cannot be read."""
    try:
        return read(path, limit)[0].decode("utf-8", "replace")
    except OSError:
        return ""


def settings_text(vault: Vault) -> str:
    """Return the text of brain.yaml; '' if it is missing. Raise BadConfig if it cannot be read."""
    path = os.path.join(vault.folder_path, "brain.yaml")
    try:
        return read(path, SMALL_FILE, _FOLLOW)[0].decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        why = error.strerror or str(error)
        raise BadConfig(f"{path} cannot be read: {why}.", "Fix it or delete it.") from None


def create(path: Path, text: str) -> bool:
    """Create a file. If it exists, leave it alone and return False."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return False
    return True


def write_atomically(path: str, data: bytes, mode: int = 0o600) -> None:
    """Replace or create a file atomically.

    When this returns, the new bytes are on the disk. After a crash at any moment, the file has
    either all of the old bytes or all of the new ones. If the bytes cannot be written, OSError is
    raised and the file is unchanged. The next write removes a temporary file that a crash left. The
    caller holds a lock, so that no other process writes the same file.
    """
    folder, name = os.path.split(path)
    temp = f"{folder}/.{name}.tmp"
    with suppress(FileNotFoundError):
        os.unlink(temp)
    handle = os.open(temp, CREATE, mode)
    try:
        try:
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temp, path)
    except OSError as error:
        error.filename = error.filename or path
        with suppress(OSError):
            os.unlink(temp)
        raise
    sync_folder(folder)


def write_all(handle: int, data: bytes) -> None:
    """Write all of these bytes. One call of os.write may write only some of them."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync_folder(folder: str) -> None:
    """Wait until the file names in a folder are on the disk."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- git: its state, read from its files without running it ----------------------------------------

_MAX_REFLOG = 100_000_000  # bytes
_BUSY = (
    *("index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
    *("rebase-merge", "rebase-apply"),
)


def git_folder(root: str) -> str:
    """Return the .git folder of the repository that contains a vault; '' if there is none."""
    folder = os.path.abspath(root)
    while True:
        found = f"{folder.rstrip('/')}/.git"
        if os.path.isdir(found):
            return found
        if os.path.isfile(found):  # a worktree or a submodule
            return os.path.join(folder, _git_text(found).removeprefix("gitdir:").strip())
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def is_git_busy(git: str) -> bool:
    """Return True while a git command that rewrites files is running or unfinished."""
    return bool(git) and any(os.path.lexists(f"{git}/{name}") for name in _BUSY)


def git_head(git: str) -> str:
    """Return a mark that changes when git moves to another commit; '' without git.

    The mark has the size of git's reflog and the commit that is checked out. If the commit cannot
    be read, the mark has the name of the branch instead.
    """
    if not git:
        return ""
    try:
        return f"{os.stat(f'{git}/logs/HEAD').st_size} {_commit(git)}"
    except OSError:  # there is no reflog
        return f"0 {_commit(git)}"


def git_wrote_since(git: str, time: float) -> bool:
    """Return True if git has written its index since this time. Every checkout writes it."""
    try:
        return bool(git) and os.stat(f"{git}/index").st_mtime >= time
    except OSError:
        return False


def git_has_moved(git: str, mark: str) -> bool:
    """Return True if git has checked out, reset or merged another commit since `git_head` returned
    `mark`. A new commit of the working tree does not count, because it changes no files."""
    if not git or git_head(git) == mark:
        return False
    size, _, commit = mark.partition(" ")
    try:
        data = read(f"{git}/logs/HEAD", _MAX_REFLOG, _FOLLOW)[0]
    except OSError:
        data = b""
    new_lines = data[int(size or 0) :]
    if not new_lines or len(data) < int(size or 0):
        return commit != _commit(git)
    messages = (line.partition(b"\t")[2] for line in new_lines.split(b"\n") if line)
    return not all(message.startswith(b"commit") for message in messages)


def _commit(git: str) -> str:
    head = _git_text(f"{git}/HEAD")
    name = head.removeprefix("ref:").strip()
    if name == head:
        return head
    if commit := _git_text(f"{git}/{name}"):
        return commit
    shared = _git_text(f"{git}/commondir")  # in a worktree
    return (_git_text(os.path.join(git, shared, name)) if shared else "") or name


def _git_text(path: str) -> str:
    """Return the text of a small file of git; '' if it cannot be read."""
    try:
        return read(path, SMALL_FILE, _FOLLOW)[0].decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""
