"""Store a memory in the note of an agent, unless it exists already."""

from __future__ import annotations

import re
from datetime import date as days

from brain import access, actors, kinds
from brain._tuples import NamedTuple
from brain.compare.similar import Similar, similar
from brain.errors import BadRequest, NotFound
from brain.formats import frontmatter
from brain.formats.inline import TAG, fingerprint
from brain.formats.memory_md import DATE
from brain.formats.memory_place import outline
from brain.formats.text import decode, one_line
from brain.importance import SOURCES
from brain.index import read, relations
from brain.journal.codec import random_letters
from brain.model import RELATIONS, Add, Relate, Retag, Write
from brain.operations import apply, lookup
from brain.operations.apply import comparable, fields_of, mentioned
from brain.operations.results import Entry, Mention, Remembered, entry

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
    """The plan for a memory: the change that adds it, and the similar memories. The write of the
    memory comes first, then its parts. If the same memory exists, there are no writes."""

    change: Add
    found: Similar
    rules: tuple[str, ...] = ()
    writes: tuple[Write, ...] = ()
    fingerprint: str = ""  # of the text and links


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

    A memory is stored only once, even if two processes store it at the same time. If it is already
    stored, it gets the tags and links that it lacks. `date` is the day that the memory begins with;
    False omits the date, and None follows the settings. `messages` are the numbers of the messages
    that the memory comes from (`12` or `12-18`). `snippet` is a part of the conversation at that
    time.
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
    """Store several memories in one write. On an error, none is stored. Each memory is a text, or a
    mapping of arguments of `remember`."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        requests: list[dict[str, Any]] = [
            {"text": memory} if isinstance(memory, str) else dict(memory) for memory in memories
        ]
        for request in requests:
            for name in {"tags", "links", "supersedes"} & request.keys():
                given = request[name]
                request[name] = (given,) if isinstance(given, str) else tuple(given)
            if unknown := request.keys() - set(Request._fields):
                remedy = f"A memory has: {', '.join(Request._fields)}."
                raise BadRequest(f"A memory has no {sorted(unknown)[0]!r}.", remedy)
        return _remember(
            vault, [Request(**{"text": "", **request}) for request in requests], agent, actor
        )


def _remember(
    vault: OpenVault, requests: Sequence[Request], agent: str, by: Actor
) -> list[Remembered]:
    """Store memories of one agent in one write. Memories that exist already are merged one by
    one."""
    for request in requests:
        _check(request)
    readable = access.readable(by)
    access.refuse_unseen(agent, None if readable is None else (*readable, by.name))
    path = actors.memory_note(vault, agent)
    headings = _headings(vault, path)
    new_plans: dict[str, Plan] = {}  # by fingerprint, so that equal texts are stored once
    plans: list[Plan] = []
    for request in requests:
        plan = _plan(vault, request, path, by, headings)
        plans.append(plan if plan.found.same else new_plans.setdefault(plan.fingerprint, plan))
    results = apply.apply_each(vault, [plan.writes for plan in new_plans.values()], by)
    written = dict(zip(new_plans, results, strict=True))
    results_in_order: list[Remembered] = []
    for request, plan in zip(requests, plans, strict=True):
        if plan.found.same:
            found = _store_again(vault, request, plan.found.same, plan.change, by)
        elif (result := written.pop(plan.fingerprint, None)) is not None:
            found = _new_memory(vault, plan, result)
        else:
            found = _remembered(_entry(vault, plan), "duplicate", None)
        unmade = _missing_notes(vault, request.links, by)
        results_in_order.append(
            found.replace(redacted=sorted({*found.redacted, *plan.rules}), unmade=unmade)
        )
    return results_in_order


def _plan(vault: OpenVault, request: Request, path: str, by: Actor, headings: Headings) -> Plan:
    """Decide whether a memory becomes a new entry or is merged into an existing one."""
    text, rules = apply.redacted(
        vault, _with_date(vault, apply.without_mark(request.text), request.date)
    )
    links = tuple(_link(vault, link, path, by) for link in request.links)
    kind, tags, section = _kind_tags_section(vault, request, headings)
    compared = " ".join([text, *links])
    found = similar(vault.index, compared, owners=comparable(vault, path, by), kind=kind)
    if found.same:
        change = Add(path, found.same.ref, text, section, _tags(request), links)
        return Plan(change, found, tuple(rules))
    superseded = [lookup.memory(vault, id, by) for id in request.supersedes]
    superseded_types = {
        row.ref: "superseded" for row in superseded if row.ref in found.conflict_types
    }
    contradicting = tuple(row for row in found.contradicts if row.ref not in superseded_types)
    fields, anchors = fields_of(superseded, contradicting, path, by)
    change = Add(path, _unused_id(vault), text, section, tags, links, fields)
    conflict = {"agent": vault.owner(path)}
    writes = [
        Write("remember", change.ref, change, _record_data(request, kind, by)),
        *anchors,
        *(
            Write("conflict", change.ref, None, conflict | {"type": type, "other": other})
            for other, type in (found.conflict_types | superseded_types).items()
        ),
    ]
    found = found._replace(contradicts=contradicting)
    return Plan(change, found, tuple(rules), tuple(writes), fingerprint(compared))


def _new_memory(vault: OpenVault, plan: Plan, result: Outcome) -> Remembered:
    near, conflicts = mentioned(plan.found)
    outcome = "conflict" if conflicts else "added"
    return _remembered(_entry(vault, plan), outcome, result, near=near, conflicts=conflicts)


def _entry(vault: OpenVault, plan: Plan) -> Entry:
    path, ref = plan.change.path, plan.change.ref
    row = apply.find(vault, path, ref)
    if row is None:
        raise NotFound(
            f"{ref} was removed from {path} immediately after it was written.",
            "`brain pending` shows how to restore it.",
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
    apply.check_tags([*request.tags, *TAG.findall(request.text)])
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
    apply.check_range(confidence=request.confidence, importance=request.importance)
    _message_range(request.messages)


def _headings(vault: OpenVault, path: str) -> Headings:
    """Return the sections of a note, each with the headings above it."""
    text, _ = decode(vault.store.note(path).data)
    note_outline = outline(text, frontmatter.split(text)[1])
    return [note_outline.path(number) for number in range(len(note_outline.headings))]


def _kind_tags_section(
    vault: OpenVault, request: Request, headings: Headings
) -> tuple[str, tuple[str, ...], str]:
    """Return the kind, tags and section of a memory. If the section does not imply the kind, the
    kind is added as a tag."""
    tagged = kinds.kind_of_tags([*request.tags, *TAG.findall(request.text)])
    kind = kinds.kind_named(request.kind) or tagged
    section = request.section
    if not section:
        kind = kind or kinds.DEFAULT_KIND
        section = _section(kind, headings, vault.config.sections)
    implied = kinds.kind_of_headings(_headings_of(section, headings))
    kind = kind or implied or kinds.DEFAULT_KIND
    tags = _tags(request)
    if kind != (tagged or implied or kinds.DEFAULT_KIND):
        tags = (*tags, kind)
    return kind, tags, section


def _section(kind: str, headings: Headings, settings: tuple[str, ...]) -> str:
    """Return the section for a kind: the section in the settings (`decision=Choices made`), else an
    existing section of the note for this kind, else the default section."""
    pairs = (setting.partition("=") for setting in settings)
    by_kind = {name.strip().casefold(): section.strip() for name, _, section in pairs}
    if by_kind.get(kind):
        return by_kind[kind]
    for path in headings:
        if path and kinds.kind_of_headings(path[-1:]) == kind:
            return path[-1]
    return kinds.KINDS[kind].headings[0].title()


def _headings_of(section: str, headings: Headings) -> tuple[str, ...]:
    """Return the path of headings of a section. If the note does not have the section, return only
    the name of the section."""
    name = section.rpartition(" > ")[2]
    found = (path for path in headings if path and path[-1].casefold() == name.casefold())
    return next(found, (name,))


def _tags(request: Request) -> tuple[str, ...]:
    tags = {tag.casefold(): tag for tag in (tag.lstrip("#") for tag in reversed(request.tags))}
    return tuple(reversed(tags.values()))


def _with_date(vault: OpenVault, text: str, date: str | bool | None) -> str:
    """Add a date before the text, unless it begins with one or `date` is False."""
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
    return f"{day}:\n{text}" if apply.is_list(text) else f"{day}: {text}"


def _link(vault: OpenVault, link: str, path: str, by: Actor) -> str:
    """Return the text of a link: to a memory by its id, or to a note by its name."""
    link = link.strip()
    if link.startswith("[["):
        return link
    if not _is_memory(link):
        return f"[[{lookup.note_link(vault, link, by) or link}]]"
    return lookup.link_to(lookup.memory(vault, link, by), path)


def _is_memory(link: str) -> bool:
    return link.strip().lstrip("^").startswith("m-")


def _missing_notes(vault: OpenVault, links: Sequence[str], by: Actor) -> list[str]:
    """Return the linked notes that do not exist yet."""
    names = [link.strip() for link in links if not _is_memory(link)]
    names = [name for name in names if not name.startswith("[[")]
    if all(lookup.note_link(vault, name, by) for name in names):
        return []
    vault.sync()
    missing = [name for name in names if not lookup.note_link(vault, name, by)]
    return [apply.redacted(vault, name)[0] for name in missing]


def _record_data(request: Request, kind: str, by: Actor) -> dict[str, Any]:
    """Return the data of the journal record of a new memory."""
    usual = "user_stated" if by.type == "person" else "observed"
    values = {
        "kind": kind,
        "source": request.source or usual,
        "confidence": request.confidence,
        "importance": request.importance,
        "why": request.why,
        "messages": _message_range(request.messages),
        "snippet": one_line(request.snippet),
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


def _unused_id(vault: OpenVault) -> str:
    """Return a new unused id."""
    while True:
        ref = f"m-{random_letters(8)}"
        if not read.by_ref(vault.index, ref):
            return ref


# -- a memory that exists already ------------------------------------------------------------------


def _store_again(vault: OpenVault, request: Request, row: Row, new: Add, by: Actor) -> Remembered:
    """Record that a memory was stored again, and add missing tags, links and fields. If the memory
    is in another note than the new one, or if the actor may not write it, only return it.

    The memory then supersedes the memories in `request`, and is no longer superseded itself. In the
    result, `superseded_by` are memories that still supersede it: the actor may not change them.
    """
    if row.path != new.path or not access.may(by, "write", row.agent):
        vault.store.allow(by, new.path)
        return _remembered(entry(row), "duplicate", None)
    row = lookup.find(vault, row.ref)  # an earlier request may have changed it
    ids = read.all_ids(vault.index, row.ref)
    superseded = [lookup.memory(vault, id, by) for id in request.supersedes]
    if any(each.ref in ids for each in superseded):
        raise BadRequest("A memory cannot supersede itself.", "Name another memory.")
    anchors = [write for each in superseded for write in apply.anchor(each, by)]
    targets = [lookup.link_to(each, row.path) for each in superseded]
    fields = [Relate(row.path, row.ref, "supersedes", target) for target in targets]
    supersede = [Write("link", row.ref, field) for field in fields]
    additions = [*_missing_parts(vault, row, new), *supersede, *_end_supersessions(vault, ids, by)]
    data = {"agent": row.agent, **_record_data(request, "", by)}
    merge = Write("merge", row.ref, None, data)
    result = apply.apply(vault, [*anchors, *additions, merge], by, main=len(anchors))[0]
    superseding = [
        Mention(id=newer.ref, text=newer.text) for newer, _ in _superseding(vault, ids, by)
    ]
    current = entry(lookup.find(vault, row.ref))
    found = _remembered(current, "duplicate", result, superseded_by=superseding)
    is_pending = any(pending.write.ref == row.ref for pending in vault.store.pending())
    return found.replace(state="pending") if is_pending else found


def _missing_parts(vault: OpenVault, row: Row, new: Add) -> Iterator[Write]:
    """Yield the writes that add missing tags, links and fields. An existing memory does not become
    a candidate."""
    from brain.formats import memory_edit, memory_md

    data = memory_edit.edit(new.path, b"", [new], row.agent).data
    added = memory_md.parse(data, row.agent).entries[-1]  # the entry that would have been added
    existing_tags = {*row.tags.casefold().split(), "candidate"}
    if tags := tuple(tag for tag in added.tags if tag.casefold() not in existing_tags):
        yield Write("tag", row.ref, Retag(row.path, row.ref, tags))
    existing_links = {(link.target, link.fragment) for link in read.links_of(vault.index, row.id)}
    for link in added.links:
        if link.kind in _PLAIN and (link.target, link.fragment) not in existing_links:
            kind = link.kind if link.kind in RELATIONS else "relates_to"
            yield Write("link", row.ref, Relate(row.path, row.ref, kind, _as_text(link)))
    fields = entry(row).extra.get("fields") or {}
    for key, value in (added.extra or {}).get("fields", {}).items():
        if fields.get(key) != value:
            yield Write("link", row.ref, Relate(row.path, row.ref, key, value))


def _as_text(link: Link) -> str:
    return f"[[{link.target}{'#' if link.fragment else ''}{link.fragment}]]"


def _end_supersessions(vault: OpenVault, ids: Collection[str], by: Actor) -> Iterator[Write]:
    """Yield the writes that remove the `supersedes` links to the memory with these ids, as far as
    the actor may write them. This also prevents cycles."""
    for new, link in _superseding(vault, ids, by):
        if access.may(by, "write", new.agent):
            change = Relate(new.path, new.ref, "supersedes", _as_text(link), gone=True)
            yield Write("unlink", new.ref, change)


def _superseding(vault: OpenVault, ids: Collection[str], by: Actor) -> Iterator[tuple[Row, Link]]:
    """Yield the readable memories that supersede the memory with these ids, each with its link."""
    rows = relations.supersessions(vault.index, access.readable(by))
    newer = {new for new, old, _ in rows if old in ids}
    for row in (row for ref in sorted(ids) for row in read.linking(vault.index, ref)):
        if row.scope == "memory" and row.ref in newer:
            for link in read.links_of(vault.index, row.id):
                if link.kind == "supersedes" and link.fragment.removeprefix("^") in ids:
                    yield row, link
