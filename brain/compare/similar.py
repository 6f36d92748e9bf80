"""Find the memories that are equal to a text, similar to it, or contradict it."""

from __future__ import annotations

from brain._tuples import NamedTuple
from brain.compare.duplicates import NEAR, is_same, similarity, terms
from brain.formats.links import mentioned_files
from brain.formats.plain_text import fingerprint, without_links
from brain.index import fulltext, read, records, relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from brain.index.db import Index, Owners
    from brain.index.read import Row

MOST_NEAR = 3
MOST_COMPARED, MOST_JUDGED = 30, 12  # memories by their words, and then for contradictions
RELATED = 0.15  # contradictions share at least this part of their words
EVENTS = frozenset({"summary", "file_change", "task_progress"})  # kinds that contradict nothing


class Similar(NamedTuple):
    """The memories that are similar to a text.

    `same` is the memory that is equal to the text, and `lacking` are the links of the text that it
    does not have. `near` are at most three similar memories with their similarity, the nearest
    first. `conflict_types` are the types of the contradictions, by the id of the memory. If there
    is a `same`, the others are empty.
    """

    same: Row | None = None
    lacking: tuple[str, ...] = ()
    near: tuple[tuple[Row, float], ...] = ()
    contradicts: tuple[Row, ...] = ()
    conflict_types: dict[str, str] = {}  # noqa: RUF012 - never changed


def similar(
    index: Index, text: str, *, owners: Owners, kind: str = "", exclude: Collection[str] = ()
) -> Similar:
    """Compare a text with its links to the memories of these owners (None: all).

    Memories with an id in `exclude` are left out. Superseded memories and memories about events
    have no contradictions, and neither has a text of a kind that reports events.
    """
    files = _files(text)
    rows = read.by_fingerprint(index, fingerprint(without_links(text)), owners)
    equal = [(row, row.text) for row in rows if row.ref not in exclude]
    if found := _duplicate(equal, files):
        return found
    words = terms(text)
    texts = dict(fulltext.sharing(index, words, owners, MOST_COMPARED)) if words else {}
    scored = {id: similarity(text, other) for id, other in texts.items()}
    opposite = _opposite(text, texts, scored) if kind not in EVENTS else {}
    alike = [id for id, score in scored.items() if score >= NEAR]
    kept = {row.id: row for row in read.rows(index, [*{*alike, *opposite}])}
    kept = {id: row for id, row in kept.items() if row.ref not in exclude}
    against = _current(index, [kept[id] for id in opposite if id in kept], owners)
    left = {row.id for row in (*rows, *against)}
    alike = [id for id in alike if id in kept and id not in left]
    same = [(kept[id], texts[id]) for id in alike if is_same(text, texts[id])]
    if found := _duplicate([pair for pair in same if pair[0].id not in opposite], files):
        return found
    near = [*((row, 1.0) for row, _ in equal), *((kept[id], scored[id]) for id in alike)]
    near.sort(key=lambda pair: -pair[1])
    types = {row.ref: opposite[row.id] for row in against}
    return Similar(near=tuple(near[:MOST_NEAR]), contradicts=tuple(against), conflict_types=types)


def new_contradictions(index: Index, ref: str, text: str, owners: Owners) -> dict[str, str]:
    """Return the types of contradictions with other memories that are not recorded yet, by id. Only
    text that a person typed is compared, because operations compare their own texts."""
    if any(records.select(index, refs=[ref], ops=("remember", "update"))):
        return {}
    kind = next((row.kind for row in read.by_ref(index, ref) if row.ref == ref), "")
    found = similar(index, text, owners=owners, kind=kind, exclude=[ref]).conflict_types
    if not found:
        return {}
    known = {frozenset((one.ref, one.other)) for one in records.conflicts(index, open_only=False)}
    return {other: type for other, type in found.items() if {ref, other} not in known}


def _opposite(text: str, texts: dict[int, str], scored: dict[int, float]) -> dict[int, str]:
    """Return the type of the conflict for each text that contradicts this one, by row id."""
    related = sorted((id for id in scored if scored[id] >= RELATED), key=lambda id: -scored[id])
    if not related:
        return {}
    from brain.compare.contradictions import conflict_type  # takes 10 ms to load

    found = {id: conflict_type(text, texts[id]) for id in related[:MOST_JUDGED]}
    return {id: type for id, type in found.items() if type}


def _duplicate(equal: list[tuple[Row, str]], files: dict[str, str]) -> Similar | None:
    """Return the equal memory that lacks the fewest links of the text.

    If the text and a memory each link to a file that the other does not, they are different.
    """
    found: list[tuple[int, Row, tuple[str, ...]]] = []
    for row, text in equal:
        others = _files(text)
        lacking = tuple(file for key, file in files.items() if key not in others)
        if not lacking or others.keys() <= files.keys():
            found.append((len(lacking), row, lacking))
    if not found:
        return None
    _, row, lacking = min(found, key=lambda each: each[0])
    return Similar(same=row, lacking=lacking)


def _files(text: str) -> dict[str, str]:
    """Return the files that a text mentions, by their folded names."""
    return {file.casefold(): file for file in mentioned_files(text)}


def _current(index: Index, rows: list[Row], owners: Owners) -> list[Row]:
    """Return the rows that are not superseded and do not report an event."""
    gone = relations.successors(index, [row.ref for row in rows], owners) if rows else {}
    return [row for row in rows if row.ref not in gone and row.kind not in EVENTS]
