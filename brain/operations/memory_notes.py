"""Memory notes as they were last read, so that the next write need not parse them.

A note is valid for one digest of its file. A write of this process updates it; after any other
change of the file, it is read again.
"""

from __future__ import annotations

from brain import kinds
from brain.formats import frontmatter
from brain.formats.links import FIELD, mentioned_files
from brain.formats.memory_place import outline
from brain.formats.text import decode, digest
from brain.index import put, read
from brain.lifecycle.conflict import Stances
from brain.lifecycle.dedup import Known, untagged
from brain.operations.results import Mention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brain.open_vault import OpenVault
    from brain.operations.results import Entry
    from brain.store import Outcome


class Note:
    """A memory note as it was last read: `data` is what it held, `mark` the digest of that."""

    def __init__(self, data: bytes, mark: str) -> None:
        self.data, self.mark = data, mark
        self.known, self.bare, self.stances = Known(), Known(), Stances()
        self.texts: dict[str, str] = {}
        text, _ = decode(data)
        seen = outline(text, frontmatter.split(text)[1])
        self.paths = [seen.path(number) for number in range(len(seen.headings))]

    def add(self, ref: str, text: str, kind: str) -> None:
        """Learn an entry."""
        self.texts[ref] = text
        self.known.add(ref, text)
        self.bare.add(ref, without_links(text))
        self.stances.add(ref, text, kind, about(text))

    def same(self, text: str, links: tuple[str, ...]) -> str | None:
        """The entry that says this already. Links behind the words are not words; but one that the
        entry lacks would be lost."""
        if found := self.known.exact(" ".join([text, *links])):
            return found
        found = self.bare.exact(without_links(text))
        lacks = found and about(" ".join([text, *links])) - about(self.texts[found])
        return None if lacks else found

    def near(self, text: str) -> list[str]:
        """The entries that say nearly this, whatever they link to."""
        return list(dict.fromkeys([*self.known.near(text), *self.bare.near(without_links(text))]))

    def mentions(self, refs: Iterable[str]) -> list[Mention]:
        """Return these entries by id and text."""
        return [Mention(id=ref, text=self.texts[ref]) for ref in refs]

    def section(self, kind: str, settings: tuple[str, ...]) -> str:
        """The section for a kind: as the settings say (`decision=Choices made`), else one that the
        note has for it, else its usual name."""
        named = (setting.partition("=") for setting in settings)
        chosen = {name.strip().casefold(): section.strip() for name, _, section in named}
        if chosen.get(kind):
            return chosen[kind]
        for path in self.paths:
            if path and kinds.of_headings(path[-1:]) == kind:
                return path[-1]
        return kinds.KINDS[kind].headings[0].title()

    def path(self, section: str) -> tuple[str, ...]:
        """A section with the headings above it, if the note has it."""
        words = section.rpartition(" > ")[2].casefold()
        found = (path for path in self.paths if path and path[-1].casefold() == words)
        return next(found, (section.rpartition(" > ")[2],))


def without_links(text: str) -> str:
    """An entry without the links that stand behind its words; with them, if it has no others."""
    words = untagged(FIELD.sub("", text), links=True) if "[[" in text else text
    return words if words.strip() else text


def about(text: str) -> set[str]:
    """The files that a memory is about, to be compared."""
    return {name.casefold() for name in mentioned_files(text)}


def known(vault: OpenVault, path: str) -> Note:
    """Return the note as it is now."""
    data = vault.read(path)
    mark = digest(data).hex()
    note = vault.notes.get(path)
    if note is None or note.mark != mark:
        note = vault.notes[path] = Note(data, mark)
        for ref, text, kind in _entries(vault, path, note):
            note.add(ref, text, kind)
    note.data = data
    return note


def _entries(vault: OpenVault, path: str, note: Note) -> Iterator[tuple[str, str, str]]:
    """Yield (id, text, kind) of the memories of a note, from the index if that is up to date."""
    was = put.known(vault.index, [path]).get(path)
    if was and was.digest.hex() == note.mark:
        rows = read.by_place(vault.index, path, 0)
        yield from ((row.ref, row.text, row.kind) for row in rows if row.kind != "note")
        return
    from brain.formats import memory_md

    for chunk in memory_md.parse(note.data, vault.owner(path)).chunks:
        if chunk.kind != "note":
            yield chunk.ref, chunk.text, chunk.kind


def wrote(vault: OpenVault, path: str, note: Note, result: Outcome, new: Entry) -> None:
    """Add an entry that was just written. If another process changed the note, drop it."""
    entry = next(
        (e for e in reversed(vault.store.log.open.values()) if result.deed in e.intent.deeds), None
    )
    base = note.mark if note.data else ""
    if entry is None or entry.intent.base != base or not entry.digest or entry.saved:
        vault.notes.pop(path, None)
        return
    note.data, note.mark = vault.read(path), entry.digest
    if digest(note.data).hex() != note.mark:
        vault.notes.pop(path)  # changed again since
        return
    note.add(new.id, new.text, new.kind)
    heading = tuple(new.heading.split(" > "))
    if heading not in note.paths:
        note.paths.append(heading)
