"""Changes through the store: every kind, and every way in which one can go wrong."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from brain.access import Actor
from brain.config import Config
from brain.errors import BadRequest, BrainError, Denied, NotFound, Refused, StaleFile
from brain.journal.codec import event_id
from brain.model import Add, Configure, Replace, Retag, Update, Write
from brain.store import Store
from tests import kit as base
from tests.store import kit
from tests.store.kit import NOTE, QUICK, Open, text


@pytest.fixture
def store(opened: Open) -> Store:
    return opened()


def untouched(store: Store, before: dict[str, Any]) -> None:
    """All files of the vault are as they were, and nothing is pending."""
    assert base.snapshot(store.vault.root) == before
    assert kit.is_done(store)


@pytest.mark.parametrize("kind", kit.KINDS)
def test_every_kind_of_change(store: Store, root: Path, kind: str) -> None:
    write = kit.write(kind, 1)
    [outcome] = store.apply([write])
    assert outcome.state == "written"
    assert outcome.done
    assert outcome.done.outcome == "done"
    [record] = kit.records(store)
    assert (record.op, record.ref, record.path) == (kind, write.ref, write.change.path)
    assert kit.temps(root) == []
    after = base.snapshot(root)
    store.absorb()
    assert kit.is_done(store)
    assert base.snapshot(root) == after
    if kind not in ("forget", "replace"):
        [again] = store.apply([write])
        assert again.done
        assert again.done.outcome == "already"
        assert (root / write.change.path).read_bytes() == after[write.change.path][2]


def test_a_note_that_is_not_there_is_made(store: Store, root: Path) -> None:
    path = "40_Brain/agents/new/MEMORY.md"
    store.apply([kit.adding("First words", "m-00000001", path)])
    assert "- First words ^m-00000001\n" in (root / path).read_text()


def test_journal_alone(store: Store, root: Path) -> None:
    note = (root / NOTE).read_bytes()
    [outcome] = store.apply([Write("reinforce", kit.A, None, {"delta": 3})])
    assert outcome.state == "written"
    [record] = kit.records(store)
    assert (record.op, record.data) == ("reinforce", {"delta": 3})
    assert (root / NOTE).read_bytes() == note


def test_one_record_for_each_write(store: Store) -> None:
    writes = [kit.write("remember", n) for n in range(5)]
    writes += [kit.write("other"), Write("demote", kit.A, None, {"delta": -1})]
    outcomes = store.apply(writes, Actor("ada", "admin", session="s1"))
    assert [outcome.state for outcome in outcomes] == ["written"] * 7
    records = kit.records(store)
    assert {record.id for record in records} == {outcome.write.id for outcome in outcomes}
    assert [record.seq for record in records] == list(range(1, 8))
    assert {(record.by, record.data["session"]) for record in records} == {("ada", "s1")}
    store.absorb()
    assert len(kit.records(store)) == 7


# -- who may, and when -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "actor", [Actor("other", "project"), Actor("s", "skill"), Actor("admin", "skill")]
)
def test_who_may_not(store: Store, root: Path, actor: Actor) -> None:
    before = base.snapshot(root)
    with pytest.raises(Denied, match=f"{actor.name} may not write what belongs to admin"):
        store.apply([kit.write("remember")], actor)
    with pytest.raises(Denied):  # feedback needs the right to read
        store.apply([Write("reinforce", kit.A, None, {"agent": "zoo"})], actor)
    with pytest.raises(Denied):
        store.apply([Write("update", kit.A, None, {"agent": "admin"})], actor)
    untouched(store, before)


@pytest.mark.parametrize(
    "path",
    ["Walrus.md", "40_Brain/AGENT.md", "40_Brain/brain.yaml", "40_Brain/../MEMORY.md", "MEMORY.md",
     "40_Brain//MEMORY.md", "40_Brain/journal/x/2026-01.jsonl", "40_Brain/notes.md", "/etc/passwd"],
)  # fmt: skip
def test_what_brain_does_not_write(store: Store, root: Path, path: str) -> None:
    before = base.snapshot(root)
    with pytest.raises(Refused, match="Brain does not write"):
        store.apply([kit.adding("x", "m-00000001", path)])
    untouched(store, before)


@pytest.mark.parametrize("config", [QUICK._replace(readOnly=True), QUICK._replace(memory=False)])
def test_writing_is_off(opened: Open, root: Path, config: Config) -> None:
    before = base.snapshot(root)
    with pytest.raises(Denied, match=r"Writing is off: `(readOnly|memory)` in brain\.yaml"):
        opened(config).apply([kit.write("remember")])
    untouched(opened(config), before)


def test_paused_also_holds_what_waits(store: Store, root: Path) -> None:
    lock = root / ".git/index.lock"
    lock.parent.mkdir()
    lock.touch()
    held = kit.open_store(root, root.parent / "state")
    assert held.apply([kit.write("remember")])[0].state == "pending"
    (store.vault.state / "paused").touch()
    lock.unlink()
    with pytest.raises(Denied, match="paused"):
        held.apply([kit.write("update")])
    held.absorb()
    assert "A new thing" not in (root / NOTE).read_text()
    (store.vault.state / "paused").unlink()
    held.absorb()
    assert "A new thing" in (root / NOTE).read_text()


def test_sentences(store: Store, root: Path) -> None:
    before = base.snapshot(root)
    with pytest.raises(NotFound, match="m-none0000 is not in 40_Brain"):
        store.apply([Write("update", "m-none0000", Update(NOTE, "m-none0000", "x"))])
    with pytest.raises(StaleFile, match=f"{kit.A} has changed since"):
        store.apply([Write("undo", kit.A, Replace(NOTE, kit.A, "- x", "- not this"))])
    with pytest.raises(BadRequest):
        store.apply([Write("config", "x", Configure(NOTE, "x", 1, 0))])
    with pytest.raises(BadRequest, match="The journal has its own seq"):
        store.apply([Write("reinforce", kit.A, None, {"seq": 3})])
    with pytest.raises(BadRequest, match="The journal has its own path"):
        store.apply([kit.write("remember")._replace(data={"path": "x"})])
    with pytest.raises(BadRequest, match=r"This cannot be stored .*Use plain text"):
        store.apply([kit.write("remember")._replace(data={"x": b"bytes"})])
    untouched(store, before)


def test_a_change_that_failed_is_not_written_with_the_next_one(store: Store, root: Path) -> None:
    """An operation applies several changes under one lock."""
    with store.locked():
        for bad in (
            kit.write("remember", 1)._replace(data={"x": b"bytes"}),
            Write("update", "m-none0000", Update(NOTE, "m-none0000", "x")),
        ):
            with pytest.raises(BrainError):
                store.apply([kit.write("remember", 1), bad])
        store.apply([kit.write("remember", 2)])
    assert "A new thing 1" not in text(root)
    assert "A new thing 2" in text(root)
    assert kit.ops(store) == ["remember"]


# -- files that cannot be written ------------------------------------------------------------------

TWO = [kit.write("other", 1), kit.write("remember", 1)]


def refused(store: Store, why: str, writes: list[Write] | None = None) -> None:
    """All or nothing: the file that could have been written is as it was, too."""
    before = base.snapshot(store.vault.root)
    with pytest.raises(BrainError, match=why):
        store.apply(writes or TWO)
    untouched(store, before)
    assert kit.records(store) == []


def test_read_only(store: Store, root: Path) -> None:
    (root / NOTE).chmod(0o444)
    refused(store, "40_Brain/MEMORY.md is read-only")


def test_symbolic_link(store: Store, root: Path) -> None:
    (root / "elsewhere.md").write_text(kit.MEMORY)
    (root / NOTE).unlink()
    (root / NOTE).symlink_to("../elsewhere.md")
    refused(store, "40_Brain/MEMORY.md is reached through a symbolic link")


def test_folder_behind_a_symbolic_link(store: Store, root: Path) -> None:
    (root / "elsewhere").mkdir()
    (root / "40_Brain/agents").symlink_to("../elsewhere")
    writes = [kit.write("remember"), kit.adding("x", "m-00000001", "40_Brain/agents/MEMORY.md")]
    refused(store, "is reached through a symbolic link", writes)


def test_hard_link(store: Store, root: Path) -> None:
    os.link(root / NOTE, root / "second.md")
    refused(store, "40_Brain/MEMORY.md has 2 hard links")


@pytest.mark.parametrize(
    "text", [b"<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n", b"- \xff\xfe\n", b"- a\0b\n"]
)
def test_text_that_cannot_be_edited(store: Store, root: Path, text: bytes) -> None:
    (root / NOTE).write_bytes(text)
    refused(store, "40_Brain/MEMORY.md, line 1")


def test_a_second_file_that_cannot_be_edited(store: Store, root: Path) -> None:
    (root / kit.OTHER).write_bytes(b"- \xff\xfe\n")
    refused(store, r"zoo/agent/MEMORY.md, line 1", [kit.write("remember"), kit.write("other")])


def test_a_folder_in_its_place(store: Store, root: Path) -> None:
    (root / NOTE).unlink()
    (root / NOTE).mkdir()
    refused(store, r"40_Brain/MEMORY.md cannot be written \(it is not a regular file\)")


def test_too_large(opened: Open) -> None:
    refused(opened(QUICK._replace(maxFileSize=100)), "too large")


DROP = """
import os, sys
from pathlib import Path
from brain.errors import BrainError
from tests import kit as base
from tests.store import kit
home = Path(sys.argv[1])
writes = [kit.write("other", 1), kit.write("remember", 1)]
kit.open_store(base.lay(home / "warm", kit.VAULT), home / "warm state").apply(writes)
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
store = kit.open_store(home / "vault", home / "state")
try:
    store.apply(writes)
except BrainError as error:
    print(error)
print(kit.is_done(store), kit.records(store))
"""


@pytest.mark.skipif(os.name == "nt", reason="has other rights")
def test_a_folder_without_the_right_to_write() -> None:
    """The first of two files can be written, the second's folder cannot."""
    home = Path(tempfile.mkdtemp()).resolve()
    root = base.lay(home / "vault", {**kit.VAULT, "40_Brain/journal/": ""})
    (home / "state").mkdir()
    home.chmod(0o777)
    if os.getuid() == 0:
        for path in (*root.rglob("*"), root, home / "state"):
            os.chown(path, 65534, 65534)
    (root / "40_Brain").chmod(0o555)
    before = {path: what[2] for path, what in base.snapshot(root).items()}
    said = run(DROP, home)
    after = {path: what[2] for path, what in base.snapshot(root).items()}
    (root / "40_Brain").chmod(0o755)
    assert after == before
    shutil.rmtree(home)
    assert "40_Brain cannot be written to (Permission denied). Make it writable." in said.stdout
    assert "True []" in said.stdout


def run(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).parent.parent.parent
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=here, env=os.environ | {"PYTHONPATH": str(here)}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


# -- a disk that is full ---------------------------------------------------------------------------


class Full:
    """From the n-th write of a file on, the disk is full: once, or from then on; `short` takes
    half of it. SQLite has its own calls, so state.db is not among these files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, stays: bool, short: bool) -> None:
        self.count, self.at, self.stays, self.short = 0, at, stays, short
        self.write = os.write
        monkeypatch.setattr(os, "write", self._write)

    def _write(self, handle: int, data: Any) -> int:
        self.count += 1
        if self.count == self.at or (self.stays and self.count > self.at):
            if self.short and self.count == self.at:
                return self.write(handle, bytes(data)[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return self.write(handle, data)


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("kind", ["remember", "two", "create", "feedback"])
def test_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, stays: bool, short: bool
) -> None:
    """At each write: a change that was acknowledged is written once there is room, with one
    record. No temporary file is left, and no half of a text."""
    writes = {"two": TWO, "feedback": [Write("reinforce", kit.A, None, {"delta": 3})]}.get(kind)
    writes = [write._replace(id=event_id()) for write in writes or [kit.write("remember", 1)]]
    for at in count(1):
        root = base.lay(tmp_path.resolve() / f"{at}", kit.VAULT)
        if kind == "create":
            (root / NOTE).unlink()
        store = kit.open_store(root, tmp_path / f"s{at}")
        with monkeypatch.context() as patch:
            full = Full(patch, at, stays, short)
            with suppress(BrainError):
                store.apply(writes)
        if [why for *_, why in store.pending()]:
            assert {one.why for one in store.pending()} == {"No space left on device"}
        assert kit.temps(root) == []
        store = kit.open_store(root, tmp_path / f"s{at}")
        store.absorb()
        assert kit.is_done(store)
        assert kit.temps(root) == []
        assert kind == "feedback" or text(root).count("A new thing 1") == 1
        assert kind != "two" or "Made 1" in (root / kit.OTHER).read_text()
        assert sorted(r.id for r in kit.records(store)) == sorted(write.id for write in writes)
        assert store.apply([kit.write("remember", 2)])[0].state == "written"
        assert [r.seq for r in kit.records(store)] == list(range(1, len(writes) + 2))
        if full.count < at:
            assert at > (1 if kind == "feedback" else 2)
            return


@pytest.mark.parametrize("kind", ["remember", "create"])
def test_a_disk_that_fails(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """At each call that waits for the disk: what was acknowledged is written later, once."""
    real = os.fsync
    if kind == "create":
        (root / NOTE).unlink()
    for at in count(1):
        store, calls = kit.open_store(root, tmp_path / f"s{at}"), count(1)
        store.apply([Write("reinforce", kit.A, None, {"delta": 3})])  # creates the folders

        def failing(handle: int, calls: Any = calls, at: int = at) -> None:
            if next(calls) == at:
                raise OSError(5, "Input/output error")
            real(handle)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            with suppress(BrainError):
                store.apply([kit.write("remember", at)])
        kit.open_store(root, tmp_path / f"s{at}").absorb()
        assert text(root).count(f"A new thing {at} ") == 1
        assert [r.ref for r in kit.records(store)].count(f"m-new{at:05d}") == 1
        assert kit.temps(root) == []
        assert kit.is_done(store)
        if next(calls) <= at:
            break
    assert at > 3


def test_no_room_for_state_db(root: Path, tmp_path: Path) -> None:
    """Nothing is acknowledged that is not on the disk."""
    store = kit.open_store(root, tmp_path / "state")
    store.apply([Write("reinforce", kit.A, None, {"delta": 3})])
    before = base.snapshot(root)
    with store.state._connected() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    big = kit.adding("x" * 100_000, "m-00000001")
    with pytest.raises(BrainError, match=r"state\.db cannot be used \(database or disk is full\)"):
        store.apply([big])
    store = kit.open_store(root, tmp_path / "state")
    store.absorb()
    untouched(store, before)
    assert store.apply([big])[0].state == "written"


def test_a_change_is_on_the_disk_before_the_note_changes(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power failure right before the exchange: state.db knows the change, with no help of this
    process."""
    exchange = store.disk.exchange

    def look(temp: str, path: str) -> None:
        with closing(sqlite3.connect(store.state.path)) as other:
            assert other.execute("SELECT path FROM pending").fetchall() == [(NOTE,)]
            assert other.execute("SELECT count(*) FROM temps").fetchone() == (1,)
        with store.state._connected() as db:
            assert db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        exchange(temp, path)

    monkeypatch.setattr(store.disk, "exchange", look)
    assert store.apply([kit.write("remember", 1)])[0].state == "written"


LIMITED = """
import resource, signal, sys
from pathlib import Path
from tests.store import kit
from brain.errors import BrainError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = kit.open_store(Path(sys.argv[1]), Path(sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), -1))
try:
    print(store.apply([kit.write("remember", 1)])[0].state)
except BrainError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="has no such limit")
@pytest.mark.parametrize("size", [0, 100, 280, 320, 100_000, 200_000])
def test_no_room_for_a_longer_file(root: Path, tmp_path: Path, size: int) -> None:
    """The kernel itself cuts the write short, that of state.db too."""
    before = (root / NOTE).read_bytes()
    said = run(LIMITED, root, tmp_path / "state", size)
    assert re.search("cannot be (written|used)|pending|^written", said.stdout), said
    was_acknowledged = "cannot" not in said.stdout
    assert kit.temps(root) == []
    store = kit.open_store(root, tmp_path / "state")
    store.absorb()
    assert size > 1000 or (root / NOTE).read_bytes() == before
    assert store.apply([kit.write("remember", 2)])[0].state == "written"
    assert text(root).count("A new thing 1") in ([1] if was_acknowledged else [0, 1])
    assert kit.is_done(store)


# -- secrets ---------------------------------------------------------------------------------------


def test_no_secret_is_written_anywhere(store: Store, root: Path) -> None:
    secret = kit.SECRET
    store.apply(
        [
            Write(
                "remember", "m-00000001", Add(NOTE, "m-00000001", f"The key is {secret}", secret)
            ),
            Write("note", "x", None, {"why": f"token {secret}"}),
        ]
    )
    for path in [*root.rglob("*"), *store.vault.state.rglob("*")]:
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def test_a_persons_secret_stays_in_the_note_and_out_of_the_journal(
    store: Store, root: Path
) -> None:
    secret = kit.SECRET
    text = f"## Key {secret}\n- The key is {secret} ^m-00000001\n- Another {secret} ^m-00000002\n"
    (root / NOTE).write_text(text)
    store.apply([Write("pin", "m-00000001", Retag(NOTE, "m-00000001", add=("#pinned",)))])
    raw = f"- Another {secret} ^m-00000002"
    change = Replace(NOTE, "m-00000002", "- Another ^m-00000002", raw)
    store.apply([Write("undo", "m-00000002", change)])
    store.absorb()
    assert f"- The key is {secret} #pinned ^m-00000001" in (root / NOTE).read_text()
    assert "- Another ^m-00000002" in (root / NOTE).read_text()
    for path in root.glob("40_Brain/journal/**/*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
    for path in store.vault.state.rglob("state.db*"):  # the versions of the note have it
        assert not path.stat().st_mode & 0o077
