"""Hold a write while a person types in its note.

An editor would warn the person, or write its own text over the write. So a write waits until the
person has not saved the note for `holdSeconds`, but not for ever.
"""

from __future__ import annotations

from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.store.note import Note

MAX_HOLD = 10.0  # seconds after which a write no longer waits for a person to pause


def is_typed_in(note: Note, seconds: float, most: float) -> bool:
    """Return True if the text of a person was saved in the note in the last seconds, unless the
    head has waited for `most` seconds. A note that git has just checked out does not count."""
    if note.found is None:
        return False
    held = note.disk.uptime() - note.row.due if note.row.due else 0.0
    if note.disk.now() - note.found.modified >= seconds or not 0 <= held < most:
        return False
    if not files.git_wrote_since(note.git, note.found.modified):
        return True
    return not note.disk.is_committed(note.full, note.found, unknown=False)
