"""The write door: an actor's deeds are checked, redacted, promised and carried out.

The order: may the actor do this, redact, log the intent (on the disk: from here on it survives
`kill -9`), edit the text, let the new file and the old one change places, append to the journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from brain import access, lock
from brain.access import PERSON, Actor
from brain.changes import Change, Configure, Deed, Done, Edited, Insert, Replace
from brain.config import Config
from brain.errors import BadRequest, BrainError, Busy, Denied, NotFound, Refused, StaleFile
from brain.intents import Intent, Log, Open, Told
from brain.journal.codec import RESERVED, event_id
from brain.journal.writer import Journal
from brain.redact import redact_value
from brain.store import attempt, crash, over, place, settling, standing, writing
from brain.store.place import Text
from brain.vault import files
from brain.vault.layout import Vault

LOCK_WAIT = 30.0  # s
MAX_HOLD = 10.0  # s after which a write no longer waits for a person to pause
SETTLE_AFTER = 5.0  # s for which a write must stand: an editor with an older text saves by then
STUCK = 60.0  # s after which it is told why what is written cannot be settled
AWAY = "it was promised for another vault, which lay here before"
Plan = dict[str, tuple[Text, Edited]]
_KEPT = ("path", "ref", "expect", "over")  # of a change: these are not redacted
# What stood there before, or stands beside what is new: a person's addresses are left in it.
_STOOD: dict[type[Any], tuple[str, ...]] = {
    Replace: ("raw",),
    Insert: ("raw", "section"),
    Configure: ("value", "lines"),
}


class Outcome(NamedTuple):
    """What became of a deed: `written`, or `pending` while a person types or git is at work."""

    deed: Deed
    state: str
    done: Done | None = None


class Store:
    """The write door of one vault on this machine. `clock` is that by which its files get their
    times, for these are compared. `max_hold` and `settle_after` are seconds."""

    def __init__(
        self,
        vault: Vault,
        config: Config,
        journal: Journal,
        clock: Callable[[], float] = time.time,
        max_hold: float = MAX_HOLD,
        settle_after: float = SETTLE_AFTER,
    ) -> None:
        self.vault, self.config, self.journal, self.clock = vault, config, journal, clock
        self.max_hold, self.settle_after = max_hold, settle_after
        self.log = Log(f"{vault.state_path}/intents.jsonl", journal.lies_here)
        self.git = files.git_folder(vault.root_path)
        self.fresh: set[str] = set()  # intents that this call has logged: nobody else tried them

    def apply(
        self,
        deeds: Sequence[Deed],
        by: Actor = PERSON,
        wait: float = 1.0,
        unless: Callable[[str, bytes], bool] | None = None,
    ) -> list[Outcome]:
        """Carry out deeds for an actor: all of them or, on an error, none.

        When this returns, they survive a crash. Raises Denied, NotFound for an entry that is gone,
        Refused for a file that cannot be edited safely, StaleFile if `unless` says so of what a
        file holds now, and BrainError when the disk will not take it; then every file is as it was.
        """
        for deed in deeds:
            path = deed.change.path if deed.change else ""
            self.allow(by, path, deed.data.get("agent", ""))
        deeds = [self._redacted(deed)._replace(id=deed.id or event_id()) for deed in deeds]
        with self.locked():
            crash.recover(self)
            plan = self._planned(deeds)
            for path, (text, _) in plan.items():
                if unless and unless(path, text.data):
                    raise StaleFile(f"{path} was changed meanwhile.", "Look at it again.")
            deeds = over.expecting(self, deeds, plan)
            intents = self._intents(plan, deeds, by)
            if not intents:
                self._note(deeds, by)
                return [Outcome(deed, "written") for deed in deeds]
            self._promise(intents)
            self.fresh = {intent.id for intent in intents}
            found = self._keep(intents, plan)
        return self._outcomes(intents, found, wait)

    def drain(self, wait: float = LOCK_WAIT) -> dict[str, Done]:
        """Carry out what waited, finish what a crash interrupted, settle what has stood long
        enough. Safe at any time, in any process; one stat call when there is nothing to do. What
        cannot be done now is left for later; `pending` says why. Busy if another process writes
        for longer than `wait` seconds."""
        if self.log.empty():
            self.log.refresh()
            return {}
        if self._off():
            return {}
        with self.locked(wait):
            crash.recover(self)
            settling.catch_up(self)
            found = self._carry_out_all()
            settling.settle(self)
            self._end_away()
            self.log.trim()
        return found

    def _end_away(self) -> None:
        """What was written into another vault that lay here is no longer watched over once that
        is not back soon."""
        due = self.clock() - settling.OPEN_FOR
        for id, entry in list(self.log.away.items()):
            if _is_kept(entry) and entry.at <= due:
                self.log.mark([id], "done")

    def expunge(self, refs: Collection[str]) -> bool:
        """Settle now what was done to these entries, and leave none of its words in the log.
        False if that cannot be yet: another entry's change is to stand a little longer, or an
        editor has the file open that was displaced."""
        with self.locked():
            crash.recover(self)
            settling.catch_up(self)
            settling.settle(self, refs)
            self._fail([e for e in self.open() if e.state == "blocked" and _is_about(e, refs)])
            self._drop_away(refs)
            self.log.trim(0)
        entries = [*self.open(), *self.log.away.values()]
        return not any(deed.ref in refs for entry in entries for deed in entry.intent.deeds)

    def _drop_away(self, refs: Collection[str]) -> None:
        for id, entry in list(self.log.away.items()):
            if _is_about(entry, refs):
                self.log.mark([id], "failed")

    def pending(self) -> list[Open]:
        """What is promised and not in its file yet; what is, but cannot be settled; as blocked also
        what was promised for another vault that lay here."""
        if self.log.empty():
            return []
        with self.locked():
            self.log.refresh()
        away = [entry.blocked(AWAY) for entry in self.log.away.values() if not _is_kept(entry)]
        stuck = self.clock() - STUCK
        return [*away, *(entry for entry in self.log.open.values() if entry.waits(stuck))]

    def promised(self) -> dict[str, Callable[[bytes], bytes]]:
        """For each file that waits to be written, how its text will read. Takes no lock, so that
        a question need not wait for a writer."""
        self.log.refresh()
        paths = dict.fromkeys(e.intent.path for e in self.log.busy.values() if not e.state)
        return {path: partial(self._as_if, path, self._edits(path)) for path in paths}

    def _edits(self, path: str) -> list[Change]:
        """What waits to be done to a file."""
        deeds = [(entry, deed) for entry in self.waiting(path) for deed in entry.intent.deeds]
        return over.changes(self, path, deeds)

    def _as_if(self, path: str, edits: Sequence[Change], data: bytes) -> bytes:
        try:
            return place.edited(self.vault, path, data, edits).data
        except Refused:
            return data

    def release(self, id: str, *, drop: bool = False) -> None:
        """Carry out here, or drop, what is blocked: git moved on, somebody changed the entry, or it
        is another vault's."""
        with self.locked():
            crash.recover(self)
            entry, away = self.log.find(id), id in self.log.away
            if entry is None:
                raise NotFound(f"Nothing is pending under {id}.", "See `brain pending`.")
            if drop and away:
                self.log.mark([id], "failed")  # what it left beside a note is in the other vault
            elif drop:
                self._fail([entry])
            else:
                told: Told = {**attempt.anew(), "why": "", "over": over.as_it_is(self, entry)}
                if away:
                    told |= self._adopted()
                self.log.mark([id], "", self.clock(), **told)
        self.drain()

    def _adopted(self) -> Told:
        """What the log is to say of a promise for another vault that is to be kept here: nothing of
        what was done there."""
        home = self.journal.home(make=True)
        return {"home": home, "head": files.git_head(self.git), "did": {}, "left": [], "saved": [],
                "noted": False, "again": 0.0}  # fmt: skip

    def waiting(self, path: str) -> list[Open]:
        """The intents for a file that are not in it yet."""
        return [e for e in self.log.busy.values() if e.intent.path == path and not e.state]

    def open(self) -> list[Open]:
        """The intents that are not settled, as last read."""
        return list(self.log.open.values())

    # -- before the promise ----------------------------------------------------------------------

    def allow(self, by: Actor, path: str = "", owner: str = "") -> None:
        """Denied if the actor may not write this file, or what this agent owns."""
        self._refuse_when_off()
        if path:
            owner = place.role(self.vault, path).agent
        if not access.may(by, "write", owner):
            whose = f"what belongs to {owner}" if owner else "this"
            remedy = "Ask the admin agent or a person."
            if by.type == "project":
                remedy = f"To write its own memory, add `--agent {by.name}`."
            raise Denied(f"{by.name} may not write {whose}.", remedy)

    def _refuse_when_off(self) -> None:
        if self.config.readOnly or not self.config.memory:
            setting = "readOnly" if self.config.readOnly else "memory"
            raise Denied(f"Writing is off: `{setting}` in brain.yaml.", "Change it to write.")
        if self._off():
            raise Denied("Brain is paused: nothing is written.", "Run `brain resume`.")

    def _off(self) -> bool:
        off = self.config.readOnly or not self.config.memory
        return off or os.path.lexists(f"{self.vault.state_path}/paused")

    def _redacted(self, deed: Deed) -> Deed:
        change = deed.change
        if change:  # `expect` is compared with the note, and written nowhere
            values = change._asdict()
            same = {key: values.pop(key) for key in _KEPT if key in values}
            for key in _STOOD.get(type(change), ()):
                same[key] = redact_value(values.pop(key), emails=False)
            change = type(change)(**self._clean(values), **same)
        return deed._replace(change=change, data=self._clean(deed.data))

    def _clean(self, value: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = redact_value(value, emails=self.config.redactEmails)
        return clean

    def _planned(self, deeds: Sequence[Deed]) -> Plan:
        """How each file would look; raises for what cannot be done."""
        plan: Plan = {}
        for path in dict.fromkeys(deed.change.path for deed in deeds if deed.change):
            text = writing.read(self, path)
            changes = [d.change for d in deeds if d.change and d.change.path == path]
            edited = self._edited(path, text, changes)
            for done in edited.done[-len(changes) :]:
                if done.outcome in standing.UNDONE:
                    raise _impossible(done)
            plan[path] = text, edited
        return plan

    def _edited(self, path: str, text: Text, changes: list[Change]) -> Edited:
        """The file with what waits for it, and with these: they may build on that."""
        if before := self._edits(path):
            with suppress(Refused):
                return place.edited(self.vault, path, text.data, [*before, *changes])
        return place.edited(self.vault, path, text.data, changes)

    def _intents(self, plan: Plan, deeds: Sequence[Deed], by: Actor) -> list[Intent]:
        """One for each file; what is for the journal alone goes with the first."""
        head, home, now = files.git_head(self.git), self.journal.home(make=True), self.clock()
        intents: list[Intent] = []
        for path, (text, _) in plan.items():
            group = [d for d in deeds if (d.change.path == path if d.change else not intents)]
            told = by.name, by.session, path, attempt.temp(), text.digest, head, tuple(group), home
            intents.append(Intent(event_id("i"), now, *told))
        return intents

    def _note(self, deeds: Sequence[Deed], by: Actor) -> None:
        """What is for the journal alone is on the disk once it is in the journal."""
        _check_names(deeds)
        self.journal.append([writing.entry(self, deed, by.name, by.session) for deed in deeds])

    def _promise(self, intents: Sequence[Intent]) -> None:
        _check_names([deed for intent in intents for deed in intent.deeds])
        try:
            self.log.add(intents)
        except TypeError as error:
            raise BadRequest(f"This cannot be written down: {error}.", "Is it all text?") from None

    # -- after it --------------------------------------------------------------------------------

    def _keep(self, intents: Sequence[Intent], plan: Plan) -> dict[str, Done]:
        """Keep the promise at once if that is possible; after an error nothing was promised."""
        try:
            found = writing.carry_out(self, [intent.path for intent in intents], plan)
            self.log.secure()  # what must wait is promised, too
            return found
        except (OSError, BrainError):
            with suppress(OSError):
                self._take_back(intents)
            raise

    def _take_back(self, intents: Sequence[Intent]) -> None:
        late = [self.log.open[id] for id in self._late(intents)]
        self._fail([entry for entry in late if entry.left])
        self.log.retract([entry.intent for entry in late if not entry.left])
        for intent in intents:
            attempt.clear(self, intent)

    def _fail(self, entries: Sequence[Open]) -> None:
        """Nothing is to be done any more, but to look after displaced files."""
        for entry in entries:
            if entry.left:
                more: Told = {**attempt.OVER, "did": {}, "saved": [], "noted": True, "void": True}
                self.log.mark([entry.intent.id], "written", self.clock(), **more)
            else:
                self.log.mark([entry.intent.id], "failed")

    def _carry_out_all(self) -> dict[str, Done]:
        """Each file by itself; why one cannot be written is remembered."""
        found: dict[str, Done] = {}
        waiting = [entry for entry in self.log.busy.values() if not entry.state]
        for path in dict.fromkeys(entry.intent.path for entry in waiting):
            try:
                found |= writing.carry_out(self, [path])
            except (OSError, BrainError) as error:
                ids = [e.intent.id for e in waiting if e.intent.path == path and not e.state]
                with suppress(OSError):
                    self.explain(ids, str(error))
        return found

    def explain(self, ids: Sequence[str], why: str) -> None:
        """Remember why these wait, or cannot be settled."""
        for id in ids:
            entry = self.log.open[id]
            if entry.why != why:
                self.log.mark([id], entry.state, entry.at, why=why)

    def _outcomes(
        self, intents: Sequence[Intent], found: dict[str, Done], wait: float
    ) -> list[Outcome]:
        """Wait a little for a person to pause, then say what is written."""
        deadline = time.monotonic() + wait
        while self._late(intents) and time.monotonic() < deadline:
            time.sleep(0.05)
            found |= self.drain()
        late = self._late(intents)
        return [
            Outcome(deed, "pending" if intent.id in late else "written", found.get(deed.id))
            for intent in intents
            for deed in intent.deeds
        ]

    def _late(self, intents: Sequence[Intent]) -> set[str]:
        states = {intent.id: self.log.open.get(intent.id) for intent in intents}
        return {id for id, entry in states.items() if entry and entry.state != "written"}

    @contextmanager
    def locked(self, wait: float = LOCK_WAIT) -> Iterator[None]:
        """Keep other writers of this machine out of the way; swap and merge are the guarantee."""
        handle = lock.take(f"{self.vault.state_path}/store.lock", wait)
        if handle is None:
            raise Busy("Another Brain process is writing.", "Try again in a moment.")
        self.fresh = set()
        try:
            with self.log.held():
                yield
        except OSError as error:
            where = error.filename or "The vault"
            raise BrainError(
                f"{where} cannot be written ({error.strerror or error}).",
                "Check the disk and the rights, then try again.",
            ) from error
        finally:
            os.close(handle)


def _is_kept(entry: Open) -> bool:
    """Is a promise in its note, and on record?"""
    return entry.state == "written" and (entry.noted or entry.void)


def _is_about(entry: Open, refs: Collection[str]) -> bool:
    """Is a promise about these entries alone?"""
    return all(deed.ref in refs for deed in entry.intent.deeds)


def _check_names(deeds: Sequence[Deed]) -> None:
    for deed in deeds:
        if taken := deed.data.keys() & RESERVED:
            raise BadRequest(f"The journal has its own {', '.join(sorted(taken))}.")


def _impossible(done: Done) -> BrainError:
    change = done.change
    if done.outcome == "missing":
        return NotFound(f"{change.ref} is not in {change.path}.", "Was it removed meanwhile?")
    return StaleFile(f"{change.ref} was changed since.", "Look at it with `brain show`.")
