"""The write door: an actor's deeds are checked, redacted, promised and carried out.

The order: may the actor do this, redact, log the intent (on the disk: from here on it survives
`kill -9`), edit the text, let the new file and the old one change places, append to the journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from brain import access, lock
from brain.access import PERSON, Actor
from brain.changes import Deed, Done, Edited
from brain.config import Config
from brain.errors import BrainError, Busy, Denied, NotFound, StaleFile
from brain.intents import Intent, Log, Open
from brain.journal import Journal, event_id
from brain.redact import redact_value
from brain.store import crash, place, settling, writing
from brain.store.place import Text
from brain.vault import git
from brain.vault.layout import Vault

LOCK_WAIT = 30.0  # s
Plan = dict[str, tuple[Text, Edited]]


class Outcome(NamedTuple):
    """What became of a deed: `written`, or `pending` while a person types or git is at work."""

    deed: Deed
    state: str
    done: Done | None = None


class Store:
    """The write door of one vault on this machine."""

    def __init__(self, vault: Vault, config: Config, journal: Journal) -> None:
        self.vault, self.config, self.journal = vault, config, journal
        self.log = Log(f"{vault.state}/intents.jsonl")
        self.git = git.folder(str(vault.root))

    def apply(self, deeds: Sequence[Deed], by: Actor = PERSON, wait: float = 1.0) -> list[Outcome]:
        """Carry out deeds for an actor: all of them or, on an error, none.

        When this returns, they survive a crash. Raises Denied, NotFound for an entry that is gone,
        Refused for a file that cannot be edited safely, and BrainError when the disk will not take
        it; then every file is as it was.
        """
        for deed in deeds:
            self._allow(by, deed)
        deeds = [self._redacted(deed)._replace(id=deed.id or event_id()) for deed in deeds]
        with self.locked():
            crash.recover(self)
            plan = self._planned(deeds)
            intents = self._intents(plan, deeds, by)
            if not intents:
                self.journal.append([writing.entry(deed, by.name, by.session) for deed in deeds])
                return [Outcome(deed, "written") for deed in deeds]
            self.log.add(intents)
            found = self._promised(intents, plan)
        return self._outcomes(intents, found, wait)

    def drain(self) -> dict[str, Done]:
        """Carry out what waited, finish what a crash interrupted, settle what has stood long
        enough. Safe at any time, in any process; one stat call when there is nothing to do."""
        if self.log.empty():
            return {}
        with self.locked():
            crash.recover(self)
            found = writing.carry_out(self, {e.intent.path for e in self.open() if not e.state})
            settling.settle(self)
        return found

    def pending(self) -> list[Open]:
        """What is promised and not in its file yet."""
        if self.log.empty():
            return []
        with self.locked():
            self.log.refresh()
        return [entry for entry in self.open() if entry.state != "written"]

    def release(self, id: str, *, drop: bool = False) -> None:
        """Carry out, or drop, what is blocked because git moved on."""
        with self.locked():
            self.log.refresh()
            if id not in self.log.open:
                raise NotFound(f"Nothing is pending under {id}.", "See `brain pending`.")
            self.log.mark([id], "failed" if drop else "", time.time())
        self.drain()

    def open(self) -> list[Open]:
        """The intents that are not settled, as last read."""
        return list(self.log.open.values())

    # -- before the promise ----------------------------------------------------------------------

    def _allow(self, by: Actor, deed: Deed) -> None:
        self._refuse_when_off()
        owner = deed.data.get("agent", "")
        if deed.change:
            owner = place.role(self.vault, deed.change.path).agent
        if not access.may(by, "write", owner):
            whose = f"what belongs to {owner}" if owner else "this"
            raise Denied(f"{by.name} may not write {whose}.", "Ask the admin agent or a person.")

    def _refuse_when_off(self) -> None:
        if self.config.readOnly or not self.config.memory:
            setting = "readOnly" if self.config.readOnly else "memory"
            raise Denied(f"Writing is off: `{setting}` in brain.yaml.", "Change it to write.")
        if os.path.lexists(f"{self.vault.state}/paused"):
            raise Denied("Brain is paused: nothing is written.", "Run `brain resume`.")

    def _redacted(self, deed: Deed) -> Deed:
        change = deed.change
        if change:
            same = {"path": change.path, "ref": change.ref}
            change = type(change)(**{**self._clean(change._asdict()), **same})
        return deed._replace(change=change, data=self._clean(deed.data))

    def _clean(self, value: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = redact_value(value, emails=self.config.redactEmails)
        return clean

    def _planned(self, deeds: Sequence[Deed]) -> Plan:
        """How each file would look; raises for what cannot be done."""
        plan: Plan = {}
        for path in dict.fromkeys(deed.change.path for deed in deeds if deed.change):
            text = place.read(self.vault, path, self.config.maxFileSize)
            changes = [d.change for d in deeds if d.change and d.change.path == path]
            edited = place.edited(self.vault, path, text.data, changes)
            for done in edited.done:
                if done.outcome in ("missing", "changed"):
                    raise _impossible(done)
            plan[path] = text, edited
        return plan

    def _intents(self, plan: Plan, deeds: Sequence[Deed], by: Actor) -> list[Intent]:
        """One for each file; what is for the journal alone goes with the first."""
        head, now = git.head(self.git), time.time()
        intents: list[Intent] = []
        for path, (text, _) in plan.items():
            group = [d for d in deeds if (d.change.path == path if d.change else not intents)]
            id = event_id("i")
            temp = f".brain-{id}.tmp"
            intents.append(
                Intent(id, now, by.name, by.session, path, temp, text.digest, head, tuple(group))
            )
        return intents

    # -- after it --------------------------------------------------------------------------------

    def _promised(self, intents: Sequence[Intent], plan: Plan) -> dict[str, Done]:
        """Keep the promise at once if that is possible; after an error nothing was promised."""
        try:
            return writing.carry_out(self, [intent.path for intent in intents], plan)
        except (OSError, BrainError):
            with suppress(OSError):
                self.log.mark(self._late(intents), "failed")
            raise

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
    def locked(self) -> Iterator[None]:
        """Keep other writers of this machine out of the way; swap and merge are the guarantee."""
        handle = lock.take(Path(self.vault.state) / "store.lock", LOCK_WAIT)
        if handle is None:
            raise Busy("Another Brain process is writing.", "Try again in a moment.")
        try:
            yield
        except OSError as error:
            where = error.filename or "The vault"
            raise BrainError(
                f"{where} cannot be written ({error.strerror or error}).",
                "Check the disk and the rights, then try again.",
            ) from error
        finally:
            os.close(handle)


def _impossible(done: Done) -> BrainError:
    change = done.change
    if done.outcome == "missing":
        return NotFound(f"{change.ref} is not in {change.path}.", "Was it removed meanwhile?")
    return StaleFile(f"{change.ref} was changed since.", "Look at it with `brain show`.")
