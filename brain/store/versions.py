"""The recent versions of a note, and the choice of the version from which a text was edited.

Every text that appears in a note is an observation. It was edited from an earlier version, its
base. The difference between the two is merged into the head, the text that should be in the note.
So a unit is removed only by a text whose base contained it. All functions are pure: times, access
times and the state of git are arguments.

| situation | what happens |
|---|---|
| stale window: it saves a text from before Brain's write, once or often | its base is its own last save, so the agent's line comes back |
| own line reworded: a window rewords a line that it had saved | the old words go |
| informed edit: a text lacks a guarded line and contains anything newer | its base is the newer version, so the line goes |
| deliberate deletion: exactly the text from before the write | the line goes if someone has read it since, or when it is deleted again |
| half a save: the beginning of a known text | the disk layer waits, nothing is observed |
| cut and paste: a text has a line again that a person had removed or moved | the line stays |
| append: `>>` without reading | merged; it says nothing about what was seen |
| late save: a displaced file is written to | merged; its base is no later than what it displaced |
| another device: a sync service brings its version | its base is the version that the device had |
| git: checkout, reset, rebase, restore | the text of git counts; a write that was not in the note yet is merged into it |
| after git: someone saves over the text of git before Brain looks | the text counts, and guarded lines stay as they are |
| deleted note: someone saves a text from before the deletion | all its lines are there again |
| alone: nothing is guarded | the text counts as it is; Brain writes nothing |
"""  # noqa: E501 - a table

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from brain._tuples import NamedTuple
from brain.store.merge import (
    Edits,
    Units,
    apply_edits,
    difference,
    edits,
    likeness,
    merge,
    moved,
    one_per_id,
    unit_id,
)

# The cost of explaining a text by a version. Only the order of the sums counts. A unit is a
# window's own if the window added or removed it; a window always saves in the same way.
OLDER = 2.0  # the version is neither the tip nor the last save of a window
LAST_SAVE = 1.0  # the version is the last save of some window
KNOWS_MORE = 10.0  # the text has a known unit that the version lacks
RETURNED = 0.8  # ... which the version's own window had removed
PASTED = 1.5  # ... which a person had removed, and may have pasted somewhere else
LACKS = 2.8  # the text lacks a unit of the version
LACKS_GONE = 0.1  # ... which is gone from the head already, or is the window's own
LACKS_NEW = 0.5  # ... which its own window had just added
LACKS_TIP = 0.7  # ... which is the window's own, and the version is the tip
ADDED = 0.5  # the text has a new unit
REWORDED = 1.5  # the text has other words for a unit, times the part that differs
NOTHING_LEFT = 1.5  # nothing is left of what the version's window had added

STOOD = 2.0  # seconds for which a write stood before someone who had read it removed a line
READING = 1.0  # seconds from opening a file to saving what was read from it, by a program
YOUNG = 0.1  # seconds from reading a file to saving it, by a program
STOOD_AGAIN = 5.0  # seconds for which a restored line stood before it was removed again
FEW = 2  # units that a first deliberate deletion may remove
KEEP = 64  # versions


class Version:
    """A text that was in the note, or in a displaced file."""

    __slots__ = ("_edits", "_stored", "_units", "at", "base", "git", "in_place", "n", "new", "own",
                 "previous", "undid", "unread", "written")  # fmt: skip

    def __init__(
        self,
        n: int,
        units: Units | None = None,
        *,
        at: float = 0.0,
        written: bool = False,
        base: int = -1,
        own: frozenset[str] = frozenset(),
        new: frozenset[str] = frozenset(),
        unread: bool = False,
        undid: bool = False,
        in_place: bool | None = None,
        git: bool = False,
        previous: Version | None = None,
        stored: tuple[str, str, str] | None = None,
    ) -> None:
        """`stored` are `own`, `new` and the changes as JSON, which is read when it is needed."""
        self.n = n
        self.at = at  # when it was written or observed, by the clock
        self.written = written  # by Brain; else observed
        self.base = base  # the version that it was taken to be edited from
        if not stored:
            self.own = own  # units that the window which saved it has added or removed itself
            self.new = new  # units that it added to its base
            self._edits: Edits | None = None
        self.unread = unread  # it was not read while it was in the note
        self.undid = undid  # it did nothing but remove guarded units, which were restored
        self.in_place = in_place  # it was saved in place, or by rename; None if that is not known
        self.git = git  # git checked it out
        self._units, self.previous, self._stored = units, previous, stored

    def __getattr__(self, name: str) -> Any:
        if name not in ("own", "new", "_edits"):
            raise AttributeError(name)
        self._read()
        return getattr(self, name)

    def _read(self) -> None:
        if self._stored:
            own, new, self._edits = map(json.loads, self._stored)
            self.own, self.new, self._stored = frozenset(own), frozenset(new), None

    @property
    def units(self) -> Units:
        if self._units is None:
            assert self._edits is not None
            before = self.previous.units if self.previous else ()
            self._units = apply_edits(before, self._edits)
        return self._units

    @units.setter
    def units(self, units: Units) -> None:
        self._units = units

    @property
    def changes(self) -> Edits:
        """The edits that turn the previous version into this one."""
        if self._edits is None:
            self._edits = edits(self.previous.units if self.previous else (), self.units)
        return self._edits

    def replace(self, units: Units, previous: Version | None) -> None:
        """Replace the text, stored as changes to another version."""
        self._read()
        self._units, self._edits, self.previous = units, None, previous

    def follow(self, previous: Version | None) -> None:
        """Store this version as changes to another version."""
        if previous is not self.previous:
            self.replace(self.units, previous)


class Guard(NamedTuple):
    """A unit whose presence or absence a stale window could undo."""

    n: int  # the first version that had it; 0 while it is pending
    present: bool
    seen: bool = False  # someone has saved it since
    restored: bool = False  # a text that lacked it was merged, and it came back


class Evidence(NamedTuple):
    """The evidence about a save, other than its text."""

    unread: bool = False  # the note was not read since Brain's last write
    read: bool = False  # it was read
    age: float = 0.0  # seconds for which Brain's last write had stood, at least
    in_place: bool | None = None  # saved in place, or by rename; None if that is not known
    git: bool = False  # git has checked out another commit
    after_git: bool = False  # git has, and someone has saved since


class Outcome(NamedTuple):
    """The effects of an observation on guarded units of the head."""

    removed: tuple[str, ...] = ()  # by someone who had seen them
    restored: tuple[str, ...] = ()  # a stale window lacked them
    merged: tuple[str, ...] = ()  # units of the text that the head did not have


class History:
    """The versions of a note, its head, and the units that are guarded."""

    def __init__(
        self,
        versions: list[Version],
        tip: int,
        head: Edits,
        guards: Mapping[str, Guard],
    ) -> None:
        """`tip` is the number of the version in the note, `head` the edits that turn it into the
        head."""
        self.versions = versions
        self.guards = dict(guards)
        self._tip = next(v for v in versions if v.n == tip)
        self._head: Units | None = None
        self._head_edits = head
        self._known: set[str] | None = None
        self._was_deliberate = False  # the last text was a deliberate deletion

    @classmethod
    def start(cls, units: Units, at: float = 0.0) -> History:
        """Return the history of a note that Brain has not written yet."""
        return cls([Version(0, units, at=at)], 0, [], {})

    @property
    def tip(self) -> Version:
        """The version in the note, as far as Brain knows."""
        return self._tip

    @tip.setter
    def tip(self, version: Version) -> None:
        self._head = self.head
        self._tip = version

    @property
    def head(self) -> Units:
        """The text that should be in the note."""
        if self._head is None:
            self._head = apply_edits(self._tip.units, self._head_edits)
        return self._head

    @head.setter
    def head(self, units: Units) -> None:
        self._head = units

    @property
    def head_edits(self) -> Edits:
        """The edits that turn the tip into the head."""
        return self._head_edits if self._head is None else edits(self._tip.units, self._head)

    @property
    def is_written(self) -> bool:
        """True if the note holds the head."""
        if self._head is None:
            return not self._head_edits
        return self._head is self._tip.units or self._head == self._tip.units

    @property
    def last_written(self) -> Version:
        """The last version that Brain wrote; the first version if Brain wrote none."""
        return next((v for v in reversed(self.versions) if v.written), self.versions[0])

    def version(self, n: int) -> Version | None:
        return next((v for v in self.versions if v.n == n), None)

    def at_most(self, n: int) -> Version:
        """Return the last version whose number is not greater."""
        return next((v for v in reversed(self.versions) if v.n <= n), self.versions[0])

    @property
    def next(self) -> int:
        return self.versions[-1].n + 1

    @property
    def known_units(self) -> set[str]:
        """All units of the versions and their ids. A text with one of them got it from this
        note."""
        if self._known is None:
            self._known = set()
            self._know(self.versions[0].units)
            for version in self.versions[1:]:
                self._know(unit for *_, units in version.changes for unit in units)
            self._know(self.guards)
        return self._known

    def _know(self, units: Iterable[str]) -> None:
        if self._known is not None:
            for unit in units:
                self._known.add(unit)
                if id := unit_id(unit):
                    self._known.add(id)

    # -- which version a text was edited from ------------------------------------------------------

    def undone(self, theirs: Units, near: Version) -> list[str]:
        """Return the guarded units that have the guarded state in `near` but not in a text."""
        was, there = set(near.units), set(theirs)
        return [
            unit
            for unit, guard in self.guards.items()
            if guard.present == (unit in was) != (unit in there)
        ]

    def base(self, theirs: Units, near: Version, evidence: Evidence, in_note: bool) -> Version:
        """Return the version from which a text was most plausibly edited. `near` is the version
        that was in its place before."""
        self._was_deliberate = False
        gone = self._deletion
        if evidence.git or not (self.guards or gone):
            return near  # alone, or git
        undone, head = self.undone(theirs, near), set(self.head)
        if gone:  # deleted note
            head.update(self.at_most(gone.base).units)
        same = [v for v in self.versions if v.units == theirs and v is not near]
        if same:
            self._was_deliberate = self._is_deliberate(same, undone, evidence)
        else:
            self._was_deliberate = self._is_deleted_again(theirs, near, evidence)
        if self._was_deliberate:
            return near  # deliberate deletion
        unread = evidence.unread and bool(undone)  # who appends without reading undoes nothing
        # a program may open the note before Brain's write and read it after that
        settled = evidence.age >= READING
        young = self._young(evidence)
        pasted = self._pasted(theirs, near)
        last_saves = self._last_saves
        wrote = max((v.n for v in self.versions if v.written and v.n <= near.n), default=-1)
        best, least = near, float("inf")
        delta = difference(self.versions[-1].units, theirs)
        later: Version | None = None
        for version in reversed(self.versions):
            if later:
                delta = _add(delta, later)
            later = version
            if version.n > near.n and (version.written or not in_note):
                continue  # late save: it cannot have seen what came after it was displaced
            if undone and version.unread and settled:
                continue  # no window has seen it
            if unread and wrote >= 0 and (version.n == wrote or version.base >= wrote):
                continue  # no window has seen its base
            is_near = version is near
            # stale window, another device: it goes on from what it has saved or loaded
            cost = 0.0 if is_near else LAST_SAVE if version in last_saves else OLDER
            cost += self._cost(
                version, is_near, delta, head, young, pasted, evidence.in_place, least
            )
            if cost < least:
                best, least = version, cost
        return best

    @property
    def _last_saves(self) -> list[Version]:
        """The versions from which no other was edited: the last save of each window."""
        continued = {v.base for v in self.versions}
        return [v for v in self.versions if not v.written and v.n not in continued]

    def _is_deliberate(self, same: list[Version], undone: list[str], evidence: Evidence) -> bool:
        """Return True if an earlier text was restored exactly and on purpose: it undoes only a
        little, and someone has read the note since, or the same text was restored before."""
        if evidence.unread:
            return False
        born = max((self.guards[unit].n for unit in undone), default=-1)
        again = any(v.undid and v.n >= born for v in same) and evidence.age >= STOOD_AGAIN
        seen = evidence.read and evidence.age >= STOOD and len(undone) <= FEW
        return again or (seen and not self._is_indexed)

    @property
    def _is_indexed(self) -> bool:
        """True if some program read what Brain wrote, and another one saved an older text. Then a
        read says nothing about who saves."""
        read = [v.n for v in self.versions if v.written and not v.unread and v is not self.tip]
        saved = (v for v in self.versions if not v.written and not v.git)
        return any(v.base < n < v.n for v in saved for n in read)

    def _is_deleted_again(self, theirs: Units, near: Version, evidence: Evidence) -> bool:
        """Return True if a text is new and is the tip without some units that were restored before.
        So its writer had all other units in the same order. A stale window, which did not have
        the restored units, also saves such a text if it removes a unit that the head lacks."""
        if evidence.age < STOOD_AGAIN or evidence.unread:
            return False
        there = set(theirs)
        gone = {u for u, count in difference(near.units, theirs).items() if count < 0 and u.strip()}
        stale = (set(v.units) for v in self._last_saves if v is not near and not v.undid)
        if any(there <= units and len(gone - units) > FEW for units in stale):
            return False
        if not all((guard := self.guards.get(unit)) and guard.restored for unit in gone):
            return False
        left = [unit for unit in near.units if unit.strip() and unit not in gone]
        return bool(gone) and left == [unit for unit in theirs if unit.strip()]

    def _cost(
        self,
        base: Version,
        near: bool,
        delta: dict[str, int],
        head: set[str],
        young: set[str],
        pasted: set[str],
        in_place: bool | None,
        most: float,
    ) -> float:
        """Return the cost of these differences of a text from its base. If it is more than `most`,
        any greater number may be returned."""
        gone = [u for u, count in delta.items() if u.strip() for _ in range(-count)]
        new = [u for u, count in delta.items() if u.strip() for _ in range(count)]
        ids = {unit_id(u) for u in gone}
        foreign = {u for u in new if len(u) > 3 and self._is_known(u, ids)}
        total = sum(self._cost_of_more(u, base, pasted) for u in new if u in foreign)
        if total > most:
            return total  # informed edit: a later version has all that the text has
        own = base.own if _is_same_way(base, in_place) else frozenset()
        costs = {u: _cost_of_lack(u, base, near, own, head) for u in gone}
        for unit in new:
            if unit in foreign:
                continue
            old = [o for o in gone if o not in young]
            found = [(REWORDED * (1 - like), o) for o in old if (like := likeness(o, unit))]
            cost, reworded = min(found, default=(ADDED, ""))
            if reworded:  # own line reworded, or another one
                cost = min(cost, costs[reworded] + ADDED)
                gone.remove(reworded)
            total += cost
        if base.new and not near and base.new <= set(gone):
            total += NOTHING_LEFT  # it may be another window's text
        return total + sum(costs[u] for u in gone)

    def _cost_of_more(self, unit: str, base: Version, pasted: set[str]) -> float:
        """Return the cost of a known unit that is in the text but not in the base."""
        if unit in base.own:
            return RETURNED
        guard = self.guards.get(unit)
        is_gone = guard and guard.seen and not guard.present
        return PASTED if is_gone or unit in pasted else KNOWS_MORE  # cut and paste

    def _pasted(self, theirs: Units, near: Version) -> set[str]:
        """Return the units that Brain restored because a window had cut them, and that the window
        may have pasted since: the text has units in another order than `near`."""
        there = set(theirs)
        units = {u for u, g in self.guards.items() if g.present and g.restored and u in there}
        return units if units and moved(near.units, theirs) else set()

    def _young(self, evidence: Evidence) -> set[str]:
        """Return the units that appeared so shortly before a save that it cannot have reworded
        them, unless the note was read in between."""
        if evidence.read:
            return set()
        saved = self.last_written.at + evidence.age
        old = {v.n for v in self.versions if saved - v.at >= YOUNG}
        return {u for u, g in self.guards.items() if g.present and not g.seen and g.n not in old}

    def _is_known(self, unit: str, reworded: set[str]) -> bool:
        id = unit_id(unit)
        return unit in self.known_units or bool(
            id and id in self.known_units and id not in reworded
        )

    # -- what changes it ---------------------------------------------------------------------------

    def observe(
        self, theirs: Units, near: Version, evidence: Evidence, in_note: bool, at: float = 0.0
    ) -> Outcome:
        """Merge a saved text into the head. `in_note` is False for a displaced file. `near` is the
        version that was in its place before."""
        base = self.base(theirs, near, evidence, in_note)
        seen = self._units_seen(base, theirs, evidence)
        if evidence.after_git:  # after git
            seen = self._but_guarded(near.units, theirs)
        head = self.head
        gone = self._deletion
        if gone and base.n < gone.n:  # deleted note
            head = merge((), self.at_most(gone.base).units, head)
        head = merge(seen, head, theirs)
        if head not in (theirs, self.head):
            typed = {unit for v in self.versions if not v.written for unit in v.new}
            head = one_per_id(head, theirs, self.known_units, typed)
        was, there, now = Counter(base.units), Counter(theirs), Counter(head)
        before = Counter(self.head)
        touched = frozenset((was - there) | (there - was))
        own = self._own(base, near, theirs, touched)
        # deleted note: a text with entries was not edited from the empty one
        if evidence.git and not any(theirs):
            own = frozenset(unit for unit in own if unit.startswith("#"))
        version = Version(
            self.next, theirs, at=at, base=base.n, own=own, new=frozenset(there - was),
            undid=in_note and any(now[unit] > there[unit] for unit in near.units), git=evidence.git,
            previous=self.versions[-1],
        )  # fmt: skip
        if base is near and in_note and theirs[: len(near.units) - 1] == near.units[:-1]:
            version.own, version.base = frozenset(), near.base  # append, perhaps without reading
        version.in_place = evidence.in_place
        if any(unit.strip() and unit not in self.known_units for unit in there - was):
            version.undid = False  # it was more than a deletion
        self._append(version)
        removed = self._end_guards(now, there)
        restored = self._mark_restored(u for u in now if u not in there)
        if head != theirs or not in_note:  # it will be written: other windows do not have it
            for unit in now - there:
                self._guard(unit, True, version.n)
            for unit in there - now:
                self._guard(unit, False, version.n)
            for unit in touched:
                if unit in now or unit in was:
                    self._guard(unit, unit in now, version.n, seen=in_note)
        self.head = head
        if in_note:
            self.tip = version
        self._trim()
        stale = base is not near or not in_note
        return Outcome(removed, restored, tuple(u for u in now - before if u.strip() and stale))

    def _units_seen(self, base: Version, theirs: Units, evidence: Evidence) -> Units:
        """Return the units of the base that the writer of a text has seen. The base may contain the
        work of two writers. A window that saves in another way than the base was saved has seen
        only the work of the first writer."""
        if not self.guards or evidence.git or base.written:
            return base.units
        if self._was_deliberate or _is_same_way(base, evidence.in_place):
            return base.units
        there, whole = set(theirs), set(base.units)
        if base.new and base.new <= there:
            return base.units  # it has what the second writer added
        before = self.version(base.base) if None not in (base.in_place, evidence.in_place) else None
        old = [u for u in before.units if u.strip() and u in there] if before else []
        old = [unit for unit in old if unit not in whole]
        if not old and base.in_place is not None:
            return base.units  # nothing says that it has not seen the whole version
        return (*(u for u in base.units if u in there or u not in base.new), *old)

    @property
    def _deletion(self) -> Version | None:
        """The version in which the whole note was deleted, if no text from before it has restored
        the note since."""
        gone = next((v for v in reversed(self.versions) if v.git and not any(v.units)), None)
        if gone and any(v.base < gone.n < v.n and not v.written for v in self.versions):
            return None
        return gone

    def _but_guarded(self, units: Units, theirs: Units) -> Units:
        """Return a base from which a text differs in all its changes except those of guarded
        units."""
        there = set(theirs)
        guards = {u: guard for u, guard in self.guards.items() if guard.present != (u in there)}
        return (*(u for u in units if u not in guards), *(u for u in guards if u in there))

    def _own(
        self, base: Version, near: Version, theirs: Units, touched: frozenset[str]
    ) -> frozenset[str]:
        """Return the units that the window of a text may have added or removed."""
        lacks = [u for u, count in difference(theirs, near.units).items() if count > 0]
        unseen = {u for u in lacks if (guard := self.guards.get(u)) and not guard.seen}
        own = touched | (set(lacks) - unseen)
        return own if base.written else own | base.own

    def _end_guards(self, head: Counter[str], theirs: Counter[str]) -> tuple[str, ...]:
        """End the guards that the new head contradicts, and return the units that were present."""
        removed: list[str] = []
        for unit, guard in list(self.guards.items()):
            if guard.present != (head[unit] > 0):
                del self.guards[unit]
                removed += [unit] if guard.present else []
            elif guard.present == (theirs[unit] > 0) and not guard.seen:
                self.guards[unit] = guard._replace(seen=True)
        return tuple(removed)

    def _mark_restored(self, units: Iterable[str]) -> tuple[str, ...]:
        """Return the guarded units among these that are restored for the first time."""
        restored: list[str] = []
        for unit in units:
            guard = self.guards.get(unit)
            if guard and guard.present and guard.n and not guard.restored:
                self.guards[unit] = guard._replace(restored=True)
                restored.append(unit)
        return tuple(restored)

    def change(self, head: Units) -> None:
        """Apply an agent's change to the head."""
        for unit, count in difference(self.head, head).items():
            if count > 0:
                self._guard(unit, True, 0)
            elif unit not in head:
                self._guard(unit, False, 0)
        self.head = head

    def write(self, at: float = 0.0) -> Version:
        """Return a version for the head, before it is written."""
        version = Version(self.next, self.head, at=at, written=True, previous=self.versions[-1])
        last = next((v for v in reversed(self.versions) if v.written or v.git), self.versions[0])
        for unit, count in difference(last.units, self.head).items():
            if count > 0:  # what others saved since the last write is protected, too
                self._guard(unit, True, version.n, seen=True)
            elif unit not in self.head:
                self._guard(unit, False, version.n, seen=True)
        for unit, guard in self.guards.items():
            if not guard.n:
                self.guards[unit] = guard._replace(n=version.n)
        self._append(version)
        self._trim()
        return version

    def _append(self, version: Version) -> None:
        self.versions.append(version)
        if self._known is not None:
            self._know(unit for *_, units in version.changes for unit in units)

    def _guard(self, unit: str, present: bool, n: int, seen: bool = False) -> None:
        old = self.guards.get(unit)
        if unit.strip() and (not old or old.present != present):
            self.guards[unit] = Guard(n, present, seen)
            self._know((unit,))

    def _trim(self) -> None:
        """Keep the oldest version, the last ones, and at most every second one between them. Drop
        those first that lose no unit. An older base keeps at least as many units."""
        if len(self.versions) <= KEEP:
            return
        spare: list[Version] = []
        old = (self.versions[i : KEEP // 2 + i] for i in range(3))
        for before, version, later in zip(*old, strict=True):
            added = {unit for *_, units in version.changes for unit in units}
            if before not in spare and version is not self.tip and added <= set(later.units):
                spare.append(version)
        if len(spare) < KEEP // 8:
            spare = [v for v in self.versions[1 : KEEP // 2 : 2] if v is not self.tip]
        self._keep([v for v in self.versions if v not in spare])

    def forget_before(self, time: float) -> None:
        """Drop the versions before a time, and their guards."""
        kept = [v for v in self.versions if v.at >= time or v is self.tip]
        if len(kept) < len(self.versions):
            self._keep(kept)
            first = kept[0].n
            self.guards = {u: g for u, g in self.guards.items() if not g.n or g.n >= first}

    def scrub(self, is_gone: Callable[[str], bool]) -> None:
        """Remove units from all versions except the tip."""
        before: Version | None = None
        for version in self.versions:
            kept = version.units
            if version is not self.tip:
                kept = tuple(unit for unit in kept if not is_gone(unit))
            version.own = frozenset(unit for unit in version.own if not is_gone(unit))
            version.new = frozenset(unit for unit in version.new if not is_gone(unit))
            version.replace(kept, before)
            before = version
        self.guards = {u: g for u, g in self.guards.items() if not is_gone(u)}
        self._known = None

    def _keep(self, versions: list[Version]) -> None:
        if versions[0] is not self.versions[0]:
            versions[0].follow(None)
        for before, version in pairwise(versions):
            version.follow(before)
        self.versions = versions


def _is_same_way(base: Version, in_place: bool | None) -> bool:
    """Return True if the window that saved a version may have saved this text. Return False if it
    is unknown how the version or the text was saved."""
    return in_place is not None and in_place == base.in_place


def _cost_of_lack(
    unit: str, base: Version, near: bool, own: frozenset[str], head: set[str]
) -> float:
    """Return the cost of a unit that is in the base but not in the text."""
    if unit not in own:
        return LACKS if unit in head else LACKS_GONE
    if near:
        return LACKS_TIP
    return LACKS_NEW if unit in base.new else LACKS_GONE


def _add(delta: dict[str, int], later: Version) -> dict[str, int]:
    """Return the difference between a text and the version before `later`."""
    before = later.previous.units if later.previous else ()
    out = dict(delta)
    for start, stop, units in later.changes:
        for unit in units:
            out[unit] = out.get(unit, 0) + 1
        for unit in before[start:stop]:
            out[unit] = out.get(unit, 0) - 1
    return {unit: count for unit, count in out.items() if count}
