"""The critical section of a write.

The steps, under the lock of the vault: merge every text that appeared in a note, edit the head,
commit the change to state.db (after this, it survives `kill -9`), exchange the files, and append to
the journal. The caller updates the index before the lock is released. If a change has to wait,
because a person is typing or a git command runs, it is kept in the head, and a later process writes
it to the note.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any, NamedTuple

from brain import access, lock
from brain.access import PERSON, Actor
from brain.config import Config
from brain.errors import BadRequest, BrainError, Busy, Denied, NotFound, Refused, StaleFile
from brain.formats import edit
from brain.formats.text import digest, to_bytes, to_text
from brain.journal.codec import (
    RESERVED,
    change_from_json,
    change_to_json,
    event_id,
    random_letters,
)
from brain.journal.writer import Journal
from brain.model import (
    Applied,
    Change,
    Configure,
    EditedFile,
    Insert,
    NewRecord,
    Replace,
    Write,
)
from brain.redact import redact_value
from brain.state import NoteRow, PendingRow, State, TempRow
from brain.store import journaling, merge
from brain.store.hold import MAX_HOLD
from brain.store.note import ROUNDS, TEMP, Note
from brain.vault import files, layout
from brain.vault.exchange import Disk
from brain.vault.layout import Role, Vault

LOCK_WAIT = 30.0  # seconds
FEEDBACK = ("reinforce", "demote")  # allowed on everything that the actor may read
_KEPT = ("path", "ref", "expect")  # of a change: these are not redacted
# Text of the note around a change: e-mail addresses in it are not redacted.
_STOOD: dict[type[Any], tuple[str, ...]] = {
    Replace: ("raw",),
    Insert: ("raw", "section"),
    Configure: ("value", "lines"),
}


class Outcome(NamedTuple):
    """The result of a write: `written`, or `pending` while a person types or a git command runs."""

    write: Write
    state: str
    done: Applied | None = None


class Pending(NamedTuple):
    """A change that is acknowledged and not in its note yet."""

    write: Write
    at: float
    by: str
    path: str
    why: str


class Orphan(NamedTuple):
    """A temporary file that state.db does not list, its note, and the lines that the note lacks."""

    name: str
    path: str
    lines: tuple[str, ...]


class Store:
    """The files of one vault on this machine, for writing."""

    def __init__(
        self,
        vault: Vault,
        config: Config,
        journal: Journal,
        state: State,
        disk: Disk | None = None,
        read_only: bool = False,
    ) -> None:
        self.vault, self.config, self.journal, self.state = vault, config, journal, state
        self.disk = disk or Disk()
        self.read_only = read_only
        self.git = files.git_folder(vault.root_path)
        # next to brain.db, so that a container and its host use the same lock
        self._lock_path = f"{layout.database(vault, config.dbPath)}-write"
        self.max_hold = MAX_HOLD
        self._depth = 0  # number of nested `locked` blocks
        self._handle = -1  # file descriptor of the lock; -1 if it is not held
        self._notes: dict[str, Note] = {}  # notes that were read since the lock was taken

    # -- the lock ----------------------------------------------------------------------------------

    @contextmanager
    def locked(self, wait: float = LOCK_WAIT) -> Iterator[None]:
        """Lock the vault against other writers on this machine. Blocks may be nested. Raise Busy if
        another process is still writing after `wait` seconds. The lock only saves merges: without
        it, exchange and merge would still lose no text."""
        if not self._depth:
            self._take_lock(wait)
        self._depth += 1
        try:
            yield
        except OSError as error:
            where = error.filename or "The vault"
            raise BrainError(
                f"{where} cannot be written ({error.strerror or error}).",
                "Check the disk and the permissions, then try again.",
            ) from error
        finally:
            self._depth -= 1
            if not self._depth:
                self._release_lock()

    def _take_lock(self, wait: float) -> None:
        handle = lock.take_in_turn(self._lock_path, wait)
        if handle is None:
            raise Busy("Another Brain process is writing.", "Try again in a moment.")
        id = layout.vault_id(self.vault.folder_path)
        if id != self.vault.id and self.vault.id:
            os.close(handle)
            root = self.vault.root_path
            raise BrainError(f"Another vault is at {root} now.", "Open the vault again.")
        self._handle = handle
        self.vault = self.vault._replace(id=id)  # another process may have named it

    def _release_lock(self) -> None:
        self._notes.clear()
        if self._handle >= 0:  # else `wait` could not lock the vault again
            os.close(self._handle)
        self._handle = -1

    @property
    def is_locked(self) -> bool:
        return self._depth > 0

    # -- texts that appeared -----------------------------------------------------------------------

    def _needs_look(self, row: NoteRow) -> bool:
        return bool(row.due) or self.disk.stamp(f"{self.vault.root_path}/{row.path}") != row.looked

    def absorb(self, wait: float = LOCK_WAIT) -> None:
        """Merge the texts that appeared in notes, apply pending writes, and record them."""
        if self.paused():
            return
        with self.locked(wait):
            for row in self.state.rows(NoteRow):
                if row.path not in self._notes and self._needs_look(row):
                    self._absorb(row.path)
            self._append_records()

    def _absorb(self, path: str) -> None:
        try:
            note = self.note(path)
            self._write(note)
        except (Refused, OSError) as error:  # the others can still be written
            why = getattr(error, "strerror", None) or str(error)
            rows = self.state.rows(NoteRow, path=path)
            self.state.save([row._replace(why=why) for row in rows])

    def note(self, path: str) -> Note:
        """Return a note. It is read once while the lock is held."""
        if path not in self._notes:
            note = self._load(path)
            note.look()
            self._save(note)
            self._notes[path] = note
        return self._notes[path]

    def _load(self, path: str) -> Note:
        full = self.vault.real_path(path)
        return Note(path, full, self.state, self.disk, self.git)

    def _save(self, note: Note) -> None:
        """Save a note, with records of the entries that were merged, restored and removed."""
        assert note.history is not None
        if note.is_new:
            return
        seen, note.seen = note.seen, []
        rows = [
            _pending_row(self.disk.now(), record.path, record.by, "", _write_of(record), None)
            for one in seen
            for record in journaling.of_observation(self.vault, note, one)
        ]
        with self.state.transaction():
            note.save()
            self.state.save(rows)

    def heads(self) -> dict[str, Callable[[bytes], bytes]]:
        """Return for each note with a pending write a function that turns its text into the head.
        This takes no lock, so that a question does not wait for a writer."""
        return {row.path: partial(self._head, row) for row in self.state.rows(NoteRow) if row.head}

    def _head(self, row: NoteRow, data: bytes) -> bytes:
        theirs = merge.split(to_text(data))
        mark = digest(data).hex()
        if mark != row.digest:  # another text has appeared, and is not merged yet
            note = self._load(row.path)
            assert note.history is not None
            if note.is_half(mark):
                return note.data
            merged = merge.merge(note.history.tip.units, note.head, theirs)
            return to_bytes(merge.join(merged))
        return to_bytes(merge.join(merge.apply_edits(theirs, json.loads(row.head))))

    # -- changes -----------------------------------------------------------------------------------

    def apply(
        self,
        writes: Sequence[Write],
        by: Actor = PERSON,
        exact: Mapping[str, bytes | None] | None = None,
    ) -> list[Outcome]:
        """Apply writes for an actor. On an error, no write is applied. When this returns, the
        writes survive a crash. `exact` has the intended texts of files after the writes; None for
        no file.

        Raises Denied, NotFound for an entry that is gone, StaleFile for an entry that is not what a
        change expects, and Refused for a file that cannot be edited safely.
        """
        for write in writes:
            action = "read" if write.op in FEEDBACK else "write"
            owner = write.data.get("agent", "")
            self.allow(by, write.change.path if write.change else "", owner, action)
        writes = [self._redacted(write)._replace(id=write.id or event_id()) for write in writes]
        _check_names(writes)
        with self.locked():
            paths = dict.fromkeys(write.change.path for write in writes if write.change)
            before = {path: self.note(path).text for path in paths}
            try:
                done = self._edit(writes, exact or {})
                if all(_changes_nothing(write, done.get(write.id)) for write in writes):
                    return [Outcome(write, "unchanged", done.get(write.id)) for write in writes]
                writes = self._with_splices(writes, before)
                temps = self._commit(writes, done, by)
            except BaseException:
                self._notes.clear()  # their heads may be changed, and that is not acknowledged
                raise
            with suppress(OSError, BrainError):  # acknowledged: a later process finishes it
                for path, temp in temps.items():
                    self._write(self._notes[path], temp)
                self._append_records({write.id for write in writes})
            return [
                Outcome(
                    write, "written" if self._is_written(write) else "pending", done.get(write.id)
                )
                for write in writes
            ]

    def wait(self, outcomes: Sequence[Outcome], seconds: float) -> list[Outcome]:
        """Wait until these changes are in their notes, or until the time limit. Release the lock
        while waiting."""
        deadline = time.monotonic() + seconds
        waiting = {outcome.write.id for outcome in outcomes if outcome.state == "pending"}
        while waiting and time.monotonic() < deadline:
            depth, self._depth = self._depth, 0
            self._release_lock()
            time.sleep(0.05)
            try:
                self._take_lock(float("inf"))  # Busy would deny changes that are acknowledged
            finally:
                self._depth = depth
            self.absorb()
            waiting &= {pending.write.id for pending in self.pending()}
        return [
            one
            if one.write.id in waiting or one.state != "pending"
            else one._replace(state="written")
            for one in outcomes
        ]

    def _is_written(self, write: Write) -> bool:
        return write.change is None or self._notes[write.change.path].is_written

    def _edit(
        self, writes: Sequence[Write], exact: Mapping[str, bytes | None]
    ) -> dict[str, Applied]:
        """Change the heads of notes. Return the result of each write, by id."""
        out: dict[str, Applied] = {}
        texts: dict[str, bytes] = {}
        for path in dict.fromkeys(write.change.path for write in writes if write.change):
            note = self.note(path)
            note.refuse_unsafe(self.config)
            mine = [write for write in writes if write.change and write.change.path == path]
            before = note.data
            edited = self.edited(path, before, _changes(mine))
            for write, one in zip(mine, edited.done, strict=True):
                if one.outcome in journaling.UNDONE:
                    raise _impossible(one)
                out[write.id] = one
            texts[path] = exact.get(path, edited.data) or b""
        for path, data in texts.items():  # nothing is changed if one of them is refused
            self._notes[path].change(to_text(data))
            self._notes[path].goes = exact.get(path, data) is None
        return out

    def edited(self, path: str, data: bytes, changes: Iterable[Change]) -> EditedFile:
        """Return the bytes of a file after changes, and the result of each."""
        role = self.vault.writable_role(path)
        return edit(role.format, path, data, list(changes), role.agent)

    def _with_splices(self, writes: Sequence[Write], before: Mapping[str, str]) -> list[Write]:
        """Add the exact change of each file to the records, so that `undo` restores it exactly. The
        writes must be one change with all its parts."""
        if sum("part_of" not in write.data for write in writes) != 1:
            return list(writes)
        out, todo = [], dict(before)
        for write in sorted(writes, key=lambda write: "part_of" in write.data):
            if write.change and (text := todo.pop(write.change.path, None)) is not None:
                note = self._notes[write.change.path]
                splice = journaling.splice(text, note.text)
                if splice and note.found is None and not text:
                    splice["splice"]["new"] = True
                write = write._replace(data=write.data | splice)
            out.append(write)
        order = {write.id: number for number, write in enumerate(writes)}
        return sorted(out, key=lambda write: order[write.id])

    def _commit(
        self, writes: Sequence[Write], done: Mapping[str, Applied], by: Actor
    ) -> dict[str, TempRow]:
        """Commit the changes, so that they survive a crash. Return the temporary file of each note
        that this commit begins to write."""
        now = self.disk.now()
        paths = dict.fromkeys(write.change.path for write in writes if write.change)
        rows = [
            _pending_row(
                now, write.change.path if write.change else "", by.name, by.session, write,
                done.get(write.id),
            )
            for write in writes
        ]  # fmt: skip
        temps: dict[str, TempRow] = {}
        with self.state.transaction(durable=True):
            self.state.save(rows)
            for note in (self._notes[path] for path in paths):
                if not note.is_written and not self._hold(note):
                    _refuse_unwritable(note.folder)
                    temps[note.path] = note.begin()
                else:
                    note.save()
        return temps

    def _write(self, note: Note, temp: TempRow | None = None) -> None:
        """Write the head until it is in the note or has to wait."""
        for _ in range(ROUNDS):
            if temp is None:
                if note.is_written or self._hold(note):
                    break
                with self.state.transaction(durable=True):
                    temp = note.begin()
            try:
                note.finish(temp)
            except OSError as error:
                note.wait = f"{error.strerror or error}"
                break
            temp = None
            note.look()
        else:
            note.wait = "the note keeps changing"
        self._save(note)

    def _hold(self, note: Note) -> str:
        """Return the reason why a note must not be written now, and store it in the note; '' if it
        may be written."""
        if not note.wait:
            note.wait = note.hold_reason(self.config, self.max_hold)
        return note.wait

    # -- records -----------------------------------------------------------------------------------

    def _append_records(self, fresh: Collection[str] = ()) -> None:
        """Append the records of pending changes that are in their notes. A process that was killed
        may have appended some of them already."""
        rows = [
            row for row in self.state.rows(PendingRow) if not row.done or self._is_done(row.path)
        ]
        if not rows:
            return
        older = [row.id for row in rows if row.id not in fresh]
        there = self.journal.has(older) if older else set()
        read = [(row, *_from_row(row)) for row in rows]
        last = {(row.path, write.ref): done for row, write, done in read if row.done}
        gone = {key for key, done in last.items() if not self._stands(key[0], done)}
        new = [
            journaling.of_overwritten(write, row.path, self.config.redactEmails)
            if row.done and (row.path, write.ref) in gone
            else journaling.of_write(write, row.path, row.by, row.session, done)
            for row, write, done in read
            if row.id not in there
        ]
        self.journal.append(new)
        with self.state.transaction():
            for row in rows:
                self.state.delete(PendingRow, seq=row.seq)
            for path in dict.fromkeys(row.path for row in rows if row.path in self._notes):
                self._notes[path].save()

    def _is_done(self, path: str) -> bool:
        note = self._notes.get(path)
        if note is not None:
            return note.is_written
        return not any(row.head for row in self.state.rows(NoteRow, path=path))

    def _stands(self, path: str, done: Applied | None) -> bool:
        """Return False if a person overwrote the text that a change left."""
        note = self._notes.get(path)
        return note is None or journaling.stands(done, note.text)

    def name_vault(self) -> str:
        """Write a new id to brain.yaml and return it; '' if that is not possible now."""
        path, id = f"{self.vault.brain}/brain.yaml", f"v-{random_letters(12)}"
        if self.vault.id:
            return self.vault.id
        try:
            note = self.note(path)
            note.refuse_unsafe(self.config)
            change = Configure(path, "vaultId", id, "")
            data = self.edited(path, note.data, [change]).data
        except Refused:
            return ""
        note.change(to_text(data))
        self._write(note)
        return id if note.is_written else ""

    # -- pending writes ----------------------------------------------------------------------------

    def pending(self) -> list[Pending]:
        """Return the changes that are not in their note yet, oldest first."""
        why = {row.path: row.why for row in self.state.rows(NoteRow) if row.head}
        return [
            Pending(_from_row(row)[0], row.at, row.by, row.path, why[row.path])
            for row in self.state.rows(PendingRow)
            if row.done and row.path in why
        ]

    def drop(self, id: str) -> Pending:
        """Discard a pending change. Later changes of the same entry are kept. Raise StaleFile if
        the entry is no longer what the change left."""
        with self.locked():
            found = next((one for one in self.pending() if one.write.id == id), None)
            if found is None:
                raise NotFound(f"Nothing is pending under {id}.", "See `brain pending`.")
            row = next(row for row in self.state.rows(PendingRow) if row.id == id)
            write, done = _from_row(row)
            assert done is not None
            note = self.note(found.path)
            note.change(self._without(note.text, write, done))
            with self.state.transaction(durable=True):
                note.save()
                self.state.delete(PendingRow, id=id)
            self._write(note)
            self._append_records()
            return found

    def _without(self, text: str, write: Write, done: Applied) -> str:
        """Return a text without a change."""
        exact = journaling.unspliced(text, write.data)
        if exact is not None:
            return exact
        inverse = journaling.inverse(write, done)
        if inverse is None:
            return text
        if self.vault.writable_role(inverse.path).format != "memory":
            raise _impossible(done._replace(outcome="changed"))
        edited = self.edited(inverse.path, to_bytes(text), [inverse])
        if edited.done[0].outcome in journaling.UNDONE:
            raise _impossible(edited.done[0])
        return to_text(edited.data)

    def scrub(self, refs: Collection[str], texts: Iterable[str]) -> bool:
        """Remove the text of these entries from state.db. Return False if an open displaced file
        may still contain some of it."""
        with self.locked():
            self.absorb()
            gone = {unit for text in texts if text for unit in merge.split(text)}
            for path in [row.path for row in self.state.rows(NoteRow)]:
                role = self.vault.writable_role(path)
                self.note(path).scrub(cache(partial(_is_scrubbed, refs, gone, role)))
            for row in self.state.rows(PendingRow):
                if _from_row(row)[0].ref in refs:
                    self.state.delete(PendingRow, seq=row.seq)
            return not self.state.rows(TempRow)

    # -- temporary files that state.db does not list ---------------------------------------------

    def orphans(self, folders: Iterable[str]) -> Iterator[Orphan]:
        """Yield the temporary files in these folders that state.db does not list. They were left by
        another machine, or their state folder was deleted."""
        listed = {row.name for row in self.state.rows(TempRow)}
        for folder in folders:
            try:
                names = sorted(os.listdir(f"{self.vault.root_path}/{folder}"))
            except OSError:
                continue
            for name in names:
                if name.startswith(TEMP) and name not in listed:
                    yield self._orphan(folder, name)

    def _orphan(self, folder: str, name: str) -> Orphan:
        """Return a temporary file with the lines that its note lacks."""
        path = f"{folder}/{name.removeprefix(TEMP).partition('-')[2]}"
        if not os.path.isfile(f"{self.vault.root_path}/{path}"):
            path = "/".join([folder, *self.vault.names.memory])
        texts = [
            self.disk.look(f"{self.vault.root_path}/{each}") for each in (path, f"{folder}/{name}")
        ]
        there, found = (merge.split(to_text(text.data)) if text else () for text in texts)
        return Orphan(
            f"{folder}/{name}", path, tuple(u for u in found if u.strip() and u not in there)
        )

    def adopt(self, orphan: Orphan) -> None:
        """Add the lines of a temporary file that its note lacks, and delete the file."""
        with self.locked():
            full = f"{self.vault.root_path}/{orphan.name}"
            found = self.disk.look(full)
            if found is None:
                return
            if orphan.lines:
                note = self.note(orphan.path)
                theirs = merge.split(to_text(found.data))
                shared = tuple(unit for unit in theirs if unit in note.head)
                note.change(merge.join(merge.merge(shared, note.head, theirs)))
                with self.state.transaction(durable=True):
                    note.save()
                self._write(note)
            self.disk.unlink(full)

    # -- who may write -----------------------------------------------------------------------------

    def allow(self, by: Actor, path: str = "", owner: str = "", action: str = "write") -> None:
        """Raise Denied if the actor may not write this file, or entries of this agent. Feedback
        needs only permission to read."""
        self.refuse_if_off()
        if path:
            owner = self.vault.writable_role(path).agent
        if not access.may(by, action, owner):
            whose = f"what belongs to {owner}" if owner else "this"
            remedy = "Ask the admin agent or a person."
            if by.type == "skill":
                remedy = f"It is a skill, which writes nothing. {remedy}"
            elif by.type == "project" and owner:
                remedy = f"To write its own memory, add `--agent {by.name}`."
            raise Denied(f"{by.name} may not write {whose}.", remedy)

    def refuse_if_off(self) -> None:
        """Raise Denied if writing is off."""
        self.refuse_read_only()
        if (setting := self.paused()) == "pause":
            raise Denied("Brain is paused: nothing is written.", "Run `brain resume`.")
        if setting:
            raise Denied(f"Writing is off: `{setting}` in brain.yaml.", "Change it to write.")

    def refuse_read_only(self) -> None:
        """Raise Denied if the vault was opened for reading only."""
        if self.read_only:
            raise Denied("Writing is off: `--read-only`.", "Leave that option out to write.")

    def paused(self) -> str:
        """Return the reason why writing is off; see `access.paused`."""
        return access.paused(self.config, self.vault.state_path, self.read_only)

    def _redacted(self, write: Write) -> Write:
        change = write.change
        if change:  # `expect` is compared with the note, and written nowhere
            values = change._asdict()
            same = {key: values.pop(key) for key in _KEPT if key in values}
            for key in _STOOD.get(type(change), ()):
                same[key] = redact_value(values.pop(key), emails=False)
            change = type(change)(**self._clean(values), **same)
        return write._replace(change=change, data=self._clean(write.data))

    def _clean(self, value: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = redact_value(value, emails=self.config.redactEmails)
        return clean


def _changes(writes: Sequence[Write]) -> list[Change]:
    return [write.change for write in writes if write.change]


def _pending_row(
    at: float, path: str, by: str, session: str, write: Write, done: Applied | None
) -> PendingRow:
    value = {**write._asdict(), "change": write.change and change_to_json(write.change)}
    try:
        text = json.dumps(value)
    except TypeError as error:
        raise BadRequest(f"This cannot be stored ({error}).", "Use plain text.") from None
    applied = json.dumps(done[1:]) if done else ""
    return PendingRow(write.id, at, path, by, session, text, applied)


def _from_row(row: PendingRow) -> tuple[Write, Applied | None]:
    value = json.loads(row.write)
    write = Write(**{**value, "change": value["change"] and change_from_json(value["change"])})
    if not row.done or not write.change:
        return write, None
    outcome, *texts = json.loads(row.done)
    return write, Applied(write.change, outcome, *texts[-4:])  # once there was a line before them


def _is_scrubbed(refs: Collection[str], texts: Collection[str], role: Role, unit: str) -> bool:
    """Return True for a unit with one of these texts, or with one of these ids. An entry without an
    id in the note is recognised by its text."""
    is_entry = role.format == "memory" and unit.strip() != ""
    return unit in texts or (is_entry and journaling.entry_id(unit, role.agent) in refs)


def _write_of(record: NewRecord) -> Write:
    """Convert a record to a write that changes no file."""
    return Write(record.op, record.ref, None, record.data, record.id)


def _changes_nothing(write: Write, done: Applied | None) -> bool:
    """Return True for a change that had no effect and needs no record."""
    return done is not None and done.outcome == "already" and not write.data.keys() - {"part_of"}


def _refuse_unwritable(folder: str) -> None:
    """Raise PermissionError if a note cannot be written, before its change is committed."""
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)


def _check_names(writes: Sequence[Write]) -> None:
    for write in writes:
        if taken := write.data.keys() & RESERVED:
            raise BadRequest(f"The journal has its own {', '.join(sorted(taken))}.")


def _impossible(done: Applied) -> BrainError:
    change = done.change
    if done.outcome == "missing":
        return NotFound(
            f"{change.ref} is not in {change.path}.",
            "It may have been removed.",
        )
    return StaleFile(f"{change.ref} has changed since.", "See it with `brain show`.")
