"""Decide whether a write waits: while a person types in the note, while a git command runs, or if
the note cannot be edited safely."""

from __future__ import annotations

from brain.config import Config
from brain.errors import Refused
from brain.formats.text import UNSAFE, decode
from brain.store import file_types
from brain.store.note import Note
from brain.vault import files

MAX_HOLD = 10.0  # seconds after which a write no longer waits for a person to pause


def reason(note: Note, git: str, config: Config, most: float = MAX_HOLD) -> str:
    """Return the reason why a note must not be written now; '' if it may be. Wait for a person who
    is typing at most `most` seconds."""
    if files.is_git_busy(git):
        return "git is at work"
    if why := _unsafe(note, config):
        return why
    return "a person is typing" if _is_typed_in(note, config.holdSeconds, most) else ""


def _is_typed_in(note: Note, seconds: float, most: float) -> bool:
    """Return True if a person saved the note in the last seconds, unless its head has waited for
    `most` seconds. A note that git has just checked out does not count."""
    assert note.history is not None
    if note.found is None or note.history.tip.written:
        return False
    held = note.disk.uptime() - note.row.due if note.row.due else 0.0
    if note.disk.now() - note.found.modified >= seconds or not 0 <= held < most:
        return False
    if not files.git_wrote_since(note.git, note.found.modified):
        return True
    return not note.disk.is_committed(note.full, note.found, unknown=False)


def _unsafe(note: Note, config: Config) -> str:
    if note.found is None:
        return ""
    try:
        file_types.refuse_unsafe(note.path, note.found, config.maxFileSize)
    except Refused as error:
        return str(error)
    problems = decode(note.found.data)[1]
    return next((f"line {p.line} {p.message}" for p in problems if p.code in UNSAFE), "")
