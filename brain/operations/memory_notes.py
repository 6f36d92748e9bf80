"""A memory note as the index has it: its sections, and what is like a new memory."""

from __future__ import annotations

from brain import kinds
from brain.formats import frontmatter
from brain.formats.links import FIELD, mentioned_files
from brain.formats.memory_place import outline
from brain.formats.text import decode
from brain.index import read
from brain.lifecycle.conflict import Stances
from brain.lifecycle.dedup import Known, untagged
from brain.operations.results import Mention
from brain.store import targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brain.open_vault import OpenVault


class Note:
    """The sections and entries of a memory note."""

    def __init__(self, data: bytes) -> None:
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
    """Return the note as it is now, with its pending writes."""
    note = Note(targets.encode(vault.store.note(path).text))
    for row in read.by_place(vault.index, path, 0):
        if row.kind != "note":
            note.add(row.ref, row.text, row.kind)
    return note
