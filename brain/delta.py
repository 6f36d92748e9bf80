"""How the entries of a file changed, and which of the new ones is which of the old."""

from __future__ import annotations

from brain.index import put, query
from brain.index.db import Index
from brain.index.put import Entry
from brain.record import NamedTuple

MANY = 10_000  # comparisons of entries that are worth knowing which is which


class Delta(NamedTuple):
    """How the entries of one brain file changed; each is (id, text)."""

    path: str
    scope: str
    added: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()  # of those changed: (old id, new id)


def of(index: Index, entry: Entry) -> Delta | None:
    """How the entries of this file are about to change; None if they are not."""
    if entry.document.broken and entry.id is not None:
        return None
    before = put.entries(index, entry.id) if entry.id is not None else {}
    after: dict[str, str] = {}
    for chunk in entry.document.chunks:
        after.setdefault(chunk.ref, chunk.text)
    edited = (
        entry.scope == "memory" and before.keys() - after.keys() and after.keys() - before.keys()
    )
    written = _written(index, entry) if edited else frozenset()
    return compare(entry.path, entry.scope, before, after, written)


def _written(index: Index, entry: Entry) -> frozenset[str]:
    """The ids that stand in a memory note, or stood there before."""
    before = [row.ref for row in query.by_place(index, entry.path, 0) if _is_anchored(row.extra)]
    now = [chunk.ref for chunk in entry.document.chunks if (chunk.extra or {}).get("anchored")]
    return frozenset([*before, *now])


def _is_anchored(extra: str | None) -> bool:
    import json

    return bool(extra) and "anchored" in json.loads(extra or "")


def loss(index: Index, id: int, path: str) -> Delta | None:
    """That all entries of this file are about to go; None if it has none."""
    return compare(path, put.scope_of(index, id), put.entries(index, id), {})


def compare(
    path: str,
    scope: str,
    before: dict[str, str],
    after: dict[str, str],
    written: frozenset[str] = frozenset(),
) -> Delta | None:
    """Same id, other text: changed. An entry whose id comes from its text and that was edited
    in place counts as changed too; one whose id was `written` behind it never becomes another."""
    changed = [ref for ref in after if ref in before and before[ref] != after[ref]]
    added = [ref for ref in after if ref not in before]
    removed = [ref for ref in before if ref not in after]
    renamed: dict[str, str] = {}
    if added and removed:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, list(before), list(after), autojunk=False)
        for code, a1, a2, b1, b2 in matcher.get_opcodes():
            if code == "replace":
                old = [(ref, before[ref]) for ref in list(before)[a1:a2] if ref not in after]
                new = [(ref, after[ref]) for ref in list(after)[b1:b2] if ref not in before]
                pairs = _pairs(old, new, written)
                renamed |= pairs
                changed += [ref for ref in after if ref in pairs]
                added = [ref for ref in added if ref not in pairs]
                removed = [ref for ref in removed if ref not in pairs.values()]
    if not (added or changed or removed):
        return None
    return Delta(
        path,
        scope,
        tuple((ref, after[ref]) for ref in added),
        tuple((ref, after[ref]) for ref in changed),
        tuple((ref, before[ref]) for ref in removed),
        tuple((was, ref) for ref, was in renamed.items()),
    )


def _pairs(
    old: list[tuple[str, str]], new: list[tuple[str, str]], written: frozenset[str]
) -> dict[str, str]:
    """Which of the new entries, given as (id, text), is which of the old ones that stood in their
    place. One that has its id `written` behind it is the one that said the same without an id."""
    said = {text: was for was, text in old if was not in written}
    named = {ref: said.pop(text) for ref, text in new if ref in written and text in said}
    taken = {*written, *named.values()}
    return named | _edited_pairs(
        [each for each in old if each[0] not in taken],
        [each for each in new if each[0] not in taken],
    )


def _edited_pairs(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> dict[str, str]:
    """The same of entries without written ids: one by one if they are as many, else those that
    share at least half of their words."""
    if len(old) == len(new):
        return {ref: was for (ref, _), (was, _) in zip(new, old, strict=True)}
    if len(old) * len(new) > MANY:
        return {}
    words = {ref: set(text.casefold().split()) for ref, text in (*old, *new)}
    alike = [
        (-2 * len(words[ref] & words[was]) / (len(words[ref]) + len(words[was]) or 1), b, a)
        for a, (was, _) in enumerate(old)
        for b, (ref, _) in enumerate(new)
    ]
    pairs: dict[str, str] = {}
    for likeness, b, a in sorted(alike):
        ref, was = new[b][0], old[a][0]
        if likeness <= -0.5 and ref not in pairs and was not in pairs.values():
            pairs[ref] = was
    return pairs
