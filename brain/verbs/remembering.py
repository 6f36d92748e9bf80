"""`remember`: a new memory goes into an agent's note, unless it is there already."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date as days
from functools import partial

from brain import access, kinds
from brain.changes import Add, Anchor, Deed
from brain.errors import BadRequest, StaleFile
from brain.formats.links import TAG
from brain.formats.memory_md import DATE
from brain.journal.codec import random_letters
from brain.lifecycle.conflict import may_oppose, opposes
from brain.lifecycle.dedup import fingerprint
from brain.operations import lookup
from brain.record import NamedTuple
from brain.verbs import answer, notes, restating
from brain.verbs.changing import anchored
from brain.worth import SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brain.access import Actor
    from brain.open_vault import OpenVault
    from brain.verbs.answer import Shape

    Promise = tuple[Add, str, str]  # with its kind, and the state of the promise

_LINK = re.compile(r"\[\[[^\[\]\n]+\]\]|[^\[\]\n]+")
TRIES = 10  # times that somebody may say the same just before


class Wanted(NamedTuple):
    """What is to be remembered, as it was said."""

    text: str
    kind: str = ""
    tags: tuple[str, ...] = ()
    section: str = ""
    links: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    source: str = ""
    confidence: float | None = None
    importance: float | None = None
    why: str = ""
    date: str | bool | None = None


def remember(vault: OpenVault, wanted: Wanted, agent: str, by: Actor) -> Shape:
    """Put a memory at the end of its section; what is there already is not written again, not even
    when two say it at the same moment."""
    _check(wanted)
    seen = access.readable(by)
    access.refuse_unseen(agent, None if seen is None else (*seen, by.name))
    shape = _once(vault, wanted, access.memory_note(vault, agent), by)
    return shape | {"unmade": _unmade(vault, wanted.links, by)}


def _once(vault: OpenVault, wanted: Wanted, path: str, by: Actor) -> Shape:
    if last := notes.last(vault, path):
        with suppress(StaleFile):
            return _remember(vault, wanted, path, by, last, sure=False)
    for _ in range(TRIES):
        with suppress(StaleFile):
            return _remember(vault, wanted, path, by, notes.known(vault, path))
    return _remember(vault, wanted, path, by, notes.known(vault, path))


def _remember(
    vault: OpenVault, wanted: Wanted, path: str, by: Actor, note: notes.Note, sure: bool = True
) -> Shape:
    """StaleFile, and nothing is done, if the note says by now what is to be remembered; unless it
    is `sure` to be what was just read, if it says anything else than it did."""
    text, rules = answer.redacted(vault, _dated(vault, wanted.text.strip(), wanted.date))
    links = tuple(_link(vault, link, path, by) for link in wanted.links)
    kind, tags, section = _place(vault, wanted, note)
    promised = _promised(vault, path)
    against = [
        *note.stances.against(text, kind, notes.about(" ".join([text, *links]))),
        *(_opposing(promised, text, kind) if promised else ()),
    ]
    same = note.same(text, links)
    if (same or against) and not sure:
        raise StaleFile(f"{path} may have changed.", "Look at it again.")
    waiting = _waiting(vault, promised, text) if promised and not same else None
    if waiting and not (wanted.supersedes or wanted.tags or links):
        vault.store.allow(by, path)
        return answer.happened(waiting, "duplicate", None, rules) | restating.told([])
    if ref := same or (waiting and waiting["id"]):
        asked = Add(path, ref, text, section, _tags(wanted), links)
        return _again(vault, wanted, asked, by) | {"redacted": sorted(rules)}
    near = [_named(note, other) for other in note.near(text) if other not in against]
    fields, more = _fields(vault, wanted, against, path, by)
    ref = _free(note)
    change = Add(path, ref, text, section, tags, links, fields)
    deeds = [
        Deed("add", ref, change, _given(wanted, kind, by)),
        *_conflicts(vault, ref, against, path),
    ]
    unless = partial(_says, note, path, _undated(text) if sure else "")
    result = answer.applied(vault, [*more, *deeds], by, main=len(more), unless=unless)[0]
    shape = answer.added(vault, change, kind, result.done)
    notes.wrote(vault, path, note, result, shape)
    if result.done:
        answer.tell(vault, path, "", shape)
    shape = answer.happened(shape, "conflict" if against else "added", result, rules)
    told = [_named(note, other, promised) for other in against]
    return shape | {"near": near, "conflicts": told}


def _says(note: notes.Note, path: str, text: str, where: str, data: bytes) -> bool:
    """Has the note changed since it was looked at, and holds it these words (or any) now, or new
    lines that may say the opposite?"""
    if where != path or data == note.data:
        return False
    now = data.decode(errors="replace")
    if " ".join(text.split()).casefold() in " ".join(now.split()).casefold():
        return True
    before = note.data.decode(errors="replace").split("\n")
    return may_oppose(text, set(now.split("\n")).difference(before))


def _named(note: notes.Note, ref: str, promised: Sequence[Promise] = ()) -> dict[str, str]:
    waiting = {change.ref: change.text for change, _, _ in promised}
    return {"id": ref, "text": note.texts.get(ref) or waiting[ref]}


def _again(vault: OpenVault, wanted: Wanted, asked: Add, by: Actor) -> Shape:
    data = {"agent": answer.owner(vault, asked.path), **_given(wanted, "", by)}
    return restating.merged(vault, asked, wanted.supersedes, data, by)


def _promised(vault: OpenVault, path: str) -> list[Promise]:
    """What is promised for a note and not in it yet."""
    waiting = vault.store.log.busy.values() if vault.store.log.open else vault.store.pending()
    return [
        (deed.change, str(deed.data.get("kind", "")), entry.state)
        for entry in waiting
        if entry.state != "written"
        for deed in entry.intent.deeds
        if isinstance(deed.change, Add) and deed.change.path == path
    ]


def _waiting(vault: OpenVault, promised: Sequence[Promise], text: str) -> Shape | None:
    """The memory that says this and is promised."""
    for change, kind, _ in promised:
        if fingerprint(change.text) == fingerprint(text):
            return answer.added(vault, change, kind, None) | {"state": "pending"}
    return None


def _opposing(promised: Sequence[Promise], text: str, kind: str) -> list[str]:
    """The memories of this kind that say the opposite and will be written before this one."""
    return [
        change.ref
        for change, its_kind, state in promised
        if not state and its_kind == kind and opposes(change.text, text)
    ]


def _conflicts(vault: OpenVault, ref: str, against: Sequence[str], path: str) -> list[Deed]:
    data = {"type": "contradictory", "agent": answer.owner(vault, path)}
    return [Deed("conflict", ref, None, {"other": other, **data}) for other in against]


def _check(wanted: Wanted) -> None:
    if not wanted.text.strip():
        raise BadRequest("There is nothing to remember.", "Say it in at least one word.")
    if wanted.section and not wanted.section.strip():
        raise BadRequest("There is no section.", "Name a heading of the note, or a new one.")
    for link in wanted.links:
        if not _LINK.fullmatch(link.strip()):
            raise BadRequest(f"{link!r} is no link.", "Name a note or a memory, or write [[Name]].")
    if wanted.kind and wanted.kind.casefold().replace("-", "_") not in kinds.KINDS:
        raise BadRequest(f"There is no kind {wanted.kind!r}.", f"Kinds: {', '.join(kinds.KINDS)}.")
    if wanted.source and wanted.source not in SOURCES:
        raise BadRequest(f"There is no source {wanted.source!r}.", f"One of: {', '.join(SOURCES)}.")
    for name in ("confidence", "importance"):
        value = getattr(wanted, name)
        if value is not None and not 0 <= value <= 1:
            raise BadRequest(f"{name} must be from 0 to 1, not {value}.", "0.8 is a good one.")


def _place(vault: OpenVault, wanted: Wanted, note: notes.Note) -> tuple[str, tuple[str, ...], str]:
    """The kind of a memory, its tags, and the section it goes to.

    A kind that its section would not tell is said by a tag.
    """
    said = kinds.of_tags([*wanted.tags, *TAG.findall(wanted.text)])
    kind = wanted.kind.casefold().replace("-", "_") or said
    section = wanted.section
    if not section:
        kind = kind or kinds.DEFAULT_KIND
        section = note.section(kind, vault.config.sections)
    told = kinds.of_headings(note.path(section))
    kind = kind or told or kinds.DEFAULT_KIND
    tags = _tags(wanted)
    if kind != (said or told or kinds.DEFAULT_KIND):
        tags = (*tags, kind)
    return kind, tags, section


def _tags(wanted: Wanted) -> tuple[str, ...]:
    tags = {tag.casefold(): tag for tag in (tag.lstrip("#") for tag in reversed(wanted.tags))}
    return tuple(reversed(tags.values()))


def _dated(vault: OpenVault, text: str, date: str | bool | None) -> str:
    """The words with the day before them, unless they begin with one or none is wanted."""
    if date is False or (date is None and not vault.config.datePrefix):
        return text
    if DATE.match(text):
        return text
    day = vault.clock().astimezone().date().isoformat() if date in (None, True) else str(date)
    try:
        if days.fromisoformat(day).isoformat() != day:
            raise ValueError(day)
    except ValueError:
        raise BadRequest(f"{day!r} is no date.", "Write it as 2026-02-01.") from None
    return f"{day}: {text}"


def _undated(text: str) -> str:
    day = DATE.match(text)
    return text[day.end() :].lstrip(":, ") if day else text


def _link(vault: OpenVault, link: str, path: str, by: Actor) -> str:
    """A link as it stands in the note: to another memory by its id, or to a note by its name."""
    link = link.strip()
    if link.startswith("[["):
        return link
    if not _is_memory(link):
        return f"[[{lookup.note_link(vault, link, by) or link}]]"
    return lookup.link_to(lookup.memory(vault, link, by), path)


def _is_memory(link: str) -> bool:
    return link.strip().lstrip("^").startswith("m-")


def _unmade(vault: OpenVault, links: Sequence[str], by: Actor) -> list[str]:
    """The notes among these that are linked to by their names and are not there yet."""
    named = [link.strip() for link in links if not _is_memory(link)]
    named = [name for name in named if not name.startswith("[[")]
    if all(lookup.note_link(vault, name, by) for name in named):
        return []
    vault.refresh()
    left = [name for name in named if not lookup.note_link(vault, name, by)]
    return [answer.redacted(vault, name)[0] for name in left]


def _fields(
    vault: OpenVault, wanted: Wanted, against: Sequence[str], path: str, by: Actor
) -> tuple[tuple[tuple[str, str], ...], list[Deed]]:
    """The fields of the line, and what writes the ids behind those that they lead to."""
    fields: list[tuple[str, str]] = []
    deeds: list[Deed] = []
    for id in wanted.supersedes:
        older = lookup.memory(vault, id, by)
        deeds += anchored(older, by)
        fields.append(("supersedes", lookup.link_to(older, path)))
    for ref in against:
        deeds.append(Deed("anchor", ref, Anchor(path, ref)))
        fields.append(("contradicts", f"[[#^{ref}]]"))
    return tuple(fields), deeds


def _given(wanted: Wanted, kind: str, by: Actor) -> dict[str, Any]:
    """What the journal keeps of a new memory beside its line."""
    usual = "user_stated" if by.type == "person" else "observed"
    values = {
        "kind": kind,
        "source": wanted.source or usual,
        "confidence": wanted.confidence,
        "importance": wanted.importance,
        "why": wanted.why,
    }
    return {key: value for key, value in values.items() if value not in ("", None)}


def _free(note: notes.Note) -> str:
    """A new id, which nothing in the note has."""
    while True:
        ref = f"m-{random_letters(8)}"
        if ref not in note.texts:
            return ref
