"""Change the text, tags, links, section or score of a memory, or forget it."""

from __future__ import annotations

from contextlib import suppress

from brain import access, actors, kinds
from brain.compare.similar import Similar, similar
from brain.errors import BadRequest, NotFound, StaleFile
from brain.formats.inline import TAG, wikilink
from brain.index import read
from brain.model import RELATIONS, Move, Relate, Remove, Retag, Update, Write
from brain.operations import apply, lookup
from brain.operations.apply import comparable, conflict_record, mark, mentioned
from brain.operations.results import Changed, Feedback, Forgotten, Tagged, Updated, entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.index.read import Row
    from brain.open_vault import OpenVault


def update(
    vault: OpenVault,
    id: str,
    text: str = "",
    *,
    tags: Iterable[str] = (),
    replace: bool = False,
    confidence: float | None = None,
    importance: float | None = None,
    why: str = "",
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Updated:
    """Reword a memory, add tags to it, or set its confidence or importance. The memory keeps its id
    and its score. It also keeps its date, links, tags and fields, unless the text has others. With
    `replace`, its other tags are removed, except the tags for its kind and status."""
    with vault.writing():
        apply.check_range(confidence=confidence, importance=importance)
        new_tags = lookup.words(tags)
        values = {"confidence": confidence, "importance": importance}
        values = {name: value for name, value in values.items() if value is not None}
        if text and not text.strip():
            raise BadRequest("The text is empty.", "To delete a memory, use `brain forget`.")
        if not (text or new_tags or values or replace):
            raise BadRequest(
                "There is nothing to change.", "Give a text, a tag, an importance or a confidence."
            )
        row, actor = _memory_and_actor(vault, id, agent, session, by)
        removed_tags = _replaced_tags(row, new_tags) if replace else ()
        kept_tags = () if replace else row.tags.split()
        apply.check_tags([*new_tags, *kept_tags, *TAG.findall(text)])
        data: dict[str, Any] = {"why": why} if why else {}
        if values:
            known_facts = read.facts(vault.index, [row.ref]).get(row.ref)
            data |= values | {
                "was": {name: known_facts and getattr(known_facts, name) for name in values}
            }
        if not text:
            change = (
                Retag(row.path, row.ref, new_tags, removed_tags)
                if new_tags or removed_tags
                else None
            )
            write = Write(
                "update", row.ref, change, data if change else data | {"agent": row.agent}
            )
            changed = _change(vault, row, [write], actor, "updated")
            return Updated(**vars(changed), near=[], conflicts=[])
        text = apply.without_mark(text)
        return _reword(
            vault, row, actor, text, data, Retag(row.path, row.ref, new_tags, removed_tags)
        )


def rewrite(vault: OpenVault, id: str, text: str, expect: str, *, by: Actor | str = "") -> Updated:
    """Replace the whole text of a memory, including tags, links and nested lines. Its id and score
    are kept. Raise StaleFile if its text is not `expect`."""
    with vault.writing():
        if not text.strip():
            raise BadRequest("The text is empty.", "To delete a memory, use `brain forget`.")
        row, actor = _memory_and_actor(vault, id, "", "", by)
        if row.text != expect:
            raise StaleFile(
                f"{row.ref} has changed since it was read.", "See it with `brain show`."
            )
        return _reword(vault, row, actor, text, {}, None, whole=True)


def _reword(
    vault: OpenVault,
    row: Row,
    actor: Actor,
    text: str,
    data: dict[str, Any],
    tags: Retag | None,
    whole: bool = False,
) -> Updated:
    """Reword a memory, and link it to the memories that it now contradicts."""
    found = _similar(vault, row, text, actor)
    anchors, links_and_conflicts = mark(row, found, actor)
    writes = [
        *anchors,
        Write("update", row.ref, Update(row.path, row.ref, text, whole), data),
        *links_and_conflicts,
    ]
    if tags and (tags.add or tags.remove):
        writes.append(Write("tag", row.ref, tags))
    rules = apply.redacted(vault, text)[1]
    changed = _change(vault, row, writes, actor, "updated", rules, main=len(anchors))
    near, conflicts = mentioned(found)
    return Updated(**vars(changed), near=near, conflicts=conflicts)


def _replaced_tags(row: Row, new_tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags that new tags replace: all except those of the status, and those of the kind
    unless a new tag names a kind."""
    kept = {tag.lstrip("#").casefold() for tag in new_tags} | {"pinned", "candidate"}
    has_kind = kinds.kind_of_tags(tag.lstrip("#") for tag in new_tags)
    others = [tag for tag in row.tags.split() if tag.casefold() not in kept]
    return tuple(tag for tag in others if has_kind or not kinds.kind_of_tags([tag]))


def _memory_and_actor(
    vault: OpenVault, id: str, agent: str, session: str, by: Actor | str
) -> tuple[Row, Actor]:
    """Return the memory to change, and the actor."""
    actor = actors.resolve(vault, by, session)
    return lookup.memory(vault, id, actor, agent), actor


def _similar(vault: OpenVault, row: Row, text: str, by: Actor) -> Similar:
    """Return the memories that are similar to a new text, and those that contradict it but not the
    old text."""
    owners = comparable(vault, row.path, by)
    before = similar(vault.index, row.text, owners=owners, kind=row.kind, exclude=[row.ref])
    now = similar(vault.index, text, owners=owners, kind=row.kind, exclude=[row.ref])
    known_refs = {other.ref for other in before.contradicts}
    contradicting = tuple(other for other in now.contradicts if other.ref not in known_refs)
    near = ((now.same, 1.0), *now.near) if now.same else now.near
    return Similar(near=near, contradicts=contradicting, conflict_types=now.conflict_types)


def forget(
    vault: OpenVault,
    id: str,
    *,
    purge: bool = False,
    why: str = "",
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Forgotten:
    """Delete a memory, with the lines nested in it. `purge` also removes its text from the
    journal, the index and the state folder, and lists the places where the text may still be."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        if purge:
            from brain.operations.purge import purge as purge_memory

            return purge_memory(vault, id, actor, agent)
        row = lookup.memory(vault, id, actor, agent)
        links = apply.linked_from(vault, [row.ref], actor)
        write = Write("forget", row.ref, Remove(row.path, row.ref), {"why": why} if why else {})
        result = apply.apply(vault, [write], actor)[0]
        return apply.changed(entry(row), "forgotten", result, cls=Forgotten, linked_from=links)


# -- status --------------------------------------------------------------------------------------


def pin(
    vault: OpenVault, id: str, *, agent: str = "", session: str = "", by: Actor | str = ""
) -> Changed:
    """Include a memory in every context. This also confirms a candidate."""
    with vault.writing():
        row, actor = _memory_and_actor(vault, id, agent, session, by)
        return _set_status(vault, row, actor, "pin", "pinned", add="pinned", remove="candidate")


def unpin(
    vault: OpenVault, id: str, *, agent: str = "", session: str = "", by: Actor | str = ""
) -> Changed:
    """Stop including a memory in every context."""
    with vault.writing():
        row, actor = _memory_and_actor(vault, id, agent, session, by)
        return _set_status(vault, row, actor, "unpin", "unpinned", remove="pinned")


def confirm(
    vault: OpenVault, id: str, *, agent: str = "", session: str = "", by: Actor | str = ""
) -> Changed:
    """Mark a candidate as trusted."""
    with vault.writing():
        row, actor = _memory_and_actor(vault, id, agent, session, by)
        return _set_status(vault, row, actor, "confirm", "confirmed", remove="candidate")


def _set_status(
    vault: OpenVault, row: Row, by: Actor, op: str, outcome: str, *, add: str = "", remove: str
) -> Changed:
    tags = row.tags.casefold().split()
    if (not add or add in tags) and remove not in tags:
        return apply.changed(entry(row), "unchanged")
    change = Retag(row.path, row.ref, (add,) if add else (), (remove,))
    return _change(vault, row, [Write(op, row.ref, change)], by, outcome)


def reinforce(
    vault: OpenVault,
    id: str,
    *,
    why: str = "",
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Feedback:
    """Report that a memory, or another entry of a context, was useful. This raises its score."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        return _add_to_score(
            vault, id, agent, actor, "reinforce", vault.config.reinforceWeight, why
        )


def demote(
    vault: OpenVault,
    id: str,
    *,
    why: str = "",
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Feedback:
    """Report that a memory, or another entry of a context, was wrong, outdated or useless. This
    lowers its score."""
    with vault.writing():
        actor = actors.resolve(vault, by, session)
        return _add_to_score(vault, id, agent, actor, "demote", -vault.config.demoteWeight, why)


def _add_to_score(
    vault: OpenVault, id: str, agent: str, by: Actor, op: str, delta: float, why: str
) -> Feedback:
    """Change the score of an entry that the actor may read, without changing its note. Feedback on
    a passage is not recorded in the journal, because the id of a passage changes with each edit."""
    from brain.operations import usage

    row = lookup.find(vault, id, owners=lookup.visible(vault, by, agent))
    data = {"delta": delta, "agent": row.agent, **({"why": why} if why else {})}
    writes = [Write(op, row.ref, None, data)] if row.scope != "sources" else []
    result = next(iter(apply.apply(vault, writes, by)), None) if writes else None
    usage.learn_feedback(vault, row.ref, delta > 0)
    known = read.facts(vault.index, [row.ref]).get(row.ref)
    score = known.score if writes and known else None
    return apply.changed(entry(row), f"{op}d", result, cls=Feedback, delta=delta, score=score)


# -- tags, sections, links -----------------------------------------------------------------------


def tag(
    vault: OpenVault,
    id: str,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    *,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Tagged:
    """Add tags to a memory, and remove others."""
    with vault.writing():
        new, old = lookup.words(add), lookup.words(remove)
        if not new and not old:
            raise BadRequest("No tags are given.", "Name tags to add or to remove.")
        row, actor = _memory_and_actor(vault, id, agent, session, by)
        apply.check_tags([*new, *row.tags.split()])
        change = Retag(row.path, row.ref, new, old)
        changed = _change(vault, row, [Write("tag", row.ref, change)], actor, "tagged")
        there = {tag.casefold() for tag in row.tags.split()}
        absent = [tag for tag in old if tag.lstrip("#").casefold() not in there]
        return Tagged(**vars(changed), absent=absent)


def move(
    vault: OpenVault,
    id: str,
    section: str,
    *,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Changed:
    """Move a memory to another section of its note. A missing section is created."""
    with vault.writing():
        if not section.strip():
            raise BadRequest("The section is empty.", "Name a heading of the note, or a new one.")
        row, actor = _memory_and_actor(vault, id, agent, session, by)
        change = Move(row.path, row.ref, section)
        return _change(vault, row, [Write("move", row.ref, change)], actor, "moved")


def link(
    vault: OpenVault,
    id: str,
    to: str,
    *,
    as_: str = "relates_to",
    weight: float | None = None,
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Changed:
    """Link a memory to another memory or a note, with a relation. `weight` says how closely the
    two are related. The weight is stored in the journal, even if the link already exists."""
    with vault.writing():
        apply.check_range(weight=weight)
        return _relate(vault, id, to, as_, agent, actors.resolve(vault, by, session), weight=weight)


def unlink(
    vault: OpenVault,
    id: str,
    to: str,
    *,
    as_: str = "relates_to",
    agent: str = "",
    session: str = "",
    by: Actor | str = "",
) -> Changed:
    """Remove a link of this relation from a memory."""
    with vault.writing():
        return _relate(vault, id, to, as_, agent, actors.resolve(vault, by, session), gone=True)


def _relate(
    vault: OpenVault,
    id: str,
    to: str,
    kind: str,
    agent: str,
    by: Actor,
    gone: bool = False,
    weight: float | None = None,
) -> Changed:
    if kind not in RELATIONS:
        raise BadRequest(f"There is no relation {kind!r}.", f"One of: {', '.join(RELATIONS)}.")
    row = lookup.memory(vault, id, by, agent)
    value, other = _target(vault, row, to, by)
    if other and other.ref == row.ref:
        raise BadRequest("A memory cannot be linked to itself.", "Name another memory.")
    if not other:
        value = _existing_link(vault, row, kind, value, by) or value
    change = Relate(row.path, row.ref, kind, value, gone)
    anchors = apply.anchor(other, by) if other and not gone else []
    target = other.ref if other else value.strip("[]").partition("#")[0].partition("|")[0]
    data = {} if weight is None else {"weight": weight, "as": kind, "other": target}
    writes = [*anchors, Write("unlink" if gone else "link", row.ref, change, data)]
    if other and kind == "contradicts":
        writes.append(conflict_record(row, other, "" if gone else "contradictory"))
    return _change(vault, row, writes, by, "unlinked" if gone else "linked", main=len(anchors))


def _existing_link(vault: OpenVault, row: Row, kind: str, link: str, by: Actor) -> str:
    """Return the link of a memory that leads to the same place of the same note; '' if there is
    none. The memory may spell the note differently than `link`."""

    def place(target: str, fragment: str) -> tuple[str, str]:
        paths, _ = lookup.notes_named(vault, target, access.readable(by))
        return paths[0] if paths else target.casefold(), fragment.casefold()

    wanted = wikilink(link.strip("[]"), kind, 0)
    for found in read.links_of(vault.index, row.id):
        there = place(found.target, found.fragment)
        if found.kind == kind and there == place(wanted.target, wanted.fragment):
            return f"[[{found.target}{'#' if found.fragment else ''}{found.fragment}]]"
    return ""


def _target(vault: OpenVault, row: Row, to: str, by: Actor) -> tuple[str, Row | None]:
    """Return the text of a link, and the memory to which it leads; None for a note. `to` is read as
    an id, else as the name of a note, else as words of a memory."""
    to = to.strip()
    if not to.strip("[]"):
        raise BadRequest("The link has no target.", "Name a note or a memory.")
    if to.startswith("[[") and "^" not in to:
        return to, None
    is_id = read.exact(vault.index, lookup.bare_id(to))
    if not is_id and "^" not in to and (note := lookup.note_link(vault, to, by)):
        return f"[[{note}]]", None
    other = _linked_entry(vault, to, by)
    if lookup.is_memory(other):
        return lookup.link_to(other, row.path), other
    if not other.path.endswith(".md"):
        raise BadRequest(f"{other.ref} is in {other.path}.", "Link to a memory or a note.")
    return f"[[{other.path.removesuffix('.md')}]]", None


def _linked_entry(vault: OpenVault, to: str, by: Actor) -> Row:
    """Return the entry to which a link leads. If `to` has several words, they must occur together
    in the text of the entry."""
    with suppress(NotFound):
        other = lookup.find(vault, to, owners=access.readable(by))
        name, text = (" ".join(words.casefold().split()) for words in (to, other.text))
        if " " not in name or name in text or other.path.rpartition("/")[2] in to:
            return other
    remedy = f"To link to a note that does not exist yet, write [[{to}]]."
    raise NotFound(f"There is no note or memory {to!r}.", remedy)


def _change(
    vault: OpenVault,
    row: Row,
    writes: Sequence[Write],
    by: Actor,
    outcome: str,
    rules: Sequence[str] = (),
    main: int = 0,
) -> Changed:
    """Apply changes, at least one of which changes this memory. Return the changed memory."""
    results = apply.apply(vault, writes, by, main)
    own_place = (row.path, row.ref)
    own_results = [
        r for r in results if (c := r.write.change) and (c.path, c.ref) == own_place
    ] or results
    applied = own_results[0].done if len(own_results) == 1 else None
    if applied and applied.outcome == "already" and "weight" not in own_results[0].write.data:
        outcome = "unchanged"
    return apply.changed(apply.current(vault, row), outcome, own_results[0], rules)
