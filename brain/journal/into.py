"""Journals into the index.

What was read before is not read again, if it is still there. Where it is not so simple (a file is
shorter, or gone, or has lines out of order; something was purged), all journals are read. Both ways
lead to the same facts. One that cannot be read is looked at again each time; what was read of it
before still counts, and what was purged stays so.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from zlib import crc32

from brain.index import facts, put
from brain.index.facts import Read
from brain.journal import snapshot
from brain.journal.classes import classed, classes, gone
from brain.journal.fold import Fold
from brain.journal.line import after, stored
from brain.journal.read import BAD, TORN, UNREAD, File, Reader, Seen, unread
from brain.journal.tally import (
    ADDED,
    CONFIDENCE,
    HIT,
    HITS,
    IMPORTANCE,
    PURGED,
    REJECTED,
    SCORE,
    SOURCE,
    THOUSANDTHS,
    TOUCHED,
    join,
    net,
    tally,
    unpacked,
)
from brain.model import Problem
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any, TypeAlias

    from brain.journal.tally import Key, Tally

    Purges: TypeAlias = Mapping[str, tuple[Any, ...]]

_NEAR, _BLOCK = 64, 1 << 20
_NEVER = (0, 0, 0, 0)  # the stat values of no file
_SHOWN = 100  # problems of one file


class Part(NamedTuple):
    """What was read of some journals: what it amounts to, how far, and what was wrong."""

    fold: Fold
    rows: list[Read]
    problems: list[tuple[str, Problem]]


def bring(
    db: sqlite3.Connection, folder: str, files: list[File], known: Mapping[str, Read]
) -> None:
    """Bring the index from what it knows in step with these files of a folder of the vault."""
    with _unsearched():
        _bring(db, folder, files, known)


@contextmanager
def _unsearched() -> Iterator[None]:
    """Without a search for garbage: tallies hold no rings, and there may be very many."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _bring(
    db: sqlite3.Connection, folder: str, files: list[File], known: Mapping[str, Read]
) -> None:
    part = _growth(db, files, known)
    if part and _extend(db, part.fold):
        found = [(f"{folder}/{name}.jsonl", problem) for name, problem in part.problems]
        paths = [f"{folder}/{row.path}.jsonl" for row in part.rows]
        put.replace_problems(db, [TORN, UNREAD], paths, found)
    else:
        part = _whole(files, _purges(db))
        _replace(db, part.fold)
        found = [(f"{folder}/{name}.jsonl", problem) for name, problem in part.problems]
        put.replace_problems(db, [BAD, TORN, UNREAD], None, found)
    facts.set_journals(db, part.rows)


# -- reading -------------------------------------------------------------------------------------


def _growth(db: sqlite3.Connection, files: list[File], known: Mapping[str, Read]) -> Part | None:
    """What the files hold beyond what is known; None if that is not all that happened."""
    if not known or not known.keys() <= {file.name for file in files}:
        return None
    part = Part(Fold({ref: purge[:3] for ref, purge in _purges(db).items()}), [], [])
    seen = _seen(known)
    for file in files:
        was = known.get(file.name)
        if was and was.stat == file.stat:
            continue
        met = seen.setdefault(file.device, Seen())
        try:
            if was and not _is_prefix(file, was):
                return None
            if _read(part, file, met, was):
                return None
        except OSError as error:
            _leave_out(part, file, error, was)
    return None if part.fold.repeats or part.fold.purges else part


def _whole(files: list[File], purges: Purges) -> Part:
    """What all files hold. Read once more if something was purged, to leave out what that was.
    `purges` are those that the index knows."""
    part, out = _all(files, {}, purges), {}
    while (out := gone(part.fold)) != part.fold.gone:
        part = _all(files, out, purges)
    return part


def _all(files: list[File], out: Mapping[str, Key], purges: Purges) -> Part:
    part = Part(Fold(out), [], [])
    seen: dict[str, Seen] = {}
    for file in files:
        try:
            _read(part, file, seen.setdefault(file.device, Seen()), None)
        except OSError as error:
            _leave_out(part, file, error, None)
            known = Fold()  # any of these may be on record there
            known.purges = dict(purges)
            part.fold.add(known)
    return part


def _purges(db: sqlite3.Connection) -> Purges:
    """What the index knows to be purged: (*key, at)."""
    return {ref: unpacked(state)[PURGED] for ref, state in facts.purged(db)}


def _leave_out(part: Part, file: File, error: OSError, was: Read | None) -> None:
    """A file cannot be read: it is as far as it was, and will be looked at again."""
    part.problems.append((file.name, unread(error)))
    part.rows.append((was or Read(file.name, _NEVER))._replace(stat=_NEVER))


def _read(part: Part, file: File, seen: Seen, was: Read | None) -> bool:
    """Count a file, or what it holds beyond what is known; were any lines out of place?"""
    if was is None and (found := _snapshot(part.fold, file, seen)):
        part.fold.add(found.fold)
        for run in found.runs:
            seen.run(*run)
        end, odd = found.end, False
    else:
        reader = Reader(file.path, *was[2:6]) if was else Reader(file.path)
        part.fold.file(file, reader, seen)
        part.problems.extend((file.name, problem) for problem in _shown(reader.problems))
        end, odd = (reader.at, reader.line, reader.seed, reader.mark), reader.odd
    runs = str([list(run) for run in seen.runs])
    part.rows.append(Read(file.name, file.stat, *end, runs))
    return odd


def _snapshot(fold: Fold, file: File, seen: Seen) -> snapshot.Snapshot | None:
    """What stands for the lines of a file, if it says all that has to be known of them here."""
    found = snapshot.load(file)
    if found is None or any(seen.overlaps(*run) for run in found.runs):
        return None
    return None if fold.gone and not found.fold.refs().isdisjoint(fold.gone) else found


def _seen(known: Mapping[str, Read]) -> dict[str, Seen]:
    """The numbers of the records that are counted, by device. Each file's row knows all that were
    counted when it was written."""
    import json

    runs: dict[str, list[list[int]]] = {}
    for path, row in known.items():
        runs.setdefault(path.partition("/")[0], []).extend(json.loads(row.runs))
    return {device: Seen.union(found) for device, found in runs.items()}


def _is_prefix(file: File, was: Read) -> bool:
    """Is what was read of a file still there? Of one that has grown in its place, the last line
    stands for all before it; else all are looked at."""
    with open(file.path, "rb") as handle:
        if file.stat[0] > was.stat[0] and file.stat[3] == was.stat[3] and was.at:
            handle.seek(max(0, was.at - _NEAR))
            last = stored(handle.read(min(was.at, _NEAR)).removesuffix(b"\n"))
            if last is not None and after(last) == was.seed:
                return True
            handle.seek(0)
        mark, left = 0, was.at
        while left and (data := handle.read(min(left, _BLOCK))):
            mark, left = crc32(data, mark), left - len(data)
    return not left and mark == was.mark


def _shown(problems: list[Problem]) -> list[Problem]:
    shown = sorted(problems)
    if len(shown) > _SHOWN:
        more = len(shown) - _SHOWN
        shown[_SHOWN:] = [Problem(0, BAD, f"has {more} more lines that are not counted")]
    return shown


# -- writing -------------------------------------------------------------------------------------


def _replace(db: sqlite3.Connection, fold: Fold) -> None:
    """Make this all that the index says of journals."""
    entries, names = classed(fold)
    facts.clear(db)
    facts.put(db, _rows(entries))
    facts.put_classes(db, names)
    facts.put_learned(db, _learned(fold))
    facts.put_conflicts(db, _conflicts(fold))


def _extend(db: sqlite3.Connection, fold: Fold) -> bool:
    """Add this to what the index says. False, having changed nothing, if an entry that was purged
    turns out to be another one as well, or an id that was taken for another one's its own."""
    if facts.classes(db, [*fold.made, *(ref for ref, t in fold.tallies.items() if t[ADDED])]):
        return False
    entries, names = classed(fold, _own(db, fold))
    ids = {*entries, *names}
    known = facts.classes(db, ids)
    if names:
        names = classes([*names.items(), *known.items()])
    into = names or known
    before = {
        ref: unpacked(s) for ref, s in facts.states(db, {*ids, *into, *into.values()}).items()
    }
    if names and any(before[ref][PURGED] for ref in before):
        return False
    after: dict[str, Tally] = {}
    for found in (before, entries):
        for ref, tallied in found.items():
            join(after.setdefault(into.get(ref, ref), tally()), tallied)
    facts.drop(db, before.keys() - after.keys())
    facts.put(db, _rows(after))
    facts.put_classes(db, names)
    _extend_pairs(db, fold)
    return True


def _own(db: sqlite3.Connection, fold: Fold) -> set[str]:
    """The ids among the aliases of a fold that the index knows an entry was added with."""
    found = facts.states(db, {ref for pair in fold.aliases for ref in pair})
    return {ref for ref, state in found.items() if unpacked(state)[ADDED]}


def _extend_pairs(db: sqlite3.Connection, fold: Fold) -> None:
    import json

    more = Fold()
    for pair, state in facts.learned(db, fold.learned).items():
        strength, last = json.loads(state)
        more.learned[pair] = [strength, tuple(last)]
    if fold.conflicts:
        for pair, state in facts.raised(db).items():
            raised, settled = json.loads(state)
            more.conflicts[pair] = [tuple(raised), tuple(settled)]
    more.add(fold)
    facts.put_learned(db, _learned(more))
    facts.put_conflicts(db, _conflicts(more))


def _rows(entries: Mapping[str, Tally]) -> Iterable[tuple[Any, ...]]:
    import orjson

    for ref, known in entries.items():
        added, counts = known[ADDED], net(known)
        yield (
            ref,
            counts[SCORE] + counts[THOUSANDTHS] / 1000,
            *counts[HITS : REJECTED + 1],
            _said(known[TOUCHED]),
            _said(known[HIT]),
            *((_said(added), *added[4:]) if added else ("", "", "")),
            *(known[field][3] if known[field] else None for field in (CONFIDENCE, IMPORTANCE)),
            _said(known[SOURCE]),
            _said(known[PURGED]),
            orjson.dumps(known).decode(),
        )


def _said(place: tuple[Any, ...]) -> str:
    return place[3] if place and isinstance(place[3], str) else ""


def _learned(fold: Fold) -> Iterable[tuple[Any, ...]]:
    import orjson

    for pair, known in fold.learned.items():
        yield (*pair, known[0] / 1000, _said(known[1]), orjson.dumps(known).decode())


def _conflicts(fold: Fold) -> Iterable[tuple[Any, ...]]:
    import orjson

    for pair, known in fold.conflicts.items():
        yield (*pair, orjson.dumps(known).decode())
