"""Read a note on the disk, write its head, and recover after a crash.

If the process is killed at any point, the note is complete, with the change or without it. The next
process finds out which from state.db and the temporary files that it lists:

| killed after | the next process |
|---|---|
| the version is committed | writes the head |
| the temporary file is written | finds its own version in it, deletes it and writes again |
| the files are exchanged | observes another text in it; the tip is the version in the note |
| the displaced text is observed | finds a known version in it and deletes it |
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from brain._tuples import NamedTuple
from brain.errors import Refused
from brain.formats.text import UNSAFE, decode, digest, to_bytes, to_text
from brain.journal.codec import random_letters
from brain.state import GuardRow, NoteRow, State, TempRow, VersionRow
from brain.store import hold, merge
from brain.store.hold import MAX_HOLD
from brain.store.versions import Evidence, Guard, History, Version
from brain.vault import files
from brain.vault.exchange import Disk, Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from brain.config import Config

TEMP = ".brain-"  # prefix of the names of temporary files, which end with the name of the note
ROUNDS = 20  # attempts while other programs keep saving; then the write is pending
HALF = 10.0  # seconds after which a text that looked like half a save is observed
QUIET = 1.0  # seconds for which a text must not change on systems without leases
SAVING = 0.2  # seconds that a save in place may take
GONE_AFTER = 1.0  # seconds after which a missing note counts as deleted
DISPLACED = 60.0  # seconds for which a displaced file is kept where leases do not exist
BIRTH = 0.04  # seconds from the birth of a file to the end of the save that made it
WEEK = 7 * 86_400.0  # seconds for which versions are kept


class Seen(NamedTuple):
    """The effects of an observed text on units, and the text before."""

    removed: tuple[str, ...]
    restored: tuple[str, ...]
    merged: tuple[str, ...]
    before: tuple[str, ...]
    by: str = "person"


class Note:
    """A note with its history. The caller holds the store's lock."""

    def __init__(self, path: str, full: str, state: State, disk: Disk, git: str = "") -> None:
        self.path, self.full = path, full
        self.state, self.disk = state, disk
        self.folder = os.path.dirname(full)
        self.git = git  # the git folder; '' without git
        self.found: Look | None = None
        self.wait = ""  # why the head cannot be written now
        self.seen: list[Seen] = []
        self.goes = False  # True if the file is removed when it is empty, as before the first write
        self.history: History | None = None
        self.temps = {row.name: row for row in state.rows(TempRow, path=path)}
        self._saved_versions: dict[int, Any] = {}  # what was saved of each
        self._saved_guards: dict[str, Guard] = {}
        self._dropped: list[str] = []  # temporary files that are still listed in state.db
        rows = state.rows(NoteRow, path=path)
        new = NoteRow(path, 0, "", "", 0, "", "", "", files.git_head(git), "", "")
        self.row = rows[0] if rows else new
        self._saved_row = rows[0] if rows else None
        if rows:
            self._load()

    def _load(self) -> None:
        versions: list[Version] = []
        for row in self.state.rows(VersionRow, path=self.path):
            version = Version(
                row.n,
                at=row.at,
                written=row.written,
                base=row.base,
                unread=row.unread,
                undid=row.undid,
                in_place=row.in_place,
                git=row.git,
                previous=versions[-1] if versions else None,
                stored=(row.own, row.new, row.changes),
            )
            versions.append(version)
        rows = self.state.rows(GuardRow, path=self.path)
        guards = {row.unit: Guard(row.n, row.present, row.seen, row.restored) for row in rows}
        head = json.loads(self.row.head) if self.row.head else []
        self.history = History(versions, self.row.tip, head, guards)
        self._saved_guards = dict(guards)
        self._saved_versions = {v.n: _flags(v) for v in versions}

    @property
    def text(self) -> str:
        """The text of the head, which should be in the note."""
        assert self.history is not None
        return merge.join(self.history.head)

    @property
    def data(self) -> bytes:
        """The bytes of the head."""
        return to_bytes(self.text)

    @property
    def head(self) -> tuple[str, ...]:
        assert self.history is not None
        return self.history.head

    @property
    def is_written(self) -> bool:
        """True if the head is in the note, as far as Brain knows."""
        return self.history is None or self.history.is_written

    @property
    def is_missing(self) -> bool:
        """True if the file does not exist, as Brain expects."""
        return not self.row.digest and self.is_written and not self.data

    @property
    def is_new(self) -> bool:
        """True if Brain has not written the note, and no write is pending."""
        return not self._saved_versions and self.is_written

    # -- looking -----------------------------------------------------------------------------------

    def look(self) -> None:
        """Observe the text in the note, and the texts in files that were displaced from it."""
        for name in list(self.temps):
            self.disk.complete_exchange(f"{self.folder}/{name}")
            self._look_at_displaced(name)
        self.wait = ""
        found = self.found = self.disk.look(self.full)
        if self.history is None:
            found = self.found = self._after_save(found)
            first = merge.split(to_text(found.data)) if found else ()
            self.history = History.start(first, self.disk.now())
            self._accept(found)
            return
        history = self.history
        moved = files.git_has_moved(self.git, self.row.git)
        if found is None:
            self._handle_missing()
            return
        mark = digest(found.data).hex()
        theirs = merge.split(to_text(found.data))
        if mark == self.row.digest:
            history.tip.units = theirs  # known without the versions before it
            self._accept(found, mark)
            return
        last = history.last_written
        if theirs == last.units and last.n >= history.tip.n:  # exchanged before a crash
            history.tip, last.unread = last, False
        if theirs != history.tip.units:
            restored = False if moved else self.disk.is_from_git(self.git, found)
            if restored is None:
                self.wait = "git is at work"
                return
            is_git = (moved or restored) and self.disk.is_committed(self.full, found, moved)
            if not is_git and self._may_be_half(found, mark):
                self.wait = "the note is being saved"  # half a save
                return
            commit = self.row.git.partition(" ")[2]
            after_git = moved and not is_git and self.disk.differs_since(self.full, commit)
            evidence = self._evidence(found)._replace(git=is_git, after_git=after_git)
            by = "git" if is_git else "person"
            self._observe(theirs, history.tip, evidence, in_note=True, by=by)
        self._accept(found, mark)

    def _after_save(self, found: Look | None) -> Look | None:
        """Wait a moment for the end of a save. Without a history, half a save cannot be
        recognised."""
        deadline = self.disk.uptime() + SAVING
        while found and found.has_writer and self.disk.uptime() < deadline:
            self.disk.sleep(0.01)
            found = self.disk.look(self.full)
        return found

    def _accept(self, found: Look | None, mark: str = "") -> None:
        """Make the text in the note the tip."""
        if found and not mark:
            mark = digest(found.data).hex()
        looked = found.stamp if found else files.MISSING
        git = files.git_head(self.git)
        self.row = self.row._replace(digest=mark, half="", looked=looked, git=git)
        if found and self.history:
            self._remember_file(found)

    def _remember_file(self, found: Look) -> None:
        """Remember the identity of the file, and whether Brain's write was read."""
        self.row = self.row._replace(file=found.identity)
        if self.row.wrote and self.history and self.history.tip.written and found.shows_reads:
            identity, accessed, changed, uptime, read = json.loads(self.row.wrote)
            if found.identity == identity and found.accessed != accessed and not read:
                wrote = [identity, accessed, changed, uptime, True]
                self.row = self.row._replace(wrote=json.dumps(wrote))

    def _handle_missing(self) -> None:
        """Postpone everything while an editor may be replacing the note. A note that stays missing
        counts as deleted."""
        assert self.history is not None
        if not self.row.digest:
            return
        if self.disk.missing_for(self.full) < GONE_AFTER:
            self.wait = "the note is missing"
            return
        evidence = Evidence(read=True, age=GONE_AFTER, git=True)  # deleting a file is deliberate
        self._observe((), self.history.tip, evidence, in_note=True, by="person")
        self._accept(None)

    def _may_be_half(self, found: Look, mark: str) -> bool:
        """Return True if a text may be half a save, so that it is not observed yet."""
        torn = self._is_torn(to_text(found.data))
        if found.has_writer is None:
            is_recent = 0 <= self.disk.now() - found.modified < QUIET
            return is_recent or (torn and not self._has_stood(mark))
        if found.has_writer and torn:
            return True
        return (found.has_writer or torn) and not self._has_stood(mark)

    def is_half(self, mark: str) -> bool:
        """Return True if the content with this digest was taken for half a save."""
        return bool(self.row.half) and json.loads(self.row.half)[0] == mark

    def _is_torn(self, text: str) -> bool:
        """Return True for the beginning of a known text, cut inside a line or by more than half."""
        assert self.history is not None
        for known in (self.history.tip.units, self.history.head):
            whole = merge.join(known)
            if len(text) < len(whole) and whole.startswith(text):
                inside = not text or "\n" not in (text[-1], whole[len(text)])
                if inside or len(text) < len(whole) / 2:
                    return True
        return False

    def _has_stood(self, mark: str) -> bool:
        """Return True if this content has been in the note for a while. If it is new,
        remember when it was first seen."""
        half, stood = _stood(self.row.half, mark, self.disk.uptime())
        self.row = self.row._replace(half=half)
        return stood

    def _evidence(self, found: Look) -> Evidence:
        """Return the evidence about a save, other than its text."""
        in_place = found.identity == self.row.file if self.row.file else None
        if in_place is False and found.born and found.changed - found.born > BIRTH:
            in_place = None  # replaced by rename, then written in place: two writers
        evidence = Evidence(in_place=in_place)
        if not self.row.wrote:
            return evidence
        identity, accessed, changed, uptime, read = json.loads(self.row.wrote)
        age = min(self.disk.uptime() - uptime, found.changed - changed)
        if found.identity != identity or not found.shows_reads:
            return evidence._replace(age=age)
        # a read after the save proves nothing
        read = read or accessed != found.accessed < found.changed * 1e9
        return evidence._replace(age=age, unread=found.accessed == accessed, read=read)

    def _observe(
        self,
        theirs: tuple[str, ...],
        near: Version,
        evidence: Evidence,
        in_note: bool,
        by: str = "person",
    ) -> None:
        assert self.history is not None
        before = self.history.head
        outcome = self.history.observe(theirs, near, evidence, in_note, self.disk.now())
        self.seen.append(Seen(*outcome, before, by))

    def _look_at_displaced(self, name: str, is_late: bool = True) -> None:
        """Observe a displaced file. It is kept in state.db until its text is merged and no process
        can write to it any more. A text that appears in it after the exchange, `is_late`, was saved
        in place."""
        history, row = self.history, self.temps[name]
        assert history is not None
        full = f"{self.folder}/{name}"
        found = self.disk.look(full)
        near, ours = history.at_most(row.displaced), history.version(row.held)
        evidence = self._evidence(found) if found else Evidence()
        if is_late and ours and history.tip.n >= ours.n:
            evidence = evidence._replace(in_place=True)
        if found is None:
            self.disk.unlink(f"{full}.part")  # killed while it was written
            if ours and history.tip.n < ours.n:
                ours.unread = True  # it was never in the note
            self._drop_temp(name)
            return
        theirs = merge.split(to_text(found.data))
        if ours and theirs != ours.units and history.tip.n < ours.n:
            history.tip = ours  # exchanged before a crash
            self.row = self.row._replace(digest=digest(self._bytes(ours)).hex())
        is_ours = ours is not None and theirs == ours.units
        if ours and is_ours:
            ours.unread = True  # it was never in the note
        is_open = self._is_open(found)
        if theirs != near.units and not is_ours:
            if is_open and not self._has_settled(name, found):
                return
            self._observe(theirs, near, evidence, in_note=False)  # late save
            row = row._replace(displaced=history.versions[-1].n, half="")
            self.temps[name] = row
            with self.state.transaction(durable=True):  # before the only other copy is deleted
                self.state.save([row])
                self.save()
        if not is_open:
            self._mark_unread(near, found)
            with suppress(OSError):  # it stays listed, and the next look tries again
                self.disk.unlink(full)
                self._drop_temp(name)

    def _is_open(self, found: Look) -> bool:
        """Return True if a process may still write to a displaced file."""
        if found.has_writer is None:
            return 0 <= self.disk.now() - found.changed < DISPLACED
        return found.has_writer

    def _has_settled(self, name: str, found: Look) -> bool:
        """Return True if an open file has had this content for a while. If it is new,
        remember when it was first seen."""
        row, mark = self.temps[name], digest(found.data).hex()
        half, stood = _stood(row.half, mark, self.disk.uptime())
        self.temps[name] = row._replace(half=half)
        self.state.save([self.temps[name]])
        return stood

    def _mark_unread(self, near: Version, found: Look) -> None:
        """Remember whether another program read a version of Brain while it was in the note."""
        if near.written and self.row.wrote and found.shows_reads:
            identity, accessed, *_ = json.loads(self.row.wrote)
            if found.identity == identity:
                near.unread = found.accessed == accessed

    def _drop_temp(self, name: str) -> None:
        del self.temps[name]
        self._dropped.append(name)  # a row without a file does no harm until the next save

    # -- holding -----------------------------------------------------------------------------------

    def hold_reason(self, config: Config, most: float = MAX_HOLD) -> str:
        """Return the reason why the note must not be written now; '' if it may be written. If a
        person is typing, wait at most `most` seconds."""
        if files.is_git_busy(self.git):
            return "git is at work"
        if why := self._unsafe(config):
            return why
        assert self.history is not None
        if self.history.tip.written:
            return ""  # the text in the note is the one that Brain wrote
        return "a person is typing" if hold.is_typed_in(self, config.holdSeconds, most) else ""

    def _unsafe(self, config: Config) -> str:
        if self.found is None:
            return ""
        try:
            self.refuse_unsafe(config)
        except Refused as error:
            return str(error)
        problems = decode(self.found.data)[1]
        return next((f"line {p.line} {p.message}" for p in problems if p.code in UNSAFE), "")

    def refuse_unsafe(self, config: Config) -> None:
        """Raise Refused if the file cannot be replaced safely."""
        path, found = self.path, self.found
        if found is None:
            return
        if found.links > 1:
            raise Refused(f"{path} has {found.links} hard links.", "Make it a file of its own.")
        if not found.mode & 0o200:
            raise Refused(f"{path} is read-only.", "Make it writable, then try again.")
        if len(found.data) > config.maxFileSize:
            raise Refused(f"{path} is too large.", "Split it, or raise maxFileSize.")

    # -- writing -----------------------------------------------------------------------------------

    def change(self, text: str) -> None:
        """Apply a change by Brain to the head."""
        assert self.history is not None
        self.history.change(merge.split(text))

    def begin(self) -> TempRow:
        """Add the version of the head and a temporary file to the open transaction."""
        assert self.history is not None
        self._forget_old_versions()
        near = self.history.tip
        version = self.history.write(self.disk.now())
        name = f"{TEMP}{random_letters(10)}-{os.path.basename(self.full)}"
        temp = TempRow(name, self.path, near.n, version.n)
        self.temps[temp.name] = temp
        self.state.save([temp])
        # the next process has to know the age of the write if this one is killed
        before, wrote = self.row, ["", 0, self.disk.now(), self.disk.uptime(), False]
        self.row = self.row._replace(wrote=json.dumps(wrote), file="")
        self.save()
        # what is displaced is compared with the write before
        self.row = self.row._replace(wrote=before.wrote, file=before.file)
        return temp

    def finish(self, temp: TempRow) -> bool:
        """Write the version that `begin` prepared. Return False if the note was created or deleted
        meanwhile. After an error, the head is still pending."""
        history = self.history
        assert history is not None
        version = history.version(temp.held)
        assert version is not None
        data, full = self._bytes(version), f"{self.folder}/{temp.name}"
        if self.goes and not data and self.row.digest:
            return self._remove(version, temp, full)
        try:
            identity, accessed = self.disk.create(f"{full}.part", data, self.found)
            self.disk.rename(f"{full}.part", full)
            if not self._place(full):
                self._abandon(temp)
                return False
        except OSError:
            self._abandon(temp)
            raise
        # exchanged: from here on the temporary file is the person's text
        wrote = json.dumps([identity, accessed, self.disk.now(), self.disk.uptime(), False])
        history.tip = version
        self.row = self.row._replace(digest=digest(data).hex())
        self.disk.sync_folder(self.folder)
        self._look_at_displaced(temp.name, is_late=False)
        self.row = self.row._replace(wrote=wrote, file=identity)
        return True

    def _remove(self, version: Version, temp: TempRow, full: str) -> bool:
        """Displace the note, with no file in its place. Return False if it was deleted
        meanwhile."""
        try:
            self.disk.place(self.full, full)
        except FileNotFoundError:
            self._abandon(temp)
            return False
        assert self.history is not None
        self.history.tip = version
        self.row = self.row._replace(digest="", file="", looked=files.MISSING)
        self.disk.sync_folder(self.folder)
        self._look_at_displaced(temp.name, is_late=False)
        self.row = self.row._replace(wrote="")
        return True

    def _place(self, full: str) -> bool:
        """Put a temporary file in the place of the note. Return False if the note was created or
        deleted meanwhile."""
        try:
            if self.row.digest:
                self.disk.exchange(full, self.full)
            else:
                self.disk.place(full, self.full)
        except (FileNotFoundError, FileExistsError):
            return False
        return True

    def _abandon(self, temp: TempRow) -> None:
        """Delete a temporary file that was not put in place of the note."""
        if ours := self.history and self.history.version(temp.held):
            ours.unread = True
        with suppress(OSError):  # it stays listed, and the next look deletes it
            self.disk.unlink(f"{self.folder}/{temp.name}.part")
            self.disk.unlink(f"{self.folder}/{temp.name}")
            self._drop_temp(temp.name)

    def _bytes(self, version: Version) -> bytes:
        return to_bytes(merge.join(version.units))

    def _forget_old_versions(self) -> None:
        """Drop versions that are a week old, unless the clock was set."""
        assert self.history is not None
        uptime = json.loads(self.row.wrote)[3] if self.row.wrote else 0.0
        if not 0 <= self.disk.uptime() - uptime < WEEK:
            self.history.forget_before(self.disk.now() - WEEK)

    def scrub(self, is_gone: Callable[[str], bool]) -> None:
        """Remove units from the versions."""
        history = self.history
        assert history is not None
        history.scrub(is_gone)
        self._saved_versions = dict.fromkeys(self._saved_versions)
        if not self.is_new:
            self.save()

    # -- saving ------------------------------------------------------------------------------------

    def save(self) -> None:
        """Save the changes of this object to state.db."""
        history = self.history
        assert history is not None
        is_due = not history.is_written or bool(self.temps)
        due = self.row.due or max(1, int(self.disk.uptime())) if is_due else 0
        head = "" if history.is_written else json.dumps(history.head_edits)
        self.row = self.row._replace(tip=history.tip.n, head=head, due=due, why=self.wait)
        rows = [
            VersionRow(
                self.path, v.n, v.at, v.written, v.base, json.dumps(sorted(v.own)),
                json.dumps(sorted(v.new)), v.unread, v.undid, v.in_place, v.git,
                json.dumps(v.changes),
            )
            for v in history.versions
            if self._saved_versions.get(v.n) != _flags(v)
        ]  # fmt: skip
        gone = self._saved_versions.keys() - {v.n for v in history.versions}
        guards = [
            GuardRow(self.path, unit, *guard)
            for unit, guard in history.guards.items()
            if self._saved_guards.get(unit) != guard
        ]
        ended = self._saved_guards.keys() - history.guards.keys()
        if self.row == self._saved_row and not (rows or gone or guards or ended or self._dropped):
            return
        with self.state.transaction():
            for name in self._dropped:
                self.state.delete(TempRow, name=name)
            for n in gone:
                self.state.delete(VersionRow, path=self.path, n=n)
            for unit in ended:
                self.state.delete(GuardRow, path=self.path, unit=unit)
            self.state.save([self.row, *rows, *guards])
        self._saved_versions = {v.n: _flags(v) for v in history.versions}
        self._saved_guards, self._saved_row = dict(history.guards), self.row
        self._dropped.clear()


def _stood(half: str, mark: str, now: float) -> tuple[str, bool]:
    """Return (record of a content by its digest, True if it has been there for a while)."""
    before: list[Any] = json.loads(half) if half else ["", 0.0]
    if before[0] != mark or before[1] > now:
        return json.dumps([mark, now]), False
    return half, now - before[1] >= HALF


def _flags(version: Version) -> tuple[bool, bool, Any]:
    """Return the values of a version that may change after it is saved."""
    return version.unread, version.undid, version.previous
