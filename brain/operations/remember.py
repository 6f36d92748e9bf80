"""Store a memory in an agent's note, unless it is there already."""

from __future__ import annotations

import re
from datetime import date as days

from brain import access, kinds
from brain._tuples import NamedTuple
from brain.compare.similar import Similar, similar
from brain.errors import BadRequest, NotFound
from brain.formats import frontmatter
from brain.formats.links import TAG
from brain.formats.memory_md import DATE
from brain.formats.memory_place import outline
from brain.formats.plain_text import fingerprint
from brain.formats.text import decode
from brain.importance import SOURCES
from brain.index import journal_facts, read, relations
from brain.journal.codec import random_letters
from brain.model import RELATIONS, Add, Relate, Retag, Write
from brain.operations import apply, lookup
from brain.operations.conflicts import comparable, fields_of, mentioned
from brain.operations.results import Entry, Mention, Remembered, entry
from brain.operations.usage import snippet as snippet_of
from brain.store import file_types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.index.read import Row
    from brain.model import Link
    from brain.open_vault import OpenVault
    from brain.store import Outcome

    Headings = Sequence[tuple[str, ...]]


_LINK = re.compile(r"\[\[[^\[\]\n]+\]\]|[^\[\]\n]+")
_PLAIN = ("link", *RELATIONS)


class Request(NamedTuple):
    """The arguments of `remember`."""

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
    messages: str = ""
    snippet: str = ""
    date: str | bool | None = None


class Plan(NamedTuple):
    """The plan for a memory: a change, or an existing memory with the same text. The write for its
    line comes first, then its parts."""

    change: Add
    found: Similar
    rules: tuple[str, ...] = ()
    writes: tuple[Write, ...] = ()
    mark: str = ""  # the fingerprint of the text


def remember(
    vault: OpenVault,
    text: str,
    *,
    kind: str = "",
    tags: Iterable[str] = (),
    section: str = "",
    links: Iterable[str] = (),
    supersedes: Iterable[str] = (),
    source: str = "",
    confidence: float | None = None,
    importance: float | None = None,
    why: str = "",
    messages: str = "",
    snippet: str = "",
    date: str | bool | None = None,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Remembered:
    """Store a memory of an agent (default: the admin) at the end of its section.

    A memory that is already stored is not stored again, not even if two processes store it at the
    same time. Instead, it gets the tags and links that it lacks. `date` is the day that the memory
    begins with; False omits the date, and None follows the settings. `messages` are the numbers of
    the messages that the memory comes from (`12` or `12-18`). `snippet` is a part of the
    conversation at that time.
    """
    memory = {
        "text": text, "kind": kind, "tags": tags, "section": section, "links": links,
        "supersedes": supersedes, "source": source, "confidence": confidence,
        "importance": importance, "why": why, "messages": messages, "snippet": snippet,
        "date": date,
    }  # fmt: skip
    return remember_all(vault, [memory], agent=agent, session=session, by=by)[0]


def remember_all(
    vault: OpenVault,
    memories: Iterable[str | Mapping[str, Any]],
    *,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> list[Remembered]:
    """Store several memories in one write: all of them or, on an error, none. Each is a text, or
    the arguments of `remember` by name."""
    with vault.writing():
        actor = access.resolve(vault, by, session)
        requests: list[dict[str, Any]] = [
            {"text": memory} if isinstance(memory, str) else dict(memory) for memory in memories
        ]
        for request in requests:
            for name in {"tags", "links", "supersedes"} & request.keys():
                request[name] = lookup.words(request[name])
            if unknown := request.keys() - set(Request._fields):
                remedy = f"A memory has: {', '.join(Request._fields)}."
                raise BadRequest(f"A memory has no {sorted(unknown)[0]!r}.", remedy)
        return _remember(
            vault, [Request(**{"text": "", **request}) for request in requests], agent, actor
        )


def _remember(
    vault: OpenVault, requests: Sequence[Request], agent: str, by: Actor
) -> list[Remembered]:
    """Store memories of one agent in one write. Those that exist already are merged one by one."""
    for request in requests:
        _check(request)
    seen = access.readable(by)
    access.refuse_unseen(agent, None if seen is None else (*seen, by.name))
    path = access.memory_note(vault, agent)
    headings = _headings(vault, path)
    new: dict[str, Plan] = {}  # by fingerprint: equal texts are stored once
    plans: list[Plan] = []
    for request in requests:
        plan = _plan(vault, request, path, by, headings)
        plans.append(plan if plan.found.same else new.setdefault(plan.mark, plan))
    results = apply.apply_each(vault, [plan.writes for plan in new.values()], by)
    written = dict(zip(new, results, strict=True))
    out: list[Remembered] = []
    for request, plan in zip(requests, plans, strict=True):
        if plan.found.same:
            found = _store_again(vault, request, plan.found.same, plan.change, by)
        elif (result := written.pop(plan.mark, None)) is not None:
            found = _added(vault, plan, result)
        else:
            found = _remembered(_entry(vault, plan), "duplicate", None)
        unmade = _unmade(vault, request.links, by)
        out.append(found.replace(redacted=sorted({*found.redacted, *plan.rules}), unmade=unmade))
    return out


def _plan(vault: OpenVault, request: Request, path: str, by: Actor, headings: Headings) -> Plan:
    """Decide what a memory becomes: a new entry, or one that exists."""
    text, rules = apply.redacted(vault, _dated(vault, request.text.strip(), request.date))
    links = tuple(_link(vault, link, path, by) for link in request.links)
    kind, tags, section = _place(vault, request, headings)
    compared = " ".join([text, *links])
    found = similar(vault.index, compared, owners=comparable(vault, path, by), kind=kind)
    if found.same:
        change = Add(path, found.same.ref, text, section, _tags(request), links)
        return Plan(change, found, tuple(rules))
    older = [lookup.memory(vault, id, by) for id in request.supersedes]
    gone = {row.ref: "superseded" for row in older if row.ref in found.conflict_types}
    against = tuple(row for row in found.contradicts if row.ref not in gone)
    fields, first = fields_of(older, against, path, by)
    change = Add(path, _free_id(vault), text, section, tags, links, fields)
    conflict = {"agent": vault.owner(path)}
    writes = [
        Write("remember", change.ref, change, _record_data(request, kind, by)),
        *first,
        *(
            Write("conflict", change.ref, None, conflict | {"type": type, "other": other})
            for other, type in (found.conflict_types | gone).items()
        ),
    ]
    found = found._replace(contradicts=against)
    return Plan(change, found, tuple(rules), tuple(writes), fingerprint(compared))


def _added(vault: OpenVault, plan: Plan, result: Outcome) -> Remembered:
    near, conflicts = mentioned(plan.found)
    outcome = "conflict" if conflicts else "added"
    return _remembered(_entry(vault, plan), outcome, result, near=near, conflicts=conflicts)


def _entry(vault: OpenVault, plan: Plan) -> Entry:
    path, ref = plan.change.path, plan.change.ref
    row = apply.find(vault, path, ref)
    if row is None:
        raise NotFound(
            f"{ref} was removed from {path} right after it was written.",
            "`brain pending` lists it, and how to restore it.",
        )
    return entry(row)


def _remembered(entry: Entry, outcome: str, result: Outcome | None, **more: Any) -> Remembered:
    lists: dict[str, Any] = {"near": [], "conflicts": [], "unmade": []}
    return apply.changed(entry, outcome, result, cls=Remembered, **(lists | more))


def _check(request: Request) -> None:
    if not request.text.strip():
        raise BadRequest("The text is empty.", "Give at least one word.")
    if request.section and not request.section.strip():
        raise BadRequest("The section is empty.", "Name a heading of the note, or a new one.")
    for link in request.links:
        if not _LINK.fullmatch(link.strip()):
            raise BadRequest(
                f"{link!r} is not a link.", "Name a note or a memory, or write [[Name]]."
            )
    if request.kind and kinds.kind_named(request.kind) not in kinds.KINDS:
        raise BadRequest(f"There is no kind {request.kind!r}.", f"Kinds: {', '.join(kinds.KINDS)}.")
    if request.source and request.source not in SOURCES:
        raise BadRequest(
            f"There is no source {request.source!r}.", f"One of: {', '.join(SOURCES)}."
        )
    lookup.check_range(confidence=request.confidence, importance=request.importance)
    _message_range(request.messages)


def _headings(vault: OpenVault, path: str) -> Headings:
    """Return the sections of a note, each with the headings above it."""
    text, _ = decode(file_types.encode(vault.store.note(path).text))
    seen = outline(text, frontmatter.split(text)[1])
    return [seen.path(number) for number in range(len(seen.headings))]


def _place(
    vault: OpenVault, request: Request, headings: Headings
) -> tuple[str, tuple[str, ...], str]:
    """Return the kind of a memory, its tags, and its section. A kind that does not follow from the
    section becomes a tag."""
    tagged = kinds.kind_of_tags([*request.tags, *TAG.findall(request.text)])
    kind = kinds.kind_named(request.kind) or tagged
    section = request.section
    if not section:
        kind = kind or kinds.DEFAULT_KIND
        section = _section(kind, headings, vault.config.sections)
    usual = kinds.kind_of_headings(_headings_of(section, headings))
    kind = kind or usual or kinds.DEFAULT_KIND
    tags = _tags(request)
    if kind != (tagged or usual or kinds.DEFAULT_KIND):
        tags = (*tags, kind)
    return kind, tags, section


def _section(kind: str, headings: Headings, settings: tuple[str, ...]) -> str:
    """Return the section for a kind: as the settings say (`decision=Choices made`), else one that
    the note has for it, else its usual name."""
    named = (setting.partition("=") for setting in settings)
    chosen = {name.strip().casefold(): section.strip() for name, _, section in named}
    if chosen.get(kind):
        return chosen[kind]
    for path in headings:
        if path and kinds.kind_of_headings(path[-1:]) == kind:
            return path[-1]
    return kinds.KINDS[kind].headings[0].title()


def _headings_of(section: str, headings: Headings) -> tuple[str, ...]:
    """Return a section with the headings above it, if the note has it."""
    name = section.rpartition(" > ")[2]
    found = (path for path in headings if path and path[-1].casefold() == name.casefold())
    return next(found, (name,))


def _tags(request: Request) -> tuple[str, ...]:
    tags = {tag.casefold(): tag for tag in (tag.lstrip("#") for tag in reversed(request.tags))}
    return tuple(reversed(tags.values()))


def _dated(vault: OpenVault, text: str, date: str | bool | None) -> str:
    """Return the text with a date before it, unless it begins with one or `date` is False."""
    if date is False or (date is None and not vault.config.datePrefix):
        return text
    if DATE.match(text):
        return text
    day = vault.clock().astimezone().date().isoformat() if date in (None, True) else str(date)
    try:
        if days.fromisoformat(day).isoformat() != day:
            raise ValueError(day)
    except ValueError:
        raise BadRequest(f"{day!r} is not a date.", "Write it as 2026-02-01.") from None
    return f"{day}: {text}"


def _link(vault: OpenVault, link: str, path: str, by: Actor) -> str:
    """Return a link as it is written: to a memory by its id, or to a note by its name."""
    link = link.strip()
    if link.startswith("[["):
        return link
    if not _is_memory(link):
        return f"[[{lookup.note_link(vault, link, by) or link}]]"
    return lookup.link_to(lookup.memory(vault, link, by), path)


def _is_memory(link: str) -> bool:
    return link.strip().lstrip("^").startswith("m-")


def _unmade(vault: OpenVault, links: Sequence[str], by: Actor) -> list[str]:
    """Return the linked notes that do not exist yet."""
    named = [link.strip() for link in links if not _is_memory(link)]
    named = [name for name in named if not name.startswith("[[")]
    if all(lookup.note_link(vault, name, by) for name in named):
        return []
    vault.sync()
    left = [name for name in named if not lookup.note_link(vault, name, by)]
    return [apply.redacted(vault, name)[0] for name in left]


def _record_data(request: Request, kind: str, by: Actor) -> dict[str, Any]:
    """Return the data of a new memory for the journal, besides its line."""
    usual = "user_stated" if by.type == "person" else "observed"
    values = {
        "kind": kind,
        "source": request.source or usual,
        "confidence": request.confidence,
        "importance": request.importance,
        "why": request.why,
        "messages": _message_range(request.messages),
        "snippet": snippet_of(request.snippet),
    }
    return {key: value for key, value in values.items() if value not in ("", None)}


def _message_range(messages: str) -> list[int] | None:
    """Return the first and the last message of a range; None for an empty text."""
    if not messages.strip():
        return None
    match = re.fullmatch(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", messages)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if first > last:
        raise BadRequest(f"{messages!r} is not a range of messages.", "Write it as 12 or 12-18.")
    return [first, last]


def _free_id(vault: OpenVault) -> str:
    """Return a new id that no entry has."""
    while True:
        ref = f"m-{random_letters(8)}"
        if not read.by_ref(vault.index, ref):
            return ref


# -- a memory that exists already ------------------------------------------------------------------


def _store_again(vault: OpenVault, request: Request, row: Row, new: Add, by: Actor) -> Remembered:
    """Record that a memory was stored again, and add what it lacks: tags, links and fields. It is
    only reported if the actor may not write it, or if it belongs to another agent than the
    requested one.

    It supersedes the given memories, and is no longer superseded itself; `superseded_by` are the
    memories that still replace it, because the actor may not change them.
    """
    if row.path != new.path or not access.may(by, "write", row.agent):
        vault.store.allow(by, new.path)
        return _remembered(entry(row), "duplicate", None)
    row = lookup.find(vault, row.ref)  # a request before this one may have changed it
    ids = journal_facts.same(vault.index, row.ref)
    older = [lookup.memory(vault, id, by) for id in request.supersedes]
    if any(each.ref in ids for each in older):
        raise BadRequest("A memory cannot supersede itself.", "Name another one.")
    first = [write for each in older for write in apply.anchor(each, by)]
    targets = [lookup.link_to(each, row.path) for each in older]
    fields = [Relate(row.path, row.ref, "supersedes", target) for target in targets]
    supersede = [Write("link", row.ref, field) for field in fields]
    more = [*_lacking(vault, row, new), *supersede, *_revive(vault, ids, by)]
    data = {"agent": row.agent, **_record_data(request, "", by)}
    merge = Write("merge", row.ref, None, data)
    result = apply.apply(vault, [*first, *more, merge], by, main=len(first))[0]
    left = [Mention(id=newer.ref, text=newer.text) for newer, _ in _superseding(vault, ids, by)]
    now = entry(lookup.find(vault, row.ref))
    found = _remembered(now, "duplicate", result, superseded_by=left)
    is_pending = any(pending.write.ref == row.ref for pending in vault.store.pending())
    return found.replace(state="pending") if is_pending else found


def _lacking(vault: OpenVault, row: Row, new: Add) -> Iterator[Write]:
    """Yield the writes that add the missing tags, links and fields. A memory that exists does not
    become a candidate."""
    from brain.formats import memory_edit, memory_md

    data = memory_edit.edit(new.path, b"", [new], row.agent).data
    added = memory_md.parse(data, row.agent).entries[-1]  # the entry as it would have been added
    have = {*row.tags.casefold().split(), "candidate"}
    if tags := tuple(tag for tag in added.tags if tag.casefold() not in have):
        yield Write("tag", row.ref, Retag(row.path, row.ref, tags))
    present = {(link.target, link.fragment) for link in read.links_of(vault.index, row.id)}
    for link in added.links:
        if link.kind in _PLAIN and (link.target, link.fragment) not in present:
            kind = link.kind if link.kind in RELATIONS else "relates_to"
            yield Write("link", row.ref, Relate(row.path, row.ref, kind, _as_text(link)))
    fields = entry(row).extra.get("fields") or {}
    for key, value in (added.extra or {}).get("fields", {}).items():
        if fields.get(key) != value:
            yield Write("link", row.ref, Relate(row.path, row.ref, key, value))


def _as_text(link: Link) -> str:
    return f"[[{link.target}{'#' if link.fragment else ''}{link.fragment}]]"


def _revive(vault: OpenVault, ids: Collection[str], by: Actor) -> Iterator[Write]:
    """Yield the writes that make a superseded memory current again. This also prevents cycles."""
    for new, link in _superseding(vault, ids, by):
        if access.may(by, "write", new.agent):
            change = Relate(new.path, new.ref, "supersedes", _as_text(link), gone=True)
            yield Write("unlink", new.ref, change)


def _superseding(vault: OpenVault, ids: Collection[str], by: Actor) -> Iterator[tuple[Row, Link]]:
    """Yield the memories that the actor may read and that supersede this one, with the link."""
    rows = relations.supersessions(vault.index, access.readable(by))
    newer = {new for new, old, _ in rows if old in ids}
    for row in (row for ref in sorted(ids) for row in read.linking(vault.index, ref)):
        if row.scope == "memory" and row.ref in newer:
            for link in read.links_of(vault.index, row.id):
                if link.kind == "supersedes" and link.fragment.removeprefix("^") in ids:
                    yield row, link
