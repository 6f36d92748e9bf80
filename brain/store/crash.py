"""What a killed process leaves: a promise in the log, and perhaps temporary files beside a note.

The log knows what each file of ours held that was to take the note's place. If such a one, or a
`.part`, is still there, it never did, or gave it back: it goes, and the change is carried out anew.
If none is there, ours has the note's place, and what else is there was displaced.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from brain.errors import BrainError
from brain.formats.text import digest
from brain.intents import Open, Told
from brain.store import attempt, place
from brain.vault import files, swap
from brain.vault.replace import NO_LIMIT, Left, look

if TYPE_CHECKING:
    from brain.store.door import Store


class _Found(NamedTuple):
    """A file of an attempt that is not ours."""

    name: str
    path: str
    data: bytes
    sure: bool


def recover(store: Store) -> None:
    """Read the log, and clear up behind those who were killed. What they promised is then carried
    out like anything that waits. A file that cannot be read now is left for later."""
    store.log.refresh()
    there: dict[str, list[str]] = {}
    for entry in list(store.log.busy.values()):
        if entry.temp:
            folder = os.path.dirname(place.full(store.vault, entry.intent.path))
            if folder not in there:
                there[folder] = _listed(folder)
            names = [name for name in there[folder] if name.startswith(entry.temp)]
            names = [name for name in names if name not in entry.left]
            if names or entry.news:
                with suppress(OSError, BrainError):
                    _recover(store, entry, folder, names)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(".brain-"))
    except OSError:
        return []


def _recover(store: Store, entry: Open, folder: str, names: list[str]) -> None:
    full, part = place.full(store.vault, entry.intent.path), f"{entry.temp}.part"
    kept = [name for name in names if name != part and not _is_second(f"{folder}/{name}", full)]
    ours = [name for name in kept if _digest(f"{folder}/{name}") in entry.news]
    for name in ours:
        os.replace(f"{folder}/{name}", f"{folder}/{part}")
    out = bool(entry.news) and not ours and part not in names
    left: list[Left] = []
    for name in kept:
        if name not in ours:
            found = _Found(name, f"{folder}/{name}", *look(f"{folder}/{name}"))
            out, keep = _displaced(store, entry, found, full, f"{folder}/{part}", out)
            left += keep
    _end(store, entry, out, [item.name for item in left])
    with suppress(FileNotFoundError):
        os.unlink(f"{folder}/{part}")


def _displaced(
    store: Store, entry: Open, found: _Found, full: str, part: str, out: bool
) -> tuple[bool, list[Left]]:
    """Deal with a file that is not ours: whether ours has the note's place, and what to look at
    again later."""
    left = Left(found.name, found.data)
    if found.name not in (entry.aside, f"{entry.aside}.old"):
        return out, [left]  # over what it was saved is not known
    if digest(found.data).hex() == entry.old:
        if found.sure:
            os.unlink(found.path)
            return out, []
        attempt.keep(store, [left])
        return out, [left]
    if out and _digest(full) == entry.news[-1]:  # saved just before: it goes back into its place
        swap.exchange(found.path, full)
        data, sure = look(found.path)
        if sure and digest(data).hex() == entry.news[-1]:
            os.replace(found.path, part)
            return False, []
        swap.exchange(found.path, full)  # somebody saved at this very moment, or is about to
    return False, [left]  # it cannot be told; doing it twice does no harm


def _end(store: Store, entry: Open, out: bool, left: list[str]) -> None:
    """The attempt is over. What took its place is written; the rest still waits."""
    more: Told = {**attempt.OVER, "temp": entry.temp, "left": [*entry.left, *left]}
    if entry.state or not out or entry.intent.id not in entry.group:
        store.log.mark([entry.intent.id], entry.state, entry.at, **more)
    else:
        _written(store, entry, more)


def _written(store: Store, last: Open, more: Told) -> None:
    group = [e for e in store.log.busy.values() if e.intent.id in last.group and not e.state]
    did, mark, at = last.did, last.news[-1], last.at
    for entry in group:
        deeds = [deed for deed in entry.intent.deeds if deed.id in did]
        own = {deed.id: did[deed.id] for deed in deeds}
        told: Told = {**(more if entry is last else attempt.OVER), "digest": mark, "did": own}
        told |= {"noted": False, "head": entry.intent.head}
        store.log.mark([entry.intent.id], "written", at, **told)


def _is_second(path: str, full: str) -> bool:
    """Is this but a second name of the note? It goes."""
    with suppress(OSError):
        if os.path.samestat(os.lstat(path), os.lstat(full)):
            os.unlink(path)
            return True
    return False


def _digest(path: str) -> str:
    return digest(files.read(path, NO_LIMIT)[0]).hex()
