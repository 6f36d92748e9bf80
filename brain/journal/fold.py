"""What journals amount to: a sum that comes out the same in whatever order its parts are added.

Counts add up. Of values that replace each other, the one that is last in the order of all records
(counter, device, number) stays, so each is kept together with its place in that order. A fold of
one month can be added to another's; `snapshot` and `into` live on that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from brain.journal.feedback import Feedback
from brain.journal.line import MOST, Record, decode
from brain.journal.read import BAD, File, Reader, Seen
from brain.journal.tally import (
    ADDED,
    CONFIDENCE,
    FEEDBACK,
    HITS,
    IMPORTANCE,
    MERGES,
    NEVER,
    SOURCE,
    TOUCHED,
    is_number,
    join,
    judge,
    score,
    tally,
    text,
    texts,
    thousandths,
    undo,
)
from brain.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.journal.tally import Key, Tally

MAKES = frozenset(["add", "promote"])
_GIVES = frozenset(["add", "promote", "update", "confirm"])
_TOUCHES = frozenset(["reinforce", "update", "merge"])
_USUAL = frozenset([*FEEDBACK, *_GIVES])
_COUNTED = frozenset([*_USUAL, *_TOUCHES])
_GIVEN = (("confidence", CONFIDENCE), ("importance", IMPORTANCE))


class Fold:
    """What some journals say. `gone` are ids that were purged, and when: what came before that is
    not counted."""

    def __init__(self, gone: Mapping[str, Key] | None = None) -> None:
        self.gone = gone or {}
        self.tallies: dict[str, Tally] = {}
        self.aliases: set[tuple[str, str]] = set()
        self.made: set[str] = set()  # ids that were added, and purged
        self.purges: dict[str, tuple[Any, ...]] = {}  # (*key, at)
        self.learned: dict[tuple[str, str], list[Any]] = {}  # [strength, (*key, at)]
        # how a conflict was raised last: (*key, ref, other, type, at, by, id), and settled last
        self.conflicts: dict[tuple[str, str], list[Any]] = {}
        self.records = self.repeats = 0

    # -- reading ---------------------------------------------------------------------------------

    def file(self, file: File, reader: Reader, seen: Seen) -> None:
        """Count what `reader` finds in a file and `seen` has not met."""
        spans, at = [], reader.at
        for _ in reader.blocks():
            spans.append((at, reader.at - at))
            at = reader.at
        if not spans:
            return
        part = Fold(self.gone)
        if reader.odd or not part._backwards(file, spans, seen):
            part = Fold(self.gone)
            again = reader.again()
            for block in again.blocks():
                part._lines(block, file.device, seen, again)
            reader.problems = again.problems
        self.add(part)

    def _backwards(self, file: File, spans: list[tuple[int, int]], seen: Seen) -> bool:
        """Count lines that a device wrote one after the other, the last first, so that what is
        met first is what stays. False, with anything counted, if they are not that."""
        feedback, first, after = Feedback(file.device), 0, MOST
        try:
            with open(file.path, "rb") as handle:
                for at, size in reversed(spans):
                    handle.seek(at)
                    block = handle.read(size).strip(b"\n")
                    last, lamport = _place(block[block.rfind(b"\n") + 1 :])
                    count = self._block(block, file.device, feedback)
                    if (first and last != first - 1) or lamport > after:
                        return False
                    first, after = last - count + 1, lamport
                    if seen.overlaps(first, last):
                        return False
            if _place(block.partition(b"\n")[0])[0] != first:
                return False
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        self._repeated(feedback, file.device)
        seen.run(first, first + self.records - 1)
        return True

    def _block(self, block: bytes, device: str, feedback: Feedback) -> int:
        """Count some lines; how many records that are."""
        import orjson

        if self.gone:  # what was purged is left out one by one
            plain, others = 0, block.split(b"\n")
        else:
            plain, others = feedback.take(block)
            self.records += plain
        values = orjson.loads(b"[%b]" % b",".join(others))
        values.reverse()
        self._run(values, device)
        if feedback.is_much():
            self._repeated(feedback, device)
        return plain + len(values)

    def _repeated(self, feedback: Feedback, device: str) -> None:
        """Count feedback of which some was given many times."""
        tallies = self.tallies
        for value, times in feedback.given():
            found = tallies.get(value["ref"])
            if found is None:
                found = tallies[value["ref"]] = tally()
            judge(found, value, value["op"], (value["lamport"], device, value["seq"]), times)

    def _run(self, values: list[dict[str, Any]], device: str) -> None:
        """Count the records of a device, given the last first, so that what is known of an id is
        later; ValueError if they are not that."""
        self.records += len(values)
        tallies, after = self.tallies, MOST
        usual = frozenset() if self.gone else _USUAL  # what was purged is left out one by one
        for value in values:
            op, ref, lamport = value["op"], value["ref"], value["lamport"]
            if lamport > after or value["device"] != device:
                raise ValueError("they are not in order, or another device's")
            after = lamport
            if op not in usual or not ref:
                self._count(value, op, ref, (lamport, device, value["seq"]))
                continue
            found = tallies.get(ref)
            if found is None:
                found = tallies[ref] = tally()
            if op in _GIVES:
                _gave(found, value, op, device)
            else:
                judge(found, value, op, (lamport, device, value["seq"]))

    def _lines(self, block: bytes, device: str, seen: Seen, reader: Reader) -> None:
        """Count lines wherever they stand."""
        lines = block.split(b"\n")[:-1]
        for number, line in enumerate(lines, reader.line - len(lines) + 1):
            record = decode(line)
            if record is None or record.device != device:
                why = "is no record" if record is None else f"belongs to {record.device}"
                reader.problems.append(Problem(number, BAD, f"{why} and is not counted"))
            elif seen.add(record.seq):
                self.count(record)
            else:
                self.repeats += 1

    def count(self, record: Record) -> None:
        """Count one record."""
        self.records += 1
        value = {**record.data, "at": record.at, "by": record.by, "id": record.id}
        self._count(value, record.op, record.ref, record.key)

    # -- one record ------------------------------------------------------------------------------

    def _count(self, value: dict[str, Any], op: str, ref: str, key: Key) -> None:
        """Count a record of any kind, given its line's object."""
        if op == "alias":
            if ref and (old := text(value, "old")):
                self.aliases.add((ref, old))
        elif op == "purge":
            for gone in {ref, *texts(value.get("refs"))} - {""}:
                self.purges[gone] = max(self.purges.get(gone, ()), (*key, value["at"]))
        elif not ref or (self.gone and self._is_gone(ref, key)):
            if op in MAKES:
                self.made.add(ref)
        elif op in _COUNTED or "delta" in value or "undid" in value:
            self._entry(value, op, ref, key)
        elif op == "together":
            self._together(value, ref, key)
        elif op in ("conflict", "resolve"):
            self._conflict(value, op, ref, key)

    def _is_gone(self, ref: str, key: Key) -> bool:
        return key < self.gone.get(ref, key)

    def _entry(self, value: dict[str, Any], op: str, ref: str, key: Key) -> None:
        found = self.tallies.get(ref)
        if found is None:
            found = self.tallies[ref] = tally()
        if op == "undo":
            undo(found, value)
        elif op in FEEDBACK:
            judge(found, value, op, key)
        elif "delta" in value:
            score(found, value["delta"])
        if op in _TOUCHES and key > found[TOUCHED]:
            found[TOUCHED] = (*key, value["at"])
        if op in _GIVES:
            self._given(value, found, key)
        if op in MAKES and (not found[ADDED] or key < found[ADDED]):
            found[ADDED] = (*key, value["at"], text(value, "by"), text(value, "session"))
        if op == "merge":
            found[MERGES] += 1
            found[HITS] += 1

    def _given(self, value: dict[str, Any], found: Tally, key: Key) -> None:
        """What an entry started with, or was given later."""
        for name, field in _GIVEN:
            if name in value and is_number(value[name]) and key > found[field]:
                found[field] = (*key, float(value[name]))
        if "source" in value and key > found[SOURCE] and text(value, "source"):
            found[SOURCE] = (*key, value["source"])

    def _together(self, value: dict[str, Any], ref: str, key: Key) -> None:
        other = text(value, "other")
        if other and other != ref and not self._is_gone(other, key):
            pair = (ref, other) if ref < other else (other, ref)
            found = self.learned.setdefault(pair, [0, ()])
            found[0] += thousandths(value.get("strength", 1))
            found[1] = max(found[1], (*key, text(value, "last") or value["at"]))

    def _conflict(self, value: dict[str, Any], op: str, ref: str, key: Key) -> None:
        other = text(value, "other")
        if self._is_gone(other, key) or (op == "conflict" and not other):
            return
        pair = (ref, other) if not other or ref < other else (other, ref)
        found = self.conflicts.setdefault(pair, [(), ()])
        if op == "resolve":
            found[1] = max(found[1], (*key, value["at"], text(value, "by")))
        else:
            kind = text(value, "type") or "ambiguous"
            said = (ref, other, kind, value["at"], text(value, "by"), text(value, "id"))
            found[0] = max(found[0], (*key, *said))

    # -- adding up -------------------------------------------------------------------------------

    def add(self, more: Fold) -> None:
        """Count what another fold counted, which no part of this one did; it is used up."""
        if not self.tallies:
            self.tallies, more.tallies = more.tallies, {}
        for ref, found in more.tallies.items():
            join(self.tallies.setdefault(ref, tally()), found)
        self.aliases |= more.aliases
        self.made |= more.made
        for ref, purge in more.purges.items():
            self.purges[ref] = max(self.purges.get(ref, ()), purge)
        for pair, (strength, last) in more.learned.items():
            learned = self.learned.setdefault(pair, [0, ()])
            learned[:] = learned[0] + strength, max(learned[1], last)
        for pair, (raised, settled) in more.conflicts.items():
            conflict = self.conflicts.setdefault(pair, [(), ()])
            conflict[:] = max(conflict[0], raised), max(conflict[1], settled)
        self.records += more.records
        self.repeats += more.repeats

    def same(self, own: Collection[str] = ()) -> set[tuple[str, str]]:
        """The aliases that count: an id that an entry was added with, as these were, is no other
        entry's, though journals of before may say so."""
        return {pair for pair in self.aliases if not any(r in own or self.is_own(r) for r in pair)}

    def is_own(self, ref: str) -> bool:
        """Was an entry added with this id?"""
        known = self.tallies.get(ref)
        return ref in self.made or bool(known and known[ADDED])

    def refs(self) -> set[str]:
        """All ids that something was counted for."""
        pairs = [*self.learned, *self.conflicts]
        return {*self.tallies, *(ref for pair in pairs for ref in pair)}


def _place(line: bytes) -> tuple[int, int]:
    """The number and the counter of a record; ValueError if they cannot be that."""
    import orjson

    value = orjson.loads(line)
    seq, lamport = value["seq"], value["lamport"]
    if not (type(seq) is type(lamport) is int and 0 < seq < MOST and 0 <= lamport < MOST):
        raise ValueError(line)
    return seq, lamport


def _gave(found: Tally, value: dict[str, Any], op: str, device: str) -> None:
    """Count what an entry started with, or was given, before all that is known of it."""
    lamport, seq = value["lamport"], value["seq"]
    for name, field in _GIVEN:
        if name in value and found[field] is NEVER and is_number(value[name]):
            found[field] = (lamport, device, seq, float(value[name]))
    if "source" in value and found[SOURCE] is NEVER and text(value, "source"):
        found[SOURCE] = (lamport, device, seq, value["source"])
    if op in MAKES:
        by, session = text(value, "by"), text(value, "session")
        found[ADDED] = (lamport, device, seq, value["at"], by, session)
    elif op in _TOUCHES and found[TOUCHED] is NEVER:
        found[TOUCHED] = (lamport, device, seq, value["at"])
    if "delta" in value:
        score(found, value["delta"])
