"""What waits on this machine until it is flushed to its journal: hits, what was used together, what
was rejected, and questions without an answer.

A question would otherwise leave a line in the vault each time, and a git tree would never be clean.
Killed at any point, a flush puts each hit on record once: the ids of its records follow from a name
that the spool was given when it was begun, and what is in the journal already is not appended
again. What the last second added can be lost in a power failure. What is of another vault, which
lay here before, is not counted, and goes with the next flush.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations

from brain import lock
from brain.errors import BrainError, Busy
from brain.formats.text import ALPHABET, digest
from brain.journal.line import Entry, letters
from brain.journal.read import stat_of
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from brain.journal.log import Journal

    Stat: TypeAlias = tuple[int, int, int, int]

BY = "brain"
_FILES = ("spool.jsonl", "flushing.jsonl")  # what is added to; what is being put on record
_WAIT = 2.0


class Waiting(NamedTuple):
    """Something that happened some `times`, the last time at `at`: hits of an entry; with `other`,
    that two entries were used together; or, by `op`, something else, with what was `said`, and
    the entries that were no answer to that."""

    ref: str
    other: str
    times: int
    at: str
    op: str = ""
    said: str = ""
    refs: tuple[str, ...] = ()


class Spool:
    """The spool of a state folder. Costs nothing until it is used. Who adds to it names the `home`
    of the vault that it is about, as the journal does.

    Raises BrainError where it cannot be read or written; only `counted` then counts nothing, since
    no question is to fail for that.
    """

    def __init__(self, state: str | os.PathLike[str], home: str = "") -> None:
        self.state, self.home = os.fspath(state), home
        self._spool, self._flushing = (f"{self.state}/{name}" for name in _FILES)

    def add_hits(self, refs: Iterable[str], at: str) -> None:
        """These entries were put into a prompt."""
        self._add({"at": at, "hits": list(refs)})

    def add_together(self, refs: Iterable[str], at: str) -> None:
        """These entries were in one prompt and then found useful."""
        self._add({"at": at, "together": list(refs)})

    def add_rejected(self, refs: Iterable[str], at: str) -> None:
        """These entries were found, and whoever looked at them had no use for them."""
        self._add({"at": at, "rejected": list(refs)})

    def add_gap(self, question: str, agent: str, at: str, refs: Iterable[str] = ()) -> None:
        """A question found nothing, or these entries, which were no answer; who calls has taken
        secrets out of it."""
        self._add({"at": at, "gap": question, "agent": agent, "refs": sorted(refs)})

    def _add(self, line: dict[str, Any]) -> None:
        import orjson

        if self.home:
            line["home"] = self.home
        data = orjson.dumps(line) + b"\n"
        with self._locked():
            handle = os.open(self._spool, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if not os.fstat(handle).st_size:
                    data = orjson.dumps({"name": letters(16), **line}) + b"\n"
                os.write(handle, data)
            finally:
                os.close(handle)

    def drop(self, until: Mapping[str, str]) -> None:
        """Take out what waits of these entries up to a time each, which is not to be counted.
        Questions stay."""
        with self._locked():
            for path in (self._spool, self._flushing):
                lines = list(_lines(path))
                left = [_without(line, until) for line in lines]
                if left != lines:
                    _replace(path, left)

    def stats(self) -> list[Stat | None]:
        """What changes when the spool does."""
        return [stat_of(self._spool), stat_of(self._flushing)]

    def due(self, now: str) -> bool:
        """Does anything wait since the day before, or from a flush that was cut short?"""
        if os.path.exists(self._flushing):
            return True
        first = next(iter(_lines(self._spool)), None)
        return first is not None and str(first.get("at", ""))[:10] < now[:10]

    def counted(self, journal: Journal) -> list[tuple[str, str, int, str]]:
        """(entry, other, times, at) of hits and of what was used together, not on record yet."""
        with suppress(BrainError):
            return [waits[:4] for waits in self.waiting(journal) if not waits.op]
        return []

    def waiting(self, journal: Journal) -> list[Waiting]:
        """What is not on record yet."""
        found = _coalesced(_of(journal, _lines(self._spool)))
        if os.path.exists(self._flushing):
            half = self._entries(journal)
            there = journal.has(half)
            found += [waits for id, waits in half.items() if id not in there]
            found = _summed(found)
        return found

    def flush(self, journal: Journal) -> int:
        """Put on record what waits; how many records that are. Who calls holds the store's lock.

        Also closes the months that are over, which takes a moment once a month.
        """
        count = 0
        with self._locked():
            count += self._finish(journal)  # one that was cut short
            self.due("")  # before it is moved: can it be read?
            with suppress(FileNotFoundError):
                os.rename(self._spool, self._flushing)
                count += self._finish(journal)
        journal.close_months()
        return count

    def _finish(self, journal: Journal) -> int:
        if not os.path.exists(self._flushing):
            return 0
        entries = self._entries(journal)
        there = journal.has(entries)
        left = [_entry(id, waits) for id, waits in entries.items() if id not in there]
        journal.append(left)
        with suppress(FileNotFoundError):
            os.unlink(self._flushing)
        return len(left)

    def _entries(self, journal: Journal) -> dict[str, Waiting]:
        """What is being flushed, by the ids that its records get."""
        lines = list(_lines(self._flushing))
        name = str(lines[0].get("name") or lines) if lines else ""
        return {_id(name, waits): waits for waits in _coalesced(_of(journal, lines))}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        handle = lock.take(f"{self.state}/spool.lock", _WAIT)
        if handle is None:
            raise Busy("Another Brain process is flushing its spool.", "Try again in a moment.")
        try:
            yield
        except OSError as error:
            raise _unusable(error.filename or self._spool, error) from error
        finally:
            os.close(handle)


def _id(name: str, waits: Waiting) -> str:
    about = f"{waits.op}{waits.ref}" if waits.op else waits.ref
    mark = digest(f"{name}\n{about}\n{waits.other}".encode("utf-8", "replace"))
    return "e-" + "".join(ALPHABET[byte & 31] for byte in mark[:10])


def _entry(id: str, waits: Waiting) -> Entry:
    if waits.op == "reject":
        return Entry(id, "reject", BY, waits.ref, data={"last": waits.at})  # once a day
    if waits.op:
        data = {"query": waits.said, "agent": waits.other, "count": waits.times, "last": waits.at}
        more = {"refs": list(waits.refs)} if waits.refs else {}
        return Entry(id, waits.op, BY, waits.ref, data={**data, **more})
    if not waits.other:
        return Entry(id, "hit", BY, waits.ref, data={"count": waits.times, "last": waits.at})
    data = {"other": waits.other, "strength": waits.times, "last": waits.at}
    return Entry(id, "together", BY, waits.ref, data=data)


def _lines(path: str) -> Iterator[dict[str, Any]]:
    import orjson

    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unusable(path, error) from error
    for line in data.split(b"\n"):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(line)
            if isinstance(value, dict):
                yield value


def _unusable(path: str, error: OSError) -> BrainError:
    why = error.strerror or str(error)
    return BrainError(
        f"{path} cannot be used ({why}).", "Check the disk and the rights, then try again."
    )


def _of(journal: Journal, lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines about this vault, and those of which that is not known."""
    here: dict[str, bool] = {"": True}
    for line in lines:
        home = str(line.get("home", ""))
        if home not in here:
            here[home] = journal.lies_here(home)
        if here[home]:
            yield line


def _without(line: dict[str, Any], until: Mapping[str, str]) -> dict[str, Any]:
    """A line without what it says of these entries; the name of the spool stays."""
    at = str(line.get("at", ""))
    kept: dict[str, Any] = {
        key: [ref for ref in _refs(line[key]) if at > until.get(ref, "")]
        for key in ("hits", "rejected", "together")
        if key in line
    }
    return {**line, **kept}


def _replace(path: str, lines: Iterable[dict[str, Any]]) -> None:
    import orjson

    with open(f"{path}.new", "wb") as file:
        file.write(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    os.replace(f"{path}.new", path)


def _coalesced(lines: Iterable[dict[str, Any]]) -> list[Waiting]:
    """One for each entry, and for each two."""
    found = []
    for line in lines:
        at = str(line.get("at", ""))
        found += [Waiting(ref, "", 1, at) for ref in _refs(line.get("hits"))]
        found += [Waiting(ref, "", 1, at, "reject") for ref in _refs(line.get("rejected"))]
        pairs = combinations(sorted(set(_refs(line.get("together")))), 2)
        found += [Waiting(one, other, 1, at) for one, other in pairs]
        if isinstance(said := line.get("gap"), str):
            asker, refs = str(line.get("agent", "")), tuple(_refs(line.get("refs")))
            found.append(Waiting(gap_id(said), asker, 1, at, "gap", said, refs))
    return _summed(found)


def gap_id(question: str) -> str:
    """The name of a question, however it is spelled and spaced."""
    words = " ".join(question.casefold().split()).rstrip("?!. ")
    mark = digest(words.encode("utf-8", "replace"))
    return "g-" + "".join(ALPHABET[byte & 31] for byte in mark[:8])


def _summed(waiting: Iterable[Waiting]) -> list[Waiting]:
    sums: dict[tuple[str, str, str], Waiting] = {}
    for waits in waiting:
        key = waits.op, waits.ref, waits.other
        was = sums.get(key, waits._replace(times=0, at=""))
        times, refs = was.times + waits.times, waits.refs if waits.at >= was.at else was.refs
        sums[key] = was._replace(times=times, at=max(was.at, waits.at), refs=refs)
    return [sums[key] for key in sorted(sums)]


def _refs(value: Any) -> Sequence[str]:
    return [ref for ref in value if ref and isinstance(ref, str)] if isinstance(value, list) else []
