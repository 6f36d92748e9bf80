"""What a verb answers: an entry as it came to stand, and what happened."""

from __future__ import annotations

import time

from brain import access, wire
from brain.changes import Add, Done, Move
from brain.delta import Delta
from brain.errors import BrainError
from brain.formats import links
from brain.journal.codec import event_id
from brain.kinds import status_of
from brain.operations import lookup
from brain.redact import redact, redact_value
from brain.store import Outcome, place
from brain.verbs import notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from brain.access import Actor
    from brain.changes import Deed
    from brain.index.query import Row
    from brain.model import Chunk
    from brain.open_vault import OpenVault

Shape = dict[str, "Any"]
_BESIDE = ("why", "section", "links", "tags", "add", "value")


def entry(vault: OpenVault, path: str, done: Done) -> Shape:
    """The entry as the change left it, in its wire shape."""
    heading = done.section
    if isinstance(done.change, Move):  # which tells where it came from
        heading = " > ".join(notes.known(vault, path).path(done.change.section))
    shape = _shape(vault, path, read(done.after, heading, owner(vault, path)))
    shape |= {"line": done.line, "end_line": done.line + done.after.count("\n")}
    return shape | {"heading": heading}


def owner(vault: OpenVault, path: str) -> str:
    """The agent whose note this is."""
    role = vault.paths.role(path)
    return role.agent if role else ""


def read(raw: str, section: str, agent: str) -> Chunk:
    """An entry, given as it stands in its file under these headings."""
    from brain.formats import memory_md

    headings = [f"{'#' * min(n, 6)} {words}" for n, words in enumerate(section.split(" > "), 1)]
    text = "\n".join([*(headings if section else ()), "", raw])
    return memory_md.parse(text.encode(), agent).chunks[-1]


def _shape(vault: OpenVault, path: str, chunk: Chunk) -> Shape:
    role = vault.paths.role(path)
    shape: Shape = {
        "id": chunk.ref,
        "scope": role.scope if role else "",
        "kind": chunk.kind,
        "status": chunk.status,
        "agent": (role and role.agent) or None,
        "project": (role and role.project) or None,
        "path": path,
        "line": chunk.line,
        "end_line": chunk.end_line,
        "title": "",
        "heading": chunk.heading,
        "text": chunk.text,
        "tags": list(chunk.tags),
        "created": chunk.created or vault.now(),
    }
    return shape | (chunk.extra or {})


def added(vault: OpenVault, change: Add, kind: str, done: Done | None) -> Shape:
    """A new entry, without a parse where it is one plain line; `done` is None while it waits."""
    plain = done and "\n" not in done.after and not any(m in done.after for m in ("`", "%%", "$$"))
    if done and not plain:
        return entry(vault, change.path, done)
    if done:
        text = done.after.partition(" ")[2].strip().removesuffix(f"^{change.ref}").rstrip()
        tags = list(dict.fromkeys(links.tags(text)))
    else:
        change = change._replace(**redact_value(_said(change), emails=vault.config.redactEmails))
        marks = [f"#{tag.lstrip('#')}" for tag in change.tags]
        text, tags = " ".join([change.text, *change.links, *marks]), list(change.tags)
    return _added(vault, change, kind, text, tags, done)


def _said(change: Add) -> dict[str, Any]:
    """What was said of a new entry beside its words."""
    return {"section": change.section, "links": change.links, "tags": change.tags}


def _added(
    vault: OpenVault, change: Add, kind: str, text: str, tags: list[str], done: Done | None
) -> Shape:
    from brain.model import Chunk

    chunk = Chunk(
        change.ref, kind, status_of(tags), done.section if done else change.section, text,
        tuple(tags), done.line if done else 0, done.line if done else 0, _day(text), (), 0, 0,
        {"anchored": True} if done else None,
    )  # fmt: skip
    return _shape(vault, change.path, chunk)


def _day(text: str) -> str | None:
    from brain.formats.memory_md import _created

    return _created(text, ())


def happened(
    shape: Shape, outcome: str, result: Outcome | None = None, rules: Iterable[str] = ()
) -> Shape:
    """An entry with what happened to it. `event` is the name under which the journal has it."""
    shape = {"state": "unchanged", **shape, "outcome": outcome}
    if result:
        shape["state"] = result.state
        rules = [*rules, *(_left_out(result.deed) - {*rules})]
    shape["event"] = result.deed.id if result else None
    shape["redacted"] = sorted(rules)
    return shape


def _left_out(deed: Deed) -> set[str]:
    """The rules that found a secret in what was said beside the words of an entry."""
    if deed.op == "undo":
        return set()
    said = {**deed.change._asdict(), **deed.data} if deed.change else deed.data
    text = str([said[name] for name in _BESIDE if name in said])
    return {part.partition("]")[0] for part in text.split("[redacted:")[1:]}


def redacted(vault: OpenVault, text: str) -> tuple[str, list[str]]:
    """A text without its secrets, and the rules that found them."""
    clean, found = redact(text, emails=vault.config.redactEmails)
    return clean, [hit.rule for hit in found]


def applied(
    vault: OpenVault,
    deeds: Sequence[Deed],
    by: Actor,
    main: int = 0,
    wait: float = 1.0,
    unless: Callable[[str, bytes], bool] | None = None,
) -> list[Outcome]:
    """Hand deeds to the store; what became of them, that of the main one first. The others are its
    parts, and are undone with it. Now and then the store may settle what has stood long enough."""
    if len(deeds) > 1:
        deeds = _parted(deeds, main)
    vault.refuse_loss(deed.change.path for deed in deeds if deed.change)
    results = vault.store.apply(deeds, by, wait, unless)
    now = time.monotonic()
    vault.settled = vault.settled or now
    if now > vault.settled + vault.config.settleSeconds:
        vault.settled = now
        vault.drain()
    return sorted(results, key=lambda result: "part_of" in result.deed.data)


def _parted(deeds: Sequence[Deed], main: int) -> list[Deed]:
    whole = deeds[main]._replace(id=event_id())
    parts = [deed._replace(data=deed.data | {"part_of": whole.id}) for deed in deeds]
    return [*parts[:main], whole, *parts[main + 1 :]]


def tell(vault: OpenVault, path: str, before: str, shape: Shape) -> None:
    """Tell who listens that an entry came (no `before`) or changed."""
    pair = ((shape["id"], shape["text"]),)
    vault.wrote(Delta(path, shape["scope"], **{"changed" if before else "added": pair}))


def gone(vault: OpenVault, path: str, shape: Shape) -> None:
    """Tell who listens that an entry went."""
    vault.wrote(Delta(path, shape["scope"], removed=((shape["id"], shape["text"]),)))


def idle(vault: OpenVault, deeds: Sequence[Deed]) -> Done | None:
    """What the last of these finds done, if nothing is left to do and nothing to be put on
    record."""
    promised = vault.store.promised()
    done = None
    for deed in deeds:
        if not deed.change or deed.data:
            return None
        path = deed.change.path
        data = place.read(vault.paths, path, vault.config.maxFileSize).data
        data = promised[path](data) if path in promised else data
        (done,) = place.edited(vault.paths, path, data, [deed.change]).done
        if done.outcome != "already":
            return None
    return done


def awaited(vault: OpenVault, row: Row) -> Shape:
    """An entry as it will read once what waits for it is written."""
    vault.refresh()
    try:
        return of_row(lookup.find(vault, row.ref))
    except BrainError:
        return of_row(row)


def linked_from(vault: OpenVault, refs: Iterable[str], by: Actor) -> list[str]:
    """Where entries stand that link to an entry with these ids, as far as the actor may know."""
    owners = access.readable(by)
    rows = [row for ref in refs for row in lookup.linking(vault, ref)]
    return [f"{row.path}:{row.line}" for row in rows if owners is None or row.agent in owners]


def of_row(row: Row) -> Shape:
    return wire.entry(row)
