"""What is kept of a memory note between two writes, so that the next one need not parse it.

It holds for one digest of the file. After a write of our own it is brought forward; when the file
is anything else, it is made anew.
"""

from __future__ import annotations

import re

from brain import kinds
from brain.formats import frontmatter
from brain.formats.outline import outline
from brain.formats.text import decode, digest
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.api import Brain
    from brain.store import Outcome
    from brain.verbs.answer import Shape

DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?=$|[:\s,])")


class Note:
    """A memory note as it was last read: `data` is what it held."""

    def __init__(self, data: bytes, mark: str) -> None:
        self.data, self.mark = data, mark
        text, _ = decode(data)
        seen = outline(text, frontmatter.split(text)[1])
        self.paths = [seen.path(number) for number in range(len(seen.headings))]

    def section(self, kind: str) -> str:
        """The section for a kind: one that the note has for it, else its usual name."""
        for path in self.paths:
            if path and kinds.of_headings(path[-1:]) == kind:
                return path[-1]
        return kinds.KINDS[kind].headings[0].title()

    def path(self, section: str) -> tuple[str, ...]:
        """A section with the headings above it, if the note has it."""
        words = section.rpartition(" > ")[2].casefold()
        found = (path for path in self.paths if path and path[-1].casefold() == words)
        return next(found, (section.rpartition(" > ")[2],))


def known(brain: Brain, path: str) -> Note:
    """What is known of a note as it is now."""
    try:
        data, _ = files.read(f"{brain.vault.root_path}/{path}", brain.config.maxFileSize)
    except OSError:
        data = b""  # not there yet; or the store will say what is wrong with it
    mark = digest(data).hex()
    note = brain.notes.get(path)
    if note is None or note.mark != mark:
        note = brain.notes[path] = Note(data, mark)
    note.data = data
    return note


def wrote(brain: Brain, path: str, note: Note, result: Outcome, shape: Shape) -> None:
    """Bring what is known forward by an entry that was just added; if somebody else changed the
    note meanwhile, forget it."""
    entry = next((e for e in reversed(brain.store.open()) if result.deed in e.intent.deeds), None)
    if entry is None or entry.intent.base != note.mark or not entry.digest or entry.saved:
        brain.notes.pop(path, None)
        return
    note.mark = entry.digest
